/* Polls that wait: epoll_wait() and poll() of this process, as the libraries loaded into it call them.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A rank that polls takes a CPU, which hundreds of ranks on a few CPUs do not have. No MPI here can wait
 * otherwise, but with messages over sockets each look for one is a call of these with a timeout of zero. A
 * name that the command defines comes before the C library's, so it is enough to wait a little in them: for
 * as long as nothing comes, and not for ever, as a library may wait for something else too. A library looks
 * into several sets of sockets in turn (UCX has one for each network device): a nap is one on all of them.
 */
/* checked inline versions of what is defined here would be in the way: clang says so */
#undef _FORTIFY_SOURCE

#include "process/mpi_run.h"

#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/epoll.h>

/* Several looks in vain before the first nap: what follows a message at once is not slept on. */
enum { IMPATIENT_LOOKS = 8, NAP_MS = 20, MOST_SETS = 32 };

#define SHOWN __attribute__((visibility("default")))

static struct {
    bool is_wanted;
    pthread_t thread;              /* that waits */
    int looks;                     /* in vain, one after the other */
    struct pollfd sets[MOST_SETS]; /* of epoll, that the thread has looked into */
    nfds_t set_count;
} patience;

static int (*next_poll)(struct pollfd *, nfds_t, int);

static void find_next_poll(void)
{
    if (next_poll == NULL) {
        *(void **)&next_poll = dlsym(RTLD_NEXT, "poll");
    }
}

void sleeping_polls_use(void)
{
    static const char *const settings[][2] = {
        {"OMPI_MCA_pml", "ob1"},
        {"OMPI_MCA_btl", "self,tcp"},
        {"UCX_TLS", "tcp,self"},
        {"MPIR_CVAR_NOLOCAL", "1"}, /* MPICH: no shared memory */
    };

    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        (void)setenv(settings[i][0], settings[i][1], 0);
    }
    /* who sleeps in each look need not yield before it, to whomever has time to compute; Open MPI's launcher
     * asks for that where there are many ranks */
    (void)setenv("OMPI_MCA_mpi_yield_when_idle", "0", 1);
    patience.thread = pthread_self();
    patience.is_wanted = true;
}

static bool is_patient(int timeout_ms)
{
    return timeout_ms == 0 && patience.is_wanted && pthread_equal(patience.thread, pthread_self()) != 0;
}

static void remember_set(int epoll)
{
    for (nfds_t i = 0; i < patience.set_count; i++) {
        if (patience.sets[i].fd == epoll) {
            return;
        }
    }
    if (patience.set_count < MOST_SETS) {
        patience.sets[patience.set_count++] = (struct pollfd){.fd = epoll, .events = POLLIN};
    }
}

/* Until something comes into any set. One that was closed is forgotten. */
static void nap_on_sets(int nap_ms)
{
    find_next_poll();
    (void)next_poll(patience.sets, patience.set_count, nap_ms);
    for (nfds_t i = patience.set_count; i-- > 0;) {
        if ((patience.sets[i].revents & POLLNVAL) != 0) {
            patience.sets[i] = patience.sets[--patience.set_count];
        }
    }
}

/* How long the next look may take, after one with this result. */
static int nap_after(int result)
{
    patience.looks = result == 0 ? patience.looks + 1 : 0;
    return patience.looks >= IMPATIENT_LOOKS ? NAP_MS : 0;
}

/* A detour ends the nap by its signal: nothing has come. */
static int found(int result)
{
    if (result > 0) {
        patience.looks = 0;
    }
    return result < 0 && errno == EINTR ? 0 : result;
}

// NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): names of the C library
SHOWN int epoll_wait(int epoll, struct epoll_event *events, int most, int timeout_ms)
{
    static int (*next)(int, struct epoll_event *, int, int);
    int result, nap_ms;

    if (next == NULL) {
        *(void **)&next = dlsym(RTLD_NEXT, "epoll_wait");
    }
    result = next(epoll, events, most, timeout_ms);
    if (!is_patient(timeout_ms)) {
        return result;
    }
    remember_set(epoll);
    nap_ms = nap_after(result);
    if (nap_ms > 0) {
        nap_on_sets(nap_ms);
        result = next(epoll, events, most, 0);
    }
    return found(result);
}

SHOWN int poll(struct pollfd *files, nfds_t count, int timeout_ms)
{
    int result, nap_ms;

    find_next_poll();
    result = next_poll(files, count, timeout_ms);
    if (!is_patient(timeout_ms)) {
        return result;
    }
    nap_ms = nap_after(result);
    return nap_ms > 0 ? found(next_poll(files, count, nap_ms)) : found(result);
}
// NOLINTEND(readability-inconsistent-declaration-parameter-name)
