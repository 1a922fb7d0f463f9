/* A job again, with other lengths: each operation begins as soon as what it waits for has ended.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Of a stage, by micro-batch q, in the order of its computations:
 *   a message begins when both sides are ready: the sender has computed q and sent q - 1, the receiver has
 *     computed q - 1 and received q - 1; the first gradient also when the receiver has computed its last
 *     forward but one before its first backward. Each side is done its own transfer time later.
 *   a computation begins when the one before it has ended and its message is there, the first forward not
 *     before the parameters are.
 * Then, one behind the other: garbage collection; layer norms; embeddings, begun by the first and the last
 * stage together; gradients, begun by all replicas together; the clip of gradients, begun by all workers
 * together; the optimizer.
 */
#include <stdlib.h>
#include <string.h>

#include "features/explain/stragglers/pipeline.h"

static bool is_forward(unsigned op)
{
    return op == IWI_PIPE_FORWARD;
}

/* The stage that the input of a computation comes from; UINT32_MAX: it has it. */
static uint32_t giver(const struct iw_straggler_job *job, const struct iwi_pipe_turn *turn)
{
    if (is_forward(turn->op)) {
        return turn->stage > 0 ? turn->stage - 1 : UINT32_MAX;
    }
    return turn->stage + 1 < job->stage_count ? turn->stage + 1 : UINT32_MAX;
}

/* ---- an order in which everything is computed behind what it waits for ---- */

/* done[stage * 2 + op]: how many of this kind the stage has computed. */
static bool is_ready(const struct iw_straggler_job *job, const struct iwi_pipe_turn *turn,
                     const uint32_t *done)
{
    const uint32_t from = giver(job, turn);

    return from == UINT32_MAX || done[(size_t)from * 2 + turn->op] > turn->microbatch;
}

static iw_status check_numbering(const struct iw_straggler_job *job, const struct iwi_pipe_turn *by_stage)
{
    for (uint32_t stage = 0; stage < job->stage_count; stage++) {
        uint32_t next[2] = {0};

        for (uint32_t i = 0; i < 2 * job->microbatches; i++) {
            const struct iwi_pipe_turn *turn = &by_stage[(size_t)stage * 2 * job->microbatches + i];

            if (turn->microbatch != next[turn->op]++) {
                return iwi_fail(
                    job->log, IW_ERR_FORMAT,
                    "'%s': stage %" PRIu32
                    ": computations are not numbered in the order in which they begin: %s %" PRIu32,
                    job->name, stage, iwi_pipe_op_name(turn->op), turn->microbatch);
            }
        }
    }
    return IW_OK;
}

static void find_leads(struct iw_straggler_job *job, const struct iwi_pipe_turn *by_stage)
{
    for (uint32_t stage = 0; stage < job->stage_count; stage++) {
        const struct iwi_pipe_turn *turns = &by_stage[(size_t)stage * 2 * job->microbatches];
        uint32_t forwards = 0;

        while (is_forward(turns[forwards].op)) { /* a backward is there */
            forwards++;
        }
        job->leads[stage] = forwards >= 2 ? forwards - 2 : IWI_PIPE_NO_LEAD;
    }
}

/* Round and round over the stages, each as far as it gets. */
static iw_status order(struct iw_straggler_job *job, const struct iwi_pipe_turn *by_stage, uint32_t *done)
{
    const size_t all = (size_t)job->stage_count * 2 * job->microbatches;
    size_t count = 0, before;

    do {
        before = count;
        for (uint32_t stage = 0; stage < job->stage_count; stage++) {
            const struct iwi_pipe_turn *turns = &by_stage[(size_t)stage * 2 * job->microbatches];
            uint32_t *own = &done[(size_t)stage * 2];

            while (own[0] + own[1] < 2 * job->microbatches && is_ready(job, &turns[own[0] + own[1]], done)) {
                job->turns[count] = turns[own[0] + own[1]];
                own[job->turns[count++].op]++;
            }
        }
    } while (count > before);
    return count == all ? IW_OK
                        : iwi_fail(job->log, IW_ERR_FORMAT,
                                   "'%s': stages wait for each other: the order of their computations "
                                   "cannot be that of a pipeline",
                                   job->name);
}

