/* Results as one JSON object, schema "idlewave.simulate/2"; docs/reference/formats/simulate-json.md.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/result.h>

#include "base/base.h"
#include "report/kinds/result_report.h"

/* Fifteen digits show every decimal fraction as it was meant (130.2, not 130.19999999999999) and are exact
 * to the picosecond below 1000 s; longer times take all seventeen. */
static size_t real_digits(double largest_ns)
{
    return largest_ns < 1e12 ? 15 : 17;
}

iw_status iw_result_write_json(const iw_log *log, const iw_sim_result *result, const iw_origin *origin,
                               FILE *out)
{
    json_t *object;
    size_t digits;

    IW_TRY(iwi_result_new(log, result, origin, &object));
    digits = real_digits(iwi_result_summary(object, "makespan_ns").max);
    if (json_dumpf(object, out, JSON_INDENT(2) | JSON_REAL_PRECISION(digits)) == 0) {
        (void)fputc('\n', out);
    }
    json_decref(object);
    return iwi_check_written(log, out, "the JSON result");
}
