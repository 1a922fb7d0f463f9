/* Finds and loads the parts that are built once for each MPI.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "kit/launch/mpi_plugins.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/base.h"

static const char *const names[] = {
#if IW_HAVE_OPENMPI
    "openmpi",
#endif
#if IW_HAVE_MPICH
    "mpich",
#endif
    NULL,
};

const char *iw_mpi_name(size_t index)
{
    return index < sizeof names / sizeof names[0] ? names[index] : NULL;
}

iw_status iwi_mpi_check_name(const iw_log *log, const char *name, const char **known_p)
{
    for (size_t i = 0; names[i] != NULL; i++) {
        if (strcmp(names[i], name) == 0) {
            *known_p = names[i];
            return IW_OK;
        }
    }
    return iwi_fail(log, IW_ERR_UNSUPPORTED,
                    "idlewave was built without support for %s: build it again where %s is installed", name,
                    name);
}

/* ---- where parts are ---- */

/* The folder of the running command, "" if it cannot be told. */
static void command_folder(char *folder, size_t size)
{
    const ssize_t length = readlink("/proc/self/exe", folder, size - 1);
    char *slash;

    folder[length > 0 ? length : 0] = '\0';
    slash = strrchr(folder, '/');
    if (slash != NULL) {
        *slash = '\0';
    }
}

/* "<base><below>/<name>/<file>" as a full name, which holds wherever a program goes, if it is there and fits.
 */
static bool is_there(const char *base, const char *below, const char *name, const char *file, char *path,
                     size_t size)
{
    char looked_at[2 * PATH_MAX];
    char *real = NULL;
    bool fits = false;
    const int length = snprintf(looked_at, sizeof looked_at, "%s%s/%s/%s", base, below, name, file);

    if (length > 0 && (size_t)length < sizeof looked_at && access(looked_at, R_OK) == 0) {
        real = realpath(looked_at, NULL);
    }
    if (real != NULL && strlen(real) < size) {
        memcpy(path, real, strlen(real) + 1);
        fits = true;
    }
    free(real);
    return fits;
}

iw_status iw_mpi_plugin_path(const iw_log *log, const char *name, const char *file, char *path, size_t size)
{
    /* from the command's folder: as built, and as installed, wherever that has been moved to */
    static const char *const below[] = {"/../lib/idlewave", "/../" IW_LIBDIR "/idlewave"};
    const char *given = getenv("IDLEWAVE_PARTS");
    char folder[PATH_MAX];

    if (strcmp(name, IW_PLUGIN_PLAIN) != 0) {
        IW_TRY(iwi_mpi_check_name(log, name, &name));
    }
    if (given != NULL && given[0] != '\0') {
        return is_there(given, "", name, file, path, size)
                   ? IW_OK
                   : iwi_fail(log, IW_ERR_IO, "cannot read '%s/%s/%s': IDLEWAVE_PARTS names this folder",
                              given, name, file);
    }
    command_folder(folder, sizeof folder);
    for (size_t i = 0; i < sizeof below / sizeof below[0]; i++) {
        if (is_there(folder, below[i], name, file, path, size)) {
            return IW_OK;
        }
    }
    if (is_there(IW_PLUGINS_DIR, "", name, file, path, size)) {
        return IW_OK;
    }
    return iwi_fail(
        log, IW_ERR_IO,
        "the part of idlewave for %s is missing: no '%s' in '%s/../lib/idlewave/%s' or '%s/%s'; install the "
        "package idlewave-openmpi or idlewave-mpich, or name its folder in IDLEWAVE_PARTS",
        name, file, folder, name, IW_PLUGINS_DIR, name);
}

/* ---- loading ---- */

static iw_status check_part(const iw_log *log, const char *path, const char *name, const iw_mpi_plugin *part)
{
    if (part == NULL) {
        return iwi_fail(log, IW_ERR_FORMAT, "'%s' is not a part of idlewave", path);
    }
    if (part->version != IW_MPI_PLUGIN_VERSION || strcmp(part->mpi, name) != 0) {
        return iwi_fail(log, IW_ERR_FORMAT,
                        "'%s' is a part for %s of another version of idlewave (%" PRIu32
                        ", not %d): install them "
                        "together",
                        path, part->mpi, part->version, IW_MPI_PLUGIN_VERSION);
    }
    return IW_OK;
}

iw_status iw_mpi_load(const iw_log *log, const char *name, const iw_mpi_plugin **part_p)
{
    char path[PATH_MAX];
    const iw_mpi_plugin *part;
    iw_status status;
    void *handle;

    IW_TRY(iw_mpi_plugin_path(log, name, "libidlewave-mpi.so", path, sizeof path));
    handle = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    if (handle == NULL) {
        return iwi_fail(log, IW_ERR_IO, "the part for %s cannot be loaded: %s", name, dlerror());
    }
    part = dlsym(handle, "iw_mpi_this_plugin");
    status = check_part(log, path, name, part);
    if (status != IW_OK) {
        (void)dlclose(handle);
        return status;
    }
    *part_p = part; /* never unloaded: an MPI does not survive that */
    return IW_OK;
}
