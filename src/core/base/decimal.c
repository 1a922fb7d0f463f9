/* Reads decimal numbers as integers, so fractions are exact and the locale's decimal point does not matter.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/base/decimal.h"

#include "core/base/base.h"

/* 10^20 and 10^21 times the largest unit (an hour: 3.6e15 ps) stay below 2^127; 2^64 has 20 digits. */
enum { MAX_SIGNIFICANT_DIGITS = 20, MAX_DECIMALS = 21 };

static unsigned digit_value(char c)
{
    return (unsigned)(c - '0');
}

/* Applies "e-6" behind the digits; leaves *s_p alone when what follows is no exponent but a unit. */
static bool read_exponent(const char **s_p, int *decimals)
{
    const char *s = *s_p;
    int exponent = 0;
    bool is_negative;

    if (*s != 'e' && *s != 'E') {
        return true;
    }
    is_negative = s[1] == '-';
    s += 1 + (s[1] == '-' || s[1] == '+');
    if (!iwi_is_digit(*s)) {
        return true;
    }
    for (; iwi_is_digit(*s); s++) {
        exponent = exponent * 10 + (*s - '0');
        if (exponent > MAX_DECIMALS) {
            return false;
        }
    }
    *decimals += is_negative ? exponent : -exponent;
    *s_p = s;
    return true;
}

/* Digits with at most one point. False: more digits than are kept. */
static bool read_digits(const char **s_p, struct iwi_decimal *number, bool *has_digit)
{
    const char *s = *s_p;
    bool is_fraction = false;
    int significant = 0;

    for (; iwi_is_digit(*s) || (*s == '.' && !is_fraction); s++) {
        if (*s == '.') {
            is_fraction = true;
            continue;
        }
        *has_digit = true;
        significant += significant > 0 || *s != '0';
        number->decimals += is_fraction;
        number->mantissa = number->mantissa * 10 + digit_value(*s);
        if (significant > MAX_SIGNIFICANT_DIGITS || number->decimals > MAX_DECIMALS) {
            return false;
        }
    }
    *s_p = s;
    return true;
}

iw_status iwi_decimal_read(const iw_log *log, const char *noun, const char *examples, const char *text,
                           struct iwi_decimal *number)
{
    const char *s = iwi_skip_spaces(text);
    bool has_digit = false;

    *number = (struct iwi_decimal){0, 0, NULL};
    if (*s == '-' && (iwi_is_digit(s[1]) || s[1] == '.')) {
        return iwi_fail(log, IW_ERR_RANGE, "'%s' is negative: write a %s as %s", text, noun, examples);
    }
    if (!read_digits(&s, number, &has_digit) || (has_digit && !read_exponent(&s, &number->decimals)) ||
        number->decimals > MAX_DECIMALS || number->decimals < -MAX_SIGNIFICANT_DIGITS) {
        return iwi_fail(log, IW_ERR_RANGE, "'%s' has too many digits", text);
    }
    if (!has_digit) {
        return iwi_fail(log, IW_ERR_FORMAT, "'%s' is not a %s: write %s", text, noun, examples);
    }
    if (number->decimals < 0) {
        if (number->mantissa > iwi_power_of_ten(MAX_SIGNIFICANT_DIGITS + number->decimals)) {
            return iwi_fail(log, IW_ERR_RANGE, "'%s' is too large", text);
        }
        number->mantissa *= iwi_power_of_ten(-number->decimals);
        number->decimals = 0;
    }
    number->rest = iwi_skip_spaces(s);
    return IW_OK;
}
