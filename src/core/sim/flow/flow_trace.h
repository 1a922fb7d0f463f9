/* The flow engine on trace programs: steps in an order that serves every replica and every trial.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Which operation needs which does not depend on times. So the order of evaluation is found once, for the
 * base ranks, and written down as steps; each replica runs the same steps on its own ranks. Collectives over
 * all ranks cut the program into segments: all replicas run a segment, then the collective runs over all of
 * them.
 */
#ifndef IWI_FLOW_TRACE_H
#define IWI_FLOW_TRACE_H

#include "core/program/trace_program.h"
#include "core/sim/flow/flow_state.h"
#include "core/sim/unreceived.h"

enum iwi_step_kind {
    IWI_STEP_PHASE, /* amount: picoseconds; `sent` is the number of the phase */
    IWI_STEP_WORK,  /* amount: picoseconds */
    IWI_STEP_POST,  /* a receive is posted: only of rendezvous messages, others need not know */
    IWI_STEP_SEND,  /* amount: number of the size, and behind it the peer's base rank; so too of the next two
                     */
    IWI_STEP_RECV,
    IWI_STEP_SEND_DONE,  /* of a rendezvous */
    IWI_STEP_WAIT,       /* amount: so many RECV steps follow, to be served in the order of arrival */
    IWI_STEP_COLLECTIVE, /* of a communicator inside the replica; amount: its number */
    /* only in a member's part of a replica (flow_trace_cut.c): */
    IWI_STEP_EMIT, /* the value in slot `sent` is for peer `rank` */
    IWI_STEP_TAKE, /* values of peer `rank` are taken until `amount` of them have come */
    IWI_STEP_FLUSH /* all that is for others goes out */
};

struct iwi_trace_step {
    uint8_t kind;
    bool is_rendezvous;
    uint32_t rank;         /* base rank */
    uint32_t sent, posted; /* slots: end of the send's CPU part; receive posted */
    uint64_t amount;
};

/* Of messages. */
static inline uint64_t iwi_trace_amount(uint32_t size, uint32_t peer)
{
    return (uint64_t)peer << 32 | size;
}

#define IWI_NO_COLLECTIVE UINT64_MAX

struct iwi_trace_segment {
    uint64_t end;        /* step after its last */
    uint64_t collective; /* over all ranks, behind it; IWI_NO_COLLECTIVE: the end */
};

struct iwi_trace_code {
    const struct iwi_trace_program *program;
    struct iwi_trace_step *steps;
    uint64_t step_count;
    struct iwi_trace_segment *segments;
    size_t segment_count;
    struct iwi_cost *costs; /* of each size, level after level */
    uint32_t size_count, level_count;
    uint32_t local_slots; /* of values used in the segment they are made in: the same for all replicas */
    uint32_t
        kept_slots; /* of those that live longer: numbered behind the local ones, one set for each replica */
    uint32_t largest_wait;
    struct iwi_unreceived unreceived; /* named of the first replica, counted of all */
};

/* Which of the many possible orders. */
enum iwi_trace_order {
    IWI_ORDER_DEEP, /* a rank goes on as far as it can: what it touches stays in the cache */
    IWI_ORDER_TURNS /* from wait to wait by turns: where members have parts of a replica, none holds the
                       others up for long. What no order can run is a deadlock of all stuck ranks. */
};

/* *code_p is NULL, and `note` says why, if segments cannot order the program: then it has to be stored
 * message by message. IW_ERR_DEADLOCK (logged): a receive or rendezvous has no partner. The program is the
 * code's as long as that lives. */
IW_NODISCARD iw_status iwi_trace_compile(const iw_log *log, const struct iwi_trace_program *program,
                                         const iw_net *net, enum iwi_trace_order order, char *note,
                                         size_t note_size, struct iwi_trace_code **code_p);
void iwi_trace_code_free(struct iwi_trace_code *code);

/* Turns the numbers of values (of nodes) in the steps into slots. */
IW_NODISCARD iw_status iwi_trace_assign_slots(const iw_log *log, uint64_t node_count,
                                              struct iwi_trace_code *code);

/* Runs it from the state that iwi_flow_restart() left; always the same code on one flow. */
IW_NODISCARD iw_status iwi_flow_trace(struct iwi_flow *flow, const struct iwi_trace_code *code);

/* Units of progress of one run: segments, and rounds over all ranks. */
uint64_t iwi_trace_ticks(const struct iwi_trace_program *program, const struct iwi_trace_code *code);

#endif
