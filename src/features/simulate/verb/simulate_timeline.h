/* The timeline of a simulation: made before it runs, written after.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IW_CLI_SIMULATE_TIMELINE_H
#define IW_CLI_SIMULATE_TIMELINE_H

#include "options/simulate_opts.h"

/* Returns UI_DONE or an exit code. */
int simulate_new_timeline(struct ui *ui, const struct simulate_opts *opts, const iw_program *program,
                          const iw_net *net, const struct program_source *source, iw_timeline **timeline_p);

/* Ends and writes it. Returns UI_DONE or an exit code. */
int simulate_write_timeline(struct ui *ui, iw_timeline *timeline, const char *path);

/* "  timeline    run.h5 (every step of 40 ranks)" */
void simulate_print_timeline(const iw_timeline *timeline, const char *path);

#endif
