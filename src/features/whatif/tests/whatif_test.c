/* What is gained without which source: the numbers, and what is tried.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "features/whatif/changes.h"
#include "made_question.h"
#include "support/made_recording.h"
#include "support/support.h"

static void assert_near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance)) {
        fail_msg("%.12g is not %.12g", value, expected);
    }
}

/* ---- the numbers ---- */

/* The mean slowdown that simulating the noise by hand gives. */
static double slowdown_of(const iw_noise_set *set, const bool *is_removed, struct iwt_question *question,
                          const iw_whatif_opts *opts)
{
    const iw_program_maker maker = iwt_maker(question);
    iw_sim_result *result = NULL;
    iw_program *program = NULL;
    iw_noise *noise = NULL;
    double sum = 0.0;

    assert_ok(maker.make(maker.arg, 0, 1.0, &program));
    assert_ok(iw_noise_set_make(NULL, set, is_removed, 1, 0, &noise));
    assert_ok(iw_simulate(NULL, program, opts->net, noise, &opts->sim, &result));
    for (uint64_t t = 0; t < result->trials; t++) {
        sum += (double)result->makespan_ps[t] / (double)result->noiseless_ps - 1.0;
    }
    sum /= (double)result->trials;
    iw_sim_result_free(result);
    iw_noise_free(noise);
    iw_program_free(program);
    return sum;
}

static void a_slowdown_is_the_mean_of_the_trials_and_a_saving_that_of_pairs(void **state)
{
    static const char *const specs[] = {"poisson:200Hz,exp:30us", NULL};
    struct iwt_question question;
    iw_whatif_opts opts = iwt_options(&question);
    iw_noise_set *set = iwt_set(iwt_node(), specs);
    iw_whatif *whatif = iwt_ask(set, &opts);
    size_t sources = 0;

    (void)state;
    assert_int_equal(whatif->ranks, 16);
    assert_int_equal(whatif->trials, 6);
    assert_int_equal(whatif->redraws, 4);
    assert_near(whatif->now.value, slowdown_of(set, NULL, &question, &opts), 1e-12);
    for (size_t i = 0; i < whatif->change_count; i++) {
        const iw_change *change = &whatif->changes[i];

        assert_near(change->slowdown.value, slowdown_of(set, change->is_removed, &question, &opts), 1e-12);
        assert_near(change->saving.value, whatif->now.value - change->slowdown.value, 1e-12);
        assert_true(change->saving.low <= change->saving.value &&
                    change->saving.value <= change->saving.high);
        assert_true(change->slowdown.low >= 0.0);
        sources += change->kind == IW_CHANGE_SOURCE;
    }
    assert_int_equal(sources, 5);
    iw_whatif_free(whatif);
    iw_noise_set_free(set);
}

/* Without redraws recordings are the whole truth, and nothing is a bound. */
static void savings_of_sources_are_added_up_where_they_are_estimates(void **state)
{
    struct iwt_question question;
    iw_whatif_opts opts = iwt_options(&question);
    iw_noise_set *set = iwt_set(iwt_node(), NULL);
    iw_whatif *whatif;
    double sum = 0.0;

    (void)state;
    opts.redraws = 0;
    whatif = iwt_ask(set, &opts);
    for (size_t i = 0; i < whatif->change_count; i++) {
        sum += whatif->changes[i].kind == IW_CHANGE_SOURCE ? whatif->changes[i].saving.value : 0.0;
    }
    assert_true(sum > 0.0);
    assert_near(whatif->sum_of_sources, sum, 1e-12);
    iw_whatif_free(whatif);
    opts.redraws = 4;
    whatif = iwt_ask(set, &opts);
    assert_true(isnan(whatif->sum_of_sources)); /* the recording is too short: these are bounds */
    iw_whatif_free(whatif);
    iw_noise_set_free(set);
}

