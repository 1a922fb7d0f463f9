/* All processes of a verb that a launcher of MPI started: one run, told by one of them.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 *     mpi_run_begin(&mpi_run, ui);          from here on messages that all meet are told once
 *     ...                                   read and check the inputs
 *     code = mpi_run_open(&mpi_run, code);  MPI starts; who failed makes all of them fail
 *     ...                                   work with mpi_run.link; where one alone may fail: mpi_run_abort()
 *     code = mpi_run_end(&mpi_run, code);   MPI ends; all have the same exit code. Also before the opening
 *
 * Without a launcher, or alone, no MPI is started and nothing is different.
 */
#ifndef IW_CLI_MPI_RUN_H
#define IW_CLI_MPI_RUN_H

#include <idlewave/idlewave.h>
#include <idlewave/internal/mpi.h>

#include "process/node_log.h"

/* Stays where it was begun: the log points to it. */
struct mpi_run {
    struct ui *ui;
    struct node_log node_log;
    iw_launcher launcher;
    const iw_mpi_plugin *part;
    const iw_link *link; /* NULL: this process is alone, or MPI is not started */
    uint32_t sharers;    /* processes that have the same CPUs as this one, this one too */
};

void mpi_run_begin(struct mpi_run *mpi_run, struct ui *ui);
int mpi_run_open(struct mpi_run *mpi_run, int code);

/* All processes leave it with the largest exit code of any of them. Nothing for one that is alone. */
int mpi_run_agree(struct mpi_run *mpi_run, int code);

/* Messages between processes that are open, numbered by the link; at most IW_LINK_MOST_BYTES. They wait. */
iw_status mpi_run_send(const struct mpi_run *mpi_run, uint32_t to, const void *data, size_t bytes);
iw_status mpi_run_receive(const struct mpi_run *mpi_run, uint32_t from, void *data, size_t bytes);

/* Who prints results and writes files. */
bool mpi_run_is_first(const struct mpi_run *mpi_run);

/* Threads for this process if nobody says how many: its CPUs, shared out. 0: it is alone, anything goes. */
uint32_t mpi_run_threads(const struct mpi_run *mpi_run);

/* Something failed here that the others may not have met: ends all of them, if there are others. */
void mpi_run_abort(struct mpi_run *mpi_run, int code);

int mpi_run_end(struct mpi_run *mpi_run, int code);

/* Polls that wait: MPI libraries look for messages again and again while a rank waits; here they sleep
 * instead. */

/* Before MPI starts: messages go over sockets (unless the user has set something else), on which the calling
 * thread sleeps from now on, in each poll that finds nothing, until something comes. */
void sleeping_polls_use(void);

#endif
