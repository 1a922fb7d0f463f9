/* Reads the nodes that a path holds, and judges them.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/fleet/verb/noise_fleet.h"

#include <stdio.h>

#include "features/fleet/verb/noise_nodes.h"

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

/* One process alone may fail here: it ends the others. */
static iw_status read_nodes(const iw_log *log, const iw_digest_stream *stream,
                            const struct noise_nodes *nodes, iw_fleet *fleet)
{
    IW_TRY(iw_fleet_read(log, fleet, stream));
    IW_TRY(add_unread(log, nodes, fleet));
    return iw_fleet_merge(log, fleet);
}

static iw_status end_others(struct mpi_run *mpi_run, iw_status status)
{
    if (status != IW_OK && mpi_run != NULL) {
        mpi_run_abort(mpi_run, ui_exit_of(status));
    }
    return status;
}

/* The first process knows. */
static iw_status check_nodes(const iw_log *log, const iw_fleet *fleet, const char *path,
                             struct mpi_run *mpi_run)
{
    iw_status status = IW_OK;

    if (mpi_run == NULL || mpi_run_is_first(mpi_run)) {
        status = check_any(log, fleet, path);
    }
    return mpi_run == NULL || mpi_run_agree(mpi_run, ui_exit_of(status)) == UI_DONE ? status : IW_ERR_FORMAT;
}

iw_status noise_fleet_judge(const iw_log *log, const char *path, const iw_fleet_opts *opts,
                            struct progress *progress, struct mpi_run *mpi_run, iw_fleet **fleet_p)
{
    iw_fleet *fleet = NULL;
    struct noise_nodes nodes;
    iw_digest_stream stream;
    iw_status status;

    IW_TRY(noise_nodes_open_share(log, path, progress, mpi_run, &nodes));
    stream = noise_nodes_stream(&nodes);
    status = iw_fleet_new(log, path, &fleet);
    status = end_others(mpi_run, status == IW_OK ? read_nodes(log, &stream, &nodes, fleet) : status);
    status = status == IW_OK ? check_nodes(log, fleet, path, mpi_run) : status;
    if (status == IW_OK) {
        status = end_others(mpi_run, iw_fleet_judge(log, fleet, opts));
    }
    noise_nodes_close(&nodes);
    if (status != IW_OK) {
        iw_fleet_free(fleet);
        return status;
    }
    *fleet_p = fleet;
    return IW_OK;
}
