/* Chooses the shape of a grid of ranks.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/program/dims.h"

#include "core/base/base.h"

/* The largest divisor of n whose square is at most n. */
static uint32_t half_divisor(uint32_t n)
{
    uint32_t best = 1;

    for (uint32_t d = 1; (uint64_t)d * d <= n; d++) {
        best = n % d == 0 ? d : best;
    }
    return best;
}

/* n = shape[0] * shape[1] * shape[2], larger first, with the least sum: the most square one. */
static void three_divisors(uint32_t n, uint32_t shape[3])
{
    uint64_t best_sum = UINT64_MAX;

    for (uint32_t d = 1; (uint64_t)d * d * d <= n; d++) {
        if (n % d == 0) {
            const uint32_t middle = half_divisor(n / d);
            const uint32_t large = n / d / middle;

            if ((uint64_t)d + middle + large < best_sum) {
                best_sum = (uint64_t)d + middle + large;
                shape[0] = large;
                shape[1] = middle;
                shape[2] = d;
            }
        }
    }
    if (shape[1] < shape[2]) {
        const uint32_t smaller = shape[1];

        shape[1] = shape[2];
        shape[2] = smaller;
    }
}

static void most_square(uint32_t n, uint32_t count, uint32_t shape[3])
{
    shape[0] = n;
    if (count == 2) {
        shape[1] = half_divisor(n);
        shape[0] = n / shape[1];
    } else if (count == 3) {
        three_divisors(n, shape);
    }
}

iw_status iwi_dims_choose(const iw_log *log, const char *op, uint32_t ranks, uint32_t count, uint32_t *dims)
{
    uint32_t shape[3] = {0};
    uint64_t given = 1;
    uint32_t free_count = 0;
    uint32_t next = 0;

    for (uint32_t d = 0; d < count; d++) {
        free_count += dims[d] == 0;
        given = dims[d] == 0 || given > ranks ? given : given * dims[d];
    }
    if (given > ranks || ranks % given != 0 || (free_count == 0 && given != ranks)) {
        return iwi_fail(log, IW_ERR_RANGE,
                        "%s: the given dimensions %s %" PRIu32 " ranks; leave them 0 to have them chosen", op,
                        free_count == 0 ? "do not multiply to" : "do not divide", ranks);
    }
    most_square((uint32_t)(ranks / given), free_count, shape);
    for (uint32_t d = 0; d < count; d++) {
        if (dims[d] == 0) {
            dims[d] = shape[next++];
        }
    }
    return IW_OK;
}
