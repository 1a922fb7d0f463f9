/* From the records of a thread to the OTF2 events of its location.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mpi/trace/archive.h"

#define GIVE_BACK_BYTES ((size_t)4 << 20)

/* Where the items of a call are. */
struct items {
    size_t at, end;
};

struct converter {
    OTF2_EvtWriter *writer;
    OTF2_DefWriter *definitions;
    OTF2_AttributeList *attributes;
    struct iwi_comm_map map;
    const struct iwi_clock_model *clock;
    struct iwi_archive_place *place;
    bool *has_failed_p;
    const unsigned char *records;
    size_t bytes;
    bool counts_requests;         /* from the last one that was started */
    uint64_t last_request;
    uint64_t local_ns;            /* of the ENTER, LEAVE or ON_OFF before, not corrected */
    struct items known[IWI_LIKENESSES];
    uint64_t enter_ns, leave_ns; /* of the call, corrected */
    uint64_t last_ns;            /* OTF2 wants times that do not decrease */
    uint64_t unknown;            /* requests that the call completed */
    struct iwi_record_message posted;
    bool has_posted, is_fine;
};

static void check(struct converter *c, OTF2_ErrorCode code)
{
    c->place->events++;
    if (code != OTF2_SUCCESS) {
        c->is_fine = false;
        *c->has_failed_p = true;
    }
}

static uint64_t corrected(struct converter *c, uint64_t local_ns)
{
    int64_t ns = iwi_clock_to_reference(c->clock, (int64_t)local_ns);

    if (ns > 0 && (uint64_t)ns > c->last_ns) {
        c->last_ns = (uint64_t)ns;
    }
    if (c->place->first_ns == 0) {
        c->place->first_ns = c->last_ns;
    }
    c->place->last_ns = c->last_ns;
    return c->last_ns;
}

static OTF2_CommRef comm_of(const struct converter *c, uint32_t comm)
{
    uint32_t id = comm < c->map.count ? c->map.ids[comm] : UINT32_MAX;

    return id != UINT32_MAX ? id : OTF2_UNDEFINED_COMM;
}

static uint32_t root_of(uint32_t root)
{
    switch (root) {
    case IWI_NO_ROOT: return OTF2_UNDEFINED_UINT32;
    case IWI_ROOT_SELF: return (uint32_t)OTF2_COLLECTIVE_ROOT_SELF;
    case IWI_ROOT_OTHER: return (uint32_t)OTF2_COLLECTIVE_ROOT_THIS_GROUP;
    default: return root;
    }
}

static void add_u64(struct converter *c, enum iwi_archive_attribute attribute, uint64_t value)
{
    (void)OTF2_AttributeList_AddUint64(c->attributes, attribute, value);
}

static void add_mode(struct converter *c, uint8_t mode)
{
    if (mode != IWI_SEND_STANDARD) {
        (void)OTF2_AttributeList_AddUint8(c->attributes, IWI_ATTRIBUTE_MODE, mode);
    }
}

static void add_posted(struct converter *c, const struct iwi_record_message *posted)
{
    (void)OTF2_AttributeList_AddInt32(c->attributes, IWI_ATTRIBUTE_POSTED_SOURCE, posted->peer);
    (void)OTF2_AttributeList_AddInt32(c->attributes, IWI_ATTRIBUTE_POSTED_TAG, posted->tag);
    add_u64(c, IWI_ATTRIBUTE_POSTED_BYTES, posted->bytes);
}

static void add_some_posted(struct converter *c, const struct iwi_record_message *came)
{
    if (!c->has_posted) {
        return;
    }
    if (c->posted.peer < 0 || c->posted.tag < 0) {
        (void)OTF2_AttributeList_AddInt32(c->attributes, IWI_ATTRIBUTE_POSTED_SOURCE, c->posted.peer);
        (void)OTF2_AttributeList_AddInt32(c->attributes, IWI_ATTRIBUTE_POSTED_TAG, c->posted.tag);
    }
    if (c->posted.bytes != came->bytes) {
        add_u64(c, IWI_ATTRIBUTE_POSTED_BYTES, c->posted.bytes);
    }
    c->has_posted = false;
}

