/* Reads the events of one file that matter: kernels, launches, records of collectives, steps, pauses.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/hash.h"
#include "features/explain/json/json_value.h"
#include "features/explain/kineto/kineto_parts.h"

enum { MOST_KINETO_RANKS = 1 << 20 };

struct kineto_ranks {
    uint32_t *of; /* as written; to be freed */
    size_t count, capacity;
    bool is_cut; /* "[0, 1, ..., 63]": the last one is the last of the group, those before it are missing */
};

/* ---- lists of ranks: "[0, 1, 2]", arrays, and long ones that PyTorch cuts ---- */

static iw_status add(const iw_log *log, struct kineto_ranks *ranks, uint64_t rank, bool *is_list_p)
{
    if (rank >= UINT32_MAX || ranks->count >= MOST_KINETO_RANKS) {
        *is_list_p = false;
        return IW_OK;
    }
    IW_TRY(iwi_grow(log, (void **)&ranks->of, &ranks->capacity, ranks->count + 1, sizeof ranks->of[0]));
    ranks->of[ranks->count++] = (uint32_t)rank;
    return IW_OK;
}

/* A number at *at_p, at most 2^32. */
static bool take_number(const char **at_p, uint64_t *number_p)
{
    const char *at = *at_p;

    if (!isdigit((unsigned char)*at)) {
        return false;
    }
    for (*number_p = 0; isdigit((unsigned char)*at); at++) {
        *number_p = *number_p <= UINT32_MAX ? 10 * *number_p + (uint64_t)(*at - '0') : *number_p;
    }
    *at_p = at;
    return true;
}

/* Of "[0, 1, 2]" in a string. False (not logged): no such list. */
static iw_status kineto_ranks_text(const iw_log *log, const char *text, struct kineto_ranks *ranks,
                                   bool *is_list_p)
{
    const char *at = text + strspn(text, " ");
    uint64_t rank;

    *is_list_p = *at == '[';
    at += *at == '[';
    while (*is_list_p && *at != '\0' && *at != ']') {
        if (strncmp(at, "...", 3) == 0) {
            ranks->is_cut = true;
            at += 3;
        } else if (take_number(&at, &rank)) {
            IW_TRY(add(log, ranks, rank, is_list_p));
        } else if (*at == ',' || *at == ' ') {
            at++;
        } else {
            *is_list_p = false;
        }
    }
    *is_list_p = *is_list_p && *at == ']';
    return IW_OK;
}

/* Of a string as above, or an array of numbers. */
static iw_status kineto_ranks_value(const iw_log *log, const struct iwi_json_tree *tree,
                                    const struct iwi_json_value *value, struct kineto_ranks *ranks,
                                    bool *is_list_p)
{
    *is_list_p = value != NULL && value->kind == IWI_JSON_ARRAY;
    if (value != NULL && value->kind == IWI_JSON_STRING) {
        return kineto_ranks_text(log, value->text, ranks, is_list_p);
    }
    for (const struct iwi_json_value *v = *is_list_p ? iwi_json_first(tree, value) : NULL;
         v != NULL && *is_list_p; v = iwi_json_after(tree, value, v)) {
        uint64_t rank;

        *is_list_p = iwi_json_u64(v, &rank);
        if (*is_list_p) {
            IW_TRY(add(log, ranks, rank, is_list_p));
        }
    }
    return IW_OK;
}

/* Fills in what was cut, if the ranks that are there have one stride and `size` ranks would reach the last
 * one. *is_whole_p: it did, or nothing was cut. */
static iw_status kineto_ranks_complete(const iw_log *log, struct kineto_ranks *ranks, uint64_t size,
                                       bool *is_whole_p)
{
    uint32_t last, stride;
    bool is_list = true;

    *is_whole_p = !ranks->is_cut;
    if (!ranks->is_cut || ranks->count < 3 || size > MOST_KINETO_RANKS || size < ranks->count) {
        return IW_OK;
    }
    last = ranks->of[ranks->count - 1];
    stride = ranks->of[1] - ranks->of[0];
    for (size_t i = 1; i + 1 < ranks->count; i++) {
        if (ranks->of[i] - ranks->of[i - 1] != stride) {
            return IW_OK;
        }
    }
    if (stride == 0 || last != ranks->of[0] + (size - 1) * stride) {
        return IW_OK;
    }
    for (ranks->count--; ranks->count < size;) {
        IW_TRY(add(log, ranks, ranks->of[0] + (uint64_t)ranks->count * stride, &is_list));
    }
    ranks->is_cut = false;
    *is_whole_p = is_list;
    return IW_OK;
}

/* ---- distributedInfo ---- */

