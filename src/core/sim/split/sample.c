/* What the parts of a simulation take: each of them is begun, and stopped when it has told enough.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdlib.h>

#include "core/base/base.h"
#include "core/base/monotonic.h"
#include "core/noise/stream.h"
#include "core/sim/split/forecast.h"

/* A part ends when it has taken long enough and is this share of all that is going to be done, or has taken
 * so many times that long. */
static const double ENOUGH_SHARE = 0.01, MOST_TIMES = 12.0;

/* How often it is looked at until then. */
static const double LOOKS = 20.0;

enum { MOST_REPEATS = 64 }; /* of a batch that is short */

/* CPU time of this thread since a part began, at the first and at the last look at it, and its share then. */
struct look {
    double begin_s, enough_s, times; /* times: how often the whole of it will be run */
    double first_s, first_share;
    double last_s, last_share;
    bool has_first;
};

static bool watch(void *arg, const iw_progress_now *now)
{
    struct look *look = arg;

    look->last_s = iwi_thread_cpu_s() - look->begin_s;
    look->last_share = now->share;
    if (!look->has_first) {
        look->has_first = true;
        look->first_s = look->last_s;
        look->first_share = now->share;
    }
    return look->last_s < look->enough_s ||
           (look->last_s < MOST_TIMES * look->enough_s &&
            (look->last_share < ENOUGH_SHARE * look->times || look->last_share <= look->first_share));
}

/* What a part is: some batches, the run without noise, a trial that is explained. */
typedef iw_status (*part_fn)(const iw_log *log, const struct iwi_batches *batches);

static iw_status run_reference(const iw_log *log, const struct iwi_batches *batches)
{
    return iwi_run_noiseless(log, batches, batches->makespan_ps);
}

static double mean_of(const iw_time *makespan_ps, uint64_t trials)
{
    double sum = 0.0;

    for (uint64_t t = 0; t < trials; t++) {
        sum += (double)makespan_ps[t];
    }
    return sum / (double)trials;
}

/* All of the part from a share of it. Beginning it, before the first look, takes as long however much of it
 * follows. INFINITY: nothing was told. */
static double whole_of(const struct look *look)
{
    const double share = look->last_share - look->first_share, seconds = look->last_s - look->first_s;

    if (share > 0.0) {
        return look->first_s + seconds * (1.0 - look->first_share) / share;
    }
    return look->last_share > 0.0 ? look->last_s / look->last_share : INFINITY;
}

/* CPU seconds of all of it, which will be run `times` times, and the mean of its makespans if it is not
 * stopped. */
static iw_status time_part(part_fn run, const struct iwi_batches *of, uint64_t count, double times,
                           double enough_s, double *seconds_p, double *makespan_ps_p)
{
    struct iwi_batches batches = *of;
    struct look look = {.begin_s = iwi_thread_cpu_s(), .enough_s = enough_s, .times = times};
    iw_status status;

    batches.trials = count * batches.lanes;
    batches.makespan_ps = iwi_new_array(NULL, (size_t)batches.trials, sizeof *batches.makespan_ps);
    batches.job.ticker =
        iwi_ticker_new(NULL, (iw_progress){watch, &look}, (int64_t)(enough_s / LOOKS * 1e9),
                       count * iwi_batch_ticks(&batches));
    status = batches.makespan_ps != NULL && batches.job.ticker != NULL ? run(NULL, &batches) : IW_ERR_NOMEM;
    iwi_ticker_free(batches.job.ticker);
    if (status == IW_OK) {
        *seconds_p = iwi_thread_cpu_s() - look.begin_s;
        *makespan_ps_p = mean_of(batches.makespan_ps, batches.trials);
    } else if (status == IW_ERR_CANCELLED) {
        *seconds_p = whole_of(&look);
        status = isfinite(*seconds_p) ? IW_OK : status;
    }
    free(batches.makespan_ps);
    return status;
}

/* One batch; if it is short, more of them, which tell what beginning to work takes. */
static iw_status time_batches(const struct iwi_batches *batches, uint64_t all, double enough_s,
                              struct iwi_sampled *sampled)
{
    const uint64_t least = iwi_batches_begin_ahead(batches) ? IWI_DRAW_TRIALS : 1;
    double first_s, more_s;
    uint64_t count;

    IW_TRY(time_part(iwi_batches_run, batches, least, (double)all / (double)least, enough_s, &first_s,
                     &sampled->makespan_ps));
    sampled->batch_s = first_s / (double)least;
    count = (uint64_t)fmin(fmin((double)all, (double)(least * MOST_REPEATS)), enough_s / sampled->batch_s);
    count -= count % least;
    if (count > least) {
        IW_TRY(time_part(iwi_batches_run, batches, count, (double)all / (double)count, enough_s, &more_s,
                         &sampled->makespan_ps));
        sampled->batch_s =
            fmin(fmax(more_s - first_s, 0.5 * more_s) / (double)(count - least), more_s / (double)count);
        sampled->begin_s = fmax(0.0, more_s - (double)count * sampled->batch_s);
    }
    return IW_OK;
}

iw_status iwi_sample(const struct iwi_batches *of, uint64_t all, bool want_explain, double enough_s,
                     struct iwi_sampled *sampled_p)
{
    struct iwi_sampled sampled = {.batch_s = 0.0};
    struct iwi_batches batches = *of, single;
    double noiseless_ps = 0.0, explained_ps;

    batches.threads = 1;
    batches.team = NULL;
    batches.link = NULL;
    batches.end_ps = NULL;
    batches.job.steps = NULL;
    single = batches;
    single.lanes = 1;
    if (!iwi_is_noiseless(&batches)) {
        IW_TRY(time_part(run_reference, &single, 1, 1.0, enough_s, &sampled.reference_s, &noiseless_ps));
    }
    IW_TRY(time_batches(&batches, all, enough_s, &sampled));
    if (want_explain) {
        IW_TRY(time_part(iwi_explain_sample, &single, 1, 1.0, enough_s, &sampled.path_s, &explained_ps));
    }
    sampled.noiseless_ps = (iw_time)noiseless_ps;
    *sampled_p = sampled;
    return IW_OK;
}
