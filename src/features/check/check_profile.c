/* Learns from a good node what is to be required of others.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "features/check/check_parts.h"

/* Limits of what is next to nothing would be missed by chance. */
static const double LEAST_LOST = 0.0005, LEAST_SLOWDOWN = 0.01;

static void learn_settings(const iw_verify *verify, iw_profile *profile)
{
    for (size_t i = 0; i < verify->count; i++) {
        const iw_mitigation *m = &verify->mitigations[i];

        if (iwi_is_set_up(m)) {
            iw_profile_setting *setting = &profile->settings[profile->setting_count++];

            snprintf(setting->name, sizeof setting->name, "%s", m->name);
            memcpy(setting->setting, m->setting, sizeof setting->setting);
        }
    }
}

/* Where the recording is too short for an interval, nothing can be required. */
static void learn_jobs(const iw_check *check, double margin, iw_profile *profile)
{
    for (size_t i = 0; i < check->job_count; i++) {
        const iw_check_job *job = &check->jobs[i];

        if (job->is_done && isfinite(job->slowdown.high)) {
            iw_profile_job *limit = &profile->jobs[profile->job_count++];

            memcpy(limit->name, job->name, sizeof limit->name);
            limit->ranks = job->ranks;
            limit->most_slowdown =
                fmax(LEAST_SLOWDOWN, fmax(margin * job->slowdown.value, job->slowdown.high));
        }
    }
}

iw_status iw_profile_learn(const iw_log *log, const iw_check *check, double margin, iw_profile **profile_p)
{
    iw_profile *profile = iwi_new_array(log, 1, sizeof *profile);

    if (profile == NULL) {
        return IW_ERR_NOMEM;
    }
    profile->settings = iwi_new_array(log, check->verify->count + 1, sizeof *profile->settings);
    profile->jobs = iwi_new_array(log, check->job_count + 1, sizeof *profile->jobs);
    if (profile->settings == NULL || profile->jobs == NULL) {
        iw_profile_free(profile);
        return IW_ERR_NOMEM;
    }
    memcpy(profile->host, check->verify->host, sizeof profile->host);
    memcpy(profile->kernel, check->verify->kernel, sizeof profile->kernel);
    profile->most_lost = fmax(LEAST_LOST, margin * check->noise.facts.all.share);
    learn_settings(check->verify, profile);
    learn_jobs(check, margin, profile);
    *profile_p = profile;
    return IW_OK;
}

void iw_profile_free(iw_profile *profile)
{
    if (profile != NULL) {
        free(profile->settings);
        free(profile->jobs);
        free(profile);
    }
}
