/* `idlewave noise`: what can be done with noise files, as a table of subverbs.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "noise_verbs.h"

static const struct verb *const subverbs[] = {
    &verb_noise_show, /* in the order of help texts */
    NULL,
};

static const char *const synopsis[] = {"show [options] FILE", NULL};

static const struct example examples[] = {
    {"what a recording says", "idlewave noise show node.h5"},
    {NULL, NULL},
};

const struct verb verb_noise = {
    .name = "noise",
    .summary = "shows what recorded noise is made of",
    .synopsis = synopsis,
    .description = "Works on noise files, the recordings of 'idlewave record'.",
    .examples = examples,
    .subverbs = subverbs,
};
