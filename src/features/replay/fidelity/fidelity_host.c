/* What of an observation is the host's own doing, and how much of that its recording explains.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A detour of the host of duration h > IWI_HIDING_NS + d/2 that meets one of duration d makes both together
 * longer than the limit of hiding. It meets it with probability (h + d) / L, L the length of the host's
 * recording, so that is the chance of each detour to be hidden. Let m = (h + d) times the rate of what is to
 * be made, for each of the host's detours, and r the time watched over L. The number hidden has variance
 *     H + (r + r^2) sum m^2,
 * H its mean: by chance, as detours of the host hide several at once, and as its recording is one of many.
 */
#include <math.h>
#include <stdlib.h>

#include "core/base/base.h"
#include "core/base/order.h"
#include "features/replay/fidelity/fidelity.h"

static const double SIGMAS = 3.0;
static const double BUSY_SHARE = 0.10; /* of the time: the next seconds may be quite different */

/* ---- hidden ---- */

struct hiding {
    size_t count;
    double *duration_ns; /* ascending */
    double *from_ns;     /* sum from here on */
};

static iw_status sort_host(const iw_log *log, const iw_detours *host, struct hiding *hiding)
{
    double *room = iwi_new_array(log, 2 * host->count + 2, sizeof *room);

    if (room == NULL) {
        return IW_ERR_NOMEM;
    }
    *hiding = (struct hiding){.count = host->count, .duration_ns = room, .from_ns = &room[host->count + 1]};
    for (size_t i = 0; i < host->count; i++) {
        room[i] = (double)host->duration_ns[i];
    }
    iwi_sort_doubles(room, host->count);
    for (size_t i = host->count; i > 0; i--) {
        hiding->from_ns[i - 1] = hiding->from_ns[i] + room[i - 1];
    }
    return IW_OK;
}

/* The first that hides a detour of this duration. */
static size_t first_hiding(const struct hiding *hiding, double made_ns)
{
    const double limit_ns = (double)IWI_HIDING_NS + made_ns / 2.0;
    size_t at;

    IWI_FIRST_NOT(at, 0, hiding->count, hiding->duration_ns[at] <= limit_ns);
    return at;
}

static double hiding_chance(const struct hiding *hiding, double made_ns, double length_ns)
{
    const size_t first = first_hiding(hiding, made_ns);

    return fmin((hiding->from_ns[first] + (double)(hiding->count - first) * made_ns) / length_ns, 1.0);
}

/* How many may be hidden before it is not the host any more. */
static double hiding_budget(const struct hiding *hiding, double length_ns, const struct iwi_matched *matched,
                            double *mean_p)
{
    const double watched_ns = fmax((double)(matched->last_ns - matched->first_ns), 1.0);
    const double rate = (double)matched->count / watched_ns, r = watched_ns / length_ns;
    double mean_ns = 0.0, clumps = 0.0;

    *mean_p = 0.0;
    for (size_t i = 0; i < matched->count; i++) {
        const double made_ns = (double)matched->wanted[i].duration_ns;

        *mean_p += hiding_chance(hiding, made_ns, length_ns);
        mean_ns += made_ns / (double)matched->count;
    }
    for (size_t k = first_hiding(hiding, mean_ns); k < hiding->count; k++) {
        const double hit = (hiding->duration_ns[k] + mean_ns) * rate;

        clumps += hit * hit;
    }
    return *mean_p + SIGMAS * sqrt(*mean_p + (r + r * r) * clumps);
}

/* Neighbours that were seen as one are hidden together. */
struct group {
    size_t first, end;
    int64_t seen_ns;
};

IWI_COMPARE(compare_groups, struct group, IWI_RISING(seen_ns))

static size_t list_hidden(const iw_detours *observed, const struct iwi_matched *matched, struct group *groups)
{
    size_t count = 0;

    for (size_t i = 0, end; i < matched->count; i = end) {
        for (end = i + 1; end < matched->count && matched->wanted[end].is_merged; end++) {
        }
        if (matched->wanted[i].is_hidden) {
            groups[count++] = (struct group){i, end, observed->duration_ns[matched->wanted[i].seen]};
        }
    }
    return count;
}

/* The shortest of what hides is least likely to be the host's: these are taken back first. */
static void take_back(struct iwi_matched *matched, struct group *groups, size_t count, double budget)
{
    double hidden = 0.0;

    for (size_t g = 0; g < count; g++) {
        hidden += (double)(groups[g].end - groups[g].first);
    }
    iwi_sort(groups, count, compare_groups);
    for (size_t g = 0; g < count && hidden > budget; g++) {
        for (size_t i = groups[g].first; i < groups[g].end; i++) {
            matched->wanted[i].is_hidden = false;
            matched->wanted[i].is_excess = true;
            hidden -= 1.0;
        }
    }
}

iw_status iwi_fidelity_hidden(const iw_log *log, const iw_fidelity_inputs *inputs,
                              struct iwi_matched *matched, iw_fidelity *f)
{
    struct group *groups = iwi_new_array(log, matched->count + 1, sizeof *groups);
    struct hiding hiding;
    iw_status status = groups != NULL ? sort_host(log, inputs->host, &hiding) : IW_ERR_NOMEM;

