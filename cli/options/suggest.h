/* "Did you mean ...?" for mistyped words.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IW_CLI_SUGGEST_H
#define IW_CLI_SUGGEST_H

#include <stddef.h>

/* Keeps the nearest of the words offered one by one. */
struct suggestion {
    const char *word; /* mistyped */
    const char *best; /* NULL: none is near */
    size_t best_distance;
};

void suggest_begin(struct suggestion *suggestion, const char *word);
void suggest_offer(struct suggestion *suggestion, const char *candidate);

/* Letters to insert, delete, replace or swap to make one of the other; words above 63 letters are far away.
 */
size_t suggest_distance(const char *a, const char *b);

#endif
