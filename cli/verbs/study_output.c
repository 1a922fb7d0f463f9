/* What `idlewave study` prints: the estimate of --dry-run, and how a run ended.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <string.h>

#include "verbs/study_verbs.h"

/* ---- numbers ---- */

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

static const char *memory(uint64_t bytes, char buf[STUDY_NUMBER_SIZE])
{
    const double mib = (double)bytes / 0x1p20;

    if (mib < 1000.0) {
        snprintf(buf, STUDY_NUMBER_SIZE, "%.*f MiB", mib < 9.95 ? 1 : 0, mib);
    } else {
        snprintf(buf, STUDY_NUMBER_SIZE, "%.1f GiB", mib / 1024.0);
    }
    return buf;
}

/* As many threads as there are share the work; how well depends on the cells. */
static double wall_seconds(const iw_study_estimate *estimate)
{
    return estimate->core_seconds / ((double)estimate->threads * estimate->processes);
}

/* ---- the table ---- */

/* One system and work. */
struct row {
    size_t cells; /* to be run */
    uint32_t least_ranks, most_ranks;
    double core_seconds;
    uint64_t largest_bytes;
};

static struct row add_up(const iw_study *study, const iw_study_estimate *estimate, size_t system, size_t work)
{
    struct row row = {.least_ranks = UINT32_MAX};

    for (size_t i = 0; i < study->cell_count; i++) {
        const iw_cell *cell = &study->cells[i];

        if (cell->system != system || cell->work != work || !(estimate->cell_seconds[i] > 0.0)) {
            continue;
        }
        row.cells++;
        row.core_seconds += estimate->cell_seconds[i];
        row.least_ranks = cell->ranks < row.least_ranks ? cell->ranks : row.least_ranks;
        row.most_ranks = cell->ranks > row.most_ranks ? cell->ranks : row.most_ranks;
        if (estimate->cell_bytes[i] > row.largest_bytes) {
            row.largest_bytes = estimate->cell_bytes[i];
        }
    }
    return row;
}

/* Columns of names: as wide as the longest, within limits. */
struct widths {
    int system, work;
};

static int wider(int width, const char *name, int most)
{
    const int length = (int)strlen(name);

    return length <= width ? width : (length < most ? length : most);
}

static struct widths choose_widths(const iw_study *study)
{
    enum { MOST_SYSTEM = 16, MOST_WORK = 28 };
    struct widths widths = {(int)strlen("system"), (int)strlen("work")};

    for (size_t i = 0; i < study->system_count; i++) {
        widths.system = wider(widths.system, study->systems[i].name, MOST_SYSTEM);
    }
    for (size_t i = 0; i < study->work_count; i++) {
        widths.work = wider(widths.work, study->works[i].name, MOST_WORK);
    }
    return widths;
}

static void write_row(const struct widths *widths, const char *system, const char *work,
                      const struct row *row, FILE *out)
{
    char ranks[STUDY_NUMBER_SIZE], time[STUDY_NUMBER_SIZE], bytes[STUDY_NUMBER_SIZE];

    if (row->least_ranks == row->most_ranks) {
        snprintf(ranks, sizeof ranks, "%lu", (unsigned long)row->most_ranks);
    } else {
        snprintf(ranks, sizeof ranks, "%lu to %lu", (unsigned long)row->least_ranks,
                 (unsigned long)row->most_ranks);
    }
    (void)fprintf(out, "%-*.*s %-*.*s %14s %5zu %8s %9s\n", widths->system, widths->system, system,
                  widths->work, widths->work, work, ranks, row->cells,
                  study_duration(row->core_seconds, time), memory(row->largest_bytes, bytes));
}

static void write_table(const iw_study *study, const iw_study_estimate *estimate, FILE *out)
{
    const struct widths widths = choose_widths(study);

    (void)fprintf(out, "\n%-*s %-*s %14s %5s %8s %9s\n", widths.system, "system", widths.work, "work",
                  "ranks", "cells", "1 core", "memory");
    for (size_t s = 0; s < study->system_count; s++) {
        for (size_t w = 0; w < study->work_count; w++) {
            const struct row row = add_up(study, estimate, s, w);

            if (row.cells > 0) {
                write_row(&widths, study->systems[s].name, study->works[w].name, &row, out);
            }
        }
    }
}

