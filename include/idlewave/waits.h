/* idlewave/waits.h - who made the others wait: when the ranks of a traced run came to what they do together.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Experimental: functions and structs here may change in any release.
 *
 *     iw_visits *visits;
 *     const char *paths[] = {"run"};
 *     st = iw_visits_open(log, paths, 1, &visits);
 *     iw_waits *waits;
 *     st = iw_waits_run(log, "run", visits, NULL, &waits);
 *     ...  iw_waits_free(waits);  iw_visits_free(visits);
 *
 * docs/explanation/waits.md says what is computed, by which tests, and how often they err.
 */
#ifndef IW_WAITS_H
#define IW_WAITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <idlewave/caveat.h>
#include <idlewave/doc.h>
#include <idlewave/estimate.h>
#include <idlewave/log.h>
#include <idlewave/status.h>
#include <idlewave/time.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct iwi_visits iw_visits; /* opaque */

/** A traced run: a file, a folder of files, or several files (one a rank), in any format that
 * docs/explanation/waits.md lists; told apart by what is in them. IW_ERR_FORMAT: none of these formats, or
 * files of several; IW_ERR_UNSUPPORTED: idlewave was built without what reads it, or it lacks what is needed.
 */
IW_API IW_NODISCARD iw_status iw_visits_open(const iw_log *log, const char *const *paths, size_t count,
                                             iw_visits **visits_p);
IW_API void iw_visits_free(iw_visits *visits);

/* ======== Who made the others wait ======== */

enum { IW_WAITS_NAME_SIZE = 64, IW_WAITS_MOST_ROWS = 128, IW_WAITS_MOST_COLUMNS = 240 };

/** How a rank makes the others wait. */
typedef enum iw_waits_pattern {
    IW_WAITS_ORDINARY,   /* no more than chance, or too little to matter */
    IW_WAITS_PERSISTENT, /* all through the run */
    IW_WAITS_PERIOD      /* in one period of it */
} iw_waits_pattern;

/** One rank. Its time is what it computes, waits for others to come, transfers, and the rest (calls that
 * meet nobody, a device that has nothing to do). Times in ns. */
typedef struct iw_waits_rank {
    uint32_t rank;
    char node[IW_WAITS_NAME_SIZE]; /* "": not known */
    int32_t stage;                 /* of the pipeline; -1: not known */
    double computing_ns, waiting_ns, transfer_ns, other_ns;
    double caused_ns;     /* what others waited because of it, through whomever they waited */
    uint64_t met;         /* collectives with others */
    uint64_t last;        /* of them, those that it came to last */
    double usual_late_ns; /* the median of its arrivals, against the median rank's */
    uint32_t peers;       /* other ranks that do the same and that it is compared with */
    double longer_ns;     /* by which it was busy (computing, other) longer than the median peer, in all */
    uint32_t blocks_won;  /* parts of the run in which it was busy longer than any peer */
    double chance;        /* that any of equal ranks looks so conspicuous; NaN: nothing to judge */
    iw_waits_pattern pattern;
    double from_ns, to_ns; /* of the period; all of the run where there is none */
} iw_waits_rank;

/** The same over ranks of a node or stage, or over what is done in a group or by an operation. */
typedef struct iw_waits_group {
    char name[IW_WAITS_NAME_SIZE];
    uint32_t ranks;
    uint64_t
        encounters; /* collectives and messages; of nodes and stages: those that their ranks came last to */
    double waiting_ns, transfer_ns; /* of the ranks, or in these encounters */
    double caused_ns;               /* nodes and stages; NaN of others */
    double imbalance_ns, noise_ns;  /* of the waiting, groups and operations; NaN of others */
} iw_waits_group;

/** Pauses that the trace names, and what of the waiting they caused. */
typedef struct iw_waits_cause {
    char name[IW_WAITS_NAME_SIZE]; /* "garbage collection" */
    uint64_t pauses;
    double paused_ns, caused_ns;
} iw_waits_cause;

/** What pauses of one cause cost: how much shorter the steps would be without them, everywhere, on one rank
 * or on one node. The trace is run again without them (docs/explanation/waits.md). Costs of several causes do
 * not add up. */
