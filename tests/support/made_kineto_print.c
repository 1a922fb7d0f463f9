/* Writes a made run of training as PyTorch's profiler writes it.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <inttypes.h>
#include <stdlib.h>

#include "support/made_kineto_parts.h"

enum { PID = 4242, CORRELATIONS = 4 }; /* numbers for each event */

#define BASE_NS INT64_C(1760000000000000000) /* October 2025, in ns since 1970 */
#define STREAM_OF(stream) ((stream) == IWT_COMPUTE ? 7U : 16U + 4U * (unsigned)(stream))

struct printer {
    const struct iwt_kineto_run *run;
    uint32_t rank;
    FILE *out;
    bool has_events;
    uint32_t *members;
};

static const char *const kernel_names[] = {
    "void cutlass::Kernel2<cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_16x16_128x2_tn_align8>(Params)",
    "void at::native::vectorized_elementwise_kernel<4, at::native::GeluFunctor<c10::BFloat16> >(int)",
    "sm90_xmma_gemm_bf16bf16_bf16f32_f32_nt_n_tilesize128x128x64_warpgroupsize1x1x1_execute_segment_k_off",
    "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float> >(at::native::ReduceOp<float>)",
    "void at::native::norm_kernel(float*, float const*, int)",
    "void at::native::multi_tensor_apply_kernel<FusedAdamMathFunctor<float, 4> >(TensorListMetadata<4>)",
};

static const char *const group_names[IWT_GROUPS] = {"0", "1", "2", "3"};
static const char *const group_words[IWT_GROUPS] = {"default_pg", "tensor", "data", "pipe"};

/* Microseconds on the rank's clock, as Kineto writes them. */
static void print_time(const struct printer *p, const char *key, int64_t ns)
{
    const bool is_since_1970 = p->run->made.style >= IWT_KINETO_OLD;
    int64_t shown = ns + p->run->clock_ns[p->rank] + (int64_t)(p->run->drift[p->rank] * (double)ns);

    shown += is_since_1970 ? BASE_NS : INT64_C(86400000000000); /* a day after the base */
    (void)fprintf(p->out, "\"%s\": %" PRId64 ".%03d", key, shown / 1000, (int)(shown % 1000));
}

static int64_t shown_length(const struct printer *p, int64_t begin_ns, int64_t end_ns)
{
    const double drift = p->run->drift[p->rank];

    return end_ns + (int64_t)(drift * (double)end_ns) - begin_ns - (int64_t)(drift * (double)begin_ns);
}

/* Up to and with "args": {; what follows is the caller's, and end_event(). */
static void begin_event(struct printer *p, const char *cat, const char *name, int64_t tid, int64_t begin_ns,
                        int64_t end_ns)
{
    const int64_t length = shown_length(p, begin_ns, end_ns);

    (void)fprintf(
        p->out,
        "%s\n  {\n    \"ph\": \"X\", \"cat\": \"%s\", \"name\": \"%s\", \"pid\": %d, \"tid\": %" PRId64
        ",\n    ",
        p->has_events ? "," : "", cat, name, PID, tid);
    print_time(p, "ts", begin_ns);
    (void)fprintf(p->out, ", \"dur\": %" PRId64 ".%03d,\n    \"args\": {\n      ", length / 1000,
                  (int)(length % 1000));
    p->has_events = true;
}

static void end_event(struct printer *p)
{
    (void)fputs("\n    }\n  }", p->out);
}

/* "[0, 1, ...]", of long groups the first 29 and the last, as PyTorch does. */
static void print_ranks(const struct printer *p, uint32_t count, bool is_cut)
{
    (void)fputc('[', p->out);
    for (uint32_t i = 0; i < count; i++) {
        if (is_cut && count > 30 && i == 29) {
            (void)fputs(", ...", p->out);
            i = count - 1;
        }
        (void)fprintf(p->out, "%s%" PRIu32, i > 0 ? ", " : "", p->members[i]);
    }
    (void)fputc(']', p->out);
}

static const char *collective_name(const struct iwt_kineto_event *event)
{
    return event->kind == IWT_ALLREDUCE ? "allreduce" : event->kind == IWT_SEND ? "send" : "recv";
}

