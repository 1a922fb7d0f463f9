/* Making the folder of a trace.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "mpi/trace/folder.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void iwi_folder_choose(const char *name, char *folder, size_t size)
{
    char here[PATH_MAX];

    if (name[0] == '/' || getcwd(here, sizeof here) == NULL) {
        (void)snprintf(folder, size, "%s", name);
    } else {
        (void)snprintf(folder, size, "%s/%s", here, name);
    }
}

void iwi_spool_path(const char *folder, uint32_t rank, uint32_t thread, char *path, size_t size)
{
    (void)snprintf(path, size, "%s/spool/%u.%u", folder, rank, thread);
}

static bool refuse(char *text, size_t size, const char *path, const char *why)
{
    (void)snprintf(text, size, "'%s': %s", path, why);
    return false;
}

/* mkdir -p */
static bool make_all(const char *folder, char *text, size_t size)
{
    char path[PATH_MAX];
    size_t length = strlen(folder);

    if (length >= sizeof path) {
        return refuse(text, size, folder, "the name is too long");
    }
    memcpy(path, folder, length + 1);
    for (size_t i = 1; i <= length; i++) {
        if (path[i] != '/' && path[i] != '\0') {
            continue;
        }
        path[i] = '\0';
        if (mkdir(path, 0777) != 0 && errno != EEXIST) {
            return refuse(text, size, path, strerror(errno)); // NOLINT(concurrency-mt-unsafe): before threads
        }
        path[i] = i < length ? '/' : '\0';
    }
    return true;
}

bool iwi_trace_folder_join(const char *folder, char *text, size_t size)
{
    char spool[PATH_MAX + 16];

    (void)snprintf(spool, sizeof spool, "%s/spool", folder);
    return make_all(spool, text, size);
}

bool iwi_trace_folder_is_free(const char *folder, char *text, size_t size)
{
    char path[PATH_MAX + 16];

    (void)snprintf(path, sizeof path, "%s/traces.otf2", folder);
    return access(path, F_OK) != 0 ||
           refuse(text, size, folder, "there is a trace in it already; name another with IDLEWAVE_TRACE_DIR");
}

bool iwi_trace_folder_make(const char *folder, char *text, size_t size)
{
    char path[PATH_MAX + 16];

    if (!make_all(folder, text, size) || !iwi_trace_folder_is_free(folder, text, size)) {
        return false;
    }
    (void)snprintf(path, sizeof path, "%s/spool", folder);
    if (mkdir(path, 0777) != 0) {
        return refuse(text, size, path,
                      errno == EEXIST
                          ? "an unfinished trace is in it; 'idlewave-trace-finish' makes an archive of it"
                          : strerror(errno)); // NOLINT(concurrency-mt-unsafe): before threads
    }
    return true;
}

void iwi_folder_leave(const char *folder)
{
    char spool[PATH_MAX + 16];

    (void)snprintf(spool, sizeof spool, "%s/spool", folder);
    (void)rmdir(spool);
}
