/* How a check is answered.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IW_CLI_CHECK_ANSWER_H
#define IW_CLI_CHECK_ANSWER_H

#include <idlewave/idlewave.h>

#include "options/shown_opts.h"

struct answer_opts {
    const char *learn, *html, *json; /* files, or NULL */
    bool is_quiet;                   /* one line only */
    struct shown_opts shown;
};

/* Writes what is asked for. Returns the exit code of the outcome, or of a failure. */
int answer_check(struct ui *ui, const struct answer_opts *opts, const iw_check *check);

#endif
