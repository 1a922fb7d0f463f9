/* Small OTF2 archives for tests.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "support/otf2_writer.h"

#include <otf2/otf2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES_MAX = 64, COMMS_MAX = 16, MEMBERS_MAX = 64, DEPTH_MAX = 16, CLOCK_HZ = 1000000000 };

struct comm {
    uint32_t group, remote; /* remote: of an intercommunicator */
};

struct group {
    uint32_t count;
    uint64_t members[MEMBERS_MAX];
};

struct iwt_otf2 {
    OTF2_Archive *archive;
    OTF2_AttributeList *attributes;
    uint32_t ranks, threads;
    const char *regions[NAMES_MAX], *attribute_names[NAMES_MAX];
    uint8_t attribute_types[NAMES_MAX];
    uint32_t region_count, attribute_count;
    struct group groups[2 * COMMS_MAX];
    struct comm comms[COMMS_MAX];
    uint32_t group_count, comm_count;
    uint32_t (*open)[DEPTH_MAX]; /* regions, of each location */
    uint32_t *depths;
};

static void must(int condition, const char *what)
{
    if (!condition) {
        (void)fprintf(stderr, "otf2_writer: %s\n", what);
        abort();
    }
}

#define WRITE(call) must((call) == OTF2_SUCCESS, #call)

static OTF2_FlushType before_flush(void *user, OTF2_FileType type, OTF2_LocationRef location, void *caller,
                                   bool final)
{
    (void)user;
    (void)type;
    (void)location;
    (void)caller;
    (void) final;
    return OTF2_FLUSH;
}

static const OTF2_FlushCallbacks flush = {before_flush, NULL};

static uint32_t add_group(struct iwt_otf2 *w, uint32_t count, const uint64_t *members)
{
    struct group *group = &w->groups[w->group_count];

    must(w->group_count < 2 * COMMS_MAX && count <= MEMBERS_MAX, "too many groups or members");
    group->count = count;
    memcpy(group->members, members, count * sizeof *members);
    return w->group_count++;
}

struct iwt_otf2 *iwt_otf2_new(const char *folder, const char *creator, uint32_t ranks, uint32_t threads)
{
    struct iwt_otf2 *w = calloc(1, sizeof *w);
    uint64_t world[MEMBERS_MAX];

