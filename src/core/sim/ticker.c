/* Tells a user how far a simulation is: counted by all threads, told by one now and then. Whether to go on is
 * known to all.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/sim/engine.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "core/base/base.h"
#include "core/base/monotonic.h"

struct iwi_ticker {
    iw_progress progress;
    uint64_t total;
    int64_t interval_ns;
    atomic_uint_fast64_t done;
    atomic_bool is_cancelled;
    pthread_mutex_t lock; /* held while reporting */
    int64_t last_ns;
    double told; /* the largest share so far: threads are at different parts */
};

struct iwi_ticker *iwi_ticker_new(const iw_log *log, iw_progress progress, int64_t interval_ns,
                                  uint64_t total)
{
    struct iwi_ticker *ticker = iwi_new_array(log, 1, sizeof *ticker);

    if (ticker != NULL) {
        ticker->progress = progress;
        ticker->interval_ns = interval_ns;
        ticker->total = total;
        pthread_mutex_init(&ticker->lock, NULL);
    }
    return ticker;
}

void iwi_ticker_free(struct iwi_ticker *ticker)
{
    if (ticker != NULL) {
        pthread_mutex_destroy(&ticker->lock);
        free(ticker);
    }
}

static bool is_due(struct iwi_ticker *ticker)
{
    const int64_t now_ns = iwi_now_ns();

    if (now_ns - ticker->last_ns < ticker->interval_ns) {
        return false;
    }
    ticker->last_ns = now_ns;
    return true;
}

static void report(struct iwi_ticker *ticker, uint64_t done, double part)
{
    const uint64_t known = done < ticker->total ? done : ticker->total;
    const double share = ((double)known + (known < ticker->total ? part : 0.0)) / (double)ticker->total;
    const iw_progress_now now = {share > ticker->told ? share : ticker->told, known, ticker->total};

    ticker->told = now.share;
    if (!ticker->progress.step(ticker->progress.arg, &now)) {
        atomic_store(&ticker->is_cancelled, true);
    }
}

iw_status iwi_tick(struct iwi_ticker *ticker, uint64_t units)
{
    uint64_t done;

    if (ticker == NULL) {
        return IW_OK;
    }
    done = atomic_fetch_add(&ticker->done, units) + units;
    if (pthread_mutex_trylock(&ticker->lock) == 0) { /* whoever comes second need not report too */
        if (is_due(ticker) || (done >= ticker->total && done - units < ticker->total)) {
            report(ticker, atomic_load(&ticker->done), 0.0);
        }
        pthread_mutex_unlock(&ticker->lock);
    }
    return atomic_load_explicit(&ticker->is_cancelled, memory_order_relaxed) ? IW_ERR_CANCELLED : IW_OK;
}

iw_status iwi_tick_part(struct iwi_ticker *ticker, double part)
{
    if (ticker == NULL) {
        return IW_OK;
    }
    if (pthread_mutex_trylock(&ticker->lock) == 0) {
        if (is_due(ticker)) {
            report(ticker, atomic_load(&ticker->done), part);
        }
        pthread_mutex_unlock(&ticker->lock);
    }
    return atomic_load_explicit(&ticker->is_cancelled, memory_order_relaxed) ? IW_ERR_CANCELLED : IW_OK;
}
