/* idlewave/result.h - results of simulations as text, JSON and CSV.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Experimental: functions and structs here may change in any release.
 */
#ifndef IW_RESULT_H
#define IW_RESULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <idlewave/caveat.h>
#include <idlewave/doc.h>
#include <idlewave/estimate.h>
#include <idlewave/log.h>
#include <idlewave/output.h>
#include <idlewave/sim.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct iw_certainty iw_certainty; /* idlewave/noise_set.h */
typedef struct iw_independence iw_independence;
typedef struct iw_steady iw_steady;

/** What a result was made from, for its origin. Strings are borrowed. */
typedef struct iw_origin {
    const char *what;    /* "allreduce:dissemination" or the file's name */
    const char *command; /* the command line */
    const iw_net *net;
    const iw_noise *noise;         /* NULL: none */
    const iw_certainty *certainty; /* what recordings in it can say, or NULL */
    size_t delay_count;            /* injected delays: what the noiseless time leaves out besides noise */
    const iw_traced *traced;       /* the run that was traced; NULL: the program is no trace */
    uint64_t compute_bytes;        /* that each compute phase moves; 0: none */
    uint32_t spare_cores;          /* of each node, left to the operating system */
    const char *node_speed;        /* law or file of the speeds of nodes; NULL: all are alike */
    const iw_independence *independence; /* where nodes are aligned; or NULL */
    const iw_steady *steady;             /* where repetitions are under noise; or NULL */
    const iw_estimate *node_wide;        /* of iw_node_wide_find(), or NULL */
    const iw_caveats *caveats;           /* of the noise (iw_noise_set_caveats()), or NULL */
} iw_origin;

/** One trial. */
typedef struct iw_trial {
    uint64_t number;
    iw_time makespan_ps;
    double slowdown; /* T/T0 - 1; NaN when nothing takes time without noise */
} iw_trial;

/** A source of noise. */
typedef struct iw_source_share {
    const char *spec;
    double share; /* of CPU time; NaN where it depends on the work */
} iw_source_share;

/** When the trials end, or the ranks of a single one whose end times were kept. */
enum { IW_END_QUANTILES = 11 }; /* 0, 1, 5, 10, 25, 50, 75, 90, 95, 99, 100 % */
typedef struct iw_ends {
    bool is_of_ranks;
    double quantiles_ns[IW_END_QUANTILES];
} iw_ends;

/** What critical paths are made of. */
typedef struct iw_explained_part {
    const char *name;       /* "compute", "o", "L", ...; a source of noise by its spec */
    const char *level;      /* of a network with levels: where; NULL: what is not of the network */
    bool is_noise;          /* it is a source */
    double last_ns;         /* on the path to the rank that ends last, in the trial with the median time */
    double mean_ns;         /* on average over the paths to all ranks, in the same trial */
    iw_estimate average_ns; /* of the rank that ends last, over the trials that are explained */
} iw_explained_part;

/** A detour on a critical path. */
typedef struct iw_explained_hit {
    const char *source;
    uint32_t rank;
    iw_time at_ps, lost_ps;
} iw_explained_hit;

/** Where the largest detours of several trials were. */
typedef struct iw_hit_place {
    uint32_t number;            /* of a rank, of a rank in its node, of a tenth of the run, of a source */
    uint64_t trials, of_trials; /* there, of those that can say */
    bool stands_out;            /* there more often than by chance, were all places alike */
    const char *source;         /* NULL for the others */
} iw_hit_place;

typedef struct iw_hit_places {
    size_t count;
    iw_hit_place *places; /* the most frequent first */
} iw_hit_places;

/** The paths to the rank that ends last, over several trials. */
typedef struct iw_average_path {
    uint64_t trials;
    iw_estimate makespan_ns;
    double hops;
    double worst_share; /* of the noise on these paths, what their largest detours took; NaN: no noise */
    iw_hit_places sources, ranks, seats, tenths; /* seats: ranks by their number in the node */
} iw_average_path;

/** Where the time goes. */
typedef struct iw_explained {
    uint64_t trial;
    uint32_t last_rank;
    iw_time makespan_ps;
    uint64_t hops; /* messages on the path */
    double mean_hops;
    size_t part_count, worst_count;
    iw_explained_part *parts;
    iw_explained_hit *worst;        /* what took most time, the most first */
    const iw_average_path *average; /* NULL: only one trial is explained */
} iw_explained;

/** One simulation as it is shown and kept: what ran, what it was made from, what that says. */
typedef struct iw_simulation {
    const char *what, *command;
    iw_sim_result run; /* without its arrays */
    iw_summary makespan_ns, slowdown;
    iw_ends distribution;
    size_t trial_time_count, noise_count, net_segment_count;
    const iw_trial *trial_times;
    const iw_source_share *noise;
    iw_sync sync;
    uint32_t ranks_per_node, recorded_cpus; /* 0: the noise is not recorded */
    uint32_t cores_per_rank;                /* 0: there is no noise */
    iw_loop_schedule loop;                  /* how they share compute phases */
    const char *noise_cpus;                 /* those of the recording that are used; NULL: all */
    uint64_t delays;
    uint64_t compute_bytes; /* as in iw_origin, and so are the next two */
    uint32_t spare_cores;
    const char *node_speed;
    const iw_net *net;
    const iw_net_segment *net_segments;
    const iw_certainty *recording;       /* NULL: the noise is not recorded */
    const iw_traced *traced;             /* NULL: the program is no trace */
    const iw_explained *explain;         /* NULL: it was not asked for */
    iw_align align;                      /* how recorded nodes are aligned */
    const iw_independence *independence; /* NULL: they are not */
    const iw_steady *steady;             /* NULL: nothing is repeated under noise */
    const iw_estimate *node_wide;        /* slowdown if ranks of a node were hit together; NULL: not asked */
    iw_caveats caveats;                  /* of noise, network and trace */
} iw_simulation;

/** What a result says. It borrows from the result and from what the origin names. */
IW_API IW_NODISCARD iw_status iw_simulation_new(const iw_log *log, const iw_sim_result *result,
                                                const iw_origin *origin, iw_simulation **simulation_p);
IW_API void iw_simulation_free(iw_simulation *simulation);

/** Schema "idlewave.simulate/4"; CSV has a line for each trial. */
IW_API iw_doc iw_simulation_doc(const iw_simulation *simulation);

/** A header line and one for each rank (and trial, if there are several): [trial,]rank,end_ns. */
IW_API IW_NODISCARD iw_status iw_result_write_end_times(const iw_log *log, const iw_sim_result *result,
                                                        const char *path);

#ifdef __cplusplus
}
#endif
#endif
