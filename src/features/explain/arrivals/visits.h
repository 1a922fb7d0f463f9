/* When the ranks of a run came to what they do together: filled by readers of MPI and GPU traces, read by
 * `waits`.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A *visit* is one rank's part of a collective (or of a message): it comes at `enter` and goes at `leave`.
 * All visits to one collective are an *encounter*. Of an encounter, the ranks wait until the last one has
 * come; what follows is the transfer:
 *
 *     wait of a rank = last enter - its enter, transfer of a rank = its leave - last enter
 *
 * A reader makes ranks and groups, adds visits, pauses, stretches of computation and steps in any order, and
 * calls iwi_visits_finish(), which makes encounters of visits. Times of different ranks may come from
 * different clocks until iwi_visits_align() has been called.
 */
#ifndef IWI_VISITS_H
#define IWI_VISITS_H

#include <idlewave/time.h>

#include "core/base/base.h"
#include "core/base/lookup.h"

enum iwi_visit_op {
    IWI_VISIT_ALLREDUCE,
    IWI_VISIT_ALLGATHER,
    IWI_VISIT_REDUCE_SCATTER,
    IWI_VISIT_ALLTOALL,
    IWI_VISIT_BROADCAST,
    IWI_VISIT_REDUCE,
    IWI_VISIT_GATHER,
    IWI_VISIT_SCATTER,
    IWI_VISIT_BARRIER,
    IWI_VISIT_MESSAGE, /* sends and receives of two ranks, or of several in one kernel */
    IWI_VISIT_OTHER,
    IWI_VISIT_OPS
};

const char *iwi_visit_op_name(unsigned op); /* "allreduce" */

#define IWI_VISIT_NO_SEQUENCE UINT64_MAX /* the file has no number: the n-th of its group, rank and step */
#define IWI_VISIT_NO_STEP UINT32_MAX
#define IWI_VISIT_NO_STAGE UINT32_MAX
enum { IWI_VISIT_NAME_SIZE = 64 };

struct iwi_visit_rank {
    uint32_t number; /* as the program numbers it */
    uint32_t stage;  /* of the pipeline */
    char node[IWI_VISIT_NAME_SIZE];
    /* by iwi_visits_align(): what was added to its times in the middle of the run, its clock's rate against
     * that of the first rank of its set (1e-6: a microsecond gained in a second), and its set */
    iw_time clock_added_ps;
    double clock_drift;
    uint32_t clock_set;
};

struct iwi_visit_group {
    char name[IWI_VISIT_NAME_SIZE];
    uint32_t *members; /* indices of ranks that were traced, ascending */
    uint32_t count;
    uint32_t size; /* with those that were not traced */
};

struct iwi_visit {
    uint32_t rank, group; /* indices */
    uint8_t op;
    uint16_t stream;
    uint32_t step;
    uint64_t sequence; /* in its group; messages are numbered apart from collectives */
    uint64_t bytes;    /* of the whole buffer */
    iw_time enter_ps, leave_ps;
    /* GPUs: for how long, when it began, the host had launched it, and the computation that was launched
     * before it had ended; >= 1, 0: not known. */
    iw_time queued_ps, ready_ps;
    iw_time ahead_ps; /* how long after `enter` the rank went on with other things: MPI_Iallreduce ...
                       * MPI_Wait; 0: it stayed from the beginning */
    bool has_root;    /* broadcast, scatter, message (its sender): the others wait for this rank only */
    uint32_t root;    /* index of the rank */
};

/* visits[first ... first + count - 1], by rank. */
struct iwi_encounter {
    uint64_t first;
    uint32_t count;
    uint32_t last; /* index of the visit of the rank that came last */
};

/* A rank computes: merged kernels of a stream, or the time between two MPI calls. */
struct iwi_stretch {
    uint32_t rank, step;
    uint16_t stream;
    iw_time begin_ps, end_ps;
    iw_time queued_ps; /* of its first kernel, as in struct iwi_visit */
};

/* The host of a rank waits for its device: it launches nothing, and is not ahead afterwards. */
struct iwi_host_wait {
    uint32_t rank, step;
    iw_time begin_ps, end_ps;
};

enum iwi_pause_cause {
    IWI_PAUSE_GC,     /* garbage collection */
    IWI_PAUSE_LOADER, /* the next batch was not there */
    IWI_PAUSE_LAUNCH, /* the device had nothing to do: its next kernel was launched too late */
    IWI_PAUSE_SLOW,   /* a kernel took longer than the same kernel does elsewhere */
    IWI_PAUSE_MEMORY, /* the host allocated or freed memory of the device */
    IWI_PAUSE_OTHER,
    IWI_PAUSE_CAUSES
};

const char *iwi_pause_cause_name(unsigned cause); /* "garbage collection" */

