/* A made run as lines of NCCL's Inspector, read; and the same run with and without times.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWT_INSPECTOR_TESTING_H
#define IWT_INSPECTOR_TESTING_H

#include <stdlib.h>

#include "features/explain/inspector/inspector.h"
#include "support/made_inspector.h"
#include "support/support.h"

/* Into `visits`, which it initialises. */
static inline iw_status read_inspector(const iw_log *log, const struct iwt_kineto_run *run,
                                       const struct iwt_inspector *made, struct iwi_visits *visits)
{
    struct iwi_inspector all;
    iw_status status = IW_OK;

    iwi_inspector_init(&all, log);
    iwi_visits_init(visits, log, "NCCL Inspector");
    for (uint32_t r = run->ranks; status == IW_OK && r-- > 0;) { /* in whatever order the files come */
        size_t size;
        char *text = iwt_inspector_text(run, made, r, &size);

        status = iwi_inspector_read(&all, NULL, "lines", text, size);
        free(text);
    }
    if (status == IW_OK) {
        status = iwi_inspector_fill(&all, visits);
    }
    iwi_inspector_release(&all);
    return status;
}

/* One rank that is late by 20 ms. */
static const struct iwt_kineto_pause late[] = {
    {.rank = 3, .step = 1, .cause = IWT_KINETO_SLOW, .length_ns = 20000000}};

static inline iw_time wait_of(const struct iwi_visits *visits, size_t encounter, uint32_t k)
{
    const struct iwi_encounter *e = &visits->encounters[encounter];

    return iwi_encounter_start_ps(visits, e) - visits->visits[e->first + k].enter_ps;
}

/* The same waits, to the microsecond; somebody waits for the late one. */
static inline void assert_same_waits(const struct iwi_visits *with, const struct iwi_visits *without)
{
    iw_time worst_ps = 0;

    assert_int_equal(with->encounter_count, without->encounter_count);
    for (size_t i = 0; i < with->encounter_count; i++) {
        assert_int_equal(with->encounters[i].count, without->encounters[i].count);
        for (uint32_t k = 0; k < with->encounters[i].count; k++) {
            const iw_time wait = wait_of(with, i, k), other = wait_of(without, i, k);

            assert_true(iwi_max(wait - other, other - wait) <= IW_PS_PER_US);
            worst_ps = iwi_max(worst_ps, other);
        }
    }
    assert_true(worst_ps > 19 * IW_PS_PER_MS);
}

#endif
