/* Identifiers of cells follow from what a result depends on, and from nothing else.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "study_testing.h"

/* A study of one cell: its network, noise, pattern and the rest. */
#define STUDY(net, noise, pattern, rest)                                                                  \
    "systems:\n  - {name: a, net: " net ", noise: " noise "}\npatterns:\n  - {name: w, pattern: " pattern \
    "}\n" rest

#define BASE STUDY("chic", "'periodic:100Hz,10us'", "bcast:binomial", "ranks: 8\n")

static void id_of(const char *text, char id[IW_CELL_ID_SIZE])
{
    iw_study *study = iwt_good_study(text);

    memcpy(id, study->cells[0].id, IW_CELL_ID_SIZE);
    iw_study_free(study);
}

static void what_does_not_matter_does_not_count(void **state)
{
    static const char *const texts[] = {
        BASE "title: other\nname: other\nthreshold: 5%\n",
        "systems:\n  - {name: other, net: chic, noise: ['periodic:0.1kHz,10000ns', none]}\npatterns:\n  - "
        "bcast\nranks: [8, 16]\nseed: 1\n",
        STUDY("{L: 5.33us, o: 770ns, g: 1.56us, G: 1.25ns}", "'periodic:100Hz, 10us'", "bcast",
              "ranks: 2^3\n"),
        STUDY("chic, sync: none, skew: 0", "'periodic:100Hz,10us'", "bcast", "ranks: 2^3\ntrials: 100\n"),
    };
    char base[IW_CELL_ID_SIZE], id[IW_CELL_ID_SIZE];

    (void)state;
    id_of(BASE, base);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        id_of(texts[i], id);
        assert_string_equal(id, base);
    }
}

