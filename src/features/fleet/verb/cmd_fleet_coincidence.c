/* `idlewave fleet coincidence`: are nodes hit at the same time?
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <string.h>

#include <idlewave/idlewave.h>

#include "features/fleet/verb/fleet_verbs.h"
#include "options/shown_opts.h"

struct coincidence_opts {
    struct opt_origins origins;
    const char *false_alarms;
    struct shown_opts shown;
};

#define ROW(...) OPT_ROW(struct coincidence_opts, __VA_ARGS__)
static const struct opt rows[] = {
    ROW("false-alarms", OPT_STRING, false_alarms, "SHARE",
        "limit of the probability that a fleet of independent nodes gets any finding (default 1%)",
        .is_setting = true),
};
#undef ROW

static const struct opt_group groups[] = {
    OPT_GROUP("Verdict", rows, 0),
    SHOWN_GROUP("Output; csv has one line per source", offsetof(struct coincidence_opts, shown)),
};

static const struct coincidence_opts defaults = {.false_alarms = "1%"};

static const char *const synopsis[] = {"[options] DIR", NULL};

static const char description[] =
    "Read recordings that nodes made at the same time. Report which sources hit nodes together by the wall "
    "clock (cron, monitoring, time keeping), how strongly, and when. Such nodes are not independent of each "
    "other. At least 2 nodes are needed.\nExits with 2 if a source hits nodes "
    "together, with 3 if there is nothing to test, and with 0 if none does.";

static const struct example examples[] = {
    {"does cron hit all nodes at once?", "idlewave fleet coincidence noise"},
    {"what does that mean for a job?",
     "idlewave simulate --pattern allreduce --ranks 4Ki --compute 1ms --repeat 100 "
     "\\\n      --noise noise --align wall"},
    {NULL, NULL},
};

static iw_status find(const iw_log *log, const char *path, double false_alarms, iw_coincidence **found_p)
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

static int show(struct ui *ui, const struct coincidence_opts *opts, double false_alarms, const char *path)
{
    iw_coincidence *found = NULL;
    const iw_status status = find(&ui->log, path, false_alarms, &found);
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

static int run(struct ui *ui, const void *values, const struct opt_args *args)
{
    const struct coincidence_opts *opts = values;
    double false_alarms = 0.0;
    int code;

    if (args->count == 0) {
        return ui_usage(ui, "no folder given; type: idlewave fleet coincidence DIR");
    }
    code = ui_parse_share(ui, "--false-alarms", opts->false_alarms, &false_alarms);
    if (code == UI_DONE && !(false_alarms > 0.0 && false_alarms <= 0.5)) {
        return ui_usage(ui, "--false-alarms must be above 0 and at most 50%%, not %s", opts->false_alarms);
    }
    return code == UI_DONE ? show(ui, opts, false_alarms, args->values[0]) : code;
}

const struct verb verb_fleet_coincidence = {
    .name = "fleet coincidence",
    .summary = "find sources that hit several nodes at the same time",
    .synopsis = synopsis,
    .description = description,
    .argument_name = "DIR",
    .argument_help = "a folder of recordings (HDF5), one per node, made at the same time",
    VERB_GROUPS(groups),
    .examples = examples,
    VERB_DEFAULTS(defaults),
    .most_arguments = 1,
    .run = run,
};
