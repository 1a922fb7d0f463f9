/* Detours of one source on one CPU, counted by stretches of time, on their way into a digest.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/fleet/digest_counter.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/base.h"
#include "core/base/order.h"
#include "features/fleet/node_digest.h"

void iwi_digest_sums_add(struct iwi_digest_sums *to, const struct iwi_digest_sums *from)
{
    for (size_t i = 0; i < IW_DIGEST_LONGEST; i++) {
        to->of[i] += from->of[i];
    }
    to->of[IW_DIGEST_LONGEST] = fmax(to->of[IW_DIGEST_LONGEST], from->of[IW_DIGEST_LONGEST]);
}

static size_t length_bin(double time_ns)
{
    const int bin = time_ns >= 1.0 ? ilogb(time_ns) : 0;

    return bin < IW_DIGEST_LENGTHS ? (size_t)bin : IW_DIGEST_LENGTHS - 1;
}

void iwi_digest_count(struct iwi_digest_counter *counter, double at, double time_ns)
{
    const int stretch = (int)(at * IW_DIGEST_STRETCHES), last = IW_DIGEST_STRETCHES - 1;
    const struct iwi_digest_sums one = {{1.0, time_ns, time_ns * time_ns, time_ns}};

    iwi_digest_sums_add(&counter->by_stretch[stretch < last ? stretch : last], &one);
    counter->by_length[length_bin(time_ns)]++;
}

IWI_COMPARE(descending, double, IWI_ORDER(*right, *left))

/* What is left of one sum without the stretches that have most of it. */
static double steady_of(const struct iwi_digest_counter *counter, iw_digest_sum sum)
{
    double values[IW_DIGEST_STRETCHES], left = 0.0;

    for (size_t i = 0; i < IW_DIGEST_STRETCHES; i++) {
        values[i] = counter->by_stretch[i].of[sum];
    }
    iwi_sort(values, IW_DIGEST_STRETCHES, descending);
    if (sum == IW_DIGEST_LONGEST) {
        return values[IWI_DIGEST_BURST];
    }
    for (size_t i = IWI_DIGEST_BURST; i < IW_DIGEST_STRETCHES; i++) {
        left += values[i];
    }
    return left;
}

static void add_exactly(iw_digest_source *source, const struct iwi_digest_sums *all,
                        const struct iwi_digest_counter *counter)
{
    source->count += (uint64_t)all->of[IW_DIGEST_COUNT];
    source->busy_ns += (int64_t)llround(all->of[IW_DIGEST_BUSY]);
    source->longest_ns = iwi_max(source->longest_ns, (int64_t)llround(all->of[IW_DIGEST_LONGEST]));
    for (size_t i = 0; i < IW_DIGEST_LENGTHS; i++) {
        source->by_length[i] += counter->by_length[i];
    }
}

iw_status iwi_digest_put(const iw_log *log, iw_digest *digest, size_t source,
                         const struct iwi_digest_counter *counter)
{
    iw_digest_cell cell = {.cpu = (uint32_t)(digest->cpu_count - 1)};
    struct iwi_digest_sums all = {{0.0}};

    for (size_t i = 0; i < IW_DIGEST_STRETCHES; i++) {
        cell.stretches |= counter->by_stretch[i].of[IW_DIGEST_COUNT] > 0.0 ? 1U << i : 0;
        iwi_digest_sums_add(&all, &counter->by_stretch[i]);
    }
    if (cell.stretches == 0) {
        return IW_OK;
    }
    for (iw_digest_sum sum = IW_DIGEST_COUNT; sum < IW_DIGEST_SUMS; sum++) {
        cell.all[sum] = iwi_digest_code(all.of[sum]);
        cell.steady[sum] = iwi_digest_code(steady_of(counter, sum));
    }
    add_exactly(&digest->sources[source], &all, counter);
    return iwi_digest_add_cell(log, &digest->sources[source], &cell);
}
