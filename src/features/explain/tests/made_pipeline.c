/* Makes runs of pipelines by max-plus.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "made_pipeline.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/rng.h"
#include "support/support.h"

#define COMPUTE_PS (2 * IW_PS_PER_MS)
#define TRANSFER_PS (50 * IW_PS_PER_US)
#define NOT_YET INT64_MIN

enum { FORWARD_STREAM = 1, BACKWARD_STREAM, NODE = 8 };

struct rank {
    iw_time at_ps;
    uint32_t tp_group, dp_group;
    uint32_t next[2]; /* groups of messages to the next stage, and back from it */
};

/* A stage of one pipeline on its way through a step: ranks first ... first + tp - 1. */
struct team {
    uint32_t first, stage, done; /* operations */
};

struct pipeline {
    const struct made_pipeline *made;
    struct iwi_visits *visits;
    struct rank *ranks;
    uint32_t rank_count, stride; /* ranks of a stage */
    uint32_t step, world;
    uint64_t sequence;
    iw_time *sent_ps; /* [backward][micro-batch][rank]: when the result of a rank was ready */
};

const char *made_law_name(enum made_law law)
{
    static const char *const names[MADE_LAWS] = {"even", "often", "rare", "by node", "lasting", "drifting"};

    return names[law];
}

/* ---- how long a computation takes ---- */

static double unit(const struct pipeline *p, uint32_t what, uint32_t rank, uint64_t index)
{
    return iwi_draw_unit(
        (struct iwi_draw_id){.seed = p->made->seed, .purpose = IWI_DRAW_TEST, .source = what, .rank = rank},
        index);
}

/* What a rank loses in a step, in computations; it does so in the first one of the step. */
static double lost(const struct pipeline *p, uint32_t rank)
{
    const double ops = 2.0 * p->made->microbatches;

    switch (p->made->law) {
    case MADE_RARE:
        return unit(p, 1, rank, p->step) < 0.02
                   ? 0.2 * ops * fmin(20.0, pow(unit(p, 2, rank, p->step), -1.0 / 1.2))
                   : 0.0;
    case MADE_NODES: return unit(p, 1, rank / NODE, p->step) < 0.05 ? ops / 3.0 : 0.0;
    default: return 0.0;
    }
}

/* Of one computation, beyond 1. */
static double noise(const struct pipeline *p, uint32_t rank, uint64_t index)
{
    const double even = 0.02 * (2.0 * unit(p, 0, rank, index) - 1.0), done = (double)p->step / p->made->steps;
    bool is_slow = false;

    switch (p->made->law) {
    case MADE_OFTEN: return -0.03 * log(unit(p, 0, rank, index));
    case MADE_LASTING:
        for (uint32_t s = p->step >= 2 ? p->step - 2 : 0; s <= p->step; s++) {
            is_slow |= unit(p, 1, rank, s) < 0.02;
        }
        return even + (is_slow ? 0.1 : 0.0);
    case MADE_DRIFT: return even + 0.2 * done + 0.003 * sin(6.3 * (2.0 * done + unit(p, 1, rank, 0)));
    default: return even;
    }
}

static void compute(struct pipeline *p, uint32_t rank, uint32_t op)
{
    const double share = 1.0 + noise(p, rank, (uint64_t)p->step << 16 | op) +
                         (rank == p->made->slow_rank ? p->made->slower : 0.0) +
                         (op == 0 ? lost(p, rank) : 0.0);
    const struct iwi_stretch stretch = {.rank = rank,
                                        .step = p->step,
                                        .begin_ps = p->ranks[rank].at_ps,
                                        .end_ps = p->ranks[rank].at_ps + (iw_time)(share * COMPUTE_PS)};

    assert_ok(iwi_visits_add_stretch(p->visits, &stretch));
    p->ranks[rank].at_ps = stretch.end_ps;
}

/* ---- meetings ---- */

static void add(struct pipeline *p, struct iwi_visit visit)
{
    visit.step = p->step;
    visit.bytes = UINT64_C(1) << 20;
    assert_ok(iwi_visits_add(p->visits, &visit));
}

static void meet(struct pipeline *p, uint32_t group)
{
    const struct iwi_visit_group *of = &p->visits->groups[group];
    iw_time start_ps = 0;

    for (uint32_t i = 0; i < of->count; i++) {
        start_ps = iwi_max(start_ps, p->ranks[of->members[i]].at_ps);
    }
    for (uint32_t i = 0; of->count > 1 && i < of->count; i++) {
        struct rank *rank = &p->ranks[of->members[i]];

        add(p, (struct iwi_visit){.rank = of->members[i],
                                  .group = group,
                                  .op = IWI_VISIT_ALLREDUCE,
                                  .sequence = p->sequence,
                                  .enter_ps = rank->at_ps,
                                  .leave_ps = start_ps + TRANSFER_PS});
        rank->at_ps = start_ps + TRANSFER_PS;
    }
    p->sequence++;
}

static iw_time *sent_at(const struct pipeline *p, bool is_backward, uint32_t microbatch, uint32_t rank)
{
    return &p->sent_ps[((size_t)is_backward * p->made->microbatches + microbatch) * p->rank_count + rank];
}

static void receive(struct pipeline *p, uint32_t from, uint32_t to, bool is_backward, uint32_t microbatch)
{
    const iw_time sent_ps = *sent_at(p, is_backward, microbatch, from), came_ps = p->ranks[to].at_ps;
    const iw_time leave_ps = iwi_max(sent_ps, came_ps) + TRANSFER_PS;
    struct iwi_visit visit = {.rank = from,
                              .group = p->ranks[is_backward ? to : from].next[is_backward],
                              .op = IWI_VISIT_MESSAGE,
                              .stream = is_backward ? BACKWARD_STREAM : FORWARD_STREAM,
                              .sequence = (uint64_t)p->step << 32 | microbatch,
                              .enter_ps = sent_ps,
                              .leave_ps = leave_ps,
                              .has_root = true,
                              .root = from};

    add(p, visit);
    visit.rank = to;
    visit.enter_ps = came_ps;
    add(p, visit);
    p->ranks[to].at_ps = leave_ps;
}

