/* What a recording is made of.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdlib.h>

#include "core/base/attribute_text.h"
#include "core/base/base.h"
#include "core/base/order.h"
#include "features/recordings/convert/convert_csv.h"
#include "features/recordings/noise_figure.h"
#include "features/recordings/recordings.h"
#include "features/recordings/spectrum/spectrum_report.h"
#include "features/tables.h"

enum { ONE_BY_ONE = IWI_FOLD_ROWS }; /* more CPUs are shown with the worst first */

static iw_status check(const iw_log *log, const char *file, const void *subject)
{
    return iwi_noise_check(log, file, subject);
}

/* ---- tables ---- */

static void add_source(struct iwi_document *doc, const char *kind, const char *name, const iw_noise_row *row)
{
    iwi_row(doc, kind, name, iwi_count(doc, row->count), iwi_rate(doc, row->rate_hz),
            iwi_percent_short(doc, row->share), iwi_ns_short(doc, row->median_ns),
            iwi_ns_short(doc, row->p99_ns), iwi_ns_short(doc, row->max_ns),
            row->period_ns > 0.0 ? iwi_ns_short(doc, row->period_ns) : "");
}

static void show_sources(struct iwi_document *doc, const iw_noise_facts *facts)
{
    IWI_TABLE(doc, "Detours by source, the largest share first", {"class", IWI_WORDS}, {"source", IWI_WORDS},
              {"detours", IWI_NUMBER}, {"rate", IWI_NUMBER}, {"share", IWI_NUMBER}, {"median", IWI_NUMBER},
              {"p99", IWI_NUMBER}, {"max", IWI_NUMBER}, {"period", IWI_NUMBER});
    if (facts->source_count > 1) {
        add_source(doc, "all", "", &facts->all);
    }
    for (size_t i = 0; i < facts->source_count; i++) {
        const iw_noise_origin *origin = &facts->sources[i];

        add_source(doc, iwi_origin_class(origin), origin->source.name, &origin->row);
    }
}

/* Larger shares first, equal ones in their order. */
IWI_COMPARE(compare_cpus, iw_noise_cpu, IWI_FALLING(row.share), IWI_RISING(cpu))

static void show_cpus(struct iwi_document *doc, const iw_noise_facts *facts)
{
    const bool is_quanta = iw_probe_has_quanta(facts->probe), is_whole = facts->cpu_count <= ONE_BY_ONE;
    iw_noise_cpu *order = iwi_arena_take(&doc->arena, facts->cpu_count, sizeof *order);

    if (order == NULL) {
        return;
    }
    for (size_t i = 0; i < facts->cpu_count; i++) {
        order[i] = facts->cpus[i];
    }
    if (!is_whole) {
        iwi_sort(order, facts->cpu_count, compare_cpus);
    }
    IWI_TABLE(
        doc,
        iwi_say(doc, "%s by CPU%s", is_quanta ? "Losses" : "Detours", is_whole ? "" : ", the worst first"),
        {"CPU", IWI_NUMBER}, {is_quanta ? "quanta" : "detours", IWI_NUMBER}, {"rate", IWI_NUMBER},
        {"share", IWI_NUMBER}, {"median", IWI_NUMBER}, {"p99", IWI_NUMBER}, {"max", IWI_NUMBER});
    for (size_t i = 0; i < facts->cpu_count; i++) {
        const iw_noise_row *row = &order[i].row;

        iwi_row(doc, iwi_say(doc, "%" PRIu32, order[i].cpu), iwi_count(doc, row->count),
                iwi_rate(doc, row->rate_hz), iwi_percent_short(doc, row->share),
                iwi_ns_short(doc, row->median_ns), iwi_ns_short(doc, row->p99_ns),
                iwi_ns_short(doc, row->max_ns));
    }
    if (!is_whole) {
        double sum = 0.0;

        for (size_t i = ONE_BY_ONE; i < facts->cpu_count; i++) {
            sum += order[i].row.share;
        }
        iwi_note(doc, "The other %zu CPUs: %s to %s, mean %s.", facts->cpu_count - ONE_BY_ONE,
                 iwi_percent_short(doc, order[facts->cpu_count - 1].row.share),
                 iwi_percent_short(doc, order[ONE_BY_ONE].row.share),
                 iwi_percent_short(doc, sum / (double)(facts->cpu_count - ONE_BY_ONE)));
    }
}

