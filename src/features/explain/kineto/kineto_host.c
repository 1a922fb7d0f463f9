/* Runs without a GPU: collectives that threads of the host carry out, calls that ask for them, and what the
 * main thread does.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <string.h>

#include "features/explain/kineto/kineto_names.h"
#include "features/explain/kineto/kineto_parts.h"

bool iwi_kineto_is_on_host(const struct iwi_kineto_file *file)
{
    return file->kernel_count == 0 && file->collectives.count > 0;
}

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
