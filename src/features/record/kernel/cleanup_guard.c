/* The guard: forked early, asleep in a read until the process that started it lets go or is gone.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The process may have threads, any of which may hold a lock at the moment of the fork: the guard makes
 * async-signal-safe calls only.
 */
#include "features/record/kernel/cleanup_guard.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/base.h"

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
