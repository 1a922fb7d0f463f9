/* What the files that make a program of a trace share.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_TRACE_BUILD_H
#define IWI_TRACE_BUILD_H

#include "core/base/lookup.h"
#include "core/program/message_list.h"
#include "core/program/trace_program.h"

/* Collectives of communicator c: first_collective[c] ... first_collective[c + 1] - 1, in the order in which
 * they are started. */
struct iwi_trace_build {
    const iw_log *log;
    const struct iw_trace *trace;
    const iw_trace_opts *opts;
    const struct iwi_rule_set *set;
    struct iwi_trace_program *program;
    uint64_t *first_collective; /* comm_count + 1 */
};

/* What all members send in a collective: one number for equal ones. Members are added in the order of their
 * world ranks, each step leads to a new number, and the way back tells them all. */
struct iwi_trace_shapes {
    struct iwi_index steps; /* {number before + 1, 0: none; what the member sends} */
};

/* The messages of a collective of that shape (trace_messages.c), kept by the program. */
struct iwi_trace_shaped {
    uint8_t op;
    uint32_t comm, root, shape;
};

/* Checks that the ranks agree on their collectives, and chooses an algorithm for each (trace_collectives.c).
 */
IW_NODISCARD iw_status iwi_trace_build_collectives(struct iwi_trace_build *build);

/* The base schedule (trace_nodes.c). */
IW_NODISCARD iw_status iwi_trace_build_nodes(struct iwi_trace_build *build);

#endif
