/* How a digest lies in a file: docs/reference/formats/digest.md.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_DIGEST_LAYOUT_H
#define IWI_DIGEST_LAYOUT_H

#include <idlewave/digest.h>

#include "kit/files/io/digest_magic.h"

/* Magic with the version, the payload's size as 4 bytes; behind the payload its SipHash as 8. Numbers of more
 * than one byte: the lowest byte first. */
enum {
    IWI_DIGEST_HEAD_BYTES = 12,
    IWI_DIGEST_HASH_BYTES = 8,
    IWI_DIGEST_TEXT_MOST = 4095 /* bytes of a name or a value */
};

/* Most sources come in all stretches: these are written as 0. */
#define IWI_DIGEST_ALL_STRETCHES ((1U << IW_DIGEST_STRETCHES) - 1)

/* Signed as unsigned, small ones small: 0, -1, 1, -2, ... */
static inline uint64_t iwi_digest_fold(int64_t value)
{
    return ((uint64_t)value << 1) ^ (value < 0 ? UINT64_MAX : 0);
}

static inline int64_t iwi_digest_unfold(uint64_t folded)
{
    return (int64_t)(folded >> 1) ^ -(int64_t)(folded & 1);
}

/* Neighbouring cells are alike, and so are the two halves of a cell: what is written is how far a code is
 * from what these say. The state of one column of sums. */
struct iwi_digest_column {
    int64_t all,
        lag; /* of the cell before: the code of all, and how far that of the steady part was from it */
};

#endif
