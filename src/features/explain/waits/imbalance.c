/* What of the waiting is the same every time, and what varies.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Encounters are alike that have the same group, operation, size, root and place within their step. Of alike
 * ones each rank has a usual arrival: the median, against the median rank of each encounter. If all ranks
 * always came at their usual times, they would wait for the one whose usual time is the latest:
 *
 *     imbalance = sum over ranks (usual arrival of the latest - usual arrival of the rank)
 *
 * for each encounter; the rest of the waiting is noise. To take the latest of several medians that differ by
 * chance alone would find some imbalance anywhere. So half of the encounters say which rank is the latest,
 * and the other half how late it is; and the halves once more in exchanged roles.
 */
#include <math.h>
#include <stdlib.h>

#include "core/base/order.h"
#include "core/numeric/numeric.h"
#include "features/explain/waits/waited_run.h"

enum { LEAST_ALIKE = 10 };

enum { KEYS = 6, IN_STEP = KEYS - 1 };

struct place {
    uint64_t first_visit, encounter;
    uint64_t key[KEYS]; /* group, operation, bytes, root, partner, number in its step */
    uint64_t number;
    uint32_t count;
    iw_time at_ps;
};

/* ---- which are alike ---- */

static int compare_keys(const struct place *a, const struct place *b)
{
    int sign = 0;

    for (int k = 0; k < KEYS && sign == 0; k++) {
        sign = iwi_order(a->key[k], b->key[k]);
    }
    return sign != 0 ? sign : iwi_order(a->count, b->count);
}

IWI_COMPARE(compare_places, struct place, compare_keys(left, right), IWI_RISING(at_ps))

/* The receiver of a message, which has two visits; else nothing. */
static uint64_t partner_of(const struct iwi_visit *visits, uint32_t count)
{
    return visits->op == IWI_VISIT_MESSAGE && count == 2 ? visits[visits[0].rank == visits[0].root].rank
                                                         : IWI_NOBODY;
}

/* Of those that are alike in everything else, in order. */
static void number_places(struct place *places, size_t count, const struct iwi_visits *visits)
{
    for (size_t i = 1; i < count; i++) {
        const uint32_t step = visits->visits[places[i].first_visit].step;
        const bool goes_on = step != IWI_VISIT_NO_STEP &&
                             visits->visits[places[i - 1].first_visit].step == step &&
                             compare_keys(&places[i], &places[i - 1]) == 0;

        places[i].number = goes_on ? places[i - 1].number + 1 : 0;
    }
    for (size_t i = 0; i < count; i++) {
        places[i].key[IN_STEP] = places[i].number;
    }
    iwi_sort(places, count, compare_places);
}

static struct place *list_places(const struct iwi_waited_run *run)
{
    const struct iwi_visits *visits = run->visits;
    struct place *places = iwi_new_array(run->log, visits->encounter_count, sizeof *places);

    for (size_t i = 0; places != NULL && i < visits->encounter_count; i++) {
        const struct iwi_encounter *encounter = &visits->encounters[i];
        const struct iwi_visit *first = &visits->visits[encounter->first];

        places[i] = (struct place){.first_visit = encounter->first,
                                   .encounter = i,
                                   .key = {first->group, first->op, first->bytes,
                                           first->has_root ? first->root : IWI_NOBODY,
                                           partner_of(first, encounter->count)},
                                   .count = encounter->count,
                                   .at_ps = iwi_encounter_start_ps(visits, encounter)};
    }
    if (places != NULL && visits->encounter_count > 0) {
        iwi_sort(places, visits->encounter_count, compare_places);
        if (run->iterations.count >= LEAST_ALIKE && !run->iterations.is_shared) {
            number_places(places, visits->encounter_count, visits);
        }
    }
    return places;
}

/* ---- usual arrivals ---- */

struct halves {
    double *late;     /* [visit of the encounter][encounter], of one half */
    double *usual[2]; /* of each visit */
    double *scratch;
};

/* When a rank stands there: what it does before that is its own. */
static double blocked_ps(const struct iwi_visit *visit)
{
    return (double)(visit->enter_ps + visit->ahead_ps);
}

static void find_usual(const struct iwi_waited_run *run, const struct place *places, size_t count, int half,
                       struct halves *h)
{
    const uint32_t ranks = places[0].count;
    size_t kept = 0;

