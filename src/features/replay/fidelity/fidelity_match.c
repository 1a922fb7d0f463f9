/* Detours that were seen, matched with those that were asked for, and how both are distributed.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdlib.h>

#include <idlewave/estimate.h>

#include "core/base/base.h"
#include "core/base/order.h"
#include "features/replay/fidelity/fidelity.h"

/* ======== distributions ======== */

/* Durations range over decades, so densities are over x = ln d. With Gaussian kernels of bandwidth h,
 *     p(x) = 1/n sum_i phi((x - x_i) / h) / h,   h = 0.9 min(s, IQR / 1.34) n^(-1/5)   (Silverman, of a),
 *     KL(a, b) = integral p_a(x) ln(p_a(x) / p_b(x)) dx.
 * Both densities have the bandwidth of a, the trace, so that equal durations have KL 0 whatever it is. h is
 * at least LEAST_BANDWIDTH: equal durations have no spread. Where b has nothing p_b would be 0 and KL
 * infinite, so both densities are mixed with FLAT_SHARE of a flat one. Where b lies aside of a, KL is near
 * ln(GRID / FLAT_SHARE) less the entropy of p_a on the grid: so the KL of a naive injector, and its ratio to
 * that of a compensated one, are larger the smaller FLAT_SHARE is: 156, 260 and 370 for shares of 1e-3, 1e-6
 * and 1e-9. The paper tells neither bandwidth nor axis nor what it did of this: no number of its can be
 * compared. */

enum { GRID = 2048 };

static const double LEAST_BANDWIDTH = 0.01; /* 1 % of a duration */
static const double FLAT_SHARE = 1e-6;
static const double KERNEL_REACH = 6.0; /* bandwidths */

struct grid {
    double first, step, bandwidth;
};

static double bandwidth_of(const double *sorted, size_t count)
{
    const double iqr = iw_quantile_sorted(sorted, count, 0.75) - iw_quantile_sorted(sorted, count, 0.25);
    double mean = 0.0, square = 0.0, spread;

    for (size_t i = 0; i < count; i++) {
        mean += sorted[i] / (double)count;
    }
    for (size_t i = 0; i < count; i++) {
        square += (sorted[i] - mean) * (sorted[i] - mean) / (double)count;
    }
    spread = iqr > 0.0 ? fmin(sqrt(square), iqr / 1.34) : sqrt(square);
    return fmax(0.9 * spread * pow((double)count, -0.2), LEAST_BANDWIDTH);
}

/* Durations go to the two grid points beside them, then the kernel is laid over the counts. */
static void estimate(const struct grid *grid, const double *x, size_t count, double *counts, double *density)
{
    const int reach = (int)fmin(ceil(KERNEL_REACH * grid->bandwidth / grid->step), GRID - 1);
    double sum = 0.0;

    for (size_t i = 0; i < count; i++) {
        const double at = (x[i] - grid->first) / grid->step;
        const size_t point = (size_t)fmin(fmax(at, 0.0), GRID - 2);

        counts[point] += 1.0 - (at - (double)point);
        counts[point + 1] += at - (double)point;
    }
    for (int i = 0; i < GRID; i++) {
        for (int k = -reach; k <= reach && counts[i] > 0.0; k++) {
            const double z = k * grid->step / grid->bandwidth;

            if (i + k >= 0 && i + k < GRID) {
                density[i + k] += counts[i] * exp(-0.5 * z * z);
            }
        }
    }
    for (size_t i = 0; i < GRID; i++) {
        sum += density[i];
    }
    for (size_t i = 0; i < GRID; i++) { /* shares of the grid's points: the step cancels */
        density[i] = (1.0 - FLAT_SHARE) * density[i] / sum + FLAT_SHARE / GRID;
    }
}

static void take_logarithms(const double *ns, size_t count, double *sorted)
{
    for (size_t i = 0; i < count; i++) {
        sorted[i] = log(fmax(ns[i], 1.0));
    }
    iwi_sort_doubles(sorted, count);
}

/* `room` has a_count + b_count + 4 GRID zeros. */
static double divergence(const double *a_ns, size_t a_count, const double *b_ns, size_t b_count, double *room)
{
    double *a = room, *b = a + a_count, *p = b + b_count, *q = p + GRID;
    double *counts_a = q + GRID, *counts_b = counts_a + GRID;
    double kl = 0.0, last;
    struct grid grid;

    take_logarithms(a_ns, a_count, a);
    take_logarithms(b_ns, b_count, b);
    grid.bandwidth = bandwidth_of(a, a_count);
    grid.first = fmin(a[0], b[0]) - KERNEL_REACH * grid.bandwidth;
    last = fmax(a[a_count - 1], b[b_count - 1]) + KERNEL_REACH * grid.bandwidth;
    grid.step = (last - grid.first) / (GRID - 1);
    estimate(&grid, a, a_count, counts_a, p);
    estimate(&grid, b, b_count, counts_b, q);
    for (size_t i = 0; i < GRID; i++) {
        kl += p[i] * log(p[i] / q[i]);
    }
    return fmax(kl, 0.0);
}

