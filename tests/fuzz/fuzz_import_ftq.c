/* Fuzzes the reader of fixed time quanta: one file, or counts and, behind an empty line, their times.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/noise/recording_check.h"
#include "features/recordings/convert/convert_rows.h"
#include "fuzz_import.h"

static void read_pair(const char *data, size_t size, const char *times)
{
    unsigned errors = 0;
    const iw_log log = {iwt_fuzz_count_error, &errors};
    const struct iwi_import in = {
        .log = &log, .path = "counts", .data = data, .size = (size_t)(times - data), .length_ns = 1000000000};
    const struct iwi_import of_times = {
        .log = &log, .path = "times", .data = times, .size = size - (size_t)(times - data)};
    iw_recording *recording = NULL;
    const iw_status status = iwi_ftq_read(&in, &of_times, &recording);

    iwt_fuzz_check_log(status, errors);
    iwt_fuzz_require(status != IW_OK || iwi_recording_check(NULL, "fuzz", recording, IW_ERR_FORMAT) == IW_OK);
    iw_recording_free(recording);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data, *times = size > 0 ? memmem(text, size, "\n\n", 2) : NULL;

    if (times != NULL) {
        read_pair(text, size, times + 1);
    }
    return iwt_fuzz_import_one(&iwi_import_ftq, data, size);
}
