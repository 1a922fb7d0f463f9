/* The figure of a what-if: what each change saves, with its interval.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/base/base.h"
#include "features/whatif/whatif_report.h"
#include "kit/figure/figure.h"
#include "kit/text/words.h"

enum { MOST_BARS = 20 };

iw_status iwi_whatif_figure(struct iwi_document *doc, const iw_whatif *whatif, struct iwi_figure **figure_p)
{
    const size_t count = whatif->change_count < MOST_BARS ? whatif->change_count : MOST_BARS;
    struct iwi_figure *figure;
    struct iwi_mark *bars;

    IW_TRY(iwi_figure_new(doc->log, "What each change saves", &figure));
    bars = iwi_bar_rows_begin(figure, "Slowdown saved", IWI_AXIS_SHARE, count);
    for (size_t i = 0; i < count; i++) {
        const iw_change *change = &whatif->changes[i];

        iwi_bar_rows_add(figure, bars, iwi_change_words(doc, change),
                         (iw_estimate){iwi_shown(change->saving), change->saving.low, change->saving.high},
                         iwi_points_words(doc, change->saving, ""), false);
    }
    figure->message = iwi_figure_text(figure, "The slowdown now is %s%s; lines: 95 %% intervals.",
                                      iwi_is_bound(whatif->now) ? "at least " : "",
                                      iwi_slowdown_percent(doc, iwi_shown(whatif->now)));
    *figure_p = figure;
    return IW_OK;
}
