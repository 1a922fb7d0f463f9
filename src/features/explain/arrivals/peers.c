/* Finds ranks that do the same, and time that one lost and the others did not.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/explain/arrivals/peers.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/hash.h"
#include "core/base/order.h"

/* ---- peers: ranks that do the same ---- */

/* What kind of visit it is, as a hash: operation, bytes, size of the group. */
static uint64_t visit_kind(const struct iwi_visits *visits, const struct iwi_visit *visit)
{
    return iwi_mix(iwi_mix(visit->bytes) + ((uint64_t)visits->groups[visit->group].size << 8) + visit->op);
}

/* Which groups have collectives, and whether there are messages. */
static bool list_groups(const struct iwi_visits *visits, bool *has_collectives)
{
    bool has_messages = false;

    for (size_t i = 0; i < visits->visit_count; i++) {
        const bool is_message = visits->visits[i].op == IWI_VISIT_MESSAGE;

        has_messages |= is_message;
        has_collectives[visits->visits[i].group] |= !is_message;
    }
    return has_messages;
}

/* Joins the members of a group; how many were not connected before. */
static size_t connect(const struct iwi_visit_group *group, uint32_t *set_of)
{
    size_t joined = 0;

    for (uint32_t i = 1; i < group->count; i++) {
        joined += iwi_sets_unite(set_of, group->members[0], group->members[i]);
    }
    return joined;
}

static void add_connections(const struct iwi_visits *visits, uint64_t *peers, uint32_t *set_of,
                            bool *has_collectives)
{
    const bool has_messages = list_groups(visits, has_collectives);
    size_t joined = 0;

    iwi_sets_init(set_of, visits->rank_count);
    for (size_t g = 0; g < visits->group_count; g++) {
        const bool is_counted = has_messages || visits->groups[g].count < visits->rank_count;

        joined += has_collectives[g] && is_counted ? connect(&visits->groups[g], set_of) : 0;
    }
    for (uint32_t r = 0; joined > 0 && r < visits->rank_count; r++) {
        peers[r] += iwi_mix(iwi_set_lowest(set_of, r));
    }
}

iw_status iwi_visits_peers(const struct iwi_visits *visits, uint64_t *peers)
{
    uint32_t *set_of = iwi_new_array(visits->log, visits->rank_count, sizeof set_of[0]);
    bool *has_collectives = iwi_new_array(visits->log, visits->group_count, sizeof has_collectives[0]);
    const iw_status status = set_of != NULL && has_collectives != NULL ? IW_OK : IW_ERR_NOMEM;

    for (size_t r = 0; r < visits->rank_count; r++) {
        peers[r] = iwi_mix((uint64_t)visits->ranks[r].stage + 1);
    }
    for (size_t i = 0; i < visits->visit_count; i++) { /* a sum: their order may differ */
        peers[visits->visits[i].rank] += visit_kind(visits, &visits->visits[i]);
    }
    if (status == IW_OK) {
        add_connections(visits, peers, set_of, has_collectives);
    }
    free(set_of);
    free(has_collectives);
    return status;
}

/* ---- time lost ---- */

#define LEAST_PS (5 * IW_PS_PER_US)
#define LEAST_SHARE 50 /* a 50th: 2 % */

/* What is compared: a stretch of computation, or the time that a rank did nothing before a visit. */
struct piece {
    uint32_t rank, step;
    uint64_t kind;     /* before which kind of visit; 0: computation */
    iw_time begin_ps;  /* which is first of its kind */
    iw_time length_ps; /* what is compared */
    iw_time end_ps;    /* where too much of it ends: of the computation, of the longest gap */
};

/* The pieces of a rank in a step. */
struct turn {
    uint64_t peers; /* the same number for all ranks that are compared */
    uint32_t rank, step;
    size_t first, count; /* pieces */
};

struct search {
    struct iwi_visits *visits;
    struct piece *pieces;
    struct turn *turns;
    iw_time *lengths_ps, *sorted_ps; /* one of each peer */
    uint64_t *peers;                 /* of each rank */
    size_t piece_count, turn_count;
    uint8_t cause;
};

/* ---- what they did ---- */

IWI_COMPARE(compare_pieces, struct piece, IWI_RISING(rank), IWI_RISING(step), IWI_RISING(kind),
            IWI_RISING(begin_ps))

IWI_COMPARE(compare_turns, struct turn, IWI_RISING(peers), IWI_RISING(step), IWI_RISING(rank))

