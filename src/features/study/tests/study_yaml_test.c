/* Studies from YAML: what every key does, and the order of cells.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "study_testing.h"

static void a_small_study_has_defaults(void **state)
{
    iw_study *study = iwt_good_study(IWT_PARTS "ranks: 8\n");

    (void)state;
    assert_string_equal(study->path, "/nowhere/s.yaml");
    assert_string_equal(study->name, "s");
    assert_string_equal(study->title, "");
    assert_string_equal(study->text, IWT_PARTS "ranks: 8\n");
    assert_true(study->threshold == 1.0);
    assert_int_equal(study->cell_count, 1);
    assert_int_equal(study->cells[0].ranks, 8);
    assert_int_equal(study->cells[0].bytes, 1);
    assert_int_equal(study->cells[0].sync, IW_SYNC_NONE);
    assert_true(study->cells[0].net_scale == 1.0);
    assert_int_equal(study->cells[0].trials, 100);
    assert_int_equal(study->cells[0].seed, 1);
    assert_int_equal(strspn(study->cells[0].id, "0123456789abcdef"), 16);
    iw_study_free(study);
}

static void the_keys_of_the_study_are_read(void **state)
{
    iw_study *study = iwt_good_study("format: idlewave.study/1\nname: four\ntitle: 'Four systems: a test'\n"
                                     "seed: 2^40\ntrials: 1k\nthreshold: 50%\nranks: 4\n" IWT_PARTS);

    (void)state;
    assert_string_equal(study->name, "four");
    assert_string_equal(study->title, "Four systems: a test");
    assert_true(study->threshold == 0.5);
    assert_int_equal(study->cells[0].seed, INT64_C(1) << 40);
    assert_int_equal(study->cells[0].trials, 1000);
    iw_study_free(study);
}

static void the_keys_of_a_system_are_read(void **state)
{
    iw_study *study = iwt_good_study("systems:\n"
                                     "  - name: my machine\n"
                                     "    net: {L: 2us, o: 1us, g: 3us, G: 1ns, S: 1MiB}\n"
                                     "    noise: ['periodic:10Hz,100us', none, 'poisson:1kHz,exp:5us']\n"
                                     "    ranks-per-node: 16\n"
                                     "    noise-cpus: 0,2-5\n"
                                     "    skew: 10us\n"
                                     "  - {net: altix}\n" IWT_PATTERNS "ranks: 4\nsync: start\n");
    const iw_study_system *system = &study->systems[0];

    (void)state;
    assert_int_equal(study->system_count, 2);
    assert_string_equal(system->name, "my machine");
    assert_string_equal(system->net.name, "my machine");
    assert_int_equal(system->net.L_ps, 2000000);
    assert_int_equal(system->net.S_bytes, 1048576);
    assert_int_equal(system->noise_count, 2);
    assert_string_equal(system->noise[0], "periodic:10Hz,100us");
    assert_string_equal(system->noise[1], "poisson:1kHz,exp:5us");
    assert_int_equal(system->ranks_per_node, 16);
    assert_int_equal(iw_cpu_set_count(&system->noise_cpus), 5);
    assert_false(iw_cpu_set_has(&system->noise_cpus, 1));
    assert_int_equal(system->skew_ps, 10000000);
    assert_string_equal(study->systems[1].name, "altix");
    assert_int_equal(study->systems[1].net.L_ps, iw_net_builtin("altix")->L_ps);
    assert_int_equal(study->systems[1].noise_count, 0);
    assert_int_equal(study->systems[1].ranks_per_node, 0); /* as recorded */
    assert_true(iw_cpu_set_is_empty(&study->systems[1].noise_cpus));
    iw_study_free(study);
}

static void the_keys_of_a_pattern_are_read(void **state)
{
    iw_study *study = iwt_good_study(
        IWT_SYSTEMS "patterns:\n"
                    "  - {name: tree, pattern: 'bcast:binomial', root: 3, compute: 1ms, repeat: 10, segment: "
                    "64KiB, reduce-cost: 1ns}\n"
                    "  - {pattern: halo2d, dims: 2x4, boundary: open, direction: uni, exchange: split}\n"
                    "  - {name: far, pattern: halo1d, distance: 2}\n"
                    "ranks: 8\n");
    const iw_study_work *works = study->works;

    (void)state;
    assert_int_equal(study->work_count, 3);
    assert_string_equal(works[0].name, "tree");
    assert_string_equal(works[0].operations, "bcast:binomial");
    assert_null(works[0].goal_path);
    assert_int_equal(works[0].pattern.root, 3);
    assert_int_equal(works[0].pattern.compute_ps, IW_PS_PER_MS);
    assert_int_equal(works[0].pattern.repeat, 10);
    assert_int_equal(works[0].pattern.segment_bytes, 65536);
    assert_int_equal(works[0].pattern.reduce, 1000000);
    assert_string_equal(works[1].name, "halo2d");
    assert_int_equal(works[1].pattern.dims[0], 2);
    assert_int_equal(works[1].pattern.dims[1], 4);
    assert_false(works[1].pattern.is_periodic);
    assert_true(works[1].pattern.is_one_way);
    assert_true(works[1].pattern.is_split);
    assert_int_equal(works[2].pattern.distance, 2);
    assert_true(works[2].pattern.is_periodic);
    iw_study_free(study);
}

