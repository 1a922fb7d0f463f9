/* Reads profiles of PyTorch: one file after the other, then what only all of them tell.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/explain/kineto/kineto.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/base/order.h"
#include "features/explain/kineto/kineto_parts.h"

static void release(struct iwi_kineto *kineto)
{
    for (size_t i = 0; i < kineto->group_count; i++) {
        free(kineto->groups[i].ranks);
    }
    free(kineto->groups);
    iwi_index_release(&kineto->usuals.keys);
    free(kineto->usuals.of);
    free(kineto->suspects);
    iwi_json_tree_release(&kineto->tree);
}

/* ---- groups, when all ranks are known ---- */

struct number {
    uint32_t number, index;
};

IWI_COMPARE(compare_numbers, struct number, IWI_RISING(number))

static const struct number *find_number(const struct number *numbers, size_t count, uint32_t number)
{
    const struct number key = {number, 0};

    return iwi_find(&key, numbers, count, compare_numbers);
}

/* Members that were traced, as indices of ranks. */
static uint32_t members_of(const struct iwi_kineto_group *group, const struct number *numbers, uint32_t count,
                           uint32_t *members)
{
    uint32_t found = 0;

    for (uint32_t i = 0; i < count && group->ranks == NULL; i++) {
        members[found++] = numbers[i].index;
    }
    for (uint32_t i = 0; i < group->count && group->ranks != NULL; i++) {
        const struct number *number = find_number(numbers, count, group->ranks[i]);

        if (number != NULL && (i == 0 || group->ranks[i] != group->ranks[i - 1])) {
            members[found++] = number->index;
        }
    }
    return found;
}

static bool belongs_to(const struct iwi_visit_group *group, uint32_t rank)
{
    size_t at;

    IWI_FIRST_NOT(at, 0, group->count, group->members[at] < rank);
    return at < group->count && group->members[at] == rank;
}

static iw_status settle_visit(const struct iwi_kineto *kineto, const uint32_t *index_of,
                              const struct number *numbers, struct iwi_visit *visit)
{
    const struct iwi_visits *visits = kineto->visits;
    const struct iwi_kineto_group *group = &kineto->groups[visit->group];

    visit->group = index_of[visit->group];
    if (visit->group == IWI_KINETO_NO_GROUP || !belongs_to(&visits->groups[visit->group], visit->rank)) {
        return iwi_fail(
            kineto->log, IW_ERR_FORMAT,
            "rank %" PRIu32
            " takes part in group '%s', but is not a member: check that the file belongs to this rank",
            visits->ranks[visit->rank].number, group->name);
    }
    if (visit->has_root) {
        const struct number *root = find_number(numbers, visits->rank_count, visit->root);

        visit->has_root = root != NULL;
        visit->root = root != NULL ? root->index : 0;
    }
    return IW_OK;
}

static iw_status settle_with(struct iwi_kineto *kineto, struct number *numbers, uint32_t *members,
                             uint32_t *index_of)
{
    struct iwi_visits *visits = kineto->visits;
    const uint32_t ranks = (uint32_t)visits->rank_count;

    for (uint32_t i = 0; i < ranks; i++) {
        numbers[i] = (struct number){visits->ranks[i].number, i};
    }
    iwi_sort(numbers, ranks, compare_numbers);
    for (size_t i = 0; i < kineto->group_count; i++) {
        const struct iwi_kineto_group *group = &kineto->groups[i];
        const uint32_t count = members_of(group, numbers, ranks, members);

        IW_TRY(iwi_visits_group(visits, group->name, members, count,
                                group->size > count ? group->size : count, &index_of[i]));
    }
    for (size_t i = 0; i < visits->visit_count; i++) {
        IW_TRY(settle_visit(kineto, index_of, numbers, &visits->visits[i]));
    }
    return IW_OK;
}

