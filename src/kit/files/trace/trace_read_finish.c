/* The last steps of reading a trace: which send a receive belongs to, where it does not tell; what led
 * nowhere dropped; everything checked.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * First each receive takes the next send of its source, communicator and tag. The receives that are left, in
 * the order in which they ended, take the messages to their rank that are left, in an order in which they can
 * have been sent (trace_read_replay.c), as far as these fit what is known of the receives.
 */
#include <stdlib.h>

#include "core/base/hash.h"
#include "core/base/order.h"
#include "kit/files/trace/trace_read.h"

/* A send or receive. */
struct end {
    uint32_t src, dst, comm;
    int32_t tag;
    uint64_t call;
    uint64_t order; /* receives: when it was complete, in ps of its rank; sends: place in the replay */
};

struct ends {
    struct end *at;
    size_t count, capacity;
};

struct matching {
    const struct iwi_trace_ending *finish;
    struct iw_trace *trace;
    struct ends sends, receives, unknown;
    struct iwi_message_end **links; /* of each rank and call */
};

static bool is_send(const struct iwi_call *call)
{
    return call->kind == IWI_CALL_SEND || call->kind == IWI_CALL_ISEND;
}

static bool is_receive(const struct iwi_call *call)
{
    return call->kind == IWI_CALL_RECV || call->kind == IWI_CALL_IRECV;
}

static uint64_t digest(uint32_t src, uint32_t dst, const struct iwi_call *call)
{
    const uint64_t envelope = iwi_mix(((uint64_t)src << 32 | dst) + UINT64_C(0x9e3779b97f4a7c15));

    return iwi_mix(iwi_mix(envelope ^ ((uint64_t)call->comm << 32 | (uint32_t)call->tag)) + call->bytes);
}

/* True if each receive has its send: the sums over both sides are then the same, else all but surely not. */
static bool is_balanced(const struct iw_trace *trace)
{
    uint64_t sum = 0;

    for (uint32_t r = 0; r < trace->rank_count; r++) {
        for (uint64_t i = 0; i < trace->ranks[r].call_count; i++) {
            const struct iwi_call *call = &trace->ranks[r].calls[i];

            if (is_send(call)) {
                sum += digest(r, call->peer, call);
            } else if (is_receive(call)) {
                if (call->peer == IWI_PEER_UNKNOWN || call->tag == IWI_TAG_UNKNOWN) {
                    return false;
                }
                sum -= digest(call->peer, r, call);
            }
        }
    }
    return sum == 0;
}

/* ---- gathering ---- */

static iw_status add(struct matching *m, struct ends *ends, const struct end *end)
{
    IW_TRY(iwi_grow(m->finish->log, (void **)&ends->at, &ends->capacity, ends->count + 1, sizeof *ends->at));
    ends->at[ends->count++] = *end;
    return IW_OK;
}

/* When each request of the rank was complete. */
static iw_time *completion_times(struct matching *m, uint32_t r)
{
    const struct iwi_trace_rank *rank = &m->trace->ranks[r];
    iw_time *done_ps = iwi_new_array(m->finish->log, rank->request_count, sizeof *done_ps);
    iw_time now_ps = 0;

    for (uint32_t i = 0; done_ps != NULL && i < rank->request_count; i++) {
        done_ps[i] = INT64_MAX;
    }
    for (uint64_t i = 0; done_ps != NULL && i < rank->call_count; i++) {
        const struct iwi_call *call = &rank->calls[i];

        now_ps += call->compute_wall_ps + call->call_ps;
        for (uint32_t k = 0; call->kind == IWI_CALL_WAIT && k < call->request_count; k++) {
            done_ps[rank->completed[call->request + k]] = now_ps;
        }
    }
    return done_ps;
}

