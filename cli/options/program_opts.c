/* Options that say what the ranks run, and the program they make.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "options/program_opts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <idlewave/files.h>
#include <idlewave/fleet.h>

#include "options/program_parse.h"

#define ROW(...) OPT_ROW(struct program_opts, __VA_ARGS__)

static const char *const boundaries[] = {"periodic", "open", NULL};
static const char *const directions[] = {"bi", "uni", NULL};
static const char *const exchanges[] = {"joint", "split", NULL};
enum { BOUNDARY_PERIODIC, DIRECTION_UNI = 1, EXCHANGE_SPLIT = 1 };

/* The index-th operation: algorithms of one stand together in the registry. */
static const char *operation_name(size_t index)
{
    const char *op, *algorithm, *summary, *previous = "";
    size_t seen = 0;

    for (size_t i = 0; iw_algorithm_info(i, &op, &algorithm, &summary); i++) {
        if (strcmp(op, previous) != 0 && seen++ == index) {
            return op;
        }
        previous = op;
    }
    return NULL;
}

const struct opt program_rows[] = {
    ROW("pattern", OPT_LIST, patterns, "OP[:ALGORITHM]",
        "run a pattern: barrier, bcast, allreduce:ring, halo2d, ...; several, joined by '+', run one after "
        "the other ('idlewave schedule --list' lists all)",
        .known = operation_name),
    ROW("ranks", OPT_COUNT, ranks, "N", "number of ranks; a multiple of those of a trace", .min = 1,
        .max = UINT64_C(1) << 30),
    ROW("bytes", OPT_COUNT, bytes, "SIZE", "data per rank, as MPI's count x type (default 1)"),
    ROW("repeat", OPT_COUNT, repeat, "N", "run the operations N times (default 1)", .min = 1),
    ROW("compute", OPT_TIME, compute_ps, "TIME", "work on every rank before each repetition (default 0)"),
    ROW("compute-bytes", OPT_COUNT, compute_bytes, "SIZE",
        "what each of these phases moves from and to memory, at the same time as the work (default 0); needs "
        "--memory"),
    ROW("root", OPT_COUNT, root, "RANK", "root of bcast, reduce, gather, scatter (default 0)"),
    ROW("segment", OPT_COUNT, segment_bytes, "SIZE", "segment size of pipelined algorithms", .min = 1),
    ROW("reduce-cost", OPT_PER_BYTE, reduce, "TIME", "CPU time of a reduction per byte (default 0)"),
    ROW("delay", OPT_LIST, delays, "rank=R,step=S,time=T",
        "inject a delay of T on rank R in its S-th compute phase (default the first); may be repeated"),
    ROW("goal-unit", OPT_TIME, goal_unit_ps, "TIME", "unit of calc lengths in GOAL files (default 1ns)"),
};
_Static_assert(sizeof program_rows / sizeof program_rows[0] == PROGRAM_ROW_COUNT,
               "count of rows in the header");

const struct opt halo_rows[] = {
    ROW("dims", OPT_STRING, dims, "XxY[xZ]", "ranks in each direction (default: as square as possible)"),
    ROW("boundary", OPT_CHOICE, boundary, "", "wrap around at the edges, or not (default periodic)",
        .choices = boundaries),
    ROW("direction", OPT_CHOICE, direction, "",
        "exchange with both neighbours, or send up and receive from below (default bi)",
        .choices = directions),
    ROW("distance", OPT_COUNT, distance, "N", "halo1d: partners up to N ranks away (default 1)", .min = 1,
        .max = UINT32_MAX),
    ROW("exchange", OPT_CHOICE, exchange, "",
        "wait for all neighbours at once, or for each direction in turn (default joint)",
        .choices = exchanges),
};
_Static_assert(sizeof halo_rows / sizeof halo_rows[0] == HALO_ROW_COUNT, "count of rows in the header");

/* The first typed option that only patterns have, or NULL; traces take --ranks and --reduce-cost too. */
static const char *typed_pattern_option(const struct program_opts *opts, bool is_trace)
{
    return opt_first_typed(program_rows, PROGRAM_ROW_COUNT, opts,
                           is_trace ? "pattern delay goal-unit ranks reduce-cost"
                                    : "pattern delay goal-unit");
}

static const char *typed_halo_option(const struct program_opts *opts)
{
    return opt_first_typed(halo_rows, HALO_ROW_COUNT, opts, "");
}

/* Traces have options that nothing else has. */
static int check_no_trace(const struct ui *ui, const struct program_opts *opts, const char *what,
                          const char *others)
{
    const char *option = opt_first_typed(trace_rows, TRACE_ROW_COUNT, opts, others);

    return option == NULL ? UI_DONE : ui_usage(ui, "--%s is for traces, but '%s' is none", option, what);
}

static int check_file(const struct ui *ui, const struct program_opts *opts, const char *path, bool is_trace)
{
    const char *option = typed_pattern_option(opts, is_trace);

    if (opts->patterns.count > 0) {
        return ui_usage(ui, "'%s' and --pattern: give a file or a pattern, not both", path);
    }
    option = option != NULL ? option : typed_halo_option(opts);
    if (option != NULL) {
        return ui_usage(ui, "--%s describes a pattern, but '%s' says itself what runs", option, path);
    }
    if (opts->goal_unit_ps == 0) {
        return ui_usage(ui, "--goal-unit must be above zero");
    }
    return is_trace ? UI_DONE : check_no_trace(ui, opts, path, "");
}

