/* A whole input file as one read-only piece of memory.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_INPUT_H
#define IWI_INPUT_H

#include "core/base/base.h"

struct iwi_input {
    const char *data; /* no NUL behind it; not NULL even when size is 0 */
    size_t size;
    void *map;    /* or NULL */
    char *buffer; /* or NULL */
};

/* Maps a regular file; reads anything else (a pipe) to its end. IW_ERR_IO, IW_ERR_NOMEM. */
IW_NODISCARD iw_status iwi_input_open(const iw_log *log, const char *path, struct iwi_input *input);

/* What lies before `end` will hardly be read again: a mapped file need not keep it in memory. *forgotten_p
 * counts the bytes that have been given up so far, 0 at first; little at a time is not worth it. */
void iwi_input_forget(const struct iwi_input *input, const char *end, size_t *forgotten_p);

void iwi_input_close(struct iwi_input *input);

#endif
