/* The documents of benchmarks: words, figures, tables.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>

#include <idlewave/internal/bench.h>

#include "core/base/base.h"
#include "features/tables.h"
#include "kit/doc/doc.h"
#include "kit/figure/figure.h"
#include "kit/text/words.h"

/* ======== figures ======== */

enum { MEDIAN = 3, P99 = 6, LONGEST = IW_BENCH_QUANTILES - 1 };

static void add_table(struct iwi_figure *figure, const double quantile_ns[IW_BENCH_QUANTILES])
{
    char number[IWI_NUMBER_SIZE];

    iwi_figure_table(figure, "How long phases take");
    iwi_figure_head(figure, true, "Share of the phases");
    iwi_figure_head(figure, false, "Take no longer than");
    for (size_t i = 0; i < IW_BENCH_QUANTILES; i++) {
        iwi_figure_cell(figure, "%g %%", 100.0 * iw_bench_quantile(i));
        iwi_figure_cell(figure, "%s", iwi_ns_time_text(quantile_ns[i], number));
    }
}

/* From the first to the last bin that is not empty, of both kinds: their pictures are there to be compared.
 */
static void set_range(struct iwi_figure *figure, const iw_bench_result *result)
{
    const iw_bench_times *quiet = &result->times[IW_BENCH_QUIET], *noisy = &result->times[IW_BENCH_NOISY];

    figure->x.low = INFINITY;
    for (size_t i = 0; i < IW_BENCH_BINS; i++) {
        if (quiet->bins[i] > 0 || noisy->bins[i] > 0) {
            figure->x.low = fmin(figure->x.low, result->bin_begin_ns[i]);
            figure->x.high = result->bin_begin_ns[i + 1];
        }
    }
}

/* How long phases of a kind take; both kinds have the same axis, to be compared. */
static iw_status bench_figure(const iw_log *log, const iw_bench_result *result, int kind,
                              struct iwi_figure **figure_p)
{
    static const char *const titles[] = {
        [IW_BENCH_QUIET] = "Phases without injected noise", [IW_BENCH_NOISY] = "Phases with injected noise"};
    const iw_bench_times *times = &result->times[kind];
    const double *quantile_ns = times->qtbt.quantile_ns;
    char number[3][IWI_NUMBER_SIZE];
    struct iwi_figure *figure;
    struct iwi_mark *bars;

    IW_TRY(iwi_figure_new(log, result->times[IW_BENCH_NOISY].count > 0 ? titles[kind] : "Phases", &figure));
    iwi_histogram_axes(figure, "Length", "Count");
    set_range(figure, result);
    bars = iwi_figure_mark(figure, IWI_MARK_BAR, kind == IW_BENCH_NOISY ? IWI_INK_NOISE : iwi_series_ink(0),
                           NULL);
    bars->is_thin = true;
    for (size_t i = 0; i < IW_BENCH_BINS; i++) {
        iwi_histogram_bar(figure, bars, result->bin_begin_ns[i], result->bin_begin_ns[i + 1],
                          (double)times->bins[i], NULL);
    }
    add_table(figure, quantile_ns);
    figure->message = iwi_figure_text(
        figure,
        "Half of the phases take at most %s, 99 %% at most %s, the longest %s. Both axes are logarithmic.",
        iwi_ns_time_text(quantile_ns[MEDIAN], number[0]), iwi_ns_time_text(quantile_ns[P99], number[1]),
        iwi_ns_time_text(quantile_ns[LONGEST], number[2]));
    *figure_p = figure;
    return IW_OK;
}

/* ======== words ======== */

/* "barrier"; "allreduce of 8 bytes". */
static const char *bench_op_text(struct iwi_document *doc, const iw_bench_result *result)
{
    const iw_bench_samples *samples = result->samples;

    return samples->op == IW_BENCH_BARRIER ? "barrier"
                                           : iwi_doc_printf(doc, "%s of %" PRIu64 " bytes",
                                                            iw_bench_op_name(samples->op), samples->bytes);
}

/* "3.90 % to 4.70 %"; "" if it is not known, or a point. */
static const char *bench_interval(struct iwi_document *doc, iw_estimate slowdown)
{
    char range[IWI_RANGE_SIZE];

    if (!isfinite(slowdown.low) || !isfinite(slowdown.high) ||
        strcmp(iwi_slower(doc, slowdown.low), iwi_slower(doc, slowdown.high)) == 0) {
        return "";
    }
    return iwi_doc_printf(doc, "%s",
                          iwi_slowdown_range_text(slowdown.low, slowdown.high, slowdown.value, range));
}

