/* Opens what `idlewave replay` has shared: the page and the plans.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * They are open in the process that became the program, or in the script that starts it, and named by that.
 * What a process has inherited of them it closes, so that it leaves nothing to its children.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "features/replay/inject_plan.h"
#include "mpi/replay/replay.h"

/* A file of the owner; where that cannot be looked into, the one inherited under this number. */
static int open_file(int owner_pid, int number, int flags)
{
    char name[64];
    int file;

    (void)snprintf(name, sizeof name, "/proc/%d/fd/%d", owner_pid, number);
    file = open(name, flags | O_CLOEXEC);
    return file >= 0 ? file : fcntl(number, F_DUPFD_CLOEXEC, 3);
}

static void close_inherited(int file, int number)
{
    struct stat ours, inherited;

    if (file != number && fstat(file, &ours) == 0 && fstat(number, &inherited) == 0 &&
        ours.st_dev == inherited.st_dev && ours.st_ino == inherited.st_ino) {
        (void)close(number);
    }
}

static iw_replay_page *map_page(int owner_pid, int number)
{
    iw_replay_page *page = MAP_FAILED;
    struct stat facts;
    const int file = open_file(owner_pid, number, O_RDWR);

    if (file >= 0 && fstat(file, &facts) == 0 && facts.st_size >= (off_t)sizeof *page) {
        page = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    }
    if (page != MAP_FAILED &&
        (page->magic != IW_REPLAY_MAGIC || page->version != IW_REPLAY_VERSION || page->size != sizeof *page ||
         page->plan_count == 0 || page->plan_count > IW_REPLAY_MOST_PLANS)) {
        (void)munmap(page, sizeof *page);
        page = MAP_FAILED;
    }
    if (file >= 0) {
        if (page != MAP_FAILED) {
            close_inherited(file, number);
        }
        (void)close(file);
    }
    return page != MAP_FAILED ? page : NULL;
}

struct reason {
    char *text;
    size_t size;
};

static void keep_reason(void *arg, iw_log_level level, const char *text)
{
    struct reason *reason = arg;

    if (level == IW_LOG_ERROR) {
        (void)snprintf(reason->text, reason->size, "%s", text);
    }
}

static bool map_plan(const iw_replay_page *page, uint32_t k, iw_inject_plan **plan_p, struct reason *reason)
{
    const iw_log log = {keep_reason, reason};
    const int number = page->plan_fds[k];
    const int file = open_file(page->owner_pid, number, O_RDONLY);
    bool is_mapped;

    if (file < 0) {
        (void)snprintf(reason->text, reason->size, "cannot open the noise plan: %s", strerror(errno));
        return false;
    }
    is_mapped = iwi_plan_map(&log, file, plan_p) == IW_OK;
    close_inherited(file, number);
    (void)close(file);
    return is_mapped;
}

bool iwi_replay_parse(const char *name, int *owner_pid_p, int *number_p)
{
    static const char beginning[] = "/proc/", middle[] = "/fd/";
    char *end;
    long pid, number;

    if (strncmp(name, beginning, strlen(beginning)) != 0) {
        return false;
    }
    pid = strtol(name + strlen(beginning), &end, 10);
    if (pid <= 0 || pid > INT_MAX || strncmp(end, middle, strlen(middle)) != 0) {
        return false;
    }
    number = strtol(end + strlen(middle), &end, 10);
    if (*end != '\0' || number < 0 || number > INT_MAX) {
        return false;
    }
    *owner_pid_p = (int)pid;
    *number_p = (int)number;
    return true;
}

bool iwi_replay_open(const char *name, iw_replay_page **page_p, iw_inject_plan **plans, uint32_t *count_p,
                     char *why, size_t size)
{
    struct reason reason = {why, size};
    int owner_pid, number;
    iw_replay_page *page = NULL;

    if (iwi_replay_parse(name, &owner_pid, &number)) {
        page = map_page(owner_pid, number);
    }
    if (page == NULL) {
        (void)snprintf(why, size, "'%s' is missing, or of another version of idlewave", name);
        return false;
    }
    for (uint32_t k = 0; k < page->plan_count; k++) {
        if (!map_plan(page, k, &plans[k], &reason)) {
            return false;
        }
        *count_p = k + 1;
    }
    *page_p = page;
    return true;
}
