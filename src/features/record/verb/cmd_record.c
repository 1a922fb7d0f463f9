/* `idlewave record`: measures the noise of this node into a noise file.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/idlewave.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "options/cpu_list.h"
#include "options/program_opts.h"
#include "options/shown_opts.h"
#include "options/verbs.h"
#include "process/interrupt.h"
#include "process/live.h"
#include "process/progress.h"
#include "process/ui.h"

/* How the command ended. */
struct background_command_end {
    bool is_early;  /* it, and all that it started, before it was told to */
    int code;       /* its exit code if it had ended by itself, as shells give it; else 0 */
    int64_t raw_ns; /* is_early: when, on CLOCK_MONOTONIC_RAW */
};

struct background_command {
    pid_t pid; /* of its guard; 0: none */
    int pipe;  /* on which the guard tells an early end */
    struct background_command_end end;
};

/* ======== a command that runs beside the recording ======== */

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

/* Ends the command if it still runs. */
static struct background_command_end background_command_stop(struct background_command *under)
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

/* Runs `command` by /bin/sh; what it writes to stdout goes to stderr, stdin is empty. It ends with this
 * process, however that ends. False: reported; also if the shell does not know the command. */
static bool background_command_start(const struct ui *ui, const char *command,
                                     struct background_command *under)
{
    struct pollfd told;

    *under = (struct background_command){.pid = 0};
    if (command == NULL) {
        return true;
    }
    if (!start_guard(command, under)) {
        ui_error(ui, "cannot start '%s': %s", command, strerror(errno));
        return false;
    }
    told = (struct pollfd){.fd = under->pipe, .events = POLLIN};
    if (poll(&told, 1, START_MS) == 1) {
        read_end(under);
    }
    if (under->end.code == NOT_FOUND) {
        ui_error(ui, "'%s' ended at once with exit code %d: the shell does not know one of its commands",
                 command, NOT_FOUND);
        (void)background_command_stop(under);
        return false;
    }
    return true;
}

/* ======== the verb ======== */

struct record_opts {
    struct opt_origins origins;
    const char *path, *cpus, *under;
    int probe, attribution;
    iw_time duration_ps, quantum_ps;
    uint64_t events;
    double threshold;
    struct shown_opts shown;
};

/* In the order of iw_probe and iw_attribution. */
static const char *const probes[] = {"selfish", "fwq", "ftq", NULL};
static const char *const attributions[] = {"auto", "none", "switches", "perf", "tracefs", "osnoise", NULL};

#define ROW(...) OPT_ROW(struct record_opts, __VA_ARGS__)
static const struct opt measure_rows[] = {
    ROW("probe", OPT_CHOICE, probe, "",
        "what to sample: gaps in a loop that reads the clock (selfish), the time of fixed work (fwq), or the "
        "work in a fixed time (ftq) (default selfish)",
        .choices = probes),
    ROW("cpus", OPT_STRING, cpus, "LIST", "CPUs to measure, all at once: 0-3,8 (default all allowed)",
        .is_setting = true),
    ROW("duration", OPT_TIME, duration_ps, "TIME", "how long (default 60s)", .is_setting = true),
    ROW("events", OPT_COUNT, events, "N",
        "keep at most N detours or samples per CPU and only count the rest (default depends on the duration)",
        .min = 1, .max = UINT64_C(1) << 40),
    ROW("threshold", OPT_FACTOR, threshold, "FACTOR",
        "keep gaps longer than FACTOR times the undisturbed loop, at least 2 (default 9)",
        .is_setting = true),
    ROW("quantum", OPT_TIME, quantum_ps, "TIME", "fwq, ftq: length of one sample (default 1ms)"),
    ROW("attribution", OPT_CHOICE, attribution, "",
        "how to attribute detours to sources: by context switches of the measuring threads, by kernel events "
        "from perf or tracefs, or by the osnoise tracer (default auto: the best available)",
        .choices = attributions, .is_setting = true),
    ROW("under", OPT_STRING, under, "COMMAND", "run a shell command while recording; stop it at the end"),
};

static const struct opt output_rows[] = {
    SHOWN_OUTPUT_ROW(struct record_opts, path, "FILE", "the noise file, HDF5 (default noise-HOST.h5)"),
};
#undef ROW

static const struct opt_group groups[] = {
    OPT_GROUP("How to measure", measure_rows, 0),
    OPT_GROUP("Output", output_rows, 0),
    SHOWN_NO_CSV_GROUP("Output", offsetof(struct record_opts, shown)),
};

