/* The labels of one rank block: a hash table that is reused from block to block.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_GOAL_LABELS_H
#define IWI_GOAL_LABELS_H

#include "kit/files/goal/goal_scan.h"

#define IWI_GOAL_UNDEFINED UINT32_MAX

struct iwi_goal_label {
    struct iwi_goal_word word;
    uint32_t node; /* index within the rank, or IWI_GOAL_UNDEFINED while only mentioned */
};

/* A slot belongs to the current block only if its generation is the table's. */
struct iwi_goal_slot {
    uint32_t generation, label;
};

struct iwi_goal_labels {
    struct iwi_goal_label *labels; /* in order of first mention */
    size_t count, capacity;
    struct iwi_goal_slot *slots;
    size_t slot_count; /* a power of 2, or 0 */
    uint32_t generation;
};

/* Forgets all labels but keeps the memory. */
void iwi_goal_labels_clear(struct iwi_goal_labels *labels);

/* The index in labels->labels of `word`, which is added as undefined when it is new. */
IW_NODISCARD iw_status iwi_goal_labels_intern(const iw_log *log, struct iwi_goal_labels *labels,
                                              const struct iwi_goal_word *word, uint32_t *index_p);

/* The label of that node, or NULL. Slow: for messages. */
const struct iwi_goal_word *iwi_goal_labels_of_node(const struct iwi_goal_labels *labels, uint32_t node);

void iwi_goal_labels_release(struct iwi_goal_labels *labels);

#endif
