/* Forms a team, and runs work as its members.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/team/team.h"

#include <stdlib.h>
#include <unistd.h>

#include "core/base/available.h"
#include "core/base/base.h"
#include "core/base/shared_log.h"
#include "core/team/mailbox.h"

void iwi_team_set_crowd(struct iwi_team *team, uint64_t members)
{
    const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    const bool is_crowded = team->threads > iwi_available_cpus() || (cpus > 0 && members > (uint64_t)cpus);

    for (uint32_t t = 0; t < team->threads; t++) {
        iwi_patience_init(&team->mailboxes[t].patience, is_crowded);
    }
}

iw_status iwi_team_new(const iw_log *log, const iw_link *link, uint32_t threads, struct iwi_team **team_p)
{
    struct iwi_team *team = iwi_new_array(log, 1, sizeof *team);
    iw_status status = IW_OK;

    if (team == NULL) {
        return IW_ERR_NOMEM;
    }
    team->link = link != NULL && link->size > 1 ? link : NULL;
    team->processes = team->link != NULL ? link->size : 1;
    team->threads = team->count = team->most_threads = threads;
    team->first_of = iwi_new_array(log, (size_t)team->processes + 1, sizeof *team->first_of);
    team->mailboxes = iwi_new_array(log, threads, sizeof *team->mailboxes);
    if (team->first_of == NULL || team->mailboxes == NULL) {
        status = IW_ERR_NOMEM;
    }
    for (uint32_t t = 0; status == IW_OK && t < threads; t++) {
        status = iwi_mailbox_init(log, &team->mailboxes[t], threads);
    }
    if (status == IW_OK) {
        team->first_of[1] = threads;
        iwi_team_set_crowd(team, threads);
        status = team->link != NULL ? iwi_team_meet(log, team) : IW_OK;
    }
    if (status != IW_OK) {
        iwi_team_free(team);
        return status;
    }
    *team_p = team;
    return IW_OK;
}

void iwi_team_free(struct iwi_team *team)
{
    if (team == NULL) {
        return;
    }
    for (uint32_t t = 0; team->mailboxes != NULL && t < team->threads; t++) {
        iwi_mailbox_release(&team->mailboxes[t]);
    }
    free(team->mailboxes);
    free(team->first_of);
    free(team);
}

uint32_t iwi_team_size(const struct iwi_team *team)
{
    return team->count;
}

uint32_t iwi_team_threads(const struct iwi_team *team)
{
    return team->threads;
}

uint32_t iwi_team_first(const struct iwi_team *team)
{
    return team->first;
}

void iwi_bytes_release(struct iwi_bytes *bytes)
{
    free(bytes->data);
    *bytes = (struct iwi_bytes){.data = NULL};
}

/* ---- running ---- */

struct runner {
    pthread_t thread;
    struct iwi_member member;
    iwi_member_work work;
    void *arg;
};

static void *run_member(void *arg)
{
    struct runner *runner = arg;
    const iw_status status = runner->work(&runner->member, runner->arg);

    if (status != IW_OK) {
        iwi_team_fail(runner->member.team, status);
    }
    return NULL;
}

iw_status iwi_team_run(struct iwi_team *team, const iw_log *log, iwi_member_work work, void *arg)
{
    struct iwi_shared_log shared; /* one error says why the team ended */
    struct runner *runners = iwi_new_array(log, team->threads, sizeof *runners);
    uint32_t started = 1;

    if (runners == NULL) {
        iwi_team_fail(team, IW_ERR_NOMEM);
        return IW_ERR_NOMEM;
    }
    iwi_shared_log_init(&shared, log);
    for (uint32_t t = 0; t < team->threads; t++) {
        runners[t] = (struct runner){
            .member = {team, &shared.log, team->first + t, team->count}, .work = work, .arg = arg};
    }
    while (started < team->threads &&
           pthread_create(&runners[started].thread, NULL, run_member, &runners[started]) == 0) {
        started++;
    }
    if (started < team->threads) {
        iwi_error(&shared.log, "only %" PRIu32 " of %" PRIu32 " threads could be started", started,
                  team->threads);
        iwi_team_fail(team, IW_ERR_NOMEM);
    }
    (void)run_member(&runners[0]);
    for (uint32_t t = 1; t < started; t++) {
        pthread_join(runners[t].thread, NULL);
    }
    iwi_shared_log_release(&shared);
    free(runners);
    return iwi_team_status(team);
}
