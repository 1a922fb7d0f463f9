/* The messages that ranks side by side wait for, in the order of their arrival.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_FLOW_WAITS_H
#define IWI_FLOW_WAITS_H

#include "core/base/base.h"
#include "core/sim/flow/flow_grid.h"

/* An arrival that does not come: it is served last. */
#define IWI_ABSENT IWI_NEVER

/* A tag is a direction times this, and a level. */
enum { IWI_TAG = 8 };

_Static_assert((int)IWI_TAG > (int)IW_NET_INNER_MAX, "levels must fit into tags");

/* The waits of a block: a row for each message, first in the order of directions, then in that of arrival. */
struct iwi_wait_block {
    iw_time arrivals[IWI_GRID_FAN][IWI_GRID_BLOCK];
    int64_t tags[IWI_GRID_FAN][IWI_GRID_BLOCK]; /* where levels differ: direction * IWI_TAG + level */
    iw_time start[IWI_GRID_BLOCK];
};

/* Rows `low` and `high` of the block: the earlier arrival first. Without levels messages of one time are
 * alike. */
IWI_STEP void waits_compare(struct iwi_wait_block *block, uint32_t low, uint32_t high, size_t count,
                            const bool has_levels)
{
    iw_time *restrict a = block->arrivals[low];
    iw_time *restrict b = block->arrivals[high];
    int64_t *restrict a_tag = block->tags[low];
    int64_t *restrict b_tag = block->tags[high];

    for (size_t n = 0; n < count; n++) {
        const iw_time x = a[n], y = b[n];

        if (has_levels) {
            const int64_t p = a_tag[n], q = b_tag[n];
            const bool is_later = x > y || (x == y && p > q);

            a_tag[n] = is_later ? q : p;
            b_tag[n] = is_later ? p : q;
        }
        a[n] = iwi_min(x, y);
        b[n] = iwi_max(x, y);
    }
}

/* Batcher's merge exchange (Knuth, volume 3, 5.2.2 M): sorts any number of rows. */
IWI_STEP void iwi_waits_sort(struct iwi_wait_block *block, uint32_t rows, size_t count, const bool has_levels)
{
    uint32_t top = 1;

    while (top * 2 < rows) {
        top *= 2;
    }
    for (uint32_t p = rows > 1 ? top : 0; p > 0; p /= 2) {
        uint32_t q = top, r = 0, d = p;

        for (;;) {
            for (uint32_t k = 0; k + d < rows; k++) {
                if ((k & p) == r) {
                    waits_compare(block, k, k + d, count, has_levels);
                }
            }
            if (q == p) {
                break;
            }
            d = q - p;
            q /= 2;
            r = p;
        }
    }
}

#endif
