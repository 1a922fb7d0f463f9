/* What a traced run has left that did not end: no trace yet, but a command makes one of it.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include <idlewave/internal/mpi.h>

#include "core/base/spool_head.h"
#include "kit/files/trace/trace_foreign.h"

static const char finisher[] = "idlewave-trace-finish";

/* The MPI whose tracer wrote the file; "" if it does not tell. */
static void read_mpi(const char *path, char mpi[16])
{
    struct iwi_spool_head head;
    FILE *file = fopen(path, "rbe");

    mpi[0] = '\0';
    if (file == NULL) {
        return;
    }
    if (fread(&head, sizeof head, 1, file) == 1 && head.magic == IWI_SPOOL_MAGIC) {
        (void)snprintf(mpi, sizeof head.mpi, "%.*s", (int)sizeof head.mpi - 1, head.mpi);
    }
    (void)fclose(file);
}

/* "RANK.THREAD", as the tracer names them. */
static bool is_spool_name(const char *name)
{
    const size_t rank = strspn(name, "0123456789");
    const size_t thread = name[rank] == '.' ? strspn(name + rank + 1, "0123456789") : 0;

    return rank > 0 && thread > 0 && name[rank + 1 + thread] == '\0';
}

/* True if there are files of the tracer in the run's folder; with their MPI. */
static bool look_into(const char *run, char mpi[16])
{
    char path[PATH_MAX];
    struct dirent *entry;
    bool has_files = false;
    DIR *dir;

    mpi[0] = '\0';
    if ((size_t)snprintf(path, sizeof path, "%s/" IWI_SPOOL_FOLDER, run) >= sizeof path) {
        return false;
    }
    dir = opendir(path);
    while (dir != NULL && mpi[0] == '\0' && (entry = readdir(dir)) != NULL) {
        if (is_spool_name(entry->d_name) && (size_t)snprintf(path, sizeof path, "%s/" IWI_SPOOL_FOLDER "/%s",
                                                             run, entry->d_name) < sizeof path) {
            has_files = true;
            read_mpi(path, mpi);
        }
    }
    if (dir != NULL) {
        (void)closedir(dir);
    }
    return has_files;
}

/* The folder of the run: `path`, or the one above it. */
static bool find_run(const char *path, char run[PATH_MAX], char mpi[16])
{
    static const char below[] = "/" IWI_SPOOL_FOLDER;
    size_t length = strlen(path);

    while (length > 1 && path[length - 1] == '/') {
        length--;
    }
    if (length >= PATH_MAX) {
        return false;
    }
    memcpy(run, path, length);
    run[length] = '\0';
    if (length > strlen(below) && strcmp(run + length - strlen(below), below) == 0) {
        run[length - strlen(below)] = '\0';
    }
    return look_into(run, mpi);
}

bool iwi_trace_is_unfinished(const char *path)
{
    char run[PATH_MAX], mpi[16];

    return find_run(path, run, mpi);
}

iw_status iwi_trace_refuse_unfinished(const iw_log *log, const char *path)
{
    char run[PATH_MAX], command[PATH_MAX], mpi[16];

    if (!find_run(path, run, mpi)) {
        return iwi_fail(log, IW_ERR_IO, "cannot read '%s'", path);
    }
    if (mpi[0] == '\0' || iw_mpi_plugin_path(NULL, mpi, finisher, command, sizeof command) != IW_OK) {
        return iwi_fail(
            log, IW_ERR_TRUNCATED,
            "'%s' holds what a traced run left that did not end: '%s %s' makes a trace of it (the "
            "command is beside the tracer, in lib/idlewave/%s)",
            path, finisher, run, mpi[0] != '\0' ? mpi : "<MPI>");
    }
    return iwi_fail(log, IW_ERR_TRUNCATED,
                    "'%s' holds what a traced run left that did not end: '%s %s' makes a trace of it", path,
                    command, run);
}
