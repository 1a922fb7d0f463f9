/* What a study says at a terminal: verdict, pictures, numbers, what is missing; no wider than 80 columns.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/study.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/support.h"

#include "study_sample.h"
#include "study_written.h"

/* ---- verdict ---- */

static void verdict_names_the_first_and_the_worst(void **state)
{
    const struct study_sample sample = STUDY_SAMPLE_INIT;
    iw_study_results *results = study_sample_new(&sample);

    (void)state;
    study_assert_says(results, "Noise takes over in 6 of 8 cases, first from 5");
    study_assert_says(results, " ranks (chic: allreduce:dissemination, 1 B). The worst case (chic: "
                               "allreduce:dissemination, 1 B, 1,048,576 ranks) takes ");
    study_assert_says(results, "160 cells of 1,000 trials.");
    study_assert_says(
        results,
        "at least 2x as long as without noise, here and on all larger numbers of ranks; values in between");
    iw_study_results_free(results);
}

static void systems_without_inflection_are_listed(void **state)
{
    const struct study_sample sample = STUDY_SAMPLE_INIT;
    iw_study_results *results = study_sample_new(&sample);

    (void)state;
    study_assert_says(results, " zeptoos not up to 1,048,576 ranks ");
    iw_study_results_free(results);
}

static void a_quiet_study_is_called_so(void **state)
{
    iw_study_results *results = study_one_series(4);

    (void)state;
    for (size_t i = 0; i < results->count; i++) {
        study_set_times(&results->cells[i], 1e4, 1e4, 1e4, 1e4, 1e4, 1e4, 1e4, 1e4);
    }
    study_assert_says(results, "Noise does not take over up to 16 ranks.");
    study_assert_says(results, " is not slower than without noise (mean; median 0.00 %).");
    study_assert_silent(results, "- noise takes over -");
    iw_study_results_free(results);
}

static void a_series_may_be_above_from_its_first_cell_on(void **state)
{
    iw_study_results *results = study_one_series(3);

    (void)state;
    for (size_t i = 0; i < results->count; i++) {
        study_set_times(&results->cells[i], 1e4, 1e4, 1e4, 3e4, 3e4, 3e4, 3e4, 3e4);
    }
    study_assert_says(results, "Noise takes over from 2 ranks or fewer (chic: ");
    iw_study_results_free(results);
}

static void interval_may_be_open(void **state)
{
    iw_study_results *results = study_one_series(4); /* 2, 4, 8, 16 ranks */

    (void)state;
    for (size_t i = 0; i < results->count; i++) {
        const double ns = i < 3 ? 1e4 : 4e4;

        study_set_times(&results->cells[i], 1e4, 1e4, 1e4, 1e4, ns, ns, ns, ns);
    }
    study_assert_says(results, "from 11 ranks 11 to 11 4.000x");
    results->cells[3].makespan_ns.median_low = 1e4;
    study_assert_says(results, "from 11 ranks 11 or more 4.000x");
    results->cells[3].makespan_ns.median = results->cells[3].makespan_ns.mean = 1.5e4;
    study_assert_says(results, "not up to 16 ranks 11 or more 50.0 %");
    iw_study_results_free(results);
}

static void one_number_of_ranks_is_no_beginning(void **state)
{
    iw_study_results *results = study_one_series(1);

    (void)state;
    study_set_times(results->cells, 1e4, 1e4, 1e4, 2e4, 4e4, 5e4, 6e4, 7e4);
    study_assert_says(results, "Noise takes over at 2 ranks (chic: ");
    study_assert_says(results, "chic at 2 ranks 4.000x");
    study_set_times(results->cells, 1e4, 1e4, 1e4, 1e4, 1e4, 1e4, 1e4, 1e4);
    study_assert_says(results, "chic not at 2 ranks 0.00 %");
    iw_study_results_free(results);
}

static void what_sets_panels_apart_is_in_their_titles(void **state)
{
    const struct study_sample sample = {
        .systems = 1, .works = 1, .sizes = 3, .syncs = 3, .nets = 3, .points = 2, .trials = 10};
    iw_study_results *results = study_sample_new(&sample);

    (void)state;
    study_assert_says(results, "allreduce:dissemination, 1 KiB, noise synchronised at the start, network 10 "
                               "times faster");
    study_assert_says(results,
                      "allreduce:dissemination, 1 MiB, noise synchronised in every phase, network 10 "
                      "times slower");
    iw_study_results_free(results);
}

/* ---- the page ---- */

static size_t columns_of(const char *line, size_t length)
{
    size_t columns = 0;

    for (size_t i = 0; i < length; i++) {
        columns += ((unsigned char)line[i] & 0xc0) != 0x80;
    }
    return columns;
}

static void assert_narrow(const char *text)
{
    while (*text != '\0') {
        const size_t length = strcspn(text, "\n");

        if (columns_of(text, length) > 80) {
            fail_msg("%zu columns: %.*s", columns_of(text, length), (int)length, text);
        }
        text += length + (text[length] == '\n');
    }
}

