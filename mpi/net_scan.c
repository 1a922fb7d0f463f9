/* All pairs, or some of them: many at once, suspects again alone.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "mpi/net.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/base/base.h"
#include "core/base/order.h"
#include "features/network/net_fit.h"

enum {
    RANKS_FOR_ALL = 64, /* AUTO: all pairs up to so many ranks */
    ROUNDS_OF_SOME = 16,
    SMALL_REPETITIONS = 40,
    LARGE_REPETITIONS = 12,
    MOST_SUSPECTS = 32
};

void iwi_quiet_barrier(MPI_Comm comm)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    MPI_Request request;
    int is_done = 0;

    MPI_Ibarrier(comm, &request);
    MPI_Test(&request, &is_done, MPI_STATUS_IGNORE);
    while (!is_done) {
        (void)nanosleep(&pause, NULL);
        MPI_Test(&request, &is_done, MPI_STATUS_IGNORE);
    }
}

iw_status iwi_net_agree(MPI_Comm comm, iw_status status)
{
    int mine = (int)status, worst;

    MPI_Allreduce(&mine, &worst, 1, MPI_INT, MPI_MIN, comm);
    return (iw_status)worst;
}

/* ---- one pair ---- */

static double ask_median(struct iwi_pair *pair, uint64_t bytes, uint32_t repetitions)
{
    const struct iwi_message_batch batch = {
        .kind = IWI_BATCH_ROUND_TRIP, .repetitions = repetitions, .bytes = bytes};
    double values[IWI_MOST_BATCH];

    iwi_pair_ask(pair, &batch, values);
    return iwi_pair_median(values, repetitions);
}

/* The lower rank asks. */
static void look(struct iwi_pair *pair, int rank, double *small_ns, double *large_ns)
{
    const struct iwi_message_batch end = {.kind = IWI_BATCH_END};

    if (rank > pair->peer) {
        iwi_pair_answer(pair);
        return;
    }
    *small_ns = ask_median(pair, IWI_SCAN_SMALL_BYTES, SMALL_REPETITIONS);
    *large_ns = ask_median(pair, IWI_SCAN_LARGE_BYTES, LARGE_REPETITIONS);
    iwi_pair_ask(pair, &end, NULL);
}

/* ---- all pairs at once, as in a tournament ---- */

/* Round r of a tournament of an even number of places: the last place meets r, the others meet so that their
 * places add up to 2 r. Returns the partner; it may be `ranks` if that is odd: no one. */
static int partner_in(int rank, int round, int ranks)
{
    const int places = ranks + ranks % 2, circle = places - 1;
    int partner;

    if (rank == circle) {
        return round % circle;
    }
    partner = (2 * round - rank) % circle;
    partner += partner < 0 ? circle : 0;
    return partner == rank ? circle : partner;
}

static int round_count(const iw_net_plan *plan, int ranks)
{
    const int all = ranks + ranks % 2 - 1;

    if (plan->links == IW_NET_LINKS_NONE || ranks < 3) {
        return 0;
    }
    return plan->links == IW_NET_LINKS_ALL || ranks <= RANKS_FOR_ALL ? all
                                                                     : (int)iwi_min(all, ROUNDS_OF_SOME);
}

/* Links that this rank asked in, at most one a round. */
static size_t run_rounds(MPI_Comm comm, struct iwi_pair *pair, int rounds,
                         const struct iwi_process_place *places, iw_net_link *mine)
{
    size_t count = 0;
    int rank, ranks;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    for (int round = 0; round < rounds; round++) {
        iw_net_link *link = &mine[count];

        pair->peer = partner_in(rank, round, ranks);
        if (pair->peer < ranks) {
            look(pair, rank, &link->small_ns, &link->large_ns);
            if (rank < pair->peer) {
                link->ranks[0] = (uint32_t)rank;
                link->ranks[1] = (uint32_t)pair->peer;
                link->is_inside = iwi_process_place_is_same_host(&places[rank], &places[pair->peer]);
                count++;
            }
        }
        iwi_quiet_barrier(comm);
    }
    return count;
}

IWI_COMPARE(by_ranks, iw_net_link, IWI_RISING(ranks[0]), IWI_RISING(ranks[1]))

/* Rank 0 has room for `rounds` links of each rank. */
static void gather_links(MPI_Comm comm, const iw_net_link *mine, size_t count, iw_net_samples *samples)
{
    enum { TAG = 30 };
    int rank, ranks;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    if (rank != 0) {
        MPI_Send(mine, (int)(count * sizeof *mine), MPI_BYTE, 0, TAG, comm);
        return;
    }
    memcpy(samples->links, mine, count * sizeof *mine);
    samples->link_count = count;
    for (int from = 1; from < ranks; from++) {
        MPI_Status status;
        int bytes;

        MPI_Probe(from, TAG, comm, &status);
        MPI_Get_count(&status, MPI_BYTE, &bytes);
        MPI_Recv(&samples->links[samples->link_count], bytes, MPI_BYTE, from, TAG, comm, MPI_STATUS_IGNORE);
        samples->link_count += (size_t)bytes / sizeof *mine;
    }
    iwi_sort(samples->links, samples->link_count, by_ranks);
}

