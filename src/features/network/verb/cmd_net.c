/* `idlewave net`: measures the network between the ranks of an MPI job.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/idlewave.h>
#include <idlewave/internal/machine.h>
#include <idlewave/internal/mpi.h>
#include <idlewave/internal/net_measure.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "options/opt.h"
#include "options/shown_opts.h"
#include "options/simulate_opts.h"
#include "options/verbs.h"
#include "process/node_log.h"
#include "process/progress.h"
#include "process/ui.h"

struct net_show_opts {
    struct opt_origins origins;
    uint64_t ranks_per_node; /* 0: as the network says */
    struct shown_opts shown;
};

#define ROW(...) OPT_ROW(struct net_show_opts, __VA_ARGS__)
static const struct opt show_what_rows[] = {
    ROW("ranks-per-node", OPT_COUNT, ranks_per_node, "N",
        "number of ranks per node; parts of nodes follow in proportion (default as in the network)", .min = 1,
        .max = UINT32_MAX),
};
#undef ROW

#undef ROW

static const struct opt_group show_groups[] = {
    OPT_GROUP("What to show", show_what_rows, 0),
    SHOWN_GROUP("Output; csv has one line per level", offsetof(struct net_show_opts, shown)),
};

static const struct net_show_opts show_defaults = {.ranks_per_node = 0};

static const char *const show_synopsis[] = {"[options] FILE|NAME", NULL};

static const char show_description[] =
    "Draw a network as a machine: its levels from the inside out, with the ranks of a group, L, o, g and "
    "bandwidth, the NICs of a node, tapers and placement. List what 8 bytes and 1 MiB take between two "
    "ranks at each level, and, where ranks share NICs or narrow links, what they take in simulations.\nTimes "
    "are from the beginning of a send to the end of a receive that waits for it, without noise.";

static const struct example show_examples[] = {
    {"a built-in network", "idlewave net show hdr-fat-tree"},
    {"a measured network", "idlewave net show cluster.yaml"},
    {"as a picture", "idlewave net show slingshot-dragonfly --plot machine.svg"},
    {NULL, NULL},
};

static int show_run(struct ui *ui, const void *values, const struct opt_args *args)
{
    const struct net_show_opts *opts = values;
    iw_net_machine machine;
    iw_net *net;
    int code;

    if (args->count == 0) {
        return ui_usage(
            ui, "no network given; type: idlewave net show FILE, or a built-in name such as hdr-fat-tree");
    }
    code = simulate_find_net(ui, args->values[0], opts->ranks_per_node, &net);
    if (code != UI_DONE) {
        return code;
    }
    code = ui_exit_of(iw_net_machine_describe(&ui->log, net, &machine));
    if (code == UI_DONE) {
        code = shown_write(ui, &opts->shown, iw_net_machine_doc(&machine));
    }
    iw_net_free(net);
    return code;
}

static const struct verb verb_net_show = {
    .name = "net show",
    .summary = "draw a network: levels, NICs, message costs",
    .synopsis = show_synopsis,
    .description = show_description,
    .argument_name = "FILE|NAME",
    .argument_help =
        "a network (YAML, or output of netgauge's loggp or osu_latency), or the name of a built-in one",
    VERB_GROUPS(show_groups),
    .examples = show_examples,
    VERB_DEFAULTS(show_defaults),
    .most_arguments = 1,
    .run = show_run,
};

enum { NET_MOST_LAUNCHES = 100 };

enum {
    CHUNK_BYTES = 1 << 16,
    GRACE_MS = 5000, /* MPIs may hang in their end; what was measured is there by then */
    NOT_FOUND = 127,
    SIZES_A_LAUNCH = 56, /* that a launch measures */
    SIZES_TEXT = SIZES_A_LAUNCH * 24
};

/* What a launch has written so far, with a NUL behind it. */
struct output {
    char *text;
    size_t size;
};

struct run {
    struct ui *ui;
    const char **line; /* NULL-ended, with room for "--sizes" */
    size_t line_length;
    bool has_sizes; /* in the line */
    size_t number, count;
};

/* ---- one launch ---- */

static void exec_child(const char *const *line, int out)
{
    const int null = open("/dev/null", O_RDONLY);

    if (null >= 0) {
        (void)dup2(null, STDIN_FILENO);
    }
    (void)signal(SIGXFSZ, SIG_DFL); /* main() ignores it, programs need not */
    (void)dup2(out, STDOUT_FILENO);
    (void)execvp(line[0], (char *const *)(uintptr_t)line); /* which does not write to them */
    _exit(NOT_FOUND);
}

static bool is_complete(const struct output *output)
{
    static const char end[] = "\n}\n"; /* of the JSON */

    return output->size >= strlen(end) && strcmp(output->text + output->size - strlen(end), end) == 0;
}

