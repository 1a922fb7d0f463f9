/* Evaluates a plan: each time a maximum of sums, operation by operation over the ranks of a team.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/training/step_run.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/noise/node_speed.h"

/* What sources of jitter take from ranks, whether or not it reaches the step. */

/* Detours of a source that are visited in a trial; a step that was begun is finished. */
static const uint64_t BUDGET = UINT64_C(1) << 22;

static iw_status train_walk_new(const iw_log *log, const iw_noise *noise, size_t ranks,
                                struct iwi_walk *walk);
static void train_tail(struct iwi_train_run *run);

iw_status iwi_train_watch(const iw_log *log, struct iwi_train_run *run)
{
    const size_t ranks = (size_t)run->plan->pp * run->width;

    if (run->jitter == NULL || run->jitter->count == 0) {
        return IW_OK;
    }
    run->watched = iwi_new_array(log, ranks * run->jitter->count, sizeof *run->watched);
    for (uint32_t i = 0; i < run->jitter->count; i++) {
        IW_TRY(train_walk_new(log, run->jitter->sources[i].noise, ranks, &run->watch_walks[i]));
    }
    return run->watched != NULL ? IW_OK : IW_ERR_NOMEM;
}

void iwi_train_watch_begin(struct iwi_train_run *run, bool is_watched)
{
    const size_t ranks = (size_t)run->plan->pp * run->width;

    run->is_watched = is_watched && run->watched != NULL;
    for (uint32_t i = 0; run->is_watched && i < run->jitter->count; i++) {
        struct iwi_walk *walk = &run->watch_walks[i];

        memset(run->watched + i * ranks, 0, ranks * sizeof *run->watched);
        run->watch_budget[i] = BUDGET;
        for (size_t k = 0; k < ranks; k++) {
            walk->next[k] =
                iwi_noise_begin(walk->noise, iwi_train_stream(run, i, k), walk->words + k * walk->words_each);
        }
    }
}

/* Time that detours of a rank take of [start, end). */
static iw_time detoured(struct iwi_train_run *run, uint32_t source, size_t index, iw_time start, iw_time end)
{
    struct iwi_walk *walk = &run->watch_walks[source];
    const struct iwi_stream_id id = iwi_train_stream(run, source, index);
    iw_time lost = 0, t = start;

    while (t < end && walk->next[index] < end) { /* never past `end`: the next step begins there */
        const struct iwi_stream_detour detour =
            iwi_noise_detour(walk->noise, id, walk->words + index * walk->words_each, &walk->next[index], t);

        lost += iwi_max(0, iwi_min(detour.end, end) - iwi_max(detour.start, t));
        t = detour.end;
        run->watch_budget[source] -= run->watch_budget[source] > 0;
    }
    return lost;
}

static iw_time taken_by(struct iwi_train_run *run, uint32_t source, size_t index, iw_time start, iw_time end)
{
    iw_time *taken = &run->watched[source * (size_t)run->plan->pp * run->width + index];
    const int64_t factor = run->jitter->sources[source].factor;
    iw_time lost = *taken;

    *taken = 0;
    if (!iwi_noise_has_phases(run->walks[source].noise)) {
        lost = detoured(run, source, index, start, end);
    }
    /* of a time w in which everything takes f as long, w (1 - 1/f) is lost */
    return factor > 0 ? lost - (iw_time)((double)lost * IWI_FACTOR_UNIT / (double)factor) : lost;
}

/* Ranks that share a timeline are asked once; of phases and loaders all are. */
static size_t stride_of(const struct iwi_train_run *run, uint32_t source)
{
    const size_t ranks = (size_t)run->plan->pp * run->width;

    if (iwi_noise_has_phases(run->walks[source].noise) ||
        run->jitter->sources[source].where == IW_TRAINING_LOADER) {
        return 1;
    }
    switch (run->jitter->sources[source].scope) {
    case IW_TRAINING_EACH_NODE: return run->jitter->node_gpus;
    case IW_TRAINING_ALL_RANKS: return run->jitter->sources[source].is_skewed ? 1 : ranks;
    default: return 1;
    }
}

static void watch_source(struct iwi_train_run *run, uint32_t source, iw_time start, iw_time end,
                         struct iwi_train_taken *taken)
{
    const size_t ranks = (size_t)run->plan->pp * run->width;
    const size_t stride = stride_of(run, source);
    const bool is_loader = run->jitter->sources[source].where == IW_TRAINING_LOADER;
    double sum = 0, count = 0;
    iw_time longest = 0;

