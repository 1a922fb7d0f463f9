/* The block of memory in which the child process hands over a trace: written, and read without trust.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>
#include <string.h>

#include "kit/files/otf2/trace_otf2.h"

static const char MAGIC[8] = "iwtrace";

struct cursor {
    char *base;
    size_t size, at;
};

/* ---- written ---- */

static size_t padded(size_t size)
{
    return (size + 7) & ~(size_t)7;
}

void iwi_otf2_put(FILE *out, const void *data, size_t size)
{
    static const char zeros[8];

    if (size > 0) {
        (void)fwrite(data, 1, size, out);
        (void)fwrite(zeros, 1, padded(size) - size, out);
    }
}

void iwi_otf2_put_head(FILE *out, struct iwi_otf2_head *head)
{
    memcpy(head->magic, MAGIC, sizeof MAGIC);
    rewind(out);
    iwi_otf2_put(out, head, sizeof *head);
}

void iwi_otf2_put_rank(FILE *out, const struct iwi_trace_rank *rank)
{
    struct iwi_otf2_rank head = {.call_count = rank->call_count,
                                 .completed_count = rank->completed_count,
                                 .request_count = rank->request_count,
                                 .last_compute_wall_ps = rank->last_compute_wall_ps,
                                 .wall_ps = rank->wall_ps,
                                 .clock_added_ns = {rank->clock_added_ns[0], rank->clock_added_ns[1]}};

    memcpy(head.node, rank->node, sizeof head.node);
    iwi_otf2_put(out, &head, sizeof head);
    iwi_otf2_put(out, rank->calls, rank->call_count * sizeof *rank->calls);
    iwi_otf2_put(out, rank->completed, rank->completed_count * sizeof *rank->completed);
}

void iwi_otf2_put_comm(FILE *out, const struct iwi_comm *comm)
{
    struct iwi_otf2_comm head = {.size = comm->size, .member_count = comm->members != NULL ? comm->size : 0};

    memcpy(head.name, comm->name, sizeof head.name);
    iwi_otf2_put(out, &head, sizeof head);
    iwi_otf2_put(out, comm->members, head.member_count * sizeof *comm->members);
}

/* ---- read ---- */

/* The next `count` elements, or NULL if the block ends before. */
static void *next(struct cursor *cursor, uint64_t count, size_t element_size)
{
    void *here = cursor->base + cursor->at;
    size_t bytes;

    if (__builtin_mul_overflow(count, element_size, &bytes) || bytes > SIZE_MAX - 8 ||
        padded(bytes) > cursor->size - cursor->at) {
        return NULL;
    }
    cursor->at += padded(bytes);
    return here;
}

/* What the steps that follow use as an index must be one. */
static bool is_sane_call(const struct iw_trace *trace, const struct iwi_trace_rank *rank,
                         const struct iwi_call *call)
{
    const bool is_receive = call->kind == IWI_CALL_RECV || call->kind == IWI_CALL_IRECV;
    const bool is_message = is_receive || call->kind == IWI_CALL_SEND || call->kind == IWI_CALL_ISEND;
    const bool is_posted =
        call->kind == IWI_CALL_ISEND || call->kind == IWI_CALL_IRECV || call->kind == IWI_CALL_ICOLLECTIVE;
    const bool is_wait = call->kind == IWI_CALL_WAIT;
    const bool has_comm =
        is_message || call->kind == IWI_CALL_COLLECTIVE || call->kind == IWI_CALL_ICOLLECTIVE;

    return call->kind <= IWI_CALL_OPAQUE &&
           (!has_comm || call->comm < trace->comm_count || (is_receive && call->comm == IWI_NO_COMM)) &&
           (!is_posted || call->request < rank->request_count) &&
           (!is_wait || (uint64_t)call->request + call->request_count <= rank->completed_count) &&
           (!is_message || call->peer < trace->rank_count ||
            (is_receive && call->peer == IWI_PEER_UNKNOWN)) &&
           call->compute_wall_ps >= 0 && call->compute_wall_ps <= IW_TIME_INPUT_MAX && call->call_ps >= 0 &&
           call->call_ps <= IW_TIME_INPUT_MAX && call->enter_ps >= -IW_TIME_INPUT_MAX &&
           call->enter_ps <= IW_TIME_INPUT_MAX;
}

