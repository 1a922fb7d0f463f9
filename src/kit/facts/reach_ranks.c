/* Up to how many ranks a recording gives estimates, by its detours alone.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/remedy.h>

#include <math.h>

#include "core/base/base.h"
#include "kit/facts/length_bins.h"
#include "kit/facts/longest.h"

/* A recording, and how long a phase is. */
struct phase {
    const struct iwi_longest *longest;
    const struct iwi_length_bins *once; /* what one place meets */
    double watched_s, work_s;
};

static bool is_reached(const struct phase *phase, double ranks)
{
    struct iwi_length_bins bins = {0};
    double longest_s;

    iwi_bins_add_all(&bins, phase->once, ranks);
    longest_s = iwi_bins_longest_s(&bins, phase->work_s);
    return iwi_unseen_slowdown(phase->longest, ranks / phase->watched_s,
                               &(struct iwi_met_job){phase->work_s, 1.0, longest_s}) <=
           iwi_unseen_allowed(longest_s / phase->work_s);
}

static double most_ranks(const struct phase *phase)
{
    double low = 0.0, high = 1.0;

    while (high < 1e9 && is_reached(phase, high)) {
        low = high;
        high *= 2.0;
    }
    while (high < 1e9 && high - low > 0.01 * high) {
        const double middle = 0.5 * (low + high);

        *(is_reached(phase, middle) ? &low : &high) = middle;
    }
    return floor(low);
}

double iw_reach_ranks(const iw_recording *recording, double work_s)
{
    int64_t room[IWI_LONGEST_ROOM];
    struct iwi_longest longest = {room, IWI_LONGEST_ROOM, 0, 0};
    struct iwi_length_bins once = {0};
    double watched_s = 0.0;

    for (size_t i = 0; i < recording->cpu_count; i++) {
        watched_s += (double)recording->cpus[i].length_ns * 1e-9;
    }
    for (size_t i = 0; i < recording->cpu_count && watched_s > 0.0; i++) {
        const iw_detours *cpu = &recording->cpus[i];

        for (size_t k = 0; k < cpu->count; k++) {
            iwi_longest_add(&longest, cpu->duration_ns[k]);
            iwi_bins_add(&once, cpu->duration_ns[k], 1.0 / watched_s, 1.0);
        }
    }
    return longest.count > 0 ? most_ranks(&(struct phase){&longest, &once, watched_s, work_s}) : 0.0;
}
