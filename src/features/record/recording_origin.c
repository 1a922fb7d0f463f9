/* Writes where a recording comes from into its attributes.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/record/recording_origin.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timex.h>
#include <unistd.h>

#include <idlewave/measure.h>

#include "core/base/base.h"
#include "kit/machine/sysinfo.h"

/* Sets attributes until one fails; the first failure stays. */
struct writer {
    const iw_log *log;
    iw_recording *recording;
    iw_status status;
};

static void put(struct writer *w, const char *name, const char *value)
{
    if (w->status == IW_OK) {
        w->status = iw_recording_set(w->log, w->recording, name, value);
    }
}

static void put_number(struct writer *w, const char *name, const char *format, ...) IW_PRINTF(3, 4);

static void put_number(struct writer *w, const char *name, const char *format, ...)
{
    char text[IWI_FACT_SIZE];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    put(w, name, text);
}

static int64_t clock_ns(clockid_t clock)
{
    struct timespec now = {0};

    (void)clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* The tightest of a few: one that was interrupted would be wrong by the interruption. */
static struct iwi_wall_tie wall_tie(void)
{
    struct iwi_wall_tie best = {.width_ns = INT64_MAX};

    for (int i = 0; i < 5; i++) {
        const int64_t before_ns = clock_ns(CLOCK_MONOTONIC_RAW), wall_ns = clock_ns(CLOCK_REALTIME);
        const int64_t width_ns = clock_ns(CLOCK_MONOTONIC_RAW) - before_ns;

        if (width_ns < best.width_ns) {
            best = (struct iwi_wall_tie){before_ns + width_ns / 2, wall_ns, width_ns};
        }
    }
    return best;
}

iw_status iwi_recording_origin_begin(const iw_log *log, const char *root, const struct iwi_cpus *cpus,
                                     struct iwi_recording_origin *origin)
{
    *origin = (struct iwi_recording_origin){.root = root, .date = time(NULL), .wall = wall_tie()};
    origin->steal_ticks = iwi_new_array(log, cpus->count, sizeof *origin->steal_ticks);
    if (origin->steal_ticks == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < cpus->count; i++) {
        origin->steal_ticks[i] = iwi_sysinfo_steal(root, cpus->numbers[i]);
    }
    IW_TRY(iwi_proc_counts_read(log, root, cpus->numbers, cpus->count, &origin->counts));
    origin->has_smi_count = cpus->count > 0 && iwi_sysinfo_smi(root, cpus->numbers[0], &origin->smi_count);
    origin->load_raw_ns = clock_ns(CLOCK_MONOTONIC_RAW);
    return iwi_load_read(log, root, cpus->numbers, cpus->count, &origin->load);
}

void iwi_recording_origin_release(struct iwi_recording_origin *origin)
{
    iwi_proc_counts_release(&origin->counts);
    iwi_load_release(&origin->load);
    free(origin->steal_ticks);
}

/* ---- one value a CPU ---- */

/* Of the CPU at this place of the threads. */
typedef void (*value_of_cpu)(const struct iwi_recording_origin *origin,
                             const struct iwi_probe_threads *probe_threads, size_t place,
                             char buf[IWI_FACT_SIZE]);

static void governor_of(const struct iwi_recording_origin *origin,
                        const struct iwi_probe_threads *probe_threads, size_t place, char buf[IWI_FACT_SIZE])
{
    iwi_sysinfo_governor(origin->root, probe_threads->workers[place].cpu, buf);
}

static void steal_ms_of(const struct iwi_recording_origin *origin,
                        const struct iwi_probe_threads *probe_threads, size_t place, char buf[IWI_FACT_SIZE])
{
    const uint64_t now = iwi_sysinfo_steal(origin->root, probe_threads->workers[place].cpu);
    const uint64_t before = origin->steal_ticks[place];
    const long ticks_per_s = sysconf(_SC_CLK_TCK);

    snprintf(buf, IWI_FACT_SIZE, "%.0f",
             now > before && ticks_per_s > 0 ? 1000.0 * (double)(now - before) / (double)ticks_per_s : 0.0);
}

static void switches_of(const struct iwi_recording_origin *origin,
                        const struct iwi_probe_threads *probe_threads, size_t place, char buf[IWI_FACT_SIZE])
{
    (void)origin;
    snprintf(buf, IWI_FACT_SIZE, "%" PRId64, probe_threads->workers[place].forced_switches);
}

/* "0:performance,1:powersave", or only the value where all have the same. */
static void put_each(struct writer *w, const char *name, const struct iwi_recording_origin *origin,
                     const struct iwi_probe_threads *probe_threads, value_of_cpu value_of)
{
    char first[IWI_FACT_SIZE] = "", value[IWI_FACT_SIZE], *list = NULL;
    bool is_same = true;
    size_t size;
    FILE *out = open_memstream(&list, &size);

    if (out == NULL) {
        w->status = w->status != IW_OK ? w->status : iwi_fail(w->log, IW_ERR_NOMEM, "out of memory");
        return;
    }
    for (size_t i = 0; i < probe_threads->count; i++) {
        value_of(origin, probe_threads, i, value);
        if (i == 0) {
            memcpy(first, value, sizeof first);
        }
        is_same = is_same && strcmp(first, value) == 0;
        (void)fprintf(out, "%s%" PRIu32 ":%s", i > 0 ? "," : "", probe_threads->workers[i].cpu, value);
    }
    if (fclose(out) == 0) {
        put(w, name, is_same ? first : list);
    } else {
        w->status = w->status != IW_OK ? w->status : iwi_fail(w->log, IW_ERR_NOMEM, "out of memory");
    }
    free(list);
}

/* ---- groups of attributes ---- */

static void put_clock(struct writer *w, const struct iwi_clock *clock)
{
    char name[IWI_FACT_SIZE];

    put(w, "clock", clock->ops->name);
    snprintf(name, sizeof name, "%s_hz", clock->ops->name);
    put_number(w, name, "%.0f", clock->hz);
    snprintf(name, sizeof name, "%s_error_ppm", clock->ops->name);
    put_number(w, name, "%.3g", clock->error_ppm);
}

static void put_probe(struct writer *w, const iw_measure_opts *opts,
                      const struct iwi_probe_threads *probe_threads, const struct iwi_clock *clock)
{
    double t_min_ns = HUGE_VAL, read_ns = HUGE_VAL;

    for (size_t i = 0; i < probe_threads->count; i++) {
        t_min_ns = fmin(t_min_ns, w->recording->cpus[i].t_min_ns);
        read_ns = fmin(read_ns, iwi_clock_ns(clock, probe_threads->workers[i].probe.least_read));
    }
    put_number(w, "clock_read_ns", "%.2f", read_ns);
    put_number(w, "t_min_ns", "%.2f", t_min_ns);
    put_number(w, "threshold", "%g", opts->threshold);
    put_number(w, "detection_limit_hz", "%.6g", 1e9 / (2.0 * t_min_ns)); /* faster noise cannot be seen */
}

static void put_names(struct writer *w, const struct iwi_sysinfo *info, const char *command)
{
    put(w, "host", info->host);
    put(w, "kernel", info->kernel);
    put(w, "command", command != NULL ? command : "unknown");
}

static void put_machine(struct writer *w, const struct iwi_sysinfo *info)
{
    put(w, "cpu_model", info->cpu_model);
    put(w, "smt", info->smt);
    put(w, "hypervisor", info->hypervisor);
    put(w, "clocksource", info->clocksource);
    put(w, "tick_hz", info->tick_hz);
    put(w, "isolated", info->isolated);
    put(w, "nohz_full", info->nohz_full);
}

static void put_date(struct writer *w, time_t date)
{
    char text[IWI_FACT_SIZE];
    struct tm utc;

    if (gmtime_r(&date, &utc) != NULL && strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc) > 0) {
        put(w, "date", text);
    }
}

