/* Numbers of ranks, lengths of recordings, bounds of slowdowns, in words.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <string.h>

#include "core/base/base.h"
#include "kit/text/words.h"

/* Below this a slowdown shows as 0.00 %. */
static const double NO_SLOWDOWN = 0.00005;

/* From here on estimates are written in millions, so that tables stay narrow. */
static const double MANY_ABOUT = 1e6;

const char *iwi_ranks_text(uint64_t ranks, char buf[IWI_NUMBER_SIZE])
{
    char digits[IWI_NUMBER_SIZE];
    const size_t length = (size_t)snprintf(digits, sizeof digits, "%" PRIu64, ranks);
    size_t used = 0;

    for (size_t i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0) {
            buf[used++] = ',';
        }
        buf[used++] = digits[i];
    }
    buf[used] = '\0';
    return buf;
}

const char *iwi_about_ranks_text(double ranks, char buf[IWI_NUMBER_SIZE])
{
    const double unit = ranks >= 1000.0 ? pow(10.0, floor(log10(ranks)) - 2.0) : 1.0;

    if (ranks < MANY_ABOUT) {
        return iwi_ranks_text((uint64_t)(round(ranks / unit) * unit), buf);
    }
    iwi_si_text(ranks, buf);
    buf[strlen(buf) - 1] = '\0'; /* the blank behind the prefix */
    return buf;
}

const char *iwi_length_text(double seconds, char buf[IWI_NUMBER_SIZE])
{
    static const struct {
        double s;
        const char *name;
    } units[] = {{86400.0, "days"}, {3600.0, "h"}, {60.0, "min"}};

    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (seconds >= 1.95 * units[i].s) {
            snprintf(buf, IWI_NUMBER_SIZE, "%.2g %s", fmin(seconds / units[i].s, 99.0), units[i].name);
            return buf;
        }
    }
    return iwi_ns_round_text(seconds * 1e9, buf);
}

void iwi_append_bound(char paragraph[IWI_PARAGRAPH_SIZE], iw_estimate slowdown, const char *without)
{
    char number[IWI_NUMBER_SIZE], slower[IWI_PHRASE_SIZE];

    if (isnan(slowdown.low)) {
        iwi_append(paragraph,
                   " %s without %s, counting recorded events only: ", iwi_slower_text(slowdown.value, slower),
                   without);
    } else if (slowdown.low < NO_SLOWDOWN) {
        iwi_append(paragraph, " is not known to be slower than without %s: ", without);
    } else if (slowdown.low >= 1.0) {
        iwi_append(paragraph,
                   " takes at least %sx as long as without %s: ", iwi_factor_text(1.0 + slowdown.low, number),
                   without);
    } else {
        iwi_append(paragraph,
                   " is at least %s slower than without %s: ", iwi_percent_text(slowdown.low, number),
                   without);
    }
}
