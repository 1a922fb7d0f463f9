/* Visits and stretches of one file.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/order.h"
#include "features/explain/kineto/kineto_parts.h"

enum {
    BESIDE_NS = 2000
}; /* kernels so near to each other are one stretch: the device takes as long between two */

/* ---- groups that arguments do not name as such ---- */

/* The number of a rank that messages name; some versions of PyTorch count within the group. */
static bool peer_of(const struct iwi_kineto_group *group, uint32_t peer, uint32_t *number_p)
{
    for (uint32_t i = 0; i < group->count; i++) {
        if (group->ranks[i] == peer) {
            *number_p = peer;
            return true;
        }
    }
    if (peer < group->count) {
        *number_p = group->ranks[peer];
        return true;
    }
    *number_p = peer;
    return group->count == 0;
}

/* Messages of two ranks in one direction keep their order: the n-th sent is the n-th received. */
static iw_status message_group(struct iwi_kineto *kineto, const struct iwi_kineto_file *file,
                               const struct iwi_kineto_comm *comm, struct iwi_visit *visit, bool *is_known_p)
{
    const struct iwi_kineto_group *group = &kineto->groups[comm->group];
    char name[2 * IWI_VISIT_NAME_SIZE];
    uint32_t peer, pair[2];

    *is_known_p = comm->has_peer && peer_of(group, comm->peer, &peer) && peer != file->rank;
    if (!*is_known_p) {
        return IW_OK;
    }
    pair[0] = comm->is_send ? file->rank : peer;
    pair[1] = comm->is_send ? peer : file->rank;
    (void)snprintf(name, sizeof name, "%" PRIu32 " to %" PRIu32 " of %s", pair[0], pair[1], group->name);
    visit->has_root = true;
    visit->root = pair[0]; /* a number until all files were read */
    return iwi_kineto_group(kineto, name, "", pair, 2, 2, &visit->group);
}

/* Messages of a kernel of which nothing says whom it met. */
static iw_status batch_group(struct iwi_kineto *kineto, const struct iwi_kineto_file *file,
                             struct iwi_visit *visit)
{
    char name[IWI_VISIT_NAME_SIZE];
    uint32_t self = file->rank;

    kineto->batches++;
    (void)snprintf(name, sizeof name, "messages of rank %" PRIu32, self);
    return iwi_kineto_group(kineto, name, "", &self, 1, 1, &visit->group);
}

/* Nothing but names: all ranks are taken to meet on a stream. */
static iw_status stream_group(struct iwi_kineto *kineto, const struct iwi_kineto_file *file,
                              const struct iwi_kineto_kernel *kernel, struct iwi_visit *visit)
{
    char name[IWI_VISIT_NAME_SIZE];

    if (file->config_count > 1) {
        return iwi_fail(kineto->log, IW_ERR_FORMAT,
                        "'%s': NCCL kernels do not name which of %zu groups they belong to ('Process Group "
                        "Name'); profile with a newer PyTorch",
                        file->name, file->config_count);
    }
    (void)snprintf(name, sizeof name, "stream %u", (unsigned)kernel->stream);
    return iwi_kineto_group(kineto, name, "", NULL, 0, file->world, &visit->group);
}

/* ---- one visit ---- */

/* *is_left_p: it is left out. */
static iw_status find_group(struct iwi_kineto *kineto, const struct iwi_kineto_file *file,
                            const struct iwi_kineto_kernel *kernel, const struct iwi_kineto_comm *comm,
                            bool is_bare, struct iwi_visit *visit, bool *is_left_p)
{
    bool is_known = false;

    *is_left_p = false;
    visit->op = comm != NULL && comm->op != IWI_VISIT_OTHER ? comm->op : kernel->op;
    visit->sequence = comm != NULL ? comm->sequence : IWI_VISIT_NO_SEQUENCE;
    visit->bytes = comm != NULL ? comm->bytes : 0;
    if (visit->op == IWI_VISIT_MESSAGE) {
        visit->sequence = IWI_VISIT_NO_SEQUENCE;
        if (comm != NULL) {
            IW_TRY(message_group(kineto, file, comm, visit, &is_known));
        }
        return is_known ? IW_OK : batch_group(kineto, file, visit);
    }
    if (comm != NULL) {
        visit->group = comm->group;
    } else if (is_bare) {
        IW_TRY(stream_group(kineto, file, kernel, visit));
    } else {
        kineto->nameless++;
        *is_left_p = true;
    }
    return IW_OK;
}

