/* Scripts that draw timelines: boxes and images, names that are not commands, windows, what goes wrong.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <idlewave/wave.h>

#include "features/wave/timeline_report.h"
#include "support/made_timeline.h"
#include "support/support.h"

struct script {
    char *text;
    size_t size;
};

/* What iw_timeline_plot() writes into a file of this suffix. */
static struct script drawn(const iw_timeline *timeline, const iw_waves *waves,
                           const iw_timeline_window *window, const char *suffix)
{
    char path[64];
    struct script script = {.text = NULL};
    FILE *in, *out = open_memstream(&script.text, &script.size);
    int c;

    assert_non_null(out);
    snprintf(path, sizeof path, "/tmp/iw_timeline_%d%s", (int)getpid(), suffix);
    assert_ok(iw_timeline_plot(NULL, timeline, waves, window, path));
    in = fopen(path, "re");
    assert_non_null(in);
    while ((c = fgetc(in)) != EOF) {
        (void)fputc(c, out);
    }
    (void)fclose(in);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(fclose(out), 0);
    return script;
}

static struct script picture_of(const struct iwt_run *run, bool has_waves, const iw_timeline_window *window,
                                const char *suffix)
{
    iw_timeline *timeline = iwt_made_timeline(run);
    iw_waves *waves = iwt_made_waves(run);
    const struct script script = drawn(timeline, has_waves ? waves : NULL, window, suffix);

    iwt_free_waves(waves);
    iw_timeline_free(timeline);
    return script;
}

static struct script script_of(const struct iwt_run *run, bool has_waves, const iw_timeline_window *window)
{
    return picture_of(run, has_waves, window, ".gp");
}

static void assert_in(const struct script *script, const char *part)
{
    if (memmem(script->text, script->size, part, strlen(part)) == NULL) {
        fail_msg("no\n%s\nin:\n%s", part, script->text);
    }
}

static void few_steps_are_boxes(void **state)
{
    const struct iwt_run run = IWT_RUN_INIT;
    struct script script = script_of(&run, true, NULL);

    (void)state;
    assert_in(&script, "set xrange [ 0: 75500000]\n");
    assert_in(&script, "set yrange [ -0.5: 17.5]\n");
    assert_in(&script, "\n 3100000 16600000 4.58 5.42 2056132\n"); /* the delay: edges in ns, rank 5, blue */
    assert_in(&script, "with boxxyerror linecolor rgb variable");
    assert_in(&script, " << END\n 6120000 6\n 9220000 7\n"); /* the leading front, fitted */
    assert_in(&script, "title 'fitted front'");
    free(script.text);
}

static void a_window_without_steps_has_no_boxes(void **state)
{
    iw_timeline_opts opts = IW_TIMELINE_OPTS_INIT;
    const iw_step early = {0, {0, 1000, 0, 0, 0}}, late = {0, {0, 9000, 0, 0, 0}};
    const iw_timeline_window window = {0, 1, 5000, 6000};
    struct script script;
    iw_timeline *timeline;
    iw_step_sink sink;

    (void)state;
    opts.about.ranks = opts.about.dims[0] = 2;
    assert_ok(iw_timeline_new(NULL, &opts, &timeline));
    sink = iw_timeline_sink(timeline);
    sink.step(sink.arg, 0, &early);
    sink.step(sink.arg, 1, &late);
    assert_ok(iw_timeline_finish(NULL, timeline));
    script = drawn(timeline, NULL, &window, ".gp");
    assert_null(memmem(script.text, script.size, "boxxyerror", strlen("boxxyerror")));
    assert_in(&script, "with rgbimage");
    free(script.text);
    iw_timeline_free(timeline);
}

static void without_waves_there_are_no_lines(void **state)
{
    const struct iwt_run run = IWT_RUN_INIT;
    struct script script = script_of(&run, false, NULL);

    (void)state;
    assert_null(strstr(script.text, "fitted"));
    free(script.text);
}

