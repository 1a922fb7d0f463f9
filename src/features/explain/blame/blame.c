/* Why was this run slow? From a trace and what the kernel took of its ranks to an answer.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/blame.h>
#include <idlewave/files.h>

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/base/lookup.h"
#include "core/base/order.h"
#include "core/numeric/numeric.h"
#include "core/program/trace_program.h"
#include "features/explain/blame/run.h"

/* ---- what people are told ---- */

enum { MOST_HITS = 10 };

struct tables {
    const struct iwi_blamed_run *run;
    iw_blame *blame;
    struct iwi_index calls;
    size_t call_capacity, lost_capacity;
    double *lost_ns; /* by call of the table and source */
    uint32_t rank;   /* where the path is */
    bool has_rank;
};

/* ---- names ---- */

static void name_call(const struct iwi_blamed_run *run, uint64_t number, char name[IW_BLAME_CALL_SIZE])
{
    static const char *const names[] = {
        [IWI_CALL_SEND] = "MPI_Send", [IWI_CALL_ISEND] = "MPI_Isend",
        [IWI_CALL_RECV] = "MPI_Recv", [IWI_CALL_IRECV] = "MPI_Irecv",
        [IWI_CALL_WAIT] = "MPI_Wait", [IWI_CALL_OPAQUE] = "another MPI function"};
    const struct iwi_call *call = iwi_run_call(run, number);
    const bool is_started = call != NULL && call->kind == IWI_CALL_ICOLLECTIVE;

    if (call == NULL) {
        snprintf(name, IW_BLAME_CALL_SIZE, "end");
    } else if (call->function > 0 && call->function <= run->trace->uses.count) {
        snprintf(name, IW_BLAME_CALL_SIZE, "%s", run->trace->uses.of[call->function - 1].name);
    } else if ((call->op == IWI_TRACE_COMM_CREATE || call->op == IWI_TRACE_NEIGHBOR) &&
               call->kind == IWI_CALL_COLLECTIVE) {
        snprintf(name, IW_BLAME_CALL_SIZE, "%s", iwi_trace_op_names[call->op]);
    } else if (call->kind == IWI_CALL_COLLECTIVE || is_started) {
        const char *op = iwi_trace_op_names[call->op];

        snprintf(name, IW_BLAME_CALL_SIZE, "MPI_%s%c%s", is_started ? "I" : "",
                 is_started ? op[0] : toupper((unsigned char)op[0]), op + 1);
    } else {
        snprintf(name, IW_BLAME_CALL_SIZE, "%s", names[call->kind]);
    }
}

static bool has_comm(const struct iwi_call *call)
{
    return call != NULL && call->kind != IWI_CALL_WAIT && call->kind != IWI_CALL_OPAQUE &&
           call->comm != IWI_NO_COMM;
}

/* Waits are of no communicator: world stands for it. */
static uint32_t comm_of(const struct iwi_blamed_run *run, uint64_t number)
{
    const struct iwi_call *call = iwi_run_call(run, number);

    return has_comm(call) && call->comm < run->trace->comm_count ? call->comm : 0;
}

static uint32_t size_of_comm(const struct iwi_blamed_run *run, uint32_t comm)
{
    return comm < run->trace->comm_count ? run->trace->comms[comm].size : run->trace->rank_count;
}

/* How often the rank had made that call on that communicator. */
static uint64_t iteration_of(const struct iwi_blamed_run *run, uint64_t number)
{
    const struct iwi_call *call = iwi_run_call(run, number);
    uint64_t count = 0;

    for (uint64_t i = run->first[run->rank_of[number]]; call != NULL && i <= number; i++) {
        const struct iwi_call *other = iwi_run_call(run, i);

        count += other->kind == call->kind && other->op == call->op && other->function == call->function &&
                 comm_of(run, i) == comm_of(run, number);
    }
    return call != NULL ? count : 1;
}

