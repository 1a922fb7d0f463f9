/* Traces that the programs pop_like, sweep_like and amg_like would leave, made in memory.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The calls, their order and the grids are those of tests/mpi/programs/pop_like.c and sweep_like.c (128
 * ranks) and amg_like.c (125); work is exact here, and costs no time to trace.
 */
#include "made_apps.h"

#include <stdlib.h>

enum { ROWS = 16, COLUMNS = 8, RANKS = ROWS * COLUMNS, HALO_BYTES = 2048, BCAST_BYTES = 64 };
enum { STEPS = 575, SETUP_BCASTS = 128, SETUP_ALLREDUCES = 33 };
enum { CORNERS = 4, BLOCKS = 2 * 76, ALLREDUCES = 2 };

/* ---- POP ---- */

/* app_share() of the programs. */
static double share(uint32_t number)
{
    return (double)(number * UINT32_C(2654435761) >> 8) / (double)(1 << 24);
}

static void work(struct iwt_made_trace *t, const struct made_choice *choice)
{
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        const double weight = rank == 0 ? 1.0 : 0.12 + 0.2 * share(rank);
        const iw_time ps = (iw_time)((double)choice->work_ps * (1.0 - choice->imbalance * (1.0 - weight)));

        iwt_trace_compute(t, rank, ps, ps);
    }
}

static void call_all(struct iwt_made_trace *t, const struct made_choice *choice, enum iwi_trace_op op,
                     uint64_t bytes)
{
    work(t, choice);
    iwt_trace_collective_all(t, op, 0, 0, bytes);
}

void made_pop(struct iwt_made_trace *t, const struct made_choice *choice)
{
    for (int i = 0; i < SETUP_BCASTS; i++) {
        call_all(t, choice, IWI_TRACE_BCAST, BCAST_BYTES);
    }
    for (int i = 0; i < SETUP_ALLREDUCES; i++) {
        call_all(t, choice, IWI_TRACE_ALLREDUCE, 8);
    }
    for (int step = 0; step < STEPS; step++) {
        if (step % 2 == 0) {
            iwt_trace_halos(t, ROWS, COLUMNS, HALO_BYTES);
        }
        call_all(t, choice, IWI_TRACE_ALLREDUCE, 8);
        call_all(t, choice, IWI_TRACE_BARRIER, 0);
        call_all(t, choice, IWI_TRACE_BCAST, BCAST_BYTES);
    }
}

/* ---- Sweep3D ---- */

/* The rank beside it in dimension `d`, before it (-1) or behind it (1); RANKS at the edge. */
static uint32_t beside(uint32_t rank, int d, int step)
{
    const int at = d == 0 ? (int)(rank / COLUMNS) : (int)(rank % COLUMNS), size = d == 0 ? ROWS : COLUMNS;

    if (at + step < 0 || at + step >= size) {
        return RANKS;
    }
    return (uint32_t)((int)rank + step * (d == 0 ? COLUMNS : 1));
}

static void do_block(struct iwt_made_trace *t, uint32_t rank, const int ways[2],
                     const struct made_choice *choice, uint32_t block)
{
    const uint32_t number = block * RANKS + rank;
    const double longer =
        choice->imbalance * share(number * number + number); /* no order along ranks or blocks */
    const iw_time work_ps = (iw_time)((double)choice->work_ps * (1.0 + longer));

    for (int d = 0; d < 2; d++) {
        const uint32_t from = beside(rank, d, -ways[d]);

        if (from != RANKS) {
            (void)iwt_trace_message(t, rank, IWI_CALL_RECV, from, 0, 0, HALO_BYTES);
        }
    }
    iwt_trace_compute(t, rank, work_ps, work_ps);
    for (int d = 0; d < 2; d++) {
        const uint32_t to = beside(rank, d, ways[d]);

        if (to != RANKS) {
            (void)iwt_trace_message(t, rank, IWI_CALL_SEND, to, 0, 0, HALO_BYTES);
        }
    }
}

/* One of its 16 iterations, which are all alike. */
void made_sweep(struct iwt_made_trace *t, const struct made_choice *choice)
{
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        for (int corner = 0; corner < CORNERS; corner++) {
            const int ways[2] = {corner == 1 || corner == 2 ? -1 : 1, corner >= 2 ? -1 : 1};

            for (int block = 0; block < BLOCKS; block++) {
                do_block(t, rank, ways, choice, (uint32_t)(corner * BLOCKS + block));
            }
        }
    }
    for (int i = 0; i < ALLREDUCES; i++) {
        iwt_trace_collective_all(t, IWI_TRACE_ALLREDUCE, 0, 0, 8);
    }
}

/* ---- AMG2006 ---- */

enum { CUBE = 5, LEVELS = 4, CYCLES = 115, CYCLE_ALLREDUCES = 3, MOST_NEIGHBOURS = 26 };

