/* Bump allocation in blocks of 64 KiB, or larger for what does not fit.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "base/arena.h"

#include <stdlib.h>

#include "base/base.h"

struct iwi_arena_block {
    struct iwi_arena_block *older;
    max_align_t memory[];
};

enum { BLOCK_BYTES = 65536 };

static iw_status add_block(const iw_log *log, struct iwi_arena *arena, size_t bytes)
{
    const size_t size = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;
    struct iwi_arena_block *block = calloc(1, sizeof *block + size);

    if (block == NULL) {
        return iwi_fail(log, IW_ERR_NOMEM, "out of memory for %zu bytes", size);
    }
    block->older = arena->blocks;
    arena->blocks = block;
    arena->used = 0;
    arena->size = size;
    return IW_OK;
}

void *iwi_arena_alloc(const iw_log *log, struct iwi_arena *arena, size_t bytes)
{
    const size_t unit = sizeof(max_align_t);
    size_t rounded;
    char *memory;

    if (bytes > SIZE_MAX / 4) {
        (void)iwi_fail(log, IW_ERR_NOMEM, "out of memory for %zu bytes", bytes);
        return NULL;
    }
    rounded = (bytes + unit - 1) / unit * unit;
    if (arena->blocks == NULL || arena->size - arena->used < rounded) {
        if (add_block(log, arena, rounded) != IW_OK) {
            return NULL;
        }
    }
    memory = (char *)arena->blocks->memory + arena->used;
    arena->used += rounded;
    return memory;
}

void iwi_arena_release(struct iwi_arena *arena)
{
    while (arena->blocks != NULL) {
        struct iwi_arena_block *older = arena->blocks->older;

        free(arena->blocks);
        arena->blocks = older;
    }
    arena->used = arena->size = 0;
}
