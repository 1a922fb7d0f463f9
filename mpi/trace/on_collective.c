/* Recording collectives and the making of communicators: docs/reference/formats/trace.md says what is counted.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <errno.h>
#include <otf2/OTF2_Events.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/trace/comms.h"
#include "mpi/trace/tracer.h"

/* How sizes of elements are told: one datatype, or one for each partner. */
struct iwi_amounts {
    MPI_Count count; /* to each, if there are no counts */
    struct iwi_counts counts;
    MPI_Datatype type;
    struct iwi_types types; /* none: `type` */
};

/* Lists of what goes to whom: told once, then by their number. */

static MPI_Count amount_count(const struct iwi_amounts *amounts, int i)
{
    return amounts->counts.large != NULL  ? amounts->counts.large[i]
           : amounts->counts.ints != NULL ? amounts->counts.ints[i]
                                          : amounts->count;
}

static uint64_t amount(const struct iwi_amounts *amounts, int i)
{
    MPI_Count count = amount_count(amounts, i);
    MPI_Datatype type = amounts->types.f != NULL   ? MPI_Type_f2c(amounts->types.f[i])
                        : amounts->types.c != NULL ? amounts->types.c[i]
                                                   : amounts->type;

    return iwi_bytes_of(count, type);
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

/* Neighbours are asked once: a topology does not change. */
static void comm_ask_neighbours(struct iwi_traced_comm *comm, MPI_Comm handle)
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
static uint32_t sizes_to_all(struct iwi_thread *thread, const struct iwi_amounts *amounts,
                          const struct iwi_traced_comm *comm, uint64_t *bytes_p)
{
    int next = (comm->rank + 1) % comm->size;
    uint64_t first = comm->size > 1 ? amount(amounts, next) : 0;
    uint32_t count = 0;
    bool is_alike = true;

    for (int i = 0; i < comm->size && is_alike; i++) {
        is_alike = i == comm->rank || amount(amounts, i) == first;
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
        uint64_t bytes = amount(amounts, peer);
        if (bytes > 0) {
            words[count++] = (uint64_t)peer;
            words[count++] = bytes;
        }
    }
    uint32_t number = number_list(thread, words, count);
    free(words);
    return number;
}

static uint32_t sizes_to_neighbours(struct iwi_thread *thread, const struct iwi_amounts *amounts,
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
            words[count++] = amount(amounts, i);
        }
    }
    uint32_t number = number_list(thread, words, count);
    free(words);
    return number;
}

/* ---- collectives ---- */

struct volume {
    uint64_t sent, received, bytes;
    uint32_t sizes;
};

static uint64_t count_at(struct iwi_counts counts, int i)
{
    MPI_Count count = counts.large != NULL ? counts.large[i] : counts.ints != NULL ? counts.ints[i] : 0;

    return count > 0 ? (uint64_t)count : 0;
}

static uint64_t bytes_at(struct iwi_counts counts, int i, MPI_Datatype type)
{
    return iwi_bytes_of((MPI_Count)count_at(counts, i), type);
}

static uint64_t sum_of(struct iwi_counts counts, int n, MPI_Datatype type)
{
    uint64_t sum = 0;

    for (int i = 0; i < n; i++) {
        sum += count_at(counts, i);
    }
    return iwi_bytes_of((MPI_Count)sum, type);
}

static uint64_t sum_of_each(struct iwi_counts counts, struct iwi_types types, int n)
{
    uint64_t sum = 0;

    for (int i = 0; i < n; i++) {
        MPI_Datatype type = types.f != NULL ? MPI_Type_f2c(types.f[i]) : types.c[i];
        sum += bytes_at(counts, i, type);
    }
    return sum;
}

static uint64_t mean(uint64_t sum, int n)
{
    return n > 0 ? (sum + (uint64_t)n - 1) / (uint64_t)n : 0;
}

/* What the root of a gather or scatter says of all parts, and of its own. Only its arguments mean something:
 * others may pass counts that point nowhere and no datatype. */
