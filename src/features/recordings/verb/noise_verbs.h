/* The subverbs of `noise`, one file each. To add one: write cmd_noise_<subverb>.c, declare it here, list it
 * in cmd_noise.c and in CMakeLists.txt, and add cases to tests/cli/noise/.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IW_CLI_NOISE_VERBS_H
#define IW_CLI_NOISE_VERBS_H

#include "options/verbs.h"

extern const struct verb verb_noise_show;
extern const struct verb verb_noise_compare, verb_noise_fleet, verb_noise_spectrum, verb_noise_fit;
extern const struct verb verb_noise_convert;
extern const struct verb verb_noise_synth, verb_noise_cut, verb_noise_merge, verb_noise_digest,
    verb_noise_history;

/* How a subverb ends that wrote a report and may have drawn a picture: a picture that fails (no gnuplot) does
 * not keep the numbers back. */
int noise_exit(const struct ui *ui, iw_status written, iw_status drawn);

#endif
