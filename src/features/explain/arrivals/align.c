/* Brings the clocks of ranks together by the ends of collectives.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/order.h"
#include "core/numeric/numeric.h"
#include "features/explain/arrivals/peers.h"
#include "features/explain/arrivals/visits.h"

enum { LEAST_CLOCK_SLOPE = 4 }; /* ends for a slope */

struct rank_clock {
    double offset_ps, drift;
};

struct clock_link {
    uint32_t group, rank;
    double offset_ps, drift;
    double weight, drift_weight; /* drift_weight 0: too few ends for a slope */
};

struct clock_links {
    struct clock_link *of; /* by group */
    size_t count, capacity;
};

/* One end of a collective. */
struct clock_end {
    uint32_t group, rank;
    double at_ps,
        off_ps; /* when, from the middle of the run; how far from the middle end of its collective */
};

/* ---- the clocks that fit links best: least squares by conjugate gradients ---- */

enum { MOST_STEPS = 2000 };

static double median_of(const struct clock_end *ends, size_t first, size_t end, bool is_at, double *room)
{
    for (size_t i = first; i < end; i++) {
        room[i - first] = is_at ? ends[i].at_ps : ends[i].off_ps;
    }
    return iwi_median(room, end - first);
}

/* Resistant line through ends: the medians of the first and of the last third give the slope, the median of
 * what is left the height at 0. Too few: no slope. `room`: as many doubles. */
static struct rank_clock clock_line(const struct clock_end *ends, size_t count, bool want_drift, double *room)
{
    const size_t third = count / 3;
    struct rank_clock line = {0};

    if (want_drift && count >= LEAST_CLOCK_SLOPE) {
        const double begin_ps = median_of(ends, 0, third, true, room),
                     end_ps = median_of(ends, count - third, count, true, room);

        if (end_ps > begin_ps) {
            line.drift = (median_of(ends, count - third, count, false, room) -
                          median_of(ends, 0, third, false, room)) /
                         (end_ps - begin_ps);
        }
    }
    for (size_t i = 0; i < count; i++) {
        room[i] = ends[i].off_ps - line.drift * ends[i].at_ps;
    }
    line.offset_ps = iwi_median(room, count);
    return line;
}

/* ---- least squares ---- */

/* Of one value, the offset or the drift: L x = b with (L x)_r = sum over links of r: weight (x_r - mean of
 * group). */
struct system {
    const struct clock_links *links;
    size_t ranks, groups;
    bool is_drift;
    double *weight, *mean; /* of groups */
    double *x, *rest, *way, *image;
};

static double value_of(const struct system *s, const struct clock_link *link)
{
    return s->is_drift ? link->drift : link->offset_ps;
}

static double weight_of(const struct system *s, const struct clock_link *link)
{
    return s->is_drift ? link->drift_weight : link->weight;
}

static double mean_of(const struct system *s, uint32_t group)
{
    return s->weight[group] > 0 ? s->mean[group] / s->weight[group] : 0;
}

static void apply(const struct system *s, const double *x, double *to)
{
    memset(s->mean, 0, s->groups * sizeof s->mean[0]);
    memset(to, 0, s->ranks * sizeof to[0]);
    for (size_t i = 0; i < s->links->count; i++) {
        const struct clock_link *link = &s->links->of[i];

        s->mean[link->group] += weight_of(s, link) * x[link->rank];
    }
    for (size_t i = 0; i < s->links->count; i++) {
        const struct clock_link *link = &s->links->of[i];

        to[link->rank] += weight_of(s, link) * (x[link->rank] - mean_of(s, link->group));
    }
}

static double dot(const struct system *s, const double *a, const double *b)
{
    double sum = 0;

    for (size_t r = 0; r < s->ranks; r++) {
        sum += a[r] * b[r];
    }
    return sum;
}

