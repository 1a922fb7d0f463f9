/* Runs the traced run again without what some sources took; its critical path; what another run may be.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * With ' for times of the replay:
 *
 *     enter'(k) = leave'(k-1) + gap(k) - lost in the gap
 *     start'(k) = max(enter'(k), enter'(d) of all d that k waits for)
 *     leave'(k) = start'(k) + rest(k) - lost in the rest - min(lost in the rest of a d, excess of the rest)
 *
 * A large message also needs the other end to be in calls and to have a CPU: what that end lost during the
 * rest counts as what is lost in the rest of a d.
 *
 * With nothing removed each time is that of the run, to the nanosecond. Losses while waiting cost nothing.
 */
#include <math.h>
#include <stdlib.h>

#include "core/base/lookup.h"
#include "core/base/order.h"
#include "features/explain/blame/run.h"

#define UNKNOWN INT64_MIN

struct replay {
    const struct iwi_blamed_run *run;
    const bool *is_removed;
    int64_t *enter_ns; /* UNKNOWN: not yet there */
    int64_t *leave_ns; /* of each rank, of its last call */
    uint64_t *next;    /* of each rank */
};

/* Removed from the gap and from the rest of a call. */
static void sum_losses(const struct replay *r, uint64_t call, int64_t *gap_ns_p, int64_t *rest_ns_p)
{
    const struct iwi_blamed_run *run = r->run;

    *gap_ns_p = *rest_ns_p = 0;
    for (uint64_t i = run->first_loss[call]; i < run->first_loss[call + 1]; i++) {
        if (r->is_removed[run->losses[i].source]) {
            *gap_ns_p += run->losses[i].gap_ns;
            *rest_ns_p += run->losses[i].rest_ns;
        }
    }
}

/* What part of a call's rest a loss of another rank in the same collective or message can have prolonged. */
static int64_t run_excess_ns(const struct iwi_blamed_run *run, uint64_t call, int64_t own_ns)
{
    return iwi_max(0,
                   run->leave_ns[call] - run->start_ns[call] - own_ns - run->usual_rest_ns[run->alike[call]]);
}

/* The latest enter of what a call waits for; false: one of them is not there yet. `other_ns_p`: the most that
 * one of them lost in the rest of its call. */
static bool latest(const struct replay *r, uint64_t dep, int64_t *enter_ns_p, int64_t *other_ns_p)
{
    const struct iwi_blamed_run *run = r->run;
    const bool is_group = (dep & IWI_RUN_IS_GROUP) != 0;
    const struct iwi_run_group *group = is_group ? &run->groups[dep & ~IWI_RUN_IS_GROUP] : NULL;
    const uint64_t count = is_group ? group->count : 1;

    for (uint64_t i = 0; i < count; i++) {
        const uint64_t call = is_group ? run->members[group->first + i] : dep;
        int64_t gap_ns, rest_ns;

        if (r->enter_ns[call] == UNKNOWN) {
            return false;
        }
        *enter_ns_p = iwi_max(*enter_ns_p, r->enter_ns[call]);
        sum_losses(r, call, &gap_ns, &rest_ns);
        *other_ns_p = iwi_max(*other_ns_p, rest_ns);
    }
    return true;
}

/* The most that one who has to move the messages of a call on lost during its rest. */
static int64_t lost_by_helpers(const struct replay *r, uint64_t call)
{
    const struct iwi_blamed_run *run = r->run;
    int64_t most_ns = 0;

    for (uint64_t i = run->first_helper[call]; i < run->first_helper[call + 1]; i++) {
        const uint32_t rank = run->helpers[i];
        const size_t end = (size_t)run->first_loss[run->first[rank + 1]];
        int64_t sum_ns = 0, during_ns;

        for (size_t k = iwi_run_loss_after(run, rank, run->start_ns[call]);
             k < end && (during_ns = iwi_run_loss_during(run, &run->losses[k], call)) > 0; k++) {
            sum_ns += r->is_removed[run->losses[k].source] ? during_ns : 0;
        }
        most_ns = iwi_max(most_ns, sum_ns);
    }
    return most_ns;
}