static void print_collective(const struct printer *p, const struct iwt_kineto_event *event)
{
    const uint32_t size = iwt_kineto_members(&p->run->made, event->group, p->rank, p->members);

    (void)fprintf(p->out,
                  ", \"Collective name\": \"%s\", \"In msg nelems\": %" PRIu64
                  ", \"Out msg nelems\": %" PRIu64 ", \"Group size\": %" PRIu32
                  ", \"dtype\": \"Float\", \"In split size\": \"[]\""
                  ", \"Out split size\": \"[]\", \"Process Group Name\": \"%s\""
                  ", \"Process Group Description\": \"%s\", \"Process Group Ranks\": \"",
                  collective_name(event), event->elements, event->elements, size, group_names[event->group],
                  group_words[event->group]);
    print_ranks(p, size, true);
    (void)fputc('"', p->out);
    if (event->kind != IWT_ALLREDUCE) {
        (void)fprintf(p->out, ", \"%s Rank\": %" PRIu32, event->kind == IWT_SEND ? "Dst" : "Src",
                      event->peer);
    }
    if (p->run->made.style == IWT_KINETO_NEW) {
        (void)fprintf(p->out, ", \"Seq\": %" PRIu64, event->sequence + 100);
    }
}

static const char *name_of(const struct printer *p, const struct iwt_kineto_event *event)
{
    const bool is_old = p->run->made.style >= IWT_KINETO_OLD;

    switch (event->kind) {
    case IWT_KERNEL: return kernel_names[event->name];
    case IWT_ALLREDUCE:
        return is_old ? "ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*, unsigned long, ncclWork*)"
                      : "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)";
    default:
        return is_old ? "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclDevComm*, unsigned long, ncclWork*)"
                      : "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)";
    }
}

/* What profiles with shapes and stacks are mostly made of. */
static void print_padding(struct printer *p, const struct iwt_kineto_event *event, uint64_t number)
{
    for (unsigned i = 0; i < p->run->made.padding; i++) {
        begin_event(p, i % 2 == 0 ? "cpu_op" : "python_function",
                    i % 2 == 0 ? "aten::linear" : "torch/nn/modules/linear.py(120): forward", PID,
                    event->launch_ns, event->launch_end_ns);
        if (i % 2 == 0) {
            (void)fprintf(
                p->out,
                "\"External id\": %" PRIu64 ",\"Record function id\": 0, \"Concrete Inputs\": [\"\", \"\", "
                "\"\"], \"Input type\": [\"c10::BFloat16\", \"c10::BFloat16\", \"c10::BFloat16\"], "
                "\"Input Strides\": [[8192, 1], [8192, 1], [1]], \"Input Dims\": [[4096, 8192], [8192, "
                "8192], [8192]], \"Ev Idx\": %u",
                number, i);
        } else {
            (void)fprintf(p->out, "\"Python parent id\": %" PRIu64 ", \"Python id\": %u, \"Ev Idx\": %u",
                          number, i, i);
        }
        end_event(p);
    }
}

static void print_record(struct printer *p, const struct iwt_kineto_event *event, uint64_t id,
                         int64_t begin_ns, int64_t end_ns)
{
    begin_event(p, "cpu_op", "record_param_comms", PID, begin_ns, end_ns);
    (void)fprintf(p->out, "\"External id\": %" PRIu64, id);
    print_collective(p, event);
    end_event(p);
}

/* Messages of a batch are recorded one after the other; the kernel is launched behind them and has no id. */
static void print_batch(struct printer *p, const struct iwt_kineto_event *event, uint64_t id)
{
    const int64_t quarter_ns = (event->launch_end_ns - event->launch_ns) / 4;
    struct iwt_kineto_event half = *event;

    print_record(p, &half, id + 2, event->launch_ns, event->launch_ns + quarter_ns);
    if (event->is_pair) {
        half.kind = IWT_RECV;
        half.peer = event->source;
        print_record(p, &half, id + 3, event->launch_ns + quarter_ns, event->launch_ns + 2 * quarter_ns);
    }
}

