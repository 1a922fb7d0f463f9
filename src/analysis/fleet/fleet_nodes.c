/* A fleet: nodes added one by one, of each only sums are kept.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/fleet.h>

#include <stdlib.h>
#include <string.h>

#include "analysis/fleet/fleet_cells.h"
#include "analysis/recording_stats.h"
#include "base/base.h"

iw_status iw_fleet_new(const iw_log *log, const char *name, iw_fleet **fleet_p)
{
    iw_fleet *fleet = iwi_new_array(log, 1, sizeof *fleet);
    iw_status status;

    if (fleet == NULL) {
        return IW_ERR_NOMEM;
    }
    fleet->name = strdup(name);
    status = fleet->name != NULL ? iwi_fleet_cells_new(log, &fleet->cells)
                                 : iwi_fail(log, IW_ERR_NOMEM, "out of memory for the name of a folder");
    if (status != IW_OK) {
        iw_fleet_free(fleet);
        return status;
    }
    *fleet_p = fleet;
    return IW_OK;
}

void iw_fleet_free(iw_fleet *fleet)
{
    if (fleet == NULL) {
        return;
    }
    for (size_t i = 0; i < fleet->node_count; i++) {
        free(fleet->nodes[i].name);
    }
    for (size_t i = 0; i < fleet->unreadable_count; i++) {
        free(fleet->unreadable[i].name);
        free(fleet->unreadable[i].reason);
    }
    for (size_t i = 0; i < fleet->group_count; i++) {
        free(fleet->groups[i].value);
    }
    free(fleet->name);
    free(fleet->nodes);
    free(fleet->unreadable);
    free(fleet->sources);
    free(fleet->findings);
    free(fleet->differences);
    free(fleet->groups);
    iwi_fleet_cells_free(fleet->cells);
    free(fleet);
}

/* "noise/n0713.h5" is "n0713". NULL: no memory. */
static char *node_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    const size_t length = strlen(name);
    const bool has_ending = length > 3 && strcmp(name + length - 3, ".h5") == 0;

    return strndup(name, has_ending ? length - 3 : length);
}

/* ---- a recording ---- */

/* The detours of one CPU on their way into cells. */
struct counting {
    const iw_log *log;
    iw_fleet *fleet;
    double length_ns;
    uint32_t *names;                     /* of the recording's sources */
    struct iwi_fleet_counter *by_source; /* of them, and all together behind the last */
    size_t source_count;
};

static void count_one(void *arg, uint32_t source, int64_t start_ns, int64_t time_ns)
{
    const struct counting *c = arg;

    iwi_fleet_count(&c->by_source[source], (double)start_ns / c->length_ns, (double)time_ns);
}

static iw_status add_cpu(struct counting *c, const iw_detours *cpu)
{
    c->length_ns = (double)cpu->length_ns;
    memset(c->by_source, 0, (c->source_count + 1) * sizeof *c->by_source);
    iwi_each_occurrence(cpu, count_one, c);
    for (size_t i = 0; i < cpu->count; i++) {
        iwi_fleet_count(&c->by_source[c->source_count], (double)cpu->start_ns[i] / c->length_ns,
                        (double)cpu->duration_ns[i]);
    }
    IW_TRY(iwi_fleet_add_cpu(c->log, c->fleet, cpu->cpu, c->length_ns));
    for (size_t s = 0; s < c->source_count; s++) {
        IW_TRY(iwi_fleet_add_cell(c->log, c->fleet, c->names[s], &c->by_source[s]));
    }
    return iwi_fleet_add_cell(c->log, c->fleet, 0, &c->by_source[c->source_count]);
}

static iw_status add_cpus(struct counting *c, const iw_recording *recording)
{
    for (size_t s = 0; s < c->source_count; s++) {
        IW_TRY(iwi_fleet_find_name(c->log, c->fleet->cells, &recording->sources[s], &c->names[s]));
    }
    for (size_t i = 0; i < recording->cpu_count; i++) {
        if (recording->cpus[i].length_ns > 0) {
            IW_TRY(add_cpu(c, &recording->cpus[i]));
        }
    }
    return IW_OK;
}

static iw_status add_recording(const iw_log *log, iw_fleet *fleet, const iw_recording *recording)
{
    struct counting c = {.log = log, .fleet = fleet, .source_count = recording->source_count};
    iw_status status;

    c.names = iwi_new_array(log, c.source_count, sizeof *c.names);
    c.by_source = iwi_new_array(log, c.source_count + 1, sizeof *c.by_source);
    status = c.names != NULL && c.by_source != NULL ? add_cpus(&c, recording) : IW_ERR_NOMEM;
    free(c.names);
    free(c.by_source);
    return status;
}

iw_status iw_fleet_add(const iw_log *log, iw_fleet *fleet, const char *path, const iw_recording *recording)
{
    iw_recording *losses = NULL;
    char *name = node_name(path);
    iw_status status;

    if (name == NULL) {
        return iwi_fail(log, IW_ERR_NOMEM, "out of memory for the name of a node");
    }
    status = iwi_fleet_add_node(log, fleet, name);
    free(name);
    if (status == IW_OK && iw_probe_has_quanta(recording->probe)) {
        status = iwi_losses_new(log, recording, &losses);
    }
    if (status == IW_OK) {
        status = add_recording(log, fleet, losses != NULL ? losses : recording);
    }
    iwi_losses_free(losses);
    return status == IW_OK ? iwi_fleet_add_facts(log, fleet, recording) : status;
}

iw_status iw_fleet_add_unreadable(const iw_log *log, iw_fleet *fleet, const char *path, const char *reason)
{
    iw_fleet_unreadable file;

    IW_TRY(iwi_grow(log, (void **)&fleet->unreadable, &fleet->cells->unreadable_capacity,
                    fleet->unreadable_count + 1, sizeof *fleet->unreadable));
    file = (iw_fleet_unreadable){node_name(path), strdup(reason)};
    if (file.name == NULL || file.reason == NULL) {
        free(file.name);
        free(file.reason);
        return iwi_fail(log, IW_ERR_NOMEM, "out of memory for the name of a file");
    }
    fleet->unreadable[fleet->unreadable_count++] = file;
    return IW_OK;
}

const char *iw_fleet_metric_name(iw_fleet_metric metric)
{
    static const char *const names[IW_FLEET_METRICS] = {"share", "rate", "longest"};

    return metric < IW_FLEET_METRICS ? names[metric] : "?";
}
