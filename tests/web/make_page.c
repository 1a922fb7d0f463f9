/* Writes pages for the tests in the browser: iw_make_page KIND best|static FILE. The same on every machine.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/html_noise.h"
#include "report/html_result.h"
#include "report/html_study.h"
#include "support/made_recording.h"
#include "unit/report/study_sample.h"

static iw_status write_study(const struct study_sample *sample, enum iwi_html_plots plots, FILE *out)
{
    iw_study_results *results = study_sample_new(sample);
    const iw_status status = iwi_study_html(NULL, results, plots, out);

    iw_study_results_free(results);
    return status;
}

/* 200 cells, as the paper has them. */
static iw_status make_study(enum iwi_html_plots plots, FILE *out)
{
    struct study_sample sample = STUDY_SAMPLE_INIT;

    sample.systems = 5;
    return write_study(&sample, plots, out);
}

/* 1,200 cells with all that can differ. */
static iw_status make_large(enum iwi_html_plots plots, FILE *out)
{
    const struct study_sample sample = {
        .systems = 5, .works = 2, .sizes = 2, .syncs = 1, .nets = 3, .points = 20, .trials = 100};

    return write_study(&sample, plots, out);
}

/* One series, one trial. */
static iw_status make_single(enum iwi_html_plots plots, FILE *out)
{
    const struct study_sample sample = {
        .systems = 1, .works = 1, .sizes = 1, .syncs = 1, .nets = 1, .points = 8, .trials = 1};

    return write_study(&sample, plots, out);
}

/* Names that would be markup, and values that no plot can show. */
static iw_status make_odd(enum iwi_html_plots plots, FILE *out)
{
    const struct study_sample sample = {
        .systems = 12, .works = 1, .sizes = 1, .syncs = 2, .nets = 1, .points = 3, .trials = 10};
    iw_study_results *results = study_sample_new(&sample);
    iw_status status;

    study_sample_rename(&results->title,
                        "</title><script>throw 1</script> \"quotes\" & 'more' \xc3\xa9 \xff");
    study_sample_rename(&results->text, "# </pre><script>throw 2</script>\nname: \xe6\xbc\xa2\xe5\xad\x97\n");
    for (size_t i = 0; i < results->count; i++) {
        if (strcmp(results->cells[i].system, "chic") == 0) {
            study_sample_rename(&results->cells[i].system, "</script><script>throw 3</script> \xe6\xbc\xa2");
            study_sample_rename(&results->cells[i].noise, "<!-- \"'&");
        } else if (strcmp(results->cells[i].system, "altix") == 0) {
            study_sample_rename(
                &results->cells[i].system,
                "a-very-long-name-without-any-space-in-it-that-has-to-be-broken-on-a-phone-somewhere");
            results->cells[i].noiseless_ns = 0.0;
            results->cells[i].makespan_ns = (iw_summary){.count = 10};
            results->cells[i].p5_ns = results->cells[i].p95_ns = 0.0;
        }
    }
    results->expected += 7;
    status = iwi_study_html(NULL, results, plots, out);
    iw_study_results_free(results);
    return status;
}

/* A minute of two CPUs: a tick of 1 kHz on both, and a daemon with a bad name now and then. */
static iw_recording *made_recording(void)
{
    iw_recording *recording = iwt_recording(2, INT64_C(60000000000));
    const uint32_t tick = iwt_source(recording, IW_CLASS_IRQ, "local_timer");
    const uint32_t daemon = iwt_source(recording, IW_CLASS_THREAD, "<b>kworker & \xe6\xbc\xa2");

    iwt_attribute(recording, "host", "node<17>");
    for (size_t cpu = 0; cpu < 2; cpu++) {
        for (int64_t i = 0; i < 60000; i++) {
            const bool is_daemon = i % 997 == 13;

            iwt_detour(recording, cpu, i * 1000000 + (int64_t)cpu * 5000,
                       is_daemon ? 40000 + i * 7 % 300000 : 1500 + i * 7919 % 2500,
                       is_daemon ? daemon : tick);
        }
    }
    return recording;
}

static iw_status make_noise(enum iwi_html_plots plots, FILE *out)
{
    iw_recording *recording = made_recording();
    struct iwi_noise_page page = {.recording = recording, .name = "node<17>.h5"};
    iw_noise_facts *facts;
    iw_status status = iw_noise_facts_new(NULL, recording, 20000.0, &facts);

    if (status == IW_OK) {
        page.facts = facts;
        status = iwi_noise_html(NULL, &page, plots, out);
        iw_noise_facts_free(facts);
    }
    iw_recording_free(recording);
    return status;
}

static iw_status make_result(enum iwi_html_plots plots, FILE *out)
{
    static const char text[] =
        "{'schema': 'idlewave.simulate/1', 'ranks': 65536, 'trials': 200, 'seed': 1, 'engine': 'flow', "
        "'noiseless_ns': 96000, 'makespan_ns': {'min': 210000, 'q1': 260000, 'median': 301500.5, 'q3': "
        "350000, "
        "'max': 811000, 'mean': 320000, 'ci95': [290000, 310000]}, 'slowdown': {'min': 1.19, 'q1': 1.7, "
        "'median': 2.14, 'q3': 2.65, 'max': 7.45, 'mean': 2.33, 'ci95': [2.02, 2.23]}, 'noise': [{'spec': "
        "'poisson:100Hz,20us', 'share': 0.002}], 'net': {'name': '<chic>', 'L_ns': 4000}, 'what': "
        "'allreduce:dissemination & <more>', 'command': 'idlewave simulate', 'explain': {'trial': 7, "
        "'last_rank': 411, 'makespan_ns': 301500, 'parts': {'compute': 40000, 'o': 20000, 'L': 36000, 'noise "
        "poisson:100Hz,20us': 205500}, 'hops': 16, 'mean_parts': {'compute': 40000, 'o': 20000, 'L': 36000, "
        "'noise poisson:100Hz,20us': 150000}, 'mean_hops': 16}}";
    char json[sizeof text];
    json_t *result;
    iw_status status = IW_ERR_FORMAT;

    for (size_t i = 0; i < sizeof text; i++) {
        json[i] = (char)(text[i] == '\'' ? '"' : text[i]);
    }
    result = json_loads(json, 0, NULL);
    if (result != NULL) {
        status = iwi_result_html(NULL, result, plots, out);
        json_decref(result);
    }
    return status;
}

static const struct {
    const char *name;
    iw_status (*make)(enum iwi_html_plots plots, FILE *out);
} kinds[] = {
    {"study", make_study}, {"large", make_large}, {"single", make_single},
    {"odd", make_odd},     {"noise", make_noise}, {"result", make_result},
};

int main(int argc, char **argv)
{
    FILE *out = argc == 4 ? fopen(argv[3], "we") : NULL;
    iw_status status = IW_ERR_USAGE;

    if (out == NULL) {
        (void)fprintf(stderr, "usage: iw_make_page KIND best|static FILE\n");
        return EXIT_FAILURE;
    }
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strcmp(kinds[i].name, argv[1]) == 0) {
            status = kinds[i].make(strcmp(argv[2], "static") == 0 ? IWI_HTML_STATIC : IWI_HTML_BEST, out);
        }
    }
    return fclose(out) == 0 && status == IW_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