    for (size_t i = 0; i < ranks; i += stride) {
        if (!is_loader || iwi_train_has_loader(run, i)) {
            const iw_time lost = taken_by(run, source, i, start, end);

            sum += (double)lost;
            count++;
            longest = iwi_max(longest, lost);
        }
    }
    taken->mean_ns[source] += sum / count / 1e3;
    taken->longest_ns[source] += (double)longest / 1e3;
    taken->steps[source]++;
}

void iwi_train_watch_step(struct iwi_train_run *run, iw_time start, iw_time end,
                          struct iwi_train_taken *taken)
{
    for (uint32_t i = 0; run->is_watched && i < run->jitter->count; i++) {
        if (run->watch_budget[i] > 0) {
            watch_source(run, i, start, end, taken);
        }
    }
}

/* A group: `size` ranks, `stride` apart, within blocks of size * stride. Puts the latest of each into all. */
static void group_latest(iw_time *times, uint32_t count, uint32_t size, uint32_t stride)
{
    for (uint32_t block = 0; size > 1 && block + size * stride <= count; block += size * stride) {
        for (uint32_t i = block; i < block + stride; i++) {
            iw_time latest = times[i];

            for (uint32_t k = 1; k < size; k++) {
                latest = iwi_max(latest, times[i + k * stride]);
            }
            for (uint32_t k = 0; k < size; k++) {
                times[i + k * stride] = latest;
            }
        }
    }
}

/* ---- one operation ---- */

/* Where it is: its stage, the team's rows of that stage and its ends. */
struct place {
    uint32_t stage;
    const struct iwi_train_op *op;
    iw_time *rows;
    iw_time *ends;   /* of this operation */
    iw_time *before; /* of the stage's first operation */
};

static iw_time *row_of(const struct iwi_train_run *run, const struct place *p, uint32_t row)
{
    return p->rows + (size_t)row * run->team.columns;
}

/* Number of a column's rank among all. */
static size_t index_of(const struct iwi_train_run *run, const struct place *p, uint32_t column)
{
    return (size_t)p->stage * run->width + run->team.ranks[column];
}

static void put_latest(iw_time *times, const iw_time *others, iw_time later, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        times[i] = iwi_max(times[i], others[i] + later);
    }
}

/* When lane, parameters, other operations and input allow it to start. */
static void start(struct iwi_train_run *run, const struct place *p)
{
    const uint32_t n = run->team.columns;

    memcpy(p->ends, row_of(run, p, IWI_ROW_LANES + p->op->lane), n * sizeof *p->ends);
    if (p->op->after > 0) {
        put_latest(p->ends, p->before + (size_t)(p->op->after - 1) * n, 0, n);
    }
    if (p->op->input > 0) {
        put_latest(p->ends,
                   run->team.ends + ((size_t)p->op->input_stage * run->plan->most_ops + p->op->input - 1) * n,
                   p->op->hop_ps, n);
    }
    if (p->op->bucket > 0) {
        put_latest(p->ends, row_of(run, p, IWI_ROW_BUCKETS + p->op->bucket - 1), 0, n);
    }
}

/* The host: its first launch lets the operation start, its last one lets the last kernel start. */
static void launch(struct iwi_train_run *run, const struct place *p)
{
    const iw_time each = run->plan->launch_ps;
    const bool is_bound = p->op->queued_behind > 0;
    const iw_time *behind =
        p->before + (is_bound ? (size_t)(p->op->queued_behind - 1) * run->team.columns : 0);
    iw_time *hosts = row_of(run, p, IWI_ROW_HOST);

    for (uint32_t i = 0; i < run->team.columns; i++) {
        iw_time host = hosts[i];

        host = p->op->host_waits ? iwi_max(host, p->ends[i]) : host;
        host = is_bound ? iwi_max(host, behind[i]) : host;
        host = iwi_train_finish(run, IW_TRAINING_HOST, index_of(run, p, i), host, each);
        p->ends[i] = iwi_max(p->ends[i], host);
        if (p->op->launches > 1) {
            host = iwi_train_finish(run, IW_TRAINING_HOST, index_of(run, p, i), host,
                                    (p->op->launches - 1) * each);
        }
        run->team.launched[i] = hosts[i] = host;
    }
}