struct parts {
    uint64_t all, own;
};

static struct parts parts_of_root(bool is_v, MPI_Count count, struct iwi_counts counts, MPI_Datatype type,
                                  const struct iwi_traced_comm *comm, int n)
{
    if (!is_v) {
        uint64_t each = iwi_bytes_of(count, type);
        return (struct parts){(uint64_t)n * each, comm->is_inter ? 0 : each};
    }
    return (struct parts){sum_of(counts, n, type), comm->is_inter ? 0 : bytes_at(counts, comm->rank, type)};
}

static struct volume of_gather(const struct iwi_collective_args *args, const struct iwi_traced_comm *comm,
                               bool is_root, int n)
{
    bool is_v = args->form == IWI_FORM_gatherv;

    if (!is_root) {
        uint64_t own = iwi_bytes_of(args->count, args->type);
        return (struct volume){.sent = own, .bytes = own};
    }
    struct parts parts = parts_of_root(is_v, args->rcount, args->rcounts, args->rtype, comm, n);
    uint64_t sent = comm->is_inter || args->is_sbuf_in_place ? parts.own : iwi_bytes_of(args->count, args->type);
    return (struct volume){
        .sent = sent, .received = parts.all, .bytes = comm->is_inter ? mean(parts.all, n) : sent};
}

static struct volume of_scatter(const struct iwi_collective_args *args, const struct iwi_traced_comm *comm,
                                bool is_root, int n)
{
    bool is_v = args->form == IWI_FORM_scatterv;

    if (!is_root) {
        uint64_t own = iwi_bytes_of(args->rcount, args->rtype);
        return (struct volume){.received = own, .bytes = own};
    }
    struct parts parts = parts_of_root(is_v, args->count, args->counts, args->type, comm, n);
    uint64_t received =
        comm->is_inter || args->is_rbuf_in_place ? parts.own : iwi_bytes_of(args->rcount, args->rtype);
    return (struct volume){
        .sent = parts.all, .received = received, .bytes = comm->is_inter ? mean(parts.all, n) : received};
}

static struct volume of_allgather(const struct iwi_collective_args *args, const struct iwi_traced_comm *comm, int n)
{
    bool is_v = args->form == IWI_FORM_allgatherv || args->form == IWI_FORM_neighbor_allgatherv;
    struct volume volume = {.sent = 0};

    volume.received =
        is_v ? sum_of(args->rcounts, n, args->rtype) : (uint64_t)n * iwi_bytes_of(args->rcount, args->rtype);
    if (!args->is_sbuf_in_place) {
        volume.sent = iwi_bytes_of(args->count, args->type);
    } else {
        volume.sent =
            is_v ? bytes_at(args->rcounts, comm->rank, args->rtype) : iwi_bytes_of(args->rcount, args->rtype);
    }
    volume.bytes = volume.sent;
    return volume;
}

static struct volume of_alltoall(const struct iwi_collective_args *args, int n_to, int n_from)
{
    struct volume volume = {.sent = 0};

    switch (args->form) {
    case IWI_FORM_alltoall:
    case IWI_FORM_neighbor_alltoall:
        volume.received = (uint64_t)n_from * iwi_bytes_of(args->rcount, args->rtype);
        volume.sent =
            args->is_sbuf_in_place ? volume.received : (uint64_t)n_to * iwi_bytes_of(args->count, args->type);
        break;
    case IWI_FORM_alltoallv:
    case IWI_FORM_neighbor_alltoallv:
        volume.received = sum_of(args->rcounts, n_from, args->rtype);
        volume.sent = args->is_sbuf_in_place ? volume.received : sum_of(args->counts, n_to, args->type);
        break;
    default:
        volume.received = sum_of_each(args->rcounts, args->rtypes, n_from);
        volume.sent = args->is_sbuf_in_place ? volume.received : sum_of_each(args->counts, args->types, n_to);
        break;
    }
    volume.bytes = mean(volume.sent, n_to);
    return volume;
}

