/* Our rules against LogGOPSim's numbers: each difference must be explained by a rule that is known to differ.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "support/support.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/sim/window/window_plan.h"
#include "golden/golden_data.h"
#include "golden/rules.h"

/* Rules that explain everything explain nothing: so many runs must be touched by none. */
enum { RULES_MAX = 16, UNTOUCHED_MIN = 380, BY_WINDOWS_MIN = 100 };

struct tally {
    unsigned equal, untouched, unexplained, by_windows;
    unsigned other_outcome;        /* runs that get stuck under one set of rules only */
    unsigned touched[RULES_MAX];   /* runs the rule can touch */
    unsigned differing[RULES_MAX]; /* of these, runs with other times than LogGOPSim's */
    unsigned alone[RULES_MAX];     /* of these, runs that no other rule can touch */
};

/* The rules that can touch the run, as bits. `job` is of the graph. */
static unsigned find_rules(const struct iwi_job *job, struct iwi_lgs_fact *facts)
{
    const iw_status status = iwi_loggopsim_run_observed(NULL, job, facts);
    struct observed_run observed;
    unsigned rules = 0;

    assert_true(status == IW_OK || status == IW_ERR_DEADLOCK);
    observe(&observed, job->program->schedule, job->schedule, job->net, facts, status == IW_ERR_DEADLOCK);
    for (size_t i = 0; i < golden_rule_count; i++) {
        if (!(golden_rules[i].needs_facts && observed.is_deadlock) && golden_rules[i].touches(&observed)) {
            rules |= 1U << i;
        }
    }
    observe_free(&observed);
    return rules;
}

static bool is_equal(const struct golden_case *c, const struct golden_run *run, iw_status status,
                     const iw_time *end_ps)
{
    if (status != IW_OK || run->is_deadlock) {
        return status == IW_ERR_DEADLOCK && run->is_deadlock;
    }
    for (uint32_t rank = 0; rank < c->ranks; rank++) {
        if (end_ps[rank] != run->end_ps[rank]) {
            return false;
        }
    }
    return true;
}

/* Windows give what the event engine gave, where they can run it. */
static unsigned compare_windows(struct iwi_job job, iw_status event)
{
    iw_time *end_ps = calloc(job.schedule->ranks, sizeof *end_ps);
    struct iwi_window_plan *plan = NULL;
    uint64_t node;

    assert_non_null(end_ps);
    if (iwi_window_refusal(job.schedule, job.net, &node) != NULL) {
        free(end_ps);
        return 0;
    }
    assert_ok(iwi_window_plan_new(NULL, job.schedule, job.net, job.rendezvous, &plan));
    const iw_time *expected = job.end_ps;

    job.end_ps = end_ps;
    assert_int_equal(iwi_window_run(NULL, &job, plan), event);
    for (uint32_t rank = 0; event == IW_OK && rank < job.schedule->ranks; rank++) {
        assert_int_equal(end_ps[rank], expected[rank]);
    }
    iwi_window_plan_free(plan);
    free(end_ps);
    return 1;
}

static void count_run(struct tally *tally, unsigned rules, bool equal)
{
    tally->equal += equal;
    tally->untouched += rules == 0;
    tally->unexplained += rules == 0 && !equal;
    for (size_t i = 0; i < golden_rule_count; i++) {
        if (rules >> i & 1U) {
            tally->touched[i]++;
            tally->differing[i] += !equal;
            tally->alone[i] += !equal && rules == 1U << i;
        }
    }
}

static void compare_case(const struct golden_case *c, struct tally *tally)
{
    const uint64_t node_count = c->in_ns->schedule->first_node[c->ranks];
    struct iwi_lgs_fact *facts = calloc((size_t)node_count + 1, sizeof *facts);
    iw_time *end_ps = calloc(c->ranks, sizeof *end_ps);

    assert_non_null(facts);
    assert_non_null(end_ps);
    for (size_t i = 0; i < GOLDEN_RUNS_OF_CASE; i++) {
        const struct golden_run *run = &c->runs[i];
        const iw_program *program = golden_program(c, run);
        struct iwi_job job = {.program = program,
                              .schedule = golden_graph(c, run),
                              .net = &run->net,
                              .lanes = 1,
                              .end_ps = end_ps};
        const unsigned rules = find_rules(&job, facts);
        iw_status status;
        bool equal;

        job.schedule = program->schedule;
        status = iwi_event_run(NULL, &job);
        tally->by_windows += compare_windows(job, status);
        equal = is_equal(c, run, status, end_ps);
        if (rules == 0 && !equal) {
            print_error("%03u %s, %s: differs, but no rule says why\n", c->id, c->name, run->name);
        }
        count_run(tally, rules, equal);
        tally->other_outcome += (status == IW_ERR_DEADLOCK) != run->is_deadlock;
    }
    free(facts);
    free(end_ps);
}

static void print_tally(const struct tally *tally)
{
    print_message("%-24s %8s %10s %6s  %s\n", "rule", "touches", "differing", "alone", "ours");
    for (size_t i = 0; i < golden_rule_count; i++) {
        print_message("%-24s %8u %10u %6u  %s\n", golden_rules[i].name, tally->touched[i],
                      tally->differing[i], tally->alone[i], golden_rules[i].summary);
    }
    print_message("%u of %d runs also by windows\n", tally->by_windows, GOLDEN_RUNS);
    print_message("%u of %d runs equal LogGOPSim's; %u are touched by no rule, of which %u differ\n",
                  tally->equal, GOLDEN_RUNS, tally->untouched, tally->unexplained);
}

static void every_difference_from_loggopsim_has_a_rule(void **state)
{
    struct tally tally = {.equal = 0};
    struct iwt_log l;

    (void)state;
    assert_true(golden_rule_count <= RULES_MAX);
    iwt_log_init(&l);
    for (unsigned id = 1; id <= GOLDEN_CASES; id++) {
        struct golden_case c;

        golden_load(&c, &l.log, IWT_GOLDEN_DIR, id);
        compare_case(&c, &tally);
        golden_free(&c);
    }
    print_tally(&tally);
    assert_int_equal(tally.unexplained, 0);
    assert_int_equal(tally.other_outcome, 0);
    assert_true(tally.untouched >= UNTOUCHED_MIN);
    assert_true(tally.by_windows >= BY_WINDOWS_MIN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_difference_from_loggopsim_has_a_rule),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