static void print_kernel(struct printer *p, const struct iwt_kineto_event *event, uint64_t number)
{
    const enum iwt_kineto_style style = p->run->made.style;
    const uint64_t id = 100 + number * CORRELATIONS;
    const bool is_collective = event->kind != IWT_KERNEL;
    const bool is_batch = p->run->made.is_batched && (event->kind == IWT_SEND || event->kind == IWT_RECV);
    const int64_t launch_ns =
        is_batch ? event->launch_ns + (event->launch_end_ns - event->launch_ns) / 2 : event->launch_ns;

    print_padding(p, event, number);
    if (is_collective && style != IWT_KINETO_BARE) {
        if (is_batch) {
            print_batch(p, event, id);
        } else {
            print_record(p, event, id, event->launch_ns, event->launch_end_ns);
        }
    }
    if (!p->run->made.is_without_launches) {
        begin_event(p, "cuda_runtime", is_collective ? "cudaLaunchKernelExC" : "cudaLaunchKernel", PID,
                    launch_ns, event->launch_end_ns);
        if (!is_batch) {
            (void)fprintf(p->out, "\"External id\": %" PRIu64 ", ", id);
        }
        (void)fprintf(p->out, "\"cbid\": 211, \"correlation\": %" PRIu64, id + 1);
        end_event(p);
    }
    begin_event(p, "kernel", name_of(p, event), STREAM_OF(event->stream), event->begin_ns, event->end_ns);
    if (style != IWT_KINETO_OLD && !is_batch) { /* there only launches have it */
        (void)fprintf(p->out, "\"External id\": %" PRIu64 ", ", id);
    }
    (void)fprintf(
        p->out,
        "\"queued\": 0, \"device\": %" PRIu32 ", \"context\": 1,\n      \"stream\": %u, \"correlation\": "
        "%" PRIu64 ",\n      \"registers per thread\": 96, \"shared memory\": 8448, \"blocks per SM\": "
        "1.5, \"warps per SM\": 12, \"grid\": [16, 1, 1], \"block\": [512, 1, 1], \"est. achieved "
        "occupancy %%\": 40",
        p->rank % 8, STREAM_OF(event->stream), id + 1);
    if (is_collective && style <= IWT_KINETO_MID && !is_batch) {
        print_collective(p, event);
    }
    end_event(p);
}

static void print_host(struct printer *p, const char *cat, const char *name,
                       const struct iwt_kineto_event *event, uint64_t number)
{
    begin_event(p, cat, name, PID, event->begin_ns, event->end_ns);
    (void)fprintf(p->out, "\"External id\": %" PRIu64, 100 + number * CORRELATIONS);
    end_event(p);
}

static void print_event(struct printer *p, const struct iwt_kineto_event *event, uint64_t number)
{
    char step[32];

    switch (event->kind) {
    case IWT_LOAD:
        print_host(p, "user_annotation", "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__",
                   event, number);
        break;
    case IWT_SYNC: print_host(p, "cuda_runtime", "cudaStreamSynchronize", event, number); break;
    case IWT_COLLECT:
        print_host(p, "python_function",
                   p->run->made.style == IWT_KINETO_NEW ? "Python GC" : "<built-in function collect>", event,
                   number);
        break;
    case IWT_ALLOCATE: print_host(p, "cuda_runtime", "cudaMalloc", event, number); break;
    case IWT_STEP:
        if (!p->run->made.is_without_steps) {
            (void)snprintf(step, sizeof step, "ProfilerStep#%" PRIu32, event->step + 10);
            print_host(p, "user_annotation", step, event, number);
        }
        break;
    default: print_kernel(p, event, number); break;
    }
}

static void print_info(const struct printer *p)
{
    const uint32_t ranks = p->run->ranks;
    const bool is_one = p->run->made.style == IWT_KINETO_BARE;
    unsigned printed = 0;

    if (p->run->made.is_without_info) {
        return;
    }
    (void)fprintf(p->out,
                  "  \"distributedInfo\": {\"backend\": \"nccl\", \"rank\": %" PRIu32
                  ", \"world_size\": %" PRIu32 ", \"pg_count\": 4, \"pg_config\": [",
                  p->rank, ranks);
    for (unsigned g = 0; g < (is_one ? 1 : IWT_GROUPS); g++) {
        const uint32_t size =
            iwt_kineto_members(&p->run->made, (enum iwt_kineto_group)g, p->rank, p->members);

        (void)fprintf(
            p->out,
            "%s{\"pg_name\": \"%s\", \"pg_desc\": \"%s\", \"backend_config\": \"cuda:nccl\", \"pg_size\": "
            "%" PRIu32 ", \"ranks\": ",
            printed++ > 0 ? ", " : "", group_names[g], group_words[g], size);
        print_ranks(p, size, false);
        (void)fputc('}', p->out);
    }
    (void)fputs("], \"nccl_version\": \"2.21.5\"},\n", p->out);
}

