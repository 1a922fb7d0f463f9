/* `idlewave trace`: between an MPI's launcher and a program, has each process of it recorded.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Every process that the launcher starts runs this, which then becomes the program (exec): signals, exit code
 * and the launcher's connections are the program's own. All else is the preloaded tracer's work (mpi/trace).
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <idlewave/idlewave.h>
#include <idlewave/internal/folder.h>
#include <idlewave/internal/mpi.h>

#include "features/trace/verb/kernel_watch.h"
#include "options/verbs.h"
#include "process/exec_program.h"
#include "process/node_log.h"

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
        "record from the beginning, or from the program's first MPI_Pcontrol(1) on (default on)",
        .choices = starts),
    ROW("buffer", OPT_COUNT, buffer_bytes, "BYTES", "memory per thread for recorded events (default 1MiB)",
        .min = 64 << 10, .max = UINT64_C(1) << 40, .is_setting = true),
    ROW("mpi", OPT_CHOICE, mpi, "",
        "the MPI of the program, not checked (default auto: by its libraries, else the launcher's)",
        .choices = mpis, .is_setting = true),
    ROW("kernel", OPT_FLAG, wants_kernel, "",
        "also record what the kernel takes from the ranks, for 'idlewave explain'; needs root or "
        "perf_event_paranoid -1"),
    ROW("kernel-optional", OPT_FLAG, is_kernel_optional, "",
        "with --kernel: where the rights for it are missing, say so and go on without"),
};
static const struct opt output_rows[] = {
    ROW("output", OPT_STRING, dir, "DIR", "the folder of the trace (default trace-PROGRAM)", .letter = 'o'),
    ROW("overwrite", OPT_FLAG, wants_overwrite, "",
        "first remove an existing trace, or what an earlier run left of one"),
    ROW("quiet", OPT_FLAG, is_quiet, "", "no summary at the end", .letter = 'q'),
    ROW("show", OPT_FLAG, is_shown, "",
        "create the folder and print the environment variables to set, for use without this command"),
};
#undef ROW

static const struct opt_group groups[] = {
    OPT_GROUP("What is recorded", record_rows, 0),
    OPT_GROUP("Output", output_rows, 0),
};

static const struct tracing_opts defaults = {.buffer_bytes = 1 << 20, .start = START_ON, .mpi = MPI_AUTO};

static const char *const synopsis[] = {"[options] [--] PROGRAM [ARGUMENT...]", NULL};

static const char description[] =
    "Records the MPI calls of a program while it runs, and the time it computes between them, as an OTF2 "
    "trace. Put it between the launcher and the program: mpirun -n 64 idlewave trace -o run -- ./app. "
    "Programs in C, C++ and Fortran are traced without recompiling or relinking, with Open MPI and "
    "MPICH.\nThe program keeps its exit code, output and signals. If tracing cannot begin, because there is "
    "no "
    "tracer for its MPI or the folder holds a trace, the command exits with status 1 and the program does "
    "not "
    "run. If recording fails later, the program continues untraced. Without a launcher, the program runs and "
    "is "
    "traced as one rank.";

static const struct example examples[] = {
    {"64 ranks, then what they would take with noise",
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
            ui_hint(NULL, "--mpi openmpi or --mpi mpich takes that MPI's tracer without asking");
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
    static const iw_folder_part parts[] = {
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
            node_log, "'%s' holds a trace already: name another folder with -o, or say --overwrite", name);
    }
    (void)snprintf(path, sizeof path, "%s/spool", dir);
    if (access(path, F_OK) == 0) {
        return node_log_fail(
            node_log,
            "'%s' holds what a run left that did not end: '%.*sidlewave-trace-finish %s' makes a trace "
            "of it; or name another folder with -o, or say --overwrite",
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
        code = node_log_fail(node_log, "the environment cannot be set: %s", strerror(errno));
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
        return ui_usage(ui, "--kernel-optional says what to do where --kernel cannot work: add --kernel");
    }
    if (opts->is_shown && opts->wants_kernel) {
        return ui_usage(ui, "--kernel needs a process beside the program, which --show does not start");
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
    .groups = groups,
    .group_count = sizeof groups / sizeof groups[0],
    .most_used = "start kernel output overwrite quiet",
    .examples = examples,
    .defaults = &defaults,
    .values_size = sizeof(struct tracing_opts),
    .most_arguments = (size_t)-1,
    .meets_others = true,
    .takes_command = true,
    .run = run,
};
