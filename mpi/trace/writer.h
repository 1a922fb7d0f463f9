/* Writes the calls of a thread into its spool file: a call that is like an earlier one takes two words.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * What is recorded of a call, but for its times, is its items. Requests in them count from the last one that this
 * stream started, so that a program which does the same again has the same items again.
 */
#ifndef IWI_TRACE_WRITER_H
#define IWI_TRACE_WRITER_H

#include "mpi/trace/record.h"
#include "mpi/trace/spool.h"

/* The items of some call. */
struct iwi_likeness {
    uint64_t hash;
    struct iwi_likeness *next; /* what the next call was like; NULL: not known */
    uint32_t count;            /* words; 0: free */
    uint64_t words[IWI_ITEM_WORDS];
};

struct iwi_call_writer {
    struct iwi_spool spool;
    uint64_t enter_ns, last_ns; /* last_ns: of the LEAVE or ON_OFF before */
    uint64_t last_request;      /* that this stream started */
    bool is_open;               /* the ENTER of this call is written */
    bool has_spilled;           /* some items of this call are in the file already */
    uint32_t count;             /* words of items */
    uint64_t items[IWI_ITEM_WORDS];
    struct iwi_likeness *known; /* IWI_LIKENESSES */
    struct iwi_likeness *last;  /* what the last call was like */
};

/* Makes the file. Gives 0 or errno; after a failure there is no file of ours. */
int iwi_writer_open(struct iwi_call_writer *writer, const char *path, size_t window_bytes);
/* Cuts the file to what is used. A thread that is late may still write: it gets an error. */
void iwi_writer_close(struct iwi_call_writer *writer);
void iwi_writer_release(struct iwi_call_writer *writer);

/* All below give false or NULL if the file takes no more: writer->spool.error says why. */

/* gap_cpu_ns: CPU time since the LEAVE before, without failed polls; 0 polls: none. */
bool iwi_writer_enter(struct iwi_call_writer *writer, unsigned call, uint64_t enter_ns, uint64_t gap_cpu_ns,
                      uint64_t polls, uint64_t poll_ns);
bool iwi_writer_leave(struct iwi_call_writer *writer, uint64_t now_ns);
/* The open call was left without returning. */
bool iwi_writer_abandon(struct iwi_call_writer *writer);
bool iwi_writer_switch(struct iwi_call_writer *writer, uint64_t now_ns, bool is_on);

/* Room for an item of the open call, a multiple of 8 bytes; outside of calls, for what happened between them. */
uint64_t *iwi_writer_item_slowly(struct iwi_call_writer *writer, size_t bytes);

static inline void *iwi_writer_item(struct iwi_call_writer *writer, size_t bytes)
{
    uint32_t count = writer->count + (uint32_t)(bytes / sizeof(uint64_t));

    if (__builtin_expect(writer->is_open && !writer->has_spilled && count <= IWI_ITEM_WORDS, 1)) {
        void *room = writer->items + writer->count;
        writer->count = count;
        return room;
    }
    return iwi_writer_item_slowly(writer, bytes);
}

/* A request in an item that starts it, and in one that completes it. */
static inline uint64_t iwi_writer_started(struct iwi_call_writer *writer, uint64_t request)
{
    uint64_t since = request - writer->last_request;

    writer->last_request = request;
    return since;
}

static inline uint64_t iwi_writer_ended(const struct iwi_call_writer *writer, uint64_t request)
{
    return writer->last_request - request;
}

#endif
