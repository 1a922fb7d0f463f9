/* The tables of recordings, and what a file must hold beyond them.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>

#include "core/base/base.h"
#include "features/recordings/recordings.h"
#include "features/recordings/spectrum/spectrum_report.h"
#include "kit/text/words.h"

/* Nothing that lasts longer, in ns, was ever recorded. */
static const double MOST_NS = 1e19;

/* No simulation has a larger one. */
static const double MOST_SLOWDOWN = 1e15;

/* ---- the table ---- */

static const struct iwi_field row_fields[] = {
    IWI_VALUE(iw_noise_row, count, .about = "detours; of a source: detours in which it takes part"),
    IWI_VALUE(iw_noise_row, rate_hz, .about = "count / time watched: per second of one CPU"),
    IWI_VALUE(iw_noise_row, share,
              .about = "of the time watched. A detour with several sources counts for each of them with its "
                       "part, so shares of sources add up to that of all. A quantum of FWQ or FTQ counts as "
                       "one detour that took what it lost against the best one of its CPU"),
    IWI_VALUE(iw_noise_row, median_ns),
    IWI_VALUE(iw_noise_row, p99_ns),
    IWI_VALUE(iw_noise_row, max_ns),
};
static const struct iwi_schema row_schema = IWI_SCHEMA(iw_noise_row, row_fields);

IWI_OF(bool, is_kernel, iw_noise_origin, it->is_kernel)
IWI_OF(bool, is_periodic, iw_noise_origin, it->row.period_ns > 0.0)

static const struct iwi_field origin_fields[] = {
    IWI_INLINE(iw_noise_origin, source, iwi_source_schema),
    IWI_INLINE(iw_noise_origin, row, row_schema),
    IWI_VALUE_AS(iw_noise_origin, row.period_ns, "period_ns", .is_there = is_periodic,
                 .about = "null: not periodic; periodic if its detours mostly follow each other at one "
                          "distance, within 10 %, on each CPU or on all together"),
    IWI_VALUE(iw_noise_origin, is_kernel, .is_there = is_kernel, .is_optional = true,
              .about = "a thread of the kernel, where the recording tells"),
};
static const struct iwi_schema origin_schema = IWI_SCHEMA(iw_noise_origin, origin_fields);

static const struct iwi_field cpu_fields[] = {
    IWI_VALUE(iw_noise_cpu, cpu, .about = "the system's number"),
    IWI_VALUE(iw_noise_cpu, length_ns),
    IWI_VALUE(iw_noise_cpu, t_min_ns,
              .about = "of one turn of the undisturbed loop (selfish), the quickest quantum (fwq), a unit of "
                       "work (ftq)"),
    IWI_VALUE(iw_noise_cpu, threshold_ns),
    IWI_VALUE(iw_noise_cpu, dropped),
    IWI_INLINE(iw_noise_cpu, row, row_schema),
};
static const struct iwi_schema cpu_schema = IWI_SCHEMA(iw_noise_cpu, cpu_fields);

static const struct iwi_field point_fields[] = {
    IWI_VALUE(iw_noise_point, start_ns),
    IWI_VALUE(iw_noise_point, duration_ns),
    IWI_VALUE(iw_noise_point, cpu),
    IWI_VALUE(iw_noise_point, source, .about = "its place in `sources`"),
};
static const struct iwi_schema point_schema = IWI_SCHEMA(iw_noise_point, point_fields);

static const struct iwi_field bin_fields[] = {
    IWI_VALUE(iw_noise_bin, from_ns),
    IWI_VALUE(iw_noise_bin, to_ns),
    IWI_VALUE(iw_noise_bin, count),
    IWI_VALUE(iw_noise_bin, time_ns),
    IWI_VALUE_ARRAY(iw_noise_bin, by_source, .about = "counts of the six largest sources, and of all others"),
};
static const struct iwi_schema bin_schema = IWI_SCHEMA(iw_noise_bin, bin_fields);

