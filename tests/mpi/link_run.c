/* Forms a team of all processes over the link of an MPI's part, and lets it show that messages arrive.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Usage: iw_link_run MPI THREADS fine|size|threads|abort
 *     fine: process p has THREADS + p % 2 members, which all talk to all; the first process tells of it
 *     size: the second process sends more than is expected; threads: the link takes one thread only;
 *     abort: the second process ends all of them with exit code 7
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <idlewave/internal/mpi.h>

#include "core/base/base.h"
#include "core/team/tests/team_work.h"

static void write_message(void *arg, iw_log_level level, const char *text)
{
    const iw_link *link = arg;

    (void)level;
    (void)fprintf(stderr, "process %" PRIu32 ": %s\n", link != NULL ? link->rank : 0, text);
}

static iw_status run_all(struct iwi_team *team, const iw_log *log)
{
    static const iwi_member_work works[] = {iwt_talk_to_all, iwt_send_sizes, iwt_take_sizes,
                                            iwt_find_largest};

    for (size_t w = 0; w < sizeof works / sizeof works[0]; w++) {
        IW_TRY(iwi_team_run(team, log, works[w], NULL));
    }
    return IW_OK;
}

/* Member 1 sends 16 bytes where member 0 expects 8. */
static iw_status send_too_much(struct iwi_member *member, void *arg)
{
    char data[16] = "";
    struct iwi_transfer transfer;

    (void)arg;
    if (member->number > 1) {
        return IW_OK;
    }
    IW_TRY(member->number == 0 ? iwi_member_receive(member, 1, data, 8, &transfer)
                               : iwi_member_send(member, 0, data, 16, &transfer));
    return iwi_member_wait(member, &transfer, 1);
}

static iw_status run(const iw_log *log, const iw_link *link, uint32_t threads, const char *what)
{
    struct iwi_team *team = NULL;
    iw_status status;

    IW_TRY(iwi_team_new(log, link, threads, &team));
    status = strcmp(what, "size") == 0 ? iwi_team_run(team, log, send_too_much, NULL) : run_all(team, log);
    if (status == IW_OK && link->rank == 0) {
        (void)printf("%" PRIu32 " members of %" PRIu32 " processes on %" PRIu32 " nodes\n",
                     iwi_team_size(team), link->size, link->nodes);
    }
    iwi_team_free(team);
    return status;
}

int main(int argc, char **argv)
{
    const iw_mpi_plugin *part;
    const iw_link *link, *again;
    iw_link narrow;
    iw_log log = {write_message, NULL};
    uint32_t threads;
    iw_status status;

    if (argc != 4 || iw_mpi_load(&log, argv[1], &part) != IW_OK || part->link_open(&log, &link) != IW_OK ||
        part->link_open(&log, &again) != IW_OK || again != link) {
        return 1;
    }
    narrow = *link;
    narrow.most_threads = strcmp(argv[3], "threads") == 0 ? 1 : link->most_threads;
    log = (iw_log){write_message, &narrow};
    threads = (uint32_t)strtoul(argv[2], NULL, 10) + (strcmp(argv[3], "fine") == 0 ? link->rank % 2 : 0);
    if (strcmp(argv[3], "abort") == 0 && link->rank == 1) {
        part->abort(7);
    }
    status = run(&log, &narrow, threads, argv[3]);
    part->stop();
    return status == IW_OK ? 0 : 1;
}
