/* The window of a timeline: steps of some ranks and some time, kept as they are.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>

#include "kit/timeline/timeline.h"

/* Entries of ranks that were left out are removed when they are a fifth of all, so that this is rare. */
static size_t largest_capacity(const struct iwi_exact *exact)
{
    const uint64_t most = SIZE_MAX / sizeof(struct iwi_exact_entry) / 2;

    return exact->max_steps > most / 2 ? most : exact->max_steps + exact->max_steps / 4 + 1;
}

iw_status iwi_exact_open(const iw_log *log, const iw_timeline_opts *opts, struct iwi_exact *exact)
{
    *exact = (struct iwi_exact){.first_rank = opts->first_rank,
                                .rank_count = opts->rank_count != 0 ? opts->rank_count : opts->about.ranks,
                                .from_ps = opts->from_ps,
                                .to_ps = opts->to_ps != 0 ? opts->to_ps : INT64_MAX,
                                .max_steps = opts->max_steps};
    if (exact->max_steps == 0) {
        exact->rank_count = 0;
    }
    exact->first_steps = iwi_new_array(log, exact->rank_count, sizeof *exact->first_steps);
    exact->counts = iwi_new_array(log, exact->rank_count, sizeof *exact->counts);
    return exact->first_steps != NULL && exact->counts != NULL ? IW_OK : IW_ERR_NOMEM;
}

static void remove_left_out(struct iwi_exact *exact)
{
    size_t kept = 0;

    for (size_t i = 0; i < exact->entry_count; i++) {
        if (exact->entries[i].index < exact->rank_count) {
            exact->entries[kept++] = exact->entries[i];
        }
    }
    exact->entry_count = kept;
}

static iw_status make_room(struct iwi_exact *exact)
{
    const size_t most = largest_capacity(exact);
    size_t capacity = exact->capacity < 64 ? 64 : exact->capacity * 2;
    struct iwi_exact_entry *entries;

    if (exact->capacity >= most) {
        remove_left_out(exact);
        return IW_OK;
    }
    capacity = capacity < most ? capacity : most;
    entries = realloc(exact->entries, capacity * sizeof *entries);
    if (entries == NULL) {
        return IW_ERR_NOMEM;
    }
    exact->entries = entries;
    exact->capacity = capacity;
    return IW_OK;
}

/* The last ranks go until there is room for one more. In whatever order steps come, what is left in the end
 * are the first k ranks, with the largest k such that all their steps fit: a rank goes only when the steps
 * up to it are too many already. */
static void leave_out(struct iwi_exact *exact)
{
    while (exact->rank_count > 0 && exact->step_count >= exact->max_steps) {
        exact->rank_count--;
        exact->left_out++;
        exact->step_count -= exact->counts[exact->rank_count];
    }
}

iw_status iwi_exact_add(struct iwi_exact *exact, uint32_t index, const iw_step *step)
{
    if (step->begin_ps < exact->from_ps) {
        exact->first_steps[index]++;
        return IW_OK;
    }
    if (step->begin_ps >= exact->to_ps) {
        return IW_OK;
    }
    if (exact->step_count >= exact->max_steps) {
        leave_out(exact);
        if (index >= exact->rank_count) {
            return IW_OK;
        }
    }
    if (exact->entry_count == exact->capacity) {
        IW_TRY(make_room(exact));
    }
    exact->entries[exact->entry_count++] = (struct iwi_exact_entry){index, *step};
    exact->counts[index]++;
    exact->step_count++;
    return IW_OK;
}

iw_status iwi_exact_finish(const iw_log *log, struct iwi_exact *exact)
{
    uint64_t start = 0;

    exact->starts = iwi_new_array(log, (size_t)exact->rank_count + 1, sizeof *exact->starts);
    exact->steps = iwi_new_array(log, exact->step_count, sizeof *exact->steps);
    if (exact->starts == NULL || exact->steps == NULL) {
        return IW_ERR_NOMEM;
    }
    for (uint32_t index = 0; index < exact->rank_count; index++) {
        exact->starts[index] = start;
        start += exact->counts[index];
        exact->counts[index] = exact->starts[index]; /* from here on: where its next one goes */
    }
    exact->starts[exact->rank_count] = start;
    for (size_t i = 0; i < exact->entry_count; i++) {
        const struct iwi_exact_entry *entry = &exact->entries[i];

        if (entry->index < exact->rank_count) {
            exact->steps[exact->counts[entry->index]++] = entry->step;
        }
    }
    free(exact->entries);
    free(exact->counts);
    exact->entries = NULL;
    exact->counts = NULL;
    exact->entry_count = exact->capacity = 0;
    return IW_OK;
}

