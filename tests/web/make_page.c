/* Writes pages for the tests in the browser: iw_make_page KIND FILE. The same on every machine.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/analysis.h>
#include <idlewave/fleet.h>
#include <idlewave/wave.h>
#include <idlewave/whatif.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "features/study/tests/study_sample.h"
#include "support/made_bench.h"
#include "support/made_recording.h"
#include "support/made_timeline.h"

static iw_status write_study(const struct study_sample *sample, FILE *out)
{
    iw_study_results *results = study_sample_new(sample);
    const iw_status status = iw_doc_write(NULL, iw_study_doc(results), IW_DOC_HTML, NULL, out);

    iw_study_results_free(results);
    return status;
}

/* 200 cells, as the paper has them. */
static iw_status make_study(FILE *out)
{
    struct study_sample sample = STUDY_SAMPLE_INIT;

    sample.systems = 5;
    return write_study(&sample, out);
}

/* 1,200 cells with all that can differ. */
static iw_status make_large(FILE *out)
{
    const struct study_sample sample = {
        .systems = 5, .works = 2, .sizes = 2, .syncs = 1, .nets = 3, .points = 20, .trials = 100};

    return write_study(&sample, out);
}

/* One series, one trial. */
static iw_status make_single(FILE *out)
{
    const struct study_sample sample = {
        .systems = 1, .works = 1, .sizes = 1, .syncs = 1, .nets = 1, .points = 8, .trials = 1};

    return write_study(&sample, out);
}

/* Names that would be markup, and values that no plot can show. */
static iw_status make_odd(FILE *out)
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
    status = iw_doc_write(NULL, iw_study_doc(results), IW_DOC_HTML, NULL, out);
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

static iw_status write_noise(const iw_recording *recording, const char *name, FILE *out)
{
    iw_noise_report_opts opts = IW_NOISE_REPORT_OPTS_INIT;
    iw_noise_report report;
    iw_status status;

    opts.name = name;
    opts.has_spectrum = true;
    IW_TRY(iw_noise_report_init(NULL, recording, &opts, &report));
    status = iw_doc_write(NULL, iw_noise_doc(&report), IW_DOC_HTML, NULL, out);
    iw_noise_report_release(&report);
    return status;
}

/* 30 nodes with a tick; on one a thread that would be markup takes CPU 1. */
static iw_status make_fleet(FILE *out)
{
    const iw_fleet_opts opts = IW_FLEET_OPTS_INIT;
    iw_fleet *fleet = NULL;
    iw_status status;

    IW_TRY(iw_fleet_new(NULL, "noise & <more>", &fleet));
    status = iw_fleet_add_unreadable(NULL, fleet, "cut.h5", "'cut.h5' is no </script>");
    for (size_t i = 0; i < 30 && status == IW_OK; i++) {
        iw_recording *recording = iwt_recording(2, INT64_C(10000000000));
        char path[32];

        for (int64_t k = 0; k < 2000; k++) {
            iwt_detour(recording, (size_t)(k % 2), k * 5000000, 4000 + (int64_t)(i * 37 % 100) * 20,
                       iwt_source(recording, IW_CLASS_IRQ, "local_timer"));
            if (i == 11 && k % 10 == 1) {
                iwt_detour(recording, 1, k * 5000000 + 1000000, 400000,
                           iwt_source(recording, IW_CLASS_THREAD, "<script>throw 1</script>"));
            }
        }
        iwt_attribute(recording, "kernel", i == 3 ? "6.6" : "6.1");
        snprintf(path, sizeof path, "n%02zu.h5", i);
        status = iw_fleet_add(NULL, fleet, path, recording);
        iw_recording_free(recording);
    }
    status = status == IW_OK ? iw_fleet_judge(NULL, fleet, &opts) : status;
    status = status == IW_OK ? iw_doc_write(NULL, iw_fleet_doc(fleet), IW_DOC_HTML, NULL, out) : status;
    iw_fleet_free(fleet);
    return status;
}

static iw_status make_noise(FILE *out)
{
    iw_recording *recording = made_recording();
    const iw_status status = write_noise(recording, "node<17>.h5", out);

    iw_recording_free(recording);
    return status;
}

/* Too short for a spectrum: a CPU that was watched for 1 ms. */
static iw_status make_short(FILE *out)
{
    iw_recording *recording = iwt_recording(1, 1000000);
    iw_status status;

    iwt_detour(recording, 0, 5000, 2000, iwt_source(recording, IW_CLASS_IRQ, "local_timer"));
    status = write_noise(recording, "short.h5", out);
    iw_recording_free(recording);
    return status;
}