static const struct iwi_field picture_fields[] = {
    IWI_VALUE(iw_noise_picture, length_ns, .about = "of the axis"),
    IWI_VALUE(iw_noise_picture, count, .about = "detours that took time"),
    IWI_VALUE(iw_noise_picture, longest_count, .about = "of `points`, the longest detours, which come first"),
    IWI_VALUE(iw_noise_picture, stride, .about = "then every so-manieth of the rest, at most 4,000"),
    IWI_OBJECTS(iw_noise_picture, points, point_count, point_schema),
    IWI_OBJECTS(iw_noise_picture, bins, bin_count, bin_schema),
};
static const struct iwi_schema picture_schema = IWI_SCHEMA(iw_noise_picture, picture_fields);

IWI_OF(bool, is_load_known, iw_noise_facts, it->load.is_known)

static const struct iwi_field load_fields[] = {
    IWI_VALUE(iw_load, is_known, .about = "the recording tells"),
    IWI_VALUE(iw_load, is_busy, .about = "users' programs had a fifth of a CPU or more, unasked"),
    IWI_VALUE(iw_load, users, .about = "share of the time of these CPUs"),
    IWI_VALUE(iw_load, services, .about = "of the system, the same"),
    IWI_VALUE(iw_load, kernel, .about = "threads, the same"),
    IWI_CHARS(iw_load, programs, .about = "the largest of users'"),
};
static const struct iwi_schema load_schema = IWI_SCHEMA(iw_load, load_fields);

IWI_OF(bool, has_quanta, iw_noise_facts, it->quantum_ns > 0)

static const struct iwi_field facts_fields[] = {
    IWI_ENUM(iw_noise_facts, probe, "probe", iwi_probe_at),
    IWI_ENUM(iw_noise_facts, rung, "rung", iwi_rung_at, .about = "how sources were identified"),
    IWI_VALUE(iw_noise_facts, has_sources, .about = "detours have known sources"),
    IWI_VALUE(iw_noise_facts, quantum_ns, .is_there = has_quanta, .about = "of FWQ and FTQ"),
    IWI_VALUE(iw_noise_facts, watched_ns, .about = "summed over the CPUs"),
    IWI_INLINE(iw_noise_facts, all, row_schema),
    IWI_VALUE(iw_noise_facts, dropped, .about = "detours that found no room"),
    IWI_OBJECT(iw_noise_facts, load, load_schema, .is_there = is_load_known, .is_optional = true,
               .about = "who else used the CPUs"),
    IWI_VALUE(iw_noise_facts, rare_limit_ns,
              .about = "sources with a longer mean time between detours may have been missed with a "
                       "probability above 5 %: a third of the shortest CPU's time"),
    IWI_OBJECTS(iw_noise_facts, sources, source_count, origin_schema, .about = "the largest share first"),
    IWI_OBJECTS(iw_noise_facts, cpus, cpu_count, cpu_schema),
    IWI_PAIRS(iw_noise_facts, attributes, attribute_count, .about = "of the recording"),
    IWI_INLINE(iw_noise_facts, caveats, iwi_caveats_schema),
};
static const struct iwi_schema facts_schema = IWI_SCHEMA(iw_noise_facts, facts_fields);

IWI_OF(bool, is_slow, iw_noise_cost, it->from_ranks > 0)
IWI_OF(bool, has_cost, iw_noise_report, it->cost.network != NULL)

