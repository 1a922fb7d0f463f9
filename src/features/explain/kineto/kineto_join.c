/* Joins what one file said: its rank, one time for all, kernels with their launches, records and steps.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/order.h"
#include "features/explain/kineto/kineto_parts.h"

/* ---- kernels of several messages ---- */

/* PyTorch records each send and receive of a batch when it is asked for. The kernel is launched behind the
 * last of them, outside of their records, and so has none itself. Its messages are those that its thread
 * recorded since it launched the last such kernel, of one process group and number, and that no other kernel
 * is of.
 */

/* A record, or a kernel by its launch. */
struct place {
    uint32_t thread;
    bool is_kernel;
    int64_t at_ns;
    size_t index;
};

IWI_COMPARE(compare_places, struct place, IWI_RISING(thread), IWI_RISING(at_ns), IWI_RISING(is_kernel),
            IWI_RISING(index))

/* Of messages, and its own arguments do not tell the partner. */
static bool is_batch(const struct iwi_kineto_file *file, const struct iwi_kineto_kernel *kernel)
{
    const struct iwi_kineto_comm *comm = kernel->comm > 0 ? &file->comms[kernel->comm - 1] : NULL;

    return kernel->is_nccl && kernel->op == IWI_VISIT_MESSAGE &&
           (comm == NULL || comm->op == IWI_VISIT_OTHER ||
            (comm->op == IWI_VISIT_MESSAGE && !comm->has_peer));
}

static struct iwi_kineto_comm *kineto_find_record(const struct iwi_kineto_file *file, uint64_t external);

/* Records whose kernel is known are taken; returns how many kernels are batches. */
static size_t take_records(struct iwi_kineto_file *file)
{
    size_t batches = 0;

    for (size_t i = 0; i < file->kernel_count; i++) {
        const struct iwi_kineto_kernel *kernel = &file->kernels[i];

        if (is_batch(file, kernel)) {
            batches++;
        } else if (kernel->is_nccl && kernel->comm > 0) {
            struct iwi_kineto_comm *record = kineto_find_record(file, file->comms[kernel->comm - 1].external);

            if (record != NULL) {
                record->is_taken = true;
            }
        }
    }
    return batches;
}

static const struct iwi_kineto_launch *kineto_find_launch(const struct iwi_kineto_file *file,
                                                          uint64_t correlation);

/* All of them by thread and time. */
static size_t list_places(const struct iwi_kineto_file *file, struct place *places)
{
    size_t count = 0;

    for (size_t i = 0; i < file->record_count; i++) {
        const struct iwi_kineto_comm *record = &file->records[i];

        if (record->op == IWI_VISIT_MESSAGE && record->has_peer && !record->is_taken) {
            places[count++] = (struct place){record->thread, false, record->begin_ns, i};
        }
    }
    for (size_t i = 0; i < file->kernel_count; i++) {
        const struct iwi_kineto_kernel *kernel = &file->kernels[i];
        const struct iwi_kineto_launch *launch =
            is_batch(file, kernel) ? kineto_find_launch(file, kernel->correlation) : NULL;

        if (launch != NULL) {
            places[count++] = (struct place){launch->thread, true, launch->begin_ns, i};
        }
    }
    iwi_sort(places, count, compare_places);
    return count;
}

static bool is_same_batch(const struct iwi_kineto_comm *a, const struct iwi_kineto_comm *b)
{
    return a->group == b->group && a->sequence == b->sequence;
}

/* records[of[0 ... count - 1]] came before the launch; those at the end that belong together are its. */
static iw_status give(const struct iwi_kineto *kineto, struct iwi_kineto_file *file, const struct place *of,
                      size_t count, struct iwi_kineto_kernel *kernel)
{
    size_t first = count - 1;

    while (first > 0 &&
           is_same_batch(&file->records[of[first - 1].index], &file->records[of[count - 1].index])) {
        first--;
    }
    IW_TRY(iwi_grow(kineto->log, (void **)&file->comms, &file->comm_capacity,
                    file->comm_count + count - first, sizeof file->comms[0]));
    kernel->comm = (uint32_t)file->comm_count + 1;
    kernel->messages = (uint32_t)(count - first);
    for (size_t i = first; i < count; i++) {
        file->comms[file->comm_count++] = file->records[of[i].index];
    }
    return IW_OK;
}

