/* Figures for papers: the files are there, and gnuplot, if there is one, takes them.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/study.h>

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/support.h"

#include "study_sample.h"
#include "study_written.h"

static iw_status write_folder(const iw_log *log, const iw_study_results *results, const char *folder)
{
    char path[256];

    snprintf(path, sizeof path, "%s/", folder);
    return iw_doc_plot(log, iw_study_doc(results), path);
}

static int set_up(void **state)
{
    char *folder = strdup("/tmp/iw_figures_XXXXXX");

    *state = folder;
    return folder != NULL && mkdtemp(folder) != NULL ? 0 : -1;
}

static int tear_down(void **state)
{
    char *folder = *state, path[512];
    DIR *dir = opendir(folder);
    const struct dirent *entry;

    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        (void)unlink(path);
    }
    if (dir != NULL) {
        (void)closedir(dir);
    }
    (void)rmdir(folder);
    free(folder);
    return 0;
}

static bool has_gnuplot(void)
{
    return system("gnuplot --version >/dev/null 2>&1") == 0;
}

/* Runs the script; it must say nothing. */
static void draw(const char *folder, const char *format)
{
    char command[256], *said;

    snprintf(command, sizeof command, "cd %s && LC_ALL=C.UTF-8 gnuplot -e \"format='%s'\" plot.gp >said 2>&1",
             folder, format);
    if (system(command) != 0) {
        fail_msg("gnuplot failed:\n%s", study_read_file(folder, "said"));
    }
    said = study_read_file(folder, "said");
    assert_string_equal(said, "");
    free(said);
}

static void assert_file(const char *folder, const char *name, off_t least_bytes)
{
    char path[256];
    struct stat facts;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_int_equal(stat(path, &facts), 0);
    assert_true(facts.st_size >= least_bytes);
}

static void each_panel_has_data(void **state)
{
    const struct study_sample sample = STUDY_SAMPLE_INIT;
    iw_study_results *results = study_sample_new(&sample);
    const char *folder = *state;
    char *data;

    assert_ok(write_folder(NULL, results, folder));
    data = study_read_file(folder, "panel-1-allreduce-dissemination.dat");
    assert_non_null(strstr(data, "# allreduce:dissemination, 1 B\n"));
    assert_non_null(strstr(data, "\n# chic: x min p5 q1 median q3 p95 max\n 2 "));
    assert_non_null(strstr(data, "\n# chic: x y\n 2 3000.5\n"));
    assert_non_null(strstr(data, "\n\n\n# altix: x min p5 "));
    assert_non_null(strstr(data, "\n\n\n# Relative time, altix: x y\n 2 "));
    free(data);
    assert_file(folder, "panel-2-bcast-binomial.dat", 1000);
    iw_study_results_free(results);
}

static void gnuplot_draws_all_panels_in_three_formats(void **state)
{
    static const char *const formats[] = {"pdf", "png", "svg"};
    struct study_sample sample = STUDY_SAMPLE_INIT;
    const char *folder = *state;
    iw_study_results *results;

    if (!has_gnuplot()) {
        skip();
    }
    sample.systems = 9;
    results = study_sample_new(&sample);
    assert_ok(write_folder(NULL, results, folder));
    for (size_t i = 0; i < 3; i++) {
        char name[64];

        draw(folder, formats[i]);
        snprintf(name, sizeof name, "panel-1-allreduce-dissemination.%s", formats[i]);
        assert_file(folder, name, 5000);
        snprintf(name, sizeof name, "panel-2-bcast-binomial.%s", formats[i]);
        assert_file(folder, name, 5000);
    }
    iw_study_results_free(results);
}

/* One number of ranks; small slowdowns; one trial; work that takes no time; a single cell. */
static void unusual_studies_are_drawn_too(void **state)
{
    const char *folder = *state;

    if (!has_gnuplot()) {
        skip();
    }
    for (int kind = 0; kind < 5; kind++) {
        struct study_sample sample = STUDY_SAMPLE_INIT;
        iw_study_results *results;

        sample.points = kind == 0 || kind == 4 ? 1 : 3;
        sample.systems = kind == 4 ? 1 : 6;
        sample.trials = kind == 2 ? 1 : 100;
        results = study_sample_new(&sample);
        for (size_t i = 0; kind == 3 && i < results->count; i++) {
            results->cells[i].noiseless_ns = 0.0;
            results->cells[i].makespan_ns = (iw_summary){.count = 100};
            results->cells[i].p5_ns = results->cells[i].p95_ns = 0.0;
        }
        assert_ok(write_folder(NULL, results, folder));
        if (kind != 3) { /* gnuplot says that a logarithm of 0 is none, and draws the rest */
            draw(folder, "svg");
        }
        iw_study_results_free(results);
    }
}

