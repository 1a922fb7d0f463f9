/* Looks who uses the CPUs of this node, without a probe.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/measure.h>

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "core/base/base.h"
#include "core/base/monotonic.h"
#include "features/record/recording_origin.h"
#include "kit/machine/cpus.h"

static const char root[] = ""; /* this machine's own /proc */

static iw_status note(const iw_log *log, const struct iwi_cpus *cpus, double elapsed_ms,
                      const struct iwi_load_reading *before, struct iwi_load_reading *after, iw_look *look)
{
    const double tick_ms = 1000.0 / (double)sysconf(_SC_CLK_TCK);
    struct iwi_load_used used;

    look->pids = iwi_new_array(log, after->count + 1, sizeof *look->pids);
    if (look->pids == NULL) {
        return IW_ERR_NOMEM;
    }
    look->pid_count = iwi_load_users(after, (unsigned long)getpid(), look->pids);
    iwi_load_between(before, after, (unsigned long)getpid(), tick_ms, elapsed_ms * (double)cpus->count,
                     &used);
    return iwi_recording_origin_load(log, &used, elapsed_ms, cpus->count, look->recording);
}

static iw_status look_at(const iw_log *log, const struct iwi_cpus *cpus, int64_t duration_ns, iw_look *look)
{
    const struct timespec pause = {.tv_sec = duration_ns / 1000000000,
                                   .tv_nsec = (long)(duration_ns % 1000000000)};
    const int64_t start_ns = iwi_now_ns();
    struct iwi_load_reading before = {.count = 0}, after = {.count = 0};
    iw_status status = iwi_load_read(log, root, cpus->numbers, cpus->count, &before);

    if (status == IW_OK) {
        (void)clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL); /* a signal may end it: it was a look */
        status = iwi_load_read(log, root, cpus->numbers, cpus->count, &after);
    }
    if (status == IW_OK) {
        status = note(log, cpus, (double)(iwi_now_ns() - start_ns) / 1e6, &before, &after, look);
    }
    iwi_load_release(&before);
    iwi_load_release(&after);
    return status;
}

static iw_status look_and_name(const iw_log *log, const struct iwi_cpus *cpus, int64_t duration_ns,
                               const char *command, iw_look *look)
{
    IW_TRY(iw_recording_new(log, cpus->count, &look->recording));
    look->recording->probe = IW_PROBE_WATCH;
    for (size_t i = 0; i < cpus->count; i++) {
        look->recording->cpus[i].cpu = cpus->numbers[i];
    }
    IW_TRY(iwi_recording_origin_node(log, root, command, look->recording));
    return look_at(log, cpus, duration_ns, look);
}

iw_status iw_look_at(const iw_log *log, const uint32_t *wanted, size_t count, int64_t duration_ns,
                     const char *command, iw_look *look_p)
{
    iw_look look = {.pid_count = 0};
    struct iwi_cpus cpus;
    iw_status status;

    IW_TRY(iwi_cpus_choose(log, wanted, count, &cpus));
    status = look_and_name(log, &cpus, duration_ns, command, &look);
    iwi_cpus_release(&cpus);
    if (status != IW_OK) {
        iw_look_release(&look);
        return status;
    }
    *look_p = look;
    return IW_OK;
}

void iw_look_release(iw_look *look)
{
    iw_recording_free(look->recording);
    free(look->pids);
    *look = (iw_look){.pid_count = 0};
}
