/* The subverbs of `noise`, one file each, of recordings and of fleet. To add one: write cmd_noise_<subverb>.c
 * there, declare it here, list it in cli/verbs/cmd_noise.c, and add cases to tests/cli/noise beside it.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IW_CLI_NOISE_VERBS_H
#define IW_CLI_NOISE_VERBS_H

#include "options/verbs.h"

extern const struct verb verb_noise_show, verb_noise_compare, verb_noise_spectrum, verb_noise_fit,
    verb_noise_convert, verb_noise_synth, verb_noise_cut, verb_noise_merge;
extern const struct verb verb_noise_fleet, verb_noise_digest, verb_noise_history;

#endif
