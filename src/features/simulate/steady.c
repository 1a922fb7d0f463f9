/* What each repetition costs once the start of a run is over.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The same trials with half as many repetitions end where the second half of the run begins. So what that
 * half takes is the difference of two simulations, under the same noise.
 */
#include <idlewave/noise_set.h>

#include <math.h>
#include <stdlib.h>

#include "core/base/base.h"
#include "core/base/opts.h"
#include "core/program/program.h"
#include "core/sim/later_half.h"
#include "core/stats/mean_interval.h"

/* More narrow an interval that is narrower than that of the run already. */
static const uint64_t MOST_TRIALS = 40;

bool iw_steady_is_asked(const iw_noise_set *set, const iw_program *program, uint64_t trials)
{
    return program->repeat > 1 && program->schedule == NULL && program->trace == NULL &&
           program->delay_count == 0 && trials >= IW_LEAST_TRIALS && iw_noise_set_part_count(set) > 0;
}

uint64_t iw_steady_trials(const iw_noise_set *set, const iw_program *program, uint64_t trials)
{
    return !iw_steady_is_asked(set, program, trials) ? 0 : trials < MOST_TRIALS ? trials : MOST_TRIALS;
}

/* The first half, in the trials of the question. */
static iw_status run_half(const iw_log *log, const iw_certainty_question *q, iw_sim_result **half_p)
{
    iw_program half = *q->program; /* a pattern, which is written down nowhere */
    iw_sim_opts opts = *q->opts;
    iw_noise *noise = NULL;
    iw_status status;

    half.repeat = q->program->repeat / 2;
    opts.trials = iw_steady_trials(q->set, q->program, q->result->trials);
    opts.want_explain = opts.want_end_times = false;
    opts.steps = (iw_step_sink){NULL, NULL};
    opts.checkpoint_dir = NULL;
    IW_TRY(iw_noise_set_make(log, q->set, NULL, opts.seed, 0, &noise));
    status = iw_simulate(log, &half, q->net, noise, &opts, half_p);
    iw_noise_free(noise);
    return status;
}

static iw_status compare(const iw_log *log, const iw_certainty_question *q, const iw_sim_result *half,
                         iw_steady *steady)
{
    const size_t trials = (size_t)half->trials;
    const double later = (double)steady->repetitions;
    const double share = (double)q->program->repeat / later;
    const double quiet_ps = (double)(q->result->noiseless_ps - half->noiseless_ps);
    double *slowdowns = iwi_new_array(log, 2 * trials, sizeof *slowdowns), *starts_ns;

    if (slowdowns == NULL) {
        return IW_ERR_NOMEM;
    }
    starts_ns = slowdowns + trials;
    (void)iwi_later_half(q->result, half, slowdowns); /* it takes time: that was asked before */
    for (size_t i = 0; i < trials; i++) {
        const double whole_ps = (double)q->result->makespan_ps[i],
                     later_ps = whole_ps - (double)half->makespan_ps[i];
        const double quiet_start_ps = (double)q->result->noiseless_ps - share * quiet_ps;

        starts_ns[i] = (whole_ps - share * later_ps - quiet_start_ps) / (double)IW_PS_PER_NS;
    }
    steady->slowdown = iwi_mean_estimate(slowdowns, trials);
    steady->start_ns = iwi_mean_estimate(starts_ns, trials);
    free(slowdowns);
    return IW_OK;
}

iw_status iw_steady_find(const iw_log *log, const iw_certainty_question *question, iw_steady *steady_p)
{
    iw_steady steady = {.slowdown = {NAN, NAN, NAN}, .start_ns = {NAN, NAN, NAN}};
    iw_certainty_question known = *question;
    iw_sim_opts opts = IW_SIM_OPTS_INIT;
    iw_sim_result *half = NULL;
    iw_status status;

    if (!iw_steady_is_asked(question->set, question->program, question->result->trials)) {
        return iwi_fail(log, IW_ERR_USAGE, "nothing is repeated under noise alone, or in few trials");
    }
    IW_TRY(IWI_READ_OPTS(log, "IW_SIM_OPTS_INIT", question->opts, &opts));
    known.opts = &opts;
    steady.repetitions = question->program->repeat - question->program->repeat / 2;
    status = run_half(log, &known, &half);
    if (status == IW_OK && question->result->noiseless_ps > half->noiseless_ps) {
        status = compare(log, &known, half, &steady);
    }
    iw_sim_result_free(half);
    *steady_p = steady;
    return status;
}