/* The next call of a rank; false: it has to wait for others, unless it `may_skip` that. */
static bool step(struct replay *r, uint32_t rank, bool may_skip)
{
    const struct iwi_blamed_run *run = r->run;
    const uint64_t call = r->next[rank];
    int64_t gap_ns, rest_ns, start_ns, other_ns = 0;

    sum_losses(r, call, &gap_ns, &rest_ns);
    if (r->enter_ns[call] == UNKNOWN) {
        r->enter_ns[call] = r->leave_ns[rank] + run->enter_ns[call] - iwi_run_before_ns(run, call) - gap_ns;
    }
    start_ns = r->enter_ns[call];
    for (uint64_t i = run->first_dep[call]; i < run->first_dep[call + 1]; i++) {
        if (!latest(r, run->deps[i], &start_ns, &other_ns) && !may_skip) {
            return false;
        }
    }
    other_ns = iwi_max(other_ns, lost_by_helpers(r, call));
    other_ns = iwi_min(iwi_max(other_ns - rest_ns, 0), run_excess_ns(run, call, rest_ns));
    r->leave_ns[rank] = start_ns + run->leave_ns[call] - run->start_ns[call] - rest_ns - other_ns;
    r->next[rank]++;
    return true;
}

/* A trace whose calls wait for each other in a circle, as clocks that disagree can make it, goes on all the
 * same. */
static void run_all(struct replay *r)
{
    const struct iwi_blamed_run *run = r->run;
    bool is_done = false, may_skip = false;

    while (!is_done) {
        bool has_moved = false;

        is_done = true;
        for (uint32_t rank = 0; rank < run->trace->rank_count; rank++) {
            while (r->next[rank] < run->first[rank + 1] && step(r, rank, may_skip)) {
                has_moved = true;
                may_skip = false;
            }
            is_done = is_done && r->next[rank] == run->first[rank + 1];
        }
        may_skip = !has_moved;
    }
}

iw_status iwi_run_replay(const struct iwi_blamed_run *run, const bool *is_removed, int64_t *end_ns_p)
{
    const uint32_t ranks = run->trace->rank_count;
    struct replay r = {.run = run,
                       .is_removed = is_removed,
                       .enter_ns = iwi_new_array(run->log, iwi_run_calls(run), sizeof *r.enter_ns),
                       .leave_ns = iwi_new_array(run->log, ranks, sizeof *r.leave_ns),
                       .next = iwi_new_array(run->log, ranks, sizeof *r.next)};
    const bool has_room = r.enter_ns != NULL && r.leave_ns != NULL && r.next != NULL;

    if (has_room) {
        for (uint64_t i = 0; i < iwi_run_calls(run); i++) {
            r.enter_ns[i] = UNKNOWN;
        }
        for (uint32_t rank = 0; rank < ranks; rank++) {
            r.leave_ns[rank] = run->begin_ns[rank];
            r.next[rank] = run->first[rank];
        }
        run_all(&r);
        *end_ns_p = INT64_MIN;
        for (uint32_t rank = 0; rank < ranks; rank++) {
            *end_ns_p = iwi_max(*end_ns_p, r.leave_ns[rank]);
        }
    }
    free(r.enter_ns);
    free(r.leave_ns);
    free(r.next);
    return has_room ? IW_OK : IW_ERR_NOMEM;
}

/* ---- the critical path of the run as it was ---- */

static uint64_t last_call(const struct iwi_blamed_run *run)
{
    uint64_t last = run->first[1] - 1;

    for (uint32_t r = 1; r < run->trace->rank_count; r++) {
        const uint64_t end = run->first[r + 1] - 1;

        last = run->leave_ns[end] > run->leave_ns[last] ? end : last;
    }
    return last;
}

