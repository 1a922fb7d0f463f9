/* `idlewave simulate`.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/idlewave.h>

#include <stdio.h>
#include <string.h>

#include "features/simulate/verb/simulate_set.h"
#include "features/training/verb/training_run.h"
#include "options/simulate_opts.h"
#include "options/verbs.h"
#include "options/window.h"
#include "process/mpi_run.h"
#include "process/progress.h"

/* ======== timelines ======== */

/* A window that was asked for may have so many steps: at most 118 bytes each while they are being sorted, 1
 * GB in all. */
static const uint64_t MOST_STEPS_ASKED = UINT64_C(1) << 23;

/* ---- what is known ---- */

/* sigma of the paper (docs/explanation/waves.md): 2 where an exchange in two waits goes by rendezvous both
 * ways. */
static uint32_t sigma_of(const iw_pattern *halo, const iw_net *net)
{
    return !halo->is_one_way && halo->is_split && halo->bytes > net->S_bytes ? 2 : 1;
}

static void fill_about(const char *command, const iw_program *program, const iw_net *net,
                       iw_timeline_about *about)
{
    iw_pattern halo = IW_PATTERN_INIT;
    bool is_alone;

    (void)snprintf(about->title, sizeof about->title, "%s", command);
    (void)snprintf(about->net, sizeof about->net, "%s", net->name);
    about->ranks = about->dims[0] = iw_program_ranks(program);
    if (iw_program_halo(program, &halo, &is_alone)) {
        memcpy(about->dims, halo.dims, sizeof about->dims);
        about->is_periodic = halo.is_periodic;
        about->distance = halo.distance;
        about->sigma = is_alone ? sigma_of(&halo, net) : 0;
    }
}

/* Steps of a rank and how long they take together, roughly: 0 if the program is no pattern. */
struct guess {
    uint64_t steps;
    double time_ps;
};

static struct guess guess_run(const struct program_opts *opts, const struct program_source *source)
{
    const double most = 9e18; /* of an iw_time */
    struct guess guess = {.steps = 0};
    iw_time longest_ps = 0;

    if (source->path == NULL) {
        guess.steps = opts->repeat;
        guess.time_ps = 1.2 * (double)opts->compute_ps * (double)guess.steps;
    }
    for (size_t i = 0; i < source->delay_count; i++) { /* those of other ranks pass at the same time */
        longest_ps = longest_ps > source->delays[i].time_ps ? longest_ps : source->delays[i].time_ps;
    }
    if (guess.time_ps > 0.0) {
        guess.time_ps += (double)longest_ps;
    }
    guess.time_ps = guess.time_ps < most ? guess.time_ps : most;
    return guess;
}

/* ---- the window ---- */

/* Nobody asked for ranks: all if they fit, else some that have the first delay among them, or the first
 * ones. */
static void choose_ranks(const struct program_source *source, uint64_t steps, bool has_time,
                         iw_timeline_opts *timeline)
{
    const uint64_t fitting = steps > 0 ? timeline->max_steps / steps : 0;

    if (fitting >= timeline->about.ranks) {
        return;
    }
    if (steps > 0 && !has_time && source->delay_count > 0) {
        window_centre_on(source->delays[0].rank, fitting, timeline);
    } else if (steps > 0 && !has_time) {
        timeline->rank_count = fitting > 0 ? (uint32_t)fitting : 1;
    } else if (source->delay_count > 0) {
        window_begin_before(source->delays[0].rank, timeline);
    }
}