static iw_status write_file(const char *path, FILE *out)
{
    iw_doc_file *file;
    iw_status status;

    IW_TRY(iw_doc_open(NULL, path, &file));
    status = iw_doc_write(NULL, iw_doc_of(file), IW_DOC_HTML, NULL, out);
    iw_doc_close(file);
    return status;
}

static iw_status make_result(FILE *out)
{
    return write_file(IW_TEST_DATA "/results/simulate.json", out);
}

/* One trial: when its ranks end. */
static iw_status make_ranks(FILE *out)
{
    iw_simulation simulation;
    iw_doc_file *file;
    iw_status status;

    IW_TRY(iw_doc_open(NULL, IW_TEST_DATA "/results/simulate.json", &file));
    simulation = *(const iw_simulation *)iw_doc_of(file).subject;
    simulation.distribution.is_of_ranks = true;
    simulation.run.trials = simulation.makespan_ns.count = simulation.slowdown.count = 1;
    simulation.explain = NULL;
    status = iw_doc_write(NULL, iw_simulation_doc(&simulation), IW_DOC_HTML, NULL, out);
    iw_doc_close(file);
    return status;
}

/* The page for those who decide; it has no scripts either way. */
static iw_status make_whatif(FILE *out)
{
    return write_file(IW_TEST_DATA "/results/whatif.json", out);
}

/* Prediction against reality. */
static iw_status make_bench(FILE *out)
{
    static const char *const noises[] = {"periodic:100Hz,1ms"};
    const iw_bench_simulated simulated = {.net = "of the measured operation",
                                          .trials = 400,
                                          .phases = 50,
                                          .noiseless_ns = 1.01e6,
                                          .noisy_ns = 1.12e6,
                                          .slowdown = {0.11, 0.105, 0.115}};
    iw_bench_samples *samples = iwt_made_bench(40, true);
    iw_bench_result *result = NULL;
    iw_status status = iw_bench_evaluate(NULL, samples, 1.0, &result);

    if (status == IW_OK) {
        iw_bench_set_simulated(result, &simulated);
        result->command = "idlewave bench barrier --noise periodic:100Hz,1ms";
        result->injection.sources = noises;
        result->injection.source_count = 1;
        status = iw_doc_write(NULL, iw_bench_doc(result), IW_DOC_HTML, NULL, out);
    }
    iw_bench_result_free(result);
    iw_bench_samples_free(samples);
    return status;
}

/* ---- timelines ---- */

static iw_status write_timeline(const struct iwt_run *run, bool has_waves, FILE *out)
{
    iw_timeline *timeline = iwt_made_timeline(run);
    iw_waves *waves = iwt_made_waves(run);
    const iw_status status = iw_traced_run_write_html(NULL, &(iw_traced_run){NULL, has_waves ? waves : NULL},
                                                      timeline, "<run> & \"more\".h5", out);

    iwt_free_waves(waves);
    iw_timeline_free(timeline);
    return status;
}

/* As in the paper, every step known. */
static iw_status make_timeline(FILE *out)
{
    const struct iwt_run run = IWT_RUN_INIT;

    return write_timeline(&run, true, out);
}

/* 4,096 ranks and 200 steps with noise: cells, and steps around the wave. */
static iw_status make_timeline_large(FILE *out)
{
    struct iwt_run run = IWT_RUN_INIT;

    run.ranks = 4096;
    run.steps = 200;
    run.late_rank = 1365;
    run.most_noise_ps = IWT_WORK_PS / 15;
    return write_timeline(&run, true, out);
}

/* Only cells: 100,000 ranks, one late for a while. */
static iw_status make_timeline_raster(FILE *out)
{
    struct iwt_run run = IWT_RUN_INIT;

    run.ranks = 100000;
    run.late_rank = 50000;
    run.rows = run.columns = 512;
    run.max_steps = 0;
    return write_timeline(&run, false, out);
}

static const struct {
    const char *name;
    iw_status (*make)(FILE *out);
} kinds[] = {
    {"study", make_study},
    {"large", make_large},
    {"single", make_single},
    {"odd", make_odd},
    {"noise", make_noise},
    {"fleet", make_fleet},
    {"short", make_short},
    {"result", make_result},
    {"ranks", make_ranks},
    {"bench", make_bench},
    {"whatif", make_whatif},
    {"timeline", make_timeline},
    {"timeline-large", make_timeline_large},
    {"timeline-raster", make_timeline_raster},
};

int main(int argc, char **argv)
{
    FILE *out = argc == 3 ? fopen(argv[2], "we") : NULL;
    iw_status status = IW_ERR_USAGE;

    if (out == NULL) {
        (void)fprintf(stderr, "usage: iw_make_page KIND FILE\n");
        return EXIT_FAILURE;
    }
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strcmp(kinds[i].name, argv[1]) == 0) {
            status = kinds[i].make(out);
        }
    }
    return fclose(out) == 0 && status == IW_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
