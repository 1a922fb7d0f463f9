/* idlewave/study.h - many simulations from one YAML file, and what they gave.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Experimental: functions and structs here may change in any release.
 *
 *     iw_study_opts opts = IW_STUDY_OPTS_INIT;
 *     st = iw_study_load(log, "four-systems.yaml", &study);
 *     st = iw_study_run(log, study, "out", &opts, &outcome);
 *     st = iw_study_results_load(log, "out", &results);
 *
 * A study is a grid: systems x works x ranks x bytes x sync x net-scale, and settings of training programs;
 * each point is a cell, simulated `trials` times. Plain data, filled by the reader, changed by nobody
 * afterwards.
 */
#ifndef IW_STUDY_H
#define IW_STUDY_H

#include <stdbool.h>
#include <stdio.h>

#include <idlewave/doc.h>
#include <idlewave/net.h>
#include <idlewave/noise.h>
#include <idlewave/program.h>
#include <idlewave/result.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A machine: its network and its noise. */
typedef struct iw_study_system {
    char *name;
    iw_net net;   /* as read; not scaled */
    char **noise; /* SPECs and paths, paths resolved against the study's folder */
    size_t noise_count;
    iw_time skew_ps;
    uint32_t ranks_per_node; /* 0: as recorded */
    uint32_t cores_per_rank; /* 0: 1 */
    iw_loop_schedule loop;
    iw_align align;        /* of the nodes of folders */
    iw_cpu_set noise_cpus; /* of recordings only these; empty: all */
    bool is_extrapolated;  /* fitted laws stand in for recordings (iw_noise_set_extrapolate()) */
    uint32_t spare_cores;  /* of each node, for the operating system (iw_noise_set_spare()) */
    char *node_speed;      /* SPEC or path, as iw_node_speeds_new() reads it; NULL: all nodes are alike */
} iw_study_system;

/** A trace that works are made of. */
typedef struct iw_study_trace {
    char *path;      /* resolved against the study's folder */
    iw_trace *trace; /* NULL: files were not to be read */
    uint64_t digest; /* of its calls */
} iw_study_trace;

typedef struct iw_training iw_training; /* idlewave/training.h */

/** One thing of a training program that a study varies: a setting, or "jitter" that is added. */
typedef struct iw_study_setting {
    const char *key; /* of iw_training_key(), or IW_STUDY_JITTER */
    size_t count;
    char **values;  /* as they are written; of ranges each */
    char **sources; /* of jitter: as iw_training_add_noise() reads it, a line for each; NULL: of a setting */
    uint64_t *digests; /* of each value, and of the files that it names */
} iw_study_setting;

#define IW_STUDY_JITTER "jitter"
#define IW_STUDY_SETTINGS_MAX 8

/** What runs on it: a pattern (ranks and bytes come from the cell), a schedule, or a trace or a training
 * program (ranks come from the cell). */
typedef struct iw_study_work {
    char *name;
    char *operations;   /* "allreduce:dissemination", or NULL for a schedule or a trace */
    iw_pattern pattern; /* compute, repeat, root, ... */
    char *goal_path;    /* or NULL */
    iw_time goal_unit_ps;
    bool is_trace;
    const iw_trace *trace;    /* the study's */
    iw_trace_opts trace_opts; /* points into the next two; the ranks are the cell's */
    char *rules, **algorithms;
    iw_training *training;   /* or NULL; its dp follows from the cell's ranks, which are GPUs */
    uint64_t training_steps; /* of a trial; makespans are those of a step, the mean */
    iw_study_setting settings[IW_STUDY_SETTINGS_MAX]; /* in the order of iw_training_key(), jitter last */
    size_t setting_count;
} iw_study_work;

#define IW_CELL_ID_SIZE 17

/** One simulation. */
typedef struct iw_cell {
    size_t system, work; /* numbers in the study */
    size_t settings;     /* number of their combination, the last of the work's fastest */
    uint32_t ranks;
    uint64_t bytes;
    iw_sync sync;
    double net_scale;
    uint64_t trials, seed;
    /* 16 hexadecimal digits, a digest of everything that the result depends on: parameters of the network,
     * noise (of files: their content), work, settings, and the numbers above. Names do not count. */
    char id[IW_CELL_ID_SIZE];
} iw_cell;