/* What may be unseen of a small source is little too, not all that is lost. */
static void a_small_source_has_an_upper_end_of_its_own(void **state)
{
    static const char *const specs[] = {"irq/often=poisson:2kHz,exp:20us",
                                        "thread/small=poisson:2Hz,exp:30us"};
    iw_synth_opts synth = IW_SYNTH_OPTS_INIT;
    struct iwt_question question;
    iw_whatif_opts opts = iwt_options(&question);
    iw_recording *recording = NULL;
    iw_noise_set *set;
    iw_whatif *whatif;
    const iw_change *small;
    iw_edit edit;

    (void)state;
    synth.specs = specs;
    synth.spec_count = 2;
    synth.duration_ns = 5000000000;
    assert_ok(iw_recording_synth(NULL, &synth, &recording, &edit));
    set = iwt_set(recording, NULL);
    question.ranks = 512;
    whatif = iwt_ask(set, &opts);
    small = iwt_change(whatif, "thread/small");
    assert_true(isfinite(whatif->now.high) && whatif->now.value > 0.1);
    assert_true(small->saving.value < 0.01);
    assert_true(isfinite(small->saving.high) && small->saving.high < 0.5 * whatif->now.value);
    iw_whatif_free(whatif);
    iw_noise_set_free(set);
}

static void without_all_sources_nothing_is_lost(void **state)
{
    struct iwt_question question;
    iw_whatif_opts opts = iwt_options(&question);
    iw_noise_set *set = iwt_set(iwt_node(), NULL);
    iw_whatif *whatif = iwt_ask(set, &opts);
    const iw_change *all = iwt_change(whatif, "all");

    (void)state;
    assert_int_equal(all->kind, IW_CHANGE_ALL);
    assert_int_equal(all->removed_count, 4);
    assert_true(all->slowdown.value == 0.0 && all->slowdown.high == 0.0);
    assert_true(all->saving.value == whatif->now.value);
    assert_near(all->share, 0.01 + 0.005 + 0.004 + 0.0014, 5e-4); /* some overlapped and were left out */
    iw_whatif_free(whatif);
    iw_noise_set_free(set);
}

static void changes_come_by_their_saving(void **state)
{
    struct iwt_question question;
    iw_whatif_opts opts = iwt_options(&question);
    iw_noise_set *set = iwt_set(iwt_node(), NULL);
    iw_whatif *whatif;

    (void)state;
    opts.wants_classes = opts.wants_together = true;
    whatif = iwt_ask(set, &opts);
    assert_string_equal(whatif->changes[0].name, "all");
    for (size_t i = 1; i < whatif->change_count; i++) {
        assert_true(whatif->changes[i - 1].saving.value >= whatif->changes[i].saving.value);
    }
    iw_whatif_free(whatif);
    iw_noise_set_free(set);
}

static void the_answer_does_not_depend_on_threads(void **state)
{
    struct iwt_question question;
    iw_whatif_opts opts = iwt_options(&question);
    iw_noise_set *set = iwt_set(iwt_node(), NULL);
    iw_whatif *one, *two;

    (void)state;
    opts.sim.threads = 1;
    one = iwt_ask(set, &opts);
    opts.sim.threads = 2;
    two = iwt_ask(set, &opts);
    assert_int_equal(one->change_count, two->change_count);
    for (size_t i = 0; i < one->change_count; i++) {
        assert_string_equal(one->changes[i].name, two->changes[i].name);
        assert_true(one->changes[i].saving.low == two->changes[i].saving.low);
        assert_true(one->changes[i].saving.high == two->changes[i].saving.high);
    }
    iw_whatif_free(one);
    iw_whatif_free(two);
    iw_noise_set_free(set);
}

/* Specs are the whole truth: there is nothing to draw anew. */
static void specs_have_no_redraws(void **state)
{
    static const char *const specs[] = {"poisson:200Hz,exp:30us", "periodic:50Hz,100us", NULL};
    struct iwt_question question;
    iw_whatif_opts opts = iwt_options(&question);
    iw_noise_set *set = iwt_set(NULL, specs);
    iw_whatif *whatif = iwt_ask(set, &opts);

    (void)state;
    assert_int_equal(whatif->redraws, 0);
    assert_true(whatif->recorded_s == 0.0);
    assert_non_null(iwt_change(whatif, "periodic:50Hz,100us"));
    assert_true(whatif->now.low < whatif->now.value);
    iw_whatif_free(whatif);
    iw_noise_set_free(set);
}

