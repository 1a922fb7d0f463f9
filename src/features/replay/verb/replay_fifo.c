/* The injector process of the fifo back end: beside the program, not in it, and never longer than it.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * It waits for SIGUSR1 (look at the page), for the end of the program, and for nothing else. Detours are made
 * by the library's SCHED_FIFO thread in this process, so whatever ends it ends them. A limit of the kernel
 * (RLIMIT_RTTIME) kills it should it ever keep a CPU for longer than the longest detour.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "features/replay/verb/replay_start.h"

enum { MOST_RT_SECONDS = 12 }; /* over IW_INJECT_MOST_NS */

struct fifo {
    iw_replay_page *page;
    const iw_inject_plan *plan;
    iw_injector *injector; /* NULL: silence */
    int owner, program;    /* pidfds; program -1: none */
    int signals;
    uint32_t phases;
    iw_log log;
};

static int open_pid(pid_t pid)
{
    return (int)syscall(SYS_pidfd_open, pid, 0);
}

/* ---- commands ---- */

static void keep_message(void *arg, iw_log_level level, const char *text)
{
    iw_replay_page *page = arg;

    if (level == IW_LOG_ERROR) {
        (void)snprintf(page->failure, sizeof page->failure, "%s", text);
    }
}

/* Phases must be heard while the program computes on this CPU: so this thread goes before the program, once
 * the library's watchdog has been started at normal priority. */
static void set_priority(bool is_before_program)
{
    const struct sched_param priority = {.sched_priority =
                                             is_before_program ? sched_get_priority_min(SCHED_FIFO) : 0};

    (void)sched_setscheduler(0, is_before_program ? SCHED_FIFO : SCHED_OTHER, &priority);
}

static void stop(struct fifo *fifo)
{
    set_priority(false);
    if (fifo->injector != NULL) {
        iw_injector_stop(fifo->injector, &fifo->page->counts);
        fifo->injector = NULL;
    }
    if (fifo->program >= 0) {
        (void)close(fifo->program);
        fifo->program = -1;
    }
}

static iw_status start(struct fifo *fifo)
{
    iw_status status;

    stop(fifo);
    memset(&fifo->page->counts, 0, sizeof fifo->page->counts);
    fifo->program = open_pid(__atomic_load_n(&fifo->page->program_pid, __ATOMIC_ACQUIRE));
    if (fifo->program < 0) {
        (void)snprintf(fifo->page->failure, sizeof fifo->page->failure, "the program cannot be watched: %s",
                       strerror(errno));
        return IW_ERR_IO;
    }
    fifo->phases = __atomic_load_n(&fifo->page->phases, __ATOMIC_ACQUIRE);
    status = iw_injector_start(&fifo->log, fifo->plan, IW_BACK_END_FIFO, &fifo->injector);
    set_priority(status == IW_OK && fifo->page->sync == IW_SYNC_PHASE);
    return status;
}

static void obey(struct fifo *fifo)
{
    iw_replay_page *page = fifo->page;
    const uint32_t asked = __atomic_load_n(&page->asked, __ATOMIC_ACQUIRE);

    while (fifo->injector != NULL && fifo->phases != __atomic_load_n(&page->phases, __ATOMIC_ACQUIRE)) {
        iw_injector_phase(fifo->injector);
        fifo->phases++;
    }
    if (asked == __atomic_load_n(&page->answered, __ATOMIC_ACQUIRE)) {
        return;
    }
    if (__atomic_load_n(&page->command, __ATOMIC_ACQUIRE) == IW_REPLAY_START) {
        page->status = start(fifo);
    } else {
        stop(fifo);
        page->status = IW_OK;
    }
    __atomic_store_n(&page->answered, asked, __ATOMIC_RELEASE);
}

/* ---- the process ---- */

static void serve(struct fifo *fifo)
{
    for (;;) {
        struct pollfd watched[] = {
            {fifo->owner, POLLIN, 0}, {fifo->signals, POLLIN, 0}, {fifo->program, POLLIN, 0}};
        struct signalfd_siginfo info;

        if (poll(watched, 3, -1) < 0 && errno != EINTR) {
            break;
        }
        if (watched[0].revents != 0) {
            break;
        }
        if (watched[2].revents != 0) {
            stop(fifo);
        }
        if (watched[1].revents != 0 && read(fifo->signals, &info, sizeof info) == (ssize_t)sizeof info) {
            if (info.ssi_signo != SIGUSR1) {
                break;
            }
            obey(fifo);
        }
    }
    stop(fifo);
}