/* ---- verdict ---- */

/* "is 4.31 % slower than without (mean; 95 % CI 3.90 % to 4.70 %)" */
static const char *slower_than(struct iwi_document *doc, iw_estimate slowdown, const char *than)
{
    const char *interval = bench_interval(doc, slowdown);
    char slower[IWI_PHRASE_SIZE];

    return iwi_doc_printf(doc, "%s %s (mean%s%s)", iwi_slower_text(slowdown.value, slower), than,
                          interval[0] != '\0' ? "; 95 % CI " : "", interval);
}

static void say_noisy(struct iwi_document *doc, const iw_bench_result *result)
{
    const iw_bench_injection *injection = &result->injection;
    char nodes[IW_NODES_TEXT_SIZE];

    iwi_doc_append(doc, " With injected noise (");
    for (size_t i = 0; i < injection->source_count; i++) {
        iwi_doc_append(doc, "%s%s", i > 0 ? " + " : "", injection->sources[i]);
    }
    iw_nodes_text(injection->ranks_per_node, 1, injection->recorded_cpus,
                  injection->cpus[0] != '\0' ? injection->cpus : NULL, nodes);
    iwi_doc_append(doc, "%s%s, sync %s) it %s, %s per phase.", nodes[0] != '\0' ? ", " : "", nodes,
                   iwi_sync_name(injection->sync), slower_than(doc, result->slowdown, "without"),
                   iwi_ns(doc, result->times[IW_BENCH_NOISY].phase_ns.value));
}

static void say_prediction(struct iwi_document *doc, const iw_bench_result *result)
{
    static const char *const agreements[] = {
        [IW_BENCH_UNCLEAR] = "; run longer to see whether they agree: the measured interval is too wide",
        [IW_BENCH_AGREES] = "; they agree (within 20 % or 2 points)",
        [IW_BENCH_DIFFERS] = "; they do not agree (within 20 % or 2 points)",
    };
    const iw_bench_simulated *simulated = &result->simulated;

    iwi_verdict(doc, "Simulated with the same noise, it %s%s.",
                slower_than(doc, simulated->slowdown, "without"), agreements[simulated->agreement]);
    if (result->injection.injected_share < result->own_share) {
        iwi_doc_append(doc,
                       " Caution: the host's own noise exceeds the injected noise, so this says little.");
    }
}

/* How far they are apart, and what other runs would show. */
static void say_difference(struct iwi_document *doc, const iw_bench_simulated *simulated)
{
    const char *expected = bench_interval(doc, simulated->expected);

    iwi_item(doc, "The measured slowdown is %.2f points %s the simulated one",
             100.0 * fabs(simulated->difference), simulated->difference < 0.0 ? "below" : "above");
    if (isfinite(simulated->ratio) && simulated->ratio > 0.0) {
        iwi_doc_append(doc, " (a factor of %.3g)", simulated->ratio);
    }
    iwi_doc_append(doc, "%s.",
                   simulated->is_beyond_chance ? ", more than both 95 % intervals together explain" : "");
    if (expected[0] != '\0') {
        iwi_doc_append(doc, " Runs of this length should show %s (95 %% of them).", expected);
    }
}

static void bench_say_verdict(struct iwi_document *doc, const iw_bench_result *result)
{
    const iw_bench_samples *samples = result->samples;
    const double mean_ns = result->times[IW_BENCH_QUIET].phase_ns.value;
    char slower[IWI_PHRASE_SIZE];

    iwi_verdict(doc, "%s", "");
    if (samples->warning[0] != '\0') {
        iwi_doc_append(doc, "NOT VALID: %s, so times contain the scheduler. ", samples->warning);
    }
    iwi_doc_append(doc,
                   "A phase of %s %sand %s %s takes %s on %" PRIu32 " rank%s (mean): it %s its work alone.",
                   iwi_ns(doc, result->quantum_ns), samples->work == IW_BENCH_SLEEP ? "of sleep " : "",
                   samples->op == IW_BENCH_ALLREDUCE ? "an" : "a", bench_op_text(doc, result),
                   iwi_ns(doc, mean_ns), samples->ranks, iwi_plural_s(samples->ranks),
                   iwi_slower_text(mean_ns / result->quantum_ns - 1.0, slower));
    if (result->times[IW_BENCH_NOISY].count > 0) {
        say_noisy(doc, result);
    }
    if (result->baseline.path[0] != '\0') {
        iwi_doc_append(doc, " The slowest rank of a phase %s.",
                       slower_than(doc, result->baseline.slowdown,
                                   iwi_doc_printf(doc, "in '%s'", result->baseline.path)));
    }
    if (result->simulated.trials > 0) {
        say_prediction(doc, result);
    }
}

