/* Runs gnuplot, if there is one.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_GNUPLOT_H
#define IWI_GNUPLOT_H

#include <stdio.h>

#include <idlewave/log.h>

/* "set terminal ..." for the suffix of `path`; NULL: none of .svg, .png, .pdf. */
const char *iwi_gnuplot_terminal(const char *path);

/* A gnuplot string in single quotes: nothing in it is a command, an escape or markup. */
void iwi_gnuplot_quote(FILE *script, const char *text);

/* Runs the script and puts the picture into `path`; the script has no "set output", so no name of a file
 * passes through gnuplot or a shell, and nothing is written where it fails. */
IW_NODISCARD iw_status iwi_gnuplot_run(const iw_log *log, FILE *script, const char *path);

#endif
