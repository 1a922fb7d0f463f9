/* Who is who in lines of NCCL's Inspector: GPUs of processes, ranks of the job, groups.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/order.h"
#include "features/explain/inspector/inspector.h"

/* ---- GPUs ---- */

IWI_COMPARE(compare_seats, struct iwi_inspector_seat *const, IWI_ORDER((*left)->process, (*right)->process),
            IWI_ORDER((*left)->comm, (*right)->comm), IWI_ORDER((*left)->rank, (*right)->rank))

/* node2 before node10, then by process. */
IWI_COMPARE(compare_processes, struct iwi_inspector_process *const, strverscmp((*left)->host, (*right)->host),
            IWI_ORDER((*left)->pid, (*right)->pid))

static iw_status number_processes(struct iwi_inspector *all, uint32_t *gpus_p)
{
    struct iwi_inspector_process **processes = iwi_new_array(all->log, all->process_count, sizeof(void *));

    if (processes == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < all->process_count; i++) {
        processes[i] = &all->processes[i];
    }
    iwi_sort(processes, all->process_count, compare_processes);
    for (size_t i = 0; i < all->process_count; i++) {
        processes[i]->first_gpu = *gpus_p;
        *gpus_p += processes[i]->gpus;
    }
    free(processes);
    return IW_OK;
}

/* The n-th rank that a process has in a communicator is its n-th GPU, if it has them all in each. */
static iw_status number_seats(struct iwi_inspector *all, struct iwi_inspector_seat **seats)
{
    for (size_t first = 0, end = 0; first < all->seat_count; first = end) {
        struct iwi_inspector_process *process = &all->processes[seats[first]->process];

        while (end < all->seat_count && seats[end]->process == seats[first]->process &&
               seats[end]->comm == seats[first]->comm) {
            seats[end]->gpu = (uint32_t)(end - first);
            end++;
        }
        if (process->gpus != 0 && process->gpus != end - first) {
            return iwi_fail(all->log, IW_ERR_UNSUPPORTED,
                            "process %" PRIu64 " on '%s' has several GPUs, and NCCL's Inspector does not say "
                            "which of them is in which communicator: take one process for each",
                            process->pid, process->host);
        }
        process->gpus = (uint32_t)(end - first);
    }
    return IW_OK;
}

static iw_status number_gpus(struct iwi_inspector *all, uint32_t *gpus_p)
{
    struct iwi_inspector_seat **seats = iwi_new_array(all->log, all->seat_count, sizeof(void *));
    iw_status status;

    if (seats == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < all->seat_count; i++) {
        seats[i] = &all->seats[i];
    }
    iwi_sort(seats, all->seat_count, compare_seats);
    status = number_seats(all, seats);
    free(seats);
    IW_TRY(status);
    *gpus_p = 0;
    return number_processes(all, gpus_p);
}

static uint32_t gpu_of(const struct iwi_inspector *all, const struct iwi_inspector_seat *seat)
{
    return all->processes[seat->process].first_gpu + seat->gpu;
}

/* ---- ranks ---- */

/* The communicator that has all GPUs numbers them; all->comm_count: there is none. */
static size_t find_world(const struct iwi_inspector *all, uint32_t gpus)
{
    size_t largest = 0;
    uint32_t seats = 0;

    for (size_t c = 1; c < all->comm_count; c++) {
        largest = all->comms[c].size > all->comms[largest].size ? c : largest;
    }
    for (size_t i = 0; i < all->seat_count; i++) {
        seats += all->seats[i].comm == largest;
    }
    return seats == gpus ? largest : all->comm_count;
}

struct gpu {
    uint32_t number; /* of its rank */
    uint32_t index;  /* among GPUs */
    const char *host;
};

IWI_COMPARE(compare_gpus, struct gpu, IWI_RISING(number))

static void number_ranks(const struct iwi_inspector *all, size_t world, struct gpu *gpus)
{
    for (size_t i = 0; i < all->seat_count; i++) {
        const struct iwi_inspector_seat *seat = &all->seats[i];
        struct gpu *gpu = &gpus[gpu_of(all, seat)];

        gpu->index = gpu_of(all, seat);
        gpu->host = all->processes[seat->process].host;
        gpu->number = world == all->comm_count ? gpu->index : seat->comm == world ? seat->rank : gpu->number;
    }
}

static iw_status add_ranks(struct iwi_inspector *all, struct iwi_visits *visits, uint32_t count)
{
    const size_t world = find_world(all, count);
    struct gpu *gpus = iwi_new_array(all->log, count, sizeof *gpus);
    uint32_t *indices = iwi_new_array(all->log, count, sizeof *indices);
    iw_status status = gpus != NULL && indices != NULL ? IW_OK : IW_ERR_NOMEM;

    if (status == IW_OK) {
        number_ranks(all, world, gpus);
        iwi_sort(gpus, count, compare_gpus);
    }
    for (uint32_t g = 0; status == IW_OK && g < count; g++) {
        status = iwi_visits_rank(visits, gpus[g].number, gpus[g].host, &indices[gpus[g].index]);
    }
    for (size_t i = 0; status == IW_OK && i < all->seat_count; i++) {
        all->seats[i].index = indices[gpu_of(all, &all->seats[i])];
    }
    if (status == IW_OK && world == all->comm_count) {
        iwi_visits_note(visits,
                        "No communicator has lines of all ranks: they are numbered by host and process.");
    }
    free(gpus);
    free(indices);
    return status;
}

/* ---- groups ---- */

static iw_status add_group(struct iwi_inspector_comm *comm, struct iwi_visits *visits,
                           const uint32_t *members)
{
    char name[IWI_VISIT_NAME_SIZE];

    (void)snprintf(name, sizeof name, "%.30s%s%.31s", comm->name, comm->name[0] != '\0' ? " " : "", comm->id);
    return iwi_visits_group(visits, name, members, comm->traced, comm->size, &comm->group);
}

static iw_status add_groups(struct iwi_inspector *all, struct iwi_visits *visits, uint32_t *members)
{
    uint32_t end = 0;

    for (size_t i = 0; i < all->seat_count; i++) {
        all->comms[all->seats[i].comm].traced++;
    }
    for (size_t c = 0; c < all->comm_count; c++) { /* where its members begin; below, where they end */
        all->comms[c].group = end;
        end += all->comms[c].traced;
    }
    for (size_t i = 0; i < all->seat_count; i++) {
        members[all->comms[all->seats[i].comm].group++] = all->seats[i].index;
    }
    for (size_t c = 0; c < all->comm_count; c++) {
        IW_TRY(add_group(&all->comms[c], visits, members + all->comms[c].group - all->comms[c].traced));
    }
    return IW_OK;
}

iw_status iwi_inspector_identify(struct iwi_inspector *all, struct iwi_visits *visits)
{
    uint32_t gpus, *members;
    iw_status status;

    IW_TRY(number_gpus(all, &gpus));
    IW_TRY(add_ranks(all, visits, gpus));
    members = iwi_new_array(all->log, all->seat_count, sizeof *members);
    status = members != NULL ? add_groups(all, visits, members) : IW_ERR_NOMEM;
    free(members);
    return status;
}
