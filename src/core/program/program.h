/* What ranks run, as the engines see it: patterns made of rounds, stored schedules, and traces.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A pattern is a list of operations (collectives, halos, ...), run `repeat` times. Every operation is a
 * sequence of rounds. In one round each active rank, in this order,
 *   1. posts its receives,
 *   2. issues its sends, one after the other (nonblocking),
 *   3. waits for all of them (receives are served in the order of arrival),
 *   4. works: a reduction of `reduce_bytes`, and `work_ps`.
 * Each message is sent and received in the same round. So engines may evaluate round after round over
 * arrays of ranks, and nothing is stored per message.
 */
#ifndef IWI_PROGRAM_H
#define IWI_PROGRAM_H

#include <stdint.h>

#include <idlewave/log.h>
#include <idlewave/program.h>

/* ---- rounds ---- */

struct iwi_msg {
    uint32_t peer;
    uint32_t slot; /* of a receive: which of the peer's sends in this round it is (0 = first) */
    uint64_t bytes;
};

/* What one rank does in one round. The caller provides arrays of iwi_round.fan elements. */
struct iwi_role {
    uint32_t send_count, recv_count;
    struct iwi_msg *sends, *recvs;
    uint64_t reduce_bytes;
    iw_time work_ps;
    bool is_phase; /* work_ps is a compute phase (it may be 0): sweep2d's work; noise and delays act on it */
};

/* Ranks (first + i * stride) mod P for i in [0, count). */
struct iwi_range {
    uint32_t first, count;
    int64_t stride;
};

/* The i-th rank of a range, i < count. */
static inline uint32_t iwi_range_rank(const struct iwi_range *range, uint32_t ranks, uint64_t i)
{
    const int64_t at = ((int64_t)range->first + (int64_t)i * range->stride) % (int64_t)ranks;

    return (uint32_t)(at < 0 ? at + (int64_t)ranks : at);
}

/* Data in blocks 0 ... P - 1 of up to three sizes: those before end[0], before end[1], and the rest. */
struct iwi_block_sizes {
    uint32_t end[2];
    uint64_t bytes[3];
};

static inline uint64_t iwi_blocks_bytes(const struct iwi_block_sizes *blocks, uint32_t block)
{
    return blocks->bytes[(block >= blocks->end[0]) + (block >= blocks->end[1])];
}

/* Lines of `size` ranks through a grid, each `stride` after the one before. The neighbour of a rank is `step`
 * places on in its line (negative: back), around the end if is_closed; else ranks near the end have none. */
struct iwi_direction {
    uint32_t size, stride;
    int64_t step; /* not 0; nobody has a neighbour unless it is shorter than the line */
    bool is_closed;
};

struct iwi_round {
    struct iwi_range active[2]; /* disjoint; ranks in neither do nothing in this round */
    uint32_t range_count;       /* 0, 1 or 2 */
    uint32_t fan;               /* most sends or receives of any rank in this round */
    /* The streaming cases: every rank r sends `bytes`, receives as much and reduces `reduce_bytes`; part()
     * must agree. Shift: to (r + shift) mod P, from (r - shift) mod P; 0 < shift < P. Flip: to and from r ^
     * flip; P is a power of two. */
    bool is_shift, is_flip;
    uint32_t shift, flip;
    uint64_t bytes, reduce_bytes;
    /* Pairs: each of `senders` sends `bytes` to the rank `shift` after it, which reduces `reduce_bytes`;
     * nobody does both. */
    bool is_pairs;
    struct iwi_range senders;
    /* Rings of unequal blocks: every rank r sends block r - `behind` (mod P) to r + 1; all ranks reduce what
     * they receive, or none. */
    bool is_ring, is_reducing;
    uint32_t behind;
    struct iwi_block_sizes blocks;
    /* Every rank r sends `bytes` to r + 1, r + 2, ... (mod P), in this order, and receives as much from all.
     */
    bool is_all_to_all;
    /* Neighbours in a grid: every rank sends `bytes` in each of `fan` directions, where it has a neighbour,
     * and receives as much from the opposite ones, in the same order; direction() of the algorithm says
     * them. */
    bool is_grid;
};

