/* Draws what a job loses now, the worst source first. Nothing of the terminal is changed that would have to
 * be put
 * back. SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/watch/verb/watch_live.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { HEAD_LINES = 7, LEAST_ROWS = 3, TIME_SIZE = 24, NAME_COLUMNS = 28 };

/* What one source took since the last drawing. */
struct row {
    const iw_watch_source *source;
    uint64_t ns, count;
    int longest; /* slot of the longest; -1: none */
};

int watch_live_begin(const struct ui *ui, struct watch_live *live)
{
    const char *terminal = getenv("TERM");

    if (!isatty(STDOUT_FILENO) || terminal == NULL || strcmp(terminal, "dumb") == 0) {
        return ui_usage(ui, "--live needs a terminal, but standard output is not one");
    }
    live->is_on = true;
    (void)fputs("\033[2J", stdout);
    return UI_DONE;
}

void watch_live_end(struct watch_live *live)
{
    free(live->sources);
}

/* ---- what is new ---- */

static const iw_watch_source *before(const struct watch_live *live, const iw_source *source)
{
    for (size_t i = 0; i < live->source_count; i++) {
        const iw_source *known = &live->sources[i].source;

        if (known->kind == source->kind && strcmp(known->name, source->name) == 0) {
            return &live->sources[i];
        }
    }
    return NULL;
}

static uint64_t grown(uint64_t now, uint64_t then)
{
    return now > then ? now - then : 0; /* both are read while they are written */
}

static struct row row_of(const struct watch_live *live, const iw_watch_source *now)
{
    static const iw_watch_source nothing = {.count = 0};
    const iw_watch_source *then = before(live, &now->source);
    struct row row = {now, 0, 0, -1};

    then = then != NULL ? then : &nothing;
    row.ns = grown(now->time_ns, then->time_ns);
    row.count = grown(now->count, then->count);
    for (int slot = 0; slot < IW_WATCH_SLOTS; slot++) {
        if (now->slots[slot] > then->slots[slot]) {
            row.longest = slot;
        }
    }
    return row;
}

static int by_time(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    const uint64_t all_x = x->source->time_ns, all_y = y->source->time_ns;

    return x->ns != y->ns ? (x->ns < y->ns) - (x->ns > y->ns) : (all_x < all_y) - (all_x > all_y);
}

static void keep(struct watch_live *live, const iw_watch_result *so_far)
{
    if (so_far->source_count > live->capacity) {
        live->sources = ui_grow(live->sources, so_far->source_count, sizeof *live->sources);
        live->capacity = so_far->source_count;
    }
    if (so_far->source_count > 0) {
        memcpy(live->sources, so_far->sources, so_far->source_count * sizeof *live->sources);
    }
    live->source_count = so_far->source_count;
    live->totals = so_far->totals;
    live->watched_ns = so_far->watched_ns;
}

/* ---- lines ---- */

static double share(uint64_t part, uint64_t whole)
{
    return whole > 0 ? 100.0 * (double)part / (double)whole : 0.0;
}

static const char *time_text(uint64_t ns, char buf[TIME_SIZE])
{
    return iw_format_time((iw_time)ns * IW_PS_PER_NS, buf, TIME_SIZE);
}

/* Ends a line, and wipes what stood behind it. */
static void end_line(void)
{
    (void)fputs("\033[K\n", stdout);
}

static void draw_head(const struct watch_live *live, const iw_watch_result *so_far)
{
    const iw_watch_totals *now = &so_far->totals, *then = &live->totals;
    const double seconds = 1e-9 * (double)(so_far->watched_ns - live->watched_ns);
    const uint64_t wanted_ns = grown(now->wanted_ns, then->wanted_ns);

    (void)printf("\033[H%.70s, watched for %" PRId64 " s", so_far->job, so_far->watched_ns / 1000000000);
    end_line();
    (void)printf("lost %.2f %% of the CPU time that it wanted (%.2f %% since the start)",
                 share(grown(now->lost_ns, then->lost_ns), wanted_ns), share(now->lost_ns, now->wanted_ns));
    end_line();
    (void)printf("CPUs wanted %.2f, used %.2f, waited %.2f (own %.2f, waking %.2f), quota %.2f",
                 1e-9 * (double)wanted_ns / seconds,
                 1e-9 * (double)grown(now->run_ns, then->run_ns) / seconds,
                 1e-9 * (double)grown(now->wait_ns, then->wait_ns) / seconds,
                 1e-9 * (double)grown(now->wait_own_ns, then->wait_own_ns) / seconds,
                 1e-9 * (double)grown(now->wait_waking_ns, then->wait_waking_ns) / seconds,
                 1e-9 * (double)grown(now->throttled_ns, then->throttled_ns) / seconds);
    end_line();
    end_line();
    (void)printf("%-*s %9s %9s %9s %10s %10s", NAME_COLUMNS, "what took the CPUs", "now", "in all", "times/s",
                 "mean", "longest");
    end_line();
}

static void write_name(const iw_source *source)
{
    char text[128];

    (void)snprintf(text, sizeof text, "%s%s%s",
                   source->kind == IW_CLASS_UNKNOWN ? "other" : iw_class_name(source->kind),
                   source->name[0] != '\0' ? " " : "", source->name);
    for (char *c = text; *c != '\0'; c++) {
        *c = *c >= ' ' && *c < 127 ? *c : '?'; /* threads choose their names */
    }
    (void)printf("%-*.*s", NAME_COLUMNS, NAME_COLUMNS, text);
}

/* How long the longest was is known up to a factor of two. */
static void draw_row(const struct row *row, uint64_t wanted_ns, uint64_t all_wanted_ns, double seconds)
{
    char mean[TIME_SIZE] = "", longest[TIME_SIZE + 2] = "", text[TIME_SIZE];

    if (row->count > 0) {
        (void)time_text(row->ns / row->count, mean);
    }
    if (row->longest >= 0) {
        (void)snprintf(longest, sizeof longest, "<%s", time_text(UINT64_C(2) << row->longest, text));
    }
    write_name(&row->source->source);
    (void)printf(" %7.2f %% %7.2f %% %9.0f %10s %10s", share(row->ns, wanted_ns),
                 share(row->source->time_ns, all_wanted_ns), (double)row->count / seconds, mean, longest);
    end_line();
}

static size_t rows_that_fit(void)
{
    struct winsize size = {.ws_row = 24};

    (void)ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
    return size.ws_row > HEAD_LINES + LEAST_ROWS ? (size_t)size.ws_row - HEAD_LINES : LEAST_ROWS;
}

static void draw_rows(const struct watch_live *live, const iw_watch_result *so_far)
{
    const double seconds = 1e-9 * (double)(so_far->watched_ns - live->watched_ns);
    const size_t count = so_far->source_count, fit = rows_that_fit();
    struct row *rows = ui_grow(NULL, count + 1, sizeof *rows);

    for (size_t i = 0; i < count; i++) {
        rows[i] = row_of(live, &so_far->sources[i]);
    }
    qsort(rows, count, sizeof *rows, by_time);
    for (size_t i = 0; i < count && i < fit; i++) {
        draw_row(&rows[i], grown(so_far->totals.wanted_ns, live->totals.wanted_ns), so_far->totals.wanted_ns,
                 seconds);
    }
    free(rows);
}

void watch_live_draw(struct watch_live *live, const iw_watch_result *so_far)
{
    if (so_far->watched_ns <= live->watched_ns) {
        return;
    }
    draw_head(live, so_far);
    draw_rows(live, so_far);
    (void)fputs("\033[J", stdout);
    (void)fflush(stdout);
    keep(live, so_far);
}
