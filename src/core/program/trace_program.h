/* A trace as a program: what the traced (base) ranks do, stored once; replicas and collectives are generated.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * World rank k * base + b is base rank b in replica k. Partners of messages and members of communicators are
 * base ranks, renamed inside each replica; a communicator as large as the traced world spans all replicas
 * (docs/explanation/extrapolation.md).
 */
#ifndef IWI_TRACE_PROGRAM_H
#define IWI_TRACE_PROGRAM_H

#include "core/program/program.h"
#include "core/program/rules.h"
#include "core/program/trace.h"

struct iwi_trace_collective {
    uint32_t comm, operation; /* indices */
};

struct iwi_trace_tag {
    uint32_t comm;
    int32_t tag;
};

/* Rank `rank` of the communicator. */
struct iwi_trace_membership {
    uint32_t comm, rank;
};

struct iwi_trace_resample;

struct iwi_trace_program {
    uint32_t base, replicas;
    struct iwi_schedule
        *schedule;                /* of the base ranks; IWI_COLLECTIVE: amount is an index into collectives */
    const struct iwi_comm *comms; /* the trace's */
    uint32_t comm_count;
    bool *grows; /* communicators of data parallelism: they span all replicas, and their data stay as large */
    struct iwi_trace_collective *collectives; /* those of one communicator together, in their order */
    uint64_t collective_count;
    struct iwi_operation *operations; /* different ones only */
    size_t operation_count;
    struct iwi_message_list **message_lists; /* of those operations whose messages are stored */
    size_t message_list_count;
    struct iwi_node_table *node_table; /* of the operations over all ranks, or NULL */
    struct iwi_trace_tag *tags;        /* node.tag is an index: tags of different communicators never meet */
    uint32_t tag_count;
    uint64_t *first_membership; /* base + 1; of communicators with a list of members, sorted by comm */
    struct iwi_trace_membership *memberships;
    uint64_t messages; /* of all ranks */
    bool has_aside;    /* nonblocking collectives stand where they start, and are marked as such */
    uint8_t aside_cpu; /* that runs them */
    struct iwi_trace_resample *resample; /* NULL: replicas compute as the base does */
};

/* `set` is used only here. IW_ERR_USAGE, IW_ERR_RANGE, IW_ERR_FORMAT, IW_ERR_NOMEM as
 * iw_program_from_trace(). */
IW_NODISCARD iw_status iwi_program_from_rules(const iw_log *log, const struct iw_trace *trace,
                                              const iw_trace_opts *opts, const struct iwi_rule_set *set,
                                              iw_program **program_p);
void iwi_trace_program_free(struct iwi_trace_program *program);

/* Compute phases of that rank (of any replica). */
uint64_t iwi_trace_phases(const struct iwi_trace_program *program, uint32_t rank);

/* The communicator has all ranks. */
static inline bool iwi_trace_is_world(const struct iwi_trace_program *program, uint32_t comm)
{
    const struct iwi_comm *c = &program->comms[comm];

    return c->members == NULL || (c->size == program->base && c->size > 1);
}

/* The communicator spans all replicas: the world does, and what grows. */
static inline bool iwi_trace_is_wide(const struct iwi_trace_program *program, uint32_t comm)
{
    return iwi_trace_is_world(program, comm) || (program->grows[comm] && program->replicas > 1);
}

/* The world rank of rank `index` of a communicator, as replica `replica` sees it. */
static inline uint32_t iwi_trace_world_rank(const struct iwi_trace_program *program, uint32_t comm,
                                            uint32_t replica, uint32_t index)
{
    const struct iwi_comm *c = &program->comms[comm];

    if (c->members == NULL) {
        return index;
    }
    if (iwi_trace_is_wide(program, comm)) {
        return index / c->size * program->base + c->members[index % c->size];
    }
    return replica * program->base + c->members[index];
}

/* The number of base rank `rank` in a communicator; UINT32_MAX if it is no member. */
uint32_t iwi_trace_rank_in(const struct iwi_trace_program *program, uint32_t comm, uint32_t rank);

/* "barrier", "bcast", ... */
extern const char *const iwi_trace_op_names[IWI_TRACE_OPS];

#endif