/* All but the last kernel, and that one. */
static iw_time compute(struct iwi_train_run *run, const struct iwi_train_op *op, size_t index, iw_time t,
                       iw_time work, iw_time launched)
{
    const iw_time last = op->launches > 1 ? work / op->launches : 0;

    t = iwi_train_finish(run, IW_TRAINING_DEVICE, index, t, work - last);
    return last > 0 ? iwi_train_finish(run, IW_TRAINING_DEVICE, index, iwi_max(t, launched), last) : t;
}

static void work(struct iwi_train_run *run, const struct place *p)
{
    const bool has_host = run->plan->has_launches && p->op->launches > 0;
    const bool is_plain =
        run->factors == NULL && run->lengths[0] == NULL && run->at[IW_TRAINING_DEVICE].phased_count == 0;
    const uint64_t phase =
        run->step * run->plan->most_ops + (uint64_t)(p->op - run->plan->stages[p->stage].ops);
    const uint32_t each = run->plan->tp * run->plan->cp;

    for (uint32_t i = 0; i < run->team.columns; i++) {
        const size_t index = index_of(run, p, i);
        iw_time amount = p->op->work_ps;

        if (!is_plain) {
            amount = iwi_train_scaled(run, p->op, index, run->team.ranks[i] / each);
            if (p->op->is_phase) {
                amount += iwi_train_extra(run, IW_TRAINING_DEVICE, index, phase, p->ends[i], amount);
            }
        }
        p->ends[i] =
            compute(run, p->op, index, p->ends[i], amount, has_host ? run->team.launched[i] : p->ends[i]);
    }
}

static void meet(struct iwi_train_run *run, const struct place *p)
{
    const uint32_t n = run->team.columns;
    struct iwi_train_members members = iwi_train_members(run->plan, p->op->group);

    if (members.size * members.stride == run->width) { /* those of all units: there is one of each kind */
        members.size = n / members.stride;
    }
    if (run->width > 1) {
        group_latest(p->ends, n, members.size, members.stride);
    }
    if (run->at[IW_TRAINING_NETWORK].count == 0 || !p->op->leaves_node) {
        for (uint32_t i = 0; i < n; i++) {
            p->ends[i] += p->op->collective_ps;
        }
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        p->ends[i] =
            iwi_train_finish(run, IW_TRAINING_NETWORK, index_of(run, p, i), p->ends[i], p->op->collective_ps);
    }
    group_latest(p->ends, n, members.size, members.stride);
}

static void evaluate(struct iwi_train_run *run, const struct iwi_train_turn *turn)
{
    const uint32_t n = run->team.columns;
    iw_time *before = run->team.ends + (size_t)turn->stage * run->plan->most_ops * n;
    const struct place p = {.stage = turn->stage,
                            .op = &run->plan->stages[turn->stage].ops[turn->op],
                            .rows = run->team.times + (size_t)turn->stage * run->team.rows * n,
                            .ends = before + (size_t)turn->op * n,
                            .before = before};

    start(run, &p);
    if (run->plan->has_launches && p.op->launches > 0) {
        launch(run, &p);
    }
    if (p.op->work_ps > 0) {
        work(run, &p);
    }
    if (p.op->group != IWI_ALONE) {
        meet(run, &p);
    }
    memcpy(row_of(run, &p, IWI_ROW_LANES + p.op->lane), p.ends, n * sizeof *p.ends);
}

void iwi_train_evaluate(struct iwi_train_run *run)
{
    for (uint64_t i = 0; i < run->plan->turn_count; i++) {
        evaluate(run, &run->plan->turns[i]);
    }
}

/* ---- steps ---- */

/* What acts once in a usual step. */
static iw_time step_extra(struct iwi_train_run *run, int where, size_t index, iw_time t, iw_time work)
{
    const uint64_t end = iwi_train_first_phase(run, run->step + 1);
    iw_time extra = 0;

    for (uint64_t phase = iwi_train_first_phase(run, run->step); phase < end; phase++) {
        extra += iwi_train_extra(run, where, index, phase, t, work);
    }
    return extra;
}

