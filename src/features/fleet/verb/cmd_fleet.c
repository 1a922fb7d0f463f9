/* `idlewave fleet`: which of many nodes stand out, and with what? Also folders of noise files as input of
 * `idlewave report`.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdio.h>

#include <idlewave/idlewave.h>

#include "features/fleet/verb/fleet_verbs.h"
#include "features/fleet/verb/node_files.h"
#include "options/report_kinds.h"
#include "options/shown_opts.h"
#include "process/mpi_run.h"

/* ---- judging ---- */

static iw_status add_unread(const iw_log *log, const struct node_files *nodes, iw_fleet *fleet)
{
    for (size_t i = 0; i < nodes->unread_count; i++) {
        IW_TRY(iw_fleet_add_unreadable(log, fleet, nodes->unread[i].path, nodes->unread[i].reason));
    }
    return IW_OK;
}

static iw_status check_any(const iw_log *log, const iw_fleet *fleet, const char *path)
{
    char text[1400];

    if (fleet->node_count > 0) {
        return IW_OK;
    }
    if (fleet->unreadable_count == 1) {
        snprintf(text, sizeof text, "%s", fleet->unreadable[0].reason);
    } else {
        snprintf(text, sizeof text, "none of the %zu noise files of '%.200s' can be read; the first: %s",
                 fleet->unreadable_count, path, fleet->unreadable[0].reason);
    }
    log->write(log->arg, IW_LOG_ERROR, text);
    return IW_ERR_FORMAT;
}

/* One process alone may fail here: it ends the others. */
static iw_status read_nodes(const iw_log *log, const iw_digest_stream *stream, const struct node_files *nodes,
                            iw_fleet *fleet)
{
    IW_TRY(iw_fleet_read(log, fleet, stream));
    IW_TRY(add_unread(log, nodes, fleet));
    return iw_fleet_merge(log, fleet);
}

static iw_status end_others(struct mpi_run *mpi_run, iw_status status)
{
    if (status != IW_OK && mpi_run != NULL) {
        mpi_run_abort(mpi_run, ui_exit_of(status));
    }
    return status;
}

/* The first process knows. */
static iw_status check_nodes(const iw_log *log, const iw_fleet *fleet, const char *path,
                             struct mpi_run *mpi_run)
{
    iw_status status = IW_OK;

    if (mpi_run == NULL || mpi_run_is_first(mpi_run)) {
        status = check_any(log, fleet, path);
    }
    return mpi_run == NULL || mpi_run_agree(mpi_run, ui_exit_of(status)) == UI_DONE ? status : IW_ERR_FORMAT;
}

/* `path`: a folder of noise files and files of digests, or one file of digests; of several digests of a node
 * the latest counts. Files that cannot be read are noted in the fleet and do not stop the others; that none
 * can be read is IW_ERR_FORMAT. `progress` may be NULL, and `mpi_run`: else all processes of that run judge
 * it together, and the first one has the answer. */
static iw_status judge_nodes(const iw_log *log, const char *path, const iw_fleet_opts *opts,
                             struct progress *progress, struct mpi_run *mpi_run, iw_fleet **fleet_p)
{
    iw_fleet *fleet = NULL;
    struct node_files nodes;
    iw_digest_stream stream;
    iw_status status;

    IW_TRY(node_files_open_share(log, path, progress, mpi_run, &nodes));
    stream = node_files_stream(&nodes);
    status = iw_fleet_new(log, path, &fleet);
    status = end_others(mpi_run, status == IW_OK ? read_nodes(log, &stream, &nodes, fleet) : status);
    status = status == IW_OK ? check_nodes(log, fleet, path, mpi_run) : status;
    if (status == IW_OK) {
        status = end_others(mpi_run, iw_fleet_judge(log, fleet, opts));
    }
    node_files_close(&nodes);
    if (status != IW_OK) {
        iw_fleet_free(fleet);
        return status;
    }
    *fleet_p = fleet;
    return IW_OK;
}

/* ---- the verb ---- */

struct fleet_opts {
    struct opt_origins origins;
    const char *false_alarms, *matters;
    uint64_t threads;
    struct shown_opts shown;
};

