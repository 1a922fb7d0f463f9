/* Clocks that are wrong by known offsets and drifts are found again, within the error that is stated.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/rng.h"
#include "features/explain/arrivals/visits.h"
#include "support/support.h"

/* A grid of ranks: collectives of rows, of columns, and of all, in turn. */
struct made {
    uint64_t seed;
    uint32_t rows, columns, rounds;
    iw_time round_ps;
    double noise_us;             /* of ends: uniform within +- this */
    double offset_us, drift_ppm; /* of clocks: uniform within +- these */
    bool has_columns, has_world;
    uint8_t op;
};

static double draw(const struct made *m, uint32_t what, uint32_t rank, uint64_t index)
{
    return 2 * iwi_draw_unit(
                   (struct iwi_draw_id){
                       .seed = m->seed, .purpose = IWI_DRAW_TEST, .source = what, .rank = rank},
                   index) -
           1;
}

static double offset_ps(const struct made *m, uint32_t rank)
{
    return 1e6 * m->offset_us * draw(m, 1, rank, 0);
}

static double drift(const struct made *m, uint32_t rank)
{
    return 1e-6 * m->drift_ppm * draw(m, 2, rank, 0);
}

/* Times from the middle of the run. */
static iw_time shown(const struct made *m, uint32_t rank, double at_ps)
{
    return (iw_time)llround(at_ps + offset_ps(m, rank) + drift(m, rank) * at_ps);
}

static void add_collective(const struct made *m, struct iwi_visits *visits, uint32_t group, uint64_t sequence,
                           double at_ps)
{
    const struct iwi_visit_group *of = &visits->groups[group];

    for (uint32_t i = 0; i < of->count; i++) {
        const uint32_t rank = of->members[i];
        const uint64_t index = sequence * visits->group_count + group;
        const double end_ps = at_ps + 1e6 * m->noise_us * draw(m, 3, rank, index);
        const double begin_ps = at_ps - 30e6 - 1e6 * 200 * fabs(draw(m, 4, rank, index));
        const struct iwi_visit visit = {.rank = rank,
                                        .group = group,
                                        .op = m->op,
                                        .step = 0,
                                        .sequence = sequence,
                                        .enter_ps = shown(m, rank, begin_ps),
                                        .leave_ps = shown(m, rank, end_ps)};

        assert_ok(iwi_visits_add(visits, &visit));
    }
}

static void add_group(struct iwi_visits *visits, const char *name, uint32_t first, uint32_t count,
                      uint32_t stride)
{
    uint32_t members[1024], index;

    for (uint32_t i = 0; i < count; i++) {
        members[i] = first + i * stride;
    }
    assert_ok(iwi_visits_group(visits, name, members, count, count, &index));
}

static void make(const struct made *m, struct iwi_visits *visits)
{
    iwi_visits_init(visits, NULL, "made");
    for (uint32_t r = 0; r < m->rows * m->columns; r++) {
        uint32_t index;

        assert_ok(iwi_visits_rank(visits, r, NULL, &index));
    }
    for (uint32_t row = 0; row < m->rows; row++) {
        add_group(visits, "row", row * m->columns, m->columns, 1);
    }
    for (uint32_t column = 0; m->has_columns && column < m->columns; column++) {
        add_group(visits, "column", column, m->rows, m->columns);
    }
    if (m->has_world) {
        add_group(visits, "world", 0, m->rows * m->columns, 1);
    }
    for (uint32_t round = 0; round < m->rounds; round++) {
        for (uint32_t g = 0; g < visits->group_count; g++) {
            add_collective(m, visits, g, round,
                           ((double)round - (double)m->rounds / 2 + (double)g / (double)visits->group_count) *
                               (double)m->round_ps);
        }
    }
    assert_ok(iwi_visits_finish(visits));
    assert_ok(iwi_visits_align(visits));
}

/* The largest difference, in ps, between the clocks found and the clocks made, at both ends of the run,
 * against the first rank of the set. */
