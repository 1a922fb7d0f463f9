/* How fast cores of a domain move data, alone and together.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <string.h>

#include <idlewave/internal/memory_bench.h>

#include "core/base/base.h"
#include "features/tables.h"
#include "kit/text/words.h"

/* Arrays of fewer times the caches come partly from these. */
static const double FEW_CACHES = 4.0;

/* Two numbers that miss the curve by more are not all that there is to it. */
static const double POOR_MODEL = 0.1;

/* ---- the table ---- */

IWI_NAMES(verdict_name, [IW_MEMORY_SATURATES] = "saturates", [IW_MEMORY_SCALES] = "scales",
          [IW_MEMORY_UNCLEAR] = "unclear")

static const struct iwi_field point_fields[] = {
    IWI_VALUE(iw_memory_point, cores),
    IWI_VALUE(iw_memory_point, windows, .about = "that count"),
    IWI_ESTIMATE(iw_memory_point, bytes_per_s, .about = "the median"),
    IWI_VALUE(iw_memory_point, model_bytes_per_s, .about = "by the two numbers of `memory`"),
};
static const struct iwi_schema point_schema = IWI_SCHEMA(iw_memory_point, point_fields);

static const struct iwi_field curve_fields[] = {
    IWI_VALUE(iw_memory_curve, command),
    IWI_CHARS(iw_memory_curve, host),
    IWI_CHARS(iw_memory_curve, cpu_model),
    IWI_CHARS(iw_memory_curve, hypervisor, .about = "`none`: no hypervisor"),
    IWI_CPUS(iw_memory_curve, cpus, "cpus", .about = "that were measured"),
    IWI_VALUE(iw_memory_curve, numa_node),
    IWI_VALUE(iw_memory_curve, cores),
    IWI_ENUM(iw_memory_curve, verdict, "saturation", verdict_name,
             .about = "all cores together move less than 90 % of what as many independent cores would, or "
                      "more; `unclear`: the measurement cannot decide"),
    IWI_VALUE(iw_memory_curve, saturated_from, .about = "cores that use all of the bandwidth; 0: none"),
    IWI_ESTIMATE(iw_memory_curve, core_bytes_per_s, .about = "what one core moves"),
    IWI_ESTIMATE(iw_memory_curve, domain_bytes_per_s, .about = "what all of them move"),
    IWI_ESTIMATE(iw_memory_curve, scaling,
                 .about = "all cores over the same number of single cores, in the same rounds"),
    IWI_OBJECT(iw_memory_curve, memory, iwi_memory_schema,
               .about = "for simulations, as in `--memory`; where memory does not saturate, the domain "
                        "suffices for all cores"),
    IWI_VALUE(iw_memory_curve, misfit,
              .about = "largest error of these two numbers, as a share of the measured value"),
    IWI_VALUE(iw_memory_curve, misfit_cores, .about = "with how many cores"),
    IWI_OBJECTS(iw_memory_curve, points, point_count, point_schema, .is_row = true,
                .about = "for each number of cores"),
    IWI_VALUE(iw_memory_curve, cache_bytes, .about = "all caches of these cores together; 0: unknown"),
    IWI_VALUE(iw_memory_curve, array_bytes, .about = "the three arrays together"),
    IWI_VALUE(iw_memory_curve, window_s, .about = "length of a window"),
    IWI_VALUE(iw_memory_curve, seconds, .about = "of the whole run"),
    IWI_VALUE(iw_memory_curve, windows),
    IWI_VALUE(iw_memory_curve, disturbed_windows,
              .about = "those in which another process used one of the CPUs for over 2 % of the time"),
    IWI_VALUE(iw_memory_curve, is_disturbed, .about = "too few undisturbed windows were left, so all count"),
};
static const struct iwi_schema curve_schema = IWI_SCHEMA(iw_memory_curve, curve_fields);

static iw_status check(const iw_log *log, const char *name, const void *subject)
{
    const iw_memory_curve *curve = subject;

    return curve->cores > 0 && curve->point_count > 0
               ? IW_OK
               : iwi_fail(log, IW_ERR_FORMAT, "'%s': no cores or no points", name);
}

/* ---- words ---- */

static const char *gb(struct iwi_document *doc, double bytes_per_s)
{
    return iwi_doc_printf(doc, "%.3g GB/s", bytes_per_s / 1e9);
}

static const char *gb_range(struct iwi_document *doc, const iw_estimate *value)
{
    return iwi_doc_printf(doc, "%.3g to %.3g", value->low / 1e9, value->high / 1e9);
}

static const char *mib(struct iwi_document *doc, uint64_t bytes)
{
    return iwi_doc_printf(doc, "%.0f MiB", (double)bytes / 0x1p20);
}

