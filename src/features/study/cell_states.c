/* Keeps count of what has become of cells.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/study/cell_states.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/base/order.h"

IWI_COMPARE(compare_named, struct iwi_named_cell, IWI_TEXT(id))

static iw_status sort_by_id(const iw_log *log, struct iwi_cell_states *cells)
{
    cells->by_id = iwi_new_array(log, cells->count, sizeof *cells->by_id);
    if (cells->by_id == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < cells->count; i++) {
        cells->by_id[i] =
            (struct iwi_named_cell){cells->study->cells[cells->items[i].task->cell].id, &cells->items[i]};
    }
    iwi_sort(cells->by_id, cells->count, compare_named);
    return IW_OK;
}

iw_status iwi_cell_states_init(const iw_log *log, const iw_study *study, const struct iwi_tasks *tasks,
                               struct iwi_cell_states *cells)
{
    iw_status status;

    *cells = (struct iwi_cell_states){.study = study};
    cells->items = iwi_new_array(log, tasks->count, sizeof *cells->items);
    if (cells->items == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < tasks->count; i++) {
        if (!tasks->items[i].is_found) {
            cells->items[cells->count++].task = &tasks->items[i];
            cells->all_seconds += tasks->items[i].seconds;
        }
    }
    cells->in[IWI_WAITING] = cells->count;
    status = sort_by_id(log, cells);
    if (status != IW_OK) {
        iwi_cell_states_release(cells);
    }
    return status;
}

void iwi_cell_states_release(struct iwi_cell_states *cells)
{
    free(cells->items);
    free(cells->by_id);
    *cells = (struct iwi_cell_states){.study = NULL};
}

void iwi_cell_states_set(struct iwi_cell_states *cells, struct iwi_tracked_cell *tracked,
                         enum iwi_cell_state state)
{
    const size_t place = (size_t)(tracked - cells->items);

    cells->in[tracked->state]--;
    cells->in[state]++;
    tracked->state = state;
    if (state == IWI_WAITING && place < cells->first_waiting) {
        cells->first_waiting = place;
    }
    if (state == IWI_ENDED || state == IWI_FOUND) {
        atomic_store(&tracked->permill, 1000);
    }
}

void iwi_cell_states_note_found(struct iwi_cell_states *cells, const char *id)
{
    const struct iwi_named_cell key = {.id = id};
    const struct iwi_named_cell *found = iwi_find(&key, cells->by_id, cells->count, compare_named);
    struct iwi_tracked_cell *tracked;

    if (found == NULL) {
        return; /* of another shard, or of another version of the study */
    }
    tracked = found->tracked;
    tracked->is_found = true;
    if (tracked->state == IWI_WAITING || tracked->state == IWI_HELD || tracked->state == IWI_FAILED) {
        iwi_cell_states_set(cells, tracked, IWI_FOUND);
    }
}

void iwi_cell_states_retry_held(struct iwi_cell_states *cells, size_t most)
{
    for (size_t i = 0; i < cells->count && most > 0 && cells->in[IWI_HELD] > 0; i++) {
        struct iwi_tracked_cell *tracked = &cells->items[cells->next_held];

        cells->next_held = (cells->next_held + 1) % cells->count;
        if (tracked->state == IWI_HELD) {
            iwi_cell_states_set(cells, tracked, IWI_WAITING);
            most--;
        }
    }
}

double iwi_cell_states_work_done(const struct iwi_cell_states *cells)
{
    double done = 0.0;

    for (size_t i = 0; i < cells->count; i++) {
        done += cells->items[i].task->seconds * 1e-3 * (double)atomic_load(&cells->items[i].permill);
    }
    return done;
}
