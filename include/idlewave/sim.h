/* idlewave/sim.h - run a program under LogGOPS with noise. Read idlewave/program.h, net.h, noise.h first.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 *     iw_sim_opts opts = IW_SIM_OPTS_INIT;
 *     iw_sim_result *result;
 *     st = iw_simulate(log, program, net, noise, &opts, &result);
 *     ...  iw_sim_result_free(result);
 *
 * The same program, network, noise and seed give the same times, to the picosecond, for any engine and any
 * number of lanes, threads and processes.
 */
#ifndef IW_SIM_H
#define IW_SIM_H

#include <stdbool.h>

#include <idlewave/net.h>
#include <idlewave/noise.h>
#include <idlewave/program.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ======== Steps ========
 * What a rank does with its time, step after step.
 *
 * A step is a compute phase and everything after it until the next one begins. What comes before a rank's
 * first compute phase, if it takes any time, is a step without computation.
 */

/** In the order in which a step is drawn: only the sums are exact, the order within a step is a convention.
 */
typedef enum iw_state {
    IW_STATE_DELAY,   /* injected */
    IW_STATE_COMPUTE, /* the compute phase without the two others; waiting for memory belongs to it */
    IW_STATE_NOISE,   /* detours and per-phase noise, in the phase and in the CPU time of messages */
    IW_STATE_COMM,    /* CPU time of messages and reductions; of a trace: calls that only start something */
    IW_STATE_WAIT,    /* the rest: blocked until a message, a partner or the NIC is there */
    IW_STATES
} iw_state;

/** "delay", "compute", "noise", "comm", "wait". */
IW_API const char *iw_state_name(iw_state state);

typedef struct iw_step {
    iw_time begin_ps;
    iw_time state_ps[IW_STATES]; /* none is negative; the next step of the rank begins at begin + their sum */
} iw_step;

static inline iw_time iw_step_end(const iw_step *step)
{
    iw_time end_ps = step->begin_ps;

    for (int state = 0; state < IW_STATES; state++) {
        end_ps += step->state_ps[state];
    }
    return end_ps;
}

/** Gets every step: those of one rank in their order, ranks in any order; from one thread at a time. */
typedef struct iw_step_sink {
    void (*step)(void *arg, uint32_t rank, const iw_step *step); /* NULL: nobody wants them */
    void *arg;
} iw_step_sink;

/* ======== Nodes of different speed ======== */

typedef struct iw_node_speeds iw_node_speeds; /* opaque: how many times as long each node computes */

/** "normal:SIGMA" (1 + SIGMA times a standard normal number, for each node), "slow:COUNT,FACTOR" (so many
 * nodes, drawn by the seed of the simulation, take FACTOR times as long), or a file with one factor a line,
 * node 0 first. Rank r is on node r / ranks_per_node. Compute phases are multiplied
 * (docs/explanation/semantics.md, 15). IW_ERR_FORMAT, IW_ERR_RANGE, IW_ERR_IO. */
IW_API IW_NODISCARD iw_status iw_node_speeds_new(const iw_log *log, const char *spec_or_path,
                                                 uint32_t ranks_per_node, iw_node_speeds **speeds_p);
IW_API void iw_node_speeds_free(iw_node_speeds *speeds);

/* ======== Simulations ======== */

typedef enum iw_engine { IW_ENGINE_AUTO, IW_ENGINE_EVENT, IW_ENGINE_FLOW, IW_ENGINE_WINDOW } iw_engine;
typedef enum iw_rules { IW_RULES_IDLEWAVE, IW_RULES_LOGGOPSIM } iw_rules;
/** What is split over threads and processes: the trials, or the ranks of each trial. */
typedef enum iw_parallel { IW_PARALLEL_AUTO, IW_PARALLEL_TRIALS, IW_PARALLEL_RANKS } iw_parallel;
typedef enum iw_rendezvous { IW_RENDEZVOUS_IDEAL, IW_RENDEZVOUS_RTS_CTS } iw_rendezvous;

typedef struct iw_link iw_link; /* between the processes of one run: the command's own */

