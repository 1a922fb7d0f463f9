/* The longest detours of recordings, how much longer the next may be, and what that may cost.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "kit/facts/longest.h"

#include <math.h>

#include "core/base/base.h"

/* Hill's estimate takes the longest fifth, but no more than these: of longer lists only the end is a tail. */
enum { LEAST_IN_TAIL = 3, MOST_IN_TAIL = 19, LEAST_SEEN = 5 };

/* Of what was seen fewer times nothing is known. With an index of 1 there would be no mean; heavier tails
 * than 0.75 are refused by nothing but a longer recording. */
static const double UNKNOWN_INDEX = 0.5, LARGEST_INDEX = 0.75;

static const double RULE_OF_THREE = 3.0;

/* Of a slowdown, and of the job's time. */
static const double ALLOWED_SHARE = 0.2, LEAST_ALLOWED = 0.001;

void iwi_longest_add(struct iwi_longest *longest, int64_t ns)
{
    size_t place = longest->count;

    longest->seen++;
    if (longest->count == longest->room && ns <= longest->ns[longest->count - 1]) {
        return;
    }
    if (longest->count < longest->room) {
        longest->count++;
    } else {
        place--;
    }
    while (place > 0 && longest->ns[place - 1] < ns) {
        longest->ns[place] = longest->ns[place - 1];
        place--;
    }
    longest->ns[place] = ns;
}

/* mean of ln(x_i / x_(k+1)), i = 1..k: of the k longest, against the next one (Hill 1975). */
double iwi_tail_index(const struct iwi_longest *longest)
{
    const uint64_t fifth = longest->seen / 5;
    const size_t k = (size_t)iwi_max(LEAST_IN_TAIL, (int64_t)iwi_min((int64_t)fifth, MOST_IN_TAIL));
    double sum = 0.0;

    if (longest->seen < LEAST_SEEN || longest->count < k + 1) {
        return UNKNOWN_INDEX;
    }
    for (size_t i = 0; i < k; i++) {
        sum += log((double)longest->ns[i] / (double)longest->ns[k]);
    }
    return sum / (double)k;
}

double iwi_next_longest_ns(const struct iwi_longest *longest)
{
    if (longest->count == 0) {
        return 0.0;
    }
    return (double)longest->ns[0] / (1.0 - fmin(iwi_tail_index(longest), LARGEST_INDEX));
}

double iwi_unseen_slowdown(const struct iwi_longest *longest, double rate_hz, const struct iwi_met_job *job)
{
    const double meets = -expm1(-RULE_OF_THREE * rate_hz * job->quiet_s / job->phases);
    const double more_s = iwi_next_longest_ns(longest) * 1e-9 - job->phase_longest_s;

    return fmax(0.0, job->phases / job->quiet_s * meets * more_s);
}

double iwi_most_unseen(const struct iwi_longest *longest, double rate_hz)
{
    return RULE_OF_THREE * rate_hz * iwi_next_longest_ns(longest) * 1e-9;
}

double iwi_unseen_allowed(double slowdown)
{
    return fmax(ALLOWED_SHARE * slowdown, LEAST_ALLOWED);
}
