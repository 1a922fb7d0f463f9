/* Definitions of an OTF2 archive, collected in whatever order they come, and what they mean.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/order.h"
#include "kit/files/otf2/trace_otf2_read.h"

static const char *const attribute_names[IWI_ATTRS] = {
    [IWI_ATTR_CPU_NS] = "idlewave.cpu_ns",
    [IWI_ATTR_POLL_NS] = "idlewave.poll_ns",
    [IWI_ATTR_POSTED_SOURCE] = "idlewave.posted_source",
    [IWI_ATTR_POSTED_TAG] = "idlewave.posted_tag",
    [IWI_ATTR_COMM] = "idlewave.comm",
    [IWI_ATTR_MODE] = "idlewave.mode",
    [IWI_ATTR_OP] = "idlewave.op",
    [IWI_ATTR_ROOT] = "idlewave.root",
    [IWI_ATTR_BYTES] = "idlewave.bytes",
    [IWI_ATTR_SIZES] = "idlewave.sizes",
    [IWI_ATTR_UNKNOWN] = "idlewave.unknown",
};

/* ---- tables ---- */

static uint64_t id_at(const struct iwi_defs *defs, size_t i)
{
    uint64_t id;

    memcpy(&id, (const char *)defs->items + i * defs->item_size, sizeof id);
    return id;
}

