/* What a check works on: a recording of this node, or a watching; the site's jobs as presets, and what noise
 * costs them.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/check/verb/check_jobs.h"

#include <idlewave/idlewave.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "features/check/verb/check_times.h"
#include "features/settings/verb/verify_worth.h"
#include "features/whatif/verb/whatif_question.h"
#include "options/cpu_list.h"
#include "process/interrupt.h"
#include "process/progress.h"
#include "process/ui.h"
#include "process/wall_clock.h"

/* Programs may end between looking and watching. */
enum { MOST_LOOKS = 3 };

struct measuring {
    struct ui *ui;
    const struct cpu_list *cpus;
    const struct check_times *times;
    struct progress progress;
};

static bool step(void *arg, const iw_progress_now *now)
{
    struct measuring *m = arg;

    progress_update(&m->progress, now->share);
    return !interrupt_has_come();
}

static const uint32_t *numbers_of(const struct cpu_list *cpus)
{
    return cpus->count > 0 ? cpus->numbers : NULL;
}

/* ---- is it at work? ---- */

static int look(struct measuring *m, iw_look *look_p, bool *is_busy_p)
{
    iw_noise_report_opts opts = IW_NOISE_REPORT_OPTS_INIT;
    iw_noise_report report;
    int code = ui_exit_of_value(m->ui, iw_look_at(&m->ui->log, numbers_of(m->cpus), m->cpus->count,
                                                  m->times->look_ns, m->ui->command, look_p));

    if (code != UI_DONE) {
        return code;
    }
    code = ui_exit_of(iw_noise_report_init(&m->ui->log, look_p->recording, &opts, &report));
    if (code == UI_DONE) {
        *is_busy_p = report.facts.load.is_busy;
        iw_noise_report_release(&report);
    } else {
        iw_look_release(look_p);
    }
    return code;
}

/* ---- one or the other ---- */

static int record(struct measuring *m, struct measured *measured)
{
    iw_measure_opts opts = IW_MEASURE_OPTS_INIT;

    opts.duration_ns = m->times->measured_ns;
    opts.cpus = numbers_of(m->cpus);
    opts.cpu_count = m->cpus->count;
    opts.command = m->ui->command;
    opts.progress = (iw_progress){step, m};
    return ui_exit_of_value(m->ui, iw_measure(&m->ui->log, &opts, &measured->recording));
}

/* Why watching failed is told as a warning: the node is busy all the same. */
struct reason {
    char text[512];
};

#if IW_FEATURE_WATCH
static void keep(void *arg, iw_log_level level, const char *text)
{
    struct reason *reason = arg;

    if (level == IW_LOG_ERROR) {
        (void)snprintf(reason->text, sizeof reason->text, "%s", text);
    }
}

/* IW_ERR_RANGE: those programs have ended. */
static iw_status watch(struct measuring *m, const iw_look *look, struct reason *reason,
                       iw_recording **recording_p)
{
    const iw_log log = {keep, reason};
    iw_watch_opts opts = IW_WATCH_OPTS_INIT;
    iw_watch_result *result = NULL;
    iw_status status = IW_ERR_IO;

    opts.pids = look->pids;
    opts.pid_count = look->pid_count;
    opts.cpus = numbers_of(m->cpus);
    opts.cpu_count = m->cpus->count;
    opts.duration_ns = m->times->busy_ns;
    opts.command = m->ui->command;
    opts.progress = (iw_progress){step, m};
    IW_TRY(iw_watch(&log, &opts, &result));
    if (result->totals.wanted_ns > 0) {
        *recording_p = result->recording;
        result->recording = NULL;
        status = IW_OK;
    } else {
        (void)snprintf(reason->text, sizeof reason->text, "%s wanted none of these CPUs", result->job);
    }
    iw_watch_result_free(result);
    return status;
}
#else
static iw_status watch(struct measuring *m, const iw_look *look, struct reason *reason,
                       iw_recording **recording_p)
{
    (void)m;
    (void)look;
    (void)recording_p;
    (void)snprintf(reason->text, sizeof reason->text, "this build does not include the feature 'watch'");
    return IW_ERR_UNSUPPORTED;
}
#endif

/* Who used the CPUs is known from looking; `under` says that it is no surprise. */
static int note_load(struct ui *ui, const iw_look *look, bool is_judged, iw_recording *recording)
{
    int code = UI_DONE;

    for (size_t i = 0; i < look->recording->attribute_count && code == UI_DONE; i++) {
        const iw_attribute *attribute = &look->recording->attributes[i];

        if (strncmp(attribute->name, "load_", strlen("load_")) == 0) {
            code = ui_exit_of(iw_recording_set(&ui->log, recording, attribute->name, attribute->value));
        }
    }
    return code == UI_DONE && is_judged
               ? ui_exit_of(iw_recording_set(&ui->log, recording, "under", "the user programs that ran"))
               : code;
}

