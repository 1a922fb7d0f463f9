/* Tables of a recording: by source, and by CPU. 80 columns.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "report/kinds/noise_text.h"

#include <math.h>
#include <stdlib.h>

#include "base/base.h"

enum {
    CLASS_COLUMNS = 8,
    NAME_COLUMNS = 15, /* a thread's name has at most so many */
    LEFT_COLUMNS = CLASS_COLUMNS + 1 + NAME_COLUMNS,
    MOST_SOURCES = 12,
    MOST_CPUS = 10, /* so many are shown one by one */
    WORST_CPUS = 8  /* of more */
};

static void write_head(FILE *out, const char *class, const char *name, const char *what, const char *last)
{
    (void)fprintf(out, "\n%-*s %-*s %7s %7s %7s %7s %7s %7s%s\n", CLASS_COLUMNS, class, NAME_COLUMNS, name,
                  what, "rate", "share", "median", "p99", "max", last);
}

static void write_row(FILE *out, const char *class, const char *name, const iw_noise_row *row)
{
    const double times_ns[] = {row->median_ns, row->p99_ns, row->max_ns};
    char number[IWI_NUMBER_SIZE], plain[IWI_NAME_SIZE];

    (void)fprintf(out, "%-*s %-*s", CLASS_COLUMNS, class, NAME_COLUMNS,
                  iwi_plain_name(name, NAME_COLUMNS, plain));
    (void)fprintf(out, " %7s", iwi_count_text(row->count, number));
    (void)fprintf(out, " %7s", iwi_rate_text(row->rate_hz, number));
    (void)fprintf(out, " %7s", iwi_share_text(row->share, number));
    for (size_t i = 0; i < sizeof times_ns / sizeof times_ns[0]; i++) {
        (void)fprintf(out, " %7s", iwi_ns_short_text(times_ns[i], number));
    }
    if (row->period_ns > 0.0) {
        (void)fprintf(out, " %7s", iwi_ns_short_text(row->period_ns, number));
    }
    (void)fputc('\n', out);
}

static void write_sources(FILE *out, const iw_recording *recording, const iw_noise_facts *facts,
                          size_t *order)
{
    const size_t count = iwi_order_rows(facts->by_source, recording->source_count, order);
    const size_t shown = count <= MOST_SOURCES ? count : MOST_SOURCES - 1;
    double share = 0.0;
    char percent[IWI_NUMBER_SIZE];

    if (count == 0) {
        return;
    }
    write_head(out, "class", "source", "detours", "  period");
    for (size_t i = 0; i < shown; i++) {
        const iw_source *source = &recording->sources[order[i]];

        write_row(out, iw_class_name(source->kind), source->name, &facts->by_source[order[i]]);
    }
    for (size_t i = shown; i < count; i++) {
        share += facts->by_source[order[i]].share;
    }
    if (shown < count) {
        (void)fprintf(out, "%zu smaller sources: %s\n", count - shown, iwi_share_text(share, percent));
    }
    if (count > 1) {
        write_row(out, "all", "", &facts->all);
    }
}

/* One line for the CPUs that are not shown. */
static void write_other_cpus(FILE *out, const iw_noise_facts *facts, const size_t *order, size_t shown,
                             size_t count, size_t cpu_count)
{
    double low = 0.0, high = 0.0, sum = 0.0;
    char low_text[IWI_NUMBER_SIZE], high_text[IWI_NUMBER_SIZE], mean_text[IWI_NUMBER_SIZE];

    if (shown < count) {
        high = facts->by_cpu[order[shown]].share;
    }
    if (count == cpu_count) {
        low = facts->by_cpu[order[count - 1]].share;
    }
    for (size_t i = shown; i < count; i++) {
        sum += facts->by_cpu[order[i]].share;
    }
    (void)fprintf(out, "the other %zu CPUs: %s to %s, mean %s\n", cpu_count - shown,
                  iwi_share_text(low, low_text), iwi_share_text(high, high_text),
                  iwi_share_text(sum / (double)(cpu_count - shown), mean_text));
}

static void write_cpus(FILE *out, const iw_recording *recording, const iw_noise_facts *facts, size_t *order)
{
    const bool is_quanta = recording->probe != IW_PROBE_SELFISH;
    const bool is_whole = recording->cpu_count <= MOST_CPUS;
    const size_t count = iwi_order_rows(facts->by_cpu, recording->cpu_count, order);
    const size_t worst = count < WORST_CPUS ? count : WORST_CPUS;
    const size_t shown = is_whole ? recording->cpu_count : worst;
    char name[IWI_NUMBER_SIZE];

    if (recording->cpu_count == 0 || (recording->cpu_count == 1 && !is_quanta)) {
        return;
    }
    write_head(out, "CPU", is_whole ? "" : "(worst first)", is_quanta ? "quanta" : "detours", "");
    for (size_t i = 0; i < shown; i++) {
        const size_t cpu = is_whole ? i : order[i];

        snprintf(name, sizeof name, "%" PRIu32, recording->cpus[cpu].cpu);
        write_row(out, name, "", &facts->by_cpu[cpu]);
    }
    if (!is_whole) {
        write_other_cpus(out, facts, order, shown, count, recording->cpu_count);
    }
}

iw_status iwi_write_noise_tables(const iw_log *log, FILE *out, const iw_recording *recording,
                                 const iw_noise_facts *facts)
{
    const size_t most =
        recording->source_count > recording->cpu_count ? recording->source_count : recording->cpu_count;
    size_t *order = iwi_new_array(log, most, sizeof *order);

    if (order == NULL) {
        return IW_ERR_NOMEM;
    }
    if (recording->probe == IW_PROBE_SELFISH) {
        write_sources(out, recording, facts, order);
    }
    write_cpus(out, recording, facts, order);
    free(order);
    return IW_OK;
}
