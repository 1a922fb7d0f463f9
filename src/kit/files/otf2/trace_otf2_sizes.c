/* Sizes of collectives: from what tracers write to what a call has.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "kit/files/otf2/trace_otf2_read.h"

static uint64_t divide_up(uint64_t bytes, uint64_t by)
{
    return by > 0 ? bytes / by + (bytes % by != 0) : bytes;
}

/* The part of one of `size` ranks. With MPI_IN_PLACE Score-P leaves the rank itself out: then only the
 * quotient by size - 1 is a whole number of words. */
static uint64_t share(uint64_t bytes, uint64_t size)
{
    const bool is_whole = bytes % size == 0 && bytes / size % 4 == 0;

    if (!is_whole && size > 1 && bytes % (size - 1) == 0 && bytes / (size - 1) % 4 == 0) {
        return bytes / (size - 1);
    }
    return divide_up(bytes, size);
}

static uint64_t from_totals(uint8_t op, uint32_t size, uint32_t me, uint64_t sent, uint64_t received)
{
    switch (op) {
    case IWI_TRACE_BCAST: return received > 0 ? received : share(sent, size);
    case IWI_TRACE_REDUCE:
    case IWI_TRACE_GATHER: return sent > 0 ? sent : divide_up(received, size - 1);
    case IWI_TRACE_SCATTER: return received > 0 ? received : divide_up(sent, size - 1);
    case IWI_TRACE_ALLREDUCE:
    case IWI_TRACE_ALLTOALL:
    case IWI_TRACE_REDUCE_SCATTER: return share(sent, size);
    case IWI_TRACE_ALLGATHER: return share(received, size);
    case IWI_TRACE_SCAN:
    case IWI_TRACE_EXSCAN: /* sent to ranks from this one on, received from those up to it */
        return sent % (size - me) == 0 ? sent / (size - me) : divide_up(received, (uint64_t)me + 1);
    case IWI_TRACE_NEIGHBOR: return sent;
    default: return 0;
    }
}

uint64_t iwi_otf2_bytes(enum iwi_otf2_sizes sizes, bool has_sums, uint8_t op, uint32_t size, uint32_t me,
                        uint64_t sent, uint64_t received)
{
    if (op == IWI_TRACE_BARRIER || op == IWI_TRACE_COMM_CREATE) {
        return 0;
    }
    if (sizes == IWI_SIZES_EACH && !has_sums) {
        return op == IWI_TRACE_SCATTER || sent == 0 ? received : sent;
    }
    return from_totals(op, size, me, sent, received);
}
