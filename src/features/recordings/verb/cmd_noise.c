/* `idlewave noise`: what can be done with noise files, as a table of subverbs.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/idlewave.h>

#include "features/recordings/verb/noise_verbs.h"

/* clang-format off */
static const struct verb *const subverbs[] = { /* in the order of help texts */
    &verb_noise_show,
    &verb_noise_compare,
    &verb_noise_spectrum,
    &verb_noise_fit,
    &verb_noise_convert,
    &verb_noise_synth,
    &verb_noise_cut,
    &verb_noise_merge,
    NULL,
};

static const char *const synopsis[] = {
    "show [options] FILE",
    "compare [options] A B",
    "spectrum [options] FILE",
    "fit [options] FILE",
    "convert [options] IN OUT",
    "synth [options] SPEC... -o FILE",
    "cut [options] FILE -o FILE",
    "merge [options] FILE... -o FILE",
    NULL,
};
/* clang-format on */

static const struct example examples[] = {
    {"summary of a recording", "idlewave noise show node.h5"},
    {NULL, NULL},
};

const struct verb verb_noise = {
    .name = "noise",
    .group = VERB_FILES,
    .summary = "show, compare, convert and generate noise files",
    .synopsis = synopsis,
    .description = "Work on noise files, the recordings of 'idlewave record'.",
    .examples = examples,
    .subverbs = subverbs,
};