static const struct record_opts defaults = {
    .duration_ps = 60 * IW_PS_PER_S, .quantum_ps = IW_PS_PER_MS, .threshold = 9.0};

static const char *const synopsis[] = {"[options]", NULL};

static const char description[] =
    "Measure when the operating system, the hypervisor or the hardware interrupts the CPUs of this node, and "
    "write each detour to a noise file. All chosen CPUs are measured at once and on one clock.\nOne thread "
    "is pinned to each CPU and keeps it busy. No privileges are needed, but fewer sources are identified "
    "without them; "
    "root can identify every source. Kernel tracing uses a private tracefs instance, which is removed at the "
    "end, even if the recording is killed.\nCtrl-C, SIGTERM or SIGHUP ends the recording early; the file is "
    "still written. A second signal ends it at once: the file then holds what had been saved so far, which "
    "begins with the first seconds.";

static const struct example examples[] = {
    {"record this node as it is, for a minute", "idlewave record"},
    {"record two CPUs for ten minutes", "idlewave record --cpus 2,3 --duration 10min -o node.h5"},
    {"record while a file system is busy", "idlewave record --under 'find / -xdev > /dev/null'"},
    {"record samples of fixed work, for spectra", "idlewave record --probe fwq --quantum 500us -o fwq.h5"},
    {NULL, NULL},
};

static bool step(void *arg, const iw_progress_now *now)
{
    progress_update(arg, now->share);
    return !interrupt_has_come();
}

/* ---- what is asked for ---- */

static int check(const struct ui *ui, const struct record_opts *opts)
{
    if (opts->duration_ps < IW_PS_PER_NS) {
        return ui_usage(ui, "--duration must be above zero");
    }
    if (opts->threshold < 2.0) {
        return ui_usage(ui, "--threshold %g is too low: write at least 2 (times the undisturbed loop)",
                        opts->threshold);
    }
    if (opts->probe != IW_PROBE_SELFISH && opts->attribution > IW_ATTRIBUTION_NONE) {
        return ui_usage(ui, "--attribution %s needs the probe selfish, which records when something happened",
                        attributions[opts->attribution]);
    }
    if (opts->probe != IW_PROBE_SELFISH &&
        (opts->quantum_ps < IW_PS_PER_US || opts->quantum_ps > opts->duration_ps)) {
        return ui_usage(ui, "--quantum is out of range: write a time from 1us to the whole --duration");
    }
    return UI_DONE;
}

/* ---- what is done ---- */

static iw_measure_opts measure_opts_of(const struct record_opts *opts, const struct cpu_list *cpus)
{
    iw_measure_opts measure_opts = IW_MEASURE_OPTS_INIT;

    measure_opts.probe = (iw_probe)opts->probe;
    measure_opts.duration_ns = opts->duration_ps / IW_PS_PER_NS;
    measure_opts.max_events = opts->events;
    measure_opts.threshold = opts->threshold;
    measure_opts.quantum_ns = opts->quantum_ps / IW_PS_PER_NS;
    measure_opts.cpus = cpus->count > 0 ? cpus->numbers : NULL;
    measure_opts.cpu_count = cpus->count;
    measure_opts.attribution = (iw_attribution)opts->attribution;
    return measure_opts;
}

static int64_t length_ns_of(const iw_recording *recording)
{
    int64_t longest_ns = 0;

    for (size_t i = 0; i < recording->cpu_count; i++) {
        longest_ns = recording->cpus[i].length_ns > longest_ns ? recording->cpus[i].length_ns : longest_ns;
    }
    return longest_ns;
}

/* The command ended before the recording: the file says when, too. */
static iw_status report_early_end(const struct ui *ui, const char *command, const char *how, int64_t ended_ns,
                                  iw_recording *recording)
{
    char ended[24], length[24], value[24];

    if (ended_ns <= 0) {
        ui_error(ui, "warning: '%s' ended%s before measuring began; the recording does not include it",
                 command, how);
    } else {
        ui_error(ui, "warning: '%s' ended%s after %s of %s; the rest of the recording does not include it",
                 command, how, iw_format_time(ended_ns * IW_PS_PER_NS, ended, sizeof ended),
                 iw_format_time(length_ns_of(recording) * IW_PS_PER_NS, length, sizeof length));
    }
    snprintf(value, sizeof value, "%" PRId64, ended_ns > 0 ? ended_ns : 0);
    return iw_recording_set(&ui->log, recording, "under_ended_ns", value);
}

