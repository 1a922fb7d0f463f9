/* The critical path of the run as it was: from the end of the last rank back to the beginning, always to whom
 * was waited for.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/explain/blame/run.h"

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
    other_ns = iwi_min(iwi_max(most.ns - own_ns, 0), iwi_run_excess_ns(run, stretch->call, own_ns));
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