static bool take_rank(struct cursor *cursor, struct iw_trace *trace, uint32_t r)
{
    const struct iwi_otf2_rank *head = next(cursor, 1, sizeof *head);
    struct iwi_trace_rank *rank = &trace->ranks[r];

    if (head == NULL) {
        return false;
    }
    rank->call_count = head->call_count;
    rank->completed_count = head->completed_count;
    rank->request_count = (uint32_t)head->request_count;
    rank->last_compute_wall_ps = head->last_compute_wall_ps;
    rank->wall_ps = head->wall_ps;
    memcpy(rank->clock_added_ns, head->clock_added_ns, sizeof rank->clock_added_ns);
    (void)snprintf(rank->node, sizeof rank->node, "%.*s", (int)sizeof head->node - 1, head->node);
    rank->calls = next(cursor, rank->call_count, sizeof *rank->calls);
    rank->completed =
        rank->calls != NULL ? next(cursor, rank->completed_count, sizeof *rank->completed) : NULL;
    if (rank->completed == NULL) {
        return false;
    }
    for (uint64_t i = 0; i < rank->completed_count; i++) {
        if (rank->completed[i] >= rank->request_count) {
            return false;
        }
    }
    for (uint64_t i = 0; i < rank->call_count; i++) {
        if (!is_sane_call(trace, rank, &rank->calls[i])) {
            return false;
        }
    }
    return true;
}

/* Members are copied: communicators are few. */
static iw_status take_comms(const iw_log *log, const char *path, struct cursor *cursor,
                            struct iw_trace *trace)
{
    for (uint32_t c = 0; c < trace->comm_count; c++) {
        const struct iwi_otf2_comm *head = next(cursor, 1, sizeof *head);
        const uint32_t *members = head != NULL ? next(cursor, head->member_count, sizeof *members) : NULL;

        if (members == NULL || (head->member_count != 0 && head->member_count != head->size)) {
            return iwi_fail(log, IW_ERR_FORMAT, "'%s' is damaged: invalid communicators", path);
        }
        trace->comms[c].size = head->size;
        (void)snprintf(trace->comms[c].name, sizeof trace->comms[c].name, "%.*s", (int)sizeof head->name - 1,
                       head->name);
        if (head->member_count > 0) {
            trace->comms[c].members = iwi_new_array(log, head->size, sizeof *members);
            if (trace->comms[c].members == NULL) {
                return IW_ERR_NOMEM;
            }
            memcpy(trace->comms[c].members, members, head->size * sizeof *members);
        }
    }
    return IW_OK;
}

/* Copied too: each different list is there once. */
static iw_status take_sizes(const iw_log *log, const char *path, struct cursor *cursor,
                            const struct iwi_otf2_head *head, struct iw_trace *trace)
{
    const struct iwi_size_list *lists = next(cursor, head->size_list_count, sizeof *lists);
    const struct iwi_sent_piece *parts = lists != NULL ? next(cursor, head->part_count, sizeof *parts) : NULL;

    if (parts == NULL || head->size_list_count > UINT32_MAX - 1) {
        return iwi_fail(log, IW_ERR_FORMAT, "'%s' is damaged: invalid lists of sizes", path);
    }
    trace->size_lists = iwi_new_array(log, head->size_list_count, sizeof *lists);
    trace->parts = iwi_new_array(log, head->part_count, sizeof *parts);
    if (trace->size_lists == NULL || trace->parts == NULL) {
        return IW_ERR_NOMEM;
    }
    memcpy(trace->size_lists, lists, head->size_list_count * sizeof *lists);
    memcpy(trace->parts, parts, head->part_count * sizeof *parts);
    trace->size_list_count = (uint32_t)head->size_list_count;
    trace->part_count = head->part_count;
    return IW_OK;
}

