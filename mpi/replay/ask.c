/* Talks with the injector process of the fifo back end, through the shared page.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "mpi/replay/replay.h"

enum { MOST_WAIT_MS = 2000 };

static int injector = -1; /* pidfd: the process it was opened for and no other */

/* Its number may be another's by now. */
static bool is_injector(int pid)
{
    char path[64], name[16] = "";
    int file;
    ssize_t size = 0;

    (void)snprintf(path, sizeof path, "/proc/%d/comm", pid);
    file = open(path, O_RDONLY | O_CLOEXEC);
    if (file >= 0) {
        size = read(file, name, sizeof name - 1);
        (void)close(file);
    }
    return size > 0 && strncmp(name, IW_REPLAY_INJECTOR "\n", (size_t)size) == 0;
}

static int open_injector(int pid)
{
    const int low = (int)syscall(SYS_pidfd_open, pid, 0);
    int high;

    if (low >= 0 && !is_injector(pid)) {
        (void)close(low);
        errno = ESRCH;
        return -1;
    }
    high = low >= 0 ? fcntl(low, F_DUPFD_CLOEXEC, IW_REPLAY_HIGH_FILE) : -1;
    if (high >= 0) {
        (void)close(low);
    }
    return high >= 0 ? high : low;
}

static bool wake(const iw_replay_page *page)
{
    if (injector < 0) {
        injector = open_injector(page->injector_pid);
    }
    return injector >= 0 && syscall(SYS_pidfd_send_signal, injector, SIGUSR1, NULL, 0) == 0;
}

static bool is_gone(void)
{
    struct pollfd file = {injector, POLLIN, 0};

    return poll(&file, 1, 0) == 1;
}

static bool is_answered(const iw_replay_page *page)
{
    return __atomic_load_n(&page->answered, __ATOMIC_ACQUIRE) == page->asked;
}

static bool give(iw_replay_page *page, iw_replay_command command)
{
    __atomic_store_n(&page->command, (uint32_t)command, __ATOMIC_RELEASE);
    (void)__atomic_add_fetch(&page->asked, 1, __ATOMIC_ACQ_REL);
    return wake(page);
}

bool iwi_replay_ask(iw_replay_page *page, iw_replay_command command)
{
    static const struct timespec a_while = {.tv_nsec = 100000};

    if (!give(page, command)) {
        (void)snprintf(page->failure, sizeof page->failure, "the injector process has ended: %s",
                       strerror(errno));
        return false;
    }
    for (int tenths = 0; tenths < 10 * MOST_WAIT_MS && !is_answered(page) && !is_gone(); tenths++) {
        (void)nanosleep(&a_while, NULL);
    }
    if (!is_answered(page)) {
        (void)snprintf(page->failure, sizeof page->failure, "the injector process %s",
                       is_gone() ? "has ended" : "does not answer");
        (void)give(page, IW_REPLAY_STOP); /* noise that comes late is not wanted */
        return false;
    }
    return page->status == IW_OK;
}

void iwi_replay_ask_phase(iw_replay_page *page)
{
    (void)__atomic_add_fetch(&page->phases, 1, __ATOMIC_ACQ_REL);
    (void)wake(page);
}
