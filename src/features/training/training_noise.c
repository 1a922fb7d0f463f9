/* What a source of jitter names, opened: a spec, a file, a folder, a name of a collection.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>

#include <idlewave/collection.h>
#include <idlewave/files.h>
#include <idlewave/recording.h>

#include "core/base/base.h"
#include "core/noise/recording_noise.h"
#include "features/training/step_run.h"

static iw_status open_recording(const iw_log *log, iw_noise *noise, const char *path, const char *name,
                                iw_caveats *caveats)
{
    iw_recording *recording;
    iw_status status;

    IW_TRY(iw_recording_load(log, path, &recording));
    iw_caveats_of_recording(recording, name, caveats);
    status = iwi_noise_add_named_recording(log, noise, path, recording);
    iw_recording_free(recording);
    return status;
}

iw_status iwi_train_noise_open(const iw_log *log, iw_noise *noise, const char *name, iw_caveats *caveats)
{
    char *found = NULL;
    const char *path;
    iw_status status;

    if (iw_noise_form_of(name) == IW_NOISE_ABSENT) {
        IW_TRY(iw_collection_find(log, IW_COLLECTED_NOISE, name, &found));
    }
    path = found != NULL ? found : name;
    status = iw_noise_form_of(path) == IW_NOISE_RECORDING ? open_recording(log, noise, path, name, caveats)
                                                          : iw_noise_open(log, noise, path);
    free(found);
    return status;
}
