/* Visits become encounters: by their numbers, or in the order in which ranks came.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <time.h>

#include "features/explain/arrivals/visits.h"

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

/* How many slots items stand behind their first one, in all. */
static size_t looked_at(const struct iwi_lookup *table)
{
    size_t sum = 0;

    for (size_t i = 0; i < table->size; i++) {
        if (table->slots[i].place != 0) {
            sum += (i - table->slots[i].hash) & (table->size - 1);
        }
    }
    return sum;
}

/* Ranks come in an order that is not theirs, and each is asked for twice, as by several files. */
static void make_many(struct iwi_visits *visits, uint32_t count)
{
    iwi_visits_init(visits, NULL, "test");
    for (uint32_t i = 0; i < 2 * count; i++) {
        const uint32_t number = (uint32_t)((uint64_t)i * 7919 % count);
        uint32_t members[2], group;

        assert_ok(iwi_visits_rank(visits, number, NULL, &members[0]));
        assert_ok(iwi_visits_rank(visits, (number + 1) % count, NULL, &members[1]));
        assert_ok(iwi_visits_group(visits, "pair", members, 2, 2, &group));
        assert_int_equal(visits->ranks[members[0]].number, number);
        assert_int_equal(visits->groups[group].members[0], members[0] < members[1] ? members[0] : members[1]);
    }
}

static void ranks_and_groups_are_found_without_a_search(void **state)
{
    (void)state;
    for (uint32_t count = 2000; count <= 64000; count *= 2) {
        struct iwi_visits visits;
        const clock_t begun = clock();

        make_many(&visits, count);
        print_message("%u ranks and groups: %.0f ns of CPU for each call\n", count,
                      1e9 * (double)(clock() - begun) / CLOCKS_PER_SEC / (6.0 * count));
        assert_int_equal(visits.rank_count, count);
        assert_int_equal(visits.group_count, count);
        assert_true(looked_at(&visits.rank_index.table) <= count); /* half of a slot is usual, at half full */
        assert_true(looked_at(&visits.group_table) <= count);
        iwi_visits_release(&visits);
    }
}

static void what_does_not_match_is_named_by_its_step(void **state)
{
    struct iwt_log log;
    struct iwi_visits visits;
    uint32_t members[2], group;

    (void)state;
    iwt_log_init(&log);
    iwi_visits_init(&visits, &log.log, "test");
    assert_ok(iwi_visits_rank(&visits, 0, "", &members[0]));
    assert_ok(iwi_visits_rank(&visits, 1, "", &members[1]));
    assert_ok(iwi_visits_group(&visits, "dp", members, 2, 2, &group));
    for (uint32_t i = 0; i < 16; i++) {
        for (uint32_t r = 0; r < 2; r++) {
            const struct iwi_visit visit = {.rank = r,
                                            .group = group,
                                            .step = 17,
                                            .sequence = IWI_VISIT_NO_SEQUENCE,
                                            .op =
                                                i == 15 && r == 1 ? IWI_VISIT_ALLGATHER : IWI_VISIT_ALLREDUCE,
                                            .enter_ps = i * 10,
                                            .leave_ps = i * 10 + 5};

            assert_ok(iwi_visits_add(&visits, &visit));
        }
    }
    assert_status(iwi_visits_finish(&visits), IW_ERR_FORMAT);
    iwt_assert_logged(&log,
                      "group 'dp', collective 15 of step 17: rank 0 calls allreduce, rank 1 calls allgather");
    iwi_visits_release(&visits);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_does_not_match_is_named_by_its_step),
        cmocka_unit_test(numbers_say_what_belongs_together),
        cmocka_unit_test(without_numbers_the_order_does),
        cmocka_unit_test(ranks_and_groups_are_made_once),
        cmocka_unit_test(a_second_visit_or_another_operation_is_refused),
        cmocka_unit_test(who_visits_alone_is_counted),
        cmocka_unit_test(notes_are_kept_once),
        cmocka_unit_test(ranks_and_groups_are_found_without_a_search),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
