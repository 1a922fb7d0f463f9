/* Folders of results: whole, in shards, unfinished, renamed, damaged.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "study_testing.h"

#include "features/study/files/study_line.h"

#define STUDY                                                                                              \
    "title: A test\nthreshold: 50%\nsystems:\n  - {name: a, net: chic}\npatterns: [bcast]\nranks: [2, 4, " \
    "8]\n"

/* The line of cell `index` of a study, its median as given. */
static char *line_of(const iw_study *study, size_t index, double median_ns)
{
    const iw_cell *cell = &study->cells[index];
    iw_cell_result result = {.system = study->systems[cell->system].name,
                             .work = study->works[cell->work].name,
                             .net = (char[]){"net"},
                             .noise = (char[]){"none"},
                             .ranks = cell->ranks,
                             .bytes = cell->bytes,
                             .trials = cell->trials,
                             .seed = cell->seed,
                             .messages = 1,
                             .sync = cell->sync,
                             .net_scale = cell->net_scale,
                             .noiseless_ns = 1,
                             .makespan_ns = {.count = cell->trials, .median = median_ns}};
    char *line = NULL;

    memcpy(result.id, cell->id, sizeof result.id);
    assert_ok(iwi_cell_line_new(NULL, &result, &line));
    return line;
}

/* Appends the lines of these cells, ended by -1, to a file of the folder. */
static void add_lines(struct iwt_scratch *scratch, const char *name, const iw_study *study, const int *cells)
{
    FILE *out;

    snprintf(scratch->path, sizeof scratch->path, "%s/%s", scratch->dir, name);
    out = fopen(scratch->path, "a");
    assert_non_null(out);
    for (; *cells >= 0; cells++) {
        char *line = line_of(study, (size_t)*cells, 10 + *cells);

        assert_true(fputs(line, out) >= 0);
        free(line);
    }
    assert_int_equal(fclose(out), 0);
}

static iw_study_results *load(struct iwt_log *l, const char *dir)
{
    iw_study_results *results = NULL;

    iwt_log_init(l);
    if (iw_study_results_load(&l->log, dir, &results) != IW_OK) {
        fail_msg("%s", l->text);
    }
    return results;
}

static void a_folder_is_read_in_the_order_of_the_study(void **state)
{
    iw_study *study = iwt_good_study(STUDY);
    struct iwt_scratch scratch;
    iw_study_results *results;
    struct iwt_log l;

    (void)state;
    iwt_scratch_make(&scratch);
    (void)iwt_scratch_write(&scratch, "study.yaml", STUDY);
    (void)iwt_scratch_write(
        &scratch, "origin.json",
        "{\"host\": \"node17\", \"cpus\": 2, \"study\": \"/home/me/four systems.yaml\", \"list\": [1, 2]}");
    add_lines(&scratch, "results-2-of-2.jsonl", study, (const int[]){2, -1});
    add_lines(&scratch, "results-1-of-2.jsonl", study, (const int[]){1, 0, -1});
    (void)iwt_scratch_write(&scratch, "results-x-of-2.jsonl", "not ours");
    (void)iwt_scratch_write(&scratch, "results-1-of-2.jsonl~", "not ours");
    (void)iwt_scratch_write(&scratch, "timings.jsonl", "not ours");
    results = load(&l, scratch.dir);
    assert_string_equal(l.text, "");
    assert_string_equal(results->name, "four systems");
    assert_string_equal(results->title, "A test");
    assert_string_equal(results->text, STUDY);
    assert_true(results->threshold == 0.5);
    assert_int_equal(results->expected, 3);
    assert_int_equal(results->count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_string_equal(results->cells[i].id, study->cells[i].id);
        assert_true(results->cells[i].makespan_ns.median == 10.0 + (double)i);
    }
    assert_int_equal(results->attribute_count, 4);
    assert_string_equal(results->attributes[0].name, "host");
    assert_string_equal(results->attributes[0].value, "node17");
    assert_string_equal(results->attributes[1].value, "2");
    assert_string_equal(results->attributes[3].value, "[1,2]");
    iw_study_results_free(results);
    iw_study_free(study);
    iwt_scratch_remove(&scratch);
}

