/* Reading the SPECs of noise sources: "name:FIELD,FIELD". Every message names the whole spec.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_SPEC_H
#define IWI_SPEC_H

#include <idlewave/time.h>

enum { IWI_FIELD_SIZE = 96 };

/* The text behind "name:", or NULL when `spec` does not start so. */
const char *iwi_spec_arguments(const char *spec, const char *name);

/* Cuts `arguments` at the first count - 1 commas. `usage` and `example` tell what to write instead. */
IW_NODISCARD iw_status iwi_spec_split(const iw_log *log, const char *spec, const char *arguments,
                                      const char *usage, const char *example, size_t count,
                                      char fields[][IWI_FIELD_SIZE]);

/* "fixed:T, exp:MEAN": all that the function has, NULL behind the last. Returns `buf`. */
char *iwi_list_usages(const char *(*usage)(size_t index), char *buf, size_t size);

/* As iw_parse_time() and so on, with the spec in front of what they log. */
IW_NODISCARD iw_status iwi_spec_time(const iw_log *log, const char *spec, const char *field, iw_time *ps_p);
IW_NODISCARD iw_status iwi_spec_rate(const iw_log *log, const char *spec, const char *field,
                                     iw_time *period_ps_p);
IW_NODISCARD iw_status iwi_spec_share(const iw_log *log, const char *spec, const char *field,
                                      double *share_p);

#endif
