/* Fuzzes the reader of noise files, through a file in memory.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include <idlewave/noise.h>

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const int fd = memfd_create("fuzz", MFD_CLOEXEC);
    unsigned errors = 0;
    const iw_log log = {iwt_fuzz_count_error, &errors};
    iw_noise *noise;
    iw_status status;
    char path[64];

    iwt_fuzz_require(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    iwt_fuzz_require(iw_noise_new(NULL, &noise) == IW_OK);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    status = iw_noise_add(&log, noise, path);
    iwt_fuzz_check_log(status, errors);
    if (status == IW_OK) {
        const double share = iw_noise_source_share(noise, 0);

        iwt_fuzz_require(iw_noise_source_count(noise) == 1 && share >= 0 && share <= 1);
    }
    iw_noise_free(noise);
    (void)close(fd);
    return 0;
}