/* The number of a request that a record starts, and of one that it completes. */
static uint64_t started(struct converter *c, uint64_t request)
{
    c->last_request = c->counts_requests ? c->last_request + request : request;
    return c->last_request;
}

static uint64_t ended(const struct converter *c, uint64_t request)
{
    return c->counts_requests ? (c->last_request - request) & (UINT64_MAX >> 8) : request;
}

static void convert_message(struct converter *c, const struct iwi_record_message *m)
{
    OTF2_AttributeList *list = c->attributes;
    OTF2_CommRef comm = comm_of(c, m->comm);
    uint32_t peer = (uint32_t)m->peer;
    uint32_t tag = (uint32_t)m->tag;

    switch (m->kind) {
    case IWI_RECORD_SEND:
        add_mode(c, m->mode);
        check(c, OTF2_EvtWriter_MpiSend(c->writer, list, c->enter_ns, peer, comm, tag, m->bytes));
        break;
    case IWI_RECORD_ISEND:
        add_mode(c, m->mode);
        check(c,
              OTF2_EvtWriter_MpiIsend(c->writer, list, c->enter_ns, peer, comm, tag, m->bytes,
                                      started(c, m->request)));
        break;
    case IWI_RECORD_IRECV_REQUEST:
        add_posted(c, m);
        if (comm != 0) {
            (void)OTF2_AttributeList_AddCommRef(list, IWI_ATTRIBUTE_COMM, comm);
        }
        check(c, OTF2_EvtWriter_MpiIrecvRequest(c->writer, list, c->enter_ns, started(c, m->request)));
        break;
    case IWI_RECORD_IRECV:
        check(c,
              OTF2_EvtWriter_MpiIrecv(c->writer, list, c->leave_ns, peer, comm, tag, m->bytes,
                                      ended(c, m->request)));
        break;
    case IWI_RECORD_RECV_POSTED:
        c->posted = *m;
        c->has_posted = true;
        break;
    default:
        add_some_posted(c, m);
        check(c, OTF2_EvtWriter_MpiRecv(c->writer, list, c->leave_ns, peer, comm, tag, m->bytes));
        break;
    }
}

static void add_made(struct converter *c, const struct iwi_record_collective *r)
{
    if (r->new_comm != IWI_NO_NEW_COMM) {
        (void)OTF2_AttributeList_AddCommRef(c->attributes, IWI_ATTRIBUTE_NEW_COMM, comm_of(c, r->new_comm));
    }
}

static void add_bytes(struct converter *c, const struct iwi_record_collective *r)
{
    if (r->bytes > 0) {
        add_u64(c, IWI_ATTRIBUTE_BYTES, r->bytes);
    }
}

static void add_sizes(struct converter *c, const struct iwi_record_collective *r)
{
    if (r->sizes != IWI_SIZES_ALIKE) {
        (void)OTF2_AttributeList_AddUint32(c->attributes, IWI_ATTRIBUTE_SIZES, r->sizes);
    }
}

/* A group, since that is the definition that holds a list of numbers. */
static void define_sizes(struct converter *c, const uint64_t *word)
{
    const uint64_t partners = iwi_record_value_of(*word);

    if (OTF2_DefWriter_WriteGroup(c->definitions, (uint32_t)word[1], OTF2_UNDEFINED_STRING, OTF2_GROUP_TYPE_UNKNOWN,
                                  OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, (uint32_t)(2 * partners),
                                  word + 2) != OTF2_SUCCESS) {
        c->is_fine = false;
    }
}

static void convert_leave(struct converter *c, unsigned call)
{
    if (c->unknown > 0) {
        add_u64(c, IWI_ATTRIBUTE_UNKNOWN, c->unknown);
        c->unknown = 0;
    }
    check(c, OTF2_EvtWriter_Leave(c->writer, c->attributes, c->leave_ns, call));
}

