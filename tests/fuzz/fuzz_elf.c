/* Fuzzes the reader of ELF files, which looks at programs that are to be traced.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "kit/launch/target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    unsigned errors = 0;
    const iw_log log = {iwt_fuzz_count_error, &errors};
    const int file = memfd_create("fuzz", MFD_CLOEXEC);
    struct iwi_elf elf;
    iw_status status;

    iwt_fuzz_require(file >= 0 && write(file, data, size) == (ssize_t)size);
    status = iwi_elf_read(&log, file, "fuzz", &elf);
    iwt_fuzz_check_log(status, errors);
    if (status == IW_OK) {
        iwt_fuzz_require(elf.kind == IWI_ELF_DYNAMIC || elf.needed_count == 0);
        iwi_elf_release(&elf);
    }
    (void)close(file);
    return 0;
}
