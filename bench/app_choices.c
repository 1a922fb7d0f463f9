/* What the free choices of docs/validation/applications.md do to its figures: the traces of pop_like and
 * sweep_like made in memory, with other work between their calls and other imbalance, extrapolated and
 * simulated.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The calls, their order and the grid are those of tests/mpi/programs/pop_like.c and sweep_like.c on 128
 * ranks; work is exact here, and costs no time to trace. Usage: app_choices [TRIALS]
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <idlewave/idlewave.h>
#include <idlewave/program.h>

#include "program/trace_program.h"
#include "support/made_trace.h"

enum { ROWS = 16, COLUMNS = 8, RANKS = ROWS * COLUMNS, HALO_BYTES = 2048, BCAST_BYTES = 64 };
enum { NEIGHBOURS = 4, STEPS = 575, SETUP_BCASTS = 128, SETUP_ALLREDUCES = 33, POP_RANKS = 8192 };
enum { CORNERS = 4, BLOCKS = 2 * 76, ALLREDUCES = 2, SWEEP_RANKS = 16384 };

struct choice {
    iw_time work_ps;  /* of the slowest rank before a collective, or of a block */
    double imbalance; /* POP: 1 as pop_like has it, 0 all ranks work as long as the slowest. Sweep3D: blocks
                       * take up to so much longer, each by its own share */
};

struct system {
    const char *name, *net, *noise;
};

static const struct system systems[] = {
    {"chic", "chic", "periodic:0.375Hz,5.6ms"},
    {"zeptoos", "zeptoos", "periodic:16Hz,50us"},
    {"xt4", "xt4", "periodic:0.03Hz,3.3ms"},
    {"xt4, 0.02 %", "xt4", "periodic:0.06Hz,3.3ms"},
};

/* ---- POP ---- */

/* app_share() of the programs. */
static double share(uint32_t number)
{
    return (double)(number * UINT32_C(2654435761) >> 8) / (double)(1 << 24);
}

static void work(struct iwt_made_trace *t, const struct choice *choice)
{
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        const double weight = rank == 0 ? 1.0 : 0.12 + 0.2 * share(rank);
        const iw_time ps = (iw_time)((double)choice->work_ps * (1.0 - choice->imbalance * (1.0 - weight)));

        iwt_trace_compute(t, rank, ps, ps);
    }
}

/* Periodic; directions come in pairs, so the other end's is the one with the last bit flipped. */
static uint32_t neighbour(uint32_t rank, uint32_t direction)
{
    static const uint32_t down[NEIGHBOURS] = {ROWS - 1, 1, 0, 0}, right[NEIGHBOURS] = {0, 0, COLUMNS - 1, 1};

    return (rank / COLUMNS + down[direction]) % ROWS * COLUMNS +
           (rank % COLUMNS + right[direction]) % COLUMNS;
}

static void exchange_halos(struct iwt_made_trace *t)
{
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        uint32_t requests[2 * NEIGHBOURS];

        for (uint32_t d = 0; d < NEIGHBOURS; d++) {
            requests[d] = iwt_trace_message(t, rank, IWI_CALL_IRECV, neighbour(rank, d), 0, (int32_t)(d ^ 1),
                                            HALO_BYTES);
        }
        for (uint32_t d = 0; d < NEIGHBOURS; d++) {
            requests[NEIGHBOURS + d] =
                iwt_trace_message(t, rank, IWI_CALL_ISEND, neighbour(rank, d), 0, (int32_t)d, HALO_BYTES);
        }
        iwt_trace_wait(t, rank, requests, 2 * NEIGHBOURS);
    }
}

static void call_all(struct iwt_made_trace *t, const struct choice *choice, enum iwi_trace_op op,
                     uint64_t bytes)
{
    work(t, choice);
    iwt_trace_collective_all(t, op, 0, 0, bytes);
}

