/* An answer to "what if" as CSV: a line a change.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>

#include "report/kinds/result_report.h"
#include "report/kinds/whatif_report.h"

/* Nothing where there is no number. */
static void write_value(FILE *out, double value)
{
    (void)fputc(',', out);
    if (isfinite(value)) {
        iwi_write_real(out, value);
    }
}

static void write_estimate(FILE *out, iw_estimate e)
{
    write_value(out, e.value);
    write_value(out, e.low);
    write_value(out, e.high);
}

void iwi_write_whatif_csv(const json_t *whatif, FILE *out)
{
    const json_t *change;

    (void)fputs("kind,name,share,slowdown,slowdown_low,slowdown_high,saving,saving_low,saving_high\n", out);
    (void)fputs("now,,", out);
    write_estimate(out, iwi_whatif_estimate(whatif, "now"));
    (void)fputs(",,,\n", out);
    for (size_t i = 0; (change = iwi_whatif_change(whatif, NULL, i)) != NULL; i++) {
        iwi_write_csv_field(out, iwi_result_text(change, "kind"));
        (void)fputc(',', out);
        iwi_write_csv_field(out, iwi_result_text(change, "name"));
        write_value(out, iwi_result_number(change, "share"));
        write_estimate(out, iwi_whatif_estimate(change, "slowdown"));
        write_estimate(out, iwi_whatif_estimate(change, "saving"));
        (void)fputc('\n', out);
    }
}

iw_status iw_whatif_write_csv(const iw_log *log, const iw_whatif *whatif, const iw_whatif_origin *origin,
                              FILE *out)
{
    json_t *object;

    IW_TRY(iwi_whatif_new(log, whatif, origin, &object));
    iwi_write_whatif_csv(object, out);
    json_decref(object);
    return iwi_check_written(log, out, "the answer");
}
