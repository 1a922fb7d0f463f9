/* idlewave/internal/net_measure.h - measuring a network: what is to be done, what came of it, what it says.
 * docs/how-to/machines.md.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 *     iw_net_plan plan = IW_NET_PLAN_INIT;
 *     st = part->net_measure(log, &plan, &samples);       all ranks; rank 0 gets the samples
 *     st = iw_net_evaluate(log, samples, &measured);
 *     st = iw_net_write_yaml(log, measured, "my.yaml");   what simulate --net reads
 *     iw_net_measured_free(measured);  iw_net_samples_free(samples);
 *
 * Launches differ by more than the rounds of one do. So several are measured, each writes its JSON, and
 * iw_net_combine() makes one result of them.
 */
#ifndef IW_INTERNAL_NET_MEASURE_H
#define IW_INTERNAL_NET_MEASURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <idlewave/doc.h>
#include <idlewave/estimate.h>
#include <idlewave/net.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum iw_net_links { IW_NET_LINKS_AUTO, IW_NET_LINKS_ALL, IW_NET_LINKS_NONE } iw_net_links;

/** How messages are sent and received; programs differ in that. */
typedef enum iw_net_calls {
    IW_NET_CALLS_BLOCKING,    /* Send and Recv, to and fro */
    IW_NET_CALLS_NONBLOCKING, /* Isend, Irecv and Wait, to and fro */
    IW_NET_CALLS_EXCHANGE     /* Irecv, Isend and Waitall on both sides at once, as in halo exchanges */
} iw_net_calls;

/** "blocking", "nonblocking", "exchange"; NULL: there is none. */
const char *iw_net_calls_name(iw_net_calls calls);

/** What is to be measured; the same on all ranks. */
typedef struct iw_net_plan {
    uint64_t largest_bytes;  /* sizes go from 1 byte to this one */
    double duration_seconds; /* of the sizes, over all levels; ends earlier when all intervals are narrow */
    double narrow; /* an interval is narrow when it reaches no further from the median, as a share */
    iw_net_calls calls;
    iw_net_links links;    /* AUTO: all pairs if there are at most 64 ranks, else some rounds of pairs */
    const uint64_t *sizes; /* to be measured, and no others; NULL: chosen while measuring */
    size_t size_count;
    iw_progress progress; /* on rank 0; what it returns is not looked at: all ranks would have to know */
} iw_net_plan;

#define IW_NET_PLAN_INIT                                                                            \
    {                                                                                               \
        .largest_bytes = UINT64_C(4) << 20, .duration_seconds = 10, .narrow = 0.01,                 \
        .calls = IW_NET_CALLS_BLOCKING, .links = IW_NET_LINKS_AUTO, .sizes = NULL, .size_count = 0, \
        .progress = {                                                                               \
            NULL,                                                                                   \
            NULL                                                                                    \
        }                                                                                           \
    }

/* ---- what was measured ---- */

/** What one value says; all in nanoseconds. d: the sender spins so long between two sends, at least a round
 * trip. */
typedef enum iw_net_quantity {
    IW_NET_ROUND_TRIP, /* PRTT(1,0,s): there and back */
    IW_NET_TRAIN,      /* PRTT(n,0,s): n messages there, one back */
    IW_NET_SEND,       /* PRTT(n,d,s) without what was spun; n = 0: time of one send in MPI calls, polling */
    IW_NET_RECV,       /* n round trips of which each receive begins d after its send, without what was spun;
                        * n = 0: time of one receive in MPI calls, polling */
    IW_NET_EXCHANGE,   /* n times in a row both send a message and wait for the other's; only
                        * IW_NET_CALLS_EXCHANGE */
    IW_NET_QUANTITIES
} iw_net_quantity;

/** One quantity at one size. Each value is the median of the repetitions of one round; rounds are apart in
 * time. */
typedef struct iw_net_series {
    iw_net_quantity quantity;
    uint64_t bytes;
    uint32_t n;
    uint64_t samples; /* repetitions of all rounds */
    size_t count;     /* rounds */
    double *values_ns;
} iw_net_series;

/** The eager limit: the largest message whose send ends although the receiver does not receive it. */
typedef struct iw_net_eager {
    uint64_t bytes;
    bool is_at_most; /* false: all sizes up to the largest were sent so, and `bytes` is that one */
    uint32_t votes;  /* all trials of the search */
} iw_net_eager;

/** One pair of ranks, measured thoroughly. */
typedef struct iw_net_level_samples {
    char name[16];                /* "node": both on one host; "network": on two */
    uint32_t ranks[2];            /* the first timed, the second answered */
    iw_net_eager eager_computing; /* receiver outside of MPI */
    iw_net_eager eager_inside;    /* receiver inside of MPI, but in another call */
    size_t series_count;
    iw_net_series *series;
} iw_net_level_samples;

