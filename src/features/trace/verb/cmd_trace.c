/* `idlewave trace`: between an MPI's launcher and a program, has each process of it recorded.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Every process that the launcher starts runs this, which then becomes the program (exec): signals, exit code
 * and the launcher's connections are the program's own. All else is the preloaded tracer's work (mpi/trace).
 */
#include <idlewave/idlewave.h>
#include <idlewave/internal/folder.h>
#include <idlewave/internal/mpi.h>

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "options/verbs.h"
#include "process/exec_program.h"
#include "process/node_log.h"

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
        tell(&watcher, "cannot follow the process of the program: Linux 5.3 or newer is needed");
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
    text = text[0] != '\0' ? text : "the watching process has ended";
    if (is_optional) {
        (void)fprintf(stderr, "idlewave: trace: continuing without --kernel: %s\n", text);
        return UI_DONE;
    }
    return node_log_fail(node_log, "%s; use --kernel-optional to continue without it", text);
}

static int start_watcher(struct node_log *node_log, int ranks, const char *dir, const char *command,
                         bool is_optional)
{
    char text[TEXT_SIZE];
    int ends[2];
    pid_t child;

    if (pipe2(ends, O_CLOEXEC) != 0) {
        return node_log_fail(node_log, "cannot create a pipe: %s", strerror(errno));
    }
    child = fork();
    if (child == 0) {
        (void)close(ends[0]);
        become_watcher(ends[1], ranks, dir, command);
    }
    (void)close(ends[1]);
    if (child < 0) {
        (void)close(ends[0]);
        return node_log_fail(node_log, "cannot start the process that watches the kernel: %s",
                             strerror(errno));
    }
    listen_to(ends[0], text);
    (void)close(ends[0]);
    return judge(node_log, text, is_optional);
}

/* Marks this process, and the program that it becomes, as a rank of the job whose trace goes into `dir`. The
 * first that calls it on a node starts the watcher, which lives until that process has ended and then writes
 * DIR/kernel-HOST.h5. `is_optional`: where the kernel's events cannot be had, the job goes on without them.
 * An exit code. */
