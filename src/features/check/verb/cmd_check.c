/* `idlewave check`: one command, one answer about a node.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/idlewave.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "features/check/verb/check_jobs.h"
#include "features/check/verb/check_times.h"
#include "options/cpu_list.h"
#include "options/shown_opts.h"
#include "options/verbs.h"
#include "process/interrupt.h"
#include "process/ui.h"
#include "process/wall_clock.h"

#if IW_FEATURE_FLEET
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "features/fleet/verb/node_files.h"

/* The nodes of a fleet, and this one behind them. */
struct peers {
    iw_digest_stream others;
    const char *host;
    const iw_recording *recording;
    bool is_behind; /* this one has been given out too */
};

static iw_status go_back(const iw_log *log, void *arg)
{
    struct peers *peers = arg;

    peers->is_behind = false;
    return peers->others.rewind(log, peers->others.arg);
}

static bool is_comparable(const struct peers *peers, const iw_digest *digest)
{
    return digest->probe == peers->recording->probe && strcmp(digest->node, peers->host) != 0;
}

static iw_status next(const iw_log *log, void *arg, iw_digest **digest_p)
{
    struct peers *peers = arg;

    do {
        IW_TRY(peers->others.next(log, peers->others.arg, digest_p));
        if (*digest_p == NULL || is_comparable(peers, *digest_p)) {
            break;
        }
        iw_digest_free(*digest_p);
    } while (true);
    if (*digest_p != NULL || peers->is_behind) {
        return IW_OK;
    }
    peers->is_behind = true;
    return iw_digest_make(log, peers->host, peers->recording, digest_p);
}

/* "irq/eno1 on CPU 3: 0.42 % of the time (fleet 0.01 %)". */
static void describe(const iw_fleet_finding *finding, const char *name, char *text, size_t size)
{
    char cpu[32] = "", values[96], longest[32], usual[32];

    if (finding->has_cpu) {
        (void)snprintf(cpu, sizeof cpu, " on CPU %u", finding->cpu);
    }
    switch (finding->metric) {
    case IW_FLEET_SHARE:
        (void)snprintf(values, sizeof values, "%.3g %% of the time (fleet %.3g %%)", 100.0 * finding->value,
                       100.0 * finding->median);
        break;
    case IW_FLEET_RATE:
        (void)snprintf(values, sizeof values, "%.*f detours/s (fleet %.*f)", finding->value < 10.0 ? 2 : 0,
                       finding->value, finding->median < 10.0 ? 2 : 0, finding->median);
        break;
    default:
        (void)snprintf(values, sizeof values, "detours up to %s (fleet %s)",
                       iw_format_time((iw_time)(finding->value * IW_PS_PER_NS), longest, sizeof longest),
                       iw_format_time((iw_time)(finding->median * IW_PS_PER_NS), usual, sizeof usual));
        break;
    }
    (void)snprintf(text, size, "%.120s%s: %s", finding->is_all ? "all sources together" : name, cpu, values);
}

static void take_verdict(const iw_fleet *fleet, const char *host, iw_check_fleet *found)
{
    found->node_count = fleet->node_count - 1;
    found->finding_count = 0;
    for (size_t i = 0; i < fleet->node_count; i++) {
        if (strcmp(fleet->nodes[i].name, host) == 0) {
            found->finding_count = fleet->nodes[i].finding_count;
        }
    }
    for (size_t i = 0; i < fleet->finding_count; i++) { /* the largest excess comes first */
        const iw_fleet_finding *finding = &fleet->findings[i];
        char name[IW_SOURCE_NAME_SIZE + 16];

        if (strcmp(finding->node, host) == 0) {
            (void)snprintf(name, sizeof name, "%s/%s", iw_class_name(finding->source.kind),
                           finding->source.name);
            describe(finding, name, found->largest, sizeof found->largest);
            return;
        }
    }
}

static iw_status judge(const iw_log *log, const char *path, struct peers *peers, iw_check_fleet *found)
{
    iw_fleet_opts opts = IW_FLEET_OPTS_INIT;
    const iw_digest_stream stream = {.arg = peers, .rewind = go_back, .next = next};
    iw_fleet *fleet = NULL;
    iw_status status = iw_fleet_new(log, path, &fleet);

    opts.threads = peers->recording->probe == IW_PROBE_WATCH ? 1 : 0; /* programs run beside it */
    status = status == IW_OK ? iw_fleet_read(log, fleet, &stream) : status;
    status = status == IW_OK ? iw_fleet_judge(log, fleet, &opts) : status;
    if (status == IW_OK) {
        take_verdict(fleet, peers->host, found);
    }
    iw_fleet_free(fleet);
    return status;
}

