/* Runs without a GPU: what hosts do.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/order.h"
#include "features/explain/kineto/kineto_parts.h"

/* ---- runs without a GPU: collectives that threads of the host carry out, and who asks for them ---- */

static uint64_t tid_of(const struct iwi_json_item *item)
{
    const struct iwi_json_span tid = iwi_json_member(item, "tid");
    int64_t number;

    return iwi_json_decimal(tid.text, tid.size, 0, &number) && number > 0 ? (uint64_t)number : 0;
}

void iwi_kineto_take_thread(struct iwi_kineto_file *file, const struct iwi_json_item *item)
{
    file->main_thread = tid_of(item);
}

/* ---- sizes ---- */

/* Elements of a tensor of these dimensions; 0: too many, or nonsense. */
static uint64_t elements_of(const struct iwi_json_tree *tree, const struct iwi_json_value *dims)
{
    uint64_t product = 1, dim;

    for (const struct iwi_json_value *at = iwi_json_first(tree, dims); at != NULL;
         at = iwi_json_after(tree, dims, at)) {
        if (!iwi_json_u64(at, &dim) || dim == 0 || dim > (UINT64_C(1) << 39) / product) {
            return 0;
        }
        product *= dim;
    }
    return product;
}

/* Of all tensors that go in: there if shapes were recorded. */
static uint64_t bytes_of(const struct iwi_json_tree *tree)
{
    const struct iwi_json_value *args = iwi_json_find(tree, tree->values, "args");
    const struct iwi_json_value *dims = iwi_json_find(tree, args, "Input Dims"),
                                *types = iwi_json_find(tree, args, "Input type");
    const struct iwi_json_value *type = iwi_json_first(tree, types);
    uint64_t sum = 0;

    for (const struct iwi_json_value *at = iwi_json_first(tree, dims); at != NULL && type != NULL;
         at = iwi_json_after(tree, dims, at), type = iwi_json_after(tree, types, type)) {
        sum += elements_of(tree, at) * iwi_kineto_type_bytes(iwi_json_string(type, ""));
    }
    return sum;
}

/* ---- events ---- */

iw_status iwi_kineto_take_on_host(struct iwi_kineto *kineto, struct iwi_kineto_file *file,
                                  const struct iwi_json_item *item, bool is_call)
{
    const struct iwi_json_span name = iwi_kineto_name(item);
    struct iwi_kineto_on_hosts *list = is_call ? &file->calls : &file->collectives;
    struct iwi_kineto_on_host one = {.op = (uint8_t)iwi_kineto_op(name.text, name.size)};

    if (iwi_kineto_is_of_device(name.text, name.size)) {
        file->nccl_on_host++;
        return IW_OK;
    }
    if (is_call && one.op == IWI_VISIT_OTHER) { /* "c10d::Work" and the like ask for nothing */
        return IW_OK;
    }
    IW_TRY(iwi_kineto_times(file, item, &one.begin_ns, &one.end_ns));
    if (!is_call) {
        IW_TRY(iwi_json_parse(&kineto->tree, &file->items, item));
        one.bytes = bytes_of(&kineto->tree);
    } else if (file->main_thread == 0) {
        iwi_kineto_take_thread(file, item);
    }
    IW_TRY(iwi_grow(kineto->log, (void **)&list->of, &list->capacity, list->count + 1, sizeof one));
    list->of[list->count++] = one;
    return IW_OK;
}

/* ---- the main thread ---- */

enum what { NOTHING, WORKS, WAITS };

/* What the event says of its thread. Annotations enclose anything, waits too; pauses that have a name do not.
 */
static enum what what_of(const struct iwi_json_item *item)
{
    const struct iwi_json_span cat = iwi_json_member(item, "cat"), name = iwi_kineto_name(item);
    const enum iwi_kineto_host host = iwi_kineto_host(name.text, name.size);

    if (!iwi_json_is(iwi_json_member(item, "ph"), "X")) {
        return NOTHING;
    }
    if (iwi_json_is(cat, "cpu_op") || iwi_json_is(cat, "Operator")) {
        return memmem(name.text, name.size, "wait_tensor", strlen("wait_tensor")) != NULL ? WAITS : WORKS;
    }
    return iwi_json_is(cat, "user_annotation") && (host == IWI_KINETO_GC || host == IWI_KINETO_LOADER)
               ? WORKS
               : NOTHING;
}