static iw_status keep_config(struct iwi_kineto *kineto, struct iwi_kineto_file *file,
                             const struct iwi_json_value *group)
{
    const struct iwi_json_tree *tree = &kineto->tree;
    struct kineto_ranks ranks = {0};
    struct iwi_kineto_config *config;
    uint64_t size = 0;
    bool is_list = false, is_whole = false;
    iw_status status;

    (void)iwi_json_u64(iwi_json_find(tree, group, "pg_size"), &size);
    status = kineto_ranks_value(kineto->log, tree, iwi_json_find(tree, group, "ranks"), &ranks, &is_list);
    if (status == IW_OK && is_list) {
        status = kineto_ranks_complete(kineto->log, &ranks, size, &is_whole);
    }
    if (status == IW_OK) {
        status = iwi_grow(kineto->log, (void **)&file->configs, &file->config_capacity,
                          file->config_count + 1, sizeof file->configs[0]);
    }
    if (status != IW_OK || !is_list || !is_whole) {
        free(ranks.of);
        return status;
    }
    config = &file->configs[file->config_count++];
    *config = (struct iwi_kineto_config){.ranks = ranks.of, .count = (uint32_t)ranks.count};
    (void)snprintf(config->name, sizeof config->name, "%s",
                   iwi_json_string(iwi_json_find(tree, group, "pg_name"), ""));
    (void)snprintf(config->about, sizeof config->about, "%s",
                   iwi_json_string(iwi_json_find(tree, group, "pg_desc"), ""));
    return IW_OK;
}

/* distributedInfo. */
static iw_status kineto_info(struct iwi_kineto *kineto, struct iwi_kineto_file *file,
                             const struct iwi_json_item *item)
{
    const struct iwi_json_tree *tree = &kineto->tree;
    const struct iwi_json_value *configs;
    uint64_t number;

    IW_TRY(iwi_json_parse(&kineto->tree, &file->items, item));
    if (iwi_json_u64(iwi_json_find(tree, tree->values, "rank"), &number) && number < IWI_KINETO_NO_RANK) {
        file->rank = (uint32_t)number;
    }
    if (iwi_json_u64(iwi_json_find(tree, tree->values, "world_size"), &number) && number < UINT32_MAX) {
        file->world = (uint32_t)number;
    }
    configs = iwi_json_find(tree, tree->values, "pg_config");
    for (const struct iwi_json_value *group = iwi_json_first(tree, configs); group != NULL;
         group = iwi_json_after(tree, configs, group)) {
        IW_TRY(keep_config(kineto, file, group));
    }
    return IW_OK;
}

/* ---- arguments ---- */

/* "[0, 1, ..., 63]" whole: by the file's list of groups, or by its stride. */
static iw_status whole_ranks(struct iwi_kineto *kineto, const struct iwi_kineto_file *file,
                             const struct iwi_json_item *item, const char *name, uint64_t size,
                             struct kineto_ranks *ranks)
{
    bool is_whole;

    IW_TRY(kineto_ranks_complete(kineto->log, ranks, size, &is_whole));
    for (size_t i = 0; i < file->config_count && !is_whole; i++) {
        const struct iwi_kineto_config *config = &file->configs[i];

        if (strncmp(config->name, name, sizeof config->name - 1) == 0 && config->count == size) {
            IW_TRY(iwi_grow(kineto->log, (void **)&ranks->of, &ranks->capacity, config->count,
                            sizeof ranks->of[0]));
            memcpy(ranks->of, config->ranks, config->count * sizeof ranks->of[0]);
            ranks->count = config->count;
            is_whole = true;
        }
    }
    return is_whole ? IW_OK
                    : iwi_json_fail(
                          &file->items, item->byte, IW_ERR_FORMAT,
                          "the ranks of group '%s' are incomplete, and 'distributedInfo' does not list them",
                          name);
}

static iw_status find_group(struct iwi_kineto *kineto, struct iwi_kineto_file *file,
                            const struct iwi_json_item *item, const struct iwi_json_value *args,
                            struct iwi_kineto_comm *comm)
{
    const struct iwi_json_tree *tree = &kineto->tree;
    const char *name = iwi_json_string(iwi_json_find(tree, args, "Process Group Name"), "");
    const char *about = iwi_json_string(iwi_json_find(tree, args, "Process Group Description"), "");
    struct kineto_ranks ranks = {0};
    uint64_t size = 0;
    bool is_list;
    iw_status status = kineto_ranks_value(kineto->log, tree, iwi_json_find(tree, args, "Process Group Ranks"),
                                          &ranks, &is_list);