/* ---- suspects alone ---- */

static size_t find_suspects(const iw_net_samples *samples, double *scratch, uint32_t *suspects)
{
    double small[2], large[2];
    size_t count = 0;

    for (int inside = 0; inside < 2; inside++) {
        iwi_net_link_medians(samples->links, samples->link_count, inside == 1, scratch, &small[inside],
                             &large[inside]);
    }
    for (size_t i = 0; i < samples->link_count && count < MOST_SUSPECTS; i++) {
        const iw_net_link *link = &samples->links[i];

        if (iwi_net_is_slow(link->small_ns, small[link->is_inside]) ||
            iwi_net_is_slow(link->large_ns, large[link->is_inside])) {
            suspects[count++] = (uint32_t)i;
        }
    }
    return count;
}

/* `link`: of rank 0, where what was found is kept. */
static void look_again(MPI_Comm comm, struct iwi_pair *pair, const uint32_t ranks[2], iw_net_link *link)
{
    enum { TAG = 31 };
    double alone_ns[2] = {0, 0};
    int rank;

    MPI_Comm_rank(comm, &rank);
    if (rank == (int)ranks[0] || rank == (int)ranks[1]) {
        pair->peer = (int)(rank == (int)ranks[0] ? ranks[1] : ranks[0]);
        look(pair, rank, &alone_ns[0], &alone_ns[1]);
    }
    iwi_quiet_barrier(comm);
    if (rank == (int)ranks[0] && rank != 0) {
        MPI_Send(alone_ns, 2, MPI_DOUBLE, 0, TAG, comm);
    }
    if (link != NULL) {
        if (ranks[0] != 0) {
            MPI_Recv(alone_ns, 2, MPI_DOUBLE, (int)ranks[0], TAG, comm, MPI_STATUS_IGNORE);
        }
        link->alone_small_ns = alone_ns[0];
        link->alone_large_ns = alone_ns[1];
    }
}

static void confirm(MPI_Comm comm, struct iwi_pair *pair, double *scratch, iw_net_samples *samples)
{
    uint32_t suspects[MOST_SUSPECTS] = {0}, ranks[2];
    uint64_t count = 0;
    int rank;

    MPI_Comm_rank(comm, &rank);
    if (rank == 0) {
        count = find_suspects(samples, scratch, suspects);
    }
    MPI_Bcast(&count, 1, MPI_UINT64_T, 0, comm);
    for (uint64_t i = 0; i < count; i++) {
        iw_net_link *link = rank == 0 ? &samples->links[suspects[i]] : NULL;

        if (link != NULL) {
            memcpy(ranks, link->ranks, sizeof ranks);
        }
        MPI_Bcast(ranks, 2, MPI_UINT32_T, 0, comm);
        look_again(comm, pair, ranks, link);
    }
}

iw_status iwi_net_scan(const iw_log *log, MPI_Comm comm, const iw_net_plan *plan,
                       const struct iwi_process_place *places, iw_net_samples *samples)
{
    struct iwi_pair pair = {.send_buffer = NULL};
    iw_net_link *mine;
    double *scratch = NULL;
    iw_status status;
    int rank, ranks, rounds;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    rounds = round_count(plan, ranks);
    if (rounds == 0) {
        return IW_OK;
    }
    status = iwi_pair_init(log, comm, 0, IWI_SCAN_LARGE_BYTES, &pair);
    mine = iwi_new_array(log, (size_t)rounds, sizeof *mine);
    if (rank == 0) {
        samples->links = iwi_new_array(log, (size_t)rounds * (size_t)(ranks / 2 + 1), sizeof *samples->links);
        scratch = iwi_new_array(log, (size_t)rounds * (size_t)(ranks / 2 + 1), sizeof *scratch);
    }
    if (mine == NULL || (rank == 0 && (samples->links == NULL || scratch == NULL))) {
        status = IW_ERR_NOMEM;
    }
    status = iwi_net_agree(comm, status);
    if (status == IW_OK && mine != NULL) {
        gather_links(comm, mine, run_rounds(comm, &pair, rounds, places, mine), samples);
        confirm(comm, &pair, scratch, samples);
    }
    free(scratch);
    free(mine);
    iwi_pair_release(&pair);
    return status;
}