typedef struct iw_waits_cost {
    char cause[IW_WAITS_NAME_SIZE];    /* "garbage collection"; "all pauses" */
    char where[IW_WAITS_NAME_SIZE];    /* "everywhere", "rank 3", "node nid01" */
    char culprits[IW_WAITS_NAME_SIZE]; /* everywhere: the ranks that cost most of it, "ranks 3, 17"; "" */
    uint32_t ranks;                    /* that have such pauses */
    uint64_t pauses;
    double paused_ns;     /* of all of them */
    iw_estimate saved_ns; /* of a step, the mean. Low and high: 95 %, over the steps: where the mean of many
                           * steps under the same conditions would be. NaN: a single step */
    iw_estimate share;    /* of the mean step */
} iw_waits_cost;

/** From this iteration on they take longer or shorter. */
typedef struct iw_waits_change {
    uint64_t iteration;         /* the first of the new ones, from 0 */
    double before_ns, after_ns; /* medians of the iterations up to the next change on either side */
    double chance;              /* of a series without a change */
} iw_waits_change;

/** A line of the map: one rank, or as many as share it; a share for each column of iterations. */
typedef struct iw_waits_row {
    uint32_t first_rank, rank_count; /* the number of the first */
    size_t column_count;
    double *waiting; /* share of the time that they waited */
    double *caused;  /* share of the others' time that they made wait */
} iw_waits_row;

typedef struct iw_waits {
    char *name;
    char origin[32]; /* "OTF2", "Kineto" */
    char *lacks;     /* what the trace does not tell, for people; "" */
    iw_caveats caveats;
    uint32_t rank_count;
    uint32_t run_ranks;             /* ranks of the run where not all were traced; 0: all were */
    uint64_t collectives, messages; /* that ranks met in */
    uint64_t unmatched;             /* visits that nobody else made, though others of the group were traced */
    uint64_t unordered;             /* waits that ended before the awaited one came, by the clocks */
    double run_ns;
    double computing_ns, waiting_ns, transfer_ns, other_ns; /* summed over ranks */
    double imbalance_ns, noise_ns, unsplit_ns; /* of the waiting: always the same, varying, too few to tell */
    double through_transfer_ns; /* of the waiting: while the awaited one was busy with a transfer itself */
    bool has_bounds_only;       /* one rank: waiting is not told from transfer, only bounded */
    double waiting_least_ns, waiting_most_ns;
    double clock_ns;      /* within which the ends of collectives agree; NaN: nothing to judge by */
    uint32_t block_count; /* parts of the run that were judged */
    double least_share;   /* of the run by which a rank must be busy longer than its peers to be named */
    uint32_t top;         /* ranks that texts and pages list */
    uint32_t named;       /* ranks that are not ordinary */
    uint64_t iterations;
    char iterated[IW_WAITS_NAME_SIZE]; /* what an iteration is: "steps", "from allreduce to allreduce of
                                          world" */
    double iteration_ns;               /* the median */
    size_t ranks_count, node_count, stage_count, group_count, op_count, cause_count, change_count, time_count,
        row_count;
    iw_waits_rank *ranks; /* those that are named first, then the most caused first */
    iw_waits_group *nodes, *stages, *groups, *ops;
    iw_waits_cause *causes;
    iw_waits_change *changes; /* in order */
    size_t cost_count;
    iw_waits_cost *costs; /* each cause everywhere, the dearest first, followed by its ranks and nodes */
    uint64_t steps;       /* that costs are means of */
    double step_ns;       /* the mean */
    double *times_ns;     /* of the iterations; means of several where there are very many */
    uint64_t iterations_per_column, iterations_per_time;
    iw_waits_row *map;
} iw_waits;

typedef struct iw_waits_opts {
    size_t size;        /* IW_WAITS_OPTS_INIT */
    double least_share; /* of the run */
    uint32_t top;       /* ranks that texts and pages list */
} iw_waits_opts;

#define IW_WAITS_OPTS_INIT              \
    {                                   \
        sizeof(iw_waits_opts), 0.01, 10 \
    }

/** Who made whom wait in a run. IW_ERR_UNSUPPORTED: it has no collective or message at all. */
IW_API IW_NODISCARD iw_status iw_waits_run(const iw_log *log, const char *name, const iw_visits *visits,
                                           const iw_waits_opts *opts, iw_waits **waits_p);
IW_API void iw_waits_free(iw_waits *waits);

IW_API iw_doc iw_waits_doc(const iw_waits *waits);

#ifdef __cplusplus
}
#endif
#endif
