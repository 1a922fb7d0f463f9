/* The state of one run of the event engine: shared by the event_*.c files.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_EVENT_STATE_H
#define IWI_EVENT_STATE_H

#include "core/net/cost.h"
#include "core/noise/cores.h"
#include "core/sim/engine.h"
#include "core/sim/step_watch.h"

/* At one instant messages are seen first, then operations become ready, then CPUs choose what to do next;
 * last of all memory is shared among those who use it from then on. */
enum iwi_event_kind {
    IWI_EVENT_NIC_IN,   /* `object` is a message whose first byte is at the NIC of its receiver; rank = source
                         */
    IWI_EVENT_NOTICE,   /* `object` is a message that a rank with wildcards can see now; rank = its source */
    IWI_EVENT_RELEASE,  /* `object` is a node that has one dependence less */
    IWI_EVENT_ARRIVED,  /* `object` is a receive whose message is there, or a send whose transfer started */
    IWI_EVENT_DISPATCH, /* `object` is a CPU that may be free */
    IWI_EVENT_NIC_OUT,  /* `object` is a message that could leave its node; rank = its source */
    IWI_EVENT_CORE,     /* `object` is a rank in a phase that moves bytes: a detour begins or ends */
    IWI_EVENT_MEMORY    /* `object` is a domain: a rank has moved all, or others use it than before */
};

struct iwi_event {
    iw_time time;
    uint32_t kind, rank;
    uint64_t sequence, object;
    uint64_t cause; /* release: what let the node go, for explaining: iwi_cause() */
};

struct iwi_event_queue {
    struct iwi_event *heap;
    size_t count, capacity;
};

#define IWI_NO_NODE UINT64_MAX
#define IWI_NO_MESSAGE SIZE_MAX

struct event_node {
    iw_time ready;   /* when it entered its CPU's queue; before that, when a receive was reached */
    iw_time posted;  /* receive: rule 4's p */
    iw_time sent;    /* send: end of its CPU part */
    iw_time known;   /* receive: arrival; send: start of the transfer */
    uint64_t link;   /* next in the CPU's queue, or in the list of posted receives */
    uint64_t waiter; /* in-order, nonblocking: the wait that completes it */
    uint64_t bytes;  /* of the message: a receive learns it when it meets one */
    uint64_t phase;  /* compute phase: how many the rank has before it, in program order */
    uint32_t level;  /* the same: at which level of the network */
    uint32_t open;   /* dependences not satisfied; of a wait in an in-order schedule: requests not known */
    bool is_done;
};

struct event_message {
    uint64_t send; /* node */
    uint32_t source, tag;
    iw_time notice;        /* from when on a receive can meet it */
    iw_time arrival;       /* eager: the last byte is there */
    bool is_under_way;     /* NICs decide when it arrives */
    uint64_t recv;         /* whom to tell then, or IWI_NO_NODE */
    size_t link;           /* next unexpected one, or next that waits for its turn in its pair */
    uint64_t noticed_with; /* the send whose path leads to the notice: an earlier one if that came later */
};

struct event_cpu {
    uint64_t queue_head, queue_tail; /* ready nodes by (ready, program order) */
    iw_time free;
    uint64_t waiting; /* the wait that holds it, or IWI_NO_NODE */
    iw_time waiting_since;
    iw_time next_detour;
};

struct event_rank {
    uint64_t posted_head, posted_tail;       /* receives without a message, in the order of posting */
    size_t unexpected_head, unexpected_tail; /* messages without a receive, in the order of notice */
    bool has_wildcards;                      /* posts receives with any source or any tag somewhere */
    iw_time end;
    uint64_t last; /* the node that ends then, or IWI_NO_NODE */
};

/* Last notice from `source` to `destination`: messages of one pair don't overtake. Only kept for wildcards.
 */
struct event_pair {
    uint64_t key; /* source * ranks + destination + 1; 0: empty */
    iw_time notice;
    uint64_t noticed_with;
    size_t first, last; /* messages that wait for those before them; first IWI_NO_MESSAGE: none */
};

/* NICs with queues: of each node one, or as many as it has rails. */
struct event_nics {
    iw_time *out, *in;            /* of each NIC: free from then on. NULL: messages do not wait for NICs */
    iw_split *out_path, *in_path; /* when explaining */
    uint32_t level, ranks, rails; /* nodes are groups of this level */
    iw_fs_per_byte G;
};

/* When explaining: how times came about, each as the path that won every maximum on its way. NULL otherwise.
 */
struct event_paths {
    iw_split *ready, *start, *sent, *known, *end; /* of each node */
    iw_split *posted;                             /* of each receive */
    iw_split *on_way;                    /* of the message of each send at NICs, then to its arrival */
    iw_split *cpu, *send_gap, *recv_gap; /* of each CPU and NIC */
};

struct event_memory;

