/* Names of what an answer rests on.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/model.h>

static const char *const names[] = {
    [IW_SUPPORT_EXACT] = "closed form",  [IW_SUPPORT_RECURSION] = "recursion",
    [IW_SUPPORT_OBSERVED] = "recording", [IW_SUPPORT_TAIL] = "tail",
    [IW_SUPPORT_REFUSED] = "refused",
};

const char *iw_support_name(iw_support support)
{
    return support < sizeof names / sizeof names[0] ? names[support] : NULL;
}
