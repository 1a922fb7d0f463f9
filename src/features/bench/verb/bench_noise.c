/* Noise that `bench` injects into its own process: a plan for each block of phases, so that each has a place
 * in the trace of its own.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/bench/verb/bench_noise.h"

#include <idlewave/internal/fidelity.h>

#include "features/replay/verb/injected_noise.h"
#include "options/simulate_opts.h"
#include "process/wall_clock.h"

/* Detours of ranks that sleep come some seconds apart, and hundreds of ranks begin at different ones. */
static const int64_t ASLEEP_NS = INT64_C(3600) * 1000000000;

/* ---- reading it ---- */

int bench_noise_load(struct ui *ui, struct node_log *node_log, const struct bench_opts *opts,
                     struct bench_noise *noise)
{
    const iw_inject_opts inject = IW_INJECT_OPTS_INIT;
    struct injected_opts injected;
    int code;

    *noise =
        (struct bench_noise){.opts = opts, .node_log = node_log, .log = &node_log->log, .inject = inject};
    noise->is_of_file = injected_has_file(&opts->injection.noise);
    noise->ranks_per_node = opts->ranks_per_node != 0 ? (uint32_t)opts->ranks_per_node : 1;
    noise->inject.sync = (iw_sync)opts->injection.sync;
    noise->inject.skew_ns = opts->injection.skew_ps / IW_PS_PER_NS;
    noise->inject.time_scale = opts->injection.time_scale;
    noise->inject.most_share = 0.0; /* simulations go through traces again and again, too */
    code = simulate_read_cpus(ui, opts->injection.cpus, &noise->cpu_set, &noise->cpus);
    if (code == UI_DONE) {
        code = simulate_check_cpus(ui, opts->injection.cpus, noise->is_of_file ? 1 : 0);
    }
    if (code != UI_DONE) {
        return code;
    }
    injected = (struct injected_opts){.noise = &opts->injection.noise,
                                      .cpus = noise->cpus,
                                      .sync = (iw_sync)opts->injection.sync,
                                      .seed = opts->injection.seed,
                                      .cpu_count = noise->ranks_per_node,
                                      .duration_ns = opts->work == IW_BENCH_SLEEP ? ASLEEP_NS : 0};
    ui->option = noise->is_of_file ? NULL : "--noise";
    code = injected_load(ui, noise->log, &injected, &noise->recording);
    ui->option = NULL;
    return code;
}

void bench_noise_release(struct bench_noise *noise)
{
    iw_inject_plan_free(noise->plan);
    iw_recording_free(noise->recording);
}

/* ---- making it ---- */

/* As many ranks as the recording has CPUs are a node, or as many as was said. Where that is more than the
 * recording has CPUs, they are several nodes: no two ranks meet one CPU's detours at the same instant. Hosts
 * have no clock in common, so ranks of a node that are on several meet its detours apart. */
static void find_node(struct bench_noise *noise, const iw_bench_place *place)
{
    const bool is_as_recorded = noise->is_of_file && noise->opts->ranks_per_node == 0;
    const uint32_t cpus = (uint32_t)noise->recording->cpu_count;
    const uint32_t wanted = is_as_recorded ? cpus : noise->ranks_per_node;
    const uint32_t within = place->rank % wanted;
    const uint64_t part = is_as_recorded ? place->host : within / cpus;

    noise->ranks_per_node = wanted < cpus ? wanted : cpus;
    noise->inject.node = place->rank / wanted + part * place->ranks; /* numbers are below the ranks */
    noise->cpu = within % cpus;
}

static iw_status prepare(void *arg, const iw_bench_place *place)
{
    struct bench_noise *noise = arg;

    if (noise->opts->injection.sync == IW_SYNC_START &&
        place->hosts > 1) { /* their clocks have nothing in common */
        (void)node_log_fail(noise->node_log,
                            "--sync start is for ranks of one host, but there are %u hosts; "
                            "'idlewave replay --sync start' synchronises the clocks of hosts",
                            place->hosts);
        return IW_ERR_UNSUPPORTED;
    }
    find_node(noise, place);
    return iw_inject_calibrate(noise->log, bench_back_end(noise->opts), IW_INJECT_CALIBRATE_NS,
                               &noise->costs);
}