struct event_run {
    struct event_memory *memory; /* NULL: phases move no bytes */
    struct event_paths *paths;
    bool is_too_late; /* some time passed IWI_LATEST and was cut there */
    uint64_t done;    /* operations */
    const iw_log *log;
    const struct iwi_job *job;
    const struct iwi_schedule *schedule;
    struct iwi_event_queue queue;
    iw_time now;
    struct event_node *nodes;
    struct event_rank *ranks;
    struct event_cpu *cpus;       /* ranks x cpu_count */
    iw_time *send_gap, *recv_gap; /* ranks x nic_count: free from then on */
    int64_t *noise_words;         /* ranks x cpu_count x words */
    size_t words;
    /* Of each CPU in a graph: where posting is, which goes on while the CPU works. NULL: where the CPU is. */
    iw_time *post_next;
    int64_t *post_words;
    iw_time post_touch;   /* as iwi_post_touch() */
    uint32_t cores;       /* of a rank: K */
    iw_time *other_next;  /* of the other K - 1 cores, as each CPU of the rank sees them; as are the words */
    int64_t *other_words; /* ranks x cpu_count x (K - 1) x words */
    struct event_message *messages;
    size_t message_count, message_capacity;
    struct event_pair *pairs; /* open addressing, a power of two */
    size_t pair_count, pair_capacity;
    uint64_t *first_successor;    /* DAG: nodes + 1 */
    struct iwi_dep *successors;   /* by global node; is_start as in the dependence */
    struct iwi_arrival *arrivals; /* scratch of one wait */
    size_t arrival_capacity;
    uint32_t *rank_of; /* of each node */
    struct event_nics nics;
    struct iwi_step_watch watch; /* watch.open is NULL unless steps are wanted */
};

/* The cores of a rank as one of its CPUs sees them. */
static inline struct iwi_cores iwi_event_cores(const struct event_run *run, uint32_t rank, size_t cpu)
{
    const size_t others = cpu * (run->cores - 1);

    return (struct iwi_cores){.noise = run->job->noise,
                              .id = {run->job->seed, run->job->first_trial, rank * run->cores},
                              .words = run->noise_words + cpu * run->words,
                              .next = &run->cpus[cpu].next_detour,
                              .other_words = run->other_words + others * run->words,
                              .other_next = run->other_next + others};
}

/* Posting in a graph is where the CPU is, from now on. */
static inline void iwi_event_restart_posting(struct event_run *run, size_t cpu)
{
    if (run->post_next != NULL) {
        run->post_next[cpu] = run->cpus[cpu].next_detour;
        for (size_t w = cpu * run->words; w < (cpu + 1) * run->words; w++) {
            run->post_words[w] = run->noise_words[w];
        }
    }
}

/* Index of the CPU that runs a node. */
static inline size_t iwi_event_cpu(const struct event_run *run, uint64_t node)
{
    return (size_t)run->rank_of[node] * run->schedule->cpu_count + run->schedule->nodes[node].cpu;
}

static inline bool iwi_event_is_nonblocking(const struct event_run *run, uint64_t node)
{
    return run->schedule->is_in_order && (run->schedule->nodes[node].flags & IWI_NODE_NONBLOCKING) != 0;
}

/* CPU time of a compute phase, by the speed of its node. */
static inline iw_time iwi_event_work(const struct event_run *run, uint64_t node)
{
    return iwi_job_work(run->job, run->rank_of[node], (iw_time)run->schedule->nodes[node].amount);
}

/* Of the message that a send carries. */
static inline struct iwi_cost iwi_event_cost(const struct event_run *run, uint64_t send)
{
    const struct iwi_node *node = &run->schedule->nodes[send];

    return iwi_cost_of_send(run->job->net,
                            iwi_level_between(&run->job->levels, run->rank_of[send], node->peer), node);
}

/* By how much the network delays what the send has carried, and what leaves at that time. */
static inline iw_time iwi_event_delay(const struct event_run *run, uint64_t send, enum iwi_carried what,
                                      iw_time time)
{
    const struct iwi_job *job = run->job;
    struct iwi_leaving leaving;

    if (job->net_noise == NULL) {
        return 0;
    }
    leaving = (struct iwi_leaving){time, job->send_numbers[send], run->rank_of[send],
                                   run->schedule->nodes[send].peer, what};
    return iwi_job_delay(job, job->first_trial, iwi_level_between(&job->levels, leaving.from, leaving.to),
                         &leaving);
}

/* Does its message go through NICs that it may have to wait for? */
static inline bool iwi_event_has_nic(const struct event_run *run, uint64_t send)
{
    return run->nics.out != NULL && iwi_level_between(&run->job->levels, run->rank_of[send],
                                                      run->schedule->nodes[send].peer) > run->nics.level;
}

/* ---- explaining: paths follow the winner of every maximum ---- */

/* What released a node: the end or the start of another, or the beginning of the run. */
#define IWI_CAUSE_NONE UINT64_MAX

