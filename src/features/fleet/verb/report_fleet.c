/* A folder of noise files as input of `idlewave report`.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/idlewave.h>

#include "features/fleet/verb/noise_fleet.h"
#include "options/report_kinds.h"

/* Other folders are studies and traces. */
static bool is_fleet(const char *path)
{
    iw_folder *folder;

    if (!iw_is_folder(path)) {
        return iw_is_digest_file(path);
    }
    if (iw_folder_list_nodes(NULL, path, &folder) != IW_OK) {
        return false;
    }
    iw_folder_free(folder);
    return true;
}

static iw_status load(const iw_log *log, const char *path, void **input_p)
{
    const iw_fleet_opts opts = IW_FLEET_OPTS_INIT;
    iw_fleet *fleet = NULL;

    IW_TRY(noise_fleet_judge(log, path, &opts, NULL, NULL, &fleet));
    *input_p = fleet;
    return IW_OK;
}

static iw_status write(const iw_log *log, const void *input, const struct report_target *target)
{
    return report_write_doc(log, iw_fleet_doc(input), target);
}

static void release(void *input)
{
    iw_fleet_free(input);
}

const struct report_kind report_fleet = {
    .what = "a folder of noise files, one per node, or digests of nodes",
    .has_format = REPORT_DOC_FORMATS,
    .is_it = is_fleet,
    .load = load,
    .write = write,
    .free = release,
};
