/* Runs of training whose truth is known, as files of PyTorch's profiler.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Ranks t + tp (d + dp s) train in steps: stage s of a pipeline (GPipe's order), tensor-parallel all-reduces,
 * data-parallel buckets beside the last backward pass, a norm over all ranks that the host reads. A rank is
 * a host that launches and four streams, each in order (training.md, section 4):
 *
 *     H = max(H, end of the launch QUEUE before) + launch + pause,  start = max(H, stream, what it waits for)
 *
 * A collective's kernel runs on a rank from its start until transfer after the last start of its group: so
 * waiting is real. Draws are pure functions of what they are for: a run without one of its pauses differs in
 * that alone, and the difference of the two ends is what the pause cost.
 */
#ifndef IWT_MADE_KINETO_H
#define IWT_MADE_KINETO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum iwt_kineto_style {
    IWT_KINETO_NEW, /* arguments and "Seq" on kernels, ncclDevKernel_..., baseTimeNanoseconds */
    IWT_KINETO_MID, /* without "Seq" */
    IWT_KINETO_OLD, /* arguments only on record_param_comms, ncclKernel_..., times since 1970 */
    IWT_KINETO_BARE /* names of kernels, and nothing else */
};

enum iwt_kineto_cause {
    IWT_KINETO_GC,
    IWT_KINETO_LOADER,
    IWT_KINETO_LAUNCH, /* the host stands still, and nothing says why */
    IWT_KINETO_SLOW,   /* a kernel takes longer */
    IWT_KINETO_MALLOC  /* cudaMalloc */
};

/* In the forward pass of a step, at its half; the loader at its beginning. */
struct iwt_kineto_pause {
    uint32_t rank, step;
    enum iwt_kineto_cause cause;
    int64_t length_ns;
};

struct iwt_kineto {
    uint64_t seed;
    uint32_t tp, dp, pp, steps, layers, microbatches; /* layers: of a stage */
    enum iwt_kineto_style style;
    int64_t kernel_ns, launch_ns; /* means; a layer has two kernels forward and two back */
    double jitter;                /* of kernels and launches: uniform within +- this share */
    double clock_us, drift_ppm;   /* clocks of ranks: uniform within +- these */
    const struct iwt_kineto_pause *pauses;
    size_t pause_count;
    unsigned padding;      /* other events for each kernel, as profiles with stacks have them */
    bool is_batched;       /* messages by batch_isend_irecv: what a stage sends and then receives of one kind
                            * of pass is one kernel */
    bool is_without_steps; /* no ProfilerStep */
    bool is_without_info;  /* no distributedInfo */
    bool is_without_launches; /* no events of the CUDA runtime */
    bool is_info_last;        /* distributedInfo behind traceEvents, as on-demand traces have it */
};

struct iwt_kineto_run {
    struct iwt_kineto made;
    uint32_t ranks;
    struct iwt_kineto_rank *of; /* private */
    int64_t *clock_ns;          /* truth: a rank's clock shows true + clock_ns + drift x true */
    double *drift;
    int64_t *step_end_ns; /* truth: when the last rank ended a step, from the beginning of the run */
};

/* Eight ranks (2 x 2 x 2), 4 steps, kernels of 200 us, no pauses, right clocks, new style. */
struct iwt_kineto iwt_kineto_default(void);

void iwt_kineto_run(const struct iwt_kineto *made, struct iwt_kineto_run *run);
void iwt_kineto_release(struct iwt_kineto_run *run);

/* The file of one rank. */
void iwt_kineto_print(const struct iwt_kineto_run *run, uint32_t rank, FILE *out);

/* The same in memory, to be freed. */
char *iwt_kineto_text(const struct iwt_kineto_run *run, uint32_t rank, size_t *size_p);

/* What is true of a run, as JSON: clocks, pauses, what each cost, steps. */
void iwt_kineto_print_truth(const struct iwt_kineto_run *run, FILE *out);

#endif
