/* Why was this run slow? From a trace and what the kernel took of its ranks to an answer.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/blame.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <idlewave/files.h>

#include "core/base/base.h"
#include "core/base/order.h"
#include "core/numeric/numeric.h"
#include "features/explain/blame/run.h"

/* What a thread that is preempted loses beyond what the kernel reports: its way in and out, cold caches.
 * Measured against a probe (docs/validation/explain.md). */
static const double MOST_HIDDEN_NS = 20000.0;

/* Sources that took less of the path than this part are not replayed one by one. */
static const double LEAST_PART = 1e-5;

/* ---- inputs ---- */

iw_status iw_blame_load(const iw_log *log, const char *folder, iw_recording ***kernel_p, size_t *count_p)
{
    const iw_log quiet = {NULL, NULL};
    iw_folder *files = NULL;
    iw_status status = iw_folder_list(&quiet, folder, &files);

    if (status == IW_ERR_NOMEM) {
        return status;
    }
    if (status != IW_OK) {
        return iwi_fail(log, IW_ERR_IO, "'%s' has no recording of what the kernel took (kernel-HOST.h5)",
                        folder);
    }
    status = iw_folder_load(log, files, kernel_p);
    *count_p = files->count;
    iw_folder_free(files);
    return status;
}

static iw_status check(const iw_log *log, const char *name, const iw_trace *trace,
                       const iw_recording *const *kernel, size_t count)
{
    if (trace->zero_ns == 0 || trace->rank_count == 0) {
        return iwi_fail(log, IW_ERR_UNSUPPORTED,
                        "'%s' does not say when it began by CLOCK_MONOTONIC: only traces of our own tracer "
                        "can be laid beside what the kernel reports",
                        name);
    }
    for (size_t i = 0; i < count; i++) {
        const char *watched = iw_recording_get(kernel[i], "watched");

        if (watched == NULL || strcmp(watched, "ranks") != 0 ||
            iw_recording_get(kernel[i], "start_mono_ns") == NULL) {
            return iwi_fail(log, IW_ERR_UNSUPPORTED, "'%s': a recording in it is not of the ranks of a run",
                            name);
        }
    }
    return count > 0 ? IW_OK : iwi_fail(log, IW_ERR_USAGE, "'%s': there is no recording of the kernel", name);
}

/* ---- savings ---- */

/* [low, high] for another run: by how much it may differ, and what the kernel does not report. */
static iw_estimate interval(double saving_ns, double sd_ns, double freedom, double hidden_ns)
{
    const double half_ns = iwi_t_quantile(0.975, freedom) * sd_ns;

    return (iw_estimate){saving_ns, saving_ns - half_ns, saving_ns + half_ns + hidden_ns};
}

static iw_status replay_sources(const struct iwi_blamed_run *run, const struct iwi_run_spread *spread,
                                bool *is_removed, iw_blame *blame)
{
    const double least_ns = LEAST_PART * (double)(run->end_ns - run->zero_ns);
    double hidden_ns = 0.0;
    int64_t end_ns;

    for (size_t i = 0; i < run->source_count; i++) {
        iw_blame_source *source = &run->sources[i];
        const double own_ns =
            MOST_HIDDEN_NS * (double)source->path_detours * (source->kind == IW_CLASS_THREAD);
        const double sd_ns = hypot(spread->remaining_sd_ns[i], spread->unexplained_sd_ns);

        end_ns = run->end_ns - (int64_t)source->path_ns;
        if (source->path_ns >= least_ns) {
            is_removed[i] = true;
            IW_TRY(iwi_run_replay(run, is_removed, &end_ns));
            is_removed[i] = false;
        }
        source->saving_ns = interval((double)(run->end_ns - end_ns), sd_ns, spread->freedom, own_ns);
        hidden_ns += own_ns;
    }
    for (size_t i = 0; i < run->source_count; i++) {
        is_removed[i] = true;
    }
    IW_TRY(iwi_run_replay(run, is_removed, &end_ns));
    blame->without_all_ns =
        interval((double)(end_ns - run->zero_ns), spread->unexplained_sd_ns, spread->freedom, 0.0);
    blame->without_all_ns.low -= hidden_ns;
    return IW_OK;
}