/* Whether `path` can be listed, before anything is measured. Returns UI_DONE or an exit code. */
static int check_fleet_is_there(struct ui *ui, const char *path)
{
    struct node_files nodes;
    iw_status status = node_files_open(&ui->log, path, NULL, &nodes);

    if (status == IW_OK) {
        if (access(path, R_OK) != 0) {
            ui_error(ui, "--fleet: cannot read '%s': %s", path, strerror(errno));
            status = IW_ERR_IO;
        }
        node_files_close(&nodes);
    }
    return ui_exit_of(status);
}

/* Judges the nodes of `path` (as `fleet` takes it) together with this one, `recording` of `host`, and
 * tells whether it stands out. What the same host had before, and nodes that were measured by another probe,
 * are left out. Returns UI_DONE or an exit code. */
static int check_fleet(struct ui *ui, const char *path, const char *host, const iw_recording *recording,
                       iw_check_fleet *found)
{
    struct peers peers = {.host = host, .recording = recording};
    struct node_files nodes;
    iw_status status = node_files_open(&ui->log, path, NULL, &nodes);

    if (status != IW_OK) {
        return ui_exit_of(status);
    }
    peers.others = node_files_stream(&nodes);
    status = judge(&ui->log, path, &peers, found);
    if (status == IW_OK && nodes.unread_count > 0) {
        const bool is_all = found->node_count == 0;

        ui->log.write(ui->log.arg, is_all ? IW_LOG_ERROR : IW_LOG_WARN, nodes.unread[0].reason);
        status = is_all ? IW_ERR_FORMAT : IW_OK;
    }
    node_files_close(&nodes);
    return ui_exit_of(status);
}

#else
int check_fleet_is_there(struct ui *ui, const char *path)
{
    (void)path;
    return ui_lacks(ui, "--fleet", "fleet");
}

int check_fleet(struct ui *ui, const char *path, const char *host, const iw_recording *recording,
                iw_check_fleet *found)
{
    (void)host;
    (void)recording;
    (void)found;
    return check_fleet_is_there(ui, path);
}
#endif

struct answer_opts {
    const char *learn, *html, *json; /* files, or NULL */
    bool is_quiet;                   /* one line only */
    struct shown_opts shown;
};

struct check_opts {
    struct opt_origins origins;
    const char *cpus, *sysroot, *recording_path;
    iw_time within_ps, duration_ps; /* duration 0: what --within leaves */
    bool wants_watch;
    const char *baseline, *fleet, *require, *limit, *slowdown_limit;
    struct answer_opts answer;
    struct job_opts job;
    struct net_opts net;
};

/* What is required of the node. */
struct check_demands {
    iw_check_opts limits;
    iw_doc_file *profile;   /* or NULL */
    iw_recording *baseline; /* or NULL */
};

struct written {
    iw_doc doc;
    iw_doc_format format;
};

static iw_status write_doc(const iw_log *log, void *arg, FILE *out)
{
    const struct written *written = arg;

    return iw_doc_write(log, written->doc, written->format, NULL, out);
}

static int write_file(struct ui *ui, const char *path, iw_doc doc, iw_doc_format format)
{
    struct written written = {doc, format};

    return path != NULL ? ui_exit_of(iw_write_file(&ui->log, path, write_doc, &written)) : UI_DONE;
}

/* What is learned from a node that is not as it should be would let others pass. */
static int learn(struct ui *ui, const struct answer_opts *opts, const iw_check *check)
{
    iw_profile *profile = NULL;
    int code;

    if (opts->learn == NULL) {
        return UI_DONE;
    }
    if (check->outcome != IW_CHECK_GOOD) {
        ui_error(ui, "'%s' not written: the node is %s; learn a profile from a good node", opts->learn,
                 iw_check_outcome_name(check->outcome));
        if (check->outcome == IW_CHECK_NOISY) {
            ui_hint(
                ui,
                "if the node cannot be made quieter, set --limit and --slowdown-limit to what you accept");
        }
        return UI_DONE;
    }
    code = ui_exit_of(iw_profile_learn(&ui->log, check, IW_PROFILE_MARGIN, &profile));
    if (code == UI_DONE) {
        code = write_file(ui, opts->learn, iw_profile_doc(profile), IW_DOC_JSON);
    }
    iw_profile_free(profile);
    return code;
}

/* Writes what is asked for. Returns the exit code of the outcome, or of a failure. */
static int answer_check(struct ui *ui, const struct answer_opts *opts, const iw_check *check)
{
    int code = write_file(ui, opts->html, iw_check_doc(check), IW_DOC_HTML);

    if (code == UI_DONE) {
        code = write_file(ui, opts->json, iw_check_doc(check), IW_DOC_JSON);
    }
    if (code == UI_DONE) {
        code = learn(ui, opts, check);
    }
    if (code == UI_DONE && opts->is_quiet && opts->shown.format == OUTPUT_TEXT) {
        (void)printf("%s\n", check->line);
    } else if (code == UI_DONE) {
        code = shown_write(ui, &opts->shown, iw_check_doc(check));
    }
    return code == UI_DONE ? iw_check_exit_code(check->outcome) : code;
}