static struct volume of_reduction(const struct iwi_collective_args *args, const struct iwi_traced_comm *comm,
                                  bool is_root, int n)
{
    uint64_t bytes = iwi_bytes_of(args->count, args->type);

    switch (args->form) {
    case IWI_FORM_bcast: return (struct volume){is_root ? (uint64_t)n * bytes : 0, bytes, bytes, 0};
    case IWI_FORM_reduce: return (struct volume){bytes, is_root ? (uint64_t)n * bytes : 0, bytes, 0};
    case IWI_FORM_reduce_scatter: {
        uint64_t own = bytes_at(args->rcounts, comm->rank, args->type);
        return (struct volume){sum_of(args->rcounts, comm->size, args->type), own, own, 0};
    }
    case IWI_FORM_reduce_scatter_block: return (struct volume){(uint64_t)comm->size * bytes, bytes, bytes, 0};
    default: return (struct volume){bytes, bytes, bytes, 0};
    }
}

static const uint8_t OTF2_OPS[] = {
    [IWI_FORM_barrier] = OTF2_COLLECTIVE_OP_BARRIER,
    [IWI_FORM_bcast] = OTF2_COLLECTIVE_OP_BCAST,
    [IWI_FORM_gather] = OTF2_COLLECTIVE_OP_GATHER,
    [IWI_FORM_gatherv] = OTF2_COLLECTIVE_OP_GATHERV,
    [IWI_FORM_scatter] = OTF2_COLLECTIVE_OP_SCATTER,
    [IWI_FORM_scatterv] = OTF2_COLLECTIVE_OP_SCATTERV,
    [IWI_FORM_allgather] = OTF2_COLLECTIVE_OP_ALLGATHER,
    [IWI_FORM_allgatherv] = OTF2_COLLECTIVE_OP_ALLGATHERV,
    [IWI_FORM_alltoall] = OTF2_COLLECTIVE_OP_ALLTOALL,
    [IWI_FORM_alltoallv] = OTF2_COLLECTIVE_OP_ALLTOALLV,
    [IWI_FORM_alltoallw] = OTF2_COLLECTIVE_OP_ALLTOALLW,
    [IWI_FORM_reduce] = OTF2_COLLECTIVE_OP_REDUCE,
    [IWI_FORM_allreduce] = OTF2_COLLECTIVE_OP_ALLREDUCE,
    [IWI_FORM_reduce_scatter] = OTF2_COLLECTIVE_OP_REDUCE_SCATTER,
    [IWI_FORM_reduce_scatter_block] = OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK,
    [IWI_FORM_scan] = OTF2_COLLECTIVE_OP_SCAN,
    [IWI_FORM_exscan] = OTF2_COLLECTIVE_OP_EXSCAN,
    [IWI_FORM_neighbor_allgather] = OTF2_COLLECTIVE_OP_ALLGATHER,
    [IWI_FORM_neighbor_allgatherv] = OTF2_COLLECTIVE_OP_ALLGATHERV,
    [IWI_FORM_neighbor_alltoall] = OTF2_COLLECTIVE_OP_ALLTOALL,
    [IWI_FORM_neighbor_alltoallv] = OTF2_COLLECTIVE_OP_ALLTOALLV,
    [IWI_FORM_neighbor_alltoallw] = OTF2_COLLECTIVE_OP_ALLTOALLW,
};

static bool has_root(enum iwi_form form)
{
    return form == IWI_FORM_bcast || form == IWI_FORM_reduce || form == IWI_FORM_gather ||
           form == IWI_FORM_gatherv || form == IWI_FORM_scatter || form == IWI_FORM_scatterv;
}

static struct volume measure(const struct iwi_collective_args *args, struct iwi_traced_comm *comm)
{
    int n = comm->is_inter ? comm->remote_size : comm->size;
    bool is_root = comm->is_inter ? args->root == MPI_ROOT : args->root == comm->rank;

