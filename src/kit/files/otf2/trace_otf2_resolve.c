/* What the definitions of an OTF2 archive mean: who wrote it, which locations are which rank, who is in which
 * communicator.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/order.h"
#include "kit/files/otf2/trace_otf2_read.h"

static const char *text_of(const struct iwi_otf2 *in, uint64_t id)
{
    const struct iwi_def_string *string = iwi_defs_find(&in->strings, id);

    return string != NULL ? string->text : "";
}

static void resolve_regions(struct iwi_otf2 *in, bool *is_eztrace_p)
{
    struct iwi_def_region *regions = in->regions.items;

    for (size_t i = 0; i < in->regions.count; i++) {
        regions[i].text = text_of(in, regions[i].name);
        regions[i].function = iwi_function_of(regions[i].text, strlen(regions[i].text));
        if (strncmp(text_of(in, regions[i].description), "opaque", 6) == 0) {
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
    const char *text = text_of(in, comm->name);
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
                        "'%s' has no MPI processes: was the program traced with its MPI calls?", in->path);
    }
    if (in->resolution_hz == 0) {
        return iwi_fail(in->log, IW_ERR_FORMAT, "'%s' does not tell the unit of its times", in->path);
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
        if (place != NULL && strcmp(text_of(in, place->class_name), "node") == 0) {
            (void)snprintf(node, IWI_TRACE_NODE_SIZE, "%s", text_of(in, place->name));
            return;
        }
    }
}