static double worst_ps(const struct made *m, const struct iwi_visits *visits)
{
    const double half_ps = (double)m->rounds * (double)m->round_ps / 2;
    double worst = 0;

    for (uint32_t r = 0; r < visits->rank_count; r++) {
        uint32_t first = 0;

        while (visits->ranks[first].clock_set != visits->ranks[r].clock_set) {
            first++;
        }
        for (int side = -1; side <= 1; side += 2) {
            const double at_ps = side * half_ps;
            const double truth =
                offset_ps(m, r) - offset_ps(m, first) + (drift(m, r) - drift(m, first)) * at_ps;
            const double found =
                (double)-visits->ranks[r].clock_added_ps + visits->ranks[r].clock_drift * at_ps;

            worst = fmax(worst, fabs(found - truth));
        }
    }
    return worst;
}

static const struct made usual = {.seed = 1,
                                  .rows = 8,
                                  .columns = 4,
                                  .rounds = 60,
                                  .round_ps = 10 * IW_PS_PER_MS,
                                  .noise_us = 3,
                                  .offset_us = 500,
                                  .has_columns = true,
                                  .has_world = true,
                                  .op = IWI_VISIT_ALLREDUCE};

/* Stated: 95 % of ends, uniform within 3 us, are within 2.85 us. */
static void offsets_are_found_within_the_stated_error(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct made m = usual;
        struct iwi_visits visits;

        m.seed = seed;
        m.has_world = seed % 2 == 0; /* else chained through rows and columns */
        make(&m, &visits);
        assert_true(worst_ps(&m, &visits) < (double)visits.clock_error_ps);
        assert_in_range(visits.clock_error_ps, 2 * IW_PS_PER_US, 4 * IW_PS_PER_US);
        assert_int_equal(visits.clock_sets, 1);
        assert_true(visits.ranks[3].clock_drift == 0); /* there is none to be seen */
        iwi_visits_release(&visits);
    }
}

/* Over 0.6 s, 50 ppm are 30 us: they have to be taken out. Over 20 s, so has 1 ppm. */
static void drift_is_found_where_it_matters(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct made m = usual;
        struct iwi_visits visits;

        m.seed = seed;
        m.drift_ppm = seed % 2 == 0 ? 50 : 2;
        m.round_ps = seed % 2 == 0 ? m.round_ps : 400 * IW_PS_PER_MS;
        m.has_world = seed % 3 == 0;
        make(&m, &visits);
        assert_true(worst_ps(&m, &visits) < 1.5 * (double)visits.clock_error_ps);
        assert_in_range(visits.clock_error_ps, 2 * IW_PS_PER_US, 5 * IW_PS_PER_US);
        iwi_visits_release(&visits);
    }
}

static void ranks_that_never_meet_are_apart(void **state)
{
    struct made m = usual;
    struct iwi_visits visits;

    (void)state;
    m.has_columns = m.has_world = false;
    make(&m, &visits);
    assert_int_equal(visits.clock_sets, m.rows);
    assert_string_equal(visits.lacks,
                        "Clocks of 8 sets of ranks cannot be compared, because no collective joins them.");
    for (uint32_t r = 0; r < visits.rank_count; r++) {
        assert_int_equal(visits.ranks[r].clock_set, r / m.columns);
    }
    assert_true(worst_ps(&m, &visits) < (double)visits.clock_error_ps);
    iwi_visits_release(&visits);
}

/* All times of some ranks, later. */
static void delay(struct iwi_visits *visits, uint32_t from_rank, iw_time by_ps)
{
    for (size_t i = 0; i < visits->visit_count; i++) {
        if (visits->visits[i].rank >= from_rank) {
            visits->visits[i].enter_ps += by_ps;
            visits->visits[i].leave_ps += by_ps;
        }
    }
}

