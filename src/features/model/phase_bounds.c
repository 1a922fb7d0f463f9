/* Phases under a law of noise: bounds of their mean time, ranks that wait for neighbours, where they take
 * twice as long.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>

#include <idlewave/model.h>

#include "core/base/base.h"
#include "features/model/law.h"

/* Bounds of the mean time of a phase: work with noise, then a barrier.
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

static const double MOST_RANKS = 0x1p62;

/* Levels below the root of a complete binary tree, floor(log2 N); rounds of dissemination, ceil(log2 N). */
static double tree_depth(double ranks)
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

/* Latencies of the lower and the upper bound. */
static struct iwi_bounds barrier_latency(const iw_model_question *question, double ranks)
{
    const double tau = question->latency_ns;
    const double depth = tree_depth(ranks);

    if (question->barrier == IW_MODEL_DISSEMINATION) {
        return (struct iwi_bounds){tau * iwi_rounds(ranks), tau * iwi_rounds(ranks)};
    }
    return (struct iwi_bounds){2 * tau * fmax(depth - 1, 0), 2 * tau * depth};
}

double iwi_phase_low(const iw_law *law, const iw_model_question *question, double ranks)
{
    const struct iwi_bounds latency = barrier_latency(question, ranks);
    const double leaves = iwi_slowest_of(question->barrier, ranks);

    return question->work_ns + fmax(latency.low_ns + iw_law_mean_max_ns(law, leaves), latency.high_ns);
}

static double phase_high(const iw_law *law, const iw_model_question *question, double ranks)
{
    return question->work_ns + barrier_latency(question, ranks).high_ns + iw_law_mean_max_ns(law, ranks);
}

iw_status iwi_question_check(const iw_log *log, const iw_model_question *question, double ranks)
{
    if (!(question->work_ns >= 0) || isinf(question->work_ns) || !(question->latency_ns >= 0) ||
        isinf(question->latency_ns)) {
        return iwi_fail(log, IW_ERR_RANGE, "a phase of %g ns and a latency of %g ns: neither may be negative",
                        question->work_ns, question->latency_ns);
    }
    if (!(ranks >= 1) || ranks > MOST_RANKS) {
        return iwi_fail(log, IW_ERR_RANGE, "%.0f ranks: use 1 to 2^62", ranks);
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
    const struct iwi_bounds latency = barrier_latency(question, (double)ranks);

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

/* Phases without a barrier: ranks on a line that wait for their neighbours, under exponential noise. */

static iw_model_chain chain_of(double growth, double noise_ns, const iw_model_question *question)
{
    return (iw_model_chain){.growth = growth,
                            .phase_ns = question->work_ns + question->latency_ns + growth * noise_ns,
                            .decay_ns_per_rank = (growth - 1.0) * noise_ns};
}

bool iw_model_chains(const iw_law *law, const iw_model_question *question, iw_model_chain chains[2])
{
    if (law->ops != &iwi_law_exp && law->ops != &iwi_law_phase_exp) {
        return false;
    }
    chains[0] = chain_of(IW_GROWTH_ONE_WAY, law->u.exp.mean_ns, question);
    chains[1] = chain_of(IW_GROWTH_BOTH_WAYS, law->u.exp.mean_ns, question);
    return true;
}

/* N_1/2: the ranks from which on a phase takes twice as long as on one. */

/* 2^133, or 10^40, ranks: what needs more never happens. */
enum { ENDLESS_LOG2 = 133 };

struct search {
    const iw_law *law;
    const iw_model_question *question;
    bool is_low; /* of the lower bound, else of the upper */
    double twice_ns;
};

static bool is_reached(const struct search *s, double ranks)
{
    return (s->is_low ? iwi_phase_low(s->law, s->question, ranks) : phase_high(s->law, s->question, ranks)) >=
           s->twice_ns;
}

/* The fewest ranks with a bound of at least twice the time of one, to a millionth; INFINITY: none. Bounds
 * rise with N. */
static double find(const struct search *s)
{
    int low_log2 = 0, high_log2 = ENDLESS_LOG2;
    double low, high;

    if (!is_reached(s, exp2(high_log2))) {
        return (double)INFINITY;
    }
    while (high_log2 - low_log2 > 1) {
        const int middle = (low_log2 + high_log2) / 2;

        if (is_reached(s, exp2(middle))) {
            high_log2 = middle;
        } else {
            low_log2 = middle;
        }
    }
    low = exp2(low_log2);
    high = exp2(high_log2);
    while (high - low > 1 && high - low > 1e-6 * low) {
        const double middle = floor(low + (high - low) / 2);

        if (is_reached(s, middle)) {
            high = middle;
        } else {
            low = middle;
        }
    }
    return high;
}

static iw_status check(const iw_log *log, const iw_model_question *question)
{
    if (!(question->work_ns > 0)) {
        return iwi_fail(log, IW_ERR_RANGE, "a phase without work cannot take twice as long as its work");
    }
    return iwi_question_check(log, question, 1);
}

iw_status iw_model_doubled(const iw_log *log, const iw_law *law, const iw_model_question *question,
                           double *first_p, double *last_p)
{
    struct search s = {law, question, false, 2 * (question->work_ns + iw_law_mean_max_ns(law, 1))};

    IW_TRY(check(log, question));
    *first_p = find(&s);
    s.is_low = true;
    *last_p = find(&s);
    return IW_OK;
}

const char *iw_doubling_rule_name(iw_doubling_rule rule)
{
    static const char *const names[] = {
        [IW_DOUBLING_PAPERS] = "papers", [IW_DOUBLING_OWN] = "own", [IW_DOUBLING_BOUND] = "bound"};

    return rule < sizeof names / sizeof names[0] ? names[rule] : NULL;
}

iw_status iw_model_half_ranks(const iw_log *log, const iw_law *law, const iw_model_question *question,
                              iw_doubling_rule *rule_p, double *ranks_p)
{
    double first;

    IW_TRY(check(log, question));
    if (law->ops->half_ranks == NULL) {
        *rule_p = IW_DOUBLING_BOUND;
        return iw_model_doubled(log, law, question, &first, ranks_p);
    }
    *ranks_p = law->ops->half_ranks(law, question, rule_p);
    return IW_OK;
}