static void load_batches(struct iwi_train_run *run)
{
    const struct iwi_train_plan *plan = run->plan;
    const size_t ranks = (size_t)plan->pp * run->width;
    const iw_time load_ps = plan->load_ps * (iw_time)plan->batch / (iw_time)plan->usual_batch;
    iw_time *slot = run->taken + run->step % plan->prefetch * ranks;

    for (size_t i = 0; i < ranks; i++) {
        if (iwi_train_has_loader(run, i)) {
            if (run->step >= plan->prefetch) {
                const iw_time t = iwi_max(run->loaded[i], slot[i]);
                const iw_time extra = step_extra(run, IW_TRAINING_LOADER, i, t, plan->load_ps);

                run->loaded[i] = iwi_train_finish(run, IW_TRAINING_LOADER, i, t, load_ps + extra);
            }
            run->host[i] = iwi_max(run->host[i], run->loaded[i]);
            if (!plan->has_launches) { /* the device is its own host */
                run->lanes[IWI_LANE_COMPUTE][i] = iwi_max(run->lanes[IWI_LANE_COMPUTE][i], run->host[i]);
                run->host[i] = run->lanes[IWI_LANE_COMPUTE][i];
            }
        }
        slot[i] = run->host[i];
    }
}

static void pause_step(struct iwi_train_run *run, int where, iw_time *times)
{
    const size_t ranks = (size_t)run->plan->pp * run->width;

    for (size_t i = 0; run->at[where].phased_count > 0 && i < ranks; i++) {
        times[i] += step_extra(run, where, i, times[i], 0);
    }
}

iw_time iwi_train_step(struct iwi_train_run *run)
{
    const struct iwi_train_plan *plan = run->plan;
    iw_time end = 0;

    if (run->has_loader) {
        load_batches(run);
    }
    iwi_train_draw_lengths(run);
    pause_step(run, IW_TRAINING_HOST, run->host);
    pause_step(run, IWI_STOPS, run->lanes[IWI_LANE_COMPUTE]);
    iwi_train_teams_run(run);
    train_tail(run);
    run->step++;
    for (size_t i = 0; i < (size_t)plan->pp * run->width; i++) {
        end = iwi_max(end, run->lanes[IWI_LANE_COMPUTE][i]);
    }
    return end;
}

iw_status iwi_train_begin(const iw_log *log, struct iwi_train_run *run, uint64_t trial,
                          struct iwi_train_change change)
{
    const size_t ranks = (size_t)run->plan->pp * run->width;

    run->trial = trial;
    run->step = 0;
    run->begun = 0;
    run->change = change;
    memset(run->host, 0, ranks * sizeof *run->host);
    memset(run->loaded, 0, ranks * sizeof *run->loaded);
    memset(run->taken, 0, ranks * run->plan->prefetch * sizeof *run->taken);
    memset(run->gathered, 0, ranks * run->plan->most_buckets * sizeof *run->gathered);
    for (int lane = 0; lane < IWI_LANES; lane++) {
        memset(run->lanes[lane], 0, ranks * sizeof *run->host);
    }
    iwi_train_walks_begin(run);
    return iwi_train_draw_speeds(log, run);
}

uint32_t iwi_train_width(const struct iwi_train_run *run)
{
    return run->width;
}

/* ---- memory ---- */

static iw_status train_walk_new(const iw_log *log, const iw_noise *noise, size_t ranks, struct iwi_walk *walk)
{
    walk->noise = noise;
    walk->words_each = iwi_noise_words(noise);
    walk->next = iwi_new_array(log, ranks, sizeof *walk->next);
    walk->words = iwi_new_array(log, ranks * (walk->words_each + 1), sizeof *walk->words);
    return walk->next != NULL && walk->words != NULL ? IW_OK : IW_ERR_NOMEM;
}

static iw_status new_walks(const iw_log *log, struct iwi_train_run *run)
{
    const struct iwi_train_jitter *jitter = run->jitter;
    const size_t ranks = (size_t)run->plan->pp * run->width;

    for (uint32_t i = 0; jitter != NULL && i < jitter->count; i++) {
        IW_TRY(train_walk_new(log, jitter->sources[i].noise, ranks, &run->walks[i]));
        if (jitter->sources[i].where == IW_TRAINING_NETWORK) {
            IW_TRY(train_walk_new(log, jitter->sources[i].noise, ranks, &run->tail_walks[i]));
        }
        run->has_loader |= jitter->sources[i].where == IW_TRAINING_LOADER;
    }
    return IW_OK;
}

