/* Comparisons for people: the verdict, the numbers, the sources, how sure.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>

#include "base/base.h"
#include "report/kinds/compare_report.h"

enum {
    LABEL_COLUMNS = 24, /* class, a space and the name of a source */
    CLASS_COLUMNS = 8,
    NAME_COLUMNS = 15,
    FILE_COLUMNS = 40,
    MOST_SOURCES = 15
};

/* Writes a number of a metric: "0.41 %", "263/s", "2.02 us"; "-" if there is none. */
static const char *value_text(iw_compare_metric metric, double value, char buf[IWI_NUMBER_SIZE])
{
    if (!isfinite(value)) {
        snprintf(buf, IWI_NUMBER_SIZE, "-");
        return buf;
    }
    switch (metric) {
    case IW_COMPARE_SHARE: return iwi_share_text(value, buf);
    case IW_COMPARE_RATE: return iwi_rate_text(value, buf);
    default: return iwi_ns_short_text(value, buf);
    }
}

/* The same with a sign; shares with three decimals where two would not show them. */
static const char *change_text(iw_compare_metric metric, double value, char buf[IWI_NUMBER_SIZE])
{
    char number[IWI_NUMBER_SIZE];

    if (metric == IW_COMPARE_SHARE && fabs(value) < 0.000005) {
        snprintf(buf, IWI_NUMBER_SIZE, "0");
        return buf;
    }
    snprintf(buf, IWI_NUMBER_SIZE, "%s%.30s",
             isfinite(value) && value != 0.0 ? (value < 0.0 ? "-" : "+") : "",
             value_text(metric, fabs(value), number));
    return buf;
}

static void write_row(FILE *out, const char *label, iw_compare_metric metric, const iw_compare_value *value)
{
    char a[IWI_NUMBER_SIZE], b[IWI_NUMBER_SIZE], change[IWI_NUMBER_SIZE], low[IWI_NUMBER_SIZE],
        high[IWI_NUMBER_SIZE];

    (void)fprintf(out, "%-*s %9s %9s %9s", LABEL_COLUMNS, label, value_text(metric, value->a, a),
                  value_text(metric, value->b, b), change_text(metric, value->b - value->a, change));
    if (isfinite(value->low)) {
        (void)fprintf(out, "  %s to %s", change_text(metric, value->low, low),
                      change_text(metric, value->high, high));
    }
    (void)fputc('\n', out);
}

static void write_head(FILE *out, const char *label)
{
    (void)fprintf(out, "\n%-*s %9s %9s %9s  %s\n", LABEL_COLUMNS, label, "A", "B", "B - A", "95 % interval");
}

static void write_distance(FILE *out, const char *label, const char *distance, const char *by_chance,
                           const iw_compare_distance *value)
{
    (void)fprintf(out, "%-*s %9s  ", LABEL_COLUMNS, label, distance);
    if (isinf(value->by_chance)) {
        (void)fputs("too few detours to judge\n", out);
    } else {
        (void)fprintf(out, "chance alone: up to %s (p %s%.3f)\n", by_chance, value->p < 0.001 ? "< " : "= ",
                      fmax(value->p, 0.001));
    }
}

static void write_distances(FILE *out, const iw_noise_comparison *c)
{
    char distance[IWI_NUMBER_SIZE], by_chance[IWI_NUMBER_SIZE];

    if (isnan(c->ks.distance)) {
        return;
    }
    snprintf(distance, sizeof distance, "%.3f", c->ks.distance);
    snprintf(by_chance, sizeof by_chance, "%.3f", c->ks.by_chance);
    write_distance(out, "KS distance", distance, by_chance, &c->ks);
    (void)iwi_ns_short_text(c->wasserstein_ns.distance, distance);
    if (isfinite(c->wasserstein_ns.by_chance)) {
        (void)iwi_ns_short_text(c->wasserstein_ns.by_chance, by_chance);
    }
    write_distance(out, "Wasserstein distance", distance, by_chance, &c->wasserstein_ns);
}

