/* idlewave/remedy.h - what an administrator does against a source of noise, and how far a recording reaches.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Experimental: functions and structs here may change in any release.
 */
#ifndef IW_REMEDY_H
#define IW_REMEDY_H

#include <stdbool.h>

#include <idlewave/recording.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct iw_remedy {
    const char *name; /* a few words, lowercase: "move the interrupt" */
    const char *how;  /* a sentence with the command or the kernel parameter */
    bool is_moved;    /* the source goes away when a core of the node is left to the operating system */
} iw_remedy;

/** Of a source of that class and name, as recordings have them. Never NULL. */
IW_API const iw_remedy *iw_remedy_of(iw_class kind, const char *name);

/** Up to how many ranks that meet after each `work_s` of work a recording gives estimates, about, by its
 * detours alone. 0: not even one. */
IW_API double iw_reach_ranks(const iw_recording *recording, double work_s);

#ifdef __cplusplus
}
#endif
#endif
