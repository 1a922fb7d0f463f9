/* The option tables of `simulate`.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "options/simulate_opts.h"

/* In the order of the enums in idlewave/noise.h and idlewave/sim.h. */
static const char *const syncs[] = {"none", "start", "phase", NULL};
static const char *const aligns[] = {"none", "wall", NULL};
static const char *const loops[] = {"static", "dynamic", NULL};
static const char *const engines[] = {"auto", "event", "flow", "window", NULL};
static const char *const rule_names[] = {"idlewave", "loggopsim", NULL};
static const char *const parallels[] = {"auto", "trials", "ranks", NULL};
static const char *const rendezvous_names[] = {"ideal", "rts-cts", NULL};

/* What the list has, and behind its end "none". */
static const char *named_or_none(const char *(*list)(size_t index), size_t index)
{
    size_t count = 0;

    while (list(count) != NULL) {
        count++;
    }
    return index == count ? "none" : index < count ? list(index) : NULL;
}

static const char *net_name(size_t index)
{
    return named_or_none(iw_net_builtin_name, index);
}

#define ROW(...) OPT_ROW(struct net_opts, __VA_ARGS__)
const struct opt net_rows[NET_ROW_COUNT] = {
    ROW("net", OPT_STRING, name_or_path, "NAME|FILE",
        "{}; another name that 'idlewave get' lists; a YAML file; or none, where messages cost only what "
        "other options set (default " DEFAULT_NET ")",
        .known = net_name, .lists = {iw_net_builtin_name}, .is_setting = true,
        .collected = OPT_COLLECTED_NET),
    ROW("net-level", OPT_STRING, level, "NAME",
        "use one level as the whole network: node or network of measured ones (default all levels with known "
        "sizes)",
        .is_setting = true, .unless = "net"),
    ROW("net-scale", OPT_FACTOR, scale, "FACTOR", "make the network FACTOR times faster: divide L, g and G"),
    ROW("L", OPT_TIME, L_ps, "TIME", "latency"),
    ROW("o", OPT_TIME, o_ps, "TIME", "CPU time of a send and of a receive"),
    ROW("o-send", OPT_TIME, o_send_ps, "TIME", "CPU time of a send"),
    ROW("o-recv", OPT_TIME, o_recv_ps, "TIME", "CPU time of a receive"),
    ROW("g", OPT_TIME, g_ps, "TIME", "minimum time between two messages"),
    ROW("G", OPT_PER_BYTE, G, "TIME", "additional gap per byte"),
    ROW("O", OPT_PER_BYTE, O, "TIME", "additional CPU time per byte"),
    ROW("S", OPT_COUNT, S_bytes, "SIZE", "use rendezvous for larger messages"),
    ROW("rendezvous", OPT_CHOICE, rendezvous, "",
        "rendezvous at no cost, or with control messages that cost o and L (default ideal)",
        .choices = rendezvous_names, .is_setting = true),
    ROW("nic-queues", OPT_FLAG, has_nic_queues, "",
        "make messages wait for the NICs of their nodes in time order (event engine only), instead of a "
        "static share"),
};
#undef ROW

#define ROW(...) OPT_ROW(struct memory_opts, __VA_ARGS__)
const struct opt memory_rows[MEMORY_ROW_COUNT] = {
    ROW("memory", OPT_STRING, shared, "ranks=N,domain=RATE,core=RATE",
        "let N ranks share the bandwidth of a memory domain, with a limit per core: "
        "ranks=10,domain=40GB/s,core=6.5GB/s (default from the network's file)",
        .is_setting = true),
};
#undef ROW

static const char *noise_name(size_t index)
{
    return named_or_none(iw_noise_spec_usage, index);
}

#define ROW(...) OPT_ROW(struct noise_opts, __VA_ARGS__)
const struct opt noise_rows[NOISE_ROW_COUNT] = {
    ROW("noise", OPT_LIST, specs, "SPEC|FILE|NAME|DIR|none",
        "a noise file; a folder of recordings, a different one for each node; a name that 'idlewave get' "
        "lists; or one of {}, with DIST one of {}. May be repeated: sources add up",
        .known = noise_name, .lists = {iw_noise_spec_usage, iw_noise_duration_usage},
        .collected = OPT_COLLECTED_NOISE),
    ROW("noise-cpus", OPT_STRING, cpus, "LIST", "use only these CPUs of recordings, 0,2-5 (default all)"),
    ROW("sync", OPT_CHOICE, sync, "",
        "random phase of the noise: one per rank, one for all, or one for all redrawn for each compute phase "
        "(default none)",
        .choices = syncs),
    ROW("skew", OPT_TIME, skew_ps, "TIME", "shift synchronised nodes by up to TIME (default 0)"),
    ROW("align", OPT_CHOICE, align, "",
        "align the nodes of a folder of recordings: not at all, or by the wall clock (default none)",
        .choices = aligns),
    ROW("ranks-per-node", OPT_COUNT, ranks_per_node, "N",
        "ranks per node; they get its recorded CPUs in turn, then copies of them (default the number of CPUs "
        "of the recording). The nodes of a network with levels get as many, and their parts in proportion; "
        "without levels, node-aware algorithms use it",
        .min = 1, .max = UINT32_MAX, .is_setting = true),
    ROW("cores-per-rank", OPT_COUNT, cores_per_rank, "N",
        "cores per rank, each with its own noise; the first also handles messages (default 1)", .min = 1,
        .max = IW_CORES_PER_RANK_MOST, .is_setting = true),
    ROW("loop", OPT_CHOICE, loop, "",
        "how these cores share a compute phase: in fixed parts, or piece by piece as they become free "
        "(default static)",
        .choices = loops, .is_setting = true),
    ROW("extrapolate", OPT_FLAG, is_extrapolated, "",
        "simulate with the laws of 'noise fit' instead of the recording, including detours longer than any "
        "recorded"),
};
#undef ROW

