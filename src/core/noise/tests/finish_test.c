/* finish(t, d) against the instant-by-instant reference, and the laws that it must obey.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "timeline.h"

enum { CASES = 400 };

static struct timeline line; /* large */

static void add_random_source(struct picker *picker, iw_noise *noise, char kind, int number,
                              struct iwi_stream_id id)
{
    if (kind == 'p') {
        const int64_t period = pick(picker, 1, 60), duration = pick(picker, 0, period - 1);

        add_periodic(noise, period, duration);
        periodic_detours(
            &line, number, period, duration,
            (int64_t)draw_below(id, IWI_DRAW_OFFSET, (uint32_t)number, id.rank, 0, (uint64_t)period));
    } else if (kind == 'e') {
        const int64_t gap = pick(picker, 2, 60), mean = pick(picker, 0, gap);

        add_poisson(noise, gap, mean);
        poisson_detours(&line, number, gap, mean, id, id.rank, 0, 0);
    } else {
        const struct raw_trace raw = random_trace(picker, pick(picker, 2, 300));

        add_raw(noise, &raw);
        trace_detours(
            &line, number, &raw,
            (int64_t)draw_below(id, IWI_DRAW_OFFSET, (uint32_t)number, id.rank, 0, (uint64_t)raw.length));
    }
}

/* `kinds`: p periodic, e Poisson, t trace. */
static void compare_mixes(const char *kinds)
{
    int compared = 0;

    for (uint64_t seed = 1; seed <= CASES; seed++) {
        struct picker picker = {.seed = seed};
        const struct iwi_stream_id id = {seed, (uint64_t)pick(&picker, 0, 9), (uint32_t)pick(&picker, 0, 99)};
        iw_noise *noise = new_noise();
        struct stream s;

        line.count = 0;
        for (int i = 0; kinds[i] != '\0'; i++) {
            add_random_source(&picker, noise, kinds[i], i, id);
        }
        timeline_settle(&line);
        s = open_stream(noise, id);
        compared += compare_stream(&s, &line, &picker, 0, pick(&picker, 1, 400));
        iw_noise_free(noise);
    }
    assert_true(compared > CASES * 5);
}

static void periodic_noise_matches_the_reference(void **unused)
{
    (void)unused;
    compare_mixes("p");
}

static void a_trace_matches_the_reference(void **unused)
{
    (void)unused;
    compare_mixes("t");
}

static void poisson_noise_matches_the_reference(void **unused)
{
    (void)unused;
    compare_mixes("e");
}

static void two_periodic_sources_match_the_reference(void **unused)
{
    (void)unused;
    compare_mixes("pp");
}

static void a_periodic_source_and_a_trace_match_the_reference(void **unused)
{
    (void)unused;
    compare_mixes("tp");
}

static void two_poisson_sources_match_the_reference(void **unused)
{
    (void)unused;
    compare_mixes("ee");
}

static void one_source_of_each_kind_matches_the_reference(void **unused)
{
    (void)unused;
    compare_mixes("pet");
    compare_mixes("tep");
}

static const char *const law_specs[][3] = {
    {"periodic:1000MHz,300ps", NULL, NULL},
    {"poisson:1000MHz,exp:200ps", NULL, NULL},
    {"periodic:1300MHz,100ps", "poisson:500MHz,lognormal:100ps,0.8", NULL},
    {"periodic:1300MHz,100ps", "poisson:500MHz,pareto:1.5,50ps", "periodic:100MHz,3ns"},
};

enum { LAW_SPECS = sizeof law_specs / sizeof law_specs[0] };

static iw_noise *law_noise(size_t which, int sources)
{
    iw_noise *noise = new_noise();

    for (int i = 0; i < sources && law_specs[which][i] != NULL; i++) {
        add_spec(noise, law_specs[which][i]);
    }
    return noise;
}

static iw_time finish_once(const iw_noise *noise, struct iwi_stream_id id, iw_time t, iw_time d)
{
    struct stream s = open_stream(noise, id);

    return stream_finish(&s, t, d, NULL);
}

static void work_in_two_parts_ends_when_work_in_one_does(void **unused)
{
    struct picker picker = {.seed = 7};

    (void)unused;
    for (size_t which = 0; which < LAW_SPECS; which++) {
        iw_noise *noise = law_noise(which, 3);

        for (uint64_t seed = 1; seed <= 500; seed++) {
            const struct iwi_stream_id id = {seed, 0, 3};
            const iw_time t = pick(&picker, 0, 50000), a = pick(&picker, 0, 9000), b = pick(&picker, 0, 9000);
            struct stream s = open_stream(noise, id);
            const iw_time middle = stream_finish(&s, t, a, NULL);

            assert_int_equal(stream_finish(&s, middle, b, NULL), finish_once(noise, id, t, a + b));
        }
        iw_noise_free(noise);
    }
}

static void starting_later_or_working_longer_never_ends_earlier(void **unused)
{
    struct picker picker = {.seed = 8};

    (void)unused;
    for (size_t which = 0; which < LAW_SPECS; which++) {
        iw_noise *noise = law_noise(which, 3);

        for (uint64_t seed = 1; seed <= 500; seed++) {
            const struct iwi_stream_id id = {seed, 0, 3};
            const iw_time t = pick(&picker, 0, 50000), d = pick(&picker, 0, 9000);
            const iw_time later = pick(&picker, 0, 2000), longer = pick(&picker, 0, 2000);
            const iw_time end = finish_once(noise, id, t, d);

            assert_true(end >= t + d);
            assert_true(finish_once(noise, id, t + later, d) >= end);
            assert_true(finish_once(noise, id, t, d + longer) >= end + longer);
        }
        iw_noise_free(noise);
    }
}

