/* What the free choices of docs/validation/paper-figures.md do to its figures: programs like POP, Sweep3D and
 * AMG2006 with other work between their calls and other imbalance, extrapolated and simulated.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Usage: app_choices [TRIALS [PROGRAM]]
 * Prints CSV for tools/make_apps.py, a line for each choice, system and case.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <idlewave/idlewave.h>
#include <idlewave/program.h>

#include "core/program/trace_program.h"
#include "made_apps.h"

struct system {
    const char *name, *net, *noise;
    bool is_extra; /* only with all calls */
};

static const struct system systems[] = {
    {"chic", "chic", "periodic:0.375Hz,5.6ms", false},
    {"altix", "altix", "periodic:0.5Hz,220us", false},
    {"zeptoos", "zeptoos", "periodic:16Hz,50us", false},
    {"xt4", "xt4", "periodic:0.03Hz,3.3ms", false},
    {"xt4 with 0.02 %", "xt4", "periodic:0.06Hz,3.3ms", true},
};

static const struct mode {
    const char *name;
    bool is_in_step, drops_p2p, drops_collectives;
    double net_scale;
    bool is_extra; /* only for the first choice */
} modes[] = {
    {"all", false, false, false, 1, false},          {"no p2p", false, true, false, 1, false},
    {"network x10", false, false, false, 10, false}, {"in step", true, false, false, 1, true},
    {"no collectives", false, false, true, 1, true}, {"network x0.1", false, false, false, 0.1, true},
};

enum { MOST_CHOICES = 6 };

/* The choice of docs/validation/paper-figures.md comes first. */
static const struct app_like {
    const char *name;
    void (*make)(struct iwt_made_trace *, const struct made_choice *);
    uint32_t base, ranks;
    struct made_choice choices[MOST_CHOICES];
    size_t choice_count;
} apps[] = {
    {"Sweep3D",
     made_sweep,
     MADE_RANKS,
     128 * MADE_RANKS,
     {{10 * IW_PS_PER_MS, 0},
      {10 * IW_PS_PER_MS, 0.2},
      {10 * IW_PS_PER_MS, 1},
      {1 * IW_PS_PER_MS, 0},
      {100 * IW_PS_PER_MS, 0}},
     5},
    {"AMG",
     made_amg,
     MADE_AMG_RANKS,
     128 * MADE_AMG_RANKS,
     {{200 * IW_PS_PER_MS, 0.05},
      {200 * IW_PS_PER_MS, 0},
      {200 * IW_PS_PER_MS, 0.2},
      {20 * IW_PS_PER_MS, 0.05},
      {100 * IW_PS_PER_MS, 0.05},
      {500 * IW_PS_PER_MS, 0.05}},
     6},
    {"POP",
     made_pop,
     MADE_RANKS,
     64 * MADE_RANKS,
     {{3 * IW_PS_PER_MS, 1},
      {1 * IW_PS_PER_MS, 1},
      {10 * IW_PS_PER_MS, 1},
      {3 * IW_PS_PER_MS, 0.5},
      {3 * IW_PS_PER_MS, 0},
      {660 * IW_PS_PER_US, 0}},
     6},
};

static iw_status simulate(const iw_program *program, const struct system *system, const struct mode *mode,
                          uint64_t trials, iw_sim_result **result_p)
{
    iw_sim_opts opts = IW_SIM_OPTS_INIT;
    iw_net net = *iw_net_builtin(system->net);
    iw_noise *noise = NULL;
    iw_status status = iw_noise_new(NULL, &noise);

    opts.trials = trials;
    opts.threads = 1;
    if (status == IW_OK) {
        status = iw_noise_add(NULL, noise, system->noise);
    }
    if (status == IW_OK && mode->net_scale != 1) {
        status = iw_net_scale(NULL, &net, mode->net_scale);
    }
    if (status == IW_OK) {
        iw_noise_align(noise, mode->is_in_step ? IW_SYNC_START : IW_SYNC_NONE, 0, 1);
        status = iw_simulate(NULL, program, &net, noise, &opts, result_p);
    }
    iw_noise_free(noise);
    return status;
}

static int run_system(const struct app_like *app, const struct made_choice *choice, const iw_program *program,
                      const struct mode *mode, const struct system *system, uint64_t trials)
{
    iw_sim_result *result = NULL;
    double sum_ps = 0;

    if (simulate(program, system, mode, trials, &result) != IW_OK) {
        return 1;
    }
    for (uint64_t i = 0; i < trials; i++) {
        sum_ps += (double)result->makespan_ps[i];
    }
    printf("%s,%" PRIu32 ",%g,%g,%s,%s,%.6f,%.6f,%" PRIu64 "\n", app->name, app->ranks,
           (double)choice->work_ps / (double)IW_PS_PER_MS, choice->imbalance, system->name, mode->name,
           sum_ps / (double)trials * 1e-12, (double)result->noiseless_ps * 1e-12, result->messages);
    (void)fflush(stdout);
    iw_sim_result_free(result);
    return 0;
}

static int run_mode(const struct app_like *app, const struct made_choice *choice,
                    const struct iw_trace *trace, const struct mode *mode, uint64_t trials)
{
    iw_trace_opts opts = IW_TRACE_OPTS_INIT;
    iw_program *program = NULL;
    int failures = 0;

    opts.ranks = app->ranks;
    opts.replica_compute = IW_REPLICA_COPY;
    opts.drops_p2p = mode->drops_p2p;
    opts.drops_collectives = mode->drops_collectives;
    if (iwi_program_from_rules(NULL, trace, &opts, iwi_rules_find(opts.rules), &program) != IW_OK) {
        return 1;
    }
    for (size_t i = 0; i < sizeof systems / sizeof systems[0]; i++) {
        if (!systems[i].is_extra || mode == modes) {
            failures += run_system(app, choice, program, mode, &systems[i], trials);
        }
    }
    iw_program_free(program);
    return failures;
}

static int run_choice(const struct app_like *app, const struct made_choice *choice, uint64_t trials)
{
    struct iwt_made_trace t;
    int failures = 0;

    iwt_made_trace_init(&t, app->base);
    app->make(&t, choice);
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        if (!modes[i].is_extra || choice == app->choices) {
            failures += run_mode(app, choice, &t.trace, &modes[i], trials);
        }
    }
    iwt_made_trace_release(&t);
    return failures;
}

int main(int argc, char **argv)
{
    const uint64_t trials = argc > 1 ? strtoull(argv[1], NULL, 10) : 2;
    int failures = 0;

    printf("program,ranks,work_ms,imbalance,system,case,mean_s,noiseless_s,messages\n");
    for (size_t a = 0; a < sizeof apps / sizeof apps[0]; a++) {
        for (size_t i = 0; i < apps[a].choice_count && (argc < 3 || strcmp(argv[2], apps[a].name) == 0);
             i++) {
            failures += run_choice(&apps[a], &apps[a].choices[i], trials);
        }
    }
    return failures;
}