/* What was seen by looking is all there is. */
static int give_up(struct ui *ui, const struct reason *reason, bool wants_watch, iw_look *seen,
                   struct measured *measured)
{
    char text[sizeof reason->text + 128];

    if (wants_watch) {
        ui_error(ui, "%s", reason->text);
        return UI_ERROR;
    }
    (void)snprintf(text, sizeof text, "user programs run, and their losses cannot be measured: %s",
                   reason->text);
    ui->log.write(ui->log.arg, IW_LOG_WARN, text);
    measured->recording = seen->recording;
    measured->is_watched = true;
    seen->recording = NULL;
    return UI_DONE;
}

/* `seen` is a look at programs that run. */
static int watch_users(struct measuring *m, bool wants_watch, iw_look *seen, struct measured *measured)
{
    struct reason reason = {.text = "no program is left"};
    iw_status status = IW_ERR_RANGE;
    bool is_busy = true;
    int code = UI_DONE;

    for (int looks = 1; status == IW_ERR_RANGE && seen->pid_count > 0; looks++) {
        status = watch(m, seen, &reason, &measured->recording);
        if (status != IW_ERR_RANGE || looks == MOST_LOOKS) {
            break;
        }
        iw_look_release(seen);
        code = look(m, seen, &is_busy);
        if (code != UI_DONE) {
            return code;
        }
    }
    if (status != IW_OK) {
        return give_up(m->ui, &reason, wants_watch, seen, measured);
    }
    measured->is_watched = true;
    return note_load(m->ui, seen, wants_watch, measured->recording);
}

static int measure(struct measuring *m, bool wants_watch, struct measured *measured)
{
    iw_look seen = {.pid_count = 0};
    bool is_busy = false;
    int code = m->times->has_look ? look(m, &seen, &is_busy) : UI_DONE;

    if (code == UI_DONE && wants_watch && !is_busy) {
        ui_error(
            m->ui,
            "--watch: no user program keeps these CPUs busy; without --watch the node itself is measured");
        code = UI_UNDECIDED;
    }
    if (code == UI_DONE) {
        code = is_busy ? watch_users(m, wants_watch, &seen, measured) : record(m, measured);
    }
    iw_look_release(&seen);
    return code;
}

int check_measure(struct ui *ui, const struct cpu_list *cpus, const struct check_times *times,
                  bool wants_watch, struct measured *measured)
{
    struct measuring m = {.ui = ui, .cpus = cpus, .times = times};
    struct interrupt interrupt;
    int code;

    *measured = (struct measured){.recording = NULL};
    progress_begin(&m.progress, 0.0, NULL);
    ui->progress = &m.progress;
    interrupt_catch(&interrupt);
    code = measure(&m, wants_watch, measured);
    interrupt_release(&interrupt);
    ui->progress = NULL;
    progress_wipe(&m.progress);
    return code;
}

/* Each stands for many programs: how often ranks meet, and how much data goes between them. */
static const struct preset {
    const char *name, *what;
    const char *pattern;
    uint64_t bytes, repeat;
    iw_time compute_ps;
} presets[] = {
    {"barrier", "an allreduce of 8 bytes after each 1 ms of work, 100 times", "allreduce", 8, 100,
     IW_PS_PER_MS},
    {"halo", "3D halo exchanges of 64 KiB after each 10 ms of work, 30 times", "halo3d", 65536, 30,
     10 * IW_PS_PER_MS},
    {"training", "an allreduce of 64 MiB of gradients after each 200 ms of work, 10 times",
     "allreduce:rabenseifner", 64u << 20, 10, 200 * IW_PS_PER_MS},
};
enum { PRESETS = sizeof presets / sizeof presets[0] };

enum { LEAST_RANKS = 2, MOST_RANKS = 1 << 24 };

static const char *preset_name(size_t index)
{
    return index < PRESETS ? presets[index].name : NULL;
}

