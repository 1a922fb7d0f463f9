/* finish(t, d) when thousands or millions of detours fall into one operation or one wait.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "timeline.h"

enum { MANY = 20000 };

static struct timeline line; /* large */

static const struct iwi_stream_id some_id = {.seed = 5, .trial = 1, .rank = 17};

static void many_whole_periods_take_their_closed_form(void **unused)
{
    const iw_time period = 1000000, duration = 123457, n = 5000000;
    iw_noise *noise = new_noise();
    struct stream s;
    iw_time t;

    (void)unused;
    add_periodic(noise, period, duration);
    s = open_stream(noise, some_id);
    t = s.next + 3 * period; /* the start of a detour */
    assert_int_equal(stream_finish(&s, t, n * (period - duration), NULL), t + n * period);
    assert_int_equal(stream_finish(&s, t, n * (period - duration) + 1, NULL), t + n * period + duration + 1);
    iw_noise_free(noise);
}

static void a_wait_over_many_periods_is_skipped(void **unused)
{
    const iw_time period = 1000, duration = 10, n = INT64_C(700000000000000);
    iw_noise *noise = new_noise();
    struct stream s;
    iw_time start;

    (void)unused;
    add_periodic(noise, period, duration);
    s = open_stream(noise, some_id);
    start = s.next;
    assert_int_equal(stream_finish(&s, start + n * period + 4, 2, NULL), start + n * period + duration + 2);
    assert_int_equal(s.next, start + n * period);
    assert_int_equal(stream_finish(&s, start + n * period + duration, 990, NULL), start + (n + 1) * period);
    assert_int_equal(s.next, start + (n + 1) * period);
    iw_noise_free(noise);
}

static void work_that_outlasts_a_trace_adds_whole_repetitions(void **unused)
{
    (void)unused;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct picker picker = {.seed = seed};
        const struct raw_trace raw = random_trace(&picker, 200);
        const int64_t offset =
            (int64_t)draw_below(some_id, IWI_DRAW_OFFSET, 0, some_id.rank, 0, (uint64_t)raw.length);
        const iw_time n = pick(&picker, 0, 1000000), t = pick(&picker, 0, 300), d = pick(&picker, 1, 200);
        iw_time lost[1] = {0}, end, free_ps = 0;
        iw_noise *noise = new_noise();
        struct stream s;

        for (iw_time x = 0; x < raw.length; x++) {
            free_ps += raw_is_busy(&raw, x) ? 0 : 1;
        }
        add_raw(noise, &raw);
        line.count = 0;
        trace_detours(&line, 0, &raw, offset);
        timeline_settle(&line);
        end = timeline_finish(&line, t, d, lost);
        s = open_stream(noise, some_id);
        if (end >= 0) {
            assert_int_equal(stream_finish(&s, t, d + n * free_ps, NULL), end + n * raw.length);
        }
        iw_noise_free(noise);
    }
}

/* A trace with MANY pieces, and the same as arrays to walk through. */
struct long_trace {
    iw_time start[MANY], duration[MANY], length;
};

static struct long_trace many;

static void make_many(void)
{
    struct picker picker = {.seed = 3};
    iw_time now = 0;

    for (int i = 0; i < MANY; i++) {
        now += pick(&picker, 1, 100000);
        many.start[i] = now;
        many.duration[i] = pick(&picker, 1, 20000);
        now += many.duration[i];
    }
    many.length = now + 5;
}

/* Walks from position 0, one piece after the other. */
static iw_time walk_many(iw_time offset, iw_time t, iw_time d)
{
    iw_time base = -offset;

    for (;; base += many.length) {
        for (int i = 0; i < MANY; i++) {
            const iw_time start = base + many.start[i], end = start + many.duration[i];

            if (end <= t) {
                continue;
            }
            if (t + d <= start) {
                return t + d;
            }
            d -= start > t ? start - t : 0;
            t = end;
        }
    }
}

static void a_trace_of_many_pieces_is_searched_not_lost_in(void **unused)
{
    iw_noise *noise = new_noise();
    const iw_time offset =
        (iw_time)draw_below(some_id, IWI_DRAW_OFFSET, 0, some_id.rank, 0, (uint64_t)many.length);
    struct picker picker = {.seed = 4};
    struct stream s;
    iw_time t = 0;

    (void)unused;
    assert_ok(iw_noise_add_trace(NULL, noise, "many", many.start, many.duration, MANY, many.length));
    s = open_stream(noise, some_id);
    for (int i = 0; i < 50; i++) {
        const iw_time d = pick(&picker, 1, pick(&picker, 1, 2 * many.length));
        const iw_time end = stream_finish(&s, t, d, NULL);

        assert_int_equal(end, walk_many(offset, t, d));
        t = end + pick(&picker, 0, pick(&picker, 0, many.length));
    }
    iw_noise_free(noise);
}

