/* What a recording can show of a job: its table, and words about it.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_REACH_REPORT_H
#define IWI_REACH_REPORT_H

#include <idlewave/noise_set.h>

#include "kit/schema/schema.h"
#include "kit/text/words.h"

/* iw_reach */
extern const struct iwi_schema iwi_reach_schema;

/* Nobody records longer to answer one question. */
#define IWI_LONGEST_ADVICE_S (14.0 * 86400.0)

/* Two digits, upwards: advice that is followed shall be enough. */
double iwi_round_up(double seconds);

/* Goes on with "this recording of 10 s on 2 CPUs cannot show what 10,000 ranks meet in 24 ms; record 40 min
 * for an estimate". */
void iwi_append_reach(char paragraph[IWI_PARAGRAPH_SIZE], const iw_reach *reach, uint64_t ranks,
                      double time_ns);

/* Of an extrapolation: "from laws fitted to the recording (poisson:9.9Hz,exp:20us), not from it". */
void iwi_append_laws(char paragraph[IWI_PARAGRAPH_SIZE], const iw_reach *reach);

#endif
