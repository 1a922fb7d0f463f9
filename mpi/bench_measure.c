/* Runs phases of work and an operation on all ranks, in blocks, and hands their times to rank 0.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Between blocks all ranks agree whether to go on, and noise is switched. The first phases after that are
 * left out, so that none of it is in a measured phase. What is not the operation uses PMPI_ names: libraries
 * that are preloaded, an injector that counts collectives say, see the same phases as in a program.
 */
#include <idlewave/internal/bench.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mpi.h>

#include "core/base/base.h"
#include "mpi/plugin.h"
#include "mpi/bench.h"
#include "mpi/net.h"

enum { LEFT_OUT = 4, LEFT_OUT_ASLEEP = 1, LEAST_BLOCK = 10, MOST_BLOCK = 1 << 14, LEAST_BLOCKS = 80 };

/* ---- one block ---- */

static double detours_ns(const struct iwi_bench_session *s, bool is_noisy)
{
    return is_noisy ? s->plan->noise->made_ns(s->plan->noise->arg) : 0.0;
}

/* Work that sleeps takes its quantum and the time of the detours that meet it: each of them, a sleep in a signal
 * handler, ends the sleep, and moves the end of the work, also when the handler came back after the end that
 * was planned before. */
static void sleep_through(const struct iwi_bench_session *s, bool is_noisy, int64_t start_ns, double before_ns)
{
    for (;;) {
        const double lost_ns = detours_ns(s, is_noisy) - before_ns;
        const int64_t end_ns = start_ns + (int64_t)(s->plan->quantum_ns + lost_ns);

        if (iwi_net_now_ns() >= end_ns) {
            return;
        }
        iwi_bench_sleep_until(end_ns);
    }
}

static void work(struct iwi_bench_session *s, bool is_noisy, int64_t start_ns)
{
    const bool is_asleep = s->plan->work == IW_BENCH_SLEEP;
    const double before_ns = is_asleep ? detours_ns(s, is_noisy) : 0.0;

    if (is_noisy && s->plan->noise->phase != NULL) {
        s->plan->noise->phase(s->plan->noise->arg);
    }
    if (is_asleep) {
        sleep_through(s, is_noisy, start_ns, before_ns);
    } else {
        s->x = iwi_bench_spin(s->x, s->iterations);
    }
}

/* A phase ends where the next begins, so that nothing is lost; also what the call that begins one takes is of
 * it, as a detour may happen within. All ranks begin the first one that counts together, as in simulations. */
static void run_phases(struct iwi_bench_session *s, uint32_t block, bool is_noisy, uint64_t phases)
{
    const uint64_t left_out = s->plan->work == IW_BENCH_SLEEP ? LEFT_OUT_ASLEEP : LEFT_OUT;
    int64_t start_ns = iwi_net_now_ns();

    for (uint64_t i = 0; i < left_out + phases; i++) {
        int64_t worked_ns, done_ns;

        if (i == left_out) {
            PMPI_Barrier(s->comm);
            start_ns = iwi_net_now_ns();
        }
        work(s, is_noisy, start_ns);
        worked_ns = iwi_net_now_ns();
        iwi_bench_operation_run(&s->op);
        done_ns = iwi_net_now_ns();
        if (i >= left_out) {
            iwi_bench_keep_add(&s->keep, block, is_noisy, (double)(worked_ns - start_ns),
                               (double)(done_ns - worked_ns));
        }
        start_ns = done_ns;
    }
    s->left_out += left_out;
}

/* Does a block have noise? Pairs are quiet-noisy, noisy-quiet, ...: what drifts hits both alike. */
static bool is_noisy_block(const iw_bench_plan *plan, uint32_t block)
{
    return plan->noise != NULL && ((block ^ (block >> 1)) & 1) != 0;
}

/* ---- all blocks ---- */

/* Small enough that there are many of them: intervals are made of blocks. */
static uint64_t block_phases_of(const iw_bench_plan *plan)
{
    const double all =
        plan->phases > 0 ? (double)plan->phases : plan->duration_seconds * 1e9 / plan->quantum_ns;
    const double phases = fmin(plan->block_seconds * 1e9 / plan->quantum_ns, all / LEAST_BLOCKS);
    const double whole = floor(fmin(fmax(phases, LEAST_BLOCK), MOST_BLOCK));

    return plan->phases > 0 && (double)plan->phases < whole ? plan->phases : (uint64_t)whole;
}

/* Of this block, of those that are asked for; 0: no further block. Rank 0's clock tells. */
static uint64_t next_phases(const struct iwi_bench_session *s, uint32_t block, int64_t start_ns)
{
    const uint32_t kinds = s->plan->noise != NULL ? 2 : 1;
    const uint64_t done = block / kinds * s->block_phases;
    const double seconds = (double)(iwi_net_now_ns() - start_ns) / 1e9;

    if (s->plan->phases > 0) {
        return done >= s->plan->phases
                   ? 0
                   : (uint64_t)iwi_min((int64_t)s->block_phases, (int64_t)(s->plan->phases - done));
    }
    return block % kinds == 0 && block > 0 && seconds >= s->plan->duration_seconds ? 0 : s->block_phases;
}

static void show_progress(const struct iwi_bench_session *s, uint32_t block, int64_t start_ns)
{
    const uint32_t kinds = s->plan->noise != NULL ? 2 : 1;
    const double seconds = (double)(iwi_net_now_ns() - start_ns) / 1e9;

    if (s->rank == 0 && s->plan->progress.step != NULL) {
        const uint64_t done = block / kinds * s->block_phases;
        const double share = s->plan->phases > 0 ? (double)done / (double)s->plan->phases
                                                 : seconds / s->plan->duration_seconds;

        (void)s->plan->progress.step(s->plan->progress.arg,
                                     &(iw_progress_now){fmin(share, 1.0), done, s->plan->phases});
    }
}

