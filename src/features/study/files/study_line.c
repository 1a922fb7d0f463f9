/* Writes one finished cell as one line of JSON, and reads it back.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The writer is our own, so that the same cell gives the same bytes with any version of the library that
 * reads them: keys in one order, each number with the fewest digits that give it back exactly.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "core/base/base.h"
#include "core/base/hash.h"
#include "features/study/files/study_line.h"
#include "features/study/files/study_yaml.h"

/* ======== writing ======== */

enum { IWI_LINE_DIGEST_SIZE = 17 };

/* A key and its place in a cell. */
struct real_member {
    const char *key;
    size_t offset;
    bool may_be_null;    /* NaN */
    bool may_be_below_0; /* noise can make some programs faster */
};

/* A table of them. */
struct real_members {
    const struct real_member *list;
    size_t count;
};

enum { NUMBER_SIZE = 40 };

/* ---- the members ---- */

#define REAL(key, member, may_be_null)                            \
    {                                                             \
        key, offsetof(iw_cell_result, member), may_be_null, false \
    }
#define SLOWDOWN(key, member)                             \
    {                                                     \
        key, offsetof(iw_cell_result, member), true, true \
    }
static const struct real_member outer_reals[] = {REAL("noise_share", noise_share, true),
                                                 REAL("noiseless_ns", noiseless_ns, false)};
static const struct real_member makespan_reals[] = {
    REAL("min", makespan_ns.min, false),
    REAL("p5", p5_ns, false),
    REAL("q1", makespan_ns.q1, false),
    REAL("median", makespan_ns.median, false),
    REAL("q3", makespan_ns.q3, false),
    REAL("p95", p95_ns, false),
    REAL("max", makespan_ns.max, false),
    REAL("mean", makespan_ns.mean, false),
    REAL("median_low", makespan_ns.median_low, true),
    REAL("median_high", makespan_ns.median_high, true),
    REAL("mean_low", makespan_ns.mean_low, true),
    REAL("mean_high", makespan_ns.mean_high, true),
};
static const struct real_member recording_reals[] = {
    REAL("seconds", recording.seconds, false),        REAL("unseen", recording.unseen, false),
    SLOWDOWN("slowdown_low", recording.slowdown_low), SLOWDOWN("slowdown_high", recording.slowdown_high),
    REAL("record_seconds", recording.record_s, true),
};
#undef SLOWDOWN
#undef REAL

#define COUNT(table) (sizeof(table) / sizeof(table)[0])

static const struct real_members outer_members = {outer_reals, COUNT(outer_reals)};
static const struct real_members makespan_members = {makespan_reals, COUNT(makespan_reals)};
static const struct real_members recording_members = {recording_reals, COUNT(recording_reals)};

void iwi_cell_result_release(iw_cell_result *cell)
{
    free(cell->system);
    free(cell->work);
    free(cell->net);
    free(cell->noise);
    free(cell->settings);
    free(cell->caveats);
    free(cell->recording.laws);
    *cell = (iw_cell_result){.system = NULL};
}

/* ---- writing ---- */

/* The fewest digits that are read back as the same number; a point whatever the locale has. Zero has no sign:
 * "-0" would be read as the whole number 0, which is written otherwise. */
static void format_number(double value, char text[NUMBER_SIZE])
{
    char *to = text;

    value += 0.0; /* of -0: 0 */
    if (!isfinite(value)) {
        snprintf(text, NUMBER_SIZE, "null");
        return;
    }
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, NUMBER_SIZE, "%.*g", digits, value);
        if (strtod(text, NULL) == value) {
            break;
        }
    }
    for (const char *from = text; *from != '\0'; from++) {
        if (strchr("0123456789+-e", *from) != NULL) {
            *to++ = *from;
        } else if (to > text && to[-1] != '.') {
            *to++ = '.';
        }
    }
    *to = '\0';
}

static void write_reals(FILE *out, const iw_cell_result *cell, const struct real_members *members)
{
    for (size_t i = 0; i < members->count; i++) {
        char number[NUMBER_SIZE];
        double value;

        memcpy(&value, (const char *)cell + members->list[i].offset, sizeof value);
        format_number(value, number);
        fprintf(out, ",\"%s\":%s", members->list[i].key, number);
    }
}

static iw_status write_text(const iw_log *log, FILE *out, const char *key, const char *text)
{
    json_t *string = json_string(text);
    char *quoted = string != NULL ? json_dumps(string, JSON_ENCODE_ANY) : NULL;

    json_decref(string);
    if (quoted == NULL) {
        return iwi_fail(log, IW_ERR_FORMAT, "the %s of a cell is not UTF-8, or out of memory", key);
    }
    fprintf(out, ",\"%s\":%s", key, quoted);
    free(quoted);
    return IW_OK;
}

/* Only where something is supposed: lines of others keep their bytes. */
static void write_sensitivity(const iw_sensitivity *sensitivity, FILE *out)
{
    char every[NUMBER_SIZE], slowdown[NUMBER_SIZE];

    if (sensitivity->length_ns == 0) {
        return;
    }
    format_number(sensitivity->every_s, every);
    format_number(sensitivity->slowdown, slowdown);
    fprintf(out,
            ",\"sensitivity\":{\"length_ns\":%" PRId64 ",\"every_seconds\":%s,\"trials\":%" PRIu64
            ",\"slowdown\":%s}",
            sensitivity->length_ns, every, sensitivity->trials, slowdown);
}

