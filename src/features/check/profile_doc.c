/* What is required of nodes: settings and limits, learned from a good one.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <idlewave/check.h>

#include "core/base/base.h"
#include "features/check/check_parts.h"
#include "features/tables.h"

/* Learns from a good node what is to be required of others. */

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

static const struct iwi_field setting_fields[] = {
    IWI_CHARS(iw_profile_setting, name,
              .about = "a mitigation of `verify` that must be configured or in effect"),
    IWI_CHARS(iw_profile_setting, setting, .about = "required value, as `verify` prints it; empty: any"),
};
static const struct iwi_schema setting_schema = IWI_SCHEMA(iw_profile_setting, setting_fields);

static const struct iwi_field job_fields[] = {
    IWI_CHARS(iw_profile_job, name),
    IWI_VALUE(iw_profile_job, ranks),
    IWI_VALUE(iw_profile_job, most_slowdown, .about = "limit of the slowdown of that job"),
};
static const struct iwi_schema job_schema = IWI_SCHEMA(iw_profile_job, job_fields);

IWI_OF(bool, has_most_lost, iw_profile, !isnan(it->most_lost))

static const struct iwi_field profile_fields[] = {
    IWI_CHARS(iw_profile, host, .about = "node that it was learned from; not required"),
    IWI_CHARS(iw_profile, kernel, .about = "not required"),
    IWI_VALUE(iw_profile, most_lost, .is_there = has_most_lost,
              .about = "limit of the share of CPU time lost to noise; null: no limit"),
    IWI_OBJECTS(iw_profile, settings, setting_count, setting_schema, .is_row = true),
    IWI_OBJECTS(iw_profile, jobs, job_count, job_schema,
                .about = "jobs that `check --require` simulates on this number of ranks, whatever a "
                         "configuration file says"),
};
static const struct iwi_schema profile_schema = IWI_SCHEMA(iw_profile, profile_fields);

static void list_limits(struct iwi_document *doc, const iw_profile *profile)
{
    iwi_section(doc, "limits", "Limits");
    IWI_TABLE(doc, "", {"limit", IWI_WORDS}, {"limit", IWI_NUMBER}, {"", IWI_WORDS});
    if (has_most_lost(profile)) {
        iwi_row(doc, "CPU time lost", iwi_percent(doc, profile->most_lost), "");
    }
    for (size_t i = 0; i < profile->job_count; i++) {
        const iw_profile_job *job = &profile->jobs[i];

        iwi_row(doc, job->name, iwi_slower(doc, job->most_slowdown),
                iwi_doc_printf(doc, "slowdown on %u ranks", job->ranks));
    }
    iwi_unfold(doc);
}

static void write_doc(struct iwi_document *doc, const void *subject)
{
    const iw_profile *profile = subject;

    iwi_title(doc, "Profile of %s", profile->host);
    iwi_verdict(doc, "%zu setting%s and %zu limit%s are required, as learned from %s.",
                profile->setting_count, iwi_plural_s(profile->setting_count),
                profile->job_count + (has_most_lost(profile) ? 1 : 0),
                iwi_plural_s(profile->job_count + (has_most_lost(profile) ? 1 : 0)), profile->host);
    iwi_note(doc, "Kernel %s.", profile->kernel);
    iwi_section(doc, "settings", "Settings");
    IWI_TABLE(doc, "", {"mitigation", IWI_WORDS}, {"setting", IWI_WORDS});
    iwi_unfold(doc);
    for (size_t i = 0; i < profile->setting_count; i++) {
        const iw_profile_setting *setting = &profile->settings[i];

        iwi_row(doc, setting->name, setting->setting[0] != '\0' ? setting->setting : "configured, any value");
    }
    list_limits(doc, profile);
}

const struct iwi_kind iwi_profile_kind = {
    .name = "profile",
    .schema_id = "idlewave.profile/1",
    .about =
        "Requirements for nodes: `idlewave check --learn FILE` writes them from a good node, `idlewave check "
        "--require FILE` compares other nodes with them. Edit the file and remove what does not matter. "
        "Limits are twice what the good node had, but at least 0.05 % of CPU time and a slowdown of 1 %",
    .schema = &profile_schema,
    .write_doc = write_doc,
};

IWI_DOC(iw_profile_doc, iw_profile, profile, iwi_profile_kind)

iw_status iw_profile_open(const iw_log *log, const char *path, iw_doc_file **file_p,
                          const iw_profile **profile_p)
{
    iw_doc_file *file;

    IW_TRY(iw_doc_open(log, path, &file));
    if (iw_doc_of(file).kind != &iwi_profile_kind) {
        iw_doc_close(file);
        return iwi_fail(log, IW_ERR_FORMAT, "'%s' is not a profile of a node", path);
    }
    *file_p = file;
    *profile_p = iw_doc_of(file).subject;
    return IW_OK;
}
