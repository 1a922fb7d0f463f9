/* Fuzzes the reader of jitterdebugger's samples; HDF5 works in a process of its own.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "fuzz_import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return iwt_fuzz_import_one(&iwi_import_jitterdebugger, data, size);
}