typedef struct iw_study {
    char *path, *name, *title; /* title: one line for people; may be "" */
    char *text;                /* the YAML, byte for byte */
    size_t system_count, work_count, trace_count, cell_count;
    iw_study_system *systems;
    iw_study_work *works;
    iw_study_trace *traces; /* each file once, however many works are made of it */
    iw_cell *cells;         /* systems outermost, then works, settings, ...; ranks innermost */
    double threshold;       /* slowdown above which noise dominates, for the inflection; default 1 */
} iw_study;

/** Reads and checks it all: networks, noise, patterns; docs/reference/formats/study.md. Errors are logged as
 * 'file:line'. IW_ERR_IO, IW_ERR_FORMAT, IW_ERR_RANGE, IW_ERR_NOMEM. */
IW_API IW_NODISCARD iw_status iw_study_load(const iw_log *log, const char *path, iw_study **study_p);
IW_API void iw_study_free(iw_study *study);

/* ---- running ---- */

typedef struct iw_study_opts {
    size_t size;      /* IW_STUDY_OPTS_INIT */
    uint32_t threads; /* cells side by side; 0: as many as CPUs allowed, of this node's processes each */
    uint32_t shard, shards; /* this one, from 0, of so many; cells are dealt so that their costs are even */
    /* Processes that somebody starts together share the cells of the shard: this one, from 0, of so many. Any
     * others may come and go; they need not know of each other. */
    uint32_t process, processes;
    uint32_t local_processes; /* of them on this node, which share its memory and CPUs; 0: this one */
    bool leaves;              /* ends when no cell is left to begin, though other processes still run some */
    const char *command;      /* the command line, for the origin; may be NULL */
    /* Counts cells of this shard, by whatever process; those found done count as done. The share is that of
     * the expected time. False: no further cell is begun; the call ends with those that run, and IW_OK. */
    iw_progress progress;
} iw_study_opts;

#define IW_STUDY_OPTS_INIT                                    \
    {                                                         \
        sizeof(iw_study_opts), 0, 0, 1, 0, 1, 1, false, NULL, \
        {                                                     \
            NULL, NULL                                        \
        }                                                     \
    }

typedef struct iw_study_outcome {
    const char *folder;       /* the caller's */
    uint32_t shard, shards;   /* its number from 1 on */
    size_t cells, found, run; /* of this shard; found: finished before; run: by this process */
    size_t others;            /* finished by other processes meanwhile */
    size_t elsewhere;         /* not finished: other processes run them still */
    bool is_stopped;
    double seconds;
} iw_study_outcome;

/** Runs the cells that `dir` does not hold yet, and appends each to its results file when it has ended, one
 * JSON line, on the disk before the next begins. Whatever happens, what is there stays, and a later call goes
 * on. The lines are the same for any number of threads, shards, processes and interruptions, their order
 * aside.
 *
 * Processes that run a study in one folder share its cells: each claims a cell before it runs it
 * (docs/reference/formats/study.md), takes over those of processes that died, and returns when all cells are
 * done. Of several (`processes`) one in which a cell fails goes on with the others before it returns the
 * failure. */
IW_API IW_NODISCARD iw_status iw_study_run(const iw_log *log, const iw_study *study, const char *dir,
                                           const iw_study_opts *opts, iw_study_outcome *outcome_p);
IW_API iw_doc iw_study_run_doc(const iw_study_outcome *outcome);

/** The cells of one system and work that are to be run. */
typedef struct iw_study_estimate_row {
    const char *system, *work; /* the study's */
    size_t cells;
    uint32_t least_ranks, most_ranks;
    double core_seconds;
    uint64_t largest_bytes;
} iw_study_estimate_row;