static iw_status new_times(const iw_log *log, size_t count, iw_time **times_p)
{
    *times_p = iwi_new_array(log, count, sizeof **times_p);
    return *times_p != NULL ? IW_OK : IW_ERR_NOMEM;
}

static iw_status new_arrays(const iw_log *log, struct iwi_train_run *run)
{
    const struct iwi_train_plan *plan = run->plan;
    const size_t ranks = (size_t)plan->pp * run->width;

    for (int lane = 0; lane < IWI_LANES; lane++) {
        IW_TRY(new_times(log, ranks, &run->lanes[lane]));
    }
    IW_TRY(new_times(log, ranks, &run->host));
    IW_TRY(new_times(log, ranks, &run->loaded));
    IW_TRY(new_times(log, ranks * plan->prefetch, &run->taken));
    IW_TRY(new_times(log, ranks * plan->most_buckets, &run->ready));
    IW_TRY(new_times(log, ranks * plan->most_buckets, &run->gathered));
    if (run->jitter != NULL && (run->jitter->forward_sigma > 0 || run->jitter->backward_sigma > 0)) {
        IW_TRY(new_times(log, (size_t)plan->dp * plan->microbatches, &run->lengths[0]));
        IW_TRY(new_times(log, (size_t)plan->dp * plan->microbatches, &run->lengths[1]));
    }
    return IW_OK;
}

iw_status iwi_train_run_new(const iw_log *log, const iw_training *spec, const struct iwi_train_plan *plan,
                            const struct iwi_train_jitter *jitter, struct iwi_train_run **run_p)
{
    struct iwi_train_run *run = iwi_new_array(log, 1, sizeof *run);
    iw_status status;

    if (run == NULL) {
        return IW_ERR_NOMEM;
    }
    run->plan = plan;
    run->jitter = jitter;
    run->width = jitter != NULL ? plan->tp * plan->cp * plan->dp : 1;
    run->has_loader = spec->load_ps > 0;
    status = new_arrays(log, run);
    if (status == IW_OK) {
        status = iwi_train_teams_new(log, run);
    }
    if (status == IW_OK) {
        status = new_walks(log, run);
    }
    if (status == IW_OK) {
        status = iwi_train_begin(log, run, 0, (struct iwi_train_change){0});
    }
    if (status != IW_OK) {
        iwi_train_run_free(run);
        return status;
    }
    *run_p = run;
    return IW_OK;
}

static void free_walk(struct iwi_walk *walk)
{
    free(walk->next);
    free(walk->words);
}

void iwi_train_run_free(struct iwi_train_run *run)
{
    if (run == NULL) {
        return;
    }
    for (int lane = 0; lane < IWI_LANES; lane++) {
        free(run->lanes[lane]);
    }
    for (size_t i = 0; i < IW_TRAINING_SOURCES_MAX; i++) {
        free_walk(&run->walks[i]);
        free_walk(&run->tail_walks[i]);
        free_walk(&run->watch_walks[i]);
    }
    free(run->watched);
    free(run->host);
    free(run->loaded);
    free(run->taken);
    iwi_train_teams_free(run);
    free(run->ready);
    free(run->gathered);
    free(run->factors);
    free(run->lengths[0]);
    free(run->lengths[1]);
    free(run);
}

/* The end of a step: gradients reduced, the norm of all of them, the optimizer, parameters gathered. */

/* The next collective over data parallelism on a lane of a stage: it begins when all of `ready` are there. */
static void reduce(struct iwi_train_run *run, uint32_t stage, enum iwi_lane on, const iw_time *ready,
                   iw_time collective_ps)
{
    const struct iwi_train_plan *plan = run->plan;
    const size_t base = (size_t)stage * run->width;
    iw_time *lane = run->lanes[on] + base;
    const bool is_hit = run->at[IW_TRAINING_NETWORK].count > 0 && plan->tail_leaves_node;

    for (uint32_t i = 0; i < run->width; i++) {
        lane[i] = iwi_max(lane[i], ready[i]);
    }
    if (run->width > 1) {
        group_latest(lane, run->width, plan->cp * plan->dp, plan->tp);
    }
    for (uint32_t i = 0; i < run->width; i++) {
        lane[i] =
            is_hit ? iwi_train_finish_slow(run, IW_TRAINING_NETWORK, true, base + i, lane[i], collective_ps)
                   : lane[i] + collective_ps;
    }
    if (is_hit) {
        group_latest(lane, run->width, plan->cp * plan->dp, plan->tp);
    }
}