static void list_stretches(struct search *search)
{
    const struct iwi_visits *visits = search->visits;

    for (size_t i = 0; i < visits->stretch_count; i++) {
        const struct iwi_stretch *stretch = &visits->stretches[i];

        search->pieces[i] = (struct piece){.rank = stretch->rank,
                                           .step = stretch->step,
                                           .begin_ps = stretch->begin_ps,
                                           .length_ps = stretch->end_ps - stretch->begin_ps,
                                           .end_ps = stretch->end_ps};
    }
    search->piece_count = visits->stretch_count;
    search->cause = IWI_PAUSE_SLOW;
    iwi_sort(search->pieces, search->piece_count, compare_pieces);
}

/* Time of a rank; a visit, or computation. */
struct doing {
    uint32_t rank, step;
    uint64_t kind; /* of visit; 0: computation */
    iw_time begin_ps, end_ps;
};

IWI_COMPARE(compare_doings, struct doing, IWI_RISING(rank), IWI_RISING(begin_ps))

static struct doing *list_doings(const struct iwi_visits *visits, size_t count)
{
    struct doing *doings = iwi_new_array(visits->log, count, sizeof *doings);

    for (size_t i = 0; doings != NULL && i < count; i++) {
        const size_t s = i - visits->visit_count;

        doings[i] = i < visits->visit_count
                        ? (struct doing){visits->visits[i].rank, visits->visits[i].step,
                                         visit_kind(visits, &visits->visits[i]), visits->visits[i].enter_ps,
                                         visits->visits[i].leave_ps}
                        : (struct doing){visits->stretches[s].rank, visits->stretches[s].step, 0,
                                         visits->stretches[s].begin_ps, visits->stretches[s].end_ps};
    }
    if (doings != NULL) {
        iwi_sort(doings, count, compare_doings);
    }
    return doings;
}

/* How long each rank did nothing before a visit, since it left the one before. */
static iw_status list_gaps(struct search *search)
{
    const struct iwi_visits *visits = search->visits;
    const size_t count = visits->visit_count + visits->stretch_count;
    struct doing *doings = list_doings(visits, count);
    struct piece gap = {.rank = UINT32_MAX};
    iw_time busy_until_ps = 0, longest_ps = 0, first_ps = INT64_MAX;

    if (doings == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        first_ps = iwi_min(first_ps, doings[i].begin_ps);
    }
    search->piece_count = 0;
    search->cause = IWI_PAUSE_OTHER;
    for (size_t i = 0; i < count; i++) {
        const struct doing *doing = &doings[i];
        iw_time idle_ps;

        if (doing->rank != gap.rank) {
            gap = (struct piece){.rank = doing->rank};
            busy_until_ps = first_ps;
            longest_ps = -1;
        }
        idle_ps = iwi_max(0, doing->begin_ps - busy_until_ps);
        busy_until_ps = iwi_max(busy_until_ps, doing->end_ps);
        gap.length_ps += idle_ps;
        if (idle_ps > longest_ps) {
            longest_ps = idle_ps;
            gap.end_ps = doing->begin_ps;
        }
        if (doing->kind != 0) {
            gap.kind = doing->kind;
            gap.step = doing->step;
            gap.begin_ps = doing->begin_ps;
            search->pieces[search->piece_count++] = gap;
            gap.length_ps = 0;
            longest_ps = -1;
        }
    }
    free(doings);
    iwi_sort(search->pieces, search->piece_count, compare_pieces);
    return IW_OK;
}

static void list_turns(struct search *search)
{
    for (size_t i = 0; i < search->piece_count; i++) {
        const struct piece *piece = &search->pieces[i];

        if (i == 0 || piece[-1].rank != piece->rank || piece[-1].step != piece->step) {
            search->turns[search->turn_count++] =
                (struct turn){search->peers[piece->rank], piece->rank, piece->step, i, 0};
        }
        search->turns[search->turn_count - 1].count++;
    }
    iwi_sort(search->turns, search->turn_count, compare_turns);
}

/* ---- who lost time ---- */

static iw_time lower_median(struct search *search, const iw_time *values_ps, size_t count)
{
    memcpy(search->sorted_ps, values_ps, count * sizeof values_ps[0]);
    iwi_sort(search->sorted_ps, count, iwi_compare_i64);
    return search->sorted_ps[(count - 1) / 2];
}

/* What peers usually take, and from which length on one of them is slow. */
static iw_time usual(struct search *search, size_t count, iw_time *limit_ps_p)
{
    const iw_time median_ps = lower_median(search, search->lengths_ps, count);
    iw_time deviation_ps;

    for (size_t i = 0; i < count; i++) {
        search->sorted_ps[i] = llabs(search->lengths_ps[i] - median_ps);
    }
    iwi_sort(search->sorted_ps, count, iwi_compare_i64);
    deviation_ps = search->sorted_ps[(count - 1) / 2];
    *limit_ps_p = median_ps + iwi_max(iwi_max(LEAST_PS, median_ps / LEAST_SHARE),
                                      (iw_time)(3.0 * 1.4826 * (double)deviation_ps));
    return median_ps;
}

