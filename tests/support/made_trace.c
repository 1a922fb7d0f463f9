/* SPDX-License-Identifier: BSD-3-Clause */
#include "support/made_trace.h"

#include <stdlib.h>
#include <string.h>

static void *must(void *memory)
{
    if (memory == NULL) {
        abort();
    }
    return memory;
}

void iwt_made_trace_init(struct iwt_made_trace *t, uint32_t ranks)
{
    memset(t, 0, sizeof *t);
    memcpy(t->trace.origin, "made", sizeof "made");
    t->trace.rank_count = ranks;
    t->trace.ranks = must(calloc(ranks, sizeof *t->trace.ranks));
    t->trace.comms = must(calloc(1, sizeof *t->trace.comms));
    t->trace.comms[0].size = ranks;
    t->trace.comm_count = 1;
    t->call_capacity = must(calloc(ranks, sizeof *t->call_capacity));
    t->completed_capacity = must(calloc(ranks, sizeof *t->completed_capacity));
    t->wall_ps = must(calloc(ranks, sizeof *t->wall_ps));
    t->cpu_ps = must(calloc(ranks, sizeof *t->cpu_ps));
}

void iwt_made_trace_release(struct iwt_made_trace *t)
{
    for (uint32_t rank = 0; rank < t->trace.rank_count; rank++) {
        free(t->trace.ranks[rank].calls);
        free(t->trace.ranks[rank].completed);
    }
    for (uint32_t comm = 0; comm < t->trace.comm_count; comm++) {
        free(t->trace.comms[comm].members);
    }
    free(t->trace.ranks);
    free(t->trace.comms);
    free(t->trace.size_lists);
    free(t->trace.parts);
    free(t->call_capacity);
    free(t->completed_capacity);
    free(t->wall_ps);
    free(t->cpu_ps);
}

uint32_t iwt_trace_comm(struct iwt_made_trace *t, const uint32_t *members, uint32_t size)
{
    const uint32_t comm = t->trace.comm_count++;

    t->trace.comms = must(realloc(t->trace.comms, t->trace.comm_count * sizeof *t->trace.comms));
    t->trace.comms[comm] = (struct iwi_comm){.size = members == NULL ? t->trace.rank_count : size};
    if (members != NULL) {
        t->trace.comms[comm].members = must(malloc(size * sizeof *members));
        memcpy(t->trace.comms[comm].members, members, size * sizeof *members);
    }
    return comm;
}

void iwt_trace_compute(struct iwt_made_trace *t, uint32_t rank, iw_time wall_ps, iw_time cpu_ps)
{
    t->wall_ps[rank] += wall_ps;
    t->cpu_ps[rank] = cpu_ps < 0 || t->cpu_ps[rank] < 0 ? -1 : t->cpu_ps[rank] + cpu_ps;
    t->trace.has_cpu_time |= cpu_ps >= 0;
}

static void add(struct iwt_made_trace *t, uint32_t rank, struct iwi_call call)
{
    struct iwi_trace_rank *r = &t->trace.ranks[rank];

    if (r->call_count == t->call_capacity[rank]) {
        t->call_capacity[rank] = 2 * t->call_capacity[rank] + 16;
        r->calls = must(realloc(r->calls, t->call_capacity[rank] * sizeof *r->calls));
    }
    call.compute_wall_ps = t->wall_ps[rank];
    call.compute_cpu_ps = t->cpu_ps[rank];
    t->wall_ps[rank] = t->cpu_ps[rank] = 0;
    r->calls[r->call_count++] = call;
}

static uint32_t new_request(struct iwt_made_trace *t, uint32_t rank, enum iwi_call_kind kind)
{
    const bool has_request = kind == IWI_CALL_ISEND || kind == IWI_CALL_IRECV || kind == IWI_CALL_ICOLLECTIVE;

    return has_request ? t->trace.ranks[rank].request_count++ : 0;
}

uint32_t iwt_trace_message(struct iwt_made_trace *t, uint32_t rank, enum iwi_call_kind kind, uint32_t peer,
                           uint32_t comm, int32_t tag, uint64_t bytes)
{
    const uint32_t request = new_request(t, rank, kind);

    add(t, rank,
        (struct iwi_call){.kind = (uint8_t)kind,
                          .comm = comm,
                          .peer = peer,
                          .tag = tag,
                          .bytes = bytes,
                          .request = request});
    return request;
}

uint32_t iwt_trace_ssend(struct iwt_made_trace *t, uint32_t rank, enum iwi_call_kind kind, uint32_t peer,
                         uint32_t comm, int32_t tag, uint64_t bytes)
{
    const uint32_t request = iwt_trace_message(t, rank, kind, peer, comm, tag, bytes);
    struct iwi_trace_rank *r = &t->trace.ranks[rank];

    r->calls[r->call_count - 1].flags = IWI_CALL_SYNCHRONOUS;
    return request;
}

