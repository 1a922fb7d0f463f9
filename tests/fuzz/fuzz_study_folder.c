/* Fuzzes the folders of studies: reported, continued, and merged, as `report` and `study` do it.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/study/cells.h"
#include "features/study/files/study_line.h"
#include "features/study/files/study_yaml.h"
#include "features/study/folder.h"
#include "fuzz_folder.h"

/* What the folder may hold; others of its files are never read. */
static const char *const names[] = {
    "in/study.yaml",           "in/origin.json",      "in/results.jsonl", "in/results-1-of-2.jsonl",
    "in/results-2-of-2.jsonl", "in/results-p2.jsonl", "in/timings.jsonl", "in/claims"};

/* The study that goes on in the folder, whatever the folder's own says: nothing that takes long. */
static const char study_text[] = "trials: 3\n"
                                 "systems:\n"
                                 "  - {name: chic, net: chic, noise: 'periodic:1kHz,10us'}\n"
                                 "patterns: ['barrier:tree']\n"
                                 "ranks: [2, 4]\n";

/* ---- reports ---- */

static void check_results(const iw_study_results *results)
{
    iwt_fuzz_require(results->text != NULL && results->name != NULL && results->count <= results->expected);
    for (size_t i = 0; i < results->count; i++) {
        iwt_fuzz_require(strlen(results->cells[i].id) == IW_CELL_ID_SIZE - 1);
        iwt_fuzz_require(results->cells[i].system != NULL && results->cells[i].work != NULL);
    }
}

static void write_reports(const iw_study_results *results)
{
    char path[IWT_FUZZ_PATH_SIZE];
    unsigned errors = 0;
    const iw_log log = {iwt_fuzz_count_error, &errors};
    const iw_doc_style look = {.has_colour = true};
    FILE *out = fopen("/dev/null", "we");
    iw_status status;

    iwt_fuzz_require(out != NULL);
    iwt_fuzz_require(iw_doc_write(&log, iw_study_doc(results), IW_DOC_TEXT, &look, out) == IW_OK);
    iwt_fuzz_require(iw_doc_write(&log, iw_study_doc(results), IW_DOC_CSV, NULL, out) == IW_OK);
    iwt_fuzz_require(iw_doc_write(&log, iw_study_doc(results), IW_DOC_HTML, NULL, out) == IW_OK);
    status = iw_doc_plot(&log, iw_study_doc(results), iwt_fuzz_path("plots/", path));
    iwt_fuzz_check_log(status, errors); /* there may be nothing to plot */
    iwt_fuzz_require(fclose(out) == 0);
}

static void report(const char *dir)
{
    unsigned errors = 0;
    const iw_log log = {iwt_fuzz_count_error, &errors};
    iw_study_results *results = NULL;
    const iw_status status = iw_study_results_load(&log, dir, &results);

    iwt_fuzz_check_log(status, errors);
    if (status == IW_OK) {
        check_results(results);
        write_reports(results);
        iw_study_results_free(results);
    }
}

/* ---- merging ---- */

static void merge(const char *dir)
{
    char merged[IWT_FUZZ_PATH_SIZE];
    iw_cell_result *cells = NULL, *again = NULL;
    size_t count = 0, count_again = 0;
    unsigned errors = 0;
    const iw_log log = {iwt_fuzz_count_error, &errors};
    const bool is_good = iwi_cell_results_load(NULL, dir, &cells, &count) == IW_OK;
    const iw_status status = iw_study_merge(&log, &dir, 1, iwt_fuzz_path("merged", merged));

    iwt_fuzz_check_log(status, errors);
    iwt_fuzz_require(is_good || status != IW_OK);
    if (status == IW_OK) { /* each cell is still there, once */
        iwt_fuzz_require(iwi_cell_results_load(NULL, merged, &again, &count_again) == IW_OK);
        iwt_fuzz_require(count == count_again);
        iwi_cell_results_free(again, count_again);
    }
    iwi_cell_results_free(cells, count);
}

/* ---- going on: what iw_study_run() does before and after it runs anything ---- */

static void count_id(void *arg, const char *id)
{
    iwt_fuzz_require(strlen(id) <= IW_CELL_ID_SIZE - 1);
    (*(size_t *)arg)++;
}

static iw_status find_results(const iw_log *log, const char *dir, const iw_study *study,
                              const struct iwi_results_file *file, struct iwi_tasks *tasks)
{
    struct iwi_peer_results others;
    bool is_other = false;
    size_t news = 0;
    iw_status status;

    IW_TRY(iwi_peer_results_init(log, dir, file->path, &others));
    status = iwi_tasks_find(log, study, dir, tasks);
    if (status == IW_OK) {
        iwt_fuzz_require(tasks->found <= tasks->count);
        status = iwi_folder_describe(log, dir, study, "fuzz", &is_other);
    }
    if (status == IW_OK) {
        status = iwi_peer_results_read(log, &others, count_id, &news);
    }
    iwt_fuzz_require(news == 0); /* nobody else has written anything meanwhile */
    iwi_peer_results_release(&others);
    return status;
}

static iw_status claim(const iw_log *log, const char *dir, const iw_study *study, struct iwi_tasks *tasks)
{
    struct iwi_results_file file;
    struct iwi_claims claims;
    bool is_taken = false;
    iw_status status;

    IW_TRY(iwi_folder_check_owner(log, dir, study));
    IW_TRY(iwi_claims_open(log, dir, &claims));
    status = iwi_claims_take(log, &claims, iwi_claim_of_cell(&study->cells[0]), &is_taken);
    if (status == IW_OK) {
        iwt_fuzz_require(is_taken);
        status = iwi_results_file_take(log, dir, 0, 1, 0, claims.fault == 0, &file);
    }
    if (status == IW_OK) {
        status = find_results(log, dir, study, &file, tasks);
        iwi_results_file_leave(&file);
    }
    iwi_claims_close(&claims);
    return status;
}

static void go_on(const char *dir)
{
    struct iwi_inputs inputs;
    struct iwi_tasks tasks;
    unsigned errors = 0;
    const iw_log log = {iwt_fuzz_count_error, &errors};
    iw_study *study = NULL;
    iw_status status;
    bool has_name;

    iwt_fuzz_require(iwi_study_read_memory(NULL, "fuzz.yaml", study_text, strlen(study_text), true, &has_name,
                                           &study) == IW_OK);
    iwt_fuzz_require(iwi_inputs_init(NULL, study, &inputs) == IW_OK);
    iwt_fuzz_require(iwi_tasks_init(NULL, &inputs, 0, 1, &tasks) == IW_OK);
    status = claim(&log, dir, study, &tasks);
    iwt_fuzz_check_log(status, errors);
    iwi_tasks_release(&tasks);
    iwi_inputs_release(&inputs);
    iw_study_free(study);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char dir[IWT_FUZZ_PATH_SIZE];

    iwt_fuzz_empty(iwt_fuzz_folder());
    iwt_fuzz_make_folder("in");
    iwt_fuzz_lay_out(data, size, names, sizeof names / sizeof names[0]);
    iwt_fuzz_path("in", dir);
    report(dir);
    merge(dir);
    go_on(dir);
    return 0;
}
