/* Makes measured times rise with the size, as costs must: the nearest sequence that does.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>

#include "features/network/net_fit.h"

/* A point weighs no more than one that is known to this share, and no less than one known to that. */
#define SHARPEST 0.005
#define BLUNTEST 1.0

/* A stretch of points that have one value, in logarithms. */
struct block {
    double sum, weight;
    size_t count;
};

static double weight_of(const iw_estimate *value)
{
    const double reach = fmax(value->high - value->value, value->value - value->low);
    const double share = fmin(fmax(reach / value->value, SHARPEST), BLUNTEST);

    return 1.0 / (share * share);
}

/* Pool adjacent violators: a point below the one before joins it in their mean, as often as needed. */
void iwi_net_rising(iw_estimate *values, size_t count)
{
    struct block blocks[IWI_NET_POINTS_MAX];
    size_t block_count = 0, at = 0;

    for (size_t i = 0; i < count; i++) {
        const double weight = weight_of(&values[i]);

        blocks[block_count++] = (struct block){weight * log(values[i].value), weight, 1};
        while (block_count > 1 && blocks[block_count - 1].sum / blocks[block_count - 1].weight <
                                      blocks[block_count - 2].sum / blocks[block_count - 2].weight) {
            blocks[block_count - 2].sum += blocks[block_count - 1].sum;
            blocks[block_count - 2].weight += blocks[block_count - 1].weight;
            blocks[block_count - 2].count += blocks[block_count - 1].count;
            block_count--;
        }
    }
    for (size_t b = 0; b < block_count; b++) {
        for (size_t i = 0; i < blocks[b].count; i++) {
            const double factor = exp(blocks[b].sum / blocks[b].weight) / values[at].value;

            values[at].value *= factor;
            values[at].low *= factor;
            values[at++].high *= factor;
        }
    }
}