/* ---- hits ---- */

static iw_blame_hit hit_of(const struct iwi_blamed_run *run, const struct iwi_run_stretch *stretch,
                           const struct iwi_run_loss *loss, int64_t ns)
{
    const uint64_t waiter = stretch->is_rest ? stretch->call : stretch->waiter;
    iw_blame_hit hit = {.rank = run->rank_of[loss->call],
                        .at_ns = (double)(loss->at_ns - run->zero_ns),
                        .lost_ns = (double)ns,
                        .is_in_call = stretch->is_rest,
                        .comm = comm_of(run, loss->call),
                        .iteration = iteration_of(run, loss->call)};

    snprintf(hit.source, sizeof hit.source, "%s", run->sources[loss->source].name);
    name_call(run, loss->call, hit.call);
    hit.comm_size = size_of_comm(run, hit.comm);
    hit.waiter = waiter != IWI_RUN_NONE ? run->rank_of[waiter] : hit.rank;
    if (waiter != IWI_RUN_NONE) {
        name_call(run, waiter, hit.waited_in);
        hit.waiter_iteration = iteration_of(run, waiter);
    } else {
        snprintf(hit.waited_in, sizeof hit.waited_in, "end");
        hit.waiter_iteration = 1;
    }
    return hit;
}

/* Into the list of the largest. */
static void keep_hit(struct tables *t, const struct iwi_run_stretch *stretch, const struct iwi_run_loss *loss,
                     int64_t ns)
{
    iw_blame *blame = t->blame;
    size_t at = blame->hit_count;

    if (at == MOST_HITS && blame->hits[at - 1].lost_ns >= (double)ns) {
        return;
    }
    at = at == MOST_HITS ? at - 1 : blame->hit_count++;
    while (at > 0 && blame->hits[at - 1].lost_ns < (double)ns) {
        blame->hits[at] = blame->hits[at - 1];
        at--;
    }
    blame->hits[at] = hit_of(t->run, stretch, loss, ns);
}

/* ---- calls ---- */

/* The row of the call in which a delay was felt. */
static iw_status find_row(struct tables *t, const struct iwi_run_stretch *stretch, uint32_t *row_p)
{
    const struct iwi_blamed_run *run = t->run;
    const uint64_t felt =
        stretch->is_rest || stretch->waiter == IWI_RUN_NONE ? stretch->call : stretch->waiter;
    const struct iwi_call *call = iwi_run_call(run, felt);
    const uint32_t comm = comm_of(run, felt);
    const struct iwi_index_key key = {call == NULL         ? 0
                                      : call->function > 0 ? (uint64_t)call->function << 16
                                                           : (uint64_t)call->op << 8 | call->kind,
                                      comm};
    const uint32_t before = t->calls.count;
    iw_blame *blame = t->blame;

    IW_TRY(iwi_index_number(run->log, &t->calls, key, row_p));
    if (t->calls.count > before) {
        const size_t sources = run->source_count;

        IW_TRY(iwi_grow(run->log, (void **)&blame->by_call, &t->call_capacity, *row_p + 1,
                        sizeof *blame->by_call));
        IW_TRY(iwi_grow(run->log, (void **)&t->lost_ns, &t->lost_capacity, ((size_t)*row_p + 1) * sources,
                        sizeof *t->lost_ns));
        blame->by_call[*row_p] = (iw_blame_call){.comm = comm, .comm_size = size_of_comm(run, comm)};
        memset(t->lost_ns + *row_p * sources, 0, sources * sizeof *t->lost_ns);
        name_call(run, felt, blame->by_call[*row_p].name);
        iwi_comm_label(run->trace, comm, blame->by_call[*row_p].comm_name);
        blame->call_count = t->calls.count;
    }
    return IW_OK;
}

static double *path_part(struct tables *t, const struct iwi_run_stretch *stretch)
{
    return stretch->is_rest ? &t->blame->path_calls_ns : &t->blame->path_computing_ns;
}

