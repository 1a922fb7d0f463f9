/* `idlewave replay`: hands what is to be injected over to the program: shared memory, environment, the
 * injector process.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "features/replay/verb/replay_plan.h"
#include "options/verbs.h"
#include "process/exec_program.h"

/* ======== the injector process ======== */

/* It waits for SIGUSR1 (look at the page), for the end of the program, and for nothing else. Detours are made
 * by the library's SCHED_FIFO thread in this process, so whatever ends it ends them. A limit of the kernel
 * (RLIMIT_RTTIME) kills it should it ever keep a CPU for longer than the longest detour. */

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
        (void)snprintf(fifo->page->failure, sizeof fifo->page->failure, "cannot watch the program: %s",
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
static int replay_start_injector(struct node_log *node_log, const struct replay *replay, iw_replay_page *page)
{
    const int owner = open_pid(getpid());
    int ready[2];
    char is_ready = 0;
    pid_t child = -1;

    if (owner >= 0 && pipe2(ready, O_CLOEXEC) == 0) {
        child = fork();
    }
    if (child < 0) {
        return node_log_fail(node_log, "cannot start a process beside the program: %s", strerror(errno));
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
    return is_ready ? UI_DONE : node_log_fail(node_log, "the process beside the program did not start");
}

/* ======== handing over ======== */

/* ---- CPUs ---- */

static size_t first_cpu(const cpu_set_t *allowed)
{
    size_t cpu = 0;

    while (cpu < CPU_SETSIZE - 1 && !CPU_ISSET(cpu, allowed)) {
        cpu++;
    }
    return cpu;
}

/* The threads of the core that the CPU is of, as the kernel writes them: "0,4". */
static bool read_siblings(size_t cpu, char *text, size_t size)
{
    char path[96];
    FILE *file;
    bool is_read;

    (void)snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%zu/topology/thread_siblings_list", cpu);
    file = fopen(path, "re");
    is_read = file != NULL && fgets(text, (int)size, file) != NULL;
    if (file != NULL) {
        (void)fclose(file);
    }
    return is_read;
}

static bool is_one_core(const cpu_set_t *allowed)
{
    char first[128], other[128];

    if (!read_siblings(first_cpu(allowed), first, sizeof first)) {
        return false;
    }
    for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (CPU_ISSET(cpu, allowed) &&
            (!read_siblings(cpu, other, sizeof other) || strcmp(first, other) != 0)) {
            return false;
        }
    }
    return true;
}

/* Ranks that may run on several CPUs each could be given the same one: only a rank alone chooses. */
static int check_alone(struct node_log *node_log, const cpu_set_t *allowed)
{
    iw_launcher launcher = {.name = NULL};

    if (iw_launcher_detect(NULL, &launcher) != IW_OK || launcher.size == 1 || launcher.local_size == 1 ||
        (launcher.name == NULL && launcher.size == 0) || is_one_core(allowed)) {
        return UI_DONE;
    }
    return node_log_fail(
        node_log,
        "fifo takes CPUs away, and ranks that may run on %d%s could share one: bind each rank to a CPU, for "
        "example with mpirun --bind-to core",
        CPU_COUNT(allowed),
        launcher.local_size == 0 ? " (if the launcher does not report the number of ranks per node)" : "");
}

/* fifo takes a CPU, so the rank must stay on one: pins this process, and with it the program, unless it is on
 * one already; *was_free_p: it was not. */
static int replay_pin(struct node_log *node_log, bool *was_free_p)
{
    cpu_set_t allowed, one;
    int code;

    *was_free_p = false;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) {
        return node_log_fail(node_log, "cannot read the CPUs of this process: %s", strerror(errno));
    }
    if (CPU_COUNT(&allowed) == 1) {
        return UI_DONE;
    }
    code = check_alone(node_log, &allowed);
    if (code != UI_DONE) {
        return code;
    }
    *was_free_p = true;
    CPU_ZERO(&one);
    CPU_SET(first_cpu(&allowed), &one);
    return sched_setaffinity(0, sizeof one, &one) == 0
               ? UI_DONE
               : node_log_fail(node_log, "cannot pin this process: %s", strerror(errno));
}

/* ---- the page ---- */

/* Far from the numbers that the program's own files get, where the limit allows. Stays open across exec. */
static int move_up(int fd)
{
    const int high = fd >= 0 ? fcntl(fd, F_DUPFD, IW_REPLAY_HIGH_FILE) : -1;

    if (high < 0) {
        return fd;
    }
    (void)close(fd);
    return high;
}

