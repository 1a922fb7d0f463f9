/* Injects noise into a thread that does nothing but look at the clock, and compares what it saw with the
 * plan.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/replay/verb/replay_plan.h"

#if IW_FEATURE_RECORD
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include <idlewave/internal/fidelity.h>

/* ---- watching ---- */

/* Of the measuring thread. */
struct injection {
    const iw_log *log;
    const iw_inject_plan *plan;
    iw_back_end back_end;
    iw_injector *injector;
    iw_inject_counts counts;
    atomic_int status; /* iw_status: the main thread looks at it while the measuring one starts */
};

/* Measuring threads keep all signals out; the timer needs one of the real-time ones. */
static void let_signals_in(void)
{
    sigset_t real_time;

    (void)sigemptyset(&real_time);
    for (int signal = SIGRTMIN; signal <= SIGRTMAX; signal++) {
        (void)sigaddset(&real_time, signal);
    }
    (void)pthread_sigmask(SIG_UNBLOCK, &real_time, NULL);
}

static void on_thread_start(void *arg, size_t index)
{
    struct injection *injection = arg;

    (void)index;
    let_signals_in();
    atomic_store(&injection->status, (int)iw_injector_start(injection->log, injection->plan,
                                                            injection->back_end, &injection->injector));
}

static bool is_well(void *arg, const iw_progress_now *now)
{
    (void)now;
    return atomic_load(&((const struct injection *)arg)->status) == IW_OK;
}

static void on_thread_stop(void *arg, size_t index)
{
    struct injection *injection = arg;

    (void)index;
    if (injection->injector != NULL) {
        iw_injector_stop(injection->injector, &injection->counts);
    }
}

/* The host's shortest detours, a fraction of a microsecond each, may come so often that they fill all room;
 * no detour that is made is as short as so many turns of the probe's loop. */
static const double THRESHOLD = 40.0;

/* `injection` NULL: as the host is by itself. */
static iw_status watch(const iw_log *log, uint32_t cpu, int64_t duration_ns, struct injection *injection,
                       iw_recording **recording_p)
{
    iw_measure_opts opts = IW_MEASURE_OPTS_INIT;
    iw_status status, injected = IW_OK;
    iw_recording *recording;

    opts.duration_ns = duration_ns;
    opts.threshold = THRESHOLD;
    opts.cpus = &cpu;
    opts.cpu_count = 1;
    opts.attribution = IW_ATTRIBUTION_NONE;
    if (injection != NULL) {
        opts.on_thread_start = on_thread_start;
        opts.on_thread_stop = on_thread_stop;
        opts.progress = (iw_progress){is_well, injection};
        opts.arg = injection;
    }
    status = iw_measure(log, &opts, &recording);
    if (injection != NULL) {
        injected = (iw_status)atomic_load(&injection->status);
    }
    if (injected != IW_OK) {
        if (status == IW_OK) {
            iw_recording_free(recording);
        }
        return injected;
    }
    *recording_p = status == IW_OK ? recording : NULL;
    return status;
}

/* ---- comparing ---- */

struct check {
    const struct replay *replay;
    const iw_log *log;
    const struct replay_check_opts *opts;
    uint32_t cpu;
    size_t trace_cpu; /* of the recording */
    iw_recording *host;
    iw_fidelity_report report;
};

static iw_status compare(const struct check *check, const iw_inject_plan *plan, double time_scale,
                         const iw_recording *observed, iw_fidelity *fidelity)
{
    iw_fidelity_inputs inputs = {.expected = &check->replay->recording->cpus[check->trace_cpu],
                                 .observed = &observed->cpus[0],
                                 .host = &check->host->cpus[0],
                                 .time_scale = time_scale,
                                 .floor_ns = check->replay->costs.floor_ns};
    iw_recording *planned;
    iw_status status = iw_inject_plan_recording(check->log, plan, &planned);

    if (status == IW_OK) {
        inputs.planned = &planned->cpus[0];
        status = iw_fidelity_compare(check->log, &inputs, fidelity);
        iw_recording_free(planned);
    }
    return status;
}

