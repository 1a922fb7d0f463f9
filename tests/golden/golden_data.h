/* The golden schedules and what LogGOPSim 76451de says about them (tests/data/golden/README.md).
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWT_GOLDEN_DATA_H
#define IWT_GOLDEN_DATA_H

#include <stdbool.h>

#include <idlewave/net.h>

#include "core/program/program.h"

enum { GOLDEN_CASES = 72, GOLDEN_RUNS_OF_CASE = 13, GOLDEN_RUNS = GOLDEN_CASES * GOLDEN_RUNS_OF_CASE };

struct golden_run {
    char name[32]; /* of the parameter set */
    iw_net net;
    iw_time unit_ps; /* of the calc lengths in the schedule, and of LogGOPSim's numbers */
    bool is_deadlock;
    iw_time *end_ps; /* one per rank; NULL if is_deadlock */
};

struct golden_case {
    unsigned id; /* 1 to GOLDEN_CASES */
    char name[64];
    uint32_t ranks;
    struct golden_run runs[GOLDEN_RUNS_OF_CASE];
    /* The schedule, calc lengths read as nanoseconds and as picoseconds; and as a graph again, where it was
     * recognised as a program. */
    iw_program *in_ns, *in_ps;
    struct iwi_schedule *graph_in_ns, *graph_in_ps;
};

/* Reads case `id` from the folder `dir`; fails the test with a message if it cannot. */
void golden_load(struct golden_case *c, const iw_log *log, const char *dir, unsigned id);
void golden_free(struct golden_case *c);

/* The schedule with the calc lengths of that run. */
const iw_program *golden_program(const struct golden_case *c, const struct golden_run *run);

/* The same as a graph: what LogGOPSim's rules run. Its nodes have the numbers of the program's. */
const struct iwi_schedule *golden_graph(const struct golden_case *c, const struct golden_run *run);

#endif