enum { OWNER = 3, READY = 4, FIRST_OTHER = 5 }; /* files of the injector, above the three of all */

static void close_others(void)
{
    struct rlimit most = {1024, 1024};

#ifdef SYS_close_range /* glibc 2.32 */
    if (syscall(SYS_close_range, (unsigned)FIRST_OTHER, ~0U, 0U) == 0) {
        return;
    }
#endif
    (void)getrlimit(RLIMIT_NOFILE, &most); /* Linux before 5.9 */
    for (rlim_t file = FIRST_OTHER; file < most.rlim_cur && file < 65536; file++) {
        (void)close((int)file);
    }
}

/* Nothing of the program's stays open here but the file that tells its end. The numbers may be any, as those
 * of the first three are free where the program was started without them. */
static bool let_go(int owner, int ready)
{
    const int high_owner = fcntl(owner, F_DUPFD, FIRST_OTHER);
    const int high_ready = fcntl(ready, F_DUPFD, FIRST_OTHER);
    const int low = open("/dev/null", O_RDWR);
    const int nothing = low >= 0 ? fcntl(low, F_DUPFD, FIRST_OTHER) : -1;

    if (high_owner < 0 || high_ready < 0 || nothing < 0) {
        return false;
    }
    for (int file = 0; file < OWNER; file++) {
        if (dup2(nothing, file) < 0) {
            return false;
        }
    }
    if (dup2(high_owner, OWNER) < 0 || dup2(high_ready, READY) < 0) {
        return false;
    }
    close_others();
    return true;
}

static bool limit_rt_time(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_RTTIME, &limit) != 0) {
        return false;
    }
    if (limit.rlim_max > (rlim_t)MOST_RT_SECONDS * 1000000) {
        limit.rlim_max = (rlim_t)MOST_RT_SECONDS * 1000000;
    }
    limit.rlim_cur = limit.rlim_max;
    return setrlimit(RLIMIT_RTTIME, &limit) == 0;
}

static void become_injector(const struct replay *replay, iw_replay_page *page, int owner, int ready)
{
    struct fifo fifo = {.page = page, .plan = replay->plans[0], .owner = OWNER, .program = -1};
    sigset_t ours;
    char is_ready = 1;

    fifo.log = (iw_log){keep_message, page};
    (void)sigfillset(&ours);
    (void)sigprocmask(SIG_BLOCK, &ours, NULL); /* what ends it comes through the file, after a stop */
    (void)sigemptyset(&ours);
    (void)sigaddset(&ours, SIGUSR1);
    (void)sigaddset(&ours, SIGTERM);
    (void)prctl(PR_SET_NAME, IW_REPLAY_INJECTOR);
    page->injector_pid = (int32_t)getpid();
    if (!limit_rt_time() || !let_go(owner, ready)) {
        _exit(1);
    }
    fifo.signals = signalfd(-1, &ours, SFD_CLOEXEC);
    if (fifo.signals < 0 || write(READY, &is_ready, 1) != 1) {
        _exit(1);
    }
    (void)close(READY);
    serve(&fifo);
    _exit(0);
}

/* By a child that ends at once: it is nobody's that the program would wait for, in a session of its own. */
int replay_start_injector(struct node_log *node_log, const struct replay *replay, iw_replay_page *page)
{
    const int owner = open_pid(getpid());
    int ready[2];
    char is_ready = 0;
    pid_t child = -1;

    if (owner >= 0 && pipe2(ready, O_CLOEXEC) == 0) {
        child = fork();
    }
    if (child < 0) {
        return node_log_fail(node_log, "no process can be started beside the program: %s", strerror(errno));
    }
    if (child == 0) {
        (void)setsid();
        if (fork() == 0) {
            become_injector(replay, page, owner, ready[1]);
        }
        _exit(0);
    }
    (void)close(ready[1]);
    (void)waitpid(child, NULL, 0);
    while (read(ready[0], &is_ready, 1) < 0 && errno == EINTR) {
    }
    (void)close(ready[0]);
    (void)close(owner);
    return is_ready ? UI_DONE : node_log_fail(node_log, "the process beside the program has not started");
}
