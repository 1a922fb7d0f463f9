/* Which detours of a trace can be made, and these as a recording.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdlib.h>

#include <idlewave/internal/fidelity.h>

#include "core/base/base.h"
#include "features/replay/inject_plan.h"

/* ======== plans ======== */

/* Longer traces, after scaling, are refused: 146 years, so that sums of two times do not overflow. */
#define LONGEST_NS (INT64_MAX / 2)

/* The detours of a plan while they are laid down; the last may still grow. */
struct draft {
    int64_t floor_ns, gap_ns;
    int64_t *start_ns, *duration_ns;
    uint64_t *from; /* so many recorded detours are in each */
    size_t count;
    int64_t carried_ns; /* time of detours below the floor that waits for more */
    uint64_t carried_from;
    iw_inject_facts facts;
};

/* A detour to be made: part of the one before if there is no time between them to make two. */
static void lay(struct draft *draft, int64_t start_ns, int64_t duration_ns, uint64_t from)
{
    if (draft->count > 0) {
        const size_t last = draft->count - 1;

        if (start_ns - draft->start_ns[last] - draft->duration_ns[last] < draft->gap_ns) {
            draft->duration_ns[last] += duration_ns;
            draft->from[last] += from;
            return;
        }
    }
    draft->start_ns[draft->count] = start_ns;
    draft->duration_ns[draft->count] = duration_ns;
    draft->from[draft->count] = from;
    draft->count++;
}

static void take(struct draft *draft, int64_t start_ns, int64_t duration_ns)
{
    draft->facts.event_count++;
    draft->facts.noise_ns += (double)duration_ns;
    if (duration_ns >= draft->floor_ns) {
        lay(draft, start_ns, duration_ns, 1);
        return;
    }
    draft->carried_ns += duration_ns;
    draft->carried_from++;
    if (draft->carried_ns >= draft->floor_ns) {
        lay(draft, start_ns, draft->carried_ns, draft->carried_from);
        draft->carried_ns = 0;
        draft->carried_from = 0;
    }
}

static int64_t scaled(int64_t time_ns, double scale)
{
    return scale == 1.0 ? time_ns : llround((double)time_ns * scale);
}

static iw_status check_detour(const iw_log *log, const iw_detours *cpu, size_t i, double scale)
{
    const int64_t before_ns = i > 0 ? cpu->start_ns[i - 1] : 0;

    if (cpu->start_ns[i] < before_ns || cpu->start_ns[i] >= cpu->length_ns || cpu->duration_ns[i] < 0) {
        return iwi_fail(log, IW_ERR_RANGE, "detour %zu of CPU %" PRIu32 " is out of order", i, cpu->cpu);
    }
    if ((double)cpu->duration_ns[i] * scale > (double)IW_INJECT_MOST_NS) {
        return iwi_fail(
            log, IW_ERR_RANGE, "a detour of CPU %" PRIu32 " would last %.3g s, more than the allowed %.3g s",
            cpu->cpu, (double)cpu->duration_ns[i] * scale * 1e-9, (double)IW_INJECT_MOST_NS * 1e-9);
    }
    return IW_OK;
}

static iw_status check_made(const iw_log *log, const iw_detours *cpu, const struct draft *draft)
{
    const double share = draft->facts.made_ns / (double)draft->facts.length_ns;

    if (share > IW_INJECT_MOST_SHARE) {
        return iwi_fail(log, IW_ERR_RANGE,
                        "the noise of CPU %" PRIu32
                        " would take %.3g %% of the time, more than the allowed %.3g %%",
                        cpu->cpu, 100 * share, 100 * IW_INJECT_MOST_SHARE);
    }
    for (size_t i = 0; i < draft->count; i++) {
        if (draft->duration_ns[i] > IW_INJECT_MOST_NS) {
            return iwi_fail(log, IW_ERR_RANGE,
                            "a group of detours of CPU %" PRIu32
                            " would last %.3g s, more than the allowed %.3g s",
                            cpu->cpu, (double)draft->duration_ns[i] * 1e-9, (double)IW_INJECT_MOST_NS * 1e-9);
        }
    }
    return IW_OK;
}

static void count_made(struct draft *draft)
{
    iw_inject_facts *facts = &draft->facts;

    facts->made_count = draft->count;
    for (size_t i = 0; i < draft->count; i++) {
        facts->made_ns += (double)draft->duration_ns[i];
        if (draft->from[i] == 1) {
            facts->as_recorded_count++;
            facts->as_recorded_ns += (double)draft->duration_ns[i];
        }
    }
}

static iw_status draw_up(const iw_log *log, const iw_detours *cpu, double scale, struct draft *draft)
{
    int64_t last_ns = 0;

    for (size_t i = 0; i < cpu->count; i++) {
        IW_TRY(check_detour(log, cpu, i, scale));
        last_ns = iwi_max(last_ns, scaled(cpu->start_ns[i], scale));
        take(draft, iwi_min(last_ns, draft->facts.length_ns - 1), scaled(cpu->duration_ns[i], scale));
    }
    count_made(draft);
    return check_made(log, cpu, draft);
}

