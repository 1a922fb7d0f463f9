/* What a study varies of a training program: any setting that is no list, and jitter.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_STUDY_SETTINGS_H
#define IWI_STUDY_SETTINGS_H

#include "features/study/files/study_yaml.h"

/* Room for the keys of all settings, and jitter. */
enum { IWI_SETTING_KEYS = 80 };

/* The names of the keys that a study may vary, from those of the table of settings; returns how many. */
size_t iwi_study_setting_keys(struct iwi_yaml_key keys[IWI_SETTING_KEYS]);

/* Reads what of them is there into the work. */
IW_NODISCARD iw_status iwi_study_settings_read(struct iwi_study_reader *reader,
                                               const struct iwi_yaml_key *keys,
                                               const struct iwi_yaml_entry *entries, size_t count,
                                               iw_study_work *work);
void iwi_study_settings_release(iw_study_work *work);

/* How many combinations there are, 1 without any; SIZE_MAX: too many to be counted. */
size_t iwi_study_combinations(const iw_study_work *work);

/* Of each setting the value that combination number `index` has. */
void iwi_study_combination(const iw_study_work *work, size_t index, size_t values[IW_STUDY_SETTINGS_MAX]);

/* Whether the number of replicas is varied. */
bool iwi_study_varies(const iw_study_work *work, const char *key);

/* Changes `spec`, a copy of the work's program that shares its lists. */
IW_NODISCARD iw_status iwi_study_settings_apply(const iw_log *log, const iw_study_work *work, size_t index,
                                                iw_training *spec);

/* The work's digest with that of the combination. */
uint64_t iwi_study_settings_digest(const iw_study_work *work, size_t index, uint64_t work_digest);

/* "microbatches=8; schedule=gpipe"; "" without any. */
enum { IWI_SETTING_BYTES = 120, IWI_SETTINGS_TEXT_SIZE = IW_STUDY_SETTINGS_MAX * (IWI_SETTING_BYTES + 32) };
const char *iwi_study_settings_text(const iw_study_work *work, size_t index,
                                    char buf[IWI_SETTINGS_TEXT_SIZE]);

#endif
