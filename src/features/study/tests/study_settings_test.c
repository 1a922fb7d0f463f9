/* Studies that vary settings of a training program.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "study_testing.h"

#include <idlewave/training.h>

#include "features/study/files/study_yaml.h"

static const char job[] = "pp: 2\ndp: 4\nmicrobatches: 4\nforward: 10ms\nbackward: 20ms\n";

/* A study of the job with these keys. */
static iw_status read_job(struct iwt_scratch *scratch, struct iwt_log *l, const char *keys, const char *lists,
                          iw_study **study_p)
{
    char text[768];

    (void)iwt_scratch_write(scratch, "job.yaml", job);
    snprintf(text, sizeof text, "systems: [{name: a}]\npatterns:\n  - {training: job.yaml, %s}\n%s", keys,
             lists);
    return iw_study_load(&l->log, iwt_scratch_write(scratch, "study.yaml", text), study_p);
}

static iw_study *load(struct iwt_scratch *scratch, const char *keys, const char *lists)
{
    struct iwt_log l;
    iw_study *study;

    iwt_log_init(&l);
    assert_int_equal(read_job(scratch, &l, keys, lists, &study), IW_OK);
    return study;
}

static void expect_failure(const char *keys, const char *lists, const char *words)
{
    struct iwt_scratch scratch;
    struct iwt_log l;
    iw_study *study;

    iwt_scratch_make(&scratch);
    iwt_log_init(&l);
    assert_int_not_equal(read_job(&scratch, &l, keys, lists, &study), IW_OK);
    iwt_assert_logged(&l, words);
    iwt_scratch_remove(&scratch);
}

static const char *text_of(const iw_study *study, size_t cell)
{
    static char text[IWI_SETTINGS_TEXT_SIZE];

    return iwi_study_settings_text(&study->works[study->cells[cell].work], study->cells[cell].settings, text);
}

static void settings_span_cells_in_the_order_of_their_table(void **state)
{
    struct iwt_scratch scratch;
    iw_training spec;
    iw_study *study;

    (void)state;
    iwt_scratch_make(&scratch);
    study = load(&scratch, "schedule: [1f1b, gpipe], microbatches: [4, 8..32 step x2]", "ranks: [8, 16]\n");
    assert_int_equal(study->cell_count, 4 * 2 * 2);
    assert_string_equal(text_of(study, 0), "microbatches=4; schedule=1f1b");
    assert_string_equal(text_of(study, 1), "microbatches=4; schedule=1f1b"); /* ranks are innermost */
    assert_int_equal(study->cells[1].ranks, 16);
    assert_string_equal(text_of(study, 2), "microbatches=4; schedule=gpipe");
    assert_string_equal(text_of(study, 15), "microbatches=32; schedule=gpipe");
    assert_int_equal(iwi_study_training_on(NULL, &study->works[0], study->cells[15].settings, 16, &spec),
                     IW_OK);
    assert_int_equal(spec.microbatches, 32);
    assert_int_equal(spec.schedule, IW_TRAINING_GPIPE);
    assert_int_equal(spec.dp, 8); /* 16 GPUs in replicas of 2 stages */
    iw_study_free(study);
    iwt_scratch_remove(&scratch);
}

static void a_cell_is_the_same_whatever_order_the_study_has(void **state)
{
    struct iwt_scratch scratch;
    iw_study *one, *other;

    (void)state;
    iwt_scratch_make(&scratch);
    one = load(&scratch, "schedule: [1f1b, gpipe], microbatches: [4, 8]", "ranks: 8\n");
    other = load(&scratch, "microbatches: [2^3, 16], schedule: gpipe", "ranks: 8\n");
    assert_string_equal(text_of(one, 3), text_of(other, 0));
    assert_string_equal(one->cells[3].id, other->cells[0].id);
    for (size_t i = 0; i < one->cell_count; i++) {
        for (size_t k = 0; k < i; k++) {
            assert_string_not_equal(one->cells[i].id, one->cells[k].id);
        }
    }
    iw_study_free(one);
    iw_study_free(other);
    iwt_scratch_remove(&scratch);
}

static void gpus_follow_from_settings_where_nobody_says_ranks(void **state)
{
    struct iwt_scratch scratch;
    iw_study *study;

    (void)state;
    iwt_scratch_make(&scratch);
    study = load(&scratch, "pp: [1, 2, 4]", "");
    assert_int_equal(study->cells[0].ranks, 4); /* dp 4 of the file */
    assert_int_equal(study->cells[2].ranks, 16);
    iw_study_free(study);
    study = load(&scratch, "dp: [1, 16], tp: 2", "ranks: 999\n"); /* as a list of its own */
    assert_int_equal(study->cells[0].ranks, 4);
    assert_int_equal(study->cells[1].ranks, 64);
    iw_study_free(study);
    iwt_scratch_remove(&scratch);
}

