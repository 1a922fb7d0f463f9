/* `idlewave study`: runs studies, alone or with other processes, and merges their folders.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <idlewave/idlewave.h>
#include <idlewave/internal/mpi.h>

#include "features/study/verb/shard.h"
#include "options/shown_opts.h"
#include "options/verbs.h"
#include "process/interrupt.h"
#include "process/node_log.h"
#include "process/progress.h"
#include "process/wall_clock.h"

/* ======== a share of the study ======== */

/* Stays where it was begun: the log points to it. */
struct study_share {
    struct ui *ui;
    struct node_log node_log;
    iw_log own_log; /* of ui, as it was */
    iw_launcher launcher;
    bool is_running; /* from now on errors are those of one process */
    bool is_array;   /* a task of a job array, which shares the folder with the other tasks */
    struct shard shard;
    uint32_t process, processes;
};

static bool is_of_many(const struct study_share *share)
{
    return share->launcher.size > 1 || share->launcher.rank > 0;
}

/* Who shows progress and results: the first process of the launcher. */
static bool study_share_is_first(const struct study_share *share)
{
    return share->launcher.rank == 0;
}

/* ---- messages ---- */

static void tell_with_rank(void *arg, iw_log_level level, const char *text)
{
    const struct study_share *share = arg;
    char line[4096];

    if (share->is_running) {
        snprintf(line, sizeof line, "process %u: %s", (unsigned)share->launcher.rank, text);
    }
    share->own_log.write(share->own_log.arg, level, share->is_running ? line : text);
}

static void tell(void *arg, iw_log_level level, const char *text)
{
    struct study_share *share = arg;

    if (level == IW_LOG_ERROR) {
        share->node_log.log.write(share->node_log.log.arg, level, text);
    } else if (study_share_is_first(share)) {
        share->own_log.write(share->own_log.arg, level, text);
    }
}

static void take_log(struct study_share *share)
{
    node_log_init(&share->node_log, share->ui);
    share->node_log.is_one_of_many = true;
    share->node_log.rank = share->launcher.rank;
    share->node_log.below = (iw_log){tell_with_rank, share};
    share->ui->log = (iw_log){tell, share};
    share->ui->is_heard = &share->node_log.has_spoken;
}

/* ---- its place ---- */

/* Tasks of an array come and go as Slurm has room; each may be a launcher's processes itself. */
static void read_array(struct study_share *share)
{
    const struct shard_slurm slurm = shard_slurm_variables();
    char fault[SHARD_FAULT_SIZE];
    struct shard task;

    if (slurm.id == NULL) {
        return;
    }
    share->is_array = true;
    if (shard_of_slurm(&slurm, &task, fault)) {
        share->process += task.index * share->processes;
        share->processes *= task.count;
    } else { /* a list with holes: only where there are no locks does it matter how many there are */
        share->process += (uint32_t)strtoul(slurm.id, NULL, 10) * share->processes;
        share->processes = 1;
    }
    if (study_share_is_first(share)) {
        ui_error(share->ui,
                 "note: task %s of a Slurm array shares the cells with all processes that run this study in "
                 "this folder (to run a fixed part, use --shard I/N)",
                 slurm.id);
    }
}

/* From here on messages that all processes of the launcher meet are told once for each node, notes and
 * warnings by the first one, and errors of one with its rank. Reads --shard (or NULL) and the variables of
 * launchers and Slurm. */
static int study_share_begin(struct study_share *share, struct ui *ui, const char *shard_text)
{
    char fault[SHARD_FAULT_SIZE];

    *share = (struct study_share){.ui = ui, .own_log = ui->log, .shard = {0, 1}};
    iw_launcher_read(&share->launcher);
    share->process = share->launcher.rank;
    share->processes = share->launcher.size > 1 ? share->launcher.size : 1;
    if (is_of_many(share)) {
        take_log(share);
    }
    if (shard_text == NULL) {
        read_array(share);
    } else if (!shard_parse(shard_text, &share->shard, fault)) {
        return ui_usage(ui, "--shard: %s", fault);
    }
    return UI_DONE;
}

static void study_share_end(struct study_share *share)
{
    share->ui->log = share->own_log;
    share->ui->is_heard = NULL;
}

/* Fills the members that say which cells this process runs, and with whom. */
static void study_share_fill(const struct study_share *share, iw_study_opts *opts)
{
    opts->shard = share->shard.index;
    opts->shards = share->shard.count;
    opts->process = share->process;
    opts->processes = share->processes;
    opts->local_processes = share->launcher.local_size;
    opts->leaves = share->is_array;
}

