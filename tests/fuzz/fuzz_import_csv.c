/* Fuzzes the reader of recordings in CSV, and its writer.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "fuzz_import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return iwt_fuzz_import_one(&iwi_convert_csv, data, size);
}
