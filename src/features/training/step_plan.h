/* What the files of this folder share: the operations of a training step, and what evaluates them.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * All ranks of a pipeline stage do the same, so there is one list of operations for each stage. An operation
 * runs on one lane (a CUDA stream) of a rank, in the order of the list: it starts when its lane is free, when
 * what it comes after has ended, when its input has arrived from another stage and when the host has launched
 * it; it computes, and then, if it has a group, waits for the same operation of all ranks of the group and
 * spends the time of the collective. Everything is a maximum or a sum of other times, so that any order of
 * evaluation that respects the dependences gives the same result.
 *
 * What follows the last backward (gradients, norm, optimizer, parameters) couples all ranks: the tail.
 */
#ifndef IWI_TRAINING_PLAN_H
#define IWI_TRAINING_PLAN_H

#include <idlewave/training.h>

#include "features/training/training.h"

enum iwi_lane { IWI_LANE_COMPUTE, IWI_LANE_GATHER, IWI_LANE_REDUCE, IWI_LANES };

enum iwi_train_group {
    IWI_ALONE,
    IWI_WITH_TP,
    IWI_WITH_CP,
    IWI_WITH_EP,
    IWI_WITH_DP,
    IWI_WITH_EXPERT_DP /* ranks of all replicas that have the same experts */
};

struct iwi_train_op {
    uint8_t lane, group; /* enum iwi_lane, iwi_train_group */
    bool is_phase;       /* the beginning of a micro-batch's F or B */
    bool is_backward;
    bool host_waits;  /* the host launches it only when its lane is free and its input is there */
    bool leaves_node; /* its collective */
    uint32_t microbatch;
    uint32_t launches;      /* 0: part of the launch before */
    iw_time work_ps;        /* on the device */
    iw_time collective_ps;  /* then, together */
    uint32_t after;         /* operation of the same rank, + 1; 0: none */
    uint32_t input_stage;   /* of `input` */
    uint32_t input;         /* operation of that stage, + 1; 0: none */
    iw_time hop_ps;         /* from the end of `input` on */
    uint32_t queued_behind; /* + 1: its launch needs the end of that operation; 0: there is room */
    uint32_t bucket;        /* + 1: of parameters that have to be gathered first; 0: none */
};

/* Gradients that are reduced together, in the order in which they are ready. */
struct iwi_bucket {
    uint32_t ready; /* the operation after which they are */
    uint32_t chunk;
    iw_time reduce_ps, gather_ps;
};

struct iwi_train_stage {
    struct iwi_train_op *ops;
    uint32_t count;
    size_t room;
    struct iwi_bucket *buckets;
    uint32_t bucket_count;
    size_t bucket_room;
};

/* What is evaluated when. */
struct iwi_train_turn {
    uint32_t stage, op;
};

struct iwi_train_plan {
    uint32_t tp, cp, ep, dp, pp;
    uint32_t microbatches;
    struct iwi_train_stage *stages; /* pp */
    struct iwi_train_turn *turns;   /* of all stages, inputs first */
    uint64_t turn_count;
    uint32_t most_ops, most_buckets;
    bool couples_dp; /* operations before the tail have groups over data parallelism */
    bool overlaps_parameters;
    bool has_launches; /* the host takes part */
    iw_time launch_ps;
    iw_time embedding_ps; /* first and last stage */
    bool is_tied;
    iw_time norm_ps, optimizer_ps;
    iw_time load_ps;
    uint32_t prefetch;
    uint64_t batch, usual_batch; /* sequences of a step, and of one that pauses are said for */
    bool tail_leaves_node;
    iw_training_volume volumes[IW_TRAINING_VOLUMES_MAX];
    uint32_t volume_count;
};

/* Members of a group, and how far apart they are. */
struct iwi_train_members {
    uint32_t size, stride;
};
struct iwi_train_members iwi_train_members(const struct iwi_train_plan *plan, unsigned group);

/* ---- sizes and times ---- */

static inline bool iwi_training_has_model(const iw_training *spec)
{
    return spec->hidden > 0;
}

/* Without a model: stage by stage, or row by row. */
static inline bool iwi_training_is_measured(const iw_training *spec)
{
    return spec->forward_ps != NULL || spec->rows != NULL;
}

double iwi_layer_parameters(const iw_training *spec);        /* all of them */
double iwi_layer_shared_parameters(const iw_training *spec); /* without experts */
double iwi_layer_flop(const iw_training *spec);              /* forward, of a token */
double iwi_attention_flop(const iw_training *spec);          /* of that, what recomputing attention repeats */
uint64_t iwi_activation_bytes(const iw_training *spec);      /* A = s b h e / CP */
uint64_t iwi_message_bytes(const iw_training *spec);         /* between stages */
uint32_t iwi_chunk_layers(const iw_training *spec, uint32_t part); /* part = chunk * pp + stage */
iw_time iwi_hop_ps(const iw_training *spec);

enum iwi_nccl_op { IWI_NCCL_ALL_REDUCE, IWI_NCCL_GATHER, IWI_NCCL_REDUCE_SCATTER, IWI_NCCL_ALL_TO_ALL };

/* A collective over `members` ranks, `stride` apart; `bytes` of the whole buffer, of an all-to-all what a
 * rank sends. */
struct iwi_nccl_call {
    enum iwi_nccl_op op;
    double bytes;
    uint32_t members, stride;
};
iw_time iwi_nccl_ps(const iw_training *spec, const struct iwi_nccl_call *call);
bool iwi_group_leaves_node(const iw_training *spec, uint32_t members, uint32_t stride);

/* A real number of seconds, rounded to the picosecond. */
iw_time iwi_seconds_ps(double seconds);

/* ---- plans ---- */