static int kernel_watch_start(struct node_log *node_log, const char *dir, const char *command,
                              bool is_optional)
{
    char mark[PATH_MAX + 32];
    int ranks, code = UI_DONE;

    (void)snprintf(mark, sizeof mark, "%" PRIu32 ":%s", node_log->rank, dir);
    if (setenv("IDLEWAVE_TRACE_KERNEL", mark, 1) != 0) {
        return node_log_fail(node_log, "cannot set the environment: %s", strerror(errno));
    }
    ranks = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (ranks < 0) {
        return node_log_fail(node_log, "cannot create a socket: %s", strerror(errno));
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
               : node_log_fail(node_log, "--kernel: this build of idlewave lacks the feature 'watch'");
}
#endif

struct tracing_opts {
    struct opt_origins origins;
    const char *dir;
    uint64_t buffer_bytes;
    int start, mpi;
    bool wants_overwrite, is_quiet, is_shown, wants_kernel, is_kernel_optional;
};

enum { START_ON, START_OFF };
static const char *const starts[] = {"on", "off", NULL};
enum { MPI_AUTO };
static const char *const mpis[] = {"auto", "openmpi", "mpich", NULL};

static const char tracer_file[] = "libidlewave-trace.so";

#define ROW(...) OPT_ROW(struct tracing_opts, __VA_ARGS__)
static const struct opt record_rows[] = {
    ROW("start", OPT_CHOICE, start, "",
        "record from the beginning, or from the program's first MPI_Pcontrol(1) (default on)",
        .choices = starts),
    ROW("buffer", OPT_COUNT, buffer_bytes, "BYTES", "memory per thread for recorded events (default 1MiB)",
        .min = 64 << 10, .max = UINT64_C(1) << 40, .is_setting = true),
    ROW("mpi", OPT_CHOICE, mpi, "",
        "MPI of the program, not checked (default auto: by its libraries, else the launcher's)",
        .choices = mpis, .is_setting = true),
    ROW("kernel", OPT_FLAG, wants_kernel, "",
        "also record the time that the kernel takes from the ranks, for 'idlewave explain'; needs root or "
        "perf_event_paranoid -1"),
    ROW("kernel-optional", OPT_FLAG, is_kernel_optional, "",
        "with --kernel: continue without it, with a message, where the rights are missing"),
};
static const struct opt output_rows[] = {
    ROW("output", OPT_STRING, dir, "DIR", "folder of the trace (default trace-PROGRAM)", .letter = 'o'),
    ROW("overwrite", OPT_FLAG, wants_overwrite, "", "first remove an existing trace, or an unfinished one"),
    ROW("quiet", OPT_FLAG, is_quiet, "", "print no summary at the end", .letter = 'q'),
    ROW("show", OPT_FLAG, is_shown, "",
        "create the folder and print the environment variables to set, for use without this command"),
};
#undef ROW

static const struct opt_group groups[] = {
    OPT_GROUP("What to record", record_rows, 0),
    OPT_GROUP("Output", output_rows, 0),
};

static const struct tracing_opts defaults = {.buffer_bytes = 1 << 20, .start = START_ON, .mpi = MPI_AUTO};

static const char *const synopsis[] = {"[options] [--] PROGRAM [ARGUMENT...]", NULL};

static const char description[] =
    "Record the MPI calls of a program while it runs, and the computing time between them, as an OTF2 "
    "trace. Put it between the launcher and the program: mpirun -n 64 idlewave trace -o run -- ./app. "
    "Programs in C, C++ and Fortran are traced without recompiling or relinking, with Open MPI and "
    "MPICH.\nThe program keeps its exit code, output and signals. If tracing cannot begin, because there is "
    "no tracer for its MPI or the folder holds a trace, the command exits with status 1 and the program does "
    "not run. If recording fails later, the program continues untraced. Without a launcher, the program runs "
    "and is traced as one rank.";

static const struct example examples[] = {
    {"64 ranks, then their run time with noise",
     "mpirun -n 64 idlewave trace -o run -- ./app input.dat\n  idlewave simulate run --noise node.h5"},
    {"in a Slurm job", "srun --mpi=pmix idlewave trace -o run -- ./app"},
    {"only between MPI_Pcontrol(1) and MPI_Pcontrol(0)", "mpirun -n 4 idlewave trace --start off -- ./app"},
    {"without this command, Open MPI: the same by hand",
     "mpirun -n 4 $(idlewave trace --show ./app | sed 's/^/-x /') ./app"},
    {NULL, NULL},
};

/* ---- the tracer ---- */

/* The library to preload for the program. */
static int find_tracer(struct node_log *node_log, const struct tracing_opts *opts, const char *program,
                       char *path, size_t size)
{
    const char *mpi = mpis[opts->mpi];
    iw_status status = IW_OK;

    if (opts->mpi == MPI_AUTO) {
        status = iw_mpi_choose(&node_log->log, program, tracer_file, &mpi);
        if (status == IW_ERR_UNSUPPORTED && node_log->has_spoken) {
            ui_hint(NULL, "use --mpi openmpi or --mpi mpich to choose the tracer without this check");
        }
    }
    if (status == IW_OK) {
        status = iw_mpi_plugin_path(&node_log->log, mpi, tracer_file, path, size);
    }
    return status == IW_OK ? exec_program_check_library(node_log, path) : ui_exit_of(status);
}

/* ---- the folder ---- */

enum { FILE_SIZE = PATH_MAX + 16 }; /* a file of the trace, in a folder of any name */

static bool is_of_digits(const char *from, const char *end)
{
    return from < end && strspn(from, "0123456789") >= (size_t)(end - from);
}

/* traces.otf2, traces.def, and kernel-HOST.h5 of all hosts. */
static bool is_of_trace(const char *name)
{
    const size_t length = strlen(name);

    return strcmp(name, "traces.otf2") == 0 || strcmp(name, "traces.def") == 0 ||
           (strncmp(name, "kernel-", 7) == 0 && length > 10 && strcmp(name + length - 3, ".h5") == 0);
}

/* LOCATION.evt, LOCATION.def */
static bool is_of_location(const char *name)
{
    const char *dot = strchr(name, '.');

    return dot != NULL && is_of_digits(name, dot) && (strcmp(dot, ".evt") == 0 || strcmp(dot, ".def") == 0);
}

/* RANK.THREAD */
static bool is_spool(const char *name)
{
    const char *dot = strchr(name, '.');

    return dot != NULL && is_of_digits(name, dot) && is_of_digits(dot + 1, name + strlen(name));
}

/* One process does it for all. None can have begun to write: that needs all of them to have started MPI. */
static int remove_old(struct node_log *node_log, const char *dir)
{
    static const iw_own_files parts[] = {
        {"traces", is_of_location}, {"spool", is_spool}, {NULL, is_of_trace}};

    if (node_log->rank != 0) {
        return UI_DONE;
    }
    return ui_exit_of(iw_folder_clear(&node_log->log, dir, parts, sizeof parts / sizeof parts[0]));
}

/* What another run has left would keep the tracer from starting. */
static int check_empty(struct node_log *node_log, const char *name, const char *dir, const char *tracer)
{
    const int length = (int)(ui_file_name(tracer) - tracer);
    char path[FILE_SIZE];

    (void)snprintf(path, sizeof path, "%s/traces.otf2", dir);
    if (access(path, F_OK) == 0) {
        return node_log_fail(
            node_log, "'%s' already holds a trace: name another folder with -o, or add --overwrite", name);
    }
    (void)snprintf(path, sizeof path, "%s/spool", dir);
    if (access(path, F_OK) == 0) {
        return node_log_fail(node_log,
                             "'%s' holds an unfinished trace; to finish it, run '%.*sidlewave-trace-finish "
                             "%s'; or name another folder with -o, or add --overwrite",
                             name, length, tracer, name);
    }
    return UI_DONE;
}

/* Makes it; its full name into `dir`, as programs may go elsewhere before they end. */
static int make_folder(struct node_log *node_log, const struct tracing_opts *opts, const char *name,
                       const char *tracer, char *dir)
{
    const int code = ui_exit_of(iw_folder_make(&node_log->log, name, dir, PATH_MAX));

    if (code != UI_DONE) {
        return code;
    }
    if (opts->wants_overwrite) {
        return remove_old(node_log, dir);
    }
    return check_empty(node_log, name, dir, tracer);
}

/* ---- the environment: what the tracer reads (mpi/trace) ---- */

static const char *const variables[] = {
    "LD_PRELOAD",           "IDLEWAVE_TRACE_DIR",   "IDLEWAVE_TRACE_BUFFER",
    "IDLEWAVE_TRACE_START", "IDLEWAVE_TRACE_QUIET", NULL};

static bool set_environment(const struct tracing_opts *opts, const char *tracer, const char *dir)
{
    char bytes[24], pid[24];

    (void)snprintf(bytes, sizeof bytes, "%" PRIu64, opts->buffer_bytes);
    (void)snprintf(pid, sizeof pid, "%ld", (long)getpid());
    return exec_program_preload(tracer) && setenv("IDLEWAVE_TRACE_DIR", dir, 1) == 0 &&
           setenv("IDLEWAVE_TRACE_BUFFER", bytes, 1) == 0 &&
           setenv("IDLEWAVE_TRACE_START", starts[opts->start], 1) == 0 &&
           (opts->is_shown ||
            (setenv("IDLEWAVE_TRACE_STRICT", "1", 1) == 0 && setenv("IDLEWAVE_TRACE_PID", pid, 1) == 0)) &&
           (!opts->is_quiet || setenv("IDLEWAVE_TRACE_QUIET", "1", 1) == 0);
}

static void show_environment(void)
{
    for (size_t i = 0; variables[i] != NULL; i++) {
        if (getenv(variables[i]) != NULL) {
            (void)printf("%s=%s\n", variables[i], getenv(variables[i]));
        }
    }
}

/* ---- the program ---- */

static int trace(struct node_log *node_log, const struct tracing_opts *opts, const char *command,
                 const struct opt_args *args)
{
    char tracer[PATH_MAX], dir[PATH_MAX], name[NAME_MAX + 1];
    int code = find_tracer(node_log, opts, args->values[0], tracer, sizeof tracer);

    if (code == UI_DONE) {
        (void)snprintf(name, sizeof name, "trace-%s", ui_file_name(args->values[0]));
        code = make_folder(node_log, opts, opts->dir != NULL ? opts->dir : name, tracer, dir);
    }
    if (code == UI_DONE && !set_environment(opts, tracer, dir)) {
        code = node_log_fail(node_log, "cannot set the environment: %s", strerror(errno));
    }
    if (code == UI_DONE && opts->wants_kernel) {
        code = kernel_watch_start(node_log, dir, command, opts->is_kernel_optional);
    }
    if (code == UI_DONE && opts->is_shown) {
        show_environment();
        return UI_DONE;
    }
    return code == UI_DONE ? exec_program(node_log, args) : code;
}

static int check(const struct ui *ui, const struct tracing_opts *opts, const struct opt_args *args)
{
    const int code = exec_program_check(ui, args);

    if (code != UI_DONE) {
        return code;
    }
    if (opts->is_kernel_optional && !opts->wants_kernel) {
        return ui_usage(ui, "--kernel-optional needs --kernel");
    }
    if (opts->is_shown && opts->wants_kernel) {
        return ui_usage(ui, "--kernel starts a process beside the program, which --show cannot do");
    }
    return UI_DONE;
}

static int run(struct ui *ui, const void *values, const struct opt_args *args)
{
    struct node_log node_log;
    int code;

    node_log_init(&node_log, ui);
    node_log_take_ui(&node_log, ui);
    code = check(ui, values, args);
    node_log_leave_ui(&node_log, ui);
    return code == UI_DONE ? trace(&node_log, values, ui->command, args) : code;
}

const struct verb verb_trace = {
    .name = "trace",
    .group = VERB_RUN,
    .summary = "record an MPI program while it runs",
    .synopsis = synopsis,
    .description = description,
    VERB_GROUPS(groups),
    .most_used = "start kernel output overwrite quiet",
    .examples = examples,
    VERB_DEFAULTS(defaults),
    .most_arguments = (size_t)-1,
    .meets_others = true,
    .takes_command = true,
    .run = run,
};
