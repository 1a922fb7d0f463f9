/* The state of one run of the window engine, or of a member's block of it: shared by the window_*.c files.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_WINDOW_STATE_H
#define IWI_WINDOW_STATE_H

#include "core/net/cost.h"
#include "core/noise/cores.h"
#include "core/sim/window/window_plan.h"
#include "core/sim/window/window_queue.h"

#define IWI_WINDOW_DONE UINT32_MAX

/* ---- a ring of stretches of time, each with a set of ranks that have something to do in it ---- */

enum { IWI_CALENDAR_SLOTS = 64 };

struct iwi_calendar {
    uint32_t shift; /* a stretch is 2^shift picoseconds */
    uint32_t ranks;
    size_t words;       /* of a set: 64 ranks each */
    int64_t current;    /* number of the stretch taken last; others are after it, up to 63 */
    uint64_t is_filled; /* bit n: slot n has ranks */
    uint64_t *sets;     /* IWI_CALENDAR_SLOTS x words */
    iw_time *turn;      /* of each rank: when it has something to do next; INT64_MAX: nothing is known of */
    uint32_t *active;   /* those taken last */
};

/* No stretch is longer than `most` picoseconds (at least 1). */
IW_NODISCARD iw_status iwi_calendar_init(const iw_log *log, struct iwi_calendar *calendar, uint32_t ranks,
                                         iw_time most);
void iwi_calendar_release(struct iwi_calendar *calendar);

/* turn[rank] is after the current stretch. Ranks far ahead, and those whose turn has changed, are put again
 * when their slot is looked at. */
static inline void iwi_calendar_put(struct iwi_calendar *calendar, uint32_t rank)
{
    const int64_t last = calendar->current + IWI_CALENDAR_SLOTS - 1,
                  wanted = calendar->turn[rank] >> calendar->shift;
    const uint32_t slot = (uint32_t)(wanted < last ? wanted : last) % IWI_CALENDAR_SLOTS;

    calendar->is_filled |= UINT64_C(1) << slot;
    calendar->sets[slot * calendar->words + rank / 64] |= UINT64_C(1) << rank % 64;
}

/* The rank has something to do at `time`, after the current stretch. */
static inline void iwi_calendar_note(struct iwi_calendar *calendar, uint32_t rank, iw_time time)
{
    if (time < calendar->turn[rank]) {
        calendar->turn[rank] = time;
        iwi_calendar_put(calendar, rank);
    }
}

/* The number of the first stretch in which a rank has its turn; INT64_MAX: there is none. */
int64_t iwi_calendar_first(const struct iwi_calendar *calendar);

/* Goes on to that stretch, which is not after the first that has ranks: they are in `active`, and have no
 * turn until they are noted again. Returns how many. */
uint32_t iwi_calendar_take(struct iwi_calendar *calendar, int64_t stretch);

/* ---- the run ---- */

/* All that there is to know of a node, in one place: it is looked at when it is in no cache any more. Others
 * of its rank are named by their number within the rank. */
struct window_node {
    int64_t value; /* the latest time of what it requires; receive: when posted, then bytes of its message */
    uint64_t amount; /* as in struct iwi_node, and so are peer, tag, cpu and nic. Fixed receive: when its
                        message can be seen */
    uint32_t open;   /* dependences not satisfied. Receive: number of its posting, then the source of its
                        message. IWI_WINDOW_DONE: it has ended */
    uint32_t link; /* the next that waits for the CPU, or that is posted. Fixed receive: bytes of its message,
                      until it is ready */
    uint32_t peer;
    uint32_t tag; /* or, if fixed, its partner in the other rank; of a phase: how many its rank has before */
    uint32_t first_successor; /* as in struct iwi_window_plan */
    uint8_t kind, cpu, nic;   /* enum iwi_window_kind */
    uint8_t flags;            /* enum window_flag */
};

enum window_flag {
    WINDOW_SYNCHRONOUS = 1,
    WINDOW_FIXED = 2,       /* a send or receive whose partner has been known before the run */
    WINDOW_POSTS = 4,       /* a receive whose posting lets others go */
    WINDOW_ARRIVED = 8,     /* a fixed receive whose message is known, but which is not ready yet */
    WINDOW_RENDEZVOUS = 16, /* that message came by rendezvous */
    WINDOW_HELD = 32        /* a receive that is reached where a detour may hold its CPU */
};

struct window_cpu {
    iw_time free;
    iw_time last_ready;   /* when those became ready that were the last to wait */
    uint32_t first, last; /* those that wait for it, by (ready, node); first IWI_WINDOW_NONE: none */
    uint32_t before_last; /* the last that was ready before last_ready */
};

/* Receives that are posted and messages that nobody has received, of some (source, tag)s, oldest first. What
 * a receive says is one of these; a message is in the bucket of each way in which receives of its rank look
 * for it.
 */
struct window_bucket {
    uint32_t recv_first, recv_last;
    uint32_t entry_first, entry_last; /* IWI_LOOKS * message + enum iwi_window_look */
};

