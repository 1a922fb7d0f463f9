/* Reads the line of a finished cell.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "core/base/base.h"
#include "features/study/files/study_line_members.h"
#include "features/study/files/study_yaml.h"

struct line_reader {
    const iw_log *log;
    const char *path;
    size_t number;
};

static iw_status fail_member(const struct line_reader *r, const char *key, const char *what)
{
    return iwi_fail(r->log, IW_ERR_FORMAT, "'%s:%zu': member '%s' is not %s", r->path, r->number, key, what);
}

static iw_status read_text(const struct line_reader *r, const json_t *object, const char *key, char **text_p)
{
    const char *text = json_string_value(json_object_get(object, key));

    if (text == NULL || strlen(text) != json_string_length(json_object_get(object, key))) {
        return fail_member(r, key, "a text");
    }
    return iwi_copy_text(r->log, text, text_p);
}

static iw_status read_count(const struct line_reader *r, const json_t *object, const char *key, uint64_t min,
                            uint64_t max, uint64_t *value_p)
{
    const json_t *value = json_object_get(object, key);
    const json_int_t number = json_integer_value(value);

    if (!json_is_integer(value) || number < 0 || (uint64_t)number < min || (uint64_t)number > max) {
        return fail_member(r, key, "a count, or out of range");
    }
    *value_p = (uint64_t)number;
    return IW_OK;
}

static iw_status read_reals(const struct line_reader *r, const json_t *object,
                            const struct iwi_real_members *members, iw_cell_result *cell)
{
    for (size_t i = 0; i < members->count; i++) {
        const json_t *value = json_object_get(object, members->list[i].key);
        double number = json_number_value(value);

        if (json_is_null(value) && members->list[i].may_be_null) {
            number = NAN;
        } else if (!json_is_number(value) || (number < 0 && !members->list[i].may_be_below_0)) {
            return fail_member(r, members->list[i].key, "a number from 0 on");
        }
        memcpy((char *)cell + members->list[i].offset, &number, sizeof number);
    }
    return IW_OK;
}

static iw_status read_id(const struct line_reader *r, const json_t *object, iw_cell_result *cell)
{
    const char *id = json_string_value(json_object_get(object, "id"));

    if (id == NULL || strlen(id) != IW_CELL_ID_SIZE - 1 ||
        strspn(id, "0123456789abcdef") != IW_CELL_ID_SIZE - 1) {
        return fail_member(r, "id", "16 hexadecimal digits");
    }
    memcpy(cell->id, id, IW_CELL_ID_SIZE);
    return IW_OK;
}

static iw_status read_sync(const struct line_reader *r, const json_t *object, iw_cell_result *cell)
{
    const char *text = json_string_value(json_object_get(object, "sync"));

    for (size_t sync = 0; text != NULL && iwi_study_sync_name(sync) != NULL; sync++) {
        if (strcmp(text, iwi_study_sync_name(sync)) == 0) {
            cell->sync = (iw_sync)sync;
            return IW_OK;
        }
    }
    return fail_member(r, "sync", "none, start or phase");
}

static iw_status read_counts(const struct line_reader *r, const json_t *object, iw_cell_result *cell)
{
    const json_t *scale = json_object_get(object, "net_scale");
    uint64_t ranks = 0;

    IW_TRY(read_count(r, object, "ranks", 1, UINT32_MAX, &ranks));
    cell->ranks = (uint32_t)ranks;
    IW_TRY(read_count(r, object, "bytes", 0, INT64_MAX, &cell->bytes));
    IW_TRY(read_count(r, object, "trials", 1, INT64_MAX, &cell->trials));
    IW_TRY(read_count(r, object, "seed", 0, INT64_MAX, &cell->seed));
    IW_TRY(read_count(r, object, "messages", 0, INT64_MAX, &cell->messages));
    cell->net_scale = json_number_value(scale);
    return cell->net_scale > 0 ? IW_OK : fail_member(r, "net_scale", "a number above 0");
}

static iw_status read_makespan(const struct line_reader *r, const json_t *object, iw_cell_result *cell)
{
    const json_t *makespan = json_object_get(object, "makespan_ns");
    uint64_t count = 0;

    if (!json_is_object(makespan)) {
        return fail_member(r, "makespan_ns", "an object");
    }
    IW_TRY(read_count(r, makespan, "count", 1, INT64_MAX, &count));
    cell->makespan_ns.count = (size_t)count;
    return read_reals(r, makespan, &iwi_makespan_reals, cell);
}

static iw_status read_sensitivity(const struct line_reader *r, const json_t *recording,
                                  iw_sensitivity *sensitivity)
{
    const json_t *object = json_object_get(recording, "sensitivity");
    const json_t *every = json_object_get(object, "every_seconds"),
                 *slowdown = json_object_get(object, "slowdown");
    uint64_t length_ns = 0;

    if (object == NULL) {
        return IW_OK;
    }
    IW_TRY(read_count(r, object, "length_ns", 1, INT64_MAX, &length_ns));
    IW_TRY(read_count(r, object, "trials", 0, INT64_MAX, &sensitivity->trials));
    if (!json_is_number(every) || !(json_is_number(slowdown) || json_is_null(slowdown))) {
        return fail_member(r, "sensitivity", "an object with every_seconds and slowdown");
    }
    sensitivity->length_ns = (int64_t)length_ns;
    sensitivity->every_s = json_number_value(every);
    sensitivity->slowdown = json_is_null(slowdown) ? NAN : json_number_value(slowdown);
    return IW_OK;
}

static iw_status read_recording(const struct line_reader *r, const json_t *object, iw_cell_result *cell)
{
    const json_t *recording = json_object_get(object, "recording");

    cell->recording = (iw_cell_recording){.seconds = 0.0};
    if (recording == NULL) {
        return IW_OK;
    }
    IW_TRY(read_reals(r, recording, &iwi_recording_reals, cell));
    IW_TRY(read_sensitivity(r, recording, &cell->recording.sensitivity));
    return json_is_true(json_object_get(recording, "is_extrapolated"))
               ? read_text(r, recording, "laws", &cell->recording.laws)
               : IW_OK;
}

/* Lines without a digest are believed unless noise makes the work more than twice as fast: orders of work
 * that noise happens to improve gain at most that (Graham, 1969). */