/* ---- operations ---- */

enum iwi_op_kind {
    IWI_BARRIER,
    IWI_BCAST,
    IWI_REDUCE,
    IWI_ALLREDUCE,
    IWI_GATHER,
    IWI_SCATTER,
    IWI_ALLGATHER,
    IWI_ALLTOALL,
    IWI_REDUCE_SCATTER,
    IWI_SCAN,
    IWI_EXSCAN,
    IWI_PINGPONG,
    IWI_RING,
    IWI_HALO1D,
    IWI_HALO2D,
    IWI_HALO3D,
    IWI_SWEEP2D,
    IWI_OP_KINDS,
    IWI_MESSAGES = IWI_OP_KINDS /* of traces only: messages that are stored (message_list.h) */
};

struct iwi_algorithm;
struct iwi_message_list;
struct iwi_node_table;

/* One operation with its arguments. Plain data; algorithms compute everything else from it. */
struct iwi_operation {
    const struct iwi_algorithm *algorithm;
    uint32_t ranks, root;
    uint64_t bytes, segment_bytes;
    iw_time compute_ps; /* only sweep2d places the work itself */
    uint32_t dims[IW_MAX_DIMS];
    uint32_t distance;
    bool is_periodic, is_one_way, is_split;
    iw_nodes nodes;                     /* without their list: that is the table */
    const struct iwi_node_table *table; /* of nodes that a list says: the program's; else NULL */
    uint32_t placed_ranks; /* of an operation over the leaders of nodes: the ranks on all nodes; else 0 */
    const struct iwi_message_list *messages; /* of IWI_MESSAGES: the trace program's; else NULL */
};

/* One algorithm: a struct in a file of collectives/, a line in collectives/list.h. */
struct iwi_algorithm {
    enum iwi_op_kind kind;
    const char *name, *summary;
    /* NULL, or refuses what the algorithm cannot do (logged). */
    iw_status (*check)(const iw_log *log, const struct iwi_operation *op);
    uint64_t (*round_count)(const struct iwi_operation *op);   /* 0 for one rank (sweep2d: 1, its work) */
    uint64_t (*message_count)(const struct iwi_operation *op); /* of all rounds and ranks */
    void (*round)(const struct iwi_operation *op, uint64_t index, struct iwi_round *round);
    void (*role)(const struct iwi_operation *op, uint64_t index, uint32_t rank, struct iwi_role *role);
    /* NULL unless there are rounds in a grid: direction k < fan of such a round. */
    void (*direction)(const struct iwi_operation *op, uint64_t index, uint32_t k,
                      struct iwi_direction *direction_p);
    /* dims[0] rows of dims[1] ranks: each receives `bytes` from the west and from the north, where there is
     * somebody, does a compute phase, and sends as much to the east and then to the south. */
    bool is_wavefront;
    bool places_compute; /* the operation does iw_pattern.compute_ps itself */
    bool uses_nodes;     /* op->nodes has to be known */
    bool joins_nodes;    /* a message may carry what all ranks of a node have for all others */
};

/* A message may carry the blocks of several ranks; else none is larger than op->bytes (1 for a barrier). */
static inline bool iwi_operation_joins_blocks(const struct iwi_operation *op)
{
    const enum iwi_op_kind kind = op->algorithm->kind;

    return kind == IWI_GATHER || kind == IWI_SCATTER || kind == IWI_ALLGATHER || kind == IWI_ALLTOALL ||
           kind == IWI_REDUCE_SCATTER;
}

/* No message has more than op->bytes times this. */
static inline uint64_t iwi_operation_most_blocks(const struct iwi_operation *op)
{
    const bool is_node = op->nodes.ranks > 0 && op->nodes.ranks < op->ranks;
    const uint64_t node = is_node ? op->nodes.ranks : op->ranks;

    return !iwi_operation_joins_blocks(op) ? 1 : op->algorithm->joins_nodes ? node * op->ranks : op->ranks;
}

