/* Numbers rounded for people: "99.9", "1230", "0.00005", where printf's %g has "1e+02".
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_SHORT_NUMBER_H
#define IWI_SHORT_NUMBER_H

/* Lives to the end of the expression in which it is made, so that printf needs no buffers:
 * printf("%s %%", iwi_short(share, 2).text). */
struct iwi_short_text {
    char text[32];
};

/* `value` with `digits` significant digits, 1 to 6, and without zeros behind them. Beyond 10^20 with an
 * exponent. */
struct iwi_short_text iwi_short(double value, int digits);

/* The same in hundredths: iwi_short_percent(0.034, 2) is "3.4". */
static inline struct iwi_short_text iwi_short_percent(double share, int digits)
{
    return iwi_short(100.0 * share, digits);
}

#endif
