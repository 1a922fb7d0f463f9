/* The option tables of `bench`.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "bench_opts.h"

#include <string.h>

#include "injected_noise.h"
#include "simulate_opts.h"
#include "suggest.h"

/* In the order of enum bench_format. */
static const char *const formats[] = {"text", "json", "csv", NULL};

#define ROW(...) OPT_ROW(struct bench_opts, __VA_ARGS__)
static const struct opt what_rows[] = {
    ROW("quantum", OPT_TIME, quantum_ps, "TIME", "the work of a phase, undisturbed (default 1ms)"),
    ROW("bytes", OPT_COUNT, bytes, "BYTES",
        "of an allreduce, or of each message of a halo exchange (default 8)", .max = UINT64_C(1) << 30),
    ROW("duration", OPT_TIME, duration_ps, "TIME", "measure for so long (default 10s)", .is_setting = true),
    ROW("phases", OPT_COUNT, phases, "N", "measure so many phases instead; with noise, so many of each kind",
        .min = 1, .max = UINT64_C(1) << 40),
};
static const struct opt injected_rows[] = {
    ROW("replay", OPT_LIST, replay, "FILE|SPEC",
        "inject noise into every other block of phases: a noise file; or periodic:RATE,TIME, "
        "poisson:RATE,DIST as simulate takes them, which may be repeated: they add up",
        .known = injected_known),
    ROW("sync", OPT_CHOICE, sync, "",
        "a place in the trace for each node, one for all, or one for all drawn anew in each phase (default "
        "none)",
        .choices = injected_syncs),
    ROW("skew", OPT_TIME, skew_ps, "TIME", "shift synchronised nodes by up to TIME (default 0)"),
    ROW("time-scale", OPT_FACTOR, time_scale, "K",
        "noise and quantum times K, at least 1, to lift short detours over the floor; results are divided "
        "by it "
        "(default 1)"),
    ROW("ranks-per-node", OPT_COUNT, ranks_per_node, "N",
        "ranks that share a place in the trace and have a CPU's detours each (default as recorded: as many "
        "as a "
        "file has CPUs; 1 for SPECs)",
        .min = 1, .max = 65536),
    ROW("noise-cpus", OPT_STRING, cpus, "LIST", "use only these CPUs of a file, 0,2-5 (default all)"),
    ROW("back-end", OPT_CHOICE, back_end, "",
        "who takes the CPU: a timer signal, or a real-time thread, which needs the right to use SCHED_FIFO "
        "(default timer)",
        .choices = injected_back_ends),
    ROW("block", OPT_TIME, block_ps, "TIME",
        "phases without and with noise alternate in blocks of so long (default 250ms)"),
    ROW("seed", OPT_COUNT, seed, "N", "all random choices follow from it (default 1)", .max = INT64_MAX),
};
static const struct opt prediction_rows[] = {
    ROW("net", OPT_STRING, net, "NAME|FILE",
        "the network of the simulation (default one whose operation takes what was measured without noise)",
        .known = iw_net_builtin_name),
    ROW("net-level", OPT_STRING, net_level, "NAME", "the level of a measured network: node or network"),
    ROW("trials", OPT_COUNT, trials, "N", "simulate so many blocks (default up to 400)", .min = 2,
        .max = 1000000),
};
static const struct opt output_rows[] = {
    ROW("output", OPT_STRING, path, "FILE", "write the result as JSON, for report and --baseline",
        .letter = 'o'),
    ROW("baseline", OPT_STRING, baseline, "FILE",
        "a result of this command without noise, to say how much slower this one is"),
    ROW("format", OPT_CHOICE, format, "", "for people, or for programs; csv has all phases (default text)",
        .choices = formats),
};
#undef ROW

const struct opt_group bench_groups[BENCH_GROUP_COUNT] = {
    OPT_GROUP("What is measured", what_rows, 0),
    OPT_GROUP("Injected noise", injected_rows, 0),
    OPT_GROUP("Prediction", prediction_rows, 0),
    OPT_GROUP("Output", output_rows, 0),
};

const struct bench_opts bench_defaults = {
    .quantum_ps = IW_PS_PER_MS,
    .duration_ps = 10 * IW_PS_PER_S,
    .block_ps = 250 * IW_PS_PER_MS,
    .bytes = 8,
    .time_scale = 1.0,
    .seed = 1,
};

/* ---- checks ---- */

static int find_op(const struct ui *ui, const char *name, iw_bench_op *op_p)
{
    struct suggestion suggestion;

    suggest_begin(&suggestion, name);
    for (int op = 0; op < IW_BENCH_OPS; op++) {
        if (strcmp(name, iw_bench_op_name((iw_bench_op)op)) == 0) {
            *op_p = (iw_bench_op)op;
            return UI_DONE;
        }
        suggest_offer(&suggestion, iw_bench_op_name((iw_bench_op)op));
    }
    if (suggestion.best != NULL) {
        return ui_usage(ui, "there is no operation '%s': did you mean '%s'?", name, suggestion.best);
    }
    return ui_usage(ui, "there is no operation '%s': barrier, allreduce and halo are", name);
}

/* An option that needs --replay; NULL: none was typed. */
static const char *option_of_noise(const struct bench_opts *opts)
{
    const char *option =
        opt_first_typed(injected_rows, sizeof injected_rows / sizeof injected_rows[0], opts, "block");

    return option != NULL ? option
                          : opt_first_typed(prediction_rows,
                                            sizeof prediction_rows / sizeof prediction_rows[0], opts, "");
}

static int check_noise(const struct ui *ui, const struct bench_opts *opts)
{
    const char *option = option_of_noise(opts);

    if (opts->replay.count == 0 && option != NULL) {
        return ui_usage(ui, "--%s is about noise that is injected: add --replay", option);
    }
    if (opts->net_level != NULL && opts->net == NULL) {
        return ui_usage(ui, "--net-level is of a network: add --net");
    }
    if (opts->time_scale < 1.0) {
        return ui_usage(ui, "--time-scale %g: times can be stretched, not shrunk", opts->time_scale);
    }
    if (simulate_check_skew(ui, opts->sync, opts->skew_ps) != UI_DONE) {
        return UI_USAGE;
    }
    if (opts->block_ps < 10 * IW_PS_PER_MS) {
        return ui_usage(ui, "--block needs 10 ms at least");
    }
    return UI_DONE;
}

int bench_check(struct ui *ui, const struct bench_opts *opts, const struct opt_args *args, iw_bench_op *op_p)
{
    if (args->count == 0) {
        return ui_usage(ui, "which operation? mpirun -n 2 idlewave bench barrier");
    }
    if (opts->quantum_ps < IW_PS_PER_US || opts->quantum_ps > 10 * IW_PS_PER_S) {
        return ui_usage(ui, "--quantum: from 1 us to 10 s");
    }
    if (opts->duration_ps < IW_PS_PER_MS) {
        return ui_usage(ui, "--duration needs a millisecond at least");
    }
    if (find_op(ui, args->values[0], op_p) != UI_DONE || check_noise(ui, opts) != UI_DONE) {
        return UI_USAGE;
    }
    return UI_DONE;
}
