/* `idlewave whatif`: what a job would gain without which source of noise.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <idlewave/idlewave.h>

#include "features/training/verb/training_opts.h"
#include "features/training/verb/training_run.h"
#include "features/whatif/verb/whatif_question.h"
#include "options/shown_opts.h"
#include "options/verbs.h"
#include "process/progress.h"

struct whatif_opts {
    struct opt_origins origins;
    struct opt_list without;
    const char *target, *node_speed;
    uint64_t cores_per_node, spare_cores, replace_nodes, top, redraws, trials, seed, threads;
    int engine;
    bool is_dry, is_quiet;
    struct program_opts program;
    struct net_opts net;
    struct memory_opts memory;
    struct noise_opts noise;
    struct training_bill_opts bill;
    struct shown_opts shown;
};

/* In the order of iw_engine. */
static const char *const engines[] = {"auto", "event", "flow", "window", NULL};

#define ROW(...) OPT_ROW(struct whatif_opts, __VA_ARGS__)
static const struct opt change_rows[] = {
    ROW("without", OPT_LIST, without, "SOURCE[,SOURCE...]",
        "also try removing these together: names, classes or class/name, with wildcards * and ?, or a SPEC "
        "of --noise; may be repeated"),
    ROW("target", OPT_STRING, target, "SHARE",
        "find the smallest set of sources whose removal brings the slowdown below SHARE, for example 2%"),
    ROW("cores-per-node", OPT_COUNT, cores_per_node, "N",
        "also try leaving one of N cores to the operating system: gain, price, and from how many ranks it "
        "pays off",
        .min = 2, .max = 1u << 20, .is_setting = true),
    ROW("spare-cores", OPT_COUNT, spare_cores, "N",
        "leave N cores instead of one; without --cores-per-node, out of the cores that a node's ranks use "
        "(default 1)",
        .min = 1, .max = 1u << 20),
    ROW("node-speed", OPT_STRING, node_speed, "SPEC|FILE",
        "nodes that compute at different speeds: normal:SIGMA, slow:COUNT,FACTOR or a file with a factor for "
        "each node"),
    ROW("replace-nodes", OPT_COUNT, replace_nodes, "N", "also try replacing the N slowest nodes", .min = 1,
        .max = UINT32_MAX),
    ROW("top", OPT_COUNT, top, "N", "try the N largest sources one by one, the others together (default 8)",
        .min = 1, .max = 256, .is_setting = true),
};
static const struct opt run_rows[] = {
    ROW("trials", OPT_COUNT, trials, "N", "simulate each change N times, in pairs (default 40)", .min = 2,
        .max = 1u << 20, .is_setting = true),
    ROW("redraws", OPT_COUNT, redraws, "N",
        "resample the recordings N times, at least 2, so that intervals allow for their length; 0: never "
        "(default 24)",
        .max = 10000, .is_setting = true),
    ROW("seed", OPT_COUNT, seed, "N", "seed of all random choices (default 1)", .max = INT64_MAX),
    ROW("threads", OPT_COUNT, threads, "N", "number of threads; 0: one per CPU (default 0)", .max = 1024,
        .is_setting = true),
    ROW("engine", OPT_CHOICE, engine, "",
        "flow is fast, window runs graphs, event handles every program (default auto)", .choices = engines),
    ROW("dry-run", OPT_FLAG, is_dry, "", "only estimate time and memory"),
};
static const struct opt output_rows[] = {
    ROW("quiet", OPT_FLAG, is_quiet, "", "print no progress and no time estimate on stderr", .letter = 'q'),
};
#undef ROW

static const struct opt_group groups[] = {
    {"What to run", program_rows, PROGRAM_ROW_COUNT, offsetof(struct whatif_opts, program), false},
    {"Halo and sweep patterns", halo_rows, HALO_ROW_COUNT, offsetof(struct whatif_opts, program), false},
    {"Traces", trace_rows, TRACE_ROW_COUNT, offsetof(struct whatif_opts, program), false},
    {"Network", net_rows, NET_ROW_COUNT, offsetof(struct whatif_opts, net), false},
    {"Memory, for --compute-bytes", memory_rows, MEMORY_ROW_COUNT, offsetof(struct whatif_opts, memory),
     false},
    {"Noise", noise_rows, NOISE_ROW_COUNT, offsetof(struct whatif_opts, noise), false},
    OPT_GROUP("What if", change_rows, 0),
#if IW_FEATURE_TRAINING
    {"Training programs", training_bill_rows, TRAINING_BILL_ROW_COUNT, offsetof(struct whatif_opts, bill),
     false},
#endif
    OPT_GROUP("How to run it", run_rows, 0),
    SHOWN_GROUP("Output; csv has one line per change", offsetof(struct whatif_opts, shown)),
    OPT_GROUP("Output; csv has one line per change", output_rows, 0),
};

