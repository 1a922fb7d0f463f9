/* Reads a golden schedule and its runs.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "golden/golden_data.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <idlewave/files.h>

#include "support/support.h"

enum { FS_PER_PS = 1000 };

static int64_t integer(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);

    if (!json_is_integer(value)) {
        fail_msg("no integer '%s' in golden data", key);
    }
    return json_integer_value(value);
}

static const char *string(const json_t *object, const char *key)
{
    const char *value = json_string_value(json_object_get(object, key));

    if (value == NULL) {
        fail_msg("no string '%s' in golden data", key);
    }
    return value;
}

static void read_net(const json_t *params, iw_time unit_ps, iw_net *net)
{
    *net = (iw_net){.name = "golden",
                    .L_ps = integer(params, "L") * unit_ps,
                    .o_send_ps = integer(params, "o") * unit_ps,
                    .o_recv_ps = integer(params, "o") * unit_ps,
                    .g_ps = integer(params, "g") * unit_ps,
                    .G = integer(params, "G") * unit_ps * FS_PER_PS,
                    .O = integer(params, "O") * unit_ps * FS_PER_PS,
                    .S_bytes = (uint64_t)integer(params, "S")};
}

/* Where the stock program reorders ready operations, the times of a build that keeps their order. */
static const json_t *end_times(const json_t *object)
{
    const json_t *stable = json_object_get(object, "end_stable_order");

    return stable != NULL ? stable : json_object_get(object, "end");
}

static void read_run(const json_t *object, uint32_t ranks, struct golden_run *run)
{
    const json_t *ends = end_times(object);

    snprintf(run->name, sizeof run->name, "%s", string(object, "name"));
    run->unit_ps = strcmp(string(object, "time_unit"), "ps") == 0 ? 1 : IW_PS_PER_NS;
    read_net(json_object_get(object, "params"), run->unit_ps, &run->net);
    run->is_deadlock = json_is_true(json_object_get(object, "deadlock"));
    run->end_ps = NULL;
    if (run->is_deadlock) {
        return;
    }
    assert_int_equal(json_array_size(ends), ranks);
    run->end_ps = calloc(ranks, sizeof *run->end_ps);
    assert_non_null(run->end_ps);
    for (uint32_t rank = 0; rank < ranks; rank++) {
        run->end_ps[rank] = json_integer_value(json_array_get(ends, rank)) * run->unit_ps;
    }
}

static struct iwi_schedule *make_graph(const iw_program *program)
{
    struct iwi_schedule *graph = NULL;

    if (program->schedule->is_in_order) {
        assert_ok(iwi_schedule_to_dag(NULL, program->schedule, &graph));
        assert_int_equal(graph->first_node[graph->ranks], program->schedule->first_node[graph->ranks]);
    }
    return graph;
}

void golden_load(struct golden_case *c, const iw_log *log, const char *dir, unsigned id)
{
    char path[4096];
    json_error_t error;
    json_t *root;
    const json_t *runs;

    snprintf(path, sizeof path, "%s/%03u.json", dir, id);
    root = json_load_file(path, 0, &error);
    if (root == NULL) {
        fail_msg("'%s:%d': %s", path, error.line, error.text);
    }
    c->id = id;
    c->ranks = (uint32_t)integer(root, "ranks");
    snprintf(c->name, sizeof c->name, "%s", string(root, "name"));
    runs = json_object_get(root, "runs");
    assert_int_equal(json_array_size(runs), GOLDEN_RUNS_OF_CASE);
    for (size_t i = 0; i < GOLDEN_RUNS_OF_CASE; i++) {
        read_run(json_array_get(runs, i), c->ranks, &c->runs[i]);
    }
    json_decref(root);
    snprintf(path, sizeof path, "%s/%03u.goal", dir, id);
    assert_ok(iw_program_from_goal(log, path, IW_PS_PER_NS, &c->in_ns));
    assert_ok(iw_program_from_goal(log, path, 1, &c->in_ps));
    assert_int_equal(iw_program_ranks(c->in_ns), c->ranks);
    c->graph_in_ns = make_graph(c->in_ns);
    c->graph_in_ps = make_graph(c->in_ps);
}

void golden_free(struct golden_case *c)
{
    for (size_t i = 0; i < GOLDEN_RUNS_OF_CASE; i++) {
        free(c->runs[i].end_ps);
    }
    iw_program_free(c->in_ns);
    iw_program_free(c->in_ps);
    iwi_schedule_free(c->graph_in_ns);
    iwi_schedule_free(c->graph_in_ps);
}

const iw_program *golden_program(const struct golden_case *c, const struct golden_run *run)
{
    return run->unit_ps == 1 ? c->in_ps : c->in_ns;
}

const struct iwi_schedule *golden_graph(const struct golden_case *c, const struct golden_run *run)
{
    const struct iwi_schedule *graph = run->unit_ps == 1 ? c->graph_in_ps : c->graph_in_ns;

    return graph != NULL ? graph : golden_program(c, run)->schedule;
}
