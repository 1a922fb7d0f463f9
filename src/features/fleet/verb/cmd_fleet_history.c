/* `idlewave fleet history`: what changed on a fleet over weeks?
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <string.h>
#include <time.h>

#include <idlewave/idlewave.h>

#include "features/fleet/verb/fleet_verbs.h"
#include "features/fleet/verb/node_files.h"
#include "options/shown_opts.h"

struct history_opts {
    struct opt_origins origins;
    const char *change, *false_alarms, *matters;
    uint64_t days;
    struct shown_opts shown;
};

#define ROW(...) OPT_ROW(struct history_opts, __VA_ARGS__)
static const struct opt time_rows[] = {
    ROW("change", OPT_STRING, change, "DATE",
        "date of the change, 2026-11-02 or 2026-11-02T13:00 UTC (default: compare the last period with those "
        "before it)"),
    ROW("days", OPT_COUNT, days, "N", "length of a period in days (default 7)", .min = 1, .max = 3660),
};
static const struct opt verdict_rows[] = {
    ROW("false-alarms", OPT_STRING, false_alarms, "SHARE",
        "limit of the probability that a history without a change gets any alarm (default 1%)"),
    ROW("matters", OPT_STRING, matters, "SHARE",
        "smallest change that is worth an alarm, as a share of CPU time (default 0.02%)"),
};
#undef ROW

static const struct opt_group groups[] = {
    OPT_GROUP("Time", time_rows, 0),
    OPT_GROUP("Verdict", verdict_rows, 0),
    SHOWN_GROUP("Output; csv has one line per period", offsetof(struct history_opts, shown)),
};

static const struct history_opts defaults = {.false_alarms = "1%", .matters = "0.02%", .days = 7};

static const char *const synopsis[] = {"[options] DIR|FILE", NULL};

static const char description[] =
    "Read recordings or digests of different times. Report which sources take more or less of the fleet's "
    "time since a change (a new kernel, another setting), and which nodes changed more than the "
    "others.\nEach node is compared with itself, and the change of all nodes with the usual "
    "variation between periods. Each recording of a node needs its own file, of any name: node and date are "
    "read from the file. Digests of all times may be in one file.\nExits with 2 if something changed, with 3 "
    "if no node has recordings on both sides of the change, and with 0 if nothing changed.";

static const struct example examples[] = {
    {"every week", "idlewave fleet digest noise -o history/$(date +%F).digest && \\\n"
                   "      idlewave fleet history history"},
    {"after a new kernel", "idlewave fleet history history --change 2026-11-02"},
    {NULL, NULL},
};

/* Since 1970; 0: it is no date. */
static int64_t date_ns(const char *text)
{
    static const char *const forms[] = {"%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%dT%H:%M", "%Y-%m-%d"};

    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        struct tm date = {.tm_sec = 0};
        const char *end = strptime(text, forms[i], &date);

        if (end != NULL && *end == '\0') {
            const time_t seconds = timegm(&date);

            return seconds > 0 ? (int64_t)seconds * 1000000000 : 0;
        }
    }
    return 0;
}

static iw_status read_nodes(const iw_log *log, const char *path, iw_history *history)
{
    struct node_files nodes;
    iw_digest_stream stream;
    iw_digest *digest = NULL;
    iw_status status = IW_OK;

    IW_TRY(node_files_open(log, path, NULL, &nodes));
    nodes.is_by_host = true; /* one node has many files */
    stream = node_files_stream(&nodes);
    do {
        status = stream.next(log, stream.arg, &digest);
        status = status == IW_OK && digest != NULL ? iw_history_add(log, history, digest) : status;
        iw_digest_free(digest);
    } while (status == IW_OK && digest != NULL);
    history->unreadable_count = nodes.unread_count;
    if (status == IW_OK && history->digest_count == 0 && nodes.unread_count > 0) {
        log->write(log->arg, IW_LOG_ERROR, nodes.unread[0].reason);
        status = IW_ERR_FORMAT;
    }
    node_files_close(&nodes);
    return status;
}

static int exit_of_verdict(const iw_history *history)
{
    if (history->change_count > 0 || history->changed_node_count > 0) {
        return UI_NEGATIVE;
    }
    return history->paired_count == 0 ? UI_UNDECIDED : UI_DONE;
}

static int judge(struct ui *ui, const struct history_opts *opts, const iw_history_opts *wanted,
                 const char *path)
{
    iw_history *history = NULL;
    iw_status status = iw_history_new(&ui->log, path, &history);
    int code;

    status = status == IW_OK ? read_nodes(&ui->log, path, history) : status;
    status = status == IW_OK ? iw_history_judge(&ui->log, history, wanted) : status;
    code = status == IW_OK ? shown_write(ui, &opts->shown, iw_history_doc(history)) : ui_exit_of(status);
    code = code == UI_DONE ? exit_of_verdict(history) : code;
    iw_history_free(history);
    return code;
}

static int run(struct ui *ui, const void *values, const struct opt_args *args)
{
    const struct history_opts *opts = values;
    iw_history_opts wanted = IW_HISTORY_OPTS_INIT;
    int code;

    if (args->count == 0) {
        return ui_usage(ui, "no folder given; type: idlewave fleet history DIR, or name a file of digests");
    }
    wanted.period_ns = (int64_t)opts->days * 86400 * 1000000000;
    wanted.change_ns = opts->change != NULL ? date_ns(opts->change) : 0;
    if (opts->change != NULL && wanted.change_ns == 0) {
        return ui_usage(ui, "--change '%s' is not a date: write 2026-11-02 or 2026-11-02T13:00",
                        opts->change);
    }
    code = ui_parse_share(ui, "--false-alarms", opts->false_alarms, &wanted.false_alarms);
    if (code == UI_DONE) {
        code = ui_parse_share(ui, "--matters", opts->matters, &wanted.matters);
    }
    return code == UI_DONE ? judge(ui, opts, &wanted, args->values[0]) : code;
}

const struct verb verb_fleet_history = {
    .name = "fleet history",
    .summary = "report what changed on a fleet over weeks, and on which nodes",
    .synopsis = synopsis,
    .description = description,
    .argument_name = "DIR",
    .argument_help = "a folder of recordings (HDF5) or digests of several times, or one file of digests",
    VERB_GROUPS(groups),
    .most_used = "change days false-alarms matters format plot",
    .examples = examples,
    VERB_DEFAULTS(defaults),
    .most_arguments = 1,
    .run = run,
};
