/* The smallest set where less noise can make a job slower: nothing may be concluded from one set for another.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/sim/tests/dag.h"
#include "made_question.h"
#include "support/made_recording.h"
#include "support/support.h"

enum { RANKS = 4, PARTS = 3, LENGTH_US = 100000 };

static const int64_t NS_PER_US = 1000;

/* As examples/anomaly.goal, in microseconds, and with rank 3 for the second computation: rank 1 computes when
 * the message of rank 0 comes, and rank 3 when rank 1 has passed on that of rank 2. That comes first, unless
 * rank 2 is delayed; unless rank 0 is delayed too. */
static void make_graph(struct iwt_dag *d)
{
    iwt_dag_rank(d);
    iwt_dag_calc(d, 60 * IW_PS_PER_US);
    iwt_dag_send(d, 1, 1, 0);
    iwt_dag_requires(d, 0);
    iwt_dag_rank(d);
    iwt_dag_recv(d, 0, 1, 0);
    iwt_dag_calc(d, 1000 * IW_PS_PER_US);
    iwt_dag_requires(d, 0);
    iwt_dag_recv(d, 2, 1, 0);
    iwt_dag_send(d, 3, 1, 0);
    iwt_dag_requires(d, 2);
    iwt_dag_rank(d);
    iwt_dag_calc(d, 40 * IW_PS_PER_US);
    iwt_dag_send(d, 1, 1, 0);
    iwt_dag_requires(d, 0);
    iwt_dag_rank(d);
    iwt_dag_recv(d, 1, 1, 0);
    iwt_dag_calc(d, 1000 * IW_PS_PER_US);
    iwt_dag_requires(d, 0);
    iwt_dag_end(d);
}

static iw_status make(void *arg, uint32_t ranks, double work, iw_program **program_p)
{
    struct iwt_dag *d = arg;

    if (ranks != 0 || work != 1.0) {
        return IW_ERR_UNSUPPORTED;
    }
    *program_p = &d->program;
    return IW_OK;
}

static void release(void *arg, iw_program *program)
{
    (void)arg;
    (void)program;
}

/* Of every period on this CPU so much is lost. */
static void add_source(iw_recording *recording, uint32_t source, size_t cpu, int64_t period_us,
                       int64_t lost_us)
{
    for (int64_t at_us = 0; at_us < LENGTH_US; at_us += period_us) {
        iwt_detour(recording, cpu, at_us * NS_PER_US, lost_us * NS_PER_US, source);
    }
}

/* Rank r runs on CPU r. thread/late delays rank 2 by 60 us and more: 80 us of work take four periods of it.
 * thread/luck delays rank 0 by more. irq/load slows the long computations on ranks 1 and 3. */
static iw_noise_set *make_noise(void)
{
    iw_recording *recording = iwt_recording(RANKS, LENGTH_US * NS_PER_US);
    const uint32_t luck = iwt_source(recording, IW_CLASS_THREAD, "luck");
    const uint32_t late = iwt_source(recording, IW_CLASS_THREAD, "late");
    const uint32_t load = iwt_source(recording, IW_CLASS_IRQ, "load");
    iw_noise_set *set;

    add_source(recording, luck, 0, 20, 14);
    add_source(recording, load, 1, 20, 6);
    add_source(recording, late, 2, 20, 10);
    add_source(recording, load, 3, 20, 6);
    set = iwt_set(recording, NULL);
    iw_noise_set_align(set, IW_SYNC_NONE, 0, RANKS);
    return set;
}

static size_t part_of(const iw_noise_set *set, const char *name)
{
    bool is_marked[PARTS] = {false};
    size_t part = 0;

    assert_ok(iw_noise_set_mark(NULL, set, name, is_marked));
    while (!is_marked[part]) {
        part++;
    }
    return part;
}

static double slowdown_without(const iw_whatif *whatif, const char *name)
{
    const iw_change *change = iwt_change(whatif, name);

    assert_non_null(change);
    return change->slowdown.value;
}

static iw_whatif *ask(const iw_noise_set *set, struct iwt_dag *d, double target, uint32_t most_parts)
{
    struct iwt_question question;
    iw_whatif_opts opts = iwt_options(&question);

    opts.program = (iw_program_maker){make, release, d};
    opts.redraws = 0;
    opts.target = target;
    opts.most_parts = most_parts;
    return iwt_ask(set, &opts);
}

/* Alone, thread/late makes the job 90 % slower: it would be held for needed. Beside thread/luck it costs
 * nothing, so irq/load is all that has to go. */
