/* Makes and removes an instance, and sets it to the watched CPUs and to the clock that measures.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/record/kernel/tracefs_instance.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/base.h"
#include "features/record/kernel/tracefs.h"

static uint64_t tick_of(const struct iwi_tracefs_instance *instance, unsigned long long stamp)
{
    return instance->is_bridged ? iwi_clock_bridge_ticks(&instance->bridge, (int64_t)stamp) : stamp;
}

/* A full page has no room for the number of events that were lost before it; the kernel counts them, too. */
static void count_lost(struct iwi_tracefs_instance *instance, size_t place, int missed)
{
    static const char key[] = "\noverrun: ";
    struct iwi_method *method = instance->method;
    char path[64], stats[512];
    const char *found = NULL;

    snprintf(path, sizeof path, "per_cpu/cpu%" PRIu32 "/stats", method->watched[place].cpu);
    if (iwi_tracefs_read(instance->folder, path, stats, sizeof stats)) {
        found = strstr(stats, key);
    }
    if (found != NULL) {
        const uint64_t overrun = strtoull(found + strlen(key), NULL, 10);

        method->lost += overrun - instance->overruns[place];
        instance->overruns[place] = overrun;
    } else {
        method->lost += missed > 0 ? (uint64_t)missed : 1;
    }
}

/* *last_p: tick of the last event in it, unchanged if there is none. */
static iw_status take_page(struct iwi_tracefs_instance *instance, size_t place, uint64_t *last_p)
{
    struct kbuffer *kbuffer = instance->kbuffer;
    unsigned long long stamp;
    void *data;
    int missed;

    if (kbuffer_load_subbuffer(kbuffer, instance->page) != 0) {
        return IW_OK;
    }
    missed = kbuffer_missed_events(kbuffer);
    data = kbuffer_read_event(kbuffer, &stamp);
    if (missed != 0) {
        count_lost(instance, place, missed);
        IW_TRY(iwi_kernel_events_reset(instance->events, place, data != NULL ? tick_of(instance, stamp) : 0));
    }
    while (data != NULL) {
        *last_p = tick_of(instance, stamp);
        IW_TRY(iwi_kernel_events_take(instance->events, place, *last_p, data,
                                      (size_t)kbuffer_event_size(kbuffer)));
        data = kbuffer_next_event(kbuffer, &stamp);
    }
    return IW_OK;
}

/* read() gives also the page that the kernel is still filling, as far as it is. What happens from now on is
 * left for the next time: on a busy CPU there would be no end. */
static iw_status drain_place(struct iwi_tracefs_instance *instance, size_t place)
{
    const struct iwi_method *method = instance->method;
    const uint64_t now = iwi_clock_now(method->clock);
    uint64_t last = 0;

    while (last < now) {
        const ssize_t got = read(instance->pipes[place], instance->page, instance->page_size);

        if (got == 0 || (got < 0 && errno == EAGAIN)) {
            return IW_OK;
        }
        if (got > 0) {
            memset(instance->page + got, 0, instance->page_size - (size_t)got);
            IW_TRY(take_page(instance, place, &last));
        } else if (errno != EINTR) {
            return iwi_fail(method->log, IW_ERR_IO, "cannot read kernel events of CPU %" PRIu32 ": %s",
                            method->watched[place].cpu, strerror(errno));
        }
    }
    return IW_OK;
}

iw_status iwi_tracefs_instance_drain(struct iwi_method *method)
{
    struct iwi_tracefs_instance *instance = method->state;

    if (instance->is_bridged) {
        iwi_clock_bridge_renew(&instance->bridge);
    }
    for (size_t i = 0; i < method->count; i++) {
        IW_TRY(drain_place(instance, i));
    }
    return IW_OK;
}

/* A folder of tracefs is busy until the kernel has closed all files of a killed process. */
enum { BUSY_STEP_MS = 10, BUSY_STEPS = 1000 };
enum { MOST_FDS_TO_TRY = 65536 };

/* ---- in the guard ---- */

static void close_between(int first, int last, int fd_limit)
{
    if (first > last) {
        return;
    }
#ifdef SYS_close_range
    if (syscall(SYS_close_range, (unsigned)first, (unsigned)last, 0u) == 0) {
        return;
    }
#endif
    for (int fd = first; fd <= last && fd < fd_limit; fd++) { /* kernels before 5.9 */
        (void)close(fd);
    }
}