static iw_status settle_groups(struct iwi_kineto *kineto)
{
    struct number *numbers = iwi_new_array(kineto->log, kineto->visits->rank_count, sizeof *numbers);
    uint32_t *members = iwi_new_array(kineto->log, kineto->visits->rank_count, sizeof *members);
    uint32_t *index_of = iwi_new_array(kineto->log, kineto->group_count, sizeof *index_of);
    iw_status status = IW_ERR_NOMEM;

    if (numbers != NULL && members != NULL && index_of != NULL) {
        status = settle_with(kineto, numbers, members, index_of);
    }
    free(numbers);
    free(members);
    free(index_of);
    return status;
}

/* ---- collectives without numbers ---- */

struct tally {
    uint32_t group, step, rank;
    uint64_t count;
};

IWI_COMPARE(compare_tallies, struct tally, IWI_RISING(group), IWI_RISING(step), IWI_RISING(rank))

static bool is_same(const struct tally *a, const struct tally *b)
{
    return a->group == b->group && a->step == b->step && a->rank == b->rank;
}

/* The n-th of a group in a step is the same on all ranks only if all have as many. */
static iw_status compare_counts(const struct iwi_kineto *kineto, struct tally *tallies, size_t count)
{
    const struct iwi_visits *visits = kineto->visits;
    size_t kept = 0;

    iwi_sort(tallies, count, compare_tallies);
    for (size_t i = 0; i < count; i++) {
        if (kept > 0 && is_same(&tallies[kept - 1], &tallies[i])) {
            tallies[kept - 1].count++;
        } else {
            tallies[kept++] = tallies[i];
        }
    }
    for (size_t i = 1; i < kept; i++) {
        const struct tally *one = &tallies[i - 1], *other = &tallies[i];
        char step[32] = "";

        if (one->group != other->group || one->step != other->step || one->count == other->count) {
            continue;
        }
        if (one->step != IWI_VISIT_NO_STEP) {
            (void)snprintf(step, sizeof step, " in step %" PRIu32, one->step);
        }
        return iwi_fail(
            kineto->log, IW_ERR_FORMAT,
            "group '%s'%s: rank %" PRIu32 " has %" PRIu64 " collectives, rank %" PRIu32 " has %" PRIu64
            ", and no numbers ('Seq') match them; profile the same steps on all ranks, with a newer PyTorch",
            visits->groups[one->group].name, step, visits->ranks[one->rank].number, one->count,
            visits->ranks[other->rank].number, other->count);
    }
    return IW_OK;
}

static iw_status check_counts(const struct iwi_kineto *kineto)
{
    const struct iwi_visits *visits = kineto->visits;
    struct tally *tallies = iwi_new_array(kineto->log, kineto->unnumbered, sizeof *tallies);
    size_t count = 0;
    iw_status status;

    if (tallies == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < visits->visit_count; i++) {
        const struct iwi_visit *visit = &visits->visits[i];

        if (visit->sequence == IWI_VISIT_NO_SEQUENCE && visit->op != IWI_VISIT_MESSAGE) {
            tallies[count++] = (struct tally){visit->group, visit->step, visit->rank, 1};
        }
    }
    status = compare_counts(kineto, tallies, count);
    free(tallies);
    return status;
}

/* ---- what is lacking ---- */

static void note_count(struct iwi_kineto *kineto, uint64_t count, const char *what)
{
    char text[160];

    if (count > 0) {
        (void)snprintf(text, sizeof text, "%" PRIu64 " %s.", count, what);
        iwi_visits_note(kineto->visits, text);
    }
}