/* ======== study merge ======== */

struct merge_opts {
    struct opt_origins origins;
    const char *dir;
};

static const struct opt merge_rows[] = {
    OPT_ROW(struct merge_opts, "output", OPT_STRING, dir, "DIR",
            "folder of all results; may be one of DIR...", .letter = 'o'),
};

static const struct opt_group merge_groups[] = {OPT_GROUP("Result", merge_rows, 0)};

static const struct merge_opts merge_defaults = {.dir = NULL};

static const char *const merge_synopsis[] = {"-o DIR DIR...", NULL};

static const char merge_description[] =
    "Join results of folders with parts of one study. Cells that several folders have must be equal. The "
    "order of the folders does not matter.";

static const struct example merge_examples[] = {
    {"two machines ran half of the cells each", "idlewave study merge part1 part2 -o all"},
    {"join the files of all shards in a folder", "idlewave study merge four -o four"},
    {NULL, NULL},
};

static iw_status tell_merged(struct ui *ui, const char *dir)
{
    iw_study_results *results = NULL;
    const iw_status status = iw_study_results_load(&ui->log, dir, &results);

    if (status == IW_OK && results->count == results->expected) {
        (void)printf("Merged: all %zu cells are in '%s'.\nNext: idlewave report %s -o report.html\n",
                     results->count, dir, dir);
    } else if (status == IW_OK) {
        (void)printf("Merged: %zu of %zu cells are in '%s'; run the others next.\n", results->count,
                     results->expected, dir);
    }
    iw_study_results_free(results);
    return status;
}

static int run_merge(struct ui *ui, const void *values, const struct opt_args *args)
{
    const struct merge_opts *opts = values;
    iw_status status;

    if (args->count == 0) {
        return ui_usage(ui, "no folders given; type: idlewave study merge DIR... -o DIR");
    }
    if (opts->dir == NULL) {
        return ui_usage(ui, "no output folder given: add -o DIR");
    }
    status = iw_study_merge(&ui->log, args->values, args->count, opts->dir);
    if (status == IW_OK) {
        status = tell_merged(ui, opts->dir);
    }
    return ui_exit_of(status);
}

static const struct verb verb_merge = {
    .name = "study merge",
    .summary = "join folders with parts of one study",
    .synopsis = merge_synopsis,
    .description = merge_description,
    .argument_name = "DIR...",
    .argument_help = "folders with results",
    .groups = merge_groups,
    .group_count = 1,
    .examples = merge_examples,
    VERB_DEFAULTS(merge_defaults),
    .most_arguments = (size_t)-1,
    .run = run_merge,
};

/* ======== study ======== */

struct study_opts {
    struct opt_origins origins;
    const char *dir, *shard;
    uint64_t threads;
    bool is_dry_run, is_quiet;
    struct shown_opts shown;
};

#define ROW(...) OPT_ROW(struct study_opts, __VA_ARGS__)
static const struct opt run_rows[] = {
    ROW("dry-run", OPT_FLAG, is_dry_run, "", "only list the cells and estimate time and memory"),
    ROW("quiet", OPT_FLAG, is_quiet, "", "print no progress on stderr", .letter = 'q'),
    ROW("shard", OPT_STRING, shard, "I/N",
        "run the I-th of N equal shares, for machines without a common folder (default all)"),
    ROW("threads", OPT_COUNT, threads, "N", "threads per process (default one per allowed CPU)", .min = 1,
        .max = 1024, .is_setting = true),
};
static const struct opt output_rows[] = {
    SHOWN_OUTPUT_ROW(struct study_opts, dir, "DIR",
                     "folder of results (default the name of FILE without .yaml)"),
};
#undef ROW

static const struct opt_group groups[] = {
    OPT_GROUP("How to run it", run_rows, 0),
    OPT_GROUP("Output", output_rows, 0),
    SHOWN_JSON_GROUP("Output", offsetof(struct study_opts, shown)),
};

static const struct study_opts defaults = {.threads = 0};

static const char *const synopsis[] = {"[options] FILE", "merge [options] DIR...", NULL};

