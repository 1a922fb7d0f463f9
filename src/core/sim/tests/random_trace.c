/* SPDX-License-Identifier: BSD-3-Clause */
#include "random_trace.h"

#include <stdio.h>
#include <string.h>

enum { MOST_RANKS = 6, MOST_OPEN = 512, MOST_COLLECTIVES = 64 };

/* A nonblocking collective that has been started: one request on each member. */
struct started {
    uint32_t comm;
    uint32_t requests[MOST_RANKS]; /* by rank in the communicator */
};

struct generator {
    struct iwt_random *random;
    struct iwt_made_trace *t;
    uint32_t ranks;
    uint32_t open[MOST_RANKS][MOST_OPEN]; /* requests of messages */
    uint32_t open_count[MOST_RANKS];
    struct started started[MOST_COLLECTIVES];
    size_t started_count;
};

static uint32_t below(struct generator *g, uint64_t n)
{
    return (uint32_t)iwt_below(g->random, n);
}

static uint32_t member(const struct iwi_comm *comm, uint32_t i)
{
    return comm->members == NULL ? i : comm->members[i];
}

static void shuffle(struct generator *g, uint32_t *values, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t other = below(g, i + 1);
        const uint32_t value = values[i];

        values[i] = values[other];
        values[other] = value;
    }
}

/* A duplicate of the world, the world in another order, and some subsets. */
static void make_comms(struct generator *g)
{
    uint32_t members[MOST_RANKS];
    const uint32_t subsets = 1 + below(g, 4);

    for (uint32_t i = 0; i < g->ranks; i++) {
        members[i] = i;
    }
    (void)iwt_trace_comm(g->t, NULL, 0);
    shuffle(g, members, g->ranks);
    (void)iwt_trace_comm(g->t, members, g->ranks);
    for (uint32_t k = 0; k < subsets; k++) {
        shuffle(g, members, g->ranks);
        (void)iwt_trace_comm(g->t, members, 1 + below(g, g->ranks));
    }
}

static void compute(struct generator *g, uint32_t rank)
{
    const iw_time wall_ps = (iw_time)below(g, 60000);

    iwt_trace_compute(g->t, rank, wall_ps, below(g, 4) == 0 ? -1 : wall_ps / 2);
}

static void keep_open(struct generator *g, uint32_t rank, uint32_t request)
{
    g->open[rank][g->open_count[rank]++] = request;
}

static void message(struct generator *g)
{
    const uint32_t from = below(g, g->ranks), to = below(g, g->ranks);
    const uint32_t comm = below(g, 2) ? 0 : 1;
    const int32_t tag = (int32_t)below(g, 3);
    const uint64_t drawn = below(g, 300), bytes = drawn % 2 != 0 ? 64 : drawn; /* often alike */
    const bool is_open = below(g, 2) || from == to;
    const bool is_synchronous = below(g, 6) == 0;
    uint32_t request;

    if (g->open_count[from] + 1 >= MOST_OPEN || g->open_count[to] + 1 >= MOST_OPEN) {
        return;
    }
    request = (is_synchronous ? iwt_trace_ssend : iwt_trace_message)(
        g->t, from, is_open ? IWI_CALL_ISEND : IWI_CALL_SEND, to, comm, tag, bytes);
    if (is_open) {
        keep_open(g, from, request);
    }
    if (below(g, 2)) {
        (void)iwt_trace_message(g->t, to, IWI_CALL_RECV, from, comm, tag, bytes);
    } else {
        keep_open(g, to, iwt_trace_message(g->t, to, IWI_CALL_IRECV, from, comm, tag, bytes));
    }
}

/* Some or all of the rank's open requests, in any order. */
static void wait_for_messages(struct generator *g, uint32_t rank, bool is_all)
{
    uint32_t *open = g->open[rank];
    const uint32_t count = is_all ? g->open_count[rank] : below(g, g->open_count[rank] + 1);

    shuffle(g, open, g->open_count[rank]);
    iwt_trace_wait(g->t, rank, open, count);
    g->open_count[rank] -= count;
    memmove(open, open + count, g->open_count[rank] * sizeof *open);
}