/* ---- how sure ---- */

static void say_phase_words(struct iwi_document *doc, const iw_bench_result *result)
{
    const iw_bench_samples *samples = result->samples;

    iwi_item(doc, "%" PRIu64 " phases%s", samples->phases,
             samples->has_noise ? ", half of them with noise" : "");
    if (samples->stride > 1) {
        iwi_doc_append(doc, "; one in %" PRIu64 " was kept", samples->stride);
    }
    iwi_doc_append(doc,
                   ". The slowest rank of each counts. %" PRIu64
                   " further phase%s at the beginning of blocks %s left out.",
                   samples->left_out, iwi_plural_s(samples->left_out),
                   samples->left_out == 1 ? "was" : "were");
    if (isnan(result->times[IW_BENCH_QUIET].qtbt.mean_ns.low)) {
        iwi_item(doc, "Too few blocks of phases for intervals; run longer.");
        return;
    }
    iwi_item(doc,
             "Intervals: 95 %% CI of means, from a bootstrap of %sblocks of %" PRIu64
             " phases, widened as Student's t.",
             samples->has_noise ? "pairs of " : "", samples->block_phases);
    if (isfinite(result->pair_slowdown)) {
        iwi_doc_append(doc, " The median slowdown of the pairs is %s.",
                       iwi_slowdown_percent(doc, result->pair_slowdown));
    }
}

static void say_injected(struct iwi_document *doc, const iw_bench_injection *injection)
{
    iwi_doc_append(doc, "; %s of the time was injected as noise (%s planned)",
                   iwi_percent(doc, injection->injected_share), iwi_percent(doc, injection->planned_share));
    iwi_doc_append(doc, ".");
    iwi_item(doc,
             "%s of the noise's detours (%s of their time) kept place and duration; others were merged, "
             "because they are shorter than %s or too close to the one before.",
             iwi_percent(doc, injection->as_recorded_event_share),
             iwi_percent(doc, injection->as_recorded_share), iwi_ns(doc, injection->floor_ns));
    if (injection->skipped_share > 0.0) {
        iwi_doc_append(doc, " %s of the planned time was skipped because it had passed too soon.",
                       iwi_percent(doc, injection->skipped_share));
    }
    if (injection->cut_short_count > 0) {
        iwi_doc_append(doc,
                       " In %" PRIu64 " block%s of a rank a detour lasted too long and was ended, with no "
                       "more detours after it: such blocks have less noise than planned.",
                       injection->cut_short_count, iwi_plural_s(injection->cut_short_count));
    }
}

/* How sure we are. */
static void bench_say_notes(struct iwi_document *doc, const iw_bench_result *result)
{
    const iw_bench_simulated *simulated = &result->simulated;

    say_phase_words(doc, result);
    iwi_item(doc, "The host's own noise makes the work %s longer (mean over 5 %% quantile)",
             iwi_percent(doc, result->own_share));
    if (result->samples->has_noise) {
        say_injected(doc, &result->injection);
    } else {
        iwi_doc_append(doc, ".");
    }
    if (result->time_scale > 1.0) {
        iwi_item(doc,
                 "Noise and work were stretched %g times; all times here are divided by that, including "
                 "those of the operation, which was not stretched.",
                 result->time_scale);
    }
    if (simulated->trials > 0) {
        iwi_item(
            doc,
            "Simulated: %" PRIu64 " trials of %" PRIu64
            " phases each with the planned noise, network %s; the interval is for the mean of the trials.",
            simulated->trials, simulated->phases, simulated->net);
        say_difference(doc, simulated);
    }
}

/* ======== documents ======== */

/* ---- the table ---- */

static const char *name_in(const char *const *names, size_t count, unsigned index)
{
    return index < count ? names[index] : NULL;
}

static const char *quantile_name(unsigned index)
{
    static const char *const names[IW_BENCH_QUANTILES] = {"p0",  "p5",  "p25",   "p50", "p75",
                                                          "p95", "p99", "p99.9", "p100"};

    return name_in(names, IW_BENCH_QUANTILES, index);
}

static const char *kind_name(unsigned kind)
{
    static const char *const names[IW_BENCH_KINDS] = {"quiet", "noisy"};

    return name_in(names, IW_BENCH_KINDS, kind);
}

