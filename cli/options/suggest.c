/* The nearest of a list of words, by edit distance with swaps.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "options/suggest.h"

#include <stdint.h>
#include <string.h>

enum { LONGEST = 63 };

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

size_t suggest_distance(const char *a, const char *b)
{
    const size_t rows = strlen(a), columns = strlen(b);
    size_t d[LONGEST + 1][LONGEST + 1];

    if (rows > LONGEST || columns > LONGEST) {
        return SIZE_MAX;
    }
    for (size_t i = 0; i <= rows; i++) {
        for (size_t j = 0; j <= columns; j++) {
            if (i == 0 || j == 0) {
                d[i][j] = i + j;
                continue;
            }
            d[i][j] = least(least(d[i - 1][j], d[i][j - 1]) + 1, d[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                d[i][j] = least(d[i][j], d[i - 2][j - 2] + 1);
            }
        }
    }
    return d[rows][columns];
}

void suggest_begin(struct suggestion *suggestion, const char *word)
{
    /* a third of the letters may be wrong, at least one */
    *suggestion = (struct suggestion){word, NULL, strlen(word) / 3 + 2};
}

void suggest_offer(struct suggestion *suggestion, const char *candidate)
{
    const size_t length = strlen(suggestion->word);
    size_t distance = suggest_distance(suggestion->word, candidate);

    if (length >= 3 && strncmp(suggestion->word, candidate, length) == 0) {
        distance = 1; /* an abbreviation */
    }
    if (distance < suggestion->best_distance && distance < strlen(candidate)) {
        suggestion->best = candidate;
        suggestion->best_distance = distance;
    }
}
