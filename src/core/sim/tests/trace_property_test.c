/* What must hold for every trace program: the flow engine's steps and the unrolled program on the event
 * engine agree to the picosecond, for any number of lanes.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/program/trace_program.h"
#include "step_log.h"
#include "support/support.h"
#include "trace_fixture.h"

enum { TRACES = 800 };

static void steps_and_the_unrolled_program_agree(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < TRACES; seed++) {
        struct iwt_trace_fixture f;
        iw_sim_result *event, *flow;

        iwt_trace_set_up(&f, seed);
        f.opts.trials = 3;
        event = iwt_trace_run(&f, IW_ENGINE_EVENT, 0);
        flow = iwt_trace_run(&f, IW_ENGINE_FLOW, seed % 2 ? 1 : 8);
        assert_string_equal(flow->engine_note, "");
        iwt_trace_assert_same(&f, event, flow);
        iw_sim_result_free(event);
        iw_sim_result_free(flow);
        iwt_trace_tear_down(&f);
    }
}

static void both_tell_the_same_steps(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < TRACES / 2; seed++) {
        struct iwt_trace_fixture f;
        struct iwt_step_log event = {.count = 0}, flow = {.count = 0};

        iwt_trace_set_up(&f, seed);
        f.opts.engine = IW_ENGINE_EVENT;
        iw_sim_result_free(iwt_run_steps(f.program, &f.net, f.noise, &f.opts, &event));
        f.opts.engine = IW_ENGINE_FLOW;
        iw_sim_result_free(iwt_run_steps(f.program, &f.net, f.noise, &f.opts, &flow));
        iwt_assert_same_steps(&event, &flow, "trace", seed);
        iwt_step_log_release(&event);
        iwt_step_log_release(&flow);
        iwt_trace_tear_down(&f);
    }
}

static void lanes_and_threads_change_nothing(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < TRACES / 10; seed++) {
        struct iwt_trace_fixture f;
        iw_sim_result *one, *many;

        iwt_trace_set_up(&f, seed);
        f.opts.trials = 11;
        one = iwt_trace_run(&f, IW_ENGINE_AUTO, 1);
        f.opts.threads = 2;
        many = iwt_trace_run(&f, IW_ENGINE_AUTO, 4);
        assert_int_equal(one->engine, IW_ENGINE_FLOW);
        iwt_trace_assert_same(&f, one, many);
        iw_sim_result_free(one);
        iw_sim_result_free(many);
        iwt_trace_tear_down(&f);
    }
}

/* So many that the flow engine takes them side by side, mostly without collectives in between. */
static void set_up_replicas(struct iwt_trace_fixture *f, uint64_t seed)
{
    iwt_trace_set_up(f, seed);
    iw_program_free(f->program);
    iw_noise_free(f->noise);
    f->noise = iwt_random_clock_noise(&f->random);
    f->trace_opts.ranks = f->made.trace.rank_count * (uint32_t)(8 + seed % 23);
    f->trace_opts.drops_p2p = false;
    f->trace_opts.drops_collectives = seed % 4 != 0;
    assert_ok(iwi_program_from_rules(NULL, &f->made.trace, &f->trace_opts, &iwi_rules_paper, &f->program));
    iwt_quiet_unless_eager(f->program, &f->net);
    f->opts.trials = 8;
}

static void replicas_side_by_side_and_the_unrolled_program_agree(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < TRACES / 4; seed++) {
        struct iwt_trace_fixture f;
        iw_sim_result *event, *flow;

        set_up_replicas(&f, seed);
        event = iwt_trace_run(&f, IW_ENGINE_EVENT, 0);
        flow = iwt_trace_run(&f, IW_ENGINE_FLOW, 8);
        iwt_trace_assert_same(&f, event, flow);
        iw_sim_result_free(event);
        iw_sim_result_free(flow);
        iwt_trace_tear_down(&f);
    }
}

static uint64_t count_sends(const struct iwi_schedule *schedule)
{
    uint64_t sends = 0;

    for (uint64_t n = 0; n < schedule->first_node[schedule->ranks]; n++) {
        sends += schedule->nodes[n].kind == IWI_SEND;
    }
    return sends;
}

static void as_many_messages_are_unrolled_as_were_counted(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < TRACES / 10; seed++) {
        struct iwt_trace_fixture f;
        struct iwi_schedule *schedule;

        iwt_trace_set_up(&f, seed);
        assert_ok(iwi_program_unroll(NULL, f.program, &schedule));
        assert_int_equal(count_sends(schedule), iw_program_messages(f.program));
        iwi_schedule_free(schedule);
        iwt_trace_tear_down(&f);
    }
}

static iw_time sum_of(const iw_split *split)
{
    iw_time sum = 0;

    for (size_t part = 0; part < IW_PARTS; part++) {
        sum += split->part_ps[part];
    }
    return sum;
}

static void the_explained_path_sums_to_the_makespan(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < TRACES / 10; seed++) {
        struct iwt_trace_fixture f;
        iw_sim_result *flow, *event;

        iwt_trace_set_up(&f, seed);
        f.opts.trials = 3;
        f.opts.want_explain = true;
        flow = iwt_trace_run(&f, IW_ENGINE_FLOW, 1);
        event = iwt_trace_run(&f, IW_ENGINE_EVENT, 1);
        assert_int_equal(sum_of(&flow->explain->median.split), flow->explain->median.makespan_ps);
        assert_int_equal(flow->explain->median.makespan_ps, event->explain->median.makespan_ps);
        assert_int_equal(flow->explain->median.last_rank, event->explain->median.last_rank);
        iw_sim_result_free(flow);
        iw_sim_result_free(event);
        iwt_trace_tear_down(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_and_the_unrolled_program_agree),
        cmocka_unit_test(both_tell_the_same_steps),
        cmocka_unit_test(replicas_side_by_side_and_the_unrolled_program_agree),
        cmocka_unit_test(lanes_and_threads_change_nothing),
        cmocka_unit_test(as_many_messages_are_unrolled_as_were_counted),
        cmocka_unit_test(the_explained_path_sums_to_the_makespan),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