static void a_further_source_never_makes_work_end_earlier(void **unused)
{
    struct picker picker = {.seed = 9};
    const size_t which = LAW_SPECS - 1;
    iw_noise *noise[3];
    int delayed = 0;

    (void)unused;
    for (int i = 0; i < 3; i++) {
        noise[i] = law_noise(which, i + 1);
    }
    for (uint64_t seed = 1; seed <= 500; seed++) {
        const struct iwi_stream_id id = {seed, 0, 3};
        const iw_time t = pick(&picker, 0, 50000), d = pick(&picker, 0, 9000);

        for (int i = 1; i < 3; i++) {
            const iw_time fewer = finish_once(noise[i - 1], id, t, d), more = finish_once(noise[i], id, t, d);

            assert_true(more >= fewer);
            delayed += more > fewer;
        }
    }
    assert_true(delayed > 100);
    for (int i = 0; i < 3; i++) {
        iw_noise_free(noise[i]);
    }
}

static void detours_of_no_length_are_no_noise(void **unused)
{
    const iw_time starts[] = {3, 0, 70}, durations[] = {0, 0, 0};
    iw_noise *noise = new_noise();
    struct picker picker = {.seed = 10};
    iw_time t = 0, lost[IW_NOISE_MAX_SOURCES] = {0};
    struct stream s;

    (void)unused;
    add_periodic(noise, 11, 0);
    add_poisson(noise, 20, 0);
    assert_ok(iw_noise_add_trace(NULL, noise, "empty", starts, durations, 3, 100));
    s = open_stream(noise, (struct iwi_stream_id){1, 2, 3});
    for (int i = 0; i < 1000; i++) {
        const iw_time d = pick(&picker, 0, 300);

        assert_int_equal(stream_finish(&s, t, d, lost), t + d);
        t += d + pick(&picker, 0, 20);
    }
    for (int i = 0; i < IW_NOISE_MAX_SOURCES; i++) {
        assert_int_equal(lost[i], 0);
    }
    iw_noise_free(noise);
}

static void noise_without_sources_never_hits(void **unused)
{
    iw_noise *noise = new_noise();
    iw_time next;

    (void)unused;
    add_spec(noise, "none");
    assert_int_equal(iw_noise_source_count(noise), 0);
    assert_int_equal(iwi_noise_words(noise), 0);
    next = iwi_noise_begin(noise, (struct iwi_stream_id){1, 0, 0}, NULL);
    assert_true(next == IWI_NEVER);
    assert_int_equal(iwi_noise_finish(noise, (struct iwi_stream_id){1, 0, 0}, NULL, &next, 5, 6, NULL), 11);
    iw_noise_free(noise);
}

static void one_periodic_source_needs_no_state(void **unused)
{
    iw_noise *noise = new_noise();
    const struct iwi_stream_id id = {1, 0, 0};
    iw_time next;

    (void)unused;
    add_periodic(noise, 100, 10);
    add_spec(noise, "phase-exp:1%");
    assert_int_equal(iwi_noise_words(noise), 0);
    next = iwi_noise_begin(noise, id, NULL);
    assert_int_equal(iwi_noise_finish(noise, id, NULL, &next, 1000, 900, NULL) - 1900, 100);
    iw_noise_free(noise);
}

static bool tell(void *arg, uint32_t source, iw_time start, iw_time end)
{
    iwi_lost_add(arg, (iw_hit){start, end - start, 0, source});
    return true;
}

/* Of many detours alike only the first are walked through one by one. */
static void a_periodic_source_tells_its_worst_detours(void **unused)
{
    (void)unused;
    for (uint64_t seed = 1; seed <= CASES; seed++) {
        const struct iwi_stream_id id = {.seed = seed};
        iw_noise *noise = new_noise();
        iw_time by_source[IW_NOISE_MAX_SOURCES] = {0}, expected_by_source[IW_NOISE_MAX_SOURCES] = {0};
        iw_hit worst[4] = {{0}}, expected[4] = {{0}};
        struct iwi_lost lost = {by_source, worst, 4}, expected_lost = {expected_by_source, expected, 4};
        iw_time next, end;

        add_periodic(noise, 100, 10);
        next = iwi_noise_begin(noise, id, NULL);
        end = iwi_noise_finish(noise, id, NULL, &next, 0, (iw_time)(seed * 17), &lost);
        iwi_noise_walk(noise, id, end, tell, &expected_lost);
        assert_memory_equal(by_source, expected_by_source, sizeof by_source);
        assert_memory_equal(worst, expected, sizeof worst);
        iw_noise_free(noise);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(periodic_noise_matches_the_reference),
        cmocka_unit_test(a_trace_matches_the_reference),
        cmocka_unit_test(poisson_noise_matches_the_reference),
        cmocka_unit_test(two_periodic_sources_match_the_reference),
        cmocka_unit_test(a_periodic_source_and_a_trace_match_the_reference),
        cmocka_unit_test(two_poisson_sources_match_the_reference),
        cmocka_unit_test(one_source_of_each_kind_matches_the_reference),
        cmocka_unit_test(work_in_two_parts_ends_when_work_in_one_does),
        cmocka_unit_test(starting_later_or_working_longer_never_ends_earlier),
        cmocka_unit_test(a_further_source_never_makes_work_end_earlier),
        cmocka_unit_test(detours_of_no_length_are_no_noise),
        cmocka_unit_test(noise_without_sources_never_hits),
        cmocka_unit_test(one_periodic_source_needs_no_state),
        cmocka_unit_test(a_periodic_source_tells_its_worst_detours),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
