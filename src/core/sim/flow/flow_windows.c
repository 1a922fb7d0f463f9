/* Passes with short shifts of messages by rendezvous, several at once, window after window of the elements.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Such a pass needs the elements on both sides. A window is copied with a margin as wide as all shifts
 * together, around the end where it must be; each pass spoils as much of the margin as its shift, and what is
 * inside is right in the end and copied back. Margins are copied from what the elements were before any
 * window was passed.
 */
#include <string.h>

#include "core/base/base.h"
#include "core/sim/flow/flow_stream.h"

/* A window of `count` elements from `first` on, and `margin` on both sides. */
struct window {
    size_t first, count, margin;
};

/* The arrays of the flow by the number of their copy; NULL: none. */
struct arrays {
    iw_time *of[IWI_COPIES];
};

static struct arrays arrays_of(const struct iwi_flow *flow)
{
    return (struct arrays){.of = {[IWI_COPY_CPU] = flow->cpu,
                                  [IWI_COPY_POSTED] = flow->posted,
                                  [IWI_COPY_NEXT_DETOUR] = flow->next_detour,
                                  [IWI_COPY_SEND_GAP] = flow->send_gap,
                                  [IWI_COPY_RECV_GAP] = flow->recv_gap}};
}

static void copy_times(iw_time *to, const iw_time *from, size_t count)
{
    memcpy(to, from, count * sizeof *to);
}

static void load(struct iwi_flow *flow, struct window window)
{
    struct iwi_stream *stream = flow->stream;
    const struct arrays arrays = arrays_of(flow);
    const size_t end = window.first + window.count, after = flow->count - end;
    const size_t ahead = after < window.margin ? after : window.margin;

    for (size_t a = 0; a < IWI_COPIES; a++) {
        const iw_time *array = arrays.of[a];
        iw_time *copy = stream->copies[a];

        if (array == NULL) {
            continue;
        }
        copy_times(copy, window.first == 0 ? array + flow->count - window.margin : stream->kept[a],
                   window.margin);
        copy_times(copy + window.margin, array + window.first, window.count + ahead);
        copy_times(copy + window.margin + window.count + ahead, stream->first[a], window.margin - ahead);
        if (window.count >= window.margin) { /* else it is the last one */
            copy_times(stream->kept[a], array + end - window.margin, window.margin);
        }
    }
}

static void store(struct iwi_flow *flow, struct window window, size_t odd)
{
    const struct arrays arrays = arrays_of(flow);

    for (size_t a = 0; a < IWI_COPIES; a++) {
        const bool is_double = a == IWI_COPY_CPU || a == IWI_COPY_POSTED;

        if (arrays.of[a] != NULL) {
            copy_times(arrays.of[a] + window.first,
                       flow->stream->copies[is_double ? a + odd : a] + window.margin, window.count);
        }
    }
}

static void pass_window(struct iwi_flow *flow, const struct iwi_pass *passes, size_t pass_count,
                        struct window window)
{
    iw_time(*copies)[IWI_COPIED] = flow->stream->copies;
    const struct iwi_span span = {.count = window.count + 2 * window.margin,
                                  .next_detour = copies[IWI_COPY_NEXT_DETOUR],
                                  .send_gap = copies[IWI_COPY_SEND_GAP],
                                  .recv_gap = copies[IWI_COPY_RECV_GAP],
                                  .first = window.first + (window.first < window.margin ? flow->count : 0) -
                                           window.margin,
                                  .width_shift = 63};

    load(flow, window);
    for (size_t p = 0; p < pass_count; p++) {
        const size_t now = p & 1, out = !now;

        iwi_pass_rendezvous(flow, &span, &passes[p], copies[IWI_COPY_CPU + now],
                            copies[IWI_COPY_POSTED + now], copies[IWI_COPY_CPU + out],
                            copies[IWI_COPY_POSTED + out]);
    }
    store(flow, window, pass_count & 1);
}

/* How many passes from `number` on can be made on windows, and the sum of their shifts. */
static size_t window_passes(const struct iwi_run *run, uint64_t number, struct iwi_pass *passes,
                            size_t *margin_p)
{
    const size_t most = IWI_WINDOW / 16; /* twice of it is computed in vain */
    size_t count = 0;

    *margin_p = 0;
    while (count < IWI_PASSES && number + count <= run->last_pass) {
        passes[count] = iwi_run_pass(run, number + count);
        if (passes[count].is_flip ? passes[count].flip >= IWI_WINDOW
                                  : *margin_p + passes[count].shift > most) {
            break;
        }
        *margin_p += passes[count].shift;
        count++;
    }
    return count;
}

size_t iwi_pass_windows(const struct iwi_run *run, uint64_t number)
{
    struct iwi_flow *flow = run->flow;
    struct iwi_pass passes[IWI_PASSES];
    struct window window = {0};
    const size_t count = window_passes(run, number, passes, &window.margin);
    const struct arrays arrays = arrays_of(flow);

    /* words of noise cannot be computed in vain: there is only one of each */
    if (count < 2 || flow->words > 0) {
        return 0;
    }
    for (size_t a = 0; a < IWI_COPIES; a++) {
        if (arrays.of[a] != NULL) {
            copy_times(flow->stream->first[a], arrays.of[a], window.margin);
        }
    }
    for (; window.first < flow->count; window.first += window.count) {
        const size_t left = flow->count - window.first, most = IWI_WINDOW - 2 * window.margin;

        window.count = left < most ? left : most;
        pass_window(flow, passes, count, window);
    }
    return count;
}
