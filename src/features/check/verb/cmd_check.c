/* `idlewave check`: one command, one answer about a node.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>
#include <string.h>

#include <idlewave/idlewave.h>

#include "features/check/verb/check_demands.h"
#include "features/check/verb/check_fleet.h"
#include "features/check/verb/check_measure.h"
#include "options/cpu_list.h"
#include "options/verbs.h"
#include "process/interrupt.h"
#include "process/wall_clock.h"

#define ROW(...) OPT_ROW(struct check_opts, __VA_ARGS__)
static const struct opt measure_rows[] = {
    ROW("cpus", OPT_STRING, cpus, "LIST",
        "the application's CPUs, 2-7 (default those of the batch job, else those that the kernel sets apart, "
        "else all)",
        .is_setting = true),
    ROW("within", OPT_TIME, within_ps, "TIME",
        "finish within TIME: up to four fifths of it for measuring, the rest for jobs, with fewer trials "
        "where time is short (default 50s, with --duration what that and the jobs need, with FILE no limit)",
        .is_setting = true),
    ROW("duration", OPT_TIME, duration_ps, "TIME", "how long to measure (default as long as --within allows)",
        .is_setting = true),
    ROW("watch", OPT_FLAG, wants_watch, "",
        "judge the node by what its running programs lose, without a probe (default: a node where programs "
        "run is called busy)"),
    ROW("sysroot", OPT_STRING, sysroot, "DIR",
        "with FILE: read the files of another node, copied below DIR (default this node's)"),
};
static const struct opt required_rows[] = {
    ROW("require", OPT_STRING, require, "FILE",
        "a profile of settings, jobs and limits that the node has to keep, in place of those below",
        .is_setting = true),
    ROW("learn", OPT_STRING, answer.learn, "FILE",
        "write a profile of this node: settings that are configured, and twice what it loses as limits"),
    ROW("baseline", OPT_STRING, baseline, "FILE",
        "an earlier recording: noisy if the node loses more now, beyond chance", .is_setting = true),
    ROW("fleet", OPT_STRING, fleet, "DIR|FILE",
        "noise files or digests of other nodes: noisy if this one stands out among them", .is_setting = true),
    ROW("limit", OPT_STRING, limit, "SHARE", "CPU time that may be lost to noise (default 1%)",
        .is_setting = true),
    ROW("slowdown-limit", OPT_STRING, slowdown_limit, "SHARE",
        "by how much noise may slow each job down (default 10%)", .is_setting = true),
};
static const struct opt output_rows[] = {
    ROW("quiet", OPT_FLAG, answer.is_quiet, "", "print one line", .letter = 'q'),
    ROW("html", OPT_STRING, answer.html, "FILE", "also write the page into FILE"),
    ROW("json", OPT_STRING, answer.json, "FILE", "also write the result as JSON into FILE"),
    SHOWN_OUTPUT_ROW(struct check_opts, recording_path, "FILE",
                     "also keep the recording, as HDF5 (default: it is not kept)"),
};
#undef ROW

static const struct opt_group groups[] = {
    OPT_GROUP("How to measure", measure_rows, 0),
    OPT_GROUP("What is required", required_rows, 0),
    {"Jobs", job_rows, JOB_ROW_COUNT, offsetof(struct check_opts, job), false},
    SHOWN_PAGE_GROUP("Output; csv has one line per requirement", offsetof(struct check_opts, answer.shown)),
    OPT_GROUP("Output; csv has one line per requirement", output_rows, 0),
    {"Network", net_rows, NET_ROW_COUNT, offsetof(struct check_opts, net), false},
};

static const struct check_opts defaults = {.within_ps = 50 * IW_PS_PER_S,
                                           .limit = "1%",
                                           .slowdown_limit = "10%",
                                           .job = JOB_OPTS_INIT,
                                           .net = NET_OPTS_INIT};

static const char *const synopsis[] = {"[options] [FILE]", NULL};

static const char description[] =
    "Measures the noise of a node, verifies its settings against it, simulates what the noise costs typical "
    "jobs, and compares the results with what is required: one line to grep for, one page, one exit code.\n"
    "The line begins with GOOD, NOISY, CONTRADICTED, BUSY or UNKNOWN. Exits with 0 for a good node, 2 if a "
    "setting is contradicted or not as required, 3 if there is too little to tell, 4 if the node is too "
    "noisy, 5 if users' programs keep it busy, so that its noise cannot be judged, and 1 on errors.\n"
    "A busy node is not probed: its programs are watched instead, which needs root or CAP_BPF and "
    "CAP_PERFMON, only its settings are judged, and no job is simulated. As root more sources are "
    "identified. Nothing is changed on the node.";

static const struct example examples[] = {
    {"is this node fit for jobs?", "idlewave check"},
    {"in a health check that has 60 s",
     "idlewave check --quiet --within 50s --require /etc/idlewave/node.json"},
    {"what other nodes have to keep, from one that is good", "idlewave check --learn node.json"},
    {"a page to look at, and the recording for later",
     "idlewave check --html node.html -o node.h5 --baseline before.h5"},
    {"among its peers, by their digests", "idlewave check --fleet /shared/digests"},
    {"while a job runs", "idlewave check --watch"},
    {NULL, NULL},
};

/* What a check works on. */
struct work {
    int64_t start_ns, end_ns; /* of monotonic_ns() */
    struct check_times times;
    struct check_demands demands;
    iw_recording *recording;
    iw_verify *verify;
    iw_check check;
    struct job_list jobs;
};