/* Kernels of several messages (batch_isend_irecv) get the records of these. */
static iw_status kineto_link_batches(struct iwi_kineto *kineto, struct iwi_kineto_file *file)
{
    const size_t batches = take_records(file);
    struct place *places;
    size_t count, first = 0;
    iw_status status = IW_OK;

    if (batches == 0 || file->record_count == 0) {
        return IW_OK;
    }
    places = iwi_new_array(kineto->log, batches + file->record_count, sizeof *places);
    if (places == NULL) {
        return IW_ERR_NOMEM;
    }
    count = list_places(file, places);
    for (size_t i = 0; i < count && status == IW_OK; i++) {
        first = places[first].thread == places[i].thread ? first : i;
        if (places[i].is_kernel) {
            status = i > first
                         ? give(kineto, file, &places[first], i - first, &file->kernels[places[i].index])
                         : IW_OK;
            first = i + 1 < count ? i + 1 : i;
        }
    }
    free(places);
    return status;
}

/* ---- whose it is ---- */

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

/* "rank12.json", "trace_rank-12.pt.trace.json.gz": 12. */
static uint32_t rank_of_name(const char *path)
{
    for (const char *at = base_of(path); (at = strstr(at, "rank")) != NULL;) {
        uint64_t rank = 0;

        at += strlen("rank");
        at += *at == '_' || *at == '-' || *at == '.';
        if (isdigit((unsigned char)*at)) {
            for (; isdigit((unsigned char)*at) && rank < IWI_KINETO_NO_RANK; at++) {
                rank = 10 * rank + (uint64_t)(*at - '0');
            }
            return rank < IWI_KINETO_NO_RANK ? (uint32_t)rank : IWI_KINETO_NO_RANK;
        }
    }
    return IWI_KINETO_NO_RANK;
}

/* tensorboard_trace_handler() calls its files HOST_PID.TIME.pt.trace.json. */
static void node_of_name(const char *path, char *node, size_t size)
{
    const char *base = base_of(path), *end = strstr(base, ".pt.trace.json");
    const char *dot = end != NULL ? memrchr(base, '.', (size_t)(end - base)) : NULL;
    const char *line = dot != NULL ? memrchr(base, '_', (size_t)(dot - base)) : NULL;

    node[0] = '\0';
    if (line != NULL && line > base && dot > line + 1 &&
        strspn(line + 1, "0123456789") == (size_t)(dot - line - 1) &&
        strspn(dot + 1, "0123456789") == (size_t)(end - dot - 1)) {
        (void)snprintf(node, size, "%.*s", (int)(line - base), base);
    }
}

static iw_status check_world(struct iwi_kineto *kineto, const struct iwi_kineto_file *file)
{
    struct iwi_visits *visits = kineto->visits;

    if (file->world > 0 && visits->world > 0 && file->world != visits->world) {
        return iwi_fail(kineto->log, IW_ERR_FORMAT,
                        "'%s' is of a run of %" PRIu32 " ranks, earlier files of a run of %" PRIu32
                        ": give files of one run",
                        file->name, file->world, visits->world);
    }
    visits->world = file->world > 0 ? file->world : visits->world;
    return IW_OK;
}

static iw_status find_rank(struct iwi_kineto *kineto, struct iwi_kineto_file *file)
{
    const size_t before = kineto->visits->rank_count;
    char node[IWI_VISIT_NAME_SIZE];

    file->rank = file->rank != IWI_KINETO_NO_RANK ? file->rank : rank_of_name(file->name);
    if (file->rank == IWI_KINETO_NO_RANK) {
        if (kineto->files > 1) {
            return iwi_fail(kineto->log, IW_ERR_FORMAT,
                            "'%s' does not name its rank ('distributedInfo' is missing); rename the file to "
                            "rank<NUMBER>.json",
                            file->name);
        }
        file->rank = 0;
        iwi_visits_note(kineto->visits, "The file does not name its rank, so it is called 0.");
    }
    if (file->host[0] != '\0') {
        (void)snprintf(node, sizeof node, "%s", file->host);
    } else {
        node_of_name(file->name, node, sizeof node);
    }
    IW_TRY(iwi_visits_rank(kineto->visits, file->rank, node, &file->index));
    if (kineto->visits->rank_count == before) {
        return iwi_fail(kineto->log, IW_ERR_FORMAT,
                        "'%s' is a second file of rank %" PRIu32 ": give one file per rank, all of one run",
                        file->name, file->rank);
    }
    return check_world(kineto, file);
}

