/* Which MPI functions a trace has: how often, how long, how many bytes.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdio.h>
#include <string.h>

#include "kit/files/trace/trace_read.h"

static struct iwi_function_use *find(struct iwi_function_uses *uses, const char *name)
{
    struct iwi_function_use *use;

    for (uint32_t i = 0; i < uses->count; i++) {
        if (strncmp(uses->of[i].name, name, sizeof uses->of[i].name - 1) == 0) {
            return &uses->of[i];
        }
    }
    if (uses->count == IWI_USES) {
        return &uses->of[IWI_USES - 1];
    }
    use = &uses->of[uses->count++];
    (void)snprintf(use->name, sizeof use->name, "%s", uses->count < IWI_USES ? name : "others");
    return use;
}

uint8_t iwi_use_number(struct iwi_function_uses *uses, const char *name)
{
    const struct iwi_function_use *use = uses != NULL && name != NULL ? find(uses, name) : NULL;

    return use == NULL || use == &uses->of[IWI_USES - 1] ? 0 : (uint8_t)(use - uses->of + 1);
}

void iwi_use_function(struct iwi_function_uses *uses, const char *name, iw_time time_ps, uint64_t bytes)
{
    struct iwi_function_use *use;

    if (uses == NULL || name == NULL) {
        return;
    }
    use = find(uses, name);
    use->calls++;
    use->bytes += bytes;
    use->time_ps += time_ps;
}
