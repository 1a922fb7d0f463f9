/* Fuzzes the reader of NCCL Inspector's lines: several files, separated by a line with a form feed.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <string.h>

#include "features/explain/inspector/inspector.h"
#include "fuzz.h"

static iw_status read_files(struct iwi_inspector *all, const char *data, size_t size)
{
    iw_status status = IW_OK;

    while (status == IW_OK && size > 0) {
        const char *end = memchr(data, '\f', size);
        const size_t length = end != NULL ? (size_t)(end - data) : size;

        status = iwi_inspector_read(all, NULL, "fuzz.log", data, length);
        size -= end != NULL ? length + 1 : length;
        data += end != NULL ? length + 1 : length;
    }
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    unsigned errors = 0;
    const iw_log log = {iwt_fuzz_count_error, &errors};
    struct iwi_inspector all;
    struct iwi_visits visits;
    iw_status status;

    iwi_inspector_init(&all, &log);
    iwi_visits_init(&visits, &log, "NCCL Inspector");
    status = read_files(&all, (const char *)data, size);
    if (status == IW_OK) {
        status = iwi_inspector_fill(&all, &visits);
    }
    iwt_fuzz_check_log(status, errors);
    iwi_visits_release(&visits);
    iwi_inspector_release(&all);
    return 0;
}
