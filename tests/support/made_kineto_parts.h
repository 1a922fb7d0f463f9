/* What a made run of training consists of.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWT_MADE_KINETO_PARTS_H
#define IWT_MADE_KINETO_PARTS_H

#include "support/made_kineto.h"

enum iwt_kineto_kind {
    IWT_KERNEL,    /* computes */
    IWT_ALLREDUCE, /* a collective */
    IWT_SEND,      /* half a message */
    IWT_RECV,
    IWT_LOAD,     /* the loader: host */
    IWT_SYNC,     /* the host waits for the device */
    IWT_COLLECT,  /* garbage collection: host */
    IWT_ALLOCATE, /* cudaMalloc: host */
    IWT_STEP      /* ProfilerStep: host */
};

enum iwt_kineto_stream { IWT_COMPUTE, IWT_TP, IWT_PP, IWT_DP, IWT_STREAMS };

enum iwt_kineto_group { IWT_WORLD, IWT_TP_GROUP, IWT_DP_GROUP, IWT_PP_GROUP, IWT_GROUPS };

/* Something that was done: host events have no launch. */
struct iwt_kineto_event {
    enum iwt_kineto_kind kind;
    enum iwt_kineto_stream stream;
    enum iwt_kineto_group group;
    uint32_t step, name; /* name: which of the kernels */
    uint32_t peer;       /* of messages */
    bool is_pair;        /* also receives, from `source` */
    uint32_t source;
    uint64_t sequence, elements;
    int64_t launch_ns, launch_end_ns, begin_ns, end_ns;
};

struct iwt_kineto_rank {
    struct iwt_kineto_event *events;
    size_t count, capacity;
};

/* The ranks of the group that `rank` is in, in members[ranks]; returns how many. */
uint32_t iwt_kineto_members(const struct iwt_kineto *made, enum iwt_kineto_group group, uint32_t rank,
                            uint32_t *members);

/* A number in [-1, 1), for (kind of draw, rank, index). */
double iwt_kineto_draw(const struct iwt_kineto *made, unsigned what, uint32_t rank, uint64_t index);

#endif
