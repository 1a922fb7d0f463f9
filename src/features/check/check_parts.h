/* What the parts of a check share.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_CHECK_PARTS_H
#define IWI_CHECK_PARTS_H

#include <math.h>

#include <idlewave/check.h>

#include "kit/text/words.h"

/* Whether it is set up, as far as is known. */
bool iwi_is_set_up(const iw_mitigation *mitigation);

/* NULL: the recording names no node, or was made from specs. */
const char *iwi_recorded_host(const iw_check *check);

/* The node that was checked: that of the recording where it names one, else that of the settings. */
const char *iwi_check_node(const iw_check *check);

/* The settings are those of another node: they say nothing about the one that was recorded. */
bool iwi_is_of_another_node(const iw_check *check);

/* Of a lower bound: what it is at most is known too. */
static inline bool iwi_has_most(const iw_check_job *job)
{
    return iwi_is_bound(job->slowdown) && job->most_slowdown > 0.0 && isfinite(job->most_slowdown);
}

/* Behind what is lost to nobody knows what. */
#define IWI_CHECK_UNEXPLAINED ", from unnamed sources that may be load; record as root to name them"

/* The requirement that limits the share of CPU time. */
#define IWI_CHECK_LOST "CPU time lost"

enum { IWI_CULPRIT_SIZE = 96 };

struct iwi_culprit {
    char name[IWI_CULPRIT_SIZE]; /* "thread/collectd" */
    const char *remedy;          /* may be NULL */
    const char *short_remedy;    /* a few words; may be NULL where `remedy` is not */
};

/* The source to begin with: of a job that misses its limit the one whose removal saves most, else the one
 * that takes most time. False: no limit of these is missed, or no source is known. */
bool iwi_check_culprit(const iw_check *check, struct iwi_culprit *culprit);

#endif
