/* The bytes of a file or of memory, unpacked where gzip packed them, in pieces of any size.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_UNPACKED_H
#define IWI_UNPACKED_H

#include <zlib.h>

#include "core/base/base.h"

struct iwi_unpacked {
    const iw_log *log;
    const char *name; /* borrowed; for messages */
    int fd;           /* -1: memory */
    unsigned char *buffer;
    const unsigned char *in; /* packed bytes that were not used yet */
    size_t in_size;
    bool is_packed, is_in_member, has_ended;
    z_stream zlib;
};

/* IW_ERR_IO, IW_ERR_NOMEM. To be closed if IW_OK. */
IW_NODISCARD iw_status iwi_unpacked_open(const iw_log *log, const char *path, struct iwi_unpacked *bytes);
IW_NODISCARD iw_status iwi_unpacked_open_memory(const iw_log *log, const char *name, const void *data,
                                                size_t size, struct iwi_unpacked *bytes);

/* Fills to[0 .. size - 1]; *got_p < size only at the end. IW_ERR_IO; IW_ERR_FORMAT: damaged;
 * IW_ERR_TRUNCATED: the packed file ends early. */
IW_NODISCARD iw_status iwi_unpacked_read(struct iwi_unpacked *bytes, char *to, size_t size, size_t *got_p);

void iwi_unpacked_close(struct iwi_unpacked *bytes);

#endif