typedef struct iw_sim_opts {
    size_t size; /* IW_SIM_OPTS_INIT */
    iw_engine engine;
    iw_rules rules;
    iw_rendezvous rendezvous;
    uint64_t seed;
    uint64_t trials;      /* at least 1 */
    uint64_t first_trial; /* trial numbers start here, so that runs can be split and joined */
    uint32_t lanes;       /* trials evaluated side by side: 1, 2, 4, 8; 0: chosen */
    uint32_t threads;     /* of this process; 0: as many as CPUs allowed */
    iw_parallel parallel;
    const iw_link *link; /* to the other processes of this run, all of which call with the same arguments;
                            NULL:  there are none */
    const char *checkpoint_dir; /* a folder for restart points, or NULL; one of the same simulation that is
                                   there is gone on with. The ranks are split then (IW_PARALLEL_RANKS). */
    double checkpoint_s;        /* seconds between them; more if writing them takes over 5 % of the time */
    bool want_explain;          /* fill result->explain */
    uint64_t explain_trials;    /* paths that it holds; 0: chosen, by how long explaining takes */
    bool want_end_times;        /* fill result->end_ps */
    iw_step_sink steps;   /* gets all steps of the first trial; .step NULL: not wanted. Ranks with several
                             CPUs and LogGOPSim's rules have no steps: IW_ERR_UNSUPPORTED */
    iw_progress progress; /* can stop it; processes of `link` have to be stopped by themselves */
    const iw_node_speeds *node_speeds; /* NULL: all nodes are alike */
    uint32_t replaced_nodes;           /* so many, the slowest, are as fast as they should be */
} iw_sim_opts;

#define IW_SIM_OPTS_INIT                                                                              \
    {                                                                                                 \
        sizeof(iw_sim_opts), IW_ENGINE_AUTO, IW_RULES_IDLEWAVE, IW_RENDEZVOUS_IDEAL, 1, 1, 0, 0, 0,   \
            IW_PARALLEL_AUTO, NULL, NULL, 600.0, false, 0, false, {NULL, NULL}, {NULL, NULL}, NULL, 0 \
    }

/** Where the time on a critical path went. */
typedef enum iw_part {
    IW_PART_COMPUTE,    /* computation and reductions */
    IW_PART_MEMORY,     /* waiting for memory in compute phases */
    IW_PART_DELAY,      /* injected delays */
    IW_PART_OVERHEAD,   /* o and O */
    IW_PART_LATENCY,    /* L */
    IW_PART_GAP,        /* g */
    IW_PART_BYTES,      /* G */
    IW_PART_RENDEZVOUS, /* control messages of rts-cts */
    IW_PART_NETWORK,    /* noise of the network */
    IW_PART_NOISE,      /* + source number */
    IW_PARTS = IW_PART_NOISE + IW_NOISE_MAX_SOURCES
} iw_part;

/** The parts that levels of a network have a share of: IW_PART_OVERHEAD to IW_PART_RENDEZVOUS. */
enum { IW_NET_PARTS = IW_PART_RENDEZVOUS + 1 - IW_PART_OVERHEAD };

enum { IW_HITS = 4 };

typedef struct iw_split {
    iw_time part_ps[IW_PARTS]; /* sums to the time that it explains, to the picosecond */
    uint64_t hops;             /* messages on the path */
    iw_hit worst[IW_HITS];     /* what took most time of it, the most first; ties: by time, rank, source */
    /* Of the parts from IW_PART_OVERHEAD on: what was at the levels inside the network; the rest was at the
     * outermost. */
    iw_time inner_ps[IW_NET_INNER_MAX][IW_NET_PARTS];
} iw_split;

/** A critical path: that to the end of the rank that ends last (the lowest if several do). */
typedef struct iw_path {
    uint64_t trial;
    uint32_t last_rank;
    iw_time makespan_ps;
    iw_split split;
} iw_path;

typedef struct iw_explain {
    iw_path median;           /* of the trial with the median makespan */
    double mean_ps[IW_PARTS]; /* the same split averaged over all ranks' own paths */
    double mean_inner_ps[IW_NET_INNER_MAX][IW_NET_PARTS];
    double mean_hops;
    uint64_t path_count; /* trials explained, from the first on: they are chosen before anything is known */
    iw_path *paths;      /* one for each of them, in their order */
} iw_explain;

