/* The table of visits: added to, made into encounters, checked, freed.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/explain/arrivals/visits.h"

#include <idlewave/program.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/hash.h"
#include "core/base/order.h"

const char *iwi_visit_op_name(unsigned op)
{
    static const char *const names[IWI_VISIT_OPS] = {"allreduce", "allgather", "reduce-scatter", "alltoall",
                                                     "broadcast", "reduce",    "gather",         "scatter",
                                                     "barrier",   "message",   "other"};

    return op < IWI_VISIT_OPS ? names[op] : NULL;
}

const char *iwi_pause_cause_name(unsigned cause)
{
    static const char *const names[IWI_PAUSE_CAUSES] = {"garbage collection",   "data loading",
                                                        "late launches",        "slow kernels",
                                                        "memory of the device", "other"};

    return cause < IWI_PAUSE_CAUSES ? names[cause] : NULL;
}

void iwi_visits_init(struct iwi_visits *visits, const iw_log *log, const char *origin)
{
    *visits = (struct iwi_visits){.log = log};
    (void)snprintf(visits->origin, sizeof visits->origin, "%s", origin);
}

void iwi_visits_release(struct iwi_visits *visits)
{
    for (size_t i = 0; i < visits->group_count; i++) {
        free(visits->groups[i].members);
    }
    free(visits->ranks);
    free(visits->groups);
    free(visits->visits);
    free(visits->encounters);
    free(visits->stretches);
    free(visits->pauses);
    free(visits->steps);
    free(visits->host_waits);
    iw_trace_free(visits->trace);
    iwi_index_release(&visits->rank_index);
    iwi_lookup_release(&visits->group_table);
    *visits = (struct iwi_visits){.log = visits->log};
}

iw_status iwi_visits_rank(struct iwi_visits *visits, uint32_t number, const char *node, uint32_t *index_p)
{
    IW_TRY(iwi_index_number(visits->log, &visits->rank_index, (struct iwi_index_key){number, 0}, index_p));
    if (*index_p == visits->rank_count) {
        struct iwi_visit_rank *rank;

        IW_TRY(iwi_grow(visits->log, (void **)&visits->ranks, &visits->rank_capacity, visits->rank_count + 1,
                        sizeof visits->ranks[0]));
        rank = &visits->ranks[visits->rank_count++];
        *rank = (struct iwi_visit_rank){.number = number, .stage = IWI_VISIT_NO_STAGE};
        (void)snprintf(rank->node, sizeof rank->node, "%s", node != NULL ? node : "");
    }
    return IW_OK;
}

/* Whether it has that name, cut to what is kept of it, and these members. */
static bool is_group(const struct iwi_visit_group *group, const struct iwi_visit_group *wanted)
{
    return group->count == wanted->count && group->size == wanted->size &&
           strcmp(group->name, wanted->name) == 0 &&
           memcmp(group->members, wanted->members, wanted->count * sizeof wanted->members[0]) == 0;
}

static uint64_t hash_group(const struct iwi_visit_group *group)
{
    struct iwi_hash hash;

    iwi_hash_init(&hash, iwi_hash_key);
    iwi_hash_add_text(&hash, group->name);
    iwi_hash_add_u64(&hash, group->size);
    iwi_hash_add(&hash, group->members, group->count * sizeof group->members[0]);
    return iwi_hash_value(&hash);
}

/* Takes over the members of a new one. */
static iw_status find_group(struct iwi_visits *visits, struct iwi_visit_group *wanted, uint32_t *index_p)
{
    const uint64_t hash = hash_group(wanted);
    uint32_t index;

    for (size_t at = 0; (index = iwi_lookup_next(&visits->group_table, hash, &at)) != IWI_LOOKUP_NONE;) {
        if (is_group(&visits->groups[index], wanted)) {
            *index_p = index;
            return IW_OK;
        }
    }
    IW_TRY(iwi_grow(visits->log, (void **)&visits->groups, &visits->group_capacity, visits->group_count + 1,
                    sizeof visits->groups[0]));
    IW_TRY(iwi_lookup_add(visits->log, &visits->group_table, hash, (uint32_t)visits->group_count));
    visits->groups[visits->group_count] = *wanted;
    wanted->members = NULL;
    *index_p = (uint32_t)visits->group_count++;
    return IW_OK;
}