static void jitter_adds_to_what_the_file_has(void **state)
{
    struct iwt_scratch scratch;
    char id[IW_CELL_ID_SIZE];
    iw_training spec;
    iw_study *study;

    (void)state;
    iwt_scratch_make(&scratch);
    (void)iwt_scratch_write(&scratch, "tick.txt", "100 200\n5000 300\n");
    study = load(&scratch, "jitter: [none, [python-gc, 'periodic:10Hz,1ms@device@all'], tick.txt@loader]",
                 "ranks: 8\n");
    assert_string_equal(text_of(study, 0), "jitter=none");
    assert_string_equal(text_of(study, 1), "jitter=python-gc + periodic:10Hz,1ms@device@all");
    assert_string_equal(text_of(study, 2), "jitter=tick.txt@loader");
    assert_int_equal(iwi_study_training_on(NULL, &study->works[0], 0, 8, &spec), IW_OK);
    assert_int_equal(spec.source_count, 0);
    assert_int_equal(iwi_study_training_on(NULL, &study->works[0], 1, 8, &spec), IW_OK);
    assert_int_equal(spec.source_count, 2);
    assert_int_equal(spec.sources[1].where, IW_TRAINING_DEVICE);
    assert_int_equal(spec.sources[1].scope, IW_TRAINING_ALL_RANKS);
    assert_int_equal(iwi_study_training_on(NULL, &study->works[0], 2, 8, &spec), IW_OK);
    assert_int_equal(spec.sources[0].where, IW_TRAINING_LOADER);
    assert_memory_equal(spec.sources[0].spec, scratch.dir, strlen(scratch.dir)); /* beside the study */
    memcpy(id, study->cells[2].id, sizeof id);
    iw_study_free(study);

    (void)iwt_scratch_write(&scratch, "tick.txt", "100 200\n5000 301\n"); /* another file is another cell */
    study = load(&scratch, "jitter: tick.txt@loader", "ranks: 8\n");
    assert_string_not_equal(study->cells[0].id, id);
    iw_study_free(study);
    iwt_scratch_remove(&scratch);
}

/* As a folder is read whose files are elsewhere. */
static void without_files_cells_have_their_settings_still(void **state)
{
    static const char text[] = "systems: [{name: a}]\npatterns: [{training: gone.yaml, pp: [1, 2], "
                               "jitter: [none, gone.h5]}]\n";
    struct iwt_log l;
    iw_study *study;
    bool has_name;

    (void)state;
    iwt_log_init(&l);
    assert_int_equal(
        iwi_study_read_memory(&l.log, "/nowhere/s.yaml", text, strlen(text), false, &has_name, &study),
        IW_OK);
    assert_int_equal(study->cell_count, 4);
    assert_int_equal(study->cells[3].ranks, 0); /* not known */
    assert_string_equal(study->cells[3].id, "");
    assert_string_equal(text_of(study, 3), "pp=2; jitter=gone.h5");
    iw_study_free(study);
}

static void what_does_not_fit_is_said_with_its_settings(void **state)
{
    (void)state;
    expect_failure("pp: [2, 3]", "ranks: 8\n",
                   "'job' with pp=3: a replica has 3 GPUs, and 8 is not a multiple;");
    expect_failure("chunks: [1, 2], schedule: [1f1b, gpipe]", "ranks: 8\n",
                   "'job' with chunks=2; schedule=gpipe: chunks 2 need pipeline stages");
    expect_failure("pp: [3, 5]", "ranks: 8\n", "'job' has incompatible settings");
    expect_failure("dp: 2, ranks: 8", "", "'dp' and 'ranks' both set the number of GPUs");
}

static void wrong_values_are_refused(void **state)
{
    (void)state;
    expect_failure("microbatches: [4, 2^2]", "ranks: 8\n", "has the value '4' twice");
    expect_failure("microbatches: 0", "ranks: 8\n", "key 'microbatches'");
    expect_failure("schedule: []", "ranks: 8\n", "the list is empty");
    expect_failure("schedule: [gpip]", "ranks: 8\n", "one of 1f1b, gpipe");
    expect_failure("forward: [1ms, 2ms]", "ranks: 8\n", "is a list and cannot be varied");
    expect_failure("jitter: [none, periodic:10Hz,1ms]", "ranks: 8\n", "in quotes within []");
    expect_failure("jitter: python-gc@hots", "ranks: 8\n", "'hots' is not a place of jitter:");
    expect_failure("slow: 'a;b'", "ranks: 8\n", "without ';'");
    expect_failure("jitter: {a: b}", "ranks: 8\n", "needs a single value");
    expect_failure("microbatchs: 4", "ranks: 8\n", "did you mean 'microbatches'?");
    expect_failure(
        "tp: 1, cp: 1, pp: 2, chunks: 1, microbatches: 4, load: 1ms, queue: 9, launch: 1us, hop: 1us",
        "ranks: 8\n", "at most 8");
    expect_failure("microbatches: 1..1000 step 1, queue: 1..1000 step 1, launches: 1..1000 step 1",
                   "ranks: 8\n", "more than 1000000 combinations");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(settings_span_cells_in_the_order_of_their_table),
        cmocka_unit_test(a_cell_is_the_same_whatever_order_the_study_has),
        cmocka_unit_test(gpus_follow_from_settings_where_nobody_says_ranks),
        cmocka_unit_test(jitter_adds_to_what_the_file_has),
        cmocka_unit_test(without_files_cells_have_their_settings_still),
        cmocka_unit_test(what_does_not_fit_is_said_with_its_settings),
        cmocka_unit_test(wrong_values_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