/* rest = b: what links say, less the mean of their group. */
static void begin(const struct system *s)
{
    memset(s->mean, 0, s->groups * sizeof s->mean[0]);
    memset(s->weight, 0, s->groups * sizeof s->weight[0]);
    memset(s->x, 0, s->ranks * sizeof s->x[0]);
    memset(s->rest, 0, s->ranks * sizeof s->rest[0]);
    for (size_t i = 0; i < s->links->count; i++) {
        const struct clock_link *link = &s->links->of[i];

        s->weight[link->group] += weight_of(s, link);
        s->mean[link->group] += weight_of(s, link) * value_of(s, link);
    }
    for (size_t i = 0; i < s->links->count; i++) {
        const struct clock_link *link = &s->links->of[i];

        s->rest[link->rank] += weight_of(s, link) * (value_of(s, link) - mean_of(s, link->group));
    }
    memcpy(s->way, s->rest, s->ranks * sizeof s->way[0]);
}

static void solve(const struct system *s)
{
    double size, first;

    begin(s);
    size = first = dot(s, s->rest, s->rest);
    for (unsigned step = 0; step < MOST_STEPS && size > 1e-24 * first && size > 0; step++) {
        double along, length, next;

        apply(s, s->way, s->image);
        along = dot(s, s->way, s->image);
        if (!(along > 0)) {
            return;
        }
        length = size / along;
        for (size_t r = 0; r < s->ranks; r++) {
            s->x[r] += length * s->way[r];
            s->rest[r] -= length * s->image[r];
        }
        next = dot(s, s->rest, s->rest);
        for (size_t r = 0; r < s->ranks; r++) {
            s->way[r] = s->rest[r] + next / size * s->way[r];
        }
        size = next;
    }
}

/* The values of ranks; the first rank of each set has 0. set_of[rank]: sets by their first rank. */
static iw_status clock_solve(const iw_log *log, const struct clock_links *links, size_t ranks, size_t groups,
                             const uint32_t *set_of, struct rank_clock *clocks)
{
    double *room = iwi_new_array(log, 4 * ranks + 2 * groups, sizeof *room);
    struct system with = {.links = links, .ranks = ranks, .groups = groups};

    if (room == NULL) {
        return IW_ERR_NOMEM;
    }
    with.x = room;
    with.rest = room + ranks;
    with.way = room + 2 * ranks;
    with.image = room + 3 * ranks;
    with.weight = room + 4 * ranks;
    with.mean = with.weight + groups;
    solve(&with);
    for (size_t r = 0; r < ranks; r++) {
        clocks[r].offset_ps = with.x[r] - with.x[set_of[r]];
    }
    with.is_drift = true;
    solve(&with);
    for (size_t r = 0; r < ranks; r++) {
        clocks[r].drift = with.x[r] - with.x[set_of[r]];
    }
    free(room);
    return IW_OK;
}

/* ---- links, from the ends of collectives ---- */

enum { ROUNDS = 6 };

/* All-gathers and reduce-scatters end up to their transfer apart: they count little, and only where nothing
 * else joins ranks. */
#define WEIGHT_OF_LOOSE 1e-3

struct aligner {
    struct iwi_visits *visits;
    struct clock_end *ends; /* by group, rank and time */
    size_t end_count;
    double *room; /* for medians */
    uint32_t *set_of;
    bool *is_used; /* groups whose loose collectives are used */
    struct rank_clock *clocks, *tried, *step;
    iw_time zero_ps; /* the middle of the run */
};

static bool is_tight(uint8_t op)
{
    return op == IWI_VISIT_ALLREDUCE || op == IWI_VISIT_BARRIER;
}

static bool is_loose(uint8_t op)
{
    return op == IWI_VISIT_ALLGATHER || op == IWI_VISIT_REDUCE_SCATTER || op == IWI_VISIT_ALLTOALL;
}

/* ---- which ranks can be compared ---- */