iw_status iwi_kl_divergence(const iw_log *log, const double *a_ns, size_t a_count, const double *b_ns,
                            size_t b_count, double *kl_p)
{
    double *room;

    if (a_count == 0 || b_count == 0) {
        *kl_p = NAN;
        return IW_OK;
    }
    room = iwi_new_array(log, a_count + b_count + 4 * (size_t)GRID, sizeof *room);
    if (room == NULL) {
        return IW_ERR_NOMEM;
    }
    *kl_p = divergence(a_ns, a_count, b_ns, b_count, room);
    free(room);
    return IW_OK;
}

/* ======== matches ======== */

/* The probe's clock and the injector's place in the trace are not related to each other. So pairs of an
 * observed and a planned detour of about the same duration vote for the shift between the two; only the true
 * one gets a vote of almost every observed detour. A first vote finds it as exactly as memory allows for the
 * whole trace, a second one near it to some microseconds. From there on the shift follows the matches, as
 * clocks drift by some microseconds a second. */

enum { MOST_BINS = 1 << 22, MOST_PAIRS = 100000000 }; /* pairs that may vote: a fraction of a second */

static const int64_t BIN_NS = 20000;     /* of the first vote; more for a trace of over 84 s */
static const int64_t FINE_BIN_NS = 5000; /* of the second: far less than the window */
static const int64_t WINDOW_NS = 60000;  /* a detour may begin so much late, and so much early by drift */
static const double FOLLOW = 0.02;       /* of a match's error goes into the shift */

/* Longer by what making it costs, or a little shorter. */
static bool is_alike(int64_t observed_ns, int64_t planned_ns)
{
    return observed_ns > planned_ns - planned_ns / 5 - 1000 &&
           observed_ns < planned_ns + planned_ns / 5 + 20000;
}

static int64_t shortest_of(const iw_detours *detours)
{
    int64_t shortest = INT64_MAX;

    for (size_t i = 0; i < detours->count; i++) {
        shortest = iwi_min(shortest, detours->duration_ns[i]);
    }
    return shortest;
}

/* Shifts from first_ns on, modulo the trace's length. */
struct ballot {
    int64_t first_ns, bin_ns;
    size_t bins;
    uint32_t *votes;
};

static void vote_of(const iw_detours *planned, const iw_detours *observed, size_t j, struct ballot *ballot)
{
    const int64_t from_ns = observed->start_ns[j] - ballot->first_ns;

    for (size_t i = 0; i < planned->count; i++) {
        if (is_alike(observed->duration_ns[j], planned->duration_ns[i])) {
            int64_t shift = (from_ns - planned->start_ns[i]) % planned->length_ns;

            shift += shift < 0 ? planned->length_ns : 0;
            if ((size_t)(shift / ballot->bin_ns) < ballot->bins) {
                ballot->votes[shift / ballot->bin_ns]++;
            }
        }
    }
}

/* Of those that may have been made, every so many-th votes: most may be the host's, and very short. */
static void vote(const iw_detours *planned, const iw_detours *observed, struct ballot *ballot)
{
    const int64_t shortest_ns = shortest_of(planned);
    const int64_t least_ns = shortest_ns - shortest_ns / 5 - 1000; /* as is_alike() has it */
    const size_t voters = MOST_PAIRS / (planned->count + 1) + 1;
    size_t able = 0, turn = 0;

    for (size_t j = 0; j < observed->count; j++) {
        able += observed->duration_ns[j] >= least_ns;
    }
    for (size_t j = 0; j < observed->count; j++) {
        if (observed->duration_ns[j] >= least_ns && turn++ % (able / voters + 1) == 0) {
            vote_of(planned, observed, j, ballot);
        }
    }
}

/* The middle of the two neighbouring bins with most votes. */
static iw_status elect(const iw_log *log, const iw_detours *planned, const iw_detours *observed,
                       struct ballot ballot, int64_t *shift_p)
{
    uint32_t most = 0;