static iw_status take_operator(const struct iwi_kineto *kineto, struct iwi_kineto_file *file,
                               const struct iwi_json_item *item)
{
    struct iwi_kineto_spans *spans = &file->operators;
    const enum what what = tid_of(item) == file->main_thread ? what_of(item) : NOTHING;
    struct iwi_kineto_span span = {.number = what == WAITS};

    if (what == NOTHING) {
        return IW_OK;
    }
    IW_TRY(iwi_kineto_times(file, item, &span.begin_ns, &span.end_ns));
    IW_TRY(iwi_grow(kineto->log, (void **)&spans->of, &spans->capacity, spans->count + 1, sizeof span));
    spans->of[spans->count++] = span;
    return IW_OK;
}

iw_status iwi_kineto_collect_operators(struct iwi_kineto *kineto, struct iwi_kineto_file *file)
{
    struct iwi_json_item item;

    for (;;) {
        IW_TRY(iwi_json_next(&file->items, &item));
        if (item.text == NULL) {
            return IW_OK;
        }
        if (iwi_kineto_is_event(&item)) {
            IW_TRY(take_operator(kineto, file, &item));
        }
    }
}

/* ---- visits and stretches of a run without a GPU ---- */

/* The main thread asks for a collective ("c10d::allreduce_"), a thread of the backend carries it out
 * ("gloo:all_reduce"), and sooner or later the main thread waits until it has ended. No event tells of that.
 * But a thread that waits is in no operator: where a collective ends while the main thread is between two
 * of them, it waited for it, since the last thing that it began or ended. All other time it computes.
 */

enum { COMPUTES_ON = 0, MEETS_ON = 1 }; /* streams */
enum { LOOK_BACK = 64 };                /* calls that may be open beside each other */

/* ---- which call asked for which collective ---- */

IWI_COMPARE(compare_on_hosts, struct iwi_kineto_on_host, IWI_RISING(begin_ns))

/* gloo carries out a reduce-scatter as an all-reduce. */
static bool fits(const struct iwi_kineto_on_host *call, const struct iwi_kineto_on_host *collective)
{
    return call->begin_ns <= collective->begin_ns &&
           (call->op == collective->op ||
            (call->op == IWI_VISIT_REDUCE_SCATTER && collective->op == IWI_VISIT_ALLREDUCE));
}

/* asked_by[i]: the call of collective i, or calls.count. Collectives begin in the order of their calls, but
 * for microseconds where several threads take them. */
static void find_calls(const struct iwi_kineto_file *file, size_t *asked_by, bool *is_taken)
{
    const struct iwi_kineto_on_hosts *calls = &file->calls;
    size_t first = 0, last = 0;

    for (size_t i = 0; i < file->collectives.count; i++) {
        const struct iwi_kineto_on_host *collective = &file->collectives.of[i];
        size_t at = last > first + LOOK_BACK ? last - LOOK_BACK : first;

        while (at < calls->count && calls->of[at].begin_ns <= collective->begin_ns &&
               (is_taken[at] || !fits(&calls->of[at], collective))) {
            at++;
        }
        asked_by[i] = calls->count;
        if (at < calls->count && fits(&calls->of[at], collective)) {
            asked_by[i] = last = at;
            is_taken[at] = true;
        }
        while (first < calls->count && is_taken[first]) {
            first++;
        }
    }
}

/* ---- visits ---- */

static iw_status find_group(struct iwi_kineto *kineto, struct iwi_kineto_file *file, uint32_t *group_p)
{
    struct iwi_kineto_config *config = file->config_count > 0 ? &file->configs[0] : NULL;

    if (file->config_count > 1) {
        return iwi_fail(kineto->log, IW_ERR_FORMAT,
                        "'%s': CPU collectives do not name which of %zu process groups they belong to "
                        "(PyTorch omits it for gloo and MPI); use a run with one group",
                        file->name, file->config_count);
    }
    return config != NULL && config->count > 0
               ? iwi_kineto_group(kineto, config->name, config->about, config->ranks, config->count,
                                  config->count, group_p)
               : iwi_kineto_group(kineto, "all ranks", "", NULL, 0, file->world, group_p);
}

/* Of the whole buffer. */
static uint64_t moved_bytes(const struct iwi_kineto_file *file, const struct iwi_kineto_on_host *collective,
                            uint8_t op)
{
    const bool is_part = op == IWI_VISIT_ALLGATHER || op == IWI_VISIT_GATHER;

    return collective->bytes * (is_part && file->world > 0 ? file->world : 1);
}

static iw_status message_group(struct iwi_kineto *kineto, const struct iwi_kineto_file *file,
                               uint32_t *group_p)
{
    char name[IWI_VISIT_NAME_SIZE];
    uint32_t self = file->rank;

    kineto->batches++;
    (void)snprintf(name, sizeof name, "messages of rank %" PRIu32, self);
    return iwi_kineto_group(kineto, name, "", &self, 1, 1, group_p);
}

