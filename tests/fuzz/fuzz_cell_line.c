/* Fuzzes the reader of result lines: what it takes must be written and read again as the same.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <string.h>

#include "features/study/files/study_line.h"
#include "fuzz.h"

static void check_round_trip(const iw_cell_result *cell)
{
    iw_cell_result again;
    char *line = NULL, *line_again = NULL;

    iwt_fuzz_require(iwi_cell_line_new(NULL, cell, &line) == IW_OK);
    iwt_fuzz_require(iwi_cell_line_read(NULL, "again", 1, line, strlen(line) - 1, &again) == IW_OK);
    iwt_fuzz_require(iwi_cell_line_new(NULL, &again, &line_again) == IW_OK);
    iwt_fuzz_require(strcmp(line, line_again) == 0);
    free(line);
    free(line_again);
    iwi_cell_result_release(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    unsigned errors = 0;
    const iw_log log = {iwt_fuzz_count_error, &errors};
    iw_cell_result cell;
    const iw_status status = iwi_cell_line_read(&log, "fuzz.jsonl", 1, (const char *)data, size, &cell);

    iwt_fuzz_check_log(status, errors);
    if (status == IW_OK) {
        check_round_trip(&cell);
        iwi_cell_result_release(&cell);
    }
    return 0;
}
