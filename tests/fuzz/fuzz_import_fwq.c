/* Fuzzes the reader of fixed work quanta.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "fuzz_import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return iwt_fuzz_import_one(&iwi_import_fwq, data, size);
}