static iw_status check_plausible(const struct line_reader *r, const iw_cell_result *cell)
{
    return cell->noiseless_ns <= 2 * cell->makespan_ns.min
               ? IW_OK
               : iwi_fail(
                     r->log, IW_ERR_FORMAT,
                     "'%s:%zu': %g ns without noise, but only %g ns with it: the line was changed; remove "
                     "it and run the study again",
                     r->path, r->number, cell->noiseless_ns, cell->makespan_ns.min);
}

/* Whether the line still says what was written; members that are not known do not matter. */
static iw_status check_digest(const struct line_reader *r, const json_t *object, const iw_cell_result *cell)
{
    const json_t *told = json_object_get(object, "digest");
    char digest[IWI_LINE_DIGEST_SIZE] = "", *line;

    if (told == NULL) {
        return check_plausible(r, cell);
    }
    if (!json_is_string(told)) {
        return fail_member(r, "digest", "a text");
    }
    IW_TRY(iwi_cell_line_digest(r->log, cell, digest, &line));
    free(line);
    if (strcmp(json_string_value(told), digest) != 0) {
        return iwi_fail(
            r->log, IW_ERR_FORMAT,
            "'%s:%zu': the line does not match its digest, so it was changed or damaged: remove it "
            "and run the study again",
            r->path, r->number);
    }
    return IW_OK;
}

/* Earlier lines have no interval of the mean and another one of the median; cells of both do not compare. */
static iw_status check_schema(const struct line_reader *r, const json_t *object)
{
    const char *schema = json_string_value(json_object_get(object, "schema"));

    if (schema != NULL && strcmp(schema, "idlewave.cell/1") == 0) {
        return iwi_fail(r->log, IW_ERR_FORMAT,
                        "'%s:%zu': an earlier idlewave wrote this line (schema '%s'), with other statistics: "
                        "run the study again, into a new folder",
                        r->path, r->number, schema);
    }
    return schema != NULL && strcmp(schema, IWI_CELL_SCHEMA) == 0
               ? IW_OK
               : fail_member(r, "schema", "'" IWI_CELL_SCHEMA "'");
}

static iw_status read_cell(const struct line_reader *r, const json_t *object, iw_cell_result *cell)
{
    IW_TRY(check_schema(r, object));
    IW_TRY(read_id(r, object, cell));
    IW_TRY(read_counts(r, object, cell));
    IW_TRY(read_sync(r, object, cell));
    IW_TRY(read_reals(r, object, &iwi_outer_reals, cell));
    IW_TRY(read_makespan(r, object, cell));
    IW_TRY(read_recording(r, object, cell));
    IW_TRY(read_text(r, object, "system", &cell->system));
    IW_TRY(read_text(r, object, "work", &cell->work));
    IW_TRY(read_text(r, object, "net", &cell->net));
    IW_TRY(read_text(r, object, "noise", &cell->noise));
    if (json_object_get(object, "settings") != NULL) {
        IW_TRY(read_text(r, object, "settings", &cell->settings));
    }
    if (json_object_get(object, "caveats") != NULL) {
        IW_TRY(read_text(r, object, "caveats", &cell->caveats));
    }
    return check_digest(r, object, cell);
}

iw_status iwi_cell_line_read(const iw_log *log, const char *path, size_t number, const char *line,
                             size_t length, iw_cell_result *cell)
{
    const struct line_reader reader = {log, path, number};
    iw_cell_result read = {.system = NULL};
    json_error_t error;
    json_t *object = json_loadb(line, length, JSON_REJECT_DUPLICATES, &error);
    iw_status status;

    if (object == NULL) {
        return iwi_fail(log, IW_ERR_FORMAT, "'%s:%zu': not JSON: %s", path, number, error.text);
    }
    status = read_cell(&reader, object, &read);
    json_decref(object);
    if (status != IW_OK) {
        iwi_cell_result_release(&read);
        return status;
    }
    *cell = read;
    return IW_OK;
}
