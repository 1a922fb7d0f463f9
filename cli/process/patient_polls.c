/* Polls that wait: epoll_wait() and poll() of this process, as the libraries loaded into it call them.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A rank that polls takes a CPU, which hundreds of ranks on a few CPUs do not have. No MPI here can wait
 * otherwise, but with messages over sockets each look for one is a call of these with a timeout of zero. A
 * name that the command defines comes before the C library's, so it is enough to wait a little in them: for
 * as long as nothing comes, and not for ever, as a library may wait for something else too.
 */
#include "process/patient_polls.h"

#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/epoll.h>

/* Several looks in vain before the first nap: what follows a message at once is not slept on. */
enum { IMPATIENT_LOOKS = 8, NAP_MS = 20 };

#define SHOWN __attribute__((visibility("default")))

static struct {
    bool is_wanted;
    pthread_t thread; /* that waits */
    int looks;        /* in vain, one after the other */
} patience;

void patient_polls_use(void)
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
    patience.thread = pthread_self();
    patience.is_wanted = true;
}

static bool is_patient(int timeout_ms)
{
    return timeout_ms == 0 && patience.is_wanted && pthread_equal(patience.thread, pthread_self()) != 0;
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
    nap_ms = nap_after(result);
    return nap_ms > 0 ? found(next(epoll, events, most, nap_ms)) : found(result);
}

SHOWN int poll(struct pollfd *files, nfds_t count, int timeout_ms)
{
    static int (*next)(struct pollfd *, nfds_t, int);
    int result, nap_ms;

    if (next == NULL) {
        *(void **)&next = dlsym(RTLD_NEXT, "poll");
    }
    result = next(files, count, timeout_ms);
    if (!is_patient(timeout_ms)) {
        return result;
    }
    nap_ms = nap_after(result);
    return nap_ms > 0 ? found(next(files, count, nap_ms)) : found(result);
}
// NOLINTEND(readability-inconsistent-declaration-parameter-name)