extern const char *const iwi_op_kind_names[IWI_OP_KINDS];

/* ---- stored schedules ---- */

#define IWI_ANY UINT32_MAX /* any source, any tag */

enum iwi_node_kind {
    IWI_CALC = 1,
    IWI_SEND,
    IWI_RECV,
    IWI_WAIT,
    IWI_COLLECTIVE /* only in the base schedule of a trace program (trace_program.h), never in what engines
                      get */
};

enum {
    IWI_NODE_NONBLOCKING = 1, /* in-order schedules: the next operation need not wait for this one's end */
    IWI_NODE_PHASE = 2,       /* calc: the start of a compute phase (steps of delays, per-phase noise) */
    IWI_NODE_SYNCHRONOUS = 4, /* send: by rendezvous at any size (MPI_Ssend) */
    IWI_NODE_ASIDE = 8, /* only until iwi_schedule_to_dag(): part of a nonblocking collective, which goes on
                         * beside what follows it */
    IWI_NODE_ASIDE_FIRST = 16 /* of its collective: it requires what comes before it */
};

struct iwi_node {
    uint8_t kind, flags, cpu, nic;
    uint32_t peer, tag;
    uint64_t amount; /* calc: picoseconds; send, recv: bytes; wait: unused */
};

/* `node` is an index within the rank. */
struct iwi_dep {
    uint32_t node;
    bool is_start; /* GOAL's irequires: the other's start is enough */
};

/* What simulations ask of all operations: whoever goes through them for another reason notes it. */
struct iwi_schedule_facts {
    bool are_known, has_wildcards, has_phases, has_synchronous;
    uint64_t sends, receives;
    uint64_t largest_bytes; /* of a send */
    uint64_t longest_wait;  /* requests; 0 in graphs */
};

/* Operations of rank r: nodes[first_node[r]] to nodes[first_node[r + 1] - 1]. Global node n depends on
 * deps[first_dep[n]] to deps[first_dep[n + 1] - 1].
 *   is_in_order: each rank runs its nodes in program order on one CPU; only waits have deps: the nonblocking
 *                operations of the same rank that they complete; each of those is waited for exactly once.
 *   otherwise:   the deps are all there is (a GOAL DAG); there are no waits and no flags but PHASE and
 *                SYNCHRONOUS. */
struct iwi_schedule {
    uint32_t ranks;
    uint8_t cpu_count,
        nic_count; /* highest id + 1, at least 1; more than 255: 255 is the highest id accepted - 1 */
    bool is_in_order;
    struct iwi_schedule_facts facts;
    uint64_t *first_node; /* ranks + 1 */
    struct iwi_node *nodes;
    uint64_t *first_dep; /* nodes + 1 */
    struct iwi_dep *deps;
    uint32_t *call_of; /* made of a trace: the call that each node comes from; else NULL */
};

void iwi_schedule_free(struct iwi_schedule *schedule);

/* ---- programs ---- */

struct iwi_trace_program;

struct iw_program {
    /* a pattern: */
    struct iwi_operation *operations;
    size_t operation_count;
    struct iwi_node_table *node_table; /* of the operations, or NULL */
    uint64_t repeat;
    iw_time compute_ps;
    uint64_t compute_bytes; /* that each compute phase moves from and to memory */
    iw_fs_per_byte reduce;  /* also of traces */
    /* or a schedule (operations is NULL then): */
    struct iwi_schedule *schedule;
    /* or a trace (both are NULL then): */
    struct iwi_trace_program *trace;
    /* all: */
    uint32_t ranks;
    iw_delay *delays; /* sorted by (rank, step) */
    size_t delay_count;
};

/* Wraps a schedule, which it takes over, also on failure. */
IW_NODISCARD iw_status iwi_program_from_schedule(const iw_log *log, struct iwi_schedule *schedule,
                                                 iw_program **program_p);

/* Each repetition of the pattern begins with a compute phase of compute_ps (which may be 0) on every rank.
 * False where the operations place the work, and where there is neither work nor any delay. */
bool iwi_program_starts_with_phase(const iw_program *program);