static iw_status take_loss(void *arg, const struct iwi_run_stretch *stretch, const struct iwi_run_loss *loss,
                           int64_t ns)
{
    struct tables *t = arg;
    iw_blame_source *source = &t->run->sources[loss->source];
    uint32_t row;

    source->path_ns += (double)ns;
    source->path_detours++;
    t->blame->path_lost_ns += (double)ns;
    *path_part(t, stretch) -= (double)ns;
    IW_TRY(find_row(t, stretch, &row));
    t->blame->by_call[row].delays++;
    t->blame->by_call[row].lost_ns += (double)ns;
    t->lost_ns[row * t->run->source_count + loss->source] += (double)ns;
    keep_hit(t, stretch, loss, ns);
    return IW_OK;
}

static iw_status take_stretch(void *arg, const struct iwi_run_stretch *stretch)
{
    struct tables *t = arg;
    const uint32_t rank = t->run->rank_of[stretch->call];

    t->blame->path_jumps += t->has_rank && rank != t->rank;
    if (!t->has_rank) {
        t->blame->last_rank = rank;
    }
    t->rank = rank;
    t->has_rank = true;
    *path_part(t, stretch) += (double)(stretch->to_ns - stretch->from_ns);
    return iwi_run_losses_on(t->run, stretch, take_loss, t);
}

static void name_largest(struct tables *t)
{
    const size_t sources = t->run->source_count;

    for (size_t i = 0; i < t->blame->call_count; i++) {
        size_t largest = 0;

        for (size_t s = 1; s < sources; s++) {
            largest = t->lost_ns[i * sources + s] > t->lost_ns[i * sources + largest] ? s : largest;
        }
        snprintf(t->blame->by_call[i].largest, sizeof t->blame->by_call[i].largest, "%s",
                 t->run->sources[largest].name);
    }
}

IWI_COMPARE(compare_calls, iw_blame_call, IWI_FALLING(lost_ns))

/* The tables of the answer. */
static iw_status blame_fill_tables(const struct iwi_blamed_run *run, iw_blame *blame)
{
    struct tables t = {.run = run, .blame = blame};
    iw_status status;

    iwi_trace_warn_of_neighbours(run->log, run->trace);
    blame->hits = iwi_new_array(run->log, MOST_HITS, sizeof *blame->hits);
    status = blame->hits != NULL ? iwi_run_walk(run, take_stretch, &t) : IW_ERR_NOMEM;
    if (status == IW_OK) {
        name_largest(&t);
        iwi_sort(blame->by_call, blame->call_count, compare_calls);
    }
    iwi_index_release(&t.calls);
    free(t.lost_ns);
    return status;
}

/* ---- the answer ---- */

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
        return iwi_fail(log, IW_ERR_IO, "'%s' has no kernel recording (kernel-HOST.h5)", folder);
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
                        "'%s' does not record its start by CLOCK_MONOTONIC; only traces of 'idlewave trace' "
                        "can be combined with kernel events",
                        name);
    }
    for (size_t i = 0; i < count; i++) {
        const char *watched = iw_recording_get(kernel[i], "watched");

        if (watched == NULL || strcmp(watched, "ranks") != 0 ||
            iw_recording_get(kernel[i], "start_mono_ns") == NULL) {
            return iwi_fail(log, IW_ERR_UNSUPPORTED,
                            "'%s' contains a recording that is not of the run's ranks", name);
        }
    }
    return count > 0 ? IW_OK : iwi_fail(log, IW_ERR_USAGE, "'%s' has no kernel recording", name);
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
    snprintf(blame->attribution, sizeof blame->attribution, "%s",
             iw_attribution_level_name(kernel[0]->attribution));
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
    iw_status status = is_removed != NULL ? blame_fill_tables(run, blame) : IW_ERR_NOMEM;

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