static void an_unfinished_folder_has_what_it_has(void **state)
{
    iw_study *study = iwt_good_study(STUDY);
    struct iwt_scratch scratch;
    iw_study_results *results;
    struct iwt_log l;
    char *line = line_of(study, 2, 1);

    (void)state;
    iwt_scratch_make(&scratch);
    (void)iwt_scratch_write(&scratch, "study.yaml", STUDY);
    results = load(&l, scratch.dir);
    assert_int_equal(results->count, 0);
    assert_int_equal(results->expected, 3);
    assert_int_equal(results->attribute_count, 0);
    assert_memory_equal(results->name, "iw_study_", 9); /* of the folder */
    iw_study_results_free(results);
    line[strlen(line) - 1] = '\0'; /* cut off in the middle of being written */
    (void)iwt_scratch_write(&scratch, "results-1-of-2.jsonl", line);
    add_lines(&scratch, "results.jsonl", study, (const int[]){1, -1});
    results = load(&l, scratch.dir);
    assert_string_equal(l.text, "");
    assert_int_equal(results->count, 1);
    assert_int_equal(results->cells[0].ranks, 4);
    iw_study_results_free(results);
    free(line);
    iw_study_free(study);
    iwt_scratch_remove(&scratch);
}

static void a_results_file_cut_at_any_byte_has_its_whole_lines(void **state)
{
    iw_study *study = iwt_good_study(STUDY);
    char *first = line_of(study, 0, 1), *second = line_of(study, 1, 2), text[2048];
    struct iwt_scratch scratch;
    struct iwt_log l;

    (void)state;
    iwt_log_init(&l);
    iwt_scratch_make(&scratch);
    snprintf(text, sizeof text, "%s%s", first, second);
    for (size_t size = strlen(text); size > 0; size--) {
        iw_cell_result *cells = NULL;
        size_t count = 99;

        text[size] = '\0';
        (void)iwt_scratch_write(&scratch, "results.jsonl", text);
        assert_ok(iwi_cell_results_load(&l.log, scratch.dir, &cells, &count));
        assert_int_equal(count, (size_t)(size >= strlen(first)) + (size >= strlen(first) + strlen(second)));
        iwi_cell_results_free(cells, count);
    }
    assert_string_equal(l.text, "");
    free(first);
    free(second);
    iw_study_free(study);
    iwt_scratch_remove(&scratch);
}

static void equal_lines_count_once_and_different_ones_are_refused(void **state)
{
    iw_study *study = iwt_good_study(STUDY);
    char *other = line_of(study, 1, 77);
    iw_cell_result *cells = NULL;
    struct iwt_scratch scratch;
    struct iwt_log l;
    size_t count = 0;

    (void)state;
    iwt_log_init(&l);
    iwt_scratch_make(&scratch);
    add_lines(&scratch, "results-1-of-2.jsonl", study, (const int[]){0, 1, 0, -1});
    add_lines(&scratch, "results.jsonl", study, (const int[]){1, 2, -1});
    assert_ok(iwi_cell_results_load(&l.log, scratch.dir, &cells, &count));
    assert_int_equal(count, 3);
    iwi_cell_results_free(cells, count);
    (void)iwt_scratch_write(&scratch, "results-2-of-2.jsonl", other);
    assert_status(iwi_cell_results_load(&l.log, scratch.dir, &cells, &count), IW_ERR_FORMAT);
    iwt_assert_logged(&l, "results-2-of-2.jsonl:1': cell ");
    iwt_assert_logged(&l, "has two different results");
    assert_int_equal(l.errors, 1);
    free(other);
    iw_study_free(study);
    iwt_scratch_remove(&scratch);
}

static void thousands_of_cells_are_each_found_once(void **state)
{
    iw_study *study =
        iwt_good_study("systems:\n  - {name: a, net: chic}\npatterns: [bcast]\nranks: 1..2000 step 1\n");
    iw_cell_result *cells = NULL;
    struct iwt_scratch scratch;
    size_t count = 0;
    int *numbers = calloc(2001, sizeof *numbers);

    (void)state;
    assert_non_null(numbers);
    for (int i = 0; i < 2000; i++) {
        numbers[i] = (i * 7) % 2000;
    }
    numbers[2000] = -1;
    iwt_scratch_make(&scratch);
    add_lines(&scratch, "results.jsonl", study, numbers);
    add_lines(&scratch, "results.jsonl", study, numbers);
    assert_ok(iwi_cell_results_load(NULL, scratch.dir, &cells, &count));
    assert_int_equal(count, 2000);
    iwi_cell_results_free(cells, count);
    free(numbers);
    iw_study_free(study);
    iwt_scratch_remove(&scratch);
}

