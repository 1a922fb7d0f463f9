/* Windows of timelines: of ranks and time, as they are asked for, and which ranks are kept where nobody says.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "options/window.h"

#include <stdio.h>
#include <string.h>

enum { NUMBER_SIZE = 32 };

/* At the '-' that is no sign of an exponent; false: there is none, or nothing on one of its sides. */
static bool split(const char *text, char first[NUMBER_SIZE], const char **second_p)
{
    const char *dash = strchr(text, '-');

    while (dash != NULL && dash > text && (dash[-1] == 'e' || dash[-1] == 'E')) {
        dash = strchr(dash + 1, '-');
    }
    if (dash == NULL || dash == text || dash[1] == '\0' || dash - text >= NUMBER_SIZE) {
        return false;
    }
    (void)snprintf(first, NUMBER_SIZE, "%.*s", (int)(dash - text), text);
    *second_p = dash + 1;
    return true;
}

int window_parse_ranks(struct ui *ui, const char *option, const char *text, struct window *window)
{
    const bool is_single = strchr(text, '-') == NULL;
    char first[NUMBER_SIZE];
    const char *second = text;
    uint64_t from, to;

    if (!is_single && !split(text, first, &second)) {
        return ui_usage(ui, "%s: '%s' is not a range of ranks: write 0-63", option, text);
    }
    ui->option = option;
    if (iw_parse_count(&ui->log, is_single ? text : first, &from) != IW_OK ||
        iw_parse_count(&ui->log, second, &to) != IW_OK) {
        ui_see_help(ui);
        return UI_USAGE;
    }
    ui->option = NULL;
    if (from >= UINT32_MAX || to >= UINT32_MAX) {
        return ui_usage(ui, "%s %s: too large for ranks", option, text);
    }
    window->has_ranks = true;
    window->first_rank = (uint32_t)from;
    window->last_rank = (uint32_t)to;
    return UI_DONE;
}

int window_parse_time(struct ui *ui, const char *option, const char *text, struct window *window)
{
    char first[NUMBER_SIZE];
    const char *second;

    if (!split(text, first, &second)) {
        return ui_usage(ui, "%s: '%s' is not a range of times: write 10ms-1s", option, text);
    }
    ui->option = option;
    if (iw_parse_time(&ui->log, first, &window->from_ps) != IW_OK ||
        iw_parse_time(&ui->log, second, &window->to_ps) != IW_OK) {
        ui_see_help(ui);
        return UI_USAGE;
    }
    ui->option = NULL;
    if (window->to_ps <= window->from_ps) {
        return ui_usage(ui, "%s %s: the end is before the beginning", option, text);
    }
    return UI_DONE;
}

uint32_t window_rank_count(const struct window *window, uint32_t ranks)
{
    if (!window->has_ranks) {
        return 0;
    }
    return window->last_rank >= window->first_rank ? window->last_rank - window->first_rank + 1
                                                   : ranks - window->first_rank + window->last_rank + 1;
}

/* ======== ranks that nobody chose ======== */

/* The window begins so many ranks, or this part of all, before the one that must be in it. */
enum { MOST_RANKS_BEFORE = 1024, PART_BEFORE = 16 };

void window_centre_on(uint32_t rank, uint64_t fitting, iw_timeline_opts *timeline)
{
    const uint32_t ranks = timeline->about.ranks;
    const uint32_t count = fitting > 0 ? (uint32_t)fitting : 1, before = count / 2;

    timeline->rank_count = count;
    if (rank >= before && (timeline->about.is_periodic || rank - before <= ranks - count)) {
        timeline->first_rank = rank - before;
    } else if (timeline->about.is_periodic) {
        timeline->first_rank = ranks - (before - rank);
    } else {
        timeline->first_rank = rank < before ? 0 : ranks - count;
    }
}

void window_begin_before(uint32_t rank, iw_timeline_opts *timeline)
{
    const uint32_t ranks = timeline->about.ranks;
    const uint32_t part = ranks / PART_BEFORE, before = part < MOST_RANKS_BEFORE ? part : MOST_RANKS_BEFORE;

    timeline->rank_count = 0; /* all */
    if (rank >= before) {
        timeline->first_rank = rank - before;
    } else {
        timeline->first_rank = timeline->about.is_periodic ? ranks - (before - rank) : 0;
    }
}
