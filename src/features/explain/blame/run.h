/* A traced run as it is blamed on somebody: calls, what they wait for, what was lost in and before them.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The time of a rank is cut by its calls. Call k of a rank begins at enter, can go on from `start` (when all
 * that it waits for has begun), and ends at leave:
 *
 *     ... leave(k-1) | gap: computing | enter(k) | waiting | start(k) | rest: the call itself | leave(k) ...
 *
 * Each rank has one call more than the trace, its end, which takes no time.
 */
#ifndef IWI_BLAME_RUN_H
#define IWI_BLAME_RUN_H

#include <idlewave/blame.h>

#include "core/base/base.h"
#include "core/program/trace.h"

#define IWI_RUN_NONE UINT64_MAX

/* A collective: one call of each member. */
struct iwi_run_group {
    uint64_t first, count; /* members[first ...] */
    uint64_t root;         /* the root's call; IWI_RUN_NONE: there is no root */
};

/* What a call waits for: another call's enter, or, with IWI_RUN_IS_GROUP, the enters of a whole group. */
#define IWI_RUN_IS_GROUP (UINT64_C(1) << 63)

/* Time of a rank that a source took. */
struct iwi_run_loss {
    uint64_t call;
    uint32_t source; /* index into run->sources */
    int64_t at_ns;
    int64_t gap_ns, wait_ns, rest_ns; /* before the call; in it, but waiting anyway; in its rest */
};

struct iwi_blamed_run {
    const iw_log *log;
    const struct iw_trace *trace;
    uint64_t *first;   /* rank_count + 1: the calls of each rank */
    uint32_t *rank_of; /* of each call */
    int64_t *enter_ns, *leave_ns, *start_ns;
    int64_t *begin_ns;       /* of each rank: the end of its MPI_Init */
    int64_t zero_ns, end_ns; /* the first begin, the last end */
    uint64_t *cause; /* of each call: the call that it waited for last; IWI_RUN_NONE: it did not wait */
    uint64_t *first_dep, *deps;
    uint64_t dep_count;
    uint64_t *first_helper, helper_count; /* of each call; helpers: ranks that have to move its messages on */
    uint32_t *helpers;
    struct iwi_run_group *groups;
    uint64_t group_count, *members;
    uint64_t unordered;
    uint32_t *alike; /* of each call: its class: kind, operation, communicator, bytes */
    uint32_t alike_count;
    int64_t *usual_rest_ns;   /* of each class: the median of `rest` */
    iw_blame_source *sources; /* by index; saving_ns is filled in later */
    size_t source_count, source_capacity;
    struct iwi_run_loss *losses; /* by call */
    size_t loss_count, loss_capacity;
    uint64_t *first_loss; /* of each call; call count + 1 */
};

static inline uint64_t iwi_run_calls(const struct iwi_blamed_run *run)
{
    return run->first[run->trace->rank_count];
}

/* NULL: the end of a rank. */
static inline const struct iwi_call *iwi_run_call(const struct iwi_blamed_run *run, uint64_t call)
{
    const uint32_t rank = run->rank_of[call];
    const uint64_t index = call - run->first[rank];

    return index < run->trace->ranks[rank].call_count ? &run->trace->ranks[rank].calls[index] : NULL;
}

/* The end of the call before, or the beginning of the rank. */
static inline int64_t iwi_run_before_ns(const struct iwi_blamed_run *run, uint64_t call)
{
    const uint32_t rank = run->rank_of[call];

    return call > run->first[rank] ? run->leave_ns[call - 1] : run->begin_ns[rank];
}

IW_NODISCARD iw_status iwi_run_read_calls(struct iwi_blamed_run *run); /* first */
IW_NODISCARD iw_status iwi_run_link(struct iwi_blamed_run *run);       /* second: start_ns, cause */
IW_NODISCARD iw_status
iwi_run_find_alike(struct iwi_blamed_run *run); /* of the second: alike, usual_rest_ns */
IW_NODISCARD iw_status iwi_run_read_losses(struct iwi_blamed_run *run, const iw_recording *const *kernel,
                                           size_t count); /* third */
void iwi_run_release(struct iwi_blamed_run *run);

/* When the last rank would have ended without the sources that are removed, on the clock of the run. */
IW_NODISCARD iw_status iwi_run_replay(const struct iwi_blamed_run *run, const bool *is_removed,
                                      int64_t *end_ns_p);

/* The first loss of a rank that ends after an instant; losses of a rank follow each other in time. */
size_t iwi_run_loss_after(const struct iwi_blamed_run *run, uint32_t rank, int64_t at_ns);

/* Of a loss, what lies in the rest of a call of another rank; < 0: it begins after it. */
int64_t iwi_run_loss_during(const struct iwi_blamed_run *run, const struct iwi_run_loss *loss, uint64_t call);

/* Each stretch of the critical path, from its end to its beginning: the gap before `call` or its rest.
 * `waiter`: the call of another rank that waited for this one's; IWI_RUN_NONE: this rank ended last. */
struct iwi_run_stretch {
    uint64_t call, waiter;
    bool is_rest;
    int64_t from_ns, to_ns;
};
typedef iw_status (*iwi_run_stretch_fn)(void *arg, const struct iwi_run_stretch *stretch);
IW_NODISCARD iw_status iwi_run_walk(const struct iwi_blamed_run *run, iwi_run_stretch_fn take, void *arg);

/* Losses that lie on a stretch: `fn` gets each with the part of it that counts. */
typedef iw_status (*iwi_run_loss_fn)(void *arg, const struct iwi_run_stretch *stretch,
                                     const struct iwi_run_loss *loss, int64_t ns);
IW_NODISCARD iw_status iwi_run_losses_on(const struct iwi_blamed_run *run,
                                         const struct iwi_run_stretch *stretch, iwi_run_loss_fn fn,
                                         void *arg);

/* The standard deviation of the difference between the run without a source and another one without it. */
struct iwi_run_spread {
    double unexplained_sd_ns; /* of computing that was slower than at its best */
    double unexplained_share;
    double freedom;
    double *remaining_sd_ns; /* by source that is removed; the last: all are */
};
IW_NODISCARD iw_status iwi_run_find_spread(const struct iwi_blamed_run *run, struct iwi_run_spread *spread);

#endif