/* Checks that a list gives these values, ended by 0. */
static void assert_ranks(const char *list, const uint32_t *expected)
{
    char text[512];
    iw_study *study;
    size_t count = 0;

    snprintf(text, sizeof text, IWT_PARTS "ranks: %s\n", list);
    study = iwt_good_study(text);
    while (expected[count] != 0) {
        count++;
    }
    assert_int_equal(study->cell_count, count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(study->cells[i].ranks, expected[i]);
    }
    iw_study_free(study);
}

static void lists_and_ranges_are_spread(void **state)
{
    (void)state;
    assert_ranks("7", (const uint32_t[]){7, 0});
    assert_ranks("1Ki", (const uint32_t[]){1024, 0});
    assert_ranks("[8, 2, 1Ki]", (const uint32_t[]){8, 2, 1024, 0});
    assert_ranks("2^1..2^5", (const uint32_t[]){2, 4, 8, 16, 32, 0});
    assert_ranks("10^0..10^3", (const uint32_t[]){1, 10, 100, 1000, 0});
    assert_ranks("2^1 .. 2^7 step x4", (const uint32_t[]){2, 8, 32, 128, 0});
    assert_ranks("16..100 step x2", (const uint32_t[]){16, 32, 64, 0});
    assert_ranks("1..9 step 4", (const uint32_t[]){1, 5, 9, 0});
    assert_ranks("5..5 step x2", (const uint32_t[]){5, 0});
    assert_ranks("[1, 2^1..2^3, 9]", (const uint32_t[]){1, 2, 4, 8, 9, 0});
    assert_ranks("2^30", (const uint32_t[]){1u << 30, 0});
}

static void cells_are_nested_with_ranks_innermost(void **state)
{
    iw_study *study = iwt_good_study("systems:\n  - {name: a, net: chic}\n  - {name: b, net: altix}\n"
                                     "patterns: [barrier, bcast]\n"
                                     "ranks: [2, 4]\nbytes: [1, 1MiB]\nsync: [none, start]\n"
                                     "net-scale: [0.1, 10]\n");
    size_t i = 0;

    (void)state;
    assert_int_equal(study->cell_count, 64);
    for (size_t system = 0; system < 2; system++) {
        for (size_t work = 0; work < 2; work++) {
            for (size_t bytes = 0; bytes < 2; bytes++) {
                for (size_t sync = 0; sync < 2; sync++) {
                    for (size_t scale = 0; scale < 2; scale++) {
                        for (size_t ranks = 0; ranks < 2; ranks++) {
                            const iw_cell *cell = &study->cells[i++];

                            assert_int_equal(cell->system, system);
                            assert_int_equal(cell->work, work);
                            assert_int_equal(cell->bytes, bytes == 0 ? 1 : 1048576);
                            assert_int_equal(cell->sync, sync == 0 ? IW_SYNC_NONE : IW_SYNC_START);
                            assert_true(cell->net_scale == (scale == 0 ? 0.1 : 10.0));
                            assert_int_equal(cell->ranks, ranks == 0 ? 2 : 4);
                        }
                    }
                }
            }
        }
    }
    iw_study_free(study);
}

/* Cells of one system with one work. */
static size_t count_cells(const iw_study *study, size_t system, size_t work)
{
    size_t count = 0;

    for (size_t i = 0; i < study->cell_count; i++) {
        count += study->cells[i].system == system && study->cells[i].work == work;
    }
    return count;
}

static void a_list_inside_stands_in_for_that_of_the_study(void **state)
{
    iw_study *study = iwt_good_study("systems:\n"
                                     "  - {name: small, net: chic, ranks: 2^1..2^3, trials: 7}\n"
                                     "  - {name: large, net: altix}\n"
                                     "patterns:\n"
                                     "  - barrier\n"
                                     "  - {name: wide, pattern: bcast, bytes: [8, 64, 512], trials: 9}\n"
                                     "ranks: 2^1..2^10\nbytes: 1\ntrials: 5\n");

    (void)state;
    assert_int_equal(count_cells(study, 0, 0), 3);
    assert_int_equal(count_cells(study, 0, 1), 3 * 3);
    assert_int_equal(count_cells(study, 1, 0), 10);
    assert_int_equal(count_cells(study, 1, 1), 10 * 3);
    assert_int_equal(study->cells[0].trials, 7);     /* of the system */
    assert_int_equal(study->cells[3].trials, 9);     /* of the pattern, which is nearer */
    assert_int_equal(study->cells[3 + 9].trials, 5); /* of the study */
    assert_int_equal(study->cells[study->cell_count - 1].trials, 9);
    iw_study_free(study);
}

