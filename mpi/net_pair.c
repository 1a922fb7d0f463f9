/* The exchanges of a pair, both sides of each beside each other.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "mpi/net.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/base/base.h"

enum { TAG_COMMAND = 1, TAG_DATA, TAG_SIGNAL };

/* Keeps the CPU busy outside of MPI. Returns how long, the reading of the clock included. */
static double spin(const struct iwi_pair *pair, int64_t pause_ns)
{
    const int64_t start_ns = iwi_net_now_ns();
    int64_t now_ns = start_ns;

    while (now_ns - start_ns < pause_ns) {
        now_ns = iwi_net_now_ns();
    }
    return (double)(now_ns - start_ns) + pair->clock_cost_ns;
}

static void rest(int64_t pause_ns)
{
    const struct timespec time = {.tv_sec = pause_ns / 1000000000, .tv_nsec = pause_ns % 1000000000};

    (void)nanosleep(&time, NULL);
}

static void send_data(const struct iwi_pair *pair, uint64_t bytes)
{
    MPI_Request request;

    if (!pair->is_nonblocking) {
        MPI_Send(pair->send_buffer, (int)bytes, MPI_BYTE, pair->peer, TAG_DATA, pair->comm);
        return;
    }
    MPI_Isend(pair->send_buffer, (int)bytes, MPI_BYTE, pair->peer, TAG_DATA, pair->comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void recv_data(const struct iwi_pair *pair, uint64_t bytes)
{
    MPI_Request request;

    if (!pair->is_nonblocking) {
        MPI_Recv(pair->recv_buffer, (int)bytes, MPI_BYTE, pair->peer, TAG_DATA, pair->comm,
                 MPI_STATUS_IGNORE);
        return;
    }
    MPI_Irecv(pair->recv_buffer, (int)bytes, MPI_BYTE, pair->peer, TAG_DATA, pair->comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void send_signal(const struct iwi_pair *pair)
{
    MPI_Send(NULL, 0, MPI_BYTE, pair->peer, TAG_SIGNAL, pair->comm);
}

static void recv_signal(const struct iwi_pair *pair)
{
    MPI_Recv(NULL, 0, MPI_BYTE, pair->peer, TAG_SIGNAL, pair->comm, MPI_STATUS_IGNORE);
}

/* ---- PRTT(1,0,s) ---- */

static double ask_round_trip(struct iwi_pair *pair, const struct iwi_message_batch *batch)
{
    const int64_t start_ns = iwi_net_now_ns();

    send_data(pair, batch->bytes);
    recv_data(pair, batch->bytes);
    return (double)(iwi_net_now_ns() - start_ns) - pair->clock_cost_ns;
}

static void answer_round_trip(struct iwi_pair *pair, const struct iwi_message_batch *batch)
{
    recv_data(pair, batch->bytes);
    send_data(pair, batch->bytes);
}

/* ---- PRTT(n,0,s) ---- */

static double ask_train(struct iwi_pair *pair, const struct iwi_message_batch *batch)
{
    MPI_Request requests[IWI_MOST_TRAIN];
    MPI_Status statuses[IWI_MOST_TRAIN]; /* gcc takes MPICH's MPI_STATUSES_IGNORE for an array of no bytes */
    int64_t start_ns;

    recv_signal(pair);
    start_ns = iwi_net_now_ns();
    for (uint32_t i = 0; i < batch->n; i++) {
        if (batch->is_rendezvous) {
            MPI_Isend(pair->send_buffer, (int)batch->bytes, MPI_BYTE, pair->peer, TAG_DATA, pair->comm,
                      &requests[i]);
        } else {
            send_data(pair, batch->bytes);
        }
    }
    if (batch->is_rendezvous) {
        MPI_Waitall((int)batch->n, requests, statuses);
    }
    recv_data(pair, batch->bytes);
    return (double)(iwi_net_now_ns() - start_ns) - pair->clock_cost_ns;
}

static void answer_train(struct iwi_pair *pair, const struct iwi_message_batch *batch)
{
    MPI_Request requests[IWI_MOST_TRAIN];
    MPI_Status statuses[IWI_MOST_TRAIN];

    for (uint32_t i = 0; i < batch->n; i++) {
        MPI_Irecv(pair->recv_buffer + i * batch->bytes, (int)batch->bytes, MPI_BYTE, pair->peer, TAG_DATA,
                  pair->comm, &requests[i]);
    }
    send_signal(pair);
    MPI_Waitall((int)batch->n, requests, statuses);
    send_data(pair, batch->bytes);
}

/* ---- PRTT(n,d,s) without (n-1) d ---- */

static double ask_send(struct iwi_pair *pair, const struct iwi_message_batch *batch)
{
    const int64_t start_ns = iwi_net_now_ns();
    double spun_ns = pair->clock_cost_ns;

    for (uint32_t i = 0; i < batch->n; i++) {
        spun_ns += i > 0 ? spin(pair, batch->pause_ns) : 0;
        send_data(pair, batch->bytes);
    }
    recv_data(pair, batch->bytes);
    return (double)(iwi_net_now_ns() - start_ns) - spun_ns;
}

static void answer_send(struct iwi_pair *pair, const struct iwi_message_batch *batch)
{
    for (uint32_t i = 0; i < batch->n; i++) {
        recv_data(pair, batch->bytes);
    }
    send_data(pair, batch->bytes);
}

/* ---- n round trips, each receive d after its send ---- */

static double ask_recv(struct iwi_pair *pair, const struct iwi_message_batch *batch)
{
    const int64_t start_ns = iwi_net_now_ns();
    double spun_ns = pair->clock_cost_ns;

    for (uint32_t i = 0; i < batch->n; i++) {
        send_data(pair, batch->bytes);
        spun_ns += spin(pair, batch->pause_ns);
        recv_data(pair, batch->bytes);
    }
    return (double)(iwi_net_now_ns() - start_ns) - spun_ns;
}

static void answer_recv(struct iwi_pair *pair, const struct iwi_message_batch *batch)
{
    for (uint32_t i = 0; i < batch->n; i++) {
        answer_round_trip(pair, batch);
    }
}

/* ---- n exchanges: both send, then both wait ---- */

static void answer_exchange(struct iwi_pair *pair, const struct iwi_message_batch *batch)
{
    for (uint32_t i = 0; i < batch->n; i++) {
        MPI_Request requests[2];
        MPI_Status statuses[2];

        MPI_Irecv(pair->recv_buffer, (int)batch->bytes, MPI_BYTE, pair->peer, TAG_DATA, pair->comm,
                  &requests[0]);
        MPI_Isend(pair->send_buffer, (int)batch->bytes, MPI_BYTE, pair->peer, TAG_DATA, pair->comm,
                  &requests[1]);
        MPI_Waitall(2, requests, statuses);
    }
}

static double ask_exchange(struct iwi_pair *pair, const struct iwi_message_batch *batch)
{
    const int64_t start_ns = iwi_net_now_ns();

    answer_exchange(pair, batch);
    return (double)(iwi_net_now_ns() - start_ns) - pair->clock_cost_ns;
}

/* ---- above the eager limit: the time that one message needs within MPI calls, so that waiting for the
 * partner does not count; most MPIs move data only there ---- */

static double poll(const struct iwi_pair *pair, const struct iwi_message_batch *batch, MPI_Request *request)
{
    double inside_ns = 0;
    int is_done = 0;

    while (!is_done) {
        int64_t start_ns;

        (void)spin(pair, batch->pause_ns);
        start_ns = iwi_net_now_ns();
        MPI_Test(request, &is_done, MPI_STATUS_IGNORE);
        inside_ns += (double)(iwi_net_now_ns() - start_ns) - pair->clock_cost_ns;
    }
    return inside_ns;
}

static double ask_send_polled(struct iwi_pair *pair, const struct iwi_message_batch *batch)
{
    MPI_Request request;
    int64_t start_ns;
    double inside_ns;

    recv_signal(pair);
    (void)spin(pair, batch->pause_ns); /* until the partner is in its receive */
    start_ns = iwi_net_now_ns();
    MPI_Isend(pair->send_buffer, (int)batch->bytes, MPI_BYTE, pair->peer, TAG_DATA, pair->comm, &request);
    inside_ns = (double)(iwi_net_now_ns() - start_ns) - pair->clock_cost_ns;
    return inside_ns + poll(pair, batch, &request);
}

static void answer_send_polled(struct iwi_pair *pair, const struct iwi_message_batch *batch)
{
    send_signal(pair);
    recv_data(pair, batch->bytes);
}

static double ask_recv_polled(struct iwi_pair *pair, const struct iwi_message_batch *batch)
{
    MPI_Request request;
    const int64_t start_ns = iwi_net_now_ns();
    double inside_ns;

    MPI_Irecv(pair->recv_buffer, (int)batch->bytes, MPI_BYTE, pair->peer, TAG_DATA, pair->comm, &request);
    inside_ns = (double)(iwi_net_now_ns() - start_ns) - pair->clock_cost_ns;
    send_signal(pair);
    return inside_ns + poll(pair, batch, &request);
}

static void answer_recv_polled(struct iwi_pair *pair, const struct iwi_message_batch *batch)
{
    recv_signal(pair);
    send_data(pair, batch->bytes);
}

/* ---- does a send end although the receiver stays away? ---- */

static double ask_eager_computing(struct iwi_pair *pair, const struct iwi_message_batch *batch)
{
    int64_t start_ns, end_ns;

    recv_signal(pair);
    start_ns = iwi_net_now_ns();
    send_data(pair, batch->bytes);
    end_ns = iwi_net_now_ns();
    recv_signal(pair);
    return end_ns - start_ns < batch->pause_ns / 2 ? 1 : 0;
}

static void answer_eager_computing(struct iwi_pair *pair, const struct iwi_message_batch *batch)
{
    send_signal(pair);
    rest(batch->pause_ns);
    recv_data(pair, batch->bytes);
    send_signal(pair);
}

static double ask_eager_inside(struct iwi_pair *pair, const struct iwi_message_batch *batch)
{
    MPI_Request request;
    int64_t start_ns;
    int is_done = 0, is_eager;

    recv_signal(pair);
    start_ns = iwi_net_now_ns();
    MPI_Isend(pair->send_buffer, (int)batch->bytes, MPI_BYTE, pair->peer, TAG_DATA, pair->comm, &request);
    while (!is_done && iwi_net_now_ns() - start_ns < batch->pause_ns / 2) {
        MPI_Test(&request, &is_done, MPI_STATUS_IGNORE);
    }
    is_eager = is_done;
    send_signal(pair);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return is_eager;
}

/* The receiver waits for the signal that the sender sends in the end: inside of MPI, but not for the message.
 */
static void answer_eager_inside(struct iwi_pair *pair, const struct iwi_message_batch *batch)
{
    send_signal(pair);
    recv_signal(pair);
    recv_data(pair, batch->bytes);
}

/* ---- batches ---- */

static const struct {
    double (*ask)(struct iwi_pair *pair, const struct iwi_message_batch *batch);
    void (*answer)(struct iwi_pair *pair, const struct iwi_message_batch *batch);
} exchanges[IWI_BATCH_FRESH] = {
    [IWI_BATCH_ROUND_TRIP] = {ask_round_trip, answer_round_trip},
    [IWI_BATCH_TRAIN] = {ask_train, answer_train},
    [IWI_BATCH_SEND] = {ask_send, answer_send},
    [IWI_BATCH_RECV] = {ask_recv, answer_recv},
    [IWI_BATCH_EXCHANGE] = {ask_exchange, answer_exchange},
    [IWI_BATCH_SEND_POLLED] = {ask_send_polled, answer_send_polled},
    [IWI_BATCH_RECV_POLLED] = {ask_recv_polled, answer_recv_polled},
    [IWI_BATCH_EAGER_COMPUTING] = {ask_eager_computing, answer_eager_computing},
    [IWI_BATCH_EAGER_INSIDE] = {ask_eager_inside, answer_eager_inside},
};

static uint64_t recv_bytes(const struct iwi_pair *pair)
{
    return 2 * pair->largest_bytes > IWI_TRAIN_BYTES ? 2 * pair->largest_bytes : IWI_TRAIN_BYTES;
}

/* Touches all pages, so that no exchange pays for that. Without memory the old buffers stay. */
static bool renew_buffers(struct iwi_pair *pair)
{
    char *send_buffer = malloc(pair->largest_bytes), *recv_buffer = malloc(recv_bytes(pair));

    if (send_buffer == NULL || recv_buffer == NULL) {
        free(send_buffer);
        free(recv_buffer);
        return false;
    }
    memset(send_buffer, 1, pair->largest_bytes);
    memset(recv_buffer, 2, recv_bytes(pair));
    free(pair->send_buffer);
    free(pair->recv_buffer);
    pair->send_buffer = send_buffer;
    pair->recv_buffer = recv_buffer;
    return true;
}

void iwi_pair_ask(struct iwi_pair *pair, const struct iwi_message_batch *batch, double *values)
{
    MPI_Send(batch, (int)sizeof *batch, MPI_BYTE, pair->peer, TAG_COMMAND, pair->comm);
    if (batch->kind == IWI_BATCH_FRESH) {
        (void)renew_buffers(pair);
    } else if (batch->kind < IWI_BATCH_FRESH) {
        (void)exchanges[batch->kind].ask(pair, batch); /* warms up */
        for (uint32_t i = 0; i < batch->repetitions; i++) {
            values[i] = exchanges[batch->kind].ask(pair, batch);
        }
    }
}

void iwi_pair_answer(struct iwi_pair *pair)
{
    struct iwi_message_batch batch = {.kind = IWI_BATCH_KINDS};

    while (batch.kind != IWI_BATCH_END) {
        MPI_Recv(&batch, (int)sizeof batch, MPI_BYTE, pair->peer, TAG_COMMAND, pair->comm, MPI_STATUS_IGNORE);
        if (batch.kind == IWI_BATCH_FRESH) {
            (void)renew_buffers(pair);
        } else if (batch.kind < IWI_BATCH_FRESH) {
            for (uint32_t i = 0; i <= batch.repetitions; i++) {
                exchanges[batch.kind].answer(pair, &batch);
            }
        }
    }
}

iw_status iwi_pair_init(const iw_log *log, MPI_Comm comm, int peer, uint64_t largest_bytes,
                        struct iwi_pair *pair)
{
    *pair = (struct iwi_pair){.comm = comm, .peer = peer, .largest_bytes = largest_bytes};
    pair->clock_cost_ns = iwi_net_clock_cost_ns();
    if (!renew_buffers(pair)) {
        return iwi_fail(log, IW_ERR_NOMEM, "out of memory for messages of %" PRIu64 " bytes", largest_bytes);
    }
    return IW_OK;
}

void iwi_pair_release(struct iwi_pair *pair)
{
    free(pair->send_buffer);
    free(pair->recv_buffer);
}
