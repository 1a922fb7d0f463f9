/* Passes of streaming rounds that are explained: the same passes, and one step of a path for each rank.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Where no gap can delay anything, which path goes on is known before the pass: that of the message if it
 * came after the CPU was free. So the steps are written first, side by side, and the pass adds what noise
 * takes. Passes with gaps, a few at the ends of an operation, go rank by rank.
 */
#include <string.h>

#include "core/base/base.h"
#include "core/sim/flow/flow_step.h"
#include "core/sim/flow/flow_stream.h"

/* By the levels of the message received and of the one sent: what a pass adds behind the rank's own path, and
 * behind that of the message. */
struct pass_terms {
    uint32_t own[IW_NET_INNER_MAX + 1][IW_NET_INNER_MAX + 1],
        arrived[IW_NET_INNER_MAX + 1][IW_NET_INNER_MAX + 1];
};

static const struct iwi_cost *cost_in(const struct iwi_pass *pass, struct iwi_level_run run)
{
    return pass->levels != NULL ? &pass->levels->in[run.in] : &pass->in;
}

static const struct iwi_cost *cost_out(const struct iwi_pass *pass, struct iwi_level_run run)
{
    return pass->levels != NULL ? &pass->levels->out[run.out] : &pass->out;
}

static uint32_t term_of(struct iwi_paths *paths, const struct iwi_pass *pass, struct iwi_level_run run,
                        bool is_arrival)
{
    const struct iwi_cost *in = cost_in(pass, run), *out = cost_out(pass, run);
    struct iwi_path_term term = {.count = 0};

    if (is_arrival) {
        iwi_term_add_wire(&term, in);
    }
    if (pass->has_receive) {
        iwi_term_add(&term, IW_PART_OVERHEAD, in->inner, in->recv_cpu);
        iwi_term_add(&term, IW_PART_COMPUTE, IW_NET_INNER_MAX, pass->reduce);
    }
    if (pass->has_send) {
        iwi_term_add(&term, IW_PART_OVERHEAD, out->inner, out->send_cpu);
    }
    return iwi_path_term(paths, &term);
}

static void make_terms(struct iwi_paths *paths, const struct iwi_pass *pass, uint32_t levels,
                       struct pass_terms *terms)
{
    for (uint32_t in = 0; in <= levels; in++) {
        for (uint32_t out = 0; out <= levels; out++) {
            const struct iwi_level_run run = {.in = in, .out = out};

            terms->own[in][out] = term_of(paths, pass, run, false);
            terms->arrived[in][out] = term_of(paths, pass, run, true);
        }
    }
}

/* Whose message element k receives; `count` elements around the end. */
static size_t source_of(const struct iwi_pass *pass, size_t k, size_t count)
{
    if (pass->is_flip) {
        return k ^ pass->flip;
    }
    return k >= pass->shift ? k - pass->shift : k + count - pass->shift;
}

/* Elements from k on, of which so many are at the same levels; without them all are. */
static struct iwi_level_run run_at(const struct iwi_flow *flow, const struct iwi_span *all,
                                   const struct iwi_pass *pass, size_t k)
{
    return pass->levels != NULL ? iwi_level_run_at(flow, all, pass, k, flow->count)
                                : (struct iwi_level_run){.count = flow->count - k};
}

/* Elements begin ... end - 1, whose messages come from as many in a row. */
static void write_steps(const struct iwi_flow *flow, size_t begin, size_t end, size_t from, iw_time wire,
                        uint32_t own, uint32_t arrived)
{
    const iw_time *restrict now = flow->cpu + begin, *restrict left = flow->cpu + from;
    const uint32_t *restrict now_path = flow->cpu_path + begin, *restrict left_path = flow->cpu_path + from;
    struct iwi_path_step *restrict steps = flow->paths->steps + flow->paths->step_count + begin;

    for (size_t n = 0; n < end - begin; n++) {
        const bool is_arrival = left[n] + wire > now[n];

        steps[n].before = is_arrival ? left_path[n] : now_path[n];
        steps[n].what = is_arrival ? arrived : own;
    }
}

