/* Traces made in memory, call by call, for tests and benchmarks.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWT_MADE_TRACE_H
#define IWT_MADE_TRACE_H

#include "core/program/trace.h"

struct iwt_made_trace {
    struct iw_trace trace;
    size_t *call_capacity, *completed_capacity; /* ranks */
    iw_time *wall_ps, *cpu_ps;                  /* ranks: computation before the next call */
};

/* Communicator 0 is the world. Aborts when memory is short. */
void iwt_made_trace_init(struct iwt_made_trace *t, uint32_t ranks);
void iwt_made_trace_release(struct iwt_made_trace *t);

/* A communicator of these world ranks; NULL: a duplicate of the world. Returns its number. */
uint32_t iwt_trace_comm(struct iwt_made_trace *t, const uint32_t *members, uint32_t size);

/* Before the rank's next call; several add up. cpu_ps -1: not known. */
void iwt_trace_compute(struct iwt_made_trace *t, uint32_t rank, iw_time wall_ps, iw_time cpu_ps);

/* `kind` is one of the four of messages; returns the request (nonblocking ones). */
uint32_t iwt_trace_message(struct iwt_made_trace *t, uint32_t rank, enum iwi_call_kind kind, uint32_t peer,
                           uint32_t comm, int32_t tag, uint64_t bytes);

/* The same, a synchronous send. */
uint32_t iwt_trace_ssend(struct iwt_made_trace *t, uint32_t rank, enum iwi_call_kind kind, uint32_t peer,
                         uint32_t comm, int32_t tag, uint64_t bytes);

void iwt_trace_wait(struct iwt_made_trace *t, uint32_t rank, const uint32_t *requests, uint32_t count);

/* One rank's call; returns the request (nonblocking ones). */
uint32_t iwt_trace_collective(struct iwt_made_trace *t, uint32_t rank, enum iwi_call_kind kind,
                              enum iwi_trace_op op, uint32_t comm, uint32_t root, uint64_t bytes);

/* What the rank's last call, a collective, sends to whom. */
void iwt_trace_sizes(struct iwt_made_trace *t, uint32_t rank, const struct iwi_sent_piece *parts,
                     uint32_t count);

/* ... or that its bytes are the true ones, of a v-form. */
void iwt_trace_sized(struct iwt_made_trace *t, uint32_t rank);

/* Blocking, on all members. */
void iwt_trace_collective_all(struct iwt_made_trace *t, enum iwi_trace_op op, uint32_t comm, uint32_t root,
                              uint64_t bytes);

/* All ranks, in a periodic grid of these rows and columns, exchange halos with their four neighbours. */
void iwt_trace_halos(struct iwt_made_trace *t, uint32_t rows, uint32_t columns, uint64_t bytes);

void iwt_trace_opaque(struct iwt_made_trace *t, uint32_t rank, iw_time call_ps);

#endif
