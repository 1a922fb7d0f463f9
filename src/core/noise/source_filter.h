/* Which sources of a recording a user means: names, classes, patterns.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_SOURCE_FILTER_H
#define IWI_SOURCE_FILTER_H

#include <stdbool.h>

#include <idlewave/recording.h>

/* The pattern is a class, a name or "class/name", with '*', '?' and [] as in file names. */
bool iwi_source_fits(const char *pattern, const iw_source *source);

/* *is_dropped_p: by source, to be freed; NULL if the options drop none. IW_ERR_RANGE: what fits no source,
 * with a list of those that are there. */
IW_NODISCARD iw_status iwi_source_filter(const iw_log *log, const char *name, const iw_recording *recording,
                                         const iw_cut_opts *opts, bool **is_dropped_p);

#endif