#define ROW(...) OPT_ROW(struct run_opts, __VA_ARGS__)
static const struct opt run_rows[] = {
    ROW("trials", OPT_COUNT, sim.trials, "N", "number of trials (default 1; intervals need 6)", .min = 1,
        .max = UINT64_C(1) << 40, .is_setting = true),
    ROW("seed", OPT_COUNT, sim.seed, "N", "seed of all random choices (default 1)", .max = INT64_MAX),
    ROW("spare-cores", OPT_COUNT, spare_cores, "N",
        "leave N cores of each node to the operating system: noise that can move goes there, and the other "
        "cores do all the work (default 0)",
        .is_setting = true),
    ROW("node-speed", OPT_STRING, node_speed, "SPEC|FILE",
        "nodes that compute at different speeds: normal:SIGMA, for example normal:2%; slow:COUNT,FACTOR "
        "(COUNT nodes run FACTOR times slower); or a file with a factor for each node, one per line"),
    ROW("first-trial", OPT_COUNT, sim.first_trial, "N",
        "number of the first trial, to split and join runs (default 0)", .max = INT64_MAX),
    ROW("engine", OPT_CHOICE, sim.engine, "",
        "flow is fast, window runs graphs, event handles every program (default auto)", .choices = engines),
    ROW("rules", OPT_CHOICE, sim.rules, "", "loggopsim: follow LogGOPSim exactly (default idlewave)",
        .choices = rule_names),
    ROW("threads", OPT_COUNT, sim.threads, "N", "threads per process; 0: one per CPU (default 0)",
        .max = 1024, .is_setting = true),
    ROW("parallel", OPT_CHOICE, sim.parallel, "",
        "split the trials, or the ranks of each trial, over threads and processes (default auto: the faster)",
        .choices = parallels),
    ROW("dry-run", OPT_FLAG, is_dry, "", "only estimate time and memory"),
    ROW("quiet", OPT_FLAG, is_quiet, "", "print no progress on stderr", .letter = 'q'),
    ROW("checkpoint", OPT_STRING, sim.checkpoint_dir, "FOLDER",
        "write checkpoints to FOLDER; an existing checkpoint of the same simulation is resumed; removed at "
        "the end"),
    ROW("checkpoint-every", OPT_TIME, checkpoint_every_ps, "TIME",
        "time between checkpoints (default 10min); longer where writing would take more than 5 % of the "
        "time"),
    ROW("lanes", OPT_COUNT, sim.lanes, "N",
        "number of trials simulated side by side: 1, 2, 4, 8; 0: automatic (default 0)", .max = 8),
};
#undef ROW

#define ROW(...) OPT_ROW(struct output_opts, __VA_ARGS__)
static const struct opt output_rows[] = {
    ROW("explain", OPT_FLAG, wants_explain, "",
        "split the critical path by cause, for the median trial and on average, and show the largest delays"),
    ROW("explain-trials", OPT_COUNT, explain_trials, "N",
        "average over N trials; 0: as many as fit into a few seconds (default 0)", .max = UINT64_C(1) << 40),
    ROW("end-times", OPT_STRING, end_times_path, "FILE", "write the end time of each rank, as CSV"),
    ROW("timeline", OPT_STRING, timeline_path, "FILE",
        "write the steps of all ranks in the first trial, as HDF5, for 'wave' and 'report'"),
    ROW("timeline-ranks", OPT_STRING, timeline_ranks, "A-B",
        "keep the steps of ranks A to B exactly (default: all, or as many as fit with the first delay's rank "
        "among them)"),
    ROW("timeline-time", OPT_STRING, timeline_time, "FROM-TO",
        "keep the steps that begin between FROM and TO exactly, for example 10ms-1s (default all)"),
};
#undef ROW

