/* Kernels of several messages, as torch's batch_isend_irecv makes them.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * PyTorch records each send and receive of a batch when it is asked for. The kernel is launched behind the
 * last of them, outside of their records, and so has none itself. Its messages are those that its thread
 * recorded since it launched the last such kernel, of one process group and number, and that no other kernel
 * is of.
 */
#include <stdlib.h>

#include "core/base/order.h"
#include "features/explain/kineto/kineto_parts.h"

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

/* Records whose kernel is known are taken; returns how many kernels are batches. */
static size_t take_records(struct iwi_kineto_file *file)
{
    size_t batches = 0;

    for (size_t i = 0; i < file->kernel_count; i++) {
        const struct iwi_kineto_kernel *kernel = &file->kernels[i];

        if (is_batch(file, kernel)) {
            batches++;
        } else if (kernel->is_nccl && kernel->comm > 0) {
            struct iwi_kineto_comm *record =
                iwi_kineto_find_record(file, file->comms[kernel->comm - 1].external);

            if (record != NULL) {
                record->is_taken = true;
            }
        }
    }
    return batches;
}

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
            is_batch(file, kernel) ? iwi_kineto_find_launch(file, kernel->correlation) : NULL;

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

iw_status iwi_kineto_link_batches(struct iwi_kineto *kineto, struct iwi_kineto_file *file)
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
