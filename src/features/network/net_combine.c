/* One network of several launches: means, with intervals that hold what differs between launches.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <string.h>

#include "core/base/order.h"
#include "core/stats/mean_interval.h"
#include "features/network/net_points.h"

enum { MOST_LAUNCHES = 100 };

struct combination {
    const iw_log *log;
    const iw_net_measured *const *launches;
    size_t count;
    iw_net_measured *all;
};

/* ---- values ---- */

/* Times are not negative. */
static iw_estimate mean_of(const double *values_ns, size_t count)
{
    const iw_estimate mean = iwi_student_estimate(values_ns, count);

    return (iw_estimate){fmax(mean.value, 0), fmax(mean.low, 0), fmax(mean.high, 0)};
}

/* ---- points ---- */

static const iw_net_point *point_of(const iw_net_level *level, uint64_t bytes)
{
    for (size_t i = 0; i < level->point_count; i++) {
        if (level->points[i].bytes == bytes) {
            return &level->points[i];
        }
    }
    return NULL;
}

static const iw_net_level *level_of(const iw_net_measured *launch, const char *name)
{
    for (size_t i = 0; i < launch->level_count; i++) {
        if (strcmp(launch->levels[i].name, name) == 0) {
            return &launch->levels[i];
        }
    }
    return NULL;
}

enum { HALF, GAP, SEND, RECV, EXCHANGE, LATENCY, VALUES };

/* What is unknown counts as 0. */
static double known(double ns)
{
    return ns > 0 ? ns : 0;
}

static void list_values(const iw_net_point *point, double values_ns[VALUES])
{
    values_ns[HALF] = known(point->half_round_trip.value);
    values_ns[GAP] = known(point->gap.value);
    values_ns[SEND] = known(point->o_send.value);
    values_ns[RECV] = known(point->o_recv.value);
    values_ns[EXCHANGE] = known(point->exchange.value);
    values_ns[LATENCY] = known(iwi_net_whole(point)->value) - values_ns[SEND] - values_ns[RECV];
}

/* False: not all launches have that size. */
static bool combine_point(const struct combination *c, const char *level_name, uint64_t bytes,
                          iw_net_point *point, iw_estimate *latency)
{
    double all_ns[VALUES][MOST_LAUNCHES];

    *point = (iw_net_point){.bytes = bytes};
    for (size_t i = 0; i < c->count; i++) {
        const iw_net_level *level = level_of(c->launches[i], level_name);
        const iw_net_point *one = level != NULL ? point_of(level, bytes) : NULL;
        double values_ns[VALUES];

        if (one == NULL) {
            return false;
        }
        point->samples += one->samples;
        list_values(one, values_ns);
        for (size_t v = 0; v < VALUES; v++) {
            all_ns[v][i] = values_ns[v];
        }
    }
    point->half_round_trip = mean_of(all_ns[HALF], c->count);
    point->gap = mean_of(all_ns[GAP], c->count);
    point->o_send = mean_of(all_ns[SEND], c->count);
    point->o_recv = mean_of(all_ns[RECV], c->count);
    point->exchange = mean_of(all_ns[EXCHANGE], c->count);
    *latency = mean_of(all_ns[LATENCY], c->count);
    return true;
}

/* ---- levels ---- */

IWI_COMPARE(by_limit, iw_net_eager, IWI_FALLING(is_at_most), IWI_RISING(bytes))

/* The median of the limits; launches that found none count as the largest. */
static iw_net_eager limit_of(const struct combination *c, const char *level_name, bool is_inside)
{
    iw_net_eager limits[MOST_LAUNCHES] = {{0, false, 0}};
    uint32_t votes = 0;

    for (size_t i = 0; i < c->count; i++) {
        const iw_net_level *level = level_of(c->launches[i], level_name);

        limits[i] = is_inside ? level->eager_inside : level->eager_computing;
        votes += limits[i].votes;
    }
    iwi_sort(limits, c->count, by_limit);
    limits[(c->count - 1) / 2].votes = votes;
    return limits[(c->count - 1) / 2];
}

static iw_status combine_level(const struct combination *c, const iw_net_level *first, iw_net_level *level)
{
    iw_estimate latency = {0, 0, 0};

    level->points = iwi_new_array(c->log, first->point_count, sizeof *level->points);
    if (level->points == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < first->point_count; i++) {
        iw_estimate L;

        if (combine_point(c, first->name, first->points[i].bytes, &level->points[level->point_count], &L)) {
            latency = level->point_count++ == 0 ? L : latency;
        }
    }
    if (level->point_count == 0 || level->point_count > IWI_MOST_NET_POINTS) {
        return iwi_fail(c->log, IW_ERR_RANGE,
                        "the launches share %zu sizes of level '%s', but 1 to %d can be evaluated",
                        level->point_count, first->name, IWI_MOST_NET_POINTS);
    }
    memcpy(level->name, first->name, sizeof level->name);
    memcpy(level->ranks, first->ranks, sizeof level->ranks);
    level->eager_computing = limit_of(c, first->name, false);
    level->eager_inside = limit_of(c, first->name, true);
    iwi_net_smallest(level);
    level->L = latency;
    iwi_net_segments(level, &iwi_net_own_fineness);
    return IW_OK;
}

