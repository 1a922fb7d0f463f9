/* A bar with rate and remaining time on stderr: only on a terminal, and only once the work lasts over a
 * second; elsewhere, for work that asks for it, a line now and then. SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IW_CLI_PROGRESS_H
#define IW_CLI_PROGRESS_H

#include <stdbool.h>

#include <idlewave/log.h>

struct progress {
    bool is_shown;       /* stderr is a terminal that can redraw a line */
    const char *verb;    /* where there is no such terminal, lines begin with it; NULL: nothing is written */
    bool is_drawn;       /* a bar stands in the current line */
    double total_amount; /* what all of the work amounts to, in `unit`, for the rate */
    const char *unit;    /* NULL: the rate is not shown */
    char detail[40];     /* shown in its place, unless "" */
    double start_s, drawn_s;
};

void progress_begin(struct progress *progress, double total_amount, const char *unit);

/* After progress_begin(): where no bar can be drawn, as in the log of a job, tell after ten seconds, then
 * ever more rarely; of quiet work, nothing anywhere. */
void progress_tell(struct progress *progress, const char *verb, bool is_quiet);

void progress_update(struct progress *progress, double share);

/* For calls of the library: shows it, and always goes on. */
iw_progress progress_calls(struct progress *progress);

/* Clears the line, so that something else can be written there. */
void progress_wipe(struct progress *progress);

/* "12 % done, 3:20 left" */
void progress_line(double share, double elapsed_s, char *buf, int size);

/* The bar's text for a share done after so many seconds, without line control; at most 79 columns. */
void progress_format(const struct progress *progress, double share, double elapsed_s, char *buf, int size);

#endif
