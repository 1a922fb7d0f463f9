/* Is the noise that was made the noise that was asked for: power, counts, durations.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The host has noise of its own. Detours that nothing was made for are its: r a second, of duration h. Some
 * meet detours that are made: one under way when that begins makes it longer by what has passed of it, one
 * under way when it ends by what is left. Both are E[h^2] / (2 E[h]) on average and happen with probability
 * r E[h], so the host's part of a matched detour is r E[h^2], and noise power is
 *     (sum of matched detours - matched r E[h^2]) / time.
 * That is for short ones. Of what is to be made while the host has the CPU for far longer (IWI_HIDING_NS)
 * nothing can be said: it is hidden, and left out on both sides, as far as the host's recording explains it
 * (fidelity_host.c); what is beyond that is not the host's doing and counts as not made as asked for.
 * From the host's recording power can be had without matching: a share H of the time that is left is lost to
 * the host, so a share O that is lost in all has (O - H) / (1 - H) of what was made.
 */
#include <idlewave/internal/fidelity.h>

#include <math.h>
#include <stdlib.h>

#include <idlewave/estimate.h>

#include "core/base/base.h"
#include "core/base/order.h"
#include "core/stats/distances.h"
#include "features/replay/fidelity/fidelity.h"

double iw_fidelity_quantile(size_t q)
{
    static const double quantiles[IW_FIDELITY_QUANTILES] = {0.10, 0.25, 0.50, 0.75, 0.90, 0.99};

    return quantiles[q];
}

static const double NS_PER_S = 1e9;
static const uint64_t LEAST_FOR_KL = 30; /* durations */

static double sum_ns(const iw_detours *detours)
{
    double sum = 0.0;

    for (size_t i = 0; i < detours->count; i++) {
        sum += (double)detours->duration_ns[i];
    }
    return sum;
}

/* ---- counts and power ---- */

/* `hiding_ns`: in detours that are mostly the host's. */
static void count_matches(const iw_detours *observed, const struct iwi_matched *matched, double *wanted_ns_p,
                          double *seen_ns_p, double *hiding_ns_p, iw_fidelity *f)
{
    *wanted_ns_p = *seen_ns_p = *hiding_ns_p = 0.0;
    f->all_count = matched->count;
    for (size_t i = 0; i < matched->count; i++) {
        const struct iwi_wanted *wanted = &matched->wanted[i];

        if (wanted->is_hidden) { /* not those that were taken back */
            f->hidden_count++;
            *hiding_ns_p += wanted->is_merged ? 0.0 : (double)observed->duration_ns[wanted->seen];
            continue;
        }
        f->planned_count++;
        *wanted_ns_p += (double)wanted->duration_ns;
        if (wanted->seen != IWI_UNSEEN) {
            f->excess_count += wanted->is_excess;
            f->matched_count += !wanted->is_excess;
            f->merged_count += wanted->is_merged;
            *seen_ns_p += wanted->is_merged ? 0.0 : (double)observed->duration_ns[wanted->seen];
        }
    }
}

static void measure_power(const iw_fidelity_inputs *inputs, const struct iwi_matched *matched, iw_fidelity *f)
{
    const iw_detours *observed = inputs->observed, *host = inputs->host;
    const struct iwi_own own = iwi_own_noise(inputs, matched);
    const double of_trace = sum_ns(inputs->expected) / (double)inputs->expected->length_ns;
    const double of_plan = sum_ns(inputs->planned) / (double)inputs->planned->length_ns;
    const double of_all = sum_ns(observed) / (double)observed->length_ns;
    double span_ns = (double)(matched->last_ns - matched->first_ns);
    double wanted_ns, seen_ns, hiding_ns, outside_ns;

    count_matches(observed, matched, &wanted_ns, &seen_ns, &hiding_ns, f);
    span_ns = fmax(span_ns - hiding_ns, 1.0);
    outside_ns = fmax(span_ns - seen_ns, 1.0);
    f->watched_ns = span_ns;
    f->observed_count = observed->count;
    f->own_count = (uint64_t)own.count;
    f->own_rate_hz = own.count / outside_ns * NS_PER_S;
    f->own_share = (own.ns + hiding_ns) / (outside_ns + hiding_ns);
    f->host_rate_hz = (double)host->count / (double)host->length_ns * NS_PER_S;
    f->host_share = sum_ns(host) / (double)host->length_ns;
    /* What the plan has in this time, and as much more or less as the trace has on the whole. */
    f->power_expected = of_plan > 0.0 ? wanted_ns / span_ns * (of_trace / of_plan) : 0.0;
    f->power_observed = (seen_ns - fmax((double)f->matched_count - (double)f->merged_count, 0.0) *
                                       own.short_ns2 / outside_ns) /
                        span_ns;
    f->power_by_host = (of_all - f->host_share) / (1.0 - f->host_share);
    f->is_own_right = iwi_is_own_explained(inputs, &own, outside_ns, f);
}

