/* Memory that is let go of all at once: what a document or a result that was read from a file consists of.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Who fills one need not look at every step: without memory `is_broken` is set and stays so.
 */
#ifndef IWI_ARENA_H
#define IWI_ARENA_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include <idlewave/log.h>

struct iwi_arena {
    struct iwi_arena_block *blocks; /* the newest first */
    bool is_broken;
};

/* Zeroed, for any type; NULL without memory. */
void *iwi_arena_take(struct iwi_arena *arena, size_t count, size_t element_size);

/* Never NULL: "" without memory. */
const char *iwi_arena_text(struct iwi_arena *arena, const char *format, ...) IW_PRINTF(2, 3);
const char *iwi_arena_text_list(struct iwi_arena *arena, const char *format, va_list args) IW_PRINTF(2, 0);

void iwi_arena_free(struct iwi_arena *arena);

#endif