static void a_source_that_another_makes_up_for_is_not_needed(void **state)
{
    struct iwt_dag d = {.ranks = 0};
    iw_noise_set *set = make_noise();

    (void)state;
    make_graph(&d);
    for (uint32_t most_parts = 0; most_parts < PARTS; most_parts++) { /* 0: all; else the others are a rest */
        iw_whatif *whatif = ask(set, &d, 0.2, most_parts);

        assert_false(whatif->is_monotone);
        if (most_parts == 0) {
            assert_true(slowdown_without(whatif, "thread/luck") > whatif->now.value + 0.5);
            assert_true(slowdown_without(whatif, "irq/load") <= 0.2);
            assert_true(iwt_change(whatif, "thread/luck")->saving.low < -0.5);
        }
        assert_true(whatif->has_target_set && whatif->is_target_exact);
        assert_int_equal(whatif->target_set.removed_count, 1);
        assert_true(whatif->target_set.is_removed[part_of(set, "irq/load")]);
        assert_true(whatif->target_set.slowdown.value <= 0.2);
        iw_whatif_free(whatif);
    }
    iw_noise_set_free(set);
}

/* With a delay of rank 2 that always stays, all sources together do not get there; all but thread/luck do. */
static void the_set_may_be_smaller_than_all_where_all_do_not_get_there(void **state)
{
    iw_delay delay = {.rank = 2, .step = 1, .time_ps = 30 * IW_PS_PER_US};
    struct iwt_dag d = {.ranks = 0};
    iw_noise_set *set = make_noise();
    iw_whatif *whatif;

    (void)state;
    make_graph(&d);
    d.program.delays = &delay;
    d.program.delay_count = 1;
    whatif = ask(set, &d, 0.2, 0);
    assert_true(slowdown_without(whatif, "all") > 0.5);
    assert_true(whatif->has_target_set && whatif->is_target_exact);
    assert_false(whatif->target_set.is_removed[part_of(set, "thread/luck")]);
    assert_true(whatif->target_set.slowdown.value <= 0.2);
    iw_whatif_free(whatif);
    iw_noise_set_free(set);
}

static void no_set_at_all_is_found_by_trying_all(void **state)
{
    iw_delay delay = {.rank = 3, .step = 1, .time_ps = IW_PS_PER_MS};
    struct iwt_dag d = {.ranks = 0};
    iw_noise_set *set = make_noise();
    iw_whatif *whatif;

    (void)state;
    make_graph(&d);
    d.program.delays = &delay;
    d.program.delay_count = 1;
    whatif = ask(set, &d, 0.2, 0);
    assert_false(whatif->has_target_set);
    assert_true(whatif->is_target_exact);
    iw_whatif_free(whatif);
    iw_noise_set_free(set);
}

/* One detour of 40 us on rank 0, in 100 ms: all that it takes of all ranks is 0.01 % of their time, but here
 * a short delay may cost a long one. So its upper end is not bounded by that. */
static void what_no_trial_met_may_cost_more_than_it_takes(void **state)
{
    iw_recording *recording = iwt_recording(RANKS, LENGTH_US * NS_PER_US);
    const double trials = 6.0, detour_us = 40.0;
    struct iwt_dag d = {.ranks = 0};
    const iw_change *rare;
    iw_noise_set *set;
    iw_whatif *whatif;
    double one_hit;

    (void)state;
    make_graph(&d);
    iwt_detour(recording, 0, 0, (int64_t)detour_us * NS_PER_US,
               iwt_source(recording, IW_CLASS_THREAD, "rare"));
    set = iwt_set(recording, NULL);
    iw_noise_set_align(set, IW_SYNC_NONE, 0, RANKS);
    whatif = ask(set, &d, -1.0, 0);
    rare = iwt_change(whatif, "thread/rare");
    assert_non_null(rare);
    assert_true(rare->saving.value == 0.0); /* no trial met it */
    one_hit = detour_us * (double)IW_PS_PER_US / (double)whatif->noiseless_ps;
    assert_true(rare->saving.high >= 0.999 * 3.0 * one_hit / trials);
    iw_whatif_free(whatif);
    iw_noise_set_free(set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_source_that_another_makes_up_for_is_not_needed),
        cmocka_unit_test(the_set_may_be_smaller_than_all_where_all_do_not_get_there),
        cmocka_unit_test(no_set_at_all_is_found_by_trying_all),
        cmocka_unit_test(what_no_trial_met_may_cost_more_than_it_takes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
