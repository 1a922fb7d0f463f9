/* Short numbers and safe names.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "kit/text/words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"

char *iwi_ns_text(iw_time ps, char buf[IWI_NS_TEXT_SIZE])
{
    const uint64_t magnitude = ps < 0 ? -(uint64_t)ps : (uint64_t)ps;
    int length = snprintf(buf, IWI_NS_TEXT_SIZE, "%s%" PRIu64 ".%03u", ps < 0 ? "-" : "", magnitude / 1000,
                          (unsigned)(magnitude % 1000));

    while (buf[length - 1] == '0') {
        length--;
    }
    if (buf[length - 1] == '.') {
        length--;
    }
    buf[length] = '\0';
    return buf;
}

/* Decimals that leave three significant digits of a value below 1000. */
static int decimals_of(double value)
{
    return value < 9.995 ? 2 : (value < 99.95 ? 1 : 0);
}

static const char *const time_units[] = {"ns", "us", "ms", "s"};

/* Scales to the unit in which the value is below 1000 when rounded to three digits. */
static double scale_time(double ns, const char **unit_p)
{
    size_t i = 0;

    while (ns >= 999.5 && i < 3) {
        ns /= 1000.0;
        i++;
    }
    *unit_p = time_units[i];
    return ns;
}

const char *iwi_ns_short_text(double ns, char buf[IWI_NUMBER_SIZE])
{
    const char *unit;
    const double value = scale_time(ns, &unit);

    snprintf(buf, IWI_NUMBER_SIZE, "%.*f %s", unit == time_units[0] ? 0 : decimals_of(value), value, unit);
    return buf;
}

const char *iwi_ns_round_text(double ns, char buf[IWI_NUMBER_SIZE])
{
    const char *unit;
    const double value = scale_time(ns, &unit);

    snprintf(buf, IWI_NUMBER_SIZE, value < 1000.0 ? "%.3g %s" : "%.0f %s", value, unit);
    return buf;
}

const char *iwi_rate_text(double per_second, char buf[IWI_NUMBER_SIZE])
{
    static const char *const prefixes[] = {"", "k", "M", "G"};
    size_t i = 0;

    if (per_second > 0.0 && per_second < 0.0995) {
        const bool is_hourly = per_second * 60.0 < 0.0995;

        snprintf(buf, IWI_NUMBER_SIZE, is_hourly ? "%.1f/h" : "%.1f/min",
                 per_second * (is_hourly ? 3600.0 : 60.0));
        return buf;
    }
    while (per_second >= 999.5 && i < 3) {
        per_second /= 1000.0;
        i++;
    }
    snprintf(buf, IWI_NUMBER_SIZE, "%.*f%s/s", decimals_of(per_second), per_second, prefixes[i]);
    return buf;
}

const char *iwi_share_text(double share, char buf[IWI_NUMBER_SIZE])
{
    if (share <= 0.0 || share >= 0.000995) {
        return iwi_percent_text(share, buf);
    }
    if (share < 0.000005) {
        snprintf(buf, IWI_NUMBER_SIZE, "<.001 %%");
    } else {
        snprintf(buf, IWI_NUMBER_SIZE, "%.3f %%", 100.0 * share);
    }
    return buf;
}

const char *iwi_count_text(uint64_t count, char buf[IWI_NUMBER_SIZE])
{
    if (count < 10000000) {
        snprintf(buf, IWI_NUMBER_SIZE, "%" PRIu64, count);
    } else {
        iwi_si_text((double)count, buf);
        buf[strlen(buf) - 1] = '\0'; /* the space behind the prefix */
    }
    return buf;
}

static char plain(char c)
{
    return (char)(c >= ' ' && c <= '~' ? c : '?');
}

const char *iwi_plain_text(const char *text, char buf[IWI_PARAGRAPH_SIZE])
{
    size_t used = 0;

    for (; *text != '\0' && used + 1 < IWI_PARAGRAPH_SIZE; text++) {
        buf[used++] = plain(*text);
    }
    buf[used] = '\0';
    return buf;
}

const char *iwi_plain_name(const char *name, size_t columns, char buf[IWI_NAME_SIZE])
{
    const size_t room = columns < IWI_NAME_SIZE ? columns : IWI_NAME_SIZE - 1;
    const size_t length = strlen(name);
    const size_t used = length <= room ? length : room;

    for (size_t i = 0; i < used; i++) {
        buf[i] = plain(name[i]);
    }
    if (length > room && room > 2) {
        memset(&buf[room - 2], '.', 2);
    }
    buf[used] = '\0';
    return buf;
}

const char *iwi_source_name(const iw_source *source)
{
    return source->name[0] != '\0' ? source->name : iw_class_name(source->kind);
}