    must(w != NULL && ranks <= MEMBERS_MAX, "memory");
    w->ranks = ranks;
    w->threads = threads;
    w->open = calloc((size_t)ranks * threads, sizeof *w->open);
    w->depths = calloc((size_t)ranks * threads, sizeof *w->depths);
    for (uint32_t r = 0; r < ranks; r++) {
        world[r] = r;
    }
    (void)iwt_otf2_comm(w, ranks, world);
    (void)iwt_otf2_comm(w, 0, world);
    w->archive = OTF2_Archive_Open(folder, "traces", OTF2_FILEMODE_WRITE, 1 << 18, 1 << 18,
                                   OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
    must(w->archive != NULL && w->open != NULL && w->depths != NULL, "the archive cannot be made");
    WRITE(OTF2_Archive_SetFlushCallbacks(w->archive, &flush, NULL));
    WRITE(OTF2_Archive_SetSerialCollectiveCallbacks(w->archive));
    WRITE(OTF2_Archive_SetCreator(w->archive, creator));
    WRITE(OTF2_Archive_OpenEvtFiles(w->archive));
    WRITE(OTF2_Archive_OpenDefFiles(w->archive));
    w->attributes = OTF2_AttributeList_New();
    return w;
}

uint32_t iwt_otf2_comm(struct iwt_otf2 *w, uint32_t count, const uint64_t *ranks)
{
    must(w->comm_count < COMMS_MAX, "too many communicators");
    w->comms[w->comm_count].group = add_group(w, count, ranks);
    w->comms[w->comm_count].remote = UINT32_MAX;
    return w->comm_count++;
}

uint32_t iwt_otf2_intercomm(struct iwt_otf2 *w, uint32_t first_count, const uint64_t *first,
                            uint32_t second_count, const uint64_t *second)
{
    const uint32_t comm = iwt_otf2_comm(w, first_count, first);

    w->comms[comm].remote = add_group(w, second_count, second);
    return comm;
}

void iwt_otf2_property(struct iwt_otf2 *w, const char *name, const char *value)
{
    WRITE(OTF2_Archive_SetProperty(w->archive, name, value, true));
}

void iwt_otf2_list(struct iwt_otf2 *w, uint64_t location, uint32_t number, uint32_t count,
                   const uint64_t *values)
{
    WRITE(OTF2_DefWriter_WriteGroup(OTF2_Archive_GetDefWriter(w->archive, location), number,
                                    OTF2_UNDEFINED_STRING, OTF2_GROUP_TYPE_UNKNOWN, OTF2_PARADIGM_MPI,
                                    OTF2_GROUP_FLAG_NONE, count, values));
}

/* ---- events ---- */

static uint32_t name_number(const char *names[NAMES_MAX], uint32_t *count, const char *name)
{
    for (uint32_t i = 0; i < *count; i++) {
        if (strcmp(names[i], name) == 0) {
            return i;
        }
    }
    must(*count < NAMES_MAX, "too many names");
    names[*count] = name;
    return (*count)++;
}

void iwt_otf2_attribute(struct iwt_otf2 *w, const char *name, uint8_t type, uint64_t value)
{
    const uint32_t number = name_number(w->attribute_names, &w->attribute_count, name);
    OTF2_AttributeValue typed;

    memset(&typed, 0, sizeof typed);
    memcpy(&typed, &value, sizeof value); /* little endian: small types lie at its beginning */
    w->attribute_types[number] = type;
    WRITE(OTF2_AttributeList_AddAttribute(w->attributes, number, type, typed));
}

static OTF2_EvtWriter *writer(struct iwt_otf2 *w, uint64_t location)
{
    return OTF2_Archive_GetEvtWriter(w->archive, location);
}

static size_t place(const struct iwt_otf2 *w, uint64_t location)
{
    return (location >> 32) * w->ranks + (location & UINT32_MAX);
}

void iwt_otf2_enter(struct iwt_otf2 *w, uint64_t location, uint64_t time, const char *region)
{
    const uint32_t number = name_number(w->regions, &w->region_count, region);
    const size_t at = place(w, location);

    must(w->depths[at] < DEPTH_MAX, "too deep");
    w->open[at][w->depths[at]++] = number;
    WRITE(OTF2_EvtWriter_Enter(writer(w, location), w->attributes, time, number));
}

void iwt_otf2_leave(struct iwt_otf2 *w, uint64_t location, uint64_t time)
{
    const size_t at = place(w, location);

    must(w->depths[at] > 0, "nothing to leave");
    WRITE(OTF2_EvtWriter_Leave(writer(w, location), w->attributes, time, w->open[at][--w->depths[at]]));
}

void iwt_otf2_send(struct iwt_otf2 *w, uint64_t location, uint64_t time, uint32_t peer, uint32_t comm,
                   uint32_t tag, uint64_t bytes)
{
    WRITE(OTF2_EvtWriter_MpiSend(writer(w, location), w->attributes, time, peer, comm, tag, bytes));
}

void iwt_otf2_recv(struct iwt_otf2 *w, uint64_t location, uint64_t time, uint32_t peer, uint32_t comm,
                   uint32_t tag, uint64_t bytes)
{
    WRITE(OTF2_EvtWriter_MpiRecv(writer(w, location), w->attributes, time, peer, comm, tag, bytes));
}

void iwt_otf2_isend(struct iwt_otf2 *w, uint64_t location, uint64_t time, uint32_t peer, uint32_t comm,
                    uint32_t tag, uint64_t bytes, uint64_t request)
{
    WRITE(OTF2_EvtWriter_MpiIsend(writer(w, location), w->attributes, time, peer, comm, tag, bytes, request));
}

void iwt_otf2_isend_complete(struct iwt_otf2 *w, uint64_t location, uint64_t time, uint64_t request)
{
    WRITE(OTF2_EvtWriter_MpiIsendComplete(writer(w, location), w->attributes, time, request));
}

void iwt_otf2_irecv_request(struct iwt_otf2 *w, uint64_t location, uint64_t time, uint64_t request)
{
    WRITE(OTF2_EvtWriter_MpiIrecvRequest(writer(w, location), w->attributes, time, request));
}

void iwt_otf2_irecv(struct iwt_otf2 *w, uint64_t location, uint64_t time, uint32_t peer, uint32_t comm,
                    uint32_t tag, uint64_t bytes, uint64_t request)
{
    WRITE(OTF2_EvtWriter_MpiIrecv(writer(w, location), w->attributes, time, peer, comm, tag, bytes, request));
}

void iwt_otf2_cancelled(struct iwt_otf2 *w, uint64_t location, uint64_t time, uint64_t request)
{
    WRITE(OTF2_EvtWriter_MpiRequestCancelled(writer(w, location), w->attributes, time, request));
}

void iwt_otf2_collective(struct iwt_otf2 *w, uint64_t location, uint64_t time, uint8_t op, uint32_t comm,
                         uint32_t root, uint64_t sent, uint64_t received)
{
    OTF2_EvtWriter *to = writer(w, location);

    WRITE(OTF2_EvtWriter_MpiCollectiveBegin(to, NULL, time));
    WRITE(OTF2_EvtWriter_MpiCollectiveEnd(to, w->attributes, time, op, comm, root, sent, received));
}

void iwt_otf2_icollective_request(struct iwt_otf2 *w, uint64_t location, uint64_t time, uint64_t request)
{
    WRITE(OTF2_EvtWriter_NonBlockingCollectiveRequest(writer(w, location), w->attributes, time, request));
}

void iwt_otf2_icollective_complete(struct iwt_otf2 *w, uint64_t location, uint64_t time, uint8_t op,
                                   uint32_t comm, uint32_t root, uint64_t sent, uint64_t received,
                                   uint64_t request)
{
    WRITE(OTF2_EvtWriter_NonBlockingCollectiveComplete(writer(w, location), w->attributes, time, op, comm,
                                                       root, sent, received, request));
}

void iwt_otf2_switch(struct iwt_otf2 *w, uint64_t location, uint64_t time, uint8_t is_on)
{
    WRITE(OTF2_EvtWriter_MeasurementOnOff(writer(w, location), w->attributes, time,
                                          is_on ? OTF2_MEASUREMENT_ON : OTF2_MEASUREMENT_OFF));
}

/* ---- definitions ---- */

/* String n + 1 is region n, further ones are attributes; 0 is empty. */
static void write_names(struct iwt_otf2 *w, OTF2_GlobalDefWriter *defs)
{
    WRITE(OTF2_GlobalDefWriter_WriteString(defs, 0, ""));
    for (uint32_t i = 0; i < w->region_count; i++) {
        const bool is_opaque = strcmp(w->regions[i], "MPI_Custom") == 0;

        WRITE(OTF2_GlobalDefWriter_WriteString(defs, i + 1, w->regions[i]));
        if (is_opaque) {
            WRITE(OTF2_GlobalDefWriter_WriteString(defs, 4 * NAMES_MAX, "opaque: one-sided"));
        }
        WRITE(OTF2_GlobalDefWriter_WriteRegion(defs, i, i + 1, i + 1, is_opaque ? 4 * NAMES_MAX : 0,
                                               OTF2_REGION_ROLE_FUNCTION, OTF2_PARADIGM_MPI,
                                               OTF2_REGION_FLAG_NONE, 0, 0, 0));
    }
    for (uint32_t i = 0; i < w->attribute_count; i++) {
        WRITE(OTF2_GlobalDefWriter_WriteString(defs, NAMES_MAX + 1 + i, w->attribute_names[i]));
        WRITE(OTF2_GlobalDefWriter_WriteAttribute(defs, i, NAMES_MAX + 1 + i, 0, w->attribute_types[i]));
    }
}

static void write_locations(struct iwt_otf2 *w, OTF2_GlobalDefWriter *defs)
{
    uint64_t mains[MEMBERS_MAX];

    WRITE(OTF2_GlobalDefWriter_WriteSystemTreeNode(defs, 0, 0, 0, OTF2_UNDEFINED_SYSTEM_TREE_NODE));
    for (uint32_t r = 0; r < w->ranks; r++) {
        mains[r] = r;
        WRITE(OTF2_GlobalDefWriter_WriteLocationGroup(defs, r, 0, OTF2_LOCATION_GROUP_TYPE_PROCESS, 0,
                                                      OTF2_UNDEFINED_LOCATION_GROUP));
        for (uint64_t t = 0; t < w->threads; t++) {
            const uint64_t location = t << 32 | r;
            OTF2_DefWriter *local = OTF2_Archive_GetDefWriter(w->archive, location);
            uint64_t events;

            WRITE(OTF2_EvtWriter_GetNumberOfEvents(writer(w, location), &events));
            WRITE(OTF2_Archive_CloseEvtWriter(w->archive, writer(w, location)));
            WRITE(OTF2_Archive_CloseDefWriter(w->archive, local));
            WRITE(OTF2_GlobalDefWriter_WriteLocation(defs, location, 0, OTF2_LOCATION_TYPE_CPU_THREAD, events,
                                                     r));
        }
    }
    WRITE(OTF2_GlobalDefWriter_WriteGroup(defs, 0, 0, OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_MPI,
                                          OTF2_GROUP_FLAG_NONE, w->ranks, mains));
}

/* Group n + 1 is w->groups[n]; that of MPI_COMM_SELF has no members. */
static void write_comms(struct iwt_otf2 *w, OTF2_GlobalDefWriter *defs)
{
    for (uint32_t i = 0; i < w->group_count; i++) {
        WRITE(OTF2_GlobalDefWriter_WriteGroup(
            defs, i + 1, 0, i == 1 ? OTF2_GROUP_TYPE_COMM_SELF : OTF2_GROUP_TYPE_COMM_GROUP,
            OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, w->groups[i].count, w->groups[i].members));
    }
    for (uint32_t i = 0; i < w->comm_count; i++) {
        if (w->comms[i].remote == UINT32_MAX) {
            WRITE(OTF2_GlobalDefWriter_WriteComm(defs, i, 0, w->comms[i].group + 1, OTF2_UNDEFINED_COMM,
                                                 OTF2_COMM_FLAG_NONE));
        } else {
            WRITE(OTF2_GlobalDefWriter_WriteInterComm(defs, i, 0, w->comms[i].group + 1,
                                                      w->comms[i].remote + 1, 0, OTF2_COMM_FLAG_NONE));
        }
    }
}

void iwt_otf2_close(struct iwt_otf2 *w)
{
    OTF2_GlobalDefWriter *defs;

    defs = OTF2_Archive_GetGlobalDefWriter(w->archive);
    must(defs != NULL, "no global definitions");
    WRITE(OTF2_GlobalDefWriter_WriteClockProperties(defs, CLOCK_HZ, 0, UINT64_MAX / 2,
                                                    OTF2_UNDEFINED_TIMESTAMP));
    write_names(w, defs);
    write_locations(w, defs);
    write_comms(w, defs);
    WRITE(OTF2_Archive_CloseEvtFiles(w->archive));
    WRITE(OTF2_Archive_CloseDefFiles(w->archive));
    WRITE(OTF2_Archive_Close(w->archive));
    OTF2_AttributeList_Delete(w->attributes);
    free(w->open);
    free(w->depths);
    free(w);
}