void iwi_noise_tables(struct iwi_document *doc, const iw_noise_facts *facts)
{
    if (!iw_probe_has_quanta(facts->probe) && facts->source_count > 0) {
        iwi_section(doc, "sources", "Sources");
        show_sources(doc, facts);
    }
    if (facts->cpu_count > 1 || (facts->cpu_count == 1 && iw_probe_has_quanta(facts->probe))) {
        iwi_section(doc, "cpus", "CPUs");
        show_cpus(doc, facts);
    }
}

/* ---- pictures ---- */

static void show_scatter(struct iwi_document *doc, const iw_noise_report *report, bool is_by_source)
{
    struct iwi_figure *figure = NULL;
    const iw_status status = iwi_noise_scatter_figure(doc->log, report, is_by_source, &figure);

    iwi_show_figure(doc, status, figure);
}

void iwi_noise_figures(struct iwi_document *doc, const iw_noise_report *report)
{
    struct iwi_figure *histogram = NULL, *rates = NULL;
    iw_status status;

    if (report->picture.point_count == 0) {
        return;
    }
    iwi_only(doc, IWI_ON_PAGES | IWI_IN_PLOTS);
    show_scatter(doc, report, true);
    iwi_only(doc, IWI_ON_PAGES);
    status = iwi_noise_histogram_figure(doc->log, report, &histogram);
    iwi_show_figure(doc, status, histogram);
    iwi_only(doc, IWI_IN_PLOTS);
    status = iwi_noise_rates_figure(doc->log, report, &rates);
    iwi_show_figure(doc, status, rates);
    iwi_only(doc, IWI_EVERYWHERE);
}

/* Bins of 1, 2, 5 for a terminal: two of the picture's are one. */
static bool is_next_bin(const iw_noise_bin *bin)
{
    const double digits = bin->from_ns / pow(10.0, floor(log10(bin->from_ns * 1.0001)));

    return digits < 1.2 || (digits > 1.8 && digits < 2.5) || (digits > 4.0 && digits < 6.0);
}

static void add_bin(struct iwi_document *doc, const iw_noise_bin *bin, double all_ns)
{
    const double bar = log2(1.0 + (double)bin->count);

    iwi_row(doc, iwi_ns_round(doc, bin->from_ns), iwi_ns_round(doc, bin->to_ns), iwi_count(doc, bin->count),
            bin->count > 0 ? iwi_percent_short(doc, bin->time_ns / all_ns) : "");
    iwi_bar(doc, (iw_estimate){bar, bar, bar});
}

static void show_bins(struct iwi_document *doc, const iw_noise_report *report)
{
    const bool is_quanta = iw_probe_has_quanta(report->facts.probe);
    const iw_noise_picture *picture = &report->picture;
    const uint64_t none = report->facts.all.count - picture->count;
    iw_noise_bin sum = {.count = 0};
    double all_ns = 0.0;

    IWI_TABLE(doc, "", {"from", IWI_NUMBER}, {"to", IWI_NUMBER},
              {is_quanta ? "quanta" : "detours", IWI_NUMBER}, {"of noise", IWI_NUMBER},
              {"(number, logarithmic)", IWI_BAR});
    iwi_unfold(doc);
    for (size_t i = 0; i < picture->bin_count; i++) {
        all_ns += picture->bins[i].time_ns;
    }
    if (report->facts.all.count > picture->count) {
        iwi_row(doc, "none", "", iwi_count(doc, none), "");
    }
    for (size_t i = 0; i < picture->bin_count; i++) {
        const iw_noise_bin *bin = &picture->bins[i];

        if (sum.count == 0 && sum.to_ns <= 0.0) {
            sum.from_ns = bin->from_ns;
        }
        sum.count += bin->count;
        sum.time_ns += bin->time_ns;
        sum.to_ns = bin->to_ns;
        if (i + 1 == picture->bin_count || is_next_bin(bin + 1)) {
            add_bin(doc, &sum, all_ns);
            sum = (iw_noise_bin){.count = 0};
        }
    }
}

