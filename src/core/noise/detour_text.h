/* Reads noise files in text form: docs/reference/formats/noise-text.md.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_DETOUR_TEXT_H
#define IWI_DETOUR_TEXT_H

#include <stdio.h>

#include <idlewave/time.h>

/* Detours as they stand in the file. */
struct iwi_detour_rows {
    iw_time *start_ps, *duration_ps;
    size_t count;
    iw_time length_ps; /* 0: the file does not say */
};

/* `path` is for messages. On failure nothing is held; else release the rows. */
IW_NODISCARD iw_status iwi_detour_text_read(const iw_log *log, FILE *in, const char *path,
                                            struct iwi_detour_rows *rows_p);

void iwi_detour_rows_release(struct iwi_detour_rows *rows);

#endif