iw_status iwi_pipe_order_turns(struct iw_straggler_job *job, const struct iwi_pipe_turn *by_stage)
{
    uint32_t *done = iwi_new_array(job->log, (size_t)job->stage_count * 2, sizeof done[0]);
    iw_status status = IW_ERR_NOMEM;

    job->turns =
        iwi_new_array(job->log, (size_t)job->stage_count * 2 * job->microbatches, sizeof job->turns[0]);
    job->leads = iwi_new_array(job->log, job->stage_count, sizeof job->leads[0]);
    if (done != NULL && job->turns != NULL && job->leads != NULL) {
        status = check_numbering(job, by_stage);
    }
    if (status == IW_OK) {
        find_leads(job, by_stage);
        status = order(job, by_stage, done);
    }
    free(done);
    return status;
}

/* ---- the replay ---- */

struct replay {
    const struct iw_straggler_job *job;
    const iw_time *lengths_ps;
    iw_time *ends_ps;  /* of one replica: [stage][op][micro-batch], of what there is for each micro-batch */
    iw_time *stage_ps; /* of one replica: where each stage has got to */
    iw_time *tails_ps; /* [replica][stage] */
};

static iw_time *end_of(const struct replay *replay, uint32_t stage, unsigned op, uint32_t microbatch)
{
    return &replay->ends_ps[((size_t)stage * IWI_PIPE_MICROBATCH_OPS + op) * replay->job->microbatches +
                            microbatch];
}

static iw_time length_of(const struct replay *replay, size_t worker, unsigned op, uint32_t microbatch)
{
    const iw_time length_ps = replay->lengths_ps[worker + iwi_pipe_slot(replay->job, op, microbatch)];

    return length_ps != IWI_PIPE_ABSENT ? length_ps : 0;
}

static iw_time receiver_ready(const struct replay *replay, const struct iwi_pipe_turn *turn, unsigned receive)
{
    const uint32_t lead = replay->job->leads[turn->stage];

    if (turn->microbatch > 0) {
        return iwi_max(*end_of(replay, turn->stage, turn->op, turn->microbatch - 1),
                       *end_of(replay, turn->stage, receive, turn->microbatch - 1));
    }
    return is_forward(turn->op) || lead == IWI_PIPE_NO_LEAD
               ? 0
               : *end_of(replay, turn->stage, IWI_PIPE_FORWARD, lead);
}

/* When the input of a computation is there. */
static iw_time receive(const struct replay *replay, const struct iwi_pipe_turn *turn, size_t first_worker)
{
    const uint32_t from = giver(replay->job, turn), q = turn->microbatch;
    const size_t width = iwi_pipe_worker_width(replay->job);
    const unsigned sends = is_forward(turn->op) ? IWI_PIPE_FORWARD_SEND : IWI_PIPE_BACKWARD_SEND;
    const unsigned receives = is_forward(turn->op) ? IWI_PIPE_FORWARD_RECV : IWI_PIPE_BACKWARD_RECV;
    iw_time begin_ps;

    if (from == UINT32_MAX) {
        return 0;
    }
    begin_ps = iwi_max(*end_of(replay, from, turn->op, q), receiver_ready(replay, turn, receives));
    if (q > 0) {
        begin_ps = iwi_max(begin_ps, *end_of(replay, from, sends, q - 1));
    }
    *end_of(replay, from, sends, q) = begin_ps + length_of(replay, first_worker + from * width, sends, q);
    return *end_of(replay, turn->stage, receives, q) =
               begin_ps + length_of(replay, first_worker + turn->stage * width, receives, q);
}

static void run_pipeline(const struct replay *replay, uint32_t step, uint32_t replica)
{
    const struct iw_straggler_job *job = replay->job;
    const size_t first = iwi_pipe_worker(job, step, replica, 0), width = iwi_pipe_worker_width(job);

    memset(replay->stage_ps, 0, job->stage_count * sizeof replay->stage_ps[0]);
    for (size_t i = 0; i < (size_t)job->stage_count * 2 * job->microbatches; i++) {
        const struct iwi_pipe_turn *turn = &job->turns[i];
        const size_t worker = first + turn->stage * width;
        iw_time begin_ps = iwi_max(replay->stage_ps[turn->stage], receive(replay, turn, first));

        if (is_forward(turn->op) && turn->microbatch == 0) {
            begin_ps = iwi_max(begin_ps, length_of(replay, worker, IWI_PIPE_GATHER, 0));
        }
        replay->stage_ps[turn->stage] = *end_of(replay, turn->stage, turn->op, turn->microbatch) =
            begin_ps + length_of(replay, worker, turn->op, turn->microbatch);
    }
}

