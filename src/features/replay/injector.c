/* The walk through a plan, and what back ends share: costs subtracted, counts.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdlib.h>

#include "core/base/base.h"
#include "core/base/order.h"
#include "core/base/rng.h"
#include "features/replay/injector.h"

/* ======== pace ======== */

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

/* ======== injectors ======== */

static const struct iwi_back_end_ops *const back_ends[IW_BACK_ENDS] = {
    [IW_BACK_END_TIMER] = &iwi_back_end_timer,
    [IW_BACK_END_FIFO] = &iwi_back_end_fifo,
    [IW_BACK_END_SLEEP] = &iwi_back_end_sleep,
};

const char *iw_back_end_name(iw_back_end back_end)
{
    return (unsigned)back_end < IW_BACK_ENDS ? back_ends[back_end]->name : "?";
}

int64_t iwi_spin_until(int64_t now_ns, int64_t end_ns, const atomic_bool *is_halted)
{
    /* No machine reads a clock in less than 2 ns: who reads it more often than that has a clock that stands.
     */
    int64_t readings_left = (end_ns - now_ns) / 2 + 1000;

    while (now_ns < end_ns && readings_left-- > 0) {
        const int64_t before_ns = now_ns;

        if (is_halted != NULL && atomic_load_explicit(is_halted, memory_order_relaxed)) {
            break;
        }
        now_ns = iwi_now_ns();
        if (now_ns < before_ns) {
            break;
        }
    }
    return now_ns;
}

static void set_next(iw_injector *injector)
{
    injector->is_waiting =
        !injector->is_paused && iwi_pace_next(&injector->pace, injector->free_ns, &injector->next);
    if (injector->is_waiting) {
        injector->target_ns = injector->next.deadline_ns - llround(injector->plan->costs.late_p50_ns);
    }
}

/* The machine has slow times, in which lateness and overhead grow together by up to this many overheads; what
 * is later than that was kept waiting by the host's own noise, which stays. */
static const double MOST_SLOW = 3;

/* What it takes of the thread's time in all is to be duration_ns: that is the spin, what making it costs, and
 * its share of the lateness. */
static int64_t spin_ns(const iw_injector *injector, int64_t late_ns)
{
    const iw_inject_costs *costs = &injector->plan->costs;
    const double later_ns = (double)late_ns - costs->late_p50_ns;
    const double spin = (double)injector->next.duration_ns - costs->overhead_ns -
                        costs->late_share * fmin(later_ns, MOST_SLOW * costs->overhead_ns);

    return spin > 0 ? iwi_min(llround(spin), injector->next.duration_ns) : 0;
}

bool iwi_injector_is_too_late(const iw_injector *injector, int64_t entry_ns)
{
    return !injector->ops->is_asleep &&
           entry_ns - iwi_max(injector->next.deadline_ns, injector->free_ns) > IWI_LATE_MOST_NS;
}

int64_t iwi_injector_take(iw_injector *injector, int64_t entry_ns)
{
    /* one that had to wait for the one before was due when that ended */
    const int64_t due_ns = iwi_max(injector->target_ns, injector->free_ns);
    const int64_t late_ns = iwi_max(entry_ns - due_ns, 0);
    const int64_t spin =
        injector->plan->opts.is_uncompensated ? injector->next.duration_ns : spin_ns(injector, late_ns);
    struct iwi_logbook *book = injector->logbook;

    if (book != NULL && book->count < book->room) {
        book->made[book->count++] =
            (struct iwi_made){.target_ns = due_ns, .entry_ns = entry_ns, .spin_ns = spin, .end_ns = entry_ns};
    }
    injector->counts.made_count++;
    injector->counts.made_ns += (double)injector->next.duration_ns;
    injector->counts.late_max_ns = fmax(injector->counts.late_max_ns, (double)late_ns);
    injector->free_ns = injector->ops->is_asleep ? due_ns + injector->next.duration_ns : entry_ns + spin;
    set_next(injector);
    return injector->free_ns;
}

void iwi_injector_log_end(iw_injector *injector, int64_t end_ns)
{
    struct iwi_logbook *book = injector->logbook;

    if (book != NULL && book->count > 0) {
        book->made[book->count - 1].end_ns = end_ns;
    }
}