/* A message that nobody has received. */
struct window_unexpected {
    struct iwi_window_message message;
    struct {
        uint32_t older, newer;
    } entry[IWI_LOOKS]; /* in its buckets; newer of the first one: among those unused */
};

/* A message that a rank with wildcards cannot see yet: those of one pair do not overtake each other. */
struct window_flight {
    iw_time notice;
    uint32_t to;
};

enum { IWI_WINDOW_BUCKETS = 4 }; /* that a rank has from the beginning */

struct window_rank {
    struct iwi_window_queue queue;
    struct iwi_window_inbox inbox;
    struct window_node *nodes;
    const uint32_t *successors; /* of its first node on */
    uint32_t first_successor;   /* number of that one */
    struct iwi_window_looks looks;
    iw_time end;
    struct window_bucket *buckets;
    uint32_t bucket_count; /* a power of two */
    uint32_t posted_count; /* receives in buckets */
    uint32_t entry_count;  /* of messages in buckets */
    uint32_t post_count, send_count;
    iw_time latest_notice; /* of its messages to ranks with wildcards */
    struct window_flight *flights;
    uint32_t flight_count, flight_capacity;
};

/* A NIC: free from then on. */
struct window_gap {
    iw_time send, recv;
};

/* Messages to the ranks of another member. */
struct window_outbox {
    struct iwi_window_message *messages;
    size_t count, capacity;
};

struct window_run {
    const iw_log *log;
    const struct iwi_job *job;
    const struct iwi_window_plan *plan;
    const struct iwi_schedule *schedule;
    uint32_t first_rank, rank_count; /* of this block; arrays over ranks and nodes begin with its first */
    uint64_t first_node;
    iw_time now, window_end;
    struct window_node *nodes;
    struct window_rank *ranks;
    struct window_cpu *cpus; /* ranks x cpu_count */
    struct window_gap *gaps; /* ranks x nic_count */
    struct window_bucket *bucket_room;
    struct iwi_calendar calendar;
    struct window_order *order; /* of ranks, if they have no windows; else NULL */
    struct window_unexpected *unexpected;
    size_t unexpected_count, unexpected_capacity;
    uint32_t unused;                /* the first of those; IWI_WINDOW_NONE: there is none */
    struct window_outbox *outboxes; /* one for each member */
    uint32_t own_outbox;
    struct window_outbox delivered; /* the messages of the window to ranks of this block */
    iw_time met_at;                 /* when the receive that met a message last is ready */
    iw_time first_sent;             /* of all messages to others in this window: the earliest notice */
    uint64_t done;                  /* nodes */
    uint64_t turns;                 /* of ranks, since progress was told */
    bool has_begun;                 /* all ranks are set up */
    bool is_too_late;               /* some time passed IWI_LATEST and was cut there */
    size_t words;                   /* of noise state per stream */
    uint32_t cores;                 /* of a rank: K */
    int64_t *noise_words, *other_words;
    iw_time *next_detour, *other_next;
    /* Rendezvous under noise; else NULL: */
    iw_time *posted;              /* of the block's nodes: when receives are posted */
    struct iwi_posting *postings; /* of CPUs */
    int64_t *post_words;
    bool posts_by_phases; /* phases move the detours: what is reached later may be posted later */
};

/* When a rank has its turn, if all ranks take turns event by event. */
struct window_turn {
    iw_time time;
    uint64_t kind_and_rank; /* the order of turns at one instant */
};

struct window_order {
    struct window_turn *heap; /* also turns that are out of date */
    size_t count, capacity;
    struct window_turn *known; /* of each rank the turn that counts */
};

/* One rank of the block. */
struct window_place {
    uint32_t local, rank;
    struct window_rank *state;
    struct window_node *nodes;
};

static inline struct window_place iwi_window_place(const struct window_run *run, uint32_t local)
{
    struct window_rank *state = &run->ranks[local];

    return (struct window_place){
        .local = local, .rank = run->first_rank + local, .state = state, .nodes = state->nodes};
}

/* The place of a node in arrays over those of the block. */
static inline size_t iwi_window_index(const struct window_run *run, const struct window_place *place,
                                      uint32_t node)
{
    return (size_t)(place->nodes - run->nodes) + node;
}

/* When the rank's first event of its own is; INT64_MAX: it has none. */
static inline iw_time iwi_window_first(const struct window_rank *rank)
{
    return rank->queue.begin < rank->queue.end ? rank->queue.near[rank->queue.begin].time : INT64_MAX;
}

/* What it does next is to see a message. */
static inline bool iwi_window_sees_message(const struct window_rank *rank)
{
    return rank->inbox.count > 0 && rank->inbox.messages[0].notice <= iwi_window_first(rank);
}

/* When it does something next; INT64_MAX: it has nothing to do. */
static inline iw_time iwi_window_next(const struct window_rank *rank)
{
    return iwi_window_sees_message(rank) ? rank->inbox.messages[0].notice : iwi_window_first(rank);
}

