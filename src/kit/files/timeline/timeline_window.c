/* Finds the steps of a timeline that are to be exported.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "kit/files/timeline/timeline_window.h"

/* IW_ERR_RANGE: there is nothing to export. */
static iw_status check_some(const iw_log *log, const struct iwi_exact_window *window)
{
    for (uint32_t i = 0; i < window->count; i++) {
        if (iwi_exact_window_steps(window, i).count > 0) {
            return IW_OK;
        }
    }
    return iwi_fail(log, IW_ERR_RANGE, "no step of these ranks is in that time");
}

static iw_status choose_ranks(const iw_log *log, const iw_timeline_window *wanted,
                              struct iwi_exact_window *window)
{
    const uint32_t ranks = iw_timeline_describe(window->timeline)->ranks,
                   exact = iw_timeline_exact_ranks(window->timeline),
                   begin = iw_timeline_exact_rank(window->timeline, 0);

    if (wanted->first_rank >= ranks) {
        return iwi_fail(log, IW_ERR_RANGE, "there is no rank %" PRIu32 ": the timeline has %" PRIu32 " ranks",
                        wanted->first_rank, ranks);
    }
    (void)iw_timeline_exact_index(window->timeline, wanted->first_rank, &window->first);
    window->count = wanted->rank_count;
    if ((uint64_t)window->first + window->count > exact && (exact < ranks || window->count > ranks)) {
        return iwi_fail(log, IW_ERR_RANGE,
                        "ranks %u to %" PRIu64
                        " are not all known exactly: the window is %u of %u ranks, from "
                        "rank %u on",
                        wanted->first_rank, ((uint64_t)wanted->first_rank + wanted->rank_count - 1) % ranks,
                        exact, ranks, begin);
    }
    return IW_OK;
}

iw_status iwi_exact_window_open(const iw_log *log, const iw_timeline *timeline,
                                const iw_timeline_window *wanted, struct iwi_exact_window *window)
{
    const uint32_t ranks = iw_timeline_describe(timeline)->ranks, exact = iw_timeline_exact_ranks(timeline);

    if (exact == 0) {
        return iwi_fail(log, IW_ERR_UNSUPPORTED,
                        "the timeline has only a raster: what is exported must be in its exact window");
    }
    *window = (struct iwi_exact_window){timeline, 0, exact, 0, INT64_MAX};
    if (exact == ranks) { /* all of them: in their order, wherever the window begins */
        window->first = (ranks - iw_timeline_exact_rank(timeline, 0)) % ranks;
    }
    if (wanted == NULL) {
        return IW_OK;
    }
    window->from_ps = wanted->from_ps;
    window->to_ps = wanted->to_ps != 0 ? wanted->to_ps : INT64_MAX;
    if (window->from_ps < 0 || window->to_ps <= window->from_ps) {
        return iwi_fail(log, IW_ERR_RANGE, "what is to be exported ends before it begins");
    }
    if (wanted->rank_count != 0) {
        IW_TRY(choose_ranks(log, wanted, window));
    }
    return check_some(log, window);
}

struct iwi_exact_window_steps iwi_exact_window_steps(const struct iwi_exact_window *window, uint32_t number)
{
    const uint32_t index = (uint32_t)(((uint64_t)window->first + number) %
                                      iw_timeline_exact_ranks(window->timeline)); /* all: around the end */
    struct iwi_exact_window_steps part = {.rank = iw_timeline_exact_rank(window->timeline, index)};

    part.steps = iw_timeline_steps(window->timeline, index, &part.count, &part.first_number);
    while (part.count > 0 && iw_step_end(part.steps) <= window->from_ps) {
        part.steps++;
        part.count--;
        part.first_number++;
    }
    while (part.count > 0 && part.steps[part.count - 1].begin_ps >= window->to_ps) {
        part.count--;
    }
    return part;
}
