/* What a job would cost with something rare that was not recorded: its table, and words about it.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>

#include "core/base/base.h"
#include "kit/text/words.h"

static const struct iwi_field sensitivity_fields[] = {
    IWI_VALUE(iw_sensitivity, length_ns, .about = "of an interruption that the recording missed"),
    IWI_VALUE_AS(iw_sensitivity, every_s, "every_seconds", .about = "CPU time per such interruption"),
    IWI_VALUE(iw_sensitivity, trials, .about = "trials with these interruptions"),
    IWI_VALUE(iw_sensitivity, slowdown, .about = "mean, with these interruptions"),
};
const struct iwi_schema iwi_sensitivity_schema = IWI_SCHEMA(iw_sensitivity, sensitivity_fields);

void iwi_append_sensitivity(char paragraph[IWI_PARAGRAPH_SIZE], const iw_sensitivity *sensitivity)
{
    const char *limit = sensitivity->trials == 0 ? "at most " : "";
    char length[IWI_NUMBER_SIZE], watched[IWI_NUMBER_SIZE], slower[IWI_PHRASE_SIZE];

    if (sensitivity->length_ns <= 0 || isnan(sensitivity->slowdown)) {
        return;
    }
    iwi_append(paragraph,
               "If the recording missed three interruptions of %s (in %s of CPU time), the job would %s "
               "without noise",
               iwi_ns_round_text((double)sensitivity->length_ns, length),
               iwi_length_text(3.0 * sensitivity->every_s, watched),
               iwi_be_slower_text(sensitivity->slowdown, limit, slower));
    if (sensitivity->trials > 0) {
        iwi_append(paragraph, " (mean of %" PRIu64 " trial%s).", sensitivity->trials,
                   sensitivity->trials == 1 ? "" : "s");
    } else {
        iwi_append(paragraph, " on average.");
    }
}