/* ---- durations ---- */

/* Durations in the trace's time; room for as many as are wanted, each. */
struct durations {
    double *wanted, *seen, *late;
    size_t wanted_count, seen_count, late_count;
};

static bool is_judged(const struct iwi_wanted *wanted, double floor_ns)
{
    return wanted->is_as_recorded && (double)wanted->duration_ns >= floor_ns;
}

/* A detour that was seen as one with another has no duration of its own. */
static bool is_alone(const struct iwi_matched *matched, size_t i)
{
    return matched->wanted[i].seen != IWI_UNSEEN && !matched->wanted[i].is_merged &&
           (i + 1 == matched->count || !matched->wanted[i + 1].is_merged);
}

static void gather(const iw_fidelity_inputs *inputs, const struct iwi_matched *matched, bool is_all,
                   struct durations *d)
{
    const double k = inputs->time_scale;
    const bool is_busy = is_all && iwi_is_host_busy(inputs, 0.0); /* then the excess may well be the host's */

    d->wanted_count = d->seen_count = d->late_count = 0;
    for (size_t i = 0; i < matched->count; i++) {
        const struct iwi_wanted *wanted = &matched->wanted[i];

        if (wanted->is_hidden || (!is_all && !is_judged(wanted, inputs->floor_ns)) ||
            (is_all && is_busy && wanted->is_excess)) {
            continue;
        }
        if (!is_all) {
            d->wanted[d->wanted_count++] = (double)wanted->duration_ns / k;
        }
        if (is_alone(matched, i)) {
            d->seen[d->seen_count++] = (double)inputs->observed->duration_ns[wanted->seen] / k;
            d->late[d->late_count++] = wanted->late_ns;
        }
    }
    iwi_sort_doubles(d->wanted, d->wanted_count);
    iwi_sort_doubles(d->seen, d->seen_count);
    iwi_sort_doubles(d->late, d->late_count);
}

static bool is_quantile_right(double expected_ns, double observed_ns, double time_scale)
{
    const double error_ns = fabs(observed_ns - expected_ns);

    return error_ns <= IW_FIDELITY_QUANTILE * expected_ns || error_ns * time_scale <= IW_FIDELITY_QUANTILE_NS;
}

static iw_status measure_distances(const iw_log *log, const struct durations *d, iw_fidelity *f)
{
    int64_t *room;

    f->ks = f->wasserstein_ns = NAN;
    if (d->wanted_count == 0 || d->seen_count == 0) {
        return IW_OK;
    }
    room = iwi_new_array(log, d->wanted_count + d->seen_count, sizeof *room);
    if (room == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < d->wanted_count; i++) {
        room[i] = (int64_t)llround(d->wanted[i]);
    }
    for (size_t i = 0; i < d->seen_count; i++) {
        room[d->wanted_count + i] = (int64_t)llround(d->seen[i]);
    }
    iwi_sorted_distances(room, d->wanted_count, &room[d->wanted_count], d->seen_count, &f->ks,
                         &f->wasserstein_ns);
    free(room);
    return IW_OK;
}

static void measure_quantiles(const struct durations *d, iw_fidelity *f)
{
    f->compared_count = d->wanted_count;
    f->are_quantiles_right = d->wanted_count > 0 && d->seen_count > 0;
    for (size_t q = 0; q < IW_FIDELITY_QUANTILES; q++) {
        f->quantile_expected_ns[q] = f->quantile_observed_ns[q] = NAN;
        if (d->wanted_count > 0 && d->seen_count > 0) {
            const double share = iw_fidelity_quantile(q);

            f->quantile_expected_ns[q] = iw_quantile_sorted(d->wanted, d->wanted_count, share);
            f->quantile_observed_ns[q] = iw_quantile_sorted(d->seen, d->seen_count, share);
            f->are_quantiles_right &=
                is_quantile_right(f->quantile_expected_ns[q], f->quantile_observed_ns[q], f->time_scale);
        }
    }
    f->late_spread_ns = d->late_count > 0 ? iw_quantile_sorted(d->late, d->late_count, 0.99) -
                                                iw_quantile_sorted(d->late, d->late_count, 0.5)
                                          : NAN;
}

/* All durations of the trace, those below the floor too, against all that were seen. */
static iw_status measure_divergence(const iw_log *log, const iw_detours *expected, const struct durations *d,
                                    iw_fidelity *f)
{
    double *all_ns = iwi_new_array(log, expected->count + 1, sizeof *all_ns);
    iw_status status;

    if (all_ns == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < expected->count; i++) {
        all_ns[i] = (double)expected->duration_ns[i];
    }
    status = iwi_kl_divergence(log, all_ns, expected->count, d->seen, d->seen_count, &f->kl);
    free(all_ns);
    return status;
}

