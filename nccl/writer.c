/* Done operations to a file: a ring that any thread puts into without waiting, and one thread that writes.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The ring is the bounded queue of Dmitry Vyukov: each cell has a turn; a cell whose turn is the place of
 * the one who puts may be filled, one ahead of it may be taken.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/output.h"
#include "recorder.h"

enum { BUFFER_SIZE = 64 << 10, DRAIN_MS = 100, WHY_SIZE = 4096 + 512 };
#define MOST_BYTES (UINT64_C(1) << 30) /* of a file, if the environment does not say */

struct cell {
    _Atomic uint64_t turn;
    struct iwi_nccl_record record;
};

static struct {
    struct cell *cells; /* kept once they are made: late events may still come */
    _Atomic uint64_t put;
    uint64_t taken;
    _Atomic uint64_t lost;
    _Atomic pid_t pid;
    _Atomic bool is_running, has_warned;
    bool has_thread, is_ending;
    pthread_t thread;
    pthread_mutex_t mutex; /* of is_ending */
    pthread_cond_t wake;
    int fd;
    uint64_t bytes, most_bytes;
    char path[4096];
    struct iwi_nccl_origin origin;
    iwi_nccl_log_fn log;
} writer = {.fd = -1, .mutex = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER};

/* ---- what cannot be done ---- */

/* Once: a plugin must not fill a job's log. */
static void warn_text(const char *text)
{
    if (!atomic_exchange(&writer.has_warned, true) && writer.log != NULL) {
        writer.log(IWI_NCCL_LOG_WARN, IWI_NCCL_LOG_PROFILE, __FILE__, __LINE__,
                   "idlewave: %s; recording stops, the job continues", text);
    }
}

static void warn(const char *what, int error)
{
    char text[WHY_SIZE];

    (void)snprintf(text, sizeof text, "%s '%s'%s%s", what, writer.path, error != 0 ? ": " : "",
                   error != 0 ? strerror(error) : "");
    warn_text(text);
}

void iwi_nccl_count_lost(void)
{
    atomic_fetch_add(&writer.lost, 1);
}

bool iwi_nccl_is_ours(void)
{
    return writer.is_running;
}

/* ---- the ring ---- */

void iwi_nccl_done(const struct iwi_nccl_record *record)
{
    uint64_t place = writer.put;

    if (!writer.is_running) {
        iwi_nccl_count_lost();
        return;
    }
    for (;;) {
        struct cell *cell = &writer.cells[place % IWI_NCCL_RECORDS];
        const int64_t ahead = (int64_t)(cell->turn - place);

        if (ahead < 0) {
            iwi_nccl_count_lost();
            return;
        }
        if (ahead == 0 && atomic_compare_exchange_weak(&writer.put, &place, place + 1)) {
            cell->record = *record;
            cell->turn = place + 1;
            return;
        }
        if (ahead > 0) {
            place = writer.put;
        }
    }
}

static bool take(struct iwi_nccl_record *record)
{
    struct cell *cell = &writer.cells[writer.taken % IWI_NCCL_RECORDS];

    if (cell->turn != writer.taken + 1) {
        return false;
    }
    *record = cell->record;
    cell->turn = writer.taken + IWI_NCCL_RECORDS;
    writer.taken++;
    return true;
}

static bool make_ring(void)
{
    if (writer.cells == NULL) {
        writer.cells = calloc(IWI_NCCL_RECORDS, sizeof writer.cells[0]);
    }
    if (writer.cells == NULL) {
        return false;
    }
    for (uint64_t i = 0; i < IWI_NCCL_RECORDS; i++) {
        writer.cells[i].turn = i;
    }
    writer.put = writer.taken = 0;
    return true;
}

/* ---- the file ---- */

static void close_file(void)
{
    if (writer.fd >= 0) {
        (void)close(writer.fd);
        writer.fd = -1;
    }
}

/* Of lines of which the disk took `put` bytes, whole ones stay; the others are counted. */
static void give_up(const char *lines, size_t size, size_t put)
{
    size_t whole = put;

    while (whole > 0 && lines[whole - 1] != '\n') {
        whole--;
    }
    if (whole < put) {
        (void)!ftruncate(writer.fd, (off_t)(writer.bytes - (put - whole)));
    }
    for (size_t i = whole; i < size; i++) {
        writer.lost += lines[i] == '\n';
    }
    close_file();
}

static void put_lines(const char *lines, size_t size)
{
    size_t done = 0;

    while (done < size && writer.fd >= 0) {
        const ssize_t put = write(writer.fd, lines + done, size - done);

        if (put < 0 && errno == EINTR) {
            continue;
        }
        if (put <= 0) {
            warn("cannot write", errno);
            give_up(lines, size, done);
            return;
        }
        done += (size_t)put;
        writer.bytes += (uint64_t)put;
    }
}

/* Whole lines only: a job that is killed, or a disk that is full, leaves a file that can be read. */
static void drain(void)
{
    static char buffer[BUFFER_SIZE]; /* of the one thread that drains */
    struct iwi_nccl_record record;
    size_t used = 0;

    while (take(&record)) {
        char line[IWI_NCCL_LINE_SIZE];
        const size_t size = iwi_nccl_line(&record, &writer.origin, iwi_nccl_wall_ns(), writer.lost, line);

        if (writer.fd < 0 || size == 0 || writer.bytes + used + size > writer.most_bytes) {
            if (writer.fd >= 0 && size > 0) {
                put_lines(buffer, used);
                used = 0;
                warn("IDLEWAVE_NCCL_MAX_BYTES reached:", 0);
                close_file();
            }
            iwi_nccl_count_lost();
            continue;
        }
        if (used + size > sizeof buffer) {
            put_lines(buffer, used);
            used = 0;
        }
        memcpy(buffer + used, line, size);
        used += size;
    }
    put_lines(buffer, used);
}

