/* The subverbs of `noise`, one file each. To add one: write cmd_noise_<subverb>.c, declare it here, list it
 * in cmd_noise.c, and add cases to tests/cli/noise.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IW_CLI_NOISE_VERBS_H
#define IW_CLI_NOISE_VERBS_H

#include "options/verbs.h"

extern const struct verb verb_noise_show, verb_noise_compare, verb_noise_spectrum, verb_noise_fit,
    verb_noise_convert, verb_noise_synth, verb_noise_cut, verb_noise_merge;

#endif