#define ROW(...) OPT_ROW(struct job_opts, __VA_ARGS__)
const struct opt job_rows[] = {
    ROW("jobs", OPT_STRING, names, "NAME[,NAME...]",
        "jobs to simulate with this noise: {}, or none (default all)", .known = preset_name,
        .lists = {preset_name}, .is_setting = true),
    ROW("ranks", OPT_COUNT, ranks, "N", "ranks per job (default 1024)", .min = LEAST_RANKS, .max = MOST_RANKS,
        .is_setting = true),
    ROW("ranks-per-node", OPT_COUNT, ranks_per_node, "N",
        "ranks per node (default one per CPU that should be quiet)", .min = 1, .max = 1u << 20,
        .is_setting = true),
    ROW("trials", OPT_COUNT, trials, "N", "simulate each change N times, in pairs (default 10)", .min = 2,
        .max = 1u << 20, .is_setting = true),
    ROW("seed", OPT_COUNT, seed, "N", "seed of all random numbers (default 1)", .max = INT64_MAX),
};
#undef ROW
_Static_assert(sizeof job_rows / sizeof job_rows[0] == JOB_ROW_COUNT, "count of rows in the header");

/* ---- which jobs ---- */

static const struct preset *find_preset(const char *name, size_t length)
{
    for (size_t i = 0; i < PRESETS; i++) {
        if (strlen(presets[i].name) == length && strncmp(presets[i].name, name, length) == 0) {
            return &presets[i];
        }
    }
    return NULL;
}

static void add_job(const struct preset *preset, uint32_t ranks, struct job_list *list)
{
    iw_check_job *job = &list->jobs[list->count++];

    *job = (iw_check_job){.ranks = ranks};
    (void)snprintf(job->name, sizeof job->name, "%s", preset->name);
    (void)snprintf(job->what, sizeof job->what, "%s", preset->what);
}

static int choose_named(const struct ui *ui, const struct job_opts *opts, struct job_list *list)
{
    const bool is_none = strcmp(opts->names, "none") == 0 || (!IW_FEATURE_WHATIF && !opt_typed(opts, names));
    const char *at = is_none ? "" : opts->names;

    list->count = 0;
    while (*at != '\0') {
        const size_t length = strcspn(at, ",");
        const struct preset *preset = find_preset(at, length);

        if (preset == NULL || list->count == MOST_JOBS) {
            return ui_usage(ui, "--jobs: unknown job '%.*s': use barrier, halo, training or none",
                            (int)length, at);
        }
        add_job(preset, (uint32_t)opts->ranks, list);
        at += length + (at[length] == ',');
    }
    return UI_DONE;
}

static bool has_job(const struct job_list *list, const iw_profile_job *wanted)
{
    for (size_t i = 0; i < list->count; i++) {
        if (strcmp(list->jobs[i].name, wanted->name) == 0 && list->jobs[i].ranks == wanted->ranks) {
            return true;
        }
    }
    return false;
}

/* What was typed may not leave out what is required: no node could be judged then. */
static int refuse_other_jobs(const struct ui *ui, const struct job_opts *opts, const iw_profile *profile,
                             const struct job_list *typed)
{
    const char *option = opt_typed(opts, names) ? "--jobs" : "--ranks";

    for (size_t i = 0; (opt_typed(opts, names) || opt_typed(opts, ranks)) && i < profile->job_count; i++) {
        if (!has_job(typed, &profile->jobs[i])) {
            return ui_usage(
                ui, "%s: the profile requires %s on %" PRIu32 " ranks: remove %s, or edit the profile",
                option, profile->jobs[i].name, profile->jobs[i].ranks, option);
        }
    }
    return UI_DONE;
}

static int choose_required(struct ui *ui, const iw_profile *profile, struct job_list *list)
{
    list->count = 0;
    for (size_t i = 0; i < profile->job_count; i++) {
        const iw_profile_job *wanted = &profile->jobs[i];
        const struct preset *preset = find_preset(wanted->name, strlen(wanted->name));

        if (preset == NULL || wanted->ranks < LEAST_RANKS || wanted->ranks > MOST_RANKS) {
            ui_error(ui,
                     "--require: the profile's job '%s' on %" PRIu32
                     " ranks cannot be simulated: use barrier, halo or training, on at least 2 ranks",
                     wanted->name, wanted->ranks);
            return UI_ERROR;
        }
        if (has_job(list, wanted)) {
            continue;
        }
        if (list->count == MOST_JOBS) {
            ui_error(ui, "--require: the profile has more than %d jobs", MOST_JOBS);
            return UI_ERROR;
        }
        add_job(preset, wanted->ranks, list);
    }
    return UI_DONE;
}

int jobs_choose(struct ui *ui, const struct job_opts *opts, const iw_profile *profile, struct job_list *list)
{
    int code = choose_named(ui, opts, list);

    if (code != UI_DONE || profile == NULL || profile->job_count == 0) {
        return code;
    }
    code = refuse_other_jobs(ui, opts, profile, list);
    return code == UI_DONE ? choose_required(ui, profile, list) : code;
}

