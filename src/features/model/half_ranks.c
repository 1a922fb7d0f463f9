/* N_1/2: the ranks from which on a phase takes twice as long as on one.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/model.h>

#include <math.h>

#include "core/base/base.h"
#include "features/model/law.h"

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
    return (s->is_low ? iwi_phase_low(s->law, s->question, ranks)
                      : iwi_phase_high(s->law, s->question, ranks)) >= s->twice_ns;
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
        return iwi_fail(log, IW_ERR_RANGE, "without work no phase can take twice as long as its work");
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

const char *iw_half_rule_name(iw_half_rule rule)
{
    static const char *const names[] = {
        [IW_HALF_PAPERS] = "papers", [IW_HALF_OWN] = "own", [IW_HALF_BOUND] = "bound"};

    return rule < sizeof names / sizeof names[0] ? names[rule] : NULL;
}

iw_status iw_model_half_ranks(const iw_log *log, const iw_law *law, const iw_model_question *question,
                              iw_half_rule *rule_p, double *ranks_p)
{
    double first;

    IW_TRY(check(log, question));
    if (law->ops->half_ranks == NULL) {
        *rule_p = IW_HALF_BOUND;
        return iw_model_doubled(log, law, question, &first, ranks_p);
    }
    *ranks_p = law->ops->half_ranks(law, question, rule_p);
    return IW_OK;
}