static iw_status gather_rank(struct matching *m, uint32_t r, const iw_time *done_ps)
{
    const struct iwi_trace_rank *rank = &m->trace->ranks[r];
    iw_time now_ps = 0;

    for (uint64_t i = 0; i < rank->call_count; i++) {
        const struct iwi_call *call = &rank->calls[i];
        struct end end = {.comm = call->comm, .tag = call->tag, .call = i};

        now_ps += call->compute_wall_ps + call->call_ps;
        m->links[r][i].rank = IWI_LINK_NONE;
        end.src = is_send(call) ? r : call->peer;
        end.dst = is_send(call) ? call->peer : r;
        if (is_send(call)) {
            IW_TRY(add(m, &m->sends, &end));
        } else if (is_receive(call)) {
            const bool is_known = call->peer != IWI_PEER_UNKNOWN && call->tag != IWI_TAG_UNKNOWN;

            end.order = (uint64_t)(call->kind == IWI_CALL_RECV ? now_ps : done_ps[call->request]);
            IW_TRY(add(m, is_known ? &m->receives : &m->unknown, &end));
        }
    }
    return IW_OK;
}

static iw_status gather(struct matching *m)
{
    for (uint32_t r = 0; r < m->trace->rank_count; r++) {
        iw_time *done_ps = completion_times(m, r);
        iw_status status = IW_ERR_NOMEM;

        m->links[r] = iwi_new_array(m->finish->log, m->trace->ranks[r].call_count, sizeof **m->links);
        if (done_ps != NULL && m->links[r] != NULL) {
            status = gather_rank(m, r, done_ps);
        }
        free(done_ps);
        IW_TRY(status);
    }
    return IW_OK;
}

/* ---- the two rounds ---- */

#define ORDER(x, y)                    \
    do {                               \
        if ((x) != (y)) {              \
            return (x) < (y) ? -1 : 1; \
        }                              \
    } while (0)

static int compare_envelopes(const struct end *x, const struct end *y)
{
    ORDER(x->dst, y->dst);
    ORDER(x->src, y->src);
    ORDER(x->comm, y->comm);
    ORDER(x->tag, y->tag);
    return 0;
}

IWI_COMPARE(by_envelope, struct end, compare_envelopes(left, right), IWI_RISING(call))

/* Those of which more is known come first: less fits them. */
IWI_COMPARE(by_knowledge, struct end, IWI_RISING(dst),
            IWI_ORDER(left->tag == IWI_TAG_UNKNOWN, right->tag == IWI_TAG_UNKNOWN), IWI_RISING(order),
            IWI_RISING(src), IWI_RISING(call))

IWI_COMPARE(by_order, struct end, IWI_RISING(dst), IWI_RISING(order), IWI_RISING(src), IWI_RISING(call))

static void sort(struct ends *ends, int (*compare)(const void *, const void *))
{
    iwi_sort(ends->at, ends->count, compare);
}

static struct iwi_call *call_of(struct matching *m, uint32_t rank, const struct end *end)
{
    return &m->trace->ranks[rank].calls[end->call];
}

static void leave_alone(struct matching *m, enum iwi_trace_gap gap, uint32_t rank, const struct end *end)
{
    struct iwi_call *call = call_of(m, rank, end);

    iwi_gap_note_message(
        m->finish->gaps, gap,
        &(struct iwi_gap_message){
            .rank = rank, .peer = call->peer, .tag = call->tag, .call = end->call + 1, .bytes = call->bytes});
    call->kind = IWI_CALL_OPAQUE;
    call->flags = 0;
    call->bytes = 0;
}

static iw_status leave_receive(struct matching *m, const struct end *receive)
{
    struct end unknown = *receive;

    if (!m->finish->distrusts_sources) {
        leave_alone(m, IWI_GAP_UNSENT, receive->dst, receive);
        return IW_OK;
    }
    unknown.src = IWI_PEER_UNKNOWN;
    unknown.comm = IWI_NO_COMM;
    unknown.tag = IWI_TAG_UNKNOWN;
    return add(m, &m->unknown, &unknown);
}

/* Below 0: the send at s is alone; above: the receive at r is; 0: they belong together. */
static int compare_next(const struct matching *m, size_t s, size_t r)
{
    if (s == m->sends.count || r == m->receives.count) {
        return s == m->sends.count ? 1 : -1;
    }
    return compare_envelopes(&m->sends.at[s], &m->receives.at[r]);
}