static void write_metrics(FILE *out, const iw_noise_comparison *c, bool is_quanta)
{
    static const char *const of_detours[IW_COMPARE_METRICS] = {"time lost", "detours", "median detour",
                                                               "99th percentile", "longest detour"};
    static const char *const of_quanta[IW_COMPARE_METRICS] = {"time lost", "", "median loss of a quantum",
                                                              "99th percentile", "largest loss"};

    write_head(out, "");
    for (iw_compare_metric m = IW_COMPARE_SHARE; m < IW_COMPARE_METRICS; m++) {
        if (!is_quanta || m != IW_COMPARE_RATE) {
            write_row(out, is_quanta ? of_quanta[m] : of_detours[m], m, &c->metrics[m]);
        }
    }
    write_distances(out, c);
}

static void write_sources(FILE *out, const iw_noise_comparison *c)
{
    const size_t shown = c->source_count <= MOST_SOURCES ? c->source_count : MOST_SOURCES - 1;
    char label[IWI_NAME_SIZE], plain[IWI_NAME_SIZE], share_a[IWI_NUMBER_SIZE], share_b[IWI_NUMBER_SIZE];
    double rest_a = 0.0, rest_b = 0.0;

    if (c->source_count == 0) {
        return;
    }
    write_head(out, "class    source");
    for (size_t i = 0; i < shown; i++) {
        const iw_source *source = &c->sources[i].source;

        snprintf(label, sizeof label, "%-*s %.*s", CLASS_COLUMNS, iw_class_name(source->kind), NAME_COLUMNS,
                 iwi_plain_name(source->name, NAME_COLUMNS, plain));
        write_row(out, label, IW_COMPARE_SHARE, &c->sources[i].share);
    }
    for (size_t i = shown; i < c->source_count; i++) {
        rest_a += c->sources[i].share.a;
        rest_b += c->sources[i].share.b;
    }
    if (shown < c->source_count) {
        (void)fprintf(out, "%zu more sources with smaller differences: %s and %s\n", c->source_count - shown,
                      iwi_share_text(rest_a, share_a), iwi_share_text(rest_b, share_b));
    }
}

/* Names the source with most of the difference if it is beyond chance and in its direction. */
static void append_cause(char *paragraph, const iw_noise_comparison *c)
{
    const iw_compare_value *all = &c->metrics[IW_COMPARE_SHARE];
    const iw_compare_source *top = c->sources;
    const double sign = all->b > all->a ? 1.0 : -1.0;
    char plain[IWI_NAME_SIZE], change[IWI_NUMBER_SIZE];

    if (c->source_count == 0 || c->verdict == IW_COMPARE_SAME || c->opts.metric != IW_COMPARE_SHARE) {
        return;
    }
    if (sign * top->share.low <= 0.0 || sign * top->share.high <= 0.0) {
        iwi_append(paragraph, " No single source changed beyond chance in that direction.");
        return;
    }
    iwi_append(paragraph, " The largest part is %s%s%s: %s", iw_class_name(top->source.kind),
               top->source.name[0] != '\0' ? " " : "", iwi_plain_name(top->source.name, FILE_COLUMNS, plain),
               change_text(IW_COMPARE_SHARE, top->share.b - top->share.a, change));
    iwi_append(paragraph, "%s.",
               !top->is_in_a ? ", which A does not have" : (!top->is_in_b ? ", which B does not have" : ""));
}

static void append_numbers(char *paragraph, const iw_noise_comparison *c)
{
    const iw_compare_metric m = c->opts.metric;
    const iw_compare_value *value = &c->metrics[m];
    char a[IWI_NUMBER_SIZE], b[IWI_NUMBER_SIZE], change[IWI_NUMBER_SIZE], low[IWI_NUMBER_SIZE],
        high[IWI_NUMBER_SIZE];

    iwi_append(paragraph, ": %s%s against %s", value_text(m, value->b, b),
               m == IW_COMPARE_SHARE ? " of the time" : "",
               isnan(value->a) ? "none, as there are no detours" : value_text(m, value->a, a));
    if (isfinite(value->low)) {
        iwi_append(paragraph, " (difference %s, 95 %% interval %s to %s)",
                   change_text(m, value->b - value->a, change), change_text(m, value->low, low),
                   change_text(m, value->high, high));
    }
    iwi_append(paragraph, ".");
}