static const char description[] =
    "Run all cells of a study: a YAML file that lists systems (network and noise), patterns or schedules, "
    "numbers of ranks, sizes and so on. Each finished cell is one line in the results folder, on disk before "
    "the next one begins.\nAfter an interruption, the same command runs the missing cells "
    "and gives the same lines as an uninterrupted run. After a change to the file, it runs only the cells "
    "that changed.\nAny number of processes may run one study in one folder, started by mpirun or "
    "srun, as a job array, or by hand. Each takes the next free cell, including those of processes that "
    "died.";

static const struct example examples[] = {
    {"time and memory it would need", "idlewave study four-systems.yaml --dry-run"},
    {"run it and write a page",
     "idlewave study four-systems.yaml -o four\n  idlewave report four -o four.html"},
    {"on all cores of eight nodes, in a shared folder",
     "mpirun -n 8 --map-by node idlewave study four-systems.yaml -o four\n"
     "  srun -N 8 idlewave study four-systems.yaml -o four\n"
     "  sbatch --array=1-8 --wrap 'idlewave study four-systems.yaml -o four'"},
    {"on two machines without a shared folder", "idlewave study four-systems.yaml -o part1 --shard 1/2\n"
                                                "  idlewave study four-systems.yaml -o part2 --shard 2/2\n"
                                                "  idlewave study merge part1 part2 -o four"},
    {NULL, NULL},
};

static const struct verb *const subverbs[] = {&verb_merge, NULL};

/* ---- what is asked for ---- */

/* The folder that was given, or the file's name without folders and suffix; to be freed. */
static char *choose_dir(const char *given, const char *path)
{
    const char *name = given != NULL ? given : ui_file_name(path);
    const char *dot = given == NULL ? strrchr(name, '.') : NULL;
    const size_t length = dot != NULL && dot > name && (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0)
                              ? (size_t)(dot - name)
                              : strlen(name);
    char *dir = ui_grow(NULL, length + 1, 1);

    memcpy(dir, name, length);
    dir[length] = '\0';
    return dir;
}

static int check_dir(const struct ui *ui, const char *given, const char *dir)
{
    struct stat info;

    if (given == NULL && stat(dir, &info) == 0 && !S_ISDIR(info.st_mode)) {
        return ui_usage(ui, "'%s' is a file: name a folder for the results with -o DIR", dir);
    }
    return UI_DONE;
}

/* ---- running ---- */

struct watcher {
    struct progress *progress;
    int64_t begin_ns;
    uint64_t cells_before;
    bool is_first; /* of all processes: shows and tells */
    bool has_begun, has_told;
};

/* "72/160 cells, 3.1/s": the rate is that of this run. */
static void describe_rate(const struct watcher *watcher, const iw_progress_now *now, char *buf, size_t size)
{
    const double elapsed_s = 1e-9 * (double)(monotonic_ns() - watcher->begin_ns);
    const double rate = elapsed_s > 0.0 ? (double)(now->done - watcher->cells_before) / elapsed_s : 0.0;
    snprintf(buf, size, "%" PRIu64 "/%" PRIu64 " cells, %.2g/%s", now->done, now->total,
             rate >= 1.0 ? rate : 60.0 * rate, rate >= 1.0 ? "s" : "min");
}

static void show(struct watcher *watcher, const iw_progress_now *now)
{
    if (!watcher->has_begun) {
        watcher->has_begun = true;
        watcher->cells_before = now->done;
        watcher->begin_ns = monotonic_ns();
    }
    describe_rate(watcher, now, watcher->progress->detail, sizeof watcher->progress->detail);
    progress_update(watcher->progress, now->share);
}

static bool step(void *arg, const iw_progress_now *now)
{
    struct watcher *watcher = arg;

    if (watcher->is_first) {
        show(watcher, now);
    }
    if (interrupt_has_come() && watcher->is_first && !watcher->has_told) {
        watcher->has_told = true;
        progress_wipe(watcher->progress);
        ui_hint(NULL, "finishing the running cells; interrupt again to stop at once");
    }
    return !interrupt_has_come();
}

static iw_status run_study(struct ui *ui, const iw_study *study, const char *dir, bool is_first,
                           bool is_quiet, const iw_study_opts *run_opts, iw_study_outcome *outcome)
{
    iw_study_opts watched = *run_opts;
    struct progress progress;
    struct watcher watcher = {.progress = &progress, .is_first = is_first};
    struct interrupt interrupt;
    iw_status status;

    progress_begin(&progress, 0.0, NULL);
    progress_tell(&progress, ui->verb, is_quiet);
    ui->progress = watcher.progress;
    watched.command = ui->command;
    watched.progress = (iw_progress){step, &watcher};
    interrupt_catch(&interrupt);
    status = iw_study_run(&ui->log, study, dir, &watched, outcome);
    interrupt_release(&interrupt);
    ui->progress = NULL;
    progress_wipe(&progress);
    return status;
}

