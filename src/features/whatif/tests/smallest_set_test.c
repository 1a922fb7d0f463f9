/* The fewest sources whose removal reaches a target: against trying all sets of them.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "made_question.h"
#include "support/made_recording.h"
#include "support/support.h"

enum { PARTS = 5 };

/* ---- all sets of parts ---- */

/* The mean slowdown without the parts whose bits are set. */
static double slowdown_without(const iw_noise_set *set, unsigned bits, struct iwt_question *question,
                               const iw_whatif_opts *opts)
{
    const iw_program_maker maker = iwt_maker(question);
    bool is_removed[PARTS];
    iw_sim_result *result = NULL;
    iw_program *program = NULL;
    iw_noise *noise = NULL;
    double sum = 0.0;

    for (size_t i = 0; i < PARTS; i++) {
        is_removed[i] = (bits >> i & 1U) != 0;
    }
    assert_ok(maker.make(maker.arg, 0, 1.0, &program));
    assert_ok(iw_noise_set_make(NULL, set, is_removed, 1, 0, &noise));
    assert_ok(iw_simulate(NULL, program, opts->net, noise, &opts->sim, &result));
    for (uint64_t t = 0; t < result->trials; t++) {
        sum += (double)(result->makespan_ps[t] - result->noiseless_ps) / (double)result->noiseless_ps /
               (double)result->trials;
    }
    iw_sim_result_free(result);
    iw_noise_free(noise);
    iw_program_free(program);
    return sum;
}

static unsigned count_bits(unsigned bits)
{
    unsigned count = 0;

    for (; bits != 0; bits &= bits - 1) {
        count++;
    }
    return count;
}

/* Of the sets that reach the target the smallest, of these the one that leaves least; PARTS bits if none. */
static unsigned best_set(const double *slowdowns, double target)
{
    unsigned best = (1U << PARTS) - 1;

    for (unsigned bits = 0; bits < 1U << PARTS; bits++) {
        if (slowdowns[bits] <= target &&
            (count_bits(bits) < count_bits(best) ||
             (count_bits(bits) == count_bits(best) && slowdowns[bits] < slowdowns[best]))) {
            best = bits;
        }
    }
    return best;
}

static unsigned bits_of(const iw_change *change)
{
    unsigned bits = 0;

    for (size_t i = 0; i < PARTS; i++) {
        bits |= change->is_removed[i] ? 1U << i : 0U;
    }
    return bits;
}

static void the_smallest_set_is_that_of_trying_all(void **state)
{
    static const char *const specs[] = {"poisson:300Hz,exp:40us", NULL};
    struct iwt_question question;
    iw_whatif_opts opts = iwt_options(&question);
    iw_noise_set *set = iwt_set(iwt_node(), specs);
    double slowdowns[1U << PARTS];

    (void)state;
    opts.redraws = 0;
    assert_int_equal(iw_noise_set_source_count(set), PARTS);
    for (unsigned bits = 0; bits < 1U << PARTS; bits++) {
        slowdowns[bits] = slowdown_without(set, bits, &question, &opts);
    }
    for (unsigned i = 0; i < 12; i++) {
        iw_whatif *whatif;

        opts.target = slowdowns[0] * (double)i / 11.0;
        whatif = iwt_ask(set, &opts);
        assert_true(whatif->has_target_set && whatif->is_target_exact);
        assert_int_equal(bits_of(&whatif->target_set), best_set(slowdowns, opts.target));
        assert_true(whatif->target_set.slowdown.value <= opts.target);
        assert_true(fabs(whatif->target_set.slowdown.value - slowdowns[bits_of(&whatif->target_set)]) <
                    1e-12);
        iw_whatif_free(whatif);
    }
    iw_noise_set_free(set);
}

static void a_target_that_is_met_needs_nothing(void **state)
{
    struct iwt_question question;
    iw_whatif_opts opts = iwt_options(&question);
    iw_noise_set *set = iwt_set(iwt_node(), NULL);
    iw_whatif *whatif;

    (void)state;
    opts.target = 10.0;
    whatif = iwt_ask(set, &opts);
    assert_true(whatif->has_target_set && whatif->is_target_exact);
    assert_int_equal(whatif->target_set.removed_count, 0);
    assert_string_equal(whatif->target_set.name, "nothing");
    assert_true(whatif->target_set.slowdown.value == whatif->now.value);
    assert_true(whatif->target_set.slowdown.high == whatif->now.high);
    iw_whatif_free(whatif);
    iw_noise_set_free(set);
}

