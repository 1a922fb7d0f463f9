/* The link between the processes of a run, over MPI.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A communicator of its own, in which the processes of a node are neighbours; a channel is a tag. There is
 * one link, as there is one MPI_COMM_WORLD.
 */
#include "mpi/plugin.h"

#include <limits.h>
#include <stdlib.h>

#include <mpi.h>

#include "core/base/base.h"
#include "kit/launch/launcher.h"

struct iw_link_request {
    MPI_Request request;
    size_t bytes;
    bool is_receive;
    uint32_t peer;
};

static struct {
    bool is_open;
    MPI_Comm comm;
    iw_link link;
} the_link;

/* `what` failed: MPI's own words. */
static iw_status fail(const iw_log *log, const char *what, int error)
{
    char text[MPI_MAX_ERROR_STRING + 1] = "";
    int length = 0;

    if (MPI_Error_string(error, text, &length) != MPI_SUCCESS || length <= 0) {
        return iwi_fail(log, IW_ERR_IO, "MPI (%s): %s failed with error %d", IW_MPI_NAME, what, error);
    }
    return iwi_fail(log, IW_ERR_IO, "MPI (%s): %s failed: %s", IW_MPI_NAME, what, text);
}

/* ---- messages ---- */

static iw_link_request *new_request(const iw_log *log, uint32_t peer, size_t bytes, bool is_receive)
{
    iw_link_request *request = iwi_new_array(log, 1, sizeof *request);

    if (request != NULL) {
        *request = (iw_link_request){MPI_REQUEST_NULL, bytes, is_receive, peer};
    }
    return request;
}

/* A call of MPI has begun the request, or not. */
static iw_status begun(const iw_log *log, const char *what, int error, iw_link_request *request,
                       iw_link_request **request_p)
{
    if (error != MPI_SUCCESS) {
        free(request);
        return fail(log, what, error);
    }
    *request_p = request;
    return IW_OK;
}

static iw_status link_send(void *arg, const iw_log *log, uint32_t to, uint32_t channel, const void *data,
                           size_t bytes, iw_link_request **request_p)
{
    iw_link_request *request = new_request(log, to, bytes, false);

    (void)arg;
    if (request == NULL) {
        return IW_ERR_NOMEM;
    }
    return begun(
        log, "sending",
        MPI_Isend(data, (int)bytes, MPI_BYTE, (int)to, (int)channel, the_link.comm, &request->request),
        request, request_p);
}

static iw_status link_receive(void *arg, const iw_log *log, uint32_t from, uint32_t channel, void *data,
                              size_t bytes, iw_link_request **request_p)
{
    iw_link_request *request = new_request(log, from, bytes, true);

    (void)arg;
    if (request == NULL) {
        return IW_ERR_NOMEM;
    }
    return begun(
        log, "receiving",
        MPI_Irecv(data, (int)bytes, MPI_BYTE, (int)from, (int)channel, the_link.comm, &request->request),
        request, request_p);
}

static bool is_truncated(int error)
{
    int class = MPI_SUCCESS;

    return error != MPI_SUCCESS && MPI_Error_class(error, &class) == MPI_SUCCESS && class == MPI_ERR_TRUNCATE;
}

/* A message of another size than expected is the mistake of whoever sent it, not of MPI. */
static iw_status check_end(const iw_log *log, const iw_link_request *request, int error,
                           const MPI_Status *status)
{
    int bytes = 0;

    if (request->is_receive && is_truncated(error)) {
        return iwi_fail(log, IW_ERR_FORMAT, "process %" PRIu32 " sends more than the %zu bytes expected",
                        request->peer, request->bytes);
    }
    if (error != MPI_SUCCESS) {
        return fail(log, request->is_receive ? "receiving" : "sending", error);
    }
    if (request->is_receive && (MPI_Get_count(status, MPI_BYTE, &bytes) != MPI_SUCCESS || bytes < 0 ||
                                (size_t)bytes != request->bytes)) {
        return iwi_fail(log, IW_ERR_FORMAT, "process %" PRIu32 " sends %d bytes, but %zu are expected",
                        request->peer, bytes, request->bytes);
    }
    return IW_OK;
}

static iw_status link_test(void *arg, const iw_log *log, iw_link_request *request, bool *is_done_p)
{
    MPI_Status status;
    int is_done = 0;
    const int error = MPI_Test(&request->request, &is_done, &status);

    (void)arg;
    if (error == MPI_SUCCESS && !is_done) {
        *is_done_p = false;
        return IW_OK;
    }
    const iw_status end = check_end(log, request, error, &status);

    free(request);
    *is_done_p = true;
    return end;
}