static void read_settings(void)
{
    const char *most = getenv("IDLEWAVE_NCCL_MAX_BYTES");

    writer.most_bytes = most != NULL ? strtoull(most, NULL, 10) : 0;
    writer.most_bytes = writer.most_bytes > 0 ? writer.most_bytes : MOST_BYTES;
    if (gethostname(writer.origin.host, sizeof writer.origin.host) != 0) {
        (void)snprintf(writer.origin.host, sizeof writer.origin.host, "unknown");
    }
    writer.origin.host[sizeof writer.origin.host - 1] = '\0';
    writer.origin.pid = (long)getpid();
}

/* The file's path; false: it is too long. */
static bool name_file(const char *folder, char *path, size_t path_size)
{
    const int size =
        snprintf(path, path_size, "%s/%s-%ld.jsonl", folder, writer.origin.host, writer.origin.pid);

    return size >= 0 && (size_t)size < path_size;
}

static void keep_text(void *arg, iw_log_level level, const char *line)
{
    (void)level;
    (void)snprintf(arg, WHY_SIZE, "%s", line);
}

/* A regular file, by no link of others and never a pipe, which would stop the job. */
static int open_growing(const char *folder, const char *path, char *why)
{
    const iw_log log = {keep_text, why};
    int fd = -1;

    return iwi_folder_ensure(&log, folder, IWI_FOLDER_MADE) == IW_OK &&
                   iwi_open_growing(&log, path, O_WRONLY | O_APPEND, &fd) == IW_OK
               ? fd
               : -1;
}

/* A file that this process wrote before goes on; what lies there of another one is replaced. */
static bool open_file(void)
{
    const char *folder = getenv("IDLEWAVE_NCCL_DIR");
    char path[sizeof writer.path], why[WHY_SIZE] = "";
    struct stat status;
    bool goes_on;

    read_settings();
    folder = folder != NULL && folder[0] != '\0' ? folder : "idlewave-nccl";
    if (!name_file(folder, path, sizeof path)) {
        warn("path too long:", 0);
        return false;
    }
    goes_on = strcmp(path, writer.path) == 0;
    if (!goes_on) {
        writer.lost = 0;
    }
    memcpy(writer.path, path, sizeof path);
    writer.fd = open_growing(folder, path, why);
    if (writer.fd < 0) {
        warn_text(why);
        return false;
    }
    if (!goes_on && ftruncate(writer.fd, 0) != 0) {
        warn("cannot write", errno);
        close_file();
        return false;
    }
    writer.bytes = fstat(writer.fd, &status) == 0 ? (uint64_t)status.st_size : 0;
    return true;
}

/* ---- the thread ---- */

static void wait_a_while(void)
{
    struct timespec until;

    (void)clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += DRAIN_MS * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000L;
    until.tv_nsec %= 1000000000L;
    (void)pthread_cond_timedwait(&writer.wake, &writer.mutex, &until);
}

static void *write_all(void *arg)
{
    bool is_ending;

    do {
        (void)pthread_mutex_lock(&writer.mutex);
        if (!writer.is_ending) {
            wait_a_while();
        }
        is_ending = writer.is_ending;
        (void)pthread_mutex_unlock(&writer.mutex);
        drain();
    } while (!is_ending);
    return arg;
}

/* The application's signals are for its own threads. */
static int start_thread(void)
{
    sigset_t all, before;
    int error;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(&writer.thread, NULL, write_all, NULL);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

/* A child of fork() has its parent's memory, but neither its threads nor a right to its file. */
static void forget_parent(void)
{
    close_file();
    writer.path[0] = '\0';
    writer.is_ending = false;
    writer.has_thread = false;
    (void)pthread_mutex_init(&writer.mutex, NULL);
    (void)pthread_cond_init(&writer.wake, NULL);
}

/* In a child of fork(), at once: asking for its number at each event would be a system call. */
static void stop_in_child(void)
{
    writer.is_running = false;
}

static int watch_forks(void)
{
    static bool is_watching; /* under the lock of beginning and end */
    const int error = is_watching ? 0 : pthread_atfork(NULL, NULL, stop_in_child);

    is_watching = error == 0;
    return error;
}

bool iwi_nccl_writer_begin(iwi_nccl_log_fn log)
{
    int error;

    if (writer.pid != 0 && writer.pid != getpid()) {
        forget_parent();
    }
    writer.log = log;
    writer.pid = getpid();
    writer.is_ending = false;
    if (!open_file()) {
        return false;
    }
    error = make_ring() ? watch_forks() : ENOMEM;
    error = error == 0 ? start_thread() : error;
    if (error != 0) {
        warn("cannot start the writing thread for", error);
        close_file();
        return false;
    }
    writer.has_thread = true;
    writer.is_running = true;
    return true;
}

void iwi_nccl_writer_end(void)
{
    if (!writer.has_thread || writer.pid != getpid()) {
        return;
    }
    writer.is_running = false;
    (void)pthread_mutex_lock(&writer.mutex);
    writer.is_ending = true;
    (void)pthread_cond_signal(&writer.wake);
    (void)pthread_mutex_unlock(&writer.mutex);
    (void)pthread_join(writer.thread, NULL);
    writer.has_thread = false;
    close_file();
    if (writer.lost > 0 && writer.log != NULL) {
        writer.log(IWI_NCCL_LOG_INFO, IWI_NCCL_LOG_PROFILE, __FILE__, __LINE__,
                   "idlewave: %" PRIu64 " operations are missing in '%s'", (uint64_t)writer.lost,
                   writer.path);
    }
}
