/* The watcher: a child in a session of its own, since the launcher's process becomes the program.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * It keeps the launcher's standard output open: launchers end when that is closed by all, so what they
 * started is complete when they end, the watcher's file too. What the kernel was asked for is put back by the
 * library's guard, also if the watcher is killed.
 */
#include "features/trace/verb/kernel_watch.h"

#if IW_FEATURE_WATCH
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <idlewave/idlewave.h>

enum { DRAIN_MS = 1000, TEXT_SIZE = 2048 };

struct watcher {
    int ready;   /* a pipe to who waits for us: 'r', or what is wrong */
    int program; /* a pidfd of the process that becomes the program */
    int ranks;   /* a socket on which the other ranks of the node tell who they are */
    bool is_ready;
};

static volatile sig_atomic_t is_ended; /* by a signal */

static void on_signal(int number)
{
    (void)number;
    is_ended = 1;
}

/* ---- in the watcher ---- */

static void tell(struct watcher *watcher, const char *text)
{
    if (!watcher->is_ready) {
        (void)!write(watcher->ready, text, strlen(text));
        (void)close(watcher->ready);
        watcher->is_ready = true;
    }
}

static void on_ready(void *arg)
{
    tell(arg, "r");
}

static bool sleep_a_while(void *arg)
{
    const struct watcher *watcher = arg;
    struct pollfd news[] = {{.fd = watcher->program, .events = POLLIN},
                            {.fd = watcher->ranks, .events = POLLIN}};

    (void)poll(news, 2, DRAIN_MS);
    return (news[0].revents & POLLIN) == 0 && is_ended == 0;
}

struct rank_note {
    int64_t pid;
    uint32_t rank;
};

static bool next_rank(void *arg, int64_t *pid_p, uint32_t *rank_p)
{
    const struct watcher *watcher = arg;
    struct rank_note note;

    if (recv(watcher->ranks, &note, sizeof note, MSG_DONTWAIT) != (ssize_t)sizeof note) {
        return false;
    }
    *pid_p = note.pid;
    *rank_p = note.rank;
    return true;
}

/* Before anything runs the parent tells what is wrong; afterwards nobody else does. */
static void write_log(void *arg, iw_log_level level, const char *text)
{
    struct watcher *watcher = arg;

    if (level == IW_LOG_ERROR && !watcher->is_ready) {
        tell(watcher, text);
    } else {
        (void)fprintf(stderr, "idlewave: trace: %s\n", text);
    }
}

/* Launchers bind ranks to CPUs, and children are bound with them. */
static void unbind(void)
{
    cpu_set_t all;

    memset(&all, 0xff, sizeof all);
    (void)sched_setaffinity(0, sizeof all, &all);
}

static void take_signals(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = on_signal};

    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        (void)sigaction(numbers[i], &action, NULL);
    }
    (void)signal(SIGPIPE, SIG_IGN);
}

static int watch(struct watcher *watcher, const char *dir, const char *command)
{
    const iw_log log = {write_log, watcher};
    iw_job_watch_opts opts = IW_JOB_WATCH_OPTS_INIT;
    iw_recording *recording = NULL;
    char path[PATH_MAX + 320], host[256] = "host";
    iw_status status;

    opts.job = dir;
    opts.command = command;
    opts.on_ready = on_ready;
    opts.sleep = sleep_a_while;
    opts.next_rank = next_rank;
    opts.arg = watcher;
    status = iw_watch_job(&log, &opts, &recording);
    if (status == IW_OK) {
        (void)gethostname(host, sizeof host - 1);
        (void)snprintf(path, sizeof path, "%s/kernel-%s.h5", dir, host);
        status = iw_recording_save(&log, recording, path);
    }
    iw_recording_free(recording);
    return status == IW_OK ? 0 : 1;
}

static _Noreturn void become_watcher(int ready, int ranks, const char *dir, const char *command)
{
    struct watcher watcher = {.ready = ready, .ranks = ranks};
    const pid_t program = getppid();

    watcher.program = (int)syscall(SYS_pidfd_open, program, 0);
    (void)setsid();
    (void)prctl(PR_SET_NAME, "idlewave-kernel");
    unbind();
    take_signals();
    if (watcher.program < 0 || getppid() != program) {
        tell(&watcher, "the process of the program cannot be followed: it needs Linux 5.3");
        _exit(1);
    }
    _exit(watch(&watcher, dir, command));
}

