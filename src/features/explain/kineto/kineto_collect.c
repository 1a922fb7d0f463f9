/* Reads the events of one file that matter: kernels, launches, collectives' records, steps, pauses.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/hash.h"
#include "features/explain/kineto/kineto_names.h"
#include "features/explain/kineto/kineto_parts.h"

enum { MEMORY_LEAST_NS = 100000, US_DECIMALS = 3 };

struct iwi_json_span iwi_kineto_name(const struct iwi_json_item *item)
{
    struct iwi_json_span name = iwi_json_member(item, "name");

    if (name.size >= 2 && name.text[0] == '"') {
        name.text++;
        name.size -= 2;
        return name;
    }
    return (struct iwi_json_span){"", 0};
}

iw_status iwi_kineto_times(const struct iwi_kineto_file *file, const struct iwi_json_item *item,
                           int64_t *begin_p, int64_t *end_p)
{
    const struct iwi_json_span ts = iwi_json_member(item, "ts"), dur = iwi_json_member(item, "dur");
    int64_t length = 0;

    if (!iwi_json_decimal(ts.text, ts.size, US_DECIMALS, begin_p) ||
        (dur.size > 0 && !iwi_json_decimal(dur.text, dur.size, US_DECIMALS, &length)) ||
        *begin_p < -(INT64_MAX / 4) || length > INT64_MAX / 4) {
        return iwi_json_fail(&file->items, item->byte, IW_ERR_FORMAT,
                             "an event without a time: 'ts' and 'dur' are numbers of microseconds");
    }
    *end_p = *begin_p + iwi_max(0, length);
    return IW_OK;
}

/* A whole number among arguments, or 0. */
static uint64_t number_of(const struct iwi_json_item *args, const char *key)
{
    const struct iwi_json_span value = iwi_json_member(args, key);
    int64_t number;

    return iwi_json_decimal(value.text, value.size, 0, &number) && number > 0 ? (uint64_t)number : 0;
}

static uint64_t external_of(const struct iwi_json_item *args)
{
    const uint64_t external = number_of(args, "External id");

    return external != 0 ? external : number_of(args, "external id");
}

/* The thread of an event of the host; 0 for all where it is no number. */
static uint32_t host_thread_of(const struct iwi_json_item *item)
{
    return (uint32_t)number_of(item, "tid");
}

/* Kernels of one name and shape do the same work. */
static uint64_t key_of(struct iwi_json_span name, const struct iwi_json_item *args)
{
    const struct iwi_json_span grid = iwi_json_member(args, "grid"), block = iwi_json_member(args, "block");
    struct iwi_hash hash;

    iwi_hash_init(&hash, iwi_hash_key);
    iwi_hash_add(&hash, name.text, name.size);
    iwi_hash_add(&hash, grid.text, grid.size);
    iwi_hash_add(&hash, block.text, block.size);
    return iwi_hash_value(&hash);
}

static iw_status keep_comm(struct iwi_kineto *kineto, struct iwi_kineto_file *file,
                           const struct iwi_json_item *item, struct iwi_kineto_kernel *kernel)
{
    struct iwi_kineto_comm comm;
    bool has;

    IW_TRY(iwi_kineto_args(kineto, file, item, &comm, &has));
    if (has) {
        IW_TRY(iwi_grow(kineto->log, (void **)&file->comms, &file->comm_capacity, file->comm_count + 1,
                        sizeof comm));
        file->comms[file->comm_count++] = comm;
        kernel->comm = (uint32_t)file->comm_count;
    }
    return IW_OK;
}

static iw_status take_kernel(struct iwi_kineto *kineto, struct iwi_kineto_file *file,
                             const struct iwi_json_item *item)
{
    const struct iwi_json_span name = iwi_kineto_name(item);
    struct iwi_kineto_kernel kernel = {.launch_ns = INT64_MIN, .launch_end_ns = INT64_MIN};
    struct iwi_json_item args = {0};
    uint64_t stream;

    IW_TRY(iwi_kineto_times(file, item, &kernel.begin_ns, &kernel.end_ns));
    (void)iwi_json_inside(iwi_json_member(item, "args"), &args);
    stream = iwi_json_member(&args, "stream").size > 0 ? number_of(&args, "stream") : number_of(item, "tid");
    kernel.stream = stream < UINT16_MAX ? (uint16_t)stream : UINT16_MAX;
    kernel.correlation = number_of(&args, "correlation");
    kernel.external = external_of(&args);
    kernel.key = key_of(name, &args);
    kernel.is_nccl = iwi_kineto_is_nccl(name.text, name.size);
    if (kernel.is_nccl) {
        kernel.op = (uint8_t)iwi_kineto_op(name.text, name.size);
        IW_TRY(keep_comm(kineto, file, item, &kernel));
    }
    IW_TRY(iwi_grow(kineto->log, (void **)&file->kernels, &file->kernel_capacity, file->kernel_count + 1,
                    sizeof kernel));
    file->kernels[file->kernel_count++] = kernel;
    return IW_OK;
}

