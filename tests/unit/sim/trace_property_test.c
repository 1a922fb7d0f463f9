/* What must hold for every trace program: the flow engine's steps and the unrolled program on the event
 * engine agree to the picosecond, for any number of lanes.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <string.h>

#include "program/trace_program.h"
#include "support/support.h"
#include "unit/sim/random_trace.h"
#include "unit/sim/step_log.h"

enum { TRACES = 800, MOST_DELAYS = 5 };

struct fixture {
    uint64_t seed;
    struct iwt_random random;
    struct iwt_made_trace made;
    struct iwt_wishes wishes;
    iw_trace_opts trace_opts;
    iw_net net;
    iw_noise *noise;
    iw_program *program;
    iw_sim_opts opts;
};

static void add_delays(struct fixture *f)
{
    const size_t wanted = (size_t)iwt_below(&f->random, MOST_DELAYS);
    iw_delay delays[MOST_DELAYS];
    size_t count = 0;

    for (size_t k = 0; k < wanted; k++) {
        const uint32_t rank = (uint32_t)iwt_below(&f->random, iw_program_ranks(f->program));
        const uint64_t phases = iwi_trace_phases(f->program->trace, rank);

        if (phases > 0) {
            delays[count++] = (iw_delay){.rank = rank,
                                         .step = 1 + iwt_below(&f->random, phases),
                                         .time_ps = (iw_time)iwt_below(&f->random, 90000)};
        }
    }
    assert_ok(iw_program_set_delays(NULL, f->program, delays, count));
}

static void set_up(struct fixture *f, uint64_t seed)
{
    static const iw_compute_clock clocks[] = {IW_COMPUTE_AUTO, IW_COMPUTE_WALL};
    const struct iwi_rule_set *set;

    *f = (struct fixture){
        .seed = seed, .random = {seed, 0}, .trace_opts = IW_TRACE_OPTS_INIT, .opts = IW_SIM_OPTS_INIT};
    f->net = iwt_random_net(&f->random);
    f->noise = iwt_random_noise(&f->random);
    iwt_random_trace(&f->random, &f->made);
    iwt_random_wishes(&f->random, &f->wishes);
    f->trace_opts.algorithms = f->wishes.texts;
    f->trace_opts.ranks = f->made.trace.rank_count * (1 + (uint32_t)iwt_below(&f->random, 4));
    f->trace_opts.reduce = (iw_fs_per_byte)iwt_below(&f->random, 20000);
    f->trace_opts.clock = clocks[iwt_below(&f->random, 2)];
    f->trace_opts.compute_scale = iwt_below(&f->random, 3) == 0 ? 0.37 : 1;
    f->trace_opts.drops_p2p = iwt_below(&f->random, 10) == 0;
    f->trace_opts.drops_collectives = iwt_below(&f->random, 10) == 0;
    set = iwi_rules_find(iw_rules_name((size_t)iwt_below(&f->random, 4)));
    assert_ok(iwi_program_from_trace(NULL, &f->made.trace, &f->trace_opts, set, &f->program));
    add_delays(f);
    f->opts.rendezvous = iwt_below(&f->random, 2) ? IW_RENDEZVOUS_IDEAL : IW_RENDEZVOUS_RTS_CTS;
    f->opts.threads = 1;
}

static void tear_down(struct fixture *f)
{
    iw_program_free(f->program);
    iw_noise_free(f->noise);
    iwt_made_trace_release(&f->made);
}

static iw_sim_result *run(struct fixture *f, iw_engine engine, uint32_t lanes)
{
    f->opts.engine = engine;
    f->opts.lanes = lanes;
    return iwt_run(f->program, &f->net, f->noise, &f->opts);
}

static void assert_same_ends(const struct fixture *f, const iw_sim_result *a, const iw_sim_result *b)
{
    assert_int_equal(a->trials, b->trials);
    assert_int_equal(a->noiseless_ps, b->noiseless_ps);
    for (uint64_t i = 0; i < a->trials * a->ranks; i++) {
        if (a->end_ps[i] != b->end_ps[i]) {
            fail_msg("trace %llu, trial %llu rank %llu: %lld ps and %lld ps", (unsigned long long)f->seed,
                     (unsigned long long)(i / a->ranks), (unsigned long long)(i % a->ranks),
                     (long long)a->end_ps[i], (long long)b->end_ps[i]);
        }
    }
}

static void steps_and_the_unrolled_program_agree(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < TRACES; seed++) {
        struct fixture f;
        iw_sim_result *event, *flow;

        set_up(&f, seed);
        f.opts.trials = 3;
        event = run(&f, IW_ENGINE_EVENT, 0);
        flow = run(&f, IW_ENGINE_FLOW, seed % 2 ? 1 : 8);
        assert_string_equal(flow->engine_note, "");
        assert_same_ends(&f, event, flow);
        iw_sim_result_free(event);
        iw_sim_result_free(flow);
        tear_down(&f);
    }
}

static void both_tell_the_same_steps(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < TRACES / 2; seed++) {
        struct fixture f;
        struct iwt_step_log event = {.count = 0}, flow = {.count = 0};

        set_up(&f, seed);
        f.opts.engine = IW_ENGINE_EVENT;
        iw_sim_result_free(iwt_run_steps(f.program, &f.net, f.noise, &f.opts, &event));
        f.opts.engine = IW_ENGINE_FLOW;
        iw_sim_result_free(iwt_run_steps(f.program, &f.net, f.noise, &f.opts, &flow));
        iwt_assert_same_steps(&event, &flow, "trace", seed);
        iwt_step_log_release(&event);
        iwt_step_log_release(&flow);
        tear_down(&f);
    }
}

static void lanes_and_threads_change_nothing(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < TRACES / 10; seed++) {
        struct fixture f;
        iw_sim_result *one, *many;

        set_up(&f, seed);
        f.opts.trials = 11;
        one = run(&f, IW_ENGINE_AUTO, 1);
        f.opts.threads = 2;
        many = run(&f, IW_ENGINE_AUTO, 4);
        assert_int_equal(one->engine, IW_ENGINE_FLOW);
        assert_same_ends(&f, one, many);
        iw_sim_result_free(one);
        iw_sim_result_free(many);
        tear_down(&f);
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
        struct fixture f;
        struct iwi_schedule *schedule;

        set_up(&f, seed);
        assert_ok(iwi_program_unroll(NULL, f.program, &schedule));
        assert_int_equal(count_sends(schedule), iw_program_messages(f.program));
        iwi_schedule_free(schedule);
        tear_down(&f);
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
        struct fixture f;
        iw_sim_result *flow, *event;

        set_up(&f, seed);
        f.opts.trials = 3;
        f.opts.want_explain = true;
        flow = run(&f, IW_ENGINE_FLOW, 1);
        event = run(&f, IW_ENGINE_EVENT, 1);
        assert_int_equal(sum_of(&flow->explain->last), flow->explain->makespan_ps);
        assert_int_equal(flow->explain->makespan_ps, event->explain->makespan_ps);
        assert_int_equal(flow->explain->last_rank, event->explain->last_rank);
        iw_sim_result_free(flow);
        iw_sim_result_free(event);
        tear_down(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_and_the_unrolled_program_agree),
        cmocka_unit_test(both_tell_the_same_steps),
        cmocka_unit_test(lanes_and_threads_change_nothing),
        cmocka_unit_test(as_many_messages_are_unrolled_as_were_counted),
        cmocka_unit_test(the_explained_path_sums_to_the_makespan),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
