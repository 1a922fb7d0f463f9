/* Noise as LogGOPSim counts it.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * With T the start of the last detour, f the rank's offset and c the length of the work, it looks at [q, q +
 * c) with q = (t + f) mod (T - c): what is left of the detour under way at q, and all of each detour that
 * starts inside. Detours that begin in the time by which others lengthened the work are not counted, nor is
 * the first detour when q lies at or before its start. Work of c >= T: LogGOPSim divides by zero for c = T,
 * and wraps the modulus in 64 bits for c > T. Here q is then (t + f) mod T and the trace is walked round and
 * round with period T, every detour but the last (which lies outside the period) once in each round.
 */
#include "core/sim/loggopsim/loggopsim.h"

#include <stdlib.h>

#include "core/base/base.h"
#include "core/base/order.h"

static iw_status sum_durations(const iw_log *log, struct iwi_lgs_noise *lgs)
{
    const struct iwi_detour_trace_view *trace = &lgs->trace;

    lgs->lost_before_ps = iwi_new_array(log, trace->count + 1, sizeof *lgs->lost_before_ps);
    if (lgs->lost_before_ps == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < trace->count; i++) {
        lgs->lost_before_ps[i + 1] = lgs->lost_before_ps[i] + trace->pieces[i].duration_ps;
    }
    return IW_OK;
}

iw_status iwi_lgs_noise_init(const iw_log *log, struct iwi_lgs_noise *lgs, const iw_noise *noise,
                             struct iwi_stream_id first_rank, uint32_t ranks)
{
    struct iwi_stream_id id = first_rank;

    *lgs = (struct iwi_lgs_noise){.lost_before_ps = NULL};
    if (noise == NULL || iw_noise_source_count(noise) == 0) {
        return IW_OK;
    }
    if (!iwi_noise_trace_view(noise, &lgs->trace)) {
        return iwi_fail(log, IW_ERR_UNSUPPORTED,
                        "LogGOPSim's rules need noise as one file of one CPU: make it with 'idlewave noise "
                        "synth SPEC -o FILE' or 'idlewave noise cut', or use `rules` idlewave");
    }
    lgs->period_ps = lgs->trace.count == 0 ? 0 : lgs->trace.pieces[lgs->trace.count - 1].start_ps;
    if (lgs->period_ps <= 0) {
        return iwi_fail(log, IW_ERR_RANGE,
                        "LogGOPSim's rules repeat a noise trace after the start of its last detour, but no "
                        "detour of this trace (%zu detours) starts after 0",
                        lgs->trace.count);
    }
    IW_TRY(sum_durations(log, lgs));
    lgs->offset_ps = iwi_new_array(log, ranks, sizeof *lgs->offset_ps);
    if (lgs->offset_ps == NULL) {
        return IW_ERR_NOMEM;
    }
    for (uint32_t r = 0; r < ranks; r++) {
        id.rank = r;
        lgs->offset_ps[r] = iwi_noise_trace_offset(noise, id);
    }
    return IW_OK;
}

void iwi_lgs_noise_release(struct iwi_lgs_noise *lgs)
{
    free(lgs->lost_before_ps);
    free(lgs->offset_ps);
    *lgs = (struct iwi_lgs_noise){.lost_before_ps = NULL};
}

/* How many detours start before `time_ps`. */
static size_t count_before(const struct iwi_detour_trace_view *trace, iw_time time_ps)
{
    size_t at;

    IWI_FIRST_NOT(at, 0, trace->count, trace->pieces[at].start_ps < time_ps);
    return at;
}

/* Lost in [from, to): the rest of the detour under way at `from`, and all of those that start inside. */
static iw_time lost_within(const struct iwi_lgs_noise *lgs, iw_time from_ps, iw_time to_ps)
{
    const struct iwi_detour_trace_view *trace = &lgs->trace;
    size_t first = 1;
    const size_t end = count_before(trace, to_ps);
    iw_time rest_ps = 0;

    if (from_ps > trace->pieces[0].start_ps) {
        first = count_before(trace, from_ps + 1);
        rest_ps =
            iwi_max(0, trace->pieces[first - 1].start_ps + trace->pieces[first - 1].duration_ps - from_ps);
    }
    return rest_ps + (end > first ? lgs->lost_before_ps[end] - lgs->lost_before_ps[first] : 0);
}

static iw_time lost_over_rounds(const struct iwi_lgs_noise *lgs, iw_time from_ps, iw_time work_ps)
{
    const iw_time period_ps = lgs->period_ps, left_ps = work_ps % period_ps;
    const iw_time per_round_ps = lgs->lost_before_ps[count_before(&lgs->trace, period_ps)];
    const iw_time lost_ps = work_ps / period_ps * per_round_ps;

    if (from_ps + left_ps <= period_ps) {
        return lost_ps + lost_within(lgs, from_ps, from_ps + left_ps);
    }
    return lost_ps + lost_within(lgs, from_ps, period_ps) +
           lgs->lost_before_ps[count_before(&lgs->trace, from_ps + left_ps - period_ps)];
}

iw_time iwi_lgs_noise_lost(const struct iwi_lgs_noise *lgs, uint32_t rank, iw_time start_ps, iw_time work_ps)
{
    iw_time modulus_ps, from_ps;

    if (lgs->offset_ps == NULL) {
        return 0;
    }
    modulus_ps = work_ps >= lgs->period_ps ? lgs->period_ps : lgs->period_ps - work_ps;
    from_ps = (start_ps % modulus_ps + lgs->offset_ps[rank] % modulus_ps) % modulus_ps;
    if (work_ps >= lgs->period_ps) {
        return lost_over_rounds(lgs, from_ps, work_ps);
    }
    return lost_within(lgs, from_ps, from_ps + work_ps);
}