static void unite_encounters(struct aligner *a, bool want_tight)
{
    const struct iwi_visits *visits = a->visits;

    for (size_t i = 0; i < visits->encounter_count; i++) {
        const struct iwi_encounter *encounter = &visits->encounters[i];
        const struct iwi_visit *of = &visits->visits[encounter->first];

        if (!(want_tight ? is_tight(of->op) : is_loose(of->op))) {
            continue;
        }
        for (uint32_t k = 1; k < encounter->count; k++) {
            if (iwi_sets_unite(a->set_of, of[0].rank, of[k].rank) && !want_tight) {
                a->is_used[of->group] = true;
            }
        }
    }
}

static void find_sets(struct aligner *a)
{
    struct iwi_visits *visits = a->visits;

    iwi_sets_init(a->set_of, visits->rank_count);
    unite_encounters(a, true);
    unite_encounters(a, false);
    visits->clock_sets = 0;
    for (uint32_t r = 0; r < visits->rank_count; r++) {
        a->set_of[r] = iwi_set_lowest(a->set_of, r);
        visits->ranks[r].clock_set =
            a->set_of[r] == r ? visits->clock_sets++ : visits->ranks[a->set_of[r]].clock_set;
    }
}

static bool is_taken(const struct aligner *a, const struct iwi_encounter *encounter)
{
    const struct iwi_visit *of = &a->visits->visits[encounter->first];

    return encounter->count > 1 && (is_tight(of->op) || (is_loose(of->op) && a->is_used[of->group]));
}

/* ---- ends ---- */

static double from_middle(const struct aligner *a, iw_time ps)
{
    return (double)(ps - a->zero_ps);
}

/* The time of an end, by the clocks that were found so far. */
static double aligned(const struct aligner *a, const struct rank_clock *clocks, const struct iwi_visit *visit)
{
    const double at_ps = from_middle(a, visit->leave_ps);
    const struct rank_clock *clock = &clocks[visit->rank];

    return at_ps - clock->offset_ps - clock->drift * at_ps;
}

/* Lists all ends, each against the middle of its collective's by these clocks. */
static void list_ends(struct aligner *a, const struct rank_clock *clocks)
{
    const struct iwi_visits *visits = a->visits;

    a->end_count = 0;
    for (size_t i = 0; i < visits->encounter_count; i++) {
        const struct iwi_encounter *encounter = &visits->encounters[i];
        const struct iwi_visit *of = &visits->visits[encounter->first];
        double middle;

        if (!is_taken(a, encounter)) {
            continue;
        }
        for (uint32_t k = 0; k < encounter->count; k++) {
            a->room[k] = aligned(a, clocks, &of[k]);
        }
        middle = iwi_median(a->room, encounter->count);
        for (uint32_t k = 0; k < encounter->count; k++) {
            a->ends[a->end_count++] = (struct clock_end){.group = of[k].group,
                                                         .rank = of[k].rank,
                                                         .at_ps = from_middle(a, of[k].leave_ps),
                                                         .off_ps = aligned(a, clocks, &of[k]) - middle};
        }
    }
}

IWI_COMPARE(compare_ends, struct clock_end, IWI_RISING(group), IWI_RISING(rank), IWI_RISING(at_ps))

/* ---- clocks ---- */

static iw_status make_links(struct aligner *a, bool want_drift, struct clock_links *links)
{
    iwi_sort(a->ends, a->end_count, compare_ends);
    for (size_t first = 0, end = 0; first < a->end_count; first = end) {
        const struct clock_end *of = &a->ends[first];
        struct rank_clock line;
        double weight;

        while (end < a->end_count && a->ends[end].group == of->group && a->ends[end].rank == of->rank) {
            end++;
        }
        line = clock_line(of, end - first, want_drift, a->room);
        IW_TRY(iwi_grow(a->visits->log, (void **)&links->of, &links->capacity, links->count + 1,
                        sizeof links->of[0]));
        weight = a->is_used[of->group] ? WEIGHT_OF_LOOSE : (double)(end - first);
        links->of[links->count++] =
            (struct clock_link){.group = of->group,
                                .rank = of->rank,
                                .offset_ps = line.offset_ps,
                                .drift = line.drift,
                                .weight = weight,
                                .drift_weight = end - first >= LEAST_CLOCK_SLOPE ? weight : 0};
    }
    return IW_OK;
}

