/* Timelines as PNG or SVG, drawn by gnuplot.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <errno.h>
#include <string.h>

#include "base/base.h"
#include "report/gnuplot.h"
#include "report/timeline_parts.h"

iw_status iw_timeline_plot(const iw_log *log, const iw_timeline *timeline, const iw_waves *waves,
                           const iw_timeline_window *window, const char *path)
{
    const char *suffix = strrchr(path, '.');
    FILE *script;
    iw_status status;

    if (suffix == NULL ||
        (strcmp(suffix, ".png") != 0 && strcmp(suffix, ".svg") != 0 && strcmp(suffix, ".pdf") != 0)) {
        return iwi_fail(log, IW_ERR_USAGE, "'%s' does not tell the format: .png, .svg or .pdf do", path);
    }
    script = tmpfile();
    if (script == NULL) {
        return iwi_fail(log, IW_ERR_IO, "cannot create a temporary file: %s", strerror(errno));
    }
    (void)fprintf(script, "format = '%s'\n", suffix + 1);
    iwi_gnuplot_figure(script, NULL, 17.5, 13.0);
    status = iwi_timeline_script(log, timeline, waves, window, script);
    if (status == IW_OK) {
        status = iwi_gnuplot_run(log, script, path);
    }
    (void)fclose(script);
    return status;
}
