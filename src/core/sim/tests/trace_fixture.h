/* A random trace program with network, noise, delays and options, for property tests.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWT_TRACE_FIXTURE_H
#define IWT_TRACE_FIXTURE_H

#include "random_trace.h"

struct iwt_trace_fixture {
    uint64_t seed;
    struct iwt_random random;
    struct iwt_made_trace made;
    struct iwt_overrides wishes;
    iw_trace_opts trace_opts;
    iw_net net;
    iw_noise *noise;
    iw_program *program;
    iw_sim_opts opts;
};

/* One to four replicas; one thread. */
void iwt_trace_set_up(struct iwt_trace_fixture *f, uint64_t seed);
void iwt_trace_tear_down(struct iwt_trace_fixture *f);

iw_sim_result *iwt_trace_run(struct iwt_trace_fixture *f, iw_engine engine, uint32_t lanes);

/* All end times, and the makespan without noise. */
void iwt_trace_assert_same(const struct iwt_trace_fixture *f, const iw_sim_result *a, const iw_sim_result *b);

#endif
