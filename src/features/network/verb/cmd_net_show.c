/* `idlewave net show`: draws the machine that a network is: levels, NICs, and what messages take.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/internal/machine.h>

#include "features/network/verb/net_verbs.h"
#include "options/shown_opts.h"
#include "options/simulate_opts.h"

struct net_show_opts {
    struct opt_origins origins;
    uint64_t ranks_per_node; /* 0: as the network says */
    struct shown_opts shown;
};

#define ROW(...) OPT_ROW(struct net_show_opts, __VA_ARGS__)
static const struct opt what_rows[] = {
    ROW("ranks-per-node", OPT_COUNT, ranks_per_node, "N",
        "nodes have so many ranks, and their parts in proportion (default as the network says)", .min = 1,
        .max = UINT32_MAX),
};
#undef ROW

static const struct opt_group groups[] = {
    OPT_GROUP("What is shown", what_rows, 0),
    SHOWN_GROUP("Output; csv has one line per level", offsetof(struct net_show_opts, shown)),
};

static const struct net_show_opts defaults = {.ranks_per_node = 0};

static const char *const synopsis[] = {"[options] FILE|NAME", NULL};

static const char description[] =
    "Draws a network as the machine that it is: its levels from inside out, with the ranks of a group, L, o, "
    "g "
    "and bandwidth, the NICs of a node, tapers and placement; and says what 8 bytes and 1 MiB take between "
    "two "
    "ranks at each level. Where ranks share NICs or narrow links, it also says what simulations make of "
    "that.\nTimes are from the begin of a send to the end of a receive that waits for it, without noise.";

static const struct example examples[] = {
    {"a network that is built in", "idlewave net show hdr-fat-tree"},
    {"one that was measured", "idlewave net show cluster.yaml"},
    {"as a picture", "idlewave net show slingshot-dragonfly --plot machine.svg"},
    {NULL, NULL},
};

static int run(struct ui *ui, const void *values, const struct opt_args *args)
{
    const struct net_show_opts *opts = values;
    iw_net_machine machine;
    iw_net *net;
    int code;

    if (args->count == 0) {
        return ui_usage(ui, "which network? idlewave net show FILE, or one that is built in: hdr-fat-tree");
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

const struct verb verb_net_show = {
    .name = "net show",
    .summary = "draw a network: levels, NICs, message costs",
    .synopsis = synopsis,
    .description = description,
    .argument_name = "FILE|NAME",
    .argument_help =
        "a network (YAML, or output of netgauge's loggp or osu_latency), or one that is built in",
    .groups = groups,
    .group_count = sizeof groups / sizeof groups[0],
    .examples = examples,
    .defaults = &defaults,
    .values_size = sizeof(struct net_show_opts),
    .most_arguments = 1,
    .run = run,
};
