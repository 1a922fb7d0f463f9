/* The noise of a simulation, as a set whose sources can be taken away.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IW_CLI_SIMULATE_SET_H
#define IW_CLI_SIMULATE_SET_H

#include "options/simulate_opts.h"

int simulate_make_set(struct ui *ui, const struct noise_opts *opts, iw_noise_set **set_p);

#endif
