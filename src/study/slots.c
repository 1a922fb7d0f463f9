/* Keeps count of what has become of cells.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "study/slots.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"

/* A copy of each id beside its slot: qsort() and bsearch() hand over nothing else. */
struct keyed {
    const char *id;
    struct iwi_slot *slot;
};

static int compare_keyed(const void *left, const void *right)
{
    return strcmp(((const struct keyed *)left)->id, ((const struct keyed *)right)->id);
}

static iw_status sort_by_id(const iw_log *log, struct iwi_slots *slots)
{
    struct keyed *keyed = iwi_new_array(log, slots->count, sizeof *keyed);

    slots->by_id = iwi_new_array(log, slots->count, sizeof(struct iwi_slot *));
    if (keyed == NULL || slots->by_id == NULL) {
        free(keyed);
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < slots->count; i++) {
        keyed[i] = (struct keyed){slots->study->cells[slots->items[i].task->cell].id, &slots->items[i]};
    }
    qsort(keyed, slots->count, sizeof *keyed, compare_keyed);
    for (size_t i = 0; i < slots->count; i++) {
        slots->by_id[i] = keyed[i].slot;
    }
    free(keyed);
    return IW_OK;
}

iw_status iwi_slots_init(const iw_log *log, const iw_study *study, const struct iwi_tasks *tasks,
                         struct iwi_slots *slots)
{
    iw_status status;

    *slots = (struct iwi_slots){.study = study};
    slots->items = iwi_new_array(log, tasks->count, sizeof *slots->items);
    if (slots->items == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < tasks->count; i++) {
        if (!tasks->items[i].is_found) {
            slots->items[slots->count++].task = &tasks->items[i];
            slots->all_seconds += tasks->items[i].seconds;
        }
    }
    slots->in[IWI_WAITING] = slots->count;
    status = sort_by_id(log, slots);
    if (status != IW_OK) {
        iwi_slots_release(slots);
    }
    return status;
}

void iwi_slots_release(struct iwi_slots *slots)
{
    free(slots->items);
    free(slots->by_id);
    *slots = (struct iwi_slots){.study = NULL};
}

void iwi_slot_set(struct iwi_slots *slots, struct iwi_slot *slot, enum iwi_slot_state state)
{
    const size_t place = (size_t)(slot - slots->items);

    slots->in[slot->state]--;
    slots->in[state]++;
    slot->state = state;
    if (state == IWI_WAITING && place < slots->first_waiting) {
        slots->first_waiting = place;
    }
    if (state == IWI_ENDED || state == IWI_FOUND) {
        atomic_store(&slot->permill, 1000);
    }
}

static struct iwi_slot *find_by_id(const struct iwi_slots *slots, const char *id)
{
    size_t low = 0, high = slots->count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const int order = strcmp(id, slots->study->cells[slots->by_id[middle]->task->cell].id);

        if (order == 0) {
            return slots->by_id[middle];
        }
        low = order > 0 ? middle + 1 : low;
        high = order < 0 ? middle : high;
    }
    return NULL;
}

void iwi_slots_note_found(struct iwi_slots *slots, const char *id)
{
    struct iwi_slot *slot = find_by_id(slots, id);

    if (slot == NULL) {
        return; /* of another shard, or of another version of the study */
    }
    slot->is_found = true;
    if (slot->state == IWI_WAITING || slot->state == IWI_HELD || slot->state == IWI_FAILED) {
        iwi_slot_set(slots, slot, IWI_FOUND);
    }
}

void iwi_slots_retry_held(struct iwi_slots *slots, size_t most)
{
    for (size_t i = 0; i < slots->count && most > 0 && slots->in[IWI_HELD] > 0; i++) {
        struct iwi_slot *slot = &slots->items[slots->next_held];

        slots->next_held = (slots->next_held + 1) % slots->count;
        if (slot->state == IWI_HELD) {
            iwi_slot_set(slots, slot, IWI_WAITING);
            most--;
        }
    }
}

double iwi_slots_work_done(const struct iwi_slots *slots)
{
    double done = 0.0;

    for (size_t i = 0; i < slots->count; i++) {
        done += slots->items[i].task->seconds * 1e-3 * (double)atomic_load(&slots->items[i].permill);
    }
    return done;
}
