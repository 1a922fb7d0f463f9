/* Numbers rounded for people.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/base/short_number.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"

enum { MOST_EXPONENT = 20 };

static void strip_zeros(char *text)
{
    size_t length = strlen(text);

    while (text[length - 1] == '0') {
        length--;
    }
    text[text[length - 1] == '.' ? length - 1 : length] = '\0';
}

struct iwi_short_text iwi_short(double value, int digits)
{
    struct iwi_short_text rounded;
    const char *exponent_text;
    long exponent;
    int decimals;

    snprintf(rounded.text, sizeof rounded.text, "%.*e", digits - 1, value);
    exponent_text = strchr(rounded.text, 'e');
    if (exponent_text == NULL) { /* inf, nan */
        return rounded;
    }
    exponent = strtol(exponent_text + 1, NULL, 10);
    if (labs(exponent) > MOST_EXPONENT) {
        return rounded;
    }
    decimals = exponent < digits - 1 ? digits - 1 - (int)exponent : 0;
    snprintf(rounded.text, sizeof rounded.text, "%.*f", decimals, strtod(rounded.text, NULL));
    if (decimals > 0) {
        strip_zeros(rounded.text);
    }
    return rounded;
}
