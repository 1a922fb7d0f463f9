/* Reads a folder of noise files into a fleet, one file after the other.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "verbs/noise_fleet.h"

#include <stdio.h>

/* Keeps the last error, for the list of files that could not be read; warnings about single files are of no
 * use among a thousand. */
struct keeper {
    char text[1024];
};

static void keep(void *arg, iw_log_level level, const char *text)
{
    struct keeper *keeper = arg;

    if (level == IW_LOG_ERROR) {
        snprintf(keeper->text, sizeof keeper->text, "%s", text);
    }
}

static iw_status add_file(const iw_log *log, iw_fleet *fleet, const char *path)
{
    struct keeper keeper = {.text = ""};
    const iw_log kept = {keep, &keeper};
    iw_recording *recording = NULL;
    iw_status status = iw_recording_load(&kept, path, &recording);

    if (status == IW_ERR_NOMEM) {
        return status;
    }
    if (status != IW_OK) {
        return iw_fleet_add_unreadable(log, fleet, path, keeper.text);
    }
    status = iw_fleet_add(log, fleet, path, recording);
    iw_recording_free(recording);
    return status;
}

static iw_status add_files(const iw_log *log, const iw_folder *folder, struct progress *progress,
                           iw_fleet *fleet)
{
    for (size_t i = 0; i < folder->count; i++) {
        IW_TRY(add_file(log, fleet, folder->paths[i]));
        if (progress != NULL) {
            progress_update(progress, (double)(i + 1) / (double)folder->count);
        }
    }
    return IW_OK;
}

static iw_status check_any(const iw_log *log, const iw_fleet *fleet, const char *path)
{
    char text[1400];

    if (fleet->node_count > 0) {
        return IW_OK;
    }
    snprintf(text, sizeof text, "none of the %zu noise files of '%.200s' can be read; the first: %s",
             fleet->unreadable_count, path, fleet->unreadable[0].reason);
    log->write(log->arg, IW_LOG_ERROR, text);
    return IW_ERR_FORMAT;
}

iw_status noise_fleet_read(const iw_log *log, const char *path, struct progress *progress, iw_fleet **fleet_p)
{
    iw_folder *folder;
    iw_fleet *fleet = NULL;
    iw_status status;

    IW_TRY(iw_folder_list(log, path, &folder));
    status = iw_fleet_new(log, path, &fleet);
    status = status == IW_OK ? add_files(log, folder, progress, fleet) : status;
    status = status == IW_OK ? check_any(log, fleet, path) : status;
    iw_folder_free(folder);
    if (status != IW_OK) {
        iw_fleet_free(fleet);
        return status;
    }
    *fleet_p = fleet;
    return IW_OK;
}
