/* Making the folder of a trace.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "mpi/trace/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/output.h"

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

/* Where a message goes. */
struct told {
    char *text;
    size_t size;
};

static bool refuse(char *text, size_t size, const char *path, const char *why)
{
    (void)snprintf(text, size, "'%s': %s", path, why);
    return false;
}

static void keep_text(void *arg, iw_log_level level, const char *line)
{
    const struct told *told = arg;

    (void)level;
    (void)snprintf(told->text, told->size, "%s", line);
}

/* By the rules for everything that idlewave writes: no links of others on the way. */
static bool open_folder(const char *path, enum iwi_folder_use use, char *text, size_t size, int *folder_p)
{
    struct told told = {text, size};
    const iw_log log = {keep_text, &told};

    return iwi_folder_open(&log, path, use, folder_p) == IW_OK;
}

bool iwi_trace_folder_join(const char *folder, char *text, size_t size)
{
    char spool[PATH_MAX + 16];
    int fd = -1;

    (void)snprintf(spool, sizeof spool, "%s/spool", folder);
    if (!open_folder(spool, IWI_FOLDER_MADE_WITH_PARENTS, text, size, &fd)) {
        return false;
    }
    (void)close(fd);
    return true;
}

/* OTF2 opens by name: where a link or a file of another user stands, it would write what is theirs. Ours may
 * be what a killed run left. */
static bool is_free(const char *folder, int fd, char *text, size_t size)
{
    struct stat facts;

    if (fstatat(fd, "traces.otf2", &facts, AT_SYMLINK_NOFOLLOW) == 0) {
        return refuse(text, size, folder,
                      "it already holds a trace; set IDLEWAVE_TRACE_DIR to another folder");
    }
    if ((fstatat(fd, "traces.def", &facts, AT_SYMLINK_NOFOLLOW) == 0 &&
         (!S_ISREG(facts.st_mode) || facts.st_uid != geteuid())) ||
        (fstatat(fd, "traces", &facts, AT_SYMLINK_NOFOLLOW) == 0 &&
         (!S_ISDIR(facts.st_mode) || facts.st_uid != geteuid()))) {
        return refuse(text, size, folder,
                      "its 'traces' or 'traces.def' is a link or belongs to another user; set "
                      "IDLEWAVE_TRACE_DIR to another folder");
    }
    return true;
}

bool iwi_trace_folder_is_free(const char *folder, char *text, size_t size)
{
    struct stat facts;
    int fd = -1;

    if (stat(folder, &facts) != 0 && errno == ENOENT) {
        return true;
    }
    if (!open_folder(folder, IWI_FOLDER_THERE, text, size, &fd)) {
        return false;
    }
    const bool is_fine = is_free(folder, fd, text, size);
    (void)close(fd);
    return is_fine;
}

bool iwi_trace_folder_make(const char *folder, char *text, size_t size)
{
    bool is_fine;
    int fd = -1;

    if (!open_folder(folder, IWI_FOLDER_MADE_WITH_PARENTS, text, size, &fd)) {
        return false;
    }
    is_fine = is_free(folder, fd, text, size);
    if (is_fine && mkdirat(fd, "spool", 0777) != 0) {
        is_fine =
            refuse(text, size, folder,
                   errno == EEXIST ? "it holds an unfinished trace; to finish it, run 'idlewave-trace-finish'"
                                   : strerror(errno)); // NOLINT(concurrency-mt-unsafe): before threads
    }
    (void)close(fd);
    return is_fine;
}

void iwi_folder_leave(const char *folder)
{
    char spool[PATH_MAX + 16];

    (void)snprintf(spool, sizeof spool, "%s/spool", folder);
    (void)rmdir(spool);
}