static iw_status keep_span(const struct iwi_kineto *kineto, struct iwi_kineto_spans *spans,
                           struct iwi_kineto_span span)
{
    IW_TRY(iwi_grow(kineto->log, (void **)&spans->of, &spans->capacity, spans->count + 1, sizeof span));
    spans->of[spans->count++] = span;
    return IW_OK;
}

static iw_status take_call(struct iwi_kineto *kineto, struct iwi_kineto_file *file,
                           const struct iwi_json_item *item)
{
    const struct iwi_json_span name = iwi_kineto_name(item);
    const enum iwi_kineto_call call = iwi_kineto_call(name.text, name.size);
    struct iwi_kineto_launch launch = {0};
    struct iwi_json_item args = {0};

    if (call == IWI_KINETO_CALL_OTHER) {
        return IW_OK;
    }
    IW_TRY(iwi_kineto_times(file, item, &launch.begin_ns, &launch.end_ns));
    if (call != IWI_KINETO_LAUNCH) {
        const bool is_wait = call == IWI_KINETO_WAIT;

        return is_wait || launch.end_ns - launch.begin_ns >= MEMORY_LEAST_NS
                   ? keep_span(kineto, is_wait ? &file->waits : &file->pauses,
                               (struct iwi_kineto_span){launch.begin_ns, launch.end_ns, 0, IWI_PAUSE_MEMORY})
                   : IW_OK;
    }
    (void)iwi_json_inside(iwi_json_member(item, "args"), &args);
    launch.correlation = number_of(&args, "correlation");
    launch.external = external_of(&args);
    launch.thread = host_thread_of(item);
    IW_TRY(iwi_grow(kineto->log, (void **)&file->launches, &file->launch_capacity, file->launch_count + 1,
                    sizeof launch));
    file->launches[file->launch_count++] = launch;
    return IW_OK;
}

/* Annotations and Python functions. */
static iw_status take_host(struct iwi_kineto *kineto, struct iwi_kineto_file *file,
                           const struct iwi_json_item *item)
{
    const struct iwi_json_span name = iwi_kineto_name(item);
    const enum iwi_kineto_host host = iwi_kineto_host(name.text, name.size);
    struct iwi_kineto_span span = {.cause = host == IWI_KINETO_GC ? IWI_PAUSE_GC : IWI_PAUSE_LOADER};
    int64_t number;

    if (host == IWI_KINETO_HOST_OTHER) {
        return IW_OK;
    }
    if (host == IWI_KINETO_COLLECTIVE) {
        return iwi_kineto_take_on_host(kineto, file, item, false);
    }
    IW_TRY(iwi_kineto_times(file, item, &span.begin_ns, &span.end_ns));
    if (host == IWI_KINETO_STEP) {
        const size_t head = strlen("ProfilerStep#");

        if (!iwi_json_decimal(name.text + head, name.size - head, 0, &number) || number < 0 ||
            number >= IWI_VISIT_NO_STEP) {
            return IW_OK;
        }
        span.number = (uint32_t)number;
        iwi_kineto_take_thread(file, item);
        return keep_span(kineto, &file->steps, span);
    }
    return keep_span(kineto, &file->pauses, span);
}