/* How long before `at_ns`, at least a picosecond; 0: not known. Kernels may seem to begin before their
 * launch. */
static iw_time since(int64_t at_ns, int64_t before_ns)
{
    return before_ns == INT64_MIN ? 0 : iwi_max(1, (at_ns - before_ns) * IW_PS_PER_NS);
}

static iw_status add_visit(struct iwi_kineto *kineto, const struct iwi_kineto_file *file,
                           const struct iwi_kineto_kernel *kernel, const struct iwi_kineto_comm *comm,
                           bool is_bare, int64_t computed_ns)
{
    struct iwi_visit visit = {.rank = file->index,
                              .stream = kernel->stream,
                              .step = kernel->step,
                              .enter_ps = iwi_kineto_ps(kineto, kernel->begin_ns),
                              .leave_ps = iwi_kineto_ps(kineto, kernel->end_ns),
                              .queued_ps = since(kernel->begin_ns, kernel->launch_end_ns),
                              .ready_ps = since(kernel->begin_ns, computed_ns)};
    bool is_left;

    IW_TRY(find_group(kineto, file, kernel, comm, is_bare, &visit, &is_left));
    if (is_left) {
        return IW_OK;
    }
    if (visit.sequence == IWI_VISIT_NO_SEQUENCE && visit.step == IWI_VISIT_NO_STEP && file->steps.count > 0) {
        kineto->outside++;
        return IW_OK;
    }
    kineto->numbered += visit.sequence != IWI_VISIT_NO_SEQUENCE;
    kineto->unnumbered += visit.sequence == IWI_VISIT_NO_SEQUENCE && visit.op != IWI_VISIT_MESSAGE;
    return iwi_visits_add(kineto->visits, &visit);
}

/* A kernel is one visit; of a batch, one for each of its messages, which come and go together. */
static iw_status add_kernel(struct iwi_kineto *kineto, const struct iwi_kineto_file *file,
                            const struct iwi_kineto_kernel *kernel, bool is_bare, int64_t computed_ns)
{
    const struct iwi_kineto_comm *comm = kernel->comm > 0 ? &file->comms[kernel->comm - 1] : NULL;

    IW_TRY(add_visit(kineto, file, kernel, comm, is_bare, computed_ns));
    for (uint32_t i = 1; i < kernel->messages; i++) {
        IW_TRY(add_visit(kineto, file, kernel, comm + i, is_bare, computed_ns));
    }
    return IW_OK;
}

/* ---- all of them ---- */

struct launched {
    int64_t launch_ns;
    size_t kernel;
};

IWI_COMPARE(compare_launched, struct launched, IWI_RISING(launch_ns), IWI_RISING(kernel))

/* computed[k]: when the computation that was launched before kernel k had ended; INT64_MIN: not known. */
static iw_status find_computed(const struct iwi_kineto *kineto, const struct iwi_kineto_file *file,
                               int64_t *computed)
{
    struct launched *order = iwi_new_array(kineto->log, file->kernel_count, sizeof *order);
    int64_t end_ns = INT64_MIN;

    if (order == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < file->kernel_count; i++) {
        order[i] = (struct launched){file->kernels[i].launch_ns, i};
    }
    iwi_sort(order, file->kernel_count, compare_launched);
    for (size_t i = 0; i < file->kernel_count; i++) {
        const struct iwi_kineto_kernel *kernel = &file->kernels[order[i].kernel];
        const bool is_known = order[i].launch_ns != INT64_MIN;

        computed[order[i].kernel] = is_known ? end_ns : INT64_MIN;
        end_ns = is_known && !kernel->is_nccl ? iwi_max(end_ns, kernel->end_ns) : end_ns;
    }
    free(order);
    return IW_OK;
}

