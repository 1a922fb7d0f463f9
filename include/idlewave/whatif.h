/* idlewave/whatif.h - what a job would gain if sources of noise were gone.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Experimental: functions and structs here may change in any release.
 *
 *     iw_whatif_opts opts = IW_WHATIF_OPTS_INIT;
 *     iw_noise_set *set;
 *     iw_whatif *whatif;
 *     opts.net = net;  opts.program = maker;  opts.sim.trials = 20;
 *     st = iw_noise_set_new(log, &set);
 *     st = iw_noise_set_add(log, set, "node.h5");
 *     st = iw_whatif_run(log, set, &opts, &whatif);
 *     ...  iw_whatif_free(whatif); iw_noise_set_free(set);
 *
 * All changes are simulated with the same seeds, phases and trials as the noise as it is, so their
 * differences are differences of pairs. A source that is removed leaves all detours of others where they
 * were: the result is, to the picosecond, that of simulating the file without it ('noise cut --drop').
 */
#ifndef IW_WHATIF_H
#define IW_WHATIF_H

#include <stdbool.h>
#include <stdio.h>

#include <idlewave/caveat.h>
#include <idlewave/doc.h>
#include <idlewave/noise_set.h>
#include <idlewave/remedy.h>
#include <idlewave/result.h>
#include <idlewave/sim.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the question ---- */

/** A set of sources that the user named. */
typedef struct iw_named_set {
    const char *name;            /* as it is to be shown */
    const char *const *patterns; /* of iw_noise_set_mark() */
    size_t pattern_count;
} iw_named_set;

typedef struct iw_whatif_opts {
    size_t size;     /* IW_WHATIF_OPTS_INIT */
    iw_sim_opts sim; /* trials, seed, engine, threads, progress; at least 2 trials */
    const iw_net *net;
    iw_program_maker program;
    const iw_named_set *sets; /* may be NULL */
    size_t set_count;
    double target;    /* a slowdown, 0.02: find the smallest set that gets there; < 0: none */
    uint32_t redraws; /* of the recordings, for the intervals, 2 or more; 0: they are the whole truth */
    bool wants_classes, wants_together; /* classes of sources; all nodes' noise at the same time */
    uint32_t cores_per_node; /* of which some could be left to the operating system; 0: not asked */
    uint32_t most_parts; /* recorded parts that are tried one by one, those that take most time and those with
                            the longest detours; the rest are one together. 0: all */
    uint32_t spare_cores;    /* so many of cores_per_node; 0: one */
    uint32_t replaced_nodes; /* also try sim.node_speeds without so many of the slowest; 0: not asked */
} iw_whatif_opts;

#define IW_WHATIF_OPTS_INIT                                                                                  \
    {                                                                                                        \
        sizeof(iw_whatif_opts), IW_SIM_OPTS_INIT, NULL, {NULL, NULL, NULL}, NULL, 0, -1.0, 24, false, false, \
            0, 0, 0, 0                                                                                       \
    }

/* ---- the answer ---- */

typedef enum iw_change_kind {
    IW_CHANGE_SOURCE,
    IW_CHANGE_REST, /* all parts that were too small to be tried alone */
    IW_CHANGE_CLASS,
    IW_CHANGE_SET,      /* one of opts->sets */
    IW_CHANGE_ALL,      /* no noise of the system is left, recorded or of specs */
    IW_CHANGE_TOGETHER, /* co-scheduling: nothing is removed, all nodes are hit at the same time */
    IW_CHANGE_RESERVE,  /* cores of each node left to the operating system */
    IW_CHANGE_REPLACE,  /* the slowest nodes are as fast as they should be */
    IW_CHANGE_APART,    /* nodes that are aligned are taken for independent: what that assumption would say */
    IW_CHANGE_NETWORK   /* the network delays no messages */
} iw_change_kind;

typedef struct iw_change {
    iw_change_kind kind;
    char name[IW_SOURCE_NAME_SIZE + 16];
    bool *is_removed;     /* by part of the noise set; owned by the iw_whatif */
    const char **removes; /* their names, owned by the set */
    size_t removed_count;
    double share; /* of CPU time that goes with it */
    iw_estimate
        slowdown;       /* that is left: T / T0 - 1, mean of the trials; RESERVE: against T0 with all cores */
    iw_estimate saving; /* slowdown now minus that */
    uint32_t replaced_nodes; /* REPLACE */
    const iw_remedy *remedy; /* of recorded SOURCEs, TOGETHER, RESERVE and REPLACE; else NULL */
} iw_change;

