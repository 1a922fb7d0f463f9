/* A study as CSV: one line a cell.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/study.h>

#include <math.h>

#include "base/base.h"
#include "report/kinds/study_report.h"

/* Nothing for what is no number. */
static void write_number(FILE *out, double value)
{
    (void)fputc(',', out);
    if (isfinite(value)) {
        iwi_write_real(out, value);
    }
}

static void write_texts(FILE *out, const iw_cell_result *cell)
{
    const char *const texts[] = {cell->system, cell->work, cell->net, cell->noise};

    (void)fputs(cell->id, out);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        (void)fputc(',', out);
        iwi_write_csv_field(out, texts[i]);
    }
}

static void write_cell(FILE *out, const iw_cell_result *cell)
{
    double numbers[IWI_CELL_COLUMNS];

    iwi_cell_numbers(cell, numbers);
    write_texts(out, cell);
    (void)fprintf(out, ",%" PRIu32 ",%" PRIu64 ",%s", cell->ranks, cell->bytes, iwi_sync_name(cell->sync));
    write_number(out, cell->net_scale);
    (void)fprintf(out, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64, cell->trials, cell->seed, cell->messages);
    for (size_t i = 0; i < IWI_CELL_COLUMNS; i++) {
        write_number(out, numbers[i]);
    }
    (void)fputc('\n', out);
}

iw_status iw_study_write_csv(const iw_log *log, const iw_study_results *results, FILE *out)
{
    (void)fputs("id,system,work,net,noise,ranks,bytes,sync,net_scale,trials,seed,messages", out);
    for (size_t i = 0; i < IWI_CELL_COLUMNS; i++) {
        (void)fprintf(out, ",%s", iwi_cell_columns[i]);
    }
    (void)fputc('\n', out);
    for (size_t i = 0; i < results->count; i++) {
        write_cell(out, &results->cells[i]);
    }
    return iwi_check_written(log, out, "the CSV report");
}