static const char *agreement_name(unsigned agreement)
{
    static const char *const names[] = {"unclear", "agrees", "differs"};

    return name_in(names, sizeof names / sizeof names[0], agreement);
}

IWI_NAMED(work_name, value < IW_BENCH_WORKS ? iw_bench_work_name((iw_bench_work)value) : NULL)
IWI_NAMED(op_name, value < IW_BENCH_OPS ? iw_bench_op_name((iw_bench_op)value) : NULL)
IWI_OF(bool, was_injected, iw_bench_rank, it->injected.noisy_ns > 0.0)
IWI_OF(bool, has_noise, iw_bench_result, it->samples->has_noise)

IWI_OF(bool, has_noisy, iw_bench_result, it->times[IW_BENCH_NOISY].count > 0)
IWI_OF(bool, has_baseline, iw_bench_result, it->baseline.path[0] != '\0')

IWI_OF(bool, has_simulated, iw_bench_result, it->simulated.trials > 0)

static const struct iwi_field value_fields[] = {
    IWI_INLINE(iw_bench_value, mean_ns, iwi_estimate_schema),
    IWI_VALUES_BY_NAME(iw_bench_value, quantile_ns, quantile_name, .about = "by percentile"),
};
static const struct iwi_schema value_schema = IWI_SCHEMA(iw_bench_value, value_fields);

static const struct iwi_field times_fields[] = {
    IWI_VALUE_AS(iw_bench_times, count, "phases", .about = "that were kept"),
    IWI_ESTIMATE(
        iw_bench_times, phase_ns,
        .about = "time of a phase, averaged over whole blocks: for each block its slowest rank, per phase"),
    IWI_OBJECT_AS(iw_bench_times, qt, "qt_ns", value_schema,
                  .about = "work, the largest of all ranks in each phase"),
    IWI_OBJECT_AS(iw_bench_times, bt, "bt_ns", value_schema, .about = "operation, the same"),
    IWI_OBJECT_AS(iw_bench_times, qtbt, "qtbt_ns", value_schema, .about = "both, the same"),
    IWI_OBJECT_AS(iw_bench_times, op, "operation_ns", value_schema,
                  .about = "the smallest `bt_ns` of all ranks in each phase"),
    IWI_VALUE_ARRAY(iw_bench_times, bins, .about = "how many `qtbt_ns` lie in each"),
};
static const struct iwi_schema times_schema = IWI_SCHEMA(iw_bench_times, times_fields);

static const struct iwi_field injection_fields[] = {
    IWI_VALUES(iw_bench_injection, sources, source_count, .about = "as given"),
    IWI_CHARS(iw_bench_injection, back_end),
    IWI_ENUM(iw_bench_injection, sync, "sync", iwi_sync_name),
    IWI_VALUE(iw_bench_injection, skew_ns),
    IWI_VALUE(iw_bench_injection, ranks_per_node),
    IWI_VALUE(iw_bench_injection, recorded_cpus, .about = "of a file"),
    IWI_CHARS(iw_bench_injection, cpus, .about = "of a file, those that were used; empty: all"),
    IWI_VALUE(iw_bench_injection, planned_share, .about = "of the time"),
    IWI_VALUE(iw_bench_injection, injected_share, .about = "of the time"),
    IWI_VALUE(iw_bench_injection, as_recorded_share,
              .about = "of the noise's time that keeps place and duration"),
    IWI_VALUE(iw_bench_injection, as_recorded_event_share,
              .about = "of its detours that keep place and duration"),
    IWI_VALUE(iw_bench_injection, floor_ns, .about = "the shortest detour"),
    IWI_VALUE(iw_bench_injection, skipped_share, .about = "of the planned time"),
    IWI_VALUE_AS(iw_bench_injection, cut_short_count, "cut_short", .about = "blocks of ranks"),
};
static const struct iwi_schema injection_schema = IWI_SCHEMA(iw_bench_injection, injection_fields);

static const struct iwi_field baseline_fields[] = {
    IWI_CHARS(iw_bench_baseline, path),
    IWI_VALUE(iw_bench_baseline, ranks),
    IWI_VALUE(iw_bench_baseline, quantum_ns),
    IWI_ESTIMATE(iw_bench_baseline, qtbt_ns),
    IWI_ESTIMATE(iw_bench_baseline, slowdown, .about = "of this run against it"),
};
static const struct iwi_schema baseline_schema = IWI_SCHEMA(iw_bench_baseline, baseline_fields);

