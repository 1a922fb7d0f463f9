/* SPDX-License-Identifier: BSD-3-Clause */
#include "support/made_graph.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/draws.h"

enum { REACH = 6, MOST_DEPENDENCES = 8 };

struct made_rank {
    struct iwi_node *nodes;
    struct iwi_dep *deps;
    uint32_t *dep_end; /* of each node */
    size_t count, dep_count, capacity, dep_capacity;
    uint32_t last_wild; /* + 1; 0: none */
};

struct graph_maker {
    uint64_t state;
    const struct iwt_graph_kind *kind;
    struct made_rank *ranks;
};

static uint64_t draw(struct graph_maker *m, uint64_t below)
{
    const uint64_t bits = iwt_bits(&m->state);

    return below == 0 ? 0 : bits % below;
}

static void *grown(void *array, size_t *capacity, size_t need, size_t size)
{
    if (need > *capacity) {
        *capacity = need * 2;
        array = realloc(array, *capacity * size);
        if (array == NULL) {
            abort();
        }
    }
    return array;
}

static void add_dep(struct made_rank *rank, uint32_t node, bool is_start)
{
    const size_t first = rank->count == 0 ? 0 : rank->dep_end[rank->count - 1];

    for (size_t i = first; i < rank->dep_count; i++) {
        if (rank->deps[i].node == node) {
            return;
        }
    }
    rank->deps = grown(rank->deps, &rank->dep_capacity, rank->dep_count + 1, sizeof *rank->deps);
    rank->deps[rank->dep_count++] = (struct iwi_dep){node, is_start};
}

static void add(struct graph_maker *m, uint32_t at, struct iwi_node node, bool is_wild)
{
    struct made_rank *rank = &m->ranks[at];
    const uint64_t wanted = draw(m, m->kind->dependences + 1);
    const size_t before = rank->capacity;

    if (is_wild && !m->kind->can_deadlock && rank->last_wild > 0) {
        add_dep(rank, rank->last_wild - 1, true);
    }
    for (uint64_t i = 0; i < wanted && rank->count > 0; i++) {
        const uint64_t reach = rank->count < REACH || draw(m, 16) == 0 ? rank->count : REACH;

        add_dep(rank, (uint32_t)(rank->count - 1 - draw(m, reach)), draw(m, 3) == 0);
    }
    node.cpu = (uint8_t)draw(m, m->kind->cpus);
    node.nic = node.kind == IWI_CALC ? 0 : (uint8_t)draw(m, m->kind->nics);
    rank->nodes = grown(rank->nodes, &rank->capacity, rank->count + 1, sizeof *rank->nodes);
    if (rank->capacity != before) {
        rank->dep_end = realloc(rank->dep_end, rank->capacity * sizeof *rank->dep_end);
    }
    if (rank->dep_end == NULL) {
        abort();
    }
    rank->nodes[rank->count] = node;
    rank->dep_end[rank->count++] = (uint32_t)rank->dep_count;
    rank->last_wild = is_wild ? (uint32_t)rank->count : rank->last_wild;
}

static void add_calc(struct graph_maker *m)
{
    const iw_time grain = m->kind->grain_ps;
    const uint64_t length = draw(m, (uint64_t)(m->kind->most_ps / grain) + 1) * (uint64_t)grain;
    const struct iwi_node calc = {
        .kind = IWI_CALC, .flags = length > 0 ? IWI_NODE_PHASE : 0, .amount = length};

    add(m, (uint32_t)draw(m, m->kind->ranks), calc, false);
}

