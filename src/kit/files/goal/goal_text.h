/* State of the GOAL text reader, shared by its files: statements, whole files, parts side by side.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_GOAL_TEXT_H
#define IWI_GOAL_TEXT_H

#include "kit/files/goal/goal.h"
#include "kit/files/goal/goal_build.h"
#include "kit/files/goal/goal_labels.h"

/* A dependency that names a label not yet defined; both are indices of labels. */
struct iwi_goal_pending {
    uint32_t label, required;
    bool is_start;
    uint64_t line;
};

/* Where an operation is; a label of length 0 means that it has none. */
struct iwi_goal_place {
    uint64_t line; /* 0: nowhere */
    uint32_t rank;
    struct iwi_goal_word label;
};

struct iwi_goal_text {
    struct iwi_goal_scan scan;
    struct iwi_goal_builder builder;
    struct iwi_goal_labels labels;
    struct iwi_goal_pending *pending;
    size_t pending_count, pending_capacity;
    iw_time unit_ps;
    uint64_t calc_max;          /* longest calc, in units */
    uint64_t ranks;             /* 0: not known yet */
    uint32_t rank;              /* of the current block */
    struct iwi_goal_place here; /* the current operation */
    uint32_t max_peer;          /* checked at the end, when num_ranks is known for sure */
    struct iwi_goal_place max_peer_place;
    uint64_t repeated_labels;
    struct iwi_goal_place repeated; /* the first of them */
    const struct iwi_input *input;  /* pages of it that were read are given up; NULL: memory */
    const char *data;               /* its beginning */
    size_t file_bytes, forgotten;
    const char *stop; /* between blocks, reading ends here or behind it; NULL: at the end */
    bool is_over;     /* nothing follows */
};

/* Blocks and num_ranks from where the scan is on. */
IW_NODISCARD iw_status iwi_goal_read_blocks(struct iwi_goal_text *text);

/* The whole of a text whose scan is at its beginning, in parts side by side where it is large. What is found
 * and told is as if it were read by one. */
IW_NODISCARD iw_status iwi_goal_read_parts(struct iwi_goal_text *text);

void iwi_goal_text_release(struct iwi_goal_text *text);

/* Logs an error about an operation, named by line, rank and label; returns IW_ERR_FORMAT. */
iw_status iwi_goal_fail_operation(const struct iwi_goal_text *text, const struct iwi_goal_place *place,
                                  const char *format, ...) IW_PRINTF(3, 4);

/* One operation or dependency of the current block, up to the end of its line or a '}'. */
IW_NODISCARD iw_status iwi_goal_read_statement(struct iwi_goal_text *text);

/* Resolves forward references at the end of a block. */
IW_NODISCARD iw_status iwi_goal_resolve_pending(struct iwi_goal_text *text);

#endif