/* By the place in a group that says that it is the pipeline's. */
static void find_stage(struct iwi_kineto *kineto, const struct iwi_kineto_file *file)
{
    for (size_t i = 0; i < file->config_count; i++) {
        const struct iwi_kineto_config *config = &file->configs[i];

        if (strcasestr(config->about, "pipe") == NULL && strcmp(config->about, "pp") != 0 &&
            strcmp(config->about, "mesh_pp") != 0) {
            continue;
        }
        for (uint32_t k = 0; k < config->count; k++) {
            if (config->ranks[k] == file->rank) {
                kineto->visits->ranks[file->index].stage = k;
                return;
            }
        }
    }
}

/* ---- one time for all ---- */

static void shift(const struct iwi_kineto_file *file, int64_t *begin_p, int64_t *end_p, int64_t *first_p,
                  int64_t *last_p)
{
    *begin_p += file->base_ns;
    *end_p += file->base_ns;
    *first_p = iwi_min(*first_p, *begin_p);
    *last_p = iwi_max(*last_p, *end_p);
}

static void shift_spans(const struct iwi_kineto_file *file, struct iwi_kineto_spans *spans, int64_t *first_p,
                        int64_t *last_p)
{
    for (size_t i = 0; i < spans->count; i++) {
        shift(file, &spans->of[i].begin_ns, &spans->of[i].end_ns, first_p, last_p);
    }
}

static void shift_on_hosts(const struct iwi_kineto_file *file, struct iwi_kineto_on_hosts *list,
                           int64_t *first_p, int64_t *last_p)
{
    for (size_t i = 0; i < list->count; i++) {
        shift(file, &list->of[i].begin_ns, &list->of[i].end_ns, first_p, last_p);
    }
}

static iw_status shift_all(struct iwi_kineto *kineto, struct iwi_kineto_file *file)
{
    const int64_t most_ns = IW_TIME_INPUT_MAX / IW_PS_PER_NS;
    int64_t first = INT64_MAX, last = INT64_MIN;

    for (size_t i = 0; i < file->kernel_count; i++) {
        shift(file, &file->kernels[i].begin_ns, &file->kernels[i].end_ns, &first, &last);
    }
    for (size_t i = 0; i < file->launch_count; i++) {
        shift(file, &file->launches[i].begin_ns, &file->launches[i].end_ns, &first, &last);
    }
    for (size_t i = 0; i < file->record_count; i++) {
        file->records[i].begin_ns += file->base_ns;
    }
    shift_spans(file, &file->steps, &first, &last);
    shift_spans(file, &file->pauses, &first, &last);
    shift_spans(file, &file->waits, &first, &last);
    shift_spans(file, &file->operators, &first, &last);
    shift_on_hosts(file, &file->collectives, &first, &last);
    shift_on_hosts(file, &file->calls, &first, &last);
    if (!kineto->has_zero) {
        kineto->has_zero = true;
        kineto->zero_ns = first;
        kineto->first_name = file->name;
    }
    if (last - kineto->zero_ns > most_ns || kineto->zero_ns - first > most_ns) {
        return iwi_fail(
            kineto->log, IW_ERR_RANGE,
            "'%s': its events are more than ten days from the first one of '%s'; give files of one run",
            file->name, kineto->first_name);
    }
    return IW_OK;
}

/* Without them there is nothing to say of a run. */
static iw_status check_content(const struct iwi_kineto *kineto, const struct iwi_kineto_file *file)
{
    if (file->kernel_count > 0 || file->collectives.count > 0) {
        return IW_OK;
    }
    return iwi_fail(
        kineto->log, IW_ERR_FORMAT,
        file->nccl_on_host > 0
            ? "'%s' has NCCL collectives, but no kernels: profile the GPU too (ProfilerActivity.CUDA)"
            : "'%s' has neither GPU kernels nor CPU collectives ('gloo:all_reduce'): profile steps with "
              "collectives, and the GPU if there is one (ProfilerActivity.CUDA)",
        file->name);
}

/* ---- kernels and what belongs to them ---- */

IWI_COMPARE(compare_launches, struct iwi_kineto_launch, IWI_RISING(correlation))

IWI_COMPARE(compare_records, struct iwi_kineto_comm, IWI_RISING(external))

