/* Wilcoxon's signed ranks, exactly: all signs are equally likely.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>

#include "core/numeric/numeric.h"

/* Ranks count from 1; those of equal sizes share their mean. Twice that is a whole number. */
static size_t twice_the_rank(const double *differences, size_t count, size_t of)
{
    size_t smaller = 0, equal = 0;

    for (size_t i = 0; i < count; i++) {
        smaller += differences[i] != 0.0 && fabs(differences[i]) < fabs(differences[of]);
        equal += fabs(differences[i]) == fabs(differences[of]);
    }
    return 2 * smaller + equal + 1;
}

double iwi_signed_ranks_above(const double *differences, size_t count)
{
    double chances[IWI_MOST_SIGNED_RANKS * (IWI_MOST_SIGNED_RANKS + 1) + 1] = {1.0}; /* of each sum */
    size_t most = 0, seen = 0;
    double above = 0.0;

    if (count > IWI_MOST_SIGNED_RANKS) {
        return (double)NAN;
    }
    for (size_t i = 0; i < count; i++) {
        const size_t rank = differences[i] != 0.0 ? twice_the_rank(differences, count, i) : 0;

        seen += differences[i] > 0.0 ? rank : 0;
        most += rank;
        for (size_t sum = most + 1; rank > 0 && sum-- > 0;) {
            chances[sum] = (chances[sum] + (sum >= rank ? chances[sum - rank] : 0.0)) / 2.0;
        }
    }
    for (size_t sum = seen; sum <= most; sum++) {
        above += chances[sum];
    }
    return above;
}