static const struct iwi_field simulated_fields[] = {
    IWI_CHARS(iw_bench_simulated, net),
    IWI_VALUE(iw_bench_simulated, trials),
    IWI_VALUE(iw_bench_simulated, phases),
    IWI_VALUE(iw_bench_simulated, noiseless_ns, .about = "of a phase"),
    IWI_VALUE(iw_bench_simulated, noisy_ns, .about = "of a phase"),
    IWI_ESTIMATE(iw_bench_simulated, slowdown),
    IWI_ESTIMATE(iw_bench_simulated, expected,
                 .about = "`slowdown`, with the 95 % interval for runs with this many blocks"),
    IWI_VALUE(iw_bench_simulated, difference, .about = "measured minus simulated"),
    IWI_VALUE(iw_bench_simulated, ratio, .about = "measured over simulated"),
    IWI_ENUM(iw_bench_simulated, agreement, "agreement", agreement_name,
             .about = "`agrees`: within 20 % or 2 points"),
    IWI_VALUE_AS(iw_bench_simulated, is_beyond_chance, "beyond_chance",
                 .about = "they differ by more than both 95 % intervals"),
};
static const struct iwi_schema simulated_schema = IWI_SCHEMA(iw_bench_simulated, simulated_fields);

static const struct iwi_field injected_fields[] = {
    IWI_VALUE(iw_bench_injected, planned_share),
    IWI_VALUE(iw_bench_injected, as_recorded_share,
              .about = "of the noise's time that keeps place and duration"),
    IWI_VALUE_AS(iw_bench_injected, made_count, "made",
                 .about = "detours; all times here are as run, not divided by `time_scale`"),
    IWI_VALUE(iw_bench_injected, made_ns),
    IWI_VALUE_AS(iw_bench_injected, skipped_count, "skipped"),
    IWI_VALUE(iw_bench_injected, skipped_ns),
    IWI_VALUE_AS(iw_bench_injected, cut_short_count, "cut_short", .about = "blocks"),
    IWI_VALUE(iw_bench_injected, noisy_ns, .about = "duration of the noise"),
    IWI_VALUE(iw_bench_injected, floor_ns),
    IWI_VALUE(iw_bench_injected, late_p99_ns),
};
static const struct iwi_schema injected_schema = IWI_SCHEMA(iw_bench_injected, injected_fields);

static const struct iwi_field rank_fields[] = {
    IWI_CHARS(iw_bench_rank, host),
    IWI_VALUE(iw_bench_rank, phases),
    IWI_VALUE(iw_bench_rank, iterations, .about = "of the generator in a quantum; 0 where ranks sleep"),
    IWI_VALUE(iw_bench_rank, undisturbed_ns, .about = "5 % quantile of the work without noise"),
    IWI_VALUES_BY_NAME(iw_bench_rank, qt_ns, kind_name, .about = "mean work"),
    IWI_VALUES_BY_NAME(iw_bench_rank, bt_ns, kind_name, .about = "mean operation"),
    IWI_OBJECT(iw_bench_rank, injected, injected_schema, .is_there = was_injected),
};
static const struct iwi_schema rank_schema = IWI_SCHEMA(iw_bench_rank, rank_fields);

/* "ranks" stands before the list, whose length counts. */
static const struct iwi_field samples_fields[] = {
    IWI_ENUM(iw_bench_samples, op, "operation", op_name),
    IWI_ENUM(iw_bench_samples, work, "work", work_name, .about = "how ranks work"),
    IWI_VALUE(iw_bench_samples, bytes, .about = "of the operation's data; 0 for a barrier"),
    IWI_VALUE(iw_bench_samples, ranks),
    IWI_VALUE(iw_bench_samples, hosts),
    IWI_CHARS(iw_bench_samples, mpi),
    IWI_CHARS(iw_bench_samples, mpi_version),
    IWI_CHARS(iw_bench_samples, clock, .about = "what times were read from"),
    IWI_CHARS(iw_bench_samples, warning,
              .about = "reason why the numbers are not valid; empty: they are valid"),
    IWI_VALUE(iw_bench_samples, seconds, .about = "of all"),
    IWI_VALUE(iw_bench_samples, has_noise, .about = "some blocks had injected noise"),
    IWI_VALUE(iw_bench_samples, phases, .about = "measured"),
    IWI_VALUE_AS(iw_bench_samples, count, "kept",
                 .about = "phases, for averages and quantiles of the largest times"),
    IWI_VALUE(iw_bench_samples, stride, .about = "one phase in this many was kept"),
    IWI_VALUE(iw_bench_samples, left_out, .about = "phases at the beginnings of blocks, which do not count"),
    IWI_VALUE(iw_bench_samples, block_phases, .about = "phases of a block"),
    IWI_OBJECTS_AS(iw_bench_samples, of_rank, ranks, "per_rank", rank_schema, .about = "in their order"),
};
static const struct iwi_schema samples_schema = IWI_SCHEMA(iw_bench_samples, samples_fields);

