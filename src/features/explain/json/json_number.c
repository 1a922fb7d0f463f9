/* Numbers and strings of JSON values.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "features/explain/json/json_value.h"

const char *iwi_json_string(const struct iwi_json_value *value, const char *otherwise)
{
    return value != NULL && value->kind == IWI_JSON_STRING ? value->text : otherwise;
}

/* With an exponent, as programs write that keep floating-point numbers. */
static bool floating(const char *text, size_t size, unsigned decimals, int64_t *number_p)
{
    char copy[64], *end;
    long double value;

    if (size == 0 || size >= sizeof copy) {
        return false;
    }
    (void)snprintf(copy, sizeof copy, "%.*s", (int)size, text);
    value = strtold(copy, &end);
    for (; decimals > 0; decimals--) {
        value *= 10;
    }
    if (end != copy + size || !(value > -9.2e18L && value < 9.2e18L)) {
        return false;
    }
    *number_p = (int64_t)llroundl(value);
    return true;
}

/* Appends the digits at text[*at_p ...], at most `most` of them; false: too many for 62 bits. */
static bool take_digits(const char *text, size_t size, unsigned most, size_t *at_p, uint64_t *number_p)
{
    for (; *at_p < size && most > 0 && isdigit((unsigned char)text[*at_p]); (*at_p)++, most--) {
        if (*number_p >= (UINT64_C(1) << 62) / 10) {
            return false;
        }
        *number_p = 10 * *number_p + (uint64_t)(text[*at_p] - '0');
    }
    return true;
}

bool iwi_json_decimal(const char *text, size_t size, unsigned decimals, int64_t *number_p)
{
    const size_t first = size > 0 && text[0] == '-';
    size_t at = first;
    uint64_t number = 0;
    unsigned missing = decimals;

    if (!take_digits(text, size, UINT32_MAX, &at, &number) || at == first) {
        return false;
    }
    if (at < size && text[at] == '.') {
        const size_t point = at++;

        if (!take_digits(text, size, decimals, &at, &number)) {
            return false;
        }
        missing -= (unsigned)(at - point - 1);
        number += missing == 0 && at < size && text[at] >= '5' && text[at] <= '9';
        while (at < size && isdigit((unsigned char)text[at])) {
            at++;
        }
    }
    if (at < size) {
        return floating(text, size, decimals, number_p);
    }
    for (; missing > 0 && number < (UINT64_C(1) << 62) / 10; missing--) {
        number *= 10;
    }
    *number_p = first == 1 ? -(int64_t)number : (int64_t)number;
    return missing == 0;
}

bool iwi_json_u64(const struct iwi_json_value *value, uint64_t *number_p)
{
    const char *at;
    uint64_t number = 0;

    if (value == NULL || (value->kind != IWI_JSON_NUMBER && value->kind != IWI_JSON_STRING)) {
        return false;
    }
    for (at = value->text; isdigit((unsigned char)*at); at++) {
        const unsigned digit = (unsigned)(*at - '0');

        if (number > (UINT64_MAX - digit) / 10) {
            return false;
        }
        number = 10 * number + digit;
    }
    if (at == value->text || (*at == '.' && at[1 + strspn(at + 1, "0")] != '\0') ||
        (*at != '.' && *at != '\0')) {
        return false;
    }
    *number_p = number;
    return true;
}
