/* Passes with shifts that are multiples of one number Q, several at once.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Elements that differ by multiples of Q are closed in themselves: some such columns are copied together,
 * passed, and copied back.
 */
#include "core/sim/flow/flow_columns.h"

#include <string.h>

#include "core/base/base.h"

enum { MIN_WIDTH = 8 /* columns side by side: a line of the cache */ };

static size_t reach(const struct iwi_pass *pass)
{
    return !pass->has_receive ? 0 : pass->is_flip ? pass->flip : pass->shift;
}

void iwi_columns_copy(iw_time *array, iw_time *copy, struct iwi_columns shape, size_t rows, bool is_back)
{
    for (size_t row = 0; row < rows; row++) {
        memcpy(is_back ? array : copy, is_back ? copy : array, shape.width * sizeof *copy);
        array += shape.stride;
        copy += shape.width;
    }
}

/* Columns `first` and on; `odd` is 1 after an odd number of passes. */
static void copy_columns(struct iwi_flow *flow, struct iwi_columns shape, size_t first, size_t odd,
                         bool is_back)
{
    iw_time(*copies)[IWI_COPIED] = flow->stream->copies;

    iwi_columns_copy(flow->cpu + first, copies[IWI_COPY_CPU + odd], shape, shape.rows, is_back);
    iwi_columns_copy(flow->next_detour + first, copies[IWI_COPY_NEXT_DETOUR], shape, shape.rows, is_back);
    if (shape.has_gaps) {
        iwi_columns_copy(flow->send_gap + first, copies[IWI_COPY_SEND_GAP], shape, shape.rows, is_back);
        iwi_columns_copy(flow->recv_gap + first, copies[IWI_COPY_RECV_GAP], shape, shape.rows, is_back);
    }
    if (shape.is_rendezvous) {
        iwi_columns_copy(flow->posted + first, copies[IWI_COPY_POSTED + odd], shape, shape.rows, is_back);
    }
}

static void pass_all(struct iwi_flow *flow, struct iwi_pass *passes, size_t pass_count,
                     struct iwi_columns shape)
{
    iw_time(*copies)[IWI_COPIED] = flow->stream->copies;
    struct iwi_span span = {.count = shape.rows * shape.width,
                            .next_detour = copies[IWI_COPY_NEXT_DETOUR],
                            .send_gap = copies[IWI_COPY_SEND_GAP],
                            .recv_gap = copies[IWI_COPY_RECV_GAP],
                            .stride = shape.stride,
                            .width_shift = (uint32_t)__builtin_ctzll(shape.width)};

    for (span.first = 0; span.first < shape.stride; span.first += shape.width) {
        copy_columns(flow, shape, span.first, 0, false);
        for (size_t p = 0; p < pass_count; p++) {
            const size_t now = p & 1, out = !now;

            if (shape.is_rendezvous) {
                iwi_pass_rendezvous(flow, &span, &passes[p], copies[IWI_COPY_CPU + now],
                                    copies[IWI_COPY_POSTED + now], copies[IWI_COPY_CPU + out],
                                    copies[IWI_COPY_POSTED + out]);
            } else {
                iwi_pass_closed(flow, &span, &passes[p], copies[IWI_COPY_CPU + now],
                                copies[IWI_COPY_CPU + now], copies[IWI_COPY_CPU + out]);
            }
        }
        copy_columns(flow, shape, span.first, pass_count & 1, true);
    }
}

size_t iwi_columns_find(const struct iwi_run *run, uint64_t number, size_t elements, struct iwi_pass *passes,
                        struct iwi_columns *shape)
{
    size_t count = 0;

    *shape = (struct iwi_columns){0};
    while (count < IWI_PASSES && number + count <= run->last_pass) {
        passes[count] = iwi_run_pass(run, number + count);
        if (!passes[count].has_receive) {
            break;
        }
        if (count == 0) {
            shape->stride =
                reach(&passes[0]) & -reach(&passes[0]); /* its largest factor that is a power of two */
            shape->rows = elements / shape->stride;
            if (elements % shape->stride != 0 || shape->stride < MIN_WIDTH ||
                shape->rows * MIN_WIDTH > IWI_COPIED) {
                break;
            }
        }
        if (reach(&passes[count]) % shape->stride != 0) {
            break;
        }
        shape->has_gaps |= passes[count].has_gaps;
        shape->is_rendezvous = passes[count].is_rendezvous;
        count++;
    }
    shape->width = MIN_WIDTH;
    while (shape->width * 2 <= shape->stride && shape->rows * shape->width * 2 <= IWI_COPIED) {
        shape->width *= 2;
    }
    for (size_t p = 0; p < count; p++) {
        passes[p].shift = passes[p].shift / shape->stride * shape->width;
        passes[p].flip = passes[p].flip / shape->stride * shape->width;
    }
    return count;
}

size_t iwi_pass_columns(const struct iwi_run *run, uint64_t number)
{
    struct iwi_pass passes[IWI_PASSES];
    struct iwi_columns shape;
    const size_t count = iwi_columns_find(run, number, run->flow->count, passes, &shape);

    if (count < 2) {
        return 0;
    }
    pass_all(run->flow, passes, count, shape);
    return count;
}
