/* What a benchmark measures, and which phases of it are kept.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_BENCH_KEEP_H
#define IWI_BENCH_KEEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <idlewave/internal/bench.h>
#include <idlewave/log.h>

/* Sums over the phases of a block. */
struct iwi_block_sums {
    bool is_noisy;
    uint64_t phases;
    double qt_ns, bt_ns;
};

struct iwi_bench_keep {
    size_t count, capacity, most; /* kept; room; never more room than that */
    uint64_t seen, stride;        /* of all that were seen, phase i * stride is the i-th that is kept */
    double *qt_ns, *bt_ns;
    uint32_t *block;
    bool *is_noisy;
    /* Of all phases that were seen, kept or not. */
    size_t block_count, block_capacity;
    struct iwi_block_sums *blocks;
};

/* `most`: at least 2. */
void iwi_bench_keep_init(struct iwi_bench_keep *keep, size_t most);
void iwi_bench_keep_release(struct iwi_bench_keep *keep);

/* Before a block, which is the next one: room for so many further phases, with memory that has been touched,
 * so that no page fault is measured. Where it would be too much, every other phase is let go. IW_ERR_NOMEM,
 * logged. */
IW_NODISCARD iw_status iwi_bench_keep_room(const iw_log *log, struct iwi_bench_keep *keep, uint64_t phases);

static inline void iwi_bench_keep_add(struct iwi_bench_keep *keep, uint32_t block, bool is_noisy,
                                      double qt_ns, double bt_ns)
{
    struct iwi_block_sums *sums = &keep->blocks[block];

    keep->block_count = (size_t)block + 1;
    sums->is_noisy = is_noisy;
    sums->phases++;
    sums->qt_ns += qt_ns;
    sums->bt_ns += bt_ns;
    if (keep->seen++ % keep->stride == 0 && keep->count < keep->capacity) {
        const size_t i = keep->count++;

        keep->block[i] = block;
        keep->is_noisy[i] = is_noisy;
        keep->qt_ns[i] = qt_ns;
        keep->bt_ns[i] = bt_ns;
    }
}

/* iw_bench_samples_free(), under a name that the MPI parts do not export. */
void iwi_bench_samples_drop(iw_bench_samples *samples);

#endif
