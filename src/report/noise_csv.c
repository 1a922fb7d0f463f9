/* Recordings as CSV: one line a detour, or one line a quantum.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/noise_report.h>

#include "base/base.h"
#include "format/convert_csv.h"
#include "report/report.h"

void iwi_write_csv_field(FILE *out, const char *text)
{
    if (!iwi_csv_needs_quotes(text)) {
        (void)fputs(text, out);
        return;
    }
    (void)fputc('"', out);
    for (; *text != '\0'; text++) {
        if (*text == '"') {
            (void)fputc('"', out);
        }
        (void)fputc(*text, out);
    }
    (void)fputc('"', out);
}

static void write_detours(FILE *out, const iw_recording *recording, const iw_detours *cpu)
{
    for (size_t i = 0; i < cpu->count; i++) {
        const iw_source *source = &recording->sources[cpu->source[i]];

        (void)fprintf(out, "%" PRIu32 ",%" PRId64 ",%" PRId64 ",%s,", cpu->cpu, cpu->start_ns[i],
                      cpu->duration_ns[i], iw_class_name(source->kind));
        iwi_write_csv_field(out, source->name);
        (void)fputc('\n', out);
    }
}

static void write_quanta(FILE *out, const iw_detours *cpu)
{
    for (size_t i = 0; i < cpu->sample_count; i++) {
        (void)fprintf(out, "%" PRIu32 ",%" PRId64 ",", cpu->cpu, cpu->sample_start_ns[i]);
        iwi_write_real(out, cpu->sample[i]);
        (void)fputc('\n', out);
    }
}

iw_status iw_noise_write_csv(const iw_log *log, const iw_recording *recording, FILE *out)
{
    static const char *const heads[] = {
        [IW_PROBE_SELFISH] = "cpu,start_ns,duration_ns,class,source\n",
        [IW_PROBE_FWQ] = "cpu,start_ns,duration_ns\n",
        [IW_PROBE_FTQ] = "cpu,start_ns,work\n",
    };

    (void)fputs(heads[recording->probe], out);
    for (size_t c = 0; c < recording->cpu_count; c++) {
        if (recording->probe == IW_PROBE_SELFISH) {
            write_detours(out, recording, &recording->cpus[c]);
        } else {
            write_quanta(out, &recording->cpus[c]);
        }
    }
    return iwi_check_written(log, out, "the detours");
}
