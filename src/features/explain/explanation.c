/* Why a run was slow: every part that its files can answer.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/explanation.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <idlewave/files.h>

#include "core/base/base.h"
#include "core/base/opts.h"
#include "features/explain/arrivals/visits.h"
#include "features/explain/json/json_items.h"
#include "features/explain/stragglers/pipeline.h"

/* Passes on what it hears, but keeps the last error: where another part has an answer it is none. */
struct keeper {
    const iw_log *log;
    char error[1024];
};

static void keep_error(void *arg, iw_log_level level, const char *text)
{
    struct keeper *keeper = arg;

    if (level == IW_LOG_ERROR) {
        (void)snprintf(keeper->error, sizeof keeper->error, "%s", text);
    } else {
        keeper->log->write(keeper->log->arg, level, text);
    }
}

/* ---- parts ---- */

/* `trace_p`: takes the trace of an MPI program for the other part, or is NULL. */
static iw_status find_waits(const iw_log *log, const char *const *paths, size_t count,
                            const iw_explain_opts *opts, iw_explanation *explanation, iw_trace **trace_p)
{
    iw_visits *visits = NULL;
    iw_status status = iw_visits_open(log, paths, count, &visits);

    if (status == IW_OK) {
        if (trace_p != NULL) {
            *trace_p = visits->trace;
        } else {
            iw_trace_free(visits->trace);
        }
        visits->trace = NULL;
        status = iw_waits_run(log, paths[0], visits, opts->waits, &explanation->waits);
    }
    iw_visits_free(visits);
    return status;
}

/* `trace`: NULL if it is not open yet. */
static iw_status find_system(const iw_log *log, const char *const *paths, size_t count, const iw_trace *trace,
                             iw_explanation *explanation)
{
    iw_recording **kernel = NULL;
    iw_trace *opened = NULL;
    size_t kernel_count = 0;
    iw_status status = IW_OK;

    if (count > 1) {
        return iwi_fail(log, IW_ERR_USAGE, "system noise is explained from one folder, that of the trace");
    }
    IW_TRY(iw_blame_load(log, paths[0], &kernel, &kernel_count));
    if (trace == NULL) {
        status = iw_trace_open(log, paths[0], &opened);
    }
    if (status == IW_OK) {
        status = iw_blame_run(log, paths[0], trace != NULL ? trace : opened,
                              (const iw_recording *const *)kernel, kernel_count, &explanation->system);
    }
    iw_trace_free(opened);
    iw_recordings_free(kernel, kernel_count);
    return status;
}

static iw_status find_stragglers(const iw_log *log, const char *const *paths, size_t count,
                                 const iw_explain_opts *opts, iw_explanation *explanation)
{
    iw_straggler_job *job = NULL;
    iw_status status;

    if (count > 1) {
        return iwi_fail(log, IW_ERR_USAGE, "stragglers are explained from one timeline, of all ranks");
    }
    status = iw_straggler_load(log, paths[0], opts->meta, opts->left_out, &job);
    if (status == IW_OK) {
        status = iw_straggler_run(log, job, &explanation->stragglers);
    }
    iw_straggler_job_free(job);
    return status;
}

/* ---- what a run can answer ---- */

#if IW_HAVE_YAJL
enum { MOST_EVENTS = 64 /* among which an operation should be */ };

static bool is_operation(const struct iwi_json_item *event)
{
    for (unsigned op = 0; op < IWI_PIPE_OPS; op++) {
        if (iwi_json_is(iwi_json_member(event, "name"), iwi_pipe_op_name(op))) {
            return true;
        }
    }
    return false;
}

/* Of pipelined training, for stragglers. */
static bool is_timeline(const char *path)
{
    const iw_log quiet = {NULL, NULL};
    struct iwi_json_items items;
    struct iwi_json_item event;
    bool is_found = false;

    if (iw_is_folder(path) || iwi_json_open(&quiet, path, IWI_JSON_ONE_ROOT, &items) != IW_OK) {
        return false;
    }
    for (unsigned i = 0; i < MOST_EVENTS && !is_found; i++) {
        if (iwi_json_next(&items, &event) != IW_OK || event.text == NULL) {
            break;
        }
        is_found = is_operation(&event);
    }
    iwi_json_close(&items);
    return is_found;
}
#else
static bool is_timeline(const char *path)
{
    (void)path;
    return false;
}
#endif