static const struct iwi_field bench_fields[] = {
    IWI_INLINE_POINTER(iw_bench_result, samples, samples_schema),
    IWI_VALUE(iw_bench_result, command, .may_be_null = true),
    IWI_VALUE(iw_bench_result, time_scale, .about = "factor by which noise and work were stretched"),
    IWI_VALUE(iw_bench_result, quantum_ns, .about = "work of a phase, as asked for"),
    IWI_VALUE_AS(iw_bench_result, own_share, "own_noise_share",
                 .about = "mean time of the work without injected noise against its 5 % quantile, minus 1; "
                          "mean of the ranks"),
    IWI_OBJECT_AS(iw_bench_result, times[IW_BENCH_QUIET], "quiet", times_schema,
                  .about = "phases without injected noise"),
    IWI_OBJECT_AS(iw_bench_result, times[IW_BENCH_NOISY], "noisy", times_schema, .is_there = has_noisy,
                  .about = "phases with it"),
    IWI_VALUE_ARRAY(iw_bench_result, bin_begin_ns,
                    .about = "where the bins of both histograms begin, and where the last one ends"),
    IWI_OBJECT_AS(iw_bench_result, injection, "noise", injection_schema, .is_there = has_noise),
    IWI_ESTIMATE(iw_bench_result, slowdown, .is_there = has_noise, .about = "noisy against quiet `phase_ns`"),
    IWI_ESTIMATE(iw_bench_result, max_slowdown, .is_there = has_noise, .about = "the same of `qtbt_ns`"),
    IWI_VALUE(iw_bench_result, pair_slowdown,
              .about = "median over pairs of blocks; hardly affected by a few disturbed blocks"),
    IWI_OBJECT(iw_bench_result, baseline, baseline_schema, .is_there = has_baseline,
               .about = "an earlier run"),
    IWI_OBJECT(iw_bench_result, simulated, simulated_schema, .is_there = has_simulated,
               .about = "the same, predicted"),
};
static const struct iwi_schema bench_schema = IWI_SCHEMA(iw_bench_result, bench_fields);

/* Work that takes no time, and bins that are no range, cannot be drawn. */
static iw_status check(const iw_log *log, const char *name, const void *subject)
{
    const iw_bench_result *result = subject;

    if (!(result->quantum_ns > 0.0 && result->time_scale > 0.0)) {
        return iwi_fail(log, IW_ERR_FORMAT, "'%s': quantum_ns and time_scale must be above zero", name);
    }
    for (size_t i = 0; i < IW_BENCH_BINS; i++) {
        if (!(result->bin_begin_ns[i] > 0.0 && result->bin_begin_ns[i] < result->bin_begin_ns[i + 1])) {
            return iwi_fail(log, IW_ERR_FORMAT, "'%s': bin_begin_ns[%zu]: bins must ascend", name, i);
        }
    }
    return IW_OK;
}

/* ---- the document ---- */

static double largest_slowdown(const iw_bench_result *result)
{
    return has_simulated(result) ? fmax(result->slowdown.value, result->simulated.slowdown.value)
                                 : result->slowdown.value;
}

static void say_phase(struct iwi_document *doc, const char *name, double ns, const iw_estimate *slowdown,
                      double largest)
{
    iwi_row(doc, name, iwi_ns(doc, ns),
            slowdown != NULL ? iwi_slower_in_column(doc, slowdown->value, largest) : "",
            slowdown != NULL ? bench_interval(doc, *slowdown) : "");
}

/* Times of blocks are the only ones that a simulation has, too. */
static void say_phases(struct iwi_document *doc, const iw_bench_result *result)
{
    const double largest = largest_slowdown(result);

    IWI_TABLE(doc, "A phase, by the times of whole blocks", {"", IWI_WORDS}, {"time", IWI_NUMBER},
              {iwi_slowdown_head(largest), IWI_NUMBER}, {"95 % interval", IWI_WORDS});
    say_phase(doc, "without injected noise", result->times[IW_BENCH_QUIET].phase_ns.value, NULL, largest);
    say_phase(doc, "with injected noise", result->times[IW_BENCH_NOISY].phase_ns.value, &result->slowdown,
              largest);
    if (has_simulated(result)) {
        say_phase(doc, "simulated without noise", result->simulated.noiseless_ns, NULL, largest);
        say_phase(doc, "simulated with the same noise", result->simulated.noisy_ns,
                  &result->simulated.slowdown, largest);
    }
}

