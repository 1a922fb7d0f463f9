/* A noise file as input of `idlewave report`.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>
#include <string.h>

#include <idlewave/idlewave.h>

#include "process/ui.h"
#include "verbs/report_kinds.h"

/* As `noise show` counts them by default. */
static const double LONG_NS = 20000.0;

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

static iw_status load(const iw_log *log, const char *path, void **input_p)
{
    iw_recording *recording = NULL;

    IW_TRY(iw_recording_load(log, path, &recording));
    *input_p = recording;
    return IW_OK;
}

static iw_status write(const iw_log *log, const void *input, const struct report_target *target)
{
    const char *name = ui_file_name(target->name);
    iw_noise_facts *facts;
    iw_status status;

    if (target->format == REPORT_CSV) {
        return iw_noise_write_csv(log, input, target->out);
    }
    IW_TRY(iw_noise_facts_new(log, input, LONG_NS, &facts));
    if (target->format == REPORT_HTML) {
        status = iw_noise_write_html(log, input, facts, name, target->out);
    } else {
        status = iw_noise_write_report(log, input, facts, name, target->out);
    }
    iw_noise_facts_free(facts);
    return status;
}

static void release(void *input)
{
    iw_recording_free(input);
}

const struct report_kind report_noise = {
    .what = "a noise file (HDF5)",
    .has_format = {[REPORT_TEXT] = true, [REPORT_HTML] = true, [REPORT_CSV] = true},
    .is_it = is_hdf5,
    .load = load,
    .write = write,
    .free = release,
};