static bool has_kernel(const char *path)
{
    const iw_log quiet = {NULL, NULL};
    iw_folder *files = NULL;
    const bool is_there = iw_is_folder(path) && iw_folder_list(&quiet, path, &files) == IW_OK;

    iw_folder_free(files);
    return is_there;
}

/* A trace has waits, and a trace with recordings of the kernel what the system took. */
static iw_status find_traced(const iw_log *log, const char *const *paths, size_t count,
                             const iw_explain_opts *opts, iw_explanation *explanation)
{
    struct keeper keeper = {.log = log};
    const iw_log kept = {keep_error, &keeper};
    iw_trace *trace = NULL;
    iw_status status, other;

    if (count > 1 || !has_kernel(paths[0])) {
        return find_waits(log, paths, count, opts, explanation, NULL);
    }
    status = find_waits(&kept, paths, count, opts, explanation, &trace);
    if (status == IW_ERR_NOMEM) {
        iw_trace_free(trace);
        return iwi_fail(log, status, "%s", keeper.error);
    }
    if (status != IW_OK) {
        iwi_warn(log, "%s", keeper.error);
    }
    other = find_system(status == IW_OK ? &kept : log, paths, count, trace, explanation);
    iw_trace_free(trace);
    if (status != IW_OK) {
        return other;
    }
    if (other == IW_ERR_NOMEM) {
        return iwi_fail(log, other, "%s", keeper.error);
    }
    if (other != IW_OK) {
        iwi_warn(log, "%s", keeper.error);
    }
    return IW_OK;
}

static iw_status find_parts(const iw_log *log, const char *const *paths, size_t count,
                            const iw_explain_opts *opts, iw_explanation *explanation)
{
    switch (opts->only) {
    case IW_EXPLAIN_WAITS: return find_waits(log, paths, count, opts, explanation, NULL);
    case IW_EXPLAIN_SYSTEM: return find_system(log, paths, count, NULL, explanation);
    case IW_EXPLAIN_STRAGGLERS: return find_stragglers(log, paths, count, opts, explanation);
    default:
        return count == 1 && is_timeline(paths[0]) ? find_stragglers(log, paths, count, opts, explanation)
                                                   : find_traced(log, paths, count, opts, explanation);
    }
}

iw_status iw_explanation_make(const iw_log *log, const char *const *paths, size_t count,
                              const iw_explain_opts *opts, iw_explanation **explanation_p)
{
    iw_explain_opts known = IW_EXPLAIN_OPTS_INIT;
    iw_explanation *explanation;
    iw_status status;

    IW_TRY(IWI_READ_OPTS(log, "IW_EXPLAIN_OPTS_INIT", opts, &known));
    if (count == 0) {
        return iwi_fail(log, IW_ERR_USAGE, "no run given");
    }
    explanation = iwi_new_array(log, 1, sizeof *explanation);
    if (explanation == NULL) {
        return IW_ERR_NOMEM;
    }
    explanation->name = strdup(paths[0]);
    status = explanation->name != NULL ? find_parts(log, paths, count, &known, explanation)
                                       : iwi_fail(log, IW_ERR_NOMEM, "out of memory for the name of the run");
    if (status != IW_OK) {
        iw_explanation_free(explanation);
        return status;
    }
    *explanation_p = explanation;
    return IW_OK;
}

void iw_explanation_free(iw_explanation *explanation)
{
    if (explanation != NULL) {
        iw_waits_free(explanation->waits);
        iw_blame_free(explanation->system);
        iw_stragglers_free(explanation->stragglers);
        free(explanation->name);
        free(explanation);
    }
}