/* Only percentiles can be missing: of no detours, or of so few that draws of blocks meet none. */
static void write_doubt(FILE *out, const iw_compared *compared)
{
    const iw_noise_comparison *c = compared->comparison;
    char paragraph[IWI_PARAGRAPH_SIZE] = "", a[IWI_NAME_SIZE], b[IWI_NAME_SIZE];

    (void)iwi_plain_name(compared->name_a, FILE_COLUMNS, a);
    (void)iwi_plain_name(compared->name_b, FILE_COLUMNS, b);
    iwi_append(paragraph, "Cannot tell whether %s has a longer tail (p99) than %s: ", b, a);
    if (c->b.count == 0) {
        iwi_append(paragraph, "%s no detours", c->a.count == 0 ? "neither has" : "it has");
    } else {
        iwi_append(paragraph, "there are too few detours (%" PRIu64 " against %" PRIu64 ")", c->b.count,
                   c->a.count);
    }
    iwi_append(paragraph, ", so there is no percentile to judge by. Judge by the metric share or rate.");
    iwi_write_wrapped(out, paragraph);
}

static void write_verdict(FILE *out, const iw_compared *compared)
{
    static const char *const worse[IW_COMPARE_METRICS] = {[IW_COMPARE_SHARE] = "is noisier than",
                                                          [IW_COMPARE_RATE] = "has more detours than",
                                                          [IW_COMPARE_P99] = "has a longer tail (p99) than"};
    static const char *const better[IW_COMPARE_METRICS] = {[IW_COMPARE_SHARE] = "is quieter than",
                                                           [IW_COMPARE_RATE] = "has fewer detours than",
                                                           [IW_COMPARE_P99] =
                                                               "has a shorter tail (p99) than"};
    const iw_noise_comparison *c = compared->comparison;
    char paragraph[IWI_PARAGRAPH_SIZE] = "", a[IWI_NAME_SIZE], b[IWI_NAME_SIZE], percent[IWI_NUMBER_SIZE];
    const char *relation = "does not differ beyond chance from";

    if (c->verdict == IW_COMPARE_UNKNOWN) {
        write_doubt(out, compared);
        return;
    }
    if (c->verdict != IW_COMPARE_SAME) {
        relation = c->verdict == IW_COMPARE_BETTER ? better[c->opts.metric] : worse[c->opts.metric];
    }
    iwi_append(paragraph, "%s %s %s", iwi_plain_name(compared->name_b, FILE_COLUMNS, b), relation,
               iwi_plain_name(compared->name_a, FILE_COLUMNS, a));
    append_numbers(paragraph, c);
    if (c->verdict == IW_COMPARE_SLIGHT) {
        iwi_append(paragraph, " That may be within the tolerance of %s.",
                   iwi_share_text(c->opts.tolerance, percent));
    }
    append_cause(paragraph, c);
    iwi_write_wrapped(out, paragraph);
}

static void write_side(FILE *out, const char *letter, const char *name, const iw_recording *recording,
                       const iw_compare_side *side)
{
    char text[IWI_PARAGRAPH_SIZE] = "", plain[IWI_NAME_SIZE], number[IWI_NUMBER_SIZE];

    iwi_append(text, "%s is %s: %zu CPU%s, %s, ", letter, iwi_plain_name(name, FILE_COLUMNS, plain),
               side->cpu_count, side->cpu_count == 1 ? "" : "s",
               iwi_ns_round_text((double)side->length_ns, number));
    iwi_append(text, "%s %s", iwi_count_text(side->count, number),
               recording->probe == IW_PROBE_SELFISH ? "detours" : "quanta");
    iwi_write_wrapped(out, text);
}

static void write_note(void *arg, const char *text)
{
    iwi_write_item(arg, text);
}

iw_status iw_compare_write_text(const iw_log *log, const iw_compared *compared, FILE *out)
{
    const iw_noise_comparison *c = compared->comparison;

    write_verdict(out, compared);
    (void)fputc('\n', out);
    write_side(out, "A", compared->name_a, compared->a, &c->a);
    write_side(out, "B", compared->name_b, compared->b, &c->b);
    write_metrics(out, c, compared->a->probe != IW_PROBE_SELFISH);
    write_sources(out, c);
    (void)fputs("\nHow sure:\n", out);
    iwi_compare_notes(compared, write_note, out);
    return iwi_check_written(log, out, "the comparison");
}