/* Pairs what has the same envelope; sends that are left stay in m->sends. */
static iw_status pair_known(struct matching *m)
{
    size_t s = 0, r = 0, left = 0;

    sort(&m->sends, by_envelope);
    sort(&m->receives, by_envelope);
    while (s < m->sends.count || r < m->receives.count) {
        const int order = compare_next(m, s, r);

        if (order == 0) {
            const struct end *send = &m->sends.at[s++], *receive = &m->receives.at[r++];

            call_of(m, receive->dst, receive)->bytes = call_of(m, send->src, send)->bytes;
            m->links[send->src][send->call] = (struct iwi_message_end){receive->call, receive->dst};
            m->links[receive->dst][receive->call] = (struct iwi_message_end){send->call, send->src};
        } else if (order < 0) {
            m->sends.at[left++] = m->sends.at[s++];
        } else {
            IW_TRY(leave_receive(m, &m->receives.at[r++]));
        }
    }
    m->sends.count = left;
    return IW_OK;
}

static bool fits(const struct end *receive, const struct end *send)
{
    return (receive->src == IWI_PEER_UNKNOWN || receive->src == send->src) &&
           (receive->comm == IWI_NO_COMM || receive->comm == send->comm) &&
           (receive->tag == IWI_TAG_UNKNOWN || receive->tag == send->tag);
}

static void take(struct matching *m, const struct end *receive, const struct end *send)
{
    struct iwi_call *call = call_of(m, receive->dst, receive);

    iwi_gap_note(m->finish->gaps, IWI_GAP_SOURCE, receive->dst, receive->call + 1, NULL);
    call->peer = send->src;
    call->comm = send->comm;
    call->tag = send->tag;
    call->bytes = call_of(m, send->src, send)->bytes;
}

/* Gives the receives of one rank what was sent to it; next[] chains the sends that are left, from `first`. */
static void pair_rank(struct matching *m, const struct end *receives, size_t count, size_t *next,
                      size_t first)
{
    for (size_t r = 0; r < count; r++) {
        size_t *link = &first;

        while (*link != SIZE_MAX && !fits(&receives[r], &m->sends.at[*link])) {
            link = &next[*link];
        }
        if (*link == SIZE_MAX) {
            leave_alone(m, IWI_GAP_UNSENT, receives[r].dst, &receives[r]);
        } else {
            take(m, &receives[r], &m->sends.at[*link]);
            *link = next[*link];
        }
    }
    for (; first != SIZE_MAX; first = next[first]) {
        leave_alone(m, IWI_GAP_UNRECEIVED, m->sends.at[first].src, &m->sends.at[first]);
    }
}

/* Finds an order for the sends that are left. */
static iw_status order_sends(struct matching *m)
{
    uint64_t place = 0;

    sort(&m->unknown, by_order);
    for (size_t i = 0; i < m->unknown.count; i++) {
        const struct end *receive = &m->unknown.at[i];

        place = i > 0 && m->unknown.at[i - 1].dst == receive->dst ? place + 1 : 0;
        m->links[receive->dst][receive->call] = (struct iwi_message_end){place, IWI_LINK_POOL};
    }
    for (size_t i = 0; i < m->sends.count; i++) {
        m->links[m->sends.at[i].src][m->sends.at[i].call].rank = IWI_LINK_POOL;
    }
    IW_TRY(iwi_trace_replay(m->finish->log, m->trace, m->links));
    for (size_t i = 0; i < m->sends.count; i++) {
        m->sends.at[i].order = m->links[m->sends.at[i].src][m->sends.at[i].call].call;
    }
    return IW_OK;
}

static iw_status pair_unknown(struct matching *m)
{
    const struct ends *sends = &m->sends, *unknown = &m->unknown;
    size_t *next = iwi_new_array(m->finish->log, sends->count, sizeof *next);
    size_t s = 0, r = 0;

    if (next == NULL) {
        return IW_ERR_NOMEM;
    }
    sort(&m->sends, by_order);
    sort(&m->unknown, by_knowledge);
    for (uint32_t rank = 0; rank < m->trace->rank_count; rank++) {
        const size_t first_send = s, first_receive = r;

        for (; s < sends->count && sends->at[s].dst == rank; s++) {
            next[s] = s + 1 < sends->count && sends->at[s + 1].dst == rank ? s + 1 : SIZE_MAX;
        }
        for (; r < unknown->count && unknown->at[r].dst == rank; r++) {
        }
        pair_rank(m, unknown->count > 0 ? &unknown->at[first_receive] : NULL, r - first_receive, next,
                  s > first_send ? first_send : SIZE_MAX);
    }
    free(next);
    return IW_OK;
}

