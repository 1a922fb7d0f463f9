/* The event queue of LogGOPSim's rules, and the elements that wait for a CPU or NIC.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * LogGOPSim puts every element that finds its CPU or NIC busy back into the queue, again and again. Here all
 * elements that need the same resources of a rank wait together, and one wake event stands for the one with
 * the lowest serial. The order of execution is the same: a resource never becomes free earlier than it once
 * said, so whoever is not the first of its group could only have been put back.
 */
#ifndef IWI_LOGGOPSIM_QUEUE_H
#define IWI_LOGGOPSIM_QUEUE_H

#include <idlewave/time.h>

#include "core/base/base.h"

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
