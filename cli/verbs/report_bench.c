/* The JSON of a benchmark as input of `idlewave report`.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>

#include <idlewave/internal/bench.h>

#include "verbs/report_kinds.h"

static iw_status write(const iw_log *log, const void *input, const struct report_target *target)
{
    return target->format == REPORT_HTML ? iw_bench_write_html(log, input, target->out)
                                         : iw_bench_report_text(log, input, target->out);
}

const struct report_kind report_bench = {
    .what = "the JSON of a benchmark",
    .has_format = {[REPORT_TEXT] = true, [REPORT_HTML] = true},
    .is_it = iw_bench_is_result,
    .load = report_keep_path,
    .write = write,
    .free = free,
};
