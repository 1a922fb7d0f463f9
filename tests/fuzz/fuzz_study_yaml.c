/* Fuzzes the reader of studies.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <string.h>

#include "features/study/files/study_yaml.h"
#include "fuzz.h"

/* Whatever was read hangs together, and is read the same when its files are not asked for. */
static void check_study(const iw_study *study, size_t size)
{
    iwt_fuzz_require(study->system_count > 0 && study->work_count > 0 && study->cell_count > 0);
    iwt_fuzz_require(strlen(study->text) == size && study->threshold > 0);
    for (size_t i = 0; i < study->cell_count; i++) {
        const iw_cell *cell = &study->cells[i];

        iwt_fuzz_require(cell->system < study->system_count && cell->work < study->work_count);
        iwt_fuzz_require(cell->ranks > 0 && cell->trials > 0 && cell->net_scale > 0);
        iwt_fuzz_require(strlen(cell->id) == IW_CELL_ID_SIZE - 1);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;

    for (int wants_files = 0; wants_files < 2; wants_files++) {
        unsigned errors = 0;
        const iw_log log = {iwt_fuzz_count_error, &errors};
        iw_study *study = NULL;
        bool has_name;
        iw_status status;

        /* devices may have no end */
        if (wants_files &&
            (memmem(data, size, "/dev", 4) != NULL || memmem(data, size, "/proc", 5) != NULL)) {
            break;
        }
        status =
            iwi_study_read_memory(&log, "/nowhere/fuzz.yaml", text, size, wants_files, &has_name, &study);
        iwt_fuzz_check_log(status, errors);
        iwt_fuzz_require((status == IW_OK) == (study != NULL));
        if (status == IW_OK && wants_files) {
            check_study(study, size);
        }
        iw_study_free(study);
    }
    return 0;
}