void iwt_kineto_print(const struct iwt_kineto_run *run, uint32_t rank, FILE *out)
{
    struct printer p = {
        .run = run, .rank = rank, .out = out, .members = calloc(run->ranks, sizeof p.members[0])};

    (void)fprintf(
        out,
        "{\n  \"schemaVersion\": 1,\n  \"deviceProperties\": [\n    {\"id\": %" PRIu32
        ", \"name\": \"NVIDIA H100 80GB HBM3\", \"totalGlobalMem\": 85028765696, \"numSms\": 132}\n  ],\n",
        rank % 8);
    if (!run->made.is_info_last) {
        print_info(&p);
    }
    if (run->made.style < IWT_KINETO_OLD) {
        (void)fprintf(out, "  \"displayTimeUnit\": \"ms\",\n  \"baseTimeNanoseconds\": %" PRId64 ",\n",
                      BASE_NS);
    }
    (void)fputs("  \"traceEvents\": [", out);
    for (size_t i = 0; i < run->of[rank].count; i++) {
        print_event(&p, &run->of[rank].events[i], i);
    }
    (void)fputs("\n  ],\n", out);
    if (run->made.is_info_last) {
        print_info(&p);
    }
    (void)fprintf(out, "  \"traceName\": \"rank%" PRIu32 ".json\"\n}\n", rank);
    free(p.members);
}

char *iwt_kineto_text(const struct iwt_kineto_run *run, uint32_t rank, size_t *size_p)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, size_p);

    iwt_kineto_print(run, rank, out);
    (void)fclose(out);
    return text;
}

static const char *const cause_names[] = {"gc", "loader", "launch", "slow", "malloc"};

/* When the last step ends without one of the pauses. */
static int64_t end_without(const struct iwt_kineto_run *run, size_t left_out)
{
    struct iwt_kineto made = run->made;
    struct iwt_kineto_pause *others = calloc(made.pause_count + 1, sizeof others[0]);
    struct iwt_kineto_run other;
    int64_t end_ns;

    made.pauses = others;
    made.pause_count = 0;
    for (size_t i = 0; i < run->made.pause_count; i++) {
        if (i != left_out) {
            others[made.pause_count++] = run->made.pauses[i];
        }
    }
    iwt_kineto_run(&made, &other);
    end_ns = other.step_end_ns[made.steps - 1];
    iwt_kineto_release(&other);
    free(others);
    return end_ns;
}

void iwt_kineto_print_truth(const struct iwt_kineto_run *run, FILE *out)
{
    const uint32_t steps = run->made.steps;
    const int64_t end_ns = run->step_end_ns[steps - 1];

    (void)fprintf(out, "{\"ranks\": %" PRIu32 ", \"end_ns\": %" PRId64 ",\n \"step_end_ns\": [", run->ranks,
                  end_ns);
    for (uint32_t s = 0; s < steps; s++) {
        (void)fprintf(out, "%s%" PRId64, s > 0 ? ", " : "", run->step_end_ns[s]);
    }
    (void)fputs("],\n \"clock_ns\": [", out);
    for (uint32_t r = 0; r < run->ranks; r++) {
        (void)fprintf(out, "%s%" PRId64, r > 0 ? ", " : "", run->clock_ns[r]);
    }
    (void)fputs("],\n \"drift\": [", out);
    for (uint32_t r = 0; r < run->ranks; r++) {
        (void)fprintf(out, "%s%.17g", r > 0 ? ", " : "", run->drift[r]);
    }
    (void)fputs("],\n \"pauses\": [", out);
    for (size_t i = 0; i < run->made.pause_count; i++) {
        const struct iwt_kineto_pause *pause = &run->made.pauses[i];

        (void)fprintf(out,
                      "%s\n  {\"rank\": %" PRIu32 ", \"step\": %" PRIu32
                      ", \"cause\": \"%s\", \"length_ns\": %" PRId64 ", \"cost_ns\": %" PRId64 "}",
                      i > 0 ? "," : "", pause->rank, pause->step + 10, cause_names[pause->cause],
                      pause->length_ns, end_ns - end_without(run, i));
    }
    (void)fputs("]}\n", out);
}
