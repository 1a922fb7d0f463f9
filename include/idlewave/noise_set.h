/* idlewave/noise_set.h - noise whose sources can be taken away, and what recordings in it can say of a job.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Experimental: functions and structs here may change in any release.
 */
#ifndef IW_NOISE_SET_H
#define IW_NOISE_SET_H

#include <stdbool.h>

#include <idlewave/doc.h>
#include <idlewave/recording.h>
#include <idlewave/remedy.h>
#include <idlewave/result.h>
#include <idlewave/sim.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- noise whose sources can be taken away ---- */

typedef struct iw_noise_set iw_noise_set; /* opaque: specs, recordings, folders of recordings */

typedef struct iw_noise_set_source {
    iw_class kind;                       /* unknown for specs */
    const char *name;                    /* as recordings have it; a spec itself */
    char text[IW_SOURCE_NAME_SIZE + 16]; /* "irq/eno1"; the spec, cut */
    bool is_recorded;                    /* a source of recordings; false: a spec or a text trace */
    double share;       /* of the time of the CPUs that ranks use; NaN where it depends on the work */
    int64_t longest_ns; /* its longest detour on these CPUs; 0 where it is not recorded */
    const iw_remedy *remedy;
} iw_noise_set_source;

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
IW_API void iw_noise_set_share_phases(iw_noise_set *set, uint32_t cores_per_rank, iw_loop_schedule loop);
IW_API uint32_t iw_noise_set_cores_per_node(const iw_noise_set *set); /* of its ranks together */

IW_API uint32_t iw_noise_set_ranks_per_node(const iw_noise_set *set);
IW_API uint32_t iw_noise_set_recorded_cpus(const iw_noise_set *set);
IW_API const iw_cpu_set *iw_noise_set_cpus(const iw_noise_set *set);

/** Those that took time, the largest share first. */
IW_API size_t iw_noise_set_source_count(const iw_noise_set *set);
IW_API const iw_noise_set_source *iw_noise_set_source_at(const iw_noise_set *set, size_t part);

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

/** Appends what limits its recordings. */
IW_API void iw_noise_set_caveats(const iw_noise_set *set, iw_caveats *caveats);

/* ---- cores that are left to the operating system ---- */

/** What goes away with them: parts of recordings whose remedy is_moved. */
IW_API void iw_noise_set_mark_moved(const iw_noise_set *set, bool *is_marked);

/** The rest of the cores does all the work: how many times as long computation takes then, C / (C - N). 1
 * unless spare_cores is below cores_per_node. */
IW_API double iw_spare_work(uint32_t cores_per_node, uint32_t spare_cores);

/** Takes what goes away out of the recordings for good: simulations with the set and iw_spare_work() times
 * the work are those of IW_CHANGE_RESERVE. Before iw_noise_set_extrapolate(). */
IW_API IW_NODISCARD iw_status iw_noise_set_spare(const iw_log *log, iw_noise_set *set);

/* ---- what ranks run, made anew for other numbers of them ---- */

/** Makes what the ranks run: `ranks` of them (0: as the user asked), their computation taking `work` times as
 * long. IW_ERR_UNSUPPORTED (not logged): it cannot be changed so. The caller frees the program with
 * `release`.
 */
typedef struct iw_program_maker {
    iw_status (*make)(void *arg, uint32_t ranks, double work, iw_program **program_p);
    void (*release)(void *arg, iw_program *program);
    void *arg;
} iw_program_maker;

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
    iw_sensitivity sensitivity;
} iw_reach;

/** Of a job on so many ranks that takes so long without noise and has that slowdown
 * (docs/explanation/statistics.md has the equations). */
IW_API iw_reach iw_reach_of(const iw_noise_set *set, uint32_t ranks, iw_time noiseless_ps, double slowdown);

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

/** What each repetition of a pattern costs once its start is over: detours under way at time 0 are paid once
 * a run. It is told from the second half of the repetitions. */
struct iw_steady {
    uint64_t repetitions; /* of that half */
    iw_estimate slowdown; /* T/T0 - 1 of them; the interval counts the trials */
    iw_estimate start_ns; /* what noise adds to a run on top of as many such repetitions */
};

/** Whether the program is a pattern that is repeated, noise is all that disturbs it, and there are trials
 * enough for an interval. */
IW_API bool iw_steady_is_asked(const iw_noise_set *set, const iw_program *program, uint64_t trials);

/** Simulates half of the repetitions, in the first 40 trials of the question at most. IW_ERR_USAGE: it is
 * not asked. */
IW_API IW_NODISCARD iw_status iw_steady_find(const iw_log *log, const iw_certainty_question *question,
                                             iw_steady *steady_p);

/** Trials that iw_steady_find() simulates half of, for a job that had so many. */
IW_API uint64_t iw_steady_trials(const iw_noise_set *set, const iw_program *program, uint64_t trials);

/** Whether several ranks of a node meet copies of one recorded CPU, so that nobody knows which noise would
 * hit them together. Copies are independent then; the other answer is: */
IW_API bool iw_node_wide_is_asked(const iw_noise_set *set);

/** The slowdown if all noise hit all ranks of a node together, as in iw_certainty, with .low and .high NaN of
 * fewer than IW_CERTAINTY_LEAST_TRIALS trials. IW_ERR_USAGE: it is not asked. */
IW_API IW_NODISCARD iw_status iw_node_wide_find(const iw_log *log, const iw_certainty_question *question,
                                                iw_estimate *node_wide_p);

/** Trials that iw_node_wide_find() simulates for a job that had so many. */
IW_API uint64_t iw_node_wide_trials(const iw_noise_set *set, uint64_t trials);

/** iw_forecast_make(), with what iw_certainty_find(), iw_steady_find() and the like take besides, and with
 * the CPU time that this process has used so far, for starting and reading. question->result is not read. */
IW_API IW_NODISCARD iw_status iw_certainty_forecast(const iw_log *log, const iw_certainty_question *question,
                                                    iw_forecast *forecast_p);

/** The forecast as text, page or JSON. */
IW_API iw_doc iw_forecast_doc(const iw_forecast *forecast);

#ifdef __cplusplus
}
#endif
#endif