static iw_status take_operator(struct iwi_kineto *kineto, struct iwi_kineto_file *file,
                               const struct iwi_json_item *item)
{
    struct iwi_kineto_comm comm;
    int64_t end_ns;
    bool has;

    if (iwi_json_begins(iwi_json_member(item, "name"), "c10d::")) {
        return iwi_kineto_take_on_host(kineto, file, item, true);
    }
    if (!iwi_json_is(iwi_json_member(item, "name"), "record_param_comms")) {
        return IW_OK;
    }
    IW_TRY(iwi_kineto_args(kineto, file, item, &comm, &has));
    if (has && comm.external != 0) {
        IW_TRY(iwi_kineto_times(file, item, &comm.begin_ns, &end_ns));
        comm.thread = host_thread_of(item);
        IW_TRY(iwi_grow(kineto->log, (void **)&file->records, &file->record_capacity, file->record_count + 1,
                        sizeof comm));
        file->records[file->record_count++] = comm;
    }
    return IW_OK;
}

static iw_status take_event(struct iwi_kineto *kineto, struct iwi_kineto_file *file,
                            const struct iwi_json_item *item)
{
    static const struct {
        const char *cat;
        iw_status (*take)(struct iwi_kineto *, struct iwi_kineto_file *, const struct iwi_json_item *);
    } takers[] = {
        {"cpu_op", take_operator}, {"python_function", take_host}, {"cuda_runtime", take_call},
        {"kernel", take_kernel},   {"cuda_driver", take_call},     {"user_annotation", take_host},
        {"Kernel", take_kernel}, /* before 2022 */
        {"Runtime", take_call},    {"Operator", take_operator},
    };
    const struct iwi_json_span cat = iwi_json_member(item, "cat");

    if (!iwi_json_is(iwi_json_member(item, "ph"), "X")) {
        return IW_OK;
    }
    for (size_t i = 0; i < sizeof takers / sizeof takers[0]; i++) {
        if (iwi_json_is(cat, takers[i].cat)) {
            return takers[i].take(kineto, file, item);
        }
    }
    if (cat.size == 0 && iwi_json_is(iwi_json_member(item, "pid"), "CPU functions")) {
        return iwi_json_fail(&file->items, item->byte, IW_ERR_UNSUPPORTED,
                             "a profile of a PyTorch without Kineto, which does not say who waits for whom: "
                             "take a build in which torch.profiler.kineto_available() is True");
    }
    return IW_OK;
}

static iw_status take_base(struct iwi_kineto_file *file, const struct iwi_json_item *item)
{
    if (!iwi_json_decimal(item->text, item->size, 0, &file->base_ns) || file->base_ns < 0 ||
        file->base_ns > INT64_MAX / 4) {
        return iwi_json_fail(&file->items, item->byte, IW_ERR_RANGE,
                             "'baseTimeNanoseconds' is no time since 1970");
    }
    return IW_OK;
}

static void take_host_name(struct iwi_kineto_file *file, const struct iwi_json_item *item)
{
    if (item->size > 2 && item->text[0] == '"') {
        const size_t room = sizeof file->host - 1, size = item->size - 2;

        memcpy(file->host, item->text + 1, size < room ? size : room);
    }
}

/* Some tools write the events alone, without a name for their list. */
bool iwi_kineto_is_event(const struct iwi_json_item *item)
{
    return item->is_element && (strcmp(item->key, "traceEvents") == 0 || item->key[0] == '\0');
}

iw_status iwi_kineto_collect(struct iwi_kineto *kineto, struct iwi_kineto_file *file)
{
    struct iwi_json_item item;

    for (;;) {
        IW_TRY(iwi_json_next(&file->items, &item));
        if (item.text == NULL) {
            return IW_OK;
        }
        if (iwi_kineto_is_event(&item)) {
            IW_TRY(take_event(kineto, file, &item));
        } else if (strcmp(item.key, "distributedInfo") == 0) {
            IW_TRY(iwi_kineto_info(kineto, file, &item));
        } else if (strcmp(item.key, "host_name") == 0) {
            take_host_name(file, &item);
        } else if (strcmp(item.key, "baseTimeNanoseconds") == 0) {
            IW_TRY(take_base(file, &item));
        }
    }
}

void iwi_kineto_file_release(struct iwi_kineto_file *file)
{
    for (size_t i = 0; i < file->config_count; i++) {
        free(file->configs[i].ranks);
    }
    free(file->configs);
    free(file->comms);
    free(file->records);
    free(file->kernels);
    free(file->launches);
    free(file->steps.of);
    free(file->pauses.of);
    free(file->waits.of);
    free(file->collectives.of);
    free(file->calls.of);
    free(file->operators.of);
    iwi_json_close(&file->items);
}
