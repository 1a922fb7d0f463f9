/* Fits in words, in a plot of characters, and for programs.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/fit.h>

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <idlewave/recording.h>

#include "support/made_recording.h"
#include "support/support.h"

static const int64_t SECOND_NS = 1000000000;

static iw_recording *made(const char *const *specs, size_t count, double threshold_ns)
{
    iw_synth_opts opts = IW_SYNTH_OPTS_INIT;
    iw_recording *recording = NULL;
    iw_edit edit;

    opts.specs = specs;
    opts.spec_count = count;
    opts.duration_ns = 20 * SECOND_NS;
    opts.threshold_ns = threshold_ns;
    assert_ok(iw_recording_synth(NULL, &opts, &recording, &edit));
    return recording;
}

/* Frees the recording. */
static char *written(iw_doc_format format, iw_recording *recording)
{
    const iw_fit_opts opts = {.size = sizeof opts, .seed = 1, .replicates = 99, .name = "node.h5"};
    iw_noise_fit *fit = NULL;
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    struct iwt_log l;

    iwt_log_init(&l);
    assert_non_null(out);
    assert_ok(iw_noise_fit_new(&l.log, recording, &opts, &fit));
    assert_ok(iw_doc_write(&l.log, iw_fit_doc(fit), format, NULL, out));
    iw_noise_fit_free(fit);
    iw_recording_free(recording);
    assert_int_equal(fclose(out), 0);
    assert_string_equal(l.text, "");
    return text;
}

static void assert_has(const char *text, const char *part)
{
    if (strstr(text, part) == NULL) {
        fail_msg("no '%s' in:\n%s", part, text);
    }
}

/* Line breaks count as spaces. */
static void assert_says(iw_recording *recording, const char *part)
{
    char *text = written(IW_DOC_TEXT, recording), *line = text;

    while ((line = strchr(line, '\n')) != NULL) {
        *line = ' ';
    }
    assert_has(text, part);
    free(text);
}

static void a_law_that_fits_is_said_to(void **state)
{
    static const char *const specs[] = {"poisson:100Hz,lognormal:3us,0.6"};

    (void)state;
    assert_says(made(specs, 1, 0.0), "Durations of synthetic are best described as lognormal (median");
    assert_says(made(specs, 1, 0.0), ", which fits: KS distance");
    assert_says(made(specs, 1, 0.0), "They come at random, ");
}

static void a_mixture_fits_no_law_but_its_sources_do(void **state)
{
    static const char *const specs[] = {"a=poisson:100Hz,lognormal:3us,0.3",
                                        "b=poisson:50Hz,lognormal:300us,0.3"};

    (void)state;
    assert_says(made(specs, 2, 0.0), "; but no law fits well: KS distance");
    assert_says(made(specs, 2, 0.0), "p <= 0.010");
    assert_says(made(specs, 2, 0.0), "Of 2 sources fitted one by one, 2 fit.");
    assert_says(made(specs, 2, 0.0), "specs together)");
}

static void specs_are_listed(void **state)
{
    static const char *const specs[] = {"tick=periodic:1kHz,3us", "b=poisson:50Hz,exp:40us"};

    (void)state;
    assert_says(made(specs, 2, 0.0), "Noise specs for simulations:   periodic:1kHz,3us   poisson:");
    assert_says(made(specs, 2, 0.0), "of the time, the recorded");
}

static void silence_and_few_detours_are_said(void **state)
{
    iw_recording *few = iwt_recording(1, SECOND_NS);

    (void)state;
    iwt_detour(few, 0, 1000, 500, 0);
    assert_says(iwt_recording(1, SECOND_NS), "node.h5 shows no detours of at least 180 ns: nothing to fit.");
    assert_says(few, "node.h5 has 1 detour: too few for a fit, at least 10 are needed.");
}

static void equal_detours_are_said_to_be(void **state)
{
    static const char *const specs[] = {"periodic:1kHz,3us"};

    (void)state;
    assert_says(made(specs, 1, 0.0), "detours of synthetic last 3.00 us. They come every 1.00 ms.");
}

static void what_was_never_seen_is_said(void **state)
{
    static const char *const specs[] = {"poisson:200Hz,exp:1us"};

    (void)state;
    assert_says(made(specs, 1, 1000.0), "Detours shorter than 1 us were not recorded");
    assert_says(made(specs, 1, 1000.0), "of the detours of a spec are shorter: inferred, not recorded.");
}

static size_t columns_of(const char *line, const char *end)
{
    size_t columns = 0;

    for (; line < end; line++) {
        columns += ((unsigned char)*line & 0xc0) != 0x80;
    }
    return columns;
}

