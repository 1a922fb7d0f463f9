/* Names and texts of the statuses, from the one list in idlewave/status.h.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/status.h>

#include "core/base/base.h"

const char *iw_status_name(iw_status status)
{
    switch (status) {
#define CASE(name, value, text) \
    case IW_##name: return #name;
        IW_STATUS_MAP(CASE)
#undef CASE
    default: return "?";
    }
}

const char *iw_status_text(iw_status status)
{
    switch (status) {
#define CASE(name, value, text) \
    case IW_##name: return text;
        IW_STATUS_MAP(CASE)
#undef CASE
    default: return "unknown status";
    }
}

const char *iw_version(void)
{
    return IW_VERSION;
}