static const struct whatif_opts defaults = {
    .program = PROGRAM_OPTS_INIT,
    .net = NET_OPTS_INIT,
    .bill = TRAINING_BILL_OPTS_INIT,
    .top = 8,
    .redraws = 24,
    .trials = 40,
    .seed = 1,
};

static const char *const synopsis[] = {"[options] --noise NOISE --pattern OP --ranks N",
                                       "[options] --noise NOISE FILE", NULL};

static const char description[] =
    "Estimate what noise costs a job, and what removing a source, a class of sources or a set of your "
    "choice would save. Simulate the same job with recorded noise and without these "
    "sources, in pairs with the same seeds and phases.\nDetours of a removed source vanish; all others stay "
    "in place. The result equals, to the picosecond, "
    "a simulation with the output of 'idlewave noise cut --drop SOURCE'. Savings have 95 % intervals, which "
    "cover the trials and the length of the recordings. Savings do not add up; the report says by how "
    "much.\nThe report also has the savings of co-scheduling (noise on all nodes at the same time) "
    "and, with --cores-per-node, of a core left to the operating system.";

static const struct example examples[] = {
    {"what to switch off first for a job of 8192 ranks, 16 per node",
     "idlewave whatif --noise node.h5 --ranks-per-node 16 --pattern halo3d+allreduce \\\n"
     "      --ranks 8192 --bytes 8 --compute 1ms --repeat 100"},
    {"what to remove to stay below 2 %, and whether a core for the OS pays off",
     "idlewave whatif --noise node.h5 --ranks-per-node 64 --pattern allreduce \\\n"
     "      --ranks 64Ki --compute 500us --repeat 50 --target 2% --cores-per-node 64"},
    {"time and memory it would need",
     "idlewave whatif --noise node.h5 --pattern allreduce --ranks 64Ki --compute 1ms \\\n"
     "      --repeat 100 --dry-run"},
    {"removing two daemons at once, for a traced application",
     "idlewave whatif run --ranks 4096 --noise node.h5 --without nscd,snmpd"},
    {"what jitter costs a training program and what each change saves, as a page",
     "idlewave whatif job.yaml --cost 2.50/h --format html > bill.html"},
    {"a report as a page", "idlewave whatif run --noise node.h5 --format html > whatif.html"},
    {NULL, NULL},
};

/* ---- the sets that were named ---- */

struct named_sets {
    iw_named_set *sets;
    char **texts; /* cut at the commas */
    size_t count;
};

/* A SPEC, or a name with a comma in it. */
static bool is_one_source(const iw_noise_set *noise, const char *text)
{
    bool *is_marked = ui_grow(NULL, iw_noise_set_source_count(noise) + 1, sizeof *is_marked);
    const bool is_one = iw_noise_set_mark(NULL, noise, text, is_marked) == IW_OK;

    free(is_marked);
    return is_one;
}

/* The text is cut in place, at `separators`. */
static void split_set(char *text, const char *separators, iw_named_set *set)
{
    const char **patterns = NULL;
    size_t count = 0;
    char *rest = text, *word;

    while ((word = strsep(&rest, separators)) != NULL) {
        if (word[0] != '\0') {
            patterns = ui_grow(patterns, count + 1, sizeof *patterns);
            patterns[count++] = word;
        }
    }
    set->patterns = patterns;
    set->pattern_count = count;
}

static void make_sets(const struct opt_list *without, const iw_noise_set *noise, struct named_sets *named)
{
    *named = (struct named_sets){.count = without->count};
    named->sets = ui_grow(NULL, without->count + 1, sizeof *named->sets);
    named->texts = ui_grow(NULL, without->count + 1, sizeof *named->texts);
    for (size_t i = 0; i < without->count; i++) {
        const size_t size = strlen(without->items[i]) + 1;

        named->texts[i] = ui_grow(NULL, size, 1);
        (void)snprintf(named->texts[i], size, "%s", without->items[i]);
        named->sets[i] = (iw_named_set){.name = without->items[i]};
        split_set(named->texts[i], is_one_source(noise, without->items[i]) ? "" : ",", &named->sets[i]);
    }
}

