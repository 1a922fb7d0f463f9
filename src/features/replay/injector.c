/* Injectors: what all back ends share, and the table of them.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/replay/injector.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/base.h"

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
static const double SLOW_MOST = 3;

/* What it takes of the thread's time in all is to be duration_ns: that is the spin, what making it costs, and
 * its share of the lateness. */
static int64_t spin_ns(const iw_injector *injector, int64_t late_ns)
{
    const iw_inject_costs *costs = &injector->plan->costs;
    const double later_ns = (double)late_ns - costs->late_p50_ns;
    const double spin = (double)injector->next.duration_ns - costs->overhead_ns -
                        costs->late_share * fmin(later_ns, SLOW_MOST * costs->overhead_ns);

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
        return iwi_fail(log, IW_ERR_RANGE, "there is no such back end");
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
