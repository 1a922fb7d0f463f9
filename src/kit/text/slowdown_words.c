/* How much slower, for people: one notation for all reports (docs/explanation/statistics.md).
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "kit/text/words.h"

#include <math.h>
#include <string.h>

#include "core/base/base.h"

/* Below this a slowdown shows as 0.00 %. */
static const double NO_SLOWDOWN = 5e-5;

static const double LARGE_SLOWDOWN = 1.0;

bool iwi_is_large_slowdown(double slowdown)
{
    return slowdown >= LARGE_SLOWDOWN;
}

static void write_slowdown(double slowdown, bool as_factor, char buf[IWI_NUMBER_SIZE])
{
    if (isnan(slowdown)) {
        snprintf(buf, IWI_NUMBER_SIZE, "-");
    } else if (!as_factor) {
        iwi_percent_text(fabs(slowdown) < NO_SLOWDOWN ? 0.0 : slowdown, buf);
    } else {
        const size_t length = strlen(iwi_factor_text(1.0 + slowdown, buf));

        snprintf(buf + length, IWI_NUMBER_SIZE - length, "x");
    }
}

const char *iwi_slowdown_text(double slowdown, char buf[IWI_NUMBER_SIZE])
{
    write_slowdown(slowdown, iwi_is_large_slowdown(slowdown), buf);
    return buf;
}

const char *iwi_slowdown_column_text(double slowdown, double largest, char buf[IWI_NUMBER_SIZE])
{
    write_slowdown(slowdown, iwi_is_large_slowdown(largest), buf);
    return buf;
}

const char *iwi_slowdown_head(double largest)
{
    return iwi_is_large_slowdown(largest) ? "relative" : "slowdown";
}

const char *iwi_slowdown_percent_text(double slowdown, char buf[IWI_NUMBER_SIZE])
{
    write_slowdown(slowdown, false, buf);
    return buf;
}

/* Both ends in the unit of the largest: they are read together. */
static void write_ends(double low, double high, double largest, char from[IWI_NUMBER_SIZE],
                       char to[IWI_NUMBER_SIZE])
{
    const bool as_factor = iwi_is_large_slowdown(largest);

    write_slowdown(low, as_factor, from);
    write_slowdown(high, as_factor, to);
}

const char *iwi_slowdown_range_text(double low, double high, double beside, char buf[IWI_RANGE_SIZE])
{
    char from[IWI_NUMBER_SIZE], to[IWI_NUMBER_SIZE];

    write_ends(low, high, beside, from, to);
    from[strcspn(from, " x")] = '\0'; /* the unit stands once */
    snprintf(buf, IWI_RANGE_SIZE, "%s to %s", from, to);
    return buf;
}

const char *iwi_slowdown_span_text(double low, double high, char buf[IWI_RANGE_SIZE])
{
    return iwi_slowdown_span_column_text(low, high, high, buf);
}

const char *iwi_slowdown_span_column_text(double low, double high, double largest, char buf[IWI_RANGE_SIZE])
{
    char from[IWI_NUMBER_SIZE], to[IWI_NUMBER_SIZE];

    if (isnan(low) || isnan(high)) {
        snprintf(buf, IWI_RANGE_SIZE, "-");
        return buf;
    }
    write_ends(low, high, largest, from, to);
    from[strcspn(from, " x")] = '\0'; /* the unit stands once */
    snprintf(buf, IWI_RANGE_SIZE, "%s-%s", from, to);
    return buf;
}

static const char *say_slower(double slowdown, const char *take, const char *be, const char *limit,
                              char buf[IWI_PHRASE_SIZE])
{
    char number[IWI_NUMBER_SIZE];

    if (fabs(slowdown) < NO_SLOWDOWN) {
        snprintf(buf, IWI_PHRASE_SIZE, "%s not slower than", be);
    } else if (iwi_is_large_slowdown(slowdown)) {
        snprintf(buf, IWI_PHRASE_SIZE, "%s %s%sx as long as", take, limit,
                 iwi_factor_text(1.0 + slowdown, number));
    } else {
        snprintf(buf, IWI_PHRASE_SIZE, "%s %s%s %s than", be, limit, iwi_percent_text(fabs(slowdown), number),
                 slowdown > 0.0 ? "slower" : "faster");
    }
    return buf;
}

const char *iwi_slower_text(double slowdown, char buf[IWI_PHRASE_SIZE])
{
    return say_slower(slowdown, "takes", "is", "", buf);
}

const char *iwi_be_slower_text(double slowdown, const char *limit, char buf[IWI_PHRASE_SIZE])
{
    return say_slower(slowdown, "take", "be", limit, buf);
}