iw_status iwi_visits_group(struct iwi_visits *visits, const char *name, const uint32_t *members,
                           uint32_t count, uint32_t size, uint32_t *index_p)
{
    struct iwi_visit_group wanted = {.count = count, .size = size};
    iw_status status;

    wanted.members = iwi_new_array(visits->log, count, sizeof wanted.members[0]);
    if (wanted.members == NULL) {
        return IW_ERR_NOMEM;
    }
    (void)snprintf(wanted.name, sizeof wanted.name, "%s", name);
    memcpy(wanted.members, members, count * sizeof members[0]);
    iwi_sort(wanted.members, count, iwi_compare_u32);
    status = find_group(visits, &wanted, index_p);
    free(wanted.members);
    return status;
}

#define ADD(ITEMS, COUNT, CAPACITY, ITEM)                                                        \
    do {                                                                                         \
        const iw_status status =                                                                 \
            iwi_grow(visits->log, (void **)&(ITEMS), &(CAPACITY), (COUNT) + 1, sizeof *(ITEMS)); \
                                                                                                 \
        if (status == IW_OK) {                                                                   \
            (ITEMS)[(COUNT)++] = *(ITEM);                                                        \
        }                                                                                        \
        return status;                                                                           \
    } while (0)

iw_status iwi_visits_add(struct iwi_visits *visits, const struct iwi_visit *visit)
{
    ADD(visits->visits, visits->visit_count, visits->visit_capacity, visit);
}

iw_status iwi_visits_add_stretch(struct iwi_visits *visits, const struct iwi_stretch *stretch)
{
    ADD(visits->stretches, visits->stretch_count, visits->stretch_capacity, stretch);
}

iw_status iwi_visits_add_pause(struct iwi_visits *visits, const struct iwi_pause *pause)
{
    ADD(visits->pauses, visits->pause_count, visits->pause_capacity, pause);
}

iw_status iwi_visits_add_step(struct iwi_visits *visits, const struct iwi_visit_step *step)
{
    ADD(visits->steps, visits->step_count, visits->step_capacity, step);
}

iw_status iwi_visits_add_host_wait(struct iwi_visits *visits, const struct iwi_host_wait *wait)
{
    ADD(visits->host_waits, visits->host_wait_count, visits->host_wait_capacity, wait);
}

void iwi_visits_note(struct iwi_visits *visits, const char *sentence)
{
    const size_t length = strlen(visits->lacks);

    if (strstr(visits->lacks, sentence) == NULL) {
        (void)snprintf(visits->lacks + length, sizeof visits->lacks - length, "%s%s", length > 0 ? " " : "",
                       sentence);
    }
}

uint32_t iwi_visits_least_ranks(const struct iwi_visits *visits)
{
    uint32_t ranks = visits->world;

    for (size_t i = 0; i < visits->group_count; i++) {
        ranks = visits->groups[i].size > ranks ? visits->groups[i].size : ranks;
    }
    return ranks;
}

