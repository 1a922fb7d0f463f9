/* Reads options as far as their caller knows them.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/base/opts.h"

#include <string.h>

#include "core/base/base.h"

iw_status iwi_read_opts(const iw_log *log, const char *init, const void *given, void *known, size_t size)
{
    size_t given_size = 0;

    if (given == NULL) {
        return IW_OK;
    }
    memcpy(&given_size, given, sizeof given_size);
    if (given_size < sizeof given_size) {
        return iwi_fail(log, IW_ERR_USAGE, "options without a size: begin them with %s", init);
    }
    if (given_size > size) {
        return iwi_fail(
            log, IW_ERR_USAGE,
            "options of %zu bytes, of which %s of this library has %zu: the program was built for a "
            "newer version of it",
            given_size, init, size);
    }
    memcpy(known, given, given_size);
    memcpy(known, &size, sizeof size);
    return IW_OK;
}