const struct opt_group simulate_groups[SIMULATE_GROUP_COUNT] = {
    {"What to run", program_rows, PROGRAM_ROW_COUNT, offsetof(struct simulate_opts, program), false},
    {"Halo and sweep patterns", halo_rows, HALO_ROW_COUNT, offsetof(struct simulate_opts, program), false},
    {"Traces", trace_rows, TRACE_ROW_COUNT, offsetof(struct simulate_opts, program), false},
    OPT_GROUP("Network", net_rows, offsetof(struct simulate_opts, net)),
    OPT_GROUP("Memory, for --compute-bytes", memory_rows, offsetof(struct simulate_opts, memory)),
    OPT_GROUP("Noise", noise_rows, offsetof(struct simulate_opts, noise)),
    OPT_GROUP("How to run it", run_rows, offsetof(struct simulate_opts, run)),
    SHOWN_GROUP("Output; csv has one line per trial", offsetof(struct simulate_opts, shown)),
    OPT_GROUP("Output; csv has one line per trial", output_rows, offsetof(struct simulate_opts, output)),
};

const struct simulate_opts simulate_defaults = {
    .program = PROGRAM_OPTS_INIT,
    .net = NET_OPTS_INIT,
    .run = {.sim = IW_SIM_OPTS_INIT, .checkpoint_every_ps = 600 * IW_PS_PER_S},
};

int simulate_check_skew(const struct ui *ui, int sync, iw_time skew_ps)
{
    return skew_ps <= 0 || sync != IW_SYNC_NONE
               ? UI_DONE
               : ui_usage(ui, "--skew needs synchronised nodes: add --sync start or --sync phase");
}

int simulate_check(const struct ui *ui, const struct simulate_opts *opts)
{
    const uint32_t lanes = opts->run.sim.lanes;

    if (lanes != 0 && (lanes & (lanes - 1)) != 0) {
        return ui_usage(ui, "--lanes %u: use 1, 2, 4 or 8", (unsigned)lanes);
    }
    if (opts->run.sim.rules == IW_RULES_LOGGOPSIM && opts->run.sim.engine != IW_ENGINE_AUTO &&
        opts->run.sim.engine != IW_ENGINE_EVENT) {
        return ui_usage(ui, "--rules loggopsim needs --engine event");
    }
    if (simulate_check_skew(ui, opts->noise.sync, opts->noise.skew_ps) != UI_DONE) {
        return UI_USAGE;
    }
    if (opts->output.wants_explain && shown_check_no_csv(ui, &opts->shown, "--explain") != UI_DONE) {
        return UI_USAGE;
    }
    if (!opts->output.wants_explain && opts->output.explain_trials != 0) {
        return ui_usage(ui, "--explain-trials needs --explain");
    }
    if (opts->output.timeline_path == NULL &&
        (opts->output.timeline_ranks != NULL || opts->output.timeline_time != NULL)) {
        return ui_usage(ui, "%s needs --timeline FILE",
                        opts->output.timeline_ranks != NULL ? "--timeline-ranks" : "--timeline-time");
    }
    if (opts->output.timeline_path != NULL && opts->run.sim.rules == IW_RULES_LOGGOPSIM) {
        return ui_usage(ui, "--timeline needs --rules idlewave: LogGOPSim's rules have no steps of ranks");
    }
    if (opts->run.sim.checkpoint_dir == NULL && opt_typed(&opts->run, checkpoint_every_ps)) {
        return ui_usage(ui, "--checkpoint-every needs --checkpoint FOLDER");
    }
    if (opts->run.sim.checkpoint_dir != NULL && opts->run.sim.parallel == IW_PARALLEL_TRIALS) {
        return ui_usage(ui, "--checkpoint needs --parallel ranks, or auto");
    }
    if (opts->run.spare_cores > 0 && opts->noise.is_extrapolated) {
        return ui_usage(ui, "--spare-cores needs recorded sources, but --extrapolate replaces them by laws: "
                            "use 'idlewave noise cut --drop' first");
    }
    if (opts->run.is_dry && shown_check_no_csv(ui, &opts->shown, "--dry-run") != UI_DONE) {
        return UI_USAGE;
    }
    if (opts->program.patterns.count > 0 && opt_typed(&opts->program, goal_unit_ps)) {
        return ui_usage(ui, "--goal-unit is for GOAL files, not for patterns");
    }
    return UI_DONE;
}

void simulate_fill_opts(const struct simulate_opts *opts, iw_sim_opts *sim)
{
    *sim = opts->run.sim;
    sim->rendezvous = (iw_rendezvous)opts->net.rendezvous;
    sim->checkpoint_s = (double)opts->run.checkpoint_every_ps / (double)IW_PS_PER_S;
    sim->want_explain = opts->output.wants_explain;
    sim->explain_trials = opts->output.explain_trials;
    sim->want_end_times = opts->output.end_times_path != NULL;
}