/* ---- encounters ---- */

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
                            "rank %" PRIu32 " visits %s of group '%s' twice (%s): the traces are of several "
                            "runs, or the group was created again",
                            visits->ranks[of[end].rank].number, name_of(&of[end], name, sizeof name),
                            group->name, iwi_visit_op_name(of[end].op));
        }
        if (of[end].op != of[first].op) {
            return iwi_fail(visits->log, IW_ERR_FORMAT,
                            "group '%s', %s: rank %" PRIu32 " calls %s, rank %" PRIu32
                            " calls %s; give traces of the same steps",
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

/* ---- whether files can be of one run: ranks that no collective joins must have run at the same time ---- */

/* Clocks of nodes that nobody sets differ by less. */
static const iw_time MOST_APART_PS = 60 * IW_PS_PER_S;

/* Of ranks whose clocks are compared. */
struct span {
    iw_time begin_ps, end_ps;
    uint32_t rank; /* the first of them */
};

IWI_COMPARE(compare_spans, struct span, IWI_RISING(begin_ps))

static void widen(const struct iwi_visits *visits, struct span *spans, uint32_t rank, iw_time begin_ps,
                  iw_time end_ps)
{
    struct span *span = &spans[visits->ranks[rank].clock_set];

    span->rank = span->begin_ps > span->end_ps ? rank : span->rank;
    span->begin_ps = iwi_min(span->begin_ps, begin_ps);
    span->end_ps = iwi_max(span->end_ps, end_ps);
}

static void find_spans(const struct iwi_visits *visits, struct span *spans)
{
    for (uint32_t s = 0; s < visits->clock_sets; s++) {
        spans[s] = (struct span){INT64_MAX, INT64_MIN, 0};
    }
    for (size_t i = 0; i < visits->visit_count; i++) {
        const struct iwi_visit *visit = &visits->visits[i];

        widen(visits, spans, visit->rank, visit->enter_ps, visit->leave_ps);
    }
    for (size_t i = 0; i < visits->stretch_count; i++) {
        const struct iwi_stretch *stretch = &visits->stretches[i];

        widen(visits, spans, stretch->rank, stretch->begin_ps, stretch->end_ps);
    }
    iwi_sort(spans, visits->clock_sets, compare_spans);
}

static iw_status check_spans(const struct iwi_visits *visits, const struct span *spans)
{
    const struct span *last = &spans[0]; /* of those so far, the one that ends last */

    for (uint32_t s = 1; s < visits->clock_sets && spans[s].begin_ps <= spans[s].end_ps; s++) {
        const iw_time apart_ps = spans[s].begin_ps - last->end_ps;

        if (apart_ps > MOST_APART_PS && apart_ps > last->end_ps - spans[0].begin_ps) {
            return iwi_fail(visits->log, IW_ERR_FORMAT,
                            "rank %" PRIu32 " begins %.0f s after rank %" PRIu32
                            " has ended, and no collective joins them: give files of one run",
                            visits->ranks[spans[s].rank].number, (double)apart_ps / IW_PS_PER_S,
                            visits->ranks[last->rank].number);
        }
        last = spans[s].end_ps > last->end_ps ? &spans[s] : last;
    }
    return IW_OK;
}

/* Collectives of different runs may have the same names and numbers. */
static void warn_of_clocks(struct iwi_visits *visits)
{
    iw_time least_ps = INT64_MAX, most_ps = INT64_MIN;
    char text[128];

    for (size_t r = 0; r < visits->rank_count; r++) {
        least_ps = iwi_min(least_ps, visits->ranks[r].clock_added_ps);
        most_ps = iwi_max(most_ps, visits->ranks[r].clock_added_ps);
    }
    if (visits->rank_count > 0 && most_ps - least_ps > MOST_APART_PS) {
        const double apart_s = (double)(most_ps - least_ps) / IW_PS_PER_S;

        iwi_warn(visits->log, "clocks of ranks differ by %.0f s: give files of one run", apart_s);
        (void)snprintf(
            text, sizeof text,
            "Clocks of ranks differed by %.0f s and were aligned; check that all files are of one run.",
            apart_s);
        iwi_visits_note(visits, text);
    }
}

iw_status iwi_visits_check_one_run(struct iwi_visits *visits)
{
    struct span *spans;
    iw_status status;

    if (visits->clock_sets == 0) {
        return IW_OK;
    }
    spans = iwi_new_array(visits->log, visits->clock_sets, sizeof *spans);
    if (spans == NULL) {
        return IW_ERR_NOMEM;
    }
    find_spans(visits, spans);
    status = check_spans(visits, spans);
    free(spans);
    warn_of_clocks(visits);
    return status;
}
