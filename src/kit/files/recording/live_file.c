/* A noise file that grows while its recording is measured.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/files.h>
#include <idlewave/recording.h>

#include <stdlib.h>

#include "core/base/base.h"
#include "kit/files/recording/noise_hdf5.h"

struct iw_live_file {
    struct iwi_noise_writer *writer;
};

iw_status iw_live_file_open(const iw_log *log, const char *path, const iw_recording *head,
                            iw_live_file **file_p)
{
    iw_live_file *file = iwi_new_array(log, 1, sizeof *file);
    iw_status status =
        file != NULL ? iwi_noise_writer_open(log, path, head, true, &file->writer) : IW_ERR_NOMEM;

    if (status != IW_OK) {
        free(file);
        return status;
    }
    *file_p = file;
    return IW_OK;
}

iw_status iw_live_file_append(iw_live_file *file, const iw_recording *recording, size_t index,
                              const iw_detours *batch)
{
    IW_TRY(iwi_noise_writer_sources(file->writer, recording->sources, recording->source_count));
    return iwi_noise_writer_append(file->writer, index, batch);
}

iw_status iw_live_file_flush(iw_live_file *file)
{
    return iwi_noise_writer_flush(file->writer);
}

iw_status iw_live_file_close(iw_live_file *file)
{
    iw_status status = IW_OK;

    if (file != NULL) {
        status = iwi_noise_writer_close(file->writer);
        free(file);
    }
    return status;
}