static void release_sets(struct named_sets *named)
{
    for (size_t i = 0; i < named->count; i++) {
        free((void *)named->sets[i].patterns);
        free(named->texts[i]);
    }
    free(named->sets);
    free(named->texts);
}

/* ---- running ---- */

/* A recording by itself is noise without a job. */
static int refuse_no_noise(const struct ui *ui, const struct opt_args *args)
{
    if (args->count == 1 && ui_ends_with(args->values[0], ".h5")) {
        return ui_usage(ui,
                        "'%s' is read as the program; if it is a recording, type: idlewave whatif --pattern "
                        "allreduce --ranks 1024 --compute 1ms --repeat 20 --noise %s",
                        args->values[0], args->values[0]);
    }
    return ui_usage(ui, "no noise given: add --noise FILE, a recording of 'idlewave record'");
}

static int check_options(struct ui *ui, const struct whatif_opts *opts, const struct opt_args *args,
                         double *target_p)
{
    iw_status status = IW_OK;

    if (opts->noise.specs.count == 0) {
        return refuse_no_noise(ui, args);
    }
    if (simulate_check_skew(ui, opts->noise.sync, opts->noise.skew_ps) != UI_DONE) {
        return UI_USAGE;
    }
    if (opts->is_dry && shown_check_no_csv(ui, &opts->shown, "--dry-run") != UI_DONE) {
        return UI_USAGE;
    }
    if (opts->replace_nodes > 0 && opts->node_speed == NULL) {
        return ui_usage(ui, "--replace-nodes needs nodes of different speeds: add --node-speed");
    }
    for (size_t i = 0; i < opts->without.count; i++) {
        const char *text = opts->without.items[i];

        if (text[strspn(text, ",")] == '\0') {
            return ui_usage(ui, "--without '%s' matches no source", text);
        }
    }
    if (opts->target != NULL) {
        ui->option = "--target";
        status = iw_parse_share(&ui->log, opts->target, target_p);
        ui->option = NULL;
    }
    return ui_exit_of_value(ui, status);
}

static void fill_opts(const struct whatif_opts *opts, struct question *q, const struct named_sets *named,
                      double target, iw_whatif_opts *whatif)
{
    const iw_sim_opts sim = IW_SIM_OPTS_INIT;

    *whatif = (iw_whatif_opts){
        .size = sizeof *whatif,
        .sim = sim,
        .net = q->net,
        .program = question_maker(q),
        .sets = named->sets,
        .set_count = named->count,
        .target = target,
        .redraws = (uint32_t)opts->redraws,
        .wants_classes = true,
        .wants_together = true,
        .cores_per_node = (uint32_t)opts->cores_per_node,
        .spare_cores = (uint32_t)opts->spare_cores,
        .replaced_nodes = (uint32_t)opts->replace_nodes,
        .most_parts = (uint32_t)opts->top,
    };
    if (opts->spare_cores > 0 && opts->cores_per_node == 0) {
        whatif->cores_per_node = iw_noise_set_cores_per_node(q->noise);
    }
    whatif->sim.engine = (iw_engine)opts->engine;
    whatif->sim.rendezvous = (iw_rendezvous)opts->net.rendezvous;
    whatif->sim.seed = opts->seed;
    whatif->sim.trials = opts->trials;
    whatif->sim.threads = (uint32_t)opts->threads;
}

/* Worth a word if one would go and fetch a coffee. */
static void announce(const struct ui *ui, const iw_whatif_plan *plan)
{
    static const double LONG_S = 10.0, MOST_S = 9e6; /* what iw_time can hold */
    char text[24];

    if (plan->seconds >= LONG_S) {
        ui_error(ui, "note: about %s (details: --dry-run)",
                 iw_format_time((iw_time)(fmin(plan->seconds, MOST_S) * IW_PS_PER_S), text, sizeof text));
    }
}

static int simulate(struct ui *ui, const struct whatif_opts *opts, const struct question *q,
                    const iw_whatif_opts *wanted)
{
    iw_whatif_opts whatif_opts = *wanted;
    struct progress progress;
    iw_whatif *whatif = NULL;
    iw_status status;
    int code;

    progress_begin(&progress, 0, NULL);
    progress_tell(&progress, ui->verb, opts->is_quiet);
    whatif_opts.sim.progress = progress_calls(&progress);
    ui->progress = &progress;
    status = iw_whatif_run(&ui->log, q->noise, &whatif_opts, &whatif);
    ui->progress = NULL;
    progress_wipe(&progress);
    if (status != IW_OK) {
        return ui_exit_of(status);
    }
    if (q->traced != NULL) {
        iw_caveats_of_traced(q->traced, q->what, &whatif->caveats);
    }
    whatif->what = q->what;
    whatif->command = ui->command;
    whatif->noise = q->noise_names;
    code = shown_write(ui, &opts->shown, iw_whatif_doc(whatif));
    iw_whatif_free(whatif);
    return code;
}

