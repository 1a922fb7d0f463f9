/* Sends and receives of execution traces whose nodes do not say to or from whom, as MLCommons' converter
 * leaves them.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdio.h>
#include <string.h>

#include "chakra_testing.h"
#include "support/made_kineto_parts.h"
#include "support/support.h"

static size_t messages_in(const struct iwi_visits *visits)
{
    size_t count = 0;

    for (size_t i = 0; i < visits->visit_count; i++) {
        count += visits->visits[i].op == IWI_VISIT_MESSAGE;
    }
    return count;
}

static size_t messages_of(const struct iwt_kineto_run *run)
{
    size_t count = 0;

    for (uint32_t r = 0; r < run->ranks; r++) {
        for (size_t i = 0; i < run->of[r].count; i++) {
            count += run->of[r].events[i].kind == IWT_SEND || run->of[r].events[i].kind == IWT_RECV;
        }
    }
    return count;
}

static void make(uint32_t pp, struct iwt_kineto_run *run)
{
    struct iwt_kineto made = iwt_kineto_default();

    made.tp = 1;
    made.pp = pp;
    made.steps = 2;
    iwt_kineto_run(&made, run);
}

/* Each has the partner that it was made with, with start times and without. */
static void the_host_tells_partners(void **state)
{
    (void)state;
    for (int times = 0; times < 2; times++) {
        const struct iwt_chakra told = {.has_times = times == 1, .has_groups = true, .has_peers = true},
                                left = {.has_times = times == 1, .has_groups = true, .has_records = true};
        struct iwt_kineto_run run;
        struct iwi_visits with, without;

        make(4, &run);
        assert_ok(read_chakra(NULL, &run, &told, &with));
        assert_ok(read_chakra(NULL, &run, &left, &without));
        assert_int_equal(messages_in(&without), messages_of(&run));
        assert_int_equal(without.visit_count, with.visit_count);
        for (size_t i = 0; i < with.visit_count; i++) {
            const struct iwi_visit *a = &with.visits[i], *b = &without.visits[i];

            assert_int_equal(b->rank, a->rank);
            assert_int_equal(b->root, a->root);
            assert_int_equal(b->sequence, a->sequence);
            assert_int_equal(b->enter_ps, a->enter_ps);
            assert_int_equal(b->leave_ps, a->leave_ps);
            assert_string_equal(without.groups[b->group].name, with.groups[a->group].name);
        }
        assert_int_equal(without.unmatched, 0);
        iwi_visits_release(&with);
        iwi_visits_release(&without);
        iwt_kineto_release(&run);
    }
}

static void of_two_ranks_it_is_the_other_one(void **state)
{
    const struct iwt_chakra kind = {.has_times = true, .has_groups = true};
    struct iwt_kineto_run run;
    struct iwi_visits visits;

    (void)state;
    make(2, &run);
    assert_ok(read_chakra(NULL, &run, &kind, &visits));
    assert_int_equal(messages_in(&visits), messages_of(&run));
    assert_int_equal(visits.unmatched, 0);
    iwi_visits_release(&visits);
    iwt_kineto_release(&run);
}

static void messages_without_partners_are_left_out(void **state)
{
    const struct iwt_chakra kind = {.has_times = true, .has_groups = true};
    struct iwt_kineto_run run;
    struct iwi_visits visits;
    char text[80];

    (void)state;
    make(4, &run);
    assert_ok(read_chakra(NULL, &run, &kind, &visits));
    assert_int_equal(messages_in(&visits), 0);
    (void)snprintf(text, sizeof text, "%zu sends and receives without a peer were left out",
                   messages_of(&run));
    assert_non_null(strstr(visits.lacks, text));
    iwi_visits_release(&visits);
    iwt_kineto_release(&run);
}

/* Nothing is known of the messages of rank 0: the n-th that rank 2 sends to it could be any of them. */
static void messages_of_which_one_half_is_missing_are_left_out(void **state)
{
    const struct iwt_chakra kind = {.has_times = true, .has_groups = true, .has_records = true},
                            nothing = {.has_times = true, .has_groups = true};
    struct iwt_kineto_run run;
    struct iwi_chakra all;
    struct iwi_visits visits;

    (void)state;
    make(4, &run); /* two pipelines: 0 2 4 6, 1 3 5 7 */
    iwi_chakra_init(&all, NULL);
    iwi_visits_init(&visits, NULL, "Chakra");
    for (uint32_t r = 0; r < run.ranks; r++) {
        char name[32];
        size_t size;
        char *text = iwt_chakra_text(&run, r == 0 ? &nothing : &kind, r, &size);

        (void)snprintf(name, sizeof name, "gpt.%u.et", r);
        assert_ok(iwi_chakra_read(&all, NULL, name, text, size));
        free(text);
    }
    assert_ok(iwi_chakra_fill(&all, &visits));
    /* two micro-batches, forth and back, two steps: 8 halves on either side of a hop; 6 hops, one of them
     * lost */
    assert_int_equal(messages_of(&run), 96);
    assert_int_equal(messages_in(&visits), 80);
    assert_non_null(strstr(visits.lacks, "8 sends and receives without a peer"));
    assert_non_null(strstr(visits.lacks, "8 sends and receives were left out, because their other halves"));
    assert_int_equal(visits.unmatched, 0);
    iwi_chakra_release(&all);
    iwi_visits_release(&visits);
    iwt_kineto_release(&run);
}

/* Arguments that are none, and names that look like it. */
static void what_is_no_record_is_not_taken_for_one(void **state)
{
    static const struct {
        const char *name, *values;
        bool is_record;
        uint32_t partner;
    } cases[] = {
        {"record_param_comms", "[[[1, 2]], 5, ['0', 'x'], 3, 'send', []]", true, 3},
        {"record_param_comms", "[[[1, 2]], 5, [\"0\"], 12, \"recv\", []]", true, 12},
        {"record_param_comms", "[[[1, 2]], 5, ['0', 'x'], 3, 'allreduce', []]", false, 0},
        {"record_param_comms", "send", false, 0},
        {"record_param_comms", "3, 'send'", false, 0},
        {"record_param_comms", "[-1, 'send']", false, 0},
        {"record_param_comms", "[12345678901, 'recv']", false, 0},
        {"record_param_comms", "", false, 0},
        {"nccl:send 0->7", NULL, true, 7},
        {"nccl:recv 1<-4", "", true, 4},
        {"nccl:send 0", NULL, false, 0},
        {"aten::send", "[3, 'send']", false, 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct iwi_chakra all;

        iwi_chakra_init(&all, NULL);
        assert_ok(iwi_chakra_keep_record(&all, 1, cases[i].name, cases[i].values));
        if (all.record_count != cases[i].is_record) {
            fail_msg("'%s' '%s'", cases[i].name, cases[i].values != NULL ? cases[i].values : "-");
        }
        if (all.record_count > 0) {
            assert_int_equal(all.records[0].partner, cases[i].partner);
        }
        iwi_chakra_release(&all);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_host_tells_partners),
        cmocka_unit_test(of_two_ranks_it_is_the_other_one),
        cmocka_unit_test(messages_without_partners_are_left_out),
        cmocka_unit_test(messages_of_which_one_half_is_missing_are_left_out),
        cmocka_unit_test(what_is_no_record_is_not_taken_for_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
