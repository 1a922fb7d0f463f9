/* Recordings as CSV: what its reader and its writer share.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The rows are those of `noise show --format csv`. Lines "# key: value" before them hold what has no column;
 * they may be missing.
 */
#ifndef IWI_CONVERT_CSV_H
#define IWI_CONVERT_CSV_H

#include "features/recordings/convert/convert.h"
#include "kit/files/io/convert_text.h"

/* The first line that is no comment, by probe. */
extern const char *const iwi_csv_heads[];

/* How many rows a CPU has, and its rows `begin` to `end` - 1. */
size_t iwi_csv_row_count(const iw_recording *recording, const iw_detours *cpu);
void iwi_csv_write_rows(const iw_recording *recording, const iw_detours *cpu, size_t begin, size_t end,
                        struct iwi_out *out);

bool iwi_csv_matches(const char *data, size_t size);

IW_NODISCARD iw_status iwi_csv_read(const struct iwi_import *in, iw_recording **recording_p);

#endif
