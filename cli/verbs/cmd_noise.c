/* `idlewave noise`: what can be done with noise files, as a table of subverbs.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/idlewave.h>

#include "features/recordings/verb/noise_verbs.h"

static const struct verb *const subverbs[] = {
    &verb_noise_show, /* in the order of help texts */
    &verb_noise_compare,
    &verb_noise_fleet,
    &verb_noise_spectrum,
    &verb_noise_fit,
    &verb_noise_convert,
    &verb_noise_synth,
    &verb_noise_cut,
    &verb_noise_merge,
    &verb_noise_digest,
    &verb_noise_history,
    NULL,
};

static const char *const synopsis[] = {"show [options] FILE",
                                       "compare [options] A B",
                                       "fleet [options] DIR|FILE",
                                       "spectrum [options] FILE",
                                       "fit [options] FILE",
                                       "convert [options] IN OUT",
                                       "synth [options] SPEC... -o FILE",
                                       "cut [options] FILE -o FILE",
                                       "merge [options] FILE... -o FILE",
                                       "digest [options] FILE|DIR... -o FILE",
                                       "history [options] DIR|FILE",
                                       NULL};

static const struct example examples[] = {
    {"what a recording says", "idlewave noise show node.h5"},
    {NULL, NULL},
};

int noise_exit(const struct ui *ui, iw_status written, iw_status drawn)
{
    if (drawn == IW_ERR_USAGE) {
        return ui_exit_of_value(ui, drawn);
    }
    return ui_exit_of(written != IW_OK ? written : drawn);
}

const struct verb verb_noise = {
    .name = "noise",
    .summary = "shows, compares, converts and makes noise files",
    .synopsis = synopsis,
    .description = "Works on noise files, the recordings of 'idlewave record'.",
    .examples = examples,
    .subverbs = subverbs,
};