/* Time in which a rank did not get on, and what the file says of it. */
struct iwi_pause {
    uint32_t rank, step;
    uint8_t cause;
    bool is_on_host; /* the device may have gone on */
    iw_time begin_ps, end_ps;
};

struct iwi_visit_step {
    uint32_t rank, number;
    iw_time begin_ps, end_ps;
};

struct iwi_visits {
    const iw_log *log;
    struct iw_trace *trace; /* what they are made of, of an MPI program; NULL */
    struct iwi_visit_rank *ranks;
    struct iwi_visit_group *groups;
    struct iwi_visit *visits; /* by group, kind, sequence, rank once finished */
    struct iwi_encounter *encounters;
    struct iwi_stretch *stretches;
    struct iwi_pause *pauses;
    struct iwi_visit_step *steps;
    struct iwi_host_wait *host_waits;
    size_t rank_count, group_count, visit_count, encounter_count, stretch_count, pause_count, step_count,
        host_wait_count;
    size_t rank_capacity, group_capacity, visit_capacity, encounter_capacity, stretch_capacity,
        pause_capacity, step_capacity, host_wait_capacity;
    struct iwi_index rank_index;   /* by their numbers */
    struct iwi_lookup group_table; /* by hashes of names and members */
    /* by iwi_visits_align(): how well clocks agree (95 % of the ends of collectives are nearer to the middle
     * one of theirs, and half of them in every group; 0: not aligned), and sets of ranks whose clocks nothing
     * compares */
    iw_time clock_error_ps;
    uint32_t clock_sets;
    bool is_on_host;    /* ranks communicate on CPUs, not GPUs */
    uint32_t world;     /* ranks of the run, as files say; 0: they do not */
    uint64_t unmatched; /* visits that nobody else made, though others of the group were traced */
    char origin[32];    /* "Kineto", "OTF2" */
    char lacks[512];    /* what the file does not tell and the results therefore lack, for people */
};

void iwi_visits_init(struct iwi_visits *visits, const iw_log *log, const char *origin);
void iwi_visits_release(struct iwi_visits *visits);

/* Index of the rank with this number; made at first sight, its stage unknown, `node` may be NULL. */
IW_NODISCARD iw_status iwi_visits_rank(struct iwi_visits *visits, uint32_t number, const char *node,
                                       uint32_t *index_p);

/* Index of the group of this name and these members (indices of ranks, in any order); made at first sight. */
IW_NODISCARD iw_status iwi_visits_group(struct iwi_visits *visits, const char *name, const uint32_t *members,
                                        uint32_t count, uint32_t size, uint32_t *index_p);

IW_NODISCARD iw_status iwi_visits_add(struct iwi_visits *visits, const struct iwi_visit *visit);
IW_NODISCARD iw_status iwi_visits_add_stretch(struct iwi_visits *visits, const struct iwi_stretch *stretch);
IW_NODISCARD iw_status iwi_visits_add_pause(struct iwi_visits *visits, const struct iwi_pause *pause);
IW_NODISCARD iw_status iwi_visits_add_step(struct iwi_visits *visits, const struct iwi_visit_step *step);
IW_NODISCARD iw_status iwi_visits_add_host_wait(struct iwi_visits *visits, const struct iwi_host_wait *wait);

/* Adds a sentence to `lacks`, once. */
void iwi_visits_note(struct iwi_visits *visits, const char *sentence);

/* Sorts, numbers what has no sequence, and makes encounters. IW_ERR_FORMAT (logged): a rank visits an
 * encounter twice, or members of a group name different operations. May be called again when more was added.
 */
IW_NODISCARD iw_status iwi_visits_finish(struct iwi_visits *visits);

/* Brings the clocks of all ranks together by the ends of their collectives, after iwi_visits_finish(): all
 * ranks leave an all-reduce or a barrier at the same time. Where groups overlap, clocks are chained, by least
 * squares; drift is taken out if that brings the ends clearly nearer. The first rank of a set keeps its
 * times. */
IW_NODISCARD iw_status iwi_visits_align(struct iwi_visits *visits);

/* After iwi_visits_align(): refuses files of different runs (IW_ERR_FORMAT, logged) where times tell, and
 * warns where clocks are further apart than those of any cluster. */
IW_NODISCARD iw_status iwi_visits_check_one_run(struct iwi_visits *visits);

/* How many ranks the run had at least: as files say, and by the sizes of groups. */
uint32_t iwi_visits_least_ranks(const struct iwi_visits *visits);

/* When the last rank of an encounter came. */
static inline iw_time iwi_encounter_start_ps(const struct iwi_visits *visits,
                                             const struct iwi_encounter *encounter)
{
    return visits->visits[encounter->last].enter_ps;
}

#endif
