/* Which program would run, and which MPI its libraries are of.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "kit/launch/target.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kit/launch/libraries.h"
#include "kit/launch/needed.h"

/* ---- where it is ---- */

/* What execvp() would run. errno tells why not. */
static bool is_runnable(const char *path)
{
    struct stat facts;

    if (stat(path, &facts) != 0) {
        return false;
    }
    if (!S_ISREG(facts.st_mode)) {
        errno = EACCES;
        return false;
    }
    return access(path, X_OK) == 0;
}

static iw_status check_path(const iw_log *log, const char *program, char *path, size_t size)
{
    const int length = snprintf(path, size, "%s", program);

    if (length <= 0 || (size_t)length >= size) {
        return iwi_fail(log, IW_ERR_IO, "'%s' is not the name of a program", program);
    }
    return is_runnable(path) ? IW_OK
                             : iwi_fail(log, IW_ERR_IO, "'%s' cannot be run: %s", program, strerror(errno));
}

iw_status iwi_target_path(const iw_log *log, const char *program, char *path, size_t size)
{
    const char *places = getenv("PATH");

    if (program[0] == '\0' || strchr(program, '/') != NULL) {
        return check_path(log, program, path, size);
    }
    for (places = places != NULL ? places : "/bin:/usr/bin"; places != NULL;) {
        const int length = (int)strcspn(places, ":");
        const int written = snprintf(path, size, "%.*s%s%s", length, places, length > 0 ? "/" : "", program);

        if (written > 0 && (size_t)written < size && is_runnable(path)) {
            return IW_OK;
        }
        places = places[length] != '\0' ? places + length + 1 : NULL;
    }
    if (is_runnable(program)) {
        return iwi_fail(log, IW_ERR_IO, "'%s' is not in PATH: write './%s' for the one in this folder",
                        program, program);
    }
    return iwi_fail(log, IW_ERR_IO, "there is no program '%s' in PATH", program);
}

/* ---- what it needs ---- */

static bool look_at_library(void *arg, const char *name)
{
    struct iwi_target_mpi *mpi = arg;
    const char *found;
    const enum iwi_library_role role = iwi_library_role_of(name, &found);
    const char *slash = strrchr(name, '/');

    if (role != IWI_LIBRARY_NONE) {
        mpi->name = found;
    }
    if (role == IWI_LIBRARY_MPI) {
        snprintf(mpi->library, sizeof mpi->library, "%s", slash != NULL ? slash + 1 : name);
        mpi->is_other = found == NULL;
    }
    return role != IWI_LIBRARY_MPI;
}

iw_status iwi_target_mpi_of(const iw_log *log, const char *path, struct iwi_target_mpi *mpi_p)
{
    struct iwi_target_mpi mpi = {.name = NULL};

    IW_TRY(iwi_needed_walk(log, path, IWI_LIBRARY_CACHE, look_at_library, &mpi));
    *mpi_p = mpi;
    return IW_OK;
}
