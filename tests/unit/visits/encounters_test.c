/* Visits become encounters: by their numbers, or in the order in which ranks came.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "visits/visits.h"

#include "support/support.h"

enum { RANKS = 3, ENCOUNTERS = 4 };

static void make_group(struct iwi_visits *visits, uint32_t *group_p)
{
    uint32_t members[RANKS];

    iwi_visits_init(visits, NULL, "test");
    for (uint32_t i = 0; i < RANKS; i++) {
        assert_ok(iwi_visits_rank(visits, 8 * i, "node", &members[RANKS - 1 - i]));
    }
    assert_ok(iwi_visits_group(visits, "dp", members, RANKS, RANKS, group_p));
}

static struct iwi_visit visit_of(uint32_t rank, uint64_t sequence, iw_time enter_ps)
{
    return (struct iwi_visit){.rank = rank,
                              .op = IWI_VISIT_ALLREDUCE,
                              .sequence = sequence,
                              .enter_ps = enter_ps,
                              .leave_ps = enter_ps + 10};
}

/* Rank (i mod 3) comes last to encounter i. */
static void add_all(struct iwi_visits *visits, bool has_sequence)
{
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        for (uint64_t i = 0; i < ENCOUNTERS; i++) {
            const struct iwi_visit visit = visit_of(rank, has_sequence ? 100 - i : IWI_VISIT_NO_SEQUENCE,
                                                    (iw_time)(1000 * i) + (i % RANKS == rank ? 7 : rank));

            assert_ok(iwi_visits_add(visits, &visit));
        }
    }
}

static void expect_encounters(bool has_sequence)
{
    struct iwi_visits visits;
    uint32_t group;

    make_group(&visits, &group);
    add_all(&visits, has_sequence);
    assert_ok(iwi_visits_finish(&visits));
    assert_int_equal(visits.encounter_count, ENCOUNTERS);
    for (uint64_t i = 0; i < ENCOUNTERS; i++) {
        const struct iwi_encounter *encounter = &visits.encounters[has_sequence ? ENCOUNTERS - 1 - i : i];

        assert_int_equal(encounter->count, RANKS);
        assert_int_equal(visits.visits[encounter->last].rank, i % RANKS);
        assert_int_equal(iwi_encounter_start_ps(&visits, encounter), 1000 * i + 7);
    }
    assert_int_equal(visits.unmatched, 0);
    iwi_visits_release(&visits);
}

static void numbers_say_what_belongs_together(void **state)
{
    (void)state;
    expect_encounters(true);
}

static void without_numbers_the_order_does(void **state)
{
    (void)state;
    expect_encounters(false);
}

static void ranks_and_groups_are_made_once(void **state)
{
    struct iwi_visits visits;
    uint32_t group, again, rank;

    (void)state;
    make_group(&visits, &group);
    assert_ok(iwi_visits_rank(&visits, 16, NULL, &rank));
    assert_int_equal(rank, 2);
    assert_ok(iwi_visits_group(&visits, "dp", (const uint32_t[]){0, 1, 2}, RANKS, RANKS, &again));
    assert_int_equal(group, again);
    assert_ok(iwi_visits_group(&visits, "tp", (const uint32_t[]){0, 1, 2}, RANKS, RANKS, &again));
    assert_int_not_equal(group, again);
    iwi_visits_release(&visits);
}

static void a_second_visit_or_another_operation_is_refused(void **state)
{
    (void)state;
    for (int is_other = 0; is_other < 2; is_other++) {
        struct iwi_visits visits;
        struct iwi_visit wrong = visit_of(is_other ? 1 : 0, 5, 3);
        const struct iwi_visit right = visit_of(0, 5, 0);
        uint32_t group;

        make_group(&visits, &group);
        wrong.op = is_other ? IWI_VISIT_BROADCAST : wrong.op;
        assert_ok(iwi_visits_add(&visits, &right));
        assert_ok(iwi_visits_add(&visits, &wrong));
        assert_int_equal(iwi_visits_finish(&visits), IW_ERR_FORMAT);
        iwi_visits_release(&visits);
    }
}

static void who_visits_alone_is_counted(void **state)
{
    struct iwi_visits visits;
    struct iwi_visit visit = visit_of(0, 5, 0);
    uint32_t group;

    (void)state;
    make_group(&visits, &group);
    assert_ok(iwi_visits_add(&visits, &visit));
    visit.op = IWI_VISIT_MESSAGE; /* numbered apart */
    visit.rank = 1;
    assert_ok(iwi_visits_add(&visits, &visit));
    assert_ok(iwi_visits_finish(&visits));
    assert_int_equal(visits.encounter_count, 2);
    assert_int_equal(visits.unmatched, 2);
    iwi_visits_release(&visits);
}

static void notes_are_kept_once(void **state)
{
    struct iwi_visits visits;

    (void)state;
    iwi_visits_init(&visits, NULL, "test");
    iwi_visits_note(&visits, "One.");
    iwi_visits_note(&visits, "Two.");
    iwi_visits_note(&visits, "One.");
    assert_string_equal(visits.lacks, "One. Two.");
    iwi_visits_release(&visits);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_say_what_belongs_together),
        cmocka_unit_test(without_numbers_the_order_does),
        cmocka_unit_test(ranks_and_groups_are_made_once),
        cmocka_unit_test(a_second_visit_or_another_operation_is_refused),
        cmocka_unit_test(who_visits_alone_is_counted),
        cmocka_unit_test(notes_are_kept_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
