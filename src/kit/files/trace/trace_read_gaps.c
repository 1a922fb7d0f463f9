/* What a trace lacks: counted while it is read, told once for each kind.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdio.h>
#include <string.h>

#include "kit/files/trace/trace_read.h"

/* How many, of what, where first; then what is done about it. */
struct text {
    const char *what, *consequence;
};

/* Those of messages and of threads have functions of their own. */
static const struct text texts[IWI_GAPS] = {
    [IWI_GAP_OPAQUE] =
        {"calls of one-sided communication, files, processes or other things that are not followed",
         "their time counts as work, their communication is not simulated"},
    [IWI_GAP_NO_EVENT] =
        {"point-to-point calls without a message in the trace",
         "if their partner was not MPI_PROC_NULL, these messages are lost; their time counts as "
         "work"},
    [IWI_GAP_COLLECTIVE] = {"collective calls without their communicator in the trace",
                            "their time counts as work, their communication is not simulated"},
    [IWI_GAP_INTERCOMM] = {"collective calls on intercommunicators",
                           "their time counts as work, their communication is not simulated"},
    [IWI_GAP_MEMBERS] = {"calls on communicators whose members the trace does not tell",
                         "their time counts as work, their communication is not simulated"},
    [IWI_GAP_SOURCE] = {"receives without their source in the trace",
                        "each was given a message to its rank, in an order in which they can have been sent"},
    [IWI_GAP_COMPLETION] = {"waits and tests without the requests that they completed",
                            "requests were taken as completed in the order in which they were made"},
    [IWI_GAP_NEVER_COMPLETED] = {"requests that are never completed in the trace", "nothing waits for them"},
    [IWI_GAP_UNKNOWN_REQUEST] = {"completions of requests that were never made in the trace",
                                 "they are left out"},
    [IWI_GAP_SIZES] = {"collective calls without their sizes in the trace", "they are taken as empty"},
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
    [IWI_GAP_CLOCK] = {"events earlier than the one before them", "they are taken as simultaneous"},
    [IWI_GAP_OFF] = {"places where recording was switched off",
                     "what happened then is missing, its time is left out"},
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
             " threads%s; their calls are put in one sequence, so "
             "the prediction is too long where they overlapped",
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
