/* Times, counts, rates, shares and costs per byte as people write them. All arithmetic is on integers, so
 * decimal fractions are exact and the locale's decimal point does not matter.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/time.h>

#include <stdio.h>
#include <string.h>

#include "core/base/base.h"

/* ---- decimal numbers as integers ---- */

typedef unsigned __int128 wide;

/* mantissa / 10^decimals, and the text behind the number. */
struct decimal {
    wide mantissa;
    int decimals; /* never negative */
    const char *rest;
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static const char *skip_spaces(const char *s)
{
    while (*s == ' ' || *s == '\t') {
        s++;
    }
    return s;
}

static wide power_of_ten(int exponent)
{
    wide power = 1;

    while (exponent-- > 0) {
        power *= 10;
    }
    return power;
}

/* 10^20 and 10^21 times the largest unit (an hour: 3.6e15 ps) stay below 2^127; 2^64 has 20 digits. */
enum { MOST_SIGNIFICANT_DIGITS = 20, MOST_DECIMALS = 21 };

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
    if (!is_digit(*s)) {
        return true;
    }
    for (; is_digit(*s); s++) {
        exponent = exponent * 10 + (*s - '0');
        if (exponent > MOST_DECIMALS) {
            return false;
        }
    }
    *decimals += is_negative ? exponent : -exponent;
    *s_p = s;
    return true;
}

/* Digits with at most one point. False: more digits than are kept. */
static bool read_digits(const char **s_p, struct decimal *number, bool *has_digit)
{
    const char *s = *s_p;
    bool is_fraction = false;
    int significant = 0;

    for (; is_digit(*s) || (*s == '.' && !is_fraction); s++) {
        if (*s == '.') {
            is_fraction = true;
            continue;
        }
        *has_digit = true;
        significant += significant > 0 || *s != '0';
        number->decimals += is_fraction;
        number->mantissa = number->mantissa * 10 + digit_value(*s);
        if (significant > MOST_SIGNIFICANT_DIGITS || number->decimals > MOST_DECIMALS) {
            return false;
        }
    }
    *s_p = s;
    return true;
}

/* "13.5", "1e-6" and what follows. `noun` and `examples` are for the message: "time", "220us or 2s".
 * IW_ERR_FORMAT, IW_ERR_RANGE. */
static iw_status decimal_read(const iw_log *log, const char *noun, const char *examples, const char *text,
                              struct decimal *number)
{
    const char *s = skip_spaces(text);
    bool has_digit = false;

    *number = (struct decimal){0, 0, NULL};
    if (*s == '-' && (is_digit(s[1]) || s[1] == '.')) {
        return iwi_fail(log, IW_ERR_RANGE, "'%s' is negative: write a %s as %s", text, noun, examples);
    }
    if (!read_digits(&s, number, &has_digit) || (has_digit && !read_exponent(&s, &number->decimals)) ||
        number->decimals > MOST_DECIMALS || number->decimals < -MOST_SIGNIFICANT_DIGITS) {
        return iwi_fail(log, IW_ERR_RANGE, "'%s' has too many digits", text);
    }
    if (!has_digit) {
        return iwi_fail(log, IW_ERR_FORMAT, "'%s' is not a %s: write %s", text, noun, examples);
    }
    if (number->decimals < 0) {
        if (number->mantissa > power_of_ten(MOST_SIGNIFICANT_DIGITS + number->decimals)) {
            return iwi_fail(log, IW_ERR_RANGE, "'%s' is too large", text);
        }
        number->mantissa *= power_of_ten(-number->decimals);
        number->decimals = 0;
    }
    number->rest = skip_spaces(s);
    return IW_OK;
}

/* ---- units ---- */

struct unit {
    const char *name;
    uint64_t scale;
};

/* What is being read, for the messages. */
struct quantity {
    const char *noun;     /* "time" */
    const char *examples; /* "220us, 13.5ms or 2s" */
    const struct unit *units;
    size_t unit_count;
};

#define UNITS(table) (table), sizeof(table) / sizeof(table)[0]

/* The first SHOWN_TIME_UNITS are those that iw_format_time() writes. */
enum { SHOWN_TIME_UNITS = 7 };
static const struct unit time_units[] = {{"ps", 1},
                                         {"ns", IW_PS_PER_NS},
                                         {"us", IW_PS_PER_US},
                                         {"ms", IW_PS_PER_MS},
                                         {"s", IW_PS_PER_S},
                                         {"min", 60 * IW_PS_PER_S},
                                         {"h", 3600 * IW_PS_PER_S},
                                         {"\xc2\xb5s", IW_PS_PER_US},  /* micro sign */
                                         {"\xce\xbcs", IW_PS_PER_US}}; /* Greek mu */