static void a_folder_that_does_not_exist_has_no_results(void **state)
{
    iw_cell_result *cells = NULL;
    struct iwt_log l;
    size_t count = 99;

    (void)state;
    iwt_log_init(&l);
    assert_ok(iwi_cell_results_load(&l.log, "/nowhere/at/all", &cells, &count));
    assert_int_equal(count, 0);
    iwi_cell_results_free(cells, count);
    assert_status(iwi_cell_results_load(&l.log, "/dev/null", &cells, &count), IW_ERR_IO);
    iwt_assert_logged(&l, "cannot read '/dev/null'");
}

static void what_the_study_does_not_list_is_left_out_with_one_warning(void **state)
{
    iw_study *study = iwt_good_study(STUDY);
    struct iwt_scratch scratch;
    iw_study_results *results;
    struct iwt_log l;

    (void)state;
    iwt_scratch_make(&scratch);
    (void)iwt_scratch_write(&scratch, "study.yaml",
                            "systems:\n  - {name: b, net: chic}\npatterns: [bcast]\nranks: 8\n");
    add_lines(&scratch, "results.jsonl", study, (const int[]){0, 1, 2, -1});
    results = load(&l, scratch.dir);
    assert_int_equal(results->expected, 1);
    assert_int_equal(results->count, 1);
    assert_int_equal(results->cells[0].ranks, 8);
    assert_string_equal(results->cells[0].system, "b"); /* it was called otherwise when it ran */
    assert_int_equal(l.warnings, 1);
    iwt_assert_logged(&l, "ignoring 2 results that its study.yaml does not list (any more)");
    iw_study_results_free(results);
    iw_study_free(study);
    iwt_scratch_remove(&scratch);
}

/* Noise and schedules lie elsewhere, or nowhere any more; the newest line of a place counts. */
static void a_folder_needs_no_other_files(void **state)
{
    static const char text[] =
        "systems:\n  - {name: a, net: my.yaml}\n  - {name: b, net: chic, noise: n.txt}\n"
        "patterns: [bcast]\nschedules: [app.goal]\nranks: [2, 4]\n";
    struct iwt_scratch scratch, elsewhere;
    iw_study *study = NULL, *later = NULL;
    iw_study_results *results;
    struct iwt_log l;

    (void)state;
    iwt_scratch_make(&scratch);
    iwt_scratch_make(&elsewhere);
    iwt_log_init(&l);
    (void)iwt_scratch_write(&elsewhere, "my.yaml", "{L: 1us, o: 1us, g: 1us, G: 1ns}");
    (void)iwt_scratch_write(&elsewhere, "n.txt", "# length_ns 1000000\n500 100\n");
    (void)iwt_scratch_write(&elsewhere, "app.goal", "num_ranks 1\nrank 0 {\ncalc 5\n}\n");
    assert_ok(iw_study_load(&l.log, iwt_scratch_write(&elsewhere, "s.yaml", text), &study));
    (void)iwt_scratch_write(&elsewhere, "n.txt", "# length_ns 1000000\n500 200\n");
    assert_ok(iw_study_load(&l.log, iwt_scratch_write(&elsewhere, "s.yaml", text), &later));
    assert_int_equal(study->cell_count, 6); /* a: 2, 4, app; b: 2, 4, app */
    (void)iwt_scratch_write(&scratch, "study.yaml", text);
    add_lines(&scratch, "results.jsonl", study, (const int[]){5, 4, 3, 2, 1, 0, -1});
    results = load(&l, scratch.dir);
    assert_string_equal(l.text, "");
    assert_int_equal(results->expected, 6);
    assert_int_equal(results->count, 6);
    for (size_t i = 0; i < 6; i++) {
        assert_string_equal(results->cells[i].id, study->cells[i].id);
    }
    iw_study_results_free(results);
    add_lines(&scratch, "results.jsonl", later, (const int[]){3, 5, -1});
    results = load(&l, scratch.dir);
    assert_int_equal(results->count, 6);
    assert_string_equal(results->cells[3].id, later->cells[3].id);
    assert_string_equal(results->cells[4].id, study->cells[4].id);
    assert_string_equal(results->cells[5].id, later->cells[5].id);
    iwt_assert_logged(&l, "2 results that its");
    iw_study_results_free(results);
    iw_study_free(study);
    iw_study_free(later);
    iwt_scratch_remove(&scratch);
    iwt_scratch_remove(&elsewhere);
}

