/* A benchmark that nobody ran: phases whose means are known.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWT_MADE_BENCH_H
#define IWT_MADE_BENCH_H

#include <idlewave/internal/bench.h>

/* Two ranks, `blocks` blocks of 50 phases of 1 ms. Quiet phases work 1,000 us, odd ones 20 us more, and spend
 * 10 us in the operation: 1,020 us on average. With noise, blocks alternate as bench has them, and each tenth
 * noisy phase is 1,020 us longer: 10 % on average. */
iw_bench_samples *iwt_made_bench(uint32_t blocks, bool has_noise);

#endif