static iw_status measure_durations(const iw_log *log, const iw_fidelity_inputs *inputs,
                                   const struct iwi_matched *matched, iw_fidelity *f)
{
    const size_t room = matched->count + 1;
    double *numbers = iwi_new_array(log, 3 * room, sizeof *numbers);
    struct durations d = {.wanted = numbers};
    iw_status status;

    if (numbers == NULL) {
        return IW_ERR_NOMEM;
    }
    d.seen = &numbers[room];
    d.late = &numbers[2 * room];
    gather(inputs, matched, false, &d);
    measure_quantiles(&d, f);
    status = measure_distances(log, &d, f);
    if (status == IW_OK) {
        gather(inputs, matched, true, &d);
        status = measure_divergence(log, inputs->expected, &d, f);
    }
    free(numbers);
    return status;
}

/* ---- all of it ---- */

static void judge(const iw_fidelity_inputs *inputs, iw_fidelity *f)
{
    const double missed = (double)(f->planned_count - f->matched_count);

    f->is_power_right = fabs(f->power_observed - f->power_expected) <= IW_FIDELITY_POWER * f->power_expected;
    f->is_count_right = f->planned_count > 0 && missed <= IW_FIDELITY_COUNT * (double)f->planned_count;
    f->is_hidden = f->hidden_count > f->all_count / 4 * 3;
    f->is_drowned = iwi_is_host_busy(inputs, f->host_share) && !(f->is_count_right && f->is_own_right);
}

static iw_status compare_planned(const iw_log *log, const iw_fidelity_inputs *inputs, iw_fidelity *fidelity_p)
{
    iw_fidelity f = {.time_scale = inputs->time_scale, .floor_ns = inputs->floor_ns};
    struct iwi_matched matched;
    iw_status status;

    IW_TRY(iwi_fidelity_match(log, inputs, &matched));
    status = iwi_fidelity_hidden(log, inputs, &matched, &f);
    if (status == IW_OK) {
        measure_power(inputs, &matched, &f);
        status = measure_durations(log, inputs, &matched, &f);
    }
    iwi_matched_release(&matched);
    IW_TRY(status);
    judge(inputs, &f);
    *fidelity_p = f;
    return IW_OK;
}

/* `expected` with its times scaled; starts and durations are in *room_p, freed by the caller. */
static iw_status scale(const iw_log *log, const iw_detours *expected, double time_scale, iw_detours *scaled,
                       int64_t **room_p)
{
    int64_t *room = iwi_new_array(log, 2 * expected->count + 1, sizeof *room);

    if (room == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < expected->count; i++) {
        room[i] = llround((double)expected->start_ns[i] * time_scale);
        room[expected->count + i] = llround((double)expected->duration_ns[i] * time_scale);
    }
    *scaled = (iw_detours){.count = expected->count,
                           .start_ns = room,
                           .duration_ns = &room[expected->count],
                           .length_ns = llround((double)expected->length_ns * time_scale)};
    *room_p = room;
    return IW_OK;
}

iw_status iw_fidelity_compare(const iw_log *log, const iw_fidelity_inputs *inputs, iw_fidelity *fidelity_p)
{
    iw_fidelity_inputs whole = *inputs;
    iw_detours scaled;
    int64_t *room = NULL;
    iw_status status;

    if (!(inputs->time_scale >= 1.0)) {
        return iwi_fail(log, IW_ERR_RANGE, "a time scale of %g is below 1", inputs->time_scale);
    }
    if (inputs->expected->length_ns <= 0 || inputs->observed->length_ns < 1000000 ||
        inputs->host->length_ns <= 0) {
        return iwi_fail(log, IW_ERR_RANGE, "the recording has no watched time, so its noise is unknown");
    }
    if (inputs->planned == NULL) {
        IW_TRY(scale(log, inputs->expected, inputs->time_scale, &scaled, &room));
        whole.planned = &scaled;
    }
    status = compare_planned(log, &whole, fidelity_p);
    free(room);
    return status;
}

bool iw_fidelity_can_tell(const iw_fidelity *fidelity)
{
    return !fidelity->is_hidden && !fidelity->is_drowned;
}

bool iw_fidelity_is_right(const iw_fidelity *fidelity)
{
    return iw_fidelity_can_tell(fidelity) && fidelity->is_power_right && fidelity->is_count_right &&
           fidelity->are_quantiles_right && fidelity->is_own_right;
}

static bool is_found_again(const iw_fidelity *f)
{
    const uint64_t asked = f->planned_count - (f->is_drowned ? f->excess_count : 0);

    return f->matched_count >= LEAST_FOR_KL && f->matched_count >= asked - asked / 10;
}

double iw_fidelity_kl_ratio(const struct iw_fidelity_report *report)
{
    if (!report->has_naive || !is_found_again(&report->fidelity) || !is_found_again(&report->naive) ||
        !(report->fidelity.kl > 0.0)) {
        return NAN;
    }
    return report->naive.kl / report->fidelity.kl;
}