/* ---- time ---- */

static struct check_times check_times_asked(const struct check_opts *opts, bool has_jobs)
{
    const struct asked_times asked = {.within_ns = opts->within_ps / IW_PS_PER_NS,
                                      .duration_ns = opts->duration_ps / IW_PS_PER_NS,
                                      .is_within_typed = opt_typed(opts, within_ps),
                                      .is_duration_typed = opt_typed(opts, duration_ps),
                                      .wants_watch = opts->wants_watch,
                                      .has_jobs = has_jobs};

    return check_times_of(&asked);
}

/* ---- what does not fit together ---- */

static int refuse_with_file(const struct ui *ui, const struct check_opts *opts)
{
    const char *option = opts->wants_watch              ? "--watch"
                         : opts->recording_path != NULL ? "--output"
                         : opt_typed(opts, duration_ps) ? "--duration"
                                                        : NULL;

    return option != NULL
               ? ui_usage(ui, "%s: nothing is measured when FILE is given; remove one of the two", option)
               : UI_DONE;
}

static int refuse(const struct ui *ui, const struct check_opts *opts, bool has_file)
{
    const char *recording = opts->recording_path;

    if (has_file) {
        return refuse_with_file(ui, opts);
    }
    if (opts->sysroot != NULL) {
        return ui_usage(
            ui, "--sysroot: no recording of that node given; type: idlewave check --sysroot DIR FILE");
    }
    if (opt_typed(opts, duration_ps) && opt_typed(opts, within_ps) && opts->duration_ps >= opts->within_ps) {
        return ui_usage(ui, "--duration leaves no time of --within for jobs; write a shorter --duration or a "
                            "longer --within");
    }
    if (recording != NULL && (ui_ends_with(recording, ".html") || ui_ends_with(recording, ".json"))) {
        return ui_usage(ui,
                        "--output keeps the recording (HDF5), but '%s' is not a name for one; use %s instead",
                        recording, ui_ends_with(recording, ".html") ? "--html" : "--json");
    }
    return UI_DONE;
}

/* ---- values and files ---- */

static int read_limits(struct ui *ui, const struct check_opts *opts, iw_check_opts *limits)
{
    int code = ui_parse_share(ui, "--limit", opts->limit, &limits->most_lost);

    if (code == UI_DONE && limits->most_lost > 1.0) {
        code =
            ui_usage(ui, "--limit '%s' is more than all CPU time: write a share, 1%% or 0.01", opts->limit);
    }
    return code == UI_DONE
               ? ui_parse_share(ui, "--slowdown-limit", opts->slowdown_limit, &limits->most_slowdown)
               : code;
}

static int check_outputs(struct ui *ui, const struct check_opts *opts)
{
    const char *const paths[] = {opts->answer.learn, opts->answer.html, opts->answer.json,
                                 opts->recording_path};
    iw_status status = IW_OK;

    for (size_t i = 0; i < sizeof paths / sizeof paths[0] && status == IW_OK; i++) {
        status = paths[i] != NULL ? iw_output_check(&ui->log, paths[i], false) : IW_OK;
    }
    return ui_exit_of(status);
}

static int open_profile(struct ui *ui, const char *path, struct check_demands *demands)
{
    const iw_status status = iw_profile_open(&ui->log, path, &demands->profile, &demands->limits.profile);

    if (status == IW_ERR_FORMAT) {
        ui_hint(ui, "to write a profile, run 'idlewave check --learn FILE' on a good node");
    }
    return ui_exit_of(status);
}

static int open_files(struct ui *ui, const struct check_opts *opts, struct check_demands *demands)
{
    int code = UI_DONE;

    if (opts->require != NULL && opts->answer.learn == NULL) {
        code = open_profile(ui, opts->require, demands);
    }
    if (code == UI_DONE && opts->baseline != NULL) {
        code = ui_exit_of(iw_recording_load(&ui->log, opts->baseline, &demands->baseline));
    }
    return code == UI_DONE && opts->fleet != NULL ? check_fleet_is_there(ui, opts->fleet) : code;
}

/* Refuses what does not fit together, and files that cannot be read or written, before anything is measured.
 * Returns UI_DONE or an exit code; `demands` is to be released in any case. */
static int check_demands_read(struct ui *ui, const struct check_opts *opts, bool has_file,
                              struct check_demands *demands)
{
    const iw_check_opts limits = IW_CHECK_OPTS_INIT;
    int code;