/* One F or B of a chunk. */
struct iwi_slot {
    bool is_backward;
    uint32_t microbatch, chunk;
};

/* Fills 2 * microbatches * chunks slots of a stage. */
void iwi_stage_order(const iw_training *spec, uint32_t stage, struct iwi_slot *slots);

struct iwi_plan_builder {
    const iw_log *log;
    const iw_training *spec;
    struct iwi_train_plan *plan;
    uint32_t stage;
    uint32_t *first, *last; /* operations of each slot: [stage][is_backward][microbatch][chunk] */
    uint32_t last_gather[2];
};

static inline size_t iwi_slot_index(const iw_training *spec, uint32_t stage, const struct iwi_slot *slot)
{
    return (((size_t)stage * 2 + slot->is_backward) * spec->microbatches + slot->microbatch) * spec->chunks +
           slot->chunk;
}

/* Appends an operation to the stage that is being built. */
/* Appends those of a slot. */
IW_NODISCARD iw_status iwi_add_slot(struct iwi_plan_builder *b, const struct iwi_slot *slot);
/* The same of a program that was measured row by row; and what its stages do once, behind all slots. */
IW_NODISCARD iw_status iwi_add_row_slot(struct iwi_plan_builder *b, const struct iwi_slot *slot);
IW_NODISCARD iw_status iwi_add_once(struct iwi_plan_builder *b);
/* What rows that are there once do over data parallelism. */
void iwi_once_over_dp(struct iwi_plan_builder *b, struct iwi_bucket *bucket);
/* Whether operations before the tail have groups over data parallelism. */
bool iwi_rows_couple_dp(const iw_training *spec);
/* The buckets of a stage that has all its operations. */
/* Parameters of a layer's experts on one rank; 0 where 'parameters' says how many there are in all. */
double iwi_expert_parameters(const iw_training *spec);
/* Parameters of a chunk on one rank. */
double iwi_chunk_parameters(const iw_training *spec, uint32_t part);

/* Experts of a layer on one replica's share of them, before tensor parallelism. */
double iwi_own_experts(const iw_training *spec);
/* Parameters that make a bucket of gradients. */
/* Weights, gradients and optimizer states of a GPU of the stage with most of them. */
double iwi_state_bytes(const iw_training *spec);
double iwi_bucket_parameters(const iw_training *spec);

/* Counts a kind of operation of the last stage; bytes 0: not counted. */
void iwi_count_volume(struct iwi_train_plan *plan, const char *what, uint64_t count,
                      const struct iwi_nccl_call *call, iw_time each_ps);

IW_NODISCARD iw_status iwi_train_plan_new(const iw_log *log, const iw_training *spec,
                                          struct iwi_train_plan **plan_p);
void iwi_train_plan_free(struct iwi_train_plan *plan);

/* ---- runs ---- */

struct iwi_train_jitter; /* sources with their noise, made once for all trials */

IW_NODISCARD iw_status iwi_train_jitter_new(const iw_log *log, const iw_training *spec,
                                            const iw_training_opts *opts, struct iwi_train_jitter **jitter_p);
/* That of a variant of the program: borrows the sources of the other one. */
IW_NODISCARD iw_status iwi_train_jitter_like(const iw_log *log, const iw_training *spec,
                                             const iw_training_opts *opts,
                                             const struct iwi_train_jitter *other,
                                             struct iwi_train_jitter **jitter_p);
void iwi_train_jitter_free(struct iwi_train_jitter *jitter);

struct iwi_train_run;

/* `jitter` NULL: none, and then one rank stands for all of its stage. A run may be begun again and again. */
IW_NODISCARD iw_status iwi_train_run_new(const iw_log *log, const iw_training *spec,
                                         const struct iwi_train_plan *plan,
                                         const struct iwi_train_jitter *jitter, struct iwi_train_run **run_p);
void iwi_train_run_free(struct iwi_train_run *run);

/* Changes of the jitter: bit i leaves source i out, synchronises it, or lets it stop the GPU itself instead
 * of host or loader. */
struct iwi_train_change {
    uint32_t without, together, moved;
    bool replaces_slow;     /* slow GPUs, as many as the jitter was made with */
    bool has_equal_lengths; /* of micro-batches */
};

IW_NODISCARD iw_status iwi_train_begin(const iw_log *log, struct iwi_train_run *run, uint64_t trial,
                                       struct iwi_train_change change);

/* Evaluates the next step; returns when the last rank has ended it. */
iw_time iwi_train_step(struct iwi_train_run *run);

/* Ranks of a stage that are evaluated. */
uint32_t iwi_train_width(const struct iwi_train_run *run);

/* ---- what sources take ---- */

/* Sums over steps, by source. */
struct iwi_train_taken {
    double mean_ns[IW_TRAINING_SOURCES_MAX];    /* of all ranks */
    double longest_ns[IW_TRAINING_SOURCES_MAX]; /* of the one that loses most */
    uint64_t steps[IW_TRAINING_SOURCES_MAX];
};

/* Prepares a run for the next two. */
IW_NODISCARD iw_status iwi_train_watch(const iw_log *log, struct iwi_train_run *run);
/* From now on, or no longer. */
void iwi_train_watch_begin(struct iwi_train_run *run, bool is_watched);
/* Adds what a step took that lasted from `start` to `end`, once it has been evaluated. Sources of very many
 * detours are counted over the first steps only. */
void iwi_train_watch_step(struct iwi_train_run *run, iw_time start, iw_time end,
                          struct iwi_train_taken *taken);

/* Checks settings, and finds the rate where only that of the whole step is said. `spec` is the caller's copy.
 */
IW_NODISCARD iw_status iwi_training_settle(const iw_log *log, iw_training *spec);

#endif
