/* Calls as records.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "mpi/trace/writer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/hash.h"

enum { WAYS = 4 }; /* places where a likeness may be */

int iwi_writer_open(struct iwi_call_writer *writer, const char *path, size_t window_bytes)
{
    memset(writer, 0, sizeof *writer);
    writer->known = calloc(IWI_LIKENESSES, sizeof *writer->known); /* what is not used takes no memory */
    if (writer->known == NULL) {
        writer->spool.fd = -1;
        return ENOMEM;
    }
    int error = iwi_spool_open(&writer->spool, path, window_bytes);
    if (error != 0) {
        iwi_writer_release(writer);
    }
    return error;
}

/* What was recorded of the open call, which does not end as others do. */
static bool spill(struct iwi_call_writer *writer)
{
    size_t bytes = writer->count * sizeof *writer->items;
    uint64_t *room = bytes > 0 ? iwi_spool_room(&writer->spool, bytes) : NULL;

    writer->count = 0;
    writer->has_spilled = true;
    if (room != NULL) {
        memcpy(room, writer->items, bytes);
    }
    return bytes == 0 || room != NULL;
}

void iwi_writer_close(struct iwi_call_writer *writer)
{
    (void)iwi_writer_abandon(writer);
    iwi_spool_close(&writer->spool);
}

void iwi_writer_release(struct iwi_call_writer *writer)
{
    iwi_writer_close(writer);
    free(writer->known);
    writer->known = writer->last = NULL;
}

static bool put_word(struct iwi_call_writer *writer, enum iwi_record_kind kind, uint64_t value)
{
    uint64_t *room = iwi_spool_room(&writer->spool, sizeof *room);

    if (room != NULL) {
        *room = iwi_record_word(kind, value);
    }
    return room != NULL;
}

static bool put_pair(struct iwi_call_writer *writer, enum iwi_record_kind kind, uint64_t first, uint64_t second)
{
    struct iwi_record_pair *room = iwi_spool_room(&writer->spool, sizeof *room);

    if (room != NULL) {
        *room = (struct iwi_record_pair){iwi_record_word(kind, first), second};
    }
    return room != NULL;
}

/* NOLINTNEXTLINE(bugprone-easily-swappable-parameters): as struct iwi_thread has them */
bool iwi_writer_enter(struct iwi_call_writer *writer, unsigned call, uint64_t enter_ns, uint64_t gap_cpu_ns,
                      uint64_t polls, uint64_t poll_ns)
{
    uint64_t gap_ns = enter_ns - writer->last_ns; /* very large if a clock went back */
    bool is_written;

    if (gap_ns <= IWI_RECORD_SHORT_NS && gap_cpu_ns + poll_ns == gap_ns) {
        is_written = put_word(writer, IWI_RECORD_BEGIN, gap_ns << 16 | call);
    } else {
        uint64_t cpu_ns = gap_cpu_ns < IWI_RECORD_CPU_MASK ? gap_cpu_ns : IWI_RECORD_CPU_MASK;
        is_written = put_pair(writer, IWI_RECORD_ENTER, enter_ns, (uint64_t)call << 48 | cpu_ns);
    }
    if (polls > 0 && is_written) {
        is_written = put_pair(writer, IWI_RECORD_POLLS, polls, poll_ns);
    }
    writer->enter_ns = enter_ns;
    writer->count = 0;
    writer->has_spilled = false;
    writer->is_open = is_written;
    return is_written;
}

static bool is_like(const struct iwi_call_writer *writer, const struct iwi_likeness *likeness)
{
    if (likeness->count != writer->count) {
        return false;
    }
    for (uint32_t i = 0; i < writer->count; i++) { /* they are few: leaving early keeps the loop as short as they are */
        if (likeness->words[i] != writer->items[i]) {
            return false;
        }
    }
    return true;
}

/* Of the items of this call, or a place that may take them: a free one, else by turns. */
static struct iwi_likeness *place_of(struct iwi_call_writer *writer, uint64_t hash)
{
    struct iwi_likeness *first = &writer->known[hash % (IWI_LIKENESSES / WAYS) * WAYS];

    for (struct iwi_likeness *place = first; place < first + WAYS; place++) {
        if (place->count == 0 || (place->hash == hash && is_like(writer, place))) {
            return place;
        }
    }
    return &first[(hash >> 32) % WAYS];
}

/* Finds what the call is like, or remembers it. */
static struct iwi_likeness *find(struct iwi_call_writer *writer, bool *is_known_p)
{
    uint64_t hash = iwi_hash_words(writer->items, writer->count);
    struct iwi_likeness *place = place_of(writer, hash);

    *is_known_p = place->hash == hash && is_like(writer, place);
    if (!*is_known_p) {
        place->hash = hash;
        place->next = NULL;
        place->count = writer->count;
        memcpy(place->words, writer->items, writer->count * sizeof *writer->items);
    }
    return place;
}

/* The time is told from the Enter on, with the number of what the call is like. */
static bool leave_by_likeness(struct iwi_call_writer *writer, uint64_t took_ns)
{
    struct iwi_likeness *expected = writer->last != NULL ? writer->last->next : NULL;
    bool is_known = expected != NULL && is_like(writer, expected);
    struct iwi_likeness *likeness = is_known ? expected : find(writer, &is_known);
    uint64_t value = took_ns << 16 | (uint64_t)(likeness - writer->known);

    if (writer->last != NULL) {
        writer->last->next = likeness;
    }
    writer->last = likeness;
    if (is_known) {
        return put_word(writer, IWI_RECORD_LEAVE_LIKE, value);
    }
    return spill(writer) && put_word(writer, IWI_RECORD_LEAVE_AS, value);
}

bool iwi_writer_leave(struct iwi_call_writer *writer, uint64_t now_ns)
{
    uint64_t took_ns = now_ns - writer->enter_ns;
    bool is_written;

    if (writer->count > 0 && took_ns <= IWI_RECORD_SHORT_NS) {
        is_written = leave_by_likeness(writer, took_ns);
    } else {
        is_written = spill(writer) && put_word(writer, IWI_RECORD_LEAVE, now_ns);
    }
    writer->last_ns = now_ns;
    writer->is_open = false;
    return is_written;
}

bool iwi_writer_abandon(struct iwi_call_writer *writer)
{
    bool is_written = !writer->is_open || spill(writer);

    writer->last_ns = writer->is_open ? writer->enter_ns : writer->last_ns;
    writer->is_open = false;
    return is_written;
}

bool iwi_writer_switch(struct iwi_call_writer *writer, uint64_t now_ns, bool is_on)
{
    writer->last_ns = now_ns;
    return put_pair(writer, IWI_RECORD_ON_OFF, now_ns, is_on);
}

uint64_t *iwi_writer_item_slowly(struct iwi_call_writer *writer, size_t bytes)
{
    if (writer->is_open && !writer->has_spilled && !spill(writer)) {
        return NULL;
    }
    return iwi_spool_room(&writer->spool, bytes);
}
