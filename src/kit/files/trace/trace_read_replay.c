/* What a trace lacks, told once for each kind; the order in which its messages can have been sent.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kit/files/trace/trace_read.h"

/* ---- what a trace lacks: counted while it is read, told once for each kind ---- */

/* How many, of what, where first; then what is done about it. */
struct text {
    const char *what, *consequence;
};

/* Those of messages and of threads have functions of their own. */
static const struct text texts[IWI_GAPS] = {
    [IWI_GAP_OPAQUE] = {"calls of one-sided communication, files, processes and others are not simulated",
                        "their time counts as work"},
    [IWI_GAP_NO_EVENT] =
        {"point-to-point calls without a message in the trace",
         "if their partner was not MPI_PROC_NULL, these messages are lost; their time counts as "
         "work"},
    [IWI_GAP_COLLECTIVE] = {"collective calls without their communicator in the trace",
                            "their time counts as work"},
    [IWI_GAP_INTERCOMM] = {"collective calls on intercommunicators", "their time counts as work"},
    [IWI_GAP_MEMBERS] = {"calls on communicators with unknown members", "their time counts as work"},
    [IWI_GAP_SOURCE] = {"receives without their source in the trace",
                        "each gets a message to its rank, in a possible order"},
    [IWI_GAP_COMPLETION] = {"waits and tests without the requests that they completed",
                            "requests are assumed to complete in the order of their creation"},
    [IWI_GAP_NEVER_COMPLETED] = {"requests that are never completed in the trace", "no call waits for them"},
    [IWI_GAP_UNKNOWN_REQUEST] = {"completions of requests that the trace does not create",
                                 "they are ignored"},
    [IWI_GAP_SIZES] = {"collective calls without their sizes in the trace", "they count as empty"},
    [IWI_GAP_MEANS] =
        {"collective calls with a size for each rank, which the trace lacks (made by idlewave 0.2, or by "
         "another tracer)",
         "their sizes are averaged"},
    [IWI_GAP_NEIGHBOR] =
        {"neighbour collectives whose partners the trace lacks (made by idlewave 0.2, or by another "
         "tracer)",
         "they are simulated as barriers, without their data"},
    [IWI_GAP_WAITS] = {"waits for files, one-sided or partitioned communication",
                       "their time counts as work"},
    [IWI_GAP_MIXED_WAIT] = {"waits for messages together with files, one-sided or partitioned communication",
                            "only the messages are simulated"},
    [IWI_GAP_CLOCK] = {"events earlier than the one before them", "they count as simultaneous"},
    [IWI_GAP_OFF] = {"gaps where recording was switched off",
                     "these events are missing, and their time is not counted"},
};

void iwi_gap_note(struct iwi_gaps *gaps, enum iwi_trace_gap gap, uint32_t rank, uint64_t call,
                  const char *name)
{
    if (gaps->of[gap].count++ == 0) {
        gaps->of[gap].rank = rank;
        gaps->of[gap].call = call;
        (void)snprintf(gaps->of[gap].name, sizeof gaps->of[gap].name, "%s", name != NULL ? name : "");
    }
}

void iwi_gap_note_message(struct iwi_gaps *gaps, enum iwi_trace_gap gap,
                          const struct iwi_gap_message *message)
{
    struct iwi_gap_message *kept = gap == IWI_GAP_UNSENT ? gaps->unsent : gaps->unreceived;

    if (gaps->of[gap].count < IWI_GAP_MESSAGES) {
        kept[gaps->of[gap].count] = *message;
    }
    iwi_gap_note(gaps, gap, message->rank, message->call, NULL);
}

struct iwi_threaded iwi_gaps_threaded(const struct iwi_gaps *gaps)
{
    return (struct iwi_threaded){(uint32_t)gaps->of[IWI_GAP_THREADS].count, gaps->of[IWI_GAP_THREADS].rank,
                                 (uint32_t)gaps->of[IWI_GAP_THREADS].call};
}

/* ---- telling ---- */

static void log_threads(const iw_log *log, const char *path, const struct iwi_threaded *threaded)
{
    char others[64] = "";

    if (threaded->ranks == 0) {
        return;
    }
    if (threaded->ranks > 1) {
        (void)snprintf(others, sizeof others, " (%" PRIu32 " other rank%s from several too)",
                       threaded->ranks - 1, threaded->ranks == 2 ? "" : "s");
    }
    iwi_warn(log,
             "'%s': rank %" PRIu32 " called MPI from %" PRIu32
             " threads%s; their calls are treated as sequential, so the prediction is too long where they "
             "overlapped",
             path, threaded->first, threaded->threads, others);
}

