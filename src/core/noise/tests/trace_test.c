/* Traces from arrays: normalised, repeated, seen as arrays by other engines.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "timeline.h"

#include "core/noise/stream.h"

static void expect_refused(const iw_time *start, const iw_time *duration, size_t count, iw_time length,
                           const char *advice)
{
    struct iwt_log log;
    iw_noise *noise = new_noise();

    iwt_log_init(&log);
    assert_status(iw_noise_add_trace(&log.log, noise, "node7", start, duration, count, length), IW_ERR_RANGE);
    assert_int_equal(log.errors, 1);
    iwt_assert_logged(&log, "'node7'");
    iwt_assert_logged(&log, advice);
    assert_int_equal(iw_noise_source_count(noise), 0);
    iw_noise_free(noise);
}

static void overlapping_touching_and_empty_detours_become_disjoint_pieces(void **unused)
{
    const iw_time start[] = {50, 10, 15, 20, 90, 50}, duration[] = {5, 6, 5, 2, 0, 3};
    iw_noise *noise = new_noise();
    struct iwi_detour_trace_view view;

    (void)unused;
    assert_ok(iw_noise_add_trace(NULL, noise, "t", start, duration, 6, 100));
    assert_true(iwi_noise_trace_view(noise, &view));
    assert_int_equal(view.count, 2);
    assert_int_equal(view.length_ps, 100);
    assert_int_equal(view.pieces[0].start_ps, 10);
    assert_int_equal(view.pieces[0].duration_ps, 12);
    assert_int_equal(view.pieces[1].start_ps, 50);
    assert_int_equal(view.pieces[1].duration_ps, 5);
    iw_noise_free(noise);
}

static void without_a_length_a_trace_ends_with_its_last_detour(void **unused)
{
    const iw_time start[] = {50, 10}, duration[] = {5, 100};
    iw_noise *noise = new_noise();
    struct iwi_detour_trace_view view;

    (void)unused;
    assert_ok(iw_noise_add_trace(NULL, noise, "t", start, duration, 2, 0));
    assert_true(iwi_noise_trace_view(noise, &view));
    assert_int_equal(view.length_ps, 110);
    iw_noise_free(noise);
}

static void a_trace_without_free_time_is_refused(void **unused)
{
    const iw_time start[] = {30, 0}, duration[] = {70, 30};

    (void)unused;
    expect_refused(start, duration, 2, 0, "no time is left to work");
    expect_refused(start, duration, 2, 100, "# length_ns: N");
}

static void a_trace_shorter_than_its_detours_is_refused(void **unused)
{
    const iw_time start[] = {30, 0}, duration[] = {70, 3};

    (void)unused;
    expect_refused(start, duration, 2, 99, "a length that holds all detours");
    expect_refused(start, duration, 2, -1, "is not between 0 and 240h");
    expect_refused(start, duration, 2, IW_TIME_INPUT_MAX + 1, "is not between 0 and 240h");
}

static void detours_out_of_range_are_refused(void **unused)
{
    const iw_time bad[][2] = {{-1, 5},
                              {5, -1},
                              {IW_TIME_INPUT_MAX, 1},
                              {1, INT64_MAX},
                              {INT64_MAX, INT64_MAX},
                              {INT64_MIN, INT64_MIN}};

    (void)unused;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const iw_time start[] = {3, bad[i][0]}, duration[] = {1, bad[i][1]};

        expect_refused(start, duration, 2, 0, "detour 2 (");
    }
}

static void a_trace_without_detours_never_hits(void **unused)
{
    for (iw_time length = 0; length <= 100; length += 100) {
        iw_noise *noise = new_noise();
        struct stream s;

        assert_ok(iw_noise_add_trace(NULL, noise, "t", NULL, NULL, 0, length));
        assert_true(iw_noise_source_share(noise, 0) == 0);
        for (int sync = IW_SYNC_NONE; sync <= IW_SYNC_PHASE; sync++) {
            iw_noise_align(noise, (iw_sync)sync, 10, 1);
            s = open_stream(noise, (struct iwi_stream_id){1, 2, 3});
            assert_true(s.next == IWI_NEVER);
            (void)iwi_noise_phase(noise, s.id, s.state, &s.next, 0, 70, 10, NULL);
            assert_true(s.next == IWI_NEVER);
            assert_int_equal(iwi_noise_finish(noise, s.id, s.state, &s.next, 70, 1000, NULL), 1070);
        }
        iw_noise_free(noise);
    }
    (void)unused;
}

static void only_a_single_trace_has_a_view(void **unused)
{
    const iw_time start[] = {10}, duration[] = {20};
    struct iwi_detour_trace_view view = {.count = 77};
    iw_noise *noise = new_noise(), *other = new_noise();

    (void)unused;
    assert_false(iwi_noise_trace_view(noise, &view));
    assert_ok(iw_noise_add_trace(NULL, noise, "t", start, duration, 1, 100));
    assert_true(iwi_noise_trace_view(noise, &view));
    add_spec(noise, "phase-exp:1%");
    view.count = 77;
    assert_false(iwi_noise_trace_view(noise, &view));
    add_spec(other, "periodic:10Hz,1us");
    assert_false(iwi_noise_trace_view(other, &view));
    assert_int_equal(view.count, 77);
    assert_int_equal(iwi_noise_trace_offset(other, (struct iwi_stream_id){1, 2, 3}), 0);
    iw_noise_free(noise);
    iw_noise_free(other);
}

/* Looks for the first detour: at offset x it begins at (start - x) mod length. */
static void the_offset_says_where_the_trace_stands_at_time_0(void **unused)
{
    const iw_time start[] = {600}, duration[] = {1}, length = 1000;
    iw_noise *noise = new_noise();
    iw_time least = length, most = 0;

    (void)unused;
    assert_ok(iw_noise_add_trace(NULL, noise, "t", start, duration, 1, length));
    for (int sync = IW_SYNC_NONE; sync <= IW_SYNC_PHASE; sync++) {
        iw_noise_align(noise, (iw_sync)sync, 300, 1);
        for (uint32_t rank = 0; rank < 100; rank++) {
            const struct iwi_stream_id id = {4, 5, rank};
            const iw_time offset = iwi_noise_trace_offset(noise, id);
            struct stream s = open_stream(noise, id);

            assert_true(offset >= 0 && offset < length);
            assert_int_equal(s.next, (600 - offset + length) % length);
            least = offset < least ? offset : least;
            most = offset > most ? offset : most;
        }
    }
    assert_true(least < 50 && most > 950);
    iw_noise_free(noise);
}

