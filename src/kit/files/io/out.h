/* Buffered output to a file or to memory, with one check at the end.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_OUT_H
#define IWI_OUT_H

#include <string.h>

#include "core/base/output.h"

/* Most bytes that one iwi_out_reserve() may ask for. */
#define IWI_MOST_OUT_RESERVE 512

struct iwi_out {
    const iw_log *log;
    bool is_memory;
    struct iwi_output file;
    char *buffer;
    size_t used, capacity;
    iw_status status; /* the first failure, logged; later output is dropped */
};

/* `path` "-": standard output, where it stands. */
IW_NODISCARD iw_status iwi_out_open_file(const iw_log *log, const char *path, struct iwi_out *out);

/* Everything stays in buffer[0 .. used - 1] until iwi_out_close(). */
IW_NODISCARD iw_status iwi_out_open_memory(const iw_log *log, struct iwi_out *out);

/* Makes room in the buffer for IWI_MOST_OUT_RESERVE bytes. */
void iwi_out_make_room(struct iwi_out *out);

/* Where up to IWI_MOST_OUT_RESERVE bytes may be written; never NULL. The writer then adds to out->used. */
static inline char *iwi_out_reserve(struct iwi_out *out)
{
    if (out->capacity - out->used < IWI_MOST_OUT_RESERVE) {
        iwi_out_make_room(out);
    }
    return out->buffer + out->used;
}

/* At most IWI_MOST_OUT_RESERVE bytes. */
static inline void iwi_out_bytes(struct iwi_out *out, const void *bytes, size_t count)
{
    memcpy(iwi_out_reserve(out), bytes, count);
    out->used += count;
}

/* Appends as printf() does, up to IWI_MOST_OUT_RESERVE bytes; longer texts are cut. */
void iwi_out_print(struct iwi_out *out, const char *format, ...) IW_PRINTF(2, 3);

/* Writes the rest, closes and returns what happened; after a failure the older file stays. */
IW_NODISCARD iw_status iwi_out_close(struct iwi_out *out);

#endif