    if (comm->is_inter && has_root(args->form) && args->root == MPI_PROC_NULL) {
        return (struct volume){.sent = 0};
    }
    switch (args->form) {
    case IWI_FORM_barrier: return (struct volume){.sent = 0};
    case IWI_FORM_gather:
    case IWI_FORM_gatherv: return of_gather(args, comm, is_root, n);
    case IWI_FORM_scatter:
    case IWI_FORM_scatterv: return of_scatter(args, comm, is_root, n);
    case IWI_FORM_allgather:
    case IWI_FORM_allgatherv: return of_allgather(args, comm, n);
    case IWI_FORM_alltoall:
    case IWI_FORM_alltoallv:
    case IWI_FORM_alltoallw: return of_alltoall(args, n, n);
    case IWI_FORM_neighbor_allgather:
    case IWI_FORM_neighbor_allgatherv:
        comm_ask_neighbours(comm, args->comm);
        return of_allgather(args, comm, comm->in_degree);
    case IWI_FORM_neighbor_alltoall:
    case IWI_FORM_neighbor_alltoallv:
    case IWI_FORM_neighbor_alltoallw:
        comm_ask_neighbours(comm, args->comm);
        return of_alltoall(args, comm->out_degree, comm->in_degree);
    default: return of_reduction(args, comm, is_root, n);
    }
}

/* With MPI_IN_PLACE, what is sent is what the receiving arguments say. */
static struct iwi_amounts amounts_of(const struct iwi_collective_args *args)
{
    if (args->is_sbuf_in_place) {
        return (struct iwi_amounts){args->rcount, args->rcounts, args->rtype, args->rtypes};
    }
    return (struct iwi_amounts){args->count, args->counts, args->type, args->types};
}

static struct volume measure_all(struct iwi_thread *thread, const struct iwi_collective_args *args,
                                 struct iwi_traced_comm *comm)
{
    struct volume volume = measure(args, comm);
    const struct iwi_amounts amounts = amounts_of(args);

    if (comm->is_inter) {
        return volume;
    }
    if (args->form == IWI_FORM_alltoallv || args->form == IWI_FORM_alltoallw) {
        volume.sizes = sizes_to_all(thread, &amounts, comm, &volume.bytes);
    } else if (args->form >= IWI_FORM_neighbor_allgather) {
        volume.sizes = sizes_to_neighbours(thread, &amounts, comm);
    }
    return volume;
}

static uint32_t root_of(const struct iwi_collective_args *args)
{
    if (!has_root(args->form)) {
        return IWI_NO_ROOT;
    }
    if (args->root == MPI_ROOT) {
        return IWI_ROOT_SELF;
    }
    return args->root == MPI_PROC_NULL ? IWI_ROOT_OTHER : (uint32_t)args->root;
}

static void write_collective(struct iwi_thread *thread, const struct iwi_record_collective *collective)
{
    struct iwi_record_collective *room = iwi_item(thread, sizeof *room);

    if (room != NULL) {
        *room = *collective;
    }
}

void iwi_on_collective(struct iwi_thread *thread, const struct iwi_collective_args *args)
{
    struct iwi_traced_comm *comm = thread->is_writing ? iwi_comm_find(thread, args->comm) : NULL;

    if (comm == NULL) {
        return;
    }
    struct volume volume = measure_all(thread, args, comm);
    const struct iwi_record_collective collective = {.kind = IWI_RECORD_COLLECTIVE,
                                                     .op = OTF2_OPS[args->form],
                                                     .comm = comm->id,
                                                     .root = root_of(args),
                                                     .new_comm = IWI_NO_NEW_COMM,
                                                     .sent = volume.sent,
                                                     .received = volume.received,
                                                     .bytes = volume.bytes,
                                                     .sizes = volume.sizes};
    write_collective(thread, &collective);
}

