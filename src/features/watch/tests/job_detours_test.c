/* Detours of ranks, from turns of their threads and what else ran.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/watch/job/job_recording.h"

#include <stdlib.h>

#include "core/base/base.h"
#include "support/support.h"

enum { CPUS = 2, TICK = 1, DAEMON = 2, OTHERS = 3, END = 1000000 };

struct bench {
    struct iwi_job_segment segments[CPUS][8];
    struct iwi_job_cpu cpus[CPUS];
    struct iwi_job_run runs[16];
    struct iwi_job_rank rank;
    iw_detours detours;
};

static int begin(void **state)
{
    struct bench *bench = calloc(1, sizeof *bench);

    assert_non_null(bench);
    for (size_t i = 0; i < CPUS; i++) {
        bench->cpus[i].segments = bench->segments[i];
    }
    bench->rank.runs = bench->runs;
    *state = bench;
    return 0;
}

static int end(void **state)
{
    struct bench *bench = *state;

    free(bench->detours.start_ns);
    free(bench->detours.duration_ns);
    free(bench->detours.source);
    free(bench->detours.part_detour);
    free(bench->detours.part_source);
    free(bench->detours.part_ns);
    free(bench);
    return 0;
}

static void turn(struct bench *bench, int64_t at_ns, uint32_t place, enum iwi_job_turn turn)
{
    bench->runs[bench->rank.count++] = (struct iwi_job_run){at_ns, place, turn};
}

static void took(struct bench *bench, uint32_t place, int64_t start_ns, int64_t end_ns, uint32_t source)
{
    bench->segments[place][bench->cpus[place].count++] = (struct iwi_job_segment){start_ns, end_ns, source};
}

static void find(struct bench *bench)
{
    const struct iwi_job_span span = {.end_ns = END, .others = OTHERS};
    int64_t own_ns;

    assert_ok(iwi_job_detours(NULL, &bench->rank, bench->cpus, CPUS, &span, &bench->detours, &own_ns));
    assert_int_equal(bench->detours.length_ns, END);
}

static int64_t find_wanted(struct bench *bench)
{
    const struct iwi_job_span span = {.end_ns = END, .is_wanted_time = true};
    int64_t own_ns;

    assert_ok(iwi_job_detours(NULL, &bench->rank, bench->cpus, CPUS, &span, &bench->detours, &own_ns));
    return own_ns;
}

static void expect(const struct bench *bench, size_t i, int64_t start_ns, int64_t duration_ns,
                   uint32_t source)
{
    assert_true(i < bench->detours.count);
    assert_int_equal(bench->detours.start_ns[i], start_ns);
    assert_int_equal(bench->detours.duration_ns[i], duration_ns);
    assert_int_equal(bench->detours.source[i], source);
}

static void interrupts_take_time_of_a_rank_that_runs(void **state)
{
    struct bench *bench = *state;

    turn(bench, 1000, 0, IWI_JOB_RUNS);
    turn(bench, 90000, 0, IWI_JOB_SLEEPS);
    took(bench, 0, 500, 900, TICK); /* before it ran */
    took(bench, 0, 20000, 22000, TICK);
    took(bench, 0, 89000, 95000, TICK); /* it slept from 90,000 on */
    took(bench, 1, 40000, 50000, TICK); /* on another CPU */
    find(bench);
    assert_int_equal(bench->detours.count, 2);
    expect(bench, 0, 20000, 2000, TICK);
    expect(bench, 1, 89000, 1000, TICK);
}

static void a_preempted_rank_loses_all_until_it_runs_again(void **state)
{
    struct bench *bench = *state;

    turn(bench, 0, 0, IWI_JOB_RUNS);
    turn(bench, 10000, 0, IWI_JOB_LEAVES);
    turn(bench, 60000, 1, IWI_JOB_RUNS); /* on the other CPU */
    turn(bench, 90000, 1, IWI_JOB_SLEEPS);
    took(bench, 0, 9000, 9900, TICK); /* the tick that led to it: 100 ns are the kernel's own */
    took(bench, 0, 10000, 80000, DAEMON);
    find(bench);
    assert_int_equal(bench->detours.count, 1);
    expect(bench, 0, 9000, 51000, DAEMON);
    assert_int_equal(bench->detours.part_count, 2);
    assert_int_equal(bench->detours.part_ns[0], 900);
    assert_int_equal(bench->detours.part_ns[1], 50000);
}

static void a_rank_that_sleeps_loses_nothing(void **state)
{
    struct bench *bench = *state;

    turn(bench, 0, 0, IWI_JOB_RUNS);
    turn(bench, 10000, 0, IWI_JOB_SLEEPS);
    turn(bench, 60000, 0, IWI_JOB_RUNS);
    took(bench, 0, 10000, 60000, DAEMON);
    find(bench);
    assert_int_equal(bench->detours.count, 0);
}

static void what_no_other_took_went_to_other_ranks(void **state)
{
    struct bench *bench = *state;

    turn(bench, 50000, 0, IWI_JOB_RUNS); /* turns come in any order */
    turn(bench, 0, 0, IWI_JOB_RUNS);
    turn(bench, 10000, 0, IWI_JOB_LEAVES);
    took(bench, 0, 30000, 34000, TICK);
    find(bench);
    assert_int_equal(bench->detours.count, 1);
    expect(bench, 0, 10000, 40000, OTHERS);
    assert_int_equal(bench->detours.part_count, 3);
}

/* Wanted: 1,000 to 40,000, 50,000 to 60,000 and 100,000 to 120,000. */
static void in_wanted_time_the_clock_stands_still_meanwhile(void **state)
{
    struct bench *bench = *state;

    turn(bench, 1000, 0, IWI_JOB_RUNS);
    turn(bench, 30000, 0, IWI_JOB_LEAVES);
    turn(bench, 50000, 0, IWI_JOB_RUNS);
    turn(bench, 60000, 0, IWI_JOB_SLEEPS);
    turn(bench, 100000, 1, IWI_JOB_RUNS);
    turn(bench, 120000, 1, IWI_JOB_SLEEPS);
    took(bench, 0, 20000, 22000, TICK);
    took(bench, 0, 30000, 40000, DAEMON); /* then, up to 50,000, another thread of the job */
    took(bench, 1, 110000, 111000, TICK);
    assert_int_equal(find_wanted(bench), 10000);
    assert_int_equal(bench->detours.count, 3);
    expect(bench, 0, 19000, 2000, TICK);
    expect(bench, 1, 29000, 10000, DAEMON);
    expect(bench, 2, 59000, 1000, TICK);
    assert_int_equal(bench->detours.length_ns, 69000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(interrupts_take_time_of_a_rank_that_runs, begin, end),
        cmocka_unit_test_setup_teardown(a_preempted_rank_loses_all_until_it_runs_again, begin, end),
        cmocka_unit_test_setup_teardown(a_rank_that_sleeps_loses_nothing, begin, end),
        cmocka_unit_test_setup_teardown(what_no_other_took_went_to_other_ranks, begin, end),
        cmocka_unit_test_setup_teardown(in_wanted_time_the_clock_stands_still_meanwhile, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