/* 3 s of a node: what comes less often than every second on it, on whichever of its CPUs, is missed in over
 * 5 % of such recordings, however many CPUs were watched. */
static void how_rare_a_source_may_be_on_a_node_is_told(void **state)
{
    struct iwt_question question;
    iw_whatif_opts opts = iwt_options(&question);

    (void)state;
    for (size_t cpus = 1; cpus <= 4; cpus += 3) {
        iw_recording *recording = iwt_recording(cpus, 3000000000);
        const uint32_t cron = iwt_source(recording, IW_CLASS_THREAD, "cron");
        iw_noise_set *set;
        iw_whatif *whatif;

        iwt_detour(recording, cpus - 1, 1000000, 500000, cron);
        set = iwt_set(recording, NULL);
        iw_noise_set_align(set, IW_SYNC_NONE, 0, (uint32_t)cpus);
        whatif = iwt_ask(set, &opts);
        assert_near(whatif->recorded_s, 3.0, 1e-9);
        assert_near(whatif->rare_limit_s, 1.0, 1e-9);
        iw_whatif_free(whatif);
        iw_noise_set_free(set);
    }
}

/* A source that came once in 1 s on one of 16 ranks for 4 ms, and hits none of 6 trials of 1 ms: it may all
 * the same, and what is lost now is what would be saved without all. */
static void what_is_lost_is_what_all_would_save(void **state)
{
    struct iwt_question question;
    iw_whatif_opts opts = iwt_options(&question);
    iw_recording *recording = iwt_recording(16, 1000000000);
    const uint32_t rare = iwt_source(recording, IW_CLASS_THREAD, "rare");
    const iw_change *all;
    iw_noise_set *set;
    iw_whatif *whatif;

    (void)state;
    iwt_detour(recording, 3, 500000000, 4000000, rare);
    set = iwt_set(recording, NULL);
    iw_noise_set_align(set, IW_SYNC_NONE, 0, 16);
    question.steps = 1;
    whatif = iwt_ask(set, &opts);
    all = iwt_change(whatif, "all");
    assert_true(whatif->now.value == 0.0 && whatif->now.low == 0.0);
    assert_true(whatif->now.high == all->saving.high && all->saving.low == 0.0);
    assert_true(all->slowdown.high == 0.0);
    assert_true(whatif->reach.is_bound &&
                isinf(whatif->now.high));       /* what came once may come thrice, or longer */
    assert_true(isnan(whatif->sum_of_sources)); /* bounds do not add up */
    iw_whatif_free(whatif);
    iw_noise_set_free(set);
}

/* ---- what is tried ---- */

static void classes_of_several_sources_are_tried(void **state)
{
    struct iwt_question question;
    iw_whatif_opts opts = iwt_options(&question);
    iw_noise_set *set = iwt_set(iwt_node(), NULL);
    iw_whatif *whatif;

    (void)state;
    opts.wants_classes = true;
    whatif = iwt_ask(set, &opts);
    assert_int_equal(iwt_change(whatif, "irq")->kind, IW_CHANGE_CLASS);
    assert_int_equal(iwt_change(whatif, "irq")->removed_count, 2);
    assert_int_equal(iwt_change(whatif, "thread")->removed_count, 2);
    assert_int_equal(whatif->change_count, 4 + 2 + 1);
    iw_whatif_free(whatif);
    iw_noise_set_free(set);
}