/* Warns if the command has failed or did not run all the time. */
static iw_status tell_end(const struct ui *ui, const char *command, const struct background_command_end *end,
                          iw_recording *recording)
{
    const char *start = iw_recording_get(recording, "start_raw_ns");
    const int64_t ended_ns = start != NULL ? end->raw_ns - strtoll(start, NULL, 10) : 0;
    char how[40] = "";

    if (end->code != 0) {
        snprintf(how, sizeof how, " with exit code %d", end->code);
    }
    if (end->is_early && ended_ns < length_ns_of(recording)) {
        return report_early_end(ui, command, how, ended_ns, recording);
    }
    if (end->code != 0) {
        ui_error(ui, "warning: '%s' ended%s while measuring", command, how);
    }
    return IW_OK;
}

static int measure(struct ui *ui, const struct record_opts *opts, const iw_measure_opts *how,
                   iw_recording **recording_p)
{
    iw_measure_opts measure_opts = *how;
    struct progress progress;
    struct background_command_end end;
    struct background_command under;
    int code = UI_ERROR;

    measure_opts.progress = (iw_progress){step, &progress};
    progress_begin(&progress, 0.0, NULL);
    ui->progress = &progress;
    if (background_command_start(ui, opts->under, &under)) {
        code = ui_exit_of_value(ui, iw_measure(&ui->log, &measure_opts, recording_p));
        end = background_command_stop(&under);
        if (code == UI_DONE) {
            code = ui_exit_of(tell_end(ui, opts->under, &end, *recording_p));
        }
    }
    ui->progress = NULL;
    progress_wipe(&progress);
    return code;
}

static void write_next(const char *path)
{
    (void)printf("\nNext: idlewave noise show %s\n"
                 "      idlewave simulate --noise %s \\\n"
                 "          " SUGGESTED_JOB "\n",
                 path, path);
}

static int write_recording(struct ui *ui, const struct record_opts *opts, const iw_recording *recording,
                           const char *path)
{
    iw_record_report report;
    int code = ui_exit_of(iw_recording_save(&ui->log, recording, path));

    if (code == UI_DONE) {
        code = ui_exit_of(iw_record_report_init(&ui->log, recording, path, &report));
    }
    if (code != UI_DONE) {
        return code;
    }
    code = shown_write(ui, &opts->shown, iw_record_doc(&report));
    if (code == UI_DONE && opts->shown.format == OUTPUT_TEXT) {
        write_next(path);
    }
    iw_noise_report_release(&report.noise);
    return code;
}

/* Ending it early is a use of it, not a failure: the exit code stays that of a recording. */
static void tell_interruption(const struct ui *ui, const iw_recording *recording, const char *path)
{
    char length[24];

    ui_error(ui, "interrupted after %s; the recording so far is in '%s'",
             iw_format_time(length_ns_of(recording) * IW_PS_PER_NS, length, sizeof length), path);
}

static int record(struct ui *ui, const struct record_opts *opts, const struct cpu_list *cpus,
                  const char *path)
{
    iw_measure_opts measure_opts = measure_opts_of(opts, cpus);
    iw_recording *recording = NULL;
    struct interrupt interrupt;
    struct live live;
    int code;

    live_begin(&live, &ui->log, path);
    measure_opts.sink = &live.sink;
    measure_opts.command = ui->command;
    measure_opts.under = opts->under;
    interrupt_catch(&interrupt);
    code = measure(ui, opts, &measure_opts, &recording);
    live_end(&live);
    if (code == UI_DONE) {
        code = write_recording(ui, opts, recording, path);
    }
    if (code == UI_DONE && interrupt_has_come()) {
        tell_interruption(ui, recording, path);
    }
    interrupt_release(&interrupt);
    iw_recording_free(recording);
    return code;
}

static int run(struct ui *ui, const void *values, const struct opt_args *args)
{
    const struct record_opts *opts = values;
    char default_path[LIVE_PATH_SIZE];
    const char *path = live_path(opts->path, "noise", default_path);
    struct cpu_list cpus;
    int code = check(ui, opts);

    (void)args;
    if (code == UI_DONE) {
        code = cpu_list_read(ui, opts->cpus, &cpus);
    }
    if (code == UI_DONE) {
        /* to be known before an hour of measuring, not after */
        code = ui_exit_of(iw_output_check(&ui->log, path, true));
    }
    if (code == UI_DONE) {
        code = record(ui, opts, &cpus, path);
    }
    return code;
}

const struct verb verb_record = {
    .name = "record",
    .summary = "measure the noise of this node",
    .synopsis = synopsis,
    .description = description,
    VERB_GROUPS(groups),
    .most_used = "cpus duration attribution under output format plot",
    .examples = examples,
    VERB_DEFAULTS(defaults),
    .most_arguments = 0,
    .run = run,
};
