/* Reads the effective capabilities of this process.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/watch/capabilities.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/base.h"
#include "core/base/sysfile.h"

/* As linux/capability.h numbers them; headers of older systems lack the last two. */
enum { SYS_ADMIN = 21, PERFMON = 38, BPF = 39 };

bool iwi_capabilities_lacking(const char *root, char text[IWI_CAPABILITIES_SIZE])
{
    char value[32];
    uint64_t have;
    bool has_bpf, has_perfmon;

    if (!iwi_sysfile_value(root, "/proc/self/status", "CapEff", ':', value, sizeof value)) {
        return false;
    }
    have = strtoull(value, NULL, 16);
    if ((have >> SYS_ADMIN & 1) != 0) {
        return false;
    }
    has_bpf = (have >> BPF & 1) != 0;
    has_perfmon = (have >> PERFMON & 1) != 0;
    snprintf(text, IWI_CAPABILITIES_SIZE, "%s%s%s", has_bpf ? "" : "CAP_BPF",
             has_bpf || has_perfmon ? "" : " and ", has_perfmon ? "" : "CAP_PERFMON");
    return !has_bpf || !has_perfmon;
}