static iw_status inject_and_compare(struct check *check, const iw_inject_opts *inject, iw_fidelity *fidelity,
                                    iw_inject_facts *facts, iw_inject_counts *counts)
{
    struct injection injection = {.log = check->log,
                                  .back_end = (iw_back_end)check->replay->opts->injection.back_end};
    iw_inject_plan *plan;
    iw_recording *observed = NULL;
    iw_status status = iw_inject_plan_make(check->log, check->replay->recording, check->trace_cpu, inject,
                                           &check->replay->costs, &plan);

    if (status != IW_OK) {
        return status;
    }
    injection.plan = plan;
    status = watch(check->log, check->cpu, check->opts->duration_ns, &injection, &observed);
    if (status == IW_OK) {
        *facts = *iw_inject_plan_facts(plan);
        *counts = injection.counts;
        status = compare(check, plan, inject->time_scale, observed, fidelity);
        iw_recording_free(observed);
    }
    iw_inject_plan_free(plan);
    return status;
}

/* What cannot be made at all is told before anything is watched. */
static iw_status try_out(const struct check *check, const iw_inject_opts *inject)
{
    iw_inject_plan *plan;
    iw_injector *injector;
    iw_inject_counts counts;
    iw_status status = iw_inject_plan_make(check->log, check->replay->recording, check->trace_cpu, inject,
                                           &check->replay->costs, &plan);

    if (status != IW_OK) {
        return status;
    }
    status =
        iw_injector_start(check->log, plan, (iw_back_end)check->replay->opts->injection.back_end, &injector);
    if (status == IW_OK) {
        iw_injector_stop(injector, &counts);
    }
    iw_inject_plan_free(plan);
    return status;
}

static iw_status check_all(struct check *check)
{
    iw_inject_opts inject = check->replay->inject;
    iw_inject_facts facts;
    iw_inject_counts counts;
    iw_status status;

    inject.most_share = 0.0; /* no silence before the watching ends */
    status = try_out(check, &inject);
    if (status == IW_OK) {
        status = watch(check->log, check->cpu, check->opts->duration_ns / 2, NULL, &check->host);
    }
    if (status != IW_OK) {
        return status;
    }
    status = inject_and_compare(check, &inject, &check->report.fidelity, &check->report.facts,
                                &check->report.counts);
    if (status == IW_OK && check->opts->want_naive) {
        check->report.has_naive = true;
        inject.time_scale = 1.0;
        inject.is_uncompensated = true;
        status = inject_and_compare(check, &inject, &check->report.naive, &facts, &counts);
    }
    iw_recording_free(check->host);
    return status;
}

/* "periodic:100Hz,20us + poisson:5Hz,1ms"; a name that is too long ends in dots. */
static void name_noise(const struct opt_list *noise, char *name, size_t size)
{
    size_t length = 0;

    for (size_t i = 0; i < noise->count && length < size; i++) {
        length += (size_t)snprintf(name + length, size - length, "%s%s", i > 0 ? " + " : "",
                                   ui_file_name(noise->items[i]));
    }
    if (length >= size) {
        memcpy(name + size - 4, "...", 4);
    }
}

int replay_self_check(struct ui *ui, const struct replay *replay, const iw_log *log,
                      const struct replay_check_opts *opts)
{
    const int cpu = sched_getcpu();
    struct check check = {.replay = replay, .log = log, .opts = opts};
    char name[512];
    iw_status status;
    int code;

    check.cpu = cpu >= 0 ? (uint32_t)cpu : 0;
    check.trace_cpu = replay->launcher.local_rank % replay->recording->cpu_count;
    name_noise(&replay->opts->injection.noise, name, sizeof name);
    check.report.noise = name;
    check.report.back_end = iw_back_end_name((iw_back_end)replay->opts->injection.back_end);
    check.report.costs = replay->costs;
    status = check_all(&check);
    code =
        status == IW_OK ? shown_write(ui, opts->shown, iw_fidelity_doc(&check.report)) : ui_exit_of(status);
    return code != UI_DONE || iw_fidelity_is_right(&check.report.fidelity) ? code : UI_NEGATIVE;
}

#else
int replay_self_check(struct ui *ui, const struct replay *replay, const iw_log *log,
                      const struct replay_check_opts *opts)
{
    (void)replay;
    (void)log;
    (void)opts;
    return ui_lacks(ui, "--self-check", "record");
}
#endif