static int parse_window(struct ui *ui, const struct output_opts *opts, iw_timeline_opts *timeline)
{
    const uint32_t ranks = timeline->about.ranks;
    struct window window = {.has_ranks = false};
    int code = UI_DONE;

    if (opts->timeline_time != NULL) {
        code = window_parse_time(ui, "--timeline-time", opts->timeline_time, &window);
    }
    if (code == UI_DONE && opts->timeline_ranks != NULL) {
        code = window_parse_ranks(ui, "--timeline-ranks", opts->timeline_ranks, &window);
    }
    if (code != UI_DONE) {
        return code;
    }
    if (window.has_ranks && (window.first_rank >= ranks || window.last_rank >= ranks)) {
        return ui_usage(ui, "--timeline-ranks %s: the last of %u ranks is %u", opts->timeline_ranks, ranks,
                        ranks - 1);
    }
    timeline->first_rank = window.first_rank;
    timeline->rank_count = window_rank_count(&window, ranks);
    timeline->from_ps = window.from_ps;
    timeline->to_ps = window.to_ps;
    if (opts->timeline_time != NULL || opts->timeline_ranks != NULL) {
        timeline->max_steps = MOST_STEPS_ASKED;
    }
    return UI_DONE;
}

/* Returns UI_DONE or an exit code. */
static int simulate_new_timeline(struct ui *ui, const struct simulate_opts *opts, const iw_program *program,
                                 const iw_net *net, const struct program_source *source,
                                 iw_timeline **timeline_p)
{
    const struct guess guess = guess_run(&opts->program, source);
    iw_timeline_opts timeline = IW_TIMELINE_OPTS_INIT;
    int code = ui_exit_of(iw_output_check(&ui->log, opts->output.timeline_path, true));

    if (code != UI_DONE) {
        return code;
    }
    fill_about(ui->command, program, net, &timeline.about);
    timeline.expected_ps = (iw_time)guess.time_ps;
    code = parse_window(ui, &opts->output, &timeline);
    if (code != UI_DONE) {
        return code;
    }
    if (opts->output.timeline_ranks == NULL) {
        choose_ranks(source, guess.steps, opts->output.timeline_time != NULL, &timeline);
    }
    return ui_exit_of(iw_timeline_new(&ui->log, &timeline, timeline_p));
}

/* Ends and writes it. Returns UI_DONE or an exit code. */
static int simulate_write_timeline(struct ui *ui, iw_timeline *timeline, const char *path)
{
    iw_status status = iw_timeline_finish(&ui->log, timeline);

    if (status == IW_OK) {
        status = iw_timeline_write(&ui->log, timeline, path);
    }
    return ui_exit_of(status);
}

static bool has_steps(const iw_timeline *timeline)
{
    for (uint32_t i = 0; i < iw_timeline_exact_ranks(timeline); i++) {
        uint64_t first;
        size_t count;

        (void)iw_timeline_steps(timeline, i, &count, &first);
        if (count > 0) {
            return true;
        }
    }
    return false;
}

/* "  timeline    run.h5 (every step of 40 ranks)" */
static void simulate_print_timeline(const iw_timeline *timeline, const char *path)
{
    const uint32_t ranks = iw_timeline_describe(timeline)->ranks;
    const uint32_t exact = iw_timeline_exact_ranks(timeline);
    const char *plural = ranks == 1 ? "" : "s";

    if (iw_timeline_is_whole(timeline)) {
        printf("timeline  %s (every step of %u rank%s)\n", path, ranks, plural);
    } else if (exact == 0) {
        printf("timeline  %s (%u rank%s as a raster, no steps)\n", path, ranks, plural);
    } else if (!has_steps(timeline)) {
        printf("timeline  %s (%u rank%s as a raster, no step in that time)\n", path, ranks, plural);
    } else if (exact == 1) {
        printf("timeline  %s (%u rank%s as a raster, steps of rank %u)\n", path, ranks, plural,
               iw_timeline_exact_rank(timeline, 0));
    } else {
        printf("timeline  %s (%u ranks as a raster, steps of ranks %u to %u)\n", path, ranks,
               iw_timeline_exact_rank(timeline, 0), iw_timeline_exact_rank(timeline, exact - 1));
    }
}

/* ======== the verb ======== */

static const char *const synopsis[] = {"[options] --pattern OP[:ALGORITHM] --ranks N", "[options] FILE",
                                       NULL};