static void say_verdict(struct iwi_document *doc, const iw_memory_curve *curve)
{
    if (curve->cores == 1) {
        iwi_verdict(doc, "One core moves %s. Only one core may be used here, so saturation is unknown.",
                    gb(doc, curve->core_bytes_per_s.value));
        return;
    }
    iwi_verdict(
        doc, "One core moves %s, all %" PRIu32 " cores together %s: ", gb(doc, curve->core_bytes_per_s.value),
        curve->cores, gb(doc, curve->domain_bytes_per_s.value));
    if (curve->verdict == IW_MEMORY_SATURATES) {
        iwi_doc_append(doc, "memory saturates from %" PRIu32 " core%s on.", curve->saturated_from,
                       iwi_plural_s(curve->saturated_from));
    } else if (curve->verdict == IW_MEMORY_SCALES) {
        iwi_doc_append(doc, "memory does not saturate here.");
    } else if (curve->is_disturbed) {
        iwi_doc_append(doc, "unknown whether memory saturates, because other processes used these CPUs. "
                            "Measure again when less is running.");
    } else {
        iwi_doc_append(doc, "unknown whether memory saturates.");
    }
}

/* min(n b, B): up to where it bends, and on from there. */
static void add_model(struct iwi_figure *figure, struct iwi_mark *line, const iw_memory_curve *curve)
{
    const double cores = (double)curve->cores, core_gb = (double)curve->memory.core_bytes_per_s / 1e9;
    const double domain_gb = (double)curve->memory.domain_bytes_per_s / 1e9;
    const double bend = fmin(domain_gb / core_gb, cores);

    iwi_mark_add(figure, line, (double[]){0.0, 0.0});
    iwi_mark_add(figure, line, (double[]){bend, bend * core_gb});
    iwi_mark_add(figure, line, (double[]){cores, fmin(cores * core_gb, domain_gb)});
}

static void show_curve(struct iwi_document *doc, const iw_memory_curve *curve)
{
    struct iwi_figure *figure = NULL;
    const iw_status made = iwi_figure_new(doc->log, "Bandwidth by number of cores", &figure);
    struct iwi_mark *model, *ranges, *dots;

    if (made == IW_OK) {
        figure->message = iwi_figure_text(
            figure, "Bandwidth of several cores: measured, and modelled by two numbers, %.3g and %.3g GB/s.",
            (double)curve->memory.core_bytes_per_s / 1e9, (double)curve->memory.domain_bytes_per_s / 1e9);
        figure->x = (struct iwi_figure_axis){
            .label = "Cores", .unit = IWI_AXIS_INDEX, .low = 0.0, .high = (double)curve->cores + 1.0};
        figure->y = (struct iwi_figure_axis){.label = "GB/s", .unit = IWI_AXIS_NUMBER};
        model = iwi_figure_mark(figure, IWI_MARK_LINE, iwi_series_ink(1), "by two numbers");
        add_model(figure, model, curve);
        ranges = iwi_figure_mark(figure, IWI_MARK_RANGE, iwi_series_ink(0), NULL);
        dots = iwi_figure_mark(figure, IWI_MARK_DOTS, iwi_series_ink(0), "measured");
        for (size_t i = 0; i < curve->point_count; i++) {
            const iw_memory_point *point = &curve->points[i];
            const iw_estimate *rate = &point->bytes_per_s;

            iwi_mark_add(figure, ranges, (double[]){point->cores, rate->low / 1e9, rate->high / 1e9});
            iwi_mark_add(figure, dots, (double[]){point->cores, rate->value / 1e9});
        }
    }
    iwi_show_figure(doc, made, figure);
}

static void say_points(struct iwi_document *doc, const iw_memory_curve *curve)
{
    IWI_TABLE(doc, "", {"cores", IWI_NUMBER}, {"GB/s", IWI_NUMBER}, {"95 % interval", IWI_WORDS},
              {"each", IWI_NUMBER}, {"by two numbers", IWI_NUMBER}, {"", IWI_BAR});
    iwi_unfold(doc);
    for (size_t i = 0; i < curve->point_count; i++) {
        const iw_memory_point *point = &curve->points[i];
        const double each = point->bytes_per_s.value / (double)point->cores;

        iwi_row(doc, iwi_doc_printf(doc, "%" PRIu32, point->cores),
                iwi_doc_printf(doc, "%.3g", point->bytes_per_s.value / 1e9),
                gb_range(doc, &point->bytes_per_s), iwi_doc_printf(doc, "%.3g", each / 1e9),
                iwi_doc_printf(doc, "%.3g", point->model_bytes_per_s / 1e9));
        iwi_bar(doc, (iw_estimate){point->bytes_per_s.value, NAN, NAN});
    }
}

