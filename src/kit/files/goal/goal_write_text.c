/* Writes a schedule as GOAL text that LogGOPSim's txt2bin accepts too: labels l1, l2, ... in program order,
 * each dependency after both of its labels.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "kit/files/goal/goal.h"

static void put_text(struct iwi_out *out, const char *text)
{
    iwi_out_bytes(out, text, strlen(text));
}

static void put_number(struct iwi_out *out, uint64_t value)
{
    char digits[20];
    size_t start = sizeof digits;

    do {
        digits[--start] = (char)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    iwi_out_bytes(out, digits + start, sizeof digits - start);
}

/* " word N"; IWI_ANY is written as -1. */
static void put_option(struct iwi_out *out, const char *word, uint32_t value)
{
    put_text(out, word);
    if (value == IWI_ANY) {
        put_text(out, "-1");
    } else {
        put_number(out, value);
    }
}

static void put_label(struct iwi_out *out, uint64_t node)
{
    put_text(out, "l");
    put_number(out, node + 1);
}

static void put_dependency(struct iwi_out *out, uint64_t node, struct iwi_dep dep)
{
    put_label(out, node);
    put_text(out, dep.is_start ? " irequires " : " requires ");
    put_label(out, dep.node);
    put_text(out, "\n");
}

static void put_operation(struct iwi_goal_sink *sink, uint32_t rank, const struct iwi_node *node,
                          uint64_t *step_p)
{
    struct iwi_out *out = sink->out;

    if (node->kind == IWI_CALC) {
        put_text(out, ": calc ");
        put_number(out, iwi_goal_calc_units(sink, rank, node, step_p));
    } else {
        put_text(out, node->kind == IWI_SEND ? ": send " : ": recv ");
        put_number(out, node->amount);
        put_option(out, node->kind == IWI_SEND ? "b to " : "b from ", node->peer);
        put_option(out, " tag ", node->tag);
    }
    if (node->cpu != 0) {
        put_option(out, " cpu ", node->cpu);
    }
    if (node->nic != 0) {
        put_option(out, " nic ", node->nic);
    }
    put_text(out, "\n");
}

/* The dependencies on later nodes (is_forward), or those on earlier ones. True if there are any others. */
static bool put_dependencies(const struct iwi_goal_sink *sink, uint64_t first_node, uint64_t node,
                             bool is_forward)
{
    const struct iwi_schedule *schedule = sink->schedule;
    bool has_others = false;

    for (uint64_t d = schedule->first_dep[first_node + node]; d < schedule->first_dep[first_node + node + 1];
         d++) {
        if ((schedule->deps[d].node > node) == is_forward) {
            put_dependency(sink->out, node, schedule->deps[d]);
        } else {
            has_others = true;
        }
    }
    return has_others;
}

static void put_rank(struct iwi_goal_sink *sink, uint32_t rank)
{
    const uint64_t first = sink->schedule->first_node[rank];
    const uint64_t nodes = sink->schedule->first_node[rank + 1] - first;
    uint64_t step = 0, forward_end = 0; /* nodes from there on depend on no later ones */

    put_option(sink->out, "\nrank ", rank);
    put_text(sink->out, " {\n");
    for (uint64_t n = 0; n < nodes; n++) {
        put_label(sink->out, n);
        put_operation(sink, rank, &sink->schedule->nodes[first + n], &step);
        if (put_dependencies(sink, first, n, false)) {
            forward_end = n + 1;
        }
    }
    for (uint64_t n = 0; n < forward_end; n++) {
        (void)put_dependencies(sink, first, n, true);
    }
    put_text(sink->out, "}\n");
}

iw_status iwi_goal_write_text(struct iwi_goal_sink *sink)
{
    put_option(sink->out, "num_ranks ", sink->schedule->ranks);
    put_text(sink->out, "\n");
    for (uint32_t r = 0; r < sink->schedule->ranks && sink->out->status == IW_OK; r++) {
        put_rank(sink, r);
    }
    return sink->out->status;
}