    if (status == IW_OK) {
        size = ranks.count;
        (void)iwi_json_u64(iwi_json_find(tree, args, "Group size"), &size);
        is_list = is_list && ranks.count > 0;
        if (is_list && ranks.is_cut) {
            status = whole_ranks(kineto, file, item, name, size, &ranks);
        }
    }
    if (status == IW_OK) {
        size = size > 0 && size < UINT32_MAX ? size : ranks.count;
        status = iwi_kineto_group(kineto, name, about, is_list ? ranks.of : NULL, (uint32_t)ranks.count,
                                  (uint32_t)size, &comm->group);
    }
    free(ranks.of);
    return status;
}

/* Of the whole buffer: of what is gathered, all parts. */
static uint64_t bytes_of(struct iwi_kineto *kineto, const struct iwi_json_value *args, uint8_t op)
{
    const struct iwi_json_tree *tree = &kineto->tree;
    const bool is_out = op == IWI_VISIT_SCATTER;
    const bool is_part = op == IWI_VISIT_ALLGATHER || op == IWI_VISIT_GATHER || op == IWI_VISIT_SCATTER;
    const unsigned type_bytes =
        iwi_kineto_type_bytes(iwi_json_string(iwi_json_find(tree, args, "dtype"), ""));
    uint64_t elements = 0, size = 1;

    (void)iwi_json_u64(iwi_json_find(tree, args, is_out ? "Out msg nelems" : "In msg nelems"), &elements);
    if (is_part) {
        (void)iwi_json_u64(iwi_json_find(tree, args, "Group size"), &size);
    }
    if (type_bytes == 0 && elements > 0) {
        iwi_visits_note(kineto->visits, "Collectives of an unknown element type count as 0 bytes.");
    }
    return elements < UINT64_C(1) << 39 && size < UINT64_C(1) << 20 ? elements * size * type_bytes : 0;
}

static void find_peer(const struct iwi_json_tree *tree, const struct iwi_json_value *args,
                      struct iwi_kineto_comm *comm)
{
    const char *name = iwi_json_string(iwi_json_find(tree, args, "Collective name"), "");
    uint64_t peer;

    comm->is_send = strstr(name, "send") != NULL;
    if (iwi_json_u64(iwi_json_find(tree, args, comm->is_send ? "Dst Rank" : "Src Rank"), &peer) &&
        peer < UINT32_MAX) {
        comm->has_peer = true;
        comm->peer = (uint32_t)peer;
    }
}

/* The arguments of a collective: a kernel's, or those of record_param_comms. *has_p: false: there are none.
 */
static iw_status kineto_args(struct iwi_kineto *kineto, struct iwi_kineto_file *file,
                             const struct iwi_json_item *item, struct iwi_kineto_comm *comm, bool *has_p)
{
    const struct iwi_json_tree *tree = &kineto->tree;
    const struct iwi_json_value *args;
    const char *name;

    IW_TRY(iwi_json_parse(&kineto->tree, &file->items, item));
    args = iwi_json_find(tree, tree->values, "args");
    name = iwi_json_string(iwi_json_find(tree, args, "Collective name"), NULL);
    *has_p = name != NULL;
    if (name == NULL) {
        return IW_OK;
    }
    *comm = (struct iwi_kineto_comm){.sequence = IWI_VISIT_NO_SEQUENCE};
    comm->op = (uint8_t)iwi_kineto_op(name, strlen(name));
    if (!iwi_json_u64(iwi_json_find(tree, args, "External id"), &comm->external)) {
        (void)iwi_json_u64(iwi_json_find(tree, args, "external id"), &comm->external);
    }
    if (comm->op == IWI_VISIT_MESSAGE) {
        find_peer(tree, args, comm);
    }
    if (!iwi_json_u64(iwi_json_find(tree, args, "Seq"), &comm->sequence)) {
        (void)iwi_json_u64(iwi_json_find(tree, args, "Comms Id"), &comm->sequence);
    }
    comm->bytes = bytes_of(kineto, args, comm->op);
    return find_group(kineto, file, item, args, comm);
}

/* ---- events ---- */

enum { MEMORY_LEAST_NS = 100000 };

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

    IW_TRY(kineto_args(kineto, file, item, &comm, &has));
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
    IW_TRY(kineto_args(kineto, file, item, &comm, &has));
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
                             "the profile is of a PyTorch without Kineto and does not record who waits for "
                             "whom; use a build in which torch.profiler.kineto_available() is True");
    }
    return IW_OK;
}

static iw_status take_base(struct iwi_kineto_file *file, const struct iwi_json_item *item)
{
    if (!iwi_json_decimal(item->text, item->size, 0, &file->base_ns) || file->base_ns < 0 ||
        file->base_ns > INT64_MAX / 4) {
        return iwi_json_fail(&file->items, item->byte, IW_ERR_RANGE,
                             "'baseTimeNanoseconds' is not a time since 1970");
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
            IW_TRY(kineto_info(kineto, file, &item));
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