static void everything_that_matters_counts(void **state)
{
#define NOISE "'periodic:100Hz,10us'"
#define OP "bcast:binomial"
    static const char *const texts[] = {
        BASE,
        STUDY("altix", NOISE, OP, "ranks: 8\n"),
        STUDY("{L: 5.33us, o: 770ns, g: 1.56us, G: 1.25ns, O: 1ps}", NOISE, OP, "ranks: 8\n"),
        STUDY("{L: 5.33us, o: 770ns, g: 1.56us, G: 1.25ns, S: 1}", NOISE, OP, "ranks: 8\n"),
        STUDY("{L: 5.33us, o_s: 770ns, o_r: 771ns, g: 1.56us, G: 1.25ns}", NOISE, OP, "ranks: 8\n"),
        STUDY("chic", "none", OP, "ranks: 8\n"),
        STUDY("chic", "'periodic:100Hz,11us'", OP, "ranks: 8\n"),
        STUDY("chic", "'periodic:101Hz,10us'", OP, "ranks: 8\n"),
        STUDY("chic", "['periodic:100Hz,10us', 'periodic:100Hz,10us']", OP, "ranks: 8\n"),
        STUDY("chic", "['periodic:100Hz,10us', 'phase-exp:1%']", OP, "ranks: 8\n"),
        STUDY("chic", "['phase-exp:1%', 'periodic:100Hz,10us']", OP, "ranks: 8\n"),
        STUDY("chic", "'phase-exp:1%'", OP, "ranks: 8\n"),
        STUDY("chic", "'phase-exp:2%'", OP, "ranks: 8\n"),
        STUDY("chic", "'bernoulli:0.1,1us'", OP, "ranks: 8\n"),
        STUDY("chic", "'bernoulli:0.2,1us'", OP, "ranks: 8\n"),
        STUDY("chic", "'bernoulli:0.1,2us'", OP, "ranks: 8\n"),
        STUDY("chic", "'poisson:100Hz,exp:10us'", OP, "ranks: 8\n"),
        STUDY("chic", "'poisson:100Hz,fixed:10us'", OP, "ranks: 8\n"),
        STUDY("chic, ranks-per-node: 2", NOISE, OP, "ranks: 8\n"),
        STUDY("chic, ranks-per-node: 2, spare-cores: 1", NOISE, OP, "ranks: 8\n"),
        STUDY("chic, ranks-per-node: 4, spare-cores: 1", NOISE, OP, "ranks: 8\n"),
        STUDY("chic, ranks-per-node: 4, spare-cores: 2", NOISE, OP, "ranks: 8\n"),
        STUDY("chic, node-speed: 'normal:2%'", NOISE, OP, "ranks: 8\n"),
        STUDY("chic, node-speed: 'normal:3%'", NOISE, OP, "ranks: 8\n"),
        STUDY("chic, node-speed: 'slow:2,1.5'", NOISE, OP, "ranks: 8\n"),
        STUDY("chic, node-speed: 'slow:3,1.5'", NOISE, OP, "ranks: 8\n"),
        STUDY("chic, node-speed: 'slow:2,1.6'", NOISE, OP, "ranks: 8\n"),
        STUDY("chic, memory: 'ranks=2,domain=4GB/s,core=3GB/s'", NOISE, OP, "ranks: 8\n"),
        STUDY("chic, memory: 'ranks=2,domain=5GB/s,core=3GB/s'", NOISE, OP, "ranks: 8\n"),
        STUDY("chic", NOISE, "barrier", "ranks: 8\n"),
        STUDY("chic", NOISE, "bcast:chain", "ranks: 8\n"),
        STUDY("chic", NOISE, "bcast+bcast", "ranks: 8\n"),
        STUDY("chic", NOISE, OP ", root: 1", "ranks: 8\n"),
        STUDY("chic", NOISE, OP ", compute: 1ms", "ranks: 8\n"),
        STUDY("chic", NOISE, OP ", repeat: 2", "ranks: 8\n"),
        STUDY("chic", NOISE, OP ", segment: 64", "ranks: 8\n"),
        STUDY("chic", NOISE, OP ", reduce-cost: 1ns", "ranks: 8\n"),
        STUDY("chic", NOISE, "halo2d", "ranks: 8\n"),
        STUDY("chic", NOISE, "halo2d, dims: 2x4", "ranks: 8\n"),
        STUDY("chic", NOISE, "halo2d, dims: 4x2", "ranks: 8\n"),
        STUDY("chic", NOISE, "halo2d, boundary: open", "ranks: 8\n"),
        STUDY("chic", NOISE, "halo2d, direction: uni", "ranks: 8\n"),
        STUDY("chic", NOISE, "halo2d, exchange: split", "ranks: 8\n"),
        STUDY("chic", NOISE, "halo1d, distance: 2", "ranks: 8\n"),
        BASE "seed: 2\n",
        BASE "trials: 99\n",
        BASE "bytes: 2\n",
        BASE "sync: start\n",
        BASE "sync: phase\n",
        BASE "net-scale: 10\n",
        STUDY("chic, skew: 1us", NOISE, OP, "ranks: 8\nsync: start\n"),
        STUDY("chic", NOISE, OP, "ranks: 16\n"),
    };
    enum { COUNT = sizeof texts / sizeof texts[0] };
    char ids[COUNT][IW_CELL_ID_SIZE];

    (void)state;
    for (size_t i = 0; i < COUNT; i++) {
        id_of(texts[i], ids[i]);
        for (size_t j = 0; j < i; j++) {
            if (strcmp(ids[i], ids[j]) == 0) {
                fail_msg("texts %zu and %zu have one id", j, i);
            }
        }
    }
}

/* Skew shifts nothing where noise is not synchronised, so those cells need not run again. */
static void skew_counts_only_with_sync(void **state)
{
    iw_study *without =
        iwt_good_study(STUDY("chic", "'periodic:1Hz,1us'", "bcast", "ranks: 8\nsync: [none, start]\n"));
    iw_study *with = iwt_good_study(
        STUDY("chic, skew: 1us", "'periodic:1Hz,1us'", "bcast", "ranks: 8\nsync: [none, start]\n"));

    (void)state;
    assert_string_equal(with->cells[0].id, without->cells[0].id);
    assert_string_not_equal(with->cells[1].id, without->cells[1].id);
    iw_study_free(without);
    iw_study_free(with);
}

