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

#include <idlewave/doc.h>
#include <idlewave/fleet.h>
#include <idlewave/recording.h>
#include <idlewave/result.h>
#include <idlewave/sim.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ======== Remedies ========
 * What an administrator does against a source of noise.
 */

typedef struct iw_remedy {
    const char *name; /* a few words, lowercase: "move the interrupt" */
    const char *how;  /* a sentence with the command or the kernel parameter */
    bool is_moved;    /* the source goes away when a core of the node is left to the operating system */
} iw_remedy;

/** Of a source of that class and name, as recordings have them. Never NULL. */
IW_API const iw_remedy *iw_remedy_of(iw_class kind, const char *name);

/* ======== What-if ======== */

/* ---- noise whose sources can be taken away ---- */

typedef struct iw_noise_set iw_noise_set; /* opaque: specs, recordings, folders of recordings */

typedef struct iw_noise_part {
    iw_class kind;                       /* unknown for specs */
    const char *name;                    /* as recordings have it; a spec itself */
    char text[IW_SOURCE_NAME_SIZE + 16]; /* "irq/eno1"; the spec, cut */
    bool is_recorded;                    /* a source of recordings; false: a spec or a text trace */
    double share;       /* of the time of the CPUs that ranks use; NaN where it depends on the work */
    int64_t longest_ns; /* its longest detour on these CPUs; 0 where it is not recorded */
    const iw_remedy *remedy;
} iw_noise_part;

IW_API IW_NODISCARD iw_status iw_noise_set_new(const iw_log *log, iw_noise_set **set_p);
IW_API void iw_noise_set_free(iw_noise_set *set);

/** A SPEC, a noise file, or a folder of noise files, one a node; as iw_noise_open(). Recordings are kept.
 * The same source in several inputs is one part. */
IW_API IW_NODISCARD iw_status iw_noise_set_add(const iw_log *log, iw_noise_set *set,
                                               const char *spec_or_path);

/** The same for a recording in memory, which belongs to the set from then on; `name` is for messages. On
 * failure it stays the caller's. */
IW_API IW_NODISCARD iw_status iw_noise_set_add_recording(const iw_log *log, iw_noise_set *set,
                                                         const char *name, iw_recording *recording);

/** As iw_noise_only_cpus(). */
IW_API void iw_noise_set_only_cpus(iw_noise_set *set, const iw_cpu_set *cpus);

/** As iw_noise_align(). Parts are numbered anew: which CPUs ranks use tells what took time. */
IW_API void iw_noise_set_align(iw_noise_set *set, iw_sync sync, iw_time skew_ps, uint32_t ranks_per_node);

/** As iw_noise_align_nodes(): of folders that are added from now on. */
IW_API void iw_noise_set_align_nodes(iw_noise_set *set, iw_align align);

/** The time that nodes which are aligned watched together; of several folders that with the worst clock.
 * NULL: none is aligned. */
IW_API const iw_wall_window *iw_noise_set_window(const iw_noise_set *set);

/** As those of iw_noise. */

/** Ranks with several cores, as iw_noise_share_phases() has it. */
IW_API void iw_noise_set_share_phases(iw_noise_set *set, uint32_t cores_per_rank, iw_loop loop);
IW_API uint32_t iw_noise_set_cores_per_rank(const iw_noise_set *set);
IW_API uint32_t iw_noise_set_cores_per_node(const iw_noise_set *set); /* of its ranks together */

IW_API uint32_t iw_noise_set_ranks_per_node(const iw_noise_set *set);
IW_API uint32_t iw_noise_set_recorded_cpus(const iw_noise_set *set);
IW_API const iw_cpu_set *iw_noise_set_cpus(const iw_noise_set *set);

/** Those that took time, the largest share first. */
IW_API size_t iw_noise_set_part_count(const iw_noise_set *set);
IW_API const iw_noise_part *iw_noise_set_part(const iw_noise_set *set, size_t part);

