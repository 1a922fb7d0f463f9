/* Makes encounters of visits.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdio.h>
#include <stdlib.h>

#include "core/base/order.h"
#include "features/explain/arrivals/visits.h"

static bool is_message(const struct iwi_visit *visit)
{
    return visit->op == IWI_VISIT_MESSAGE;
}

/* By group, kind, rank, step, time: the order in which a rank visits a group; messages of one kernel by size.
 */
/* of one kernel */
IWI_COMPARE(compare_of_rank, struct iwi_visit, IWI_RISING(group),
            IWI_ORDER(is_message(left), is_message(right)), IWI_RISING(rank), IWI_RISING(step),
            IWI_RISING(enter_ps), IWI_RISING(bytes))

/* By group, kind, sequence, rank. */
IWI_COMPARE(compare_of_encounter, struct iwi_visit, IWI_RISING(group),
            IWI_ORDER(is_message(left), is_message(right)), IWI_RISING(sequence), IWI_RISING(rank))

/* The n-th visit of a rank to a group in step s gets number s * 2^32 + n. */
static void number_visits(struct iwi_visits *visits)
{
    uint64_t in_step = 0;

    iwi_sort(visits->visits, visits->visit_count, compare_of_rank);
    for (size_t i = 0; i < visits->visit_count; i++) {
        struct iwi_visit *visit = &visits->visits[i];
        const struct iwi_visit *before = i > 0 ? visit - 1 : NULL;

        if (before == NULL || before->group != visit->group || before->rank != visit->rank ||
            before->step != visit->step || is_message(before) != is_message(visit)) {
            in_step = 0;
        }
        if (visit->sequence == IWI_VISIT_NO_SEQUENCE) {
            visit->sequence = ((uint64_t)visit->step << 32) + in_step;
        }
        in_step++;
    }
}

/* "collective 15 of step 17", as number_visits() counts; "collective 3" where the file has numbers or no
 * steps. */
static const char *name_of(const struct iwi_visit *visit, char *text, size_t size)
{
    const uint32_t step = (uint32_t)(visit->sequence >> 32);

    if (step == 0 || step == IWI_VISIT_NO_STEP) {
        (void)snprintf(text, size, "%s %" PRIu32, is_message(visit) ? "message" : "collective",
                       (uint32_t)visit->sequence);
    } else {
        (void)snprintf(text, size, "%s %" PRIu32 " of step %" PRIu32,
                       is_message(visit) ? "message" : "collective", (uint32_t)visit->sequence, step);
    }
    return text;
}

static bool is_same_encounter(const struct iwi_visit *a, const struct iwi_visit *b)
{
    return a->group == b->group && is_message(a) == is_message(b) && a->sequence == b->sequence;
}

/* The visits from `first` on that meet; *end_p: the one after the last. */
static iw_status one_encounter(struct iwi_visits *visits, size_t first, size_t *end_p)
{
    const struct iwi_visit *of = visits->visits;
    const struct iwi_visit_group *group = &visits->groups[of[first].group];
    size_t end = first + 1, last = first;
    char name[64];

    for (; end < visits->visit_count && is_same_encounter(&of[first], &of[end]); end++) {
        if (of[end].rank == of[end - 1].rank) {
            return iwi_fail(visits->log, IW_ERR_FORMAT,
                            "rank %" PRIu32
                            " visits %s of group '%s' twice (%s): traces of several runs, or a "
                            "group that was made again",
                            visits->ranks[of[end].rank].number, name_of(&of[end], name, sizeof name),
                            group->name, iwi_visit_op_name(of[end].op));
        }
        if (of[end].op != of[first].op) {
            return iwi_fail(visits->log, IW_ERR_FORMAT,
                            "group '%s', %s: rank %" PRIu32 " calls it %s, rank %" PRIu32
                            " %s; the traces are not of the same steps",
                            group->name, name_of(&of[first], name, sizeof name),
                            visits->ranks[of[first].rank].number, iwi_visit_op_name(of[first].op),
                            visits->ranks[of[end].rank].number, iwi_visit_op_name(of[end].op));
        }
        last = of[end].enter_ps > of[last].enter_ps ? end : last;
    }
    *end_p = end;
    visits->unmatched += end - first == 1 && group->count > 1;
    visits->encounters[visits->encounter_count++] =
        (struct iwi_encounter){.first = first, .count = (uint32_t)(end - first), .last = (uint32_t)last};
    return IW_OK;
}

iw_status iwi_visits_finish(struct iwi_visits *visits)
{
    iw_status status;

    if (visits->visit_count > UINT32_MAX) {
        return iwi_fail(visits->log, IW_ERR_RANGE, "more than 2^32 visits of collectives in one run");
    }
    if (visits->visit_count == 0) {
        visits->encounter_count = 0;
        return IW_OK;
    }
    number_visits(visits);
    iwi_sort(visits->visits, visits->visit_count, compare_of_encounter);
    status = iwi_grow(visits->log, (void **)&visits->encounters, &visits->encounter_capacity,
                      visits->visit_count, sizeof visits->encounters[0]);
    visits->encounter_count = 0;
    visits->unmatched = 0;
    for (size_t first = 0, end = 0; status == IW_OK && first < visits->visit_count; first = end) {
        status = one_encounter(visits, first, &end);
    }
    return status;
}
