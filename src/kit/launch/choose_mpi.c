/* Decides with which MPI a program is to be run, and refuses what cannot work.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/internal/mpi.h>

#include <limits.h>
#include <string.h>

#include "core/base/base.h"
#include "kit/launch/launcher.h"
#include "kit/launch/mpi_plugins.h"
#include "kit/launch/target.h"

static iw_status look_at_program(const iw_log *log, const char *program, struct iwi_target_mpi *mpi_p)
{
    char path[PATH_MAX];

    IW_TRY(iwi_target_path(log, program, path, sizeof path));
    IW_TRY(iwi_target_mpi_of(log, path, mpi_p));
    if (mpi_p->is_other) {
        return iwi_fail(log, IW_ERR_UNSUPPORTED,
                        "'%s' needs %s, an unknown MPI: idlewave supports Open MPI and MPICH", program,
                        mpi_p->library);
    }
    return mpi_p->name != NULL ? iwi_mpi_check_name(log, mpi_p->name, &mpi_p->name) : IW_OK;
}

iw_status iw_mpi_of_program(const iw_log *log, const char *path, const char **name_p)
{
    struct iwi_target_mpi mpi;

    IW_TRY(look_at_program(log, path, &mpi));
    *name_p = mpi.name;
    return IW_OK;
}

/* MPIs of one name but another interface (an older one, a vendor's) have libraries of other names. */
static iw_status check_library(const iw_log *log, const char *program, const struct iwi_target_mpi *mpi,
                               const char *part_file)
{
    char path[PATH_MAX];
    struct iwi_target_mpi part;

    IW_TRY(iw_mpi_plugin_path(log, mpi->name, part_file, path, sizeof path));
    IW_TRY(iwi_target_mpi_of(log, path, &part));
    if (mpi->library[0] != '\0' && part.library[0] != '\0' && strcmp(mpi->library, part.library) != 0) {
        return iwi_fail(
            log, IW_ERR_UNSUPPORTED,
            "'%s' needs %s, but idlewave was built for the %s of %s: build idlewave with the MPI of the "
            "program",
            program, mpi->library, mpi->name, part.library);
    }
    return IW_OK;
}

static iw_status check_launcher(const iw_log *log, const char *program, const char *mpi,
                                const iw_launcher *launcher)
{
    if (launcher->name == NULL && launcher->size > 1) {
        iwi_warn(log,
                 "srun started %" PRIu32 " processes without --mpi=pmix or --mpi=pmi2: if each process of "
                 "'%s' sees only itself, use srun --mpi=%s",
                 launcher->size, program, iwi_srun_way(mpi));
    }
    if (launcher->name == NULL || strcmp(launcher->name, mpi) == 0) {
        return IW_OK;
    }
    return iwi_fail(log, IW_ERR_USAGE,
                    "'%s' is a program of %s, but was started by a launcher of %s: each process would be "
                    "alone; use the launcher of %s (on Debian mpirun.%s), or srun --mpi=%s",
                    program, mpi, launcher->name, mpi, mpi, iwi_srun_way(mpi));
}

iw_status iw_mpi_choose(const iw_log *log, const char *program, const char *part_file, const char **name_p)
{
    struct iwi_target_mpi mpi;
    iw_launcher launcher;

    IW_TRY(look_at_program(log, program, &mpi));
    if (mpi.name != NULL) {
        iwi_launcher_read_env(&launcher);
        IW_TRY(check_launcher(log, program, mpi.name, &launcher));
        IW_TRY(check_library(log, program, &mpi, part_file));
        *name_p = mpi.name;
        return IW_OK;
    }
    IW_TRY(iw_launcher_detect(log, &launcher));
    if (launcher.name == NULL) {
        return iwi_fail(log, IW_ERR_UNSUPPORTED,
                        "'%s' does not seem to use MPI, and no MPI launcher started it", program);
    }
    *name_p = launcher.name;
    return IW_OK;
}
