/* Further threads of the program that meet noise: `--threads all`.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <pthread.h>
#include <stdlib.h>

#include "mpi/replay/replay.h"

struct beginning {
    void *(*routine)(void *);
    void *arg;
};

static void end_thread(void *arg)
{
    iw_inject_counts counts;

    (void)arg;
    iwi_replay_thread_stop(&counts);
}

/* Also at pthread_exit() and when the thread is cancelled the injector must go before its memory does. */
static void *run(void *arg)
{
    struct beginning beginning = *(struct beginning *)arg;
    const uint32_t k = __atomic_fetch_add(&iwi_replay.thread_count, 1, __ATOMIC_ACQ_REL);
    void *result;

    free(arg);
    (void)iwi_replay_thread_start(NULL, iwi_replay.plans[k % iwi_replay.plan_count]); /* else without */
    pthread_cleanup_push(end_thread, NULL);
    result = beginning.routine(beginning.arg);
    pthread_cleanup_pop(1);
    return result;
}

IW_API int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*routine)(void *),
                          void *arg)
{
    struct beginning *beginning = NULL;
    int error;

    IWI_REPLAY_NEXT(pthread_create)
    if (__atomic_load_n(&iwi_replay.state, __ATOMIC_ACQUIRE) == IWI_REPLAY_NOISY &&
        iwi_replay.page->has_all_threads && iwi_replay.page->back_end == IW_BACK_END_TIMER) {
        beginning = malloc(sizeof *beginning);
    }
    if (beginning == NULL) {
        return next(thread, attributes, routine, arg);
    }
    *beginning = (struct beginning){routine, arg};
    error = next(thread, attributes, run, beginning);
    if (error != 0) {
        free(beginning);
    }
    return error;
}
