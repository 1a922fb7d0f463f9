/* LogGOPSim's rules: what a run did, node by node, for tests that compare; its noise, and its queue.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_LOGGOPSIM_H
#define IWI_LOGGOPSIM_H

#include <idlewave/time.h>

#include "core/base/base.h"
#include "core/noise/stream.h"
#include "core/sim/engine.h"

struct iwi_lgs_fact {
    iw_time start_ps; /* calc, send: the CPU began it; recv: it was posted */
    iw_time end_ps;   /* calc, send: end of its CPU part */
    uint64_t match;   /* send: its receive, recv: its send (global nodes); UINT64_MAX: none */
    /* of a send's message: */
    iw_time arrival_ps; /* of the first byte */
    iw_time served_ps;  /* the receiver's CPU began to pay for it */
    iw_time served_end_ps;
    bool was_unexpected; /* served before its receive was posted */
};

/* iwi_loggopsim_run() that fills facts[node] for each node of the schedule, unless `facts` is NULL. */
IW_NODISCARD iw_status iwi_loggopsim_run_observed(const iw_log *log, const struct iwi_job *job,
                                                  struct iwi_lgs_fact *facts);

/* Noise as LogGOPSim counts it: detours of one recorded trace, found by position modulo its length. */
struct iwi_lgs_noise {
    struct iwi_detour_trace_view trace;
    iw_time *lost_before_ps; /* count + 1: sum of the durations of all earlier detours */
    iw_time *offset_ps;      /* one per rank */
    iw_time period_ps;       /* T: the start of the last detour */
};

/* `noise` may be NULL: none. IW_ERR_UNSUPPORTED unless the noise is exactly one recorded trace; IW_ERR_RANGE
 * for a trace whose detours all start together, which has no period. */
IW_NODISCARD iw_status iwi_lgs_noise_init(const iw_log *log, struct iwi_lgs_noise *lgs, const iw_noise *noise,
                                          struct iwi_stream_id first_rank, uint32_t ranks);
void iwi_lgs_noise_release(struct iwi_lgs_noise *lgs);

/* Time that `work_ps` of CPU from `start_ps` on takes longer on that rank. */
iw_time iwi_lgs_noise_lost(const struct iwi_lgs_noise *lgs, uint32_t rank, iw_time start_ps, iw_time work_ps);

/* LogGOPSim puts every element that finds its CPU or NIC busy back into the queue, again and again. Here all
 * elements that need the same resources of a rank wait together, and one wake event stands for the one with
 * the lowest serial. The order of execution is the same: a resource never becomes free earlier than it once
 * said, so whoever is not the first of its group could only have been put back. */
#define IWI_LGS_NONE UINT64_MAX

enum iwi_lgs_event_kind { IWI_LGS_OP, IWI_LGS_MESSAGE, IWI_LGS_WAKE };

/* Ordered by (time, serial); the serial is the age of the element. */
struct iwi_lgs_event {
    iw_time time_ps;
    uint64_t serial;
    uint64_t index; /* OP: node; MESSAGE: node of its send; WAKE: group */
    enum iwi_lgs_event_kind kind;
};

struct iwi_lgs_queue {
    struct iwi_lgs_event *events; /* a binary heap */
    size_t count, capacity;
};

IW_NODISCARD iw_status iwi_lgs_push(const iw_log *log, struct iwi_lgs_queue *queue,
                                    struct iwi_lgs_event event);
bool iwi_lgs_pop(struct iwi_lgs_queue *queue, struct iwi_lgs_event *event_p);

/* What a node of the schedule is to the queues; a send and the message made of it are never queued together.
 */
struct iwi_lgs_element {
    uint64_t serial;
    uint64_t child; /* in a group: the oldest of the younger ones under it */
    uint64_t next;  /* in a group: the sibling; in a rank's list: the one behind it */
};

/* What the members of a group need. */
struct iwi_lgs_need {
    uint32_t rank;
    uint8_t kind; /* IWI_CALC: CPU; IWI_SEND: CPU and send side of the NIC; IWI_RECV: CPU and receive side */
    uint8_t cpu, nic;
};

struct iwi_lgs_group {
    struct iwi_lgs_need need;
    uint64_t first; /* root of a pairing heap by serial, or IWI_LGS_NONE */
    uint64_t next;  /* further group of this rank */
    /* The wake event that counts; others of this group are stale. */
    iw_time wake_ps;
    uint64_t wake_serial;
};

struct iwi_lgs_groups {
    struct iwi_lgs_group *groups;
    size_t count, capacity;
    uint64_t *first_of_rank; /* ranks; IWI_LGS_NONE: the rank has none yet */
};

/* Adds `node` to the group with that need (made if there is none); tells which one. */
IW_NODISCARD iw_status iwi_lgs_wait(const iw_log *log, struct iwi_lgs_groups *groups,
                                    struct iwi_lgs_element *elements, struct iwi_lgs_need need, uint64_t node,
                                    uint64_t *group_p);

/* Takes the oldest member out of a group that has one. */
uint64_t iwi_lgs_take_first(struct iwi_lgs_group *group, struct iwi_lgs_element *elements);

#endif