/* What 95 % (or half) of the ends are nearer than to the middle of their collective. */
static double residual_ps(struct aligner *a, const struct rank_clock *clocks, double share)
{
    list_ends(a, clocks);
    for (size_t i = 0; i < a->end_count; i++) {
        a->room[i] = fabs(a->ends[i].off_ps);
    }
    iwi_sort_doubles(a->room, a->end_count);
    return a->end_count > 0 ? a->room[(size_t)(share * (double)(a->end_count - 1))] : 0;
}

/* The middle of a collective's ends is that of its clocks only when these are nearly right: what is left is
 * looked at again. */
static iw_status improve(struct aligner *a, bool want_drift, struct rank_clock *clocks)
{
    const struct iwi_visits *visits = a->visits;
    struct clock_links links = {0};
    iw_status status;

    list_ends(a, clocks);
    status = make_links(a, want_drift, &links);
    if (status == IW_OK) {
        status =
            clock_solve(visits->log, &links, visits->rank_count, visits->group_count, a->set_of, a->step);
    }
    for (size_t r = 0; r < visits->rank_count && status == IW_OK; r++) {
        clocks[r].offset_ps += a->step[r].offset_ps;
        clocks[r].drift += a->step[r].drift;
    }
    free(links.of);
    return status;
}

static iw_status find_clocks(struct aligner *a, bool want_drift, struct rank_clock *clocks)
{
    memset(clocks, 0, a->visits->rank_count * sizeof clocks[0]);
    for (unsigned i = 0; i < ROUNDS; i++) {
        IW_TRY(improve(a, want_drift, clocks));
    }
    return IW_OK;
}

/* Drift is believed if it takes a third off the middle residual. */
static iw_status choose_clocks(struct aligner *a)
{
    IW_TRY(find_clocks(a, false, a->clocks));
    IW_TRY(find_clocks(a, true, a->tried));
    if (3 * residual_ps(a, a->tried, 0.5) < 2 * residual_ps(a, a->clocks, 0.5)) {
        memcpy(a->clocks, a->tried, a->visits->rank_count * sizeof a->clocks[0]);
    }
    return IW_OK;
}

/* ---- the table ---- */

static iw_time moved(const struct aligner *a, uint32_t rank, iw_time ps)
{
    const struct rank_clock *clock = &a->clocks[rank];

    return ps - (iw_time)llround(clock->offset_ps + clock->drift * from_middle(a, ps));
}

static void move_all(const struct aligner *a)
{
    struct iwi_visits *visits = a->visits;

    for (size_t i = 0; i < visits->visit_count; i++) {
        struct iwi_visit *visit = &visits->visits[i];

        visit->enter_ps = moved(a, visit->rank, visit->enter_ps);
        visit->leave_ps = moved(a, visit->rank, visit->leave_ps);
    }
#define MOVE_SPANS(ITEMS, COUNT)                                              \
    for (size_t i = 0; i < (COUNT); i++) {                                    \
        (ITEMS)[i].begin_ps = moved(a, (ITEMS)[i].rank, (ITEMS)[i].begin_ps); \
        (ITEMS)[i].end_ps = moved(a, (ITEMS)[i].rank, (ITEMS)[i].end_ps);     \
    }
    MOVE_SPANS(visits->stretches, visits->stretch_count)
    MOVE_SPANS(visits->pauses, visits->pause_count)
    MOVE_SPANS(visits->steps, visits->step_count)
    MOVE_SPANS(visits->host_waits, visits->host_wait_count)
#undef MOVE_SPANS
    for (size_t r = 0; r < visits->rank_count; r++) {
        visits->ranks[r].clock_added_ps = -(iw_time)llround(a->clocks[r].offset_ps);
        visits->ranks[r].clock_drift = a->clocks[r].drift;
    }
}

