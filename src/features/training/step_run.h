/* The state of a run over a plan; step_run.c, step_teams.c and step_jitter.c share it.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Arrays over ranks have element stage * width + i: i = tp + TP (cp + CP dp), the rank's number within its
 * stage, so that rank i of stage s is Megatron's rank i + width s (order tp-cp-ep-dp-pp). A unit is what
 * meets before the tail but for data parallelism: `unit` neighbours of each stage. A team is what has to be
 * evaluated together before the tail: a unit, or one of each kind of alike units where data parallelism
 * couples them. Teams are evaluated one after the other, each through the whole pipeline, so that what it
 * needs stays in the cache.
 */
#ifndef IWI_TRAINING_RUN_H
#define IWI_TRAINING_RUN_H

#include "core/noise/node_speed.h"
#include "core/noise/stream.h"
#include "features/training/step_plan.h"

struct iwi_train_jitter {
    struct {
        iw_noise *noise;
        iw_training_where where;
        iw_training_scope scope;
        bool is_skewed;
        int64_t factor; /* in billionths; 0: detours stop everything */
    } sources[IW_TRAINING_SOURCES_MAX];
    uint32_t count;
    iw_caveats caveats; /* of recordings among them */
    bool is_borrowed;   /* the noise of the sources */
    uint32_t node_gpus;
    uint64_t seed;
    iw_node_speeds *speeds; /* of GPUs, or NULL: all are alike */
    uint32_t replaced;      /* slow ones that a change replaces */
    uint32_t slow_count;    /* in the first trial */
    bool has_one_slow;      /* by a law: it stands in each stage in turn */
    double forward_sigma, backward_sigma;
    uint32_t ranks;
};

/* One source on its way through the detours of all ranks. The tail goes its own way, since what overlaps the
 * backward comes earlier than what was evaluated before it. */
struct iwi_walk {
    const iw_noise *noise;
    iw_time *next;
    int64_t *words;
    size_t words_each;
};

struct iwi_walks {
    uint32_t sources[IW_TRAINING_SOURCES_MAX]; /* those that are not left out and have detours */
    uint32_t count;
    uint32_t phased[IW_TRAINING_SOURCES_MAX]; /* those that act on phases */
    uint32_t phased_count;
};

/* Rows of a team's times: the host, each lane, then a bucket each. */
enum { IWI_ROW_HOST, IWI_ROW_LANES, IWI_ROW_BUCKETS = IWI_ROW_LANES + IWI_LANES };

/* Ranks of each stage that are evaluated together, as columns. */
struct iwi_train_team {
    uint32_t columns;
    uint32_t *ranks; /* the number of each within its stage */
    uint32_t rows;
    iw_time *times;    /* [stage][row][column]: buckets are of parameters before, of gradients afterwards */
    iw_time *ends;     /* [stage][operation][column] */
    iw_time *launched; /* scratch: when the last launch of an operation was done */
    bool is_hit;       /* some detour may have counted */
};

struct iwi_train_past; /* what units did that may come again */

/* Pauses of whole GPUs, once a step. */
enum { IWI_STOPS = IW_TRAINING_WHERES };

struct iwi_train_run {
    const struct iwi_train_plan *plan;
    const struct iwi_train_jitter *jitter; /* or NULL */
    uint32_t width, unit;
    struct iwi_train_team team;
    struct iwi_train_past *past; /* or NULL */
    uint32_t *alike; /* of each unit: the first rank of one like it; NULL unless units are coupled */
    iw_time begun;   /* no rank began the step before */
    uint64_t trial, step;
    struct iwi_train_change change;
    struct iwi_walk walks[IW_TRAINING_SOURCES_MAX], tail_walks[IW_TRAINING_SOURCES_MAX];
    struct iwi_walks at[IW_TRAINING_WHERES + 1];
    struct iwi_walk watch_walks[IW_TRAINING_SOURCES_MAX];
    iw_time *watched; /* [source][rank]: taken by what acts on phases; NULL: nobody asks */
    bool is_watched;
    uint64_t watch_budget[IW_TRAINING_SOURCES_MAX]; /* detours that may still be visited */
    iw_time *host, *lanes[IWI_LANES];
    iw_time *loaded, *taken;   /* the last batch; when the host took the last `prefetch` ones */
    iw_time *ready, *gathered; /* [stage][bucket][i] of gradients, of parameters */
    int64_t *factors;          /* of each GPU's work in this trial, or NULL */
    size_t turned;             /* GPU i is that of factor i + turned */
    int64_t *lengths[2];       /* F and B: [replica][micro-batch], in billionths */
    bool has_loader;
};

