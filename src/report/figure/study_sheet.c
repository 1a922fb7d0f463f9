/* A study for papers: one sheet a panel, box plots of each system and below them the slowdowns of all.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>

#include "base/base.h"
#include "report/figure/study_figure.h"
#include "report/kinds/noise_report.h"

enum { NAME_SIZE = 96, LABEL_COLUMNS = 24 };

struct panel_sheet {
    char name[NAME_SIZE], title[IWI_PHRASE_SIZE], note[IWI_PHRASE_SIZE];
    struct iwi_drawn_series *drawn;
    char (*labels)[IWI_NAME_SIZE];
};

/* "panel-3-allreduce-ring": what is special in file names or for gnuplot becomes "-". */
static void name_sheet(const struct iwi_panel *panel, size_t number, char name[NAME_SIZE])
{
    const char *work = panel->cell->work;
    size_t used = (size_t)snprintf(name, NAME_SIZE, "panel-%zu-", number);

    for (; *work != '\0' && used + 1 < NAME_SIZE; work++) {
        const unsigned char c = (unsigned char)*work;

        name[used++] = (char)(c < 0x80 && isalnum(c) ? c : '-');
    }
    name[used] = '\0';
}

/* One figure for each system, or one for all; the curves are the last. */
static iw_status make_figures(const iw_log *log, const struct panel_sheet *p, const struct iwi_panel *panel,
                              double threshold, struct iwi_sheet *sheet)
{
    const bool is_flat = iwi_panel_is_flat(panel);
    const size_t boxes = is_flat ? 1 : panel->count;
    double low_ns = INFINITY, high_ns = 0.0;

    for (size_t i = 0; i < panel->count; i++) {
        iwi_study_limits(panel->series[i], &low_ns, &high_ns);
    }
    for (size_t i = 0; i < boxes; i++) {
        IW_TRY(iwi_study_boxes_figure(log, &p->drawn[i], is_flat ? panel->count : 1, threshold, low_ns,
                                      high_ns, is_flat ? "Time" : p->drawn[i].label,
                                      &sheet->figures[sheet->count]));
        sheet->figures[sheet->count++]->is_wide = is_flat;
    }
    IW_TRY(iwi_study_curves_figure(log, p->drawn, panel->count, threshold, "Slowdown",
                                   &sheet->figures[sheet->count]));
    sheet->figures[sheet->count++]->height = 0.4;
    return IW_OK;
}

static void set_notes(const struct iwi_panel *panel, double threshold, struct panel_sheet *p,
                      struct iwi_sheet *sheet)
{
    const bool is_flat = iwi_panel_is_flat(panel);

    snprintf(p->note, sizeof p->note, "%s: 95 %% confidence of the median; dashed: %.4g times as long%s.",
             is_flat ? "Bars" : "Bands", 1.0 + threshold, is_flat ? "" : ", triangles: noise takes over");
    sheet->notes[0] =
        is_flat ? "Boxes: quartiles and median; whiskers: 5 % and 95 %; small dots: least and most; "
                  "large dots: without noise."
                : "Boxes: quartiles and median; whiskers: 5 % and 95 %; dots: least and most; dotted: "
                  "without noise.";
    sheet->notes[1] = p->note;
}

static iw_status make_sheet(const iw_log *log, const struct iwi_panel *panel, size_t number, double threshold,
                            struct panel_sheet *p, struct iwi_sheet *sheet)
{
    p->drawn = iwi_new_array(log, panel->count, sizeof *p->drawn);
    p->labels = iwi_new_array(log, panel->count, sizeof *p->labels);
    sheet->figures = iwi_new_array(log, panel->count + 1, sizeof(struct iwi_figure *));
    if (p->drawn == NULL || p->labels == NULL || sheet->figures == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < panel->count; i++) {
        p->drawn[i] = (struct iwi_drawn_series){
            .series = panel->series[i],
            .label = iwi_plain_name(panel->series[i]->cells[0]->system, LABEL_COLUMNS, p->labels[i]),
            .style = i};
    }
    name_sheet(panel, number, p->name);
    sheet->name = p->name;
    sheet->title = iwi_panel_title(panel, p->title);
    set_notes(panel, threshold, p, sheet);
    return make_figures(log, p, panel, threshold, sheet);
}

static iw_status write_sheets(const iw_log *log, const struct iwi_panels *panels, double threshold,
                              const char *dir)
{
    struct panel_sheet *parts = iwi_new_array(log, panels->count, sizeof *parts);
    struct iwi_sheet *sheets = iwi_new_array(log, panels->count, sizeof *sheets);
    iw_status status = parts != NULL && sheets != NULL ? IW_OK : IW_ERR_NOMEM;

    for (size_t i = 0; status == IW_OK && i < panels->count; i++) {
        status = make_sheet(log, &panels->panels[i], i + 1, threshold, &parts[i], &sheets[i]);
    }
    if (status == IW_OK) {
        status = iwi_sheets_write_folder(log, sheets, panels->count, dir);
    }
    for (size_t i = 0; parts != NULL && sheets != NULL && i < panels->count; i++) {
        for (size_t k = 0; k < sheets[i].count; k++) {
            iwi_figure_free(sheets[i].figures[k]);
        }
        free(sheets[i].figures);
        free(parts[i].drawn);
        free(parts[i].labels);
    }
    free(parts);
    free(sheets);
    return status;
}

iw_status iw_study_write_gnuplot(const iw_log *log, const iw_study_results *results, const char *dir)
{
    struct iwi_panels panels;
    iw_status status;

    if (results->count == 0) {
        return iwi_fail(log, IW_ERR_RANGE, "there is nothing to draw: no cell has ended yet");
    }
    IW_TRY(iwi_panels_new(log, results, &panels));
    status = write_sheets(log, &panels, results->threshold, dir);
    iwi_panels_release(&panels);
    return status;
}