static iw_status take_all(const iw_log *log, const char *path, struct cursor *cursor,
                          const struct iwi_otf2_head *head, struct iw_trace *trace)
{
    struct cursor comms = *cursor;

    memcpy(trace->origin, head->origin, sizeof trace->origin);
    trace->origin[sizeof trace->origin - 1] = '\0';
    trace->has_cpu_time = head->has_cpu_time != 0;
    trace->zero_ns = head->zero_ns;
    trace->uses = head->uses;
    trace->uses.count = head->uses.count <= IWI_USES ? head->uses.count : IWI_USES;
    for (uint32_t i = 0; i < trace->uses.count; i++) {
        trace->uses.of[i].name[sizeof trace->uses.of[i].name - 1] = '\0';
    }
    trace->comms = iwi_new_array(log, head->comm_count, sizeof *trace->comms);
    if (trace->comms == NULL) {
        return IW_ERR_NOMEM;
    }
    trace->comm_count = head->comm_count;
    for (uint32_t r = 0; r < trace->rank_count; r++) {
        if (!take_rank(cursor, trace, r)) {
            return iwi_fail(log, IW_ERR_FORMAT, "'%s' is damaged: invalid events of rank %" PRIu32, path, r);
        }
    }
    if (head->comms_at != cursor->at) {
        return iwi_fail(log, IW_ERR_FORMAT, "'%s' is damaged", path);
    }
    comms.at = cursor->at;
    IW_TRY(take_comms(log, path, &comms, trace));
    return take_sizes(log, path, &comms, head, trace);
}

static iw_status trace_unify_comms(const iw_log *log, struct iw_trace *trace);

static iw_status finish(const iw_log *log, const char *path, const struct iwi_otf2_head *head,
                        struct iw_trace *trace)
{
    struct iwi_gaps gaps = head->gaps;
    const struct iwi_trace_ending how = {log, &gaps, head->distrusts_sources != 0};

    if (how.distrusts_sources) {
        IW_TRY(trace_unify_comms(log, trace));
    }
    IW_TRY(iwi_trace_finish(&how, trace));
    (void)snprintf(trace->lost, sizeof trace->lost, "%.150s", gaps.note);
    iwi_gaps_log(log, path, &gaps);
    return IW_OK;
}

iw_status iwi_otf2_take(const iw_log *log, const char *path, void *bytes, size_t size,
                        struct iw_trace **trace_p)
{
    struct cursor cursor = {bytes, size, 0};
    const struct iwi_otf2_head *head = bytes != NULL ? next(&cursor, 1, sizeof *head) : NULL;
    struct iw_trace *trace;
    iw_status status;

    if (head == NULL || memcmp(head->magic, MAGIC, sizeof MAGIC) != 0 || head->rank_count > size ||
        head->comm_count > size) {
        return iwi_fail(log, IW_ERR_FORMAT, "'%s' is damaged: libotf2 cannot read it", path);
    }
    trace = iwi_trace_new(log, head->rank_count);
    if (trace == NULL) {
        return IW_ERR_NOMEM;
    }
    trace->mapping = bytes;
    trace->mapping_size = size;
    status = take_all(log, path, &cursor, head, trace);
    if (status == IW_OK) {
        status = finish(log, path, head, trace);
    }
    if (status != IW_OK) {
        trace->mapping = NULL; /* stays the caller's */
        for (uint32_t r = 0; r < trace->rank_count; r++) {
            trace->ranks[r] = (struct iwi_trace_rank){0};
        }
        iw_trace_free(trace);
        return status;
    }
    *trace_p = trace;
    return IW_OK;
}

/* ---- one number for a communicator that has several ---- */

struct unify {
    struct iw_trace *trace;
    uint32_t *first;  /* of each communicator: the first one with the same members */
    uint32_t *next;   /* the next one with the same members */
    uint32_t *users;  /* ranks that use it */
    uint32_t *rename; /* of one rank */
    uint32_t *free_;  /* of each first: the next to be given in one rank */
};