/** Marks parts that fit a pattern ("irq/eno1", "eno1", "irq", with '*', '?', []; a spec as it was given).
 * IW_ERR_RANGE: none does; what there is is logged. */
IW_API IW_NODISCARD iw_status iw_noise_set_mark(const iw_log *log, const iw_noise_set *set,
                                                const char *pattern, bool *is_marked);

/** Noise without the marked parts (NULL: with all). `replicate` 0: as recorded; k: from the k-th redrawing of
 * the recordings that follows from `seed` (iw_recording_resample(); of a folder: its nodes drawn anew). */
IW_API IW_NODISCARD iw_status iw_noise_set_make(const iw_log *log, const iw_noise_set *set,
                                                const bool *is_removed, uint64_t seed, uint64_t replicate,
                                                iw_noise **noise_p);

/** Laws fitted to the recordings stand in for them from now on, as `noise fit` finds them: whatever is made
 * of the set draws from these, also detours longer than any that was seen. IW_ERR_UNSUPPORTED: a folder of
 * recordings; IW_ERR_RANGE: nothing is recorded, or no law describes it. */
IW_API IW_NODISCARD iw_status iw_noise_set_extrapolate(const iw_log *log, iw_noise_set *set);

/** The laws that stand in for recordings, "poisson:9.87Hz,exp:19.9us"; NULL behind the last one. */
IW_API const char *iw_noise_set_law(const iw_noise_set *set, size_t number);

/* ---- cores that are left to the operating system ---- */

/** What goes away with them: parts of recordings whose remedy is_moved. */
IW_API void iw_noise_set_mark_moved(const iw_noise_set *set, bool *is_marked);

/** The rest of the cores does all the work: how many times as long computation takes then, C / (C - N). 1
 * unless spare_cores is below cores_per_node. */
IW_API double iw_spare_work(uint32_t cores_per_node, uint32_t spare_cores);

/** Takes what goes away out of the recordings for good: simulations with the set and iw_spare_work() times
 * the work are those of IW_CHANGE_RESERVE. Before iw_noise_set_extrapolate(). */
IW_API IW_NODISCARD iw_status iw_noise_set_spare(const iw_log *log, iw_noise_set *set);

/* ---- what recordings can show ---- */

/** How far the recordings of a set reach. Without any, watched_s is 0. With several, lengths are those of the
 * one that was watched least. */
typedef struct iw_reach {
    double recorded_s;    /* length */
    uint64_t cpus;        /* of all nodes, those that ranks meet */
    double watched_s;     /* W: CPU time that ranks can meet */
    int64_t longest_ns;   /* the longest detour in it */
    double unseen;        /* what unseen detours add to the slowdown at most, 95 % */
    bool is_bound;        /* so much that the slowdown is a lower bound */
    bool is_extrapolated; /* fitted laws stand in; nothing is a bound then */
    double record_s;      /* is_bound: record about so long for an estimate, on as many CPUs; else 0 */
    size_t law_count;
    const char *const *laws; /* is_extrapolated: those that stand in, owned by the set */
} iw_reach;

/** Of a job on so many ranks that takes so long without noise and has that slowdown
 * (docs/explanation/statistics.md has the equations). */
IW_API iw_reach iw_reach_of(const iw_noise_set *set, uint32_t ranks, iw_time noiseless_ps, double slowdown);

/* ---- the question ---- */

/** Makes what the ranks run: `ranks` of them (0: as the user asked), their computation taking `work` times as
 * long. IW_ERR_UNSUPPORTED (not logged): it cannot be changed so. The caller frees the program with
 * `release`.
 */
