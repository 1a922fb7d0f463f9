/* SPDX-License-Identifier: BSD-3-Clause */
#include "support/support.h"

#include <stdio.h>
#include <string.h>

static void keep(void *arg, iw_log_level level, const char *text)
{
    struct iwt_log *l = arg;
    const size_t used = strlen(l->text);

    l->errors += level == IW_LOG_ERROR;
    l->warnings += level == IW_LOG_WARN;
    snprintf(l->text + used, sizeof l->text - used, "%s%s\n",
             level == IW_LOG_ERROR ? "error: " : (level == IW_LOG_WARN ? "warning: " : ""), text);
}

void iwt_log_init(struct iwt_log *l)
{
    memset(l, 0, sizeof *l);
    l->log.write = keep;
    l->log.arg = l;
}

void iwt_assert_logged(const struct iwt_log *l, const char *part)
{
    if (strstr(l->text, part) == NULL) {
        fail_msg("'%s' was not logged; the log is:\n%s", part, l->text);
    }
}