iw_status iwi_run_walk(const struct iwi_blamed_run *run, iwi_run_stretch_fn take, void *arg)
{
    uint64_t call = last_call(run), waiter = IWI_RUN_NONE;
    int64_t end_ns = run->leave_ns[call]; /* stretches never overlap, whatever clocks say */

    for (;;) {
        struct iwi_run_stretch stretch = {call, waiter, true, iwi_min(run->start_ns[call], end_ns), end_ns};

        if (run->enter_ns[call] < end_ns) { /* else the path comes from one who waited for its enter */
            IW_TRY(take(arg, &stretch));
            end_ns = stretch.from_ns;
            if (run->cause[call] != IWI_RUN_NONE) {
                waiter = call;
                call = run->cause[call];
                end_ns = iwi_min(end_ns, run->enter_ns[call]);
            }
        }
        stretch = (struct iwi_run_stretch){call, waiter, false, iwi_min(iwi_run_before_ns(run, call), end_ns),
                                           end_ns};
        IW_TRY(take(arg, &stretch));
        end_ns = stretch.from_ns;
        if (call == run->first[run->rank_of[call]]) {
            return IW_OK;
        }
        call--;
    }
}

/* ---- losses on it ---- */

struct most {
    const struct iwi_blamed_run *run;
    uint64_t call;  /* whose losses were largest */
    bool is_helper; /* not of a call, but of a rank that had to move messages on: */
    size_t first_loss, end_loss;
    int64_t ns;
};

static void look_at(struct most *most, uint64_t call)
{
    int64_t sum_ns = 0;

    for (uint64_t i = most->run->first_loss[call]; i < most->run->first_loss[call + 1]; i++) {
        sum_ns += most->run->losses[i].rest_ns;
    }
    if (sum_ns > most->ns) {
        *most = (struct most){most->run,
                              call,
                              false,
                              (size_t)most->run->first_loss[call],
                              (size_t)most->run->first_loss[call + 1],
                              sum_ns};
    }
}

static void look_at_helper(struct most *most, uint64_t call, uint32_t rank)
{
    const struct iwi_blamed_run *run = most->run;
    const size_t first = iwi_run_loss_after(run, rank, run->start_ns[call]);
    const size_t end = (size_t)run->first_loss[run->first[rank + 1]];
    int64_t sum_ns = 0, during_ns;
    size_t i = first;

    for (; i < end && (during_ns = iwi_run_loss_during(run, &run->losses[i], call)) > 0; i++) {
        sum_ns += during_ns;
    }
    if (sum_ns > most->ns) {
        *most = (struct most){run, call, true, first, i, sum_ns};
    }
}

/* Another rank that lost time in the rest of what this call waited for, or while it had to move its messages
 * on, and so may have prolonged it. */
static struct most most_hit(const struct iwi_blamed_run *run, uint64_t call)
{
    struct most most = {.run = run, .call = IWI_RUN_NONE};

    for (uint64_t i = run->first_dep[call]; i < run->first_dep[call + 1]; i++) {
        const uint64_t dep = run->deps[i];

        if ((dep & IWI_RUN_IS_GROUP) == 0) {
            look_at(&most, dep);
            continue;
        }
        const struct iwi_run_group *group = &run->groups[dep & ~IWI_RUN_IS_GROUP];

        for (uint64_t k = 0; k < group->count; k++) {
            if (run->members[group->first + k] != call) {
                look_at(&most, run->members[group->first + k]);
            }
        }
    }
    for (uint64_t i = run->first_helper[call]; i < run->first_helper[call + 1]; i++) {
        look_at_helper(&most, call, run->helpers[i]);
    }
    return most;
}

