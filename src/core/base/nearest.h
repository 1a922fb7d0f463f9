/* "did you mean": the nearest of some known words to a mistyped one.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_NEAREST_H
#define IWI_NEAREST_H

#include <stddef.h>

struct iwi_nearest {
    const char *word; /* mistyped */
    const char *best; /* of those offered; NULL: none is near */
    size_t best_distance;
};

void iwi_nearest_begin(struct iwi_nearest *nearest, const char *word);
void iwi_nearest_offer(struct iwi_nearest *nearest, const char *candidate);

enum { IWI_HINT_SIZE = 96 };

/* "; did you mean 'ranks'?", or "" where none is near; returns `buf`. */
const char *iwi_nearest_hint(const struct iwi_nearest *nearest, char buf[IWI_HINT_SIZE]);

#endif
