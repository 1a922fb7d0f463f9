/* What the subverbs of `noise` that write noise files share: where to, and what is said about it.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IW_CLI_NOISE_EDIT_H
#define IW_CLI_NOISE_EDIT_H

#include <idlewave/idlewave.h>

#include "options/shown_opts.h"

struct edit_output_opts {
    struct opt_origins origins;
    const char *path;
    struct shown_opts shown;
};

enum { EDIT_OUTPUT_ROWS = 1 };
extern const struct opt edit_output_rows[EDIT_OUTPUT_ROWS];

/* UI_USAGE if there is no -o FILE. */
int edit_check_output(const struct ui *ui, const struct edit_output_opts *opts);

/* Saves the recording with the command line in `attribute`, behind those that are there already, and says
 * what it holds. Returns an exit code. */
int edit_write(struct ui *ui, const struct edit_output_opts *opts, const iw_edit *edit,
               iw_recording *recording, const char *attribute);

#endif