static void note_all(struct iwi_kineto *kineto)
{
    struct iwi_visits *visits = kineto->visits;

    if (kineto->files == 1) {
        iwi_visits_note(visits, "Only one rank: whom it waited for is unknown.");
    }
    if (kineto->without_groups > 0) {
        iwi_visits_note(visits, "NCCL kernels have no arguments: those of one stream are assumed to include "
                                "all ranks; sizes are unknown.");
    }
    if (kineto->on_host > 0) {
        visits->is_on_host = true;
        iwi_visits_note(visits,
                        "No GPU: a rank computes while its main thread does not wait for a collective.");
    }
    if (kineto->without_bytes > 0) {
        iwi_visits_note(visits, "Sizes of collectives are unknown (profile with record_shapes=True).");
    }
    if (kineto->without_steps > 0) {
        iwi_visits_note(visits, "There are no steps; call profiler.step().");
    }
    if (kineto->without_launches > 0) {
        iwi_visits_note(
            visits,
            "There are no launches, so late ones cannot be found (profile with ProfilerActivity.CPU).");
    }
    if (kineto->unnumbered > 0) {
        iwi_visits_note(visits, "Collectives have no numbers: the n-th of a group in a step is assumed to be "
                                "the same on all ranks.");
    }
    note_count(kineto, kineto->nameless, "kernels of NCCL without a record are left out");
    note_count(kineto, kineto->outside, "collectives outside of steps are left out");
    note_count(kineto, kineto->batches, "kernels of messages have no records: their peers are unknown");
}

/* ---- files ---- */

struct source {
    struct iwi_kineto_text text; /* its data only if it is in memory */
    bool is_in_memory;
};

static iw_status open_file(const struct iwi_kineto *kineto, const struct source *source,
                           struct iwi_kineto_file *file)
{
    const struct iwi_kineto_text *text = &source->text;

    file->name = text->name;
    return source->is_in_memory ? iwi_json_open_memory(kineto->log, text->name, text->data, text->size,
                                                       IWI_JSON_ONE_ROOT, &file->items)
                                : iwi_json_open(kineto->log, text->name, IWI_JSON_ONE_ROOT, &file->items);
}

/* Operators of the host are not kept where there are kernels: there are too many of them. So whether they are
 * needed is known only at the end of a file. */
static iw_status read_open(struct iwi_kineto *kineto, const struct source *source,
                           struct iwi_kineto_file *file)
{
    IW_TRY(iwi_kineto_collect(kineto, file));
    if (iwi_kineto_is_on_host(file)) {
        iwi_json_close(&file->items);
        IW_TRY(open_file(kineto, source, file));
        IW_TRY(iwi_kineto_collect_operators(kineto, file));
    }
    return iwi_kineto_join(kineto, file);
}

static iw_status read_file(struct iwi_kineto *kineto, const struct source *source)
{
    struct iwi_kineto_file file = {.rank = IWI_KINETO_NO_RANK};
    iw_status status;

    IW_TRY(open_file(kineto, source, &file));
    status = read_open(kineto, source, &file);
    iwi_kineto_file_release(&file);
    return status;
}

static iw_status finish(struct iwi_kineto *kineto)
{
    IW_TRY(settle_groups(kineto));
    IW_TRY(check_counts(kineto));
    IW_TRY(iwi_kineto_judge(kineto));
    note_all(kineto);
    return iwi_visits_finish(kineto->visits);
}

/* Either paths or texts. */
static iw_status read_all(const iw_log *log, const char *const *paths, const struct iwi_kineto_text *texts,
                          size_t count, struct iwi_visits *visits)
{
    struct iwi_kineto kineto = {.log = log, .visits = visits, .files = count};
    iw_status status = IW_OK;

    iwi_json_tree_init(&kineto.tree, log);
    for (size_t i = 0; i < count && status == IW_OK; i++) {
        struct source source = {.is_in_memory = paths == NULL};

        if (paths != NULL) {
            source.text.name = paths[i];
        } else {
            source.text = texts[i];
        }
        status = read_file(&kineto, &source);
    }
    if (status == IW_OK) {
        status = finish(&kineto);
    }
    release(&kineto);
    return status;
}

iw_status iwi_kineto_read(const iw_log *log, const char *const *paths, size_t count,
                          struct iwi_visits *visits)
{
    return read_all(log, paths, NULL, count, visits);
}

iw_status iwi_kineto_read_memory(const iw_log *log, const struct iwi_kineto_text *texts, size_t count,
                                 struct iwi_visits *visits)
{
    return read_all(log, NULL, texts, count, visits);
}
