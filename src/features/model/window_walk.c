/* Walks through the losses of phases of work.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * In undisturbed time u a detour i is a point f_i = start_i - (durations before it). A phase that begins at u
 * meets those with f in [u, u + work). Two indices go through the points: the next to enter and the next to
 * leave.
 */
#include "features/model/window_walk.h"

#include "core/base/base.h"

static int64_t busy_ns(const struct iwi_window_cpu *cpu)
{
    int64_t sum = 0;

    for (size_t i = 0; i < cpu->count; i++) {
        sum += cpu->duration_ns[i];
    }
    return sum;
}

bool iwi_window_fits(const struct iwi_window_cpu *cpu, int64_t work_ns)
{
    return cpu->length_ns - busy_ns(cpu) >= work_ns;
}

/* The next detour in a sequence that repeats. */
struct next_detour {
    const struct iwi_window_cpu *cpu;
    size_t index;
    int64_t at_ns;   /* its point in undisturbed time; INT64_MAX: there are no detours */
    int64_t busy_ns; /* durations before it, in this repetition */
    int64_t base_ns, free_ns;
};

static void locate(struct next_detour *next)
{
    next->at_ns = next->base_ns + next->cpu->start_ns[next->index] - next->busy_ns;
}

static struct next_detour first_detour(const struct iwi_window_cpu *cpu, int64_t free_ns)
{
    struct next_detour next = {.cpu = cpu, .at_ns = INT64_MAX, .free_ns = free_ns};

    if (cpu->count > 0) {
        locate(&next);
    }
    return next;
}

static int64_t take_detour(struct next_detour *next)
{
    const int64_t duration_ns = next->cpu->duration_ns[next->index];

    next->busy_ns += duration_ns;
    if (++next->index == next->cpu->count) {
        next->index = 0;
        next->busy_ns = 0;
        next->base_ns += next->free_ns;
    }
    locate(next);
    return duration_ns;
}

static void emit(int64_t start_ns, int64_t length_ns, int64_t loss_ns, bool is_ramp,
                 iwi_window_piece_fn visit, void *arg)
{
    if (length_ns > 0) {
        visit(arg, &(struct iwi_window_piece){start_ns, length_ns, loss_ns, is_ramp});
    }
}

void iwi_window_walk(const struct iwi_window_cpu *cpu, int64_t work_ns, iwi_window_piece_fn visit, void *arg)
{
    const int64_t free_ns = cpu->length_ns - busy_ns(cpu);
    struct next_detour entering = first_detour(cpu, free_ns), leaving = entering;
    int64_t now_ns = 0, busy = 0, loss_ns = 0; /* now: undisturbed time */

    if (cpu->count == 0) {
        emit(0, free_ns, 0, false, visit, arg);
        return;
    }
    for (size_t left = 0; left < cpu->count || now_ns < free_ns;) {
        int64_t until_ns = entering.at_ns - work_ns;

        if (until_ns < leaving.at_ns && until_ns < free_ns) {
            emit(now_ns + busy, until_ns - now_ns, loss_ns, false, visit, arg);
            now_ns = iwi_max(now_ns, until_ns);
            loss_ns += take_detour(&entering);
            continue;
        }
        until_ns = iwi_min(leaving.at_ns, free_ns);
        emit(now_ns + busy, until_ns - now_ns, loss_ns, false, visit, arg);
        now_ns = until_ns;
        if (left < cpu->count) {
            const int64_t duration_ns = take_detour(&leaving);

            emit(now_ns + busy, duration_ns, loss_ns, true, visit, arg);
            busy += duration_ns;
            loss_ns -= duration_ns;
            left++;
        }
    }
}