#if IW_FEATURE_WHATIF
/* ---- one of them ---- */

/* How much is simulated of a job. The interval of its slowdown needs IW_CERTAINTY_LEAST_TRIALS; what else is
 * tried tells which source and which setting to begin with. */
static const struct effort {
    uint64_t most_trials; /* if more are asked for */
    uint32_t redraws;     /* recordings drawn anew, so that intervals tell how short they are */
    uint32_t most_parts;  /* sources that are tried one by one */
    bool is_priced;       /* what mitigations are worth, of the first job */
} efforts[] = {
    {UINT64_MAX, 12, 3, true},
    {UINT64_MAX, 12, 3, false},
    {IW_CERTAINTY_LEAST_TRIALS, 4, 2, false},
    {IW_CERTAINTY_LEAST_TRIALS, 2, 1, false},
};
enum { EFFORTS = sizeof efforts / sizeof efforts[0] };

/* An effort is taken if a sample says that so much more than it would fit. */
static const double SPARE = 1.3;

static bool goes_on(void *arg, const iw_progress_now *now)
{
    const int64_t *end_ns = arg;

    (void)now;
    return monotonic_ns() < *end_ns;
}

static void take_answer(const iw_whatif *whatif, iw_check_job *job)
{
    job->is_done = true;
    (void)snprintf(job->net, sizeof job->net, "%s", whatif->net);
    job->trials = whatif->trials;
    job->slowdown = whatif->now;
    job->most_slowdown = whatif->most_slowdown;
    job->sensitivity = whatif->reach.sensitivity;
    for (size_t i = 0; i < whatif->change_count; i++) {
        const iw_change *change = &whatif->changes[i];

        if (change->kind == IW_CHANGE_SOURCE && change->saving.low > 0.0) { /* the largest come first */
            (void)snprintf(job->worst, sizeof job->worst, "%s", change->name);
            job->saving = change->saving;
            job->remedy = change->remedy != NULL ? change->remedy->how : NULL;
            return;
        }
    }
}

/* One job, and what is asked about it. */
struct asked {
    struct ui *ui;
    const struct job_opts *opts;
    const struct net_opts *net;
    struct question q;
    iw_verify *priced; /* or NULL */
    iw_caveats *caveats;
    iw_named_set *sets;
    int64_t end_ns; /* of monotonic_ns() */
};

static iw_whatif_opts whatif_opts_of(struct asked *asked, const struct effort *effort)
{
    const iw_sim_opts sim = IW_SIM_OPTS_INIT;
    const bool is_priced = effort->is_priced && asked->priced != NULL;
    iw_whatif_opts wanted = {.size = sizeof wanted,
                             .sim = sim,
                             .net = asked->q.net,
                             .program = question_maker(&asked->q),
                             .sets = asked->sets,
                             .set_count = is_priced ? worth_sets(asked->priced, asked->sets) : 0,
                             .target = -1.0,
                             .redraws = effort->redraws,
                             .most_parts = effort->most_parts};

    wanted.sim.trials = asked->opts->trials < effort->most_trials ? asked->opts->trials : effort->most_trials;
    wanted.sim.seed = asked->opts->seed;
    wanted.sim.rendezvous = (iw_rendezvous)asked->net->rendezvous;
    wanted.sim.progress = (iw_progress){goes_on, &asked->end_ns};
    return wanted;
}

/* The largest effort that `seconds` are enough for, else the least. From below: samples of what does not fit
 * are dear. */
static iw_status choose_effort(struct asked *asked, double seconds, size_t *chosen_p)
{
    const size_t most = asked->priced != NULL ? 0 : 1;
    double simulation_s = 0.0;

    *chosen_p = EFFORTS - 1;
    for (size_t i = EFFORTS; i-- > most;) {
        const iw_whatif_opts wanted = whatif_opts_of(asked, &efforts[i]);
        iw_whatif_plan plan;

        if (SPARE * simulation_s * (double)wanted.sim.trials > seconds) {
            return IW_OK;
        }
        IW_TRY(iw_whatif_plan_make(&asked->ui->log, asked->q.noise, &wanted, &plan));
        if (SPARE * plan.seconds > seconds) {
            return IW_OK;
        }
        simulation_s = plan.seconds / (double)plan.simulations;
        *chosen_p = i;
    }
    return IW_OK;
}

