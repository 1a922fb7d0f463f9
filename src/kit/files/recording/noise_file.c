/* Noise files as users see them: written whole, and added to a simulation by their path.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/files.h>
#include <idlewave/recording.h>

#include <string.h>
#include <unistd.h>

#include "core/base/base.h"
#include "core/noise/recording_check.h"
#include "core/noise/recording_noise.h"
#include "core/noise/source.h"
#include "kit/files/recording/noise_file.h"
#include "kit/files/recording/noise_hdf5.h"

iw_status iw_recording_save(const iw_log *log, const iw_recording *recording, const char *path)
{
    struct iwi_noise_writer *writer;
    iw_status status = IW_OK;

    IW_TRY(iwi_recording_check(log, path, recording, IW_ERR_RANGE));
    IW_TRY(iwi_noise_writer_open(log, path, recording, false, &writer));
    for (size_t i = 0; i < recording->cpu_count && status == IW_OK; i++) {
        status = iwi_noise_writer_append(writer, i, &recording->cpus[i]);
    }
    return iwi_noise_writer_close(writer); /* the same status, if there was a failure */
}

static iw_status add_folder(const iw_log *log, iw_noise *noise, const char *path)
{
    iw_recording **recordings = NULL;
    iw_folder *folder;
    iw_status status;

    IW_TRY(iw_folder_list(log, path, &folder));
    status = iw_folder_load(log, folder, &recordings);
    for (size_t i = 0; i < folder->count && status == IW_OK; i++) {
        status = iw_recording_keep_cpus(log, folder->paths[i], iw_noise_cpus(noise), &recordings[i]);
    }
    if (status == IW_OK) {
        status = iwi_noise_take_recordings(log, noise, path, (const char *const *)folder->paths, recordings,
                                           folder->count);
    }
    iw_recordings_free(recordings, folder->count);
    iw_folder_free(folder);
    return status;
}

iw_noise_form iw_noise_form_of(const char *spec_or_path)
{
    if (strcmp(spec_or_path, "none") == 0 || iwi_noise_is_spec(spec_or_path)) {
        return IW_NOISE_SPEC;
    }
    if (iw_is_folder(spec_or_path)) {
        return IW_NOISE_FOLDER;
    }
    if (iwi_noise_hdf5_matches(spec_or_path)) {
        return IW_NOISE_RECORDING;
    }
    if (access(spec_or_path, F_OK) == 0) {
        return IW_NOISE_TEXT;
    }
    return strchr(spec_or_path, ':') != NULL ? IW_NOISE_SPEC : IW_NOISE_ABSENT;
}

static iw_status add_recording(const iw_log *log, iw_noise *noise, const char *path)
{
    iw_recording *recording;
    iw_status status;

    IW_TRY(iw_recording_load(log, path, &recording));
    status = iw_recording_keep_cpus(log, path, iw_noise_cpus(noise), &recording);
    if (status == IW_OK) {
        status = iwi_noise_add_named_recording(log, noise, path, recording);
    }
    iw_recording_free(recording);
    return status;
}

iw_status iw_noise_open(const iw_log *log, iw_noise *noise, const char *spec_or_path)
{
    switch (iw_noise_form_of(spec_or_path)) {
    case IW_NOISE_FOLDER: return add_folder(log, noise, spec_or_path);
    case IW_NOISE_RECORDING: return add_recording(log, noise, spec_or_path);
    default: return iw_noise_add(log, noise, spec_or_path);
    }
}

iw_status iwi_noise_try(const iw_log *log, const char *spec_or_path)
{
    iw_noise *noise;
    iw_status status;

    IW_TRY(iw_noise_new(log, &noise));
    status = iw_noise_open(log, noise, spec_or_path);
    iw_noise_free(noise);
    return status;
}