static iw_status match(struct matching *m)
{
    IW_TRY(gather(m));
    IW_TRY(pair_known(m));
    if (m->unknown.count > 0) {
        IW_TRY(order_sends(m));
    }
    return pair_unknown(m);
}

iw_status iwi_trace_match(const struct iwi_trace_ending *finish, struct iw_trace *trace)
{
    struct matching m = {.finish = finish, .trace = trace};
    iw_status status;

    if (is_balanced(trace)) {
        return IW_OK;
    }
    m.links = iwi_new_array(finish->log, trace->rank_count, sizeof(void *));
    status = m.links != NULL ? match(&m) : IW_ERR_NOMEM;
    for (uint32_t r = 0; m.links != NULL && r < trace->rank_count; r++) {
        free(m.links[r]);
    }
    free(m.links);
    free(m.sends.at);
    free(m.receives.at);
    free(m.unknown.at);
    return status;
}

/* ---- the last steps ---- */

static iw_time add_cpu(iw_time a_ps, iw_time b_ps)
{
    return a_ps < 0 || b_ps < 0 ? -1 : a_ps + b_ps;
}

/* Keeps of a wait what was made, once each; is_made: 1 made, 2 also completed. */
static void keep_completed(struct iwi_trace_rank *rank, struct iwi_call *wait, uint8_t *is_made,
                           uint64_t *used)
{
    const uint32_t first = wait->request, count = wait->request_count;

    wait->request = (uint32_t)*used;
    wait->request_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t request = rank->completed[first + i];

        if (is_made[request] == 1) {
            is_made[request] = 2;
            rank->completed[(*used)++] = request;
            wait->request_count++;
        }
    }
    wait->kind = wait->request_count > 0 ? IWI_CALL_WAIT : IWI_CALL_NOTHING;
}

/* Drops polls and empty waits; what was computed before them counts to the next call. */
static void compact(struct iwi_trace_rank *rank, uint8_t *is_made)
{
    uint64_t kept = 0, used = 0;
    iw_time wall_ps = 0, cpu_ps = 0;

    for (uint64_t i = 0; i < rank->call_count; i++) {
        struct iwi_call call = rank->calls[i];

        if (call.kind == IWI_CALL_ISEND || call.kind == IWI_CALL_IRECV || call.kind == IWI_CALL_ICOLLECTIVE) {
            is_made[call.request] = 1;
        } else if (call.kind == IWI_CALL_WAIT) {
            keep_completed(rank, &call, is_made, &used);
        }
        wall_ps += call.compute_wall_ps;
        cpu_ps = add_cpu(cpu_ps, call.compute_cpu_ps);
        if (call.kind != IWI_CALL_NOTHING) {
            call.compute_wall_ps = wall_ps;
            call.compute_cpu_ps = cpu_ps;
            wall_ps = 0;
            cpu_ps = 0;
            rank->calls[kept++] = call;
        }
    }
    rank->call_count = kept;
    rank->completed_count = used;
    rank->last_compute_wall_ps += wall_ps;
}

iw_status iwi_trace_finish(const struct iwi_trace_ending *finish, struct iw_trace *trace)
{
    trace->threaded = iwi_gaps_threaded(finish->gaps);
    IW_TRY(iwi_trace_match(finish, trace));
    for (uint32_t r = 0; r < trace->rank_count; r++) {
        uint8_t *is_made = iwi_new_array(finish->log, trace->ranks[r].request_count, 1);

        if (is_made == NULL) {
            return IW_ERR_NOMEM;
        }
        compact(&trace->ranks[r], is_made);
        free(is_made);
    }
    return iwi_trace_check(finish->log, trace);
}
