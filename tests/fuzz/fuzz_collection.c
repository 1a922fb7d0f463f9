/* Fuzzes the reader of the index of a collection.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "fuzz.h"
#include "kit/files/collection/collection.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    unsigned errors = 0;
    const iw_log log = {iwt_fuzz_count_error, &errors};
    iw_collection *all;
    const iw_status status = iwi_collection_read_memory(&log, "index.yaml", (const char *)data, size, &all);

    iwt_fuzz_check_log(status, errors);
    if (status == IW_OK) {
        for (size_t i = 0; i < all->count; i++) {
            iwt_fuzz_require(iwi_collected_name_is_good(all->entries[i].name));
            iwt_fuzz_require((all->entries[i].spec == NULL) == (all->entries[i].file != NULL));
        }
        iw_collection_free(all);
    }
    return 0;
}
