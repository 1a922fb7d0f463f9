/* Pictures by gnuplot: with a gnuplot that only copies its script, so that none need be installed.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/analysis.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/made_recording.h"
#include "support/support.h"

#include "noise_sample.h"

/* A folder that is all of PATH. */
struct fake {
    char folder[32], program[64], picture[64];
    char *path; /* as PATH was */
};

static int set_up(void **state)
{
    struct fake *fake = calloc(1, sizeof *fake);

    if (fake == NULL) {
        return -1;
    }
    snprintf(fake->folder, sizeof fake->folder, "/tmp/iw_gnuplot_XXXXXX");
    fake->path = strdup(getenv("PATH"));
    *state = fake;
    if (fake->path == NULL || mkdtemp(fake->folder) == NULL || setenv("PATH", fake->folder, 1) != 0) {
        return -1;
    }
    snprintf(fake->program, sizeof fake->program, "%s/gnuplot", fake->folder);
    snprintf(fake->picture, sizeof fake->picture, "%s/it's.png", fake->folder);
    return 0;
}

static int tear_down(void **state)
{
    struct fake *fake = *state;

    (void)setenv("PATH", fake->path, 1);
    (void)unlink(fake->program);
    (void)unlink(fake->picture);
    (void)rmdir(fake->folder);
    free(fake->path);
    free(fake);
    return 0;
}

static void install(const struct fake *fake, const char *script)
{
    FILE *out = fopen(fake->program, "w");

    assert_non_null(out);
    (void)fputs(script, out);
    assert_int_equal(fclose(out), 0);
    assert_int_equal(chmod(fake->program, 0700), 0);
}

static iw_status plot(iw_recording *recording, const char *path, struct iwt_log *l)
{
    const iw_noise_report_opts opts = IW_NOISE_REPORT_OPTS_INIT;
    iw_noise_report report;
    iw_status status;

    iwt_log_init(l);
    assert_ok(iw_noise_report_init(&l->log, recording, &opts, &report));
    status = iw_doc_plot(&l->log, iw_noise_doc(&report), path);
    iw_noise_report_release(&report);
    iw_recording_free(recording);
    return status;
}

static void read_picture(const struct fake *fake, char *text, size_t size)
{
    FILE *in = fopen(fake->picture, "r");

    assert_non_null(in);
    text[fread(text, 1, size - 1, in)] = '\0';
    (void)fclose(in);
}

static void assert_in(const char *text, const char *part)
{
    if (strstr(text, part) == NULL) {
        fail_msg("no '%s' in:\n%s", part, text);
    }
}

static void script_holds_points_rates_and_titles(void **state)
{
    const struct fake *fake = *state;
    char text[16384];
    struct iwt_log l;

    install(fake, "#!/bin/sh\nexec /bin/cat\n");
    assert_ok(plot(noise_sample(), fake->picture, &l));
    read_picture(fake, text, sizeof text);
    assert_in(text, "$data0 << END\n 30000000000 10000000\n 45000000000 5000\nEND\n");
    assert_in(text, "$data1 << END\n 1000000 2000\nEND\n");
    assert_in(text, "set multiplot title 'Noise of node07'\n");
    assert_in(text, "Left reverse"); /* names beside their points */
    assert_in(text, "title 'cron'");
    assert_in(text, "title 'local_timer'");
    assert_in(text, "set terminal pngcairo ");
}

static void names_cannot_leave_their_quotes(void **state)
{
    const struct fake *fake = *state;
    iw_recording *recording = iwt_recording(1, 1000000);
    char text[16384];
    struct iwt_log l;

    install(fake, "#!/bin/sh\nexec /bin/cat\n");
    iwt_attribute(recording, "host", "a'\nsystem('true')");
    iwt_detour(recording, 0, 0, 1000, iwt_source(recording, IW_CLASS_THREAD, "x'; system('true')"));
    iwt_detour(recording, 0, 5000, 900, iwt_source(recording, IW_CLASS_IRQ, "y")); /* two have a legend */
    assert_ok(plot(recording, fake->picture, &l));
    read_picture(fake, text, sizeof text);
    assert_in(text, "title 'x'.\"'\".'; system('.\"'\".'true'.\"'\".')'");
    assert_in(text, "set multiplot title 'Noise of a'.\"'\".'?system('.\"'\".'true'.\"'\".')'\n");
}

