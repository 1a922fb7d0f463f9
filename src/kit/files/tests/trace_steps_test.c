/* Steps of traced ranks: by hand, and of real archives.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "kit/files/trace/trace_open.h"

#include <string.h>

#include <idlewave/timeline.h>

#include "support/support.h"

enum { MOST_STEPS = 16 };

#define US(x) ((iw_time)(x)*IW_PS_PER_US)

struct taken {
    uint32_t rank[MOST_STEPS];
    iw_step step[MOST_STEPS];
    size_t count;
};

static void take(void *arg, uint32_t rank, const iw_step *step)
{
    struct taken *taken = arg;

    assert_true(taken->count < MOST_STEPS);
    taken->rank[taken->count] = rank;
    taken->step[taken->count++] = *step;
}

static void assert_step(const struct taken *taken, size_t i, uint32_t rank, iw_time begin_us,
                        iw_time compute_us, iw_time comm_us, iw_time wait_us)
{
    const iw_time expected_us[IW_STATES] = {0, compute_us, 0, comm_us, wait_us};

    assert_true(i < taken->count);
    assert_int_equal(taken->rank[i], rank);
    assert_int_equal(taken->step[i].begin_ps, US(begin_us));
    for (int state = 0; state < IW_STATES; state++) {
        assert_int_equal(taken->step[i].state_ps[state], US(expected_us[state]));
    }
}

static struct iwi_call call_at(uint8_t kind, iw_time enter_us, iw_time compute_us, iw_time call_us)
{
    return (struct iwi_call){.kind = kind,
                             .enter_ps = US(enter_us),
                             .compute_wall_ps = US(compute_us),
                             .compute_cpu_ps = -1,
                             .call_ps = US(call_us)};
}

/* Two ranks; their clock reads 5000 when rank 1 begins, 5010 when rank 0 does. */
static void fill(struct iwi_call *first, struct iwi_call *second, struct iwi_trace_rank *ranks,
                 struct iw_trace *trace)
{
    first[0] = call_at(IWI_CALL_COLLECTIVE, 5012, 2, 8);
    first[1] = call_at(IWI_CALL_IRECV, 5120, 100, 3);
    first[2] = call_at(IWI_CALL_ISEND, 5124, 1, 4);
    first[3] = call_at(IWI_CALL_WAIT, 5130, 2, 70);
    first[4] = call_at(IWI_CALL_WAIT, 5330, 110, 5); /* 130 passed: 20 of them in polls */
    second[0] = call_at(IWI_CALL_SEND, 5150, 150, 10);
    ranks[0] = (struct iwi_trace_rank){.calls = first, .call_count = 5, .last_compute_wall_ps = US(1)};
    ranks[1] = (struct iwi_trace_rank){.calls = second, .call_count = 1, .last_compute_wall_ps = US(200)};
    *trace = (struct iw_trace){.rank_count = 2, .ranks = ranks};
}

static void computation_between_calls_begins_steps(void **state)
{
    struct taken taken = {.count = 0};
    const iw_step_sink sink = {take, &taken};
    struct iwi_call first[5], second[1];
    struct iwi_trace_rank ranks[2];
    struct iw_trace trace;

    (void)state;
    fill(first, second, ranks, &trace);
    iwi_trace_steps(&trace, US(50), &sink);
    assert_int_equal(taken.count, 5);
    assert_step(&taken, 0, 0, 10, 2, 0, 8);
    assert_step(&taken, 1, 0, 20, 100 + 1 + 2, 3 + 4, 70);
    assert_step(&taken, 2, 0, 200, 110 + 1, 0, 20 + 5);
    assert_step(&taken, 3, 1, 0, 150, 0, 10);
    assert_step(&taken, 4, 1, 160, 200, 0, 0);
    assert_int_equal(iwi_trace_end(&trace), US(360));
}

/* The border that is found for one rank that computes for such times between its calls. */
static iw_time gap_of(const iw_time *times_us, size_t count)
{
    struct iwi_call calls[100];
    struct iwi_trace_rank rank = {.calls = calls, .call_count = count};
    struct iw_trace trace = {.rank_count = 1, .ranks = &rank};
    iw_time gap_ps = 0;

    for (size_t i = 0; i < count; i++) {
        calls[i] = call_at(IWI_CALL_WAIT, 0, times_us[i], 0);
    }
    assert_ok(iwi_trace_step_gap(NULL, &trace, &gap_ps));
    return gap_ps;
}

