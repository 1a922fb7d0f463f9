/* Sizes of records.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "mpi/trace/record.h"

#include <string.h>

static size_t comm_size(const uint64_t *word, size_t left)
{
    struct iwi_record_comm comm;

    if (left < sizeof comm) {
        return 0;
    }
    memcpy(&comm, word, sizeof comm);
    uint64_t members = (uint64_t)comm.size + comm.remote_size;
    return sizeof comm + (members * sizeof(int32_t) + 7) / 8 * 8;
}

static size_t sizes_size(const uint64_t *word, size_t left)
{
    const uint64_t partners = iwi_record_value_of(*word);

    return partners <= left / (2 * sizeof *word) ? sizeof(struct iwi_record_pair) + partners * 2 * sizeof *word : 0;
}

size_t iwi_record_size(const uint64_t *word, size_t left)
{
    size_t size = 0;

    if (left < sizeof *word) {
        return 0;
    }
    switch (iwi_record_kind_of(*word)) {
    case IWI_RECORD_LEAVE:
    case IWI_RECORD_ISEND_COMPLETE:
    case IWI_RECORD_UNKNOWN:
    case IWI_RECORD_BEGIN:
    case IWI_RECORD_CANCELLED: size = sizeof(uint64_t); break;
    case IWI_RECORD_ENTER: size = sizeof(struct iwi_record_enter); break;
    case IWI_RECORD_POLLS:
    case IWI_RECORD_ON_OFF: size = sizeof(struct iwi_record_pair); break;
    case IWI_RECORD_SEND:
    case IWI_RECORD_ISEND:
    case IWI_RECORD_IRECV_REQUEST:
    case IWI_RECORD_IRECV:
    case IWI_RECORD_RECV_POSTED:
    case IWI_RECORD_RECV: size = sizeof(struct iwi_record_message); break;
    case IWI_RECORD_COLLECTIVE:
    case IWI_RECORD_ICOLLECTIVE:
    case IWI_RECORD_ICOLLECTIVE_COMPLETE: size = sizeof(struct iwi_record_collective); break;
    case IWI_RECORD_LEAVE_AS:
    case IWI_RECORD_LEAVE_LIKE:
        size = (iwi_record_value_of(*word) & UINT16_MAX) < IWI_LIKENESSES ? sizeof(uint64_t) : 0;
        break;
    case IWI_RECORD_COMM: size = comm_size(word, left); break;
    case IWI_RECORD_SIZES: size = sizes_size(word, left); break;
    default: break;
    }
    return size <= left ? size : 0;
}
