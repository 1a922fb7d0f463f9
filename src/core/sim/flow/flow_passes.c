/* Which rounds stream, what the passes of a streaming run are, and where their messages change levels.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/sim/flow/flow_stream.h"

#include "core/base/base.h"

bool iwi_flow_streams(const struct iwi_job *job, const struct iwi_round *round)
{
    const bool is_explained_by_rank =
        job->split != NULL && (job->net_noise != NULL || round->bytes > job->net->S_bytes);

    return (round->is_shift || round->is_flip) && !is_explained_by_rank &&
           (job->net_noise == NULL ||
            (job->net_noise->series == NULL && job->partition == NULL && job->levels.count == 0)) &&
           !(job->steps != NULL && job->has_few_steps);
}

/* Each level's groups hold both ranks of all pairs, or of none. */
static bool is_even_flip(const struct iwi_levels *levels, uint32_t flip)
{
    bool is_even = levels->nodes == 0 && levels->places == NULL && (flip & (flip - 1)) == 0;

    for (uint32_t level = 0; level < levels->count && is_even; level++) {
        is_even = levels->ranks[level] % (2 * flip) == 0 || flip % levels->ranks[level] == 0;
    }
    return is_even;
}

/* Rounds are seen by their senders: rank r sends to r + shift, or to r ^ flip. */
static struct iwi_hop hop_of(const struct iwi_round *round, const struct iwi_job *job, bool is_received)
{
    const uint32_t back = round->shift == 0 ? 0 : job->program->ranks - round->shift;

    return (struct iwi_hop){.is_flip = round->is_flip,
                            .is_even = round->is_flip && is_even_flip(&job->levels, round->flip),
                            .shift = is_received ? back : round->shift,
                            .flip = round->flip};
}

/* The levels of a pass are kept in the flow, as long as it takes to make it together with others. */
static struct iwi_pass_levels *levels_of(const struct iwi_flow *flow, uint64_t number)
{
    return flow->pass_levels == NULL ? NULL : &flow->pass_levels[number % IWI_PASS_LEVELS];
}

static void fill_costs(const iw_net *net, uint64_t bytes, struct iwi_cost *costs)
{
    for (uint32_t level = 0; level <= net->inner_count; level++) {
        costs[level] = iwi_cost_at(net, level, bytes);
    }
}

/* Whether some message of the pass has a part that only touches the CPU, or is posted so. */
static iw_time touch_of(const struct iwi_flow *flow, const struct iwi_pass *pass)
{
    const uint32_t levels = pass->levels != NULL ? flow->job->net->inner_count + 1 : 1;
    iw_time touch = pass->is_rendezvous ? flow->post_touch : 0;

    for (uint32_t k = 0; k < levels; k++) {
        const struct iwi_cost *in = pass->levels != NULL ? &pass->levels->in[k] : &pass->in;
        const struct iwi_cost *out = pass->levels != NULL ? &pass->levels->out[k] : &pass->out;

        touch |= (pass->has_receive ? in->recv_touch : 0) | (pass->has_send ? out->send_touch : 0);
    }
    return touch;
}

static struct iwi_pass bare_pass_at(const struct iwi_run *run, uint64_t number)
{
    const struct iwi_flow *flow = run->flow;
    const iw_net *net = flow->job->net;
    struct iwi_pass_levels *levels = levels_of(flow, number);
    struct iwi_pass pass = {.has_receive = number > 0, .has_send = number < run->last_pass, .levels = levels};
    struct iwi_round round;

    if (pass.has_receive) {
        run->op->algorithm->round(run->op, run->first + number - 1, &round);
        pass.in = iwi_cost_of(net, round.bytes);
        pass.reduce = iwi_bytes_cost(flow->job->program->reduce, round.reduce_bytes);
        pass.is_flip = round.is_flip;
        pass.shift = flow->is_alike ? 0 : (size_t)round.shift << flow->lane_shift;
        pass.flip = flow->is_alike ? 0 : (size_t)round.flip << flow->lane_shift;
        if (levels != NULL) {
            levels->from = hop_of(&round, flow->job, true);
            fill_costs(net, round.bytes, levels->in);
        }
    }
    if (pass.has_send) {
        run->op->algorithm->round(run->op, run->first + number, &round);
        pass.out = iwi_cost_of(net, round.bytes);
        if (levels != NULL) {
            levels->to = hop_of(&round, flow->job, false);
            fill_costs(net, round.bytes, levels->out);
        }
    }
    pass.is_rendezvous = pass.has_receive ? pass.in.is_rendezvous : pass.out.is_rendezvous;
    pass.notice = iwi_cost_notice(&net->costs, flow->job->rendezvous);
    pass.handshake = iwi_cost_handshake(&net->costs, flow->job->rendezvous);
    pass.touch = touch_of(flow, &pass);
    return pass;
}

/* Whatever their levels: how much longer than its work on the CPU the gap of a message is, at most, and how
 * long that work is, at least. */
struct bounds {
    iw_time gap_left, work;
};

static struct bounds bounds_of(const struct iwi_cost *costs, uint32_t count, bool is_received)
{
    struct bounds bounds = {INT64_MIN, INT64_MAX};

    for (uint32_t k = 0; k < count; k++) {
        const iw_time work = is_received ? costs[k].recv_cpu : costs[k].send_cpu;

        bounds.gap_left = iwi_max(bounds.gap_left, costs[k].gap - work);
        bounds.work = iwi_min(bounds.work, work);
    }
    return bounds;
}

static struct bounds bounds_in(const struct iwi_pass *pass, uint32_t levels)
{
    return levels > 0 && pass->has_receive ? bounds_of(pass->levels->in, levels, true)
                                           : bounds_of(&pass->in, 1, true);
}

