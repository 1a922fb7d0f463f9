/* idlewave/training.h - steps of synchronous training on GPUs: how long one takes, and what jitter costs.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Experimental: functions and structs here may change in any release.
 *
 *     iw_training spec;
 *     iw_training_opts opts = IW_TRAINING_OPTS_INIT;
 *     iw_training_result *training;
 *     iw_training_init(&spec);
 *     st = iw_training_set(log, &spec, "model", "llama3-8b");
 *     st = iw_training_set(log, &spec, "pp", "4");
 *     st = iw_training_run(log, &spec, &opts, &training);
 *     ...  iw_training_result_free(training);  iw_training_release(&spec);
 *
 * docs/explanation/training.md says what is simulated. Nothing of it was ever run on a GPU by us.
 */
#ifndef IW_TRAINING_H
#define IW_TRAINING_H

#include <stdbool.h>
#include <stdint.h>

#include <idlewave/caveat.h>
#include <idlewave/doc.h>
#include <idlewave/estimate.h>
#include <idlewave/program.h>
#include <idlewave/time.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ======== What runs ======== */

typedef enum iw_training_schedule {
    IW_TRAINING_1F1B, /* interleaved if a stage has several chunks */
    IW_TRAINING_GPIPE
} iw_training_schedule;

typedef enum iw_training_sharding {
    IW_TRAINING_ZERO1, /* gradients reduce-scattered, parameters gathered: Megatron's distributed optimizer */
    IW_TRAINING_PLAIN, /* gradients all-reduced */
    IW_TRAINING_FSDP   /* each layer gathered before use, its gradients reduce-scattered */
} iw_training_sharding;

typedef enum iw_training_recompute {
    IW_TRAINING_KEEP,
    IW_TRAINING_RECOMPUTE_ATTENTION,
    IW_TRAINING_RECOMPUTE_ALL
} iw_training_recompute;

typedef enum iw_training_detail {
    IW_TRAINING_BY_LAYER, /* ranks of a tensor-parallel group meet in each half of a layer */
    IW_TRAINING_BY_CHUNK  /* they meet once in each chunk: fewer operations */
} iw_training_detail;

/** What of a rank jitter takes time from. */
typedef enum iw_training_where {
    IW_TRAINING_HOST,    /* the thread that launches kernels */
    IW_TRAINING_DEVICE,  /* the GPU while it computes */
    IW_TRAINING_LOADER,  /* what makes the next batch */
    IW_TRAINING_NETWORK, /* collectives that leave a node */
    IW_TRAINING_WHERES
} iw_training_where;

/** Who shares one timeline of jitter. */
typedef enum iw_training_scope {
    IW_TRAINING_EACH_RANK,
    IW_TRAINING_EACH_NODE,
    IW_TRAINING_ALL_RANKS /* synchronised */
} iw_training_scope;

#define IW_TRAINING_SOURCES_MAX 8

typedef struct iw_training_source {
    char name[32];
    char spec[96]; /* as iw_noise_add(): per-phase specs act once a step, on devices on each F and B */
    iw_training_where where;
    iw_training_scope scope;
    iw_time skew_ps;   /* synchronised ranks are apart by up to this */
    double factor;     /* while it lasts everything takes so many times as long; 0: nothing goes on */
    bool is_of_loader; /* what makes batches brings it about: gone with loaders on cores of their own */
} iw_training_source;

#define IW_TRAINING_STAGES_MAX 1024
#define IW_TRAINING_CHUNKS_MAX 4096

/** Collectives of a workload file. */
typedef enum iw_training_call_kind {
    IW_TRAINING_NO_CALL,
    IW_TRAINING_ALL_REDUCE,
    IW_TRAINING_ALL_GATHER,
    IW_TRAINING_REDUCE_SCATTER,
    IW_TRAINING_ALL_TO_ALL
} iw_training_call_kind;

typedef enum iw_training_span {
    IW_TRAINING_OVER_TP,
    IW_TRAINING_OVER_EP,
    IW_TRAINING_OVER_DP,
    IW_TRAINING_OVER_DP_EP, /* those that have the same experts */
    IW_TRAINING_SPANS
} iw_training_span;