typedef struct iw_sim_result {
    uint32_t ranks;
    uint64_t trials, seed;
    uint64_t first_trial; /* number of the first trial */
    iw_rules rules;
    iw_rendezvous rendezvous;
    iw_engine engine;        /* the one that ran */
    char engine_note[160];   /* why auto fell back to event, or a trace had to be stored; else "" */
    uint32_t lanes, threads; /* of one process */
    uint32_t processes;
    bool is_resumed;         /* from a restart point: engine_seconds are those since then */
    iw_parallel parallel;    /* what was split: never AUTO */
    uint64_t messages;       /* of one trial */
    iw_time noiseless_ps;    /* makespan without noise and delays, on nodes that are alike */
    double slowest_node;     /* how many times as long the slowest node computes; 0: nodes are alike */
    iw_time *makespan_ps;    /* one per trial */
    iw_time *end_ps;         /* trials x ranks, or NULL */
    iw_explain *explain;     /* or NULL */
    double engine_seconds;   /* wall time of all trials; not of the noiseless run, nor of explaining */
    uint64_t peak_rss_bytes; /* of the process */
} iw_sim_result;

/** Runs `program` on `net` with `noise` (NULL: none), opts->trials times.
 *  IW_ERR_DEADLOCK: some ranks can never go on; they and their operations are logged.
 *  IW_ERR_RANGE: simulated time passes 53 days.
 *  IW_ERR_UNSUPPORTED: the named engine cannot run this program (auto can). IW_ERR_RANGE, IW_ERR_NOMEM.
 *  IW_ERR_CANCELLED: opts->progress said so; restart points stay.
 *  *result_p is set only on IW_OK and then owned by the caller. */
IW_API IW_NODISCARD iw_status iw_simulate(const iw_log *log, const iw_program *program, const iw_net *net,
                                          const iw_noise *noise, const iw_sim_opts *opts,
                                          iw_sim_result **result_p);

IW_API void iw_sim_result_free(iw_sim_result *result);

/** Removes the restart points of a simulation that has ended, and the folder if nothing else is in it. */
IW_API void iw_checkpoint_remove(const char *dir);

IW_API const char *iw_engine_name(iw_engine engine); /* NULL: there is none */

/** "compute", "o", "L", ...; noise parts: the source's name comes from the noise. */
IW_API const char *iw_part_name(iw_part part);

/* ======== Forecasts ========
 * What a simulation will take, and how it is best split.
 *
 * The split is chosen by a model (docs/explanation/scale.md has its numbers): of each trial, every worker
 * pays for its messages and, where the ranks are split, for the values that cross the borders of its block:
 * seconds = batches of the busiest worker x (messages x lanes x seconds a message + exchanges x latency +
 * bytes sent / bandwidth). Seconds a message are those of a sample then: the run without noise, some batches
 * and an explanation, each stopped after some hundredths of a second.
 */

/** One way of splitting the work. */
typedef struct iw_split_plan {
    char refusal[160]; /* why it is not possible; "" if it is */
    uint32_t workers;  /* threads of all processes that have work */
    uint32_t lanes;
    uint64_t batches;             /* of the busiest worker */
    double messages;              /* of one of its batches, each lane */
    double bytes_sent;            /* by it in a batch */
    uint64_t exchanges;           /* with other members in a batch */
    double compute_s, exchange_s; /* of all its batches */
    uint64_t process_bytes;       /* memory of one process, for the state of ranks */
} iw_split_plan;

typedef struct iw_forecast {
    iw_engine engine;
    char engine_note[160];
    uint32_t ranks, processes, nodes, threads; /* threads of one process */
    uint64_t trials, messages;                 /* messages of one trial */
    uint64_t redrawn;  /* of the trials: for the interval of an extrapolation; whoever asks sets it */
    double message_s;  /* of one lane, on one core of this machine */
    double room_bytes; /* memory that one process can have on this machine */
    iw_split_plan trials_split, ranks_split;
    iw_parallel chosen; /* never AUTO */
    char reason[160];   /* of the choice, in words */
    double cpu_s;       /* CPU time of all threads and processes, for all of iw_simulate() */
    double elapsed_s;   /* time until it ends, if each of them has a CPU for itself */
} iw_forecast;

/** Nothing is simulated but a sample of the program, for a tenth of a second or so. The other
 * processes of opts->link need not call. As iw_simulate() otherwise. */
IW_API IW_NODISCARD iw_status iw_forecast_make(const iw_log *log, const iw_program *program,
                                               const iw_net *net, const iw_noise *noise,
                                               const iw_sim_opts *opts, iw_forecast *forecast_p);

#ifdef __cplusplus
}
#endif
#endif