static const struct unit per_byte_units[] = {
    {"fs", 1},   {"ps", 1000},   {"ns", 1000 * IW_PS_PER_NS},   {"us", 1000 * IW_PS_PER_US},
    {"fs/B", 1}, {"ps/B", 1000}, {"ns/B", 1000 * IW_PS_PER_NS}, {"us/B", 1000 * IW_PS_PER_US}};

static const struct unit count_units[] = {{"k", 1000},
                                          {"M", 1000000},
                                          {"G", 1000000000},
                                          {"Ki", UINT64_C(1) << 10},
                                          {"Mi", UINT64_C(1) << 20},
                                          {"Gi", UINT64_C(1) << 30},
                                          {"T", UINT64_C(1000000000000)},
                                          {"Ti", UINT64_C(1) << 40}};

static const struct unit throughput_units[] = {
    {"B/s", 1},
    {"kB/s", 1000},
    {"MB/s", 1000000},
    {"GB/s", 1000000000},
    {"TB/s", UINT64_C(1000000000000)},
    {"KiB/s", UINT64_C(1) << 10},
    {"MiB/s", UINT64_C(1) << 20},
    {"GiB/s", UINT64_C(1) << 30},
    {"TiB/s", UINT64_C(1) << 40},
};

/* Periods in picoseconds; a rate of x such units has the period scale / x. */
static const struct unit rate_units[] = {
    {"mHz", 1000 * IW_PS_PER_S}, {"Hz", IW_PS_PER_S},        {"kHz", IW_PS_PER_MS},     {"MHz", IW_PS_PER_US},
    {"/s", IW_PS_PER_S},         {"/min", 60 * IW_PS_PER_S}, {"/h", 3600 * IW_PS_PER_S}};

/* Femtoseconds per byte; a bandwidth of x such units takes scale / x. */
static const struct unit bandwidth_units[] = {
    {"MB/s", 1000000000}, {"GB/s", 1000000}, {"TB/s", 1000}, {"Gbit/s", 8000000}, {"Gb/s", 8000000}};

static const struct quantity time_quantity = {"time", "220us, 13.5ms or 2s", UNITS(time_units)};
static const struct quantity per_byte_quantity = {"time per byte", "1.25ns or 580ps", UNITS(per_byte_units)};
static const struct quantity count_quantity = {"count", "8, 64KiB, 1Mi, 100k or 2^20", UNITS(count_units)};
static const struct quantity rate_quantity = {"rate", "10Hz, 0.375Hz or 1kHz", UNITS(rate_units)};
static const struct quantity throughput_quantity = {"throughput", "40GB/s or 12.5GiB/s",
                                                    UNITS(throughput_units)};
static const struct quantity bandwidth_quantity = {"bandwidth", "25GB/s or 200Gbit/s",
                                                   UNITS(bandwidth_units)};
static const struct quantity share_quantity = {"share", "0.5% or 0.005", NULL, 0};

static size_t length_without_spaces_behind(const char *s)
{
    size_t length = strlen(s);

    while (length > 0 && (s[length - 1] == ' ' || s[length - 1] == '\t')) {
        length--;
    }
    return length;
}

static const struct unit *find_unit(const struct quantity *quantity, const char *name, size_t length)
{
    for (size_t i = 0; i < quantity->unit_count; i++) {
        const char *known = quantity->units[i].name;

        if (strlen(known) == length && memcmp(known, name, length) == 0) {
            return &quantity->units[i];
        }
    }
    return NULL;
}

/* Every quantity but counts and shares needs a unit, except that nothing is nothing in any of them. */
static iw_status read_unit(const iw_log *log, const struct quantity *quantity, const char *text,
                           const struct decimal *number, uint64_t *scale_p)
{
    const size_t length = length_without_spaces_behind(number->rest);
    const struct unit *unit = find_unit(quantity, number->rest, length);

    if (unit != NULL) {
        *scale_p = unit->scale;
        return IW_OK;
    }
    if (length > 0) {
        return iwi_fail(log, IW_ERR_FORMAT, "'%s': '%.*s' is not a unit of %s: write %s", text, (int)length,
                        number->rest, quantity->noun, quantity->examples);
    }
    if (number->mantissa == 0) {
        *scale_p = 1;
        return IW_OK;
    }
    return iwi_fail(log, IW_ERR_FORMAT, "'%s' has no unit: write %s", text, quantity->examples);
}