    if (status == IW_OK) {
        const double length_ns = (double)inputs->host->length_ns;
        const double budget = hiding_budget(&hiding, length_ns, matched, &f->hidden_by_host);

        take_back(matched, groups, list_hidden(inputs->observed, matched, groups), budget);
        free(hiding.duration_ns);
    }
    free(groups);
    return status;
}

/* ---- surplus ---- */

enum { SLICES = 10 };

/* Hosts have noise in bursts: how far sums are from sure is told by their parts in slices of the time. */
struct slices {
    int64_t first_ns, last_ns;
    double count[SLICES], ns[SLICES];
};

static double deviation_of_sum(const double part[SLICES])
{
    double mean = 0.0, square = 0.0;

    for (size_t i = 0; i < SLICES; i++) {
        mean += part[i] / SLICES;
    }
    for (size_t i = 0; i < SLICES; i++) {
        square += (part[i] - mean) * (part[i] - mean);
    }
    return sqrt(square * SLICES / (SLICES - 1.0));
}

static void add_detour(const iw_detours *detours, size_t i, double least_ns, struct slices *slices,
                       struct iwi_own *own)
{
    const double duration_ns = (double)detours->duration_ns[i];
    const double at = (double)(detours->start_ns[i] - slices->first_ns) * SLICES /
                      fmax((double)(slices->last_ns - slices->first_ns), 1.0);
    const size_t slice = (size_t)fmin(at, SLICES - 1);

    own->count += 1.0;
    own->ns += duration_ns;
    own->short_ns2 += detours->duration_ns[i] <= IWI_HIDING_NS ? duration_ns * duration_ns : 0.0;
    slices->ns[slice] += duration_ns;
    if (duration_ns >= least_ns) {
        own->able_count += 1.0;
        slices->count[slice] += 1.0;
    }
}

/* `is_made` NULL: all are the host's. */
static struct iwi_own own_of(const iw_detours *detours, const bool *is_made, double least_ns,
                             struct slices slices)
{
    struct iwi_own own = {.count = 0.0};

    for (size_t i = 0; i < detours->count; i++) {
        if ((is_made == NULL || !is_made[i]) && detours->start_ns[i] >= slices.first_ns &&
            detours->start_ns[i] < slices.last_ns) {
            add_detour(detours, i, least_ns, &slices, &own);
        }
    }
    own.able_deviation = deviation_of_sum(slices.count);
    own.ns_deviation = deviation_of_sum(slices.ns);
    return own;
}

static double least_able_ns(const iw_detours *planned)
{
    int64_t shortest_ns = INT64_MAX;

    for (size_t i = 0; i < planned->count; i++) {
        shortest_ns = iwi_min(shortest_ns, planned->duration_ns[i]);
    }
    return (double)shortest_ns / 2.0;
}

struct iwi_own iwi_own_noise(const iw_fidelity_inputs *inputs, const struct iwi_matched *matched)
{
    return own_of(inputs->observed, matched->is_made, least_able_ns(inputs->planned),
                  (struct slices){.first_ns = matched->first_ns, .last_ns = matched->last_ns});
}

bool iwi_is_own_explained(const iw_fidelity_inputs *inputs, const struct iwi_own *own, double outside_ns,
                          const iw_fidelity *f)
{
    const struct slices whole = {.first_ns = 0, .last_ns = inputs->host->length_ns};
    const struct iwi_own host = own_of(inputs->host, NULL, least_able_ns(inputs->planned), whole);
    const double host_ns = (double)inputs->host->length_ns;
    const double more_rate = own->able_count / outside_ns - host.able_count / host_ns;
    const double more_share = own->ns / outside_ns - host.ns / host_ns;
    const double rate_deviation = hypot(own->able_deviation / outside_ns, host.able_deviation / host_ns);
    const double share_deviation = hypot(own->ns_deviation / outside_ns, host.ns_deviation / host_ns);

    return more_rate <=
               IW_FIDELITY_COUNT * (double)f->planned_count / f->watched_ns + SIGMAS * rate_deviation &&
           more_share <= IW_FIDELITY_POWER * f->power_expected + SIGMAS * share_deviation;
}

/* Detours longer than any that is made are the host's whatever the injector does. */
bool iwi_is_host_busy(const iw_fidelity_inputs *inputs, double host_share)
{
    const iw_detours *planned = inputs->planned, *observed = inputs->observed;
    int64_t longest_ns = 0;
    double long_ns = 0.0;

    for (size_t i = 0; i < planned->count; i++) {
        longest_ns = iwi_max(longest_ns, planned->duration_ns[i]);
    }
    for (size_t i = 0; i < observed->count; i++) {
        if (observed->duration_ns[i] > longest_ns + longest_ns / 2 + IWI_HIDING_NS) {
            long_ns += (double)observed->duration_ns[i];
        }
    }
    return fmax(host_share, long_ns / (double)observed->length_ns) > BUSY_SHARE;
}