static void write_next(const iw_study_outcome *outcome)
{
    const char *when = "";

    if (outcome->elsewhere > 0) {
        when = ", after all processes";
    } else if (outcome->shards > 1) {
        when = ", after all shards";
    }
    (void)printf("Next%s: idlewave report %s -o report.html\n", when, outcome->folder);
}

static int tell_outcome(struct ui *ui, const struct shown_opts *shown, const iw_study_outcome *outcome)
{
    const bool is_text = shown->format == OUTPUT_TEXT;
    int code = UI_DONE;

    if (!outcome->is_stopped || !is_text) {
        code = shown_write(ui, shown, iw_study_run_doc(outcome));
    }
    if (!outcome->is_stopped && is_text) {
        write_next(outcome);
    }
    if (outcome->is_stopped) {
        ui_error(ui, "interrupted: %zu of %zu cells finished; rerun to resume",
                 outcome->found + outcome->run + outcome->others, outcome->cells);
        code = UI_ERROR;
    }
    return code;
}

static int run_and_tell(struct study_share *share, const struct study_opts *opts, const iw_study *study,
                        const char *dir, const iw_study_opts *run_opts)
{
    const bool is_first = study_share_is_first(share);
    iw_study_outcome outcome;
    iw_status status;

    share->is_running = true;
    status = run_study(share->ui, study, dir, is_first, opts->is_quiet, run_opts, &outcome);
    share->is_running = false;
    if (status != IW_OK) {
        return ui_exit_of(status);
    }
    if (is_first) {
        return tell_outcome(share->ui, &opts->shown, &outcome);
    }
    return outcome.is_stopped ? UI_ERROR : UI_DONE;
}

/* One process tells it for all. */
static int estimate(const struct study_share *share, const struct study_opts *opts, const iw_study *study,
                    const char *dir, const iw_study_opts *run_opts)
{
    iw_study_estimate *estimate = NULL;
    int code;

    if (!study_share_is_first(share)) {
        return UI_DONE;
    }
    code = ui_exit_of(iw_study_estimate_new(&share->ui->log, study, dir, run_opts, &estimate));
    if (code == UI_DONE) {
        code = shown_write(share->ui, &opts->shown, iw_study_estimate_doc(estimate));
    }
    iw_study_estimate_free(estimate);
    return code;
}

static int load_and_run(struct study_share *share, const struct study_opts *opts, const char *path,
                        const char *dir)
{
    iw_study_opts run_opts = IW_STUDY_OPTS_INIT;
    iw_study *study = NULL;
    const iw_status status = iw_study_load(&share->ui->log, path, &study);
    int code;

    if (status != IW_OK) {
        return ui_exit_of(status);
    }
    run_opts.threads = (uint32_t)opts->threads;
    study_share_fill(share, &run_opts);
    code = (opts->is_dry_run ? estimate(share, opts, study, dir, &run_opts)
                             : run_and_tell(share, opts, study, dir, &run_opts));
    iw_study_free(study);
    return code;
}

static int run(struct ui *ui, const void *values, const struct opt_args *args)
{
    const struct study_opts *opts = values;
    struct study_share share;
    char *dir = NULL;
    int code = study_share_begin(&share, ui, opts->shard);

    if (code == UI_DONE && args->count == 0) {
        code = ui_usage(ui, "no study given; type: idlewave study FILE.yaml");
    }
    if (code == UI_DONE) {
        dir = choose_dir(opts->dir, args->values[0]);
        code = check_dir(ui, opts->dir, dir);
    }
    if (code == UI_DONE) {
        code = load_and_run(&share, opts, args->values[0], dir);
    }
    study_share_end(&share);
    free(dir);
    return code;
}

const struct verb verb_study = {
    .name = "study",
    .group = VERB_PREDICTION,
    .summary = "run many simulations from one YAML file; resume after interruptions",
    .synopsis = synopsis,
    .description = description,
    .argument_name = "FILE",
    .argument_help = "study (YAML)",
    VERB_GROUPS(groups),
    .most_used = "dry-run shard output",
    .examples = examples,
    VERB_DEFAULTS(defaults),
    .most_arguments = 1,
    .subverbs = subverbs,
    .run = run,
};