static void say_mean(struct iwi_document *doc, const char *name, const iw_bench_times *times)
{
    const iw_estimate both = times->qtbt.mean_ns;

    iwi_row(doc, name, iwi_ns(doc, times->qt.mean_ns.value), iwi_ns(doc, times->bt.mean_ns.value),
            iwi_ns(doc, both.value),
            isnan(both.low) ? "" : iwi_from_to(doc, iwi_ns(doc, both.low), iwi_ns(doc, both.high)));
}

static void say_means(struct iwi_document *doc, const iw_bench_result *result)
{
    IWI_TABLE(doc, "Means of the slowest rank of each phase", {"", IWI_WORDS}, {"work", IWI_NUMBER},
              {"operation", IWI_NUMBER}, {"both", IWI_NUMBER}, {"95 % interval of both", IWI_WORDS});
    say_mean(doc, has_noisy(result) ? "without injected noise" : "measured", &result->times[IW_BENCH_QUIET]);
    if (has_noisy(result)) {
        say_mean(doc, "with injected noise", &result->times[IW_BENCH_NOISY]);
    }
    if (has_noisy(result) && result->samples->op == IW_BENCH_BARRIER) {
        iwi_row(doc, iwi_slowdown_head(result->max_slowdown.value), "", "",
                iwi_slower(doc, result->max_slowdown.value), bench_interval(doc, result->max_slowdown));
    }
}

/* Pages have them below the figures. */
static void say_quantiles(struct iwi_document *doc, const iw_bench_result *result)
{
    const bool is_noisy = has_noisy(result);
    const struct iwi_column columns[] = {
        {"", IWI_WORDS}, {is_noisy ? "without noise" : "time", IWI_NUMBER}, {"with noise", IWI_NUMBER}};

    iwi_only_in(doc, IWI_IN_TEXT);
    iwi_table(doc, "How long phases take (work and operation)", columns, is_noisy ? 3 : 2);
    for (size_t i = 0; i < IW_BENCH_QUANTILES; i++) {
        iwi_row(doc,
                i == 0                        ? "shortest"
                : i + 1 == IW_BENCH_QUANTILES ? "longest"
                                              : iwi_doc_printf(doc, "%g %%", 100.0 * iw_bench_quantile(i)),
                iwi_ns(doc, result->times[IW_BENCH_QUIET].qtbt.quantile_ns[i]),
                iwi_ns(doc, result->times[IW_BENCH_NOISY].qtbt.quantile_ns[i]));
    }
    iwi_only_in(doc, IWI_EVERYWHERE);
}

/* Their times are as they ran. */
static void say_ranks(struct iwi_document *doc, const iw_bench_result *result)
{
    static const struct iwi_column columns[] = {
        {"rank", IWI_NUMBER},
        {"host", IWI_WORDS},
        {"undisturbed", IWI_NUMBER},
        {"work", IWI_NUMBER},
        {"operation", IWI_NUMBER},
        {"noisy work", IWI_NUMBER},
        {"noisy operation", IWI_NUMBER},
    };
    const double scale = 1.0 / result->time_scale;

    iwi_section(doc, "ranks", "Means of each rank");
    iwi_table(doc, "", columns, has_noisy(result) ? 7 : 5);
    for (uint32_t i = 0; i < result->samples->ranks; i++) {
        const iw_bench_rank *rank = &result->samples->of_rank[i];

        iwi_row(doc, iwi_doc_printf(doc, "%" PRIu32, i), rank->host,
                iwi_ns(doc, rank->undisturbed_ns * scale), iwi_ns(doc, rank->qt_ns[IW_BENCH_QUIET] * scale),
                iwi_ns(doc, rank->bt_ns[IW_BENCH_QUIET] * scale),
                iwi_ns(doc, rank->qt_ns[IW_BENCH_NOISY] * scale),
                iwi_ns(doc, rank->bt_ns[IW_BENCH_NOISY] * scale));
    }
}

