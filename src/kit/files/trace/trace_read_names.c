/* What MPI functions do, by their names.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "kit/files/trace/trace_read.h"

enum { NAME_MAX_LENGTH = 48 };

struct row {
    const char *name;
    struct iwi_function function;
};

#define COLLECTIVE(op)                       \
    {                                        \
        IWI_FN_COLLECTIVE, IWI_TRACE_##op, 0 \
    }
#define ICOLLECTIVE(op)                       \
    {                                         \
        IWI_FN_ICOLLECTIVE, IWI_TRACE_##op, 0 \
    }

/* Without "MPI_", in lower case, sorted: searched by halving. */
static const struct row rows[] = {
    {"allgather", COLLECTIVE(ALLGATHER)},
    {"allgatherv", COLLECTIVE(ALLGATHER)},
    {"allreduce", COLLECTIVE(ALLREDUCE)},
    {"alltoall", COLLECTIVE(ALLTOALL)},
    {"alltoallv", COLLECTIVE(ALLTOALL)},
    {"alltoallw", COLLECTIVE(ALLTOALL)},
    {"barrier", COLLECTIVE(BARRIER)},
    {"bcast", COLLECTIVE(BCAST)},
    {"bsend", {IWI_FN_P2P, 0, IWI_FN_BUFFERED}},
    {"cart_create", COLLECTIVE(COMM_CREATE)},
    {"cart_sub", COLLECTIVE(COMM_CREATE)},
    {"comm_create", COLLECTIVE(COMM_CREATE)},
    {"comm_create_from_group", {IWI_FN_OPAQUE, 0, 0}},
    {"comm_create_group", COLLECTIVE(COMM_CREATE)},
    {"comm_dup", COLLECTIVE(COMM_CREATE)},
    {"comm_dup_with_info", COLLECTIVE(COMM_CREATE)},
    {"comm_idup", ICOLLECTIVE(COMM_CREATE)},
    {"comm_idup_with_info", ICOLLECTIVE(COMM_CREATE)},
    {"comm_split", COLLECTIVE(COMM_CREATE)},
    {"comm_split_type", COLLECTIVE(COMM_CREATE)},
    {"dist_graph_create", COLLECTIVE(COMM_CREATE)},
    {"dist_graph_create_adjacent", COLLECTIVE(COMM_CREATE)},
    {"exscan", COLLECTIVE(EXSCAN)},
    {"finalize", {IWI_FN_FINALIZE, 0, 0}},
    {"gather", COLLECTIVE(GATHER)},
    {"gatherv", COLLECTIVE(GATHER)},
    {"graph_create", COLLECTIVE(COMM_CREATE)},
    {"iallgather", ICOLLECTIVE(ALLGATHER)},
    {"iallgatherv", ICOLLECTIVE(ALLGATHER)},
    {"iallreduce", ICOLLECTIVE(ALLREDUCE)},
    {"ialltoall", ICOLLECTIVE(ALLTOALL)},
    {"ialltoallv", ICOLLECTIVE(ALLTOALL)},
    {"ialltoallw", ICOLLECTIVE(ALLTOALL)},
    {"ibarrier", ICOLLECTIVE(BARRIER)},
    {"ibcast", ICOLLECTIVE(BCAST)},
    {"ibsend", {IWI_FN_P2P, 0, 0}},
    {"iexscan", ICOLLECTIVE(EXSCAN)},
    {"igather", ICOLLECTIVE(GATHER)},
    {"igatherv", ICOLLECTIVE(GATHER)},
    {"improbe", {IWI_FN_PROBE, 0, 0}},
    {"imrecv", {IWI_FN_P2P, 0, 0}},
    {"ineighbor_allgather", ICOLLECTIVE(NEIGHBOR)},
    {"ineighbor_allgatherv", ICOLLECTIVE(NEIGHBOR)},
    {"ineighbor_alltoall", ICOLLECTIVE(NEIGHBOR)},
    {"ineighbor_alltoallv", ICOLLECTIVE(NEIGHBOR)},
    {"ineighbor_alltoallw", ICOLLECTIVE(NEIGHBOR)},
    {"init", {IWI_FN_INIT, 0, 0}},
    {"init_thread", {IWI_FN_INIT, 0, 0}},
    {"intercomm_create", {IWI_FN_OPAQUE, 0, 0}},
    {"intercomm_merge", {IWI_FN_OPAQUE, 0, 0}},
    {"iprobe", {IWI_FN_PROBE, 0, 0}},
    {"irecv", {IWI_FN_P2P, 0, 0}},
    {"ireduce", ICOLLECTIVE(REDUCE)},
    {"ireduce_scatter", ICOLLECTIVE(REDUCE_SCATTER)},
    {"ireduce_scatter_block", ICOLLECTIVE(REDUCE_SCATTER)},
    {"irsend", {IWI_FN_P2P, 0, 0}},
    {"iscan", ICOLLECTIVE(SCAN)},
    {"iscatter", ICOLLECTIVE(SCATTER)},
    {"iscatterv", ICOLLECTIVE(SCATTER)},
    {"isend", {IWI_FN_P2P, 0, 0}},
    {"isendrecv", {IWI_FN_P2P, 0, 0}},
    {"isendrecv_replace", {IWI_FN_P2P, 0, 0}},
    {"issend", {IWI_FN_P2P, 0, IWI_FN_SYNCHRONOUS}},
    {"mprobe", {IWI_FN_PROBE, 0, 0}},
    {"mrecv", {IWI_FN_P2P, 0, 0}},
    {"neighbor_allgather", COLLECTIVE(NEIGHBOR)},
    {"neighbor_allgatherv", COLLECTIVE(NEIGHBOR)},
    {"neighbor_alltoall", COLLECTIVE(NEIGHBOR)},
    {"neighbor_alltoallv", COLLECTIVE(NEIGHBOR)},
    {"neighbor_alltoallw", COLLECTIVE(NEIGHBOR)},
    {"probe", {IWI_FN_PROBE, 0, 0}},
    {"recv", {IWI_FN_P2P, 0, 0}},
    {"reduce", COLLECTIVE(REDUCE)},
    {"reduce_scatter", COLLECTIVE(REDUCE_SCATTER)},
    {"reduce_scatter_block", COLLECTIVE(REDUCE_SCATTER)},
    {"request_free", {IWI_FN_REQUEST_FREE, 0, 0}},
    {"request_get_status", {IWI_FN_PROBE, 0, 0}},
    {"rsend", {IWI_FN_P2P, 0, 0}},
    {"scan", COLLECTIVE(SCAN)},
    {"scatter", COLLECTIVE(SCATTER)},
    {"scatterv", COLLECTIVE(SCATTER)},
    {"send", {IWI_FN_P2P, 0, 0}},
    {"sendrecv", {IWI_FN_SENDRECV, 0, 0}},
    {"sendrecv_replace", {IWI_FN_SENDRECV, 0, 0}},
    {"ssend", {IWI_FN_P2P, 0, IWI_FN_SYNCHRONOUS}},
    {"start", {IWI_FN_START, 0, 0}},
    {"startall", {IWI_FN_START, 0, 0}},
    {"test", {IWI_FN_TEST, 0, 0}},
    {"testall", {IWI_FN_TEST, 0, 0}},
    {"testany", {IWI_FN_TEST, 0, 0}},
    {"testsome", {IWI_FN_TEST, 0, 0}},
    {"wait", {IWI_FN_WAIT, 0, 0}},
    {"waitall", {IWI_FN_WAITALL, 0, 0}},
    {"waitany", {IWI_FN_WAITANY, 0, 0}},
    {"waitsome", {IWI_FN_WAITSOME, 0, 0}},
};

