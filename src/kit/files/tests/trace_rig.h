/* What the tests of trace readers without files share: three ranks whose calls a test makes one by one.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWT_TRACE_RIG_H
#define IWT_TRACE_RIG_H

#include "support/support.h"

#include <stdlib.h>
#include <string.h>

#include "kit/files/trace/trace_read.h"

enum { RANKS = 3 };

struct rig {
    struct iwt_log log;
    struct iwi_gaps gaps;
    struct iwi_builder builders[RANKS];
    iw_time now_ps[RANKS];
};

static inline struct rig *new_rig(void)
{
    struct rig *rig = calloc(1, sizeof *rig);

    assert_non_null(rig);
    iwt_log_init(&rig->log);
    for (uint32_t r = 0; r < RANKS; r++) {
        iwi_builder_init(&rig->builders[r], &rig->log.log, &rig->gaps, r);
    }
    return rig;
}

static inline struct iwi_function function(const char *name)
{
    return iwi_function_of(name, strlen(name));
}

/* Each function begins 100 ps behind the one before, and takes 10 ps. */
static inline void call(struct rig *rig, uint32_t rank, const char *name,
                        const struct iwi_trace_event *events, size_t count)
{
    const iw_time enter_ps = rig->now_ps[rank] + 100;
    const struct iwi_call_span span = {enter_ps, enter_ps + 10, -1, 0, 0};

    if (!rig->builders[rank].has_begun) {
        iwi_build_begin(&rig->builders[rank], 0);
    }
    rig->now_ps[rank] = span.leave_ps;
    assert_ok(iwi_build(&rig->builders[rank], function(name), name, &span, events, count));
}

static inline struct iw_trace *finish(struct rig *rig, bool distrusts_sources)
{
    const struct iwi_trace_ending how = {&rig->log.log, &rig->gaps, distrusts_sources};
    struct iw_trace *trace = iwi_trace_new(NULL, RANKS);

    assert_non_null(trace);
    trace->comms = calloc(1, sizeof *trace->comms);
    trace->comms[0].size = RANKS;
    trace->comm_count = 1;
    for (uint32_t r = 0; r < RANKS; r++) {
        assert_ok(iwi_build_end(&rig->builders[r], 0, &trace->ranks[r]));
        iwi_builder_release(&rig->builders[r]);
    }
    if (iwi_trace_finish(&how, trace) != IW_OK) {
        fail_msg("%s", rig->log.text);
    }
    return trace;
}

static inline void end(struct rig *rig, struct iw_trace *trace)
{
    iw_trace_free(trace);
    free(rig);
}

#endif
