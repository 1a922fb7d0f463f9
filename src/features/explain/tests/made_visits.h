/* Runs of known waits: ranks that compute and meet.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWT_MADE_VISITS_H
#define IWT_MADE_VISITS_H

#include <idlewave/waits.h>

#include "features/explain/arrivals/visits.h"
#include "support/support.h"

#define US(x) ((iw_time)(x)*IW_PS_PER_US)

enum { MADE_RANKS = 24, MADE_TRANSFER_US = 10 };

struct made_run {
    struct iwi_visits visits;
    uint32_t ranks, group;
    iw_time at_ps[MADE_RANKS];
    uint64_t sequence;
    uint32_t step;
};

static inline void made_begin(struct made_run *run, uint32_t ranks)
{
    uint32_t members[MADE_RANKS];

    *run = (struct made_run){.ranks = ranks};
    iwi_visits_init(&run->visits, NULL, "made");
    for (uint32_t r = 0; r < ranks; r++) {
        char node[IWI_VISIT_NAME_SIZE];

        (void)snprintf(node, sizeof node, "node%u", r / 2);
        assert_ok(iwi_visits_rank(&run->visits, r, node, &members[r]));
    }
    assert_ok(iwi_visits_group(&run->visits, "world", members, ranks, ranks, &run->group));
}

static inline void made_compute(struct made_run *run, uint32_t rank, iw_time time_ps)
{
    const struct iwi_stretch stretch = {
        .rank = rank, .step = run->step, .begin_ps = run->at_ps[rank], .end_ps = run->at_ps[rank] + time_ps};

    assert_ok(iwi_visits_add_stretch(&run->visits, &stretch));
    run->at_ps[rank] += time_ps;
}

/* One visit of a rank that leaves at that time. */
static inline void made_visit(struct made_run *run, uint32_t rank, struct iwi_visit visit, iw_time leave_ps)
{
    visit.rank = rank;
    visit.group = run->group;
    visit.step = run->step;
    visit.sequence = run->sequence;
    visit.enter_ps = run->at_ps[rank] - visit.ahead_ps;
    visit.leave_ps = leave_ps;
    assert_ok(iwi_visits_add(&run->visits, &visit));
    run->at_ps[rank] = leave_ps;
}

/* All ranks; they leave MADE_TRANSFER_US after the last has come. */
static inline void made_meet(struct made_run *run, uint8_t op)
{
    iw_time last_ps = 0;

    for (uint32_t r = 0; r < run->ranks; r++) {
        last_ps = run->at_ps[r] > last_ps ? run->at_ps[r] : last_ps;
    }
    for (uint32_t r = 0; r < run->ranks; r++) {
        made_visit(run, r, (struct iwi_visit){.op = op, .bytes = 8}, last_ps + US(MADE_TRANSFER_US));
    }
    run->sequence++;
}

/* Ends the step that all ranks are in: from `begin_ps` to where each is now. */
static inline void made_step(struct made_run *run, const iw_time *begin_ps)
{
    for (uint32_t r = 0; r < run->ranks; r++) {
        const struct iwi_visit_step step = {
            .rank = r, .number = run->step, .begin_ps = begin_ps[r], .end_ps = run->at_ps[r]};

        assert_ok(iwi_visits_add_step(&run->visits, &step));
    }
    run->step++;
}

/* Who waited for whom. Ends the run. */
static inline iw_waits *made_waits(struct made_run *run)
{
    iw_waits *waits = NULL;

    assert_ok(iwi_visits_finish(&run->visits));
    assert_ok(iw_waits_run(NULL, "made", &run->visits, NULL, &waits));
    iwi_visits_release(&run->visits);
    return waits;
}

static inline const iw_waits_rank *made_rank(const iw_waits *waits, uint32_t number)
{
    for (size_t i = 0; i < waits->ranks_count; i++) {
        if (waits->ranks[i].rank == number) {
            return &waits->ranks[i];
        }
    }
    fail_msg("no rank %u", number);
    return NULL;
}

#endif
