/* Between the files that read binary GOAL.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_GOAL_BINARY_RANK_H
#define IWI_GOAL_BINARY_RANK_H

#include "kit/files/goal/goal.h"
#include "kit/files/goal/goal_build.h"

struct iwi_goal_reader {
    const iw_log *log;
    const struct iwi_goal_source *source;
    struct iwi_goal_builder builder;
    bool is_in_order; /* all ranks so far are, and have become those of a program */
    /* of the current rank: */
    struct iwi_goal_scratch {
        uint32_t *open;  /* edges into each node */
        uint64_t *first; /* dependency of each node */
        struct iwi_dep *deps;
        bool *flags;
        size_t open_capacity, first_capacity, dep_capacity, flag_capacity;
    } scratch;
    uint64_t edges;
    bool has_forward; /* an operation requires a later one */
    uint32_t ranks;
    uint8_t max_cpu, max_nic;
};

/* One rank's data, all within the file. */
struct iwi_goal_rank_view {
    uint32_t rank, nodes, roots;
    uint64_t size;        /* bytes from `begin` on */
    uint64_t list_length; /* of the index list */
    const char *begin, *root, *node, *list;
};

/* Logs what is wrong at that place of the file. */
iw_status iwi_goal_fail_at(const struct iwi_goal_reader *reader, iw_status status, const char *p,
                           const char *format, ...) IW_PRINTF(4, 5);

/* Adds the operations of one rank to what is built. */
IW_NODISCARD iw_status iwi_goal_read_rank(struct iwi_goal_reader *reader,
                                          const struct iwi_goal_rank_view *view);

#endif