static void show_text_pictures(struct iwi_document *doc, const iw_noise_report *report)
{
    if (report->picture.point_count == 0) {
        return;
    }
    iwi_only(doc, IWI_IN_TEXT);
    iwi_section(doc, "detours", "When, and how long");
    show_scatter(doc, report, false);
    iwi_note(doc, "In a cell \xe2\x96\x91 5, \xe2\x96\x92 50, \xe2\x96\x93 500, \xe2\x96\x88 5000 or more, "
                  "else each a dot.");
    if (report->picture.stride > 1) {
        iwi_more(doc, " Beside the %zu longest, one of %zu is drawn for all of them.",
                 report->picture.longest_count, report->picture.stride);
    }
    show_bins(doc, report);
    iwi_only(doc, IWI_EVERYWHERE);
}

/* ---- the document ---- */

static void show_spectrum(struct iwi_document *doc, const iw_noise_report *report)
{
    if (report->spectrum == NULL && report->no_spectrum == NULL) {
        return;
    }
    iwi_section(doc, "spectrum", "What comes at regular intervals");
    if (report->spectrum == NULL) {
        iwi_paragraph(doc, "Its frequencies are not known: %s.", report->no_spectrum);
        return;
    }
    iwi_paragraph(doc, "%s", iwi_spectrum_verdict(doc, report->spectrum));
    iwi_spectrum_show(doc, report->spectrum);
}

static void show_attributes(struct iwi_document *doc, const iw_noise_facts *facts)
{
    iwi_only(doc, IWI_ON_PAGES);
    iwi_section(doc, "origin", "Origin");
    IWI_TABLE(doc, "How, when and where this was measured", {"what", IWI_WORDS}, {"value", IWI_WORDS});
    for (size_t i = 0; i < facts->attribute_count; i++) {
        const iw_attribute *attribute = &facts->attributes[i];

        iwi_row(doc, attribute->name, iwi_attribute_text(attribute->name, attribute->value));
    }
    iwi_only(doc, IWI_EVERYWHERE);
}

static void write_doc(struct iwi_document *doc, const void *subject)
{
    const iw_noise_report *report = subject;

    iwi_title(doc, "Noise of %s", iwi_noise_host(report));
    iwi_subtitle(doc, "Recording %s", report->name);
    iwi_noise_verdict(doc, report);
    iwi_noise_provenance(doc, report);
    iwi_noise_figures(doc, report);
    iwi_noise_tables(doc, &report->facts);
    iwi_noise_interrupts(doc, &report->facts);
    show_text_pictures(doc, report);
    show_spectrum(doc, report);
    show_attributes(doc, &report->facts);
    iwi_section(doc, "certainty", "Keep in mind");
    iwi_noise_warnings(doc, &report->facts);
    if (report->spectrum != NULL) {
        iwi_spectrum_notes(doc, report->spectrum);
    }
}

/* Each detour. Through memory, since `out` need not be a file; so many rows at a time. */
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

IWI_OF(bool, has_csv, iw_noise_report, it->recording != NULL)

static iw_status write_csv(const iw_log *log, const void *subject, FILE *out)
{
    const iw_recording *recording = ((const iw_noise_report *)subject)->recording;
    struct iwi_out memory;

    IW_TRY(iwi_out_open_memory(log, &memory));
    (void)fprintf(out, "%s\n", iwi_csv_heads[recording->probe]);
    for (size_t c = 0; c < recording->cpu_count; c++) {
        write_cpu(out, recording, &recording->cpus[c], &memory);
    }
    IW_TRY(iwi_out_close(&memory));
    return iwi_check_written(log, out, "the detours");
}

const struct iwi_kind iwi_noise_kind = {
    .name = "noise",
    .schema_id = "idlewave.noise/4",
    .about = "A recording, from `idlewave noise show --format json`. CSV has the detours themselves: "
             "`cpu,start_ns,duration_ns,class,source`, where the source is the one with the largest part; of "
             "FWQ and FTQ a line for each quantum, with `duration_ns` or `work`",
    .older_id = "idlewave.noise/3",
    .schema = &iwi_noise_schema,
    .write_doc = write_doc,
    .check = check,
    .has_csv = has_csv,
    .write_csv = write_csv,
};

iw_doc iw_noise_doc(const iw_noise_report *report)
{
    return (iw_doc){&iwi_noise_kind, report};
}