iw_status iwi_recording_origin_node(const iw_log *log, const char *root, const char *command,
                                    iw_recording *recording)
{
    struct writer w = {log, recording, IW_OK};
    struct iwi_sysinfo info;

    iwi_sysinfo_read(root, &info);
    put_names(&w, &info, command);
    put_date(&w, time(NULL));
    put(&w, "version", iw_version());
    put_machine(&w, &info);
    return w.status;
}

iw_status iwi_recording_origin_set(const iw_log *log, const struct iwi_recording_origin *origin,
                                   const iw_measure_opts *opts, const struct iwi_detour_collector *collector)
{
    struct writer w = {log, collector->recording, IW_OK};
    const struct iwi_probe_threads *probe_threads = collector->probe_threads;
    const char *note = collector->attribution->note;
    struct iwi_sysinfo info;

    iwi_sysinfo_read(origin->root, &info);
    put_names(&w, &info, opts->command);
    put_clock(&w, collector->clock);
    put_probe(&w, opts, probe_threads, collector->clock);
    put_date(&w, origin->date);
    put(&w, "version", iw_version());
    put_machine(&w, &info);
    put_each(&w, "governor", origin, probe_threads, governor_of);
    if (opts->under != NULL) {
        put(&w, "under", opts->under);
    }
    if (note[0] != '\0') {
        put(&w, "attribution_note", note);
    }
    return w.status;
}

