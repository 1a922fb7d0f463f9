/* Memory that is let go of all at once.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/base/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"

enum { BLOCK_BYTES = 16 << 10, BRIEF_BYTES = 256 };

struct iwi_arena_block {
    struct iwi_arena_block *next;
    size_t used, size;
    alignas(max_align_t) unsigned char bytes[];
};

static struct iwi_arena_block *add_block(struct iwi_arena *arena, size_t bytes)
{
    const size_t size = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;
    struct iwi_arena_block *block = calloc(1, sizeof *block + size);

    if (block == NULL) {
        arena->is_broken = true;
        return NULL;
    }
    block->size = size;
    block->next = arena->blocks;
    arena->blocks = block;
    return block;
}

void *iwi_arena_take(struct iwi_arena *arena, size_t count, size_t element_size)
{
    const size_t unit = alignof(max_align_t), most = SIZE_MAX / 2;
    struct iwi_arena_block *block = arena->blocks;
    size_t bytes;

    if (element_size > 0 && count > most / element_size) {
        arena->is_broken = true;
        return NULL;
    }
    bytes = (count * element_size + unit - 1) / unit * unit;
    if (block == NULL || block->size - block->used < bytes) {
        block = add_block(arena, bytes);
    }
    if (block == NULL) {
        return NULL;
    }
    block->used += bytes;
    return block->bytes + block->used - bytes;
}

const char *iwi_arena_text_list(struct iwi_arena *arena, const char *format, va_list args)
{
    char brief[BRIEF_BYTES]; /* nearly all are: these are formatted once */
    va_list again;
    char *text = NULL;
    int length;

    va_copy(again, args);
    length = vsnprintf(brief, sizeof brief, format, again);
    va_end(again);
    if (length >= 0) {
        text = iwi_arena_take(arena, (size_t)length + 1, 1);
    }
    if (text == NULL) {
        return "";
    }
    if ((size_t)length < sizeof brief) {
        memcpy(text, brief, (size_t)length + 1);
    } else {
        vsnprintf(text, (size_t)length + 1, format, args);
    }
    return text;
}

const char *iwi_arena_text(struct iwi_arena *arena, const char *format, ...)
{
    const char *text;
    va_list args;

    va_start(args, format);
    text = iwi_arena_text_list(arena, format, args);
    va_end(args);
    return text;
}

void iwi_arena_free(struct iwi_arena *arena)
{
    while (arena->blocks != NULL) {
        struct iwi_arena_block *block = arena->blocks;

        arena->blocks = block->next;
        free(block);
    }
}
