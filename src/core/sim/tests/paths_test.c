/* Steps of paths add up to what each path was told, however often they are settled.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>

#include "core/noise/stream.h"
#include "core/sim/flow/flow_paths.h"
#include "random_program.h"
#include "support/support.h"

enum { ROOTS = 24, STEPS = 3000, CASES = 20 };

/* Roots as the flow engine has them: side by side, and among other things. */
struct model {
    struct iwi_paths *paths;
    uint32_t beside[ROOTS];
    struct iwi_path_step apart[ROOTS];
    iw_split told[2 * ROOTS];
    struct iwt_random random;
};

static uint32_t *root_of(struct model *m, size_t i)
{
    return i < ROOTS ? &m->beside[i] : &m->apart[i - ROOTS].before;
}

static void add_term(struct model *m, uint32_t *path, iw_split *told)
{
    struct iwi_path_term term = {.count = 0};
    const uint32_t inner = (uint32_t)iwt_below(&m->random, IW_NET_INNER_MAX + 1);
    const iw_time overhead = (iw_time)iwt_below(&m->random, 3), compute = (iw_time)iwt_below(&m->random, 3);

    iwi_term_add(&term, IW_PART_OVERHEAD, inner, overhead);
    iwi_term_add(&term, IW_PART_COMPUTE, IW_NET_INNER_MAX, compute);
    term.hops = (uint8_t)iwt_below(&m->random, 2);
    *path = iwi_path_then(m->paths, *path, iwi_path_term(m->paths, &term));
    told->part_ps[IW_PART_OVERHEAD] += overhead;
    told->part_ps[IW_PART_COMPUTE] += compute;
    told->hops += term.hops;
    if (inner < IW_NET_INNER_MAX) {
        told->inner_ps[inner][0] += overhead;
    }
}

/* Two detours, and time that no detour is told of. */
static void add_noise(struct model *m, uint32_t *path, iw_split *told)
{
    struct iwi_path_noise noise = {.worst = {{0}}};
    const struct iwi_lost lost = {noise.by_source, noise.worst, IW_HITS},
                          expected = {&told->part_ps[IW_PART_NOISE], told->worst, IW_HITS};
    const iw_time rest = (iw_time)iwt_below(&m->random, 4);

    for (size_t k = 0; k < 2; k++) {
        const iw_hit hit = {(iw_time)iwt_below(&m->random, 1000), 1 + (iw_time)iwt_below(&m->random, 50),
                            (uint32_t)iwt_below(&m->random, 9), (uint32_t)iwt_below(&m->random, 3)};

        iwi_lost_add(&lost, hit);
        iwi_lost_add(&expected, hit);
    }
    noise.by_source[2] += rest;
    told->part_ps[IW_PART_NOISE + 2] += rest;
    *path = iwi_path_then_noise(m->paths, *path, &noise);
}

static void step(struct model *m)
{
    const size_t from = iwt_below(&m->random, 2 * ROOTS), to = iwt_below(&m->random, 2 * ROOTS);
    uint32_t *path = root_of(m, to);
    iw_split *told = &m->told[to];
    const iw_time amount = (iw_time)iwt_below(&m->random, 3);

    *path = *root_of(m, from);
    *told = m->told[from];
    switch (iwt_below(&m->random, 3)) {
    case 0: add_term(m, path, told); break;
    case 1: add_noise(m, path, told); break;
    default:
        *path = iwi_path_then_amount(m->paths, *path, IW_PART_DELAY, amount);
        told->part_ps[IW_PART_DELAY] += amount;
        break;
    }
}

static void assert_settled(struct model *m)
{
    const struct iwi_path_roots roots[] = {{m->beside, ROOTS, sizeof m->beside[0]},
                                           {&m->apart[0].before, ROOTS, sizeof m->apart[0]}};

    assert_ok(iwi_paths_settle(m->paths, NULL, roots, 2));
    assert_int_equal(m->paths->step_count, 0);
    assert_true(m->paths->settled_count <= 2 * ROOTS + 1);
    for (size_t i = 0; i < 2 * ROOTS; i++) {
        assert_memory_equal(&m->paths->settled[*root_of(m, i)], &m->told[i], sizeof m->told[i]);
    }
}

static void steps_add_up_whenever_they_are_settled(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < CASES; seed++) {
        struct model m = {.random = {seed, 0}};

        assert_ok(iwi_paths_new(NULL, &m.paths));
        for (size_t k = 0; k < STEPS; k++) {
            step(&m);
            if (iwt_below(&m.random, 400) == 0) {
                assert_settled(&m);
            }
        }
        assert_settled(&m);
        iwi_paths_free(m.paths);
    }
}

/* More paths go on from one than a byte can count. */
static void many_paths_begin_alike(void **state)
{
    enum { MANY = 1000 };
    uint32_t *ends = calloc(MANY, sizeof *ends);
    const struct iwi_path_roots roots = {ends, MANY, sizeof *ends};
    struct iwi_paths *paths;
    uint32_t common;

    (void)state;
    assert_non_null(ends);
    assert_ok(iwi_paths_new(NULL, &paths));
    common = iwi_path_then_amount(paths, 0, IW_PART_COMPUTE, 7);
    for (uint32_t i = 0; i < MANY; i++) {
        ends[i] = iwi_path_then_amount(paths, common, IW_PART_DELAY, 1 + (iw_time)i);
    }
    assert_ok(iwi_paths_settle(paths, NULL, &roots, 1));
    for (uint32_t i = 0; i < MANY; i++) {
        assert_int_equal(paths->settled[ends[i]].part_ps[IW_PART_COMPUTE], 7);
        assert_int_equal(paths->settled[ends[i]].part_ps[IW_PART_DELAY], 1 + i);
    }
    iwi_paths_free(paths);
    free(ends);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_add_up_whenever_they_are_settled),
        cmocka_unit_test(many_paths_begin_alike),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