/* ---- measuring ---- */

/* The application's CPUs, as `verify` knows them; none: all. */
static int choose_cpus(struct ui *ui, const struct check_opts *opts, struct cpu_list *cpus)
{
    iw_verify_opts settings = IW_VERIFY_OPTS_INIT;
    iw_verify *verify = NULL;
    int code;

    if (opts->cpus != NULL) {
        return cpu_list_read(ui, opts->cpus, cpus);
    }
    cpus->count = 0;
    code = ui_exit_of(iw_verify_run(&ui->log, &settings, &verify));
    for (uint32_t cpu = 0; code == UI_DONE && cpu < IW_CPU_SET_MOST; cpu++) {
        if (iw_cpu_set_has(&verify->quiet, cpu)) {
            cpus->numbers[cpus->count++] = cpu;
        }
    }
    iw_verify_free(verify);
    return code;
}

static int measure(struct ui *ui, const struct check_opts *opts, struct work *work)
{
    struct cpu_list *cpus = ui_grow(NULL, 1, sizeof *cpus);
    struct measured measured = {.recording = NULL};
    int code = choose_cpus(ui, opts, cpus);

    if (code == UI_DONE) {
        code = check_measure(ui, cpus, &work->times, opts->wants_watch, &measured);
        work->recording = measured.recording;
        work->check.is_watched = measured.is_watched;
    }
    free(cpus);
    if (code == UI_DONE && opts->recording_path != NULL) {
        code = ui_exit_of(iw_recording_save(&ui->log, work->recording, opts->recording_path));
    }
    return code;
}

/* ---- what follows from it ---- */

/* Then it cannot be judged, whatever jobs would say. */
static bool is_too_short(const iw_noise_facts *facts)
{
    return facts->watched_ns < IW_CHECK_SHORTEST_NS * (double)facts->cpu_count;
}

static bool is_at_work(const iw_check *check)
{
    return check->is_watched || check->noise.facts.load.is_busy;
}

/* What programs of users do, and have done to them, contradicts no setting: then only settings are looked at.
 */
static int verify(struct ui *ui, const struct check_opts *opts, struct work *work)
{
    iw_verify_opts wanted = IW_VERIFY_OPTS_INIT;
    iw_cpu_set cpus;
    char fault[IW_CPU_FAULT_SIZE];

    if (opts->cpus != NULL) {
        if (!iw_cpu_set_parse(opts->cpus, &cpus, fault)) {
            return ui_usage(ui, "--cpus: %s", fault);
        }
        wanted.cpus = &cpus;
    }
    wanted.root = opts->sysroot != NULL ? opts->sysroot : "";
    wanted.recording = is_at_work(&work->check) ? NULL : work->recording;
    work->check.verify = NULL;
    return ui_exit_of(iw_verify_run(&ui->log, &wanted, &work->verify));
}

static int compare(struct ui *ui, const struct check_opts *opts, struct work *work)
{
    iw_compare_opts compare_opts = IW_COMPARE_OPTS_INIT;
    iw_noise_comparison *comparison = NULL;
    int code;

    if (work->demands.baseline == NULL ||
        is_at_work(&work->check)) { /* a probe sees what a watcher does not */
        return UI_DONE;
    }
    code = ui_exit_of(
        iw_noise_compare(&ui->log, work->demands.baseline, work->recording, &compare_opts, &comparison));
    if (code == UI_DONE) {
        work->check.has_baseline = true;
        work->check.baseline = opts->baseline;
        work->check.compared = comparison->verdict;
        work->check.baseline_share = comparison->metrics[IW_COMPARE_SHARE];
    }
    iw_noise_comparison_free(comparison);
    return code;
}