static void convert_collective(struct converter *c, const struct iwi_record_collective *r)
{
    OTF2_AttributeList *list = c->attributes;
    OTF2_CommRef comm = comm_of(c, r->comm);
    uint32_t root = root_of(r->root);

    switch (r->kind) {
    case IWI_RECORD_COLLECTIVE:
        check(c, OTF2_EvtWriter_MpiCollectiveBegin(c->writer, list, c->enter_ns));
        add_bytes(c, r);
        add_sizes(c, r);
        add_made(c, r);
        check(c, OTF2_EvtWriter_MpiCollectiveEnd(c->writer, list, c->leave_ns, r->op, comm, root, r->sent,
                                                 r->received));
        break;
    case IWI_RECORD_ICOLLECTIVE:
        if (comm != 0) {
            (void)OTF2_AttributeList_AddCommRef(list, IWI_ATTRIBUTE_COMM, comm);
        }
        (void)OTF2_AttributeList_AddUint8(list, IWI_ATTRIBUTE_OP, r->is_neighbor ? IWI_OP_NEIGHBOR : r->op);
        if (root != OTF2_UNDEFINED_UINT32) {
            (void)OTF2_AttributeList_AddUint32(list, IWI_ATTRIBUTE_ROOT, root);
        }
        add_bytes(c, r);
        add_sizes(c, r);
        check(c, OTF2_EvtWriter_NonBlockingCollectiveRequest(c->writer, list, c->enter_ns,
                                                             started(c, r->request)));
        break;
    default:
        add_made(c, r);
        check(c, OTF2_EvtWriter_NonBlockingCollectiveComplete(c->writer, list, c->leave_ns, r->op, comm, root,
                                                              r->sent, r->received, ended(c, r->request)));
        break;
    }
}

/* Anything but ENTER and LEAVE. */
static void convert_item(struct converter *c, const uint64_t *word)
{
    uint64_t value = iwi_record_value_of(*word);

    switch (iwi_record_kind_of(*word)) {
    case IWI_RECORD_ON_OFF:
        c->local_ns = value;
        c->leave_ns = c->enter_ns = corrected(c, value);
        check(c, OTF2_EvtWriter_MeasurementOnOff(c->writer, c->attributes, c->enter_ns,
                                                 word[1] != 0 ? OTF2_MEASUREMENT_ON : OTF2_MEASUREMENT_OFF));
        break;
    case IWI_RECORD_ISEND_COMPLETE:
        check(c, OTF2_EvtWriter_MpiIsendComplete(c->writer, c->attributes, c->leave_ns, ended(c, value)));
        break;
    case IWI_RECORD_CANCELLED:
        check(c, OTF2_EvtWriter_MpiRequestCancelled(c->writer, c->attributes, c->leave_ns, ended(c, value)));
        break;
    case IWI_RECORD_COLLECTIVE:
    case IWI_RECORD_ICOLLECTIVE:
    case IWI_RECORD_ICOLLECTIVE_COMPLETE:
        convert_collective(c, (const struct iwi_record_collective *)(const void *)word);
        break;
    case IWI_RECORD_SIZES: define_sizes(c, word); break;
    case IWI_RECORD_UNKNOWN: c->unknown += value; break;
    case IWI_RECORD_COMM:
    case IWI_RECORD_POLLS: break;
    default: convert_message(c, (const struct iwi_record_message *)(const void *)word); break;
    }
}

/* The LEAVE of the call whose first item is at `at`: its offset; `bytes` if the run died inside the call. */
static size_t find_leave(const struct converter *c, size_t at)
{
    while (at < c->bytes) {
        const uint64_t *word = (const uint64_t *)(const void *)(c->records + at);
        size_t size = iwi_record_size(word, c->bytes - at);
        unsigned kind = size > 0 ? iwi_record_kind_of(*word) : IWI_RECORD_END;
        if (iwi_record_is_leave(kind)) {
            return at;
        }
        if (kind == IWI_RECORD_END || iwi_record_is_enter(kind)) {
            return c->bytes;
        }
        at += size;
    }
    return c->bytes;
}