typedef struct iw_program_maker {
    iw_status (*make)(void *arg, uint32_t ranks, double work, iw_program **program_p);
    void (*release)(void *arg, iw_program *program);
    void *arg;
} iw_program_maker;

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
    IW_CHANGE_ALL,      /* no noise is left, recorded or of specs */
    IW_CHANGE_TOGETHER, /* co-scheduling: nothing is removed, all nodes are hit at the same time */
    IW_CHANGE_RESERVE,  /* cores of each node left to the operating system */
    IW_CHANGE_REPLACE,  /* the slowest nodes are as fast as they should be */
    IW_CHANGE_APART     /* nodes that are aligned are taken for independent: what that assumption would say */
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
    iw_loop loop;
    char noise_cpus[256]; /* those of the recording that are used; "": all */
    size_t source_count;
    const iw_noise_part *sources; /* of the set */
    uint64_t trials, seed;
    uint32_t redraws;
    iw_time noiseless_ps;
    uint64_t messages;
    bool is_monotone; /* removing noise never makes a trial take longer (docs/explanation/semantics.md, 9) */
    iw_estimate now;  /* slowdown as it is */
    size_t change_count;
    iw_change *changes;    /* by saving, the largest first */
    double sum_of_sources; /* savings of SOURCEs and REST added up, to compare with that of all */
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
    double seconds;         /* that they take here, by a sample */
    double target_seconds;  /* that the search for the smallest set adds at most; 0: there is none */
    double reserve_seconds; /* that looking for the ranks from which on a reserved core pays adds at most */
    uint64_t bytes;         /* memory for the state of ranks */
    double room_bytes;      /* memory that this process can have */
    uint32_t sample_ranks;  /* of the sample */
} iw_whatif_plan;

/** Counts what iw_whatif_run() would simulate, and times a sample of it, on fewer ranks if the job is large.
 */
IW_API IW_NODISCARD iw_status iw_whatif_plan_make(const iw_log *log, const iw_noise_set *set,
                                                  const iw_whatif_opts *opts, iw_whatif_plan *plan_p);

/** Schema "idlewave.whatif-plan/2". */
IW_API iw_doc iw_whatif_plan_doc(const iw_whatif_plan *plan);

/* ---- showing it ---- */

/** Schema "idlewave.whatif/2" (docs/reference/formats/whatif-json.md); CSV has a line for each change. */
IW_API iw_doc iw_whatif_doc(const iw_whatif *whatif);

/* ======== Certainty ========
 * What a recording can say about a job, and how sure that is.
 *
 *     iw_sim_opts opts = IW_SIM_OPTS_INIT;
 *     iw_certainty certainty;
 *     st = iw_simulate(log, program, net, noise, &opts, &result);
 *     st = iw_certainty_find(log, &(iw_certainty_question){set, program, net, &opts, result}, &certainty);
 *
 * A recording of W of CPU time cannot show what comes less than once in about W/3, and no simulation from it
 * can: detours longer than the longest recorded one do not come up, however many ranks there are. So a
 * recording reaches up to some scale. Within it an interval counts the trials, how another recording of the
 * same node would differ, and what may be unseen; beyond it there is a lower bound
 * (docs/explanation/statistics.md).
 */

enum { IW_CERTAINTY_REDRAWS = 12, IW_CERTAINTY_LEAST_TRIALS = 6 };

/** The interval of a job that was simulated with the noise of a set. */
typedef struct iw_certainty {
    iw_reach reach;
    iw_estimate slowdown; /* T/T0 - 1, mean of the trials. The interval counts the trials, the recording and
                             what is unseen; NaN of fewer than IW_CERTAINTY_LEAST_TRIALS trials, or without a
                             recording. Beyond the reach .high is INFINITY, and .low a lower bound (97.5 %) */
} iw_certainty;

/** What was simulated. */
typedef struct iw_certainty_question {
    const iw_noise_set *set;
    const iw_program *program;
    const iw_net *net;
    const iw_sim_opts *opts;     /* of the simulation */
    const iw_sim_result *result; /* of it, from the set as it is */
} iw_certainty_question;