/* `after_ns`: when the one before it of the same group began. */
static iw_status add_visit(struct iwi_kineto *kineto, const struct iwi_kineto_file *file,
                           const struct iwi_kineto_on_host *collective, const struct iwi_kineto_on_host *call,
                           uint32_t group, int64_t *after_ns_p)
{
    const int64_t asked_ns = call != NULL ? call->begin_ns : collective->begin_ns;
    const int64_t begin_ns = iwi_max(collective->begin_ns, *after_ns_p + 1);
    struct iwi_visit visit = {.rank = file->index,
                              .group = group,
                              .op = call != NULL ? call->op : collective->op,
                              .stream = MEETS_ON,
                              .step = iwi_kineto_step_at(file, asked_ns),
                              .sequence = IWI_VISIT_NO_SEQUENCE,
                              .enter_ps = iwi_kineto_ps(kineto, begin_ns),
                              .leave_ps = iwi_kineto_ps(kineto, iwi_max(begin_ns, collective->end_ns)),
                              .ready_ps = iwi_max(1, (begin_ns - asked_ns) * IW_PS_PER_NS)};

    if (visit.step == IWI_VISIT_NO_STEP && file->steps.count > 0) {
        kineto->outside++;
        return IW_OK;
    }
    *after_ns_p = begin_ns;
    visit.bytes = moved_bytes(file, collective, visit.op);
    if (visit.op == IWI_VISIT_MESSAGE) {
        IW_TRY(message_group(kineto, file, &visit.group));
    } else {
        kineto->unnumbered++;
        kineto->without_bytes += visit.bytes == 0 && visit.op != IWI_VISIT_BARRIER;
    }
    return iwi_visits_add(kineto->visits, &visit);
}

static iw_status add_visits(struct iwi_kineto *kineto, struct iwi_kineto_file *file, size_t *asked_by,
                            bool *is_taken, size_t *by_call)
{
    const size_t none = file->collectives.count;
    int64_t after_ns = INT64_MIN;
    uint32_t group;

    IW_TRY(find_group(kineto, file, &group));
    find_calls(file, asked_by, is_taken);
    for (size_t i = 0; i < file->calls.count; i++) {
        by_call[i] = none;
    }
    for (size_t i = 0; i < none; i++) {
        if (asked_by[i] < file->calls.count) {
            by_call[asked_by[i]] = i;
        } else { /* asked for before the profile began, or by a version that writes no calls */
            IW_TRY(add_visit(kineto, file, &file->collectives.of[i], NULL, group, &after_ns));
        }
    }
    for (size_t i = 0; i < file->calls.count; i++) {
        if (by_call[i] < none) {
            IW_TRY(add_visit(kineto, file, &file->collectives.of[by_call[i]], &file->calls.of[i], group,
                             &after_ns));
        }
    }
    return IW_OK;
}

/* ---- when the main thread waited ---- */

/* By their begin, those that enclose others first. */
IWI_COMPARE(compare_operators, struct iwi_kineto_span, IWI_RISING(begin_ns), IWI_FALLING(end_ns))

/* Sorted operators; leaves those that enclose nothing. borders: begins and ends of all, ascending. */
static size_t list_borders(struct iwi_kineto_spans *operators, int64_t *borders)
{
    size_t count = 0, kept = 0;

    iwi_sort(operators->of, operators->count, compare_operators);
    for (size_t i = 0; i < operators->count; i++) {
        const struct iwi_kineto_span span = operators->of[i];

        borders[count++] = span.begin_ns;
        borders[count++] = span.end_ns;
        if (i + 1 == operators->count || operators->of[i + 1].begin_ns >= span.end_ns) {
            operators->of[kept++] = span;
        }
    }
    operators->count = kept;
    iwi_sort(borders, count, iwi_compare_i64);
    return count;
}

/* The wait that ended with a collective at end_ns, as far as it began after begin_ns. */
static struct iwi_kineto_span wait_of(const struct iwi_kineto_spans *leaves, const int64_t *borders,
                                      size_t border_count, const struct iwi_kineto_on_host *collective)
{
    const int64_t end_ns = collective->end_ns;
    struct iwi_kineto_span wait = {.begin_ns = end_ns, .end_ns = end_ns};
    const struct iwi_kineto_span *in;
    size_t leaf, border;

    IWI_FIRST_NOT(leaf, 0, leaves->count, leaves->of[leaf].begin_ns < end_ns);
    IWI_FIRST_NOT(border, 0, border_count, borders[border] < end_ns);
    in = leaf > 0 ? &leaves->of[leaf - 1] : NULL;
    if (border > 0 && (in == NULL || in->end_ns <= end_ns || in->number != 0)) {
        wait.begin_ns = iwi_max(borders[border - 1], collective->begin_ns);
    }
    return wait;
}