static iw_replay_page *new_page(int *fd_p)
{
    const int fd = move_up(memfd_create("idlewave-replay", 0));
    void *page = MAP_FAILED;

    if (fd >= 0 && ftruncate(fd, (off_t)sizeof(iw_replay_page)) == 0) {
        page = mmap(NULL, sizeof(iw_replay_page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    }
    if (page == MAP_FAILED) {
        return NULL;
    }
    *fd_p = fd;
    return page;
}

static iw_status share_plans(const iw_log *log, const struct replay *replay, iw_replay_page *page)
{
    for (size_t k = 0; k < replay->plan_count; k++) {
        int fd = -1;
        const iw_status status = iw_inject_plan_share(log, replay->plans[k], &fd);

        if (status != IW_OK) {
            return status;
        }
        page->plan_fds[k] = move_up(fd);
    }
    page->plan_count = (uint32_t)replay->plan_count;
    return IW_OK;
}

static int set_environment(struct node_log *node_log, const char *library, int page_fd)
{
    char name[64];

    (void)snprintf(name, sizeof name, "/proc/%ld/fd/%d", (long)getpid(), page_fd);
    return exec_program_preload(library) && setenv(IW_REPLAY_VARIABLE, name, 1) == 0
               ? UI_DONE
               : node_log_fail(node_log, "cannot set the environment: %s", strerror(errno));
}

/* Shares the plans with this process after exec, and sets its environment. With fifo the injector process
 * waits beside it from then on. */
static int replay_hand_over(struct node_log *node_log, const struct replay *replay, const char *library)
{
    int page_fd = -1;
    iw_replay_page *page = new_page(&page_fd);
    int code;

    if (page == NULL) {
        return node_log_fail(node_log, "no shared memory for the program: %s", strerror(errno));
    }
    page->magic = IW_REPLAY_MAGIC;
    page->version = IW_REPLAY_VERSION;
    page->size = sizeof *page;
    page->owner_pid = (int32_t)getpid();
    page->back_end = (uint32_t)replay->opts->injection.back_end;
    page->sync = (uint32_t)replay->opts->injection.sync;
    page->is_quiet = replay->opts->is_quiet;
    page->has_all_threads = replay->opts->threads == REPLAY_THREADS_ALL;
    code = ui_exit_of(share_plans(&node_log->log, replay, page));
    if (code == UI_DONE && page->back_end == IW_BACK_END_FIFO) {
        code = replay_start_injector(node_log, replay, page);
    }
    return code == UI_DONE ? set_environment(node_log, library, page_fd) : code;
}

/* ======== the verb ======== */

/* Every process that the launcher starts runs this: it measures what a detour costs here, plans the detours
 * of its CPU, and becomes the program (exec). What happens in it is the preloaded library's work
 * (mpi/replay); with fifo a process beside it makes the detours. */

static const char *const synopsis[] = {"--noise FILE|SPEC [options] [--] PROGRAM [ARGUMENT...]",
                                       "--noise FILE|SPEC [options] --self-check", NULL};

static const char description[] =
    "Run a program under recorded or synthetic noise: at each detour it takes the CPU away for the length "
    "of the detour. Put it between the launcher and the program: mpirun -n 8 idlewave replay --noise node.h5 "
    "-- ./app. Programs need no changes, in C, C++ and Fortran, with Open MPI, MPICH or without MPI.\nRanks "
    "of a node get the detours of different CPUs of the recording, starting at the same place in it. Noise "
    "begins when MPI_Init returns and ends with MPI_Finalize; without MPI it lasts for the whole run. "
    "Processes that the program starts get no noise.\nBefore the program starts, replay measures the "
    "shortest detour that it can inject, and its accuracy. It merges shorter detours, so that noise takes "
    "the same share of time. The program keeps its exit code, output and signals; if injection fails, it "
    "continues without noise.";

static const struct example examples[] = {
    {"8 ranks under the noise of a recorded node", "mpirun -n 8 idlewave replay --noise node.h5 -- ./app"},
    {"what this machine can inject of it", "idlewave replay --noise node.h5 --dry-run\n  idlewave replay "
                                           "--noise node.h5 --back-end fifo --dry-run"},
    {"a daemon of 500us ten times per second, at the same time on all nodes",
     "srun --mpi=pmix idlewave replay --noise periodic:10Hz,500us --sync start -- ./app"},
    {NULL, NULL},
};

/* The library to preload. Programs without MPI that no launcher has started need none of an MPI's. */
static int find_library(struct node_log *node_log, const struct replay_opts *opts, const char *program,
                        char *path, size_t size)
{
    const char *part = replay_mpis[opts->mpi];
    iw_launcher launcher = {.name = NULL};
    iw_status status = IW_OK;

    if (opts->mpi == REPLAY_MPI_AUTO) {
        status = iw_mpi_of_program(&node_log->log, program, &part);
        if (status == IW_OK) {
            status = iw_launcher_detect(&node_log->log, &launcher);
        }
        if (status == IW_OK && (part != NULL || launcher.name != NULL)) {
            status = iw_mpi_choose(&node_log->log, program, IW_REPLAY_LIBRARY, &part);
        }
        part = part != NULL ? part : IW_PLUGIN_PLAIN;
    }
    if (status == IW_OK) {
        status = iw_mpi_plugin_path(&node_log->log, part, IW_REPLAY_LIBRARY, path, size);
    }
    return status == IW_OK ? exec_program_check_library(node_log, path) : ui_exit_of(status);
}

static void say_before(const struct ui *ui, const struct node_log *node_log, const struct replay *replay,
                       bool is_pinned)
{
    char text[512];

    if (replay->opts->is_quiet || node_log->rank != 0) {
        return;
    }
    replay_summary(replay, text, sizeof text);
    (void)fprintf(stderr, "idlewave: %s: %s\n", ui->verb, text);
    if (is_pinned) {
        (void)fprintf(stderr, "idlewave: %s: each rank stays on one CPU, because fifo takes CPUs away\n",
                      ui->verb);
    }
}

static int check_itself(struct ui *ui, const struct node_log *node_log, const struct replay *replay)
{
    const struct replay_check_opts opts = {.duration_ns = replay->opts->check_ps / IW_PS_PER_NS,
                                           .want_naive = replay->opts->want_naive,
                                           .shown = &replay->opts->shown};

    return replay_self_check(ui, replay, &node_log->log, &opts);
}

static int replay_program(struct ui *ui, struct node_log *node_log, const struct replay_opts *opts,
                          const struct opt_args *args)
{
    char library[PATH_MAX];
    struct replay replay = {.opts = opts};
    bool is_pinned = false;
    int code = UI_DONE;

    if (!opts->is_dry && !opts->is_check) {
        code = find_library(node_log, opts, args->values[0], library, sizeof library);
    }
    if (code == UI_DONE && opts->injection.back_end == IW_BACK_END_FIFO) {
        code = replay_pin(node_log, &is_pinned);
    }
    if (code == UI_DONE) {
        code = replay_prepare(ui, node_log, opts, &replay);
    }
    if (code == UI_DONE && opts->is_check) {
        code = check_itself(ui, node_log, &replay);
    } else if (code == UI_DONE && opts->is_dry) {
        if (node_log->rank == 0) {
            replay_describe(&replay);
        }
    } else if (code == UI_DONE) {
        code = replay_hand_over(node_log, &replay, library);
        if (code == UI_DONE) {
            say_before(ui, node_log, &replay, is_pinned);
            code = exec_program(node_log, args);
        }
    }
    replay_release(&replay);
    return code;
}

static int run(struct ui *ui, const void *values, const struct opt_args *args)
{
    const struct replay_opts *opts = values;
    struct node_log node_log;
    int code;

    node_log_init(&node_log, ui);
    node_log_take_ui(&node_log, ui);
    code = replay_check(ui, opts);
    if (code == UI_DONE && (opts->is_dry || opts->is_check)) {
        code = args->count == 0 ? UI_DONE
                                : ui_usage(ui, "%s runs no program: leave '%s' out",
                                           opts->is_check ? "--self-check" : "--dry-run", args->values[0]);
    } else if (code == UI_DONE) {
        code = exec_program_check(ui, args);
    }
    node_log_leave_ui(&node_log, ui);
    return code == UI_DONE ? replay_program(ui, &node_log, opts, args) : code;
}

const struct verb verb_replay = {
    .name = "replay",
    .group = VERB_RUN,
    .summary = "run a program under recorded noise",
    .synopsis = synopsis,
    .description = description,
    .groups = replay_groups,
    .group_count = REPLAY_GROUP_COUNT,
    .most_used = "noise sync most self-check dry-run quiet",
    .examples = examples,
    .defaults = &replay_defaults,
    .values_size = sizeof(struct replay_opts),
    .most_arguments = (size_t)-1,
    .meets_others = true,
    .takes_command = true,
    .run = run,
};