static wide divide_to_nearest(wide a, wide b)
{
    return (a + b / 2) / b;
}

/* Reads a number with a unit and scales it, rounded to the nearest whole. */
static iw_status read_scaled(const iw_log *log, const struct quantity *quantity, const char *text,
                             int64_t largest, const char *largest_text, int64_t *value_p)
{
    struct decimal number;
    uint64_t scale = 1;
    wide value;

    IW_TRY(decimal_read(log, quantity->noun, quantity->examples, text, &number));
    IW_TRY(read_unit(log, quantity, text, &number, &scale));
    value = divide_to_nearest(number.mantissa * scale, power_of_ten(number.decimals));
    if (value > (wide)largest) {
        return iwi_fail(log, IW_ERR_RANGE, "'%s' is too large: a %s is at most %s", text, quantity->noun,
                        largest_text);
    }
    *value_p = (int64_t)value;
    return IW_OK;
}

iw_status iw_parse_time(const iw_log *log, const char *text, iw_time *ps_p)
{
    return read_scaled(log, &time_quantity, text, IW_TIME_INPUT_MAX, "240h", ps_p);
}

iw_status iw_parse_per_byte(const iw_log *log, const char *text, iw_fs_per_byte *fs_p)
{
    /* a millisecond per byte: slower than any network, and sums over 2^40 bytes still fit */
    return read_scaled(log, &per_byte_quantity, text, 1000 * IW_PS_PER_MS, "1000us", fs_p);
}

iw_status iw_parse_throughput(const iw_log *log, const char *text, uint64_t *bytes_per_s_p)
{
    int64_t bytes_per_s;

    IW_TRY(read_scaled(log, &throughput_quantity, text, INT64_C(1000000000000000), "1000TB/s", &bytes_per_s));
    *bytes_per_s_p = (uint64_t)bytes_per_s;
    return IW_OK;
}

/* Reads how many times a unit happens, and gives what one takes: scale / number, to the nearest whole. */
static iw_status read_inverse(const iw_log *log, const struct quantity *quantity, const char *text,
                              int64_t largest, const char *limits_text, int64_t *value_p)
{
    struct decimal number;
    uint64_t scale = 1;
    wide value;

    IW_TRY(decimal_read(log, quantity->noun, quantity->examples, text, &number));
    IW_TRY(read_unit(log, quantity, text, &number, &scale));
    if (number.mantissa == 0) {
        return iwi_fail(log, IW_ERR_RANGE, "'%s': a %s must be above zero: write %s", text, quantity->noun,
                        quantity->examples);
    }
    value = divide_to_nearest((wide)scale * power_of_ten(number.decimals), number.mantissa);
    if (value == 0 || value > (wide)largest) {
        return iwi_fail(log, IW_ERR_RANGE, "'%s' is too %s: %s", text, value == 0 ? "fast" : "slow",
                        limits_text);
    }
    *value_p = (int64_t)value;
    return IW_OK;
}

iw_status iw_parse_rate(const iw_log *log, const char *text, iw_time *period_ps_p)
{
    return read_inverse(log, &rate_quantity, text, IW_TIME_INPUT_MAX,
                        "the period of a rate is between 1ps and 240h", period_ps_p);
}

iw_status iw_parse_bandwidth(const iw_log *log, const char *text, iw_fs_per_byte *fs_p)
{
    return read_inverse(log, &bandwidth_quantity, text, 1000 * IW_PS_PER_US,
                        "a bandwidth is between 1MB/s and 1000TB/s", fs_p);
}

/* "2^20": the base has been read. */
static iw_status read_power(const iw_log *log, const char *text, const struct decimal *base,
                            uint64_t *value_p)
{
    const char *const digits = skip_spaces(base->rest + 1), *s = digits;
    wide value = 1;
    int exponent = 0;

    for (; is_digit(*s); s++) {
        exponent = exponent < 100 ? exponent * 10 + (*s - '0') : 100; /* too large for any base above 1 */
    }
    if (s == digits || *skip_spaces(s) != '\0' || base->decimals > 0) {
        return iwi_fail(log, IW_ERR_FORMAT, "'%s' is not a count: write %s", text, count_quantity.examples);
    }
    for (int i = 0; i < exponent && value <= UINT64_MAX; i++) {
        value *= base->mantissa;
    }
    if (value > UINT64_MAX) {
        return iwi_fail(log, IW_ERR_RANGE, "'%s' is too large: a count is below 2^64", text);
    }
    *value_p = (uint64_t)value;
    return IW_OK;
}

