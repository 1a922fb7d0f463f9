/* A plan in one flat block that holds no pointers: it can be handed to another process as it is.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The block is a head, then `event_count` starts, then as many durations (int64, ns). Starts ascend, are
 * places in a trace of length_ns that repeats, and durations are what the thread is to lose: what making a
 * detour costs is subtracted when it is made.
 */
#ifndef IWI_INJECT_PLAN_H
#define IWI_INJECT_PLAN_H

#include <idlewave/internal/inject.h>

#define IWI_PLAN_MAGIC "IWINJECT"
#define IWI_PLAN_VERSION 1u

/* Only numbers of fixed width without padding, so that any bytes can be read as one. */
struct iwi_plan_head {
    char magic[8];
    uint32_t version, head_bytes;
    uint64_t digest; /* of the whole block with 0 here: notices damage, protects nothing */
    uint64_t block_bytes, event_count;
    uint32_t sync, is_uncompensated;
    int64_t skew_ns;
    double time_scale, most_share;
    uint64_t seed, node;
    iw_inject_costs costs;
    iw_inject_facts facts;
};

struct iw_inject_plan {
    iw_inject_opts opts;
    iw_inject_costs costs; /* zeros for an uncompensated plan */
    iw_inject_facts facts;
    size_t count;
    const int64_t *start_ns, *duration_ns; /* in the block */
    void *block;
    size_t block_bytes;
    bool is_mapped; /* else from the heap */
};

/* A plan of `count` detours. Starts ascend from 0 to below facts->length_ns. */
IW_NODISCARD iw_status iwi_plan_new(const iw_log *log, const iw_inject_opts *opts,
                                    const iw_inject_costs *costs, const iw_inject_facts *facts,
                                    const int64_t *start_ns, const int64_t *duration_ns, size_t count,
                                    iw_inject_plan **plan_p);

/* The plan in a file made by iw_inject_plan_share(), perhaps by another process; the file may be closed then.
 * IW_ERR_FORMAT, IW_ERR_TRUNCATED: anything but a whole, sealed, undamaged plan. */
IW_NODISCARD iw_status iwi_plan_map(const iw_log *log, int fd, iw_inject_plan **plan_p);

#endif
