/* The digest of one node, for `noise show`.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IW_CLI_SHOW_DIGEST_H
#define IW_CLI_SHOW_DIGEST_H

#include "options/shown_opts.h"

struct digest_shown {
    const char *node; /* NULL: the only one */
    const struct shown_opts *shown;
};

/* Returns an exit code. */
#if IW_FEATURE_FLEET
int show_digest(struct ui *ui, const struct digest_shown *wanted, const char *path);
#else
static inline int show_digest(struct ui *ui, const struct digest_shown *wanted, const char *path)
{
    (void)wanted;
    return ui_lacks(ui, path, "fleet");
}
#endif

#endif
