/* The JSON of a what-if as input of `idlewave report`.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>

#include <idlewave/whatif.h>

#include "verbs/report_kinds.h"

static iw_status write(const iw_log *log, const void *input, const struct report_target *target)
{
    switch (target->format) {
    case REPORT_HTML: return iw_whatif_write_html(log, input, target->out);
    case REPORT_CSV: return iw_whatif_report_csv(log, input, target->out);
    default: return iw_whatif_report_text(log, input, target->out);
    }
}

const struct report_kind report_whatif = {
    .what = "the JSON of a what-if",
    .has_format = {[REPORT_TEXT] = true, [REPORT_HTML] = true, [REPORT_CSV] = true},
    .is_it = iw_whatif_is_answer,
    .load = report_keep_path,
    .write = write,
    .free = free,
};
