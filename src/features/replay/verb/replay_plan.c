/* The options of `replay`, the plans that follow from them, and what is said of these.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include <idlewave/internal/mpi.h>

#include "features/replay/verb/injected_noise.h"
#include "features/replay/verb/replay_plan.h"
#include "options/simulate_opts.h"
#include "process/wall_clock.h"

/* ======== options ======== */

/* In the order of the enums in replay_plan.h. */
static const char *const thread_choices[] = {"main", "all", NULL};
static const char *const mpi_choices[] = {"auto", "none", "openmpi", "mpich", NULL};
const char *const replay_mpis[] = {"auto", IW_PLUGIN_PLAIN, "openmpi", "mpich"};

#define ROW(...) OPT_ROW(struct replay_opts, __VA_ARGS__)
static const struct opt most_rows[] = {
    ROW("most", OPT_STRING, most, "SHARE|all",
        "use this share of the recording, then inject nothing; all: repeat it (default 1/3 of a file, all of "
        "SPECs)"),
};
static const struct opt make_rows[] = {
    ROW("threads", OPT_CHOICE, threads, "",
        "threads of the program that get noise; with fifo it is the whole CPU (default main)",
        .choices = thread_choices),
    ROW("calibrate", OPT_TIME, calibrate_ps, "TIME",
        "duration of measuring the cost of a detour here (default 300ms)", .is_setting = true),
    ROW("mpi", OPT_CHOICE, mpi, "",
        "MPI of the program, not checked (default auto: by its libraries, else the launcher's, else none)",
        .choices = mpi_choices, .is_setting = true),
};
static const struct opt check_rows[] = {
    ROW("self-check", OPT_FLAG, is_check, "",
        "run no program: inject into a thread that reads the clock, compare what it observes with the "
        "requested noise, and exit with status 2 if they differ"),
    ROW("duration", OPT_TIME, check_ps, "TIME",
        "duration of observing, plus half as long for the host's own noise (default 10s)"),
    ROW("naive", OPT_FLAG, want_naive, "",
        "inject the noise a second time unchanged (not scaled, subtracted or merged), for comparison"),
};
static const struct opt output_rows[] = {
    ROW("dry-run", OPT_FLAG, is_dry, "", "report what would be injected here, and run nothing"),
    ROW("quiet", OPT_FLAG, is_quiet, "", "print nothing before and after the program", .letter = 'q'),
};
#undef ROW

const struct opt_group replay_groups[REPLAY_GROUP_COUNT] = {
    {"Noise", injection_rows, INJECTION_ROW_COUNT, offsetof(struct replay_opts, injection), false},
    OPT_GROUP("Noise", most_rows, 0),
    OPT_GROUP("How to inject it", make_rows, 0),
    OPT_GROUP("How to check it", check_rows, 0),
    SHOWN_GROUP("How to check it", offsetof(struct replay_opts, shown)),
    OPT_GROUP("Output", output_rows, 0),
};

const struct replay_opts replay_defaults = {
    .check_ps = 10 * IW_PS_PER_S,
    .calibrate_ps = IW_INJECT_CALIBRATE_NS * IW_PS_PER_NS,
    .injection = INJECTION_OPTS_INIT,
};

/* ======== plans ======== */

enum { MORE_ATTEMPTS = 2 };
#define MOST_CALIBRATE_NS INT64_C(60000000000)
#define MOST_TURN_NS INT64_C(20000000000) /* to wait for the turn to calibrate */

/* ---- options ---- */

int replay_check(struct ui *ui, const struct replay_opts *opts)
{
    if (opts->injection.noise.count == 0) {
        return ui_usage(ui, "no noise given; type --noise node.h5, or --noise periodic:1kHz,20us");
    }
    if (injection_check(ui, &opts->injection) != UI_DONE) {
        return UI_USAGE;
    }
    if (opts->threads == REPLAY_THREADS_ALL && opts->injection.back_end == IW_BACK_END_FIFO) {
        return ui_usage(ui, "--threads all needs --back-end timer: fifo takes the CPU from any thread on it");
    }
    if (opts->calibrate_ps < 10 * IW_PS_PER_MS || opts->calibrate_ps > MOST_CALIBRATE_NS * IW_PS_PER_NS) {
        return ui_usage(ui, "--calibrate: from 10ms to 60s");
    }
    if (opts->is_check && opts->is_dry) {
        return ui_usage(ui, "--self-check and --dry-run: drop one of the two");
    }
    if (!opts->is_check && (opt_typed(opts, want_naive) || opt_typed(&opts->shown, format) ||
                            opt_typed(&opts->shown, plot) || opt_typed(opts, check_ps))) {
        return ui_usage(ui, "--duration, --naive, --format and --plot are for --self-check");
    }
    if (opts->is_check && opts->check_ps < 100 * IW_PS_PER_MS) {
        return ui_usage(ui, "--duration must be at least 100 ms");
    }
    return UI_DONE;
}