static const struct {
    int stride, has_edges;
    uint64_t bytes;
    double work;
} levels[LEVELS] = {{1, 0, 2048, 1.0}, {1, 1, 512, 1.0 / 4}, {2, 1, 128, 1.0 / 16}, {4, 1, 64, 1.0 / 64}};

static bool is_active(uint32_t rank, int level)
{
    const int stride = levels[level].stride, at = (int)rank;

    return at / (CUBE * CUBE) % stride == 0 && at / CUBE % CUBE % stride == 0 && at % CUBE % stride == 0;
}

/* Those of the rank on the level, in the order of amg_like; returns how many. */
static uint32_t find_neighbours(uint32_t rank, int level, uint32_t neighbours[MOST_NEIGHBOURS])
{
    const int at[3] = {(int)rank / (CUBE * CUBE), (int)rank / CUBE % CUBE, (int)rank % CUBE};
    uint32_t count = 0;

    for (int i = 0; i < 27 && is_active(rank, level); i++) {
        const int way[3] = {i / 9 - 1, i / 3 % 3 - 1, i % 3 - 1};
        const int faces = abs(way[0]) + abs(way[1]) + abs(way[2]);
        bool is_inside = faces > 0 && (faces == 1 || levels[level].has_edges);
        int other = 0;

        for (int d = 0; d < 3; d++) {
            const int there = at[d] + levels[level].stride * way[d];

            is_inside = is_inside && there >= 0 && there < CUBE;
            other = other * CUBE + there;
        }
        if (is_inside) {
            neighbours[count++] = (uint32_t)other;
        }
    }
    return count;
}

static void exchange_on_level(struct iwt_made_trace *t, uint32_t rank, int level)
{
    uint32_t neighbours[MOST_NEIGHBOURS], requests[2 * MOST_NEIGHBOURS];
    const uint32_t count = find_neighbours(rank, level, neighbours);

    for (uint32_t i = 0; i < count; i++) {
        requests[i] =
            iwt_trace_message(t, rank, IWI_CALL_IRECV, neighbours[i], 0, level, levels[level].bytes);
    }
    for (uint32_t i = 0; i < count; i++) {
        requests[count + i] =
            iwt_trace_message(t, rank, IWI_CALL_ISEND, neighbours[i], 0, level, levels[level].bytes);
    }
    if (count > 0) {
        iwt_trace_wait(t, rank, requests, 2 * count);
    }
}

/* `number` makes the work of this exchange differ from that of others. */
static void do_level(struct iwt_made_trace *t, uint32_t rank, int level, const struct made_choice *choice,
                     uint32_t number)
{
    const uint32_t draw = number * MADE_AMG_RANKS + rank;
    const double longer = choice->imbalance * share(draw * draw + draw);
    const iw_time ps = (iw_time)((double)choice->work_ps * levels[level].work * (1.0 + longer));

    if (is_active(rank, level)) {
        iwt_trace_compute(t, rank, ps, ps);
        exchange_on_level(t, rank, level);
    }
}

static void make_amg_setup(struct iwt_made_trace *t)
{
    static const struct {
        enum iwi_trace_op op;
        int calls;
        uint64_t bytes;
    } calls[] = {{IWI_TRACE_BARRIER, 1, 0},
                 {IWI_TRACE_BCAST, 23, BCAST_BYTES},
                 {IWI_TRACE_ALLGATHER, 24, 8},
                 {IWI_TRACE_SCAN, 8, 8},
                 {IWI_TRACE_ALLREDUCE, 11, 8}};

    for (size_t k = 0; k < sizeof calls / sizeof calls[0]; k++) {
        for (int i = 0; i < calls[k].calls; i++) {
            iwt_trace_collective_all(t, calls[k].op, 0, 0, calls[k].bytes);
        }
    }
    for (uint32_t rank = 0; rank < MADE_AMG_RANKS; rank++) {
        exchange_on_level(t, rank, 1);
    }
}

void made_amg(struct iwt_made_trace *t, const struct made_choice *choice)
{
    make_amg_setup(t);
    for (uint32_t cycle = 0; cycle < CYCLES; cycle++) {
        for (uint32_t rank = 0; rank < MADE_AMG_RANKS; rank++) {
            for (int i = 0; i < 2 * LEVELS; i++) {
                do_level(t, rank, i / 2, choice, 3 * LEVELS * cycle + (uint32_t)i);
            }
            for (int level = LEVELS - 1; level >= 0; level--) {
                do_level(t, rank, level, choice, 3 * LEVELS * cycle + (uint32_t)(2 * LEVELS + level));
            }
        }
        for (int i = 0; i < CYCLE_ALLREDUCES; i++) {
            iwt_trace_collective_all(t, IWI_TRACE_ALLREDUCE, 0, 0, 8);
        }
    }
}