/* The failed polls before a call whose first item is at `items`; NULL: there were none. */
static const struct iwi_record_pair *polls_of(const struct converter *c, size_t items)
{
    const struct iwi_record_pair *polls = (const struct iwi_record_pair *)(const void *)(c->records + items);

    return items + sizeof *polls <= c->bytes && iwi_record_kind_of(polls->word) == IWI_RECORD_POLLS ? polls : NULL;
}

/* Of ENTER or BEGIN at `word`: its time, and the CPU time before it. */
static uint64_t read_enter(struct converter *c, const uint64_t *word, const struct iwi_record_pair *polls,
                           unsigned *call_p)
{
    uint64_t value = iwi_record_value_of(*word);

    if (iwi_record_kind_of(*word) == IWI_RECORD_ENTER) {
        c->local_ns = value;
        *call_p = (unsigned)(word[1] >> 48);
        return word[1] & IWI_RECORD_CPU_MASK;
    }
    uint64_t gap_ns = value >> 16;
    uint64_t poll_ns = polls != NULL ? polls->value : 0;
    c->local_ns += gap_ns;
    *call_p = (unsigned)(value & UINT16_MAX);
    return gap_ns > poll_ns ? gap_ns - poll_ns : 0;
}

/* After the ENTER the time goes on to the LEAVE, which some events are told by. */
static void read_leave(struct converter *c, uint64_t word)
{
    uint64_t value = iwi_record_value_of(word);

    c->local_ns = iwi_record_kind_of(word) == IWI_RECORD_LEAVE ? value : c->local_ns + (value >> 16);
    c->leave_ns = corrected(c, c->local_ns);
}

static unsigned convert_enter(struct converter *c, size_t at, size_t items)
{
    const uint64_t *word = (const uint64_t *)(const void *)(c->records + at);
    size_t leave = find_leave(c, items);
    const struct iwi_record_pair *polls = polls_of(c, items);
    unsigned call = 0;
    uint64_t cpu_ns = read_enter(c, word, polls, &call);

    c->enter_ns = corrected(c, c->local_ns);
    if (c->place->events == 0 || cpu_ns + (polls != NULL ? polls->value : 0) != c->enter_ns - c->leave_ns) {
        add_u64(c, IWI_ATTRIBUTE_CPU_NS, cpu_ns);
    }
    if (polls != NULL) {
        add_u64(c, IWI_ATTRIBUTE_POLLS, iwi_record_value_of(polls->word));
        add_u64(c, IWI_ATTRIBUTE_POLL_NS, polls->value);
    }
    check(c, OTF2_EvtWriter_Enter(c->writer, c->attributes, c->enter_ns, call));
    c->place->calls++;
    c->place->opaque_calls += call < iwi_call_count && iwi_calls[call].opaque != NULL;
    c->leave_ns = c->enter_ns;
    if (leave < c->bytes) {
        read_leave(c, *(const uint64_t *)(const void *)(c->records + leave));
    }
    return call;
}

/* The bytes of items, which are converted once more if that is asked for. What defines something was heard when it came. */
static size_t repeat_items(struct converter *c, struct items items, bool is_converted)
{
    size_t bytes = 0;

    while (items.at < items.end) {
        const uint64_t *word = (const uint64_t *)(const void *)(c->records + items.at);
        size_t size = iwi_record_size(word, c->bytes - items.at);
        unsigned kind = iwi_record_kind_of(*word);
        bool is_item = kind != IWI_RECORD_COMM && kind != IWI_RECORD_SIZES && kind != IWI_RECORD_POLLS;
        if (is_item && is_converted) {
            convert_item(c, word);
        }
        bytes += is_item ? size : 0;
        items.at += size;
    }
    return bytes;
}