/* As far as messages come from elements in a row. */
static size_t row_end(const struct iwi_pass *pass, size_t k, size_t end)
{
    const size_t reach = !pass->has_receive ? end
                         : pass->is_flip    ? (k | (pass->flip - 1)) + 1
                         : k < pass->shift  ? pass->shift
                                            : end;

    return reach < end ? reach : end;
}

/* Every element's step; its path ends there, until noise adds to it. */
static bool add_steps(struct iwi_flow *flow, const struct iwi_span *all, const struct iwi_pass *pass)
{
    struct iwi_paths *paths = flow->paths;
    struct pass_terms terms;
    struct iwi_level_run run;

    if (!iwi_paths_reserve(paths, flow->count)) {
        return false;
    }
    make_terms(paths, pass, pass->levels != NULL ? flow->job->levels.count : 0, &terms);
    for (size_t first = 0; first < flow->count; first += run.count) {
        run = run_at(flow, all, pass, first);
        for (size_t k = first, end; k < first + run.count; k = end) {
            const uint32_t own = terms.own[run.in][run.out];

            end = row_end(pass, k, first + run.count);
            write_steps(flow, k, end, pass->has_receive ? source_of(pass, k, flow->count) : k,
                        cost_in(pass, run)->wire, own,
                        pass->has_receive ? terms.arrived[run.in][run.out] : own);
        }
    }
    for (size_t k = 0; k < flow->count; k++) {
        flow->cpu_path[k] = (uint32_t)(paths->settled_count + paths->step_count + k);
    }
    paths->step_count += flow->count;
    return true;
}

/* One element of a pass with gaps; messages left at the times of `other`, by left_path. */
static void pass_element(struct iwi_flow *flow, const struct iwi_pass *pass, struct iwi_level_run run,
                         size_t k)
{
    const uint32_t rank = (uint32_t)k;

    if (pass->has_receive) {
        const struct iwi_cost *in = cost_in(pass, run);
        const size_t from = source_of(pass, k, flow->count);

        step_receive(flow, rank, k, in, flow->other[from] + in->wire, flow->left_path[from], true);
        if (pass->reduce > 0) {
            step_local_work(flow, rank, k, pass->reduce, true);
        }
    }
    if (pass->has_send) {
        iw_time sent;
        uint32_t sent_path;

        step_send(flow, rank, rank, k, cost_out(pass, run), &sent, &sent_path, true);
    }
}

/* The costs of a pass are where those of others were. */
static void forget_costs(struct iwi_flow *flow, const struct iwi_pass *pass)
{
    for (uint32_t level = 0; level <= flow->job->levels.count; level++) {
        const struct iwi_level_run run = {.in = level, .out = level};

        iwi_paths_forget_cost(flow->paths, cost_in(pass, run));
        iwi_paths_forget_cost(flow->paths, cost_out(pass, run));
    }
}

static iw_status pass_with_gaps(struct iwi_flow *flow, const struct iwi_span *all,
                                const struct iwi_pass *pass)
{
    if (flow->left_path == NULL) {
        flow->left_path = iwi_rank_array_new(flow->log, flow->count, sizeof *flow->left_path);
        if (flow->left_path == NULL) {
            return IW_ERR_NOMEM;
        }
    }
    memcpy(flow->other, flow->cpu, flow->count * sizeof *flow->cpu);
    memcpy(flow->left_path, flow->cpu_path, flow->count * sizeof *flow->cpu_path);
    forget_costs(flow, pass);
    for (size_t k = 0, end = 0; k < flow->count;) {
        const struct iwi_level_run run = run_at(flow, all, pass, k);

        for (end += run.count; k < end; k++) {
            pass_element(flow, pass, run, k);
        }
    }
    return IW_OK;
}

iw_status iwi_pass_explained(struct iwi_flow *flow, const struct iwi_span *all, const struct iwi_pass *pass)
{
    iw_time *const now = flow->cpu;

    if (pass->has_gaps) {
        return pass_with_gaps(flow, all, pass);
    }
    if (!add_steps(flow, all, pass)) {
        return IW_ERR_NOMEM;
    }
    iwi_pass_closed(flow, all, pass, now, now, flow->other);
    flow->cpu = flow->other;
    flow->other = now;
    return IW_OK;
}