#define ROW(...) OPT_ROW(struct fleet_opts, __VA_ARGS__)
static const struct opt verdict_rows[] = {
    ROW("false-alarms", OPT_STRING, false_alarms, "SHARE",
        "limit of the probability that a fleet of identical nodes gets any alarm (default 1%)",
        .is_setting = true),
    ROW("matters", OPT_STRING, matters, "SHARE",
        "smallest noise above the median that is worth an alarm, as a share of CPU time (default 0.02%)",
        .is_setting = true),
    ROW("threads", OPT_COUNT, threads, "N", "judge on N threads; 0: one per CPU (default 0)", .max = 1024,
        .is_setting = true),
};
#undef ROW

static const struct opt_group groups[] = {
    OPT_GROUP("Verdict", verdict_rows, 0),
    SHOWN_GROUP("Output; csv has one line per node", offsetof(struct fleet_opts, shown)),
};

static const struct fleet_opts defaults = {.false_alarms = "1%", .matters = "0.02%"};

static const char *const synopsis[] = {"[options] DIR|FILE",         "coincidence [options] DIR",
                                       "history [options] DIR|FILE", "digest [options] FILE|DIR... -o FILE",
                                       "show [options] FILE",        NULL};

static const struct verb *const subverbs[] = {&verb_fleet_coincidence, &verb_fleet_history,
                                              &verb_fleet_digest, &verb_fleet_show, NULL};

static const char description[] =
    "Read a folder of noise files or digests, one per node. Report which nodes and CPUs are noisier than the "
    "others, the causes and remedies, and describe the whole fleet.\nEach source is compared on whole nodes "
    "and CPU by CPU, by its share of time, its rate and its longest detours. The fleet itself shows how much "
    "nodes differ: an alarm needs a value beyond the tail of that distribution. Single bursts do not count. "
    "With fewer than 12 nodes, each whole node is compared with the others, and stands out only if it is "
    "several times as noisy. At least 3 nodes are needed.\nNodes that are not noisier but different (a "
    "source that all others have is missing, another kernel, another governor) are listed separately. Files "
    "that cannot be read are listed and do not stop the rest.\nUnder an MPI launcher all processes share the "
    "work, and one of them prints.\nExits with 2 if a node stands out, otherwise with 1 if a file could not "
    "be read. Exits with 3 for too few nodes, and with 0 if none stands out.";

static const struct example examples[] = {
    {"record on all nodes, then compare them",
     "srun --ntasks-per-node 1 sh -c 'idlewave record -o noise/$(hostname).h5'\n  idlewave fleet noise"},
    {"write a page about them", "idlewave report noise -o fleet.html"},
    {"does cron hit all nodes at once?", "idlewave fleet coincidence noise"},
    {"100,000 digests, on several nodes", "mpirun -n 8 --map-by node idlewave fleet 2026-11-17.digest"},
    {"list the nodes, the noisiest first", "idlewave fleet noise --format csv"},
    {NULL, NULL},
};

/* A node that stands out is news that no damaged file takes back; that no other does is not known then. */
static int exit_of_verdict(const struct ui *ui, const iw_fleet *fleet)
{
    int code = fleet->node_count < IW_FLEET_FEW_NODES ? UI_UNDECIDED : UI_DONE;

    if (fleet->unreadable_count > 0) {
        ui_error(ui, "%zu of %zu files could not be read; the first: %s", fleet->unreadable_count,
                 fleet->unreadable_count + fleet->node_count, fleet->unreadable[0].reason);
        code = UI_ERROR;
    }
    return fleet->outlier_count > 0 ? UI_NEGATIVE : code;
}

static int judge(struct ui *ui, const struct fleet_opts *opts, const iw_fleet_opts *given, const char *path,
                 struct mpi_run *mpi_run)
{
    const bool is_first = mpi_run_is_first(mpi_run);
    iw_fleet_opts wanted = *given;
    struct progress progress;
    iw_fleet *fleet = NULL;
    iw_status status;
    int code;

