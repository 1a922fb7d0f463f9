/* Reports of one file of JSON, for the fuzz targets of what `idlewave report` reads.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWT_FUZZ_REPORT_H
#define IWT_FUZZ_REPORT_H

#include "fuzz_folder.h"

typedef iw_status (*iwt_report)(const iw_log *log, const char *path, FILE *out);

/* The input as a file, for `path`. */
static inline const char *iwt_fuzz_json(const uint8_t *data, size_t size, char path[IWT_FUZZ_PATH_SIZE])
{
    iwt_fuzz_write_file("in.json", data, size);
    return iwt_fuzz_path("in.json", path);
}

/* A report, to nowhere; true: the file was accepted. */
static inline bool iwt_fuzz_report(iwt_report report, const char *path)
{
    unsigned errors = 0;
    const iw_log log = {iwt_fuzz_count_error, &errors};
    FILE *out = fopen("/dev/null", "we");
    iw_status status;

    iwt_fuzz_require(out != NULL);
    status = report(&log, path, out);
    iwt_fuzz_check_log(status, errors);
    iwt_fuzz_require(fclose(out) == 0);
    return status == IW_OK;
}

#endif