static iw_status link_probe(void *arg, const iw_log *log, uint32_t from, uint32_t channel, bool *is_there_p,
                            size_t *bytes_p)
{
    MPI_Status status;
    int is_there = 0, bytes = 0, error;

    (void)arg;
    error = MPI_Iprobe((int)from, (int)channel, the_link.comm, &is_there, &status);
    if (error == MPI_SUCCESS && is_there) {
        error = MPI_Get_count(&status, MPI_BYTE, &bytes);
    }
    if (error != MPI_SUCCESS) {
        return fail(log, "looking for a message", error);
    }
    *is_there_p = is_there;
    *bytes_p = (size_t)bytes;
    return IW_OK;
}

/* ---- opening ---- */

/* Threads that may call MPI at once. */
static iw_status start_mpi(const iw_log *log, uint32_t *most_threads_p)
{
    int is_started, provided, size, error = MPI_Initialized(&is_started);

    if (error == MPI_SUCCESS) {
        error = is_started ? MPI_Query_thread(&provided)
                           : MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
    }
    /* MPICH tests requests by the handler of MPI_COMM_WORLD, whatever communicator they are of */
    if (error != MPI_SUCCESS || MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN) != MPI_SUCCESS ||
        MPI_Comm_size(MPI_COMM_WORLD, &size) != MPI_SUCCESS) {
        return iwi_fail(log, IW_ERR_IO, "MPI (%s) could not start", IW_MPI_NAME);
    }
    IW_TRY(iwi_launcher_check_size(log, IW_MPI_NAME, (uint32_t)size));
    *most_threads_p = provided == MPI_THREAD_MULTIPLE ? UINT32_MAX : 1;
    return IW_OK;
}

/* All processes, ordered by the first process of their node, then as before. */
static int order_by_node(MPI_Comm *comm_p, int *is_first_p)
{
    MPI_Comm node;
    int rank, first, node_rank, error = MPI_Comm_rank(MPI_COMM_WORLD, &rank);

    if (error == MPI_SUCCESS) {
        error = MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
    }
    if (error != MPI_SUCCESS) {
        return error;
    }
    first = rank;
    error = MPI_Bcast(&first, 1, MPI_INT, 0, node);
    if (error == MPI_SUCCESS) {
        error = MPI_Comm_rank(node, &node_rank);
    }
    (void)MPI_Comm_free(&node);
    if (error == MPI_SUCCESS) {
        *is_first_p = node_rank == 0;
        error = MPI_Comm_split(MPI_COMM_WORLD, 0, first, comm_p); /* equal keys: ordered as before */
    }
    return error;
}

/* Who and where this process is. */
static int find_place(MPI_Comm comm, int is_first, iw_link *link)
{
    int rank, size, nodes, nodes_so_far, error;

    if ((error = MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN)) != MPI_SUCCESS ||
        (error = MPI_Comm_rank(comm, &rank)) != MPI_SUCCESS ||
        (error = MPI_Comm_size(comm, &size)) != MPI_SUCCESS ||
        (error = MPI_Scan(&is_first, &nodes_so_far, 1, MPI_INT, MPI_SUM, comm)) != MPI_SUCCESS ||
        (error = MPI_Allreduce(&is_first, &nodes, 1, MPI_INT, MPI_SUM, comm)) != MPI_SUCCESS) {
        return error;
    }
    link->rank = (uint32_t)rank;
    link->size = (uint32_t)size;
    link->node = (uint32_t)(nodes_so_far - 1); /* the first of a node comes before its others */
    link->nodes = (uint32_t)nodes;
    return MPI_SUCCESS;
}

static uint32_t most_channels(MPI_Comm comm)
{
    int *largest_tag, is_told = 0;

    if (MPI_Comm_get_attr(comm, MPI_TAG_UB, &largest_tag, &is_told) != MPI_SUCCESS || !is_told) {
        return 32767 + 1; /* the least that the MPI standard allows as MPI_TAG_UB */
    }
    return (uint32_t)*largest_tag + 1;
}

iw_status iwi_mpi_link_open(const iw_log *log, const iw_link **link_p)
{
    iw_link link = {.send = link_send, .receive = link_receive, .test = link_test, .probe = link_probe};
    int is_first, error;

    IW_TRY(start_mpi(log, &link.most_threads));
    if (!the_link.is_open) {
        error = order_by_node(&the_link.comm, &is_first);
        if (error == MPI_SUCCESS) {
            error = find_place(the_link.comm, is_first, &link);
        }
        if (error != MPI_SUCCESS) {
            return fail(log, "finding the other processes", error);
        }
        link.most_channels = most_channels(MPI_COMM_WORLD);
        the_link.link = link;
        the_link.is_open = true;
    }
    *link_p = &the_link.link;
    return IW_OK;
}

void iwi_mpi_link_close(void)
{
    if (the_link.is_open) {
        the_link.is_open = false;
        (void)MPI_Comm_free(&the_link.comm);
    }
}
