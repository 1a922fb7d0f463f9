/* Scripts for gnuplot: run at once, if there is one, or written into a folder with their data.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_GNUPLOT_H
#define IWI_GNUPLOT_H

#include <stdio.h>

#include <idlewave/log.h>

/* A gnuplot string in single quotes: nothing in it is a command, an escape or markup. */
void iwi_gnuplot_quote(FILE *script, const char *text);

/* Runs the script and puts the picture into `path`; the script has no "set output", so no name of a file
 * passes through gnuplot or a shell, and nothing is written where it fails. */
IW_NODISCARD iw_status iwi_gnuplot_run(const iw_log *log, FILE *script, const char *path);

/* ---- folders of figures for papers ---- */

struct iwi_gnuplot_folder {
    const iw_log *log;
    const char *dir;
    FILE *script; /* plot.gp */
};

/* Makes the folder and in it plot.gp, whose figures `write` writes; numbers have a point in any locale. */
typedef iw_status (*iwi_gnuplot_fn)(const struct iwi_gnuplot_folder *folder, const void *arg);
IW_NODISCARD iw_status iwi_gnuplot_folder(const iw_log *log, const char *dir, iwi_gnuplot_fn write,
                                          const void *arg);

/* NAME.dat, by `write`. */
typedef void (*iwi_gnuplot_data_fn)(FILE *out, const void *arg);
IW_NODISCARD iw_status iwi_gnuplot_data(const struct iwi_gnuplot_folder *folder, const char *name,
                                        iwi_gnuplot_data_fn write, const void *arg);

/* A comment that stays one, whatever is in the text. */
void iwi_gnuplot_comment(FILE *out, const char *text);

/* Numbers of data, each with a blank before it; "NaN" for what is none. */
void iwi_gnuplot_number(FILE *out, double value);

/* What a script begins with that can be run: its format is PDF unless somebody says another. */
void iwi_gnuplot_head(FILE *script);

/* Begins the figure NAME.pdf (or .png, .svg, by the variable `format`); the same size on paper in all three.
 * Without a name it goes to standard output. Sets `dot`, a size of points, and `small`, one of letters. */
void iwi_gnuplot_figure(FILE *script, const char *name, double width_cm, double height_cm);

#endif