void iwt_trace_wait(struct iwt_made_trace *t, uint32_t rank, const uint32_t *requests, uint32_t count)
{
    struct iwi_trace_rank *r = &t->trace.ranks[rank];
    const struct iwi_call call = {
        .kind = IWI_CALL_WAIT, .request = (uint32_t)r->completed_count, .request_count = count};

    if (r->completed_count + count > t->completed_capacity[rank]) {
        t->completed_capacity[rank] = 2 * t->completed_capacity[rank] + count + 16;
        r->completed = must(realloc(r->completed, t->completed_capacity[rank] * sizeof *r->completed));
    }
    for (uint32_t i = 0; i < count; i++) {
        r->completed[r->completed_count++] = requests[i];
    }
    add(t, rank, call);
}

uint32_t iwt_trace_collective(struct iwt_made_trace *t, uint32_t rank, enum iwi_call_kind kind,
                              enum iwi_trace_op op, uint32_t comm, uint32_t root, uint64_t bytes)
{
    const uint32_t request = new_request(t, rank, kind);

    add(t, rank,
        (struct iwi_call){.kind = (uint8_t)kind,
                          .op = (uint8_t)op,
                          .comm = comm,
                          .peer = root,
                          .bytes = bytes,
                          .request = request});
    return request;
}

void iwt_trace_sizes(struct iwt_made_trace *t, uint32_t rank, const struct iwi_sent_piece *parts,
                     uint32_t count)
{
    struct iw_trace *trace = &t->trace;
    const struct iwi_trace_rank *r = &trace->ranks[rank];

    trace->size_lists =
        must(realloc(trace->size_lists, (trace->size_list_count + 1) * sizeof *trace->size_lists));
    trace->size_lists[trace->size_list_count++] = (struct iwi_size_list){trace->part_count, count};
    trace->parts = must(realloc(trace->parts, (trace->part_count + count + 1) * sizeof *trace->parts));
    for (uint32_t i = 0; i < count; i++) {
        trace->parts[trace->part_count++] = parts[i];
    }
    r->calls[r->call_count - 1].sizes = trace->size_list_count;
}

void iwt_trace_sized(struct iwt_made_trace *t, uint32_t rank)
{
    const struct iwi_trace_rank *r = &t->trace.ranks[rank];

    r->calls[r->call_count - 1].flags |= IWI_CALL_SIZED;
}

void iwt_trace_collective_all(struct iwt_made_trace *t, enum iwi_trace_op op, uint32_t comm, uint32_t root,
                              uint64_t bytes)
{
    const struct iwi_comm *c = &t->trace.comms[comm];

    for (uint32_t i = 0; i < c->size; i++) {
        (void)iwt_trace_collective(t, c->members == NULL ? i : c->members[i], IWI_CALL_COLLECTIVE, op, comm,
                                   root, bytes);
    }
}

enum { NEIGHBOURS = 4 };

/* Directions come in pairs, so the other end's is the one with the last bit flipped. */
static uint32_t neighbour(uint32_t rank, uint32_t direction, uint32_t rows, uint32_t columns)
{
    const uint32_t down[NEIGHBOURS] = {rows - 1, 1, 0, 0}, right[NEIGHBOURS] = {0, 0, columns - 1, 1};

    return (rank / columns + down[direction]) % rows * columns +
           (rank % columns + right[direction]) % columns;
}

void iwt_trace_halos(struct iwt_made_trace *t, uint32_t rows, uint32_t columns, uint64_t bytes)
{
    for (uint32_t rank = 0; rank < rows * columns; rank++) {
        uint32_t requests[2 * NEIGHBOURS];

        for (uint32_t d = 0; d < NEIGHBOURS; d++) {
            requests[d] = iwt_trace_message(t, rank, IWI_CALL_IRECV, neighbour(rank, d, rows, columns), 0,
                                            (int32_t)(d ^ 1), bytes);
        }
        for (uint32_t d = 0; d < NEIGHBOURS; d++) {
            requests[NEIGHBOURS + d] = iwt_trace_message(
                t, rank, IWI_CALL_ISEND, neighbour(rank, d, rows, columns), 0, (int32_t)d, bytes);
        }
        iwt_trace_wait(t, rank, requests, 2 * NEIGHBOURS);
    }
}

void iwt_trace_opaque(struct iwt_made_trace *t, uint32_t rank, iw_time call_ps)
{
    add(t, rank, (struct iwi_call){.kind = IWI_CALL_OPAQUE, .comm = IWI_NO_COMM, .call_ps = call_ps});
}
