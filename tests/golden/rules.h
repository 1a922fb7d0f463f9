/* Where our rules differ from LogGOPSim's, and whether a difference can touch a given run.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Each rule looks at the schedule, the network, and at what the run did under LogGOPSim's rules. A run that
 * no rule touches obeys both sets of rules at once, so both must give the same times.
 */
#ifndef IWT_GOLDEN_RULES_H
#define IWT_GOLDEN_RULES_H

#include "core/sim/loggopsim/loggopsim.h"

/* Something a CPU did: a calc, a send, or serving a message. */
struct occupation {
    uint32_t rank;
    uint8_t cpu, nic, kind; /* IWI_CALC, IWI_SEND, IWI_RECV */
    uint64_t node;          /* program order; of a message: its receive */
    uint64_t bytes;
    iw_time ready_ps;         /* by our rules: could have begun, had the CPU been free */
    iw_time start_ps, end_ps; /* by LogGOPSim's rules */
};

/* A run under LogGOPSim's rules. */
struct observed_run {
    const struct iwi_schedule *program;  /* what our rules run: the graph, or in order */
    const struct iwi_schedule *schedule; /* the graph; the same nodes */
    const iw_net *net;
    const struct iwi_lgs_fact *facts;
    bool is_deadlock; /* facts are incomplete then */
    uint32_t *rank_of;
    iw_time *ready_ps;         /* of each node, by our rules; a receive is posted then */
    struct occupation *by_cpu; /* sorted by (rank, cpu, start); all of them */
    struct occupation *by_nic; /* messages served, sorted by (rank, nic, start) */
    size_t cpu_entries, nic_entries;
};

struct rule {
    const char *name, *summary;
    bool needs_facts; /* says nothing about runs that end in a deadlock */
    bool (*touches)(const struct observed_run *run);
};

extern const struct rule golden_rules[];
extern const size_t golden_rule_count;

/* Fails the test when out of memory. Keeps the pointers. */
void observe(struct observed_run *run, const struct iwi_schedule *program,
             const struct iwi_schedule *schedule, const iw_net *net, const struct iwi_lgs_fact *facts,
             bool is_deadlock);
void observe_free(struct observed_run *run);

/* Cost of all bytes but the first, 0 for 0 bytes. */
iw_time further_bytes_ps(iw_fs_per_byte per_byte, uint64_t bytes);

#endif
