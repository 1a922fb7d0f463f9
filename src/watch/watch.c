/* Watches a job, or says what this build lacks for that.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/watch.h>

#include <stdlib.h>

#include "base/base.h"
#include "watch/watch_run.h"

iw_status iw_watch(const iw_log *log, const iw_watch_opts *opts, iw_watch_result **result_p)
{
#ifdef IW_HAVE_BPF
    return iwi_watch_run(log, opts, result_p);
#else
    (void)opts;
    (void)result_p;
    return iwi_fail(
        log, IW_ERR_UNSUPPORTED,
        "this build of idlewave cannot watch: it was made without libbpf, clang or llvm-strip; on "
        "Debian: apt-get install libbpf-dev clang llvm, then build again");
#endif
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