/* Adds what a source names, and appends what limits it. */
IW_NODISCARD iw_status iwi_train_noise_open(const iw_log *log, iw_noise *noise, const char *name,
                                            iw_caveats *caveats);

/* The random sequence that a rank meets of a source. */
struct iwi_stream_id iwi_train_stream(const struct iwi_train_run *run, uint32_t source, size_t index);

/* The first tensor-parallel rank of the first and of the last stage has a loader. */
static inline bool iwi_train_has_loader(const struct iwi_train_run *run, size_t index)
{
    const size_t stage = index / run->width;

    return (stage == 0 || stage + 1 == run->plan->pp) && (run->width == 1 || index % run->plan->tp == 0);
}

/* finish() of all sources of one kind that are in the run: each stretches what those before it leave. */
iw_time iwi_train_finish_slow(struct iwi_train_run *run, enum iw_training_where where, bool is_tail,
                              size_t index, iw_time t, iw_time d);

static inline iw_time iwi_train_finish(struct iwi_train_run *run, enum iw_training_where where, size_t index,
                                       iw_time t, iw_time d)
{
    return run->at[where].count == 0 ? t + d : iwi_train_finish_slow(run, where, false, index, t, d);
}

/* What per-phase sources add to phase number `phase` of `work` that begins at t. */
iw_time iwi_train_extra(struct iwi_train_run *run, int where, size_t index, uint64_t phase, iw_time t,
                        iw_time work);

/* The number of the first phase of a step, for what acts once in a usual step. */
uint64_t iwi_train_first_phase(const struct iwi_train_run *run, uint64_t step);

/* How long a GPU's work takes, in billionths. */
int64_t iwi_train_factor(const struct iwi_train_run *run, size_t index);
/* Work of a GPU, with its own speed; and with the length of the micro-batch, of that replica. */
iw_time iwi_train_speeded(const struct iwi_train_run *run, iw_time work, size_t index);
iw_time iwi_train_scaled(const struct iwi_train_run *run, const struct iwi_train_op *op, size_t index,
                         uint32_t replica);

/* Draws how fast the GPUs of this trial are. */
IW_NODISCARD iw_status iwi_train_draw_speeds(const iw_log *log, struct iwi_train_run *run);
/* Sets all walks up at time 0. */
void iwi_train_walks_begin(struct iwi_train_run *run);
/* Lengths of the micro-batches of the step. */
void iwi_train_draw_lengths(struct iwi_train_run *run);

/* No detour of these sources ends behind `from` and begins before `until`, on a rank that is at `from`. */
bool iwi_train_is_quiet(struct iwi_train_run *run, enum iw_training_where where, size_t index, iw_time from,
                        iw_time until);

/* ---- teams ---- */

IW_NODISCARD iw_status iwi_train_teams_new(const iw_log *log, struct iwi_train_run *run);
void iwi_train_teams_free(struct iwi_train_run *run);

/* Evaluates the operations of the plan over run->team. */
void iwi_train_evaluate(struct iwi_train_run *run);

/* All operations before the tail, of all ranks: those that are alike once. */
void iwi_train_teams_run(struct iwi_train_run *run);

#endif
