/* Definitions of an OTF2 archive, collected in whatever order they come.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>
#include <string.h>

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

        in->parts[in->part_count++] = (struct iwi_trace_part){.peer = peer, .bytes = members[i + 1]};
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