    ballot.votes = iwi_new_array(log, ballot.bins, sizeof *ballot.votes);
    if (ballot.votes == NULL) {
        return IW_ERR_NOMEM;
    }
    vote(planned, observed, &ballot);
    for (size_t i = 0; i < ballot.bins; i++) {
        const uint32_t next = ballot.votes[(i + 1) % ballot.bins];

        if (ballot.votes[i] + next > most) {
            most = ballot.votes[i] + next;
            *shift_p = ballot.first_ns + (int64_t)(i + 1) * ballot.bin_ns;
        }
    }
    free(ballot.votes);
    return IW_OK;
}

static iw_status find_shift(const iw_log *log, const iw_detours *planned, const iw_detours *observed,
                            int64_t *shift_p)
{
    const int64_t bin_ns = iwi_max(BIN_NS, planned->length_ns / MOST_BINS + 1);
    const struct ballot coarse = {.bin_ns = bin_ns, .bins = (size_t)(planned->length_ns / bin_ns) + 1};
    struct ballot fine = {.bin_ns = FINE_BIN_NS, .bins = (size_t)(2 * bin_ns / FINE_BIN_NS) + 2};

    *shift_p = 0;
    IW_TRY(elect(log, planned, observed, coarse, shift_p));
    fine.first_ns = *shift_p - bin_ns - FINE_BIN_NS;
    IW_TRY(elect(log, planned, observed, fine, shift_p));
    *shift_p = (*shift_p + 2 * planned->length_ns) % planned->length_ns;
    return IW_OK;
}

/* Planned detours that begin in the time watched, the trace repeated as often as needed. A margin at both
 * ends is left out: of those only a part might have been seen. */
static iw_status lay_wanted(const iw_log *log, const iw_detours *planned, int64_t shift_ns, int64_t length_ns,
                            struct iwi_matched *matched)
{
    const size_t rounds = (size_t)(length_ns / planned->length_ns) + 2;
    const int64_t begin_ns = shift_ns - planned->length_ns;

    matched->first_ns = 2 * WINDOW_NS;
    matched->last_ns = length_ns - 2 * WINDOW_NS;
    matched->wanted = iwi_new_array(log, rounds * planned->count + 1, sizeof *matched->wanted);
    if (matched->wanted == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t round = 0; round < rounds; round++) {
        for (size_t i = 0; i < planned->count; i++) {
            const int64_t start_ns = planned->start_ns[i] + begin_ns + (int64_t)round * planned->length_ns;

            if (start_ns >= matched->first_ns && start_ns + planned->duration_ns[i] < matched->last_ns) {
                matched->wanted[matched->count++] = (struct iwi_wanted){
                    .start_ns = start_ns, .duration_ns = planned->duration_ns[i], .seen = IWI_UNSEEN};
            }
        }
    }
    return IW_OK;
}

/* It lasts until at least half of what was to be made has passed. */
static bool reaches(const iw_detours *observed, size_t j, const struct iwi_wanted *wanted, int64_t start_ns)
{
    return observed->start_ns[j] + observed->duration_ns[j] >= start_ns + wanted->duration_ns / 2;
}

/* Of those after `first` that begin in the window, or are under way by then, and last for at least half of
 * what was to be made: the one that begins nearest. */
static size_t nearest_of(const iw_detours *observed, size_t first, const struct iwi_wanted *wanted,
                         int64_t start_ns)
{
    size_t nearest = IWI_UNSEEN;
    int64_t least_ns = INT64_MAX;

    for (size_t j = first; j < observed->count && observed->start_ns[j] <= start_ns + WINDOW_NS; j++) {
        const int64_t late_ns = observed->start_ns[j] - start_ns;
        const int64_t distance_ns = late_ns < 0 ? -late_ns : late_ns;
        const bool is_early = late_ns < -WINDOW_NS / 4;

        if (observed->duration_ns[j] >= wanted->duration_ns / 2 && distance_ns < least_ns &&
            (!is_early || reaches(observed, j, wanted, start_ns))) {
            nearest = j;
            least_ns = distance_ns;
        }
    }
    return nearest;
}

/* The observed detour that was last matched, and what was to be made in it. */
struct last_seen {
    size_t j;
    int64_t planned_ns;
};

/* Each observed detour is the one of one that was to be made, in order, or of neighbours all of which it
 * spans and whose time it has. */