struct iwi_record_collective iwi_started_collective(struct iwi_thread *thread, const struct iwi_op *op)
{
    return (struct iwi_record_collective){.kind = IWI_RECORD_ICOLLECTIVE,
                                          .op = op->collective,
                                          .is_neighbor = op->is_neighbor,
                                          .comm = op->comm,
                                          .root = op->root,
                                          .new_comm = IWI_NO_NEW_COMM,
                                          .sent = op->sent,
                                          .received = op->received,
                                          .bytes = op->bytes,
                                          .request = iwi_writer_started(&thread->writer, op->request),
                                          .sizes = op->sizes};
}

/* Writes that it began (unless it is persistent: MPI_Start does), and follows its request. */
static void begin(struct iwi_thread *thread, struct iwi_op *op, MPI_Request request)
{
    if (thread->is_writing && !op->is_persistent) {
        op->request = iwi_next_request();
        const struct iwi_record_collective collective = iwi_started_collective(thread, op);
        write_collective(thread, &collective);
    }
    op->is_active = !op->is_persistent;
    op->handle = iwi_request_key(request);
    struct iwi_op *followed = request != MPI_REQUEST_NULL ? iwi_requests_new(&iwi_tracer.requests) : NULL;
    if (followed != NULL) {
        *followed = *op;
        iwi_requests_add(&iwi_tracer.requests, followed);
    } else if (request != MPI_REQUEST_NULL) {
        iwi_tracer_fail(ENOMEM, "following a request");
    }
}

void iwi_on_icollective(struct iwi_thread *thread, const struct iwi_collective_args *args,
                        MPI_Request request, bool is_persistent)
{
    struct iwi_traced_comm *comm = iwi_comm_find(thread, args->comm);

    if (comm == NULL) {
        return;
    }
    struct volume volume = measure_all(thread, args, comm);
    struct iwi_op op = {.kind = IWI_OP_COLLECTIVE,
                        .collective = OTF2_OPS[args->form],
                        .is_neighbor = args->form >= IWI_FORM_neighbor_allgather,
                        .comm = comm->id,
                        .root = root_of(args),
                        .sent = volume.sent,
                        .received = volume.received,
                        .bytes = volume.bytes,
                        .sizes = volume.sizes,
                        .is_persistent = is_persistent};
    begin(thread, &op, request);
}

void iwi_on_comm(struct iwi_thread *thread, enum iwi_makers makers, MPI_Comm parent, int tag, MPI_Comm made)
{
    struct iwi_traced_comm *comm = iwi_comm_made(thread, makers, parent, tag, made);

    if (makers == IWI_MADE_BY_foreign && strncmp(iwi_calls[thread->call].name, "MPI_Comm_spawn", 14) == 0) {
        atomic_fetch_add_explicit(&iwi_tracer.spawns, 1, memory_order_relaxed);
    }
    struct iwi_traced_comm *over = makers == IWI_MADE_BY_parent ? iwi_comm_find(thread, parent) : comm;

    if (!thread->is_writing || makers == IWI_MADE_BY_foreign || over == NULL) {
        return;
    }
    const struct iwi_record_collective collective = {.kind = IWI_RECORD_COLLECTIVE,
                                                     .op = OTF2_COLLECTIVE_OP_CREATE_HANDLE,
                                                     .comm = over->id,
                                                     .root = IWI_NO_ROOT,
                                                     .new_comm = comm != NULL ? comm->id : IWI_NO_NEW_COMM};
    write_collective(thread, &collective);
}

void iwi_on_icomm(struct iwi_thread *thread, MPI_Comm parent, const MPI_Comm *made, const MPI_Fint *made_f,
                  MPI_Request request)
{
    struct iwi_traced_comm *comm = iwi_comm_find(thread, parent);

    if (comm == NULL) {
        return;
    }
    struct iwi_op op = {.kind = IWI_OP_COMM,
                        .collective = OTF2_COLLECTIVE_OP_CREATE_HANDLE,
                        .comm = comm->id,
                        .root = IWI_NO_ROOT,
                        .made = made != NULL ? (const void *)made : (const void *)made_f,
                        .mode = made == NULL,
                        .comm_key = iwi_comm_next_key(thread, parent)};
    begin(thread, &op, request);
}