IWI_COMPARE(compare_visits, struct iwi_visit, IWI_RISING(group), IWI_RISING(sequence), IWI_RISING(enter_ps))

/* Collectives that PyTorch joins into one may be several kernels with one number: one visit. */
static void join_parts(struct iwi_visits *visits, size_t first)
{
    size_t kept = first;

    iwi_sort(visits->visits + first, visits->visit_count - first, compare_visits);
    for (size_t i = first; i < visits->visit_count; i++) {
        struct iwi_visit *before = kept > first ? &visits->visits[kept - 1] : NULL;
        const struct iwi_visit *visit = &visits->visits[i];

        if (before != NULL && visit->sequence != IWI_VISIT_NO_SEQUENCE && before->group == visit->group &&
            before->sequence == visit->sequence && before->op == visit->op) {
            before->leave_ps = iwi_max(before->leave_ps, visit->leave_ps);
        } else {
            visits->visits[kept++] = *visit;
        }
    }
    visits->visit_count = kept;
}

static bool is_bare(const struct iwi_kineto_file *file)
{
    return file->comm_count == 0 && file->record_count == 0;
}

/* ---- computation ---- */

/* last_of[stream]: index + 1 of the last stretch on it. */
static iw_status add_stretch(struct iwi_kineto *kineto, const struct iwi_kineto_file *file,
                             const struct iwi_kineto_kernel *kernel, size_t *last_of)
{
    struct iwi_visits *visits = kineto->visits;
    const size_t before = last_of[kernel->stream];
    struct iwi_stretch *last = before > 0 ? &visits->stretches[before - 1] : NULL;
    const struct iwi_stretch stretch = {.rank = file->index,
                                        .step = kernel->step,
                                        .stream = kernel->stream,
                                        .begin_ps = iwi_kineto_ps(kineto, kernel->begin_ns),
                                        .end_ps = iwi_kineto_ps(kineto, kernel->end_ns),
                                        .queued_ps = since(kernel->begin_ns, kernel->launch_end_ns)};

    if (last != NULL && last->step == stretch.step &&
        stretch.begin_ps - last->end_ps <= BESIDE_NS * IW_PS_PER_NS) {
        last->end_ps = iwi_max(last->end_ps, stretch.end_ps);
        return IW_OK;
    }
    IW_TRY(iwi_visits_add_stretch(visits, &stretch));
    last_of[kernel->stream] = visits->stretch_count;
    return IW_OK;
}

static iw_status add_all(struct iwi_kineto *kineto, const struct iwi_kineto_file *file, int64_t *computed,
                         size_t *last_of)
{
    bool has_nccl = false;

    IW_TRY(find_computed(kineto, file, computed));
    for (size_t i = 0; i < file->kernel_count; i++) {
        const struct iwi_kineto_kernel *kernel = &file->kernels[i];

        has_nccl |= kernel->is_nccl;
        IW_TRY(kernel->is_nccl ? add_kernel(kineto, file, kernel, is_bare(file), computed[i])
                               : add_stretch(kineto, file, kernel, last_of));
    }
    kineto->without_groups += has_nccl && is_bare(file);
    return IW_OK;
}

iw_status iwi_kineto_add_visits(struct iwi_kineto *kineto, struct iwi_kineto_file *file)
{
    const size_t first = kineto->visits->visit_count;
    int64_t *computed = iwi_new_array(kineto->log, file->kernel_count, sizeof *computed);
    size_t *last_of = iwi_new_array(kineto->log, UINT16_MAX + 1, sizeof *last_of);
    iw_status status = IW_ERR_NOMEM;

    if (computed != NULL && last_of != NULL) {
        status = add_all(kineto, file, computed, last_of);
    }
    free(computed);
    free(last_of);
    if (status == IW_OK) {
        join_parts(kineto->visits, first);
    }
    return status;
}
