/* Detours of one source on one CPU, counted by stretches of time, on their way into a digest.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_DIGEST_COUNTER_H
#define IWI_DIGEST_COUNTER_H

#include <idlewave/digest.h>

/* What comes in a few stretches only may be a burst that any node has now and then, and does not count: a
 * value is steady if it is that without its four largest. */
enum { IWI_DIGEST_BURST = 4 };

/* Detours: their number, time, the sum of its squares, and the longest (iw_digest_sum). */
struct iwi_digest_sums {
    double of[IW_DIGEST_SUMS];
};

struct iwi_digest_counter {
    struct iwi_digest_sums by_stretch[IW_DIGEST_STRETCHES];
    uint64_t by_length[IW_DIGEST_LENGTHS];
};

/* Adds, but for the longest. */
void iwi_digest_sums_add(struct iwi_digest_sums *to, const struct iwi_digest_sums *from);

/* One more detour. `at`: where in the recording it began, in [0, 1). */
void iwi_digest_count(struct iwi_digest_counter *counter, double at, double time_ns);

/* What was counted becomes a cell of the last CPU; nothing is added for no detours. `source`: its number. */
IW_NODISCARD iw_status iwi_digest_put(const iw_log *log, iw_digest *digest, size_t source,
                                      const struct iwi_digest_counter *counter);

#endif