static int compare_with_fleet(struct ui *ui, const struct check_opts *opts, struct work *work)
{
    const iw_verify *verify = work->verify;

    if (opts->fleet == NULL || work->check.noise.facts.load.is_busy) {
        return UI_DONE;
    }
    work->check.has_fleet = true;
    work->check.fleet.path = opts->fleet;
    return check_fleet(ui, opts->fleet,
                       verify->recorded_host[0] != '\0' ? verify->recorded_host : verify->host,
                       work->recording, &work->check.fleet);
}

static int evaluate(struct ui *ui, const struct check_opts *opts, const char *name, struct work *work)
{
    iw_noise_report_opts report_opts = IW_NOISE_REPORT_OPTS_INIT;
    iw_check *check = &work->check;
    int code;

    report_opts.name = name;
    code = ui_exit_of(iw_noise_report_init(&ui->log, work->recording, &report_opts, &check->noise));
    if (code == UI_DONE) {
        code = verify(ui, opts, work);
    }
    if (code == UI_DONE) {
        check->verify = work->verify;
        code = compare(ui, opts, work);
    }
    if (code == UI_DONE) {
        code = compare_with_fleet(ui, opts, work);
    }
    if (is_at_work(check) || is_too_short(&check->noise.facts)) {
        work->jobs.count = 0;
    } else if (code == UI_DONE && !interrupt_has_come()) { /* those that are not simulated stay undone */
        code = jobs_simulate(ui, &opts->job, &opts->net, work->recording, work->end_ns, work->verify,
                             &work->jobs, &check->caveats);
    }
    check->job_count = work->jobs.count;
    check->jobs = work->jobs.jobs;
    check->command = ui->command;
    return code == UI_DONE ? ui_exit_of(iw_check_judge(&ui->log, &work->demands.limits, check)) : code;
}

static void release(struct work *work)
{
    iw_check_release(&work->check);
    iw_noise_report_release(&work->check.noise);
    iw_verify_free(work->verify);
    iw_recording_free(work->recording);
    check_demands_release(&work->demands);
    free(work);
}

static int run(struct ui *ui, const void *values, const struct opt_args *args)
{
    const struct check_opts *opts = values;
    const char *file = args->count > 0 ? args->values[0] : NULL;
    struct work *work = ui_grow(NULL, 1, sizeof *work);
    int code;

    *work = (struct work){.start_ns = monotonic_ns()};
    code = check_demands_read(ui, opts, file != NULL, &work->demands);
    if (code == UI_DONE) {
        work->check.profile = work->demands.profile != NULL ? opts->require : NULL;
        code = jobs_choose(ui, &opts->job, work->demands.limits.profile, &work->jobs);
    }
    work->times = check_times_asked(opts, work->jobs.count > 0);
    work->end_ns =
        file != NULL && !opt_typed(opts, within_ps) ? INT64_MAX : work->start_ns + work->times.within_ns;
    if (code == UI_DONE) {
        code = file != NULL ? ui_exit_of(iw_recording_load(&ui->log, file, &work->recording))
                            : measure(ui, opts, work);
    }
    if (code == UI_DONE) {
        code = evaluate(ui, opts, file != NULL ? file : "the recording", work);
        work->check.took_s = file == NULL ? (double)(monotonic_ns() - work->start_ns) / 1e9 : 0.0;
    }
    if (code == UI_DONE) {
        code = answer_check(ui, &opts->answer, &work->check);
    }
    release(work);
    return code;
}

const struct verb verb_check = {
    .name = "check",
    .summary = "report whether a node is fit to run jobs",
    .synopsis = synopsis,
    .description = description,
    .argument_name = "FILE",
    .argument_help = "a recording of the node (HDF5), in place of measuring",
    .groups = groups,
    .group_count = sizeof groups / sizeof groups[0],
    .most_used = "cpus duration watch require learn baseline fleet limit format quiet",
    .examples = examples,
    .defaults = &defaults,
    .values_size = sizeof(struct check_opts),
    .most_arguments = 1,
    .run = run,
};
