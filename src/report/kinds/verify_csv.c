/* What a node is set up for, a line a mitigation.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/verify.h>

#include <math.h>

#include "base/base.h"
#include "report/kinds/verify_report.h"

/* Nothing where there is no number. */
static void write_number(FILE *out, double value)
{
    (void)fputc(',', out);
    if (isfinite(value)) {
        iwi_write_real(out, value);
    }
}

iw_status iw_verify_write_csv(const iw_log *log, const iw_verify *verify, FILE *out)
{
    (void)fputs("mitigation,state,setting,seen_hz,share,worth,worth_low,worth_high,evidence,advice\n", out);
    for (size_t i = 0; i < verify->count; i++) {
        const iw_mitigation *m = &verify->mitigations[i];
        const double none = (double)NAN;

        iwi_write_csv_field(out, m->name);
        (void)fprintf(out, ",%s,", iw_mitigation_state_name(m->state));
        iwi_write_csv_field(out, m->setting);
        write_number(out, m->seen_hz);
        write_number(out, m->share);
        write_number(out, m->has_worth ? m->worth.value : none);
        write_number(out, m->has_worth ? m->worth.low : none);
        write_number(out, m->has_worth ? m->worth.high : none);
        (void)fputc(',', out);
        iwi_write_csv_field(out, m->evidence);
        (void)fputc(',', out);
        iwi_write_csv_field(out, m->advice);
        (void)fputc('\n', out);
    }
    return iwi_check_written(log, out, "the result");
}
