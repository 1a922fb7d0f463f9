/* `idlewave net`: measures the network between the ranks of an MPI job.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdio.h>
#include <string.h>

#include <idlewave/idlewave.h>
#include <idlewave/internal/mpi.h>
#include <idlewave/internal/net_measure.h>

#include "features/network/verb/net_launches.h"
#include "features/network/verb/net_verbs.h"
#include "options/shown_opts.h"
#include "options/verbs.h"
#include "process/node_log.h"
#include "process/progress.h"

struct net_measure_opts {
    struct opt_origins origins;
    const char *path, *name;
    iw_time duration_ps;
    uint64_t largest_bytes, launches;
    const char *sizes;
    int calls, links;
    struct shown_opts shown;
};

static const char *const call_names[] = {"blocking", "nonblocking", "exchange", NULL}; /* as iw_net_calls */
static const char *const link_names[] = {"auto", "all", "none", NULL};                 /* as iw_net_links */

#define ROW(...) OPT_ROW(struct net_measure_opts, __VA_ARGS__)
static const struct opt what_rows[] = {
    ROW("duration", OPT_TIME, duration_ps, "TIME",
        "measure for TIME in each launch; stops earlier once everything is known to 1 % (default 5s)",
        .is_setting = true),
    ROW("launches", OPT_COUNT, launches, "N",
        "number of launches; they differ more than the messages of one launch do (default 5)", .min = 2,
        .max = NET_MOST_LAUNCHES),
    ROW("max-size", OPT_COUNT, largest_bytes, "BYTES", "messages from 1 byte up to this size (default 4MiB)",
        .min = 64, .max = UINT64_C(1) << 30),
    ROW("sizes", OPT_STRING, sizes, "BYTES,...",
        "messages of these sizes only (default powers of two, and more where times do not lie on a line)"),
    ROW("calls", OPT_CHOICE, calls, "",
        "send and receive as your program does: MPI_Send and MPI_Recv; Isend, Irecv and Wait; or these on "
        "both "
        "sides at once, as halo exchanges and allreduces do (default blocking)",
        .choices = call_names, .is_setting = true),
    ROW("links", OPT_CHOICE, links, "",
        "look for slow pairs of ranks: among all pairs, among none, or auto: all pairs of up to 64 ranks, a "
        "sample of more (default auto)",
        .choices = link_names, .is_setting = true),
};
static const struct opt output_rows[] = {
    SHOWN_OUTPUT_ROW(struct net_measure_opts, path, "FILE", "write the network as YAML, for simulate --net"),
    ROW("name", OPT_STRING, name, "NAME", "its name (default that of the file)"),
};
#undef ROW

static const struct opt_group groups[] = {
    OPT_GROUP("What is measured", what_rows, 0),
    OPT_GROUP("Output", output_rows, 0),
    SHOWN_GROUP("Output; csv has one line per size", offsetof(struct net_measure_opts, shown)),
};

enum { MOST_SIZES = 56 };

static const struct net_measure_opts defaults = {
    .duration_ps = 5 * IW_PS_PER_S, .largest_bytes = UINT64_C(4) << 20, .launches = 5};

static const char *const synopsis[] = {"[options] -- LAUNCHER [ARGUMENT...]", "[options]",
                                       "show [options] FILE|NAME", NULL};

static const struct verb *const subverbs[] = {&verb_net_show, NULL};

static const char description[] =
    "Measures the LogGOPS parameters L, o_s, o_r, g, G, O and S with confidence intervals, for small and "
    "large messages, inside a node and between nodes, and finds pairs of ranks that are slower than "
    "others.\nLAUNCHER is that of Open MPI or MPICH with its arguments, for 2 ranks or more. It is started "
    "several times, because launches differ in where processes and pages are placed and in what else runs. "
    "The intervals include that. Started by a launcher instead, it measures one launch, and the intervals do "
    "not cover others.\nEach rank needs a core of its own: where ranks share one, the numbers are not valid, "
    "and the result says so. Nothing is pinned; use the launcher's options for that.";

