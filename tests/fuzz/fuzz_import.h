/* What the fuzz targets of converted recordings share: read, and if accepted write and read again.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWT_FUZZ_IMPORT_H
#define IWT_FUZZ_IMPORT_H

#include <string.h>

#include <idlewave/convert.h>

#include "features/recordings/convert/convert.h"
#include "fuzz.h"

static inline iw_recording *iwt_fuzz_import(const struct iwi_convert_ops *ops, const char *data, size_t size)
{
    const iw_import_opts opts = IW_IMPORT_OPTS_INIT;
    unsigned errors = 0;
    const iw_log log = {iwt_fuzz_count_error, &errors};
    const struct iwi_import in = {.log = &log, .path = "in", .data = data, .size = size};
    iw_recording *recording = NULL;
    const iw_status status = iwi_import_memory(&in, ops, &opts, &recording);

    iwt_fuzz_check_log(status, errors);
    return status == IW_OK ? recording : NULL;
}

/* What was read once is read again from what is written of it: the same number of detours. */
static inline void iwt_fuzz_write_and_read(const struct iwi_convert_ops *ops, const iw_recording *recording)
{
    struct iwi_out out;
    iw_recording *again;

    iwt_fuzz_require(iwi_out_open_memory(NULL, &out) == IW_OK);
    ops->write(recording, &out);
    again = iwt_fuzz_import(ops, out.buffer, out.used);
    iwt_fuzz_require(again != NULL && again->cpu_count == recording->cpu_count);
    for (size_t i = 0; i < again->cpu_count; i++) {
        const iw_detours *x = &recording->cpus[i], *y = &again->cpus[i];

        iwt_fuzz_require(x->count == y->count && x->length_ns == y->length_ns &&
                         x->sample_count == y->sample_count);
        iwt_fuzz_require(x->count == 0 || memcmp(x->start_ns, y->start_ns, x->count * 8) == 0);
        iwt_fuzz_require(x->count == 0 || memcmp(x->duration_ns, y->duration_ns, x->count * 8) == 0);
    }
    iw_recording_free(again);
    iwt_fuzz_require(iwi_out_close(&out) == IW_OK);
}

/* One input. */
static inline int iwt_fuzz_import_one(const struct iwi_convert_ops *ops, const uint8_t *data, size_t size)
{
    iw_recording *recording = iwt_fuzz_import(ops, (const char *)data, size);

    if (recording != NULL && ops->write != NULL) {
        iwt_fuzz_write_and_read(ops, recording);
    }
    iw_recording_free(recording);
    return 0;
}

#endif
