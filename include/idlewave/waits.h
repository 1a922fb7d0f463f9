/* idlewave/waits.h - who made the others wait: when the ranks of a traced run came to what they do together.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Experimental: functions and structs here may change in any release.
 *
 *     iw_visits *visits;
 *     const char *paths[] = {"run"};
 *     st = iw_visits_open(log, paths, 1, &visits);
 *     ...  iw_visits_free(visits);
 */
#ifndef IW_WAITS_H
#define IW_WAITS_H

#include <stddef.h>
#include <stdint.h>

#include <idlewave/log.h>
#include <idlewave/status.h>
#include <idlewave/time.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct iwi_visits iw_visits; /* opaque */

/** A traced run: a file, a folder of files, or several files (one a rank), in any format that
 * docs/reference/waits.md lists; told apart by what is in them. IW_ERR_FORMAT: none of these formats, or
 * files of several; IW_ERR_UNSUPPORTED: idlewave was built without what reads it, or it lacks what is needed.
 */
IW_API IW_NODISCARD iw_status iw_visits_open(const iw_log *log, const char *const *paths, size_t count,
                                             iw_visits **visits_p);
IW_API void iw_visits_free(iw_visits *visits);

#ifdef __cplusplus
}
#endif
#endif
