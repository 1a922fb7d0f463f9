/* How people write times, counts, rates, shares and costs per byte.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/time.h>

#include <string.h>

#include "support/support.h"

#define TESTS(table) (sizeof(table) / sizeof(table)[0])

static iw_time time_of(const char *text)
{
    struct iwt_log l;
    iw_time ps = -1;

    iwt_log_init(&l);
    assert_ok(iw_parse_time(&l.log, text, &ps));
    assert_string_equal(l.text, "");
    return ps;
}

static void assert_time_refused(const char *text, iw_status expected, const char *part)
{
    struct iwt_log l;
    iw_time ps = -7;

    iwt_log_init(&l);
    assert_status(iw_parse_time(&l.log, text, &ps), expected);
    iwt_assert_logged(&l, part);
    assert_int_equal(l.errors, 1);
    assert_int_equal(ps, -7);
}

static void times_are_exact_in_every_unit(void **state)
{
    static const struct {
        const char *text;
        iw_time ps;
    } cases[] = {{"580ps", 580},
                 {"10ns", 10000},
                 {"220us", 220 * IW_PS_PER_US},
                 {"13.5ms", INT64_C(13500000000)},
                 {"1.5s", INT64_C(1500000000000)},
                 {"2min", 120 * IW_PS_PER_S},
                 {"1h", 3600 * IW_PS_PER_S},
                 {"0.77 us", 770000},
                 {" 5us ", 5 * IW_PS_PER_US},
                 {"5\xc2\xb5s", 5 * IW_PS_PER_US},
                 {".5ns", 500},
                 {"5.ns", 5000},
                 {"1e-6s", IW_PS_PER_US},
                 {"1.5e3ns", 1500 * IW_PS_PER_NS},
                 {"240h", IW_TIME_INPUT_MAX},
                 {"0.1us", 100000},
                 {"8.000000000001s", INT64_C(8000000000001)}};

    (void)state;
    for (size_t i = 0; i < TESTS(cases); i++) {
        assert_int_equal(time_of(cases[i].text), cases[i].ps);
    }
}

static void fractions_of_a_picosecond_round_to_nearest(void **state)
{
    (void)state;
    assert_int_equal(time_of("0.4ps"), 0);
    assert_int_equal(time_of("0.5ps"), 1);
    assert_int_equal(time_of("1.4999ps"), 1);
    assert_int_equal(time_of("0.0000005us"), 1);
}

static void only_zero_needs_no_unit(void **state)
{
    (void)state;
    assert_int_equal(time_of("0"), 0);
    assert_int_equal(time_of("0.0"), 0);
    assert_time_refused("220", IW_ERR_FORMAT, "'220' has no unit: write 220us");
}

static void what_is_no_time_is_refused_with_an_example(void **state)
{
    (void)state;
    assert_time_refused("", IW_ERR_FORMAT, "'' is not a time: write 220us, 13.5ms or 2s");
    assert_time_refused("fast", IW_ERR_FORMAT, "'fast' is not a time");
    assert_time_refused(".", IW_ERR_FORMAT, "'.' is not a time");
    assert_time_refused("5 parsec", IW_ERR_FORMAT, "'parsec' is not a unit of time: write 220us");
    assert_time_refused("5usx", IW_ERR_FORMAT, "'usx' is not a unit");
    assert_time_refused("1.2.3us", IW_ERR_FORMAT, "'.3us' is not a unit");
    assert_time_refused("5 us 3", IW_ERR_FORMAT, "'us 3' is not a unit");
    assert_time_refused("1es", IW_ERR_FORMAT, "'es' is not a unit");
}

static void times_out_of_range_are_refused(void **state)
{
    (void)state;
    assert_time_refused("-5us", IW_ERR_RANGE, "'-5us' is negative");
    assert_time_refused("240.1h", IW_ERR_RANGE, "'240.1h' is too large: a time is at most 240h");
    assert_time_refused("99999999999999999999h", IW_ERR_RANGE, "too large");
    assert_time_refused("999999999999999999999s", IW_ERR_RANGE, "too many digits");
    assert_time_refused("0.0000000000000000000000001s", IW_ERR_RANGE, "too many digits");
    assert_time_refused("1e99s", IW_ERR_RANGE, "too many digits");
    assert_time_refused("5e20s", IW_ERR_RANGE, "'5e20s' is too large");
}

static void counts_take_decimal_and_binary_prefixes_bytes_and_powers(void **state)
{
    static const struct {
        const char *text;
        uint64_t value;
    } cases[] = {{"8", 8},
                 {"8B", 8},
                 {"0", 0},
                 {"64KiB", 65536},
                 {"64Ki", 65536},
                 {"1Mi", 1048576},
                 {"1MiB", 1048576},
                 {"2Gi", UINT64_C(2) << 30},
                 {"1k", 1000},
                 {"100kB", 100000},
                 {"3M", 3000000},
                 {"1G", 1000000000},
                 {"1.5Ki", 1536},
                 {"1e6", 1000000},
                 {"2^20", 1048576},
                 {"10^3", 1000},
                 {"2 ^ 4", 16},
                 {"1^1000000", 1},
                 {"0^3", 0},
                 {"7^0", 1},
                 {"18446744073709551615", UINT64_MAX}};

    (void)state;
    for (size_t i = 0; i < TESTS(cases); i++) {
        uint64_t value = 77;

        assert_ok(iw_parse_count(NULL, cases[i].text, &value));
        assert_true(value == cases[i].value);
    }
}

static void what_is_no_count_is_refused(void **state)
{
    static const struct {
        const char *text;
        iw_status expected;
        const char *part;
    } cases[] = {{"many", IW_ERR_FORMAT, "'many' is not a count: write 8, 64KiB"},
                 {"1.5", IW_ERR_FORMAT, "'1.5' is not a whole number"},
                 {"64KB", IW_ERR_FORMAT, "write k for 1000 or Ki for 1024"},
                 {"64K", IW_ERR_FORMAT, "write k for 1000 or Ki for 1024"},
                 {"8us", IW_ERR_FORMAT, "'8us' is not a count"},
                 {"2^", IW_ERR_FORMAT, "'2^' is not a count"},
                 {"2^x", IW_ERR_FORMAT, "'2^x' is not a count"},
                 {"1.5^2", IW_ERR_FORMAT, "'1.5^2' is not a count"},
                 {"-1", IW_ERR_RANGE, "'-1' is negative"},
                 {"2^64", IW_ERR_RANGE, "'2^64' is too large: a count is below 2^64"},
                 {"9^999999999999", IW_ERR_RANGE, "is too large"},
                 {"18446744073709551616", IW_ERR_RANGE, "is too large"}};

    (void)state;
    for (size_t i = 0; i < TESTS(cases); i++) {
        struct iwt_log l;
        uint64_t value = 77;

        iwt_log_init(&l);
        assert_status(iw_parse_count(&l.log, cases[i].text, &value), cases[i].expected);
        iwt_assert_logged(&l, cases[i].part);
        assert_true(value == 77);
    }
}

static void rates_become_periods(void **state)
{
    static const struct {
        const char *text;
        iw_time period_ps;
    } cases[] = {{"10Hz", 100 * IW_PS_PER_MS}, {"1kHz", IW_PS_PER_MS},
                 {"1 MHz", IW_PS_PER_US},      {"0.375Hz", INT64_C(2666666666667)},
                 {"100mHz", 10 * IW_PS_PER_S}, {"4/s", 250 * IW_PS_PER_MS},
                 {"2/h", 1800 * IW_PS_PER_S}};

    (void)state;
    for (size_t i = 0; i < TESTS(cases); i++) {
        iw_time period_ps = -1;

        assert_ok(iw_parse_rate(NULL, cases[i].text, &period_ps));
        assert_int_equal(period_ps, cases[i].period_ps);
    }
}

static void throughputs_are_bytes_per_second(void **state)
{
    uint64_t bytes_per_s;
    struct iwt_log l;

    (void)state;
    assert_ok(iw_parse_throughput(NULL, "6.5GB/s", &bytes_per_s));
    assert_int_equal(bytes_per_s, UINT64_C(6500000000));
    assert_ok(iw_parse_throughput(NULL, "2 GiB/s", &bytes_per_s));
    assert_int_equal(bytes_per_s, UINT64_C(2) << 30);
    iwt_log_init(&l);
    assert_status(iw_parse_throughput(&l.log, "40GB", &bytes_per_s), IW_ERR_FORMAT);
    iwt_assert_logged(&l, "'GB' is not a unit of throughput: write 40GB/s");
    assert_status(iw_parse_throughput(&l.log, "1001TB/s", &bytes_per_s), IW_ERR_RANGE);
}

static void impossible_rates_are_refused(void **state)
{
    static const struct {
        const char *text;
        iw_status expected;
        const char *part;
    } cases[] = {{"0Hz", IW_ERR_RANGE, "a rate must be above zero"},
                 {"0", IW_ERR_RANGE, "a rate must be above zero"},
                 {"10", IW_ERR_FORMAT, "'10' has no unit: write 10Hz"},
                 {"10us", IW_ERR_FORMAT, "'us' is not a unit of rate"},
                 {"9999999MHz", IW_ERR_RANGE, "too fast"},
                 {"0.0000001Hz", IW_ERR_RANGE, "too slow"},
                 {"0.000000000000000000001/h", IW_ERR_RANGE, "too slow"}};

    (void)state;
    for (size_t i = 0; i < TESTS(cases); i++) {
        struct iwt_log l;
        iw_time period_ps;

        iwt_log_init(&l);
        assert_status(iw_parse_rate(&l.log, cases[i].text, &period_ps), cases[i].expected);
        iwt_assert_logged(&l, cases[i].part);
    }
}

static void shares_are_fractions_or_percent(void **state)
{
    struct iwt_log l;
    double share = -1.0;

    (void)state;
    assert_ok(iw_parse_share(NULL, "0.5%", &share));
    assert_true(share == 0.005);
    assert_ok(iw_parse_share(NULL, "0.005", &share));
    assert_true(share == 0.005);
    assert_ok(iw_parse_share(NULL, "100 %", &share));
    assert_true(share == 1.0);
    assert_ok(iw_parse_share(NULL, "1e6", &share));
    assert_true(share == 1e6);
    iwt_log_init(&l);
    assert_status(iw_parse_share(&l.log, "5us", &share), IW_ERR_FORMAT);
    iwt_assert_logged(&l, "'5us' is not a share: write 0.5% or 0.005");
    assert_status(iw_parse_share(&l.log, "1000001", &share), IW_ERR_RANGE);
    iwt_assert_logged(&l, "a share is at most 1e6");
}

static void costs_per_byte_are_exact_in_femtoseconds(void **state)
{
    struct iwt_log l;
    iw_fs_per_byte fs = -1;

    (void)state;
    assert_ok(iw_parse_per_byte(NULL, "0.00125us", &fs));
    assert_int_equal(fs, 1250000);
    assert_ok(iw_parse_per_byte(NULL, "1.25ns", &fs));
    assert_int_equal(fs, 1250000);
    assert_ok(iw_parse_per_byte(NULL, "0.02ps/B", &fs));
    assert_int_equal(fs, 20);
    assert_ok(iw_parse_per_byte(NULL, "0", &fs));
    assert_int_equal(fs, 0);
    iwt_log_init(&l);
    assert_status(iw_parse_per_byte(&l.log, "3", &fs), IW_ERR_FORMAT);
    iwt_assert_logged(&l, "'3' has no unit: write 1.25ns");
    assert_status(iw_parse_per_byte(&l.log, "2000us", &fs), IW_ERR_RANGE);
    iwt_assert_logged(&l, "is too large");
}

static void times_are_shown_with_four_digits(void **state)
{
    static const struct {
        iw_time ps;
        const char *text;
    } cases[] = {{0, "0 s"},
                 {580, "580 ps"},
                 {1000, "1.000 ns"},
                 {1234567890, "1.235 ms"},
                 {220 * IW_PS_PER_US, "220.0 us"},
                 {999940, "999.9 ns"},
                 {999960, "1.000 us"},
                 {13500000000, "13.50 ms"},
                 {INT64_C(61) * IW_PS_PER_S, "61.00 s"},
                 {INT64_C(3000) * IW_PS_PER_S, "50.00 min"},
                 {INT64_C(360000) * IW_PS_PER_S, "100.0 h"},
                 {-1500, "-1.500 ns"},
                 {INT64_MAX, "2562 h"},
                 {INT64_MIN, "-2562 h"}};

    (void)state;
    for (size_t i = 0; i < TESTS(cases); i++) {
        char buf[24];

        assert_string_equal(iw_format_time(cases[i].ps, buf, sizeof buf), cases[i].text);
    }
}

static void bandwidths_are_read(void **state)
{
    static const struct {
        const char *text;
        iw_status status;
        iw_fs_per_byte fs;
    } cases[] = {
        {"25GB/s", IW_OK, 40000},     {"200Gbit/s", IW_OK, 40000},  {"12.5 GB/s", IW_OK, 80000},
        {"1MB/s", IW_OK, 1000000000}, {"3TB/s", IW_OK, 333},        {"400Gb/s", IW_OK, 20000},
        {"0GB/s", IW_ERR_RANGE, 0},   {"0.9MB/s", IW_ERR_RANGE, 0}, {"9000TB/s", IW_ERR_RANGE, 0},
        {"25", IW_ERR_FORMAT, 0},     {"25GHz", IW_ERR_FORMAT, 0},  {"-1GB/s", IW_ERR_RANGE, 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        iw_fs_per_byte fs = 0;

        assert_status(iw_parse_bandwidth(NULL, cases[i].text, &fs), cases[i].status);
        assert_int_equal(fs, cases[i].fs);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bandwidths_are_read),
        cmocka_unit_test(times_are_exact_in_every_unit),
        cmocka_unit_test(fractions_of_a_picosecond_round_to_nearest),
        cmocka_unit_test(only_zero_needs_no_unit),
        cmocka_unit_test(what_is_no_time_is_refused_with_an_example),
        cmocka_unit_test(times_out_of_range_are_refused),
        cmocka_unit_test(counts_take_decimal_and_binary_prefixes_bytes_and_powers),
        cmocka_unit_test(what_is_no_count_is_refused),
        cmocka_unit_test(rates_become_periods),
        cmocka_unit_test(impossible_rates_are_refused),
        cmocka_unit_test(throughputs_are_bytes_per_second),
        cmocka_unit_test(shares_are_fractions_or_percent),
        cmocka_unit_test(costs_per_byte_are_exact_in_femtoseconds),
        cmocka_unit_test(times_are_shown_with_four_digits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
