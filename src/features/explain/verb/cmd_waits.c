/* `idlewave waits`: who made us wait?
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/idlewave.h>

#include "options/shown_opts.h"
#include "options/verbs.h"

struct waits_opts {
    struct opt_origins origins;
    const char *least;
    uint64_t top;
    struct shown_opts shown;
};

#define ROW(...) OPT_ROW(struct waits_opts, __VA_ARGS__)
static const struct opt rows[] = {
    ROW("least", OPT_STRING, least, "SHARE",
        "name only ranks that were busy longer than their peers by this share of the run (default 1%)"),
    ROW("top", OPT_COUNT, top, "N", "list N ranks, those that cost the most (default 10)", .min = 1,
        .max = UINT32_MAX),
};
#undef ROW

static const struct opt_group groups[] = {
    OPT_GROUP("What is told", rows, 0),
    SHOWN_GROUP("Output; csv has one line per rank", offsetof(struct waits_opts, shown)),
};

static const struct waits_opts defaults = {.top = 10};

static const char *const synopsis[] = {"[options] RUN...", NULL};

static const char description[] =
    "Reads a traced run and reports which ranks made the others wait: in which collectives they came last, "
    "whether all through the run or in one period of it, and what that cost. A wait is followed to its "
    "cause: "
    "where a rank is late because it waited itself, the rank that it waited for is blamed.\n"
    "The time of all ranks is split into computing, transfer, imbalance (the same ranks are later every "
    "time) "
    "and noise (what varies), and shown by node, stage, group and operation. Iterations that become slower "
    "or "
    "faster for good are reported.\n"
    "A run is a folder, a file, or several files, one for each rank: OTF2 traces of MPI programs (written by "
    "'idlewave trace'), or, of training, profiles of PyTorch, execution traces of Chakra and lines of NCCL's "
    "Inspector. One rank alone gives bounds only.";

static const struct example examples[] = {
    {"trace and ask", "mpirun -n 64 idlewave trace -o run -- ./app\n  idlewave waits run"},
    {"a page with a map of ranks and iterations", "idlewave waits run --format html > waits.html"},
    {"profiles of PyTorch, one file for each rank", "idlewave waits profiles"},
    {"only ranks that are slower by 5 % of the run or more", "idlewave waits run --least 5%"},
    {NULL, NULL},
};

static iw_status find_waits(struct ui *ui, const iw_waits_opts *how, const struct opt_args *args,
                            iw_waits **waits_p)
{
    iw_visits *visits = NULL;
    iw_status status = iw_visits_open(&ui->log, args->values, args->count, &visits);

    if (status == IW_OK) {
        status = iw_waits_run(&ui->log, args->values[0], visits, how, waits_p);
    }
    iw_visits_free(visits);
    return status;
}

static int run(struct ui *ui, const void *values, const struct opt_args *args)
{
    const struct waits_opts *opts = values;
    iw_waits_opts how = IW_WAITS_OPTS_INIT;
    iw_waits *waits = NULL;
    iw_status status;
    int code;

    if (args->count == 0) {
        return ui_usage(ui, "which run? idlewave waits RUN");
    }
    code = opts->least != NULL ? ui_parse_share(ui, "--least", opts->least, &how.least_share) : UI_DONE;
    if (code != UI_DONE) {
        return code;
    }
    how.top = (uint32_t)opts->top;
    status = find_waits(ui, &how, args, &waits);
    code = status == IW_OK ? shown_write(ui, &opts->shown, iw_waits_doc(waits)) : ui_exit_of(status);
    iw_waits_free(waits);
    return code;
}

const struct verb verb_waits = {
    .name = "waits",
    .group = VERB_RUN,
    .summary = "report which ranks made the others wait, and what it cost",
    .synopsis = synopsis,
    .description = description,
    .argument_name = "RUN",
    .argument_help = "a trace: its folder, a file, or the files of all ranks",
    .groups = groups,
    .group_count = sizeof groups / sizeof groups[0],
    .examples = examples,
    .defaults = &defaults,
    .values_size = sizeof(struct waits_opts),
    .most_arguments = SIZE_MAX,
    .run = run,
};
