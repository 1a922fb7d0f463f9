/* One simulation for papers: when its trials or ranks end, and what its critical path is made of.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "base/base.h"
#include "report/figure/result_figure.h"
#include "report/kinds/noise_report.h"

enum { TITLE_COLUMNS = 60 };

static void write_title(const json_t *result, char title[IWI_PARAGRAPH_SIZE])
{
    const uint64_t ranks = iwi_result_count(result, "ranks"), trials = iwi_result_count(result, "trials");
    char what[IWI_NAME_SIZE];

    iwi_append(title, "%s, %" PRIu64 " rank%s, %" PRIu64 " trial%s",
               iwi_plain_name(iwi_result_text(result, "what"), TITLE_COLUMNS, what), ranks,
               ranks == 1 ? "" : "s", trials, trials == 1 ? "" : "s");
}

static iw_status write_folder(const iw_log *log, const json_t *result, const char *dir)
{
    const json_t *explain = json_object_get(result, "explain");
    struct iwi_figure *times = NULL, *path = NULL;
    char title[IWI_PARAGRAPH_SIZE] = "";
    const struct iwi_sheet sheets[] = {{.name = "times", .title = title, .count = 1, .figures = &times},
                                       {.name = "path", .title = title, .count = 1, .figures = &path}};
    iw_status status;

    write_title(result, title);
    status = iwi_result_times_figure(log, result, &times);
    if (status == IW_OK && json_is_object(explain)) {
        status = iwi_result_path_figure(log, explain, &path);
    }
    if (status == IW_OK) {
        status = iwi_sheets_write_folder(log, sheets, path != NULL && path->mark_count > 0 ? 2 : 1, dir);
    }
    iwi_figure_free(times);
    iwi_figure_free(path);
    return status;
}

iw_status iw_result_report_gnuplot(const iw_log *log, const char *path, const char *dir)
{
    json_t *result;
    iw_status status;

    IW_TRY(iwi_result_load(log, path, &result));
    status = write_folder(log, result, dir);
    json_decref(result);
    return status;
}