/* ---- a step ---- */

/* The n-th operation of a stage. */
static void operation(const struct made_pipeline *made, uint32_t stage, uint32_t n, bool *is_backward_p,
                      uint32_t *microbatch_p)
{
    const uint32_t m = made->microbatches, behind = made->pp - 1 - stage;
    const uint32_t warm = made->is_gpipe || behind > m ? m : behind;

    if (n < warm) {
        *is_backward_p = false;
        *microbatch_p = n;
    } else if (n < 2 * m - warm) {
        *is_backward_p = (n - warm) % 2 == 1;
        *microbatch_p = (n - warm) / 2 + (*is_backward_p ? 0 : warm);
    } else {
        *is_backward_p = true;
        *microbatch_p = n - m;
    }
}

/* The next operation of a team; false: what it needs is not there yet. */
static bool advance(struct pipeline *p, struct team *team)
{
    bool is_backward, has_source;
    uint32_t microbatch, from;

    operation(p->made, team->stage, team->done, &is_backward, &microbatch);
    has_source = is_backward ? team->stage + 1 < p->made->pp : team->stage > 0;
    from = is_backward ? team->first + p->stride : team->first - p->stride;
    if (has_source && *sent_at(p, is_backward, microbatch, from) == NOT_YET) {
        return false;
    }
    for (uint32_t t = 0; t < p->made->tp; t++) {
        if (has_source) {
            receive(p, from + t, team->first + t, is_backward, microbatch);
        }
        compute(p, team->first + t, team->done);
    }
    meet(p, p->ranks[team->first].tp_group);
    for (uint32_t t = 0; t < p->made->tp; t++) {
        *sent_at(p, is_backward, microbatch, team->first + t) = p->ranks[team->first + t].at_ps;
    }
    team->done++;
    return true;
}

static void run_step(struct pipeline *p, struct team *teams)
{
    const uint32_t count = p->rank_count / p->made->tp, ops = 2 * p->made->microbatches;

    for (uint32_t r = 0; r < p->rank_count; r++) {
        const struct iwi_visit_step step = {.rank = r, .number = p->step, .begin_ps = p->ranks[r].at_ps};

        assert_ok(iwi_visits_add_step(p->visits, &step));
        for (uint32_t i = 0; i < ops; i++) {
            *sent_at(p, i % 2 == 1, i / 2, r) = NOT_YET;
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        teams[i] = (struct team){.first = i * p->made->tp, .stage = i / p->made->dp};
    }
    for (bool has_moved = true; has_moved;) {
        has_moved = false;
        for (uint32_t i = 0; i < count; i++) {
            while (teams[i].done < ops && advance(p, &teams[i])) {
                has_moved = true;
            }
        }
    }
    for (uint32_t s = 0; s < p->made->pp; s++) {
        for (uint32_t t = 0; t < p->made->tp; t++) {
            meet(p, p->ranks[s * p->stride + t].dp_group);
        }
    }
    meet(p, p->world);
    for (uint32_t r = 0; r < p->rank_count; r++) {
        p->visits->steps[(size_t)p->step * p->rank_count + r].end_ps = p->ranks[r].at_ps;
    }
}

/* ---- groups ---- */

static uint32_t group_of(struct pipeline *p, const char *name, uint32_t first, uint32_t count,
                         uint32_t stride)
{
    uint32_t members[1024], group;

    assert_true(count <= 1024);
    for (uint32_t i = 0; i < count; i++) {
        members[i] = first + i * stride;
    }
    assert_ok(iwi_visits_group(p->visits, name, members, count, count, &group));
    return group;
}

static void make_groups(struct pipeline *p)
{
    const uint32_t tp = p->made->tp;

    for (uint32_t r = 0; r < p->rank_count; r++) {
        uint32_t index;

        assert_ok(iwi_visits_rank(p->visits, r, NULL, &index));
    }
    p->world = group_of(p, "world", 0, p->rank_count, 1);
    for (uint32_t r = 0; r < p->rank_count; r++) {
        struct rank *rank = &p->ranks[r];

        rank->tp_group = group_of(p, "tp", r / tp * tp, tp, 1);
        rank->dp_group = group_of(p, "dp", r / p->stride * p->stride + r % tp, p->made->dp, tp);
        if (r + p->stride < p->rank_count) {
            rank->next[0] = group_of(p, "forward", r, 2, p->stride);
            rank->next[1] = group_of(p, "backward", r, 2, p->stride);
        }
    }
}

void made_pipeline_run(const struct made_pipeline *made, struct iwi_visits *visits)
{
    struct pipeline p = {.made = made,
                         .visits = visits,
                         .rank_count = made->tp * made->dp * made->pp,
                         .stride = made->tp * made->dp};
    struct team *teams = calloc(p.rank_count, sizeof *teams);

    p.ranks = calloc(p.rank_count, sizeof *p.ranks);
    p.sent_ps = calloc((size_t)2 * made->microbatches * p.rank_count, sizeof *p.sent_ps);
    assert_true(teams != NULL && p.ranks != NULL && p.sent_ps != NULL);
    iwi_visits_init(visits, NULL, "made");
    make_groups(&p);
    for (; p.step < made->steps; p.step++) {
        run_step(&p, teams);
    }
    assert_ok(iwi_visits_finish(visits));
    free(teams);
    free(p.ranks);
    free(p.sent_ps);
}