/* Up to the embeddings: what one replica does by itself. */
static void end_replica(const struct replay *replay, uint32_t step, uint32_t replica)
{
    const struct iw_straggler_job *job = replay->job;
    const size_t first = iwi_pipe_worker(job, step, replica, 0), width = iwi_pipe_worker_width(job);
    iw_time *tails_ps = &replay->tails_ps[(size_t)replica * job->stage_count];
    iw_time both_ps;

    for (uint32_t stage = 0; stage < job->stage_count; stage++) {
        tails_ps[stage] = replay->stage_ps[stage] +
                          length_of(replay, first + stage * width, IWI_PIPE_COLLECT, 0) +
                          length_of(replay, first + stage * width, IWI_PIPE_LAYERNORM, 0);
    }
    both_ps = iwi_max(tails_ps[0], tails_ps[job->stage_count - 1]);
    tails_ps[0] = both_ps + length_of(replay, first, IWI_PIPE_EMBEDDING, 0);
    if (job->stage_count > 1) {
        tails_ps[job->stage_count - 1] =
            both_ps + length_of(replay, first + (job->stage_count - 1) * width, IWI_PIPE_EMBEDDING, 0);
    }
}

/* What replicas do together; when the step ends. */
static iw_time end_step(const struct replay *replay, uint32_t step)
{
    const struct iw_straggler_job *job = replay->job;
    const size_t first = iwi_pipe_worker(job, step, 0, 0), width = iwi_pipe_worker_width(job);
    const size_t workers = (size_t)job->replica_count * job->stage_count;
    iw_time clip_ps = 0, end_ps = 0;

    for (uint32_t stage = 0; stage < job->stage_count; stage++) {
        iw_time begin_ps = 0;

        for (size_t i = stage; i < workers; i += job->stage_count) {
            begin_ps = iwi_max(begin_ps, replay->tails_ps[i]);
        }
        for (size_t i = stage; i < workers; i += job->stage_count) {
            clip_ps = iwi_max(clip_ps, begin_ps + length_of(replay, first + i * width, IWI_PIPE_SCATTER, 0));
        }
    }
    for (size_t i = 0; i < workers; i++) {
        end_ps = iwi_max(end_ps, clip_ps + length_of(replay, first + i * width, IWI_PIPE_CLIP, 0) +
                                     length_of(replay, first + i * width, IWI_PIPE_OPTIMIZER, 0));
    }
    return end_ps;
}

iw_status iwi_pipe_replay(const struct iw_straggler_job *job, const iw_time *lengths_ps, iw_time *step_ps)
{
    struct replay replay = {.job = job, .lengths_ps = lengths_ps};
    iw_status status = IW_ERR_NOMEM;

    replay.ends_ps =
        iwi_new_array(job->log, (size_t)job->stage_count * IWI_PIPE_MICROBATCH_OPS * job->microbatches,
                      sizeof replay.ends_ps[0]);
    replay.stage_ps = iwi_new_array(job->log, job->stage_count, sizeof replay.stage_ps[0]);
    replay.tails_ps =
        iwi_new_array(job->log, (size_t)job->replica_count * job->stage_count, sizeof replay.tails_ps[0]);
    if (replay.ends_ps != NULL && replay.stage_ps != NULL && replay.tails_ps != NULL) {
        for (uint32_t step = 0; step < job->step_count; step++) {
            for (uint32_t replica = 0; replica < job->replica_count; replica++) {
                run_pipeline(&replay, step, replica);
                end_replica(&replay, step, replica);
            }
            step_ps[step] = end_step(&replay, step);
        }
        status = IW_OK;
    }
    free(replay.ends_ps);
    free(replay.stage_ps);
    free(replay.tails_ps);
    return status;
}