    *demands = (struct check_demands){.limits = limits};
    if (opts->answer.learn != NULL && opt_typed(opts, require)) {
        return ui_usage(ui, "--learn writes a profile and --require reads one; drop one of the two");
    }
    code = refuse(ui, opts, has_file);
    if (code == UI_DONE) {
        code = read_limits(ui, opts, &demands->limits);
    }
    if (code == UI_DONE) {
        code = check_outputs(ui, opts);
    }
    return code == UI_DONE ? open_files(ui, opts, demands) : code;
}

static void check_demands_release(struct check_demands *demands)
{
    iw_recording_free(demands->baseline);
    iw_doc_close(demands->profile);
}

#define ROW(...) OPT_ROW(struct check_opts, __VA_ARGS__)
static const struct opt measure_rows[] = {
    ROW("cpus", OPT_STRING, cpus, "LIST",
        "the application's CPUs, 2-7 (default those of the batch job, else those set apart by the kernel, "
        "else all)",
        .is_setting = true),
    ROW("within", OPT_TIME, within_ps, "TIME",
        "finish within TIME: at most four fifths for measuring, the rest for jobs, with fewer trials if time "
        "is short (default 50s; with --duration, that plus the time for jobs; with FILE, no limit)",
        .is_setting = true),
    ROW("duration", OPT_TIME, duration_ps, "TIME", "how long to measure (default as long as --within allows)",
        .is_setting = true),
    ROW("watch", OPT_FLAG, wants_watch, "",
        "judge the node by what its running programs lose, without a probe (default: report a node with "
        "running programs as busy)"),
    ROW("sysroot", OPT_STRING, sysroot, "DIR",
        "with FILE: read another node's settings from the copy below DIR (default this node's)"),
};
static const struct opt required_rows[] = {
    ROW("require", OPT_STRING, require, "FILE",
        "profile of settings, jobs and limits that the node must meet, in place of the limits below",
        .is_setting = true),
    ROW("learn", OPT_STRING, answer.learn, "FILE",
        "write a profile of this node: its configured settings, and twice its losses as limits"),
    ROW("baseline", OPT_STRING, baseline, "FILE",
        "an earlier recording: report the node as noisy if it loses significantly more now",
        .is_setting = true),
    ROW("fleet", OPT_STRING, fleet, "DIR|FILE",
        "noise files or digests of other nodes: report the node as noisy if it stands out among them",
        .is_setting = true),
    ROW("limit", OPT_STRING, limit, "SHARE", "limit of CPU time lost to noise (default 1%)",
        .is_setting = true),
    ROW("slowdown-limit", OPT_STRING, slowdown_limit, "SHARE",
        "limit of the slowdown of each job (default 10%)", .is_setting = true),
};
static const struct opt output_rows[] = {
    ROW("quiet", OPT_FLAG, answer.is_quiet, "", "print one line", .letter = 'q'),
    ROW("html", OPT_STRING, answer.html, "FILE", "also write the page to FILE"),
    ROW("json", OPT_STRING, answer.json, "FILE", "also write the result as JSON to FILE"),
    SHOWN_OUTPUT_ROW(struct check_opts, recording_path, "FILE",
                     "also keep the recording, as HDF5 (default not kept)"),
};
#undef ROW

static const struct opt_group groups[] = {
    OPT_GROUP("How to measure", measure_rows, 0),
    OPT_GROUP("Requirements", required_rows, 0),
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
    "Measure the noise of a node, verify its settings, simulate what the noise costs typical jobs, and "
    "compare the results with limits: one line to grep for, one page, one exit code.\nThe line begins with "
    "GOOD, NOISY, CONTRADICTED, BUSY or UNKNOWN. Exits with 0 for a good node, 1 on errors, 2 for a setting "
    "that is contradicted or not as required, 3 for too little data, 4 for a noisy node, and 5 for a node "
    "that user programs keep busy.\nA busy node is not "
    "probed. Its programs are watched instead, which needs root or CAP_BPF and CAP_PERFMON; only its "
    "settings are judged, and no job is simulated. Root can identify more sources. Nothing is changed on the "
    "node.";

static const struct example examples[] = {
    {"is this node fit to run jobs?", "idlewave check"},
    {"in a health check limited to 60 s",
     "idlewave check --quiet --within 50s --require /etc/idlewave/node.json"},
    {"write the requirements for other nodes, from a good one", "idlewave check --learn node.json"},
    {"write a page, and keep the recording for later", "idlewave check --html node.html -o node.h5"},
    {"compare with other nodes, by their digests", "idlewave check --fleet /shared/digests"},
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
    .argument_help = "a recording of the node (HDF5), instead of measuring",
    VERB_GROUPS(groups),
    .most_used = "cpus duration watch require learn baseline fleet limit format quiet",
    .examples = examples,
    VERB_DEFAULTS(defaults),
    .most_arguments = 1,
    .run = run,
};
