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

/* ---- the watch ---- */

static bool look(void *arg, const iw_progress_now *now)
{
    struct iwi_stopwatch *watch = arg;
    double looked_s;

    watch->last_s = iwi_thread_cpu_s() - watch->begin_s;
    watch->last_share = now->share;
    if (!watch->has_looked) {
        watch->has_looked = true;
        watch->first_s = watch->last_s;
        watch->first_share = now->share;
    }
    looked_s = watch->last_s - watch->first_s; /* what it took to begin tells nothing of the rest */
    return looked_s < watch->enough_s ||
           (looked_s < MOST_TIMES * watch->enough_s && watch->last_share < ENOUGH_SHARE * watch->times);
}

iw_progress iwi_stopwatch_begin(struct iwi_stopwatch *watch, double enough_s, double times)
{
    *watch = (struct iwi_stopwatch){.begin_s = iwi_thread_cpu_s(), .enough_s = enough_s, .times = times};
    return (iw_progress){look, watch};
}

/* Beginning, before the first look, takes as long however much follows. */
double iwi_stopwatch_read(const struct iwi_stopwatch *watch, iw_status status)
{
    const double share = watch->last_share - watch->first_share, seconds = watch->last_s - watch->first_s;

    if (status == IW_OK) {
        return iwi_thread_cpu_s() - watch->begin_s;
    }
    if (share > 0.0) {
        return watch->first_s + seconds * (1.0 - watch->first_share) / share;
    }
    return watch->last_share > 0.0 ? watch->last_s / watch->last_share : INFINITY;
}

/* ---- shares of patterns ---- */

/* Ranks that do something in the first rounds of a repetition. */
static double weigh_rounds(const iw_program *program, uint64_t rounds)
{
    double weight = 0.0;

    for (size_t k = 0; k < program->operation_count; k++) {
        const struct iwi_operation *op = &program->operations[k];
        const uint64_t count = op->algorithm->round_count(op);

        for (uint64_t r = 0; r < count && r < rounds; r++) {
            struct iwi_round round;

            op->algorithm->round(op, r, &round);
            weight += 1.0 + iwi_active_ranks(&round) * (round.fan > 1 ? round.fan : 1);
        }
        rounds -= count < rounds ? count : rounds;
    }
    return weight;
}

/* Rounds are counted, but those of a tree have less and less to do: a share of `count` batches by that. */
static double by_work(const iw_program *program, uint64_t count, double share)
{
    const uint64_t most_rounds = 1 << 16;
    uint64_t rounds = 0;
    double done, all;

    for (size_t k = 0; k < program->operation_count; k++) {
        rounds += program->operations[k].algorithm->round_count(&program->operations[k]);
    }
    if (rounds == 0 || rounds > most_rounds) {
        return share;
    }
    done = share * (double)count * (double)program->repeat;
    all = weigh_rounds(program, rounds);
    return (floor(done) +
            weigh_rounds(program, (uint64_t)((done - floor(done)) * (double)rounds + 0.5)) / all) /
           ((double)count * (double)program->repeat);
}

/* ---- parts ---- */

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

/* CPU seconds of all of it, which will be run `times` times, and the mean of its makespans if it is not
 * stopped. */
static iw_status time_part(part_fn run, const struct iwi_batches *of, uint64_t count, double times,
                           double enough_s, double *seconds_p, double *makespan_ps_p)
{
    struct iwi_batches batches = *of;
    struct iwi_stopwatch watch;
    const iw_progress progress = iwi_stopwatch_begin(&watch, enough_s, times);
    iw_status status;

    batches.trials = count * batches.lanes;
    batches.makespan_ps = iwi_new_array(NULL, (size_t)batches.trials, sizeof *batches.makespan_ps);
    batches.job.ticker =
        iwi_ticker_new(NULL, progress, (int64_t)(enough_s / LOOKS * 1e9), count * iwi_batch_ticks(&batches));
    status = batches.makespan_ps != NULL && batches.job.ticker != NULL ? run(NULL, &batches) : IW_ERR_NOMEM;
    iwi_ticker_free(batches.job.ticker);
    if (status == IW_OK) {
        *makespan_ps_p = mean_of(batches.makespan_ps, batches.trials);
    }
    watch.first_share = by_work(batches.job.program, count, watch.first_share);
    watch.last_share = by_work(batches.job.program, count, watch.last_share);
    *seconds_p = iwi_stopwatch_read(&watch, status);
    free(batches.makespan_ps);
    return status == IW_ERR_CANCELLED && isfinite(*seconds_p) ? IW_OK : status;
}

/* `least` batches, of `all`; if they are short, more of them, which tell what beginning takes. */
static iw_status time_batches(part_fn run, const struct iwi_batches *batches, uint64_t least, uint64_t all,
                              double enough_s, struct iwi_repeated *repeated, double *makespan_ps_p)
{
    double first_s, more_s;
    uint64_t count;

    IW_TRY(time_part(run, batches, least, (double)all / (double)least, enough_s, &first_s, makespan_ps_p));
    *repeated = (struct iwi_repeated){.each_s = first_s / (double)least};
    count = (uint64_t)fmin(fmin((double)all, (double)(least * MOST_REPEATS)), enough_s / repeated->each_s);
    count -= count % least;
    if (count > least) {
        IW_TRY(time_part(run, batches, count, (double)all / (double)count, enough_s, &more_s, makespan_ps_p));
        repeated->each_s =
            fmin(fmax(more_s - first_s, 0.5 * more_s) / (double)(count - least), more_s / (double)count);
        repeated->begin_s = fmax(0.0, more_s - (double)count * repeated->each_s);
    }
    return IW_OK;
}

iw_status iwi_sample_parts(const struct iwi_batches *of, uint64_t all, uint64_t explained, double enough_s,
                           struct iwi_sampled *sampled_p)
{
    struct iwi_sampled sampled = {.makespan_ps = 0.0};
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
    IW_TRY(time_batches(iwi_batches_run, &batches, iwi_batches_begin_ahead(&batches) ? IWI_DRAW_TRIALS : 1,
                        all, enough_s, &sampled.batches, &sampled.makespan_ps));
    if (explained > 0) {
        IW_TRY(
            time_batches(iwi_explain_sample, &single, 1, explained, enough_s, &sampled.paths, &explained_ps));
    }
    sampled.noiseless_ps = (iw_time)noiseless_ps;
    *sampled_p = sampled;
    return IW_OK;
}