static void of_lists_in_system_and_pattern_the_common_values_count(void **state)
{
    iw_study *study = iwt_good_study("systems:\n"
                                     "  - {name: small, net: chic, ranks: 2^1..2^4}\n"
                                     "  - {name: large, net: altix}\n"
                                     "patterns:\n"
                                     "  - {name: some, pattern: barrier, ranks: [32, 8, 4]}\n"
                                     "  - {name: many, pattern: bcast, ranks: [64]}\n"
                                     "  - reduce\n"
                                     "ranks: 2\n");

    (void)state;
    assert_int_equal(count_cells(study, 0, 0), 2);
    assert_int_equal(study->cells[0].ranks, 8);
    assert_int_equal(study->cells[1].ranks, 4);
    assert_int_equal(count_cells(study, 0, 1), 0);
    assert_int_equal(count_cells(study, 0, 2), 4);
    assert_int_equal(count_cells(study, 1, 0), 3);
    assert_int_equal(count_cells(study, 1, 1), 1);
    assert_int_equal(count_cells(study, 1, 2), 1);
    iw_study_free(study);
}

/* Two ranks, one message. */
#define GOAL "num_ranks 2\nrank 0 {\ncalc 1000\nsend 8b to 1\n}\nrank 1 {\nrecv 8b from 0\n}\n"
#define NET "L: 1us\no: 1us\ng: 1us\nG: 1ns\n"

static void files_are_found_beside_the_study(void **state)
{
    static const char text[] =
        "systems:\n  - {name: mine, net: my.yaml, noise: [tick.txt, 'periodic:1Hz,1us']}\n"
        "schedules:\n  - app.goal\n  - {name: slow, file: ./app.goal, unit: 1us, "
        "net-scale: [1, 10]}\n"
        "ranks: [64, 128]\nbytes: [1, 2]\n";
    struct iwt_scratch scratch;
    struct iwt_log l;
    iw_study *study = NULL;
    char tick[128];

    (void)state;
    iwt_log_init(&l);
    iwt_scratch_make(&scratch);
    (void)iwt_scratch_write(&scratch, "my.yaml", NET);
    (void)iwt_scratch_write(&scratch, "app.goal", GOAL);
    snprintf(tick, sizeof tick, "%s",
             iwt_scratch_write(&scratch, "tick.txt", "# length_ns 1000000\n500 100\n"));
    assert_ok(iw_study_load(&l.log, iwt_scratch_write(&scratch, "the study.yaml", text), &study));
    assert_string_equal(l.text, "");
    assert_string_equal(study->name, "the study");
    assert_int_equal(study->systems[0].net.L_ps, 1000000);
    assert_string_equal(study->systems[0].net.name, "my");
    assert_string_equal(study->systems[0].noise[0], tick);
    assert_string_equal(study->works[0].name, "app");
    assert_null(study->works[0].operations);
    assert_non_null(study->works[0].goal_path);
    assert_int_equal(study->works[0].goal_unit_ps, IW_PS_PER_NS);
    assert_int_equal(study->works[1].goal_unit_ps, IW_PS_PER_US);
    assert_int_equal(study->cell_count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(study->cells[i].ranks, 2); /* its own, not those of the study */
        assert_int_equal(study->cells[i].bytes, 0);
    }
    iw_study_free(study);
    iwt_scratch_remove(&scratch);
}

static void the_example_is_read(void **state)
{
    struct iwt_log l;
    iw_study *study = NULL;

    (void)state;
    iwt_log_init(&l);
    assert_ok(iw_study_load(&l.log, IW_TEST_DATA "/../../examples/study-small.yaml", &study));
    assert_string_equal(l.text, "");
    assert_string_equal(study->name, "study-small");
    assert_int_equal(study->cell_count, 2 * 2 * 8);
    assert_int_equal(study->cells[0].trials, 20);
    iw_study_free(study);
}

static void nothing_is_freed_without_complaint(void **state)
{
    (void)state;
    iw_study_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_small_study_has_defaults),
        cmocka_unit_test(the_keys_of_the_study_are_read),
        cmocka_unit_test(the_keys_of_a_system_are_read),
        cmocka_unit_test(the_keys_of_a_pattern_are_read),
        cmocka_unit_test(lists_and_ranges_are_spread),
        cmocka_unit_test(cells_are_nested_with_ranks_innermost),
        cmocka_unit_test(a_list_inside_stands_in_for_that_of_the_study),
        cmocka_unit_test(of_lists_in_system_and_pattern_the_common_values_count),
        cmocka_unit_test(files_are_found_beside_the_study),
        cmocka_unit_test(the_example_is_read),
        cmocka_unit_test(nothing_is_freed_without_complaint),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
