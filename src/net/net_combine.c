/* One network of several launches: means, with intervals that hold what differs between launches.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "net/net_points.h"
#include "stats/mean_interval.h"

enum { MOST_LAUNCHES = 100 };

struct combination {
    const iw_log *log;
    const iw_net_launch *launches;
    size_t count;
    iw_net_launch all;
};

/* ---- values ---- */

/* Times are not negative. */
static iw_net_value mean_of(const double *values_ns, size_t count)
{
    const iw_estimate mean = iwi_student_estimate(values_ns, count);

    return (iw_net_value){fmax(mean.value, 0), fmax(mean.low, 0), fmax(mean.high, 0)};
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

static const iw_net_level *level_of(const iw_net_launch *launch, const char *name)
{
    for (size_t i = 0; i < launch->measured->level_count; i++) {
        if (strcmp(launch->measured->levels[i].samples->name, name) == 0) {
            return &launch->measured->levels[i];
        }
    }
    return NULL;
}

enum { HALF, GAP, SEND, RECV, EXCHANGE, LATENCY, VALUES };

static void list_values(const iw_net_point *point, double values_ns[VALUES])
{
    values_ns[HALF] = point->half_round_trip.value_ns;
    values_ns[GAP] = point->gap.value_ns;
    values_ns[SEND] = point->o_send.value_ns;
    values_ns[RECV] = point->o_recv.value_ns;
    values_ns[EXCHANGE] = point->exchange.value_ns;
    values_ns[LATENCY] = iwi_net_whole(point)->value_ns - values_ns[SEND] - values_ns[RECV];
}

/* False: not all launches have that size. */
static bool combine_point(const struct combination *c, const char *level_name, uint64_t bytes,
                          iw_net_point *point, iw_net_value *latency)
{
    double all_ns[VALUES][MOST_LAUNCHES];

    *point = (iw_net_point){.bytes = bytes};
    for (size_t i = 0; i < c->count; i++) {
        const iw_net_level *level = level_of(&c->launches[i], level_name);
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

static int by_limit(const void *left, const void *right)
{
    const iw_net_eager *a = left, *b = right;

    return a->is_at_most != b->is_at_most ? (a->is_at_most ? -1 : 1)
                                          : (a->bytes > b->bytes) - (a->bytes < b->bytes);
}

/* The median of the limits; launches that found none count as the largest. */
static iw_net_eager limit_of(const struct combination *c, const char *level_name, bool is_inside)
{
    iw_net_eager limits[MOST_LAUNCHES] = {{0, false, 0}};
    uint32_t votes = 0;

    for (size_t i = 0; i < c->count; i++) {
        const iw_net_level_samples *samples = level_of(&c->launches[i], level_name)->samples;

        limits[i] = is_inside ? samples->eager_inside : samples->eager_computing;
        votes += limits[i].votes;
    }
    qsort(limits, c->count, sizeof *limits, by_limit);
    limits[(c->count - 1) / 2].votes = votes;
    return limits[(c->count - 1) / 2];
}

static iw_status combine_level(const struct combination *c, const iw_net_level *first,
                               iw_net_level_samples *samples, iw_net_level *level)
{
    iw_net_value latency = {0, 0, 0};

    level->points = iwi_new_array(c->log, first->point_count, sizeof *level->points);
    if (level->points == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < first->point_count; i++) {
        iw_net_value L;

        if (combine_point(c, first->samples->name, first->points[i].bytes, &level->points[level->point_count],
                          &L)) {
            latency = level->point_count++ == 0 ? L : latency;
        }
    }
    if (level->point_count == 0 || level->point_count > IWI_NET_POINTS_MAX) {
        return iwi_fail(c->log, IW_ERR_RANGE,
                        "the launches have %zu sizes of level '%s' in common; 1 to %d can be evaluated",
                        level->point_count, first->samples->name, IWI_NET_POINTS_MAX);
    }
    *samples = *first->samples;
    samples->eager_computing = limit_of(c, samples->name, false);
    samples->eager_inside = limit_of(c, samples->name, true);
    level->samples = samples;
    iwi_net_smallest(level);
    level->L = latency;
    iwi_net_segments(level);
    return IW_OK;
}

static iw_status combine_levels(struct combination *c)
{
    const iw_net_measured *first = c->launches[0].measured;
    iw_net_measured *all = c->all.measured;

    all->levels = iwi_new_array(c->log, first->level_count, sizeof *all->levels);
    c->all.samples->levels = iwi_new_array(c->log, first->level_count, sizeof *c->all.samples->levels);
    if (all->levels == NULL || c->all.samples->levels == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < first->level_count; i++) {
        const iw_status status =
            combine_level(c, &first->levels[i], &c->all.samples->levels[i], &all->levels[all->level_count++]);

        c->all.samples->level_count++;
        IW_TRY(status);
    }
    return all->level_count > 0 ? IW_OK : iwi_fail(c->log, IW_ERR_RANGE, "the launches have no level");
}

/* ---- links ---- */

static const iw_net_slow_link *slow_of(const iw_net_measured *measured, const uint32_t ranks[2])
{
    for (size_t i = 0; i < measured->slow_count; i++) {
        if (memcmp(measured->slow[i].link->ranks, ranks, sizeof measured->slow[i].link->ranks) == 0) {
            return &measured->slow[i];
        }
    }
    return NULL;
}

/* Of launches `from` on, so many have this pair among the slow ones; factors and times are their means. */
static size_t combine_slow(const struct combination *c, size_t from, const iw_net_slow_link *first,
                           iw_net_slow_link *slow, iw_net_link *link)
{
    size_t count = 0;

    *link = (iw_net_link){.ranks = {first->link->ranks[0], first->link->ranks[1]},
                          .is_inside = first->link->is_inside};
    *slow = (iw_net_slow_link){.link = link};
    for (size_t i = from; i < c->count; i++) {
        const iw_net_slow_link *one = slow_of(c->launches[i].measured, first->link->ranks);

        if (one != NULL) {
            count++;
            slow->small_factor += (one->small_factor - slow->small_factor) / (double)count;
            slow->large_factor += (one->large_factor - slow->large_factor) / (double)count;
            link->alone_small_ns += (one->link->alone_small_ns - link->alone_small_ns) / (double)count;
            link->alone_large_ns += (one->link->alone_large_ns - link->alone_large_ns) / (double)count;
        }
    }
    return count;
}

/* A pair is slow if most launches say so; who comes first in half of them or later cannot be. */
static iw_status combine_links(struct combination *c)
{
    iw_net_measured *all = c->all.measured;
    size_t most = 0;

    for (size_t i = 0; i < c->count; i++) {
        most += c->launches[i].measured->slow_count;
    }
    all->slow = iwi_new_array(c->log, most, sizeof *all->slow);
    c->all.samples->links = iwi_new_array(c->log, most, sizeof *c->all.samples->links);
    if (all->slow == NULL || c->all.samples->links == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < c->count; i++) {
        const iw_net_measured *one = c->launches[i].measured;

        for (size_t k = 0; k < one->slow_count; k++) {
            const uint32_t *ranks = one->slow[k].link->ranks;

            if (slow_of(all, ranks) == NULL &&
                2 * combine_slow(c, i, &one->slow[k], &all->slow[all->slow_count],
                                 &c->all.samples->links[all->slow_count]) >
                    c->count) {
                all->slow_count++;
            }
        }
    }
    return IW_OK;
}

/* ---- all ---- */

static iw_status combine_facts(struct combination *c)
{
    const iw_net_samples *first = c->launches[0].samples;
    iw_net_samples *all = c->all.samples;

    *all = *first;
    all->level_count = 0;
    all->levels = NULL;
    all->links = NULL;
    all->host_names = iwi_new_array(c->log, first->ranks, sizeof *all->host_names);
    if (all->host_names == NULL) {
        return IW_ERR_NOMEM;
    }
    memcpy(all->host_names, first->host_names, first->ranks * sizeof *all->host_names);
    for (size_t i = 1; i < c->count; i++) {
        const iw_net_samples *one = c->launches[i].samples;

        if (one->ranks != first->ranks || one->calls != first->calls) {
            return iwi_fail(c->log, IW_ERR_RANGE, "launch %zu has %u ranks, the first %u; or other calls",
                            i + 1, one->ranks, first->ranks);
        }
        all->seconds += one->seconds;
        if (all->warning[0] == '\0') {
            memcpy(all->warning, one->warning, sizeof all->warning);
        }
    }
    return IW_OK;
}

static iw_status combine(struct combination *c)
{
    c->all.samples = iwi_new_array(c->log, 1, sizeof *c->all.samples);
    c->all.measured = iwi_new_array(c->log, 1, sizeof *c->all.measured);
    if (c->all.samples == NULL || c->all.measured == NULL) {
        return IW_ERR_NOMEM;
    }
    c->all.measured->samples = c->all.samples;
    c->all.measured->launches = (uint32_t)c->count;
    IW_TRY(combine_facts(c));
    IW_TRY(combine_levels(c));
    return combine_links(c);
}

iw_status iw_net_combine(const iw_log *log, const iw_net_launch *launches, size_t count, iw_net_launch *all_p)
{
    struct combination c = {.log = log, .launches = launches, .count = count};
    iw_status status;

    if (count < 2 || count > MOST_LAUNCHES) {
        return iwi_fail(log, IW_ERR_RANGE, "%zu launches cannot be combined; 2 to %d can", count,
                        MOST_LAUNCHES);
    }
    status = combine(&c);
    if (status != IW_OK) {
        iw_net_launch_release(&c.all);
        return status;
    }
    *all_p = c.all;
    return IW_OK;
}

void iw_net_launch_release(iw_net_launch *launch)
{
    iw_net_measured_free(launch->measured);
    iw_net_samples_free(launch->samples);
    *launch = (iw_net_launch){NULL, NULL};
}
