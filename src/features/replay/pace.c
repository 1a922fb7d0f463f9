/* The walk through a plan's trace, which repeats, in the time of this host or of a reference clock.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/replay/pace.h"

#include <math.h>

#include "core/base/base.h"
#include "core/base/order.h"
#include "core/base/rng.h"

static struct iwi_draw_id draw_id(const iw_inject_opts *opts, enum iwi_purpose purpose, uint64_t node)
{
    return (struct iwi_draw_id){
        .seed = opts->seed, .trial = node >> 32, .purpose = purpose, .rank = (uint32_t)node};
}

int64_t iwi_pace_offset(const iw_inject_opts *opts, int64_t length_ns)
{
    const uint64_t node = opts->sync == IW_SYNC_NONE ? opts->node : 0;

    return (int64_t)iwi_draw_below(draw_id(opts, IWI_DRAW_OFFSET, node), 0, (uint64_t)length_ns);
}

int64_t iwi_pace_phase_offset(const iw_inject_opts *opts, uint64_t phase, int64_t length_ns)
{
    return (int64_t)iwi_draw_below(draw_id(opts, IWI_DRAW_PHASE, 0), phase, (uint64_t)length_ns);
}

int64_t iwi_pace_skew(const iw_inject_opts *opts)
{
    if (opts->sync == IW_SYNC_NONE || opts->skew_ns <= 0) {
        return 0;
    }
    return (int64_t)iwi_draw_below(draw_id(opts, IWI_DRAW_SKEW, opts->node), 0, (uint64_t)opts->skew_ns);
}

int64_t iwi_reference(const struct iwi_clock_map *map, int64_t now_ns)
{
    return now_ns + map->offset_ns + llround(map->drift * (double)(now_ns - map->at_ns));
}

int64_t iwi_from_reference(const struct iwi_clock_map *map, int64_t ref_ns)
{
    const int64_t since_ns = ref_ns - map->offset_ns - map->at_ns;

    return map->at_ns + since_ns - llround((double)since_ns * (map->drift / (1.0 + map->drift)));
}

/* The first detour that ends after `place_ns`. Joined detours never overlap, so ends ascend as starts do. */
static size_t first_ending_after(const iw_inject_plan *plan, int64_t place_ns)
{
    size_t at;

    IWI_FIRST_NOT(at, 0, plan->count, plan->start_ns[at] + plan->duration_ns[at] <= place_ns);
    return at;
}

/* The cursor to what follows `now_ns`. Of a detour that is under way there the rest is still to come, if it
 * can be made: a phase meets noise as if the trace had always been running. */
static void seek(struct iwi_pace *pace, int64_t now_ns)
{
    const iw_inject_plan *plan = pace->plan;
    const int64_t length_ns = plan->facts.length_ns;
    int64_t place_ns = (iwi_reference(&pace->map, now_ns) - pace->lap_ref_ns) % length_ns;

    place_ns += place_ns < 0 ? length_ns : 0;
    pace->lap_ref_ns = iwi_reference(&pace->map, now_ns) - place_ns;
    pace->next = first_ending_after(plan, place_ns);
    pace->rest_ns = 0;
    if (pace->next < plan->count && plan->start_ns[pace->next] < place_ns) {
        const int64_t rest_ns = plan->start_ns[pace->next] + plan->duration_ns[pace->next] - place_ns;

        pace->rest_ns = (double)rest_ns >= plan->costs.floor_ns ? rest_ns : 0;
        pace->rest_at_ns = now_ns;
        pace->next++;
    }
}

void iwi_pace_begin(struct iwi_pace *pace, const iw_inject_plan *plan, int64_t now_ns)
{
    const double used_ns = plan->opts.most_share * (double)plan->facts.length_ns;

    *pace = (struct iwi_pace){.plan = plan, .end_ns = INT64_MAX};
    if (plan->opts.most_share > 0 && used_ns < (double)(INT64_MAX / 4)) {
        pace->end_ns = now_ns + llround(used_ns);
    }
    pace->lap_ref_ns = iwi_pace_skew(&plan->opts) - iwi_pace_offset(&plan->opts, plan->facts.length_ns);
    seek(pace, now_ns);
}

void iwi_pace_go_on(struct iwi_pace *pace, int64_t now_ns, int64_t silent_ns)
{
    pace->end_ns = pace->end_ns == INT64_MAX ? INT64_MAX : pace->end_ns + silent_ns;
    seek(pace, now_ns);
}

void iwi_pace_phase(struct iwi_pace *pace, int64_t now_ns)
{
    const iw_inject_plan *plan = pace->plan;
    const int64_t offset_ns = iwi_pace_phase_offset(&plan->opts, pace->phase, plan->facts.length_ns);

    pace->phase++;
    pace->lap_ref_ns = iwi_reference(&pace->map, now_ns) + iwi_pace_skew(&plan->opts) - offset_ns;
    seek(pace, now_ns);
}

void iwi_pace_set_clock(struct iwi_pace *pace, struct iwi_clock_map map, int64_t now_ns)
{
    if (pace->phase > 0) { /* the phase began at an instant, whatever clocks call it */
        pace->lap_ref_ns += iwi_reference(&map, now_ns) - iwi_reference(&pace->map, now_ns);
    }
    pace->map = map;
    seek(pace, now_ns);
}

static void step(struct iwi_pace *pace, struct iwi_detour *detour)
{
    const iw_inject_plan *plan = pace->plan;

    if (pace->rest_ns > 0) {
        *detour = (struct iwi_detour){.deadline_ns = pace->rest_at_ns, .duration_ns = pace->rest_ns};
        pace->rest_ns = 0;
        return;
    }
    if (pace->next >= plan->count) {
        pace->next = 0;
        pace->lap_ref_ns += plan->facts.length_ns;
    }
    detour->deadline_ns = iwi_from_reference(&pace->map, pace->lap_ref_ns + plan->start_ns[pace->next]);
    detour->duration_ns = plan->duration_ns[pace->next];
    pace->next++;
}

bool iwi_pace_next(struct iwi_pace *pace, int64_t free_ns, struct iwi_detour *detour_p)
{
    struct iwi_detour detour;

    if (pace->plan->count == 0) {
        return false;
    }
    for (;;) {
        step(pace, &detour);
        if (detour.deadline_ns >= pace->end_ns) {
            return false;
        }
        if (detour.deadline_ns + IWI_LATE_MOST_NS >= free_ns) {
            *detour_p = detour;
            return true;
        }
        pace->skipped_count++;
        pace->skipped_ns += (double)detour.duration_ns;
    }
}
