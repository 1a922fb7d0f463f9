/* Reads the nodes that a path holds, and judges them.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "verbs/noise_fleet.h"

#include <stdio.h>

#include "verbs/noise_nodes.h"

static iw_status add_unread(const iw_log *log, const struct noise_nodes *nodes, iw_fleet *fleet)
{
    for (size_t i = 0; i < nodes->unread_count; i++) {
        IW_TRY(iw_fleet_add_unreadable(log, fleet, nodes->unread[i].path, nodes->unread[i].reason));
    }
    return IW_OK;
}

static iw_status check_any(const iw_log *log, const iw_fleet *fleet, const char *path)
{
    char text[1400];

    if (fleet->node_count > 0) {
        return IW_OK;
    }
    if (fleet->unreadable_count == 1) {
        snprintf(text, sizeof text, "%s", fleet->unreadable[0].reason);
    } else {
        snprintf(text, sizeof text, "none of the %zu noise files of '%.200s' can be read; the first: %s",
                 fleet->unreadable_count, path, fleet->unreadable[0].reason);
    }
    log->write(log->arg, IW_LOG_ERROR, text);
    return IW_ERR_FORMAT;
}

iw_status noise_fleet_judge(const iw_log *log, const char *path, const iw_fleet_opts *opts,
                            struct progress *progress, iw_fleet **fleet_p)
{
    iw_fleet *fleet = NULL;
    struct noise_nodes nodes;
    iw_digest_stream stream;
    iw_status status;

    IW_TRY(noise_nodes_open(log, path, progress, &nodes));
    stream = noise_nodes_stream(&nodes);
    status = iw_fleet_new(log, path, &fleet);
    status = status == IW_OK ? iw_fleet_read(log, fleet, &stream) : status;
    status = status == IW_OK ? add_unread(log, &nodes, fleet) : status;
    status = status == IW_OK ? check_any(log, fleet, path) : status;
    status = status == IW_OK ? iw_fleet_judge(log, fleet, opts) : status;
    noise_nodes_close(&nodes);
    if (status != IW_OK) {
        iw_fleet_free(fleet);
        return status;
    }
    *fleet_p = fleet;
    return IW_OK;
}
