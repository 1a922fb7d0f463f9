/* A fleet: nodes added one by one, of each only sums are kept.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/fleet.h>

#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "features/fleet/fleet_cells.h"
#include "features/fleet/node_digest.h"

iw_status iw_fleet_new(const iw_log *log, const char *name, iw_fleet **fleet_p)
{
    iw_fleet *fleet = iwi_new_array(log, 1, sizeof *fleet);
    iw_status status;

    if (fleet == NULL) {
        return IW_ERR_NOMEM;
    }
    fleet->name = strdup(name);
    status = fleet->name != NULL ? iwi_fleet_cells_new(log, &fleet->cells)
                                 : iwi_fail(log, IW_ERR_NOMEM, "out of memory for the name of a folder");
    if (status != IW_OK) {
        iw_fleet_free(fleet);
        return status;
    }
    *fleet_p = fleet;
    return IW_OK;
}

void iw_fleet_free(iw_fleet *fleet)
{
    if (fleet == NULL) {
        return;
    }
    for (size_t i = 0; i < fleet->node_count; i++) {
        free(fleet->nodes[i].name);
    }
    for (size_t i = 0; i < fleet->unreadable_count; i++) {
        free(fleet->unreadable[i].name);
        free(fleet->unreadable[i].reason);
    }
    for (size_t i = 0; i < fleet->group_count; i++) {
        free(fleet->groups[i].value);
    }
    free(fleet->name);
    free(fleet->nodes);
    free(fleet->unreadable);
    free(fleet->sources);
    free(fleet->findings);
    free(fleet->differences);
    free(fleet->groups);
    iwi_fleet_cells_free(fleet->cells);
    free(fleet);
}

char *iw_node_name(const iw_log *log, const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    const size_t length = strlen(name);
    const bool has_ending = length > 3 && strcmp(name + length - 3, ".h5") == 0;
    char *copy = strndup(name, has_ending ? length - 3 : length);

    if (copy == NULL) {
        iwi_error(log, "out of memory for the name of a node");
    }
    return copy;
}

/* ---- a node ---- */

static iw_status add_node(const iw_log *log, iw_fleet *fleet, const iw_digest *digest)
{
    iw_fleet_node node = {.cpu_count = digest->cpu_count,
                          .start_ns = digest->start_ns,
                          .is_busy = iw_digest_get(digest, IWI_DIGEST_BUSY_KEY) != NULL};

    for (size_t i = 0; i < digest->cpu_count; i++) {
        node.watched_ns += (double)digest->cpus[i].length_ns;
    }
    IW_TRY(iwi_grow(log, (void **)&fleet->nodes, &fleet->cells->node_capacity, fleet->node_count + 1,
                    sizeof *fleet->nodes));
    node.name = strdup(digest->node);
    if (node.name == NULL) {
        return iwi_fail(log, IW_ERR_NOMEM, "out of memory for the name of a node");
    }
    fleet->nodes[fleet->node_count++] = node;
    return IW_OK;
}

iw_status iw_fleet_add_digest(const iw_log *log, iw_fleet *fleet, const iw_digest *digest)
{
    IW_TRY(add_node(log, fleet, digest));
    IW_TRY(iwi_fleet_add_cells(log, fleet->cells, (uint32_t)(fleet->node_count - 1), digest, true));
    return iwi_fleet_add_facts(log, fleet, digest);
}

iw_status iw_fleet_add(const iw_log *log, iw_fleet *fleet, const char *path, const iw_recording *recording)
{
    char *name = iw_node_name(log, path);
    iw_digest *digest = NULL;
    iw_status status;

    if (name == NULL) {
        return IW_ERR_NOMEM;
    }
    status = iw_digest_make(log, name, recording, &digest);
    status = status == IW_OK ? iw_fleet_add_digest(log, fleet, digest) : status;
    iw_digest_free(digest);
    free(name);
    return status;
}

iw_status iwi_fleet_note_unreadable(const iw_log *log, iw_fleet *fleet, char *name, const char *reason)
{
    const iw_fleet_unreadable file = {name, strdup(reason)};

    if (file.name == NULL || file.reason == NULL ||
        iwi_grow(log, (void **)&fleet->unreadable, &fleet->cells->unreadable_capacity,
                 fleet->unreadable_count + 1, sizeof *fleet->unreadable) != IW_OK) {
        free(file.name);
        free(file.reason);
        return iwi_fail(log, IW_ERR_NOMEM, "out of memory for the name of a file");
    }
    fleet->unreadable[fleet->unreadable_count++] = file;
    return IW_OK;
}

iw_status iw_fleet_add_unreadable(const iw_log *log, iw_fleet *fleet, const char *path, const char *reason)
{
    return iwi_fleet_note_unreadable(log, fleet, iw_node_name(log, path), reason);
}

const char *iw_fleet_metric_name(iw_fleet_metric metric)
{
    static const char *const names[IW_FLEET_METRICS] = {"share", "rate", "longest"};

    return metric < IW_FLEET_METRICS ? names[metric] : "?";
}