static void a_set_that_the_user_names_is_tried(void **state)
{
    static const char *const patterns[] = {"cron", "irq/e*"}, *const wrong[] = {"corn"};
    const iw_named_set good = {"cron and network", patterns, 2}, bad = {"x", wrong, 1},
                       none = {"y", patterns, 0};
    struct iwt_question question;
    iw_whatif_opts opts = iwt_options(&question);
    iw_noise_set *set = iwt_set(iwt_node(), NULL);
    iw_whatif *whatif;
    struct iwt_log l;

    (void)state;
    opts.sets = &good;
    opts.set_count = 1;
    whatif = iwt_ask(set, &opts);
    assert_int_equal(iwt_change(whatif, "cron and network")->kind, IW_CHANGE_SET);
    assert_int_equal(iwt_change(whatif, "cron and network")->removed_count, 2);
    iw_whatif_free(whatif);
    iwt_log_init(&l);
    opts.sets = &bad;
    assert_status(iw_whatif_run(&l.log, set, &opts, &whatif), IW_ERR_RANGE);
    iwt_assert_logged(&l, "no source 'corn'");
    opts.sets = &none;
    assert_status(iw_whatif_run(&l.log, set, &opts, &whatif), IW_ERR_RANGE);
    iwt_assert_logged(&l, "matches no source");
    iw_noise_set_free(set);
}

/* By share: tick, eno1, cron, sshd; by longest detour: cron, sshd, eno1, tick. The better of both places:
 * tick 1, cron 1, eno1 2, sshd 2. */
static void long_detours_are_tried_before_large_shares(void **state)
{
    struct iwt_question question;
    iw_whatif_opts opts = iwt_options(&question);
    iw_noise_set *set = iwt_set(iwt_node(), NULL);
    iw_whatif *whatif;

    (void)state;
    opts.most_parts = 2;
    whatif = iwt_ask(set, &opts);
    assert_non_null(iwt_change(whatif, "irq/local_timer"));
    assert_non_null(iwt_change(whatif, "thread/cron"));
    assert_null(iwt_change(whatif, "irq/eno1"));
    assert_int_equal(iwt_change(whatif, "2 others")->kind, IW_CHANGE_REST);
    assert_int_equal(iwt_change(whatif, "2 others")->removed_count, 2);
    iw_whatif_free(whatif);
    opts.most_parts = 3; /* one alone is no rest */
    whatif = iwt_ask(set, &opts);
    assert_int_equal(whatif->change_count, 5);
    assert_non_null(iwt_change(whatif, "thread/sshd"));
    iw_whatif_free(whatif);
    iw_noise_set_free(set);
}

static void a_quiet_node_has_nothing_to_change(void **state)
{
    struct iwt_question question;
    iw_whatif_opts opts = iwt_options(&question);
    iw_noise_set *set = iwt_set(iwt_recording(1, 1000000000), NULL);
    iw_whatif *whatif;

    (void)state;
    opts.wants_classes = opts.wants_together = true;
    opts.cores_per_node = 4;
    opts.target = 0.0;
    whatif = iwt_ask(set, &opts);
    assert_int_equal(whatif->change_count, 0);
    assert_true(whatif->now.value == 0.0);
    assert_true(whatif->has_target_set && whatif->target_set.removed_count == 0);
    iw_whatif_free(whatif);
    iw_noise_set_free(set);
}

/* ---- use ---- */

struct watcher {
    uint64_t last, total, calls;
};

static bool watch(void *arg, const iw_progress_now *now)
{
    struct watcher *watcher = arg;

    assert_true(now->done >= watcher->last && now->done <= now->total);
    *watcher = (struct watcher){now->done, now->total, watcher->calls + 1};
    return true;
}

static void progress_is_one_for_all_simulations(void **state)
{
    struct iwt_question question;
    iw_whatif_opts opts = iwt_options(&question);
    iw_noise_set *set = iwt_set(iwt_node(), NULL);
    struct watcher watcher = {0, 0, 0};

    (void)state;
    question.ranks = 3000;
    opts.sim.progress = (iw_progress){watch, &watcher};
    opts.target = 0.01;
    iw_whatif_free(iwt_ask(set, &opts));
    assert_true(watcher.calls > 20);
    assert_true((double)watcher.last > 0.95 * (double)watcher.total);
    iw_noise_set_free(set);
}

