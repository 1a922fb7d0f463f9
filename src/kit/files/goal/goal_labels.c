/* The labels of one rank block: open addressing, at most half full.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "kit/files/goal/goal_labels.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_SLOT_COUNT = 64 };

void iwi_goal_labels_clear(struct iwi_goal_labels *labels)
{
    labels->count = 0;
    labels->generation++;
    if (labels->generation == 0) { /* old slots would come back to life */
        memset(labels->slots, 0, labels->slot_count * sizeof *labels->slots);
        labels->generation = 1;
    }
}

static bool is_same_word(const struct iwi_goal_word *a, const struct iwi_goal_word *b)
{
    return a->hash == b->hash && a->length == b->length && memcmp(a->text, b->text, a->length) == 0;
}

/* The slot that holds `word`, or the free one where it belongs. */
static struct iwi_goal_slot *find_slot(const struct iwi_goal_labels *labels, const struct iwi_goal_word *word)
{
    const size_t mask = labels->slot_count - 1;
    size_t i = (word->hash ^ (word->hash >> 15)) & mask;

    while (labels->slots[i].generation == labels->generation &&
           !is_same_word(&labels->labels[labels->slots[i].label].word, word)) {
        i = (i + 1) & mask;
    }
    return &labels->slots[i];
}

static iw_status double_slots(const iw_log *log, struct iwi_goal_labels *labels)
{
    const size_t count = labels->slot_count > 0 ? 2 * labels->slot_count : FIRST_SLOT_COUNT;
    struct iwi_goal_slot *slots = iwi_new_array(log, count, sizeof *slots);

    if (slots == NULL) {
        return IW_ERR_NOMEM;
    }
    free(labels->slots);
    labels->slots = slots;
    labels->slot_count = count;
    labels->generation = 1;
    for (size_t i = 0; i < labels->count; i++) {
        *find_slot(labels, &labels->labels[i].word) = (struct iwi_goal_slot){1, (uint32_t)i};
    }
    return IW_OK;
}

iw_status iwi_goal_labels_intern(const iw_log *log, struct iwi_goal_labels *labels,
                                 const struct iwi_goal_word *word, uint32_t *index_p)
{
    struct iwi_goal_slot *slot;

    if (labels->count >= labels->slot_count / 2) {
        if (labels->count >= UINT32_MAX - 1) {
            return iwi_fail(log, IW_ERR_RANGE, "a rank with more than %" PRIu32 " labels", UINT32_MAX - 1);
        }
        IW_TRY(double_slots(log, labels));
    }
    slot = find_slot(labels, word);
    if (slot->generation != labels->generation) {
        IW_TRY(iwi_grow(log, (void **)&labels->labels, &labels->capacity, labels->count + 1,
                        sizeof *labels->labels));
        labels->labels[labels->count] = (struct iwi_goal_label){*word, IWI_GOAL_UNDEFINED};
        *slot = (struct iwi_goal_slot){labels->generation, (uint32_t)labels->count};
        labels->count++;
    }
    *index_p = slot->label;
    return IW_OK;
}

const struct iwi_goal_word *iwi_goal_labels_of_node(const struct iwi_goal_labels *labels, uint32_t node)
{
    for (size_t i = 0; i < labels->count; i++) {
        if (labels->labels[i].node == node) {
            return &labels->labels[i].word;
        }
    }
    return NULL;
}

void iwi_goal_labels_release(struct iwi_goal_labels *labels)
{
    free(labels->labels);
    free(labels->slots);
    *labels = (struct iwi_goal_labels){0};
}