static void no_line_is_wider_than_80_columns(void **state)
{
    static const char *const specs[] = {"irq/a_name_that_is_longer_than_its_column=periodic:1kHz,3us",
                                        "thread/b=poisson:50Hz,lognormal:123us,0.456",
                                        "poisson:0.5Hz,pareto:1.23,456us"};
    char *text = written(IW_DOC_TEXT, made(specs, 3, 500.0)), *line = text, *end;

    (void)state;
    while ((end = strchr(line, '\n')) != NULL) {
        if (columns_of(line, end) > 80) {
            fail_msg("wider than 80 columns: %.*s", (int)(end - line), line);
        }
        line = end + 1;
    }
    free(text);
}

static void json_has_all_of_it(void **state)
{
    static const char *const specs[] = {"irq/tick=periodic:1kHz,3us", "b=poisson:50Hz,exp:40us"};
    char *text = written(IW_DOC_JSON, made(specs, 2, 0.0));
    json_t *root = json_loads(text, 0, NULL), *groups = json_object_get(root, "groups"), *tick;

    (void)state;
    assert_non_null(root);
    assert_string_equal(json_string_value(json_object_get(root, "schema")), "idlewave.noise-fit/2");
    assert_int_equal(json_array_size(groups), 3);
    assert_string_equal(json_string_value(json_object_get(json_array_get(groups, 0), "kind")), "all");
    tick = json_array_get(groups, 1);
    assert_string_equal(json_string_value(json_object_get(tick, "name")), "tick");
    assert_string_equal(json_string_value(json_object_get(json_object_get(tick, "durations"), "best")),
                        "fixed");
    assert_int_equal(json_array_size(json_object_get(root, "specs")), 2);
    assert_true(json_is_object(json_object_get(root, "agreement")));
    json_decref(root);
    free(text);
}

static void csv_has_one_line_per_law(void **state)
{
    static const char *const specs[] = {"thread/\"a, b\"=poisson:50Hz,exp:40us",
                                        "irq/c=poisson:20Hz,exp:9us"};
    char *text = written(IW_DOC_CSV, made(specs, 2, 0.0));
    size_t lines = 0;

    (void)state;
    for (const char *c = text; *c != '\0'; c++) {
        lines += *c == '\n';
    }
    assert_int_equal(lines, 1 + 3 * 4);
    assert_has(text, "kind,class,name,count,best,law,is_fitted,scale_ns,");
    assert_has(text, "source,thread,\"\"\"a, b\"\"\",");
    assert_has(text, ",exponential,exponential,1,");
    free(text);
}

static void a_script_for_gnuplot_holds_curves_and_data(void **state)
{
    static const char *const specs[] = {"poisson:50Hz,exp:40us"};
    const iw_fit_opts opts = {.size = sizeof opts, .seed = 1, .replicates = 9};
    iw_recording *recording = made(specs, 1, 0.0);
    iw_noise_fit *fit = NULL;
    char path[] = "/tmp/iw_fit_report_XXXXXX.gp", text[4096] = "";
    struct iwt_log l;
    int fd = mkstemps(path, 3);
    FILE *in;

    (void)state;
    iwt_log_init(&l);
    assert_true(fd >= 0);
    assert_int_equal(close(fd), 0);
    assert_ok(iw_noise_fit_new(&l.log, recording, &opts, &fit));
    assert_ok(iw_doc_plot(&l.log, iw_fit_doc(fit), path));
    in = fopen(path, "re");
    (void)remove(path); /* open, and gone also if something below fails */
    assert_non_null(in);
    assert_true(fread(text, 1, sizeof text - 1, in) > 0);
    assert_has(text, "$data0 << END");
    assert_status(iw_doc_plot(&l.log, iw_fit_doc(fit), "node.gif"), IW_ERR_USAGE);
    iwt_assert_logged(&l, "use .svg, .png or .pdf for pictures, .gp for scripts");
    (void)fclose(in);
    iw_noise_fit_free(fit);
    iw_recording_free(recording);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_law_that_fits_is_said_to),
        cmocka_unit_test(a_mixture_fits_no_law_but_its_sources_do),
        cmocka_unit_test(specs_are_listed),
        cmocka_unit_test(silence_and_few_detours_are_said),
        cmocka_unit_test(equal_detours_are_said_to_be),
        cmocka_unit_test(what_was_never_seen_is_said),
        cmocka_unit_test(no_line_is_wider_than_80_columns),
        cmocka_unit_test(json_has_all_of_it),
        cmocka_unit_test(csv_has_one_line_per_law),
        cmocka_unit_test(a_script_for_gnuplot_holds_curves_and_data),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