static int check_pattern(const struct ui *ui, const struct program_opts *opts, const char *operations)
{
    const char *option = typed_halo_option(opts);

    if (opts->ranks == 0) {
        return ui_usage(ui, "--pattern needs the number of ranks: --ranks N");
    }
    if (option != NULL && strstr(operations, "halo") == NULL && strstr(operations, "sweep") == NULL) {
        return ui_usage(ui, "--%s is for halo and sweep patterns, not for '%s'", option, operations);
    }
    if (opts->root >= opts->ranks) {
        return ui_usage(ui, "--root %llu: the last of %llu ranks is %llu", (unsigned long long)opts->root,
                        (unsigned long long)opts->ranks, (unsigned long long)opts->ranks - 1);
    }
    return check_no_trace(ui, opts, operations, "collectives");
}

/* Collects what runs from options and arguments. */
static int find_source(struct ui *ui, const struct program_opts *opts, const struct opt_args *args,
                       struct program_source *source)
{
    *source = (struct program_source){.path = args->count > 0 ? args->values[0] : NULL};
    source->operations = program_join(&opts->patterns, "+");
    if (source->path == NULL && opts->patterns.count == 0) {
        return ui_usage(ui, "nothing to run: give a trace or a GOAL file, or --pattern OP --ranks N");
    }
    return program_parse_delays(ui, &opts->delays, &source->delays, &source->delay_count);
}

static int make_from_file(struct ui *ui, const struct program_opts *opts, const iw_net *net,
                          struct program_source *source, iw_program **program_p)
{
    const bool is_trace = iw_is_folder(source->path) || iw_trace_is_trace(source->path); /* GOAL is a file */
    const int code = check_file(ui, opts, source->path, is_trace);
    iw_program *program;
    iw_status status;

    if (code != UI_DONE) {
        return code;
    }
    if (is_trace) {
        return program_make_from_trace(ui, opts, net, source, program_p);
    }
    status = iw_program_from_goal(&ui->log, source->path, opts->goal_unit_ps, &program);
    if (status != IW_OK) {
        return ui_exit_of(status);
    }
    status = iw_program_set_delays(&ui->log, program, source->delays, source->delay_count);
    if (status != IW_OK) {
        iw_program_free(program);
        return ui_exit_of_value(ui, status);
    }
    *program_p = program;
    return UI_DONE;
}

static iw_nodes nodes_of(const struct program_place *place)
{
    const iw_nodes as_said = {.ranks = (uint32_t)place->ranks_per_node};
    const iw_nodes nodes = place->net != NULL ? iw_net_nodes(place->net) : as_said;

    return nodes.ranks > 0 ? nodes : as_said;
}

static void fill_pattern(const struct program_opts *opts, iw_pattern *pattern)
{
    pattern->ranks = (uint32_t)opts->ranks;
    pattern->bytes = opts->bytes;
    pattern->repeat = opts->repeat;
    pattern->root = (uint32_t)opts->root;
    pattern->segment_bytes = opts->segment_bytes;
    pattern->compute_ps = opts->compute_ps;
    pattern->compute_bytes = opts->compute_bytes;
    pattern->reduce = opts->reduce;
    pattern->distance = (uint32_t)opts->distance;
    pattern->is_periodic = opts->boundary == BOUNDARY_PERIODIC;
    pattern->is_one_way = opts->direction == DIRECTION_UNI;
    pattern->is_split = opts->exchange == EXCHANGE_SPLIT;
    pattern->rules = opt_given(opts, trace.rules) ? opts->trace.rules : NULL;
}

static int make_from_pattern(struct ui *ui, const struct program_opts *opts,
                             const struct program_place *place, const struct program_source *source,
                             iw_program **program_p)
{
    iw_pattern pattern = IW_PATTERN_INIT;
    int code = check_pattern(ui, opts, source->operations);
    iw_status status;

    if (code != UI_DONE) {
        return code;
    }
    fill_pattern(opts, &pattern);
    pattern.nodes = nodes_of(place);
    code = program_parse_dims(ui, opts->dims, pattern.dims);
    if (code != UI_DONE) {
        return code;
    }
    pattern.delays = source->delays;
    pattern.delay_count = source->delay_count;
    status = iw_program_from_pattern(&ui->log, source->operations, &pattern, program_p);
    if (status == IW_ERR_USAGE) {
        ui_hint(ui, "'idlewave schedule --list' lists all operations and algorithms");
        return UI_USAGE;
    }
    return ui_exit_of_value(ui, status);
}

void program_scale_work(struct program_opts *opts, double work)
{
    if (work != 1.0 && opts->patterns.count > 0) {
        iw_pattern pattern = IW_PATTERN_INIT;

        pattern.compute_ps = opts->compute_ps;
        pattern.compute_bytes = opts->compute_bytes;
        iw_pattern_scale_work(&pattern, work);
        opts->compute_ps = pattern.compute_ps;
        opts->compute_bytes = pattern.compute_bytes;
    } else if (work != 1.0) {
        opts->trace.compute_scale *= work;
    }
}

int program_make(struct ui *ui, const struct program_opts *opts, const struct program_place *place,
                 const struct opt_args *args, struct program_source *source, iw_program **program_p)
{
    const int code = find_source(ui, opts, args, source);

    if (code != UI_DONE) {
        return code;
    }
    if (source->path != NULL) {
        return make_from_file(ui, opts, place->net, source, program_p);
    }
    return make_from_pattern(ui, opts, place, source, program_p);
}

const char *program_name(const struct program_source *source, char buf[PROGRAM_NAME_SIZE])
{
    if (source->note == NULL) {
        return source->path != NULL ? source->path : source->operations;
    }
    (void)snprintf(buf, PROGRAM_NAME_SIZE, "%s (%s)", source->path, source->note);
    return buf;
}

void program_source_release(struct program_source *source)
{
    iw_trace_free(source->trace);
    free(source->operations);
    free(source->delays);
    free(source->note);
}
