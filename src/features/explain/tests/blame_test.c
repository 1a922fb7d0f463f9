/* Runs whose truth is known: who is blamed for what, and what would have been saved.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "made_run.h"

#include <math.h>
#include <string.h>

static const iw_blame_source *source_of(const iw_blame *blame, const char *name)
{
    for (size_t i = 0; i < blame->source_count; i++) {
        if (strcmp(blame->sources[i].name, name) == 0) {
            return &blame->sources[i];
        }
    }
    fail_msg("no source %s", name);
    return NULL;
}

/* Rank 0 computes 100 us, of which a daemon takes 30; rank 1 computes 60. Both meet at 100 and leave at 105.
 */
static void who_waits_is_delayed_by_what_the_other_lost(void **state)
{
    struct made_run made;
    iw_blame *blame;
    const iw_blame_source *daemon;

    (void)state;
    made_run_begin(&made, 2);
    made_allreduce(&made, 0, 100, 105);
    made_allreduce(&made, 1, 60, 105);
    made_detour(&made, 0, "daemon", 40, 30);
    blame = made_blame(&made);
    assert_float_equal(blame->run_ns, 105e3, 1e-6);
    daemon = source_of(blame, "thread/daemon");
    assert_float_equal(daemon->path_ns, 30e3, 1e-6);
    assert_float_equal(daemon->saving_ns.value, 30e3, 1e-6);
    assert_float_equal(blame->path_computing_ns, 70e3, 1e-6);
    assert_float_equal(blame->path_calls_ns, 5e3, 1e-6);
    assert_int_equal(blame->hit_count, 1);
    assert_int_equal(blame->hits[0].rank, 0);
    assert_float_equal(blame->hits[0].at_ns, 40e3, 1e-6);
    assert_false(blame->hits[0].is_in_call);
    assert_string_equal(blame->hits[0].call, "MPI_Allreduce");
    assert_string_equal(blame->by_call[0].name, "MPI_Allreduce");
    iw_blame_free(blame);
    made_run_end(&made);
}

/* A v-form, on a communicator that has a name. */
static void calls_and_communicators_are_named_as_they_were(void **state)
{
    struct made_run made;
    iw_blame *blame;

    (void)state;
    made_run_begin(&made, 2);
    made_allreduce(&made, 0, 100, 105);
    made_allreduce(&made, 1, 60, 105);
    made_detour(&made, 0, "daemon", 40, 30);
    made_name(&made, "MPI_Allgatherv", "rows");
    blame = made_blame(&made);
    assert_string_equal(blame->hits[0].call, "MPI_Allgatherv");
    assert_string_equal(blame->by_call[0].name, "MPI_Allgatherv");
    assert_string_equal(blame->by_call[0].comm_name, "rows");
    iw_blame_free(blame);
    made_run_end(&made);
}

/* A detour of 60 us makes rank 0 enter at 130 instead of 70; but rank 1 needs until 100 by itself: 30 us are
 * saved. */
static void no_more_is_saved_than_the_next_one_needs(void **state)
{
    struct made_run made;
    iw_blame *blame;

    (void)state;
    made_run_begin(&made, 2);
    made_allreduce(&made, 0, 130, 135);
    made_allreduce(&made, 1, 100, 135);
    made_detour(&made, 0, "daemon", 20, 60);
    blame = made_blame(&made);
    assert_float_equal(source_of(blame, "thread/daemon")->path_ns, 60e3, 1e-6);
    assert_float_equal(source_of(blame, "thread/daemon")->saving_ns.value, 30e3, 1e-6);
    assert_float_equal(blame->without_all_ns.value, 105e3, 1e-6);
    iw_blame_free(blame);
    made_run_end(&made);
}

/* Rank 1 waits from 60 to 100 anyway. */
static void what_is_lost_while_waiting_costs_nothing(void **state)
{
    struct made_run made;
    iw_blame *blame;

    (void)state;
    made_run_begin(&made, 2);
    made_allreduce(&made, 0, 100, 105);
    made_allreduce(&made, 1, 60, 105);
    made_detour(&made, 1, "daemon", 65, 30);
    blame = made_blame(&made);
    assert_float_equal(source_of(blame, "thread/daemon")->absorbed_ns, 30e3, 1e-6);
    assert_float_equal(source_of(blame, "thread/daemon")->saving_ns.value, 0.0, 1e-6);
    assert_int_equal(blame->hit_count, 0);
    iw_blame_free(blame);
    made_run_end(&made);
}

/* The clock of rank 0 falls behind by 20 us until its end, which it takes for 180: its 90 is 100. */
static void detours_are_put_on_the_clock_of_all_ranks(void **state)
{
    struct made_run made;
    iw_blame *blame;

    (void)state;
    made_run_begin(&made, 2);
    made_allreduce(&made, 0, 70, 80);
    made_allreduce(&made, 1, 60, 80);
    made_allreduce(&made, 0, 140, 150);
    made_allreduce(&made, 1, 120, 150);
    made.trace->ranks[0].last_compute_wall_ps = 50 * MADE_US;
    made.trace->ranks[0].clock_added_ns[1] = 20000;
    made_detour(&made, 0, "daemon", 90, 9);
    blame = made_blame(&made);
    assert_int_equal(blame->hit_count, 1);
    assert_float_equal(blame->hits[0].at_ns, 100e3, 1e-6);
    assert_float_equal(blame->hits[0].lost_ns, 10e3, 1e-6);
    iw_blame_free(blame);
    made_run_end(&made);
}

