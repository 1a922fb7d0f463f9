/* Starts the threads, gives them turns, and adds up what they moved.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/bench/memory_crew.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "core/base/base.h"
#include "core/base/monotonic.h"
#include "features/bench/memory_triad.h"

/* Numbers of each array between two looks at the clock: some 20 us. */
enum { CHUNK = 8192 };

/* From the wake-up until all begin: time for each to be there. */
static const int64_t LEAD_NS = 500000;

/* ---- a thread ---- */

/* Threads share the arrays out anew for each window. The first goes on where it stopped, so what a window
 * reads was last touched a whole round through the arrays ago, by whomever. */
static void move(struct iwi_mover *mover)
{
    const struct iwi_memory_crew *crew = mover->crew;
    const size_t all = crew->chunk_count, active = crew->active;
    const size_t first = crew->cursor + mover->index * all / active;
    const size_t own = (mover->index + 1) * all / active - mover->index * all / active;
    int64_t now_ns = iwi_now_ns();
    double cpu_s, took_s;
    size_t chunks = 0;

    while (now_ns < crew->begin_ns) {
        now_ns = iwi_now_ns();
    }
    cpu_s = iwi_thread_cpu_s();
    do { /* at least one, also of a thread that comes too late */
        const size_t at = (first + chunks % own) % all * CHUNK;

        iwi_triad(crew->a + at, crew->b + at, crew->c + at, CHUNK);
        chunks++;
        now_ns = iwi_now_ns();
    } while (now_ns < crew->end_ns);
    cpu_s = iwi_thread_cpu_s() - cpu_s;
    took_s = (double)(now_ns - crew->begin_ns) * 1e-9;
    mover->chunks = chunks;
    mover->bytes_per_s = (double)chunks * CHUNK * IWI_TRIAD_BYTES / took_s;
    mover->held_share = fmin(cpu_s / took_s, 1.0);
}

/* The first to write a page gets it from its own NUMA node. */
static void write_first(const struct iwi_mover *mover)
{
    const struct iwi_memory_crew *crew = mover->crew;
    const size_t first = mover->index * crew->chunk_count / crew->count * CHUNK;
    const size_t end = (mover->index + 1) * crew->chunk_count / crew->count * CHUNK;

    for (size_t i = first; i < end; i++) {
        crew->a[i] = 0.0;
        crew->b[i] = 1.0;
        crew->c[i] = 2.0;
    }
}

static void do_task(struct iwi_mover *mover)
{
    if (mover->crew->active == 0) {
        write_first(mover);
    } else if (mover->index < mover->crew->active) {
        move(mover);
    }
}

static void *serve(void *arg)
{
    struct iwi_mover *mover = arg;
    struct iwi_memory_crew *crew = mover->crew;
    uint64_t turn = 0;

    mover->error = iwi_cpus_pin(crew->cpus, crew->cpus->numbers[mover->index]);
    (void)pthread_mutex_lock(&crew->lock);
    for (;;) {
        while (crew->turn == turn && !crew->is_over) {
            (void)pthread_cond_wait(&crew->begins, &crew->lock);
        }
        if (crew->is_over) {
            break;
        }
        turn = crew->turn;
        (void)pthread_mutex_unlock(&crew->lock);
        do_task(mover);
        (void)pthread_mutex_lock(&crew->lock);
        if (--crew->working == 0) {
            (void)pthread_cond_signal(&crew->ends);
        }
    }
    (void)pthread_mutex_unlock(&crew->lock);
    return NULL;
}

/* ---- all of them ---- */

static void take_turn(struct iwi_memory_crew *crew, size_t active, int64_t window_ns)
{
    (void)pthread_mutex_lock(&crew->lock);
    crew->active = active;
    crew->begin_ns = iwi_now_ns() + LEAD_NS;
    crew->end_ns = crew->begin_ns + window_ns;
    crew->working = crew->count;
    crew->turn++;
    (void)pthread_cond_broadcast(&crew->begins);
    while (crew->working > 0) {
        (void)pthread_cond_wait(&crew->ends, &crew->lock);
    }
    (void)pthread_mutex_unlock(&crew->lock);
}