static void start_files_of_users_are_not_read(void **state)
{
    const struct fake *fake = *state;
    char text[256];
    struct iwt_log l;

    install(fake, "#!/bin/sh\necho \"arguments: $*\"\n");
    assert_ok(plot(noise_sample(), fake->picture, &l));
    read_picture(fake, text, sizeof text);
    assert_string_equal(text, "arguments: -d\n");
}

static void the_rest_of_many_sources_is_one_series(void **state)
{
    const struct fake *fake = *state;
    iw_recording *recording = iwt_recording(1, 1000000);
    char text[16384], name[8];
    struct iwt_log l;

    install(fake, "#!/bin/sh\nexec /bin/cat\n");
    for (int64_t i = 0; i < 9; i++) {
        snprintf(name, sizeof name, "s%d", (int)i);
        iwt_detour(recording, 0, i * 10000, 1000 - i, iwt_source(recording, IW_CLASS_THREAD, name));
    }
    assert_ok(plot(recording, fake->picture, &l));
    read_picture(fake, text, sizeof text);
    assert_in(text, "title 's5'");
    assert_in(text, "title '3 others'");
    assert_null(strstr(text, "title 's6'"));
}

static void missing_gnuplot_is_told(void **state)
{
    const struct fake *fake = *state;
    struct iwt_log l;

    assert_status(plot(noise_sample(), fake->picture, &l), IW_ERR_IO);
    iwt_assert_logged(&l, "install gnuplot");
    assert_int_equal(access(fake->picture, F_OK), -1);
}

static void failing_gnuplot_is_told_and_leaves_nothing(void **state)
{
    const struct fake *fake = *state;
    struct iwt_log l;

    install(fake, "#!/bin/sh\necho half\nexit 3\n");
    assert_status(plot(noise_sample(), fake->picture, &l), IW_ERR_IO);
    iwt_assert_logged(&l, "gnuplot failed");
    assert_int_equal(access(fake->picture, F_OK), -1);
}

/* Writing into a pipe without a reader would kill the process. */
static void gnuplot_that_does_not_read_is_no_trouble(void **state)
{
    const struct fake *fake = *state;
    struct iwt_log l;

    install(fake, "#!/bin/sh\nexit 0\n");
    assert_ok(plot(noise_sample(), fake->picture, &l));
}

static void other_suffixes_are_refused(void **state)
{
    static const char *const paths[] = {"a.gif", "a", "svg", "a.svg.gz", "a.SVG"};
    struct iwt_log l;

    (void)state;
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        assert_status(plot(noise_sample(), paths[i], &l), IW_ERR_USAGE);
        iwt_assert_logged(&l, ".svg, .png or .pdf");
    }
}

static void nothing_to_draw_is_told(void **state)
{
    const struct fake *fake = *state;
    struct iwt_log l;

    assert_status(plot(iwt_recording(1, 1000), fake->picture, &l), IW_ERR_USAGE);
    iwt_assert_logged(&l, "has no picture");
}

static void folders_that_do_not_exist_are_named(void **state)
{
    const struct fake *fake = *state;
    struct iwt_log l;

    install(fake, "#!/bin/sh\nexit 0\n");
    assert_status(plot(noise_sample(), "/nowhere/a.png", &l), IW_ERR_IO);
    iwt_assert_logged(&l, "cannot write '/nowhere/a.png'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(script_holds_points_rates_and_titles, set_up, tear_down),
        cmocka_unit_test_setup_teardown(names_cannot_leave_their_quotes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(start_files_of_users_are_not_read, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_rest_of_many_sources_is_one_series, set_up, tear_down),
        cmocka_unit_test_setup_teardown(missing_gnuplot_is_told, set_up, tear_down),
        cmocka_unit_test_setup_teardown(failing_gnuplot_is_told_and_leaves_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(gnuplot_that_does_not_read_is_no_trouble, set_up, tear_down),
        cmocka_unit_test_setup_teardown(other_suffixes_are_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nothing_to_draw_is_told, set_up, tear_down),
        cmocka_unit_test_setup_teardown(folders_that_do_not_exist_are_named, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