static int compare_ids(const void *a, const void *b)
{
    uint64_t x, y;

    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

void *iwi_defs_find(const struct iwi_defs *defs, uint64_t id)
{
    if (id < defs->count && id_at(defs, id) == id) {
        return (char *)defs->items + id * defs->item_size;
    }
    return defs->count > 0 ? bsearch(&id, defs->items, defs->count, defs->item_size, compare_ids) : NULL;
}

static OTF2_CallbackCode add(struct iwi_otf2 *in, struct iwi_defs *defs, const void *item)
{
    if (iwi_grow(in->log, &defs->items, &defs->capacity, defs->count + 1, defs->item_size) != IW_OK) {
        in->status = IW_ERR_NOMEM;
        return OTF2_CALLBACK_INTERRUPT;
    }
    memcpy((char *)defs->items + defs->count * defs->item_size, item, defs->item_size);
    defs->count++;
    return OTF2_CALLBACK_SUCCESS;
}

/* ---- one function for each kind; the names of the types are libotf2's ---- */

static OTF2_CallbackCode on_clock(void *user, uint64_t resolution, uint64_t offset, uint64_t length,
                                  uint64_t realtime)
{
    struct iwi_otf2 *in = user;

    (void)length;
    (void)realtime;
    in->resolution_hz = resolution;
    in->offset_ticks = offset;
    in->has_offset = offset != 0;
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_string(void *user, OTF2_StringRef self, const char *text)
{
    struct iwi_otf2 *in = user;
    const struct iwi_def_string item = {self, strdup(text)};
    OTF2_CallbackCode code;

    if (item.text == NULL) {
        in->status = iwi_fail(in->log, IW_ERR_NOMEM, "out of memory for the names in '%s'", in->path);
        return OTF2_CALLBACK_INTERRUPT;
    }
    code = add(in, &in->strings, &item);
    if (code != OTF2_CALLBACK_SUCCESS) {
        free(item.text);
    }
    return code; /* NOLINT(clang-analyzer-unix.Malloc): the table has the text now */
}

/* NOLINTNEXTLINE(readability-function-size): its parameters are libotf2's */
static OTF2_CallbackCode on_region(void *user, OTF2_RegionRef self, OTF2_StringRef name,
                                   OTF2_StringRef canonical, OTF2_StringRef description, OTF2_RegionRole role,
                                   OTF2_Paradigm paradigm, OTF2_RegionFlag flags, OTF2_StringRef file,
                                   uint32_t begin, uint32_t end)
{
    struct iwi_otf2 *in = user;
    const struct iwi_def_region item = {.id = self, .name = name, .description = description};

    (void)canonical;
    (void)role;
    (void)paradigm;
    (void)flags;
    (void)file;
    (void)begin;
    (void)end;
    return add(in, &in->regions, &item);
}

static OTF2_CallbackCode on_location(void *user, OTF2_LocationRef self, OTF2_StringRef name,
                                     OTF2_LocationType type, uint64_t event_count,
                                     OTF2_LocationGroupRef group)
{
    struct iwi_otf2 *in = user;
    const struct iwi_def_location item = {self, event_count, group, UINT32_MAX};

    (void)name;
    return type == OTF2_LOCATION_TYPE_CPU_THREAD ? add(in, &in->locations, &item) : OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_process(void *user, OTF2_LocationGroupRef self, OTF2_StringRef name,
                                    OTF2_LocationGroupType type, OTF2_SystemTreeNodeRef parent,
                                    OTF2_LocationGroupRef creator)
{
    struct iwi_otf2 *in = user;
    const struct iwi_def_place item = {self, name, OTF2_UNDEFINED_STRING, parent};

    (void)type;
    (void)creator;
    return add(in, &in->processes, &item);
}

static OTF2_CallbackCode on_place(void *user, OTF2_SystemTreeNodeRef self, OTF2_StringRef name,
                                  OTF2_StringRef class_name, OTF2_SystemTreeNodeRef parent)
{
    struct iwi_otf2 *in = user;
    const struct iwi_def_place item = {self, name, class_name, parent};

    return add(in, &in->places, &item);
}

/* The locations of ranks 0, 1, ... EZTrace gives this group the number of another one. */
static OTF2_CallbackCode set_ranks(struct iwi_otf2 *in, uint32_t count, const uint64_t *members)
{
    if (in->rank_locations != NULL) {
        return OTF2_CALLBACK_SUCCESS;
    }
    in->rank_locations = iwi_new_array(in->log, count, sizeof *members);
    if (in->rank_locations == NULL) {
        in->status = IW_ERR_NOMEM;
        return OTF2_CALLBACK_INTERRUPT;
    }
    memcpy(in->rank_locations, members, count * sizeof *members);
    in->rank_count = count;
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_group(void *user, OTF2_GroupRef self, OTF2_StringRef name, OTF2_GroupType type,
                                  OTF2_Paradigm paradigm, OTF2_GroupFlag flags, uint32_t count,
                                  const uint64_t *members)
{
    struct iwi_otf2 *in = user;
    struct iwi_def_group item = {self, type, count, NULL};
    OTF2_CallbackCode code;

    (void)name;
    (void)flags;
    if (paradigm != OTF2_PARADIGM_MPI) {
        return OTF2_CALLBACK_SUCCESS;
    }
    if (type == OTF2_GROUP_TYPE_COMM_LOCATIONS) {
        return set_ranks(in, count, members);
    }
    if (type != OTF2_GROUP_TYPE_COMM_GROUP && type != OTF2_GROUP_TYPE_COMM_SELF) {
        return OTF2_CALLBACK_SUCCESS;
    }
    item.members = iwi_new_array(in->log, count, sizeof *item.members);
    if (item.members == NULL) {
        in->status = IW_ERR_NOMEM;
        return OTF2_CALLBACK_INTERRUPT;
    }
    for (uint32_t i = 0; i < count; i++) {
        item.members[i] = members[i] < UINT32_MAX ? (uint32_t)members[i] : UINT32_MAX;
    }
    code = add(in, &in->groups, &item);
    if (code != OTF2_CALLBACK_SUCCESS) {
        free(item.members);
    }
    return code;
}

static OTF2_CallbackCode on_comm(void *user, OTF2_CommRef self, OTF2_StringRef name, OTF2_GroupRef group,
                                 OTF2_CommRef parent, OTF2_CommFlag flags)
{
    struct iwi_otf2 *in = user;
    const struct iwi_def_comm item = {
        .id = self, .name = name, .group = group, .remote_group = OTF2_UNDEFINED_GROUP};

    (void)parent;
    (void)flags;
    return add(in, &in->comm_defs, &item);
}

static OTF2_CallbackCode on_intercomm(void *user, OTF2_CommRef self, OTF2_StringRef name,
                                      OTF2_GroupRef group_a, OTF2_GroupRef group_b, OTF2_CommRef common,
                                      OTF2_CommFlag flags)
{
    struct iwi_otf2 *in = user;
    const struct iwi_def_comm item = {
        .id = self, .name = name, .group = group_a, .remote_group = group_b, .form = IWI_COMM_INTER};

    (void)common;
    (void)flags;
    return add(in, &in->comm_defs, &item);
}

/* A string while definitions are read: they are not sorted yet. */
static const char *text_of(const struct iwi_otf2 *in, OTF2_StringRef name)
{
    const struct iwi_def_string *strings = in->strings.items;

    for (size_t i = 0; i < in->strings.count; i++) {
        if (strings[i].id == name) {
            return strings[i].text;
        }
    }
    return NULL;
}

static OTF2_CallbackCode on_attribute(void *user, OTF2_AttributeRef self, OTF2_StringRef name,
                                      OTF2_StringRef description, OTF2_Type type)
{
    struct iwi_otf2 *in = user;
    const char *text = text_of(in, name);

    (void)description;
    (void)type;
    for (size_t i = 0; text != NULL && i < IWI_ATTRS; i++) {
        if (strcmp(text, attribute_names[i]) == 0) {
            in->attributes[i] = self;
        }
    }
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_group_property(void *user, OTF2_LocationGroupRef group, OTF2_StringRef name,
                                           OTF2_Type type, OTF2_AttributeValue value)
{
    static const char *const names[] = {"idlewave.clock_offset_init_ns", "idlewave.clock_offset_finalize_ns"};
    enum { MOST_GROUPS = 1 << 24 };
    struct iwi_otf2 *in = user;
    const char *text = type == OTF2_TYPE_INT64 && group < MOST_GROUPS ? text_of(in, name) : NULL;

    for (size_t i = 0; text != NULL && i < 2; i++) {
        if (strcmp(text, names[i]) == 0) {
            if (iwi_grow(in->log, (void **)&in->clocks, &in->clock_capacity, (size_t)group + 1,
                         sizeof *in->clocks) != IW_OK) {
                in->status = IW_ERR_NOMEM;
                return OTF2_CALLBACK_INTERRUPT;
            }
            while (in->clock_count <= group) {
                in->clocks[in->clock_count++] = (struct iwi_def_clock){{0, 0}};
            }
            in->clocks[group].added_ns[i] = value.int64;
        }
    }
    return OTF2_CALLBACK_SUCCESS;
}

/* ---- reading ---- */

static OTF2_GlobalDefReaderCallbacks *callbacks(void)
{
    OTF2_GlobalDefReaderCallbacks *cb = OTF2_GlobalDefReaderCallbacks_New();

    if (cb != NULL) {
        OTF2_GlobalDefReaderCallbacks_SetClockPropertiesCallback(cb, on_clock);
        OTF2_GlobalDefReaderCallbacks_SetStringCallback(cb, on_string);
        OTF2_GlobalDefReaderCallbacks_SetRegionCallback(cb, on_region);
        OTF2_GlobalDefReaderCallbacks_SetLocationCallback(cb, on_location);
        OTF2_GlobalDefReaderCallbacks_SetLocationGroupCallback(cb, on_process);
        OTF2_GlobalDefReaderCallbacks_SetSystemTreeNodeCallback(cb, on_place);
        OTF2_GlobalDefReaderCallbacks_SetGroupCallback(cb, on_group);
        OTF2_GlobalDefReaderCallbacks_SetCommCallback(cb, on_comm);
        OTF2_GlobalDefReaderCallbacks_SetInterCommCallback(cb, on_intercomm);
        OTF2_GlobalDefReaderCallbacks_SetAttributeCallback(cb, on_attribute);
        OTF2_GlobalDefReaderCallbacks_SetLocationGroupPropertyCallback(cb, on_group_property);
    }
    return cb;
}

static void sort(struct iwi_defs *defs)
{
    if (defs->count > 1) {
        qsort(defs->items, defs->count, defs->item_size, compare_ids);
    }
}

iw_status iwi_otf2_definitions(struct iwi_otf2 *in)
{
    OTF2_GlobalDefReader *def_reader = OTF2_Reader_GetGlobalDefReader(in->reader);
    OTF2_GlobalDefReaderCallbacks *cb = callbacks();
    uint64_t count;
    OTF2_ErrorCode code;

    in->strings.item_size = sizeof(struct iwi_def_string);
    in->regions.item_size = sizeof(struct iwi_def_region);
    in->locations.item_size = sizeof(struct iwi_def_location);
    in->groups.item_size = sizeof(struct iwi_def_group);
    in->comm_defs.item_size = sizeof(struct iwi_def_comm);
    in->size_lists.item_size = sizeof(struct iwi_def_sizes);
    in->processes.item_size = in->places.item_size = sizeof(struct iwi_def_place);
    for (size_t i = 0; i < IWI_ATTRS; i++) {
        in->attributes[i] = OTF2_UNDEFINED_ATTRIBUTE;
    }
    if (def_reader == NULL || cb == NULL) {
        OTF2_GlobalDefReaderCallbacks_Delete(cb);
        return iwi_fail(in->log, IW_ERR_IO, "cannot read the definitions of '%s' (its .def file)", in->path);
    }
    (void)OTF2_Reader_RegisterGlobalDefCallbacks(in->reader, def_reader, cb, in);
    OTF2_GlobalDefReaderCallbacks_Delete(cb);
    code = OTF2_Reader_ReadAllGlobalDefinitions(in->reader, def_reader, &count);
    IW_TRY(in->status);
    if (code != OTF2_SUCCESS) {
        return iwi_fail(in->log, IW_ERR_FORMAT, "'%s': its definitions are damaged: %s", in->path,
                        OTF2_Error_GetDescription(code));
    }
    sort(&in->strings);
    sort(&in->regions);
    sort(&in->locations);
    sort(&in->groups);
    sort(&in->comm_defs);
    sort(&in->processes);
    sort(&in->places);
    return IW_OK;
}

/* ---- of single locations ---- */

struct local {
    struct iwi_otf2 *in;
    uint32_t rank;
};

/* Our tracer writes lists of sizes as groups, of rank and bytes in turn. */
static OTF2_CallbackCode on_local_group(void *user, OTF2_GroupRef self, OTF2_StringRef name,
                                        OTF2_GroupType type, OTF2_Paradigm paradigm, OTF2_GroupFlag flags,
                                        uint32_t count, const uint64_t *members)
{
    const struct local *local = user;
    struct iwi_otf2 *in = local->in;
    const struct iwi_def_sizes item = {(uint64_t)local->rank << 32 | self, {in->part_count, count / 2}};

    (void)name;
    (void)flags;
    if (type != OTF2_GROUP_TYPE_UNKNOWN || paradigm != OTF2_PARADIGM_MPI) {
        return OTF2_CALLBACK_SUCCESS;
    }
    if (iwi_grow(in->log, (void **)&in->parts, &in->part_capacity, in->part_count + count / 2,
                 sizeof *in->parts) != IW_OK) {
        in->status = IW_ERR_NOMEM;
        return OTF2_CALLBACK_INTERRUPT;
    }
    for (uint32_t i = 0; i + 1 < count; i += 2) {
        const uint32_t peer = members[i] < UINT32_MAX ? (uint32_t)members[i] : UINT32_MAX;

        in->parts[in->part_count++] = (struct iwi_sent_piece){.peer = peer, .bytes = members[i + 1]};
    }
    return add(in, &in->size_lists, &item);
}

iw_status iwi_otf2_local_definitions(struct iwi_otf2 *in)
{
    const struct iwi_def_location *locations = in->locations.items;
    OTF2_DefReaderCallbacks *cb = OTF2_DefReaderCallbacks_New();
    uint64_t count;

    if (cb == NULL || OTF2_Reader_OpenDefFiles(in->reader) != OTF2_SUCCESS) {
        OTF2_DefReaderCallbacks_Delete(cb);
        return IW_OK;
    }
    (void)OTF2_DefReaderCallbacks_SetGroupCallback(cb, on_local_group);
    for (size_t i = 0; i < in->locations.count; i++) {
        OTF2_DefReader *def_reader = OTF2_Reader_GetDefReader(in->reader, locations[i].id);
        struct local local = {in, locations[i].rank};

        if (def_reader != NULL) {
            if (in->format > 1) {
                (void)OTF2_Reader_RegisterDefCallbacks(in->reader, def_reader, cb, &local);
            }
            (void)OTF2_Reader_ReadAllLocalDefinitions(in->reader, def_reader, &count);
            (void)OTF2_Reader_CloseDefReader(in->reader, def_reader);
        }
    }
    OTF2_DefReaderCallbacks_Delete(cb);
    (void)OTF2_Reader_CloseDefFiles(in->reader);
    sort(&in->size_lists);
    return in->status;
}

void iwi_otf2_release(struct iwi_otf2 *in)
{
    for (size_t i = 0; i < in->strings.count; i++) {
        free(((struct iwi_def_string *)in->strings.items)[i].text);
    }
    for (size_t i = 0; i < in->groups.count; i++) {
        free(((struct iwi_def_group *)in->groups.items)[i].members);
    }
    for (uint32_t i = 0; i < in->comm_count; i++) {
        free(in->comms[i].members);
    }
    free(in->strings.items);
    free(in->regions.items);
    free(in->locations.items);
    free(in->groups.items);
    free(in->comm_defs.items);
    free(in->processes.items);
    free(in->places.items);
    free(in->size_lists.items);
    free(in->parts);
    free(in->rank_locations);
    free(in->clocks);
    free(in->comms);
}

/* ---- what they mean: who wrote it, which locations are which rank, who is in which communicator ---- */

static const char *name_of(const struct iwi_otf2 *in, uint64_t id)
{
    const struct iwi_def_string *string = iwi_defs_find(&in->strings, id);

    return string != NULL ? string->text : "";
}

static void resolve_regions(struct iwi_otf2 *in, bool *is_eztrace_p)
{
    struct iwi_def_region *regions = in->regions.items;

    for (size_t i = 0; i < in->regions.count; i++) {
        regions[i].text = name_of(in, regions[i].name);
        regions[i].function = iwi_function_of(regions[i].text, strlen(regions[i].text));
        if (strncmp(name_of(in, regions[i].description), "opaque", 6) == 0) {
            regions[i].function = (struct iwi_function){IWI_FN_OPAQUE, 0, 0};
        }
        *is_eztrace_p = *is_eztrace_p || strncmp(regions[i].text, "EZTrace", 7) == 0;
    }
}

static uint32_t format_of(OTF2_Reader *reader)
{
    char *text = NULL;
    unsigned long format = 1;

    if (OTF2_Reader_GetProperty(reader, "IDLEWAVE::FORMAT", &text) == OTF2_SUCCESS && text != NULL) {
        format = strtoul(text, NULL, 10);
    }
    free(text);
    return format > 1 && format < UINT32_MAX ? (uint32_t)format : 1;
}

/* EZTrace leaves the name of the creator empty. */
static void resolve_origin(struct iwi_otf2 *in, bool is_eztrace)
{
    char *creator = NULL;
    const char *origin = "otf2";

    (void)OTF2_Reader_GetCreator(in->reader, &creator);
    in->sizes = IWI_SIZES_TOTAL;
    if (creator != NULL && strncmp(creator, "idlewave", 8) == 0) {
        origin = "idlewave";
        in->sizes = IWI_SIZES_ATTRIBUTE;
        in->format = format_of(in->reader);
    } else if (creator != NULL && strncmp(creator, "Score-P", 7) == 0) {
        origin = "scorep";
    } else if (is_eztrace || (creator != NULL && strncmp(creator, "EZTrace", 7) == 0)) {
        origin = "eztrace";
        in->sizes = IWI_SIZES_EACH;
    }
    memcpy(in->origin, origin, strlen(origin) + 1);
    free(creator);
}

/* A thread belongs to the rank whose main thread is in its location group. */
static iw_status resolve_locations(struct iwi_otf2 *in)
{
    struct iwi_def_location *locations = in->locations.items;
    uint64_t(*ranks)[2] = iwi_new_array(in->log, in->rank_count, sizeof *ranks); /* group, rank */

    if (ranks == NULL) {
        return IW_ERR_NOMEM;
    }
    for (uint32_t r = 0; r < in->rank_count; r++) {
        const struct iwi_def_location *main_thread = iwi_defs_find(&in->locations, in->rank_locations[r]);

        if (main_thread == NULL) {
            free(ranks);
            return iwi_fail(in->log, IW_ERR_FORMAT, "'%s': rank %" PRIu32 " has no location", in->path, r);
        }
        ranks[r][0] = main_thread->group;
        ranks[r][1] = r;
    }
    iwi_sort(ranks, in->rank_count, iwi_compare_u64);
    for (size_t i = 0; i < in->locations.count; i++) {
        const uint64_t key = locations[i].group;
        const uint64_t *found = iwi_find(&key, ranks, in->rank_count, iwi_compare_u64);

        locations[i].rank = found != NULL ? (uint32_t)found[1] : UINT32_MAX;
    }
    for (uint32_t r = 0; r < in->rank_count; r++) { /* even if several ranks share a group */
        ((struct iwi_def_location *)iwi_defs_find(&in->locations, in->rank_locations[r]))->rank = r;
    }
    free(ranks);
    return IW_OK;
}

/* ---- communicators ---- */

static iw_status add_comm(struct iwi_otf2 *in, uint32_t size, uint32_t *members, uint32_t *index_p)
{
    if (iwi_grow(in->log, (void **)&in->comms, &in->comm_capacity, (size_t)in->comm_count + 1,
                 sizeof *in->comms) != IW_OK) {
        free(members);
        return IW_ERR_NOMEM;
    }
    in->comms[in->comm_count] = (struct iwi_comm){.size = size, .members = members};
    *index_p = in->comm_count++;
    return IW_OK;
}

static bool is_world(const struct iwi_otf2 *in, const struct iwi_def_group *group)
{
    for (uint32_t i = 0; i < group->count; i++) {
        if (group->members[i] != i) {
            return false;
        }
    }
    return group->count == in->rank_count;
}

static bool has_ranks_only(const struct iwi_otf2 *in, const struct iwi_def_group *group)
{
    for (uint32_t i = 0; i < group->count; i++) {
        if (group->members[i] >= in->rank_count) {
            return false;
        }
    }
    return group->count > 0 && group->count <= in->rank_count;
}

/* `second` may be NULL. */
static iw_status add_members(struct iwi_otf2 *in, const struct iwi_def_group *first,
                             const struct iwi_def_group *second, uint32_t *index_p)
{
    const uint32_t size = first->count + (second != NULL ? second->count : 0);
    uint32_t *members = iwi_new_array(in->log, size, sizeof *members);

    if (members == NULL) {
        return IW_ERR_NOMEM;
    }
    memcpy(members, first->members, first->count * sizeof *members);
    if (second != NULL) {
        memcpy(members + first->count, second->members, second->count * sizeof *members);
    }
    return add_comm(in, size, members, index_p);
}

/* The first communicator of all ranks is world; of a form that stays UNKNOWN nothing can be followed. */
static iw_status resolve_comm(struct iwi_otf2 *in, struct iwi_def_comm *comm, bool *has_world)
{
    const struct iwi_def_group *group = iwi_defs_find(&in->groups, comm->group);
    const bool is_inter = comm->form == IWI_COMM_INTER;
    const struct iwi_def_group *remote = is_inter ? iwi_defs_find(&in->groups, comm->remote_group) : NULL;

    comm->form = IWI_COMM_UNKNOWN;
    comm->index = IWI_NO_COMM;
    if (group == NULL) {
        return IW_OK;
    }
    if (!is_inter && group->type == OTF2_GROUP_TYPE_COMM_SELF) {
        comm->form = IWI_COMM_SELF;
        return IW_OK;
    }
    if (!has_ranks_only(in, group) || (is_inter && (remote == NULL || !has_ranks_only(in, remote) ||
                                                    remote->count > in->rank_count - group->count))) {
        return IW_OK;
    }
    comm->form = is_inter ? IWI_COMM_INTER : IWI_COMM_INTRA;
    comm->first_size = group->count;
    if (is_inter || !is_world(in, group)) {
        return add_members(in, group, remote, &comm->index);
    }
    if (!*has_world) {
        *has_world = true;
        comm->index = 0;
        return IW_OK;
    }
    return add_comm(in, in->rank_count, NULL, &comm->index);
}

/* Tracers number those that the program does not name, each in its own way. */
static void name_comm(struct iwi_otf2 *in, const struct iwi_def_comm *comm)
{
    const char *text = name_of(in, comm->name);
    const bool is_named =
        text[0] != '\0' && strncmp(text, "communicator ", 13) != 0 && strncmp(text, "MPI_COMM_", 9) != 0;

    if (comm->index == IWI_NO_COMM || comm->index == 0) {
        return;
    }
    if (is_named) {
        (void)snprintf(in->comms[comm->index].name, IWI_COMM_NAME_SIZE, "%s", text);
    } else {
        (void)snprintf(in->comms[comm->index].name, IWI_COMM_NAME_SIZE, "communicator %" PRIu32, comm->index);
    }
}

static iw_status resolve_comms(struct iwi_otf2 *in)
{
    struct iwi_def_comm *comms = in->comm_defs.items;
    bool has_world = false;
    uint32_t world;

    IW_TRY(add_comm(in, in->rank_count, NULL, &world));
    for (size_t i = 0; i < in->comm_defs.count; i++) {
        IW_TRY(resolve_comm(in, &comms[i], &has_world));
        name_comm(in, &comms[i]);
    }
    in->self_base = in->comm_count;
    return IW_OK;
}

iw_status iwi_otf2_resolve(struct iwi_otf2 *in)
{
    bool is_eztrace = false;

    if (in->rank_count == 0) {
        return iwi_fail(in->log, IW_ERR_FORMAT,
                        "'%s' has no MPI processes: trace the program with its MPI calls", in->path);
    }
    if (in->resolution_hz == 0) {
        return iwi_fail(in->log, IW_ERR_FORMAT, "'%s' does not state the unit of its times", in->path);
    }
    resolve_regions(in, &is_eztrace);
    resolve_origin(in, is_eztrace);
    IW_TRY(resolve_locations(in));
    return resolve_comms(in);
}

/* The place of class "node" above its process. Places above each other may be a circle in a damaged file. */
void iwi_otf2_node(const struct iwi_otf2 *in, uint32_t rank, char node[IWI_TRACE_NODE_SIZE])
{
    const struct iwi_def_location *location = iwi_defs_find(&in->locations, in->rank_locations[rank]);
    const struct iwi_def_place *place =
        location != NULL ? iwi_defs_find(&in->processes, location->group) : NULL;

    node[0] = '\0';
    for (size_t i = 0; place != NULL && i <= in->places.count; i++) {
        place = iwi_defs_find(&in->places, place->parent);
        if (place != NULL && strcmp(name_of(in, place->class_name), "node") == 0) {
            (void)snprintf(node, IWI_TRACE_NODE_SIZE, "%s", name_of(in, place->name));
            return;
        }
    }
}