/* All ranks know the status of the worst, and how many phases rank 0 wants. */
static iw_status agree(const struct iwi_bench_session *s, iw_status status, uint64_t *phases)
{
    int64_t mine[2] = {(int64_t)status, s->rank == 0 ? -(int64_t)*phases : 0}, all[2];

    PMPI_Allreduce(mine, all, 2, MPI_INT64_T, MPI_MIN, s->comm);
    *phases = (uint64_t)-all[1];
    return (iw_status)all[0];
}

static iw_status run_blocks(struct iwi_bench_session *s)
{
    const int64_t start_ns = iwi_net_now_ns();
    iw_status status = IW_OK;
    uint64_t phases;

    for (uint32_t block = 0; status == IW_OK; block++) {
        const bool is_noisy = is_noisy_block(s->plan, block);
        bool is_started = false;

        show_progress(s, block, start_ns);
        phases = next_phases(s, block, start_ns);
        status = iwi_bench_keep_room(s->log, &s->keep, s->block_phases);
        if (status == IW_OK && is_noisy) { /* whether there are phases is up to rank 0 */
            status = s->plan->noise->start(s->plan->noise->arg, block / 2);
            is_started = status == IW_OK;
        }
        status = agree(s, status, &phases);
        if (status == IW_OK && phases > 0) {
            run_phases(s, block, is_noisy, phases);
        }
        if (is_started) {
            s->plan->noise->stop(s->plan->noise->arg);
        }
        if (phases == 0) {
            break;
        }
    }
    return status;
}

/* ---- all ---- */

/* Where this process is among the others. */
static void find_place(struct iwi_bench_session *s)
{
    const struct iwi_process_place *places = s->places;
    iw_bench_place *place = &s->place;

    *place = (iw_bench_place){.rank = (uint32_t)s->rank, .ranks = (uint32_t)s->ranks};
    place->hosts = iwi_process_place_hosts(places, place->ranks);
    place->host = iwi_process_place_host_number(places, place->rank);
    for (uint32_t rank = 0; rank < place->ranks; rank++) {
        const bool is_here = iwi_process_place_is_same_host(&places[rank], &places[s->rank]);
        uint32_t local_ranks = 0;

        for (uint32_t other = 0; other < place->ranks; other++) {
            local_ranks += iwi_process_place_is_same_host(&places[rank], &places[other]) ? 1 : 0;
        }
        place->most_local_ranks = (uint32_t)iwi_max(place->most_local_ranks, local_ranks);
        place->local_ranks += is_here ? 1 : 0;
        place->local_rank += is_here && rank < place->rank ? 1 : 0;
    }
}

static iw_status prepare(struct iwi_bench_session *s)
{
    struct iwi_process_place here;
    uint64_t none = 0;

    s->places = iwi_new_array(s->log, (size_t)s->ranks, sizeof *s->places);
    IW_TRY(agree(s, s->places != NULL ? IW_OK : IW_ERR_NOMEM, &none));
    iwi_process_place_here(&here);
    PMPI_Allgather(&here, (int)sizeof here, MPI_BYTE, s->places, (int)sizeof here, MPI_BYTE, s->comm);
    find_place(s);
    IW_TRY(agree(s, iwi_bench_operation_init(s->log, s->plan, s->comm, &s->op), &none));
    if (s->plan->noise != NULL) {
        iw_inject_costs *costs = s->plan->noise->costs;
        double most_ns[2];

        IW_TRY(agree(s, s->plan->noise->prepare(s->plan->noise->arg, &s->place), &none));
        PMPI_Allreduce((double[]){costs->floor_ns, costs->gap_ns}, most_ns, 2, MPI_DOUBLE, MPI_MAX, s->comm);
        costs->floor_ns = most_ns[0];
        costs->gap_ns = most_ns[1];
    }
    PMPI_Barrier(s->comm);
    if (s->plan->work == IW_BENCH_SPIN) {
        s->iterations = iwi_bench_calibrate(s->plan->quantum_ns); /* all at once: they may share a core */
    }
    s->block_phases = block_phases_of(s->plan);
    return IW_OK;
}

iw_status iwi_bench_measure(const iw_log *log, const struct iw_bench_plan *plan,
                            struct iw_bench_samples **samples_p)
{
    struct iwi_bench_session s = {.log = log, .plan = plan, .x = 1};
    const int64_t start_ns = iwi_net_now_ns();
    iw_bench_samples *samples = NULL;
    iw_status status;

    PMPI_Comm_dup(MPI_COMM_WORLD, &s.comm);
    PMPI_Comm_rank(s.comm, &s.rank);
    PMPI_Comm_size(s.comm, &s.ranks);
    iwi_bench_keep_init(&s.keep, (size_t)iwi_max((int64_t)plan->most_kept, INT64_C(2) * MOST_BLOCK));
    status = prepare(&s);
    if (status == IW_OK) {
        status = run_blocks(&s);
    }
    if (status == IW_OK) {
        status = iwi_bench_collect(&s, &samples);
    }
    if (samples != NULL) {
        samples->seconds = (double)(iwi_net_now_ns() - start_ns) / 1e9;
    }
    iwi_bench_operation_release(&s.op);
    iwi_bench_keep_release(&s.keep);
    free(s.places);
    PMPI_Comm_free(&s.comm);
    if (status == IW_OK) {
        *samples_p = samples;
    }
    return status;
}
