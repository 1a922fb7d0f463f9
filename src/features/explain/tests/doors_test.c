/* One run as profiles of PyTorch, as Chakra's traces and as lines of NCCL's Inspector: the same visits, and
 * the same rank that made the others wait.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/waits.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "chakra_testing.h"
#include "core/base/order.h"
#include "features/explain/kineto/kineto.h"
#include "inspector_testing.h"

enum door { KINETO, CHAKRA, CHAKRA_BRIEF, INSPECTOR, INSPECTOR_BRIEF, DOORS };

static const char *const door_names[DOORS] = {"Kineto", "Chakra", "Chakra without times", "Inspector",
                                              "Inspector without times"};

static void read_kineto(const struct iwt_kineto_run *run, struct iwi_visits *visits)
{
    struct iwi_kineto_text *texts = calloc(run->ranks, sizeof *texts);

    iwi_visits_init(visits, NULL, "Kineto");
    for (uint32_t r = 0; r < run->ranks; r++) {
        texts[r].name = "profile.json";
        texts[r].data = iwt_kineto_text(run, r, &texts[r].size);
    }
    assert_ok(iwi_kineto_read_memory(NULL, texts, run->ranks, visits));
    for (uint32_t r = 0; r < run->ranks; r++) {
        free((void *)(uintptr_t)texts[r].data);
    }
    free(texts);
}

static void enter(const struct iwt_kineto_run *run, enum door door, struct iwi_visits *visits)
{
    const struct iwt_chakra chakra = {.has_times = door == CHAKRA, .has_groups = true, .has_peers = true};
    const struct iwt_inspector inspector = {.is_verbose = door == INSPECTOR, .has_small = true};

    switch (door) {
    case KINETO: read_kineto(run, visits); break;
    case CHAKRA:
    case CHAKRA_BRIEF: assert_ok(read_chakra(NULL, run, &chakra, visits)); break;
    default: assert_ok(read_inspector(NULL, run, &inspector, visits)); break;
    }
}

/* ---- the same visits ---- */

/* What a door tells of one rank in one collective. */
struct told {
    uint32_t rank, members;
    uint8_t op;
    uint64_t bytes;
    iw_time enter_ps, leave_ps, wait_ps;
};

IWI_COMPARE(compare_told, struct told, IWI_RISING(rank), IWI_RISING(op), IWI_RISING(bytes),
            IWI_RISING(enter_ps))

/* To be freed; in the order in which each rank does what is of one size. */
static struct told *all_told(const struct iwi_visits *visits)
{
    struct told *told = calloc(visits->visit_count, sizeof *told);
    size_t count = 0;

    for (size_t e = 0; e < visits->encounter_count; e++) {
        const struct iwi_encounter *of = &visits->encounters[e];

        for (uint32_t k = 0; k < of->count; k++) {
            const struct iwi_visit *visit = &visits->visits[of->first + k];

            told[count++] = (struct told){.rank = visits->ranks[visit->rank].number,
                                          .members = of->count,
                                          .op = visit->op,
                                          .bytes = visit->bytes,
                                          .enter_ps = visit->enter_ps,
                                          .leave_ps = visit->leave_ps,
                                          .wait_ps = iwi_encounter_start_ps(visits, of) - visit->enter_ps};
        }
    }
    assert_int_equal(count, visits->visit_count);
    iwi_sort(told, count, compare_told);
    return told;
}

static bool is_near(iw_time a, iw_time b, iw_time within)
{
    return iwi_max(a - b, b - a) <= within;
}

/* Times of both are rounded down to microseconds, or have none that mean anything: then waits alone. */
static void compare(const struct iwi_visits *a, const struct iwi_visits *b, bool has_times)
{
    struct told *left = all_told(a), *right = all_told(b);
    const iw_time apart_ps = left[0].enter_ps - right[0].enter_ps;

    assert_int_equal(a->rank_count, b->rank_count);
    assert_int_equal(a->visit_count, b->visit_count);
    assert_int_equal(a->encounter_count, b->encounter_count);
    for (size_t i = 0; i < a->visit_count; i++) {
        assert_int_equal(left[i].rank, right[i].rank);
        assert_int_equal(left[i].op, right[i].op);
        assert_int_equal(left[i].bytes, right[i].bytes);
        assert_int_equal(left[i].members, right[i].members);
        assert_true(is_near(left[i].wait_ps, right[i].wait_ps, 2 * IW_PS_PER_US));
        assert_true(!has_times || is_near(left[i].enter_ps - right[i].enter_ps, apart_ps, 2 * IW_PS_PER_US));
        assert_true(!has_times || is_near(left[i].leave_ps - right[i].leave_ps, apart_ps, 2 * IW_PS_PER_US));
    }
    free(left);
    free(right);
}