/* The draws of different blocks and of neighbouring seeds have nothing to do with each other. */
static iw_status start(void *arg, uint64_t draw)
{
    struct bench_noise *noise = arg;
    iw_status status;

    iw_inject_plan_free(noise->plan);
    noise->plan = NULL;
    noise->inject.seed = noise->opts->injection.seed + (draw + 1) * UINT64_C(0x9E3779B97F4A7C15);
    status = iw_inject_plan_make(noise->log, noise->recording, noise->cpu, &noise->inject, &noise->costs,
                                 &noise->plan);
    if (status == IW_OK) {
        noise->started_ns = monotonic_ns();
        status = iw_injector_start(noise->log, noise->plan, bench_back_end(noise->opts), &noise->injector);
    }
    return status;
}

static void stop(void *arg)
{
    struct bench_noise *noise = arg;
    iw_inject_counts counts = {.made_count = 0};

    iw_injector_stop(noise->injector, &counts);
    noise->injector = NULL;
    noise->sum.noisy_ns += (double)(monotonic_ns() - noise->started_ns);
    noise->sum.made_count += counts.made_count;
    noise->sum.made_ns += counts.made_ns;
    noise->sum.skipped_count += counts.skipped_count;
    noise->sum.skipped_ns += counts.skipped_ns;
    noise->sum.cut_short_count += counts.is_cut_short ? 1 : 0;
}

static double made_ns(void *arg)
{
    return iw_injector_made_ns(((struct bench_noise *)arg)->injector);
}

static void begin_phase(void *arg)
{
    iw_injector_phase(((struct bench_noise *)arg)->injector);
}

static void tell(void *arg, iw_bench_injected *injected_p)
{
    struct bench_noise *noise = arg;

    if (noise->plan != NULL) {
        const iw_inject_facts *facts = iw_inject_plan_facts(noise->plan);

        noise->sum.planned_share = facts->made_ns / (double)facts->length_ns;
        noise->sum.as_recorded_share = facts->noise_ns > 0.0 ? facts->as_recorded_ns / facts->noise_ns : 0.0;
        noise->sum.as_recorded_event_share =
            facts->event_count > 0 ? (double)facts->as_recorded_count / (double)facts->event_count : 0.0;
    }
    noise->sum.floor_ns = noise->costs.floor_ns;
    noise->sum.overhead_ns = noise->costs.overhead_ns;
    noise->sum.late_p99_ns = noise->costs.late_p99_ns;
    *injected_p = noise->sum;
}

/* ---- what was planned ---- */

/* Into `cpu`, which is empty. */
static iw_status plan_cpu(const iw_log *log, const struct bench_noise *noise, size_t number, iw_detours *cpu)
{
    const double scale = noise->inject.time_scale;
    iw_recording *planned = NULL;
    iw_inject_plan *plan;
    iw_status status =
        iw_inject_plan_make(log, noise->recording, number, &noise->inject, &noise->costs, &plan);

    if (status != IW_OK) {
        return status;
    }
    status = iw_inject_plan_recording(log, plan, &planned);
    iw_inject_plan_free(plan);
    if (status == IW_OK) {
        *cpu = planned->cpus[0];
        planned->cpus[0] = (iw_detours){.cpu = 0}; /* the arrays have a new owner */
        iw_recording_free(planned);
        cpu->cpu = (uint32_t)number;
        cpu->length_ns = noise->recording->cpus[number].length_ns;
        for (size_t i = 0; i < cpu->count; i++) {
            cpu->start_ns[i] = (int64_t)((double)cpu->start_ns[i] / scale);
            cpu->duration_ns[i] = (int64_t)((double)cpu->duration_ns[i] / scale);
        }
    }
    return status;
}

iw_status bench_noise_planned(const iw_log *log, const struct bench_noise *noise, iw_recording **recording_p)
{
    iw_recording *recording = NULL;
    iw_status status = iw_recording_new(log, noise->ranks_per_node, &recording);

    for (size_t i = 0; i < noise->ranks_per_node && status == IW_OK; i++) {
        status = plan_cpu(log, noise, i, &recording->cpus[i]);
    }
    if (status != IW_OK) {
        iw_recording_free(recording);
        return status;
    }
    *recording_p = recording;
    return IW_OK;
}

/* ---- calls ---- */

iw_bench_noise bench_noise_calls(struct bench_noise *noise)
{
    return (iw_bench_noise){.arg = noise,
                            .costs = &noise->costs,
                            .prepare = prepare,
                            .start = start,
                            .stop = stop,
                            .phase = noise->opts->injection.sync == IW_SYNC_PHASE ? begin_phase : NULL,
                            .made_ns = made_ns,
                            .tell = tell};
}