static inline uint64_t iwi_cause(uint64_t node, bool is_start)
{
    return 2 * node + is_start;
}

/* The path to a release. */
static inline iw_split path_of_cause(const struct event_paths *paths, uint64_t cause)
{
    if (cause == IWI_CAUSE_NONE) {
        return (iw_split){.hops = 0};
    }
    return cause % 2 ? paths->start[cause / 2] : paths->end[cause / 2];
}

/* Later of two times wins; the first one when they are equal. */
static inline iw_split path_of_later(iw_time first, const iw_split *first_path, iw_time second,
                                     const iw_split *second_path)
{
    return second > first ? *second_path : *first_path;
}

static inline iw_split path_after_gap(const iw_split *start, const struct iwi_cost *cost)
{
    iw_split path = *start;

    iwi_path_add_gap(&path, cost);
    return path;
}

/* ---- event_state.c: the order of things ---- */

/* Not before now. */
IW_NODISCARD iw_status iwi_event_push(struct event_run *run, struct iwi_event event);

/* Takes the first event; false if there is none. */
bool iwi_event_pop(struct iwi_event_queue *queue, struct iwi_event *event_p);

IW_NODISCARD iw_status iwi_event_at(struct event_run *run, iw_time time, enum iwi_event_kind kind,
                                    uint32_t rank, uint64_t object);

/* `cause` lets the node go. */
IW_NODISCARD iw_status iwi_event_push_release(struct event_run *run, iw_time time, uint64_t node,
                                              uint64_t cause);

/* The node's start lets others go: GOAL's irequires. */
IW_NODISCARD iw_status iwi_event_started(struct event_run *run, uint64_t node, iw_time time);
IW_NODISCARD iw_status iwi_event_ended(struct event_run *run, uint64_t node, iw_time time);

/* In-order schedules: the next operation of the rank may start. */
IW_NODISCARD iw_status iwi_event_release_next(struct event_run *run, uint64_t node, iw_time time);

/* d of undisturbed CPU from t on; noise is added to `path` when explaining, d is left to the caller. */
iw_time iwi_event_finish(struct event_run *run, size_t cpu, uint32_t rank, iw_time t, iw_time d,
                         iw_split *path);
void iwi_event_free_cpu(struct event_run *run, size_t cpu, iw_time time, const iw_split *path);

/* Rule 4's p of a receive that is reached now; noise is added to `path` when explaining. */
iw_time iwi_event_post_time(struct event_run *run, uint64_t recv, iw_split *path);

/* ---- event_ops.c: operations, on their CPU now ---- */

IW_NODISCARD iw_status iwi_event_calc(struct event_run *run, uint64_t node, size_t cpu);
IW_NODISCARD iw_status iwi_event_send(struct event_run *run, uint64_t node, size_t cpu);
IW_NODISCARD iw_status iwi_event_receive(struct event_run *run, uint64_t node, size_t cpu);
IW_NODISCARD iw_status iwi_event_wait(struct event_run *run, uint64_t node, size_t cpu);

/* The transfer of a blocking send has started. */
IW_NODISCARD iw_status iwi_event_send_done(struct event_run *run, uint64_t node);

/* A nonblocking operation needs nothing of others any more. */
IW_NODISCARD iw_status iwi_event_request_known(struct event_run *run, uint64_t node);

/* ---- event_memory.c: phases that move bytes ---- */

IW_NODISCARD iw_status iwi_event_memory_init(struct event_run *run);
void iwi_event_memory_release(struct event_run *run);

/* The phase, whose CPU work and bytes begin at t, holds its CPU until it ends. */
IW_NODISCARD iw_status iwi_event_memory_phase(struct event_run *run, uint64_t node, size_t cpu, iw_time t);

IW_NODISCARD iw_status iwi_event_on_core(struct event_run *run, uint32_t rank, uint64_t turn);
IW_NODISCARD iw_status iwi_event_on_memory(struct event_run *run, uint32_t domain, uint64_t turn);

/* ---- event_match.c: messages ---- */

/* A send's CPU part ends at nodes[send].sent: its message goes to the receiver's side. */
IW_NODISCARD iw_status iwi_event_message(struct event_run *run, uint64_t send);

/* A receive is reached now: it is posted as soon as no detour holds the CPU. */
IW_NODISCARD iw_status iwi_event_post(struct event_run *run, uint64_t recv);

/* A message can be seen now. */
IW_NODISCARD iw_status iwi_event_notice(struct event_run *run, size_t message);

/* NICs with queues. */

IW_NODISCARD iw_status iwi_event_nics_init(struct event_run *run);
void iwi_event_nics_release(struct event_nics *nics);

/* It is its turn to wait for the NIC of its sender, and of its receiver. */
IW_NODISCARD iw_status iwi_event_nic_out(struct event_run *run, size_t message);
IW_NODISCARD iw_status iwi_event_nic_in(struct event_run *run, size_t message);

#endif