/* ---- the estimate ---- */

void study_write_estimate_text(const iw_study *study, const iw_study_estimate *estimate,
                               const struct shard *shard, FILE *out)
{
    const size_t left = estimate->cells - estimate->found;
    char wall[STUDY_NUMBER_SIZE], core[STUDY_NUMBER_SIZE], bytes[STUDY_NUMBER_SIZE], processes[32] = "";

    if (shard->count > 1) {
        (void)fprintf(out, "Shard %u of %u. ", (unsigned)shard->index + 1, (unsigned)shard->count);
    }
    if (left == 0) {
        (void)fprintf(out, "Nothing is left to do: all cells (%zu) are there.\n", estimate->cells);
        return;
    }
    if (estimate->processes > 1) {
        snprintf(processes, sizeof processes, "%u processes with ", (unsigned)estimate->processes);
    }
    (void)fprintf(out, "%zu cell%s about %s on %s%u thread%s and %s of memory%s.\n", left,
                  left == 1 ? " takes" : "s take", study_duration(wall_seconds(estimate), wall), processes,
                  (unsigned)estimate->threads, estimate->threads == 1 ? "" : "s",
                  memory(estimate->memory_bytes, bytes), estimate->processes > 1 ? " each" : "");
    if (estimate->found > 0) {
        (void)fprintf(out, "%zu more %s there already.\n", estimate->found,
                      estimate->found == 1 ? "is" : "are");
    }
    write_table(study, estimate, out);
    (void)fprintf(out,
                  "\nIn all %s of one core: measured just now with a small part of each kind of\n"
                  "cell, so expect it within a factor of 3. Memory is that of the largest cell.\n",
                  study_duration(estimate->core_seconds, core));
}

static void write_json_rows(const iw_study *study, const iw_study_estimate *estimate, FILE *out)
{
    const char *separator = "\n";

    (void)fputs("  \"rows\": [", out);
    for (size_t s = 0; s < study->system_count; s++) {
        for (size_t w = 0; w < study->work_count; w++) {
            const struct row row = add_up(study, estimate, s, w);

            if (row.cells == 0) {
                continue;
            }
            (void)fprintf(out, "%s    {\"system\": ", separator);
            ui_write_json_string(study->systems[s].name, out);
            (void)fputs(", \"work\": ", out);
            ui_write_json_string(study->works[w].name, out);
            (void)fprintf(
                out,
                ", \"least_ranks\": %lu, \"most_ranks\": %lu, \"cells\": %zu, \"core_seconds\": %.6g, "
                "\"largest_bytes\": %llu}",
                (unsigned long)row.least_ranks, (unsigned long)row.most_ranks, row.cells, row.core_seconds,
                (unsigned long long)row.largest_bytes);
            separator = ",\n";
        }
    }
    (void)fputs("\n  ]\n}\n", out);
}

void study_write_estimate_json(const iw_study *study, const iw_study_estimate *estimate,
                               const struct shard *shard, FILE *out)
{
    (void)fprintf(
        out,
        "{\n  \"schema\": \"idlewave.study-estimate/1\",\n"
        "  \"shard\": %u,\n  \"shards\": %u,\n  \"cells\": %zu,\n  \"found\": %zu,\n"
        "  \"processes\": %u,\n  \"threads\": %u,\n  \"core_seconds\": %.6g,\n  \"wall_seconds\": %.6g,\n"
        "  \"memory_bytes\": %llu,\n",
        (unsigned)shard->index + 1, (unsigned)shard->count, estimate->cells, estimate->found,
        (unsigned)estimate->processes, (unsigned)estimate->threads, estimate->core_seconds,
        wall_seconds(estimate), (unsigned long long)estimate->memory_bytes);
    write_json_rows(study, estimate, out);
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