static const struct iwi_field cost_fields[] = {
    IWI_VALUE(iw_noise_cost, network),
    IWI_VALUE(iw_noise_cost, ranks),
    IWI_VALUE(iw_noise_cost, repeat, .about = "collectives in a run, back to back; the second half counts"),
    IWI_VALUE(iw_noise_cost, trials, .about = "runs"),
    IWI_VALUE(iw_noise_cost, used_ns,
              .about = "how much of each CPU was used, from the beginning of the recording: all, but no more "
                       "than 4 million detours"),
    IWI_ESTIMATE(iw_noise_cost, barrier_slowdown, .about = "T/T0 - 1"),
    IWI_ESTIMATE(iw_noise_cost, allreduce_slowdown, .about = "of 8 B"),
    IWI_VALUE(iw_noise_cost, is_bound,
              .about = "the recording is too short for so many ranks: `low` is a lower bound"),
    IWI_VALUE(iw_noise_cost, is_rare,
              .about = "detours that would add more than a fifth are expected less than three times in all "
                       "runs: `low` is a lower bound"),
    IWI_VALUE(iw_noise_cost, from_ranks, .is_there = is_slow,
              .about = "least power of two on which a barrier takes at least 5 % longer; null if none up to "
                       "`most_ranks`"),
    IWI_VALUE(iw_noise_cost, most_ranks),
};
static const struct iwi_schema cost_schema = IWI_SCHEMA(iw_noise_cost, cost_fields);

static const struct iwi_field report_fields[] = {
    IWI_VALUE(iw_noise_report, name, .about = "the file's, without its folders"),
    IWI_INLINE(iw_noise_report, facts, facts_schema),
    IWI_OBJECT(iw_noise_report, cost, cost_schema, .is_there = has_cost, .is_optional = true,
               .about = "what a barrier and an allreduce pay on a built-in network, by simulation; not on "
                        "busy nodes, nor where nothing can be simulated"),
    IWI_POINTER(iw_noise_report, spectrum, iwi_spectrum_schema, .about = "in reports of noise files"),
    IWI_VALUE(iw_noise_report, no_spectrum, .may_be_null = true,
              .about = "why there is none, if it was asked for"),
    IWI_OBJECT(iw_noise_report, picture, picture_schema, .about = "what is drawn"),
};
const struct iwi_schema iwi_noise_schema = IWI_SCHEMA(iw_noise_report, report_fields);

/* ---- files ---- */

static bool are_points_right(const iw_noise_report *report)
{
    const iw_noise_picture *picture = &report->picture;

    for (size_t i = 0; i < picture->point_count; i++) {
        const iw_noise_point *point = &picture->points[i];

        if (point->source >= report->facts.source_count || !(point->duration_ns > 0.0) ||
            !(point->duration_ns < MOST_NS) || !(fabs(point->start_ns) < MOST_NS)) {
            return false;
        }
    }
    for (size_t i = 0; i < picture->bin_count; i++) {
        const iw_noise_bin *bin = &picture->bins[i];

        if (!(bin->from_ns > 0.0 && bin->to_ns > bin->from_ns && bin->to_ns <= 10.0 * MOST_NS) ||
            !(bin->time_ns >= 0.0) || (i > 0 && bin->from_ns < picture->bins[i - 1].to_ns)) {
            return false;
        }
    }
    return picture->longest_count <= picture->point_count &&
           (picture->point_count == 0 || (picture->bin_count > 0 && picture->length_ns > 0.0 &&
                                          picture->length_ns < MOST_NS && report->facts.watched_ns > 0.0));
}

static bool is_slowdown(double slowdown)
{
    return slowdown > -1.0 && slowdown < MOST_SLOWDOWN;
}

static bool is_cost_right(const iw_noise_cost *cost)
{
    return is_slowdown(cost->barrier_slowdown.value) && is_slowdown(cost->barrier_slowdown.low) &&
           is_slowdown(cost->allreduce_slowdown.value) && is_slowdown(cost->allreduce_slowdown.low) &&
           cost->used_ns >= 0.0 && cost->used_ns < MOST_NS;
}

iw_status iwi_noise_check(const iw_log *log, const char *file, const iw_noise_report *report)
{
    if (report->cost.network != NULL && !is_cost_right(&report->cost)) {
        return iwi_fail(log, IW_ERR_FORMAT, "'%s': cost: impossible slowdowns", file);
    }
    if (!are_points_right(report)) {
        return iwi_fail(log, IW_ERR_FORMAT, "'%s': picture: its points or bins cannot be", file);
    }
    return report->spectrum != NULL ? iwi_spectrum_check(log, file, report->spectrum) : IW_OK;
}
