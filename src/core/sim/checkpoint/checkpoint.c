/* When restart points are written, by all members alike, and how a run goes on from one.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Every member comes by at the same positions. At some of these visits all ask the first member whether a
 * point is due; it also says how many visits to let pass before they ask again, about a tenth of a second. So
 * asking costs next to nothing, and writing at most COST_SHARE of the time.
 */
#include "core/sim/checkpoint/checkpoint.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "core/base/base.h"
#include "core/base/monotonic.h"
#include "core/sim/checkpoint/checkpoint_stream.h"
#include "core/sim/flow/flow_state.h"

/* Writing may take so much of the time. */
static const double COST_SHARE = 0.05;

/* Seconds between questions, and how many visits that are at most: a slow part may follow a fast one. */
static const double ASK_S = 0.1;
static const double MOST_VISITS = 1e6;

/* Of a run that this could be: a digest says that nothing was damaged, not that all was right. */
static bool is_possible(const struct iwi_point *point, const struct iwi_job *job, uint64_t trials)
{
    const iw_program *program = job->program;
    const bool is_pattern = program->schedule == NULL && program->trace == NULL;
    const uint64_t lanes = point->lanes;

    if (lanes == 0 || lanes > IWI_MOST_LANES || (lanes & (lanes - 1)) != 0 || point->done > trials ||
        (is_pattern && point->has_state != 0 &&
         (point->at.repetition >= program->repeat || point->at.operation >= program->operation_count))) {
        return false;
    }
    for (uint64_t part = 0; part < point->part_count; part++) {
        if (point->part_first[part] > point->part_first[part + 1]) {
            return false;
        }
    }
    return point->part_count == 0 ||
           (point->part_first[0] == 0 && point->part_first[point->part_count] == program->ranks);
}

static iw_status check_found(const iw_log *log, const struct iwi_checkpoint *checkpoint,
                             const struct iwi_job *job, uint64_t trials)
{
    char path[IWI_FILE_PATH_SIZE];

    if (checkpoint->found.generation == 0 || is_possible(&checkpoint->found, job, trials)) {
        return IW_OK;
    }
    (void)iwi_file_path(path, checkpoint->dir, IWI_POINT_NAME); /* has been opened */
    return iwi_file_refuse(log, path);
}

iw_status iwi_checkpoint_init(const iw_log *log, const char *dir, double every_s, const struct iwi_job *job,
                              uint64_t trials, bool is_first, struct iwi_checkpoint *checkpoint)
{
    *checkpoint = (struct iwi_checkpoint){
        .dir = dir, .every_s = every_s, .digest = iwi_job_digest(job, trials), .lock = -1};
    IW_TRY(iwi_folder_ensure(log, dir, IWI_FOLDER_MADE));
    if (is_first) {
        IW_TRY(iwi_point_lock(log, checkpoint));
    }
    IW_TRY(iwi_point_read(log, checkpoint, &checkpoint->found));
    IW_TRY(check_found(log, checkpoint, job, trials));
    checkpoint->generation = checkpoint->found.generation;
    return IW_OK;
}

void iwi_checkpoint_release(struct iwi_checkpoint *checkpoint)
{
    iwi_point_release(&checkpoint->found);
    if (checkpoint->dir != NULL && checkpoint->lock >= 0) {
        (void)close(checkpoint->lock);
    }
}

void iw_checkpoint_remove(const char *dir)
{
    iwi_point_clean(dir, 0, true);
    (void)rmdir(dir);
}

void iwi_checkpointer_init(struct iwi_checkpoint *checkpoint, uint64_t generation, struct iwi_member *member,
                           const struct iwi_partition *partition, struct iwi_checkpointer *keeper)
{
    *keeper = (struct iwi_checkpointer){.checkpoint = checkpoint,
                                        .member = member,
                                        .partition = partition,
                                        .generation = generation,
                                        .last_s = iwi_now_s(),
                                        .asked_s = iwi_now_s()};
}

void iwi_checkpointer_end(const struct iwi_checkpointer *keeper)
{
    keeper->checkpoint->generation = keeper->generation;
}

/* ---- writing ---- */