static void add_message(struct graph_maker *m)
{
    const struct iwt_graph_kind *kind = m->kind;
    const uint32_t from = (uint32_t)draw(m, kind->ranks),
                   to = (uint32_t)draw(m, kind->ranks); /* also itself */
    const bool is_wild = draw(m, 100) < kind->wild_percent;
    struct iwi_node send = {.kind = IWI_SEND,
                            .peer = to,
                            .tag = (uint32_t)draw(m, kind->tags),
                            .amount = draw(m, kind->most_bytes + 1)};
    struct iwi_node recv;

    if (!kind->can_deadlock) {
        send.tag = is_wild ? UINT32_MAX - 1 : (uint32_t)m->ranks[to].count;
    }
    recv = send;
    recv.kind = IWI_RECV;
    recv.peer = is_wild && (!kind->can_deadlock || draw(m, 3) > 0) ? IWI_ANY : from;
    recv.tag = is_wild && kind->can_deadlock && draw(m, 2) > 0 ? IWI_ANY : recv.tag;
    recv.amount = draw(m, 5) == 0 && !kind->has_exact_sizes ? send.amount / 2 : send.amount;
    add(m, from, send, false);
    add(m, to, recv, is_wild);
}

static uint32_t *places_of(struct graph_maker *m, const struct made_rank *rank)
{
    uint32_t *place = malloc((rank->count + 1) * sizeof *place);

    if (place == NULL) {
        abort();
    }
    for (uint32_t n = 0; n < rank->count; n++) {
        const uint32_t other = m->kind->is_shuffled ? (uint32_t)draw(m, n + UINT64_C(1)) : n;

        place[n] = place[other];
        place[other] = n;
    }
    return place;
}

/* Puts a rank's nodes in program order behind those of the ranks before it. */
static void append(struct graph_maker *m, uint32_t at, struct iwi_schedule *schedule, uint64_t *deps)
{
    const struct made_rank *rank = &m->ranks[at];
    const uint64_t first = schedule->first_node[at];
    uint32_t *place = places_of(m, rank), *node_at = malloc((rank->count + 1) * sizeof *node_at);

    if (node_at == NULL) {
        abort();
    }
    for (uint32_t n = 0; n < rank->count; n++) {
        node_at[place[n]] = n;
    }
    for (uint32_t p = 0; p < rank->count; p++) {
        const uint32_t n = node_at[p];

        schedule->nodes[first + p] = rank->nodes[n];
        schedule->first_dep[first + p] = *deps;
        for (size_t i = n == 0 ? 0 : rank->dep_end[n - 1]; i < rank->dep_end[n]; i++) {
            schedule->deps[(*deps)++] = (struct iwi_dep){place[rank->deps[i].node], rank->deps[i].is_start};
        }
    }
    schedule->first_node[at + 1] = first + rank->count;
    schedule->first_dep[first + rank->count] = *deps;
    free(place);
    free(node_at);
}

static struct iwi_schedule *assemble(struct graph_maker *m)
{
    struct iwi_schedule *schedule = NULL;
    uint64_t nodes = 0, deps = 0;

    for (uint32_t r = 0; r < m->kind->ranks; r++) {
        nodes += m->ranks[r].count;
        deps += m->ranks[r].dep_count;
    }
    if (iwi_schedule_new(NULL, m->kind->ranks, nodes, deps, &schedule) != IW_OK) {
        abort();
    }
    deps = 0;
    for (uint32_t r = 0; r < m->kind->ranks; r++) {
        append(m, r, schedule, &deps);
        free(m->ranks[r].nodes);
        free(m->ranks[r].deps);
        free(m->ranks[r].dep_end);
    }
    schedule->cpu_count = (uint8_t)m->kind->cpus;
    schedule->nic_count = (uint8_t)m->kind->nics;
    return schedule;
}

iw_program *iwt_made_graph(uint64_t seed, const struct iwt_graph_kind *kind)
{
    struct graph_maker m = {.state = seed * UINT64_C(0xd1342543de82ef95), .kind = kind};
    iw_program *program = NULL;

    m.ranks = calloc(kind->ranks, sizeof *m.ranks);
    if (m.ranks == NULL) {
        abort();
    }
    for (uint64_t made = 0; made < kind->operations;) {
        const bool is_calc = draw(&m, 100) < kind->calc_percent;

        if (is_calc) {
            add_calc(&m);
        } else {
            add_message(&m);
        }
        made += is_calc ? 1 : 2;
    }
    if (iwi_program_from_schedule(NULL, assemble(&m), &program) != IW_OK) {
        abort();
    }
    free(m.ranks);
    return program;
}
