/* Chooses lanes and threads by what runs fast and fits into memory.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/sim/choose.h"

#include <unistd.h>

#include "core/base/available.h"
#include "core/base/base.h"
#include "core/program/trace_program.h"
#include "core/sim/flow/flow_state.h"

/* Elements of streaming rounds that stay in the cache. */
static const double CACHE_ELEMENTS = 1 << 19;

/* The same with recorded noise, of which each element has pieces of its own. */
static const double RECORDED_ELEMENTS = 1 << 12;

/* Of the memory, at most: by all threads, and by the lanes of one of them. */
static const double THREADS_PART = 0.75, LANES_PART = 0.125;

static double memory_bytes(void)
{
    return (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
}

/* Of each rank in a round of all to all (flow_all_to_all.c): where it is, its sends, what arrives and room to
 * sort it. */
enum { ALL_TO_ALL_WORDS = 28 };

struct iwi_round iwi_first_round(const struct iwi_operation *op)
{
    struct iwi_round round = {.fan = 1};

    if (op->algorithm->round_count(op) > 0) {
        op->algorithm->round(op, 0, &round);
    }
    return round;
}

/* As large as all ranks, or the largest round of a collective. */
static uint64_t elements_of_trace(const struct iwi_trace_program *trace)
{
    uint64_t largest = (uint64_t)trace->base * trace->replicas;

    for (size_t k = 0; k < trace->operation_count; k++) {
        const uint64_t elements =
            (uint64_t)iwi_first_round(&trace->operations[k]).fan * trace->operations[k].ranks;

        largest = elements > largest ? elements : largest;
    }
    return largest;
}

uint64_t iwi_elements_per_lane(const iw_program *program, enum iwi_kept_for wanted)
{
    uint64_t largest_fan = 1;

    if (program->trace != NULL) {
        return elements_of_trace(program->trace);
    }
    for (size_t k = 0; k < program->operation_count; k++) {
        const struct iwi_round round = iwi_first_round(&program->operations[k]);
        const uint32_t fan =
            round.is_all_to_all && wanted == IWI_KEPT_FOR_ENDS ? ALL_TO_ALL_WORDS : round.fan;

        largest_fan = fan > largest_fan ? fan : largest_fan;
    }
    return largest_fan * program->ranks;
}

uint64_t iwi_rank_bytes(const iw_program *program, const iw_noise *noise, enum iwi_kept_for wanted)
{
    const uint64_t noise_words = noise == NULL ? 0 : iwi_noise_words(noise);
    const uint64_t other_cores = noise == NULL ? 0 : iw_noise_cores_per_rank(noise) - 1;
    const uint64_t words = noise_words + other_cores * (1 + noise_words) +
                           iwi_elements_per_lane(program, wanted) / program->ranks;

    return IWI_FLOW_BYTES + words * sizeof(int64_t);
}

static bool is_streaming(const iw_program *program)
{
    if (program->trace != NULL) {
        return false;
    }
    for (size_t k = 0; k < program->operation_count; k++) {
        const struct iwi_round round = iwi_first_round(&program->operations[k]);

        if (!round.is_shift && !round.is_flip && !round.is_pairs) {
            return false;
        }
    }
    return true;
}

/* Lanes share the decoding of operations; streaming rounds have nothing to decode and run best in cache. */
uint32_t iwi_choose_lanes(const iw_program *program, const iw_noise *noise, iw_engine engine,
                          const iw_sim_opts *opts)
{
    const bool is_recorded = noise != NULL && iw_noise_recorded_cpus(noise) > 0;
    const double fitting = LANES_PART * memory_bytes() / IWI_FLOW_BYTES;
    const double streaming = is_recorded ? RECORDED_ELEMENTS : CACHE_ELEMENTS;
    const double most = is_streaming(program) ? streaming : fitting;
    uint32_t lanes = opts->lanes;

    if (engine != IW_ENGINE_FLOW || (program->schedule != NULL && !program->schedule->is_in_order)) {
        return 1;
    }
    if (lanes == 0) {
        lanes = IWI_MOST_LANES;
        while (lanes > 1 && (lanes > opts->trials ||
                             (double)iwi_elements_per_lane(program, IWI_KEPT_FOR_ENDS) * lanes > most)) {
            lanes /= 2;
        }
    }
    return lanes;
}

/* Each thread has its own state: no more of them than the memory holds. */
uint32_t iwi_choose_threads(const iw_program *program, const iw_sim_opts *opts, uint32_t lanes)
{
    const uint64_t batches = (opts->trials + lanes - 1) / lanes;
    const double room = THREADS_PART * memory_bytes();
    const double state = (double)iwi_elements_per_lane(program, IWI_KEPT_FOR_ENDS) * lanes * IWI_FLOW_BYTES;
    uint32_t threads = opts->threads != 0 ? opts->threads : iwi_available_cpus();

    if (opts->threads == 0 && state * threads > room) {
        threads = state < room ? (uint32_t)(room / state) : 1;
    }
    return threads < batches ? threads : (uint32_t)batches;
}