static void no_line_is_wider_than_a_terminal(void **state)
{
    static const size_t points[] = {1, 20, 31};
    char name[200];

    (void)state;
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    for (size_t i = 0; i < sizeof points / sizeof points[0]; i++) {
        struct study_sample sample = STUDY_SAMPLE_INIT;
        iw_study_results *results;
        char *text;

        sample.nets = 2;
        sample.syncs = 2;
        sample.points = points[i];
        results = study_sample_new(&sample);
        study_sample_rename(&results->title, name);
        for (size_t c = 0; c < results->count; c++) {
            study_sample_rename(&results->cells[c].noise, name + sizeof name - 80);
            if (strcmp(results->cells[c].system, "altix") == 0) {
                study_sample_rename(&results->cells[c].system, name);
            }
        }
        text = study_text(results, false);
        assert_narrow(text);
        free(text);
        iw_study_results_free(results);
    }
}

/* Nothing of what somebody has written is lost. */
static void long_names_are_wrapped_not_cut(void **state)
{
    static const char noise[] = "periodic:100Hz,5us + periodic:1000Hz,1us + poisson:10Hz,exp:200us + "
                                "/recordings/of/the/new/cluster/node0017.h5";
    static const char system[] = "the new cluster with its old and busy fabric";
    iw_study_results *results = study_one_series(2);

    (void)state;
    for (size_t i = 0; i < results->count; i++) {
        study_sample_rename(&results->cells[i].noise, noise);
        study_sample_rename(&results->cells[i].system, system);
    }
    study_assert_says(results, noise);
    study_assert_says(results,
                      "worst mean the new cluster with its old and busy not up to 4 ranks 2.27 % fabric ");
    iw_study_results_free(results);
}

static void names_cannot_command_the_terminal(void **state)
{
    iw_study_results *results = study_one_series(2);
    char *text;

    (void)state;
    study_sample_rename(&results->title, "a\x1b[2Jb");
    for (size_t i = 0; i < results->count; i++) {
        study_sample_rename(&results->cells[i].system, "\x1b[31m");
        study_sample_rename(&results->cells[i].work, "\x1b]0;x");
        study_sample_rename(&results->cells[i].noise, "\x1b[0m");
    }
    text = study_text(results, false);
    assert_null(strchr(text, '\x1b'));
    free(text);
    iw_study_results_free(results);
}

/* The text without "ESC[...m", in place. */
static void strip_codes(char *text)
{
    size_t used = 0;

    for (size_t i = 0; text[i] != '\0'; i++) {
        if (text[i] == '\x1b') {
            i += strcspn(&text[i], "m");
        } else {
            text[used++] = text[i];
        }
    }
    text[used] = '\0';
}

static void colours_change_nothing_else(void **state)
{
    const struct study_sample sample = STUDY_SAMPLE_INIT;
    iw_study_results *results = study_sample_new(&sample);
    char *plain = study_text(results, false), *coloured = study_text(results, true);

    (void)state;
    assert_null(strchr(plain, '\x1b'));
    assert_non_null(strstr(coloured, "\x1b[31m"));
    strip_codes(coloured);
    assert_string_equal(coloured, plain);
    free(plain);
    free(coloured);
    iw_study_results_free(results);
}

static void missing_cells_are_counted(void **state)
{
    iw_study_results *results = study_one_series(4);

    (void)state;
    study_assert_silent(results, "missing");
    results->expected = 41;
    study_assert_says(results, "The study is not finished: 37 of 41 cells are missing. Rerun it to resume.");
    study_sample_rename(&results->attributes[0].name, "command");
    study_sample_rename(&results->attributes[0].value, "idlewave study a.yaml -o b");
    study_assert_says(results, "37 of 41 cells are missing. 'idlewave study a.yaml -o b' continues it.");
    iw_study_results_free(results);
}

static void nothing_yet_is_no_error(void **state)
{
    iw_study_results results = {
        .name = (char[]){"empty"}, .title = (char[]){""}, .text = (char[]){""}, .threshold = 1.0};

    (void)state;
    results.expected = 3;
    study_assert_says(&results, "No results yet: 0 of 3 cells finished.");
    study_assert_silent(&results, "Noise");
}

static void a_full_disk_is_an_error(void **state)
{
    iw_study_results *results = study_one_series(4);
    FILE *full = fopen("/dev/full", "w");
    struct iwt_log l;

    (void)state;
    if (full == NULL) {
        iw_study_results_free(results);
        skip();
    }
    iwt_log_init(&l);
    assert_status(iw_doc_write(&l.log, iw_study_doc(results), IW_DOC_TEXT, NULL, full), IW_ERR_IO);
    iwt_assert_logged(&l, "cannot write the report: No space left on device");
    (void)fclose(full);
    iw_study_results_free(results);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(verdict_names_the_first_and_the_worst),
        cmocka_unit_test(systems_without_inflection_are_listed),
        cmocka_unit_test(a_quiet_study_is_called_so),
        cmocka_unit_test(a_series_may_be_above_from_its_first_cell_on),
        cmocka_unit_test(interval_may_be_open),
        cmocka_unit_test(one_number_of_ranks_is_no_beginning),
        cmocka_unit_test(what_sets_panels_apart_is_in_their_titles),
        cmocka_unit_test(no_line_is_wider_than_a_terminal),
        cmocka_unit_test(long_names_are_wrapped_not_cut),
        cmocka_unit_test(names_cannot_command_the_terminal),
        cmocka_unit_test(colours_change_nothing_else),
        cmocka_unit_test(missing_cells_are_counted),
        cmocka_unit_test(nothing_yet_is_no_error),
        cmocka_unit_test(a_full_disk_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