typedef struct iw_training_call {
    iw_training_call_kind kind;
    iw_training_span span;
    double bytes; /* of the whole buffer */
} iw_training_call;

enum { IW_TRAINING_F, IW_TRAINING_INPUT_GRADIENT, IW_TRAINING_WEIGHT_GRADIENT, IW_TRAINING_PASSES };

/** A part of a layer: how long each pass computes, and the collective that follows. */
typedef struct iw_training_row {
    iw_time work_ps[IW_TRAINING_PASSES];
    iw_training_call calls[IW_TRAINING_PASSES];
} iw_training_row;

/** All settings; change them by iw_training_set(), which docs/reference/formats/training.md lists. */
typedef struct iw_training {
    char name[64];
    /* the model */
    uint32_t layers, hidden, ffn, heads, kv_heads, vocab, sequence;
    uint32_t experts, top_k, expert_ffn; /* experts 0: dense */
    bool is_tied, has_logits;
    double parameters; /* of a GPU; 0: by the model */
    /* the layout */
    uint32_t tp, cp, ep, dp, pp, chunks, microbatches, microbatch_size, group;
    iw_training_schedule schedule;
    iw_training_sharding sharding;
    iw_training_recompute recompute;
    iw_training_detail detail;
    bool is_sequence_parallel, overlaps_gradients, overlaps_parameters;
    uint32_t *chunk_layers; /* of pp * chunks chunks, in the order of the model; NULL: even */
    uint32_t chunk_layers_count;
    /* times */
    double rate;                       /* FLOP/s of a GPU while it computes; 0: not known */
    double step_rate;                  /* FLOP/s of a GPU over the whole step; `rate` follows */
    iw_time *forward_ps, *backward_ps; /* measured, of a micro-batch on each stage, or on all; or NULL */
    uint32_t forward_count, backward_count;
    iw_time optimizer_ps;
    /* measured row by row, instead: `rows_each` for a micro-batch on a stage, those of each micro-batch
     * behind each other, used in turn; and once a step. By iw_training_load() only. */
    iw_training_row *rows, *once_rows;
    uint32_t row_count, rows_each, once_count;
    /* the host */
    iw_time launch_ps;
    uint32_t launches; /* of a layer's forward; its backward has twice as many */
    uint32_t queue;
    bool has_graphs; /* CUDA graphs: each F and B of a chunk is one launch */
    bool syncs_p2p;
    iw_time load_ps;
    uint32_t prefetch;
    /* the network */
    uint32_t node_gpus;
    bool is_net_free;
    double node_bandwidth, net_bandwidth; /* bytes per second of a GPU: NVLink's ring, its NIC */
    double message_bytes;                 /* between stages; 0: by the model */
    iw_time hop_ps;                       /* of a message between stages; negative: by its bytes */
    /* what disturbs */
    double forward_sigma, backward_sigma; /* of lognormal lengths of micro-batches */
    char slow[96];                        /* as iw_node_speeds_new(), for GPUs; "": all are alike */
    iw_training_source sources[IW_TRAINING_SOURCES_MAX];
    uint32_t source_count;
} iw_training;

/** What settings begin with. */
IW_API void iw_training_init(iw_training *spec);
IW_API void iw_training_release(iw_training *spec);

/** Sets one. IW_ERR_USAGE (unknown key: those that there are), IW_ERR_FORMAT, IW_ERR_RANGE. */
IW_API IW_NODISCARD iw_status iw_training_set(const iw_log *log, iw_training *spec, const char *key,
                                              const char *text);

/** The keys of iw_training_set(); NULL past the last. */
IW_API const char *iw_training_key(size_t index);

/** Adds a source: one of iw_training_ready(), or a SPEC; `where` and `scope` as their names have it, NULL: as
 * the ready source says, else host and rank. */
typedef struct iw_training_source_text {
    const char *source, *name, *where, *scope, *skew;
    const char *factor; /* "1.34" */
    const char *from;   /* "loader" */
} iw_training_source_text;
IW_API IW_NODISCARD iw_status iw_training_add_source(const iw_log *log, iw_training *spec,
                                                     const iw_training_source_text *text);