/* Reads to the end, or for some time after the result has come: then it is false. */
static bool read_all(int pipe, struct output *output)
{
    struct pollfd ready = {.fd = pipe, .events = POLLIN};

    for (;;) {
        const int outcome = poll(&ready, 1, is_complete(output) ? GRACE_MS : -1);
        ssize_t got;

        if (outcome == 0) {
            return false;
        }
        output->text = ui_grow(output->text, output->size + CHUNK_BYTES + 1, 1);
        got = outcome < 0 ? -1 : read(pipe, output->text + output->size, CHUNK_BYTES);
        if (got == 0 || (got < 0 && errno != EINTR)) {
            return true;
        }
        output->size += got > 0 ? (size_t)got : 0;
        output->text[output->size] = '\0';
    }
}

/* Its exit code, as shells give it. */
static int end_of(pid_t pid, bool is_over)
{
    int status = 0;

    if (!is_over) {
        (void)kill(pid, SIGTERM);
    }
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Ends with UI_DONE once the result is there, whatever comes after it. */
static int run_launcher(const struct run *run, struct output *output)
{
    int ends[2], code;
    bool is_over;
    pid_t pid;

    if (pipe2(ends, O_CLOEXEC) != 0 || (pid = fork()) < 0) {
        ui_error(run->ui, "'%s' cannot be started: %s", run->line[0], strerror(errno));
        return UI_ERROR;
    }
    if (pid == 0) {
        exec_child(run->line, ends[1]);
    }
    (void)close(ends[1]);
    is_over = read_all(ends[0], output);
    (void)close(ends[0]);
    code = end_of(pid, is_over);
    if (is_complete(output)) {
        return UI_DONE;
    }
    if (code == NOT_FOUND) {
        ui_error(run->ui, "'%s' cannot be started: give the launcher of an MPI", run->line[0]);
    } else {
        ui_error(run->ui, "launch %zu of %zu by '%s' ended with exit code %d and no result", run->number + 1,
                 run->count, run->line[0], code);
    }
    return UI_ERROR;
}

/* The result begins with the first line that begins with a brace: MPIs may have something to say before. */
static int measure_launch(const struct run *run, iw_doc_file **launch_p)
{
    struct output output = {.text = ui_grow(NULL, 1, 1)};
    int code;

    output.text[0] = '\0';
    code = run_launcher(run, &output);
    if (code == UI_DONE) {
        const char *begin = output.text;
        char name[40];

        while (begin[0] != '{' && (begin = strchr(begin, '\n')) != NULL) {
            begin++;
        }
        begin = begin != NULL ? begin : "";
        snprintf(name, sizeof name, "launch %zu", run->number + 1);
        code = ui_exit_of(iw_doc_read(&run->ui->log, name, begin, strlen(begin), launch_p));
        if (code == UI_DONE && iw_net_of_doc(iw_doc_of(*launch_p)) == NULL) {
            ui_error(run->ui, "%s printed another kind of result", name);
            code = UI_ERROR;
        }
    }
    free(output.text);
    return code;
}

/* ---- all of them ---- */

static bool has_size(const uint64_t *sizes, size_t count, uint64_t bytes)
{
    for (size_t i = 0; i < count; i++) {
        if (sizes[i] == bytes) {
            return true;
        }
    }
    return false;
}

/* "1,2,4": of all levels, the outermost first, which matters most if there are too many. */
static void list_sizes(const iw_net_measured *launch, char text[SIZES_TEXT])
{
    uint64_t sizes[SIZES_A_LAUNCH];
    size_t count = 0, used = 0;

    for (size_t i = launch->level_count; i-- > 0;) {
        const iw_net_level *level = &launch->levels[i];

        for (size_t k = 0; k < level->point_count && count < SIZES_A_LAUNCH; k++) {
            if (!has_size(sizes, count, level->points[k].bytes)) {
                sizes[count++] = level->points[k].bytes;
            }
        }
    }
    for (size_t i = 0; i < count; i++) {
        used += (size_t)snprintf(text + used, SIZES_TEXT - used, "%s%llu", i > 0 ? "," : "",
                                 (unsigned long long)sizes[i]);
    }
}

/* launcher... idlewave net options... */
static void make_line(struct run *run, const struct opt_args *launcher, const char *self,
                      const char *const *options)
{
    size_t option_count = 0, at = 0;
    const char **line;

    while (options[option_count] != NULL) {
        run->has_sizes |= strcmp(options[option_count++], "--sizes") == 0;
    }
    line = ui_grow(NULL, launcher->count + option_count + 5, sizeof *line);
    for (size_t i = 0; i < launcher->count; i++) {
        line[at++] = launcher->values[i];
    }
    line[at++] = self;
    line[at++] = "net";
    for (size_t i = 0; i < option_count; i++) {
        line[at++] = options[i];
    }
    line[at] = NULL;
    run->line = line;
    run->line_length = at;
}

static int run_all(struct run *run, iw_doc_file **launches)
{
    char sizes[SIZES_TEXT] = "";
    struct progress progress;
    int code = UI_DONE;

    progress_begin(&progress, 0.0, NULL);
    run->ui->progress = &progress;
    for (run->number = 0; run->number < run->count && code == UI_DONE; run->number++) {
        progress_update(&progress, (double)run->number / (double)run->count);
        code = measure_launch(run, &launches[run->number]);
        if (code == UI_DONE && run->number == 0 && !run->has_sizes) {
            list_sizes(iw_net_of_doc(iw_doc_of(launches[0])), sizes);
            run->line[run->line_length] = "--sizes";
            run->line[run->line_length + 1] = sizes;
            run->line[run->line_length + 2] = NULL;
        }
    }
    run->ui->progress = NULL;
    progress_wipe(&progress);
    return code;
}

/* Runs `launcher` `count` times (at least 1), with "idlewave net", `options` (NULL-ended) and the sizes of
 * the first launch behind it. Returns UI_DONE or an exit code. */
static int net_run_launches(struct ui *ui, const struct opt_args *launcher, const char *const *options,
                            size_t count, iw_net_measured **all_p)
{
    iw_doc_file *launches[NET_MOST_LAUNCHES] = {NULL};
    const iw_net_measured *measured[NET_MOST_LAUNCHES] = {NULL};
    struct run run = {.ui = ui, .count = count};
    char self[4096];
    const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    int code;

    if (length < 0) {
        ui_error(ui, "cannot find the path of this program: %s", strerror(errno));
        return UI_ERROR;
    }
    self[length] = '\0';
    make_line(&run, launcher, self, options);
    code = run_all(&run, launches);
    for (size_t i = 0; code == UI_DONE && i < count; i++) {
        measured[i] = iw_net_of_doc(iw_doc_of(launches[i]));
    }
    if (code == UI_DONE) {
        code = ui_exit_of(iw_net_combine(&ui->log, measured, count, all_p));
    }
    for (size_t i = 0; i < count; i++) {
        iw_doc_close(launches[i]);
    }
    free(run.line);
    return code;
}

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
        "duration of each launch; stops earlier once everything is known to 1 % (default 5s)",
        .is_setting = true),
    ROW("launches", OPT_COUNT, launches, "N",
        "number of launches, which differ more than the messages of one launch (default 5)", .min = 2,
        .max = NET_MOST_LAUNCHES),
    ROW("max-size", OPT_COUNT, largest_bytes, "BYTES", "largest message, from 1 byte (default 4MiB)",
        .min = 64, .max = UINT64_C(1) << 30),
    ROW("sizes", OPT_STRING, sizes, "BYTES,...",
        "measure only these sizes (default powers of two, and more where times do not lie on a line)"),
    ROW("calls", OPT_CHOICE, calls, "",
        "calls of your program: MPI_Send and MPI_Recv; Isend, Irecv and Wait; or these in both directions at "
        "once, as in halo exchanges and allreduces (default blocking)",
        .choices = call_names, .is_setting = true),
    ROW("links", OPT_CHOICE, links, "",
        "search for slow pairs of ranks: all pairs, none, or auto: all pairs of up to 64 ranks, a sample of "
        "more (default auto)",
        .choices = link_names, .is_setting = true),
};
static const struct opt output_rows[] = {
    SHOWN_OUTPUT_ROW(struct net_measure_opts, path, "FILE", "write the network as YAML, for simulate --net"),
    ROW("name", OPT_STRING, name, "NAME", "name of the network (default that of the file)"),
};
#undef ROW