/* Results on disks are found by ids: this one may change only together with the schema of lines. */
static void an_id_stays_what_it_was(void **state)
{
    char id[IW_CELL_ID_SIZE];

    (void)state;
    id_of(BASE, id);
    assert_string_equal(id, "2b2d4fba5f4f8d11");
}

static void load_id(struct iwt_scratch *scratch, const char *text, char id[IW_CELL_ID_SIZE])
{
    struct iwt_log l;
    iw_study *study;

    iwt_log_init(&l);
    assert_ok(iw_study_load(&l.log, iwt_scratch_write(scratch, "s.yaml", text), &study));
    memcpy(id, study->cells[0].id, IW_CELL_ID_SIZE);
    iw_study_free(study);
}

static void speeds_of_nodes_count_by_what_their_file_says(void **state)
{
    static const char text[] = STUDY("chic, node-speed: speeds.txt", "none", "bcast", "ranks: 2\n");
    char id[IW_CELL_ID_SIZE], same[IW_CELL_ID_SIZE], other[IW_CELL_ID_SIZE];
    struct iwt_scratch scratch;

    (void)state;
    iwt_scratch_make(&scratch);
    (void)iwt_scratch_write(&scratch, "speeds.txt", "1\n1.5\n");
    load_id(&scratch, text, id);
    (void)iwt_scratch_write(&scratch, "speeds.txt", "1.0 # good\n\n1.50\n");
    load_id(&scratch, text, same);
    (void)iwt_scratch_write(&scratch, "speeds.txt", "1.5\n1\n");
    load_id(&scratch, text, other);
    assert_string_equal(id, same);
    assert_string_not_equal(id, other);
    iwt_scratch_remove(&scratch);
}

static void files_count_by_what_is_in_them(void **state)
{
    static const char one[] = "systems: [{net: chic, noise: a.txt}]\npatterns: [bcast]\nranks: 2\n";
    static const char two[] = "systems: [{net: chic, noise: b.txt}]\npatterns: [bcast]\nranks: 2\n";
    static const char goal[] = "systems: [{net: chic}]\nschedules: [app.goal]\n";
    struct iwt_scratch scratch;
    char first[IW_CELL_ID_SIZE], second[IW_CELL_ID_SIZE];

    (void)state;
    iwt_scratch_make(&scratch);
    (void)iwt_scratch_write(&scratch, "a.txt", "# length_ns 1000000\n500 100\n");
    (void)iwt_scratch_write(&scratch, "b.txt", "# length_ns 1000000\n# copied\n500  100\n");
    load_id(&scratch, one, first);
    load_id(&scratch, two, second);
    assert_string_equal(first, second);
    (void)iwt_scratch_write(&scratch, "b.txt", "# length_ns 1000000\n500 101\n");
    load_id(&scratch, two, second);
    assert_string_not_equal(first, second);
    (void)iwt_scratch_write(&scratch, "app.goal", "num_ranks 1\nrank 0 {\ncalc 5\n}\n");
    load_id(&scratch, goal, first);
    (void)iwt_scratch_write(&scratch, "app.goal", "num_ranks 1\nrank 0 {\ncalc 6\n}\n");
    load_id(&scratch, goal, second);
    assert_string_not_equal(first, second);
    load_id(&scratch, "systems: [{net: chic}]\nschedules: [{file: app.goal, unit: 1us}]\n", first);
    assert_string_not_equal(first, second);
    iwt_scratch_remove(&scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_does_not_matter_does_not_count),
        cmocka_unit_test(everything_that_matters_counts),
        cmocka_unit_test(skew_counts_only_with_sync),
        cmocka_unit_test(an_id_stays_what_it_was),
        cmocka_unit_test(files_count_by_what_is_in_them),
        cmocka_unit_test(speeds_of_nodes_count_by_what_their_file_says),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
