/* Writes one finished cell as one line of JSON.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The writer is our own, so that the same cell gives the same bytes with any version of the library that
 * reads them: keys in one order, each number with the fewest digits that give it back exactly.
 */
#include "features/study/files/study_line_members.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "core/base/base.h"
#include "core/base/hash.h"
#include "features/study/files/study_yaml.h"

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
static const struct iwi_real_member outer_reals[] = {REAL("noise_share", noise_share, true),
                                                     REAL("noiseless_ns", noiseless_ns, false)};
static const struct iwi_real_member makespan_reals[] = {
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
static const struct iwi_real_member recording_reals[] = {
    REAL("seconds", recording.seconds, false),        REAL("unseen", recording.unseen, false),
    SLOWDOWN("slowdown_low", recording.slowdown_low), SLOWDOWN("slowdown_high", recording.slowdown_high),
    REAL("record_seconds", recording.record_s, true),
};
#undef SLOWDOWN
#undef REAL

#define COUNT(table) (sizeof(table) / sizeof(table)[0])

const struct iwi_real_members iwi_outer_reals = {outer_reals, COUNT(outer_reals)};
const struct iwi_real_members iwi_makespan_reals = {makespan_reals, COUNT(makespan_reals)};
const struct iwi_real_members iwi_recording_reals = {recording_reals, COUNT(recording_reals)};

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

static void write_reals(FILE *out, const iw_cell_result *cell, const struct iwi_real_members *members)
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
        return iwi_fail(log, IW_ERR_FORMAT, "the %s of a cell is not UTF-8, or memory is out", key);
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
    write_reals(out, cell, &iwi_recording_reals);
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
    write_reals(out, cell, &iwi_outer_reals);
    fprintf(out, ",\"makespan_ns\":{\"count\":%zu", cell->makespan_ns.count);
    write_reals(out, cell, &iwi_makespan_reals);
    fputc('}', out);
    return cell->recording.seconds > 0.0 ? write_recording(log, cell, out) : IW_OK;
}

/* What JSON's readers hold exactly. */
static iw_status check_counts(const iw_log *log, const iw_cell_result *cell)
{
    const uint64_t counts[] = {cell->bytes, cell->trials, cell->seed, cell->messages};

    for (size_t i = 0; i < COUNT(counts); i++) {
        if (counts[i] > INT64_MAX) {
            return iwi_fail(log, IW_ERR_RANGE, "cell %s: %" PRIu64 " is too large to be written", cell->id,
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

iw_status iwi_cell_line_digest(const iw_log *log, const iw_cell_result *cell,
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
    return iwi_cell_line_digest(log, cell, digest, line_p);
}