static const char description[] =
    "Simulate a pattern, a schedule or the trace of an MPI program under the LogGOPS model with "
    "operating-system noise and injected delays, and report how much slower it is than without them (mean "
    "of the trials).\nThe same options and seed give the same times, to the picosecond, for any engine and "
    "any number of threads, lanes and processes. Processes started by the launcher of "
    "Open MPI or MPICH share one simulation.";

static const struct example examples[] = {
    {"a million ranks that synchronise every millisecond, under 0.21 % of noise",
     "idlewave simulate --pattern allreduce:dissemination --ranks 1Mi --bytes 8 \\\n"
     "      --compute 1ms --repeat 20 --noise periodic:0.375Hz,5.6ms --trials 20"},
    {"where the time goes in a halo exchange with an allreduce per step",
     "idlewave simulate --pattern halo2d+allreduce --ranks 4096 --bytes 8KiB \\\n"
     "      --compute 1ms --repeat 100 --noise poisson:100Hz,exp:50us --explain"},
    {"a delay of 13.5 ms that travels along a ring of ranks",
     "idlewave simulate --pattern halo1d --ranks 40 --repeat 30 --compute 3ms \\\n"
     "      --delay rank=5,time=13.5ms --timeline run.h5"},
    {"a traced program on more ranks, with Open MPI's algorithms",
     "idlewave simulate run --ranks 32768 --collectives ompi-4.1 --noise node.h5"},
    {"steps of a training program, as 'idlewave training --no-bill' simulates them",
     "idlewave simulate job.yaml --repeat 50"},
    {"a GOAL file, as JSON", "idlewave simulate app.goal --net my.yaml --noise node.txt --trials 100 \\\n"
                             "      --format json"},
    {"the ranks of one simulation on four nodes, or on four cores",
     "mpirun -n 4 idlewave simulate --pattern barrier --ranks 16Mi --compute 1ms \\\n"
     "      --noise periodic:0.5Hz,220us --net altix"},
    {NULL, NULL},
};

/* Everything one simulation holds. */
struct simulation {
    struct mpi_run mpi_run;
    struct program_source source;
    iw_program *program;
    iw_net *net;
    iw_noise_set *set;
    iw_noise *noise;        /* of the set as it is */
    iw_node_speeds *speeds; /* NULL: all nodes are alike */
    iw_sim_result *result;
    iw_certainty certainty;
    bool has_independence, has_steady;
    iw_independence independence;
    iw_steady steady;
    bool has_node_wide;
    iw_estimate node_wide;
    iw_timeline *timeline; /* NULL: not wanted */
};

/* --spare-cores: less noise, more work. */
static int spare_cores(struct ui *ui, const struct simulate_opts *opts, iw_noise_set *set,
                       struct program_opts *program)
{
    const uint32_t cores = iw_noise_set_cores_per_node(set), spare = opts->run.spare_cores;

    if (spare == 0) {
        return UI_DONE;
    }
    if (spare >= cores) {
        return ui_usage(ui,
                        "--spare-cores %u: a node has %u core%s (ranks times cores per rank), and at least "
                        "one must compute; set --ranks-per-node and --cores-per-rank",
                        spare, cores, cores == 1 ? "" : "s");
    }
    program_scale_work(program, iw_spare_work(cores, spare));
    return ui_exit_of(iw_noise_set_spare(&ui->log, set));
}

static int set_up(struct ui *ui, const struct simulate_opts *opts, const struct opt_args *args,
                  struct simulation *s)
{
    struct program_opts program = opts->program;
    int code = simulate_make_net(ui, &opts->net, opts->noise.ranks_per_node, &s->net);