iw_status iwi_run_losses_on(const struct iwi_blamed_run *run, const struct iwi_run_stretch *stretch,
                            iwi_run_loss_fn fn, void *arg)
{
    int64_t own_ns = 0, other_ns;
    struct most most;

    for (uint64_t i = run->first_loss[stretch->call]; i < run->first_loss[stretch->call + 1]; i++) {
        const struct iwi_run_loss *loss = &run->losses[i];
        const int64_t ns = stretch->is_rest ? loss->rest_ns : loss->gap_ns;

        own_ns += ns;
        if (ns > 0) {
            IW_TRY(fn(arg, stretch, loss, ns));
        }
    }
    if (!stretch->is_rest) {
        return IW_OK;
    }
    most = most_hit(run, stretch->call);
    other_ns = iwi_min(iwi_max(most.ns - own_ns, 0), run_excess_ns(run, stretch->call, own_ns));
    for (size_t i = most.first_loss; i < most.end_loss && other_ns > 0; i++) {
        const struct iwi_run_loss *loss = &run->losses[i];
        const int64_t all_ns = most.is_helper ? iwi_run_loss_during(run, loss, stretch->call) : loss->rest_ns;
        const int64_t ns = (int64_t)((double)all_ns * (double)other_ns / (double)most.ns);

        if (ns > 0) {
            IW_TRY(fn(arg, stretch, loss, ns));
        }
    }
    return IW_OK;
}

/* ---- how different another run may be ---- */

/* The run is cut into BLOCKS equal times. What remains of noise on the path in a block, R_b, has a variance
 * between the blocks, and so has the share X_b by which computing was slower than the same computation at its
 * best. A sum over the run has BLOCKS times the variance of a block; this run and another differ by twice
 * that:
 *
 *     sd^2 = 2 BLOCKS (var(R) + var(X) T_b^2)
 *
 * where T_b is the length of a block.
 */

enum { BLOCKS = 20, LEAST_ALIKE = 5 };

/* Of the gaps that lie between calls of the same classes on the same rank. */
struct gap {
    uint32_t class;
    uint32_t block;
    double work_ns;
};

struct spreading {
    const struct iwi_blamed_run *run;
    double *lost_ns; /* by source and block */
    struct iwi_index index;
    struct gap *gaps;
    size_t gap_count, gap_capacity;
};

static size_t block_of(const struct iwi_blamed_run *run, int64_t at_ns)
{
    const double part = (double)(at_ns - run->zero_ns) / (double)iwi_max(run->end_ns - run->zero_ns, 1);

    return (size_t)fmin(fmax(part * BLOCKS, 0.0), BLOCKS - 1);
}

static iw_status count_loss(void *arg, const struct iwi_run_stretch *stretch, const struct iwi_run_loss *loss,
                            int64_t ns)
{
    struct spreading *s = arg;

    (void)stretch;
    s->lost_ns[(size_t)loss->source * BLOCKS + block_of(s->run, loss->at_ns)] += (double)ns;
    return IW_OK;
}

static iw_status keep_gap(struct spreading *s, const struct iwi_run_stretch *stretch)
{
    const struct iwi_blamed_run *run = s->run;
    const uint64_t call = stretch->call;
    const uint32_t rank = run->rank_of[call],
                   before = call > run->first[rank] ? run->alike[call - 1] : UINT32_MAX;
    struct gap gap = {.block = (uint32_t)block_of(run, stretch->from_ns),
                      .work_ns = (double)(stretch->to_ns - stretch->from_ns)};

    for (uint64_t i = run->first_loss[call]; i < run->first_loss[call + 1]; i++) {
        gap.work_ns -= (double)run->losses[i].gap_ns;
    }
    IW_TRY(iwi_index_number(run->log, &s->index,
                            (struct iwi_index_key){(uint64_t)before << 32 | run->alike[call], rank},
                            &gap.class));
    IW_TRY(iwi_grow(run->log, (void **)&s->gaps, &s->gap_capacity, s->gap_count + 1, sizeof *s->gaps));
    s->gaps[s->gap_count++] = gap;
    return IW_OK;
}

