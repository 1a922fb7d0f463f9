/* Decimal numbers as people write them, exactly.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_DECIMAL_H
#define IWI_DECIMAL_H

#include <stdbool.h>

#include <idlewave/log.h>
#include <idlewave/status.h>

typedef unsigned __int128 iwi_wide;

/* mantissa / 10^decimals, and the text behind the number. */
struct iwi_decimal {
    iwi_wide mantissa;
    int decimals; /* never negative */
    const char *rest;
};

static inline bool iwi_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline const char *iwi_skip_spaces(const char *s)
{
    while (*s == ' ' || *s == '\t') {
        s++;
    }
    return s;
}

static inline iwi_wide iwi_power_of_ten(int exponent)
{
    iwi_wide power = 1;

    while (exponent-- > 0) {
        power *= 10;
    }
    return power;
}

/* "13.5", "1e-6" and what follows. `noun` and `examples` are for the message: "time", "220us or 2s".
 * IW_ERR_FORMAT, IW_ERR_RANGE. */
IW_NODISCARD iw_status iwi_decimal_read(const iw_log *log, const char *noun, const char *examples,
                                        const char *text, struct iwi_decimal *number);

#endif