/** What a run would take; the study has to live as long. */
typedef struct iw_study_estimate {
    uint32_t shard, shards; /* its number from 1 on */
    size_t cells, found;    /* of this shard */
    uint32_t threads;       /* that would be used, by each process */
    uint32_t processes;
    double core_seconds;   /* for what is not found, by a short calibration on this machine */
    uint64_t memory_bytes; /* of a process, with opts->threads of the largest side by side */
    double *cell_seconds;  /* study->cell_count; 0: not of this shard, or found */
    uint64_t *cell_bytes;
    double wall_seconds; /* with all threads of all processes busy */
    size_t row_count;
    iw_study_estimate_row *rows;
} iw_study_estimate;

/** `dir` may be NULL or not exist. */
IW_API IW_NODISCARD iw_status iw_study_estimate_new(const iw_log *log, const iw_study *study, const char *dir,
                                                    const iw_study_opts *opts,
                                                    iw_study_estimate **estimate_p);
IW_API void iw_study_estimate_free(iw_study_estimate *estimate);
IW_API iw_doc iw_study_estimate_doc(const iw_study_estimate *estimate);

/** Joins the results of `count` folders (shards of one study) into `dir`, which may be one of them. Cells
 * that several hold must be equal. */
IW_API IW_NODISCARD iw_status iw_study_merge(const iw_log *log, const char *const *dirs, size_t count,
                                             const char *dir);

/* ---- results ---- */

/** What the recordings behind a cell can say (idlewave/whatif.h). */
typedef struct iw_cell_recording {
    double seconds;       /* of the recording that was watched least; 0: nothing is recorded */
    double unseen;        /* what unseen detours add to the slowdown at most */
    double slowdown_low;  /* 95 % interval of the mean slowdown; NaN with few trials; only a lower end: */
    double slowdown_high; /* beyond the reach of the recording, where this is NaN */
    double record_s;      /* record so long for an estimate; NaN: it is one */
    char *laws;           /* that stood in for the recordings, joined by " + "; NULL: none did */
    iw_sensitivity sensitivity; /* length_ns 0: it was not asked for */
} iw_cell_recording;

typedef struct iw_cell_result {
    char id[IW_CELL_ID_SIZE];
    char *system, *work, *net, *noise; /* names; net and noise as text for people */
    char *settings;                    /* "microbatches=8; schedule=gpipe"; NULL: none are varied */
    char *caveats; /* what limits noise and network, joined by " | "; NULL: nothing known */
    uint32_t ranks;
    uint64_t bytes, trials, seed, messages;
    iw_sync sync;
    double net_scale;
    double noise_share; /* of the CPU time, all sources; NaN where it depends on the work */
    double noiseless_ns;
    iw_summary makespan_ns; /* slowdown = makespan / noiseless - 1 */
    double p5_ns, p95_ns;
    iw_cell_recording recording;
} iw_cell_result;

typedef struct iw_study_results {
    char *name, *title, *text; /* the YAML */
    double threshold;
    size_t expected; /* cells of the study */
    size_t count;
    iw_cell_result *cells; /* in the order of the study */
    size_t attribute_count;
    struct iw_study_attribute {
        char *name, *value;
    } * attributes; /* host, version, date of the first run, ... */
} iw_study_results;

/** Reads a folder that iw_study_run() has filled, finished or not. */
IW_API IW_NODISCARD iw_status iw_study_results_load(const iw_log *log, const char *dir,
                                                    iw_study_results **results_p);
IW_API void iw_study_results_free(iw_study_results *results);

/* ---- series, and where noise takes over ---- */

/** Cells that differ in nothing but their ranks, ascending. Where GPUs follow from settings there is one. */
typedef struct iw_series {
    size_t count;
    const iw_cell_result **cells;
    /* The fewest ranks from which on the median slowdown stays at or above the threshold: 0, none up to the
     * largest. Interpolated in log(ranks) between cells; the interval comes from the bounds of the medians.
     */
    double inflection, inflection_low, inflection_high; /* low, high: 0 where there is none */
} iw_series;

IW_API IW_NODISCARD iw_status iw_series_new(const iw_log *log, const iw_study_results *results,
                                            iw_series **series_p, size_t *count_p);
IW_API void iw_series_free(iw_series *series, size_t count);

/** Verdict, figures, tables; CSV has one line per cell. There is no JSON: a study has its folder. */
IW_API iw_doc iw_study_doc(const iw_study_results *results);

#ifdef __cplusplus
}
#endif
#endif
