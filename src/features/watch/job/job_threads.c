/* Reads environments of processes, and remembers what their threads are.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/watch/job/job_threads.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/base.h"

static const char VARIABLE[] = "IDLEWAVE_TRACE_KERNEL=";

enum { PATH_SIZE = 512, STATUS_SIZE = 1024, MOST_ENVIRONMENT = 1 << 20, LEAST_PLACES = 1024 };

/* A file below /proc, whole or its first `size` - 1 bytes, ended by '\0'; -1: it cannot be read. */
static ssize_t read_proc(const struct iwi_job_threads *threads, pid_t tid, const char *name, char *buf,
                         size_t size)
{
    char path[PATH_SIZE];
    ssize_t length = 0, more = 1;
    int file;

    snprintf(path, sizeof path, "%s/proc/%ld/%s", threads->root, (long)tid, name);
    file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        return -1;
    }
    while (more > 0 && (size_t)length + 1 < size) {
        more = read(file, buf + length, size - 1 - (size_t)length);
        length += more > 0 ? more : 0;
    }
    (void)close(file);
    buf[length] = '\0';
    return length;
}

static bool is_first_thread(const struct iwi_job_threads *threads, pid_t tid)
{
    char status[STATUS_SIZE];
    const char *line;

    if (read_proc(threads, tid, "status", status, sizeof status) < 0) {
        return false;
    }
    line = strstr(status, "\nTgid:");
    return line != NULL && strtol(line + strlen("\nTgid:"), NULL, 10) == (long)tid;
}

/* The rank that the environment tells; IWI_JOB_NOT: it is of no rank of this job. */
static int64_t rank_in(const struct iwi_job_threads *threads, const char *text, size_t length)
{
    const size_t name_length = sizeof VARIABLE - 1;
    size_t next;

    for (size_t at = 0; at < length; at = next) {
        const char *entry = text + at;
        char *end;

        next = at + strlen(entry) + 1;
        if (strncmp(entry, VARIABLE, name_length) == 0) {
            const long long rank = strtoll(entry + name_length, &end, 10);

            return end > entry + name_length && *end == ':' && rank >= 0 && rank <= UINT32_MAX &&
                           strcmp(end + 1, threads->job) == 0
                       ? (int64_t)rank
                       : IWI_JOB_NOT;
        }
    }
    return IWI_JOB_NOT;
}

static iw_status look_up(const struct iwi_job_threads *threads, pid_t tid, int64_t *rank_p)
{
    char *text = tid > 0 && threads->job != NULL ? iwi_new_array(threads->log, MOST_ENVIRONMENT, 1) : NULL;
    ssize_t length;

    *rank_p = IWI_JOB_NOT;
    if (text == NULL) {
        return tid > 0 && threads->job != NULL ? IW_ERR_NOMEM : IW_OK; /* 0: the idle thread */
    }
    length = read_proc(threads, tid, "environ", text, MOST_ENVIRONMENT);
    if (length > 0) {
        *rank_p = rank_in(threads, text, (size_t)length);
    }
    if (*rank_p >= 0 && !is_first_thread(threads, tid)) {
        *rank_p = IWI_JOB_OTHER;
    }
    free(text);
    return IW_OK;
}

/* ---- the table: open addressing, at most half full ---- */

static struct iwi_job_thread *place_of(const struct iwi_job_threads *threads, pid_t tid)
{
    size_t at = (size_t)tid * UINT64_C(0x9e3779b97f4a7c15) >> 32 & (threads->capacity - 1);

    while (threads->table[at].tid != 0 && threads->table[at].tid != tid) {
        at = (at + 1) & (threads->capacity - 1);
    }
    return &threads->table[at];
}

static iw_status make_room(struct iwi_job_threads *threads)
{
    struct iwi_job_threads larger = *threads;

    if (2 * (threads->count + 1) <= threads->capacity) {
        return IW_OK;
    }
    larger.capacity = threads->capacity > 0 ? 2 * threads->capacity : LEAST_PLACES;
    larger.table = iwi_new_array(threads->log, larger.capacity, sizeof *larger.table);
    if (larger.table == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < threads->capacity; i++) {
        if (threads->table[i].tid != 0) {
            *place_of(&larger, threads->table[i].tid) = threads->table[i];
        }
    }
    free(threads->table);
    *threads = larger;
    return IW_OK;
}

iw_status iwi_job_thread_find(struct iwi_job_threads *threads, pid_t tid, const char *comm, int64_t *rank_p)
{
    struct iwi_job_thread *thread;

    if (tid <= 0) {
        *rank_p = IWI_JOB_NOT;
        return IW_OK;
    }
    IW_TRY(make_room(threads));
    thread = place_of(threads, tid);
    if (!thread->is_told && (thread->tid == 0 || strncmp(thread->comm, comm, sizeof thread->comm - 1) != 0)) {
        threads->count += thread->tid == 0;
        thread->tid = tid;
        snprintf(thread->comm, sizeof thread->comm, "%s", comm);
        IW_TRY(look_up(threads, tid, &thread->rank));
    }
    *rank_p = thread->rank;
    return IW_OK;
}

iw_status iwi_job_thread_tell(struct iwi_job_threads *threads, pid_t tid, int64_t rank)
{
    struct iwi_job_thread *thread;

    IW_TRY(make_room(threads));
    thread = place_of(threads, tid);
    threads->count += thread->tid == 0;
    *thread = (struct iwi_job_thread){.tid = tid, .rank = rank, .is_told = true};
    return IW_OK;
}

int64_t iwi_job_thread_known(const struct iwi_job_threads *threads, pid_t tid)
{
    const struct iwi_job_thread *thread = tid > 0 && threads->capacity > 0 ? place_of(threads, tid) : NULL;

    return thread != NULL && thread->tid == tid ? thread->rank : IWI_JOB_NOT;
}

void iwi_job_threads_release(struct iwi_job_threads *threads)
{
    free(threads->table);
    threads->table = NULL;
    threads->count = threads->capacity = 0;
}