/* The end of the piece was too much. */
static iw_status add_slow(const struct search *search, const struct piece *piece, iw_time excess_ps)
{
    const struct iwi_pause pause = {.rank = piece->rank,
                                    .step = piece->step,
                                    .cause = search->cause,
                                    .begin_ps = piece->end_ps - excess_ps,
                                    .end_ps = piece->end_ps};

    return excess_ps > 0 ? iwi_visits_add_pause(search->visits, &pause) : IW_OK;
}

/* Turns with equally many pieces: the i-th of each. */
static iw_status compare_each(struct search *search, const struct turn *turns, size_t count)
{
    for (size_t i = 0; i < turns[0].count; i++) {
        iw_time limit_ps, median_ps;

        for (size_t t = 0; t < count; t++) {
            const struct piece *piece = &search->pieces[turns[t].first + i];

            search->lengths_ps[t] = piece->length_ps;
        }
        median_ps = usual(search, count, &limit_ps);
        for (size_t t = 0; t < count; t++) {
            if (search->lengths_ps[t] > limit_ps) {
                IW_TRY(
                    add_slow(search, &search->pieces[turns[t].first + i], search->lengths_ps[t] - median_ps));
            }
        }
    }
    return IW_OK;
}

/* Turns with different pieces: their sums; what is too much is taken from all alike. */
static iw_status compare_sums(struct search *search, const struct turn *turns, size_t count)
{
    iw_time limit_ps, median_ps;

    for (size_t t = 0; t < count; t++) {
        search->lengths_ps[t] = 0;
        for (size_t i = turns[t].first; i < turns[t].first + turns[t].count; i++) {
            search->lengths_ps[t] += search->pieces[i].length_ps;
        }
    }
    median_ps = usual(search, count, &limit_ps);
    for (size_t t = 0; t < count; t++) {
        if (search->lengths_ps[t] <= limit_ps) {
            continue;
        }
        for (size_t i = turns[t].first; i < turns[t].first + turns[t].count; i++) {
            const iw_time length_ps = search->pieces[i].length_ps;
            const double share = 1.0 - (double)median_ps / (double)search->lengths_ps[t];

            IW_TRY(add_slow(search, &search->pieces[i], (iw_time)(share * (double)length_ps)));
        }
    }
    return IW_OK;
}

static iw_status compare_all(struct search *search)
{
    for (size_t first = 0, end; first < search->turn_count; first = end) {
        const struct turn *turns = &search->turns[first];
        bool is_alike = true;

        for (end = first + 1; end < search->turn_count && search->turns[end].peers == turns->peers &&
                              search->turns[end].step == turns->step;
             end++) {
            is_alike &= search->turns[end].count == turns->count;
        }
        if (end - first > 1) {
            IW_TRY(is_alike ? compare_each(search, turns, end - first)
                            : compare_sums(search, turns, end - first));
        }
    }
    return IW_OK;
}

/* Of the pieces that are listed. */
static iw_status find_in(struct search *search)
{
    search->turn_count = 0;
    list_turns(search);
    return compare_all(search);
}

static iw_status find_all(struct search *search)
{
    IW_TRY(iwi_visits_peers(search->visits, search->peers));
    list_stretches(search);
    IW_TRY(find_in(search));
    IW_TRY(list_gaps(search));
    return find_in(search);
}

iw_status iwi_visits_find_slow(struct iwi_visits *visits)
{
    const size_t count =
        visits->stretch_count > visits->visit_count ? visits->stretch_count : visits->visit_count;
    struct search search = {.visits = visits};
    iw_status status = IW_ERR_NOMEM;

    search.pieces = iwi_new_array(visits->log, count, sizeof search.pieces[0]);
    search.turns = iwi_new_array(visits->log, count, sizeof search.turns[0]);
    search.lengths_ps = iwi_new_array(visits->log, visits->rank_count, sizeof search.lengths_ps[0]);
    search.sorted_ps = iwi_new_array(visits->log, visits->rank_count, sizeof search.sorted_ps[0]);
    search.peers = iwi_new_array(visits->log, visits->rank_count, sizeof search.peers[0]);
    if (search.pieces != NULL && search.turns != NULL && search.lengths_ps != NULL &&
        search.sorted_ps != NULL && search.peers != NULL) {
        status = find_all(&search);
    }
    free(search.pieces);
    free(search.turns);
    free(search.lengths_ps);
    free(search.sorted_ps);
    free(search.peers);
    return status;
}