static void say_origin(struct iwi_document *doc, const iw_bench_result *result)
{
    const iw_bench_samples *samples = result->samples;

    iwi_only_in(doc, IWI_ON_PAGES);
    iwi_section(doc, "origin", "How it was measured");
    IWI_TABLE(doc, "", {"", IWI_WORDS}, {"", IWI_WORDS});
    iwi_row(doc, "command", result->command != NULL ? result->command : "-");
    iwi_row(doc, "ranks",
            iwi_doc_printf(doc, "%" PRIu32 " on %" PRIu32 " host%s", samples->ranks, samples->hosts,
                           iwi_plural_s(samples->hosts)));
    iwi_row(doc, "MPI", iwi_doc_printf(doc, "%s: %s", samples->mpi, samples->mpi_version));
    iwi_row(doc, "clock", samples->clock);
    iwi_row(doc, "took", iwi_ns(doc, samples->seconds * 1e9));
    if (has_noise(result)) {
        iwi_row(doc, "injected by", result->injection.back_end);
    }
    iwi_only_in(doc, IWI_EVERYWHERE);
}

static void show_histogram(struct iwi_document *doc, const iw_bench_result *result, int kind)
{
    struct iwi_figure *figure = NULL;

    if (result->times[kind].count > 0) {
        const iw_status made = bench_figure(doc->log, result, kind, &figure);

        iwi_show_figure(doc, made, figure);
    }
}

static void write_doc(struct iwi_document *doc, const void *subject)
{
    const iw_bench_result *result = subject;

    iwi_title(doc, "Benchmark: %s", bench_op_text(doc, result));
    iwi_subtitle(doc, "Phases of work and an operation, on %" PRIu32 " rank%s", result->samples->ranks,
                 iwi_plural_s(result->samples->ranks));
    bench_say_verdict(doc, result);
    iwi_only_in(doc, IWI_ON_PAGES | IWI_IN_PLOTS);
    show_histogram(doc, result, IW_BENCH_QUIET);
    show_histogram(doc, result, IW_BENCH_NOISY);
    iwi_section(doc, "times", "How long phases take");
    iwi_only_in(doc, IWI_EVERYWHERE);
    if (has_noisy(result)) {
        say_phases(doc, result);
    }
    say_means(doc, result);
    say_quantiles(doc, result);
    say_ranks(doc, result);
    iwi_section(doc, "certainty", "How sure");
    bench_say_notes(doc, result);
    say_origin(doc, result);
}

const struct iwi_kind iwi_bench_kind = {
    .name = "bench",
    .schema_id = "idlewave.bench/2",
    .about = "A measured operation, from `idlewave bench -o FILE` or `--format json`. Times are divided by "
             "`time_scale`, except those of `per_rank`. CSV has one line per phase: "
             "`phase,block,noise,qt_ns,bt_ns,qtbt_ns,op_ns`, as measured",
    .schema = &bench_schema,
    .write_doc = write_doc,
    .check = check,
};

IWI_DOC(iw_bench_doc, iw_bench_result, result, iwi_bench_kind)

/* ---- other files ---- */

iw_status iw_bench_write_csv(const iw_log *log, const iw_bench_samples *samples, FILE *out)
{
    (void)fputs("phase,block,noise,qt_ns,bt_ns,qtbt_ns,op_ns\n", out);
    for (size_t i = 0; i < samples->count; i++) {
        (void)fprintf(out, "%" PRIu64 ",%" PRIu32 ",%d,%.0f,%.0f,%.0f,%.0f\n", (uint64_t)i * samples->stride,
                      samples->block[i], samples->is_noisy[i] ? 1 : 0, samples->qt_ns[i], samples->bt_ns[i],
                      samples->qtbt_ns[i], samples->op_ns[i]);
    }
    return iwi_check_written(log, out, "the phases");
}

iw_status iw_bench_load_baseline(const iw_log *log, const char *path, iw_bench_baseline *baseline_p)
{
    const iw_bench_result *result;
    iw_doc_file *file;
    iw_status status = IW_OK;

    IW_TRY(iw_doc_open(log, path, &file));
    if (iw_doc_of(file).kind == &iwi_bench_kind) {
        result = iw_doc_of(file).subject;
        *baseline_p = (iw_bench_baseline){.op = result->samples->op,
                                          .bytes = result->samples->bytes,
                                          .qtbt_ns = result->times[IW_BENCH_QUIET].qtbt.mean_ns,
                                          .quantum_ns = result->quantum_ns,
                                          .ranks = result->samples->ranks};
        snprintf(baseline_p->path, sizeof baseline_p->path, "%s", path);
    } else {
        status = iwi_fail(log, IW_ERR_FORMAT, "'%s' is not a benchmark result", path);
    }
    iw_doc_close(file);
    return status;
}