/* The delay of that rank in that compute phase (1 = first), 0 if none; several add up. */
iw_time iwi_program_delay(const iw_program *program, uint32_t rank, uint64_t step);

/* Stores a pattern or a trace as an in-order schedule: for engines that need one, and for GOAL. */
IW_NODISCARD iw_status iwi_program_unroll(const iw_log *log, const iw_program *program,
                                          struct iwi_schedule **schedule_p);

/* The same program as a GOAL DAG: each node requires the one before it (only its start if that is
 * nonblocking), a wait becomes a calc of 0 that also requires the operations it completes. What is aside is a
 * branch: its first node requires the one before it, and what follows requires that one too. */
IW_NODISCARD iw_status iwi_schedule_to_dag(const iw_log *log, const struct iwi_schedule *in_order,
                                           struct iwi_schedule **dag_p);

/* A DAG that a program could have become by iwi_schedule_to_dag() becomes that program, in its place
 * (docs/explanation/semantics.md, 8); any other stays as it is. */
IW_NODISCARD iw_status iwi_schedule_put_in_order(const iw_log *log, struct iwi_schedule *schedule);

/* Known, or counted now. */
struct iwi_schedule_facts iwi_schedule_facts(const struct iwi_schedule *schedule);

static inline void iwi_facts_note(struct iwi_schedule_facts *facts, const struct iwi_node *node)
{
    if (node->kind == IWI_CALC) {
        facts->has_phases |= (node->flags & IWI_NODE_PHASE) != 0;
    } else if (node->kind == IWI_SEND || node->kind == IWI_RECV) {
        const bool is_send = node->kind == IWI_SEND;

        facts->has_wildcards |= node->peer == IWI_ANY || node->tag == IWI_ANY;
        facts->sends += is_send;
        facts->receives += !is_send;
        facts->has_synchronous |= (node->flags & IWI_NODE_SYNCHRONOUS) != 0;
        facts->largest_bytes =
            is_send && node->amount > facts->largest_bytes ? node->amount : facts->largest_bytes;
    }
}

/* Of each node, how many sends its rank has before it in program order. *numbers_p is to be freed. */
IW_NODISCARD iw_status iwi_schedule_number_sends(const iw_log *log, const struct iwi_schedule *schedule,
                                                 uint32_t **numbers_p);

/* Nodes of the rank that has most. */
uint64_t iwi_schedule_largest_rank(const struct iwi_schedule *schedule);

/* A schedule with zeroed arrays for so many ranks, nodes and deps. */
IW_NODISCARD iw_status iwi_schedule_new(const iw_log *log, uint32_t ranks, uint64_t nodes, uint64_t deps,
                                        struct iwi_schedule **schedule_p);

/* Looks an algorithm up by "op" or "op:algorithm"; unknown names are logged with the known ones. */
IW_NODISCARD iw_status iwi_algorithm_find(const iw_log *log, const char *name, size_t name_length,
                                          const struct iwi_algorithm **algorithm_p);

/* The first algorithm of an operation. */
const struct iwi_algorithm *iwi_algorithm_default(enum iwi_op_kind kind);

/* CPU time of `bytes` at a cost per byte, rounded to the nearest picosecond. */
static inline iw_time iwi_bytes_cost(iw_fs_per_byte per_byte, uint64_t bytes)
{
    const unsigned __int128 fs = (unsigned __int128)per_byte * bytes + 500; /* per_byte >= 0 */
    unsigned __int128 ps;

    if (fs <= UINT64_MAX) {
        return (iw_time)((uint64_t)fs / 1000);
    }
    ps = fs / 1000;
    return ps > INT64_MAX ? INT64_MAX : (iw_time)ps;
}

/* Replaces the zeros among `count` dims so that the product is `ranks`, as square as possible, larger first
 * (what MPI_Dims_create promises). IW_ERR_RANGE, logged with the name `op`, if no such grid exists. */
IW_NODISCARD iw_status iwi_dims_choose(const iw_log *log, const char *op, uint32_t ranks, uint32_t count,
                                       uint32_t *dims);

#endif
