/* A progress bar on stderr.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "process/progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "process/wall_clock.h"

enum { BAR_COLUMNS = 30, LINE_SIZE = 160 };

static const double FIRST_AFTER_S = 1.0, REDRAW_AFTER_S = 0.1, LINE_AFTER_S = 10.0;
static const double LINE_AFTER_SHARE = 0.25; /* of the time so far: work of hours fills no log */

static double now_s(void)
{
    return 1e-9 * (double)monotonic_ns();
}

void progress_begin(struct progress *progress, double total_amount, const char *unit)
{
    const char *terminal = getenv("TERM");

    *progress = (struct progress){
        .is_shown = isatty(STDERR_FILENO) && terminal != NULL && strcmp(terminal, "dumb") != 0,
        .total_amount = total_amount,
        .unit = unit,
        .start_s = now_s(),
    };
}

void progress_tell(struct progress *progress, const char *verb, bool is_quiet)
{
    progress->is_shown &= !is_quiet;
    progress->verb = is_quiet ? NULL : verb;
}

/* "12.3 M " or "7 ": in front of the unit. */
static void format_rate(double rate, char *buf, size_t size)
{
    static const char *const prefixes[] = {"", "k ", "M ", "G ", "T "};
    size_t i = 0;

    while (rate >= 999.5 && i < 4) {
        rate /= 1000.0;
        i++;
    }
    snprintf(buf, size, "%.3g %s", rate, prefixes[i]);
}

enum { LEFT_SIZE = 32 };

/* "1:05 left", or "?:?? left" before anything is done. */
static const char *format_left(double share, double elapsed_s, char buf[LEFT_SIZE])
{
    const long left = (long)((share > 0.0 ? elapsed_s * (1.0 - share) / share : 0.0) + 0.5);

    if (share > 0.0) {
        snprintf(buf, LEFT_SIZE, "%ld:%02ld left", left / 60, left % 60);
        return buf;
    }
    return "?:?? left";
}

void progress_line(double share, double elapsed_s, char *buf, int size)
{
    char left[LEFT_SIZE];

    snprintf(buf, (size_t)size, "%.0f %% done, %s", 100.0 * share, format_left(share, elapsed_s, left));
}

void progress_format(const struct progress *progress, double share, double elapsed_s, char *buf, int size)
{
    const int filled = (int)(share * BAR_COLUMNS);
    char bar[BAR_COLUMNS + 1], rate[24], buffer[LEFT_SIZE];
    const char *left = format_left(share, elapsed_s, buffer);

    memset(bar, ' ', BAR_COLUMNS);
    memset(bar, '#', (size_t)filled);
    bar[BAR_COLUMNS] = '\0';
    if (progress->detail[0] != '\0') {
        snprintf(buf, (size_t)size, "[%s] %3.0f %%  %s  %s", bar, 100.0 * share, progress->detail, left);
        return;
    }
    if (progress->unit == NULL) {
        snprintf(buf, (size_t)size, "[%s] %3.0f %%  %s", bar, 100.0 * share, left);
        return;
    }
    format_rate(elapsed_s > 0.0 ? share * progress->total_amount / elapsed_s : 0.0, rate, sizeof rate);
    snprintf(buf, (size_t)size, "[%s] %3.0f %%  %s%s/s  %s", bar, 100.0 * share, rate, progress->unit, left);
}

/* Whether it is time to draw again. */
static bool is_due(const struct progress *progress, double now)
{
    const double last = progress->drawn_s > progress->start_s ? progress->drawn_s : progress->start_s;

    if (progress->is_shown) {
        return now - progress->start_s >= FIRST_AFTER_S && now - progress->drawn_s >= REDRAW_AFTER_S;
    }
    return progress->verb != NULL && now - last >= LINE_AFTER_S &&
           now - last >= LINE_AFTER_SHARE * (last - progress->start_s);
}

void progress_update(struct progress *progress, double share)
{
    const double now = now_s();
    char line[LINE_SIZE];

    if (!is_due(progress, now)) {
        return;
    }
    if (progress->is_shown) {
        progress_format(progress, share, now - progress->start_s, line, sizeof line);
        (void)fprintf(stderr, "\r%s\033[K", line);
    } else {
        progress_line(share, now - progress->start_s, line, sizeof line);
        (void)fprintf(stderr, "idlewave: %s: %s\n", progress->verb, line);
    }
    (void)fflush(stderr);
    progress->drawn_s = now;
    progress->is_drawn = progress->is_shown;
}

static bool step(void *arg, const iw_progress_now *now)
{
    progress_update(arg, now->share);
    return true;
}

iw_progress progress_calls(struct progress *progress)
{
    return (iw_progress){step, progress};
}

void progress_wipe(struct progress *progress)
{
    if (progress->is_drawn) {
        (void)fputs("\r\033[K", stderr);
        (void)fflush(stderr);
        progress->is_drawn = false;
    }
}