static const struct opt_group groups[] = {
    OPT_GROUP("What to measure", what_rows, 0),
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
    "Measure the LogGOPS parameters L, o_s, o_r, g, G, O and S with confidence intervals, for small and "
    "large messages, inside a node and between nodes, and find slow pairs of ranks.\nLAUNCHER is that of "
    "Open MPI or MPICH with its arguments, for at least 2 ranks. It is started several times, because "
    "launches differ in the placement of processes and pages and in what else is running; the intervals "
    "include these differences. Under a launcher, it measures one launch, and the intervals do not cover "
    "others.\nEach rank needs a core of its own; where ranks share one, the numbers are marked as not valid. "
    "Nothing is pinned; use the launcher's options for that.";

static const struct example examples[] = {
    {"two ranks of this node, in five launches", "idlewave net -o node.yaml -- mpirun -n 2"},
    {"in one launch", "mpirun -n 2 idlewave net -o node.yaml"},
    {"then simulate a collective on 1024 such ranks",
     "idlewave simulate --pattern allreduce --ranks 1024 --net node.yaml"},
    {"levels inside a node and between two nodes",
     "idlewave net -o cluster.yaml -- mpirun -n 4 --host a:2,b:2"},
    {"use the level inside a node",
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
        (void)printf("\nWritten to %s. Next: idlewave simulate --net %s ...\n", opts->path, opts->path);
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
            ui_hint(ui, "start at most one rank per core");
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
        return ui_usage(ui, "no launcher given; type: idlewave net -o my.yaml -- mpirun -n 2");
    }
    if (opt_typed(opts, launches)) {
        return ui_usage(
            ui,
            "--launches does not apply under a launcher; type: idlewave net --launches %llu -- mpirun -n 2",
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
    VERB_GROUPS(groups),
    .most_used = "duration launches output format",
    .examples = examples,
    VERB_DEFAULTS(defaults),
    .most_arguments = (size_t)-1,
    .meets_others = true,
    .takes_command = true,
    .subverbs = subverbs,
    .run = run,
};