/* The launch of a kernel, and the record of an operator; NULL: there is none. Both are sorted by then. */
static const struct iwi_kineto_launch *kineto_find_launch(const struct iwi_kineto_file *file,
                                                          uint64_t correlation)
{
    const struct iwi_kineto_launch key = {.correlation = correlation};

    return correlation != 0 ? iwi_find(&key, file->launches, file->launch_count, compare_launches) : NULL;
}

static struct iwi_kineto_comm *kineto_find_record(const struct iwi_kineto_file *file, uint64_t external)
{
    const struct iwi_kineto_comm key = {.external = external};

    return external != 0 ? iwi_find(&key, file->records, file->record_count, compare_records) : NULL;
}

/* The record of a kernel of NCCL that has no arguments itself: of the operator that launched it. */
static iw_status link_record(struct iwi_kineto *kineto, struct iwi_kineto_file *file, uint64_t external,
                             struct iwi_kineto_kernel *kernel)
{
    const struct iwi_kineto_comm *record = kineto_find_record(file, external);

    if (record != NULL) {
        IW_TRY(iwi_grow(kineto->log, (void **)&file->comms, &file->comm_capacity, file->comm_count + 1,
                        sizeof *record));
        file->comms[file->comm_count++] = *record;
        kernel->comm = (uint32_t)file->comm_count;
    }
    return IW_OK;
}

static iw_status link_kernel(struct iwi_kineto *kineto, struct iwi_kineto_file *file,
                             struct iwi_kineto_kernel *kernel)
{
    const struct iwi_kineto_launch *launch = kineto_find_launch(file, kernel->correlation);
    uint64_t external = kernel->external;

    if (launch != NULL) {
        kernel->launch_ns = launch->begin_ns;
        kernel->launch_end_ns = launch->end_ns;
        external = external != 0 ? external : launch->external;
    }
    kernel->step = iwi_kineto_step_at(file, launch != NULL ? launch->begin_ns : kernel->begin_ns);
    return kernel->is_nccl && kernel->comm == 0 ? link_record(kineto, file, external, kernel) : IW_OK;
}

IWI_COMPARE(compare_kernels, struct iwi_kineto_kernel, IWI_RISING(begin_ns), IWI_RISING(correlation))

static void sort(void *items, size_t count, size_t size, int (*compare)(const void *, const void *))
{
    if (count > 1) { /* there may be no array at all */
        qsort(items, count, size, compare);
    }
}

static iw_status link_kernels(struct iwi_kineto *kineto, struct iwi_kineto_file *file)
{
    sort(file->launches, file->launch_count, sizeof file->launches[0], compare_launches);
    sort(file->records, file->record_count, sizeof file->records[0], compare_records);
    for (size_t i = 0; i < file->kernel_count; i++) {
        IW_TRY(link_kernel(kineto, file, &file->kernels[i]));
    }
    sort(file->kernels, file->kernel_count, sizeof file->kernels[0], compare_kernels);
    return IW_OK;
}

static iw_status add_steps(struct iwi_kineto *kineto, const struct iwi_kineto_file *file)
{
    for (size_t i = 0; i < file->steps.count; i++) {
        const struct iwi_kineto_span *span = &file->steps.of[i];
        const struct iwi_visit_step step = {.rank = file->index,
                                            .number = span->number,
                                            .begin_ps = iwi_kineto_ps(kineto, span->begin_ns),
                                            .end_ps = iwi_kineto_ps(kineto, span->end_ns)};

        IW_TRY(iwi_visits_add_step(kineto->visits, &step));
    }
    kineto->without_steps += file->steps.count == 0;
    kineto->without_launches += file->launch_count == 0 && file->kernel_count > 0;
    return IW_OK;
}

iw_status iwi_kineto_join(struct iwi_kineto *kineto, struct iwi_kineto_file *file)
{
    IW_TRY(find_rank(kineto, file));
    find_stage(kineto, file);
    IW_TRY(check_content(kineto, file));
    IW_TRY(shift_all(kineto, file));
    iwi_kineto_sort_steps(&file->steps);
    iwi_kineto_unite(&file->pauses);
    iwi_kineto_unite(&file->waits);
    IW_TRY(link_kernels(kineto, file));
    IW_TRY(kineto_link_batches(kineto, file));
    IW_TRY(add_steps(kineto, file));
    IW_TRY(iwi_kineto_is_on_host(file) ? iwi_kineto_add_host_visits(kineto, file)
                                       : iwi_kineto_add_visits(kineto, file));
    return iwi_kineto_add_pauses(kineto, file);
}
