/* The state of one run under LogGOPSim's rules: shared by engine_loggopsim.c (rules) and loggopsim_setup.c.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_LOGGOPSIM_STATE_H
#define IWI_LOGGOPSIM_STATE_H

#include "core/sim/loggopsim/loggopsim.h"
#include "core/sim/loggopsim/loggopsim_noise.h"
#include "core/sim/loggopsim/loggopsim_queue.h"

struct lgs_list {
    uint64_t first, last; /* linked by iwi_lgs_element.next, oldest first */
};

struct lgs_successor {
    uint64_t node;
    bool is_start;
};

struct lgs_ready {
    uint64_t node;
    uint64_t order; /* in which it became so */
    uint32_t rank;
    uint32_t turn; /* sends, then receives, then calcs */
};

struct lgs_run {
    const iw_log *log;
    const struct iwi_job *job;
    const struct iwi_schedule *schedule;
    const iw_net *net;
    uint64_t node_count, finished_count;
    struct iwi_lgs_noise noise;
    struct iwi_lgs_fact *facts; /* or NULL */
    /* nodes */
    struct iwi_lgs_element *elements;
    uint32_t *rank_of;
    uint32_t *open_deps;
    bool *is_finished;
    iw_time *delay_ps; /* or NULL */
    uint64_t *first_successor;
    struct lgs_successor *successors;
    /* ranks */
    iw_time *cpu_free_ps, *send_free_ps, *recv_free_ps;
    struct lgs_list *posted, *unexpected;
    /* queues */
    struct iwi_lgs_queue queue;
    struct iwi_lgs_groups groups;
    uint64_t next_serial;
    struct lgs_ready *ready;
    size_t ready_count, ready_capacity;
    bool has_overflow;
};

#endif
