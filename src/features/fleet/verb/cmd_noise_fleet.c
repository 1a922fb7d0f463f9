/* `idlewave noise fleet`: which of many nodes stand out, and with what?
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <string.h>

#include <idlewave/idlewave.h>

#include "features/fleet/verb/noise_fleet.h"
#include "options/noise_verbs.h"
#include "options/shown_opts.h"
#include "process/mpi_run.h"

struct fleet_opts {
    struct opt_origins origins;
    const char *false_alarms, *matters;
    uint64_t threads;
    bool is_correlated;
    struct shown_opts shown;
};

#define ROW(...) OPT_ROW(struct fleet_opts, __VA_ARGS__)
static const struct opt verdict_rows[] = {
    ROW("false-alarms", OPT_STRING, false_alarms, "SHARE",
        "share of fleets of identical nodes that may get any alarm at all, or of independent ones with "
        "--correlate (default 1%)",
        .is_setting = true),
    ROW("matters", OPT_STRING, matters, "SHARE",
        "least noise above the median that is worth an alarm, as a share of CPU time (default 0.02%)",
        .is_setting = true),
    ROW("threads", OPT_COUNT, threads, "N", "judge on N threads; 0: one per CPU (default 0)", .max = 1024,
        .is_setting = true),
};
#undef ROW

#define ROW(...) OPT_ROW(struct fleet_opts, __VA_ARGS__)
static const struct opt question_rows[] = {
    ROW("correlate", OPT_FLAG, is_correlated, "",
        "find out instead whether nodes are hit at the same time, by their wall clocks: which sources, how "
        "strongly, when; for recordings that were made at the same time"),
};
#undef ROW

static const struct opt_group groups[] = {
    OPT_GROUP("Question", question_rows, 0),
    OPT_GROUP("Verdict", verdict_rows, 0),
    SHOWN_GROUP("Output; csv has one line per node", offsetof(struct fleet_opts, shown)),
};

static const struct fleet_opts defaults = {.false_alarms = "1%", .matters = "0.02%"};

static const char *const synopsis[] = {"[options] DIR|FILE", NULL};

static const char description[] =
    "Reads the noise files or digests of a folder, one per node, reports which nodes and CPUs are noisier "
    "than "
    "the others, why, and what to do, and describes the fleet as a whole.\n"
    "Each source is compared on whole nodes and CPU by CPU, by its share of time, its rate and its longest "
    "detours. The fleet itself shows how much nodes differ: an alarm needs a value beyond the tail of that "
    "distribution. Single bursts do not count. With fewer than 12 nodes, each whole node is compared with "
    "the "
    "others, and stands out only if it is several times as noisy. At least 3 nodes are needed.\n"
    "Nodes that are not noisier but different (a source that all others have is missing, another kernel, "
    "another governor) are listed separately. Files that cannot be read are listed and do not stop the "
    "rest.\n"
    "With --correlate it tells whether detours on several nodes coincide (cron, monitoring, time keeping), "
    "so "
    "that the nodes are not independent of each other. That needs at least 2 nodes.\n"
    "Under an MPI launcher all processes share the work, and one of them prints.\n"
    "Exits with 2 if a node stands out or a source hits nodes together, otherwise with 1 if a file could not "
    "be read, with 3 if there are too few nodes for a verdict, and with 0 if none stands out.";

static const struct example examples[] = {
    {"record on all nodes, then look", "srun --ntasks-per-node 1 sh -c 'idlewave record -o "
                                       "noise/$(hostname).h5'\n"
                                       "  idlewave noise fleet noise"},
    {"a page of it", "idlewave report noise -o fleet.html"},
    {"does cron hit all nodes at once?", "idlewave noise fleet noise --correlate"},
    {"100,000 digests, on several nodes", "mpirun -n 8 --map-by node idlewave noise fleet 2026-11-17.digest"},
    {"the nodes, the noisiest first", "idlewave noise fleet noise --format csv"},
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
    status = noise_fleet_judge(&ui->log, path, &wanted, &progress, mpi_run, &fleet);
    ui->progress = NULL;
    progress_wipe(&progress);
    code = ui_exit_of(status);
    if (code == UI_DONE && is_first) {
        code = shown_write(ui, &opts->shown, iw_fleet_doc(fleet));
        code = code == UI_DONE ? exit_of_verdict(ui, fleet) : code;
    }
    iw_fleet_free(fleet);
    return code;
}

static iw_status find_coincidence(const iw_log *log, const char *path, double false_alarms,
                                  iw_coincidence **found_p)
{
    iw_coincidence_opts wanted = IW_COINCIDENCE_OPTS_INIT;
    iw_recording **recordings = NULL;
    iw_folder *folder;
    iw_status status;

    wanted.false_alarms = false_alarms;
    IW_TRY(iw_folder_list(log, path, &folder));
    status = iw_folder_load(log, folder, &recordings);
    if (status == IW_OK) {
        status = iw_coincidence_find(log, (const char *const *)folder->paths, recordings, folder->count,
                                     &wanted, found_p);
    }
    iw_recordings_free(recordings, folder->count);
    iw_folder_free(folder);
    return status;
}

static int correlate(struct ui *ui, const struct fleet_opts *opts, double false_alarms, const char *path)
{
    iw_coincidence *found = NULL;
    const iw_status status = find_coincidence(&ui->log, path, false_alarms, &found);
    int code;

    if (status != IW_OK || found == NULL) {
        return ui_exit_of(status);
    }
    found->name = strdup(path);
    code = shown_write(ui, &opts->shown, iw_coincidence_doc(found));
    if (code == UI_DONE) {
        code = found->tests == 0 ? UI_UNDECIDED : found->found_count > 0 ? UI_NEGATIVE : UI_DONE;
    }
    iw_coincidence_free(found);
    return code;
}

static int read_opts(struct ui *ui, const struct fleet_opts *opts, const struct opt_args *args,
                     iw_fleet_opts *wanted)
{
    int code;

    if (args->count == 0) {
        return ui_usage(ui, "which nodes? idlewave noise fleet DIR, or a file of digests");
    }
    code = ui_parse_share(ui, "--false-alarms", opts->false_alarms, &wanted->false_alarms);
    if (code == UI_DONE) {
        code = ui_parse_share(ui, "--matters", opts->matters, &wanted->matters);
    }
    wanted->threads = (uint32_t)opts->threads;
    if (code == UI_DONE && !(wanted->false_alarms > 0.0 && wanted->false_alarms <= 0.5)) {
        return ui_usage(ui, "--false-alarms must be above 0 and at most 50%%, not %s", opts->false_alarms);
    }
    if (code == UI_DONE && opts->is_correlated && opt_typed(opts, matters)) {
        return ui_usage(ui, "--matters is about nodes that stand out; --correlate looks for others");
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
    if (code == UI_DONE && !opts->is_correlated) {
        code = judge(ui, opts, &wanted, args->values[0], &mpi_run);
    } else if (code == UI_DONE && mpi_run_is_first(&mpi_run)) {
        code = correlate(ui, opts, wanted.false_alarms, args->values[0]);
    }
    return mpi_run_end(&mpi_run, code);
}

const struct verb verb_noise_fleet = {
    .name = "noise fleet",
    .summary = "find nodes that stand out among many, and why",
    .synopsis = synopsis,
    .description = description,
    .argument_name = "DIR",
    .argument_help = "a folder of recordings (HDF5) or digests, one per node; or one file of digests",
    .groups = groups,
    .group_count = sizeof groups / sizeof groups[0],
    .most_used = "correlate false-alarms matters format plot",
    .examples = examples,
    .defaults = &defaults,
    .values_size = sizeof(struct fleet_opts),
    .most_arguments = 1,
    .meets_others = true,
    .run = run,
};