/* What /proc counted meanwhile. */
static iw_status put_interrupts(struct writer *w, const struct iwi_recording_origin *origin)
{
    const struct iwi_proc_counts *before = &origin->counts;
    struct iwi_proc_counts after;
    char *text = NULL;
    iw_status status = iwi_proc_counts_read(w->log, origin->root, before->cpus, before->cpu_count, &after);

    if (status == IW_OK) {
        status = iwi_proc_counts_text(w->log, before, &after, &text);
    }
    if (status == IW_OK && text[0] != '\0') {
        put(w, "interrupts", text);
    }
    free(text);
    iwi_proc_counts_release(&after);
    return status;
}

/* Names of the recording's threads that are the kernel's: "ksoftirqd/0,kworker/1:2". */
static void put_kernel_threads(struct writer *w, const struct iwi_load_reading *reading)
{
    char *list = NULL;
    size_t size;
    FILE *out = open_memstream(&list, &size);
    const char *before = "";

    for (size_t i = 0; out != NULL && i < w->recording->source_count; i++) {
        const iw_source *source = &w->recording->sources[i];

        if (source->kind == IW_CLASS_THREAD && iwi_load_is_kernel(reading, source->name)) {
            (void)fprintf(out, "%s%s", before, source->name);
            before = ",";
        }
    }
    if (out == NULL || fclose(out) != 0) {
        w->status = w->status != IW_OK ? w->status : iwi_fail(w->log, IW_ERR_NOMEM, "out of memory");
    } else if (list[0] != '\0') {
        put(w, "kernel_threads", list);
    }
    free(list);
}

iw_status iwi_recording_origin_load(const iw_log *log, const struct iwi_load_used *load, double elapsed_ms,
                                    size_t cpu_count, iw_recording *recording)
{
    struct writer w = {log, recording, IW_OK};

    put_number(&w, "load_elapsed_ms", "%.0f", elapsed_ms);
    put_number(&w, "load_cpus", "%.0f", (double)cpu_count);
    put_number(&w, "load_users_ms", "%.0f", load->ms[IWI_LOAD_USER]);
    put_number(&w, "load_services_ms", "%.0f", load->ms[IWI_LOAD_SERVICE]);
    put_number(&w, "load_kernel_ms", "%.0f", load->ms[IWI_LOAD_KERNEL]);
    if (load->users[0] != '\0') {
        put(&w, "load_users", load->users);
    }
    return w.status;
}

/* Who used the CPUs meanwhile, besides this process. */
static iw_status put_load(struct writer *w, const struct iwi_recording_origin *origin)
{
    const double tick_ms = 1000.0 / (double)sysconf(_SC_CLK_TCK);
    const struct iwi_proc_counts *counts = &origin->counts;
    const double elapsed_ms = (double)(clock_ns(CLOCK_MONOTONIC_RAW) - origin->load_raw_ns) / 1e6;
    struct iwi_load_reading after;
    struct iwi_load_used load;
    iw_status status = iwi_load_read(w->log, origin->root, counts->cpus, counts->cpu_count, &after);

    if (status == IW_OK && after.count > 0 && after.cpu_ticks > 0 && origin->load.cpu_ticks > 0) {
        put_kernel_threads(w, &after);
        iwi_load_between(&origin->load, &after, (unsigned long)getpid(), tick_ms,
                         elapsed_ms * (double)counts->cpu_count, &load);
        status = iwi_recording_origin_load(w->log, &load, elapsed_ms, counts->cpu_count, w->recording);
    }
    iwi_load_release(&after);
    return status;
}