    if (code == UI_DONE) {
        code = simulate_set_memory(ui, &opts->memory, &opts->program, s->net);
    }
    if (code == UI_DONE) {
        code = simulate_make_set(ui, &opts->noise, &s->set);
    }
    if (code == UI_DONE) {
        code = spare_cores(ui, opts, s->set, &program);
    }
    if (code == UI_DONE) {
        code = ui_exit_of(iw_noise_set_make(&ui->log, s->set, NULL, opts->run.sim.seed, 0, &s->noise));
    }
    if (code == UI_DONE) {
        code = program_make(ui, &program, &(struct program_place){s->net, opts->noise.ranks_per_node}, args,
                            &s->source, &s->program);
    }
    if (code == UI_DONE) {
        code = simulate_check_net(ui, &opts->net, &s->source);
    }
    if (code == UI_DONE && opts->run.node_speed != NULL) {
        code =
            simulate_make_speeds(ui, opts->run.node_speed, iw_noise_set_ranks_per_node(s->set), &s->speeds);
    }
    if (code == UI_DONE && opts->run.spare_cores > 0 && opts->program.patterns.count == 0 &&
        s->source.trace == NULL) {
        code = ui_usage(
            ui, "--spare-cores lengthens computation, which a GOAL schedule fixes: use a pattern or a trace");
    }
    if (code == UI_DONE && opts->output.timeline_path != NULL) {
        code = simulate_new_timeline(ui, opts, s->program, s->net, &s->source, &s->timeline);
    }
    return code;
}

/* JSON, pages and pictures of a single trial show when its ranks end; their times are kept up to this. */
static const uint32_t MOST_RANKS_KEPT = UINT32_C(1) << 24;

static void fill_opts(const struct simulate_opts *opts, const struct simulation *s, iw_sim_opts *sim)
{
    simulate_fill_opts(opts, sim);
    sim->node_speeds = s->speeds;
    sim->link = s->mpi_run.link;
    sim->threads = sim->threads != 0 ? sim->threads : mpi_run_threads(&s->mpi_run);
}

/* Beside those of the simulation itself; half trials count as one for two. */
static uint64_t further_trials(const struct simulation *s, uint64_t trials)
{
    return iw_certainty_trials(s->set, trials) + iw_independence_trials(s->set, trials) +
           iw_node_wide_trials(s->set, trials) + (iw_steady_trials(s->set, s->program, trials) + 1) / 2;
}

/* --dry-run. */
static int forecast(struct ui *ui, const struct simulate_opts *opts, const struct simulation *s)
{
    iw_sim_opts sim = IW_SIM_OPTS_INIT;
    const iw_certainty_question question = {
        .set = s->set, .program = s->program, .net = s->net, .opts = &sim};
    iw_forecast all;
    iw_status status;

    fill_opts(opts, s, &sim);
    status = iw_certainty_forecast(&ui->log, &question, &all);
    all.redrawn = further_trials(s, sim.trials);
    all.trials += all.redrawn;
    return status == IW_OK ? shown_write(ui, &opts->shown, iw_forecast_doc(&all)) : ui_exit_of(status);
}

static int simulate(struct ui *ui, const struct simulate_opts *opts, struct simulation *s)
{
    iw_sim_opts sim = IW_SIM_OPTS_INIT;
    struct progress progress;
    iw_status status;

    fill_opts(opts, s, &sim);
    sim.want_end_times |= (opts->shown.format == OUTPUT_JSON || opts->shown.format == OUTPUT_HTML ||
                           opts->shown.plot != NULL) &&
                          sim.trials == 1 && iw_program_ranks(s->program) <= MOST_RANKS_KEPT;
    progress_begin(&progress, (double)iw_program_messages(s->program) * (double)sim.trials, "messages");
    if (s->timeline != NULL) {
        sim.steps = iw_timeline_sink(s->timeline);
    }
    if (mpi_run_is_first(&s->mpi_run)) {
        progress_tell(&progress, ui->verb, opts->run.is_quiet);
        sim.progress = progress_calls(&progress);
        ui->progress = &progress;
    }
    status = iw_simulate(&ui->log, s->program, s->net, s->noise, &sim, &s->result);
    ui->progress = NULL;
    progress_wipe(&progress);
    if (status == IW_ERR_DEADLOCK) {
        program_explain_deadlock(ui, &s->source);
    }
    return ui_exit_of(status);
}

