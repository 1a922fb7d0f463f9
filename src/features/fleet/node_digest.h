/* Building digests of nodes.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_NODE_DIGEST_H
#define IWI_NODE_DIGEST_H

#include "kit/files/io/digest_magic.h"
#include <idlewave/digest.h>

/* The logarithm that stands for a value; 0 below 1. */
uint16_t iwi_digest_code(double value);

/* Steps of the logarithm in an octave: values are right to 2^(1/1024), 0.07 %. */
enum { IWI_DIGEST_STEPS = 512 };

/* Values of an octave, for whoever asks for many: other octaves differ by a power of 2, which is exact. */
struct iwi_digest_octave {
    double value[IWI_DIGEST_STEPS];
};

void iwi_digest_octave_fill(struct iwi_digest_octave *octave);

/* iw_digest_value() */
static inline double iwi_digest_value_in(const struct iwi_digest_octave *octave, uint16_t code)
{
    const unsigned step = (unsigned)code - 1;
    const uint64_t exponent = UINT64_C(1023) + step / IWI_DIGEST_STEPS;
    union {
        uint64_t bits;
        double value;
    } power = {.bits = exponent << 52};

    return code > 0 ? octave->value[step % IWI_DIGEST_STEPS] * power.value : 0.0;
}

/* The attribute of a node that was recorded while programs of users ran. */
#define IWI_DIGEST_BUSY_KEY "busy"

/* A digest without CPUs; its only source is number 0. */
IW_NODISCARD iw_status iwi_digest_new(const iw_log *log, const char *node, iw_digest **digest_p);
IW_NODISCARD iw_status iwi_digest_add_cpu(const iw_log *log, iw_digest *digest, uint32_t cpu,
                                          int64_t length_ns);
IW_NODISCARD iw_status iwi_digest_add_source(const iw_log *log, iw_digest *digest, const iw_source *source);
IW_NODISCARD iw_status iwi_digest_add_cell(const iw_log *log, iw_digest_source *source,
                                           const iw_digest_cell *cell);
/* Room for so many, so that they are there when they are counted. */
IW_NODISCARD iw_status iwi_digest_reserve_cells(const iw_log *log, iw_digest_source *source, size_t count);
IW_NODISCARD iw_status iwi_digest_set(const iw_log *log, iw_digest *digest, const char *name,
                                      const char *value);

/* ---- detours on their way into a digest ---- */

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

/* ---- how a digest lies in a file: docs/reference/formats/digest.md ---- */

/* Magic with the version, the payload's size as 4 bytes; behind the payload its SipHash as 8. Numbers of more
 * than one byte: the lowest byte first. */
enum {
    IWI_DIGEST_HEAD_BYTES = 12,
    IWI_DIGEST_HASH_BYTES = 8,
    IWI_MOST_DIGEST_TEXT = 4095 /* bytes of a name or a value */
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

/* ---- statistics of run queues ---- */

/* `path` is for messages, `node` the name of the node. IW_ERR_FORMAT, IW_ERR_RANGE, IW_ERR_NOMEM. */
IW_NODISCARD iw_status iwi_runq_digest(const iw_log *log, const char *path, const char *node,
                                       const char *data, size_t size, iw_digest **digest_p);

#endif
