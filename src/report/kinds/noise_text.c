/* Recordings for people: the verdict first, then the tables, what to mind, and pictures.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "report/kinds/noise_text.h"

#include "analysis/recording_stats.h"
#include "base/base.h"

struct warning_list {
    FILE *out;
    size_t count;
};

static void write_warning(void *arg, const char *text)
{
    struct warning_list *list = arg;

    if (list->count++ == 0) {
        (void)fputs("\nKeep in mind:\n", list->out);
    }
    iwi_write_item(list->out, text);
}

static void write_pictures(FILE *out, const iw_recording *detours)
{
    const bool is_quanta = detours->probe != IW_PROBE_SELFISH;

    (void)fprintf(out, "\n%s over time; ", is_quanta ? "Losses" : "Detours");
    (void)fputs("in a cell \xe2\x96\x91 5, \xe2\x96\x92 50, \xe2\x96\x93 500, \xe2\x96\x88 5000 or more, "
                "else each a dot\n",
                out);
    iwi_write_scatter(out, detours);
    (void)fprintf(out, "\n%-16s %8s %8s  (bars: number, logarithmic)\n", is_quanta ? "loss" : "duration",
                  is_quanta ? "quanta" : "detours", "of noise");
    iwi_write_histogram(out, detours);
}

iw_status iw_noise_write_text(const iw_log *log, const iw_recording *recording, const iw_noise_facts *facts,
                              const char *name, FILE *out)
{
    struct warning_list warnings = {out, 0};
    const iw_recording *detours;
    iw_recording *losses;
    iw_status status;

    IW_TRY(iwi_detours_of(log, recording, &detours, &losses));
    iwi_write_noise_verdict(out, recording, facts, name);
    iwi_write_noise_origin(out, recording, facts);
    status = iwi_write_noise_tables(log, out, recording, facts);
    iwi_write_interrupts(out, recording, facts);
    iwi_noise_warnings(recording, facts, write_warning, &warnings);
    if (facts->all.max_ns > 0.0) {
        write_pictures(out, detours);
    }
    iwi_losses_free(losses);
    return status == IW_OK ? iwi_check_written(log, out, "the report") : status;
}