static void say_arrays(struct iwi_document *doc, const iw_memory_curve *curve)
{
    const double times = (double)curve->array_bytes / (double)curve->cache_bytes;

    iwi_item(doc, "The three arrays have %s, ", mib(doc, curve->array_bytes));
    if (curve->cache_bytes == 0) {
        iwi_doc_append(doc, "but the size of the caches is unknown.");
    } else if (times < FEW_CACHES) {
        iwi_doc_append(
            doc,
            "only %.2g times the caches of these cores (%s), so part of the data never came from memory.",
            times, mib(doc, curve->cache_bytes));
    } else {
        iwi_doc_append(doc,
                       "%.3g times the caches of these cores (%s), which supplied at most %s of the data.",
                       times, mib(doc, curve->cache_bytes), iwi_percent_short(doc, 1.0 / times));
    }
    iwi_item(doc,
             "Bytes are counted as in the STREAM triad, a[i] = b[i] + s c[i]: 24 for each i, without what "
             "the hardware reads before it writes. Count the bytes of your phases in the same way.");
}

static void say_disturbances(struct iwi_document *doc, const iw_memory_curve *curve)
{
    iwi_item(doc,
             "Values are medians of %s windows of %s, with all numbers of cores in turn; intervals come from "
             "stretches of the run. ",
             iwi_count(doc, curve->windows), iwi_ns_round(doc, curve->window_s * 1e9));
    if (curve->is_disturbed) {
        iwi_doc_append(doc,
                       "Other processes used one of the CPUs in %s of them. Too few windows are left, so all "
                       "count, and the numbers are too low.",
                       iwi_percent_short(doc, (double)curve->disturbed_windows / (double)curve->windows));
    } else if (curve->disturbed_windows > 0) {
        iwi_doc_append(doc,
                       "%s of them do not count, because other processes used one of the CPUs for over 2 %% "
                       "of the time.",
                       iwi_count(doc, curve->disturbed_windows));
    } else {
        iwi_doc_append(doc, "No other process used the CPUs.");
    }
    if (strcmp(curve->hypervisor, "none") != 0) {
        iwi_item(doc,
                 "This is a virtual machine (%s): traffic of others on its host is invisible here and may "
                 "have used part of the bandwidth.",
                 curve->hypervisor);
    }
}

static void say_model(struct iwi_document *doc, const iw_memory_curve *curve)
{
    if (curve->cores > 1 && !isnan(curve->scaling.value)) {
        iwi_item(doc,
                 "All cores move %s (%s to %s) of the bandwidth of as many independent cores; below %s "
                 "memory counts as saturated.",
                 iwi_percent(doc, curve->scaling.value), iwi_percent(doc, curve->scaling.low),
                 iwi_percent(doc, curve->scaling.high), iwi_percent_short(doc, IW_MEMORY_SCALING_LEAST));
    }
    if (curve->misfit > POOR_MODEL) {
        iwi_item(doc, "The two numbers miss the measured value by %s at %" PRIu32 " core%s.",
                 iwi_percent_short(doc, curve->misfit), curve->misfit_cores,
                 iwi_plural_s(curve->misfit_cores));
    }
}

static void write_doc(struct iwi_document *doc, const void *subject)
{
    const iw_memory_curve *curve = subject;
    char list[64], text[IW_MEMORY_TEXT_SIZE];

    iwi_title(doc, "Memory bandwidth of %s", curve->host);
    iwi_subtitle(doc, "%s, NUMA node %" PRIu32 ", CPUs %s", curve->cpu_model, curve->numa_node,
                 iw_cpu_set_text(&curve->cpus, list, sizeof list));
    say_verdict(doc, curve);
    iwi_only_in(doc, IWI_ON_PAGES | IWI_IN_PLOTS);
    show_curve(doc, curve);
    iwi_only_in(doc, IWI_EVERYWHERE);
    say_points(doc, curve);
    iwi_section(doc, "certainty", "How sure");
    say_model(doc, curve);
    say_disturbances(doc, curve);
    say_arrays(doc, curve);
    iwi_section(doc, "use", "For a network's file, or a system of a study");
    iwi_code(doc, "memory: %s", iw_memory_text(&curve->memory, text));
}

const struct iwi_kind iwi_memory_kind = {
    .name = "memory",
    .schema_id = "idlewave.memory/1",
    .about = "Memory bandwidth by number of cores, from `idlewave bench memory --format json`",
    .schema = &curve_schema,
    .write_doc = write_doc,
    .check = check,
};

IWI_DOC(iw_memory_doc, iw_memory_curve, curve, iwi_memory_kind)
