/* A log with a subject.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/base/prefix_log.h"

#include "core/base/base.h"

static void write_prefixed(void *arg, iw_log_level level, const char *text)
{
    const struct iwi_prefix_log *prefix = arg;

    (void)level;
    iwi_error(prefix->outer, "'%s': %s", prefix->subject, text);
}

void iwi_prefix_log_init(struct iwi_prefix_log *prefix, const iw_log *outer, const char *subject)
{
    *prefix = (struct iwi_prefix_log){.log = {write_prefixed, prefix}, .outer = outer, .subject = subject};
}