/* Copies of what the process has open would outlive it: locks, pipes that others wait on. */
static void close_all_but(const int *kept, size_t count, int fd_limit)
{
    int first = 0;

    for (;;) {
        int next = INT32_MAX; /* smallest kept one from `first` on */

        for (size_t i = 0; i < count; i++) {
            if (kept[i] >= first && kept[i] < next) {
                next = kept[i];
            }
        }
        if (next == INT32_MAX) {
            close_between(first, INT32_MAX, fd_limit);
            return;
        }
        close_between(first, next - 1, fd_limit);
        first = next + 1;
    }
}

/* ---- in the guard, or in the process where the guard was killed ---- */

static bool write_back(const struct iwi_undo *step)
{
    const size_t length = strlen(step->text);
    const int fd = openat(step->folder, step->path, O_WRONLY | O_TRUNC | O_CLOEXEC);
    bool is_written;

    if (fd < 0) {
        return false;
    }
    is_written = write(fd, step->text, length) == (ssize_t)length;
    return close(fd) == 0 && is_written;
}

static bool undo_once(const struct iwi_undo *step)
{
    if (step->is_removal) {
        return unlinkat(step->folder, step->path, AT_REMOVEDIR) == 0 || errno == ENOENT; /* never made */
    }
    return write_back(step);
}

static bool undo(const struct iwi_undo *step)
{
    for (int i = 0; i < BUSY_STEPS; i++) {
        if (undo_once(step)) {
            return true;
        }
        if (errno != EBUSY && errno != EINTR) {
            return false;
        }
        (void)poll(NULL, 0, BUSY_STEP_MS);
    }
    return false;
}

/* The last first; false: some could not be. */
static bool undo_all(const struct iwi_undo *steps, size_t count)
{
    bool is_undone = true;

    for (size_t i = count; i > 0; i--) {
        is_undone = undo(&steps[i - 1]) && is_undone;
    }
    return is_undone;
}

/* One byte from the other side; false: that has closed, or is gone. */
static bool await_byte(int pipe)
{
    ssize_t got;
    char byte;

    do {
        got = read(pipe, &byte, 1);
    } while (got < 0 && errno == EINTR);
    return got == 1;
}

/* All signals are blocked, and stay so: what can be blocked does not end a guard. */
static _Noreturn void keep(int pipe, const struct iwi_undo *steps, size_t count, int fd_limit)
{
    int kept[IWI_CLEANUP_STEPS + 1] = {pipe};

    for (size_t i = 0; i < count; i++) {
        kept[i + 1] = steps[i].folder;
    }
    (void)setsid();
    (void)prctl(PR_SET_NAME, "idlewave-keeper");
    close_all_but(kept, count + 1, fd_limit);
    (void)!chdir("/");
    (void)!write(pipe, "", 1); /* out of reach of what is sent to the process's group */
    (void)await_byte(pipe);
    _exit(undo_all(steps, count) ? 0 : 1);
}

/* ---- in the process ---- */

static int fd_limit_of_process(void)
{
    struct rlimit limit;

    return getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < MOST_FDS_TO_TRY ? (int)limit.rlim_cur
                                                                                     : MOST_FDS_TO_TRY;
}

/* Signals are blocked across the fork, so that none of this process' handlers runs in the guard. */
static pid_t fork_keeper(int pipe, const struct iwi_undo *steps, size_t count)
{
    const int fd_limit = fd_limit_of_process();
    sigset_t all, before;
    pid_t pid;
    int error;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    pid = fork();
    if (pid == 0) {
        keep(pipe, steps, count, fd_limit);
    }
    error = errno;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return pid;
}

bool iwi_cleanup_guard_start(struct iwi_cleanup_guard *guard, const struct iwi_undo *steps, size_t count)
{
    int ends[2], error;
    pid_t pid;

    *guard = (struct iwi_cleanup_guard){.pid = -1, .pipe = -1};
    if (count > IWI_CLEANUP_STEPS) {
        errno = E2BIG;
        return false;
    }
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
        return false;
    }
    pid = fork_keeper(ends[0], steps, count);
    error = errno;
    (void)close(ends[0]);
    if (pid < 0) {
        (void)close(ends[1]);
        errno = error;
        return false;
    }
    *guard = (struct iwi_cleanup_guard){.pid = pid, .pipe = ends[1], .count = count};
    for (size_t i = 0; i < count; i++) {
        guard->steps[i] = steps[i];
    }
    if (!await_byte(ends[1])) {
        (void)iwi_cleanup_guard_release(guard);
        errno = ECHILD;
        return false;
    }
    return true;
}

