/* What `idlewave study` prints when a run has ended.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "verbs/study_verbs.h"

const char *study_duration(double seconds, char buf[STUDY_NUMBER_SIZE])
{
    if (seconds < 0.995) {
        snprintf(buf, STUDY_NUMBER_SIZE, "%.2f s", seconds);
    } else if (seconds < 99.5) {
        snprintf(buf, STUDY_NUMBER_SIZE, "%.*f s", seconds < 9.95 ? 1 : 0, seconds);
    } else if (seconds < 99.5 * 60.0) {
        snprintf(buf, STUDY_NUMBER_SIZE, "%.*f min", seconds < 9.95 * 60.0 ? 1 : 0, seconds / 60.0);
    } else {
        snprintf(buf, STUDY_NUMBER_SIZE, "%.1f h", seconds / 3600.0);
    }
    return buf;
}

/* ---- the outcome ---- */

/* Cells of a shard are told as such. */
static const char *of_shard(const struct shard *shard, char buf[64])
{
    buf[0] = '\0';
    if (shard->count > 1) {
        snprintf(buf, 64, " of shard %u of %u", (unsigned)shard->index + 1, (unsigned)shard->count);
    }
    return buf;
}

void study_write_outcome_text(const iw_study_outcome *outcome, const struct shard *shard, const char *dir,
                              FILE *out)
{
    const char *next = shard->count > 1 ? ", after all shards" : "";
    char time[STUDY_NUMBER_SIZE], part[64];

    if (outcome->elsewhere > 0) {
        (void)fprintf(
            out, "Done here: %zu of %zu cells%s are there, and other processes run the rest (%zu).\n",
            outcome->cells - outcome->elsewhere, outcome->cells, of_shard(shard, part), outcome->elsewhere);
        next = ", after all processes";
    } else {
        (void)fprintf(out, "Done: %zu cell%s%s in %s", outcome->cells, outcome->cells == 1 ? "" : "s",
                      of_shard(shard, part), study_duration(outcome->seconds, time));
        if (outcome->others > 0) {
            (void)fprintf(out, ", %zu of them by other processes", outcome->others);
        }
        if (outcome->found > 0) {
            (void)fprintf(out, " (%zu %s there already)", outcome->found,
                          outcome->found == 1 ? "was" : "were");
        }
        (void)fputs(".\n", out);
    }
    (void)fprintf(out, "Next%s: idlewave report %s -o report.html\n", next, dir);
}

void study_write_outcome_json(const iw_study_outcome *outcome, const struct shard *shard, const char *dir,
                              FILE *out)
{
    (void)fputs("{\n  \"schema\": \"idlewave.study/1\",\n  \"folder\": ", out);
    ui_write_json_string(dir, out);
    (void)fprintf(out,
                  ",\n  \"shard\": %u,\n  \"shards\": %u,\n  \"cells\": %zu,\n  \"found\": %zu,\n"
                  "  \"run\": %zu,\n  \"others\": %zu,\n  \"elsewhere\": %zu,\n  \"is_stopped\": %s,\n"
                  "  \"seconds\": %.3f\n}\n",
                  (unsigned)shard->index + 1, (unsigned)shard->count, outcome->cells, outcome->found,
                  outcome->run, outcome->others, outcome->elsewhere, outcome->is_stopped ? "true" : "false",
                  outcome->seconds);
}
