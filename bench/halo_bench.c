/* Halos, sweeps and an application in the flow engine, each against a dissemination of as many ranks.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * One thread, one lane, 32,768 ranks, 8 bytes, 100 us of work in each step,
 * with and without noise. Everything is run in turns, several times; the best CPU time of each counts, so
 * that other load on the machine hits all of them alike. What the run without noise that every simulation
 * begins with takes is not counted.
 */
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include <idlewave/idlewave.h>

enum { RUNS = 5, RANKS = 32768, STEPS = 100 };

struct subject {
    const char *operations, *what;
    bool is_open, is_split;
    double best[2]; /* millions of messages a second: without noise, with it */
};

static struct subject subjects[] = {
    {.operations = "allreduce:dissemination", .what = "all ranks alike: the measure"},
    {.operations = "halo1d", .what = "ring"},
    {.operations = "halo2d", .what = "periodic, joint"},
    {.operations = "halo2d", .what = "open, joint", .is_open = true},
    {.operations = "halo2d", .what = "periodic, split", .is_split = true},
    {.operations = "halo3d", .what = "periodic, joint"},
    {.operations = "halo3d", .what = "open, joint", .is_open = true},
    {.operations = "sweep2d", .what = "one corner to the other"},
    {.operations = "halo2d+allreduce", .what = "an application"},
};

enum { SUBJECTS = sizeof subjects / sizeof subjects[0] };

static double cpu_seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Of a whole simulation of so many trials. */
static double simulation_seconds(const iw_program *program, const iw_noise *noise, uint64_t trials)
{
    iw_sim_opts opts = IW_SIM_OPTS_INIT;
    iw_sim_result *result = NULL;
    const double begin = cpu_seconds();
    double seconds = -1;

    opts.trials = trials;
    opts.lanes = 1;
    opts.threads = 1;
    if (iw_simulate(NULL, program, iw_net_builtin("chic"), noise, &opts, &result) == IW_OK) {
        seconds = cpu_seconds() - begin;
    }
    iw_sim_result_free(result);
    return seconds;
}

/* Without noise one run is all there is. With it, two trials more than one: what is done once drops out. */
static double trial_seconds(const iw_program *program, const iw_noise *noise)
{
    const double one = simulation_seconds(program, noise, 1);
    const double three = noise == NULL ? -1 : simulation_seconds(program, noise, 3);

    return noise == NULL ? one : (three - one) / 2;
}

static bool measure(struct subject *subject, const iw_noise *noise)
{
    iw_pattern pattern = IW_PATTERN_INIT;
    iw_program *program = NULL;
    double seconds;

    pattern.ranks = RANKS;
    pattern.bytes = 8;
    pattern.compute_ps = 100 * INT64_C(1000000);
    pattern.repeat = STEPS;
    pattern.is_periodic = !subject->is_open;
    pattern.is_split = subject->is_split;
    if (iw_program_from_pattern(NULL, subject->operations, &pattern, &program) != IW_OK) {
        return false;
    }
    seconds = trial_seconds(program, noise);
    if (seconds > 0) {
        const double rate = 1e-6 * (double)iw_program_messages(program) / seconds;

        subject->best[noise != NULL] =
            rate > subject->best[noise != NULL] ? rate : subject->best[noise != NULL];
    }
    iw_program_free(program);
    return seconds > 0;
}

int main(void)
{
    iw_noise *noise = NULL;
    bool is_ok =
        iw_noise_new(NULL, &noise) == IW_OK && iw_noise_add(NULL, noise, "periodic:1000Hz,16us") == IW_OK;

    for (int run = 0; is_ok && run < RUNS; run++) {
        for (size_t k = 0; k < SUBJECTS; k++) {
            is_ok = is_ok && measure(&subjects[k], NULL) && measure(&subjects[k], noise);
        }
    }
    printf("%d ranks, 8 bytes, 100 us of work a step, one thread; best CPU time of %d runs in turns;\n"
           "millions of messages per second, and the ratio to dissemination with noise\n",
           RANKS, RUNS);
    printf("%-24s %-30s %9s %9s %7s\n", "pattern", "", "no noise", "1kHz,16us", "ratio");
    for (size_t k = 0; is_ok && k < SUBJECTS; k++) {
        printf("%-24s %-30s %9.0f %9.0f %7.2f\n", subjects[k].operations, subjects[k].what,
               subjects[k].best[0], subjects[k].best[1], subjects[k].best[1] / subjects[0].best[1]);
    }
    iw_noise_free(noise);
    return is_ok ? 0 : 1;
}
