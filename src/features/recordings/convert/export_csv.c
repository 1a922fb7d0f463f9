/* Writes recordings as CSV, with what has no column in comments before the rows.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "features/recordings/convert/convert_csv.h"
#include "kit/schema/csv.h"

const char *const iwi_csv_heads[] = {
    [IW_PROBE_SELFISH] = "cpu,start_ns,duration_ns,class,source",
    [IW_PROBE_FWQ] = "cpu,start_ns,duration_ns",
    [IW_PROBE_FTQ] = "cpu,start_ns,work",
    [IW_PROBE_WATCH] = "cpu,wanted_ns,duration_ns,class,source",
};

/* The shorter of two forms that gives the same number when read; always with a point. */
static void write_real(struct iwi_out *out, double value)
{
    char digits[32];
    char *comma;

    snprintf(digits, sizeof digits, "%.15g", value);
    if (strtod(digits, NULL) != value) {
        snprintf(digits, sizeof digits, "%.17g", value);
    }
    comma = strchr(digits, ',');
    if (comma != NULL) {
        *comma = '.';
    }
    iwi_out_bytes(out, digits, strlen(digits));
}

static void put_to_out(void *out, const char *bytes, size_t count)
{
    iwi_out_bytes(out, bytes, count);
}

static void write_field(struct iwi_out *out, const char *text)
{
    iwi_csv_put(text, put_to_out, out);
}

/* On one line. */
static void write_attribute(struct iwi_out *out, const iw_attribute *attribute)
{
    if (strpbrk(attribute->name, ":\r\n") != NULL) {
        return;
    }
    iwi_out_print(out, "# origin %.200s: ", attribute->name);
    for (const char *c = attribute->value; *c != '\0'; c++) {
        const bool is_break = *c == '\n' || *c == '\r';

        iwi_out_bytes(out, is_break ? " " : iscntrl((unsigned char)*c) ? "?" : c, 1);
    }
    iwi_out_bytes(out, "\n", 1);
}

static void write_facts(struct iwi_out *out, const iw_detours *cpu)
{
    iwi_out_print(out, "# cpu %" PRIu32 ": length_ns %" PRId64 ", t_min_ns ", cpu->cpu, cpu->length_ns);
    write_real(out, cpu->t_min_ns);
    iwi_out_print(out, ", threshold_ns ");
    write_real(out, cpu->threshold_ns);
    iwi_out_print(out, ", dropped %" PRIu64 "\n", cpu->dropped);
}

static void write_head(const iw_recording *recording, struct iwi_out *out)
{
    const bool is_quanta = iw_probe_has_quanta(recording->probe);
    size_t rows = 0;

    for (size_t i = 0; i < recording->cpu_count; i++) {
        rows += iwi_csv_row_count(recording, &recording->cpus[i]);
    }
    iwi_out_print(out, "# rows: %zu\n# rung: %s\n", rows, iw_rung_name(recording->rung));
    if (is_quanta) {
        iwi_out_print(out, "# quantum_ns: %" PRId64 "\n", recording->quantum_ns);
    }
    for (size_t i = 0; i < recording->cpu_count; i++) {
        write_facts(out, &recording->cpus[i]);
    }
    for (size_t i = 0; i < recording->attribute_count; i++) {
        write_attribute(out, &recording->attributes[i]);
    }
    iwi_out_print(out, "%s\n", iwi_csv_heads[recording->probe]);
}

static void write_detour(const iw_recording *recording, const iw_detours *cpu, size_t i, struct iwi_out *out)
{
    const iw_source *source = &recording->sources[cpu->source[i]];

    iwi_out_print(out, "%" PRIu32 ",%" PRId64 ",%" PRId64 ",%s,", cpu->cpu, cpu->start_ns[i],
                  cpu->duration_ns[i], iw_class_name(source->kind));
    write_field(out, source->name);
    iwi_out_bytes(out, "\n", 1);
}

static void write_quantum(const iw_detours *cpu, size_t i, struct iwi_out *out)
{
    iwi_out_print(out, "%" PRIu32 ",%" PRId64 ",", cpu->cpu, cpu->sample_start_ns[i]);
    write_real(out, cpu->sample[i]);
    iwi_out_bytes(out, "\n", 1);
}

size_t iwi_csv_row_count(const iw_recording *recording, const iw_detours *cpu)
{
    return !iw_probe_has_quanta(recording->probe) ? cpu->count : cpu->sample_count;
}

void iwi_csv_write_rows(const iw_recording *recording, const iw_detours *cpu, size_t begin, size_t end,
                        struct iwi_out *out)
{
    for (size_t i = begin; i < end; i++) {
        if (!iw_probe_has_quanta(recording->probe)) {
            write_detour(recording, cpu, i, out);
        } else {
            write_quantum(cpu, i, out);
        }
    }
}

static void write_csv(const iw_recording *recording, struct iwi_out *out)
{
    write_head(recording, out);
    for (size_t i = 0; i < recording->cpu_count; i++) {
        const iw_detours *cpu = &recording->cpus[i];

        iwi_csv_write_rows(recording, cpu, 0, iwi_csv_row_count(recording, cpu), out);
    }
}

const struct iwi_convert_ops iwi_convert_csv = {
    .about = {"csv", "one line per detour, as 'noise show' writes it as CSV", ".csv", true, true},
    .in_words = "csv",
    .losses = IWI_LOSES_PARTS | IWI_LOSES_DETOURS_OF_QUANTA,
    .matches = iwi_csv_matches,
    .read = iwi_csv_read,
    .write = write_csv,
};
