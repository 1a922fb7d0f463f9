/* The fleet's distribution: over nodes, and by source.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>

#include "core/base/base.h"
#include "core/base/order.h"
#include "core/stats/select.h"
#include "features/fleet/fleet_judge.h"

iw_spread iwi_fleet_spread(double *values, size_t count)
{
    return (iw_spread){iwi_select_quantile(values, count, 0.0),  iwi_select_quantile(values, count, 0.25),
                       iwi_select_quantile(values, count, 0.5),  iwi_select_quantile(values, count, 0.75),
                       iwi_select_quantile(values, count, 0.95), iwi_select_quantile(values, count, 1.0)};
}

double iwi_fleet_unit_value(const struct iwi_fleet_unit *unit, iw_fleet_metric metric)
{
    return unit->length_ns > 0.0 ? iwi_fleet_value(&unit->all, metric, unit->length_ns) : 0.0;
}

/* Values of all nodes that have the place, into the scratch; returns how many. */
static size_t list_values(struct iwi_fleet_trial *judge, iw_fleet_metric metric)
{
    size_t count = 0;

    for (size_t node = 0; node < judge->fleet->node_count; node++) {
        if (judge->place.units[node].length_ns > 0.0) {
            judge->scratch[count++] = iwi_fleet_unit_value(&judge->place.units[node], metric);
        }
    }
    return count;
}

double iwi_fleet_median_value(struct iwi_fleet_trial *judge, iw_fleet_metric metric)
{
    const size_t count = list_values(judge, metric);

    return count > 0 ? iwi_select_quantile(judge->scratch, count, 0.5) : 0.0;
}

void iwi_fleet_describe_nodes(struct iwi_fleet_trial *judge, iw_fleet *fleet)
{
    iwi_fleet_gather(judge, 0);
    for (iw_fleet_metric metric = IW_FLEET_SHARE; metric < IW_FLEET_METRICS; metric++) {
        size_t count;

        for (size_t node = 0; node < fleet->node_count; node++) {
            fleet->nodes[node].value[metric] = iwi_fleet_unit_value(&judge->place.units[node], metric);
        }
        count = list_values(judge, metric);
        if (count > 0) {
            fleet->spread[metric] = iwi_fleet_spread(judge->scratch, count);
        }
    }
    fleet->watched_ns = judge->place.total_ns;
}

const iw_source *iwi_fleet_source_of(const struct iwi_fleet_cells *cells, uint32_t family)
{
    const struct iwi_fleet_family *f = &cells->families[family];

    return f->has_other_names ? &f->pattern : &cells->names[f->first_name].source;
}

iw_detour_lengths iwi_fleet_lengths_of(const struct iwi_fleet_node_cell *cell)
{
    return (iw_detour_lengths){cell->median_ns, cell->p99_ns, cell->all[IW_DIGEST_LONGEST]};
}

typedef double (*length_fn)(iw_detour_lengths lengths);

static double median_of(iw_detour_lengths lengths)
{
    return lengths.median_ns;
}

static double p99_of(iw_detour_lengths lengths)
{
    return lengths.p99_ns;
}

static double longest_of(iw_detour_lengths lengths)
{
    return lengths.longest_ns;
}

static double usual(struct iwi_fleet_trial *judge, uint32_t family, const bool *is_left_out, length_fn of)
{
    size_t count = 0;

    for (size_t i = judge->first_entry[family]; i < judge->first_entry[family + 1]; i++) {
        const struct iwi_fleet_node_cell *cell = &judge->fleet->cells->cells[judge->sorted[i]];

        if (is_left_out == NULL || !is_left_out[cell->node]) {
            judge->scratch[count++] = of(iwi_fleet_lengths_of(cell));
        }
    }
    return count > 0 ? iwi_select_quantile(judge->scratch, count, 0.5) : 0.0;
}

iw_detour_lengths iwi_fleet_usual_lengths(struct iwi_fleet_trial *judge, uint32_t family,
                                          const bool *is_left_out)
{
    return (iw_detour_lengths){usual(judge, family, is_left_out, median_of),
                               usual(judge, family, is_left_out, p99_of),
                               usual(judge, family, is_left_out, longest_of)};
}

struct ranked {
    iw_fleet_source source;
    double mean;
};

IWI_COMPARE(larger_mean_first, struct ranked, IWI_FALLING(mean))

/* Of the family that the units hold. */
static struct ranked describe_source(struct iwi_fleet_trial *judge, uint32_t family)
{
    struct ranked ranked = {.source = {.source = *iwi_fleet_source_of(judge->fleet->cells, family)}};
    const size_t count = list_values(judge, IW_FLEET_SHARE);

    for (size_t i = 0; i < count; i++) {
        ranked.mean += judge->scratch[i];
        ranked.source.node_count += judge->scratch[i] > 0.0;
    }
    if (count > 0) {
        ranked.source.share = iwi_fleet_spread(judge->scratch, count);
    }
    ranked.source.lengths = iwi_fleet_usual_lengths(judge, family, NULL);
    return ranked;
}

iw_status iwi_fleet_describe_sources(struct iwi_fleet_trial *judge, iw_fleet *fleet)
{
    const size_t family_count = fleet->cells->family_count;
    struct ranked *ranked = iwi_new_array(judge->log, family_count, sizeof *ranked);

    fleet->sources = iwi_new_array(judge->log, family_count, sizeof *fleet->sources);
    if (ranked == NULL || fleet->sources == NULL) {
        free(ranked);
        return IW_ERR_NOMEM;
    }
    for (uint32_t family = 1; family < family_count; family++) {
        iwi_fleet_gather(judge, family);
        ranked[family - 1] = describe_source(judge, family);
    }
    iwi_sort(ranked, family_count - 1, larger_mean_first);
    for (size_t i = 0; i + 1 < family_count && ranked[i].mean > 0.0; i++) {
        fleet->sources[fleet->source_count++] = ranked[i].source;
    }
    free(ranked);
    return IW_OK;
}