static int parse_most(struct ui *ui, const struct replay_opts *opts, double *share_p)
{
    iw_status status;

    if (opts->most == NULL) {
        *share_p = injected_has_file(&opts->injection.noise) ? 1.0 / 3.0 : 0.0;
        return UI_DONE;
    }
    if (strcmp(opts->most, "all") == 0) {
        *share_p = 0.0;
        return UI_DONE;
    }
    ui->option = "--most";
    status = iw_parse_share(&ui->log, opts->most, share_p);
    ui->option = NULL;
    if (status == IW_OK && (*share_p <= 0.0 || *share_p > 1.0)) {
        return ui_usage(ui, "--most %s: use a share above 0 and at most 1", opts->most);
    }
    return ui_exit_of_value(ui, status);
}

/* ---- noise ---- */

/* FNV-1a of the host's name and of a number of the node on it: ranks of one node have the same place in its
 * trace, other nodes others. Where a host has more ranks than the recording has CPUs, it stands for several
 * nodes: no two ranks meet one CPU's detours at the same instant. */
static uint64_t node_number(uint64_t on_host)
{
    char name[256] = "";
    uint64_t number = UINT64_C(14695981039346656037);

    (void)gethostname(name, sizeof name - 1);
    for (const char *c = name; *c != '\0'; c++) {
        number = (number ^ (unsigned char)*c) * UINT64_C(1099511628211);
    }
    return on_host > 0 ? (number ^ on_host) * UINT64_C(1099511628211) : number;
}

static size_t ranks_of_node(const iw_launcher *launcher)
{
    return launcher->local_size > 0 ? launcher->local_size : (size_t)launcher->local_rank + 1;
}

/* Up to the last that a thread of this rank is to meet: draws are made for all before it too. */
static size_t cpus_needed(const struct replay *replay)
{
    const size_t step = ranks_of_node(&replay->launcher);
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    size_t threads = 1;

    if (replay->opts->threads == REPLAY_THREADS_ALL && online > 0 && (size_t)online / step > 1) {
        threads = (size_t)online / step;
        threads = threads < IW_REPLAY_MOST_PLANS ? threads : IW_REPLAY_MOST_PLANS;
    }
    return replay->launcher.local_rank + (threads - 1) * step + 1;
}

static int load_noise(struct ui *ui, const iw_log *log, const struct replay_opts *opts, struct replay *replay)
{
    struct injected_opts injected = {.noise = &opts->injection.noise,
                                     .sync = (iw_sync)opts->injection.sync,
                                     .seed = opts->injection.seed,
                                     .cpu_count = cpus_needed(replay)};
    iw_cpu_set cpus;
    int code = simulate_read_cpus(ui, opts->injection.cpus, &cpus, &injected.cpus);

    replay->is_of_file = injected_has_file(&opts->injection.noise);
    if (code == UI_DONE) {
        code = simulate_check_cpus(ui, opts->injection.cpus, replay->is_of_file ? 1 : 0);
    }
    return code == UI_DONE ? injected_load(ui, log, &injected, &replay->recording) : code;
}

/* ---- plans ---- */

/* Threads of a rank take the CPUs that no other rank of the node has as its first. */
static iw_status make_plans(const iw_log *log, struct replay *replay)
{
    const size_t cpus = replay->recording->cpu_count;
    const size_t step = ranks_of_node(&replay->launcher);
    size_t wanted = replay->opts->threads == REPLAY_THREADS_ALL ? cpus : 1;

    wanted = wanted < IW_REPLAY_MOST_PLANS ? wanted : IW_REPLAY_MOST_PLANS;
    for (size_t k = 0; k < wanted; k++) {
        const size_t cpu = (replay->launcher.local_rank + k * step) % cpus;
        const iw_status status = iw_inject_plan_make(log, replay->recording, cpu, &replay->inject,
                                                     &replay->costs, &replay->plans[k]);

        if (status != IW_OK) {
            return status;
        }
        replay->plan_count = k + 1;
    }
    return IW_OK;
}

/* Who waits for too long goes on without it. */
static void wait_for_turn(int file)
{
    static const struct timespec a_while = {.tv_nsec = 10000000};
    const int64_t end_ns = monotonic_ns() + MOST_TURN_NS;

    while (file >= 0 && flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK &&
           monotonic_ns() < end_ns) {
        (void)nanosleep(&a_while, NULL);
    }
}

/* Other ranks that calibrate on the same CPUs are in the way: if it took its time and failed they take turns,
 * and take longer. What fails at once would fail again. */
static iw_status calibrate(const iw_log *log, struct replay *replay)
{
    const iw_back_end back_end = (iw_back_end)replay->opts->injection.back_end;
    int64_t duration_ns = replay->opts->calibrate_ps / IW_PS_PER_NS;
    const int64_t start_ns = monotonic_ns();
    iw_status status = iw_inject_calibrate(NULL, back_end, duration_ns, &replay->costs);
    const bool was_busy = monotonic_ns() - start_ns >= duration_ns;

    for (int attempt = 0; attempt < MORE_ATTEMPTS && status != IW_OK && was_busy; attempt++) {
        const int self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
        const bool is_last = attempt == MORE_ATTEMPTS - 1;

        duration_ns = 2 * duration_ns < MOST_CALIBRATE_NS ? 2 * duration_ns : MOST_CALIBRATE_NS;
        wait_for_turn(self);
        status = iw_inject_calibrate(is_last ? log : NULL, back_end, duration_ns, &replay->costs);
        if (self >= 0) {
            (void)close(self);
        }
    }
    return status == IW_OK || was_busy ? status
                                       : iw_inject_calibrate(log, back_end, duration_ns, &replay->costs);
}

