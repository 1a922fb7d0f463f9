/* Our own recordings in HDF5, as one format among the others.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <string.h>

#include <idlewave/files.h>

#include "features/recordings/convert/convert.h"

static bool matches(const char *data, size_t size)
{
    static const char signature[] = "\x89HDF\r\n\x1a\n";

    return size >= sizeof signature - 1 && memcmp(data, signature, sizeof signature - 1) == 0 &&
           !iwi_import_jitterdebugger.matches(data, size);
}

static iw_status read_recording(const struct iwi_import *in, iw_recording **recording_p)
{
    return iw_recording_load(in->log, in->path, recording_p);
}

static iw_status write_recording(const iw_log *log, const iw_recording *recording, const char *path)
{
    if (strcmp(path, "-") == 0) {
        return iwi_fail(log, IW_ERR_USAGE,
                        "a recording in HDF5 cannot go to standard output: name a file, or another format "
                        "(`export.format`)");
    }
    return iw_recording_save(log, recording, path);
}

const struct iwi_convert_ops iwi_convert_idlewave = {
    .about = {"idlewave", "our recordings in HDF5", ".h5", true, true},
    .in_words = "a recording in HDF5",
    .needs_file = true,
    .matches = matches,
    .read = read_recording,
    .write_file = write_recording,
};
