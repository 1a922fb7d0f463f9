/* Traces of MPI programs in memory: made by readers (src/kit/files/trace), freed by whoever has them.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/program/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "core/base/base.h"

struct iw_trace *iwi_trace_new(const iw_log *log, uint32_t rank_count)
{
    struct iw_trace *trace = iwi_new_array(log, 1, sizeof *trace);

    if (trace == NULL) {
        return NULL;
    }
    trace->ranks = iwi_new_array(log, rank_count, sizeof *trace->ranks);
    if (trace->ranks == NULL) {
        free(trace);
        return NULL;
    }
    trace->rank_count = rank_count;
    return trace;
}

void iwi_comm_label(const struct iw_trace *trace, uint32_t comm, char label[IWI_COMM_NAME_SIZE])
{
    const char *name = comm < trace->comm_count ? trace->comms[comm].name : "";

    if (comm == 0 && name[0] == '\0') {
        (void)snprintf(label, IWI_COMM_NAME_SIZE, "world");
    } else if (name[0] == '\0') {
        (void)snprintf(label, IWI_COMM_NAME_SIZE, "communicator %" PRIu32, comm);
    } else {
        (void)snprintf(label, IWI_COMM_NAME_SIZE, "%s", name);
    }
}

void iwi_trace_warn_of_neighbours(const iw_log *log, const struct iw_trace *trace)
{
    uint64_t count = 0;

    for (uint32_t r = 0; r < trace->rank_count; r++) {
        for (uint64_t i = 0; i < trace->ranks[r].call_count; i++) {
            const struct iwi_call *call = &trace->ranks[r].calls[i];

            count += (call->kind == IWI_CALL_COLLECTIVE || call->kind == IWI_CALL_ICOLLECTIVE) &&
                     call->op == IWI_TRACE_NEIGHBOR;
        }
    }
    if (count > 0) {
        iwi_warn(log,
                 "%" PRIu64
                 " calls of neighbour collectives count as waiting for all ranks of their communicator: who "
                 "made others wait in them may be wrong",
                 count);
    }
}

void iw_trace_free(iw_trace *trace)
{
    if (trace == NULL) {
        return;
    }
    for (uint32_t r = 0; trace->mapping == NULL && r < trace->rank_count; r++) {
        free(trace->ranks[r].calls);
        free(trace->ranks[r].completed);
    }
    for (uint32_t c = 0; c < trace->comm_count; c++) {
        free(trace->comms[c].members);
    }
    if (trace->mapping != NULL) {
        (void)munmap(trace->mapping, trace->mapping_size);
    }
    free(trace->comms);
    free(trace->size_lists);
    free(trace->parts);
    free(trace->ranks);
    free(trace);
}
