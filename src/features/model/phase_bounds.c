/* Bounds of the mean time of a phase: work with noise, then a barrier.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Tree (theorem 1 of Agarwal, Garg and Vishnoi): reports travel up a complete binary tree and releases down.
 * Nobody is released before the slowest leaf has reported, nor later than if all were as slow as the slowest:
 *     w + E[Y_leaves] + 2 tau (depth - 1)  <=  E[phase]  <=  w + E[Y_N] + 2 tau depth
 * For N = 2^k - 1 the leaves are (N+1)/2 and the depth is log2(N+1) - 1, as in the paper. For other N the
 * lowest level is filled only in part: ceil(N/2) leaves, depth floor(log2 N), leaves lie at the depth or one
 * above it; so the same bounds hold. Noise never ends a phase earlier, so w + 2 tau depth is a lower bound
 * too, which matters where noise is little.
 *
 * Dissemination: in each of ceil(log2 N) rounds r all ranks tell the rank 2^r after them what they have
 * heard. The word of rank j that is passed on in every round arrives ceil(log2 N) latencies after j was
 * ready, at the rank whose distance is the sum of all 2^r: for powers of two the distance with all bits set.
 * No word takes longer, since there are no more rounds. So the last rank ends at max_j(ready_j) + rounds *
 * tau: exact, for any N, where messages cost nothing but latency.
 */
#include <idlewave/model.h>

#include <math.h>

#include "core/base/base.h"
#include "features/model/law.h"

static const double MOST_RANKS = 0x1p62;

double iwi_tree_depth(double ranks)
{
    return (double)ilogb(ranks);
}

double iwi_rounds(double ranks)
{
    const double whole = (double)ilogb(ranks);

    return exp2(whole) < ranks ? whole + 1 : whole;
}

double iwi_slowest_of(iw_model_barrier barrier, double ranks)
{
    return barrier == IW_MODEL_TREE ? ceil(ranks / 2) : ranks;
}

struct iwi_bounds iwi_barrier_latency(const iw_model_question *question, double ranks)
{
    const double tau = question->latency_ns;
    const double depth = iwi_tree_depth(ranks);

    if (question->barrier == IW_MODEL_DISSEMINATION) {
        return (struct iwi_bounds){tau * iwi_rounds(ranks), tau * iwi_rounds(ranks)};
    }
    return (struct iwi_bounds){2 * tau * fmax(depth - 1, 0), 2 * tau * depth};
}

double iwi_phase_low(const iw_law *law, const iw_model_question *question, double ranks)
{
    const struct iwi_bounds latency = iwi_barrier_latency(question, ranks);
    const double leaves = iwi_slowest_of(question->barrier, ranks);

    return question->work_ns + fmax(latency.low_ns + iw_law_mean_max_ns(law, leaves), latency.high_ns);
}

double iwi_phase_high(const iw_law *law, const iw_model_question *question, double ranks)
{
    return question->work_ns + iwi_barrier_latency(question, ranks).high_ns + iw_law_mean_max_ns(law, ranks);
}

iw_status iwi_question_check(const iw_log *log, const iw_model_question *question, double ranks)
{
    if (!(question->work_ns >= 0) || isinf(question->work_ns) || !(question->latency_ns >= 0) ||
        isinf(question->latency_ns)) {
        return iwi_fail(log, IW_ERR_RANGE,
                        "a phase of %g ns and a latency of %g ns: both must be times of at least 0",
                        question->work_ns, question->latency_ns);
    }
    if (!(ranks >= 1) || ranks > MOST_RANKS) {
        return iwi_fail(log, IW_ERR_RANGE, "%.0f ranks; there must be 1 to 2^62", ranks);
    }
    return IW_OK;
}

static iw_estimate exactly(double value)
{
    return (iw_estimate){value, value, value};
}

/* So much later, and not before `least_ns`; what is no number stays so. */
static iw_estimate later(iw_estimate estimate, double ns, double least_ns)
{
    iw_estimate sum = {estimate.value + ns, estimate.low + ns, estimate.high + ns};

    sum.value = sum.value < least_ns ? least_ns : sum.value;
    sum.low = sum.low < least_ns ? least_ns : sum.low;
    sum.high = sum.high < least_ns ? least_ns : sum.high;
    return sum;
}

void iwi_fill_row(const iw_model_question *question, uint64_t ranks, iw_estimate slowest_leaf,
                  iw_estimate slowest, iw_model_row *row)
{
    const struct iwi_bounds latency = iwi_barrier_latency(question, (double)ranks);

    row->ranks = ranks;
    row->median_ns = (double)NAN;
    row->noiseless_ns = question->work_ns + latency.high_ns;
    row->slowest_ns = slowest;
    row->low_ns = later(slowest_leaf, question->work_ns + latency.low_ns, row->noiseless_ns);
    row->high_ns = later(slowest, row->noiseless_ns, row->noiseless_ns);
}

iw_status iw_model_answer(const iw_log *log, const iw_law *law, const iw_model_question *question,
                          uint64_t ranks, iw_model_row *row_p)
{
    const double leaves = iwi_slowest_of(question->barrier, (double)ranks);

    IW_TRY(iwi_question_check(log, question, (double)ranks));
    iwi_fill_row(question, ranks, exactly(iw_law_mean_max_ns(law, leaves)),
                 exactly(iw_law_mean_max_ns(law, (double)ranks)), row_p);
    row_p->support = IW_SUPPORT_EXACT;
    return IW_OK;
}