/* Steps of 110 after some work of 35 each, and one delay among them. */
static iw_time gap_with_delay(iw_time delay_us)
{
    iw_time times_us[100];

    for (size_t i = 0; i < 100; i++) {
        times_us[i] = i == 50 ? delay_us : i % 2 ? 110 : 35;
    }
    return gap_of(times_us, 100);
}

/* 1, 2, 2 | 100, 110, 150: the border is 50 times higher than the time below. */
static void the_border_is_where_times_jump(void **state)
{
    static const iw_time times_us[] = {2, 100, 1, 2, 110, 150};

    (void)state;
    assert_int_equal(gap_of(times_us, 6), US(100));
}

/* One delay of 5000 is 45 times longer than the steps of 110, which are 3.1 times longer than some work of
 * 35: the jump to the delay would leave more than half of all below. */
static void a_single_delay_is_no_border(void **state)
{
    (void)state;
    assert_int_equal(gap_with_delay(5000), US(110));
}

/* The same with one that is longer than all other work: one step a rank is none. */
static void a_delay_longer_than_all_other_work_is_no_border(void **state)
{
    (void)state;
    assert_int_equal(gap_with_delay(50000), US(110));
}

static void times_of_one_kind_all_begin_steps(void **state)
{
    static const iw_time times_us[] = {100, 120, 140, 160};

    (void)state;
    assert_int_equal(gap_of(times_us, 4), US(100));
}

/* ---- files ---- */

#if IW_HAVE_OTF2
/* tests/mpi/programs/eztrace_calls.c: three rounds with usleep(1000), and more behind them. */
static void check_archive(const char *path)
{
    iw_timeline_opts opts = IW_TIMELINE_OPTS_INIT;
    iw_timeline *timeline = NULL;

    assert_ok(iw_timeline_from_trace(NULL, path, US(900), &opts, &timeline));
    assert_string_equal(iw_timeline_describe(timeline)->origin, "traced");
    assert_string_equal(iw_timeline_describe(timeline)->title, path);
    assert_int_equal(iw_timeline_describe(timeline)->ranks, 4);
    assert_int_equal(iw_timeline_describe(timeline)->dims[0], 4);
    assert_true(iw_timeline_is_whole(timeline));
    for (uint32_t rank = 0; rank < 4; rank++) {
        const iw_step *steps;
        uint64_t first;
        size_t count;

        steps = iw_timeline_steps(timeline, rank, &count, &first);
        assert_true(count >= 4);
        assert_true(steps[0].begin_ps < IW_PS_PER_S);
        for (size_t i = 1; i < count; i++) {
            assert_int_equal(steps[i].begin_ps, iw_step_end(&steps[i - 1]));
            assert_true(steps[i].state_ps[IW_STATE_COMPUTE] >= US(900));
            assert_int_equal(steps[i].state_ps[IW_STATE_DELAY] + steps[i].state_ps[IW_STATE_NOISE], 0);
        }
    }
    iw_timeline_free(timeline);
}

static void archives_of_eztrace_have_steps(void **state)
{
    (void)state;
    check_archive(IW_TEST_DATA "/traces/eztrace-openmpi");
    check_archive(IW_TEST_DATA "/traces/eztrace-mpich");
}
#endif

static void clocks_of_liballprof_cannot_be_laid_side_by_side(void **state)
{
    iw_timeline_opts opts = IW_TIMELINE_OPTS_INIT;
    iw_timeline *timeline = NULL;
    struct iwt_log l;

    (void)state;
    iwt_log_init(&l);
    assert_int_equal(
        iw_timeline_from_trace(&l.log, IW_TEST_DATA "/traces/liballprof-mpich", 0, &opts, &timeline),
        IW_ERR_UNSUPPORTED);
    assert_non_null(strstr(l.text, "have separate clocks"));
    assert_null(timeline);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(computation_between_calls_begins_steps),
        cmocka_unit_test(the_border_is_where_times_jump),
        cmocka_unit_test(a_single_delay_is_no_border),
        cmocka_unit_test(a_delay_longer_than_all_other_work_is_no_border),
        cmocka_unit_test(times_of_one_kind_all_begin_steps),
#if IW_HAVE_OTF2
        cmocka_unit_test(archives_of_eztrace_have_steps),
#endif
        cmocka_unit_test(clocks_of_liballprof_cannot_be_laid_side_by_side),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