static void names_are_only_names(void **state)
{
    struct study_sample sample = STUDY_SAMPLE_INIT;
    const char *folder = *state;
    iw_study_results *results;
    char *script;

    sample.systems = sample.works = 1;
    sample.points = 3;
    results = study_sample_new(&sample);
    for (size_t i = 0; i < results->count; i++) {
        study_sample_rename(&results->cells[i].system, "it's\n`touch hacked`");
        study_sample_rename(&results->cells[i].work, "../a'b\n# `touch hacked` $x {/Bold y}");
    }
    assert_ok(write_folder(NULL, results, folder));
    script = study_read_file(folder, "plot.gp");
    assert_non_null(strstr(script, "'it'.\"'\".'s?`touch hacked`'"));
    free(script);
    assert_file(folder, "panel-1----a-b----touch-hacked---x---Bold-y-.dat", 100);
    if (has_gnuplot()) {
        char path[128];

        draw(folder, "svg");
        snprintf(path, sizeof path, "%s/hacked", folder);
        assert_int_not_equal(access(path, F_OK), 0);
    }
    iw_study_results_free(results);
}

static void quotes_in_names_are_drawn_as_they_are(void **state)
{
    static const char *const names[] = {"'", "''", ", a", "ab", "a", "\"'\\'\""};
    struct study_sample sample = STUDY_SAMPLE_INIT;
    const char *folder = *state;

    if (!has_gnuplot()) {
        skip();
    }
    sample.systems = sample.works = 1;
    sample.points = 3;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        iw_study_results *results = study_sample_new(&sample);

        for (size_t k = 0; k < results->count; k++) {
            study_sample_rename(&results->cells[k].system, names[i]);
            study_sample_rename(&results->cells[k].work, "panel");
        }
        assert_ok(write_folder(NULL, results, folder));
        draw(folder, "svg");
        iw_study_results_free(results);
    }
}

static void a_folder_that_cannot_be_made_is_an_error(void **state)
{
    struct study_sample sample = STUDY_SAMPLE_INIT;
    iw_study_results *results = study_sample_new(&sample);
    struct iwt_log l;

    (void)state;
    iwt_log_init(&l);
    assert_status(write_folder(&l.log, results, "/dev/null/figures"), IW_ERR_IO);
    iwt_assert_logged(&l, "cannot use the folder '/dev/null/figures': Not a directory");
    assert_int_equal(l.errors, 1);
    iw_study_results_free(results);
}

static void a_file_in_place_of_the_folder_is_an_error(void **state)
{
    struct study_sample sample = STUDY_SAMPLE_INIT;
    iw_study_results *results = study_sample_new(&sample);
    struct iwt_log l;

    (void)state;
    iwt_log_init(&l);
    assert_status(write_folder(&l.log, results, "/dev/null"), IW_ERR_IO);
    iwt_assert_logged(&l, "cannot use the folder '/dev/null': Not a directory");
    assert_int_equal(l.errors, 1);
    iw_study_results_free(results);
}

static void nothing_cannot_be_drawn(void **state)
{
    iw_study_results results = {
        .name = (char[]){"empty"}, .text = (char[]){""}, .expected = 3, .threshold = 1.0};
    struct iwt_log l;

    iwt_log_init(&l);
    assert_status(write_folder(&l.log, &results, *state), IW_ERR_USAGE);
    iwt_assert_logged(&l, "this result has no picture");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(each_panel_has_data, set_up, tear_down),
        cmocka_unit_test_setup_teardown(gnuplot_draws_all_panels_in_three_formats, set_up, tear_down),
        cmocka_unit_test_setup_teardown(unusual_studies_are_drawn_too, set_up, tear_down),
        cmocka_unit_test_setup_teardown(names_are_only_names, set_up, tear_down),
        cmocka_unit_test_setup_teardown(quotes_in_names_are_drawn_as_they_are, set_up, tear_down),
        cmocka_unit_test(a_folder_that_cannot_be_made_is_an_error),
        cmocka_unit_test(a_file_in_place_of_the_folder_is_an_error),
        cmocka_unit_test_setup_teardown(nothing_cannot_be_drawn, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
