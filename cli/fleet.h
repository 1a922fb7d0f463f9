/* All processes of a verb that a launcher of MPI started: one run, told by one of them.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 *     fleet_begin(&fleet, ui);           from here on messages that all meet are told once
 *     ...                              read and check the inputs
 *     code = fleet_open(&fleet, code);   MPI starts; who failed makes all of them fail
 *     ...                              work with fleet.link; where one alone may fail: fleet_abort()
 *     code = fleet_end(&fleet, code);    MPI ends; all have the same exit code. Also before fleet_open()
 *
 * Without a launcher, or alone, no MPI is started and nothing is different.
 */
#ifndef IW_CLI_FLEET_H
#define IW_CLI_FLEET_H

#include <idlewave/idlewave.h>
#include <idlewave/mpi.h>

#include "speaker.h"

/* Stays where it was begun: the log points to it. */
struct fleet {
    struct ui *ui;
    struct speaker speaker;
    iw_launcher launcher;
    const iw_mpi_part *part;
    const iw_link *link; /* NULL: this process is alone, or MPI is not started */
    uint32_t sharers;    /* processes that have the same CPUs as this one, this one too */
};

void fleet_begin(struct fleet *fleet, struct ui *ui);
int fleet_open(struct fleet *fleet, int code);

/* Who prints results and writes files. */
bool fleet_is_first(const struct fleet *fleet);

/* Threads for this process if nobody says how many: its CPUs, shared out. 0: it is alone, anything goes. */
uint32_t fleet_threads(const struct fleet *fleet);

/* Something failed here that the others may not have met: ends all of them, if there are others. */
void fleet_abort(struct fleet *fleet, int code);

int fleet_end(struct fleet *fleet, int code);

#endif
