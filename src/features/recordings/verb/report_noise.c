/* A noise file as input of `idlewave report`.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>
#include <string.h>

#include <idlewave/idlewave.h>

#include "options/report_kinds.h"
#include "process/ui.h"

static bool is_hdf5(const char *path)
{
    static const char signature[] = {'\x89', 'H', 'D', 'F', '\r', '\n', '\x1a', '\n'};
    char bytes[sizeof signature];
    FILE *file = fopen(path, "rbe");
    bool is_it;

    if (file == NULL) {
        return false;
    }
    is_it = fread(bytes, 1, sizeof bytes, file) == sizeof bytes &&
            memcmp(bytes, signature, sizeof signature) == 0;
    (void)fclose(file);
    return is_it;
}

/* A recording, and all that is shown of it. */
struct input {
    iw_recording *recording;
    iw_noise_report report;
};

static void release(void *input)
{
    struct input *noise = input;

    iw_noise_report_release(&noise->report);
    iw_recording_free(noise->recording);
    free(noise);
}

static iw_status load(const iw_log *log, const char *path, void **input_p)
{
    iw_noise_report_opts opts = IW_NOISE_REPORT_OPTS_INIT;
    struct input *noise = ui_grow(NULL, 1, sizeof *noise);
    iw_status status;

    *noise = (struct input){.recording = NULL};
    status = iw_recording_load(log, path, &noise->recording);
    if (status == IW_OK) {
        opts.name = ui_file_name(path);
        opts.has_spectrum = opts.has_cost = true;
        status = iw_noise_report_init(log, noise->recording, &opts, &noise->report);
    }
    if (status != IW_OK) {
        iw_recording_free(noise->recording);
        free(noise);
        return status;
    }
    *input_p = noise;
    return IW_OK;
}

static iw_status write(const iw_log *log, const void *input, const struct report_target *target)
{
    return report_write_doc(log, iw_noise_doc(&((const struct input *)input)->report), target);
}

const struct report_kind report_noise = {
    .what = "a noise file (HDF5)",
    .has_format = REPORT_DOC_FORMATS,
    .is_it = is_hdf5,
    .load = load,
    .write = write,
    .free = release,
};
