/* Between the parts of the report on waves.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_WAVE_REPORT_H
#define IWI_WAVE_REPORT_H

#include <idlewave/timeline.h>
#include <idlewave/wave.h>

#include "kit/doc/doc.h"
#include "kit/text/words.h"

/* "up" and "down" on a line, "+0" and "-2" along a dimension of a grid. */
const char *iwi_wave_direction(const iw_timeline_about *about, const iw_wave *wave,
                               char buf[IWI_NUMBER_SIZE]);

static inline const char *iwi_time_text(iw_time ps, char buf[IWI_NUMBER_SIZE])
{
    return iw_format_time(ps, buf, IWI_NUMBER_SIZE);
}

/* As people count steps, and --delay does: from 1. */
static inline uint64_t iwi_step_number(uint64_t step)
{
    return step + 1;
}

extern const struct iwi_schema iwi_waves_schema; /* iw_waves */
const char *iwi_wave_end_name(unsigned end);     /* NULL behind the last */

enum iwi_judgement {
    IWI_NOT_JUDGED,
    IWI_IS_AS_EXPECTED, /* the interval is inside the margin of 10 % */
    IWI_DIFFERS,        /* it is not, and excludes what is expected */
    IWI_CANNOT_TELL,
    IWI_JUDGEMENTS
};

void iwi_waves_say_verdict(struct iwi_document *doc, const iw_waves *waves);

/* All of them as a table, the run, how sure it is. */
void iwi_waves_say(struct iwi_document *doc, const iw_waves *waves);

#endif