/** One pair of ranks, looked at briefly. */
typedef struct iw_net_link {
    uint32_t ranks[2];
    bool is_inside;                        /* both on one host */
    double small_ns, large_ns;             /* median round trips, while other pairs were busy too */
    double alone_small_ns, alone_large_ns; /* the same with all others silent; 0: was not needed */
} iw_net_link;

typedef struct iw_net_samples {
    uint32_t ranks, hosts;
    char (*host_names)[64];            /* of each rank */
    char mpi[16], mpi_version[128];    /* "openmpi", "Open MPI v4.1.4, ..." */
    iw_net_calls calls;                /* as of the plan */
    char clock[64];                    /* what times were read from, and what a reading costs */
    char warning[256];                 /* why the numbers are not valid (ranks share a core), or "" */
    uint64_t small_bytes, large_bytes; /* of links */
    size_t level_count;
    iw_net_level_samples *levels; /* from the innermost to the outermost */
    size_t link_count;
    iw_net_link *links;
    uint64_t pair_count; /* of which links looked at link_count */
    double seconds;
} iw_net_samples;

void iw_net_samples_free(iw_net_samples *samples);

/* ---- what it says ---- */

/* Estimates, in nanoseconds. Of one launch: the median over its rounds, and an interval that knows nothing of
 * other launches. Of several: the mean of their values, with its 95 % confidence interval by Student's t. A
 * value that is not above 0 is unknown: not measured, or not above what can be seen. */

typedef struct iw_net_point {
    uint64_t bytes, samples;
    iw_estimate half_round_trip, gap, o_send, o_recv;
    iw_estimate exchange; /* one; 0: was not measured */
} iw_net_point;

typedef struct iw_net_level {
    char name[16]; /* these four as in the samples */
    uint32_t ranks[2];
    iw_net_eager eager_computing, eager_inside;
    iw_net net;                                          /* what simulate uses: L is without overheads */
    iw_estimate L, half_round_trip, o_send, o_recv, gap; /* of messages of 1 byte */
    iw_estimate exchange;           /* the same; 0: was not measured, and L is that of half round trips */
    double fit_error;               /* largest distance of the fit from a measured time, as a share */
    uint64_t overlapped_from_bytes; /* from here on o_s + o_r, as measured, exceed that time: sending and
                                     * receiving overlap, and they were cut; 0: nowhere */
    double least_overlap;           /* the smallest factor that they were cut by */
    uint64_t wide_points;           /* intervals of that time that are wider than 10 % */
    uint64_t capped_from_bytes;     /* from here on messages in a row took longer than half a round trip each,
                                     * and g was cut to that; 0: nowhere */
    double most_capped;             /* the largest factor by which they did */
    size_t point_count;
    iw_net_point *points; /* by size */
} iw_net_level;

typedef struct iw_net_slow_link {
    uint32_t ranks[2];
    double small_round_trip_ns, large_round_trip_ns; /* with all others silent */
    double small_factor, large_factor;               /* against the median of the links of its level */
} iw_net_slow_link;

typedef struct iw_net_measured {
    uint32_t launches;      /* that it is of */
    uint32_t ranks, hosts;  /* what follows is as in the samples, of the first launch */
    char (*host_names)[64]; /* of each rank */
    char mpi_version[128];
    iw_net_calls calls;
    char clock[64];
    char warning[256];
    uint64_t large_bytes, pair_count, link_count;
    double seconds; /* of all launches */
    size_t level_count;
    iw_net_level *levels;
    size_t slow_count;
    iw_net_slow_link *slow; /* the slowest first */
} iw_net_measured;

/** Medians, intervals, parameters, segments, slow links. IW_ERR_NOMEM; IW_ERR_RANGE: too little was measured.
 */
IW_NODISCARD iw_status iw_net_evaluate(const iw_log *log, const iw_net_samples *samples,
                                       iw_net_measured **measured_p);
void iw_net_measured_free(iw_net_measured *measured);

/* ---- several launches ---- */

/** One result of `count` launches, at least 2: means with intervals by Student's t, of the levels and sizes
 * that all of them have. IW_ERR_RANGE: there are none; IW_ERR_NOMEM. */
IW_NODISCARD iw_status iw_net_combine(const iw_log *log, const iw_net_measured *const *launches, size_t count,
                                      iw_net_measured **all_p);

/** Writes docs/reference/formats/net.md; `command` is noted as the origin, the date is now. "-": standard
 * output. IW_ERR_IO. */
IW_NODISCARD iw_status iw_net_write_yaml(const iw_log *log, const iw_net_measured *measured, const char *name,
                                         const char *command, const char *path);

iw_doc iw_net_doc(const iw_net_measured *measured);

/** NULL if it is another kind of result. */
const iw_net_measured *iw_net_of_doc(iw_doc doc);

#ifdef __cplusplus
}
#endif
#endif