/* "rank 0, MPI call 3: 8 B to rank 1, tag 7" */
static size_t describe_message(const struct iwi_gap_message *message, bool is_send, char *text, size_t size)
{
    char peer[24] = "any rank", tag[24] = "any tag", bytes[32] = "";

    if (message->peer != IWI_PEER_UNKNOWN) {
        (void)snprintf(peer, sizeof peer, "rank %" PRIu32, message->peer);
    }
    if (message->tag != IWI_TAG_UNKNOWN) {
        (void)snprintf(tag, sizeof tag, "tag %" PRId32, message->tag);
    }
    if (is_send) {
        (void)snprintf(bytes, sizeof bytes, "%" PRIu64 " B ", message->bytes);
    }
    return (size_t)snprintf(text, size, "rank %" PRIu32 ", MPI call %" PRIu64 ": %s%s %s, %s", message->rank,
                            message->call, bytes, is_send ? "to" : "from", peer, tag);
}

static void log_messages(const iw_log *log, const char *path, const struct iwi_gaps *gaps,
                         enum iwi_trace_gap gap)
{
    const bool is_send = gap == IWI_GAP_UNRECEIVED;
    const struct iwi_gap_message *messages = is_send ? gaps->unreceived : gaps->unsent;
    const uint64_t count = gaps->of[gap].count, named = count < IWI_GAP_MESSAGES ? count : IWI_GAP_MESSAGES;
    char text[IWI_GAP_MESSAGES * 128] = "", rest[40] = "";
    size_t used = 0;

    if (count == 0) {
        return;
    }
    for (uint64_t i = 0; i < named; i++) {
        used += i > 0 ? (size_t)snprintf(text + used, sizeof text - used, "; ") : 0;
        used += describe_message(&messages[i], is_send, text + used, sizeof text - used);
    }
    if (count > named) {
        (void)snprintf(rest, sizeof rest, "; and %" PRIu64 " more", count - named);
    }
    iwi_warn(log, "'%s': %" PRIu64 " message%s never %s (%s%s); %s time counts as work", path, count,
             count == 1 ? " is" : "s are", is_send ? "received" : "sent, but waited for", text, rest,
             count == 1 ? "its" : "their");
}

void iwi_gaps_log(const iw_log *log, const char *path, const struct iwi_gaps *gaps)
{
    const struct iwi_threaded threaded = iwi_gaps_threaded(gaps);

    if (gaps->note[0] != '\0') {
        iwi_warn(log, "'%s' is not complete: %s", path, gaps->note);
    }
    for (size_t i = 0; i < IWI_GAPS; i++) {
        const char *name = gaps->of[i].name;

        if (gaps->of[i].count > 0 && texts[i].what != NULL) {
            iwi_warn(log, "'%s': %s: %" PRIu64 " (first: rank %" PRIu32 ", MPI call %" PRIu64 "%s%s); %s",
                     path, texts[i].what, gaps->of[i].count, gaps->of[i].rank, gaps->of[i].call,
                     name[0] != '\0' ? ", " : "", name, texts[i].consequence);
        }
    }
    log_messages(log, path, gaps, IWI_GAP_UNSENT);
    log_messages(log, path, gaps, IWI_GAP_UNRECEIVED);
    log_threads(log, path, &threaded);
}

/* ---- which MPI functions it has: how often, how long, how many bytes ---- */

static struct iwi_function_use *find(struct iwi_function_uses *uses, const char *name)
{
    struct iwi_function_use *use;

    for (uint32_t i = 0; i < uses->count; i++) {
        if (strncmp(uses->of[i].name, name, sizeof uses->of[i].name - 1) == 0) {
            return &uses->of[i];
        }
    }
    if (uses->count == IWI_USES) {
        return &uses->of[IWI_USES - 1];
    }
    use = &uses->of[uses->count++];
    (void)snprintf(use->name, sizeof use->name, "%s", uses->count < IWI_USES ? name : "others");
    return use;
}

uint8_t iwi_use_number(struct iwi_function_uses *uses, const char *name)
{
    const struct iwi_function_use *use = uses != NULL && name != NULL ? find(uses, name) : NULL;

    return use == NULL || use == &uses->of[IWI_USES - 1] ? 0 : (uint8_t)(use - uses->of + 1);
}