    for (size_t i = (size_t)half; i < count; i += 2, kept++) {
        const struct iwi_visit *visits = &run->visits->visits[places[i].first_visit];
        double middle;

        for (uint32_t k = 0; k < ranks; k++) {
            h->scratch[k] = blocked_ps(&visits[k]);
        }
        middle = iwi_select(h->scratch, ranks, ranks / 2);
        for (uint32_t k = 0; k < ranks; k++) {
            h->late[k * count + kept] = blocked_ps(&visits[k]) - middle;
        }
    }
    for (uint32_t k = 0; k < ranks; k++) {
        h->usual[half][k] = iwi_select(&h->late[k * count], kept, kept / 2);
    }
}

/* Whom they wait for: the root, or who is the latest. */
static uint32_t latest_of(const struct iwi_visit *visits, const double *usual, uint32_t ranks)
{
    uint32_t latest = 0;

    for (uint32_t k = 1; k < ranks; k++) {
        const bool is_root = visits[0].has_root && visits[k].rank == visits[k].root;

        latest = is_root || (!visits[0].has_root && usual[k] > usual[latest]) ? k : latest;
    }
    return latest;
}

/* In one encounter, over its ranks. */
static double usual_wait(const struct iwi_visit *visits, const double *chooses, const double *measures,
                         uint32_t ranks)
{
    const uint32_t latest = latest_of(visits, chooses, ranks);
    double sum = 0.0;

    for (uint32_t k = 0; k < ranks; k++) {
        sum += chooses[latest] > chooses[k] ? measures[latest] - measures[k] : 0.0;
    }
    return sum;
}

static double mean_wait(const struct iwi_waited_run *run, const struct place *places, size_t count)
{
    double sum = 0.0;

    for (size_t i = 0; i < count; i++) {
        for (uint32_t k = 0; k < places[i].count; k++) {
            const uint64_t visit = places[i].first_visit + k;

            sum += fmax(0.0, (double)run->awaited[visit].start_ps - blocked_ps(&run->visits->visits[visit]));
        }
    }
    return sum / (double)count;
}

static iw_status split(const struct iwi_waited_run *run, const struct place *places, size_t count,
                       double *share_p)
{
    const struct iwi_visit *visits = &run->visits->visits[places[0].first_visit];
    const uint32_t ranks = places[0].count;
    const double waited = mean_wait(run, places, count);
    struct halves h = {.late = iwi_new_array(run->log, ranks * count, sizeof *h.late),
                       .usual = {iwi_new_array(run->log, 2 * (size_t)ranks, sizeof **h.usual)},
                       .scratch = iwi_new_array(run->log, ranks, sizeof *h.scratch)};
    iw_status status = h.late != NULL && h.usual[0] != NULL && h.scratch != NULL ? IW_OK : IW_ERR_NOMEM;

    if (status == IW_OK) {
        double usual;

        h.usual[1] = h.usual[0] + ranks;
        find_usual(run, places, count, 0, &h);
        find_usual(run, places, count, 1, &h);
        usual = (usual_wait(visits, h.usual[0], h.usual[1], ranks) +
                 usual_wait(visits, h.usual[1], h.usual[0], ranks)) /
                2.0;
        *share_p = waited > 0.0 ? fmin(1.0, fmax(0.0, usual / waited)) : 0.0;
    }
    free(h.late);
    free(h.usual[0]);
    free(h.scratch);
    return status;
}

/* The same ranks meet in all that are alike. */
static bool is_whole(const struct iwi_visits *visits, const struct place *place)
{
    const struct iwi_visit *first = &visits->visits[place->first_visit];

    return place->count > 1 &&
           (first->op == IWI_VISIT_MESSAGE || place->count == visits->groups[first->group].count);
}

iw_status iwi_waited_imbalance(const struct iwi_waited_run *run, double *shares)
{
    const size_t count = run->visits->encounter_count;
    struct place *places = list_places(run);
    iw_status status = places != NULL ? IW_OK : IW_ERR_NOMEM;

    for (size_t first = 0, end; status == IW_OK && first < count; first = end) {
        double share = NAN;

        for (end = first + 1; end < count && compare_keys(&places[first], &places[end]) == 0; end++) {
        }
        if (end - first >= LEAST_ALIKE && is_whole(run->visits, &places[first])) {
            status = split(run, &places[first], end - first, &share);
        }
        for (size_t i = first; i < end; i++) {
            shares[places[i].encounter] = share;
        }
    }
    free(places);
    return status;
}