/* ---- fetching into the cache what others have pushed out of it ---- */

/* So many turns of ranks, or messages, ahead: a rank itself, and what it has to do first. */
enum { IWI_WINDOW_AHEAD = 4, IWI_WINDOW_FURTHER = 8 };

static inline void iwi_window_fetch_lines(const void *what, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += 64) {
        __builtin_prefetch((const char *)what + at, 1);
    }
}

/* The operations that a rank does next. */
static inline void iwi_window_fetch_nodes(const struct window_run *run, uint32_t local)
{
    const struct window_rank *rank = &run->ranks[local];
    const size_t cpus = run->schedule->cpu_count;
    const struct window_cpu *cpu = &run->cpus[local * cpus];

    for (uint32_t i = rank->queue.begin; i < rank->queue.end; i++) {
        __builtin_prefetch(&rank->nodes[(uint32_t)rank->queue.near[i].what], 1);
    }
    for (size_t c = 0; c < cpus; c++) {
        if (cpu[c].first != IWI_WINDOW_NONE) {
            __builtin_prefetch(&rank->nodes[cpu[c].first], 1);
        }
    }
}

/* `ranks` are those from the one at hand on. */
static inline void iwi_window_fetch(const struct window_run *run, const uint32_t *ranks, uint32_t left)
{
    const size_t cpus = run->schedule->cpu_count;

    if (left > IWI_WINDOW_FURTHER) {
        const size_t local = ranks[IWI_WINDOW_FURTHER];

        iwi_window_fetch_lines(&run->ranks[local], sizeof *run->ranks);
        iwi_window_fetch_lines(&run->cpus[local * cpus], cpus * sizeof *run->cpus);
    }
    if (left > IWI_WINDOW_AHEAD) {
        iwi_window_fetch_nodes(run, ranks[IWI_WINDOW_AHEAD]);
    }
}

/* ---- window_plan.c: begin and end ---- */

IW_NODISCARD iw_status iwi_window_setup(struct window_run *run);
void iwi_window_release(struct window_run *run);

/* Nothing is left to do: IW_ERR_DEADLOCK (logged) unless all nodes of all members are done. Warns of messages
 * that nobody has received. */
IW_NODISCARD iw_status iwi_window_check_end(struct window_run *run);

/* ---- window_ops.c: the rank ---- */

/* The cores of a rank as one of its CPUs sees them. */
struct iwi_cores iwi_window_cores(const struct window_run *run, uint32_t local, size_t cpu);

/* Posting is where the CPU is, from t on. */
void iwi_window_restart_posting(struct window_run *run, size_t cpu, iw_time t);

/* What it requires is there at nodes[node].value. */
IW_NODISCARD iw_status iwi_window_become_ready(struct window_run *run, const struct window_place *place,
                                               uint32_t node);

/* The first event of a rank, which has one, and all that are before `end`; *next_p is the time of the one
 * after these. */
IW_NODISCARD iw_status iwi_window_advance(struct window_run *run, const struct window_place *place,
                                          iw_time end, iw_time *next_p);

/* ---- window_match.c: messages ---- */

IW_NODISCARD iw_status iwi_window_grow_queue(struct window_run *run, struct window_rank *rank);

/* A node has one event more in its rank's queue. */
IW_NODISCARD static inline iw_status iwi_window_push(struct window_run *run, struct window_rank *rank,
                                                     iw_time time, uint64_t what)
{
    const struct iwi_window_queue *queue = &rank->queue;

    if ((queue->end == IWI_WINDOW_NEAR || queue->far_count > 0) &&
        queue->far_capacity - queue->far_count < IWI_WINDOW_NEAR) {
        IW_TRY(iwi_window_grow_queue(run, rank));
    }
    iwi_window_queue_put(&rank->queue, (struct iwi_window_event){time, what});
    return IW_OK;
}

/* A receive is reached now. */
IW_NODISCARD iw_status iwi_window_post(struct window_run *run, const struct window_place *place,
                                       uint32_t recv);

/* A fixed receive is ready, and will be posted at nodes[recv].value. */
IW_NODISCARD iw_status iwi_window_ready_fixed(struct window_run *run, const struct window_place *place,
                                              uint32_t recv);

/* A message can be seen now by a rank with wildcards; or is on its way to another, where the order of arrival
 * plays no role. */
IW_NODISCARD iw_status iwi_window_notice(struct window_run *run, const struct window_place *place,
                                         const struct iwi_window_message *message);

/* The same for a message whose receive is known. */
IW_NODISCARD iw_status iwi_window_notice_fixed(struct window_run *run, const struct window_place *place,
                                               const struct iwi_window_message *message);

/* A message has been sent, or answered: it is delivered when the window has ended. */
IW_NODISCARD iw_status iwi_window_send(struct window_run *run, struct iwi_window_message message);

#endif