static iw_status take_stretch(void *arg, const struct iwi_run_stretch *stretch)
{
    struct spreading *s = arg;

    IW_TRY(iwi_run_losses_on(s->run, stretch, count_loss, s));
    return stretch->is_rest || stretch->to_ns <= stretch->from_ns ? IW_OK : keep_gap(s, stretch);
}

/* ---- variances ---- */

static double variance(const double values[BLOCKS])
{
    double mean = 0.0, sum = 0.0;

    for (size_t i = 0; i < BLOCKS; i++) {
        mean += values[i] / BLOCKS;
    }
    for (size_t i = 0; i < BLOCKS; i++) {
        sum += (values[i] - mean) * (values[i] - mean);
    }
    return sum / (BLOCKS - 1);
}

/* Without the source `removed`; source_count: without any, where nothing remains. */
static double remaining_sd(const struct spreading *s, size_t removed)
{
    double values[BLOCKS] = {0};

    for (size_t i = 0; i < s->run->source_count && removed < s->run->source_count; i++) {
        for (size_t b = 0; b < BLOCKS && i != removed; b++) {
            values[b] += s->lost_ns[i * BLOCKS + b];
        }
    }
    return sqrt(2.0 * BLOCKS * variance(values));
}

IWI_COMPARE(compare_gaps, struct gap, IWI_RISING(class), IWI_RISING(work_ns))

/* By how much the gaps were longer than their class at its best (its tenth percentile). */
static void find_unexplained(struct spreading *s, struct iwi_run_spread *spread)
{
    double work[BLOCKS] = {0}, excess[BLOCKS] = {0}, shares[BLOCKS], all_work = 0.0, all_excess = 0.0;

    iwi_sort(s->gaps, s->gap_count, compare_gaps);
    for (size_t from = 0, to; from < s->gap_count; from = to) {
        for (to = from; to < s->gap_count && s->gaps[to].class == s->gaps[from].class; to++) {
        }
        for (size_t i = from; to - from >= LEAST_ALIKE && i < to; i++) {
            work[s->gaps[i].block] += s->gaps[i].work_ns;
            excess[s->gaps[i].block] +=
                fmax(0.0, s->gaps[i].work_ns - s->gaps[from + (to - from) / 10].work_ns);
        }
    }
    for (size_t b = 0; b < BLOCKS; b++) {
        all_work += work[b];
        all_excess += excess[b];
    }
    spread->unexplained_share = all_work > 0.0 ? all_excess / all_work : NAN;
    for (size_t b = 0; b < BLOCKS; b++) { /* a block without repeated work is taken for a usual one */
        shares[b] = work[b] > 0.0 ? excess[b] / work[b] : spread->unexplained_share;
    }
    spread->unexplained_sd_ns =
        all_work > 0.0 ? sqrt(2.0 * variance(shares) / BLOCKS) * (double)(s->run->end_ns - s->run->zero_ns)
                       : NAN;
}

iw_status iwi_run_find_spread(const struct iwi_blamed_run *run, struct iwi_run_spread *spread)
{
    struct spreading s = {.run = run};
    iw_status status;

    *spread = (struct iwi_run_spread){.freedom = BLOCKS - 1};
    spread->remaining_sd_ns = iwi_new_array(run->log, run->source_count + 1, sizeof *spread->remaining_sd_ns);
    s.lost_ns = iwi_new_array(run->log, run->source_count * BLOCKS, sizeof *s.lost_ns);
    status = s.lost_ns != NULL && spread->remaining_sd_ns != NULL ? iwi_run_walk(run, take_stretch, &s)
                                                                  : IW_ERR_NOMEM;
    if (status == IW_OK) {
        find_unexplained(&s, spread);
        for (size_t i = 0; i <= run->source_count; i++) {
            spread->remaining_sd_ns[i] = remaining_sd(&s, i);
        }
    }
    free(s.lost_ns);
    free(s.gaps);
    iwi_index_release(&s.index);
    return status;
}
