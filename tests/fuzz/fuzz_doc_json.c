/* Fuzzes the reader of the JSON of all kinds of results, and what shows them. Its corpus is
 * tests/data/results.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/doc.h>

#include "fuzz_report.h"

static iw_status show(const iw_log *log, const char *path, FILE *out)
{
    iw_doc_file *file;
    iw_status status = iw_doc_open(log, path, &file);

    IW_TRY(status);
    for (unsigned format = IW_DOC_TEXT; format <= IW_DOC_CSV; format++) {
        if (iw_doc_has_format(iw_doc_of(file), format)) {
            iwt_fuzz_require(iw_doc_write(log, iw_doc_of(file), format, NULL, out) == IW_OK);
        }
    }
    iw_doc_close(file);
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[IWT_FUZZ_PATH_SIZE];

    (void)iwt_fuzz_report(show, iwt_fuzz_json(data, size, path));
    return 0;
}