/* Simulates more of the same job: what the recording behind the noise can say of it, what its repetitions
 * cost without its start, and what it would be with independent nodes. */
static iw_status ask_more(const iw_log *log, const iw_certainty_question *question, struct simulation *s)
{
    IW_TRY(iw_certainty_find(log, question, &s->certainty));
    s->has_steady = iw_steady_is_asked(s->set, s->program, s->result->trials);
    if (s->has_steady) {
        IW_TRY(iw_steady_find(log, question, &s->steady));
    }
    s->has_independence = iw_independence_is_asked(s->set);
    if (s->has_independence) {
        IW_TRY(iw_independence_find(log, question, &s->independence));
    }
    s->has_node_wide = iw_node_wide_is_asked(s->set);
    return s->has_node_wide ? iw_node_wide_find(log, question, &s->node_wide) : IW_OK;
}

static int find_certainty(struct ui *ui, const struct simulate_opts *opts, struct simulation *s)
{
    const uint64_t trials = further_trials(s, opts->run.sim.trials);
    iw_sim_opts sim = IW_SIM_OPTS_INIT;
    const iw_certainty_question question = {
        .set = s->set, .program = s->program, .net = s->net, .opts = &sim, .result = s->result};
    struct progress progress;
    iw_status status;

    fill_opts(opts, s, &sim);
    progress_begin(&progress, (double)iw_program_messages(s->program) * (double)trials, "messages");
    if (mpi_run_is_first(&s->mpi_run)) {
        progress_tell(&progress, ui->verb, opts->run.is_quiet);
        sim.progress = progress_calls(&progress);
        ui->progress = &progress;
    }
    status = ask_more(&ui->log, &question, s);
    ui->progress = NULL;
    progress_wipe(&progress);
    return ui_exit_of(status);
}

static int show_result(struct ui *ui, const struct simulate_opts *opts, const struct simulation *s)
{
    char what[PROGRAM_NAME_SIZE];
    iw_caveats caveats = {.count = 0};
    const iw_origin origin = {
        .what = program_name(&s->source, what),
        .command = ui->command,
        .net = s->net,
        .noise = s->noise,
        .certainty = &s->certainty,
        .delay_count = s->source.delay_count,
        .traced = s->source.trace != NULL ? &s->source.traced : NULL,
        .compute_bytes = opts->program.compute_bytes,
        .spare_cores = opts->run.spare_cores,
        .node_speed = opts->run.node_speed,
        .independence = s->has_independence ? &s->independence : NULL,
        .steady = s->has_steady ? &s->steady : NULL,
        .node_wide = s->has_node_wide ? &s->node_wide : NULL,
        .caveats = &caveats,
    };
    iw_simulation *simulation;
    iw_status status;
    int code;

    iw_noise_set_caveats(s->set, &caveats);
    status = iw_simulation_new(&ui->log, s->result, &origin, &simulation);
    if (status != IW_OK) {
        return ui_exit_of(status);
    }
    code = shown_write(ui, &opts->shown, iw_simulation_doc(simulation));
    if (code == UI_DONE && opts->shown.format == OUTPUT_TEXT && s->timeline != NULL) {
        (void)putchar('\n');
        simulate_print_timeline(s->timeline, opts->output.timeline_path);
    }
    iw_simulation_free(simulation);
    return code;
}

static int write_result(struct ui *ui, const struct simulate_opts *opts, const struct simulation *s)
{
    if (opts->output.end_times_path != NULL) {
        const iw_status status = iw_result_write_end_times(&ui->log, s->result, opts->output.end_times_path);

        if (status != IW_OK) {
            return ui_exit_of(status);
        }
    }
    if (s->timeline != NULL) {
        iw_timeline_set_noiseless(s->timeline, s->result->noiseless_ps);

        const int code = simulate_write_timeline(ui, s->timeline, opts->output.timeline_path);

        if (code != UI_DONE) {
            return code;
        }
    }
    return show_result(ui, opts, s);
}

