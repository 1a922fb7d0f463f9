/* What a job would cost with something rare that was not recorded: its table, and words about it.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>

#include "core/base/base.h"
#include "kit/text/words.h"

static const struct iwi_field sensitivity_fields[] = {
    IWI_VALUE(iw_sensitivity, length_ns, .about = "of an interruption that was never recorded"),
    IWI_VALUE_AS(iw_sensitivity, every_s, "every_seconds", .about = "CPU time in which it comes once"),
    IWI_VALUE(iw_sensitivity, trials, .about = "simulated with it"),
    IWI_VALUE(iw_sensitivity, slowdown, .about = "mean, with it"),
};
const struct iwi_schema iwi_sensitivity_schema = IWI_SCHEMA(iw_sensitivity, sensitivity_fields);

void iwi_append_sensitivity(char paragraph[IWI_PARAGRAPH_SIZE], const iw_sensitivity *sensitivity)
{
    char length[IWI_NUMBER_SIZE], watched[IWI_NUMBER_SIZE], slower[IWI_PHRASE_SIZE];

    if (sensitivity->length_ns <= 0 || isnan(sensitivity->slowdown)) {
        return;
    }
    iwi_append(
        paragraph,
        "With an interruption of %s three times in %s of CPU time, which a recording may miss, it %s without "
        "noise",
        iwi_ns_round_text((double)sensitivity->length_ns, length),
        iwi_length_text(3.0 * sensitivity->every_s, watched), iwi_slower_text(sensitivity->slowdown, slower));
    if (sensitivity->trials > 0) {
        iwi_append(paragraph, " (mean of %" PRIu64 " trial%s).", sensitivity->trials,
                   sensitivity->trials == 1 ? "" : "s");
    } else {
        iwi_append(paragraph, " at most, on average.");
    }
}