static bool has_comm(const struct iwi_call *call)
{
    return call->kind != IWI_CALL_NOTHING && call->kind != IWI_CALL_WAIT && call->kind != IWI_CALL_OPAQUE &&
           call->comm != IWI_NO_COMM;
}

static bool is_same(const struct iwi_comm *a, const struct iwi_comm *b)
{
    return a->size == b->size && (a->members == NULL) == (b->members == NULL) &&
           (a->members == NULL || memcmp(a->members, b->members, a->size * sizeof *a->members) == 0);
}

static void find_classes(struct unify *u)
{
    for (uint32_t c = 0; c < u->trace->comm_count; c++) {
        uint32_t f = 0;

        while (!is_same(&u->trace->comms[f], &u->trace->comms[c])) {
            f++;
        }
        u->first[c] = f;
        u->next[c] = IWI_NO_COMM;
        for (uint32_t last = f; last != c;) {
            if (u->next[last] == IWI_NO_COMM) {
                u->next[last] = c;
                break;
            }
            last = u->next[last];
        }
    }
}

static void count_users(struct unify *u)
{
    for (uint32_t r = 0; r < u->trace->rank_count; r++) {
        const struct iwi_trace_rank *rank = &u->trace->ranks[r];

        memset(u->rename, 0, u->trace->comm_count * sizeof *u->rename);
        for (uint64_t i = 0; i < rank->call_count; i++) {
            const struct iwi_call *call = &rank->calls[i];

            if (has_comm(call) && u->rename[call->comm] == 0) {
                u->rename[call->comm] = 1;
                u->users[call->comm]++;
            }
        }
    }
}

/* True if some communicator with these members is used by a part of them only. */
static bool is_split(const struct unify *u, uint32_t first)
{
    for (uint32_t c = first; c != IWI_NO_COMM; c = u->next[c]) {
        if (u->users[c] > 0 && u->users[c] < u->trace->comms[c].size) {
            return true;
        }
    }
    return false;
}

static void rename_rank(struct unify *u, const bool *splits, struct iwi_trace_rank *rank)
{
    for (uint32_t c = 0; c < u->trace->comm_count; c++) {
        u->rename[c] = IWI_NO_COMM;
        u->free_[c] = c;
    }
    for (uint64_t i = 0; i < rank->call_count; i++) {
        struct iwi_call *call = &rank->calls[i];

        if (!has_comm(call) || !splits[u->first[call->comm]]) {
            continue;
        }
        if (u->rename[call->comm] == IWI_NO_COMM) {
            uint32_t *given = &u->free_[u->first[call->comm]];

            u->rename[call->comm] = *given;
            *given = u->next[*given];
        }
        call->comm = u->rename[call->comm];
    }
}

static iw_status unify(const iw_log *log, struct unify *u)
{
    const uint32_t count = u->trace->comm_count;
    bool *splits = iwi_new_array(log, count, sizeof *splits);

    if (splits == NULL) {
        return IW_ERR_NOMEM;
    }
    find_classes(u);
    count_users(u);
    for (uint32_t c = 0; c < count; c++) {
        splits[c] = u->first[c] == c && u->next[c] != IWI_NO_COMM && is_split(u, c);
    }
    for (uint32_t r = 0; r < u->trace->rank_count; r++) {
        rename_rank(u, splits, &u->trace->ranks[r]);
    }
    free(splits);
    return IW_OK;
}

/* EZTrace gives one communicator several numbers: the k-th that each rank uses among those with the same
 * members becomes one. */
static iw_status trace_unify_comms(const iw_log *log, struct iw_trace *trace)
{
    const size_t count = trace->comm_count;
    uint32_t *words = iwi_new_array(log, count * 5, sizeof *words);
    struct unify u = {.trace = trace};
    iw_status status;

    if (words == NULL) {
        return IW_ERR_NOMEM;
    }
    u.first = words;
    u.next = words + count;
    u.users = words + 2 * count;
    u.rename = words + 3 * count;
    u.free_ = words + 4 * count;
    status = unify(log, &u);
    free(words);
    return status;
}
