/* What all of the tracer shares: its state, its one place for failures, the threads of the process.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mpi/trace/archive.h"
#include "mpi/trace/folder.h"
#include "mpi/trace/tracer.h"

struct iwi_tracer iwi_tracer = {.mutex = PTHREAD_MUTEX_INITIALIZER, .is_on = true};
__thread struct iwi_thread *iwi_self __attribute__((tls_model("initial-exec")));

void iwi_tracer_message(const char *format, ...)
{
    char line[8192];
    va_list args;

    va_start(args, format);
    /* clang-tidy 14 does not see va_start() in a file that is built twice
     * NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized) */
    (void)vsnprintf(line, sizeof line, format, args);
    va_end(args);
    fprintf(stderr, "idlewave: %s\n", line);
}

void iwi_tracer_fail(int error, const char *what)
{
    (void)pthread_mutex_lock(&iwi_tracer.mutex);
    if (iwi_tracer.failure == 0) {
        (void)snprintf(
            iwi_tracer.failure_text, sizeof iwi_tracer.failure_text, "%.160s: %.80s", what,
            strerror(error)); // NOLINT(concurrency-mt-unsafe): under our mutex, text of a known error
        iwi_tracer.failure = error != 0 ? error : EIO;
        iwi_tracer.is_on = false;
    }
    (void)pthread_mutex_unlock(&iwi_tracer.mutex);
}

void iwi_tell_how_to_finish(const char *what)
{
    Dl_info info;
    char place[4096] = "";

    if (dladdr(&iwi_tracer, &info) != 0 && info.dli_fname != NULL && strrchr(info.dli_fname, '/') != NULL) {
        (void)snprintf(place, sizeof place, "%.*s", (int)(strrchr(info.dli_fname, '/') - info.dli_fname + 1),
                       info.dli_fname);
    }
    iwi_tracer_message("%s; to finish the trace, run '%sidlewave-trace-finish %s'", what, place,
                       iwi_tracer.folder);
}

/* ---- threads ---- */

static pthread_key_t thread_end;
static bool has_thread_end;

static void write_head(struct iwi_thread *thread, struct iwi_spool_head *head)
{
    struct timespec now;

    if (head == NULL) {
        return;
    }
    memset(head, 0, sizeof *head);
    head->magic = IWI_SPOOL_MAGIC;
    head->rank = (uint32_t)iwi_tracer.rank;
    head->world_size = (uint32_t)iwi_tracer.size;
    head->thread = thread->index;
    head->version = IWI_SPOOL_VERSION;
    head->call_digest = iwi_call_digest;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    head->realtime_ns = now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
    head->monotonic_ns = (int64_t)iwi_wall_ns();
    (void)gethostname(head->host, sizeof head->host - 1);
    (void)snprintf(head->mpi, sizeof head->mpi, "%s", IW_MPI_NAME);
    (void)snprintf(head->cpu_clock, sizeof head->cpu_clock, "%s", iwi_cpu_clock_name(&thread->clock));
}

/* Only a thread with a file that has a head gets a number: the archive is made of all of them. Gives 0 or
 * errno; caller holds the mutex. */
static int list_thread(struct iwi_thread *thread)
{
    thread->index = iwi_tracer.thread_count;
    iwi_spool_path(iwi_tracer.folder, (uint32_t)iwi_tracer.rank, thread->index, thread->path,
                   sizeof thread->path);
    int error = iwi_writer_open(&thread->writer, thread->path, iwi_tracer.window_bytes);
    if (error != 0) {
        return error;
    }
    write_head(thread, iwi_spool_room(&thread->writer.spool, sizeof(struct iwi_spool_head)));
    thread->next = iwi_tracer.threads;
    iwi_tracer.threads = thread;
    iwi_tracer.thread_count++;
    return 0;
}

void iwi_thread_lose(struct iwi_thread *thread)
{
    iwi_tracer_fail(thread->writer.spool.error, "writing the trace");
    thread->is_writing = false;
    thread->writer.is_open = false;
}

struct iwi_thread *iwi_thread_new(void)
{
    struct iwi_thread *thread = calloc(1, sizeof *thread);

    if (thread == NULL) {
        iwi_tracer_fail(ENOMEM, "a new thread");
        return NULL;
    }
    iwi_cpu_clock_init(&thread->clock);
    (void)pthread_mutex_lock(&iwi_tracer.mutex);
    int error = list_thread(thread);
    (void)pthread_mutex_unlock(&iwi_tracer.mutex);
    if (error != 0) {
        iwi_tracer_fail(error, thread->path);
        free(thread);
        return NULL;
    }
    thread->is_writing = iwi_tracer.is_on;
    if (!thread->is_writing) {
        iwi_thread_check(thread, iwi_writer_switch(&thread->writer, iwi_thread_ns(&thread->clock), false));
    }
    thread->leave_cpu_ns = iwi_cpu_ns(&thread->clock, iwi_thread_ns(&thread->clock));
    return thread;
}

void iwi_thread_free(struct iwi_thread *thread)
{
    iwi_writer_release(&thread->writer);
    free(thread->batch.ops);
    free(thread->batch.are_unknown);
    free(thread->batch.statuses);
    free(thread->batch.handles);
    free(thread);
}

static void end_thread(void *arg)
{
    struct iwi_thread *thread = arg;

    (void)pthread_mutex_lock(&iwi_tracer.mutex); /* MPI_Finalize may be closing it */
    if (iwi_tracer.state == IWI_TRACER_RUNNING) {
        thread->is_ended = true;
    }
    (void)pthread_mutex_unlock(&iwi_tracer.mutex);
    iwi_self = NULL;
}

/* A thread that has ended leaves its file to the next one that begins: programs that start threads again and
 * again need no more files and windows than threads at a time. NULL: there is none. */
static struct iwi_thread *take_over(void)
{
    (void)pthread_mutex_lock(&iwi_tracer.mutex);
    struct iwi_thread *thread = iwi_tracer.threads;
    while (thread != NULL && !thread->is_ended) {
        thread = thread->next;
    }
    if (thread != NULL) {
        thread->is_ended = false;
    }
    (void)pthread_mutex_unlock(&iwi_tracer.mutex);
    if (thread != NULL) {
        iwi_cpu_clock_init(&thread->clock);
        thread->is_inside = false;
        thread->gap_cpu_ns = 0;
        thread->leave_cpu_ns = iwi_cpu_ns(&thread->clock, iwi_thread_ns(&thread->clock));
    }
    return thread;
}

struct iwi_thread *iwi_thread_take(void)
{
    iwi_self = take_over();
    if (iwi_self == NULL) {
        iwi_self = iwi_thread_new();
    }
    if (iwi_self != NULL && has_thread_end) {
        (void)pthread_setspecific(thread_end, iwi_self);
    }
    return iwi_self;
}

void iwi_thread_switch(struct iwi_thread *thread, uint64_t now_ns)
{
    thread->is_writing = iwi_tracer.is_on;
    if (iwi_tracer.failure != 0) {
        thread->is_writing = false;
        return;
    }
    iwi_thread_check(thread, iwi_writer_switch(&thread->writer, now_ns, thread->is_writing));
    thread->gap_cpu_ns = thread->polls = thread->poll_ns = 0;
}

void iwi_threads_init(void)
{
    has_thread_end = pthread_key_create(&thread_end, end_thread) == 0;
}