void iwi_use_function(struct iwi_function_uses *uses, const char *name, iw_time time_ps, uint64_t bytes)
{
    struct iwi_function_use *use;

    if (uses == NULL || name == NULL) {
        return;
    }
    use = find(uses, name);
    use->calls++;
    use->bytes += bytes;
    use->time_ps += time_ps;
}

/* ---- in which order messages can have been sent ---- */

/* A receive without source goes on when so many messages without receive were sent to its rank as receives
 * before it must have had one. Since the traced run got to its end, so does this one, unless it waits too
 * strictly: sends wait for their receives, and collectives for all members. When nothing goes on, one of
 * these is let pass.
 */

struct replay {
    const struct iw_trace *trace;
    struct iwi_message_end **links;
    uint64_t *next;       /* of each rank: the call that it is in */
    bool *has_arrived;    /* of each rank: at that call, seen before */
    iw_time *elapsed_ps;  /* of each rank */
    uint64_t *sent;       /* to each rank: messages without receive */
    uint64_t *posted;     /* by each rank: receives without source */
    uint64_t *generation; /* of each communicator: collectives that all members reached */
    uint64_t *reached;    /* of each rank: the generation at which it came to its collective */
    uint32_t *arrived;    /* of each communicator: members that wait in a collective */
    uint64_t **makers;    /* of each rank: the calls that made its requests */
    uint64_t sequence;
};

static bool is_received(const struct replay *r, uint32_t rank, uint64_t call)
{
    const struct iwi_message_end *link = &r->links[rank][call];

    return link->rank == IWI_LINK_NONE ||
           (link->rank == IWI_LINK_POOL ? r->sent[rank] > link->call : r->next[link->rank] > link->call);
}

static bool is_waited_for(const struct replay *r, uint32_t rank, const struct iwi_call *wait)
{
    for (uint32_t i = 0; i < wait->request_count; i++) {
        const uint64_t maker = r->makers[rank][r->trace->ranks[rank].completed[wait->request + i]];

        if (r->trace->ranks[rank].calls[maker].kind == IWI_CALL_IRECV && !is_received(r, rank, maker)) {
            return false;
        }
    }
    return true;
}

static bool is_taken(const struct replay *r, uint32_t rank, const struct iwi_call *send)
{
    const struct iwi_message_end *link = &r->links[rank][r->next[rank]];

    return link->rank == IWI_LINK_NONE ||
           (link->rank == IWI_LINK_POOL ? r->posted[send->peer] > r->sent[send->peer]
                                        : r->next[link->rank] >= link->call);
}

/* What a rank does when it comes to a call, before it may have to wait there. */
static void arrive(struct replay *r, uint32_t rank, const struct iwi_call *call)
{
    r->has_arrived[rank] = true;
    if (call->kind == IWI_CALL_RECV && r->links[rank][r->next[rank]].rank == IWI_LINK_POOL) {
        r->posted[rank]++;
    } else if (call->kind == IWI_CALL_COLLECTIVE) {
        r->reached[rank] = r->generation[call->comm];
        if (++r->arrived[call->comm] == r->trace->comms[call->comm].size) {
            r->arrived[call->comm] = 0;
            r->generation[call->comm]++;
        }
    }
}

static bool may_go_on(const struct replay *r, uint32_t rank, const struct iwi_call *call)
{
    switch (call->kind) {
    case IWI_CALL_RECV: return is_received(r, rank, r->next[rank]);
    case IWI_CALL_WAIT: return is_waited_for(r, rank, call);
    case IWI_CALL_SEND: return is_taken(r, rank, call);
    case IWI_CALL_COLLECTIVE: return r->generation[call->comm] > r->reached[rank];
    default: return true;
    }
}

static void go_on(struct replay *r, uint32_t rank, const struct iwi_call *call)
{
    struct iwi_message_end *link = &r->links[rank][r->next[rank]];

    if (link->rank == IWI_LINK_POOL) {
        if (call->kind == IWI_CALL_SEND || call->kind == IWI_CALL_ISEND) {
            link->call = r->sequence++;
            r->sent[call->peer]++;
        } else if (call->kind == IWI_CALL_IRECV) {
            r->posted[rank]++;
        }
    }
    r->elapsed_ps[rank] += call->compute_wall_ps + call->call_ps;
    r->next[rank]++;
    r->has_arrived[rank] = false;
}

