/* Visits from lines of NCCL's Inspector: who is who, which lines belong together, and when it was.
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
                            "process %" PRIu64
                            " on '%s' has several GPUs, and NCCL's Inspector does not record which of them "
                            "is in which communicator; run one process per GPU",
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
        iwi_visits_note(
            visits,
            "Ranks are numbered by host and process, because no communicator has lines of all ranks.");
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

/* Ranks and groups of the visits. IW_ERR_UNSUPPORTED: GPUs of a process cannot be told apart. */
static iw_status inspector_identify(struct iwi_inspector *all, struct iwi_visits *visits)
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

/* ---- which lines belong together ---- */

static bool is_message(const struct iwi_inspector_line *line)
{
    return line->op == IWI_VISIT_MESSAGE;
}

/* By what is visited: a communicator, or the messages from one rank of it to another. */
static int compare_places(const struct iwi_inspector_line *left, const struct iwi_inspector_line *right)
{
    int sign = iwi_order(left->comm, right->comm);

    sign = sign != 0 ? sign : iwi_order(is_message(left), is_message(right));
    sign = sign != 0 ? sign : iwi_order(left->sender, right->sender);
    return sign != 0 ? sign : iwi_order(left->receiver, right->receiver);
}

/* All sends, then all receives. */
IWI_COMPARE(compare_sides, struct iwi_inspector_line, compare_places(left, right), IWI_RISING(is_receiver),
            IWI_RISING(sequence))

IWI_COMPARE(compare_meetings, struct iwi_inspector_line, compare_places(left, right), IWI_RISING(sequence))

/* A rank numbers all its messages. Of those to one rank, the n-th that was sent is the n-th that was
 * received; where lines are missing on one side nothing is known, and all are left out. */
static void number_messages(struct iwi_inspector *all)
{
    size_t kept = 0;

    iwi_sort(all->lines, all->line_count, compare_sides);
    for (size_t first = 0, end = 0; first < all->line_count; first = end) {
        size_t sides[2] = {0, 0};

        while (end < all->line_count && compare_places(&all->lines[first], &all->lines[end]) == 0) {
            struct iwi_inspector_line *line = &all->lines[end++];

            line->sequence = is_message(line) ? sides[line->is_receiver] : line->sequence;
            sides[line->is_receiver]++;
        }
        if (is_message(&all->lines[first]) && sides[0] > 0 && sides[1] > 0 && sides[0] != sides[1]) {
            all->unpaired += end - first;
            continue;
        }
        memmove(&all->lines[kept], &all->lines[first], (end - first) * sizeof all->lines[0]);
        kept += end - first;
    }
    all->line_count = kept;
}

/* ---- when ---- */

/* Lines of one collective or message. */
struct meeting {
    size_t first, end;
    int64_t written_us; /* the first of them */
};

IWI_COMPARE(compare_written, struct meeting, IWI_RISING(written_us), IWI_RISING(first))

IWI_COMPARE(compare_first, struct meeting, IWI_RISING(first))

/* Those of which every traced rank of the communicator has a line, if its kernels have times or none has. */
static size_t find_meetings(struct iwi_inspector *all, struct meeting *meetings)
{
    size_t count = 0;

    iwi_sort(all->lines, all->line_count, compare_meetings);
    for (size_t first = 0, end = 0; first < all->line_count; first = end) {
        struct meeting meeting = {.first = first, .written_us = INT64_MAX};
        bool is_whole = true;

        while (end < all->line_count && compare_meetings(&all->lines[first], &all->lines[end]) == 0) {
            meeting.written_us = iwi_min(meeting.written_us, all->lines[end].written_us);
            is_whole &= all->lines[end++].has_times || all->timed == 0;
        }
        meeting.end = end;
        is_whole &=
            is_message(&all->lines[first]) || end - first >= all->comms[all->lines[first].comm].traced;
        if (is_whole) {
            meetings[count++] = meeting;
        } else {
            all->lost++;
        }
    }
    return count;
}

/* Without times of kernels: all who took part left together, when the first of them was written, or as soon
 * as could be after what each had left before. at_us: of each rank. */
static void make_times(struct iwi_inspector *all, struct meeting *meetings, size_t count, int64_t *at_us)
{
    iwi_sort(meetings, count, compare_written);
    for (size_t m = 0; m < count; m++) {
        int64_t leave_us = meetings[m].written_us;

        for (size_t i = meetings[m].first; i < meetings[m].end; i++) {
            leave_us = iwi_max(leave_us, at_us[all->seats[all->lines[i].seat].index] + all->lines[i].took_us);
        }
        for (size_t i = meetings[m].first; i < meetings[m].end; i++) {
            at_us[all->seats[all->lines[i].seat].index] = leave_us;
            all->lines[i].leave_us = leave_us;
            all->lines[i].enter_us = leave_us - all->lines[i].took_us;
        }
    }
    iwi_sort(meetings, count, compare_first);
}

/* ---- visits ---- */

static iw_status message_group(const struct iwi_inspector *all, struct iwi_visits *visits,
                               const struct meeting *meeting, uint32_t *group_p)
{
    const struct iwi_inspector_line *line = &all->lines[meeting->first];
    const struct iwi_inspector_comm *comm = &all->comms[line->comm];
    uint32_t members[2];
    uint32_t count = 0;
    char name[IWI_VISIT_NAME_SIZE];

    for (size_t i = meeting->first; i < meeting->end && count < 2; i++) {
        members[count++] = all->seats[all->lines[i].seat].index;
    }
    (void)snprintf(name, sizeof name, "%.24s: %" PRIu32 " to %" PRIu32,
                   comm->name[0] != '\0' ? comm->name : comm->id, line->sender, line->receiver);
    return iwi_visits_group(visits, name, members, count, 2, group_p);
}