/* Who came last may be another one now. Returns the middle transfer of loose collectives that were used: so
 * far apart they may end. */
static double find_last(const struct aligner *a)
{
    struct iwi_visits *visits = a->visits;
    size_t loose = 0;

    for (size_t i = 0; i < visits->encounter_count; i++) {
        struct iwi_encounter *encounter = &visits->encounters[i];
        const uint64_t end = encounter->first + encounter->count;

        encounter->last = (uint32_t)encounter->first;
        for (uint64_t k = encounter->first; k < end; k++) {
            const bool is_later = visits->visits[k].enter_ps > visits->visits[encounter->last].enter_ps;

            encounter->last = is_later ? (uint32_t)k : encounter->last;
        }
        if (is_taken(a, encounter) && is_loose(visits->visits[encounter->first].op)) {
            const struct iwi_visit *last = &visits->visits[encounter->last];

            a->room[loose++] = (double)(last->leave_ps - last->enter_ps);
        }
    }
    return loose > 0 ? iwi_median(a->room, loose) : 0.0;
}

static void note_sets(struct iwi_visits *visits)
{
    char text[128];

    if (visits->clock_sets > 1) {
        (void)snprintf(text, sizeof text,
                       "Clocks of %" PRIu32
                       " sets of ranks cannot be compared, because no collective joins them.",
                       visits->clock_sets);
        iwi_visits_note(visits, text);
    }
}

static void find_middle(struct aligner *a)
{
    iw_time first = INT64_MAX, last = INT64_MIN;

    for (size_t i = 0; i < a->visits->visit_count; i++) {
        first = iwi_min(first, a->visits->visits[i].leave_ps);
        last = iwi_max(last, a->visits->visits[i].leave_ps);
    }
    a->zero_ps = first <= last ? first / 2 + last / 2 : 0;
}

/* How well clocks agree: what 95 % of all ends are within, and in every group half of them. */
static double error_ps(struct aligner *a)
{
    double worst = residual_ps(a, a->clocks, 0.95);

    iwi_sort(a->ends, a->end_count, compare_ends);
    for (size_t first = 0, end = 0; first < a->end_count; first = end) {
        for (; end < a->end_count && a->ends[end].group == a->ends[first].group; end++) {
            a->room[end - first] = fabs(a->ends[end].off_ps);
        }
        worst = fmax(worst, iwi_median(a->room, end - first));
    }
    return worst;
}

static iw_status align(struct aligner *a)
{
    struct iwi_visits *visits = a->visits;

    find_middle(a);
    find_sets(a);
    IW_TRY(choose_clocks(a));
    visits->clock_error_ps = (iw_time)ceil(error_ps(a)) + 1;
    move_all(a);
    visits->clock_error_ps += (iw_time)find_last(a);
    note_sets(visits);
    return IW_OK;
}

iw_status iwi_visits_align(struct iwi_visits *visits)
{
    const iw_log *log = visits->log;
    struct aligner a = {.visits = visits};
    iw_status status = IW_ERR_NOMEM;

    a.ends = iwi_new_array(log, visits->visit_count, sizeof *a.ends);
    a.room = iwi_new_array(log, visits->visit_count, sizeof *a.room);
    a.set_of = iwi_new_array(log, visits->rank_count, sizeof *a.set_of);
    a.is_used = iwi_new_array(log, visits->group_count, sizeof *a.is_used);
    a.clocks = iwi_new_array(log, visits->rank_count, sizeof *a.clocks);
    a.tried = iwi_new_array(log, visits->rank_count, sizeof *a.tried);
    a.step = iwi_new_array(log, visits->rank_count, sizeof *a.step);
    if (a.ends != NULL && a.room != NULL && a.set_of != NULL && a.is_used != NULL && a.clocks != NULL &&
        a.tried != NULL && a.step != NULL) {
        status = align(&a);
    }
    free(a.ends);
    free(a.room);
    free(a.set_of);
    free(a.is_used);
    free(a.clocks);
    free(a.tried);
    free(a.step);
    return status;
}