iw_memory_window iwi_memory_crew_move(struct iwi_memory_crew *crew, size_t active, int64_t window_ns)
{
    iw_memory_window window = {.held_share = 1.0};

    take_turn(crew, active, window_ns);
    for (size_t i = 0; i < active; i++) {
        window.bytes_per_s += crew->movers[i].bytes_per_s;
        window.held_share = fmin(window.held_share, crew->movers[i].held_share);
    }
    crew->cursor = (crew->cursor + crew->movers[0].chunks) % crew->chunk_count;
    return window;
}

static double *new_pages(size_t bytes)
{
    void *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return pages != MAP_FAILED ? pages : NULL;
}

static iw_status make_arrays(const iw_log *log, uint64_t array_bytes, struct iwi_memory_crew *crew)
{
    const size_t bytes_of_chunk = CHUNK * sizeof(double);
    const size_t chunks = (size_t)(array_bytes / (3 * bytes_of_chunk));

    crew->chunk_count = chunks > crew->count ? chunks : crew->count;
    crew->a = new_pages(crew->chunk_count * bytes_of_chunk);
    crew->b = new_pages(crew->chunk_count * bytes_of_chunk);
    crew->c = new_pages(crew->chunk_count * bytes_of_chunk);
    return crew->a != NULL && crew->b != NULL && crew->c != NULL
               ? IW_OK
               : iwi_fail(log, IW_ERR_NOMEM, "out of memory for arrays of %" PRIu64 " bytes", array_bytes);
}

/* Signals stay with the caller. */
static iw_status start_threads(const iw_log *log, struct iwi_memory_crew *crew)
{
    sigset_t all, before;
    int error = 0;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    for (size_t i = 0; i < crew->count && error == 0; i++) {
        struct iwi_mover *mover = &crew->movers[i];

        *mover = (struct iwi_mover){.crew = crew, .index = i};
        error = pthread_create(&mover->thread, NULL, serve, mover);
        mover->is_started = error == 0;
    }
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error == 0 ? IW_OK : iwi_fail(log, IW_ERR_IO, "threads cannot be started: %s", strerror(error));
}

iw_status iwi_memory_crew_start(const iw_log *log, const struct iwi_cpus *cpus, uint64_t array_bytes,
                                struct iwi_memory_crew *crew)
{
    *crew = (struct iwi_memory_crew){.cpus = cpus};
    (void)pthread_mutex_init(&crew->lock, NULL);
    (void)pthread_cond_init(&crew->begins, NULL);
    (void)pthread_cond_init(&crew->ends, NULL);
    crew->movers = iwi_new_array(log, cpus->count, sizeof *crew->movers);
    if (crew->movers == NULL) {
        return IW_ERR_NOMEM;
    }
    crew->count = cpus->count;
    IW_TRY(make_arrays(log, array_bytes, crew));
    IW_TRY(start_threads(log, crew));
    take_turn(crew, 0, 0);
    for (size_t i = 0; i < crew->count; i++) {
        if (crew->movers[i].error != 0) {
            return iwi_fail(log, IW_ERR_IO, "a thread cannot be pinned to CPU %" PRIu32 ": %s",
                            cpus->numbers[i], strerror(crew->movers[i].error));
        }
    }
    return IW_OK;
}

void iwi_memory_crew_release(struct iwi_memory_crew *crew)
{
    const size_t bytes = crew->chunk_count * CHUNK * sizeof(double);
    double *const arrays[] = {crew->a, crew->b, crew->c};

    (void)pthread_mutex_lock(&crew->lock);
    crew->is_over = true;
    (void)pthread_cond_broadcast(&crew->begins);
    (void)pthread_mutex_unlock(&crew->lock);
    for (size_t i = 0; i < crew->count; i++) {
        if (crew->movers[i].is_started) {
            (void)pthread_join(crew->movers[i].thread, NULL);
        }
    }
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) {
        if (arrays[i] != NULL) {
            (void)munmap(arrays[i], bytes);
        }
    }
    (void)pthread_cond_destroy(&crew->begins);
    (void)pthread_cond_destroy(&crew->ends);
    (void)pthread_mutex_destroy(&crew->lock);
    free(crew->movers);
}
