/* What was found on a node, put together by hand: nothing bad, until a test changes it.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWT_FINDINGS_H
#define IWT_FINDINGS_H

#include <idlewave/check.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/support.h"

struct findings {
    iw_mitigation mitigations[3];
    iw_verify verify;
    iw_check_job jobs[2];
    iw_check check;
};

static inline void add_mitigation(struct findings *f, const char *name, iw_mitigation_state state,
                                  const char *setting)
{
    iw_mitigation *m = &f->mitigations[f->verify.count++];

    *m = (iw_mitigation){.name = name, .removes = "noise", .state = state};
    snprintf(m->setting, sizeof m->setting, "%s", setting);
    f->verify.counts[state]++;
}

static inline int set_up(void **state)
{
    struct findings *f = calloc(1, sizeof *f);

    assert_non_null(f);
    f->verify.mitigations = f->mitigations;
    snprintf(f->verify.host, sizeof f->verify.host, "node07");
    snprintf(f->verify.kernel, sizeof f->verify.kernel, "6.12.22");
    add_mitigation(f, "nohz_full", IW_MITIGATION_EFFECTIVE, "CPUs 2-7");
    add_mitigation(f, "KSM off", IW_MITIGATION_ABSENT, "ksm/run=1");
    f->jobs[0] =
        (iw_check_job){.name = "barrier", .ranks = 1024, .is_done = true, .slowdown = {0.02, 0.01, 0.03}};
    f->jobs[1] = (iw_check_job){.name = "halo", .ranks = 1024, .is_done = true, .slowdown = {0.2, 0.05, 0.4}};
    f->check = (iw_check){.verify = &f->verify, .job_count = 2, .jobs = f->jobs};
    f->check.noise.facts.cpu_count = 2;
    f->check.noise.facts.watched_ns = 20e9;
    f->check.noise.facts.all.share = 0.002;
    f->check.noise.facts.has_sources = true;
    f->check.noise.facts.load.is_known = true;
    *state = f;
    return 0;
}

static inline int tear_down(void **state)
{
    struct findings *f = *state;

    iw_check_release(&f->check);
    free(f);
    return 0;
}

static inline const iw_requirement *requirement(const struct findings *f, const char *name)
{
    for (size_t i = 0; i < f->check.requirement_count; i++) {
        if (strcmp(f->check.requirements[i].name, name) == 0) {
            return &f->check.requirements[i];
        }
    }
    fail_msg("nothing is required of %s", name);
    return NULL;
}

#endif
