/* Finds the eager limit by votes: single trials are at the mercy of the scheduler.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "mpi/net.h"

#include <math.h>

enum { VOTES = 5, VOTES_IF_CLOSE = 11, LATE_VOTES = 3 };
#define LEAST_PAUSE_NS 4e6
#define LONG_PAUSE_NS 5e7 /* no longer than it takes: on a busy machine round trips say little */

/* A send that is not held up must end long before the receiver comes back. */
static int64_t pause_for(struct iwi_pair *pair, uint64_t bytes)
{
    const struct iwi_message_batch batch = {.kind = IWI_BATCH_ROUND_TRIP, .repetitions = 3, .bytes = bytes};
    double values[3], trip_ns;

    iwi_pair_ask(pair, &batch, values);
    trip_ns = iwi_pair_median(values, 3);
    return (int64_t)fmax(LEAST_PAUSE_NS, fmin(8 * trip_ns, fmax(LONG_PAUSE_NS, 2 * trip_ns)));
}

static bool is_eager(struct iwi_pair *pair, enum iwi_batch_kind question, uint64_t bytes, bool is_late,
                     uint32_t *votes)
{
    const uint32_t first = is_late ? LATE_VOTES : VOTES;
    struct iwi_message_batch batch = {.kind = (uint32_t)question, .repetitions = first, .bytes = bytes};
    double values[VOTES_IF_CLOSE];
    uint32_t yes = 0, all = first;

    batch.pause_ns = pause_for(pair, bytes);
    iwi_pair_ask(pair, &batch, values);
    for (uint32_t i = 0; i < first; i++) {
        yes += values[i] > 0 ? 1 : 0;
    }
    if (yes != 0 && yes != first && !is_late) {
        batch.repetitions = VOTES_IF_CLOSE - VOTES;
        iwi_pair_ask(pair, &batch, values);
        for (uint32_t i = 0; i < batch.repetitions; i++) {
            yes += values[i] > 0 ? 1 : 0;
        }
        all = VOTES_IF_CLOSE;
    }
    *votes += all;
    return 2 * yes > all;
}

/* First among powers of two, then between two of them: to the byte below 64 KiB. */
iw_net_eager iwi_pair_eager(struct iwi_pair *pair, enum iwi_batch_kind question, int64_t late_ns)
{
    iw_net_eager eager = {.is_at_most = true};
    uint64_t low = 0, high = pair->largest_bytes;
    bool is_late = false;

    if (is_eager(pair, question, pair->largest_bytes, is_late, &eager.votes)) {
        eager.bytes = pair->largest_bytes;
        eager.is_at_most = false;
        return eager;
    }
    while (high - low > (is_late ? low : 1 + low / 65536)) {
        uint64_t middle = low + (high - low) / 2;

        is_late = iwi_net_now_ns() >= late_ns;
        if (low == 0 || high / low > 2) { /* the geometric middle, as a power of two */
            unsigned low_bits = 0, high_bits = 0;

            while ((UINT64_C(2) << low_bits) <= low) {
                low_bits++;
            }
            while ((UINT64_C(2) << high_bits) <= high) {
                high_bits++;
            }
            middle = UINT64_C(1) << ((low_bits + high_bits) / 2);
            middle = middle <= low ? low + 1 : (middle >= high ? high - 1 : middle);
        }
        if (is_eager(pair, question, middle, is_late, &eager.votes)) {
            low = middle;
        } else {
            high = middle;
        }
    }
    eager.bytes = low;
    return eager;
}
