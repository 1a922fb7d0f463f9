/* What tests of traces as programs share.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWT_TRACE_TESTING_H
#define IWT_TRACE_TESTING_H

#include "core/program/trace_program.h"
#include "support/made_trace.h"
#include "support/support.h"

static inline iw_program *program_of(const struct iwt_made_trace *t, const iw_trace_opts *opts)
{
    iw_program *program = NULL;

    assert_ok(iwi_program_from_rules(NULL, &t->trace, opts, &iwi_rules_paper, &program));
    return program;
}

static inline void assert_refused(const struct iwt_made_trace *t, const iw_trace_opts *opts, iw_status status,
                                  const char *message)
{
    iw_program *program = NULL;
    struct iwt_log l;

    iwt_log_init(&l);
    assert_status(iwi_program_from_rules(&l.log, &t->trace, opts, &iwi_rules_paper, &program), status);
    assert_int_equal(l.errors, 1);
    iwt_assert_logged(&l, message);
}

/* Computes, sends to 1, waits, barrier; opaque. */
static inline void make_small(struct iwt_made_trace *t)
{
    uint32_t request;

    iwt_made_trace_init(t, 2);
    iwt_trace_compute(t, 0, 1000, 600);
    request = iwt_trace_message(t, 0, IWI_CALL_ISEND, 1, 0, 5, 8);
    iwt_trace_wait(t, 0, &request, 1);
    (void)iwt_trace_message(t, 1, IWI_CALL_RECV, 0, 0, 5, 8);
    iwt_trace_collective_all(t, IWI_TRACE_BARRIER, 0, 0, 0);
    iwt_trace_opaque(t, 0, 70);
    t->trace.ranks[1].last_compute_wall_ps = 5;
}

#endif