/* Of a v-form or neighbour collective: partners may occur twice, or be the rank itself. */
static void give_sizes(struct generator *g, uint32_t rank, enum iwi_trace_op op, uint32_t size)
{
    struct iwi_sent_piece parts[MOST_RANKS];
    const uint32_t count = below(g, MOST_RANKS + 1);

    iwt_trace_sized(g->t, rank);
    if (op != IWI_TRACE_NEIGHBOR && (op != IWI_TRACE_ALLTOALL || below(g, 3) == 0)) {
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        parts[i] = (struct iwi_sent_piece){below(g, size), below(g, 4) == 0 ? 0 : below(g, 300)};
    }
    iwt_trace_sizes(g->t, rank, parts, count);
}

static void collective(struct generator *g)
{
    const uint32_t comm = below(g, g->t->trace.comm_count);
    const struct iwi_comm *c = &g->t->trace.comms[comm];
    const enum iwi_trace_op op = (enum iwi_trace_op)below(g, IWI_TRACE_OPS);
    const bool is_blocking = below(g, 3) != 0 || g->started_count == MOST_COLLECTIVES;
    const bool is_uneven = below(g, 4) == 0, is_sized = below(g, 2);
    const uint32_t root = below(g, c->size);
    const uint64_t bytes = below(g, 200);
    struct started *started = &g->started[g->started_count];

    for (uint32_t i = 0; i < c->size; i++) {
        const uint64_t own = is_uneven ? bytes + i : bytes;

        compute(g, member(c, i));
        if (is_blocking) {
            (void)iwt_trace_collective(g->t, member(c, i), IWI_CALL_COLLECTIVE, op, comm, root, own);
        } else {
            started->requests[i] =
                iwt_trace_collective(g->t, member(c, i), IWI_CALL_ICOLLECTIVE, op, comm, root, own);
        }
        if (is_sized) {
            give_sizes(g, member(c, i), op, c->size);
        }
    }
    if (!is_blocking) {
        started->comm = comm;
        g->started_count++;
    }
}

/* All members at once, in one wait with one of their open messages. */
static void finish_collective(struct generator *g)
{
    const size_t which = g->started_count == 0 ? 0 : below(g, g->started_count);
    const struct started done = g->started[which];
    const struct iwi_comm *c = &g->t->trace.comms[done.comm];

    if (g->started_count == 0) {
        return;
    }
    for (uint32_t i = 0; i < c->size; i++) {
        const uint32_t rank = member(c, i);
        uint32_t requests[2];
        uint32_t count = 0;

        if (g->open_count[rank] > 0 && below(g, 2)) {
            requests[count++] = g->open[rank][--g->open_count[rank]];
        }
        requests[count++] = done.requests[i];
        iwt_trace_wait(g->t, rank, requests, count);
    }
    g->started[which] = g->started[--g->started_count];
}

void iwt_random_trace(struct iwt_random *random, struct iwt_made_trace *t)
{
    struct generator g = {.random = random, .t = t};
    const uint64_t steps = 5 + iwt_below(random, 60);

    g.ranks = 1 + (uint32_t)iwt_below(random, MOST_RANKS);
    iwt_made_trace_init(t, g.ranks);
    make_comms(&g);
    for (uint64_t step = 0; step < steps; step++) {
        const uint32_t rank = below(&g, g.ranks);

        switch (below(&g, 9)) {
        case 0: compute(&g, rank); break;
        case 1: wait_for_messages(&g, rank, false); break;
        case 2: collective(&g); break;
        case 3: finish_collective(&g); break;
        case 4: iwt_trace_opaque(t, rank, (iw_time)below(&g, 5000)); break;
        default: message(&g); break;
        }
    }
    for (uint32_t rank = 0; rank < g.ranks; rank++) {
        wait_for_messages(&g, rank, true);
    }
}

void iwt_random_overrides(struct iwt_random *random, struct iwt_overrides *wishes)
{
    const uint64_t count = iwt_below(random, IWT_WISHES + 1);
    const char *op, *algorithm, *summary;
    size_t filled = 0;

    for (uint64_t k = 0; k < count; k++) {
        const size_t index = (size_t)iwt_below(random, 44);

        if (!iw_algorithm_info(index, &op, &algorithm, &summary) || strcmp(op, "pingpong") == 0 ||
            strcmp(op, "ring") == 0 || strncmp(op, "halo", 4) == 0 || strcmp(op, "sweep2d") == 0) {
            continue;
        }
        (void)snprintf(wishes->text[filled], IWT_WISH_SIZE, "%s>%llu=%s%s", op,
                       (unsigned long long)iwt_below(random, 100), algorithm,
                       iwt_below(random, 2) ? "/32" : "");
        wishes->texts[filled] = wishes->text[filled];
        filled++;
    }
    wishes->texts[filled] = NULL;
}