static void a_detour_under_way_at_time_0_must_end_first(void **unused)
{
    const iw_time start[] = {0}, duration[] = {999}, length = 1000;
    iw_noise *noise = new_noise();
    const struct iwi_stream_id id = {4, 5, 6};
    const iw_time offset = (iw_time)draw_below(id, IWI_DRAW_OFFSET, 0, 6, 0, 1000);
    struct stream s;

    (void)unused;
    assert_ok(iw_noise_add_trace(NULL, noise, "t", start, duration, 1, length));
    s = open_stream(noise, id);
    assert_true(offset < 999);
    assert_int_equal(s.next, -offset);
    assert_int_equal(stream_finish(&s, 0, 1, NULL), length - offset);
    assert_int_equal(stream_finish(&s, 0, 3, NULL), 3 * length - offset);
    iw_noise_free(noise);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(overlapping_touching_and_empty_detours_become_disjoint_pieces),
        cmocka_unit_test(without_a_length_a_trace_ends_with_its_last_detour),
        cmocka_unit_test(a_trace_without_free_time_is_refused),
        cmocka_unit_test(a_trace_shorter_than_its_detours_is_refused),
        cmocka_unit_test(detours_out_of_range_are_refused),
        cmocka_unit_test(a_trace_without_detours_never_hits),
        cmocka_unit_test(only_a_single_trace_has_a_view),
        cmocka_unit_test(the_offset_says_where_the_trace_stands_at_time_0),
        cmocka_unit_test(a_detour_under_way_at_time_0_must_end_first),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
