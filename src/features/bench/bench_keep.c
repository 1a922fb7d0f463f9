/* What a benchmark measured: which phases are kept, and how it is freed. Part of what is loaded for each MPI,
 * too.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "features/bench/bench_keep.h"

void iwi_bench_samples_drop(iw_bench_samples *samples)
{
    if (samples == NULL) {
        return;
    }
    free(samples->block);
    free(samples->is_noisy);
    free(samples->qt_ns);
    free(samples->bt_ns);
    free(samples->qtbt_ns);
    free(samples->op_ns);
    free(samples->of_rank);
    free(samples->blocks);
    free(samples);
}

enum { FIRST_CAPACITY = 4096, FIRST_BLOCKS = 256 };

void iwi_bench_keep_init(struct iwi_bench_keep *keep, size_t most)
{
    *keep = (struct iwi_bench_keep){.most = most, .stride = 1};
}

void iwi_bench_keep_release(struct iwi_bench_keep *keep)
{
    free(keep->qt_ns);
    free(keep->bt_ns);
    free(keep->block);
    free(keep->is_noisy);
    free(keep->blocks);
}

static void thin(struct iwi_bench_keep *keep)
{
    const size_t left = (keep->count + 1) / 2;

    for (size_t i = 1; i < left; i++) {
        keep->qt_ns[i] = keep->qt_ns[2 * i];
        keep->bt_ns[i] = keep->bt_ns[2 * i];
        keep->block[i] = keep->block[2 * i];
        keep->is_noisy[i] = keep->is_noisy[2 * i];
    }
    keep->count = left;
    keep->stride *= 2;
}

static bool grow_array(void **array, size_t old_count, size_t new_count, size_t size)
{
    char *grown = realloc(*array, new_count * size);

    if (grown == NULL) {
        return false;
    }
    memset(grown + old_count * size, 0, (new_count - old_count) * size);
    *array = grown;
    return true;
}

static iw_status grow(const iw_log *log, struct iwi_bench_keep *keep, size_t capacity)
{
    void *qt_ns = keep->qt_ns, *bt_ns = keep->bt_ns, *block = keep->block, *is_noisy = keep->is_noisy;
    const size_t old = keep->capacity;
    const bool is_grown = grow_array(&qt_ns, old, capacity, sizeof *keep->qt_ns) &&
                          grow_array(&bt_ns, old, capacity, sizeof *keep->bt_ns) &&
                          grow_array(&block, old, capacity, sizeof *keep->block) &&
                          grow_array(&is_noisy, old, capacity, sizeof *keep->is_noisy);

    keep->qt_ns = qt_ns;
    keep->bt_ns = bt_ns;
    keep->block = block;
    keep->is_noisy = is_noisy;
    if (!is_grown) {
        return iwi_fail(log, IW_ERR_NOMEM, "out of memory for %zu phases", capacity);
    }
    keep->capacity = capacity;
    return IW_OK;
}

static iw_status grow_blocks(const iw_log *log, struct iwi_bench_keep *keep)
{
    const size_t capacity = 2 * keep->block_capacity + FIRST_BLOCKS;
    void *blocks = keep->blocks;

    if (!grow_array(&blocks, keep->block_capacity, capacity, sizeof *keep->blocks)) {
        return iwi_fail(log, IW_ERR_NOMEM, "out of memory for %zu blocks of phases", capacity);
    }
    keep->blocks = blocks;
    keep->block_capacity = capacity;
    return IW_OK;
}

iw_status iwi_bench_keep_room(const iw_log *log, struct iwi_bench_keep *keep, uint64_t phases)
{
    size_t capacity =
        keep->capacity > 0 ? keep->capacity : (size_t)iwi_min(FIRST_CAPACITY, (int64_t)keep->most);

    if (keep->block_count == keep->block_capacity) {
        IW_TRY(grow_blocks(log, keep));
    }
    while (keep->count + phases / keep->stride + 1 > keep->most && keep->count > 1) {
        thin(keep);
    }
    while (capacity < keep->most && capacity < keep->count + phases / keep->stride + 1) {
        capacity = (size_t)iwi_min((int64_t)(2 * capacity), (int64_t)keep->most);
    }
    return capacity > keep->capacity ? grow(log, keep, capacity) : IW_OK;
}