void iwi_exact_release(struct iwi_exact *exact)
{
    free(exact->first_steps);
    free(exact->counts);
    free(exact->entries);
    free(exact->steps);
    free(exact->starts);
}

/* Levels of a raster: each next one is the picture from twice as far away. */

/* The last level has at most so many rows and columns. */
enum { COARSE_ENOUGH = 32 };

struct iwi_level iwi_level_finest(uint32_t ranks, uint32_t max_rows)
{
    struct iwi_level level = {.ranks_per_row = ranks / max_rows + (ranks % max_rows != 0)};

    level.rows = ranks / level.ranks_per_row + (ranks % level.ranks_per_row != 0);
    return level;
}

iw_status iwi_level_open(const iw_log *log, struct iwi_level *level)
{
    const size_t cells = (size_t)level->rows * level->columns;
    bool is_complete = true;

    for (int state = 0; state < IW_STATES; state++) {
        level->mean[state] = iwi_new_array(log, cells, sizeof *level->mean[state]);
        level->max[state] = iwi_new_array(log, cells, sizeof *level->max[state]);
        is_complete = is_complete && level->mean[state] != NULL && level->max[state] != NULL;
    }
    if (!is_complete) {
        iwi_level_release(level);
        return IW_ERR_NOMEM;
    }
    return IW_OK;
}

void iwi_level_release(struct iwi_level *level)
{
    for (int state = 0; state < IW_STATES; state++) {
        free(level->mean[state]);
        free(level->max[state]);
        level->mean[state] = level->max[state] = NULL;
    }
}

bool iwi_level_next(const struct iwi_level *level, uint32_t ranks, struct iwi_level *next)
{
    if (level->rows <= COARSE_ENOUGH && level->columns <= COARSE_ENOUGH) {
        return false;
    }
    *next = (struct iwi_level){.rows = level->rows / 2 + level->rows % 2,
                               .columns = level->columns / 2 + level->columns % 2,
                               .ranks_per_row = (uint32_t)iwi_min(2 * (int64_t)level->ranks_per_row, ranks),
                               .bin_ps = 2 * level->bin_ps};
    return true;
}

static uint16_t larger(uint16_t a, uint16_t b)
{
    return a > b ? a : b;
}

/* One row of the coarser level from the row `upper` of the finer one and the row after it, if there is one
 * (weight 0: no). A column that is not there is time after the end: nobody does anything in it. */
static void merge_mean(const uint16_t *upper, uint64_t upper_ranks, const uint16_t *lower,
                       uint64_t lower_ranks, uint32_t columns, uint16_t *to)
{
    const uint64_t whole = 2 * (upper_ranks + lower_ranks);

    for (uint32_t column = 0; column < columns; column += 2) {
        const bool has_next = column + 1 < columns;
        const uint64_t above = upper[column] + (has_next ? (uint64_t)upper[column + 1] : 0),
                       below = lower[column] + (has_next ? (uint64_t)lower[column + 1] : 0);

        to[column / 2] = (uint16_t)((above * upper_ranks + below * lower_ranks + whole / 2) / whole);
    }
}

static void merge_max(const uint16_t *upper, const uint16_t *lower, uint32_t columns, uint16_t *to)
{
    for (uint32_t column = 0; column < columns; column++) {
        to[column / 2] = larger(to[column / 2], larger(upper[column], lower[column]));
    }
}

static void fill_next(const struct iwi_level *level, uint32_t ranks, struct iwi_level *next)
{
    for (uint32_t row = 0; row < level->rows; row += 2) {
        const bool has_lower = row + 1 < level->rows;
        const size_t upper = (size_t)row * level->columns, lower = upper + (has_lower ? level->columns : 0),
                     to = (size_t)(row / 2) * next->columns;
        const uint64_t upper_ranks = iwi_level_ranks(level, ranks, row),
                       lower_ranks = has_lower ? iwi_level_ranks(level, ranks, row + 1) : 0;

        for (int state = 0; state < IW_STATES; state++) {
            merge_mean(level->mean[state] + upper, upper_ranks, level->mean[state] + lower, lower_ranks,
                       level->columns, next->mean[state] + to);
            merge_max(level->max[state] + upper, level->max[state] + lower, level->columns,
                      next->max[state] + to);
        }
    }
}

iw_status iwi_levels_make(const iw_log *log, iw_timeline *timeline)
{
    struct iwi_level next;

    while (iwi_level_next(&timeline->levels[timeline->level_count - 1], timeline->about.ranks, &next)) {
        IW_TRY(iwi_level_open(log, &next));
        fill_next(&timeline->levels[timeline->level_count - 1], timeline->about.ranks, &next);
        timeline->levels[timeline->level_count++] = next;
    }
    return IW_OK;
}
