/* A benchmark that nobody ran: phases whose means are known.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "support/made_bench.h"

#include <stdlib.h>

enum { PHASES = 50, RANKS = 2 };

static void *zeroed(size_t count, size_t size)
{
    void *array = calloc(count, size);

    if (array == NULL) {
        abort();
    }
    return array;
}

static void fill(iw_bench_samples *samples)
{
    for (size_t i = 0; i < samples->count; i++) {
        const uint32_t block = (uint32_t)(i / PHASES);
        const bool is_noisy = samples->has_noise && ((block ^ (block >> 1)) & 1) != 0;

        samples->block[i] = block;
        samples->is_noisy[i] = is_noisy;
        samples->qt_ns[i] = 1e6 + (i % 2 == 1 ? 2e4 : 0.0) + (is_noisy && i % 10 == 0 ? 1.02e6 : 0.0);
        samples->op_ns[i] = 1e4;
        samples->bt_ns[i] = is_noisy && i % 10 == 0 ? 1.03e6 : 1e4;
        samples->qtbt_ns[i] = samples->qt_ns[i] + samples->op_ns[i];
    }
}

iw_bench_samples *iwt_made_bench(uint32_t blocks, bool has_noise)
{
    iw_bench_samples *samples = zeroed(1, sizeof *samples);

    *samples = (iw_bench_samples){.op = IW_BENCH_BARRIER,
                                  .quantum_ns = 1e6,
                                  .ranks = RANKS,
                                  .hosts = 1,
                                  .mpi = "openmpi",
                                  .mpi_version = "Open MPI v0",
                                  .clock = "made up",
                                  .has_noise = has_noise,
                                  .phases = (uint64_t)blocks * PHASES,
                                  .left_out = 4 * (uint64_t)blocks,
                                  .stride = 1,
                                  .block_phases = PHASES,
                                  .count = (size_t)blocks * PHASES,
                                  .seconds = 2.0};
    samples->block = zeroed(samples->count, sizeof *samples->block);
    samples->is_noisy = zeroed(samples->count, sizeof *samples->is_noisy);
    samples->qt_ns = zeroed(samples->count, sizeof *samples->qt_ns);
    samples->bt_ns = zeroed(samples->count, sizeof *samples->bt_ns);
    samples->qtbt_ns = zeroed(samples->count, sizeof *samples->qtbt_ns);
    samples->op_ns = zeroed(samples->count, sizeof *samples->op_ns);
    samples->of_rank = zeroed(RANKS, sizeof *samples->of_rank);
    fill(samples);
    samples->block_count = blocks;
    samples->blocks = zeroed(blocks, sizeof *samples->blocks);
    for (size_t i = 0; i < samples->count; i++) { /* one rank is the slowest in every phase */
        iw_bench_block *block = &samples->blocks[samples->block[i]];

        block->is_noisy = samples->is_noisy[i];
        block->phases++;
        block->elapsed_ns += samples->qtbt_ns[i];
    }
    for (uint32_t i = 0; i < RANKS; i++) {
        samples->of_rank[i] = (iw_bench_rank){.host = "alpha",
                                              .phases = samples->phases,
                                              .iterations = 190000,
                                              .qt_ns = {1.01e6, has_noise ? 1.06e6 : 0.0},
                                              .bt_ns = {1e4, has_noise ? 6e4 : 0.0},
                                              .undisturbed_ns = 1e6};
        if (has_noise) {
            samples->of_rank[i].injected = (iw_bench_injected){.planned_share = 0.05,
                                                               .as_recorded_share = 1.0,
                                                               .as_recorded_event_share = 0.5,
                                                               .made_ns = 4e7,
                                                               .noisy_ns = 1e9,
                                                               .made_count = 40,
                                                               .floor_ns = 1500.0};
        }
    }
    return samples;
}