static void all_doors_lead_to_the_same_visits(void **state)
{
    static const uint32_t shapes[][3] = {{2, 2, 2}, {4, 2, 1}, {2, 4, 2}};
    const struct iwt_kineto_pause pause = {
        .rank = 3, .step = 1, .cause = IWT_KINETO_SLOW, .length_ns = 20000000};

    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        struct iwt_kineto made = iwt_kineto_default();
        struct iwi_visits visits[DOORS];
        struct iwt_kineto_run run;

        made.seed = i + 1;
        made.tp = shapes[i][0];
        made.dp = shapes[i][1];
        made.pp = shapes[i][2];
        made.pauses = &pause;
        made.pause_count = 1;
        iwt_kineto_run(&made, &run);
        for (enum door door = KINETO; door < DOORS; door++) {
            enter(&run, door, &visits[door]);
            compare(&visits[KINETO], &visits[door], door != CHAKRA_BRIEF && door != INSPECTOR_BRIEF);
        }
        for (enum door door = KINETO; door < DOORS; door++) {
            iwi_visits_release(&visits[door]);
        }
        iwt_kineto_release(&run);
    }
}

/* ---- the same culprit ---- */

enum { STEPS = 24 };

/* What came of the runs, by door. */
struct found {
    unsigned first,
        others; /* runs in which the culprit is named, before all others; ranks that were named too */
};

/* A rank whose device takes 4 ms longer in each step. */
static void check_culprit(uint64_t seed, uint32_t tp, uint32_t dp, uint32_t pp, struct found found[DOORS])
{
    struct iwt_kineto made = iwt_kineto_default();
    struct iwt_kineto_pause pauses[STEPS];
    struct iwt_kineto_run run;
    const uint32_t slow = (uint32_t)(seed * 7919 % ((uint64_t)tp * dp * pp));

    for (uint32_t s = 0; s < STEPS; s++) {
        pauses[s] = (struct iwt_kineto_pause){
            .rank = slow, .step = s, .cause = IWT_KINETO_SLOW, .length_ns = 4000000};
    }
    made.seed = seed;
    made.steps = STEPS;
    made.layers = 2;
    made.tp = tp;
    made.dp = dp;
    made.pp = pp;
    made.pauses = pauses;
    made.pause_count = STEPS;
    iwt_kineto_run(&made, &run);
    for (enum door door = KINETO; door < DOORS; door++) {
        struct iwi_visits visits;
        iw_waits *waits;

        enter(&run, door, &visits);
        assert_ok(iw_waits_run(NULL, "run", &visits, NULL, &waits));
        if (waits->ranks[0].rank == slow && waits->ranks[0].pattern == IW_WAITS_PERSISTENT) {
            found[door].first++;
            found[door].others += waits->named - 1;
        }
        iw_waits_free(waits);
        iwi_visits_release(&visits);
    }
    iwt_kineto_release(&run);
}

/* 95 of 100. */
static void check_runs(unsigned count, const uint32_t shapes[][3], size_t shape_count)
{
    struct found found[DOORS] = {{0}};

    for (unsigned i = 0; i < count; i++) {
        const uint32_t *shape = shapes[i % shape_count];

        check_culprit(i + 1, shape[0], shape[1], shape[2], found);
    }
    for (enum door door = KINETO; door < DOORS; door++) {
        print_message("%s: named first in %u of %u runs, and %u others in all of them\n", door_names[door],
                      found[door].first, count, found[door].others);
        assert_true(found[door].first * 100 >= 95 * count);
    }
}

static void all_doors_lead_to_the_same_culprit(void **state)
{
    static const uint32_t shapes[][3] = {{2, 2, 2}, {2, 4, 2}, {1, 8, 1}};

    (void)state;
    check_runs(6, shapes, 3);
}

static unsigned runs;

/* 8 to 512 ranks; `doors_test 100`. */
static void many_runs(void **state)
{
    static const uint32_t shapes[][3] = {{2, 2, 2}, {2, 4, 2},  {1, 8, 1}, {4, 4, 2},  {2, 16, 2},
                                         {4, 8, 4}, {8, 16, 1}, {8, 8, 4}, {8, 16, 4}, {2, 2, 4}};

    (void)state;
    check_runs(runs, shapes, 10);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_doors_lead_to_the_same_visits),
                                       cmocka_unit_test(all_doors_lead_to_the_same_culprit)};
    const struct CMUnitTest many[] = {cmocka_unit_test(many_runs)};

    runs = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 0;
    return runs > 0 ? cmocka_run_group_tests(many, NULL, NULL) : cmocka_run_group_tests(tests, NULL, NULL);
}
