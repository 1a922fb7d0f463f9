/* A trace as POP's would look, extrapolated: how fast, and in how much memory, the flow engine runs it.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * 128 ranks in a grid of 8 x 16 exchange halos with their four neighbours before each collective: 608
 * allreduces, 575 barriers, 703 broadcasts, as many as the SC'10 paper counts. Extrapolated to 32,768 ranks
 * by the paper's rules that is about 700 million messages.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <idlewave/idlewave.h>
#include <idlewave/program.h>

#include "core/program/trace_program.h"
#include "support/made_trace.h"

enum { ROWS = 8, COLUMNS = 16, RANKS = ROWS * COLUMNS };
enum { ALLREDUCES = 608, BARRIERS = 575, BCASTS = 703, HALO_BYTES = 2048 };

static void make_trace(struct iwt_made_trace *t)
{
    iwt_made_trace_init(t, RANKS);
    for (uint32_t step = 0; step < BCASTS; step++) {
        for (uint32_t rank = 0; rank < RANKS; rank++) {
            const iw_time work = (iw_time)(300 + (rank * 7 + step * 13) % 40) * IW_PS_PER_US;

            iwt_trace_compute(t, rank, work, work);
        }
        iwt_trace_halos(t, ROWS, COLUMNS, HALO_BYTES);
        iwt_trace_collective_all(t, IWI_TRACE_BCAST, 0, 0, 64);
        if (step < ALLREDUCES) {
            iwt_trace_collective_all(t, IWI_TRACE_ALLREDUCE, 0, 0, 8);
        }
        if (step < BARRIERS) {
            iwt_trace_collective_all(t, IWI_TRACE_BARRIER, 0, 0, 0);
        }
    }
}

static int run(const iw_program *program, const char *noise_spec, uint64_t trials)
{
    iw_sim_opts opts = IW_SIM_OPTS_INIT;
    iw_noise *noise = NULL;
    iw_sim_result *result = NULL;
    bool is_ok;

    opts.trials = trials;
    opts.threads = 1;
    is_ok = iw_noise_new(NULL, &noise) == IW_OK && iw_noise_add(NULL, noise, noise_spec) == IW_OK &&
            iw_simulate(NULL, program, iw_net_builtin("chic"), noise, &opts, &result) == IW_OK;
    if (is_ok) {
        printf("%8" PRIu32 " %6" PRIu64 " %6" PRIu32 " %9.1f %10.1f %12.1f %9.2f %10.0f\n", result->ranks,
               result->trials, result->lanes, (double)result->messages / 1e6, result->engine_seconds,
               (double)result->messages * (double)result->trials / result->engine_seconds / 1e6,
               (double)result->makespan_ps[0] / (double)result->noiseless_ps - 1,
               (double)result->peak_rss_bytes / (1 << 20));
    }
    iw_sim_result_free(result);
    iw_noise_free(noise);
    return is_ok ? 0 : 1;
}

static int run_ranks(const struct iwt_made_trace *t, uint32_t ranks, uint64_t trials,
                     iw_replica_compute compute)
{
    iw_trace_opts opts = IW_TRACE_OPTS_INIT;
    iw_program *program = NULL;
    int failures;

    opts.ranks = ranks;
    opts.replica_compute = compute;
    if (iwi_program_from_rules(NULL, &t->trace, &opts, iwi_rules_find(opts.rules), &program) != IW_OK) {
        return 1;
    }
    failures = run(program, "periodic:0.375Hz,5.6ms", trials);
    iw_program_free(program);
    return failures;
}

int main(void)
{
    struct iwt_made_trace t;
    int failures = 0;

    make_trace(&t);
    printf("a POP-like trace of %d ranks, extrapolated; chic's network and noise, one thread\n", RANKS);
    printf("%8s %6s %6s %9s %10s %12s %9s %10s\n", "ranks", "trials", "lanes", "M messages", "seconds",
           "M messages/s", "slowdown", "MiB");
    failures += run_ranks(&t, RANKS, 8, IW_REPLICA_COPY);
    failures += run_ranks(&t, 1024, 8, IW_REPLICA_COPY);
    failures += run_ranks(&t, 32768, 1, IW_REPLICA_COPY);
    failures += run_ranks(&t, 32768, 8, IW_REPLICA_COPY);
    printf("the last two again, with the computation of replicas drawn\n");
    failures += run_ranks(&t, 32768, 1, IW_REPLICA_RESAMPLE);
    failures += run_ranks(&t, 32768, 8, IW_REPLICA_RESAMPLE);
    iwt_made_trace_release(&t);
    return failures;
}
