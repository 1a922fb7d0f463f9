/* Runs a study and lists its results: run_study FILE.yaml FOLDER. Run again, it finds what is done already.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * cc run_study.c $(pkg-config --cflags --libs idlewave-tools)
 */
#include <idlewave/study.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void write_message(void *arg, iw_log_level level, const char *text)
{
    (void)arg;
    (void)level;
    (void)fprintf(stderr, "%s\n", text);
}

/* Returning false would stop the study after the cells that are running. */
static bool show_progress(void *arg, const iw_progress_now *now)
{
    (void)arg;
    (void)fprintf(stderr, "%3.0f %%, %" PRIu64 " of %" PRIu64 " cells\n", 100.0 * now->share, now->done,
                  now->total);
    return true;
}

static iw_status run(const iw_log *log, const char *path, const char *dir)
{
    iw_study_opts opts = IW_STUDY_OPTS_INIT;
    iw_study_outcome outcome;
    iw_study *study = NULL;
    iw_status status = iw_study_load(log, path, &study);

    opts.progress.step = show_progress;
    if (status == IW_OK) {
        status = iw_study_run(log, study, dir, &opts, &outcome);
    }
    iw_study_free(study);
    return status;
}

static iw_status list(const iw_log *log, const char *dir)
{
    iw_study_results *results = NULL;
    iw_status status = iw_study_results_load(log, dir, &results);

    for (size_t i = 0; status == IW_OK && i < results->count; i++) {
        const iw_cell_result *cell = &results->cells[i];

        printf("%s on %s, %u ranks: %.1f %% slower\n", cell->work, cell->system, (unsigned)cell->ranks,
               100.0 * (cell->makespan_ns.median / cell->noiseless_ns - 1.0));
    }
    iw_study_results_free(results);
    return status;
}

int main(int argc, char **argv)
{
    const iw_log log = {write_message, NULL};

    if (argc != 3) {
        (void)fprintf(stderr, "usage: run_study FILE.yaml FOLDER\n");
        return EXIT_FAILURE;
    }
    return run(&log, argv[1], argv[2]) == IW_OK && list(&log, argv[2]) == IW_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