/* Behind the last line: three bytes for each cell, nothing else. */
static void many_ranks_are_an_image(void **state)
{
    struct iwt_run run = IWT_RUN_INIT;
    struct script script;
    unsigned columns = 0, rows = 0;
    const char *plot, *image;

    (void)state;
    run.ranks = 1000;
    script = script_of(&run, true, NULL);
    plot = strstr(script.text, "plot '-' binary array=(");
    assert_non_null(plot);
    /* NOLINTNEXTLINE(cert-err34-c): small numbers that were just written */
    assert_int_equal(sscanf(plot, "plot '-' binary array=(%u,%u)", &columns, &rows), 2);
    assert_int_equal(rows, 500);
    assert_in(&script, " dy= 2 origin=(");
    image = plot;
    do {
        image = strchr(image, '\n') + 1;
    } while (image[-2] == '\\'); /* the command goes on */
    assert_string_equal(image + (size_t)3 * columns * rows, "unset multiplot\n");
    assert_memory_equal(image, "\xff\xff\xff", 3); /* rank 0 begins with work */
    free(script.text);
}

static void a_window_limits_axes_and_boxes(void **state)
{
    struct iwt_run run = IWT_RUN_INIT;
    const iw_timeline_window window = {
        .first_rank = 1360, .rank_count = 10, .from_ps = 0, .to_ps = INT64_C(30000000000)};
    struct script script;

    (void)state;
    run.ranks = 4096;
    run.late_rank = 1365;
    script = script_of(&run, false, &window);
    assert_in(&script, "set yrange [ 1359.5: 1369.5]\n");
    assert_in(&script, "set xrange [ 0: 30000000]\n");
    assert_in(&script, "with boxxyerror");
    assert_null(strstr(script.text, " 1358.58 "));
    free(script.text);
}

static void titles_are_no_commands(void **state)
{
    struct iwt_run run = IWT_RUN_INIT;
    struct script script;
    char title[250];

    (void)state;
    run.title = "it's '; system('x')\n!x \"q\"";
    script = script_of(&run, false, NULL);
    assert_in(&script,
              "set multiplot title 'it'.\"'\".'s '.\"'\".'; system('.\"'\".'x'.\"'\".') !x \"q\"'\n");
    free(script.text);
    memset(title, 'x', sizeof title);
    title[sizeof title - 1] = '\0';
    run.title = title;
    script = script_of(&run, false, NULL);
    assert_in(&script, "xxx...'\n");
    free(script.text);
}

static void an_svg_has_bars_or_runs_of_cells(void **state)
{
    struct iwt_run run = IWT_RUN_INIT;
    struct script svg = picture_of(&run, true, NULL, ".svg");

    (void)state;
    assert_in(&svg, "<rect");
    assert_in(&svg, ">delay\n3.1 ms to 16.6 ms: 5</title>");
    free(svg.text);
    run.ranks = 1000;
    svg = picture_of(&run, true, NULL, ".svg");
    assert_in(&svg, "crispEdges");
    assert_in(&svg, "fitted front");
    free(svg.text);
}

static void what_is_no_picture_is_refused(void **state)
{
    const struct iwt_run run = IWT_RUN_INIT;
    iw_timeline *timeline = iwt_made_timeline(&run);
    const iw_timeline_window window = {.first_rank = 99};
    struct iwt_log log;

    (void)state;
    iwt_log_init(&log);
    assert_status(iw_timeline_plot(&log.log, timeline, NULL, NULL, "timeline.doc"), IW_ERR_USAGE);
    iwt_assert_logged(&log, "'timeline.doc'");
    assert_status(iw_timeline_plot(&log.log, timeline, NULL, &window, "timeline.png"), IW_ERR_RANGE);
    iw_timeline_free(timeline);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_steps_are_boxes),
        cmocka_unit_test(a_window_without_steps_has_no_boxes),
        cmocka_unit_test(without_waves_there_are_no_lines),
        cmocka_unit_test(many_ranks_are_an_image),
        cmocka_unit_test(a_window_limits_axes_and_boxes),
        cmocka_unit_test(titles_are_no_commands),
        cmocka_unit_test(an_svg_has_bars_or_runs_of_cells),
        cmocka_unit_test(what_is_no_picture_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