static int answer(struct ui *ui, const struct whatif_opts *opts, struct question *q, double target)
{
    struct named_sets named;
    iw_whatif_opts whatif_opts;
    iw_whatif_plan plan;
    iw_node_speeds *speeds = NULL;
    iw_status status = IW_OK;
    int code = UI_DONE;

    if (opts->node_speed != NULL) {
        code = simulate_make_speeds(ui, opts->node_speed, iw_noise_set_ranks_per_node(q->noise), &speeds);
    }
    if (code != UI_DONE) {
        return code;
    }
    make_sets(&opts->without, q->noise, &named);
    fill_opts(opts, q, &named, target, &whatif_opts);
    whatif_opts.sim.node_speeds = speeds;
    if (opts->is_dry || !opts->is_quiet) {
        status = iw_whatif_plan_make(&ui->log, q->noise, &whatif_opts, &plan);
    }
    if (status != IW_OK) {
        code = ui_exit_of(status);
    } else if (opts->is_dry) {
        code = shown_write(ui, &opts->shown, iw_whatif_plan_doc(&plan));
    } else {
        if (!opts->is_quiet) {
            announce(ui, &plan);
        }
        code = simulate(ui, opts, q, &whatif_opts);
    }
    release_sets(&named);
    iw_node_speeds_free(speeds);
    return code;
}

/* The bill of a training program. */
static int answer_training(struct ui *ui, const struct whatif_opts *opts, const char *path)
{
    const struct training_question question = {
        .path = path,
        .allowed = "noise steps cost try replace no-variants trials seed threads quiet format plot",
        .groups = groups,
        .group_count = sizeof groups / sizeof groups[0],
        .values = opts,
        .noise = opt_typed(&opts->noise, specs) ? &opts->noise.specs : NULL,
        .is_quiet = opts->is_quiet,
    };
    iw_training_opts wanted = IW_TRAINING_OPTS_INIT;
    int code = UI_DONE;

#if IW_FEATURE_TRAINING
    code = training_fill_bill(ui, &opts->bill, &wanted);
#endif
    wanted.trials = opt_typed(opts, trials) ? opts->trials : wanted.trials;
    wanted.seed = opts->seed;
    wanted.threads = (uint32_t)opts->threads;
    return code == UI_DONE ? training_answer(ui, &question, &wanted, &opts->shown) : code;
}

/* An option of training programs that was typed, or NULL. */
static const char *typed_for_training(const struct whatif_opts *opts)
{
#if IW_FEATURE_TRAINING
    return opt_first_typed(training_bill_rows, TRAINING_BILL_ROW_COUNT, &opts->bill, "");
#else
    (void)opts;
    return NULL;
#endif
}

static int run(struct ui *ui, const void *values, const struct opt_args *args)
{
    const struct whatif_opts *opts = values;
    const char *for_training = typed_for_training(opts);
    struct question q;
    double target = -1.0;
    int code;

    if (args->count == 1 && training_is_program(args->values[0])) {
        return answer_training(ui, opts, args->values[0]);
    }
    if (for_training != NULL) {
        return ui_usage(ui, "--%s is for training programs: give one, FILE.yaml", for_training);
    }
    code = check_options(ui, opts, args, &target);

    if (code != UI_DONE) {
        return code;
    }
    code = question_init(&q, ui, &opts->program, &opts->net, &opts->memory, &opts->noise, args);
    if (code == UI_DONE) {
        code = answer(ui, opts, &q, target);
    }
    question_release(&q);
    return code;
}

const struct verb verb_whatif = {
    .name = "whatif",
    .group = VERB_PREDICTION,
    .summary = "rank noise sources by what removing them saves",
    .synopsis = synopsis,
    .description = description,
    .argument_name = "FILE",
    .argument_help = PROGRAM_FILE_HELP,
    VERB_GROUPS(groups),
    .most_used = "pattern ranks compute noise without target format",
    .examples = examples,
    VERB_DEFAULTS(defaults),
    .most_arguments = 1,
    .run = run,
};
