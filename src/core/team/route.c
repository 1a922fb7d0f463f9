/* Members of other processes: who has how many, and the channels to them.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>

#include "core/base/base.h"
#include "core/base/order.h"
#include "core/team/mailbox.h"

/* ---- meeting ---- */

/* What each process says of itself. */
struct greeting {
    uint32_t threads, most_threads, node;
};

static iw_status finish_request(const iw_log *log, const struct iwi_team *team, iw_link_request *request)
{
    const iw_link *link = team->link;
    struct iwi_vigil vigil = {0};

    for (bool is_done = false;;) {
        IW_TRY(link->test(link->arg, log, request, &is_done));
        if (is_done) {
            return IW_OK;
        }
        iwi_vigil_pause(&vigil, &team->mailboxes[0].patience);
    }
}

static iw_status tell(const iw_log *log, const struct iwi_team *team, uint32_t to, const void *data,
                      size_t bytes)
{
    const iw_link *link = team->link;
    iw_link_request *request;

    IW_TRY(link->send(link->arg, log, to, 0, data, bytes, &request));
    return finish_request(log, team, request);
}

static iw_status hear(const iw_log *log, const struct iwi_team *team, uint32_t from, void *data, size_t bytes)
{
    const iw_link *link = team->link;
    iw_link_request *request;

    IW_TRY(link->receive(link->arg, log, from, 0, data, bytes, &request));
    return finish_request(log, team, request);
}

/* Every process tells the first one, which tells all of them everything. */
static iw_status greet(const iw_log *log, const struct iwi_team *team, struct greeting *all)
{
    const iw_link *link = team->link;
    const size_t bytes = link->size * sizeof *all;

    if (link->rank != 0) {
        IW_TRY(tell(log, team, 0, &all[link->rank], sizeof *all));
        return hear(log, team, 0, all, bytes);
    }
    for (uint32_t p = 1; p < link->size; p++) {
        IW_TRY(hear(log, team, p, &all[p], sizeof *all));
    }
    for (uint32_t p = 1; p < link->size; p++) {
        IW_TRY(tell(log, team, p, all, bytes));
    }
    return IW_OK;
}

/* All processes come to the same end: what they look at is the same. */
static iw_status seat_all(const iw_log *log, struct iwi_team *team, const struct greeting *all)
{
    uint32_t most_at_once = UINT32_MAX;
    uint64_t count = 0, here = 0;

    for (uint32_t p = 0; p < team->processes; p++) {
        count += all[p].threads;
        here += all[p].node == team->link->node ? all[p].threads : 0;
        team->first_of[p + 1] = (uint32_t)count;
        team->most_threads = (uint32_t)iwi_max(team->most_threads, all[p].threads);
        most_at_once = (uint32_t)iwi_min(most_at_once, all[p].most_threads);
    }
    if (team->most_threads > most_at_once) {
        return iwi_fail(log, IW_ERR_UNSUPPORTED,
                        "this MPI takes calls of one thread only: use 1 thread for each process");
    }
    if (count > UINT32_MAX || (uint64_t)team->most_threads * team->most_threads > team->link->most_channels) {
        return iwi_fail(log, IW_ERR_UNSUPPORTED,
                        "%" PRIu32 " threads in %" PRIu32
                        " processes are more than the link between them can tell apart",
                        team->most_threads, team->processes);
    }
    iwi_team_set_crowd(team, here);
    team->first = team->first_of[team->link->rank];
    team->count = (uint32_t)count;
    return IW_OK;
}

iw_status iwi_team_meet(const iw_log *log, struct iwi_team *team)
{
    struct greeting *all = iwi_new_array(log, team->processes, sizeof *all);
    iw_status status;

    if (all == NULL) {
        return IW_ERR_NOMEM;
    }
    all[team->link->rank] = (struct greeting){team->threads, team->link->most_threads, team->link->node};
    status = greet(log, team, all);
    if (status == IW_OK) {
        status = seat_all(log, team, all);
    }
    free(all);
    return status;
}

/* ---- routes ---- */

static uint32_t process_of(const struct iwi_team *team, uint32_t number)
{
    size_t at;

    IWI_FIRST_NOT(at, 1, team->processes, team->first_of[at] <= number);
    return (uint32_t)at - 1;
}

struct iwi_route iwi_route_to(const struct iwi_member *member, uint32_t to)
{
    const struct iwi_team *team = member->team;
    const uint32_t process = process_of(team, to);

    return (struct iwi_route){process, (member->number - team->first) * team->most_threads +
                                           (to - team->first_of[process])};
}

struct iwi_route iwi_route_from(const struct iwi_member *member, uint32_t from)
{
    const struct iwi_team *team = member->team;
    const uint32_t process = process_of(team, from);

    return (struct iwi_route){process, (from - team->first_of[process]) * team->most_threads +
                                           (member->number - team->first)};
}
