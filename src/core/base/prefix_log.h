/* A log that puts a subject in front of what parsers say that know a value only.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_PREFIX_LOG_H
#define IWI_PREFIX_LOG_H

#include <idlewave/log.h>

/* Stays where it was begun: `log` points to it. For parsers that log nothing but errors. */
struct iwi_prefix_log {
    iw_log log; /* for the parser: "'SUBJECT': what it says" */
    const iw_log *outer;
    const char *subject;
};

void iwi_prefix_log_init(struct iwi_prefix_log *prefix, const iw_log *outer, const char *subject);

#endif