bool iwi_cleanup_guard_release(struct iwi_cleanup_guard *guard)
{
    bool is_undone;
    int state = 0;
    pid_t pid;

    if (guard->pipe < 0) {
        return true;
    }
    (void)close(guard->pipe);
    do {
        pid = waitpid(guard->pid, &state, 0);
    } while (pid < 0 && errno == EINTR);
    /* where this process ignores its children (SIGCHLD), it is only known that the guard has ended: undoing
     * twice does no harm */
    is_undone =
        (pid > 0 && WIFEXITED(state) && WEXITSTATUS(state) == 0) || undo_all(guard->steps, guard->count);
    *guard = (struct iwi_cleanup_guard){.pid = -1, .pipe = -1};
    return is_undone;
}

static const char NAME_START[] = "idlewave-";

/* Room for some seconds of some 10000 events a second. */
static const char WATCHED_BUFFER_KB[] = "4096", SMALLEST_BUFFER_KB[] = "1";

enum { PATH_SIZE = 160, MOST_NAMES = 100 };

/* ---- those that were left ---- */

/* The process that made an instance, by a name as choose_path() gives it; 0: others named it. */
static pid_t maker_of(const char *name)
{
    static const char DIGITS[] = "0123456789";
    const size_t length = strlen(NAME_START);
    size_t digits;
    long pid;

    if (strncmp(name, NAME_START, length) != 0) {
        return 0;
    }
    name += length;
    digits = strspn(name, DIGITS);
    if (name[digits] == '.' && name[digits + 1] != '\0') {
        digits += 1 + strspn(name + digits + 1, DIGITS);
    }
    pid = strtol(name, NULL, 10);
    return name[digits] == '\0' && pid > 0 && pid <= INT32_MAX ? (pid_t)pid : 0;
}

static bool is_stale(const char *name)
{
    const pid_t maker = maker_of(name);

    return maker > 0 && kill(maker, 0) != 0 && errno == ESRCH;
}

/* Only who is killed together with his guard leaves one. Those of other PID namespaces look stale too, but
 * what is in use is busy, and stays. */
