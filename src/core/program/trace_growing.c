/* Which communicators of a trace span all replicas on more ranks than were traced, and which keep their size.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/base/base.h"
#include "core/program/trace.h"

bool iwi_comm_is_data_parallel(const char *name)
{
    static const char *const parts[] = {"dp", "data", "fsdp", "zero", "replicate"};

    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if (strcasestr(name, parts[i]) != NULL) {
            return true;
        }
    }
    return false;
}

/* A name in full means that one only: "communicator 1" is not "communicator 12". */
static bool has_exactly(const struct iw_trace *trace, const char *told)
{
    char label[IWI_COMM_NAME_SIZE];

    for (uint32_t comm = 0; told != NULL && comm < trace->comm_count; comm++) {
        iwi_comm_label(trace, comm, label);
        if (strcasecmp(label, told) == 0) {
            return true;
        }
    }
    return false;
}

struct iwi_growing iwi_trace_growing(const struct iw_trace *trace, const char *told)
{
    return (struct iwi_growing){trace, told, has_exactly(trace, told)};
}

/* Programs of MPI call their communicators anything: only what was asked for grows. */
bool iwi_comm_grows(const struct iwi_growing *growing, uint32_t comm)
{
    char label[IWI_COMM_NAME_SIZE];

    iwi_comm_label(growing->trace, comm, label);
    if (growing->told == NULL) {
        return growing->trace->is_training && iwi_comm_is_data_parallel(label);
    }
    return growing->is_exact ? strcasecmp(label, growing->told) == 0
                             : strcasestr(label, growing->told) != NULL;
}

iw_status iwi_trace_fixed_groups(const iw_log *log, const struct iw_trace *trace, const char *told,
                                 uint32_t *count_p)
{
    const struct iwi_growing growing = iwi_trace_growing(trace, told);
    bool *is_used = iwi_new_array(log, trace->comm_count, sizeof *is_used);
    uint32_t count = 0;

    if (is_used == NULL) {
        return IW_ERR_NOMEM;
    }
    for (uint32_t rank = 0; rank < trace->rank_count; rank++) {
        for (uint64_t c = 0; c < trace->ranks[rank].call_count; c++) {
            const struct iwi_call *call = &trace->ranks[rank].calls[c];

            if (call->kind == IWI_CALL_COLLECTIVE || call->kind == IWI_CALL_ICOLLECTIVE) {
                is_used[call->comm] = true;
            }
        }
    }
    for (uint32_t i = 0; i < trace->comm_count; i++) {
        const struct iwi_comm *comm = &trace->comms[i];

        count += is_used[i] && comm->members != NULL && comm->size > 1 && comm->size < trace->rank_count &&
                 !iwi_comm_grows(&growing, i);
    }
    free(is_used);
    *count_p = count;
    return IW_OK;
}
