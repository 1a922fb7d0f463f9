/* Lists of what goes to whom: told once, then by their number.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "mpi/trace/sizes.h"

#include <stdlib.h>
#include <string.h>

/* MPI would end the program for what is no datatype. */
static uint64_t size_of(MPI_Datatype type)
{
    MPI_Count size = 0;

    return type != MPI_DATATYPE_NULL && PMPI_Type_size_x(type, &size) == MPI_SUCCESS && size > 0
               ? (uint64_t)size
               : 0;
}

static MPI_Count count_at(const struct iwi_amounts *amounts, int i)
{
    return amounts->counts.large != NULL  ? amounts->counts.large[i]
           : amounts->counts.ints != NULL ? amounts->counts.ints[i]
                                          : amounts->count;
}

uint64_t iwi_amount(const struct iwi_amounts *amounts, int i)
{
    MPI_Count count = count_at(amounts, i);
    MPI_Datatype type = amounts->types.f != NULL   ? MPI_Type_f2c(amounts->types.f[i])
                        : amounts->types.c != NULL ? amounts->types.c[i]
                                                   : amounts->type;

    return count > 0 ? (uint64_t)count * size_of(type) : 0;
}

/* ---- neighbours ---- */

static void ask_grid(struct iwi_traced_comm *comm, MPI_Comm handle)
{
    int dimensions = 0;

    (void)PMPI_Cartdim_get(handle, &dimensions);
    comm->in_degree = comm->out_degree = 2 * dimensions;
    comm->destinations = calloc((size_t)comm->out_degree + 1, sizeof *comm->destinations);
    for (int i = 0; comm->destinations != NULL && i < dimensions; i++) {
        int *pair = comm->destinations + 2 * (size_t)i;

        (void)PMPI_Cart_shift(handle, i, 1, &pair[0], &pair[1]);
    }
}

static void ask_graph(struct iwi_traced_comm *comm, MPI_Comm handle)
{
    int count = 0;

    (void)PMPI_Graph_neighbors_count(handle, comm->rank, &count);
    comm->in_degree = comm->out_degree = count;
    comm->destinations = calloc((size_t)count + 1, sizeof *comm->destinations);
    if (comm->destinations != NULL) {
        (void)PMPI_Graph_neighbors(handle, comm->rank, count, comm->destinations);
    }
}

static void ask_distributed_graph(struct iwi_traced_comm *comm, MPI_Comm handle)
{
    int is_weighted = 0;

    (void)PMPI_Dist_graph_neighbors_count(handle, &comm->in_degree, &comm->out_degree, &is_weighted);
    size_t in = (size_t)comm->in_degree, out = (size_t)comm->out_degree;
    int *scratch = calloc(2 * in + out + 1, sizeof *scratch); /* sources and weights */
    comm->destinations = calloc(out + 1, sizeof *comm->destinations);
    if (scratch != NULL && comm->destinations != NULL) {
        (void)PMPI_Dist_graph_neighbors(handle, comm->in_degree, scratch,
                                        is_weighted ? scratch + in : MPI_UNWEIGHTED, comm->out_degree,
                                        comm->destinations, is_weighted ? scratch + 2 * in : MPI_UNWEIGHTED);
    }
    free(scratch);
}

void iwi_comm_ask_neighbours(struct iwi_traced_comm *comm, MPI_Comm handle)
{
    int topology = MPI_UNDEFINED;

    if (comm->in_degree >= 0) {
        return;
    }
    comm->in_degree = comm->out_degree = 0;
    (void)PMPI_Topo_test(handle, &topology);
    switch (topology) {
    case MPI_CART: ask_grid(comm, handle); break;
    case MPI_GRAPH: ask_graph(comm, handle); break;
    case MPI_DIST_GRAPH: ask_distributed_graph(comm, handle); break;
    default: break;
    }
}

/* ---- lists ---- */

static void write_list(struct iwi_thread *thread, uint32_t number, const uint64_t *words, uint32_t count)
{
    size_t bytes = sizeof(struct iwi_record_pair) + count * sizeof *words;
    uint64_t *room = iwi_tracer.failure == 0 ? iwi_record(thread, bytes) : NULL;

    if (room != NULL) {
        room[0] = iwi_record_word(IWI_RECORD_SIZES, count / 2);
        room[1] = number;
        memcpy(room + 2, words, count * sizeof *words);
    }
}

static uint32_t number_list(struct iwi_thread *thread, const uint64_t *words, uint32_t count)
{
    bool is_new;

    (void)pthread_mutex_lock(&iwi_tracer.mutex);
    uint32_t number = iwi_size_table_number(&iwi_tracer.sizes, words, count, &is_new);
    (void)pthread_mutex_unlock(&iwi_tracer.mutex);
    if (is_new) {
        write_list(thread, number, words, count);
    }
    return number != 0 ? number : IWI_SIZES_LOST;
}

/* From the next rank on, around the end, as MPI libraries send; what is empty is not sent. */
uint32_t iwi_sizes_to_all(struct iwi_thread *thread, const struct iwi_amounts *amounts,
                          const struct iwi_traced_comm *comm, uint64_t *bytes_p)
{
    int next = (comm->rank + 1) % comm->size;
    uint64_t first = comm->size > 1 ? iwi_amount(amounts, next) : 0;
    uint32_t count = 0;
    bool is_alike = true;

    for (int i = 0; i < comm->size && is_alike; i++) {
        is_alike = i == comm->rank || iwi_amount(amounts, i) == first;
    }
    if (is_alike) {
        *bytes_p = first;
        return IWI_SIZES_ALIKE;
    }
    uint64_t *words = malloc(2 * (size_t)comm->size * sizeof *words);
    if (words == NULL) {
        return IWI_SIZES_LOST;
    }
    for (int i = 0; i < comm->size - 1; i++) {
        int peer = (next + i) % comm->size;
        uint64_t bytes = iwi_amount(amounts, peer);
        if (bytes > 0) {
            words[count++] = (uint64_t)peer;
            words[count++] = bytes;
        }
    }
    uint32_t number = number_list(thread, words, count);
    free(words);
    return number;
}

uint32_t iwi_sizes_to_neighbours(struct iwi_thread *thread, const struct iwi_amounts *amounts,
                                 const struct iwi_traced_comm *comm)
{
    uint32_t count = 0;
    uint64_t *words =
        comm->destinations != NULL ? malloc((2 * (size_t)comm->out_degree + 1) * sizeof *words) : NULL;

    if (words == NULL) {
        return IWI_SIZES_LOST;
    }
    for (int i = 0; i < comm->out_degree; i++) {
        if (comm->destinations[i] >= 0) { /* not MPI_PROC_NULL */
            words[count++] = (uint64_t)comm->destinations[i];
            words[count++] = iwi_amount(amounts, i);
        }
    }
    uint32_t number = number_list(thread, words, count);
    free(words);
    return number;
}
