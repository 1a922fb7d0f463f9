/* Runs a shell command in a process group of its own, guarded by a process that outlives idlewave.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "process/background_command.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* From the request to end until it is enforced. */
static const struct timespec GRACE = {.tv_sec = 1};

/* A command that the shell does not know is found out within this time. */
enum { START_MS = 100 };

enum { NOT_FOUND = 127, SIGNALLED = 128 }; /* exit codes as shells give them */

/* ---- the command, a process group of its own ---- */

static void exec_child(const char *command)
{
    const int null = open("/dev/null", O_RDONLY);
    sigset_t none;

    (void)setpgid(0, 0);
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    (void)signal(SIGXFSZ, SIG_DFL); /* main() ignores it, programs need not */
    if (null >= 0) {
        (void)dup2(null, STDIN_FILENO);
    }
    (void)dup2(STDERR_FILENO, STDOUT_FILENO);
    (void)execl("/bin/sh", "sh", "-c", command, (char *)NULL);
    _exit(NOT_FOUND);
}

/* ---- its guard: ends the whole group when it is told to, or when idlewave has ended in any way ---- */

static int exit_code_of(int status)
{
    return WIFSIGNALED(status) ? SIGNALLED + WTERMSIG(status) : WEXITSTATUS(status);
}

/* All that the command started and that did not leave its group. */
static void end_group(pid_t group, const sigset_t *awaited)
{
    pid_t ended;

    (void)kill(-group, SIGTERM);
    while ((ended = waitpid(-1, NULL, WNOHANG)) >= 0) {
        if (ended == 0 && sigtimedwait(awaited, NULL, &GRACE) != SIGCHLD) {
            (void)kill(-group, SIGKILL);
            return;
        }
    }
}

static void tell_early_end(int pipe, int code)
{
    struct background_command_end end = {.is_early = true, .code = code};
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    end.raw_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
    (void)!write(pipe, &end, sizeof end);
}

/* Gives the command's exit code if it ended before it was told to, else 0. */
static int guard_group(pid_t group, const sigset_t *awaited, int pipe)
{
    int code = 0, status;

    while (sigwaitinfo(awaited, NULL) != SIGTERM) {
        pid_t ended;

        while ((ended = waitpid(-1, &status, WNOHANG)) > 0) {
            code = ended == group ? exit_code_of(status) : code;
        }
        if (ended < 0) { /* none is left */
            tell_early_end(pipe, code);
            return code;
        }
    }
    end_group(group, awaited);
    return code;
}

/* In a session of its own: what kills idlewave's process group must not reach it. */
static void guard(const char *command, pid_t parent, int pipe)
{
    sigset_t awaited, all;
    pid_t group;

    (void)setsid();
    (void)sigemptyset(&awaited);
    (void)sigaddset(&awaited, SIGTERM);
    (void)sigaddset(&awaited, SIGCHLD);
    (void)sigfillset(&all);
    (void)sigprocmask(SIG_SETMASK, &all, NULL);
    (void)signal(SIGCHLD, SIG_DFL);         /* where children are ignored, their exit codes are lost */
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1); /* to know when the last of them has ended */
    (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) { /* ended before it was asked to tell */
        _exit(EXIT_SUCCESS);
    }
    group = fork();
    if (group == 0) {
        exec_child(command);
    }
    if (group < 0) {
        _exit(NOT_FOUND);
    }
    (void)setpgid(group, group); /* whoever is first */
    _exit(guard_group(group, &awaited, pipe));
}

/* ---- in idlewave ---- */

static void read_end(struct background_command *under)
{
    struct background_command_end end;

    if (read(under->pipe, &end, sizeof end) == (ssize_t)sizeof end) {
        under->end = end;
    }
}

static bool start_guard(const char *command, struct background_command *under)
{
    const pid_t parent = getpid();
    int ends[2], error;

    if (pipe2(ends, O_CLOEXEC) != 0) {
        return false;
    }
    under->pid = fork();
    if (under->pid == 0) {
        guard(command, parent, ends[1]);
    }
    error = errno;
    (void)close(ends[1]);
    under->pipe = ends[0];
    if (under->pid < 0) {
        (void)close(ends[0]);
        under->pid = 0;
        errno = error;
        return false;
    }
    return true;
}

bool background_command_start(const struct ui *ui, const char *command, struct background_command *under)
{
    struct pollfd told;

    *under = (struct background_command){.pid = 0};
    if (command == NULL) {
        return true;
    }
    if (!start_guard(command, under)) {
        ui_error(ui, "'%s' cannot be started: %s", command, strerror(errno));
        return false;
    }
    told = (struct pollfd){.fd = under->pipe, .events = POLLIN};
    if (poll(&told, 1, START_MS) == 1) {
        read_end(under);
    }
    if (under->end.code == NOT_FOUND) {
        ui_error(ui, "'%s' ended at once with exit code %d: the shell does not know a command of it", command,
                 NOT_FOUND);
        (void)background_command_stop(under);
        return false;
    }
    return true;
}

struct background_command_end background_command_stop(struct background_command *under)
{
    int status = 0;

    if (under->pid == 0) {
        return under->end;
    }
    (void)kill(under->pid, SIGTERM);
    while (waitpid(under->pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (!under->end.is_early) {
        read_end(under);
    }
    if (!under->end.is_early) {
        under->end.code = exit_code_of(status);
    }
    (void)close(under->pipe);
    under->pid = 0;
    return under->end;
}