static int run_and_write(struct ui *ui, const struct simulate_opts *opts, struct simulation *s)
{
    int code = simulate(ui, opts, s);

    if (code == UI_DONE) {
        code = find_certainty(ui, opts, s);
    }
    if (code != UI_DONE) {
        mpi_run_abort(&s->mpi_run, code);
    } else if (mpi_run_is_first(&s->mpi_run)) {
        code = write_result(ui, opts, s);
        if (code == UI_DONE && opts->run.sim.checkpoint_dir != NULL) {
            iw_checkpoint_remove(opts->run.sim.checkpoint_dir);
        }
    }
    return code;
}

/* Steps of a training program; --repeat says how many. */
static int simulate_training(struct ui *ui, const struct simulate_opts *opts, const char *path)
{
    const struct training_question question = {
        .path = path,
        .allowed = "noise repeat trials seed threads quiet format plot",
        .groups = simulate_groups,
        .group_count = SIMULATE_GROUP_COUNT,
        .values = opts,
        .noise = opt_typed(&opts->noise, specs) ? &opts->noise.specs : NULL,
        .is_quiet = opts->run.is_quiet,
    };
    iw_training_opts wanted = IW_TRAINING_OPTS_INIT;

    wanted.steps = opt_typed(&opts->program, repeat) ? opts->program.repeat : wanted.steps;
    wanted.trials = opt_typed(&opts->run, sim.trials) ? opts->run.sim.trials : wanted.trials;
    wanted.seed = opts->run.sim.seed;
    wanted.threads = opts->run.sim.threads;
    wanted.wants_bill = false;
    return training_answer(ui, &question, &wanted, &opts->shown);
}

static int run(struct ui *ui, const void *values, const struct opt_args *args)
{
    const struct simulate_opts *opts = values;
    struct simulation s = {.program = NULL};
    int code;

    if (args->count == 1 && training_is_program(args->values[0])) {
        return simulate_training(ui, opts, args->values[0]);
    }
    mpi_run_begin(&s.mpi_run, ui);
    code = simulate_check(ui, opts);
    if (code != UI_DONE) { /* all processes say so, none has to be told */
        return mpi_run_end(&s.mpi_run, code);
    }
    code = mpi_run_open(&s.mpi_run, set_up(ui, opts, args, &s));
    if (code == UI_DONE && opts->run.is_dry) {
        code = mpi_run_is_first(&s.mpi_run) ? forecast(ui, opts, &s) : UI_DONE;
    } else if (code == UI_DONE) {
        code = run_and_write(ui, opts, &s);
    }
    code = mpi_run_end(&s.mpi_run, code);
    iw_timeline_free(s.timeline);
    iw_sim_result_free(s.result);
    iw_program_free(s.program);
    iw_noise_free(s.noise);
    iw_node_speeds_free(s.speeds);
    iw_noise_set_free(s.set);
    program_source_release(&s.source);
    iw_net_free(s.net);
    return code;
}

const struct verb verb_simulate = {
    .name = "simulate",
    .group = VERB_PREDICTION,
    .summary = "simulate a pattern, a schedule or a trace under noise and delays",
    .synopsis = synopsis,
    .description = description,
    .argument_name = "FILE",
    .argument_help = PROGRAM_FILE_HELP,
    .groups = simulate_groups,
    .group_count = SIMULATE_GROUP_COUNT,
    .most_used = "pattern ranks repeat compute net noise trials format",
    .examples = examples,
    .defaults = &simulate_defaults,
    .values_size = sizeof(struct simulate_opts),
    .most_arguments = 1,
    .meets_others = true,
    .run = run,
};
