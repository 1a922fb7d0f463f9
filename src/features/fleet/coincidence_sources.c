/* Collects when each source hit each node.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/fleet/coincidence.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/base/order.h"
#include "features/fleet/fleet_cells.h"
#include "kit/facts/recording_stats.h"

static iw_status find_source(const iw_log *log, struct iwi_hit_table *table, const iw_source *source,
                             size_t *index_p)
{
    const iw_source pattern = iwi_fleet_pattern(source);
    struct iwi_hit_source *added;

    for (size_t i = 0; i < table->count; i++) {
        struct iwi_hit_source *known = &table->sources[i];

        if (known->pattern.kind == pattern.kind && strcmp(known->pattern.name, pattern.name) == 0) {
            known->has_other_names |= strcmp(known->first.name, source->name) != 0;
            *index_p = i;
            return IW_OK;
        }
    }
    IW_TRY(iwi_grow(log, (void **)&table->sources, &table->room, table->count + 1, sizeof *table->sources));
    added = &table->sources[table->count];
    *added = (struct iwi_hit_source){.pattern = pattern,
                                     .first = *source,
                                     .nodes = iwi_new_array(log, table->node_count, sizeof *added->nodes)};
    if (added->nodes == NULL) {
        return IW_ERR_NOMEM;
    }
    *index_p = table->count++;
    return IW_OK;
}

/* One node while its detours are looked through. */
struct collector {
    const iw_log *log;
    struct iwi_hit_table *table;
    const size_t *index; /* by source of the recording */
    size_t node;
    iw_status status;
};

static void collect(void *arg, uint32_t source, int64_t start_ns, int64_t time_ns)
{
    struct collector *c = arg;
    struct iwi_hit_source *row = &c->table->sources[c->index[source]];
    struct iwi_hits *hits = &row->nodes[c->node];

    if (c->status != IW_OK || start_ns >= c->table->length_ns) {
        return;
    }
    row->busy_ns += (double)time_ns;
    c->status = iwi_grow(c->log, (void **)&hits->at_ns, &hits->room, hits->count + 1, sizeof *hits->at_ns);
    if (c->status == IW_OK) {
        hits->at_ns[hits->count++] = start_ns;
    }
}

static iw_status collect_node(const iw_log *log, const iw_recording *recording, size_t node,
                              struct iwi_hit_table *table)
{
    size_t *index = iwi_new_array(log, recording->source_count, sizeof *index);
    struct collector collector = {log, table, index, node, index != NULL ? IW_OK : IW_ERR_NOMEM};

    for (size_t i = 0; i < recording->source_count && collector.status == IW_OK; i++) {
        collector.status = find_source(log, table, &recording->sources[i], &index[i]);
    }
    for (size_t i = 0; i < recording->cpu_count && collector.status == IW_OK; i++) {
        iwi_each_occurrence(&recording->cpus[i], collect, &collector);
    }
    table->cpu_count += recording->cpu_count;
    free(index);
    return collector.status;
}

iw_status iwi_hit_table_fill(const iw_log *log, iw_recording *const *recordings, size_t count,
                             int64_t length_ns, struct iwi_hit_table *table)
{
    *table = (struct iwi_hit_table){.node_count = count, .length_ns = length_ns};
    for (size_t node = 0; node < count; node++) {
        IW_TRY(collect_node(log, recordings[node], node, table));
    }
    for (size_t i = 0; i < table->count; i++) {
        for (size_t node = 0; node < count; node++) { /* its CPUs came one after the other */
            struct iwi_hits *hits = &table->sources[i].nodes[node];

            iwi_sort(hits->at_ns, hits->count, iwi_compare_i64);
        }
    }
    return IW_OK;
}

void iwi_hit_table_release(struct iwi_hit_table *table)
{
    for (size_t i = 0; i < table->count; i++) {
        for (size_t node = 0; node < table->node_count; node++) {
            free(table->sources[i].nodes[node].at_ns);
        }
        free(table->sources[i].nodes);
    }
    free(table->sources);
}