/* IW_ERR_CANCELLED: the time was over. */
static iw_status ask(struct asked *asked, const struct effort *effort, iw_check_job *job)
{
    const iw_whatif_opts wanted = whatif_opts_of(asked, effort);
    iw_whatif *whatif = NULL;

    IW_TRY(iw_whatif_run(&asked->ui->log, asked->q.noise, &wanted, &whatif));
    take_answer(whatif, job);
    if (wanted.set_count > 0) {
        worth_take(whatif, asked->priced);
    }
    iw_whatif_free(whatif);
    return IW_OK;
}

/* With as much effort as fits into its share of the time. If the sample was wrong, with the least: then it
 * may take of what is left for the others. */
static iw_status ask_in_time(struct asked *asked, int64_t share_end_ns, int64_t end_ns, iw_check_job *job)
{
    iw_status status;
    size_t chosen;

    IW_TRY(choose_effort(asked, (double)(share_end_ns - monotonic_ns()) / 1e9, &chosen));
    asked->end_ns = chosen + 1 < EFFORTS ? share_end_ns : end_ns;
    status = ask(asked, &efforts[chosen], job);
    if (status == IW_ERR_CANCELLED && chosen + 1 < EFFORTS) {
        asked->end_ns = end_ns;
        status = ask(asked, &efforts[EFFORTS - 1], job);
    }
    return status == IW_ERR_CANCELLED ? IW_OK : status;
}

static int simulate_job(struct asked *asked, iw_recording *cut, int64_t share_end_ns, int64_t end_ns,
                        iw_check_job *job)
{
    const struct preset *preset = find_preset(job->name, strlen(job->name));
    const uint64_t ranks_per_node = asked->opts->ranks_per_node;
    const struct noise_opts no_noise = {.ranks_per_node = ranks_per_node}; /* it is in memory */
    const struct memory_opts no_memory = {.shared = NULL};
    const struct opt_args none = {0, NULL};
    const char *patterns[] = {preset->pattern};
    struct program_opts program = PROGRAM_OPTS_INIT;
    int code;

    program.patterns = (struct opt_list){patterns, 1};
    program.ranks = job->ranks;
    program.bytes = preset->bytes;
    program.repeat = preset->repeat;
    program.compute_ps = preset->compute_ps;
    code = question_init(&asked->q, asked->ui, &program, asked->net, &no_memory, &no_noise, &none);
    if (code == UI_DONE) {
        code = ui_exit_of(iw_noise_set_add_recording(&asked->ui->log, asked->q.noise, "the recording", cut));
    }
    if (code != UI_DONE) {
        iw_recording_free(cut);
    } else {
        iw_noise_set_align(asked->q.noise, IW_SYNC_NONE, 0, (uint32_t)ranks_per_node);
        if (asked->priced != NULL) { /* the first: all have one network and as many ranks */
            iw_caveats_of_net(asked->q.net, job->ranks, asked->caveats);
        }
        code = ui_exit_of(ask_in_time(asked, share_end_ns, end_ns, job));
    }
    question_release(&asked->q);
    return code;
}

int jobs_simulate(struct ui *ui, const struct job_opts *opts, const struct net_opts *net,
                  const iw_recording *recording, int64_t end_ns, iw_verify *verify, struct job_list *list,
                  iw_caveats *caveats)
{
    struct asked asked = {.ui = ui, .opts = opts, .net = net, .caveats = caveats};
    int code = UI_DONE;

    asked.sets = ui_grow(NULL, verify->count + 1, sizeof *asked.sets);
    for (size_t i = 0; i < list->count && code == UI_DONE; i++) {
        const int64_t now_ns = monotonic_ns();
        iw_recording *cut = NULL;

        asked.priced = i == 0 ? verify : NULL;
        if (now_ns < end_ns) {
            code = worth_cut_quiet(ui, "the recording", recording, verify, &cut);
        }
        if (cut != NULL) {
            code = simulate_job(&asked, cut, now_ns + (end_ns - now_ns) / (int64_t)(list->count - i), end_ns,
                                &list->jobs[i]);
        }
    }
    free(asked.sets);
    return code;
}
#else
int jobs_simulate(struct ui *ui, const struct job_opts *opts, const struct net_opts *net,
                  const iw_recording *recording, int64_t end_ns, iw_verify *verify, struct job_list *list,
                  iw_caveats *caveats)
{
    (void)opts;
    (void)net;
    (void)recording;
    (void)end_ns;
    (void)verify;
    (void)caveats;
    return list->count > 0 ? ui_lacks(ui, "--jobs", "whatif") : UI_DONE;
}
#endif