static void what_cannot_be_answered_is_refused(void **state)
{
    struct iwt_question question;
    iw_whatif_opts opts = iwt_options(&question);
    iw_noise_set *set = iwt_set(iwt_node(), NULL);
    iw_whatif *whatif = NULL;
    struct iwt_log l;

    (void)state;
    iwt_log_init(&l);
    opts.sim.trials = 1;
    assert_status(iw_whatif_run(&l.log, set, &opts, &whatif), IW_ERR_RANGE);
    iwt_assert_logged(&l, "at least 2");
    opts.sim.trials = 2;
    opts.cores_per_node = 1;
    assert_status(iw_whatif_run(&l.log, set, &opts, &whatif), IW_ERR_RANGE);
    iwt_assert_logged(&l, "with one core");
    opts.cores_per_node = 0;
    opts.redraws = 1;
    assert_status(iw_whatif_run(&l.log, set, &opts, &whatif), IW_ERR_RANGE);
    iwt_assert_logged(&l, "one redraw");
    opts.redraws = 0;
    question.compute_ps = 0; /* and one rank that meets nobody */
    question.ranks = 1;
    assert_status(iw_whatif_run(&l.log, set, &opts, &whatif), IW_ERR_RANGE);
    iwt_assert_logged(&l, "takes no time without noise");
    question.steps = 0;
    assert_status(iw_whatif_run(&l.log, set, &opts, &whatif), IW_ERR_RANGE); /* the maker's own error */
    assert_null(whatif);
    iw_noise_set_free(set);
}

/* ---- what variants share ---- */

enum { ROW = 2 + 2 * 4 }; /* trials; redraws with their own */

static void variants_leave_the_noise_that_they_share_as_it_was(void **state)
{
    static const struct iwi_variant variants[] = {
        {.is_removed = NULL}, {.is_together = true}, {.is_joined = true}, {.is_removed = NULL}};
    struct iwt_question question;
    const iw_whatif_opts opts = iwt_options(&question);
    iw_noise_set *set = iwt_set(iwt_node(), NULL);
    struct iwi_inquiry inquiry = {.set = set, .job = iwi_whatif_job(&opts), .blocks = iwi_set_blocks(set)};
    struct iwi_experiment experiment;
    double values[4 * ROW];

    (void)state;
    assert_ok(iwi_experiment_init(&inquiry, 0, 2, 2, &experiment));
    assert_int_equal(iwi_experiment_values(&experiment), ROW);
    assert_ok(iwi_experiment_run(&experiment, variants, 4, values));
    assert_memory_not_equal(values, values + ROW, ROW * sizeof *values);
    assert_memory_equal(values, values + 3 * ROW, ROW * sizeof *values);
    iwi_experiment_release(&experiment);
    iw_noise_set_free(set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_slowdown_is_the_mean_of_the_trials_and_a_saving_that_of_pairs),
        cmocka_unit_test(savings_of_sources_are_added_up_where_they_are_estimates),
        cmocka_unit_test(a_small_source_has_an_upper_end_of_its_own),
        cmocka_unit_test(without_all_sources_nothing_is_lost),
        cmocka_unit_test(changes_come_by_their_saving),
        cmocka_unit_test(the_answer_does_not_depend_on_threads),
        cmocka_unit_test(specs_have_no_redraws),
        cmocka_unit_test(how_rare_a_source_may_be_on_a_node_is_told),
        cmocka_unit_test(what_is_lost_is_what_all_would_save),
        cmocka_unit_test(classes_of_several_sources_are_tried),
        cmocka_unit_test(a_set_that_the_user_names_is_tried),
        cmocka_unit_test(long_detours_are_tried_before_large_shares),
        cmocka_unit_test(a_quiet_node_has_nothing_to_change),
        cmocka_unit_test(progress_is_one_for_all_simulations),
        cmocka_unit_test(what_cannot_be_answered_is_refused),
        cmocka_unit_test(variants_leave_the_noise_that_they_share_as_it_was),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