/* A second source that never takes anything makes the general walk do the work of the closed forms. */
static void compare_with_walk(iw_noise *closed, iw_noise *walked, iw_time longest)
{
    const iw_time empty[] = {0};
    struct picker picker = {.seed = 6};
    struct stream a, b;
    iw_time t = 0;

    assert_ok(iw_noise_add_trace(NULL, walked, "empty", empty, empty, 1, 1000));
    assert_true(iwi_noise_words(walked) > iwi_noise_words(closed) + 1);
    a = open_stream(closed, some_id);
    b = open_stream(walked, some_id);
    for (int i = 0; i < 300; i++) {
        const iw_time d = pick(&picker, 1, pick(&picker, 1, longest));
        iw_time lost[2] = {0};
        const iw_time end = stream_finish(&a, t, d, NULL);

        assert_int_equal(stream_finish(&b, t, d, lost), end);
        assert_int_equal(lost[0], end - t - d);
        t = pick(&picker, 0, 1) > 0 ? end : pick(&picker, t, 2 * end - t);
    }
    iw_noise_free(closed);
    iw_noise_free(walked);
}

static void closed_form_and_walk_of_periodic_noise_agree(void **unused)
{
    iw_noise *closed = new_noise(), *walked = new_noise();

    (void)unused;
    add_spec(closed, "periodic:1kHz,100us");
    add_spec(walked, "periodic:1kHz,100us");
    compare_with_walk(closed, walked, 5 * IW_PS_PER_S);
}

static void closed_form_and_walk_of_a_trace_agree(void **unused)
{
    iw_noise *closed = new_noise(), *walked = new_noise();

    (void)unused;
    assert_ok(iw_noise_add_trace(NULL, closed, "many", many.start, many.duration, MANY, many.length));
    assert_ok(iw_noise_add_trace(NULL, walked, "many", many.start, many.duration, MANY, many.length));
    compare_with_walk(closed, walked, many.length / 2);
}

static void many_poisson_detours_are_the_same_in_one_operation_or_in_many(void **unused)
{
    iw_noise *noise = new_noise();
    struct stream s, one;
    iw_time t = 0, lost[1] = {0};

    (void)unused;
    add_spec(noise, "poisson:1MHz,exp:200ns");
    s = open_stream(noise, some_id);
    for (int i = 0; i < 1000; i++) {
        t = stream_finish(&s, t, 50 * IW_PS_PER_US, NULL);
    }
    one = open_stream(noise, some_id);
    assert_int_equal(stream_finish(&one, 0, 50 * IW_PS_PER_MS, lost), t);
    assert_int_equal(lost[0], t - 50 * IW_PS_PER_MS);
    iw_noise_free(noise);
}

/* Ten days of work with a millionth of a millionth of the time to do it: the result stops, nothing overflows.
 */
static void work_that_could_never_end_stops_at_the_latest_time(void **unused)
{
    const iw_time start[] = {1}, duration[] = {IW_PS_PER_S - 1};
    iw_noise *noise[3];

    (void)unused;
    for (int i = 0; i < 3; i++) {
        noise[i] = new_noise();
    }
    add_spec(noise[0], "periodic:1Hz,0.999999999999s");
    assert_ok(iw_noise_add_trace(NULL, noise[1], "trace", start, duration, 1, 0));
    add_spec(noise[2], "periodic:1Hz,0.999999999999s");
    add_spec(noise[2], "poisson:1mHz,exp:1h");
    for (int i = 0; i < 3; i++) {
        struct stream s = open_stream(noise[i], some_id);
        iw_time lost[2] = {0}, end, d = IW_TIME_INPUT_MAX;

        end = stream_finish(&s, 1000, d, lost);
        assert_true(end > INT64_MAX / 4);
        assert_int_equal(lost[0] + lost[1], end - 1000 - d);
        assert_true(stream_finish(&s, end, d, NULL) >= end + d);
        iw_noise_free(noise[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_whole_periods_take_their_closed_form),
        cmocka_unit_test(a_wait_over_many_periods_is_skipped),
        cmocka_unit_test(work_that_outlasts_a_trace_adds_whole_repetitions),
        cmocka_unit_test(a_trace_of_many_pieces_is_searched_not_lost_in),
        cmocka_unit_test(closed_form_and_walk_of_periodic_noise_agree),
        cmocka_unit_test(closed_form_and_walk_of_a_trace_agree),
        cmocka_unit_test(many_poisson_detours_are_the_same_in_one_operation_or_in_many),
        cmocka_unit_test(work_that_could_never_end_stops_at_the_latest_time),
    };

    make_many();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