/* ---- the answer ---- */

IWI_COMPARE(compare_sources, iw_blame_source, IWI_FALLING(saving_ns.value), IWI_FALLING(lost_ns),
            IWI_TEXT(name))

/* Hands the sources that took any time over. */
static void take_sources(struct iwi_blamed_run *run, iw_blame *blame)
{
    size_t count = 0;

    for (size_t i = 0; i < run->source_count; i++) {
        if (run->sources[i].lost_ns > 0.0) {
            run->sources[count++] = run->sources[i];
        }
    }
    iwi_sort(run->sources, count, compare_sources);
    blame->sources = run->sources;
    blame->source_count = count;
    run->sources = NULL;
}

static void describe(const struct iwi_blamed_run *run, const iw_recording *const *kernel, size_t count,
                     iw_blame *blame)
{
    blame->ranks = run->trace->rank_count;
    blame->calls = iwi_run_calls(run) - run->trace->rank_count;
    blame->run_ns = (double)(run->end_ns - run->zero_ns);
    blame->unordered = run->unordered;
    snprintf(blame->rung, sizeof blame->rung, "%s", iw_rung_name(kernel[0]->rung));
    for (size_t i = 0; i < count; i++) {
        const char *error = iw_recording_get(kernel[i], "clock_error_ns");
        const char *lost = iw_recording_get(kernel[i], "kernel_events_lost");

        blame->watched_ranks += (uint32_t)kernel[i]->cpu_count;
        blame->clock_error_ns = fmax(blame->clock_error_ns, error != NULL ? strtod(error, NULL) : NAN);
        blame->events_lost += lost != NULL ? strtoull(lost, NULL, 10) : 0;
    }
}

static iw_status answer(struct iwi_blamed_run *run, iw_blame *blame)
{
    struct iwi_run_spread spread;
    bool *is_removed = iwi_new_array(run->log, run->source_count, sizeof *is_removed);
    iw_status status = is_removed != NULL ? iwi_blame_fill_tables(run, blame) : IW_ERR_NOMEM;

    if (status == IW_OK) {
        status = iwi_run_find_spread(run, &spread);
        if (status == IW_OK) {
            blame->unexplained_share = spread.unexplained_share;
            status = replay_sources(run, &spread, is_removed, blame);
        }
        free(spread.remaining_sd_ns);
    }
    free(is_removed);
    return status;
}

iw_status iw_blame_run(const iw_log *log, const char *name, const iw_trace *trace,
                       const iw_recording *const *kernel, size_t count, iw_blame **blame_p)
{
    struct iwi_blamed_run run = {.log = log, .trace = trace};
    iw_blame *blame;
    iw_status status;

    IW_TRY(check(log, name, trace, kernel, count));
    blame = iwi_new_array(log, 1, sizeof *blame);
    if (blame == NULL) {
        return IW_ERR_NOMEM;
    }
    blame->name = strdup(name);
    status = blame->name != NULL ? iwi_run_read_calls(&run) : iwi_fail(log, IW_ERR_NOMEM, "out of memory");
    status = status == IW_OK ? iwi_run_link(&run) : status;
    status = status == IW_OK ? iwi_run_read_losses(&run, kernel, count) : status;
    if (status == IW_OK) {
        describe(&run, kernel, count, blame);
        status = answer(&run, blame);
    }
    if (status == IW_OK) {
        take_sources(&run, blame);
    }
    iwi_run_release(&run);
    if (status != IW_OK) {
        iw_blame_free(blame);
        return status;
    }
    *blame_p = blame;
    return IW_OK;
}

void iw_blame_free(iw_blame *blame)
{
    if (blame != NULL) {
        free(blame->name);
        free(blame->sources);
        free(blame->by_call);
        free(blame->hits);
        free(blame);
    }
}
