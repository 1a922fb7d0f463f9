/* The archive and its global definitions.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "mpi/trace/archive.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kit/files/otf2/otf2_callbacks.h"

/* OTF2 keeps events in memory until it gets no more: of event files it gets one chunk. Smaller ones than of 4 MiB go
 * through a buffer of that size, which libotf2 3.0.2 frees when a write fails, and uses again. Who reads a file clears
 * a chunk first: where no file becomes so large they are small. 16 bytes of records become at most 600 of events. */
#define EVENT_CHUNKS ((size_t)1)
#define LARGE_CHUNK_BYTES (UINT64_C(4) << 20)
#define LARGE_SPOOL_BYTES (LARGE_CHUNK_BYTES / 64)

/* After a write that failed it is given nothing more. */
static OTF2_FlushType flush_unless_failed(void *has_failed, OTF2_FileType type, OTF2_LocationRef location, void *caller,
                                          bool is_final)
{
    return *(const bool *)has_failed ? OTF2_NO_FLUSH : iwi_otf2_flush(NULL, type, location, caller, is_final);
}

static const OTF2_FlushCallbacks FLUSH = {.otf2_pre_flush = flush_unless_failed, .otf2_post_flush = NULL};

/* Chunks that are given back are the next ones. */
struct chunk_list {
    void **chunks;
    size_t count, made, capacity; /* count: in use */
};

static void *give_chunk(void *arg, OTF2_FileType type, OTF2_LocationRef location, void **list_p,
                        uint64_t bytes)
{
    struct chunk_list *list = *list_p;

    (void)arg;
    (void)location;
    if (list == NULL) {
        list = *list_p = calloc(1, sizeof *list);
    }
    if (list == NULL || (type == OTF2_FILETYPE_EVENTS && list->count >= EVENT_CHUNKS)) {
        return NULL;
    }
    if (list->made == list->capacity) {
        size_t capacity = list->capacity * 2 + EVENT_CHUNKS;
        void **grown = realloc(list->chunks, capacity * sizeof *grown);
        if (grown == NULL) {
            return NULL;
        }
        list->chunks = grown;
        list->capacity = capacity;
    }
    if (list->count == list->made) {
        void *chunk = malloc(bytes); /* those of a list are all of one size */
        if (chunk == NULL) {
            return NULL;
        }
        list->chunks[list->made++] = chunk;
    }
    return list->chunks[list->count++];
}

static void take_chunks(void *arg, OTF2_FileType type, OTF2_LocationRef location, void **list_p,
                        bool is_final)
{
    struct chunk_list *list = *list_p;

    (void)arg;
    (void)type;
    (void)location;
    if (list == NULL) {
        return;
    }
    list->count = 0;
    if (is_final) {
        for (size_t i = 0; i < list->made; i++) {
            free(list->chunks[i]);
        }
        free(list->chunks);
        free(list);
        *list_p = NULL;
    }
}

static const OTF2_MemoryCallbacks MEMORY = {.otf2_allocate = give_chunk, .otf2_free_all = take_chunks};

