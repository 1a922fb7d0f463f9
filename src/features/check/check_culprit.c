/* Which sources are to blame for a node that misses its limits, and what to do against them.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/remedy.h>

#include <stdio.h>
#include <string.h>

#include "core/base/base.h"
#include "features/check/check_parts.h"

static const iw_check_job *job_of(const iw_check *check, const iw_requirement *requirement)
{
    for (size_t i = 0; i < check->job_count; i++) {
        if (strcmp(check->jobs[i].name, requirement->name) == 0) {
            return &check->jobs[i];
        }
    }
    return NULL;
}

static void blame_largest(const iw_noise_facts *facts, struct iwi_culprit *culprit)
{
    const iw_source *source = &facts->sources[0].source;

    snprintf(culprit->name, sizeof culprit->name, "%s%s%.64s", iw_class_name(source->kind),
             source->name[0] != '\0' ? "/" : "", source->name);
    culprit->remedy = iw_remedy_of(source->kind, source->name)->how;
}

bool iwi_check_culprit(const iw_check *check, struct iwi_culprit *culprit)
{
    const iw_noise_facts *facts = &check->noise.facts;
    bool has_lost = false;

    for (size_t i = 0; i < check->requirement_count; i++) {
        const iw_requirement *missed = &check->requirements[i];
        const iw_check_job *job = job_of(check, missed);

        if (missed->state != IW_REQUIREMENT_MISSED || missed->is_setting) {
            continue;
        }
        if (job != NULL && job->worst[0] != '\0') {
            snprintf(culprit->name, sizeof culprit->name, "%s", job->worst);
            culprit->remedy = job->remedy;
            return true;
        }
        has_lost |= strcmp(missed->name, IWI_CHECK_LOST) == 0;
    }
    if (!has_lost || !facts->has_sources || facts->source_count == 0) {
        return false;
    }
    blame_largest(facts, culprit);
    return true;
}