static void ranks_of_another_run_are_refused(void **state)
{
    struct made m = usual;
    struct iwi_visits visits;
    struct iwt_log log;

    (void)state;
    iwt_log_init(&log);
    m.has_columns = m.has_world = false;
    make(&m, &visits);
    visits.log = &log.log;
    delay(&visits, 28, 30 * IW_PS_PER_S); /* clocks may be wrong */
    assert_ok(iwi_visits_check_one_run(&visits));
    delay(&visits, 28, 7200 * IW_PS_PER_S);
    assert_status(iwi_visits_check_one_run(&visits), IW_ERR_FORMAT);
    iwt_assert_logged(&log, "rank 28 begins 7229 s after rank");
    iwi_visits_release(&visits);
}

static void clocks_that_are_days_apart_are_told(void **state)
{
    struct made m = usual;
    struct iwi_visits visits;
    struct iwt_log log;

    (void)state;
    iwt_log_init(&log);
    make(&m, &visits);
    visits.log = &log.log;
    delay(&visits, 28, 3600 * IW_PS_PER_S);
    assert_ok(iwi_visits_align(&visits));
    assert_ok(iwi_visits_check_one_run(&visits));
    iwt_assert_logged(&log, "clocks of ranks differ by 3600 s: give files of one run");
    assert_non_null(strstr(visits.lacks, "Clocks of ranks differed by 3600 s and were aligned"));
    iwi_visits_release(&visits);
}

/* An all-gather is no meeting at one time: it may be off by its transfer, here 30 us and what the last of 4
 * or 8 ranks comes earlier. */
static void what_ends_apart_counts_with_its_transfer(void **state)
{
    struct made m = usual;
    struct iwi_visits visits;

    (void)state;
    m.op = IWI_VISIT_ALLGATHER;
    m.noise_us = 0;
    make(&m, &visits);
    assert_int_equal(visits.clock_sets, 1);
    assert_true(worst_ps(&m, &visits) < (double)visits.clock_error_ps);
    assert_in_range(visits.clock_error_ps, 30 * IW_PS_PER_US, 80 * IW_PS_PER_US);
    iwi_visits_release(&visits);
}

static void all_times_of_a_rank_move_together(void **state)
{
    struct made m = usual;
    struct iwi_visits visits;
    size_t late = 0;

    (void)state;
    m.noise_us = 0;
    make(&m, &visits);
    for (size_t i = 0; i < visits.encounter_count; i++) {
        const struct iwi_encounter *encounter = &visits.encounters[i];
        const struct iwi_visit *of = &visits.visits[encounter->first];

        for (uint32_t k = 0; k < encounter->count; k++) {
            assert_true(llabs((long long)(of[k].leave_ps - of[0].leave_ps)) < 10);
            assert_true(of[k].enter_ps <= iwi_encounter_start_ps(&visits, encounter));
            late += of[k].enter_ps == iwi_encounter_start_ps(&visits, encounter);
        }
    }
    assert_int_equal(late, visits.encounter_count);
    iwi_visits_release(&visits);
}

static void a_table_without_collectives_stays_as_it_is(void **state)
{
    struct iwi_visits visits;
    uint32_t index;

    (void)state;
    iwi_visits_init(&visits, NULL, "made");
    assert_ok(iwi_visits_rank(&visits, 0, NULL, &index));
    assert_ok(iwi_visits_finish(&visits));
    assert_ok(iwi_visits_align(&visits));
    assert_int_equal(visits.clock_sets, 1);
    iwi_visits_release(&visits);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(offsets_are_found_within_the_stated_error),
        cmocka_unit_test(drift_is_found_where_it_matters),
        cmocka_unit_test(ranks_that_never_meet_are_apart),
        cmocka_unit_test(ranks_of_another_run_are_refused),
        cmocka_unit_test(clocks_that_are_days_apart_are_told),
        cmocka_unit_test(what_ends_apart_counts_with_its_transfer),
        cmocka_unit_test(all_times_of_a_rank_move_together),
        cmocka_unit_test(a_table_without_collectives_stays_as_it_is),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
