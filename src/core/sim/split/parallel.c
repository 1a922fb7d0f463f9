/* How the work of a simulation is split over threads and processes.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/sim/plan.h"

#include "core/base/available.h"
#include "core/base/base.h"
#include "core/sim/choose.h"
#include "core/sim/split/forecast.h"

enum { JOINED_AT_ONCE = 1 << 20 };

/* ---- among processes ---- */

struct values {
    int64_t *of;
    size_t count;
};

static iw_status join_values(struct iwi_member *member, void *arg)
{
    const struct values *values = arg;

    for (size_t at = 0; at < values->count; at += JOINED_AT_ONCE) {
        const size_t left = values->count - at;

        IW_TRY(iwi_member_max(member, values->of + at, left < JOINED_AT_ONCE ? left : JOINED_AT_ONCE));
    }
    return IW_OK;
}

iw_status iwi_parallel_join(const iw_log *log, const iw_link *link, int64_t *of, size_t count)
{
    struct values values = {of, count};
    struct iwi_team *team = NULL;
    iw_status status;

    IW_TRY(iwi_team_new(log, link, 1, &team));
    status = iwi_team_run(team, log, join_values, &values);
    iwi_team_free(team);
    return status;
}

/* ---- settling ---- */

static iw_status choose(const iw_log *log, const struct iwi_plan *plan, const iw_program *program,
                        const iw_noise *noise, const iw_sim_opts *opts, struct iwi_split_work *split)
{
    iw_forecast forecast;

    if (opts->threads == 1 && opts->link == NULL && opts->parallel != IW_PARALLEL_RANKS &&
        opts->checkpoint_dir == NULL) { /* nothing to choose: studies have many such runs, small ones too */
        *split = (struct iwi_split_work){
            IW_PARALLEL_TRIALS,
            iwi_tells_steps(opts) ? 1 : iwi_choose_lanes(program, noise, plan->engine, opts), 1};
        return IW_OK;
    }
    iwi_forecast_now(plan, program, noise, opts, &forecast);
    IW_TRY(iwi_forecast_check(log, opts, &forecast));
    split->parallel = forecast.chosen;
    split->lanes =
        forecast.chosen == IW_PARALLEL_RANKS ? forecast.ranks_split.lanes : forecast.trials_split.lanes;
    split->threads = forecast.threads;
    return IW_OK;
}

iw_status iwi_parallel_settle(const iw_log *log, const struct iwi_plan *plan, const iw_program *program,
                              const iw_noise *noise, const iw_sim_opts *opts, struct iwi_split_work *split_p)
{
    const bool is_first = iwi_is_first(opts);
    int64_t agreed[2];

    IW_TRY(choose(log, plan, program, noise, opts, split_p));
    if (opts->link != NULL) {
        agreed[0] = is_first ? (int64_t)split_p->parallel : 0;
        agreed[1] = is_first ? (int64_t)split_p->lanes : 0;
        IW_TRY(iwi_parallel_join(log, opts->link, agreed, 2));
        split_p->parallel = (iw_parallel)agreed[0];
        split_p->lanes = (uint32_t)agreed[1];
    }
    if (split_p->parallel == IW_PARALLEL_TRIALS) {
        split_p->threads = iwi_choose_threads(program, opts, split_p->lanes);
    }
    return IW_OK;
}

/* ---- running ---- */

iw_status iwi_parallel_run(const iw_log *log, const struct iwi_batches *batches)
{
    if (batches->team != NULL) {
        return iwi_members_run(log, batches);
    }
    IW_TRY(iwi_batches_run(log, batches));
    if (batches->link == NULL) {
        return IW_OK;
    }
    IW_TRY(iwi_parallel_join(log, batches->link, batches->makespan_ps, (size_t)batches->trials));
    return batches->end_ps == NULL ? IW_OK
                                   : iwi_parallel_join(log, batches->link, batches->end_ps,
                                                       (size_t)batches->trials * batches->job.program->ranks);
}