    wanted.threads = wanted.threads > 0 ? wanted.threads : mpi_run_threads(mpi_run);
    progress_begin(&progress, 0.0, NULL);
    progress_tell(&progress, ui->verb, !is_first);
    ui->progress = &progress;
    status = judge_nodes(&ui->log, path, &wanted, &progress, mpi_run, &fleet);
    ui->progress = NULL;
    progress_wipe(&progress);
    code = ui_exit_of(status);
    if (code == UI_DONE && is_first && fleet != NULL) {
        code = shown_write(ui, &opts->shown, iw_fleet_doc(fleet));
        code = code == UI_DONE ? exit_of_verdict(ui, fleet) : code;
    }
    iw_fleet_free(fleet);
    return code;
}

static int read_opts(struct ui *ui, const struct fleet_opts *opts, const struct opt_args *args,
                     iw_fleet_opts *wanted)
{
    int code;

    if (args->count == 0) {
        return ui_usage(ui, "no folder given; type: idlewave fleet DIR, or name a file of digests");
    }
    code = ui_parse_share(ui, "--false-alarms", opts->false_alarms, &wanted->false_alarms);
    if (code == UI_DONE) {
        code = ui_parse_share(ui, "--matters", opts->matters, &wanted->matters);
    }
    wanted->threads = (uint32_t)opts->threads;
    if (code == UI_DONE && !(wanted->false_alarms > 0.0 && wanted->false_alarms <= 0.5)) {
        return ui_usage(ui, "--false-alarms must be above 0 and at most 50%%, not %s", opts->false_alarms);
    }
    return code;
}

static int run(struct ui *ui, const void *values, const struct opt_args *args)
{
    const struct fleet_opts *opts = values;
    iw_fleet_opts wanted = IW_FLEET_OPTS_INIT;
    struct mpi_run mpi_run;
    int code;

    mpi_run_begin(&mpi_run, ui);
    code = read_opts(ui, opts, args, &wanted);
    if (code != UI_DONE) { /* all processes say so, none has to be told */
        return mpi_run_end(&mpi_run, code);
    }
    code = mpi_run_open(&mpi_run, code);
    if (code == UI_DONE) {
        code = judge(ui, opts, &wanted, args->values[0], &mpi_run);
    }
    return mpi_run_end(&mpi_run, code);
}

const struct verb verb_fleet = {
    .name = "fleet",
    .group = VERB_NODE,
    .summary = "find nodes that stand out among many, and why",
    .synopsis = synopsis,
    .description = description,
    .argument_name = "DIR",
    .argument_help = "a folder of recordings (HDF5) or digests, one per node; or one file of digests",
    VERB_GROUPS(groups),
    .most_used = "false-alarms matters format plot",
    .examples = examples,
    VERB_DEFAULTS(defaults),
    .most_arguments = 1,
    .meets_others = true,
    .subverbs = subverbs,
    .run = run,
};

/* ---- for `idlewave report` ---- */

/* Other folders are studies and traces. */
static bool is_fleet(const char *path)
{
    iw_folder *folder;

    if (!iw_is_folder(path)) {
        return iw_is_digest_file(path);
    }
    if (iw_folder_list_nodes(NULL, path, &folder) != IW_OK) {
        return false;
    }
    iw_folder_free(folder);
    return true;
}

static iw_status load(const iw_log *log, const char *path, void **input_p)
{
    const iw_fleet_opts opts = IW_FLEET_OPTS_INIT;
    iw_fleet *fleet = NULL;

    IW_TRY(judge_nodes(log, path, &opts, NULL, NULL, &fleet));
    *input_p = fleet;
    return IW_OK;
}

static iw_status write(const iw_log *log, const void *input, const struct report_target *target)
{
    return report_write_doc(log, iw_fleet_doc(input), target);
}

static void release(void *input)
{
    iw_fleet_free(input);
}

const struct report_kind report_fleet = {
    .what = "a folder of noise files, one per node, or digests of nodes",
    .has_format = REPORT_DOC_FORMATS,
    .is_it = is_fleet,
    .load = load,
    .write = write,
    .free = release,
};