/* Laws only where they stood in: lines of others keep their bytes. */
static iw_status write_recording(const iw_log *log, const iw_cell_result *cell, FILE *out)
{
    fputs(",\"recording\":{\"is_bound\":", out);
    fputs(isnan(cell->recording.record_s) ? "false" : "true", out);
    write_reals(out, cell, &recording_members);
    if (cell->recording.laws != NULL) {
        fputs(",\"is_extrapolated\":true", out);
        IW_TRY(write_text(log, out, "laws", cell->recording.laws));
    }
    write_sensitivity(&cell->recording.sensitivity, out);
    fputc('}', out);
    return IW_OK;
}

static iw_status write_cell(const iw_log *log, const iw_cell_result *cell, FILE *out)
{
    char scale[NUMBER_SIZE];

    format_number(cell->net_scale, scale);
    fprintf(out, IWI_CELL_LINE_START "%s\"", cell->id);
    IW_TRY(write_text(log, out, "system", cell->system));
    IW_TRY(write_text(log, out, "work", cell->work));
    fprintf(out,
            ",\"ranks\":%" PRIu32 ",\"bytes\":%" PRIu64
            ",\"sync\":\"%s\",\"net_scale\":%s,\"trials\":%" PRIu64 ",\"seed\":%" PRIu64,
            cell->ranks, cell->bytes, iwi_study_sync_name(cell->sync), scale, cell->trials, cell->seed);
    IW_TRY(write_text(log, out, "net", cell->net));
    IW_TRY(write_text(log, out, "noise", cell->noise));
    if (cell->settings != NULL) { /* lines of others keep their bytes */
        IW_TRY(write_text(log, out, "settings", cell->settings));
    }
    if (cell->caveats != NULL) {
        IW_TRY(write_text(log, out, "caveats", cell->caveats));
    }
    fprintf(out, ",\"messages\":%" PRIu64, cell->messages);
    write_reals(out, cell, &outer_members);
    fprintf(out, ",\"makespan_ns\":{\"count\":%zu", cell->makespan_ns.count);
    write_reals(out, cell, &makespan_members);
    fputc('}', out);
    return cell->recording.seconds > 0.0 ? write_recording(log, cell, out) : IW_OK;
}

/* What JSON's readers hold exactly. */
static iw_status check_counts(const iw_log *log, const iw_cell_result *cell)
{
    const uint64_t counts[] = {cell->bytes, cell->trials, cell->seed, cell->messages};

    for (size_t i = 0; i < COUNT(counts); i++) {
        if (counts[i] > INT64_MAX) {
            return iwi_fail(log, IW_ERR_RANGE, "cell %s: %" PRIu64 " is too large to write", cell->id,
                            counts[i]);
        }
    }
    if (iwi_study_sync_name(cell->sync) == NULL || !isfinite(cell->net_scale)) {
        return iwi_fail(log, IW_ERR_RANGE, "cell %s cannot be written: sync %d, net-scale %g", cell->id,
                        (int)cell->sync, cell->net_scale);
    }
    return IW_OK;
}

/* Of what has been written, which is what a cell says. */
static void format_digest(const char *written, size_t size, char text[IWI_LINE_DIGEST_SIZE])
{
    struct iwi_hash digest;

    iwi_hash_init(&digest, iwi_hash_key);
    iwi_hash_add(&digest, written, size);
    snprintf(text, IWI_LINE_DIGEST_SIZE, "%016" PRIx64, iwi_hash_value(&digest));
}

/* The line, to be freed, and the digest in it. */
static iw_status cell_line_digest(const iw_log *log, const iw_cell_result *cell,
                                  char digest[IWI_LINE_DIGEST_SIZE], char **line_p)
{
    char *line = NULL;
    size_t size = 0;
    iw_status status;
    FILE *out = open_memstream(&line, &size);

    if (out == NULL) {
        return iwi_fail(log, IW_ERR_NOMEM, "out of memory for the result of a cell");
    }
    status = write_cell(log, cell, out);
    if (status == IW_OK && fflush(out) == 0) {
        format_digest(line, size, digest);
        fprintf(out, ",\"digest\":\"%s\"}\n", digest);
    }
    if (fclose(out) != 0 && status == IW_OK) {
        status = iwi_fail(log, IW_ERR_NOMEM, "out of memory for the result of a cell");
    }
    if (status != IW_OK) {
        free(line);
        return status;
    }
    *line_p = line;
    return IW_OK;
}

iw_status iwi_cell_line_new(const iw_log *log, const iw_cell_result *cell, char **line_p)
{
    char digest[IWI_LINE_DIGEST_SIZE];

    IW_TRY(check_counts(log, cell));
    return cell_line_digest(log, cell, digest, line_p);
}

/* ======== reading ======== */

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
                            const struct real_members *members, iw_cell_result *cell)
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
    return read_reals(r, makespan, &makespan_members, cell);
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
    IW_TRY(read_reals(r, recording, &recording_members, cell));
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
               : iwi_fail(r->log, IW_ERR_FORMAT,
                          "'%s:%zu': %g ns without noise, but only %g ns with it: the line was edited; "
                          "remove it and run the study again",
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
    IW_TRY(cell_line_digest(r->log, cell, digest, &line));
    free(line);
    if (strcmp(json_string_value(told), digest) != 0) {
        return iwi_fail(r->log, IW_ERR_FORMAT,
                        "'%s:%zu': the line does not match its digest (edited or damaged): remove it and run "
                        "the study again",
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
                        "'%s:%zu': this line is from an earlier idlewave (schema '%s') with other "
                        "statistics: run the study again, into a new folder",
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
    IW_TRY(read_reals(r, object, &outer_members, cell));
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