static iw_status find_waits(struct iwi_kineto *kineto, struct iwi_kineto_file *file, int64_t *borders,
                            struct iwi_kineto_spans *waits)
{
    const size_t border_count = list_borders(&file->operators, borders);

    for (size_t i = 0; i < file->collectives.count; i++) {
        const struct iwi_kineto_span wait =
            wait_of(&file->operators, borders, border_count, &file->collectives.of[i]);

        if (wait.begin_ns < wait.end_ns) {
            IW_TRY(
                iwi_grow(kineto->log, (void **)&waits->of, &waits->capacity, waits->count + 1, sizeof wait));
            waits->of[waits->count++] = wait;
        }
    }
    iwi_kineto_unite(waits);
    return IW_OK;
}

/* ---- stretches ---- */

static iw_status add_stretch(struct iwi_kineto *kineto, const struct iwi_kineto_file *file, uint32_t step,
                             int64_t begin_ns, int64_t end_ns)
{
    const struct iwi_stretch stretch = {.rank = file->index,
                                        .step = step,
                                        .stream = COMPUTES_ON,
                                        .begin_ps = iwi_kineto_ps(kineto, begin_ns),
                                        .end_ps = iwi_kineto_ps(kineto, end_ns)};

    return end_ns > begin_ns ? iwi_visits_add_stretch(kineto->visits, &stretch) : IW_OK;
}

/* From begin to end, but for waits. */
static iw_status add_stretches(struct iwi_kineto *kineto, const struct iwi_kineto_file *file,
                               const struct iwi_kineto_spans *waits, struct iwi_kineto_span span,
                               uint32_t step)
{
    int64_t at_ns = span.begin_ns;
    size_t i;

    IWI_FIRST_NOT(i, 0, waits->count, waits->of[i].end_ns < at_ns);
    for (; i < waits->count && waits->of[i].begin_ns < span.end_ns; i++) {
        IW_TRY(add_stretch(kineto, file, step, at_ns, waits->of[i].begin_ns));
        at_ns = waits->of[i].end_ns;
    }
    return add_stretch(kineto, file, step, at_ns, span.end_ns);
}

static iw_status add_all_stretches(struct iwi_kineto *kineto, const struct iwi_kineto_file *file,
                                   const int64_t *borders, size_t border_count,
                                   const struct iwi_kineto_spans *waits)
{
    if (file->steps.count == 0 && border_count > 0) {
        return add_stretches(
            kineto, file, waits,
            (struct iwi_kineto_span){.begin_ns = borders[0], .end_ns = borders[border_count - 1]},
            IWI_VISIT_NO_STEP);
    }
    for (size_t i = 0; i < file->steps.count; i++) {
        IW_TRY(add_stretches(kineto, file, waits, file->steps.of[i], file->steps.of[i].number));
    }
    return IW_OK;
}

static iw_status add_computing(struct iwi_kineto *kineto, struct iwi_kineto_file *file)
{
    const size_t border_count = 2 * file->operators.count;
    int64_t *borders = iwi_new_array(kineto->log, border_count, sizeof *borders);
    struct iwi_kineto_spans waits = {0};
    iw_status status = borders != NULL ? find_waits(kineto, file, borders, &waits) : IW_ERR_NOMEM;

    if (status == IW_OK) {
        status = add_all_stretches(kineto, file, borders, border_count, &waits);
    }
    free(borders);
    free(waits.of);
    return status;
}

iw_status iwi_kineto_add_host_visits(struct iwi_kineto *kineto, struct iwi_kineto_file *file)
{
    size_t *asked_by = iwi_new_array(kineto->log, file->collectives.count, sizeof *asked_by);
    size_t *by_call = iwi_new_array(kineto->log, file->calls.count, sizeof *by_call);
    bool *is_taken = iwi_new_array(kineto->log, file->calls.count, sizeof *is_taken);
    iw_status status = IW_ERR_NOMEM;

    kineto->on_host++;
    iwi_sort(file->collectives.of, file->collectives.count, compare_on_hosts);
    iwi_sort(file->calls.of, file->calls.count, compare_on_hosts);
    if (asked_by != NULL && by_call != NULL && is_taken != NULL) {
        status = add_visits(kineto, file, asked_by, is_taken, by_call);
    }
    free(asked_by);
    free(by_call);
    free(is_taken);
    return status == IW_OK ? add_computing(kineto, file) : status;
}
