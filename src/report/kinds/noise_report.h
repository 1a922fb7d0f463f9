/* What the writers of recordings share.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_NOISE_REPORT_H
#define IWI_NOISE_REPORT_H

#include <idlewave/analysis.h>

#include "report/kinds/report.h"

/* ---- numbers for people, three digits, at most seven columns: "2.10 us", "1.23k/s", "<.001 %" ---- */
const char *iwi_ns_short_text(double ns, char buf[IWI_NUMBER_SIZE]);
const char *iwi_rate_text(double per_second, char buf[IWI_NUMBER_SIZE]);
const char *iwi_share_text(double share, char buf[IWI_NUMBER_SIZE]);
const char *iwi_count_text(uint64_t count, char buf[IWI_NUMBER_SIZE]);

/* As short as it can be, for round values: "60 s", "4 ms". */
const char *iwi_ns_round_text(double ns, char buf[IWI_NUMBER_SIZE]);

/* `name` fit for a terminal, in `columns` columns at most: control characters and what is not ASCII become
 * '?', the end of what is too long "..". Returns `buf`. */
enum { IWI_NAME_SIZE = 80 };
const char *iwi_plain_name(const char *name, size_t columns, char buf[IWI_NAME_SIZE]);

/* All of it, to be wrapped. */
const char *iwi_plain_text(const char *text, char buf[IWI_PARAGRAPH_SIZE]);

/* Name of a source: its class where it has none. */
const char *iwi_source_name(const iw_source *source);

/* The node's name as it calls itself, or else `name`. */
const char *iwi_host_name(const iw_recording *recording, const char *name);

/* Numbers of the rows with detours, the largest share first. Returns how many; `order` has room for all. */
size_t iwi_order_rows(const iw_noise_row *rows, size_t row_count, size_t *order);

/* Whether that CPU is in the recording, or among those that are shown of it. */
bool iwi_has_cpu(const iw_recording *recording, unsigned long cpu);

/* What one should know before believing the numbers, one sentence or two each. */
typedef void (*iwi_warning_fn)(void *arg, const char *text);
void iwi_noise_warnings(const iw_recording *recording, const iw_noise_facts *facts, iwi_warning_fn warn,
                        void *arg);

/* The detours of the recording, whatever its probe: *losses_p has to be freed by iwi_losses_free(). */
IW_NODISCARD iw_status iwi_detours_of(const iw_log *log, const iw_recording *recording,
                                      const iw_recording **detours_p, iw_recording **losses_p);

/* ---- plots of detours ---- */

struct iwi_detour_axes {
    double length_ns;               /* of the time axis */
    double low_decade, high_decade; /* powers of ten, whole, around all durations in ns */
};

/* False: there is nothing to show. */
bool iwi_detour_axes(const iw_recording *detours, struct iwi_detour_axes *axes);

/* Duration, logarithmic, over time. Nothing if there is nothing to show. */
void iwi_write_scatter(FILE *out, const iw_recording *detours);

/* How many took how long: bins of 1, 2, 5. */
void iwi_write_histogram(FILE *out, const iw_recording *detours);

#endif
