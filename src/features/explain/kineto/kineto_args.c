/* The arguments of collectives, and what a file says of its job: distributedInfo.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "features/explain/kineto/kineto_names.h"
#include "features/explain/kineto/kineto_parts.h"
#include "features/explain/kineto/kineto_ranks.h"

/* ---- distributedInfo ---- */

static iw_status keep_config(struct iwi_kineto *kineto, struct iwi_kineto_file *file,
                             const struct iwi_json_value *group)
{
    const struct iwi_json_tree *tree = &kineto->tree;
    struct iwi_kineto_ranks ranks = {0};
    struct iwi_kineto_config *config;
    uint64_t size = 0;
    bool is_list = false, is_whole = false;
    iw_status status;

    (void)iwi_json_u64(iwi_json_find(tree, group, "pg_size"), &size);
    status = iwi_kineto_ranks_value(kineto->log, tree, iwi_json_find(tree, group, "ranks"), &ranks, &is_list);
    if (status == IW_OK && is_list) {
        status = iwi_kineto_ranks_complete(kineto->log, &ranks, size, &is_whole);
    }
    if (status == IW_OK) {
        status = iwi_grow(kineto->log, (void **)&file->configs, &file->config_capacity,
                          file->config_count + 1, sizeof file->configs[0]);
    }
    if (status != IW_OK || !is_list || !is_whole) {
        free(ranks.of);
        return status;
    }
    config = &file->configs[file->config_count++];
    *config = (struct iwi_kineto_config){.ranks = ranks.of, .count = (uint32_t)ranks.count};
    (void)snprintf(config->name, sizeof config->name, "%s",
                   iwi_json_string(iwi_json_find(tree, group, "pg_name"), ""));
    (void)snprintf(config->about, sizeof config->about, "%s",
                   iwi_json_string(iwi_json_find(tree, group, "pg_desc"), ""));
    return IW_OK;
}

iw_status iwi_kineto_info(struct iwi_kineto *kineto, struct iwi_kineto_file *file,
                          const struct iwi_json_item *item)
{
    const struct iwi_json_tree *tree = &kineto->tree;
    const struct iwi_json_value *configs;
    uint64_t number;

    IW_TRY(iwi_json_parse(&kineto->tree, &file->items, item));
    if (iwi_json_u64(iwi_json_find(tree, tree->values, "rank"), &number) && number < IWI_KINETO_NO_RANK) {
        file->rank = (uint32_t)number;
    }
    if (iwi_json_u64(iwi_json_find(tree, tree->values, "world_size"), &number) && number < UINT32_MAX) {
        file->world = (uint32_t)number;
    }
    configs = iwi_json_find(tree, tree->values, "pg_config");
    for (const struct iwi_json_value *group = iwi_json_first(tree, configs); group != NULL;
         group = iwi_json_after(tree, configs, group)) {
        IW_TRY(keep_config(kineto, file, group));
    }
    return IW_OK;
}

/* ---- arguments ---- */

/* "[0, 1, ..., 63]" whole: by the file's list of groups, or by its stride. */
static iw_status whole_ranks(struct iwi_kineto *kineto, const struct iwi_kineto_file *file,
                             const struct iwi_json_item *item, const char *name, uint64_t size,
                             struct iwi_kineto_ranks *ranks)
{
    bool is_whole;

    IW_TRY(iwi_kineto_ranks_complete(kineto->log, ranks, size, &is_whole));
    for (size_t i = 0; i < file->config_count && !is_whole; i++) {
        const struct iwi_kineto_config *config = &file->configs[i];

        if (strncmp(config->name, name, sizeof config->name - 1) == 0 && config->count == size) {
            IW_TRY(iwi_grow(kineto->log, (void **)&ranks->of, &ranks->capacity, config->count,
                            sizeof ranks->of[0]));
            memcpy(ranks->of, config->ranks, config->count * sizeof ranks->of[0]);
            ranks->count = config->count;
            is_whole = true;
        }
    }
    return is_whole
               ? IW_OK
               : iwi_json_fail(&file->items, item->byte, IW_ERR_FORMAT,
                               "the ranks of group '%s' are not all there, and 'distributedInfo' does not "
                               "list them",
                               name);
}

