/* The shared page and the environment of a program that meets noise.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/replay/verb/replay_start.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "process/exec_program.h"

/* ---- CPUs ---- */

static size_t first_cpu(const cpu_set_t *allowed)
{
    size_t cpu = 0;

    while (cpu < CPU_SETSIZE - 1 && !CPU_ISSET(cpu, allowed)) {
        cpu++;
    }
    return cpu;
}

/* The threads of the core that the CPU is of, as the kernel writes them: "0,4". */
static bool read_siblings(size_t cpu, char *text, size_t size)
{
    char path[96];
    FILE *file;
    bool is_read;

    (void)snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%zu/topology/thread_siblings_list", cpu);
    file = fopen(path, "re");
    is_read = file != NULL && fgets(text, (int)size, file) != NULL;
    if (file != NULL) {
        (void)fclose(file);
    }
    return is_read;
}

static bool is_one_core(const cpu_set_t *allowed)
{
    char first[128], other[128];

    if (!read_siblings(first_cpu(allowed), first, sizeof first)) {
        return false;
    }
    for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (CPU_ISSET(cpu, allowed) &&
            (!read_siblings(cpu, other, sizeof other) || strcmp(first, other) != 0)) {
            return false;
        }
    }
    return true;
}

/* Ranks that may run on several CPUs each could be given the same one: only a rank alone chooses. */
static int check_alone(struct node_log *node_log, const cpu_set_t *allowed)
{
    iw_launcher launcher = {.name = NULL};

    if (iw_launcher_detect(NULL, &launcher) != IW_OK || launcher.size == 1 || launcher.local_size == 1 ||
        (launcher.name == NULL && launcher.size == 0) || is_one_core(allowed)) {
        return UI_DONE;
    }
    return node_log_fail(
        node_log,
        "fifo takes CPUs away, and ranks that may run on %d%s could come to share one: bind "
        "each rank to a CPU: mpirun --bind-to core",
        CPU_COUNT(allowed),
        launcher.local_size == 0 ? ", if the launcher does not say how many ranks a node has," : "");
}

int replay_pin(struct node_log *node_log, bool *was_free_p)
{
    cpu_set_t allowed, one;
    int code;

    *was_free_p = false;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) {
        return node_log_fail(node_log, "cannot read the CPUs of this process: %s", strerror(errno));
    }
    if (CPU_COUNT(&allowed) == 1) {
        return UI_DONE;
    }
    code = check_alone(node_log, &allowed);
    if (code != UI_DONE) {
        return code;
    }
    *was_free_p = true;
    CPU_ZERO(&one);
    CPU_SET(first_cpu(&allowed), &one);
    return sched_setaffinity(0, sizeof one, &one) == 0
               ? UI_DONE
               : node_log_fail(node_log, "this process cannot be pinned: %s", strerror(errno));
}

/* ---- the page ---- */

/* Far from the numbers that the program's own files get, where the limit allows. Stays open across exec. */
static int move_up(int fd)
{
    const int high = fd >= 0 ? fcntl(fd, F_DUPFD, IW_REPLAY_HIGH_FILE) : -1;

    if (high < 0) {
        return fd;
    }
    (void)close(fd);
    return high;
}

static iw_replay_page *new_page(int *fd_p)
{
    const int fd = move_up(memfd_create("idlewave-replay", 0));
    void *page = MAP_FAILED;

    if (fd >= 0 && ftruncate(fd, (off_t)sizeof(iw_replay_page)) == 0) {
        page = mmap(NULL, sizeof(iw_replay_page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    }
    if (page == MAP_FAILED) {
        return NULL;
    }
    *fd_p = fd;
    return page;
}

static iw_status share_plans(const iw_log *log, const struct replay *replay, iw_replay_page *page)
{
    for (size_t k = 0; k < replay->plan_count; k++) {
        int fd = -1;
        const iw_status status = iw_inject_plan_share(log, replay->plans[k], &fd);

        if (status != IW_OK) {
            return status;
        }
        page->plan_fds[k] = move_up(fd);
    }
    page->plan_count = (uint32_t)replay->plan_count;
    return IW_OK;
}

static int set_environment(struct node_log *node_log, const char *library, int page_fd)
{
    char name[64];

    (void)snprintf(name, sizeof name, "/proc/%ld/fd/%d", (long)getpid(), page_fd);
    return exec_program_preload(library) && setenv(IW_REPLAY_VARIABLE, name, 1) == 0
               ? UI_DONE
               : node_log_fail(node_log, "the environment cannot be set: %s", strerror(errno));
}

int replay_hand_over(struct node_log *node_log, const struct replay *replay, const char *library)
{
    int page_fd = -1;
    iw_replay_page *page = new_page(&page_fd);
    int code;

    if (page == NULL) {
        return node_log_fail(node_log, "there is no shared memory for the program: %s", strerror(errno));
    }
    page->magic = IW_REPLAY_MAGIC;
    page->version = IW_REPLAY_VERSION;
    page->size = sizeof *page;
    page->owner_pid = (int32_t)getpid();
    page->back_end = (uint32_t)replay->opts->injection.back_end;
    page->sync = (uint32_t)replay->opts->injection.sync;
    page->is_quiet = replay->opts->is_quiet;
    page->has_all_threads = replay->opts->threads == REPLAY_THREADS_ALL;
    code = ui_exit_of(share_plans(&node_log->log, replay, page));
    if (code == UI_DONE && page->back_end == IW_BACK_END_FIFO) {
        code = replay_start_injector(node_log, replay, page);
    }
    return code == UI_DONE ? set_environment(node_log, library, page_fd) : code;
}