static struct bounds bounds_out(const struct iwi_pass *pass, uint32_t levels)
{
    return levels > 0 && pass->has_send ? bounds_of(pass->levels->out, levels, false)
                                        : bounds_of(&pass->out, 1, false);
}

/* The gaps that began one pass earlier are over before this pass receives and sends: the CPU was busy
 * longer.
 */
static bool is_free_of_gaps(const struct iwi_run *run, const struct iwi_pass *before,
                            const struct iwi_pass *pass)
{
    const uint32_t levels = before->levels != NULL ? run->flow->job->levels.count + 1 : 0;
    const struct bounds in = bounds_in(before, levels), out = bounds_out(before, levels);

    return in.gap_left <= before->reduce + out.work &&
           out.gap_left <= bounds_in(pass, levels).work + pass->reduce;
}

/* The first two passes meet the gaps of what was before the run, if there was anything; what is after it
 * meets those of the last two. */
static bool has_gaps(const struct iwi_run *run, uint64_t number, const struct iwi_pass *pass)
{
    const bool is_fresh = run->flow->is_first_operation && run->first == 0;
    const struct iwi_pass before = bare_pass_at(run, number - (number > 0)),
                          after = bare_pass_at(run, number + (number < run->last_pass));

    return (number < 2 && !is_fresh) || pass->is_rendezvous ||
           (number + 1 >= run->last_pass && !run->flow->is_last_operation) ||
           (number > 0 && !is_free_of_gaps(run, &before, pass)) ||
           (number < run->last_pass && !is_free_of_gaps(run, pass, &after));
}

struct iwi_pass iwi_run_pass(const struct iwi_run *run, uint64_t number)
{
    struct iwi_pass pass = bare_pass_at(run, number);

    pass.has_gaps = has_gaps(run, number, &pass);
    return pass;
}

bool iwi_flow_is_free_of_gaps(const struct iwi_job *job)
{
    const uint64_t most_rounds = 1 << 16; /* more take long to look through */
    const iw_program *program = job->program;
    struct iwi_flow alone = {.job = job, .is_first_operation = true, .is_last_operation = true};
    struct iwi_run run = {.flow = &alone, .op = program->operations};
    struct iwi_round round;
    bool is_free = job->levels.count == 0 && job->schedule == NULL && program->trace == NULL &&
                   program->operation_count == 1 && program->repeat == 1;

    run.last_pass = is_free ? run.op->algorithm->round_count(run.op) : 0;
    is_free = is_free && run.last_pass <= most_rounds;
    for (uint64_t index = 0; is_free && index < run.last_pass; index++) {
        run.op->algorithm->round(run.op, index, &round);
        is_free = iwi_flow_streams(job, &round);
    }
    for (uint64_t number = 0; is_free && number <= run.last_pass && run.last_pass > 0; number++) {
        is_free = !iwi_run_pass(&run, number).has_gaps;
    }
    return is_free;
}

/* Two ranks that move together, r and r + shift, stay at their level while both stay within a group of the
 * innermost level: groups of the others begin where some of these begin.
 */
static uint32_t peer_of(const struct iwi_hop *hop, uint32_t rank, uint32_t ranks)
{
    if (hop->is_flip) {
        return rank ^ hop->flip;
    }
    return rank < ranks - hop->shift ? rank + hop->shift : rank - (ranks - hop->shift);
}

/* How many of `own` ranks from `rank` on have their peers at the level that its own has. */
static uint32_t levels_stretch(const struct iwi_levels *levels, const struct iwi_hop *hop, uint32_t rank,
                               uint32_t ranks, uint32_t own)
{
    const uint32_t peer = peer_of(hop, rank, ranks);
    uint32_t count = (uint32_t)iwi_min(own, iwi_level_stretch(levels, rank));

    if (hop->is_even) {
        return own;
    }
    if (hop->is_flip) {
        count = (uint32_t)iwi_min(count, hop->flip - rank % hop->flip);
    } else {
        count = (uint32_t)iwi_min(count, ranks - peer);
    }
    return (uint32_t)iwi_min(count, iwi_level_stretch(levels, peer));
}

struct iwi_level_run iwi_level_run_at(const struct iwi_flow *flow, const struct iwi_span *span,
                                      const struct iwi_pass *pass, size_t k, size_t end)
{
    const struct iwi_levels *levels = &flow->job->levels;
    const uint32_t ranks = flow->job->program->ranks;
    const size_t row = k >> span->width_shift, column = k - (row << span->width_shift);
    const size_t at = span->first + row * span->stride + column;
    const size_t i = at < flow->count ? at : at - flow->count;
    const uint32_t rank = flow->first_rank + (uint32_t)(i >> flow->lane_shift);
    const size_t row_end = span->width_shift < 63 ? (row + 1) << span->width_shift : end;
    uint32_t count = ranks - rank;
    struct iwi_level_run run = {.count = (row_end < end ? row_end : end) - k};

    if (pass->has_receive) {
        run.in = iwi_level_between(levels, rank, peer_of(&pass->levels->from, rank, ranks));
        count = levels_stretch(levels, &pass->levels->from, rank, ranks, count);
    }
    if (pass->has_send) {
        run.out = iwi_level_between(levels, rank, peer_of(&pass->levels->to, rank, ranks));
        count = levels_stretch(levels, &pass->levels->to, rank, ranks, count);
    }
    if ((size_t)count << flow->lane_shift < run.count + (i & (flow->lanes - 1))) {
        run.count = ((size_t)count << flow->lane_shift) - (i & (flow->lanes - 1));
    }
    return run;
}