static const struct example examples[] = {
    {"two ranks of this node, in five launches", "idlewave net -o node.yaml -- mpirun -n 2"},
    {"in one launch", "mpirun -n 2 idlewave net -o node.yaml"},
    {"then a collective on 1024 such ranks",
     "idlewave simulate --pattern allreduce --ranks 1024 --net node.yaml"},
    {"levels inside a node and between two", "idlewave net -o cluster.yaml -- mpirun -n 4 --host a:2,b:2"},
    {"with the level inside a node",
     "idlewave simulate --pattern barrier --ranks 64 --net cluster.yaml --net-level node"},
    {NULL, NULL},
};

/* "my" of "dir/my.yaml". */
static void name_of(const struct net_measure_opts *opts, char *buf, size_t size)
{
    const char *text =
        opts->name != NULL ? opts->name : (opts->path != NULL ? ui_file_name(opts->path) : "net");
    const char *dot = opts->name != NULL ? NULL : strrchr(text, '.');
    const size_t length = dot != NULL && dot > text ? (size_t)(dot - text) : strlen(text);

    snprintf(buf, size, "%.*s", (int)length, text);
}

/* Returns an exit code. */
static int write_result(struct ui *ui, const struct net_measure_opts *opts, const iw_net_measured *measured)
{
    char name[64];
    iw_status written = IW_OK;
    int code;

    name_of(opts, name, sizeof name);
    if (opts->path != NULL) {
        written = iw_net_write_yaml(&ui->log, measured, name, ui->command, opts->path);
    }
    code = shown_write(ui, &opts->shown, iw_net_doc(measured));
    if (opts->path != NULL && written == IW_OK && opts->shown.format == OUTPUT_TEXT) {
        (void)printf("\nwritten to %s; use it: idlewave simulate --net %s ...\n", opts->path, opts->path);
    }
    return code != UI_DONE ? code : ui_exit_of(written);
}

/* ---- one launch: this process is a rank ---- */

static int evaluate(struct ui *ui, const struct net_measure_opts *opts, const iw_net_samples *samples)
{
    iw_net_measured *measured = NULL;
    int code = ui_exit_of(iw_net_evaluate(&ui->log, samples, &measured));

    if (code == UI_DONE) {
        code = write_result(ui, opts, measured);
        if (samples->warning[0] != '\0') {
            ui_error(ui, "the numbers are not valid: %s", samples->warning);
            ui_hint(ui, "start at most one rank for each core");
        }
    }
    iw_net_measured_free(measured);
    return code;
}

static int measure(struct ui *ui, const struct net_measure_opts *opts, const iw_mpi_plugin *part,
                   const uint64_t *sizes, size_t size_count)
{
    iw_net_plan plan = IW_NET_PLAN_INIT;
    iw_net_samples *samples = NULL;
    struct progress progress;
    uint32_t rank, size;
    iw_status status;
    int code;

    ui->has_mpi = true;
    status = part->start(&ui->log, &rank, &size);
    if (status == IW_OK) {
        plan.largest_bytes = opts->largest_bytes;
        plan.duration_seconds = (double)opts->duration_ps / (double)IW_PS_PER_S;
        plan.calls = (iw_net_calls)opts->calls;
        plan.links = (iw_net_links)opts->links;
        plan.sizes = sizes;
        plan.size_count = size_count;
        progress_begin(&progress, 0.0, NULL);
        if (rank == 0) {
            plan.progress = progress_calls(&progress);
            ui->progress = &progress;
        }
        status = part->net_measure(&ui->log, &plan, &samples);
        ui->progress = NULL;
        progress_wipe(&progress);
    }
    code = ui_exit_of(status);
    if (status == IW_OK && samples != NULL) {
        code = evaluate(ui, opts, samples);
    }
    iw_net_samples_free(samples);
    part->stop();
    return code;
}