/** The same from one text: "SOURCE[@WHERE[@SCOPE]]". */
IW_API IW_NODISCARD iw_status iw_training_add_noise(const iw_log *log, iw_training *spec, const char *text);

/** Sources whose sizes somebody published; NULL past the last. */
typedef struct iw_training_ready_source {
    const char *name, *spec; /* `spec` NULL: it stands for settings */
    iw_training_where where;
    iw_training_scope scope;
    const char *origin;
    double factor;
    bool is_of_loader;
    const char *settings; /* "forward-sigma=0.22,backward-sigma=0.33" */
} iw_training_ready_source;
IW_API const iw_training_ready_source *iw_training_ready(size_t index);

IW_API const char *iw_training_where_name(unsigned where); /* "host"; NULL: there is none */
IW_API const char *iw_training_scope_name(unsigned scope); /* "rank", "node", "all" */

/** Whether a file is a training program: its name ends in .yaml or .yml, or it is a workload file of SimAI.
 */
IW_API bool iw_training_is_file(const char *path);

/** Reads a YAML file or a workload file of SimAI (docs/reference/formats/training.md) into settings that have
 * been initialised.
 * IW_ERR_IO, IW_ERR_FORMAT, IW_ERR_RANGE as 'file:line'. */
IW_API IW_NODISCARD iw_status iw_training_load(const iw_log *log, const char *path, iw_training *spec);

/* ======== Sizes ======== */

/** What a model and its layout amount to. */
typedef struct iw_training_sizes {
    uint64_t gpus, parameters, tokens; /* tokens of a step */
    double layer_flop, token_flop;     /* forward, of a token: of a layer; of all, with logits */
    double step_flop;                  /* of all GPUs */
    uint64_t tp_bytes, pp_bytes;       /* buffer of a tensor-parallel collective; a message between stages */
    double gpu_parameters;             /* that a GPU computes with, sharded or not; the mean */
    double gpu_bytes; /* of weights, gradients and optimizer states, on a GPU of the stage with most;
                         activations come on top. 0: no model */
    double gradient_bytes, parameter_bytes;       /* reduce-scattered, gathered; the mean of a GPU */
    iw_time tp_ps, pp_ps, gradient_ps, gather_ps; /* of one collective, message; of the means */
} iw_training_sizes;

/** Without simulating anything. IW_ERR_RANGE: settings that do not fit together. */
IW_API IW_NODISCARD iw_status iw_training_measure(const iw_log *log, const iw_training *spec,
                                                  iw_training_sizes *sizes_p);

/* ======== Running it ======== */

typedef struct iw_training_opts {
    size_t size; /* IW_TRAINING_OPTS_INIT */
    uint64_t steps, trials, seed;
    uint32_t threads;     /* 0: one for each CPU */
    double cost_per_hour; /* of a GPU; 0: not said */
    bool wants_bill;      /* each source left out, and synchronised; what is absorbed of it */
    iw_progress progress;
    bool wants_variants; /* with the bill: other loaders, workers, micro-batches, launches */
    uint32_t replaced; /* GPUs that are exchanged, the slowest; 0: all that are slower than they should be */
    const char *const *tries; /* "KEY=VALUE[,KEY=VALUE...]": more variants; as many GPUs */
    uint32_t try_count;
} iw_training_opts;

#define IW_TRAINING_TRIES_MAX 8

#define IW_TRAINING_OPTS_INIT                                                             \
    {                                                                                     \
        sizeof(iw_training_opts), 20, 10, 1, 0, 0.0, true, {NULL, NULL}, true, 0, NULL, 0 \
    }

/** One change of the bill, as part of the step as it is: positive numbers are saved. Where a changed program
 * has another batch, its times are those of as many sequences as a step has. */
typedef struct iw_training_change {
    char what[64];        /* "without python-gc" */
    char source[32];      /* "": of the program */
    iw_estimate saved_ns; /* of a step */
    double share;         /* saved_ns of the step without jitter */
    double gpu_hours;     /* in an hour of all GPUs */
    double cost_per_day;  /* NaN: no price was said */
    double noiseless_ns;  /* a step of what is changed, without jitter */
    double bubble;        /* of it */
    double loss;          /* with the jitter that is left, over noiseless_ns, - 1 */
    double batch;         /* sequences of a step, over those of the program */
} iw_training_change;