/* A count needs no unit, and bytes may be called so: "8", "8B", "64Ki", "64KiB". */
static iw_status read_count_unit(const iw_log *log, const char *text, const char *rest, uint64_t *scale_p)
{
    const size_t length = length_without_spaces_behind(rest);
    const size_t prefix_length = length > 0 && rest[length - 1] == 'B' ? length - 1 : length;
    const struct unit *unit = find_unit(&count_quantity, rest, prefix_length);

    if (prefix_length == 0) {
        *scale_p = 1;
        return IW_OK;
    }
    if (unit != NULL) {
        *scale_p = unit->scale;
        return IW_OK;
    }
    if (prefix_length == 1 && rest[0] == 'K') {
        return iwi_fail(log, IW_ERR_FORMAT, "'%s': write k for 1000 or Ki for 1024", text);
    }
    return iwi_fail(log, IW_ERR_FORMAT, "'%s' is not a count: write %s", text, count_quantity.examples);
}

iw_status iw_parse_count(const iw_log *log, const char *text, uint64_t *value_p)
{
    struct decimal number;
    uint64_t scale = 1;
    wide scaled, divisor;

    IW_TRY(decimal_read(log, count_quantity.noun, count_quantity.examples, text, &number));
    if (*number.rest == '^') {
        return read_power(log, text, &number, value_p);
    }
    IW_TRY(read_count_unit(log, text, number.rest, &scale));
    scaled = number.mantissa * scale;
    divisor = power_of_ten(number.decimals);
    if (scaled % divisor != 0) {
        return iwi_fail(log, IW_ERR_FORMAT, "'%s' is not a whole number: write %s", text,
                        count_quantity.examples);
    }
    if (scaled / divisor > UINT64_MAX) {
        return iwi_fail(log, IW_ERR_RANGE, "'%s' is too large: a count is below 2^64", text);
    }
    *value_p = (uint64_t)(scaled / divisor);
    return IW_OK;
}

iw_status iw_parse_share(const iw_log *log, const char *text, double *share_p)
{
    struct decimal number;
    size_t length;
    double share;

    IW_TRY(decimal_read(log, share_quantity.noun, share_quantity.examples, text, &number));
    length = length_without_spaces_behind(number.rest);
    if (length > 0 && (length > 1 || number.rest[0] != '%')) {
        return iwi_fail(log, IW_ERR_FORMAT, "'%s' is not a share: write %s", text, share_quantity.examples);
    }
    share = (double)number.mantissa / (double)power_of_ten(number.decimals + (length == 1 ? 2 : 0));
    if (share > 1e6) {
        return iwi_fail(log, IW_ERR_RANGE, "'%s' is too large: a share is at most 1e6", text);
    }
    *share_p = share;
    return IW_OK;
}

char *iw_format_time(iw_time ps, char *buf, size_t size)
{
    /* magnitude by unsigned negation: INT64_MIN has no positive counterpart */
    const uint64_t magnitude = ps < 0 ? -(uint64_t)ps : (uint64_t)ps;
    const char *sign = ps < 0 ? "-" : "";

    if (magnitude < 1000) {
        snprintf(buf, size, "%s%u %s", sign, (unsigned)magnitude, magnitude == 0 ? "s" : "ps");
        return buf;
    }
    /* the first unit in which the value rounded to four digits is below 1000 */
    for (const struct unit *unit = &time_units[1]; unit < &time_units[SHOWN_TIME_UNITS]; unit++) {
        for (int decimals = 3; decimals > 0; decimals--) {
            const wide scaled = divide_to_nearest(magnitude * power_of_ten(decimals), unit->scale);

            if (scaled < 10000) {
                char digits[12];

                snprintf(digits, sizeof digits, "%04u", (unsigned)scaled);
                snprintf(buf, size, "%s%.*s.%s %s", sign, 4 - decimals, digits, digits + 4 - decimals,
                         unit->name);
                return buf;
            }
        }
    }
    snprintf(buf, size, "%s%" PRIu64 " h", sign, magnitude / (3600 * IW_PS_PER_S));
    return buf;
}