int replay_prepare(struct ui *ui, struct node_log *node_log, const struct replay_opts *opts,
                   struct replay *replay)
{
    const iw_inject_opts inject = IW_INJECT_OPTS_INIT;
    int code;

    *replay = (struct replay){.opts = opts, .inject = inject};
    if (iw_launcher_detect(NULL, &replay->launcher) != IW_OK) {
        replay->launcher = (iw_launcher){.name = NULL};
    }
    replay->inject.sync = (iw_sync)opts->injection.sync;
    replay->inject.skew_ns = opts->injection.skew_ps / IW_PS_PER_NS;
    replay->inject.time_scale = opts->injection.time_scale;
    replay->inject.seed = opts->injection.seed;
    code = parse_most(ui, opts, &replay->inject.most_share);
    if (code == UI_DONE) {
        code = load_noise(ui, &node_log->log, opts, replay);
    }
    if (code == UI_DONE) {
        replay->inject.node = node_number(replay->launcher.local_rank / replay->recording->cpu_count);
        code = ui_exit_of(calibrate(&node_log->log, replay));
    }
    return code == UI_DONE ? ui_exit_of(make_plans(&node_log->log, replay)) : code;
}

void replay_release(struct replay *replay)
{
    for (size_t k = 0; k < replay->plan_count; k++) {
        iw_inject_plan_free(replay->plans[k]);
    }
    iw_recording_free(replay->recording);
}

/* ======== words ======== */

struct text {
    char chars[24];
};

static const char *time_of(double ns, struct text *text)
{
    return iw_format_time((iw_time)(ns * (double)IW_PS_PER_NS), text->chars, sizeof text->chars);
}

static double percent(double part, double whole)
{
    return whole > 0.0 ? 100.0 * part / whole : 100.0;
}

void replay_summary(const struct replay *replay, char *text, size_t size)
{
    const iw_inject_facts *facts = iw_inject_plan_facts(replay->plans[0]);
    struct text floor, p50, p99;
    int used;

    used = snprintf(text, size,
                    "%s: floor %s, deadline error %s (1 of 100 above %s); %.1f %% of events and %.1f %% of "
                    "noise time as recorded, the rest merged; %.3g %% of the time is noise",
                    iw_back_end_name((iw_back_end)replay->opts->injection.back_end),
                    time_of(replay->costs.floor_ns, &floor), time_of(replay->costs.late_p50_ns, &p50),
                    time_of(replay->costs.late_p99_ns, &p99),
                    percent((double)facts->as_recorded_count, (double)facts->event_count),
                    percent(facts->as_recorded_ns, facts->noise_ns),
                    percent(facts->made_ns, (double)facts->length_ns));
    if (replay->is_of_file && used > 0 && (size_t)used < size) {
        (void)snprintf(text + used, size - (size_t)used,
                       "; %zu recorded CPUs, assigned to the ranks of a host in turn",
                       replay->recording->cpu_count);
    }
}

static void describe_use(const struct replay *replay, const iw_inject_facts *facts)
{
    struct text length, used;

    (void)printf("trace            %s", time_of((double)facts->length_ns, &length));
    if (replay->inject.most_share > 0.0) {
        (void)printf(", of which a run uses %s",
                     time_of((double)facts->length_ns * replay->inject.most_share, &used));
    }
    (void)printf("\n");
    if (replay->is_of_file) {
        (void)printf("recorded CPUs    %zu, assigned to the ranks of a host in turn\n",
                     replay->recording->cpu_count);
    }
}

void replay_describe(const struct replay *replay)
{
    const iw_inject_facts *facts = iw_inject_plan_facts(replay->plans[0]);
    const iw_inject_costs *costs = &replay->costs;
    struct text a, b;

    (void)printf("back end         %s\n", iw_back_end_name((iw_back_end)replay->opts->injection.back_end));
    (void)printf("floor            %s\n", time_of(costs->floor_ns, &a));
    (void)printf("overhead         %s, subtracted from each detour\n", time_of(costs->overhead_ns, &a));
    (void)printf("deadline error   %s, 1 of 100 above %s\n", time_of(costs->late_p50_ns, &a),
                 time_of(costs->late_p99_ns, &b));
    describe_use(replay, facts);
    (void)printf("events           %" PRIu64 ", %.1f %% as recorded\n", facts->event_count,
                 percent((double)facts->as_recorded_count, (double)facts->event_count));
    (void)printf("noise time       %s, %.1f %% as recorded\n", time_of(facts->noise_ns, &a),
                 percent(facts->as_recorded_ns, facts->noise_ns));
    (void)printf("injected         %" PRIu64 " detours, %s\n", facts->made_count,
                 time_of(facts->made_ns, &a));
    (void)printf("share of time    %.4g %%\n", percent(facts->made_ns, (double)facts->length_ns));
}