/** How much of what a source takes reaches the step. ahead + slack + reaches is the longest that it takes. */
typedef struct iw_training_absorption {
    char source[32];
    double taken_ns;        /* from a rank in a step, the mean */
    iw_estimate longest_ns; /* from the rank of a step that loses most */
    iw_estimate ahead_ns;   /* of that: absorbed since launches or batches were ahead */
    iw_estimate slack_ns;   /* of that: absorbed by GPUs that waited anyway; negative: ranks add up */
    iw_estimate reaches_ns; /* the step */
    double share;           /* that reaches */
} iw_training_absorption;

/** What one kind of operation does in a step, on a GPU of the stage that has most of it. */
typedef struct iw_training_volume {
    char what[32];
    uint64_t bytes; /* of the whole buffer */
    uint64_t count, group, stride;
    iw_time each_ps;
} iw_training_volume;

#define IW_TRAINING_CHANGES_MAX (2 * IW_TRAINING_SOURCES_MAX + 8 + IW_TRAINING_TRIES_MAX)
#define IW_TRAINING_VOLUMES_MAX 24

typedef struct iw_training_result {
    const char *command; /* set by the caller, or NULL */
    char name[64];
    uint32_t tp, cp, ep, dp, pp, chunks, microbatches;
    iw_training_sizes sizes;
    bool has_model;
    bool has_jitter;
    uint64_t steps, trials, seed;
    uint64_t operations;  /* simulated in a step, of all ranks */
    iw_time noiseless_ps; /* a step */
    iw_time compute_ps;   /* of which a GPU computes, the mean */
    uint32_t rows;        /* of a workload file; 0: there was none */
    double even_bubble;   /* (p - 1) / (v m): waiting over work where stages are even and messages free */
    double bubble;        /* share of the noiseless step in which a GPU waits for others, the mean */
    double rate;          /* FLOP/s of a GPU over the noiseless step; NaN: no model */
    iw_estimate step_ns;  /* the mean */
    double p10_ns, median_ns, p90_ns, worst_ns; /* of all steps */
    double loss;                                /* mean over noiseless - 1 */
    double scatter;                             /* mean over 10th percentile - 1 */
    double gpu_hours;                           /* lost in an hour */
    double cost_per_hour, cost_per_day;
    iw_training_change changes[IW_TRAINING_CHANGES_MAX];
    uint32_t change_count;
    iw_training_absorption absorption[IW_TRAINING_SOURCES_MAX];
    uint32_t absorption_count;
    iw_training_volume volumes[IW_TRAINING_VOLUMES_MAX];
    uint32_t volume_count;
    uint64_t *step_time_ns; /* of the first trial */
    uint64_t step_time_count;
    double *trial_ns; /* a step of each trial, the mean; NULL: there is no jitter */
    iw_training_source sources[IW_TRAINING_SOURCES_MAX];
    uint32_t source_count;
    char slow[96];      /* which GPUs are slow: the law that places them anew in each trial; "": none */
    iw_caveats caveats; /* of recordings */
} iw_training_result;

/** IW_ERR_RANGE: settings that do not fit together; IW_ERR_NOMEM. */
IW_API IW_NODISCARD iw_status iw_training_run(const iw_log *log, const iw_training *spec,
                                              const iw_training_opts *opts, iw_training_result **result_p);
/** So many steps as a graph of messages: CPU 0 of a rank is its host, 1 its computation, 2 and 3 gather and
 * reduce, others carry messages. All times are calcs; messages are signals for a network without costs, on
 * which every engine gives the same times as iw_training_run(). Without jitter but slow GPUs, which are those
 * of the first trial. IW_ERR_RANGE:
 * too large; IW_ERR_UNSUPPORTED: loaders and random lengths. */
IW_API IW_NODISCARD iw_status iw_training_program(const iw_log *log, const iw_training *spec, uint32_t steps,
                                                  uint64_t seed, iw_program **program_p);
IW_API void iw_training_result_free(iw_training_result *result);
IW_API iw_doc iw_training_doc(const iw_training_result *result);

#ifdef __cplusplus
}
#endif
#endif
