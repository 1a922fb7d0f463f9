/* Which clock a host has.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <unistd.h>

#include "core/base/hash.h"
#include "core/base/sysfile.h"
#include "mpi/clock_sync.h"

/* The name is part of it although the boot id should do: virtual machines restored from one image share that.
 */
uint64_t iwi_clock_host_key(void)
{
    char text[256] = "";
    struct iwi_hash digest;
    ssize_t length;

    iwi_hash_init(&digest, iwi_hash_key);
    if (gethostname(text, sizeof text - 1) == 0) {
        iwi_hash_add_text(&digest, text);
    }
    (void)iwi_sysfile_line("", "/proc/sys/kernel/random/boot_id", text, sizeof text);
    iwi_hash_add_text(&digest, text);
    (void)iwi_sysfile_line("", "/sys/devices/system/clocksource/clocksource0/current_clocksource", text,
                           sizeof text);
    iwi_hash_add_text(&digest, text);
    length = readlink("/proc/self/ns/time", text, sizeof text - 1);
    text[length > 0 ? length : 0] = '\0';
    iwi_hash_add_text(&digest, text);
    return iwi_hash_value(&digest);
}