/** What the recordings can say. Takes a moment, but for a set that is extrapolated: there laws are fitted to
 * recordings drawn anew, IW_CERTAINTY_REDRAWS times, and the job is simulated with them, in trials whose
 * numbers are behind its own. */
IW_API IW_NODISCARD iw_status iw_certainty_find(const iw_log *log, const iw_certainty_question *question,
                                                iw_certainty *certainty_p);

/** Trials that iw_certainty_find() simulates for a job that had so many. */
IW_API uint64_t iw_certainty_trials(const iw_noise_set *set, uint64_t trials);

/** What it would cost to take nodes for independent of each other. */
struct iw_independence {
    iw_estimate independent;        /* slowdown then; intervals as in iw_certainty, without what is unseen */
    iw_estimate overstated;         /* that minus the slowdown with nodes aligned, trial by trial */
    uint32_t nodes, recorded_nodes; /* of the job; recorded: more simulated ones meet other offsets */
    iw_wall_window window;
};

/** Whether nodes of the set are aligned, and nothing else synchronises them. */
IW_API bool iw_independence_is_asked(const iw_noise_set *set);

/** Simulates the job once more with independent nodes, and both ways under recordings drawn anew.
 * IW_ERR_USAGE: it is not asked. */
IW_API IW_NODISCARD iw_status iw_independence_find(const iw_log *log, const iw_certainty_question *question,
                                                   iw_independence *independence_p);

/** Trials that iw_independence_find() simulates for a job that had so many. */
IW_API uint64_t iw_independence_trials(const iw_noise_set *set, uint64_t trials);

/** Up to how many ranks that meet after each `work_s` of work a recording gives estimates, about, by its
 * detours alone. 0: not even one. */
IW_API double iw_reach_ranks(const iw_recording *recording, double work_s);

/* ======== Forecasts ========
 * What a simulation will take, and how it is best split. Read idlewave/sim.h first.
 *
 * The model (docs/explanation/scale.md has its numbers): of each trial, every worker pays for its messages
 * and, where the ranks are split, for the values that cross the borders of its block: seconds = batches of
 * the busiest worker x (messages x lanes x seconds a message + exchanges x latency + bytes sent / bandwidth)
 */

/** One way of splitting the work. */
typedef struct iw_way {
    char refusal[160]; /* why it is not possible; "" if it is */
    uint32_t workers;  /* threads of all processes that have work */
    uint32_t lanes;
    uint64_t batches;             /* of the busiest worker */
    double messages;              /* of one of its batches, each lane */
    double bytes_sent;            /* by it in a batch */
    uint64_t exchanges;           /* with other members in a batch */
    double compute_s, exchange_s; /* of all its batches */
    uint64_t process_bytes;       /* memory of one process, for the state of ranks */
} iw_way;

typedef struct iw_forecast {
    iw_engine engine;
    char engine_note[160];
    uint32_t ranks, processes, nodes, threads; /* threads of one process */
    uint64_t trials, messages;                 /* messages of one trial */
    uint64_t redrawn;  /* of the trials: for the interval of an extrapolation; whoever asks sets it */
    double message_s;  /* of one lane, on one core of this machine */
    double room_bytes; /* memory that one process can have on this machine */
    iw_way trials_split, ranks_split;
    iw_parallel chosen; /* never AUTO */
    char reason[160];   /* of the choice, in words */
} iw_forecast;

/** Nothing is simulated but a sample of some milliseconds, to see how fast this machine is. The other
 * processes of opts->link need not call. As iw_simulate() otherwise. */
IW_API IW_NODISCARD iw_status iw_forecast_make(const iw_log *log, const iw_program *program,
                                               const iw_net *net, const iw_noise *noise,
                                               const iw_sim_opts *opts, iw_forecast *forecast_p);

/** The forecast as text, page or JSON. */
IW_API iw_doc iw_forecast_doc(const iw_forecast *forecast);

#ifdef __cplusplus
}
#endif
#endif