static void remove_stale(const struct iwi_tracefs_instance *instance)
{
    const int fd = openat(instance->tracing, "instances", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;
    const struct dirent *entry;

    if (folder == NULL) {
        if (fd >= 0) {
            (void)close(fd);
        }
        return;
    }
    while ((entry = readdir(folder)) != NULL) {
        if (is_stale(entry->d_name)) {
            (void)unlinkat(fd, entry->d_name, AT_REMOVEDIR);
        }
    }
    (void)closedir(folder);
}

/* ---- making ---- */

iw_status iwi_tracefs_instance_new(struct iwi_method *method)
{
    struct iwi_tracefs_instance *instance = iwi_new_array(method->log, 1, sizeof *instance);
    int *pipes = iwi_new_array(method->log, method->count, sizeof *pipes);
    uint64_t *overruns = iwi_new_array(method->log, method->count, sizeof *overruns);

    if (instance == NULL || pipes == NULL || overruns == NULL) {
        free(instance);
        free(pipes);
        free(overruns);
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < method->count; i++) {
        pipes[i] = -1;
    }
    *instance = (struct iwi_tracefs_instance){.method = method,
                                              .pipes = pipes,
                                              .overruns = overruns,
                                              .tracing = -1,
                                              .folder = -1,
                                              .on = -1,
                                              .guard = {.pipe = -1}};
    method->state = instance;
    instance->tracing = iwi_tracefs_open(method);
    if (instance->tracing < 0) {
        return IW_ERR_IO;
    }
    remove_stale(instance);
    return IW_OK;
}

/* A process may have several; those of other containers may have our number. */
static void choose_path(struct iwi_tracefs_instance *instance)
{
    int number = 0;

    snprintf(instance->path, sizeof instance->path, "instances/%s%ld", NAME_START, (long)getpid());
    while (number < MOST_NAMES && faccessat(instance->tracing, instance->path, F_OK, 0) == 0) {
        number++;
        snprintf(instance->path, sizeof instance->path, "instances/%s%ld.%d", NAME_START, (long)getpid(),
                 number);
    }
}

static iw_status start_keeper(struct iwi_tracefs_instance *instance, const struct iwi_undo *steps,
                              size_t count)
{
    struct iwi_undo all[IWI_CLEANUP_STEPS];

    if (count >= IWI_CLEANUP_STEPS) {
        return iwi_method_refuse(instance->method, "%zu steps are too many to undo", count);
    }
    for (size_t i = 0; i < count; i++) {
        all[i] = steps[i];
    }
    all[count] = (struct iwi_undo){.folder = instance->tracing, .is_removal = true};
    snprintf(all[count].path, sizeof all[count].path, "%s", instance->path);
    return iwi_cleanup_guard_start(&instance->guard, all, count + 1)
               ? IW_OK
               : iwi_method_refuse(instance->method, "cannot start a process that cleans up later: %s",
                                   strerror(errno));
}

static iw_status make_folder(struct iwi_tracefs_instance *instance)
{
    if (mkdirat(instance->tracing, instance->path, 0700) != 0) {
        return iwi_method_refuse(instance->method, "tracefs gives no %s: %s", instance->path,
                                 strerror(errno));
    }
    instance->folder = openat(instance->tracing, instance->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (instance->folder >= 0) {
        instance->on = openat(instance->folder, "tracing_on", O_WRONLY | O_CLOEXEC);
    }
    return instance->on >= 0 ? IW_OK
                             : iwi_method_refuse(instance->method, "cannot open %s of tracefs: %s",
                                                 instance->path, strerror(errno));
}

iw_status iwi_tracefs_instance_set(struct iwi_tracefs_instance *instance, const char *path, const char *text)
{
    return iwi_tracefs_write(instance->folder, path, text)
               ? IW_OK
               : iwi_method_refuse(instance->method, "cannot write '%s' to %s/%s of tracefs: %s", text,
                                   instance->path, path, strerror(errno));
}

static iw_status set_sizes(struct iwi_tracefs_instance *instance)
{
    const struct iwi_method *method = instance->method;

    IW_TRY(iwi_tracefs_instance_set(instance, "buffer_size_kb", SMALLEST_BUFFER_KB));
    for (size_t i = 0; i < method->count; i++) {
        char path[PATH_SIZE];

        snprintf(path, sizeof path, "per_cpu/cpu%" PRIu32 "/buffer_size_kb", method->watched[i].cpu);
        IW_TRY(iwi_tracefs_instance_set(instance, path, WATCHED_BUFFER_KB));
    }
    return IW_OK;
}

/* Words of 32 CPUs in hexadecimal, the highest first: "3,00000001". */
static iw_status set_mask(struct iwi_tracefs_instance *instance)
{
    const struct iwi_method *method = instance->method;
    enum { DIGITS = 9 };
    uint32_t highest = 0, *words;
    size_t count, length = 0;
    iw_status status;
    char *text;

    for (size_t i = 0; i < method->count; i++) {
        highest = method->watched[i].cpu > highest ? method->watched[i].cpu : highest;
    }
    count = highest / 32 + 1;
    words = iwi_new_array(method->log, count, sizeof *words);
    text = iwi_new_array(method->log, count * DIGITS + 1, 1);
    if (words == NULL || text == NULL) {
        free(words);
        free(text);
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < method->count; i++) {
        words[method->watched[i].cpu / 32] |= UINT32_C(1) << method->watched[i].cpu % 32;
    }
    for (size_t i = count; i > 0; i--) {
        length += (size_t)snprintf(text + length, DIGITS + 1, i == 1 ? "%08" PRIx32 : "%08" PRIx32 ",",
                                   words[i - 1]);
    }
    status = iwi_tracefs_instance_set(instance, "tracing_cpumask", text);
    free(words);
    free(text);
    return status;
}

/* The kernel can stamp events with the very counter that the loops read. */
static iw_status set_clock(struct iwi_tracefs_instance *instance)
{
    const struct iwi_clock *clock = instance->method->clock;

    if (strcmp(clock->ops->name, "tsc") == 0 &&
        iwi_tracefs_write(instance->folder, "trace_clock", "x86-tsc")) {
        return IW_OK;
    }
    instance->is_bridged = true;
    iwi_clock_bridge_begin(&instance->bridge, clock);
    return iwi_tracefs_instance_set(instance, "trace_clock", "mono_raw");
}

iw_status iwi_tracefs_instance_make(struct iwi_tracefs_instance *instance, const struct iwi_undo *steps,
                                    size_t count)
{
    choose_path(instance);
    IW_TRY(start_keeper(instance, steps, count));
    IW_TRY(make_folder(instance));
    IW_TRY(iwi_tracefs_instance_set(instance, "tracing_on", "0"));
    IW_TRY(set_sizes(instance));
    IW_TRY(set_mask(instance));
    return set_clock(instance);
}

/* ---- starting and ending ---- */

static iw_status open_pipes(struct iwi_tracefs_instance *instance)
{
    struct iwi_method *method = instance->method;

    for (size_t i = 0; i < method->count; i++) {
        char path[PATH_SIZE];

        snprintf(path, sizeof path, "per_cpu/cpu%" PRIu32 "/trace_pipe_raw", method->watched[i].cpu);
        instance->pipes[i] = openat(instance->folder, path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
        if (instance->pipes[i] < 0) {
            return iwi_method_refuse(method, "cannot read events of CPU %" PRIu32 " from tracefs: %s",
                                     method->watched[i].cpu, strerror(errno));
        }
    }
    return IW_OK;
}

/* Pages may be larger than those of the machine's memory (buffer_subbuf_size_kb). */
static size_t page_size_of(const struct iwi_tracefs_instance *instance)
{
    struct tep_handle *tep = tep_alloc();
    size_t size = (size_t)getpagesize();
    char header[1024];

    if (tep != NULL && iwi_tracefs_read(instance->folder, "events/header_page", header, sizeof header) &&
        tep_parse_header_page(tep, header, strlen(header), (int)sizeof(long)) == 0 &&
        tep_get_sub_buffer_size(tep) > 0) {
        size = (size_t)tep_get_sub_buffer_size(tep);
    }
    tep_free(tep);
    return size;
}

struct kbuffer *iwi_new_kbuffer(void)
{
    return kbuffer_alloc(sizeof(long) == 8 ? KBUFFER_LSIZE_8 : KBUFFER_LSIZE_4,
                         __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? KBUFFER_ENDIAN_LITTLE
                                                                   : KBUFFER_ENDIAN_BIG);
}

static iw_status make_page(struct iwi_tracefs_instance *instance)
{
    instance->page_size = page_size_of(instance);
    instance->page = iwi_new_array(instance->method->log, instance->page_size, 1);
    if (instance->page == NULL) {
        return IW_ERR_NOMEM;
    }
    instance->kbuffer = iwi_new_kbuffer();
    return instance->kbuffer != NULL
               ? IW_OK
               : iwi_fail(instance->method->log, IW_ERR_NOMEM, "out of memory for a reader of kernel events");
}

/* Recording is switched on after all events are: an entry without its exit would look like an interrupt that
 * does not end. */
iw_status iwi_tracefs_instance_start(struct iwi_tracefs_instance *instance)
{
    const char *name;
    int unused;

    IW_TRY(make_page(instance));
    IW_TRY(open_pipes(instance));
    for (size_t i = 0; (name = iwi_kernel_events_name(instance->events, i, &unused)) != NULL; i++) {
        char path[PATH_SIZE];

        snprintf(path, sizeof path, "events/%s/enable", name);
        IW_TRY(iwi_tracefs_instance_set(instance, path, "1"));
    }
    return iwi_tracefs_instance_set(instance, "tracing_on", "1");
}

static void close_fd(int fd)
{
    if (fd >= 0) {
        (void)close(fd);
    }
}

void iwi_tracefs_instance_close(struct iwi_method *method)
{
    struct iwi_tracefs_instance *instance = method->state;

    if (instance == NULL) {
        return;
    }
    if (instance->on >= 0) {
        (void)!write(instance->on, "0", 1);
    }
    for (size_t i = 0; i < method->count; i++) {
        close_fd(instance->pipes[i]);
    }
    close_fd(instance->on);
    close_fd(instance->folder);
    if (!iwi_cleanup_guard_release(&instance->guard)) {
        iwi_warn(method->log,
                 "settings of tracefs could not be restored: rmdir /sys/kernel/tracing/%s (if needed, first "
                 "mount -t tracefs tracefs /sys/kernel/tracing)",
                 instance->path);
    }
    close_fd(instance->tracing);
    iwi_kernel_events_free(instance->events);
    kbuffer_free(instance->kbuffer);
    free(instance->page);
    free(instance->pipes);
    free(instance->overruns);
    free(instance);
    method->state = NULL;
}