/** From how many ranks on a reserved core gains more than it costs. */
typedef struct iw_break_even {
    bool is_known;                    /* false: not up to most_ranks, or from least_ranks on */
    bool is_always;                   /* it gains from least_ranks on */
    iw_estimate ranks;                /* its ends are cut to what was looked at */
    uint32_t least_ranks, most_ranks; /* looked at */
    double price;                     /* the slowdown that one core less costs without noise */
} iw_break_even;

typedef struct iw_whatif {
    const char *what, *command, *noise; /* "allreduce:dissemination", the command line, names of the noise:
                                           for the caller to set before it is shown */
    char net[64];
    uint32_t ranks;
    uint32_t ranks_per_node, recorded_cpus; /* recorded_cpus 0: the noise is not recorded */
    uint32_t cores_per_rank;
    iw_loop_schedule loop;
    char noise_cpus[256]; /* those of the recording that are used; "": all */
    size_t source_count;
    const iw_noise_set_source *sources; /* of the set */
    uint64_t trials, seed;
    uint32_t redraws;
    iw_time noiseless_ps;
    uint64_t messages;
    bool is_monotone; /* removing noise never makes a trial take longer (docs/explanation/semantics.md, 9) */
    iw_estimate now;  /* slowdown as it is */
    double most_slowdown; /* the upper end of `now`, also where that is a bound: longer detours of the kinds
                             that were recorded count; 0: not known */
    size_t change_count;
    iw_change *changes;    /* by saving, the largest first; of a bound its lower end counts */
    double sum_of_sources; /* savings of SOURCEs and REST added up, to compare with that of all; NaN: some
                              are bounds */
    /* the smallest set for the target */
    double target;        /* < 0 or NaN: none */
    bool has_target_set;  /* false: none gets there, or none of those that were tried */
    bool is_target_exact; /* false: there were too many to try, a smaller one may exist, or one at all */
    iw_change target_set;
    iw_break_even break_even; /* .most_ranks 0: not asked */
    bool is_reserve_unknown;  /* asked, but the program cannot be made with more work */
    iw_reach reach;           /* of `now`; estimates beyond it have .high INFINITY */
    double recorded_s;        /* length of the shortest recording; 0: none. Rarer sources may be missing */
    double rare_limit_s;      /* what comes less than once in this on a node may have been missed, 95 % */
    double engine_seconds;
    iw_caveats caveats; /* of noise and network */
} iw_whatif;

IW_API IW_NODISCARD iw_status iw_whatif_run(const iw_log *log, const iw_noise_set *set,
                                            const iw_whatif_opts *opts, iw_whatif **whatif_p);
IW_API void iw_whatif_free(iw_whatif *whatif);

/* ---- what that will take ---- */

typedef struct iw_whatif_plan {
    uint32_t ranks;
    uint64_t messages;      /* of one simulation */
    size_t change_count;    /* that are tried, besides the noise as it is */
    uint64_t trials;        /* of each of them */
    uint32_t redraws;       /* of the recordings */
    uint32_t per_redraw;    /* trials of each change under each of them */
    uint64_t simulations;   /* in all, without those for the target and for fewer ranks */
    double seconds;         /* until it is answered here, by a sample */
    double cpu_seconds;     /* the same of CPU time of all threads, from the start of this process on */
    double target_seconds;  /* that the search for the smallest set adds at most; 0: there is none */
    double reserve_seconds; /* that looking for the ranks from which on a reserved core pays adds at most */
    uint64_t bytes;         /* memory for the state of ranks */
    double room_bytes;      /* memory that this process can have */
    uint32_t sample_ranks;  /* of the sample */
} iw_whatif_plan;

/** Counts what iw_whatif_run() would simulate, and times a sample of it. */
IW_API IW_NODISCARD iw_status iw_whatif_plan_make(const iw_log *log, const iw_noise_set *set,
                                                  const iw_whatif_opts *opts, iw_whatif_plan *plan_p);

/** Schema "idlewave.whatif-plan/2". */
IW_API iw_doc iw_whatif_plan_doc(const iw_whatif_plan *plan);

/* ---- showing it ---- */

/** Schema "idlewave.whatif/3"; CSV has a line for each change. */
IW_API iw_doc iw_whatif_doc(const iw_whatif *whatif);

#ifdef __cplusplus
}
#endif
#endif
