/* The mean time of a phase under the noise of a recording: its slowest rank, put into theorem 1.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/model.h>

#include "core/base/base.h"
#include "features/model/law.h"

iw_status iw_window_model_answer(const iw_log *log, const iw_window_model *model,
                                 const iw_model_question *question, uint64_t ranks, iw_model_row *row_p,
                                 size_t *dominant_p)
{
    const double leaves = iwi_slowest_of(question->barrier, (double)ranks);
    iw_window_answer of_leaves, of_all;

    IW_TRY(iwi_question_check(log, question, (double)ranks));
    IW_TRY(iw_window_model_mean_max(log, model, leaves, &of_leaves));
    IW_TRY(iw_window_model_mean_max(log, model, (double)ranks, &of_all));
    iwi_fill_row(question, ranks, of_leaves.slowest_ns, of_all.slowest_ns, row_p);
    row_p->support = of_all.support;
    *dominant_p = of_all.dominant;
    return IW_OK;
}