static void make_pop(struct iwt_made_trace *t, const struct choice *choice)
{
    for (int i = 0; i < SETUP_BCASTS; i++) {
        call_all(t, choice, IWI_TRACE_BCAST, BCAST_BYTES);
    }
    for (int i = 0; i < SETUP_ALLREDUCES; i++) {
        call_all(t, choice, IWI_TRACE_ALLREDUCE, 8);
    }
    for (int step = 0; step < STEPS; step++) {
        if (step % 2 == 0) {
            exchange_halos(t);
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

static void do_block(struct iwt_made_trace *t, uint32_t rank, const int ways[2], const struct choice *choice,
                     uint32_t block)
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
static void make_sweep(struct iwt_made_trace *t, const struct choice *choice)
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

/* ---- both ---- */

static int simulate(const iw_program *program, const struct system *system, uint64_t trials)
{
    iw_sim_opts opts = IW_SIM_OPTS_INIT;
    iw_noise *noise = NULL;
    iw_sim_result *result = NULL;
    double sum_ps = 0;
    bool is_ok;

    opts.trials = trials;
    opts.threads = 1;
    is_ok = iw_noise_new(NULL, &noise) == IW_OK && iw_noise_add(NULL, noise, system->noise) == IW_OK &&
            iw_simulate(NULL, program, iw_net_builtin(system->net), noise, &opts, &result) == IW_OK;
    for (uint64_t i = 0; is_ok && i < trials; i++) {
        sum_ps += (double)result->makespan_ps[i];
    }
    if (is_ok) {
        printf(" %10.2f", 100 * (sum_ps / (double)trials / (double)result->noiseless_ps - 1));
        (void)fflush(stdout);
    }
    iw_sim_result_free(result);
    iw_noise_free(noise);
    return is_ok ? 0 : 1;
}

static int run(const char *name, void (*make)(struct iwt_made_trace *, const struct choice *), uint32_t ranks,
               const struct choice *choice, uint64_t trials)
{
    iw_trace_opts opts = IW_TRACE_OPTS_INIT;
    struct iwt_made_trace t;
    iw_program *program = NULL;
    int failures = 0;

    iwt_made_trace_init(&t, RANKS);
    make(&t, choice);
    opts.ranks = ranks;
    printf("%-6s %7.2f %10.1f", name, (double)choice->work_ps / (double)IW_PS_PER_MS, choice->imbalance);
    if (iwi_program_from_rules(NULL, &t.trace, &opts, iwi_rules_find(opts.rules), &program) != IW_OK) {
        failures = 1;
    }
    for (size_t i = 0; i < sizeof systems / sizeof systems[0] && failures == 0; i++) {
        failures += simulate(program, &systems[i], trials);
    }
    printf("\n");
    iw_program_free(program);
    iwt_made_trace_release(&t);
    return failures;
}

int main(int argc, char **argv)
{
    /* the choice of docs/validation/applications.md first */
    static const struct choice pop[] = {
        {3 * IW_PS_PER_MS, 1},   {1 * IW_PS_PER_MS, 1}, {10 * IW_PS_PER_MS, 1},
        {3 * IW_PS_PER_MS, 0.5}, {3 * IW_PS_PER_MS, 0}, {660 * IW_PS_PER_US, 0},
    };
    static const struct choice sweep[] = {
        {10 * IW_PS_PER_MS, 0}, {10 * IW_PS_PER_MS, 0.2}, {10 * IW_PS_PER_MS, 1},
        {1 * IW_PS_PER_MS, 0},  {100 * IW_PS_PER_MS, 0},
    };
    const uint64_t trials = argc > 1 ? strtoull(argv[1], NULL, 10) : 2;
    int failures = 0;

    printf("mean slowdown, %%, of %" PRIu64 " trials; POP on %d ranks, Sweep3D on %d\n%-6s %7s %10s", trials,
           POP_RANKS, SWEEP_RANKS, "like", "work ms", "imbalance");
    for (size_t i = 0; i < sizeof systems / sizeof systems[0]; i++) {
        printf(" %10s", systems[i].name);
    }
    printf("\n");
    for (size_t i = 0; i < sizeof sweep / sizeof sweep[0]; i++) {
        failures += run("Sweep", make_sweep, SWEEP_RANKS, &sweep[i], trials);
    }
    for (size_t i = 0; i < sizeof pop / sizeof pop[0]; i++) {
        failures += run("POP", make_pop, POP_RANKS, &pop[i], trials);
    }
    return failures;
}
