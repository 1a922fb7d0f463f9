/* The colours of all pictures, in one place: pages light and dark, files, terminals.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_PALETTE_H
#define IWI_PALETTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { IWI_SERIES_INKS = 7 };

/* What a colour is for. The first ones tell series apart; noise and what it costs have a colour of their own
 * in every picture. */
enum iwi_ink {
    IWI_INK_SERIES,
    IWI_INK_NOISE = IWI_INK_SERIES + IWI_SERIES_INKS,
    IWI_INK_TEXT,
    IWI_INK_FAINT,
    IWI_INK_RULE,
    IWI_INK_GROUND,
    IWI_INK_CARD,
    IWI_INK_LINK,
    IWI_INK_COMPUTE, /* states of ranks */
    IWI_INK_WAIT,
    IWI_INK_DELAY,
    IWI_INK_COMM,
    IWI_INKS
};

/* Of series number `index` of a picture, from 0; after the last it begins again. */
enum iwi_ink iwi_series_ink(size_t index);

/* The same source of noise has the same colour everywhere: what it likes best, or, where that is taken by
 * one before it, the next. `names` are in the order in which they choose. */
void iwi_source_inks(const char *const *names, size_t count, enum iwi_ink *inks);

/* red << 16 | green << 8 | blue, on white. */
uint32_t iwi_ink_rgb(enum iwi_ink ink);

/* Its variable in style sheets: "--series-3". */
const char *iwi_ink_css(enum iwi_ink ink);

/* The number among a terminal's 256 colours; fainter where there is less of it. */
unsigned iwi_ink_terminal(enum iwi_ink ink, bool is_faint);

/* Style sheet: the variables, for light and dark screens; paper is light. */
void iwi_palette_write_css(FILE *out);

#endif
