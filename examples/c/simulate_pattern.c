/* How much slower an allreduce gets when every node loses 0.25 % of its time to the operating system.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * cc simulate_pattern.c $(pkg-config --cflags --libs idlewave)
 */
#include <idlewave/sim.h>

#include <stdio.h>
#include <stdlib.h>

/* Messages of the library come here; it prints nothing by itself. */
static void write_message(void *arg, iw_log_level level, const char *text)
{
    (void)arg;
    (void)fprintf(stderr, "%s: %s\n", level == IW_LOG_ERROR ? "error" : "note", text);
}

static iw_status simulate(const iw_log *log, uint32_t ranks)
{
    iw_pattern pattern = IW_PATTERN_INIT;
    iw_sim_opts opts = IW_SIM_OPTS_INIT;
    iw_program *program = NULL;
    iw_noise *noise = NULL;
    iw_sim_result *result = NULL;
    iw_status status;

    pattern.ranks = ranks;
    pattern.bytes = 8;
    pattern.repeat = 100;
    pattern.compute_ps = IW_PS_PER_MS; /* work before each allreduce */
    opts.trials = 5;
    status = iw_program_from_pattern(log, "allreduce:dissemination", &pattern, &program);
    if (status == IW_OK) {
        status = iw_noise_new(log, &noise);
    }
    if (status == IW_OK) {
        status = iw_noise_add(log, noise, "poisson:10Hz,exp:250us");
    }
    if (status == IW_OK) {
        status = iw_simulate(log, program, iw_net_builtin("chic"), noise, &opts, &result);
    }
    for (uint64_t trial = 0; status == IW_OK && trial < result->trials; trial++) {
        char text[24];

        printf("%u ranks, trial %u: %s, %.1f %% slower than without noise\n", ranks, (unsigned)trial,
               iw_format_time(result->makespan_ps[trial], text, sizeof text),
               100.0 * ((double)result->makespan_ps[trial] / (double)result->noiseless_ps - 1.0));
    }
    iw_sim_result_free(result);
    iw_noise_free(noise);
    iw_program_free(program);
    return status;
}

int main(void)
{
    const iw_log log = {write_message, NULL};

    return simulate(&log, 16) == IW_OK && simulate(&log, 1024) == IW_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
