/* Opens perf events, within or by raising the limit of open files.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/record/kernel/perf_open.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "core/base/base.h"
#include "core/base/sysfile.h"

struct perf_event_attr iwi_perf_attr(uint32_t type, uint64_t config)
{
    return (struct perf_event_attr){
        .type = type,
        .size = sizeof(struct perf_event_attr),
        .config = config,
        .sample_period = 1,
        .sample_type = PERF_SAMPLE_TIME,
        .sample_id_all = 1,
        .use_clockid = 1,
        .clockid = CLOCK_MONOTONIC_RAW,
        /* passing the mark costs an interrupt on the measured CPU: as far away as it goes */
        .watermark = 1,
        .wakeup_watermark = INT32_MAX,
    };
}

iw_status iwi_perf_list_init(const iw_log *log, struct iwi_perf_list *list, size_t capacity)
{
    *list = (struct iwi_perf_list){.capacity = capacity};
    list->events = iwi_new_array(log, capacity, sizeof *list->events);
    return list->events != NULL ? IW_OK : IW_ERR_NOMEM;
}

void iwi_perf_list_release(struct iwi_perf_list *list)
{
    while (list->count > 0) {
        (void)close(list->events[--list->count]);
    }
    if (list->is_limit_raised) {
        (void)setrlimit(RLIMIT_NOFILE, &list->limit_before);
    }
    free(list->events);
    *list = (struct iwi_perf_list){0};
}

/* Room for the whole list, at most up to the hard limit. */
static bool raise_limit(struct iwi_perf_list *list)
{
    struct rlimit limit;

    if (list->is_limit_raised || getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= limit.rlim_max) {
        return false;
    }
    list->limit_before = limit;
    limit.rlim_cur =
        limit.rlim_max - limit.rlim_cur > list->capacity ? limit.rlim_cur + list->capacity : limit.rlim_max;
    list->is_limit_raised = setrlimit(RLIMIT_NOFILE, &limit) == 0;
    return list->is_limit_raised;
}

static int open_event(const struct perf_event_attr *attr, pid_t pid, int cpu)
{
    return (int)syscall(SYS_perf_event_open, attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

int iwi_perf_open(struct iwi_perf_list *list, const struct perf_event_attr *attr, pid_t pid, int cpu)
{
    int event;

    if (list->count == list->capacity) {
        errno = EMFILE;
        return -1;
    }
    event = open_event(attr, pid, cpu);
    if (event < 0 && errno == EMFILE) {
        if (!raise_limit(list)) {
            errno = EMFILE;
            return -1;
        }
        event = open_event(attr, pid, cpu);
    }
    if (event >= 0) {
        list->events[list->count++] = event;
    }
    return event;
}

static iw_status refuse_access(struct iwi_rung_state *rung, const char *what, int most_paranoid)
{
    char paranoid[32];

    if (iwi_sysfile_line(rung->root, "/proc/sys/kernel/perf_event_paranoid", paranoid, sizeof paranoid) &&
        strtol(paranoid, NULL, 10) > most_paranoid) {
        return iwi_rung_refuse(rung, "kernel.perf_event_paranoid is %s: %s need at most %d, or CAP_PERFMON",
                               paranoid, what, most_paranoid);
    }
    return iwi_rung_refuse(rung, "a security module forbids %s", what);
}

iw_status iwi_perf_refuse(struct iwi_rung_state *rung, const char *what, int most_paranoid, int error)
{
    struct rlimit limit = {0};

    switch (error) {
    case EACCES: return refuse_access(rung, what, most_paranoid);
    case EPERM:
        return iwi_rung_refuse(
            rung, "%s are not permitted: a container needs perf_event_open in its seccomp profile", what);
    case ENOSYS: return iwi_rung_refuse(rung, "this kernel was built without perf events");
    case EINVAL:
    case ENOENT: return iwi_rung_refuse(rung, "this kernel has no %s", what);
    case EMFILE:
        (void)getrlimit(RLIMIT_NOFILE, &limit);
        return iwi_rung_refuse(rung, "%s need more than %llu open files: raise the hard limit (ulimit -Hn)",
                               what, (unsigned long long)limit.rlim_max);
    default: return iwi_rung_refuse(rung, "no %s: %s", what, strerror(error));
    }
}