/* "1,4KiB,65536". Returns UI_DONE or an exit code. */
static int parse_sizes(struct ui *ui, const struct net_measure_opts *opts, uint64_t *sizes, size_t *count_p)
{
    const char *text = opts->sizes;

    *count_p = 0;
    while (text != NULL && *text != '\0') {
        const size_t length = strcspn(text, ",");
        char size[32];

        snprintf(size, sizeof size, "%.*s", (int)length, text);
        ui->option = "--sizes";
        if (iw_parse_count(&ui->log, size, &sizes[*count_p]) != IW_OK) {
            return ui_exit_of_value(ui, IW_ERR_USAGE);
        }
        ui->option = NULL;
        if (sizes[*count_p] == 0 || sizes[*count_p] > opts->largest_bytes || ++*count_p > MOST_SIZES) {
            return ui_usage(ui, "--sizes: 1 to %d sizes from 1 byte to --max-size", MOST_SIZES);
        }
        text += length + (text[length] == ',');
    }
    return UI_DONE;
}

/* What needs no MPI. */
static int prepare(struct ui *ui, const struct net_measure_opts *opts, uint64_t *sizes, size_t *count_p,
                   const iw_mpi_plugin **part_p)
{
    iw_launcher launcher;
    int code = ui_exit_of(iw_launcher_detect(&ui->log, &launcher));

    if (code == UI_DONE && launcher.name == NULL) {
        return ui_usage(ui, "name the launcher of an MPI: idlewave net -o my.yaml -- mpirun -n 2");
    }
    if (opt_typed(opts, launches)) {
        return ui_usage(ui,
                        "--launches: under a launcher this is one launch; write idlewave net --launches %llu "
                        "-- mpirun -n 2",
                        (unsigned long long)opts->launches);
    }
    if (code == UI_DONE) {
        code = parse_sizes(ui, opts, sizes, count_p);
    }
    return code == UI_DONE ? ui_exit_of(iw_mpi_load(&ui->log, launcher.name, part_p)) : code;
}

static int measure_here(struct ui *ui, const struct net_measure_opts *opts)
{
    uint64_t sizes[MOST_SIZES + 1];
    const iw_mpi_plugin *part = NULL;
    struct node_log node_log;
    size_t size_count = 0;
    int code;

    node_log_init(&node_log, ui);
    node_log_take_ui(&node_log, ui);
    code = prepare(ui, opts, sizes, &size_count, &part);
    node_log_leave_ui(&node_log, ui);
    return code == UI_DONE && part != NULL ? measure(ui, opts, part, sizes, size_count) : code;
}

/* ---- several launches: this process starts them ---- */

static int measure_launches(struct ui *ui, const struct net_measure_opts *opts,
                            const struct opt_args *launcher)
{
    char duration[32], largest[32];
    const char *const options[] = {"--format",
                                   "json",
                                   "--duration",
                                   duration,
                                   "--max-size",
                                   largest,
                                   "--calls",
                                   call_names[opts->calls],
                                   "--links",
                                   link_names[opts->links],
                                   opts->sizes != NULL ? "--sizes" : NULL,
                                   opts->sizes,
                                   NULL};
    iw_net_measured *all = NULL;
    int code;

    snprintf(duration, sizeof duration, "%lldps", (long long)opts->duration_ps);
    snprintf(largest, sizeof largest, "%llu", (unsigned long long)opts->largest_bytes);
    code = net_run_launches(ui, launcher, options, (size_t)opts->launches, &all);
    if (code == UI_DONE) {
        code = write_result(ui, opts, all);
    }
    iw_net_measured_free(all);
    return code;
}

static int run(struct ui *ui, const void *values, const struct opt_args *args)
{
    const struct net_measure_opts *opts = values;

    return args->count > 0 ? measure_launches(ui, opts, args) : measure_here(ui, opts);
}

const struct verb verb_net = {
    .name = "net",
    .group = VERB_RUN,
    .summary = "measure the network between MPI ranks",
    .synopsis = synopsis,
    .description = description,
    .groups = groups,
    .group_count = sizeof groups / sizeof groups[0],
    .most_used = "duration launches output format",
    .examples = examples,
    .defaults = &defaults,
    .values_size = sizeof(struct net_measure_opts),
    .most_arguments = (size_t)-1,
    .meets_others = true,
    .takes_command = true,
    .subverbs = subverbs,
    .run = run,
};