/* A chain 0 -> 1 -> 2 of messages: what rank 0 lost is felt at the end of rank 2, by way of rank 1. */
static void delays_are_followed_through_messages(void **state)
{
    struct made_run made;
    iw_blame *blame;

    (void)state;
    made_run_begin(&made, 3);
    made_message(&made, 0, IWI_CALL_SEND, 1, 80, 81);
    made_message(&made, 1, IWI_CALL_RECV, 0, 20, 82);
    made_message(&made, 1, IWI_CALL_SEND, 2, 92, 93);
    made_message(&made, 2, IWI_CALL_RECV, 1, 30, 95);
    made_detour(&made, 0, "daemon", 10, 50);
    made_detour(&made, 1, "other", 84, 4);
    blame = made_blame(&made);
    assert_int_equal(blame->last_rank, 2);
    assert_int_equal(blame->path_jumps, 2);
    assert_float_equal(source_of(blame, "thread/daemon")->saving_ns.value, 50e3, 1e-6);
    assert_float_equal(source_of(blame, "thread/other")->saving_ns.value, 4e3, 1e-6);
    assert_int_equal(blame->hits[0].waiter, 1);
    assert_string_equal(blame->hits[0].waited_in, "MPI_Recv");
    assert_int_equal(blame->hits[1].waiter, 2);
    iw_blame_free(blame);
    made_run_end(&made);
}

/* Nine allreduces take 5 us once both are there; in the last rank 1 loses 40 us inside, and rank 0 waits for
 * it. */
static void a_hit_inside_a_collective_delays_its_other_members(void **state)
{
    struct made_run made;
    iw_blame *blame;

    (void)state;
    made_run_begin(&made, 2);
    for (int64_t i = 1; i <= 9; i++) {
        made_allreduce(&made, 0, 100 * i, 100 * i + 5);
        made_allreduce(&made, 1, 100 * i, 100 * i + 5);
    }
    made_allreduce(&made, 0, 1000, 1045);
    made_allreduce(&made, 1, 1000, 1044);
    made_detour(&made, 1, "daemon", 1002, 40);
    blame = made_blame(&made);
    assert_int_equal(blame->last_rank, 0);
    assert_float_equal(source_of(blame, "thread/daemon")->saving_ns.value, 40e3, 1e-6);
    assert_int_equal(blame->hits[0].rank, 1);
    assert_int_equal(blame->hits[0].iteration, 10);
    assert_true(blame->hits[0].is_in_call);
    assert_int_equal(blame->hits[0].waiter, 0);
    iw_blame_free(blame);
    made_run_end(&made);
}

static void intervals_widen_with_what_varies(void **state)
{
    double widths[2];

    (void)state;
    for (int varies = 0; varies < 2; varies++) {
        struct made_run made;
        const iw_blame_source *daemon;
        iw_blame *blame;
        int64_t at = 0;

        made_run_begin(&made, 2);
        for (int i = 0; i < 400; i++) {
            at += 100 + (varies != 0 && i % 40 < 10 ? 30 : 0); /* slow for a quarter of each 40 */
            made_allreduce(&made, 0, at, at + 5);
            made_allreduce(&made, 1, at, at + 5);
        }
        made_detour(&made, 0, "daemon", 150, 20);
        blame = made_blame(&made);
        daemon = source_of(blame, "thread/daemon");
        widths[varies] = daemon->saving_ns.high - daemon->saving_ns.low;
        iw_blame_free(blame);
        made_run_end(&made);
    }
    assert_true(widths[1] > 5.0 * widths[0]);
}

static void what_cannot_be_laid_beside_each_other_is_refused(void **state)
{
    struct made_run made;
    struct iwt_log log;
    const iw_recording *kernel;
    iw_blame *blame = NULL;

    (void)state;
    made_run_begin(&made, 1);
    made_allreduce(&made, 0, 10, 20);
    kernel = made.kernel;
    iwt_log_init(&log);
    made.trace->zero_ns = 0;
    assert_status(iw_blame_run(&log.log, "made", made.trace, &kernel, 1, &blame), IW_ERR_UNSUPPORTED);
    iwt_assert_logged(&log, "CLOCK_MONOTONIC");
    made.trace->zero_ns = MADE_ZERO_NS;
    assert_ok(iw_recording_set(NULL, made.kernel, "watched", "cpus"));
    assert_status(iw_blame_run(&log.log, "made", made.trace, &kernel, 1, &blame), IW_ERR_UNSUPPORTED);
    iwt_assert_logged(&log, "that is not of the run's ranks");
    made_run_end(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_waits_is_delayed_by_what_the_other_lost),
        cmocka_unit_test(calls_and_communicators_are_named_as_they_were),
        cmocka_unit_test(no_more_is_saved_than_the_next_one_needs),
        cmocka_unit_test(what_is_lost_while_waiting_costs_nothing),
        cmocka_unit_test(detours_are_put_on_the_clock_of_all_ranks),
        cmocka_unit_test(delays_are_followed_through_messages),
        cmocka_unit_test(a_hit_inside_a_collective_delays_its_other_members),
        cmocka_unit_test(intervals_widen_with_what_varies),
        cmocka_unit_test(what_cannot_be_laid_beside_each_other_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
