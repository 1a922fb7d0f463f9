/* Recordings as CSV: one line a detour, or one line a quantum.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/analysis.h>

#include "base/base.h"
#include "format/import/convert_csv.h"
#include "report/kinds/report.h"

/* Through memory, since `out` need not be a file; so many rows at a time. */
static void write_cpu(FILE *out, const iw_recording *recording, const iw_detours *cpu, struct iwi_out *memory)
{
    enum { ROWS = 4096 };
    const size_t count = iwi_csv_row_count(recording, cpu);

    for (size_t i = 0; i < count && memory->status == IW_OK; i += ROWS) {
        iwi_csv_write_rows(recording, cpu, i, i + ROWS < count ? i + ROWS : count, memory);
        (void)fwrite(memory->buffer, 1, memory->used, out);
        memory->used = 0;
    }
}

iw_status iw_noise_write_csv(const iw_log *log, const iw_recording *recording, FILE *out)
{
    struct iwi_out memory;

    IW_TRY(iwi_out_open_memory(log, &memory));
    (void)fprintf(out, "%s\n", iwi_csv_heads[recording->probe]);
    for (size_t c = 0; c < recording->cpu_count; c++) {
        write_cpu(out, recording, &recording->cpus[c], &memory);
    }
    IW_TRY(iwi_out_close(&memory));
    return iwi_check_written(log, out, "the detours");
}
