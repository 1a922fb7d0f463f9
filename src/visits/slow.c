/* Finds time that a rank lost and its peers did not.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "visits/slow.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

#define LEAST_PS (5 * IW_PS_PER_US)
#define LEAST_SHARE 50 /* a 50th: 2 % */

/* A stretch of computation, or the time before a visit. */
struct piece {
    uint32_t rank, step;
    iw_time begin_ps, end_ps;
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

/* ---- who is alike ---- */

static void find_peers(struct search *search)
{
    const struct iwi_visits *visits = search->visits;

    for (size_t i = 0; i < visits->rank_count; i++) {
        search->peers[i] = iwi_mix((uint64_t)visits->ranks[i].stage + 1);
    }
    for (size_t i = 0; i < visits->visit_count; i++) { /* a sum: their order may differ */
        const struct iwi_visit *visit = &visits->visits[i];

        search->peers[visit->rank] +=
            iwi_mix(iwi_mix(visit->bytes) + ((uint64_t)visits->groups[visit->group].size << 8) + visit->op);
    }
}

/* ---- what they did ---- */

static int compare_pieces(const void *a, const void *b)
{
    const struct piece *left = a, *right = b;

    if (left->rank != right->rank) {
        return left->rank < right->rank ? -1 : 1;
    }
    if (left->step != right->step) {
        return left->step < right->step ? -1 : 1;
    }
    return (left->begin_ps > right->begin_ps) - (left->begin_ps < right->begin_ps);
}

static int compare_turns(const void *a, const void *b)
{
    const struct turn *left = a, *right = b;

    if (left->peers != right->peers) {
        return left->peers < right->peers ? -1 : 1;
    }
    if (left->step != right->step) {
        return left->step < right->step ? -1 : 1;
    }
    return (left->rank > right->rank) - (left->rank < right->rank);
}

/* What a rank did before a visit, since it left the last one: pieces are visits at first. */
static void turn_into_gaps(struct search *search)
{
    iw_time left_ps = 0;

    qsort(search->pieces, search->piece_count, sizeof search->pieces[0], compare_pieces);
    for (size_t i = 0; i < search->piece_count; i++) {
        struct piece *piece = &search->pieces[i];
        const iw_time leave_ps = piece->end_ps;

        if (i == 0 || piece[-1].rank != piece->rank) {
            left_ps = piece->begin_ps;
        }
        piece->end_ps = piece->begin_ps;
        piece->begin_ps = iwi_min(left_ps, piece->begin_ps);
        left_ps = iwi_max(left_ps, leave_ps);
    }
}

static void list_pieces(struct search *search)
{
    const struct iwi_visits *visits = search->visits;

    for (size_t i = 0; i < visits->stretch_count; i++) {
        const struct iwi_stretch *stretch = &visits->stretches[i];

        search->pieces[i] = (struct piece){stretch->rank, stretch->step, stretch->begin_ps, stretch->end_ps};
    }
    search->piece_count = visits->stretch_count;
    search->cause = IWI_PAUSE_SLOW;
    if (visits->stretch_count == 0) {
        for (size_t i = 0; i < visits->visit_count; i++) {
            const struct iwi_visit *visit = &visits->visits[i];

            search->pieces[i] = (struct piece){visit->rank, visit->step, visit->enter_ps, visit->leave_ps};
        }
        search->piece_count = visits->visit_count;
        search->cause = IWI_PAUSE_OTHER;
        turn_into_gaps(search);
    }
    qsort(search->pieces, search->piece_count, sizeof search->pieces[0], compare_pieces);
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
    qsort(search->turns, search->turn_count, sizeof search->turns[0], compare_turns);
}

/* ---- who lost time ---- */

static int compare_times(const void *a, const void *b)
{
    const iw_time left = *(const iw_time *)a, right = *(const iw_time *)b;

    return (left > right) - (left < right);
}

static iw_time lower_median(struct search *search, const iw_time *values_ps, size_t count)
{
    memcpy(search->sorted_ps, values_ps, count * sizeof values_ps[0]);
    qsort(search->sorted_ps, count, sizeof search->sorted_ps[0], compare_times);
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
    qsort(search->sorted_ps, count, sizeof search->sorted_ps[0], compare_times);
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

            search->lengths_ps[t] = piece->end_ps - piece->begin_ps;
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
            search->lengths_ps[t] += search->pieces[i].end_ps - search->pieces[i].begin_ps;
        }
    }
    median_ps = usual(search, count, &limit_ps);
    for (size_t t = 0; t < count; t++) {
        if (search->lengths_ps[t] <= limit_ps) {
            continue;
        }
        for (size_t i = turns[t].first; i < turns[t].first + turns[t].count; i++) {
            const iw_time length_ps = search->pieces[i].end_ps - search->pieces[i].begin_ps;
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

static bool has_slow(const struct iwi_visits *visits)
{
    for (size_t i = 0; i < visits->pause_count; i++) {
        if (visits->pauses[i].cause == IWI_PAUSE_SLOW) {
            return true;
        }
    }
    return false;
}

iw_status iwi_visits_find_slow(struct iwi_visits *visits)
{
    const size_t count = visits->stretch_count > 0 ? visits->stretch_count : visits->visit_count;
    struct search search = {.visits = visits};
    iw_status status = IW_ERR_NOMEM;

    if (has_slow(visits)) {
        return IW_OK;
    }
    search.pieces = iwi_new_array(visits->log, count, sizeof search.pieces[0]);
    search.turns = iwi_new_array(visits->log, count, sizeof search.turns[0]);
    search.lengths_ps = iwi_new_array(visits->log, visits->rank_count, sizeof search.lengths_ps[0]);
    search.sorted_ps = iwi_new_array(visits->log, visits->rank_count, sizeof search.sorted_ps[0]);
    search.peers = iwi_new_array(visits->log, visits->rank_count, sizeof search.peers[0]);
    if (search.pieces != NULL && search.turns != NULL && search.lengths_ps != NULL &&
        search.sorted_ps != NULL && search.peers != NULL) {
        find_peers(&search);
        list_pieces(&search);
        list_turns(&search);
        status = compare_all(&search);
    }
    free(search.pieces);
    free(search.turns);
    free(search.lengths_ps);
    free(search.sorted_ps);
    free(search.peers);
    return status;
}
