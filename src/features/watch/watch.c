/* Watches a job in the best way that this build, this kernel and these rights allow.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/watch.h>

#include <stdio.h>
#include <stdlib.h>

#include "core/base/base.h"
#include "core/base/opts.h"
#include "features/watch/watch_events.h"
#include "features/watch/watch_run.h"

/* Why there are no programs in the kernel. */
struct reason {
    bool is_told;
    char text[512];
};

#ifdef IW_HAVE_BPF
static void keep_reason(void *arg, iw_log_level level, const char *text)
{
    struct reason *reason = arg;

    if (level == IW_LOG_ERROR) {
        reason->is_told = true;
        snprintf(reason->text, sizeof reason->text, "%s", text);
    }
}

static iw_status watch_by_programs(const iw_log *log, const iw_watch_opts *opts, struct reason *reason,
                                   iw_watch_result **result_p)
{
    const iw_log quiet = {keep_reason, reason};

    return iwi_watch_run(log, &quiet, opts, result_p);
}
#else
static iw_status watch_by_programs(const iw_log *log, const iw_watch_opts *opts, struct reason *reason,
                                   iw_watch_result **result_p)
{
    (void)log;
    (void)opts;
    (void)result_p;
    *reason = (struct reason){
        true,
        "this build of idlewave cannot watch by programs in the kernel: it was made without libbpf, clang "
        "or llvm-strip; on Debian: apt-get install libbpf-dev libelf-dev clang llvm, then build again"};
    return IW_ERR_UNSUPPORTED;
}
#endif

iw_status iw_watch(const iw_log *log, const iw_watch_opts *given, iw_watch_result **result_p)
{
    iw_watch_opts opts = IW_WATCH_OPTS_INIT;
    struct reason reason = {.is_told = false};
    iw_status status;

    IW_TRY(IWI_READ_OPTS(log, "IW_WATCH_OPTS_INIT", given, &opts));
    if (opts.attribution >= IW_WATCH_EVENTS) {
        return iwi_watch_events_run(log, &opts, result_p);
    }
    status = watch_by_programs(log, &opts, &reason, result_p);
    if (!reason.is_told) {
        return status;
    }
    if (opts.attribution == IW_WATCH_BPF || !iwi_watch_events_can(&opts)) {
        return iwi_fail(log, status, "%s", reason.text);
    }
    if (iwi_watch_events_run(NULL, &opts, result_p) != IW_OK) {
        return iwi_fail(log, status, "%s", reason.text); /* what the best way lacks is what to do first */
    }
    iwi_warn(log, "watched by trace events, which see less: %s", reason.text);
    return IW_OK;
}

void iw_watch_result_free(iw_watch_result *result)
{
    if (result != NULL) {
        iw_recording_free(result->recording);
        free(result->job);
        free(result->cpus);
        free(result->sources);
        free(result);
    }
}