static iw_status combine_levels(struct combination *c)
{
    const iw_net_measured *first = c->launches[0];
    iw_net_measured *all = c->all;

    all->levels = iwi_new_array(c->log, first->level_count, sizeof *all->levels);
    if (all->levels == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < first->level_count; i++) {
        IW_TRY(combine_level(c, &first->levels[i], &all->levels[all->level_count++]));
    }
    return all->level_count > 0 ? IW_OK : iwi_fail(c->log, IW_ERR_RANGE, "the launches have no levels");
}

/* ---- links ---- */

static const iw_net_slow_link *slow_of(const iw_net_measured *measured, const uint32_t ranks[2])
{
    for (size_t i = 0; i < measured->slow_count; i++) {
        if (memcmp(measured->slow[i].ranks, ranks, sizeof measured->slow[i].ranks) == 0) {
            return &measured->slow[i];
        }
    }
    return NULL;
}

static void add_to_mean(double value, size_t count, double *mean)
{
    *mean += (value - *mean) / (double)count;
}

/* How many of launches `from` on have this pair among the slow ones; factors and times are their means. */
static size_t combine_slow(const struct combination *c, size_t from, const uint32_t ranks[2],
                           iw_net_slow_link *slow)
{
    size_t count = 0;

    *slow = (iw_net_slow_link){.ranks = {ranks[0], ranks[1]}};
    for (size_t i = from; i < c->count; i++) {
        const iw_net_slow_link *one = slow_of(c->launches[i], ranks);

        if (one != NULL) {
            count++;
            add_to_mean(one->small_factor, count, &slow->small_factor);
            add_to_mean(one->large_factor, count, &slow->large_factor);
            add_to_mean(one->small_round_trip_ns, count, &slow->small_round_trip_ns);
            add_to_mean(one->large_round_trip_ns, count, &slow->large_round_trip_ns);
        }
    }
    return count;
}

/* A pair is slow if most launches say so; who comes first in half of them or later cannot be. */
static iw_status combine_links(struct combination *c)
{
    iw_net_measured *all = c->all;
    size_t most = 0;

    for (size_t i = 0; i < c->count; i++) {
        most += c->launches[i]->slow_count;
    }
    all->slow = iwi_new_array(c->log, most, sizeof *all->slow);
    if (all->slow == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < c->count; i++) {
        const iw_net_measured *one = c->launches[i];

        for (size_t k = 0; k < one->slow_count; k++) {
            const uint32_t *ranks = one->slow[k].ranks;

            if (slow_of(all, ranks) == NULL &&
                2 * combine_slow(c, i, ranks, &all->slow[all->slow_count]) > c->count) {
                all->slow_count++;
            }
        }
    }
    return IW_OK;
}

/* ---- all ---- */

static iw_status combine_facts(struct combination *c)
{
    const iw_net_measured *first = c->launches[0];
    iw_net_measured *all = c->all;

    *all = *first;
    all->launches = (uint32_t)c->count;
    all->level_count = all->slow_count = 0;
    all->levels = NULL;
    all->slow = NULL;
    all->host_names = iwi_new_array(c->log, first->ranks, sizeof *all->host_names);
    if (all->host_names == NULL) {
        return IW_ERR_NOMEM;
    }
    memcpy(all->host_names, first->host_names, first->ranks * sizeof *all->host_names);
    for (size_t i = 1; i < c->count; i++) {
        const iw_net_measured *one = c->launches[i];

        if (one->ranks != first->ranks || one->calls != first->calls) {
            return iwi_fail(c->log, IW_ERR_RANGE, "launch %zu has %u ranks, the first %u, or other calls",
                            i + 1, one->ranks, first->ranks);
        }
        all->seconds += one->seconds;
        if (all->warning[0] == '\0') {
            memcpy(all->warning, one->warning, sizeof all->warning);
        }
    }
    return IW_OK;
}

iw_status iw_net_combine(const iw_log *log, const iw_net_measured *const *launches, size_t count,
                         iw_net_measured **all_p)
{
    struct combination c = {.log = log, .launches = launches, .count = count};
    iw_status status;

    if (count < 2 || count > MOST_LAUNCHES) {
        return iwi_fail(log, IW_ERR_RANGE, "%zu launches cannot be combined: use 2 to %d", count,
                        MOST_LAUNCHES);
    }
    c.all = iwi_new_array(log, 1, sizeof *c.all);
    if (c.all == NULL) {
        return IW_ERR_NOMEM;
    }
    status = combine_facts(&c);
    if (status == IW_OK) {
        status = combine_levels(&c);
    }
    if (status == IW_OK) {
        status = combine_links(&c);
    }
    if (status != IW_OK) {
        iw_net_measured_free(c.all);
        return status;
    }
    *all_p = c.all;
    return IW_OK;
}