OTF2_Archive *iwi_archive_open(const char *folder, uint64_t spool_bytes, bool *has_failed_p)
{
    uint64_t chunk_bytes = spool_bytes < LARGE_SPOOL_BYTES ? OTF2_CHUNK_SIZE_EVENTS_DEFAULT : LARGE_CHUNK_BYTES;

    *has_failed_p = false;
    (void)OTF2_Error_RegisterCallback(iwi_otf2_quiet, NULL);
    OTF2_Archive *archive =
        OTF2_Archive_Open(folder, "traces", OTF2_FILEMODE_WRITE, chunk_bytes,
                          OTF2_CHUNK_SIZE_DEFINITIONS_DEFAULT, OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
    if (archive != NULL) {
        (void)OTF2_Archive_SetFlushCallbacks(archive, &FLUSH, has_failed_p);
        (void)OTF2_Archive_SetMemoryCallbacks(archive, &MEMORY, NULL);
    }
    return archive;
}

bool iwi_archive_set_properties(OTF2_Archive *archive, const struct iwi_archive_definitions *definitions)
{
    bool is_fine = OTF2_Archive_SetCreator(archive, "idlewave " IW_VERSION) == OTF2_SUCCESS;

    is_fine = OTF2_Archive_SetProperty(archive, "IDLEWAVE::FORMAT", "3", true) == OTF2_SUCCESS && is_fine;
    is_fine =
        OTF2_Archive_SetProperty(archive, "IDLEWAVE::MPI", definitions->mpi, true) == OTF2_SUCCESS && is_fine;
    is_fine = OTF2_Archive_SetProperty(archive, "IDLEWAVE::CPU_CLOCK", definitions->cpu_clock, true) ==
                  OTF2_SUCCESS &&
              is_fine;
    if (definitions->lost != NULL) {
        is_fine =
            OTF2_Archive_SetProperty(archive, "IDLEWAVE::LOST", definitions->lost, true) == OTF2_SUCCESS &&
            is_fine;
    }
    return is_fine;
}

struct definer {
    OTF2_GlobalDefWriter *writer;
    uint32_t string_count, group_count;
    bool is_fine;
};

static void check(struct definer *d, OTF2_ErrorCode code)
{
    d->is_fine = d->is_fine && code == OTF2_SUCCESS;
}

static OTF2_StringRef text(struct definer *d, const char *string)
{
    check(d, OTF2_GlobalDefWriter_WriteString(d->writer, d->string_count, string));
    return d->string_count++;
}

static OTF2_StringRef number_text(struct definer *d, const char *what, uint32_t number)
{
    char string[64];

    (void)snprintf(string, sizeof string, "%s %u", what, number);
    return text(d, string);
}

static const struct {
    const char *name, *description;
    OTF2_Type type;
} ATTRIBUTES[IWI_ATTRIBUTES] = {
    [IWI_ATTRIBUTE_CPU_NS] = {"idlewave.cpu_ns", "CPU time since the Leave before; absent: all but polls", OTF2_TYPE_UINT64},
    [IWI_ATTRIBUTE_POLLS] = {"idlewave.polls", "failed polls since the Leave before", OTF2_TYPE_UINT64},
    [IWI_ATTRIBUTE_POLL_NS] = {"idlewave.poll_ns", "wall time inside those polls", OTF2_TYPE_UINT64},
    [IWI_ATTRIBUTE_POSTED_SOURCE] = {"idlewave.posted_source", "source asked for; -1: any", OTF2_TYPE_INT32},
    [IWI_ATTRIBUTE_POSTED_TAG] = {"idlewave.posted_tag", "tag asked for; -1: any", OTF2_TYPE_INT32},
    [IWI_ATTRIBUTE_POSTED_BYTES] = {"idlewave.posted_bytes", "room in the buffer", OTF2_TYPE_UINT64},
    [IWI_ATTRIBUTE_COMM] = {"idlewave.comm", "communicator", OTF2_TYPE_COMM},
    [IWI_ATTRIBUTE_MODE] = {"idlewave.mode", "1 buffered, 2 synchronous, 3 ready", OTF2_TYPE_UINT8},
    [IWI_ATTRIBUTE_OP] = {"idlewave.op", "collective operation", OTF2_TYPE_UINT8},
    [IWI_ATTRIBUTE_ROOT] = {"idlewave.root", "root of the collective", OTF2_TYPE_UINT32},
    [IWI_ATTRIBUTE_BYTES] = {"idlewave.bytes", "bytes per rank", OTF2_TYPE_UINT64},
    [IWI_ATTRIBUTE_NEW_COMM] = {"idlewave.new_comm", "communicator made", OTF2_TYPE_COMM},
    [IWI_ATTRIBUTE_SIZES] = {"idlewave.sizes", "group of the location's definitions: what goes to whom",
                             OTF2_TYPE_UINT32},
    [IWI_ATTRIBUTE_UNKNOWN] = {"idlewave.unknown", "completed requests that are no messages", OTF2_TYPE_UINT64},
};

static void define_attributes(struct definer *d)
{
    for (uint32_t i = 0; i < IWI_ATTRIBUTES; i++) {
        OTF2_StringRef name = text(d, ATTRIBUTES[i].name);
        OTF2_StringRef description = text(d, ATTRIBUTES[i].description);
        check(d, OTF2_GlobalDefWriter_WriteAttribute(d->writer, i, name, description, ATTRIBUTES[i].type));
    }
}

static void define_regions(struct definer *d, OTF2_StringRef empty)
{
    for (uint32_t i = 0; i < iwi_call_count; i++) {
        OTF2_StringRef name = text(d, iwi_calls[i].name);
        OTF2_StringRef description = empty;
        if (iwi_calls[i].opaque != NULL) {
            char string[64];
            (void)snprintf(string, sizeof string, "opaque: %s", iwi_calls[i].opaque);
            description = text(d, string);
        }
        check(d, OTF2_GlobalDefWriter_WriteRegion(d->writer, i, name, name, description, iwi_calls[i].role,
                                                  OTF2_PARADIGM_MPI, OTF2_REGION_FLAG_NONE, empty, 0, 0));
    }
}

/* The tree node of a host: the first rank of that host has made it, or does now. */
static uint32_t host_of(struct definer *d, const struct iwi_archive_definitions *defs, uint32_t rank,
                        uint32_t *host_of_rank, uint32_t *host_count)
{
    for (uint32_t i = 0; i < rank; i++) {
        if (strcmp(defs->ranks[i].host, defs->ranks[rank].host) == 0) {
            return host_of_rank[i];
        }
    }
    OTF2_StringRef name = text(d, defs->ranks[rank].host);
    OTF2_StringRef class = text(d, "node");
    uint32_t node = 1 + (*host_count)++;
    check(d, OTF2_GlobalDefWriter_WriteSystemTreeNode(d->writer, node, name, class, 0));
    check(d, OTF2_GlobalDefWriter_WriteSystemTreeNodeDomain(d->writer, node,
                                                            OTF2_SYSTEM_TREE_DOMAIN_SHARED_MEMORY));
    return node;
}

static void define_ranks(struct definer *d, const struct iwi_archive_definitions *defs)
{
    uint32_t *hosts = calloc(defs->rank_count + 1, sizeof *hosts);
    uint32_t host_count = 0;
    OTF2_StringRef first = text(d, "idlewave.clock_offset_init_ns");
    OTF2_StringRef last = text(d, "idlewave.clock_offset_finalize_ns");

    OTF2_StringRef machine = text(d, "machine");
    check(d, OTF2_GlobalDefWriter_WriteSystemTreeNode(d->writer, 0, machine, machine,
                                                      OTF2_UNDEFINED_SYSTEM_TREE_NODE));
    if (hosts == NULL) {
        d->is_fine = false;
        return;
    }
    for (uint32_t rank = 0; rank < defs->rank_count; rank++) {
        hosts[rank] = host_of(d, defs, rank, hosts, &host_count);
        OTF2_StringRef name = number_text(d, "MPI rank", rank);
        check(d,
              OTF2_GlobalDefWriter_WriteLocationGroup(d->writer, rank, name, OTF2_LOCATION_GROUP_TYPE_PROCESS,
                                                      hosts[rank], OTF2_UNDEFINED_LOCATION_GROUP));
        OTF2_AttributeValue value = {.int64 = defs->ranks[rank].offset_first_ns};
        check(d, OTF2_GlobalDefWriter_WriteLocationGroupProperty(d->writer, rank, first, OTF2_TYPE_INT64,
                                                                 value));
        value.int64 = defs->ranks[rank].offset_last_ns;
        check(d,
              OTF2_GlobalDefWriter_WriteLocationGroupProperty(d->writer, rank, last, OTF2_TYPE_INT64, value));
    }
    free(hosts);
}

static void define_locations(struct definer *d, const struct iwi_archive_definitions *defs)
{
    for (size_t i = 0; i < defs->place_count; i++) {
        const struct iwi_archive_place *place = &defs->places[i];
        OTF2_StringRef name =
            place->thread == 0 ? text(d, "main thread") : number_text(d, "thread", place->thread);
        check(d,
              OTF2_GlobalDefWriter_WriteLocation(d->writer, (uint64_t)place->thread << 32 | place->rank, name,
                                                 OTF2_LOCATION_TYPE_CPU_THREAD, place->events, place->rank));
    }
}

static OTF2_GroupRef define_group(struct definer *d, OTF2_StringRef name, OTF2_GroupType type,
                                  const int32_t *members, uint32_t count, bool is_counting)
{
    uint64_t *wide = calloc((size_t)count + 1, sizeof *wide);

    if (wide == NULL) {
        d->is_fine = false;
        return OTF2_UNDEFINED_GROUP;
    }
    bool is_known = true; /* ranks would shift if unknown members were left out */
    for (uint32_t i = 0; i < count; i++) {
        is_known = is_known && (is_counting || members[i] >= 0);
        wide[i] = is_counting ? i : (uint64_t)members[i];
    }
    check(d, OTF2_GlobalDefWriter_WriteGroup(d->writer, d->group_count, name, type, OTF2_PARADIGM_MPI,
                                             OTF2_GROUP_FLAG_NONE, is_known ? count : 0, wide));
    free(wide);
    return d->group_count++;
}

static void define_comm(struct definer *d, OTF2_StringRef empty, uint32_t id,
                        const struct iwi_archive_comm *comm)
{
    OTF2_StringRef name = comm->name[0] != '\0' ? text(d, comm->name) : number_text(d, "communicator", id - 1);
    OTF2_GroupRef group =
        define_group(d, empty, OTF2_GROUP_TYPE_COMM_GROUP, comm->members, comm->size, false);

    if (!comm->is_inter) {
        check(d, OTF2_GlobalDefWriter_WriteComm(d->writer, id, name, group, OTF2_UNDEFINED_COMM,
                                                OTF2_COMM_FLAG_NONE));
        return;
    }
    OTF2_GroupRef remote = define_group(d, empty, OTF2_GROUP_TYPE_COMM_GROUP, comm->members + comm->size,
                                        comm->remote_size, false);
    check(d, OTF2_GlobalDefWriter_WriteInterComm(d->writer, id, name, group, remote, OTF2_UNDEFINED_COMM,
                                                 OTF2_COMM_FLAG_NONE));
}

static void define_comms(struct definer *d, const struct iwi_archive_definitions *defs, OTF2_StringRef empty)
{
    uint32_t n = defs->rank_count;

    (void)define_group(d, text(d, "MPI ranks"), OTF2_GROUP_TYPE_COMM_LOCATIONS, NULL, n, true);
    OTF2_GroupRef world = define_group(d, empty, OTF2_GROUP_TYPE_COMM_GROUP, NULL, n, true);
    OTF2_GroupRef self = define_group(d, empty, OTF2_GROUP_TYPE_COMM_SELF, NULL, 0, true);
    OTF2_StringRef world_name = text(d, "MPI_COMM_WORLD");
    OTF2_StringRef self_name = text(d, "MPI_COMM_SELF");
    check(d, OTF2_GlobalDefWriter_WriteComm(d->writer, 0, world_name, world, OTF2_UNDEFINED_COMM,
                                            OTF2_COMM_FLAG_NONE));
    check(d, OTF2_GlobalDefWriter_WriteComm(d->writer, 1, self_name, self, OTF2_UNDEFINED_COMM,
                                            OTF2_COMM_FLAG_NONE));
    for (uint32_t i = 2; i < defs->comm_count; i++) {
        define_comm(d, empty, i, &defs->comms[i]);
    }
}

static void define_clock(struct definer *d, const struct iwi_archive_definitions *defs)
{
    uint64_t first = UINT64_MAX;
    uint64_t last = 0;

    for (size_t i = 0; i < defs->place_count; i++) {
        const struct iwi_archive_place *place = &defs->places[i];
        if (place->events > 0) {
            first = place->first_ns < first ? place->first_ns : first;
            last = place->last_ns > last ? place->last_ns : last;
        }
    }
    first = first < last ? first : last;
    int64_t realtime_ns = defs->realtime_ns + ((int64_t)first - defs->reference_ns);
    check(d, OTF2_GlobalDefWriter_WriteClockProperties(d->writer, UINT64_C(1000000000), first,
                                                       last - first + 1, (uint64_t)realtime_ns));
}

bool iwi_archive_write_definitions(OTF2_Archive *archive, const struct iwi_archive_definitions *defs)
{
    struct definer d = {.writer = OTF2_Archive_GetGlobalDefWriter(archive), .is_fine = true};

    if (d.writer == NULL) {
        return false;
    }
    define_clock(&d, defs);
    OTF2_StringRef empty = text(&d, "");
    OTF2_StringRef paradigm = text(&d, "MPI");
    check(&d, OTF2_GlobalDefWriter_WriteParadigm(d.writer, OTF2_PARADIGM_MPI, paradigm,
                                                 OTF2_PARADIGM_CLASS_PROCESS));
    define_attributes(&d);
    define_regions(&d, empty);
    define_ranks(&d, defs);
    define_locations(&d, defs);
    define_comms(&d, defs, empty);
    check(&d, OTF2_Archive_CloseGlobalDefWriter(archive, d.writer));
    return d.is_fine;
}