static void match_one(const iw_detours *observed, size_t first, int64_t start_ns, struct iwi_wanted *wanted,
                      struct last_seen *last)
{
    if (last->j != IWI_UNSEEN && reaches(observed, last->j, wanted, start_ns) &&
        observed->duration_ns[last->j] >= last->planned_ns + wanted->duration_ns / 2) {
        wanted->seen = last->j;
        wanted->is_merged = true;
        last->planned_ns += wanted->duration_ns;
        return;
    }
    if (last->j != IWI_UNSEEN && first <= last->j) {
        first = last->j + 1;
    }
    wanted->seen = nearest_of(observed, first, wanted, start_ns);
    if (wanted->seen != IWI_UNSEEN) {
        *last = (struct last_seen){wanted->seen, wanted->duration_ns};
    }
}

static void match_all(const iw_detours *observed, struct iwi_matched *matched)
{
    struct last_seen last = {IWI_UNSEEN, 0};
    double drift_ns = 0.0;
    size_t first = 0;

    for (size_t i = 0; i < matched->count; i++) {
        struct iwi_wanted *wanted = &matched->wanted[i];
        const int64_t start_ns = wanted->start_ns + (int64_t)drift_ns;

        while (first < observed->count &&
               observed->start_ns[first] + observed->duration_ns[first] < start_ns - WINDOW_NS / 4) {
            first++;
        }
        match_one(observed, first, start_ns, wanted, &last);
        if (wanted->seen == IWI_UNSEEN) {
            continue;
        }
        matched->is_made[wanted->seen] = true;
        wanted->late_ns = (double)(observed->start_ns[wanted->seen] - start_ns);
        if (fabs(wanted->late_ns) < (double)WINDOW_NS && !wanted->is_merged) {
            drift_ns += FOLLOW * wanted->late_ns;
        }
    }
}

/* While the host has the CPU nothing can be made: of what was to be made then nothing can be said. */
static void mark_hidden(const iw_detours *observed, struct iwi_matched *matched)
{
    for (size_t i = 0, end; i < matched->count; i = end) {
        int64_t planned_ns = matched->wanted[i].duration_ns;
        bool is_hidden = false;

        for (end = i + 1; end < matched->count && matched->wanted[end].is_merged; end++) {
            planned_ns += matched->wanted[end].duration_ns;
        }
        if (matched->wanted[i].seen != IWI_UNSEEN) {
            const int64_t seen_ns = observed->duration_ns[matched->wanted[i].seen];

            is_hidden = seen_ns > planned_ns + planned_ns / 2 + IWI_HIDING_NS;
        }
        for (size_t k = i; k < end; k++) {
            matched->wanted[k].is_hidden = is_hidden;
        }
    }
}

/* Detours of the trace that are to be made at their place for their time. */
static void mark_as_recorded(const iw_fidelity_inputs *inputs, const iw_detours *planned, int64_t shift_ns,
                             struct iwi_matched *matched)
{
    const iw_detours *expected = inputs->expected;
    const double k = inputs->time_scale;
    size_t e = 0;

    for (size_t i = 0; i < matched->count; i++) {
        struct iwi_wanted *wanted = &matched->wanted[i];
        int64_t place = (wanted->start_ns - shift_ns) % planned->length_ns;

        place += place < 0 ? planned->length_ns : 0;
        if (e >= expected->count || (double)expected->start_ns[e] * k > (double)place + 1.0) {
            e = 0; /* the trace begins anew */
        }
        while (e < expected->count && (double)expected->start_ns[e] * k < (double)place - 1.0) {
            e++;
        }
        wanted->is_as_recorded =
            e < expected->count && fabs((double)expected->start_ns[e] * k - (double)place) <= 1.0 &&
            fabs((double)expected->duration_ns[e] * k - (double)wanted->duration_ns) <= 1.0;
    }
}

void iwi_matched_release(struct iwi_matched *matched)
{
    free(matched->wanted);
    free(matched->is_made);
}

iw_status iwi_fidelity_match(const iw_log *log, const iw_fidelity_inputs *inputs,
                             struct iwi_matched *matched_p)
{
    struct iwi_matched matched = {.count = 0};
    iw_status status;
    int64_t shift_ns = 0;

    matched.is_made = iwi_new_array(log, inputs->observed->count + 1, sizeof *matched.is_made);
    status = matched.is_made != NULL ? find_shift(log, inputs->planned, inputs->observed, &shift_ns)
                                     : IW_ERR_NOMEM;
    if (status == IW_OK) {
        status = lay_wanted(log, inputs->planned, shift_ns, inputs->observed->length_ns, &matched);
    }
    if (status != IW_OK) {
        iwi_matched_release(&matched);
        return status;
    }
    match_all(inputs->observed, &matched);
    mark_hidden(inputs->observed, &matched);
    mark_as_recorded(inputs, inputs->planned, shift_ns, &matched);
    *matched_p = matched;
    return IW_OK;
}
