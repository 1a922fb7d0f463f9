/* Noise that no specification describes: detours made by a function of your own, given as a list.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * cc own_noise_source.c $(pkg-config --cflags --libs idlewave)
 */
#include <idlewave/sim.h>

#include <stdio.h>
#include <stdlib.h>

enum { DETOURS = 1000 };

/* A daemon that wakes every 10 ms and works longer each time, from 1 us to 100 us, then starts again. */
static iw_status add_daemon(iw_noise *noise)
{
    static iw_time start_ps[DETOURS], duration_ps[DETOURS];

    for (int i = 0; i < DETOURS; i++) {
        start_ps[i] = i * 10 * IW_PS_PER_MS;
        duration_ps[i] = (1 + i % 100) * IW_PS_PER_US;
    }
    /* the list repeats after 10 s; each rank meets it from another place on */
    return iw_noise_add_trace(NULL, noise, "growing daemon", start_ps, duration_ps, DETOURS,
                              10 * IW_PS_PER_S);
}

int main(void)
{
    iw_pattern pattern = IW_PATTERN_INIT;
    iw_program *program = NULL;
    iw_noise *noise = NULL;
    iw_sim_result *result = NULL;
    iw_status status;

    pattern.ranks = 256;
    pattern.repeat = 50;
    pattern.compute_ps = IW_PS_PER_MS;
    status = iw_program_from_pattern(NULL, "barrier", &pattern, &program);
    if (status == IW_OK) {
        status = iw_noise_new(NULL, &noise);
    }
    if (status == IW_OK) {
        status = add_daemon(noise);
    }
    if (status == IW_OK) {
        status = iw_simulate(NULL, program, iw_net_builtin("chic"), noise, NULL, &result);
    }
    if (status == IW_OK) {
        printf("'%s' takes %.2f %% of the time, and slows 256 ranks by %.1f %%\n",
               iw_noise_source_name(noise, 0), 100.0 * iw_noise_source_share(noise, 0),
               100.0 * ((double)result->makespan_ps[0] / (double)result->noiseless_ps - 1.0));
    } else {
        (void)fprintf(stderr, "error: %s\n", iw_status_text(status));
    }
    iw_sim_result_free(result);
    iw_noise_free(noise);
    iw_program_free(program);
    return status == IW_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
