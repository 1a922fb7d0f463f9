/* The MPI of the launcher, if idlewave has a part for it.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "kit/launch/launcher.h"

#include "core/base/base.h"
#include "kit/launch/mpi_plugins.h"

void iw_launcher_read(iw_launcher *launcher_p)
{
    iwi_launcher_read_env(launcher_p);
}

iw_status iw_launcher_detect(const iw_log *log, iw_launcher *launcher_p)
{
    iw_launcher launcher;

    iwi_launcher_read_env(&launcher);
    if (launcher.name != NULL) {
        IW_TRY(iwi_mpi_check_name(log, launcher.name, &launcher.name));
    }
    *launcher_p = launcher;
    return IW_OK;
}