static iw_status find_group(struct iwi_kineto *kineto, struct iwi_kineto_file *file,
                            const struct iwi_json_item *item, const struct iwi_json_value *args,
                            struct iwi_kineto_comm *comm)
{
    const struct iwi_json_tree *tree = &kineto->tree;
    const char *name = iwi_json_string(iwi_json_find(tree, args, "Process Group Name"), "");
    const char *about = iwi_json_string(iwi_json_find(tree, args, "Process Group Description"), "");
    struct iwi_kineto_ranks ranks = {0};
    uint64_t size = 0;
    bool is_list;
    iw_status status = iwi_kineto_ranks_value(
        kineto->log, tree, iwi_json_find(tree, args, "Process Group Ranks"), &ranks, &is_list);

    if (status == IW_OK) {
        size = ranks.count;
        (void)iwi_json_u64(iwi_json_find(tree, args, "Group size"), &size);
        is_list = is_list && ranks.count > 0;
        if (is_list && ranks.is_cut) {
            status = whole_ranks(kineto, file, item, name, size, &ranks);
        }
    }
    if (status == IW_OK) {
        size = size > 0 && size < UINT32_MAX ? size : ranks.count;
        status = iwi_kineto_group(kineto, name, about, is_list ? ranks.of : NULL, (uint32_t)ranks.count,
                                  (uint32_t)size, &comm->group);
    }
    free(ranks.of);
    return status;
}

/* Of the whole buffer: of what is gathered, all parts. */
static uint64_t bytes_of(struct iwi_kineto *kineto, const struct iwi_json_value *args, uint8_t op)
{
    const struct iwi_json_tree *tree = &kineto->tree;
    const bool is_out = op == IWI_VISIT_SCATTER;
    const bool is_part = op == IWI_VISIT_ALLGATHER || op == IWI_VISIT_GATHER || op == IWI_VISIT_SCATTER;
    const unsigned type_bytes =
        iwi_kineto_type_bytes(iwi_json_string(iwi_json_find(tree, args, "dtype"), ""));
    uint64_t elements = 0, size = 1;

    (void)iwi_json_u64(iwi_json_find(tree, args, is_out ? "Out msg nelems" : "In msg nelems"), &elements);
    if (is_part) {
        (void)iwi_json_u64(iwi_json_find(tree, args, "Group size"), &size);
    }
    if (type_bytes == 0 && elements > 0) {
        iwi_visits_note(kineto->visits,
                        "Some collectives have a type of elements whose size is not known: their "
                        "bytes count as 0.");
    }
    return elements < UINT64_C(1) << 39 && size < UINT64_C(1) << 20 ? elements * size * type_bytes : 0;
}

static void find_peer(const struct iwi_json_tree *tree, const struct iwi_json_value *args,
                      struct iwi_kineto_comm *comm)
{
    const char *name = iwi_json_string(iwi_json_find(tree, args, "Collective name"), "");
    uint64_t peer;

    comm->is_send = strstr(name, "send") != NULL;
    if (iwi_json_u64(iwi_json_find(tree, args, comm->is_send ? "Dst Rank" : "Src Rank"), &peer) &&
        peer < UINT32_MAX) {
        comm->has_peer = true;
        comm->peer = (uint32_t)peer;
    }
}

iw_status iwi_kineto_args(struct iwi_kineto *kineto, struct iwi_kineto_file *file,
                          const struct iwi_json_item *item, struct iwi_kineto_comm *comm, bool *has_p)
{
    const struct iwi_json_tree *tree = &kineto->tree;
    const struct iwi_json_value *args;
    const char *name;

    IW_TRY(iwi_json_parse(&kineto->tree, &file->items, item));
    args = iwi_json_find(tree, tree->values, "args");
    name = iwi_json_string(iwi_json_find(tree, args, "Collective name"), NULL);
    *has_p = name != NULL;
    if (name == NULL) {
        return IW_OK;
    }
    *comm = (struct iwi_kineto_comm){.sequence = IWI_VISIT_NO_SEQUENCE};
    comm->op = (uint8_t)iwi_kineto_op(name, strlen(name));
    if (!iwi_json_u64(iwi_json_find(tree, args, "External id"), &comm->external)) {
        (void)iwi_json_u64(iwi_json_find(tree, args, "external id"), &comm->external);
    }
    if (comm->op == IWI_VISIT_MESSAGE) {
        find_peer(tree, args, comm);
    }
    if (!iwi_json_u64(iwi_json_find(tree, args, "Seq"), &comm->sequence)) {
        (void)iwi_json_u64(iwi_json_find(tree, args, "Comms Id"), &comm->sequence);
    }
    comm->bytes = bytes_of(kineto, args, comm->op);
    return find_group(kineto, file, item, args, comm);
}