void iwi_injector_skip(iw_injector *injector, int64_t now_ns)
{
    injector->pace.skipped_count++;
    injector->pace.skipped_ns += (double)injector->next.duration_ns;
    injector->free_ns = now_ns;
    set_next(injector);
}

const struct iwi_back_end_ops *iwi_back_end_find(iw_back_end back_end)
{
    return (unsigned)back_end < IW_BACK_ENDS ? back_ends[back_end] : NULL;
}

iw_status iwi_injector_start_logged(const iw_log *log, const iw_inject_plan *plan,
                                    const struct iwi_back_end_ops *ops, struct iwi_logbook *logbook,
                                    iw_injector **injector_p)
{
    iw_injector *injector;
    iw_status status;

    if (ops == NULL) {
        return iwi_fail(log, IW_ERR_RANGE, "unknown back end");
    }
    injector = iwi_new_array(log, 1, sizeof *injector);
    if (injector == NULL) {
        return IW_ERR_NOMEM;
    }
    *injector = (iw_injector){.ops = ops, .plan = plan, .logbook = logbook, .free_ns = iwi_now_ns()};
    iwi_pace_begin(&injector->pace, plan, injector->free_ns);
    set_next(injector);
    status = ops->open(log, injector);
    if (status != IW_OK) {
        free(injector);
        return status;
    }
    *injector_p = injector;
    return IW_OK;
}

iw_status iw_injector_start(const iw_log *log, const iw_inject_plan *plan, iw_back_end back_end,
                            iw_injector **injector_p)
{
    return iwi_injector_start_logged(log, plan, iwi_back_end_find(back_end), NULL, injector_p);
}

/* Detours whose time came and that nobody will make any more: before the place changes, or silence. */
static void drop_passed(iw_injector *injector, int64_t now_ns)
{
    while (injector->is_waiting && injector->next.deadline_ns < now_ns) {
        iwi_injector_skip(injector, now_ns);
    }
}

void iw_injector_phase(iw_injector *injector)
{
    if (injector->plan->opts.sync != IW_SYNC_PHASE) {
        return;
    }
    injector->ops->hold(injector);
    drop_passed(injector, iwi_now_ns());
    injector->free_ns = iwi_now_ns();
    iwi_pace_phase(&injector->pace, injector->free_ns);
    set_next(injector);
    injector->ops->release(injector);
}

void iwi_injector_set_clock(iw_injector *injector, int64_t offset_ns, double drift, int64_t at_ns)
{
    const struct iwi_clock_map map = {.offset_ns = offset_ns, .at_ns = at_ns, .drift = drift};

    injector->ops->hold(injector);
    drop_passed(injector, iwi_now_ns());
    injector->free_ns = iwi_now_ns();
    iwi_pace_set_clock(&injector->pace, map, injector->free_ns);
    set_next(injector);
    injector->ops->release(injector);
}

void iw_injector_pause(iw_injector *injector)
{
    if (injector->is_paused) {
        return;
    }
    injector->ops->hold(injector);
    injector->paused_ns = iwi_now_ns();
    drop_passed(injector, injector->paused_ns);
    injector->is_paused = true;
    injector->is_waiting = false;
    injector->ops->release(injector);
}

void iw_injector_go_on(iw_injector *injector)
{
    if (!injector->is_paused) {
        return;
    }
    injector->ops->hold(injector);
    injector->is_paused = false;
    injector->free_ns = iwi_now_ns();
    iwi_pace_go_on(&injector->pace, injector->free_ns, injector->free_ns - injector->paused_ns);
    set_next(injector);
    injector->ops->release(injector);
}

double iw_injector_made_ns(const iw_injector *injector)
{
    return injector->counts.made_ns;
}

void iw_injector_stop(iw_injector *injector, iw_inject_counts *counts_p)
{
    if (injector == NULL) {
        return;
    }
    injector->ops->close(injector);
    drop_passed(injector, iwi_now_ns());
    injector->counts.skipped_count = injector->pace.skipped_count;
    injector->counts.skipped_ns = injector->pace.skipped_ns;
    injector->counts.has_ended =
        (injector->is_paused ? injector->paused_ns : iwi_now_ns()) >= injector->pace.end_ns;
    if (counts_p != NULL) {
        *counts_p = injector->counts;
    }
    free(injector);
}