/* `items`: where those of the call begin. */
static void end_call(struct converter *c, unsigned call, size_t items, size_t at)
{
    uint64_t word = *(const uint64_t *)(const void *)(c->records + at);
    struct items *known = &c->known[iwi_record_value_of(word) % IWI_LIKENESSES];

    if (iwi_record_kind_of(word) == IWI_RECORD_LEAVE_LIKE) {
        (void)repeat_items(c, *known, true);
    } else if (iwi_record_kind_of(word) == IWI_RECORD_LEAVE_AS) {
        *known = (struct items){items, at};
        if (repeat_items(c, *known, false) > IWI_ITEM_WORDS * sizeof(uint64_t)) {
            *known = (struct items){0, 0}; /* damaged: it could be repeated without end */
        }
    }
    convert_leave(c, call);
}

/* Pages behind the reading place are given back, so that memory stays bounded however long the trace is. */
static size_t give_back(unsigned char *records, size_t at, size_t given_back)
{
    if (at - given_back > 2 * GIVE_BACK_BYTES) {
        (void)madvise(records + given_back, GIVE_BACK_BYTES, MADV_DONTNEED);
        return given_back + GIVE_BACK_BYTES;
    }
    return given_back;
}

static void convert_records(struct converter *c, unsigned char *records)
{
    size_t given_back = 0, items = 0;
    unsigned call = 0;
    bool is_inside = false;
    size_t at = sizeof(struct iwi_spool_head);

    while (at < c->bytes && c->is_fine) {
        const uint64_t *word = (const uint64_t *)(const void *)(records + at);
        size_t size = iwi_record_size(word, c->bytes - at);
        unsigned kind = size > 0 ? iwi_record_kind_of(*word) : IWI_RECORD_END;
        if (kind == IWI_RECORD_END) {
            break;
        }
        if (iwi_record_is_leave(kind) && is_inside) {
            end_call(c, call, items, at);
            is_inside = false;
        }
        if (iwi_record_is_enter(kind)) {
            if (is_inside) {
                convert_leave(c, call);
            }
            items = at + size;
            call = convert_enter(c, at, items);
            is_inside = true;
        } else if (!iwi_record_is_leave(kind)) {
            convert_item(c, word);
        }
        at += size;
        given_back = give_back(records, at, given_back);
    }
    if (is_inside && c->is_fine) {
        convert_leave(c, call);
    }
}

static bool map_and_convert(struct converter *c, int fd)
{
    struct stat info;

    if (fstat(fd, &info) != 0 || (size_t)info.st_size < sizeof(struct iwi_spool_head)) {
        return false;
    }
    size_t bytes = (size_t)info.st_size;
    void *records = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, fd, 0);
    if (records == MAP_FAILED) {
        return false;
    }
    (void)madvise(records, bytes, MADV_SEQUENTIAL);
    c->records = records;
    c->bytes = bytes;
    c->counts_requests = ((const struct iwi_spool_head *)records)->version > 2;
    convert_records(c, records);
    (void)munmap(records, bytes);
    return c->is_fine;
}

bool iwi_archive_write_thread(OTF2_Archive *archive, const char *path, struct iwi_comm_map map,
                              const struct iwi_clock_model *clock, struct iwi_archive_place *place,
                              bool *has_failed_p)
{
    struct converter converter = {.map = map, .clock = clock, .place = place, .has_failed_p = has_failed_p, .is_fine = true};
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    converter.writer = OTF2_Archive_GetEvtWriter(archive, (uint64_t)place->thread << 32 | place->rank);
    converter.definitions = OTF2_Archive_GetDefWriter(archive, (uint64_t)place->thread << 32 | place->rank);
    converter.attributes = OTF2_AttributeList_New();
    bool is_fine =
        fd >= 0 && converter.writer != NULL && converter.definitions != NULL && converter.attributes != NULL;
    if (is_fine) {
        is_fine = map_and_convert(&converter, fd);
    }
    if (converter.writer != NULL && OTF2_Archive_CloseEvtWriter(archive, converter.writer) != OTF2_SUCCESS) {
        is_fine = false;
    }
    if (converter.definitions != NULL &&
        OTF2_Archive_CloseDefWriter(archive, converter.definitions) != OTF2_SUCCESS) {
        is_fine = false;
    }
    if (converter.attributes != NULL) {
        (void)OTF2_AttributeList_Delete(converter.attributes);
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    return is_fine;
}
