/* GOAL schedules in memory and in files; docs/reference/formats/goal.md describes both forms.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_GOAL_H
#define IWI_GOAL_H

#include "core/program/program.h"
#include "kit/files/io/input.h"
#include "kit/files/io/out.h"

/* First word of a binary schedule; the second is what a --save-mem run of LogGOPSim leaves behind. */
#define IWI_GOAL_MAGIC UINT64_C(4223)
#define IWI_GOAL_MAGIC_SPENT UINT64_C(2342)

/* With the largest G that iw_net_check() lets pass, one message stays far from the end of iw_time. */
#define IWI_GOAL_MAX_BYTES (UINT64_C(1) << 40)

/* Highest cpu or nic id: struct iwi_schedule counts them in 8 bits. */
#define IWI_GOAL_MAX_ID 254

/* Fewer ranks than this may lack blocks in any number; more need a file of at least as many bytes. */
#define IWI_GOAL_FREE_RANKS (UINT64_C(1) << 20)

/* What is read: `name` stands for it in messages. */
struct iwi_goal_source {
    const char *name;
    const char *data;
    size_t size;
    iw_time unit_ps;               /* of calc lengths */
    const struct iwi_input *input; /* the file that the data is in; NULL: memory */
    bool wants_program; /* a graph in order may come as the program that it is (program/in_order.h) */
};

/* Text or binary, told apart by content. On IW_OK the caller owns the schedule: a DAG, or a program. */
IW_NODISCARD iw_status iwi_goal_read_memory(const iw_log *log, const struct iwi_goal_source *source,
                                            struct iwi_schedule **schedule_p);

IW_NODISCARD iw_status iwi_goal_read_text(const iw_log *log, const struct iwi_goal_source *source,
                                          struct iwi_schedule **schedule_p);
IW_NODISCARD iw_status iwi_goal_read_binary(const iw_log *log, const struct iwi_goal_source *source,
                                            struct iwi_schedule **schedule_p);

/* What is written; failures are logged to the output's log. */
struct iwi_goal_sink {
    struct iwi_out *out;
    const struct iwi_schedule *schedule; /* a DAG */
    const iw_program *program;           /* its delays lengthen the calcs; NULL: none */
    iw_time unit_ps;
    uint64_t rounded; /* out: calcs whose length was not a whole number of units */
};

IW_NODISCARD iw_status iwi_goal_write_text(struct iwi_goal_sink *sink);
IW_NODISCARD iw_status iwi_goal_write_binary(struct iwi_goal_sink *sink);

#endif
