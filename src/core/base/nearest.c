/* Words compared by the number of letters to insert, delete, replace or swap.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/base/nearest.h"

#include <stdio.h>
#include <string.h>

#include "core/base/base.h"

enum { LONGEST = 63 };

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Row by row of the usual table; `above[0]` is the row above, `above[1]` the one above that. */
static size_t distance(const char *a, const char *b)
{
    const size_t rows = strlen(a), columns = strlen(b);
    size_t above[2][LONGEST + 1] = {{0}}, row[LONGEST + 1] = {0};

    if (rows > LONGEST || columns > LONGEST) {
        return SIZE_MAX;
    }
    for (size_t i = 0; i <= rows; i++) {
        row[0] = i;
        for (size_t j = 1; j <= columns; j++) {
            if (i == 0) {
                row[j] = j;
                continue;
            }
            row[j] = least(least(above[0][j], row[j - 1]) + 1, above[0][j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                row[j] = least(row[j], above[1][j - 2] + 1);
            }
        }
        memcpy(above[1], above[0], sizeof row);
        memcpy(above[0], row, sizeof row);
    }
    return row[columns];
}

void iwi_nearest_begin(struct iwi_nearest *nearest, const char *word)
{
    /* a third of the letters may be wrong, at least one */
    *nearest = (struct iwi_nearest){word, NULL, strlen(word) / 3 + 2};
}

void iwi_nearest_offer(struct iwi_nearest *nearest, const char *candidate)
{
    const size_t d = distance(nearest->word, candidate);

    if (d < nearest->best_distance && d < strlen(candidate)) {
        nearest->best = candidate;
        nearest->best_distance = d;
    }
}

const char *iwi_nearest_hint(const struct iwi_nearest *nearest, char buf[IWI_HINT_SIZE])
{
    buf[0] = '\0';
    if (nearest->best != NULL) {
        snprintf(buf, IWI_HINT_SIZE, "; did you mean '%s'?", nearest->best);
    }
    return buf;
}