static void reduce_gradients(struct iwi_train_run *run)
{
    const struct iwi_train_plan *plan = run->plan;

    for (uint32_t s = 0; s < plan->pp; s++) {
        iw_time *compute = run->lanes[IWI_LANE_COMPUTE] + (size_t)s * run->width;
        const iw_time *reduced = run->lanes[IWI_LANE_REDUCE] + (size_t)s * run->width;

        for (uint32_t k = 0; k < plan->stages[s].bucket_count; k++) {
            reduce(run, s, IWI_LANE_REDUCE, run->ready + ((size_t)s * plan->most_buckets + k) * run->width,
                   plan->stages[s].buckets[k].reduce_ps);
        }
        for (uint32_t i = 0; i < run->width; i++) {
            compute[i] = iwi_max(compute[i], reduced[i]);
        }
    }
}

static void reduce_embedding(struct iwi_train_run *run)
{
    iw_time *first = run->lanes[IWI_LANE_COMPUTE], *last = first + (size_t)(run->plan->pp - 1) * run->width;

    for (uint32_t i = 0; run->plan->is_tied && i < run->width; i++) {
        first[i] = last[i] = iwi_max(first[i], last[i]) + run->plan->embedding_ps;
    }
}

/* When the norm of all gradients is known. */
static iw_time reduce_norm(struct iwi_train_run *run)
{
    const struct iwi_train_plan *plan = run->plan;
    const size_t ranks = (size_t)plan->pp * run->width;
    iw_time start = 0, end = 0;

    for (size_t i = 0; i < ranks; i++) {
        start = iwi_max(start, run->lanes[IWI_LANE_COMPUTE][i]);
    }
    end = start + plan->norm_ps;
    for (size_t i = 0; run->at[IW_TRAINING_NETWORK].count > 0 && i < ranks; i++) {
        end = iwi_max(end, iwi_train_finish_slow(run, IW_TRAINING_NETWORK, true, i, start, plan->norm_ps));
    }
    return end;
}

/* All ranks wait for the norm; their hosts read it, so that no launch is ahead any more. */
static void update(struct iwi_train_run *run)
{
    const struct iwi_train_plan *plan = run->plan;
    const size_t ranks = (size_t)plan->pp * run->width;
    const iw_time norm = reduce_norm(run);
    iw_time *compute = run->lanes[IWI_LANE_COMPUTE];

    run->begun = norm;
    for (size_t i = 0; i < ranks; i++) {
        iw_time t = norm;

        if (plan->has_launches) {
            run->host[i] =
                iwi_train_finish(run, IW_TRAINING_HOST, i, iwi_max(run->host[i], norm), plan->launch_ps);
            t = run->host[i];
        }
        compute[i] =
            iwi_train_finish(run, IW_TRAINING_DEVICE, i, t, iwi_train_speeded(run, plan->optimizer_ps, i));
    }
}

/* Of the first chunk first: the buckets were ready the other way round. */
static void gather_parameters(struct iwi_train_run *run)
{
    const struct iwi_train_plan *plan = run->plan;

    for (uint32_t s = 0; s < plan->pp; s++) {
        const size_t base = (size_t)s * run->width;
        iw_time *compute = run->lanes[IWI_LANE_COMPUTE] + base, *gather = run->lanes[IWI_LANE_GATHER] + base;

        for (uint32_t k = plan->stages[s].bucket_count; k-- > 0;) {
            reduce(run, s, IWI_LANE_GATHER, compute, plan->stages[s].buckets[k].gather_ps);
            memcpy(run->gathered + ((size_t)s * plan->most_buckets + k) * run->width, gather,
                   run->width * sizeof *gather);
        }
        for (uint32_t i = 0; !plan->overlaps_parameters && i < run->width; i++) {
            compute[i] = iwi_max(compute[i], gather[i]);
        }
        for (uint32_t i = 0; plan->couples_dp && i < run->width; i++) { /* what FSDP gathers next is new */
            gather[i] = iwi_max(compute[i], gather[i]);
        }
    }
}

/* From the gradients to the parameters of the next step. */
static void train_tail(struct iwi_train_run *run)
{
    reduce_gradients(run);
    reduce_embedding(run);
    update(run);
    gather_parameters(run);
}