/* The first member's: is a point due, and after how many more visits to ask again? */
static void answer(struct iwi_checkpointer *keeper, int64_t answers[2])
{
    const double now_s = iwi_now_s();
    const double every_s = keeper->checkpoint->every_s, rest_s = keeper->cost_s / COST_SHARE;
    const double visit_s = (now_s - keeper->asked_s) / (double)keeper->visits;
    const double visits = (every_s / 4 < ASK_S ? every_s / 4 : ASK_S) / (visit_s > 1e-9 ? visit_s : 1e-9);

    answers[0] = now_s - keeper->last_s >= (every_s > rest_s ? every_s : rest_s);
    answers[1] = visits < 1.0 ? 1 : visits < MOST_VISITS ? (int64_t)visits : (int64_t)MOST_VISITS;
    keeper->asked_s = now_s;
}

static struct iwi_point point_at(const struct iwi_checkpointer *keeper, const struct iwi_flow *flow,
                                 const struct iwi_position *at)
{
    return (struct iwi_point){.generation = keeper->generation,
                              .is_trials = keeper->is_trials,
                              .noiseless_ps = keeper->noiseless_ps,
                              .done = keeper->done,
                              .has_state = flow != NULL,
                              .at = flow != NULL ? *at : (struct iwi_position){0},
                              .part_count = flow != NULL ? keeper->partition->members : 0,
                              .part_first = keeper->partition->first,
                              .makespan_ps = (iw_time *)keeper->makespan_ps,
                              .lanes = keeper->checkpoint->lanes};
}

/* A point that cannot be written ends no simulation: there are no more of them, and the last one stays. */
static iw_status write_point(struct iwi_checkpointer *keeper, const struct iwi_flow *flow,
                             const struct iwi_position *at)
{
    const double begin_s = iwi_now_s();
    const uint64_t valid = keeper->generation;
    struct iwi_point point;
    int64_t error = 0;

    keeper->generation++;
    point = point_at(keeper, flow, at);
    if (flow != NULL && flow->ranks > 0 && !iwi_block_file_write(keeper->checkpoint, &point, flow)) {
        error = errno != 0 ? errno : EIO;
    }
    IW_TRY(iwi_member_max(keeper->member, &error, 1));
    /* all parts are on the disk: the point becomes the valid one */
    if (error == 0 && keeper->member->number == 0 && !iwi_point_write(keeper->checkpoint, &point)) {
        error = errno != 0 ? errno : EIO;
    }
    IW_TRY(iwi_member_max(keeper->member, &error, 1));
    if (keeper->member->number == 0) {
        if (error != 0) {
            iwi_warn(keeper->member->log, "cannot write a restart point to '%s': %s; going on without",
                     keeper->checkpoint->dir, strerror((int)error));
        }
        iwi_point_clean(keeper->checkpoint->dir, error != 0 ? valid : keeper->generation, false);
    }
    keeper->has_failed = error != 0;
    keeper->last_s = iwi_now_s();
    keeper->cost_s = keeper->last_s - begin_s;
    return IW_OK;
}

iw_status iwi_checkpointer_visit(struct iwi_checkpointer *keeper, const struct iwi_flow *flow,
                                 const struct iwi_position *at)
{
    int64_t answers[2] = {0};

    if (keeper->has_failed || keeper->visits++ < keeper->next_visit) {
        return IW_OK;
    }
    if (keeper->member->number == 0) {
        answer(keeper, answers);
    }
    IW_TRY(iwi_member_max(keeper->member, answers, 2));
    keeper->visits = 0;
    keeper->next_visit = (uint64_t)answers[1] - 1;
    return answers[0] != 0 ? write_point(keeper, flow, at) : IW_OK;
}

/* ---- going on ---- */

iw_status iwi_checkpointer_load(const struct iwi_checkpointer *keeper, struct iwi_flow *flow)
{
    const struct iwi_point *found = &keeper->checkpoint->found;

    for (uint64_t part = 0; part < found->part_count; part++) {
        const uint32_t first = found->part_first[part], end = found->part_first[part + 1];

        if (first < end && first < flow->first_rank + flow->ranks && end > flow->first_rank) {
            IW_TRY(iwi_block_file_read(keeper->member->log, keeper->checkpoint, part, flow));
        }
    }
    return IW_OK;
}