static iw_status add_meeting(const struct iwi_inspector *all, struct iwi_visits *visits,
                             const struct meeting *meeting, uint32_t group, int64_t zero_us)
{
    uint32_t sender = UINT32_MAX;

    for (size_t i = meeting->first; i < meeting->end; i++) {
        const struct iwi_inspector_line *line = &all->lines[i];

        sender = is_message(line) && !line->is_receiver ? all->seats[line->seat].index : sender;
    }
    for (size_t i = meeting->first; i < meeting->end; i++) {
        const struct iwi_inspector_line *line = &all->lines[i];

        IW_TRY(
            iwi_visits_add(visits, &(struct iwi_visit){.rank = all->seats[line->seat].index,
                                                       .group = group,
                                                       .op = line->op,
                                                       .step = IWI_VISIT_NO_STEP,
                                                       .sequence = line->sequence,
                                                       .bytes = line->bytes,
                                                       .enter_ps = (line->enter_us - zero_us) * IW_PS_PER_US,
                                                       .leave_ps = (line->leave_us - zero_us) * IW_PS_PER_US,
                                                       .has_root = sender != UINT32_MAX,
                                                       .root = sender != UINT32_MAX ? sender : 0}));
    }
    return IW_OK;
}

static iw_status first_time(const struct iwi_inspector *all, const struct meeting *meetings, size_t count,
                            int64_t *first_us_p)
{
    int64_t first_us = INT64_MAX, last_us = 0;

    for (size_t m = 0; m < count; m++) {
        for (size_t i = meetings[m].first; i < meetings[m].end; i++) {
            first_us = iwi_min(first_us, all->lines[i].enter_us);
            last_us = iwi_max(last_us, all->lines[i].leave_us);
        }
    }
    *first_us_p = first_us;
    return last_us - first_us <= IW_TIME_INPUT_MAX / IW_PS_PER_US
               ? IW_OK
               : iwi_fail(all->log, IW_ERR_RANGE,
                          "times of lines are more than 10 days apart; give files of one run");
}

static iw_status add_visits(const struct iwi_inspector *all, struct iwi_visits *visits,
                            const struct meeting *meetings, size_t count)
{
    const struct iwi_inspector_line *before = NULL;
    uint32_t group = 0;
    int64_t zero_us;

    IW_TRY(first_time(all, meetings, count, &zero_us));
    for (size_t m = 0; m < count; m++) {
        const struct iwi_inspector_line *line = &all->lines[meetings[m].first];

        if (!is_message(line)) {
            group = all->comms[line->comm].group;
        } else if (before == NULL || compare_places(before, line) != 0) {
            IW_TRY(message_group(all, visits, &meetings[m], &group));
        }
        IW_TRY(add_meeting(all, visits, &meetings[m], group, zero_us));
        before = line;
    }
    return IW_OK;
}

/* ---- what is lacking ---- */

static void note(const struct iwi_inspector *all, struct iwi_visits *visits)
{
    char text[256];

    iwi_visits_note(visits, "NCCL does not record what ranks do between collectives.");
    if (all->skips_small) {
        iwi_visits_note(visits, "NCCL's Inspector does not record collectives below 8 KiB.");
    }
    if (all->timed == 0) {
        iwi_visits_note(visits, "Kernel times are missing: ranks are assumed to leave each collective "
                                "together. Set NCCL_INSPECTOR_DUMP_VERBOSE=1.");
    }
    if (all->lost + all->unpaired > 0) {
        (void)snprintf(text, sizeof text,
                       "%" PRIu64 " collectives and %" PRIu64
                       " messages were left out because lines are missing (NCCL keeps 1,024 per communicator "
                       "between dumps).",
                       all->lost, all->unpaired);
        iwi_visits_note(visits, text);
    }
    if (all->cut > 0) {
        (void)snprintf(text, sizeof text, "The last line of %" PRIu64 " files is cut off.", all->cut);
        iwi_visits_note(visits, text);
    }
}

static iw_status fill(struct iwi_inspector *all, struct iwi_visits *visits, struct meeting *meetings)
{
    size_t count;

    number_messages(all);
    count = find_meetings(all, meetings);
    if (count == 0) {
        return iwi_fail(all->log, IW_ERR_FORMAT,
                        "no collective has lines of all ranks: give the files of all ranks");
    }
    if (all->timed == 0) {
        int64_t *at_us = iwi_new_array(all->log, visits->rank_count, sizeof *at_us);

        if (at_us == NULL) {
            return IW_ERR_NOMEM;
        }
        make_times(all, meetings, count, at_us);
        free(at_us);
    }
    IW_TRY(add_visits(all, visits, meetings, count));
    note(all, visits);
    return iwi_visits_finish(visits);
}

iw_status iwi_inspector_fill(struct iwi_inspector *all, struct iwi_visits *visits)
{
    struct meeting *meetings;
    iw_status status;

    if (all->line_count == 0) {
        return iwi_fail(all->log, IW_ERR_FORMAT, "no line of NCCL's Inspector found");
    }
    IW_TRY(inspector_identify(all, visits));
    meetings = iwi_new_array(all->log, all->line_count, sizeof *meetings);
    status = meetings != NULL ? fill(all, visits, meetings) : IW_ERR_NOMEM;
    free(meetings);
    return status;
}