/* One call of each rank that may go on; false if none may. */
static bool step(struct replay *r)
{
    bool has_moved = false;

    for (uint32_t rank = 0; rank < r->trace->rank_count; rank++) {
        const struct iwi_trace_rank *calls = &r->trace->ranks[rank];
        const struct iwi_call *call;

        if (r->next[rank] == calls->call_count) {
            continue;
        }
        call = &calls->calls[r->next[rank]];
        if (!r->has_arrived[rank]) {
            arrive(r, rank, call);
        }
        if (may_go_on(r, rank, call)) {
            go_on(r, rank, call);
            has_moved = true;
        }
    }
    return has_moved;
}

/* Which of the waiting ranks is let pass first. */
static int strictness(const struct iwi_call *call)
{
    return call->kind == IWI_CALL_SEND ? 2 : (call->kind == IWI_CALL_COLLECTIVE ? 1 : 0);
}

/* Lets one rank pass, the earliest of those that wait the least surely; false if all are at their ends. */
static bool force(struct replay *r)
{
    uint32_t chosen = UINT32_MAX;
    int best = -1;

    for (uint32_t rank = 0; rank < r->trace->rank_count; rank++) {
        const struct iwi_trace_rank *calls = &r->trace->ranks[rank];
        int now;

        if (r->next[rank] == calls->call_count) {
            continue;
        }
        now = strictness(&calls->calls[r->next[rank]]);
        if (now > best || (now == best && r->elapsed_ps[rank] < r->elapsed_ps[chosen])) {
            best = now;
            chosen = rank;
        }
    }
    if (chosen == UINT32_MAX) {
        return false;
    }
    go_on(r, chosen, &r->trace->ranks[chosen].calls[r->next[chosen]]);
    return true;
}

static iw_status find_makers(const iw_log *log, struct replay *r)
{
    for (uint32_t rank = 0; rank < r->trace->rank_count; rank++) {
        const struct iwi_trace_rank *calls = &r->trace->ranks[rank];

        r->makers[rank] = iwi_new_array(log, calls->request_count, sizeof **r->makers);
        if (r->makers[rank] == NULL) {
            return IW_ERR_NOMEM;
        }
        for (uint64_t i = 0; i < calls->call_count; i++) {
            const uint8_t kind = calls->calls[i].kind;

            if (kind == IWI_CALL_ISEND || kind == IWI_CALL_IRECV || kind == IWI_CALL_ICOLLECTIVE) {
                r->makers[rank][calls->calls[i].request] = i;
            }
        }
    }
    return IW_OK;
}

static iw_status prepare(const iw_log *log, struct replay *r)
{
    const size_t ranks = r->trace->rank_count, comms = r->trace->comm_count;

    r->next = iwi_new_array(log, ranks, sizeof *r->next);
    r->has_arrived = iwi_new_array(log, ranks, sizeof *r->has_arrived);
    r->elapsed_ps = iwi_new_array(log, ranks, sizeof *r->elapsed_ps);
    r->sent = iwi_new_array(log, ranks, sizeof *r->sent);
    r->posted = iwi_new_array(log, ranks, sizeof *r->posted);
    r->reached = iwi_new_array(log, ranks, sizeof *r->reached);
    r->generation = iwi_new_array(log, comms, sizeof *r->generation);
    r->arrived = iwi_new_array(log, comms, sizeof *r->arrived);
    r->makers = iwi_new_array(log, ranks, sizeof *r->makers);
    if (r->next == NULL || r->has_arrived == NULL || r->elapsed_ps == NULL || r->sent == NULL ||
        r->posted == NULL || r->reached == NULL || r->generation == NULL || r->arrived == NULL ||
        r->makers == NULL) {
        return IW_ERR_NOMEM;
    }
    return find_makers(log, r);
}

static void release(struct replay *r)
{
    for (uint32_t rank = 0; r->makers != NULL && rank < r->trace->rank_count; rank++) {
        free(r->makers[rank]);
    }
    free(r->next);
    free(r->has_arrived);
    free(r->elapsed_ps);
    free(r->sent);
    free(r->posted);
    free(r->reached);
    free(r->generation);
    free(r->arrived);
    free(r->makers);
}

iw_status iwi_trace_replay(const iw_log *log, const struct iw_trace *trace, struct iwi_message_end **links)
{
    struct replay r = {.trace = trace, .links = links};
    const iw_status status = prepare(log, &r);

    while (status == IW_OK && (step(&r) || force(&r))) {
    }
    release(&r);
    return status;
}