/* Delays are no noise: they stay. */
static iw_status make_delayed(void *arg, uint32_t ranks, double work, iw_program **program_p)
{
    const iw_delay delay = {.rank = 1, .step = 1, .time_ps = IW_PS_PER_MS};
    iw_pattern pattern = IW_PATTERN_INIT;

    (void)arg;
    if (ranks != 0 || work != 1.0) {
        return IW_ERR_UNSUPPORTED;
    }
    pattern.ranks = 8;
    pattern.repeat = 10;
    pattern.compute_ps = IW_PS_PER_MS;
    pattern.delays = &delay;
    pattern.delay_count = 1;
    return iw_program_from_pattern(NULL, "barrier", &pattern, program_p);
}

static void a_target_out_of_reach_has_no_set(void **state)
{
    struct iwt_question question;
    iw_whatif_opts opts = iwt_options(&question);
    iw_noise_set *set = iwt_set(iwt_node(), NULL);
    iw_whatif *whatif;

    (void)state;
    opts.program.make = make_delayed;
    opts.target = 0.01;
    whatif = iwt_ask(set, &opts);
    assert_false(whatif->has_target_set);
    assert_true(iwt_change(whatif, "all")->slowdown.value > 0.05);
    iw_whatif_free(whatif);
    iw_noise_set_free(set);
}

/* Of the sources that were not tried alone only those go that have to. */
static void sources_of_the_rest_count_one_by_one(void **state)
{
    struct iwt_question question;
    iw_whatif_opts opts = iwt_options(&question);
    iw_noise_set *set = iwt_set(iwt_node(), NULL);
    iw_whatif *whatif = iwt_ask(set, &opts);
    const double now = whatif->now.value;

    (void)state;
    iw_whatif_free(whatif);
    opts.redraws = 0;
    for (unsigned i = 0; i < 12; i++) {
        iw_whatif *alone;

        opts.target = now * (double)i / 12.0;
        opts.most_parts = 0;
        alone = iwt_ask(set, &opts);
        for (opts.most_parts = 1; opts.most_parts < 3; opts.most_parts++) {
            whatif = iwt_ask(set, &opts);
            assert_true(whatif->has_target_set);
            assert_int_equal(whatif->target_set.removed_count, alone->target_set.removed_count);
            assert_true(whatif->target_set.slowdown.value <= opts.target);
            iw_whatif_free(whatif);
        }
        iw_whatif_free(alone);
    }
    iw_noise_set_free(set);
}

/* ---- the budget ---- */

enum { MANY = 60 };

/* One after the other, every 50 us. */
static iw_recording *many_sources(void)
{
    iw_recording *recording = iwt_recording(1, 1000000000);

    for (int64_t i = 0; i < 19000; i++) {
        char name[16];
        uint32_t number = (uint32_t)(i % MANY);

        if (i < MANY) {
            snprintf(name, sizeof name, "d%u", number);
            number = iwt_source(recording, IW_CLASS_THREAD, name);
        }
        iwt_detour(recording, 0, 50000 * i, 2000 + 100 * (i % MANY), number);
    }
    return recording;
}

static bool watch(void *arg, const iw_progress_now *now)
{
    *(uint64_t *)arg = now->total;
    return true;
}

/* Step by step, 60 sources of much the same worth would take some 1,700 simulations: from the end of the
 * budget on, they go in the order of what each saves alone. */
static void the_search_ends_with_its_budget(void **state)
{
    struct iwt_question question;
    iw_whatif_opts opts = iwt_options(&question);
    iw_noise_set *set = iwt_set(many_sources(), NULL);
    uint64_t total = 0;
    iw_whatif *whatif;

    (void)state;
    opts.redraws = 0;
    opts.sim.trials = 2;
    opts.sim.progress = (iw_progress){watch, &total};
    question.steps = 2;
    whatif = iwt_ask(set, &opts);
    opts.target = 0.3 * whatif->now.value;
    iw_whatif_free(whatif);
    whatif = iwt_ask(set, &opts);
    assert_true(whatif->has_target_set && !whatif->is_target_exact);
    assert_true(whatif->target_set.slowdown.value <= opts.target);
    assert_in_range(whatif->target_set.removed_count, 1, MANY - 1);
    print_message("%zu of %d removed, %llu simulations\n", whatif->target_set.removed_count, MANY,
                  (unsigned long long)(total / whatif->messages / 2));
    assert_in_range(total / whatif->messages / 2, 100, MANY + 2 + 300 + 10);
    iw_whatif_free(whatif);
    iw_noise_set_free(set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_smallest_set_is_that_of_trying_all),
        cmocka_unit_test(a_target_that_is_met_needs_nothing),
        cmocka_unit_test(a_target_out_of_reach_has_no_set),
        cmocka_unit_test(sources_of_the_rest_count_one_by_one),
        cmocka_unit_test(the_search_ends_with_its_budget),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