/* What communicates in ways that are not followed. Everything else that MPI has is local. */
static const char *const opaque_prefixes[] = {
    "accumulate",
    "comm_accept",
    "comm_connect",
    "comm_disconnect",
    "comm_join",
    "comm_spawn",
    "compare_and_swap",
    "fetch_and_op",
    "file_close",
    "file_iread",
    "file_iwrite",
    "file_open",
    "file_preallocate",
    "file_read",
    "file_set_size",
    "file_set_view",
    "file_sync",
    "file_write",
    "get_accumulate",
    "grequest_",
    "parrived",
    "pready",
    "precv_init",
    "psend_init",
    "put",
    "raccumulate",
    "rget",
    "rput",
    "session_",
    "win_allocate",
    "win_attach",
    "win_complete",
    "win_create",
    "win_fence",
    "win_flush",
    "win_free",
    "win_lock",
    "win_post",
    "win_start",
    "win_sync",
    "win_test",
    "win_unlock",
    "win_wait",
};

static int compare(const void *key, const void *row)
{
    return strcmp(key, ((const struct row *)row)->name);
}

static bool is_opaque(const char *name)
{
    if (strcmp(name, "get") == 0) {
        return true;
    }
    for (size_t i = 0; i < sizeof opaque_prefixes / sizeof opaque_prefixes[0]; i++) {
        if (strncmp(name, opaque_prefixes[i], strlen(opaque_prefixes[i])) == 0) {
            return true;
        }
    }
    return false;
}

struct iwi_function iwi_function_of(const char *name, size_t length)
{
    char lower[NAME_MAX_LENGTH];
    const struct row *row;

    if (length < 5 || length - 4 >= sizeof lower || strncasecmp(name, "MPI_", 4) != 0) {
        return (struct iwi_function){IWI_FN_NONE, 0, 0};
    }
    length -= 4;
    for (size_t i = 0; i < length; i++) {
        const char c = name[i + 4];

        lower[i] = (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    }
    if (length > 2 && lower[length - 2] == '_' && lower[length - 1] == 'c') {
        length -= 2;
    }
    lower[length] = '\0';
    row = bsearch(lower, rows, sizeof rows / sizeof rows[0], sizeof rows[0], compare);
    if (row != NULL) {
        return row->function;
    }
    return (struct iwi_function){is_opaque(lower) ? IWI_FN_OPAQUE : IWI_FN_LOCAL, 0, 0};
}