/* ---- in the process that becomes the program ---- */

/* A name without a file, which only one process of a node can have: the path begins with '\0'. Its length. */
static socklen_t name_socket(const char *dir, struct sockaddr_un *name)
{
    uint32_t hash = 2166136261u;
    int length;

    *name = (struct sockaddr_un){.sun_family = AF_UNIX};
    for (; *dir != '\0'; dir++) {
        hash = (hash ^ (unsigned char)*dir) * 16777619u;
    }
    length = snprintf(name->sun_path + 1, sizeof name->sun_path - 1, "idlewave-kernel-%ld-%" PRIx32,
                      (long)getppid(), hash);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
}

/* Tells the watcher who this is; false: there is none yet, and `ranks` is the socket of the one to be
 * started. */
static bool has_told(int ranks, const char *dir, uint32_t rank)
{
    const struct rank_note note = {.pid = getpid(), .rank = rank};
    struct sockaddr_un name;
    const socklen_t length = name_socket(dir, &name);
    const bool is_first = bind(ranks, (const struct sockaddr *)&name, length) == 0;

    (void)sendto(ranks, &note, sizeof note, is_first ? MSG_DONTWAIT : 0, (const struct sockaddr *)&name,
                 length);
    return !is_first;
}

/* What the watcher says; "" : it has ended without a word. */
static void listen_to(int ready, char text[TEXT_SIZE])
{
    size_t length = 0;
    ssize_t more = 1;

    while (more > 0 && length + 1 < TEXT_SIZE) {
        more = read(ready, text + length, TEXT_SIZE - 1 - length);
        length += more > 0 ? (size_t)more : 0;
    }
    text[length] = '\0';
}

static int judge(struct node_log *node_log, const char *text, bool is_optional)
{
    if (strcmp(text, "r") == 0) {
        return UI_DONE;
    }
    text = text[0] != '\0' ? text : "the process that watches has ended";
    if (is_optional) {
        (void)fprintf(stderr, "idlewave: trace: without --kernel: %s\n", text);
        return UI_DONE;
    }
    return node_log_fail(node_log, "%s; --kernel-optional goes on without", text);
}

static int start_watcher(struct node_log *node_log, int ranks, const char *dir, const char *command,
                         bool is_optional)
{
    char text[TEXT_SIZE];
    int ends[2];
    pid_t child;

    if (pipe2(ends, O_CLOEXEC) != 0) {
        return node_log_fail(node_log, "no pipe can be had: %s", strerror(errno));
    }
    child = fork();
    if (child == 0) {
        (void)close(ends[0]);
        become_watcher(ends[1], ranks, dir, command);
    }
    (void)close(ends[1]);
    if (child < 0) {
        (void)close(ends[0]);
        return node_log_fail(node_log, "no process can be started that watches the kernel: %s",
                             strerror(errno));
    }
    listen_to(ends[0], text);
    (void)close(ends[0]);
    return judge(node_log, text, is_optional);
}

int kernel_watch_start(struct node_log *node_log, const char *dir, const char *command, bool is_optional)
{
    char mark[PATH_MAX + 32];
    int ranks, code = UI_DONE;

    (void)snprintf(mark, sizeof mark, "%" PRIu32 ":%s", node_log->rank, dir);
    if (setenv("IDLEWAVE_TRACE_KERNEL", mark, 1) != 0) {
        return node_log_fail(node_log, "the environment cannot be set: %s", strerror(errno));
    }
    ranks = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (ranks < 0) {
        return node_log_fail(node_log, "no socket can be had: %s", strerror(errno));
    }
    if (!has_told(ranks, dir, node_log->rank)) {
        code = start_watcher(node_log, ranks, dir, command, is_optional);
    }
    (void)close(ranks);
    return code;
}

#else
int kernel_watch_start(struct node_log *node_log, const char *dir, const char *command, bool is_optional)
{
    (void)dir;
    (void)command;
    return is_optional
               ? UI_DONE
               : node_log_fail(node_log, "--kernel: this build of idlewave leaves out the feature 'watch'");
}
#endif
