/* Memory that is freed all at once: for readers and engines that make many small things.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_ARENA_H
#define IWI_ARENA_H

#include <stddef.h>

#include <idlewave/log.h>

struct iwi_arena_block;

struct iwi_arena {
    struct iwi_arena_block *blocks; /* newest first */
    size_t used, size;              /* of the newest */
};

#define IWI_ARENA_INIT \
    {                  \
        NULL, 0, 0     \
    }

/* Zeroed memory aligned for any type, valid until iwi_arena_release(); NULL with the failure logged. */
void *iwi_arena_alloc(const iw_log *log, struct iwi_arena *arena, size_t bytes);

void iwi_arena_release(struct iwi_arena *arena);

#endif