/* Firmware stops all CPUs at once: one of them counts for all. */
static void put_smi_count(struct writer *w, const struct iwi_recording_origin *origin)
{
    uint64_t count;

    if (origin->has_smi_count && iwi_sysinfo_smi(origin->root, origin->counts.cpus[0], &count)) {
        put_number(w, "smi_count", "%.0f", (double)((count - origin->smi_count) & UINT32_MAX));
    }
}

/* How much faster the wall clock went than CLOCK_MONOTONIC_RAW, which recordings are timed with: by what time
 * keeping corrects, up to 1,000 ppm. More than that, and somebody has set the clock meanwhile. */
static bool find_drift(const struct iwi_wall_tie *first, const struct iwi_wall_tie *last, double *drift_p)
{
    const int64_t raw_ns = last->raw_ns - first->raw_ns, wall_ns = last->wall_ns - first->wall_ns;
    const double most = 1e-3 + (double)(first->width_ns + last->width_ns) / fmax((double)raw_ns, 1.0);

    *drift_p = raw_ns > 0 ? (double)(wall_ns - raw_ns) / (double)raw_ns : 0.0;
    return fabs(*drift_p) <= most;
}

/* When the recording began by the clock that nodes share, ns since 1970 in UTC, how fast that went, and how
 * wrong it may be: as the kernel's time keeping estimates it, and at most. Without synchronisation the kernel
 * says 16 s. */
static void put_wall_clock(struct writer *w, const struct iwi_wall_tie *first, int64_t start_raw_ns)
{
    struct timex timex = {0};
    const bool is_synchronised = adjtimex(&timex) >= 0 && (timex.status & STA_UNSYNC) == 0;
    const struct iwi_wall_tie last = wall_tie();
    const double width_ns = (double)iwi_max(first->width_ns, last.width_ns);
    char text[IWI_FACT_SIZE];
    double drift;
    const bool is_steady = find_drift(first, &last, &drift);

    drift = is_steady ? drift : 0.0;
    snprintf(text, sizeof text, "%" PRId64,
             last.wall_ns - (int64_t)llround((1.0 + drift) * (double)(last.raw_ns - start_raw_ns)));
    put(w, "start_wall_ns", text);
    put_number(w, "wall_drift_ppb", "%.0f", 1e9 * drift);
    put(w, "wall_synchronised", is_synchronised && is_steady ? "yes" : "no");
    put_number(w, "wall_error_ns", "%.0f", 1e3 * (double)timex.esterror + width_ns);
    put_number(w, "wall_most_error_ns", "%.0f", 1e3 * (double)timex.maxerror + width_ns);
}

/* Of what the kernel reported, how much met a detour. */
static void put_kernel_events(struct writer *w, const struct iwi_attributor *attribution)
{
    if (attribution->method.ops != NULL) {
        put_number(w, "kernel_events", "%.0f", (double)attribution->shares);
        put_number(w, "kernel_events_matched", "%.0f", (double)attribution->matched);
        put_number(w, "kernel_events_lost", "%.0f",
                   (double)(attribution->method.lost - attribution->lost_before));
        put_number(w, "recorder_ms", "%.3f", attribution->recorder_ns / 1e6);
    }
}

iw_status iwi_recording_origin_complete(const iw_log *log, const struct iwi_recording_origin *origin,
                                        const iw_measure_opts *opts,
                                        const struct iwi_detour_collector *collector)
{
    struct writer w = {log, collector->recording, IW_OK};
    const struct iwi_tie tie = iwi_clock_tie(collector->clock);
    const double before_ns = iwi_clock_ns(collector->clock, (double)(tie.ticks - collector->zero));

    put_probe(&w, opts, collector->probe_threads, collector->clock); /* quanta: t_min is known only now */
    put_number(&w, "start_raw_ns", "%.0f", (double)tie.raw_ns - before_ns);
    put_wall_clock(&w, &origin->wall, tie.raw_ns - (int64_t)before_ns);
    put_each(&w, "steal_ms", origin, collector->probe_threads, steal_ms_of);
    put_each(&w, "involuntary_switches", origin, collector->probe_threads, switches_of);
    put_kernel_events(&w, collector->attribution);
    put_smi_count(&w, origin);
    IW_TRY(put_interrupts(&w, origin));
    IW_TRY(put_load(&w, origin));
    return w.status;
}
