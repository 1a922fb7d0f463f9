/* Combinations of settings of a training program: counted, numbered, applied, identified and named.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/study/files/study_settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <idlewave/training.h>

static void setting_release(iw_study_setting *setting)
{
    for (size_t i = 0; i < setting->count; i++) {
        free(setting->values[i]);
        if (setting->sources != NULL) {
            free(setting->sources[i]);
        }
    }
    free(setting->values);
    free(setting->sources);
    free(setting->digests);
}

void iwi_study_settings_release(iw_study_work *work)
{
    for (size_t i = 0; i < work->setting_count; i++) {
        setting_release(&work->settings[i]);
    }
}

size_t iwi_study_combinations(const iw_study_work *work)
{
    size_t count = 1;

    for (size_t i = 0; i < work->setting_count; i++) {
        if (__builtin_mul_overflow(count, work->settings[i].count, &count)) {
            return SIZE_MAX;
        }
    }
    return count;
}

void iwi_study_combination(const iw_study_work *work, size_t index, size_t values[IW_STUDY_SETTINGS_MAX])
{
    for (size_t i = work->setting_count; i-- > 0;) {
        values[i] = index % work->settings[i].count;
        index /= work->settings[i].count;
    }
}

bool iwi_study_varies(const iw_study_work *work, const char *key)
{
    for (size_t i = 0; i < work->setting_count; i++) {
        if (strcmp(work->settings[i].key, key) == 0) {
            return true;
        }
    }
    return false;
}

static iw_status add_jitter(const iw_log *log, const char *sources, iw_training *spec)
{
    char source[sizeof spec->sources[0].spec + 32]; /* longer ones are refused */

    while (*sources != '\0') {
        const size_t length = strcspn(sources, "\n");

        if (length >= sizeof source) {
            return iwi_fail(log, IW_ERR_RANGE, "the source '%.60s...' is too long", sources);
        }
        memcpy(source, sources, length);
        source[length] = '\0';
        IW_TRY(iw_training_add_noise(log, spec, source));
        sources += length + (sources[length] == '\n');
    }
    return IW_OK;
}

iw_status iwi_study_settings_apply(const iw_log *log, const iw_study_work *work, size_t index,
                                   iw_training *spec)
{
    size_t values[IW_STUDY_SETTINGS_MAX];

    iwi_study_combination(work, index, values);
    for (size_t i = 0; i < work->setting_count; i++) {
        const iw_study_setting *setting = &work->settings[i];

        IW_TRY(setting->sources != NULL
                   ? add_jitter(log, setting->sources[values[i]], spec)
                   : iw_training_set(log, spec, setting->key, setting->values[values[i]]));
    }
    return IW_OK;
}

uint64_t iwi_study_settings_digest(const iw_study_work *work, size_t index, uint64_t work_digest)
{
    size_t values[IW_STUDY_SETTINGS_MAX];

    iwi_study_combination(work, index, values);
    for (size_t i = 0; i < work->setting_count; i++) {
        const iw_study_setting *setting = &work->settings[i];

        work_digest = iwi_digest_of_training(work_digest, setting->digests[values[i]], setting->key,
                                             strlen(setting->key));
    }
    return work_digest;
}

const char *iwi_study_settings_text(const iw_study_work *work, size_t index, char buf[IWI_SETTINGS_TEXT_SIZE])
{
    size_t values[IW_STUDY_SETTINGS_MAX], used = 0;

    iwi_study_combination(work, index, values);
    buf[0] = '\0';
    for (size_t i = 0; i < work->setting_count; i++) {
        used += (size_t)snprintf(buf + used, IWI_SETTINGS_TEXT_SIZE - used, "%s%s=%s", i > 0 ? "; " : "",
                                 work->settings[i].key, work->settings[i].values[values[i]]);
    }
    return buf;
}
