/* The option tables of `bench`.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/bench/verb/bench_opts.h"

#include <string.h>

#include "features/replay/verb/injected_noise.h"
#include "options/simulate_opts.h"
#include "options/suggest.h"

static const char *const works[] = {"spin", "sleep", NULL}; /* in the order of iw_bench_work */

#define ROW(...) OPT_ROW(struct bench_opts, __VA_ARGS__)
static const struct opt what_rows[] = {
    ROW("compute", OPT_TIME, compute_ps, "TIME", "work on every rank in each phase (default 1ms)"),
    ROW("work", OPT_CHOICE, work, "",
        "how ranks work: by arithmetic, or by sleeping, many of them to a CPU (default spin)",
        .choices = works),
    ROW("bytes", OPT_COUNT, bytes, "SIZE",
        "size of an allreduce, or of each message of a halo exchange (default 8)", .max = UINT64_C(1) << 30),
    ROW("duration", OPT_TIME, duration_ps, "TIME", "how long to measure (default 10s)", .is_setting = true),
    ROW("phases", OPT_COUNT, phases, "N", "measure N phases instead; with noise, N of each kind", .min = 1,
        .max = UINT64_C(1) << 40),
};
static const struct opt block_rows[] = {
    ROW("ranks-per-node", OPT_COUNT, ranks_per_node, "N",
        "ranks on each node: they share a place in the recording, and each has the detours of one CPU "
        "(default the number of CPUs of the file; 1 for SPECs)",
        .min = 1, .max = 65536),
    ROW("block", OPT_TIME, block_ps, "TIME",
        "length of the blocks in which phases without and with noise alternate (default 250ms)"),
};
static const struct opt prediction_rows[] = {
    ROW("trials", OPT_COUNT, trials, "N", "number of blocks to simulate (default up to 400)", .min = 2,
        .max = 1000000),
};
static const struct opt output_rows[] = {
    SHOWN_OUTPUT_ROW(struct bench_opts, path, "FILE", "write the result as JSON, for report and --baseline"),
    ROW("baseline", OPT_STRING, baseline, "FILE",
        "a result of this command without noise, to report how much slower this run is"),
};
#undef ROW

const struct opt_group bench_groups[BENCH_GROUP_COUNT] = {
    OPT_GROUP("What is measured", what_rows, 0),
    {"Noise, injected into every other block of phases", injection_rows, INJECTION_ROW_COUNT,
     offsetof(struct bench_opts, injection), true},
    OPT_GROUP("Blocks", block_rows, 0),
    OPT_GROUP("Prediction", prediction_rows, 0),
    {"Network of the prediction (default one whose operation takes what was measured)", net_rows,
     NET_ROW_COUNT, offsetof(struct bench_opts, net), true},
    SHOWN_GROUP("Output; csv has all phases", offsetof(struct bench_opts, shown)),
    OPT_GROUP("Output; csv has all phases", output_rows, 0),
};

const struct bench_opts bench_defaults = {
    .compute_ps = IW_PS_PER_MS,
    .duration_ps = 10 * IW_PS_PER_S,
    .block_ps = 250 * IW_PS_PER_MS,
    .bytes = 8,
    .injection = INJECTION_OPTS_INIT,
    .net = NET_OPTS_INIT,
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

iw_back_end bench_back_end(const struct bench_opts *opts)
{
    return opts->work == IW_BENCH_SLEEP ? IW_BACK_END_SLEEP : (iw_back_end)opts->injection.back_end;
}

bool bench_has_net(const struct bench_opts *opts)
{
    return opt_first_typed(net_rows, NET_ROW_COUNT, &opts->net, "") != NULL;
}

/* An option that needs --noise; NULL: none was typed. */
static const char *option_of_noise(const struct bench_opts *opts)
{
    const struct {
        const struct opt *rows;
        size_t count;
        const void *values;
    } tables[] = {
        {injection_rows, INJECTION_ROW_COUNT, &opts->injection},
        {block_rows, sizeof block_rows / sizeof block_rows[0], opts},
        {prediction_rows, sizeof prediction_rows / sizeof prediction_rows[0], opts},
        {net_rows, NET_ROW_COUNT, &opts->net},
    };
    const char *option = NULL;

    for (size_t i = 0; i < sizeof tables / sizeof tables[0] && option == NULL; i++) {
        option = opt_first_typed(tables[i].rows, tables[i].count, tables[i].values, "block");
    }
    return option;
}

static int check_noise(const struct ui *ui, const struct bench_opts *opts)
{
    const char *option = option_of_noise(opts);

    if (opts->injection.noise.count == 0 && option != NULL) {
        return ui_usage(ui, "--%s is about noise that is injected: add --noise", option);
    }
    if (bench_has_net(opts) && !opt_typed(&opts->net, name_or_path)) {
        return ui_usage(ui, "--%s is of a network: add --net",
                        opt_first_typed(net_rows, NET_ROW_COUNT, &opts->net, ""));
    }
    if (opts->block_ps < 10 * IW_PS_PER_MS) {
        return ui_usage(ui, "--block needs 10 ms at least");
    }
    return injection_check(ui, &opts->injection);
}

int bench_check(struct ui *ui, const struct bench_opts *opts, const struct opt_args *args, iw_bench_op *op_p)
{
    if (args->count == 0) {
        return ui_usage(ui, "which operation? mpirun -n 2 idlewave bench barrier");
    }
    if (opts->compute_ps < IW_PS_PER_US || opts->compute_ps > 10 * IW_PS_PER_S) {
        return ui_usage(ui, "--compute: from 1 us to 10 s");
    }
    if (opts->work == IW_BENCH_SLEEP && opts->compute_ps < 10 * IW_PS_PER_MS) {
        return ui_usage(ui, "--work sleep needs a --compute of 10 ms at least: waking up takes a part of it");
    }
    if (opts->work == IW_BENCH_SLEEP && opt_typed(&opts->injection, back_end)) {
        return ui_usage(ui, "--work sleep has detours of its own, that sleep too: leave --back-end out");
    }
    if (opts->duration_ps < IW_PS_PER_MS) {
        return ui_usage(ui, "--duration needs a millisecond at least");
    }
    if (find_op(ui, args->values[0], op_p) != UI_DONE || check_noise(ui, opts) != UI_DONE) {
        return UI_USAGE;
    }
    return UI_DONE;
}