static bool is_cost(double value)
{
    return isfinite(value) && value >= 0 && value <= (double)IW_INJECT_MOST_NS;
}

static iw_status check_opts(const iw_log *log, const iw_recording *recording, size_t cpu_index,
                            const iw_inject_opts *opts, const iw_inject_costs *costs)
{
    if (cpu_index >= recording->cpu_count) {
        return iwi_fail(log, IW_ERR_RANGE, "the recording has %zu CPUs, so there is no CPU %zu",
                        recording->cpu_count, cpu_index);
    }
    if (!(opts->time_scale >= 1 && opts->time_scale <= 1e6)) {
        return iwi_fail(log, IW_ERR_RANGE, "time scale %g: use 1 to 1e6", opts->time_scale);
    }
    if (!(opts->most_share >= 0 && opts->most_share <= 1e6)) {
        return iwi_fail(log, IW_ERR_RANGE, "share of the trace %g: use 0 to 1e6", opts->most_share);
    }
    if (opts->skew_ns < 0 || opts->skew_ns > LONGEST_NS) {
        return iwi_fail(log, IW_ERR_RANGE, "the skew is negative or too long");
    }
    if (!is_cost(costs->overhead_ns) || !is_cost(costs->late_share) || !is_cost(costs->late_p50_ns) ||
        !is_cost(costs->late_p99_ns) || !is_cost(costs->floor_ns) || !is_cost(costs->gap_ns)) {
        return iwi_fail(log, IW_ERR_RANGE, "the costs of making detours are negative or too high");
    }
    if (recording->cpus[cpu_index].length_ns <= 0 ||
        (double)recording->cpus[cpu_index].length_ns * opts->time_scale >= (double)LONGEST_NS) {
        return iwi_fail(log, IW_ERR_RANGE, "the trace of CPU %" PRIu32 " has no length, or is too long",
                        recording->cpus[cpu_index].cpu);
    }
    return IW_OK;
}

static void free_draft(struct draft *draft)
{
    free(draft->start_ns);
    free(draft->duration_ns);
    free(draft->from);
}

iw_status iw_inject_plan_make(const iw_log *log, const iw_recording *recording, size_t cpu_index,
                              const iw_inject_opts *opts, const iw_inject_costs *costs,
                              iw_inject_plan **plan_p)
{
    const iw_inject_costs nothing = {0};
    const iw_detours *cpu;
    struct draft draft = {0};
    iw_status status = IW_ERR_NOMEM;

    IW_TRY(check_opts(log, recording, cpu_index, opts, costs));
    cpu = &recording->cpus[cpu_index];
    costs = opts->is_uncompensated ? &nothing : costs;
    draft.floor_ns = llround(ceil(costs->floor_ns));
    draft.gap_ns = llround(ceil(costs->gap_ns));
    draft.facts.length_ns = scaled(cpu->length_ns, opts->time_scale);
    draft.start_ns = iwi_new_array(log, cpu->count, sizeof *draft.start_ns);
    draft.duration_ns = iwi_new_array(log, cpu->count, sizeof *draft.duration_ns);
    draft.from = iwi_new_array(log, cpu->count, sizeof *draft.from);
    if (draft.start_ns != NULL && draft.duration_ns != NULL && draft.from != NULL) {
        status = draw_up(log, cpu, opts->time_scale, &draft);
    }
    if (status == IW_OK) {
        status = iwi_plan_new(log, opts, costs, &draft.facts, draft.start_ns, draft.duration_ns, draft.count,
                              plan_p);
    }
    free_draft(&draft);
    return status;
}

/* ======== as a recording ======== */

iw_status iw_inject_plan_recording(const iw_log *log, const iw_inject_plan *plan, iw_recording **recording_p)
{
    iw_recording *recording;
    iw_detours *cpu;

    IW_TRY(iw_recording_new(log, 1, &recording));
    cpu = &recording->cpus[0];
    cpu->length_ns = plan->facts.length_ns;
    cpu->start_ns = iwi_new_array(log, plan->count, sizeof *cpu->start_ns);
    cpu->duration_ns = iwi_new_array(log, plan->count, sizeof *cpu->duration_ns);
    cpu->source = iwi_new_array(log, plan->count, sizeof *cpu->source);
    if (plan->count > 0 && (cpu->start_ns == NULL || cpu->duration_ns == NULL || cpu->source == NULL)) {
        iw_recording_free(recording);
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < plan->count; i++) {
        cpu->start_ns[i] = plan->start_ns[i];
        cpu->duration_ns[i] = plan->duration_ns[i];
    }
    cpu->count = plan->count;
    *recording_p = recording;
    return IW_OK;
}