/* 'b' was renamed to 'c', and another 'b' has noise from a file: the old line is that of 'c' only. */
static void a_line_is_taken_once(void **state)
{
    iw_study *study = iwt_good_study("systems:\n  - {name: b, net: chic}\npatterns: [bcast]\nranks: 2\n");
    struct iwt_scratch scratch;
    iw_study_results *results;
    struct iwt_log l;

    (void)state;
    iwt_scratch_make(&scratch);
    (void)iwt_scratch_write(&scratch, "study.yaml",
                            "systems:\n  - {name: c, net: chic}\n  - {name: b, net: chic, noise: n.txt}\n"
                            "patterns: [bcast]\nranks: 2\n");
    add_lines(&scratch, "results.jsonl", study, (const int[]){0, -1});
    results = load(&l, scratch.dir);
    assert_int_equal(results->expected, 2);
    assert_int_equal(results->count, 1);
    assert_string_equal(results->cells[0].system, "c");
    assert_string_equal(results->cells[0].noise, "none");
    iw_study_results_free(results);
    iw_study_free(study);
    iwt_scratch_remove(&scratch);
}

static void folders_that_are_none_are_told(void **state)
{
    iw_study_results *results = NULL;
    struct iwt_scratch scratch;
    struct iwt_log l;

    (void)state;
    iwt_log_init(&l);
    iwt_scratch_make(&scratch);
    assert_status(iw_study_results_load(&l.log, scratch.dir, &results), IW_ERR_IO);
    iwt_assert_logged(&l, "is not the folder of a study: it has no study.yaml; make one with 'idlewave study "
                          "FILE.yaml -o DIR'");
    assert_status(iw_study_results_load(&l.log, "/nowhere", &results), IW_ERR_IO);
    iwt_assert_logged(&l, "'/nowhere' is not the folder of a study");
    (void)iwt_scratch_write(&scratch, "study.yaml", "ranks: x\n");
    iwt_log_init(&l);
    assert_status(iw_study_results_load(&l.log, scratch.dir, &results), IW_ERR_FORMAT);
    iwt_assert_logged(&l, "/study.yaml:1': key 'ranks'");
    (void)iwt_scratch_write(&scratch, "study.yaml", STUDY);
    (void)iwt_scratch_write(&scratch, "results.jsonl", "{}\n");
    iwt_log_init(&l);
    assert_status(iw_study_results_load(&l.log, scratch.dir, &results), IW_ERR_FORMAT);
    iwt_assert_logged(&l, "/results.jsonl:1': member 'schema'");
    assert_int_equal(l.errors, 1);
    assert_null(results);
    iwt_scratch_remove(&scratch);
    iw_study_results_free(NULL);
}

static void a_damaged_origin_is_left_out_with_a_warning(void **state)
{
    iw_study_results *results;
    struct iwt_scratch scratch;
    struct iwt_log l;

    (void)state;
    iwt_scratch_make(&scratch);
    (void)iwt_scratch_write(&scratch, "study.yaml", "name: mine\n" STUDY);
    (void)iwt_scratch_write(&scratch, "origin.json", "{\"host\": ");
    results = load(&l, scratch.dir);
    assert_int_equal(l.warnings, 1);
    iwt_assert_logged(&l, "/origin.json': ");
    assert_string_equal(results->name, "mine");
    iw_study_results_free(results);
    (void)iwt_scratch_write(&scratch, "origin.json", "[1]");
    results = load(&l, scratch.dir);
    iwt_assert_logged(&l, "/origin.json': not an object");
    iw_study_results_free(results);
    iwt_scratch_remove(&scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_folder_is_read_in_the_order_of_the_study),
        cmocka_unit_test(an_unfinished_folder_has_what_it_has),
        cmocka_unit_test(a_results_file_cut_at_any_byte_has_its_whole_lines),
        cmocka_unit_test(equal_lines_count_once_and_different_ones_are_refused),
        cmocka_unit_test(thousands_of_cells_are_each_found_once),
        cmocka_unit_test(a_folder_that_does_not_exist_has_no_results),
        cmocka_unit_test(what_the_study_does_not_list_is_left_out_with_one_warning),
        cmocka_unit_test(a_folder_needs_no_other_files),
        cmocka_unit_test(a_line_is_taken_once),
        cmocka_unit_test(folders_that_are_none_are_told),
        cmocka_unit_test(a_damaged_origin_is_left_out_with_a_warning),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
