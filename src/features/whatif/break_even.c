/* Compares a reserved core with all cores at powers of 4 of ranks, and says where the gain begins.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/whatif/break_even.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/base.h"
#include "features/whatif/changes.h"

/* The ladder ends where one rung would take more messages than this in the fewest trials, some seconds'
 * worth; below, there are as many trials as fit, but no more than the user's, and at least the fewest. */
static const double MOST_MESSAGES = 2e8;
enum { LEAST_TRIALS = 8, REDRAWS = 8, RUNGS = 10, VARIANTS = 2 };

/* ---- the crossing ---- */

static double value_of(const iw_estimate *estimate, int which)
{
    return which == 0 ? estimate->value : which < 0 ? estimate->low : estimate->high;
}

/* The last place from which on the values stay above 0, in ranks; cut to what was looked at. */
static double crossing(const uint32_t *ranks, const iw_estimate *savings, size_t count, int which)
{
    size_t first = count;
    double below, above, part;

    while (first > 0 && value_of(&savings[first - 1], which) > 0.0) {
        first--;
    }
    if (first == 0 || first == count) {
        return ranks[first == 0 ? 0 : count - 1];
    }
    below = value_of(&savings[first - 1], which);
    above = value_of(&savings[first], which);
    part = below / (below - above);
    return exp2(log2(ranks[first - 1]) + part * (log2(ranks[first]) - log2(ranks[first - 1])));
}

void iwi_break_even_cross(const uint32_t *ranks, const iw_estimate *savings, size_t count,
                          iw_break_even *break_even_p)
{
    bool is_always = true;

    for (size_t i = 0; i < count; i++) {
        is_always &= savings[i].value > 0.0;
    }
    break_even_p->least_ranks = ranks[0];
    break_even_p->most_ranks = ranks[count - 1];
    break_even_p->is_always = is_always;
    break_even_p->is_known = !is_always && savings[count - 1].value > 0.0;
    break_even_p->ranks.value = crossing(ranks, savings, count, 0);
    /* the gain may begin as early as its upper bound says */
    break_even_p->ranks.low = crossing(ranks, savings, count, 1);
    break_even_p->ranks.high = crossing(ranks, savings, count, -1);
}

/* ---- the ladder ---- */

double iwi_break_even_messages(const struct iwi_experiment *experiment)
{
    const double of_a_rank =
        (double)iw_program_messages(experiment->program) / iw_program_ranks(experiment->program);
    const double values =
        fmax(LEAST_TRIALS, (double)experiment->trials) + (experiment->redraws > 0 ? 4 * LEAST_TRIALS : 0);
    double sum = 0.0;

    for (int rung = 1; rung <= RUNGS; rung++) {
        const double messages = of_a_rank * exp2(2 * rung) * VARIANTS;

        sum += messages * LEAST_TRIALS < MOST_MESSAGES ? fmin(messages * values, MOST_MESSAGES) : 0.0;
    }
    return sum;
}

/* 0: too few fit. */
static uint64_t trials_for(const struct iwi_experiment *experiment)
{
    const double messages = fmax(1.0, (double)iw_program_messages(experiment->program) * VARIANTS);
    const double fit = MOST_MESSAGES / messages - (double)experiment->redraws * experiment->per_redraw;
    const double wanted = fmax(LEAST_TRIALS, (double)experiment->inquiry->job.sim.trials);

    return fit < LEAST_TRIALS ? 0 : (uint64_t)fmin(fit, wanted);
}

static iw_status climb(struct iwi_experiment *experiment, const iw_change *reserve, iw_estimate *saving_p)
{
    struct iwi_inquiry *inquiry = experiment->inquiry;
    const size_t stride = iwi_experiment_values(experiment);
    const struct iwi_variant variants[VARIANTS] = {{.is_removed = NULL}, iwi_variant_of(reserve)};
    double *values = iwi_new_array(inquiry->log, (VARIANTS + 1) * stride, sizeof *values);
    iw_status status = values != NULL ? IW_OK : IW_ERR_NOMEM;

    if (status == IW_OK) {
        inquiry->work_total += iwi_experiment_work(experiment, VARIANTS);
        status = iwi_experiment_run(experiment, variants, VARIANTS, values);
    }
    if (status == IW_OK) {
        *saving_p = iwi_experiment_saving(experiment, values, values + stride, &variants[1],
                                          values + VARIANTS * stride);
    }
    free(values);
    return status;
}

/* *is_end_p: this and all larger ones take too long. */
static iw_status try_ranks(struct iwi_inquiry *inquiry, const iw_change *reserve, uint32_t ranks,
                           iw_estimate *saving_p, bool *is_end_p)
{
    struct iwi_experiment experiment;
    iw_status status;

    IW_TRY(iwi_experiment_init(inquiry, ranks, LEAST_TRIALS, (uint32_t)iwi_min(REDRAWS, inquiry->job.redraws),
                               &experiment));
    status = experiment.reserved != NULL ? IW_OK : IW_ERR_UNSUPPORTED;
    experiment.trials = trials_for(&experiment);
    *is_end_p = experiment.trials == 0;
    if (status == IW_OK && !*is_end_p) {
        status = climb(&experiment, reserve, saving_p);
    }
    iwi_experiment_release(&experiment);
    return status;
}

/* What was looked at, by ranks. */
struct ladder {
    uint32_t ranks[RUNGS + 1];
    iw_estimate savings[RUNGS + 1];
    size_t count;
};

/* The user's own number of ranks is known already. */
static void insert(struct ladder *ladder, uint32_t ranks, iw_estimate saving)
{
    size_t place = ladder->count;

    while (place > 0 && ladder->ranks[place - 1] >= ranks) {
        place--;
    }
    if (place == ladder->count || ladder->ranks[place] != ranks) {
        for (size_t i = ladder->count++; i > place; i--) {
            ladder->ranks[i] = ladder->ranks[i - 1];
            ladder->savings[i] = ladder->savings[i - 1];
        }
    }
    ladder->ranks[place] = ranks;
    ladder->savings[place] = saving;
}

iw_status iwi_break_even_find(struct iwi_inquiry *inquiry, const iw_change *reserve, uint32_t ranks,
                              iw_break_even *break_even_p)
{
    struct ladder ladder = {.count = 0};
    bool is_end = false;

    for (uint32_t rung = 1; rung <= RUNGS && !is_end; rung++) {
        iw_estimate saving = {0.0, 0.0, 0.0};
        const iw_status status = try_ranks(inquiry, reserve, UINT32_C(1) << 2 * rung, &saving, &is_end);

        if (status != IW_OK && status != IW_ERR_UNSUPPORTED) {
            return status;
        }
        if (status == IW_OK && !is_end) {
            insert(&ladder, UINT32_C(1) << 2 * rung, saving);
            is_end = saving.low > 0.0; /* noise costs more on more ranks, and the price is the same */
        }
    }
    insert(&ladder, ranks, reserve->saving);
    iwi_break_even_cross(ladder.ranks, ladder.savings, ladder.count, break_even_p);
    return IW_OK;
}
