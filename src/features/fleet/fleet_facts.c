/* Facts about the nodes of a fleet: which of them not all nodes agree on.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/attribute_text.h"
#include "core/base/base.h"
#include "core/base/order.h"
#include "core/base/short_number.h"
#include "features/fleet/fleet_share.h"

/* Settings that digests have, and facts of the recordings themselves. */
static const char *const facts[] = {
    "kernel",   "cpu_model", "hypervisor", "smt",  "governor", "clocksource", "clock",  "tick_hz",
    "isolated", "nohz_full", "probe",      "rung", "version",  "cpus",        "length", "threshold"};

enum { FACTS = sizeof facts / sizeof facts[0], VALUE_SIZE = 256 };

/* Lengths with two digits, thresholds to the nearest power of ten: what is measured is never exactly alike.
 */
static void describe(const char *fact, const iw_digest *digest, char buf[VALUE_SIZE])
{
    const char *value;

    buf[0] = '\0';
    if (strcmp(fact, "probe") == 0) {
        snprintf(buf, VALUE_SIZE, "%s", iw_probe_name(digest->probe));
    } else if (strcmp(fact, "rung") == 0) {
        snprintf(buf, VALUE_SIZE, "%s", iw_rung_name(digest->rung));
    } else if (strcmp(fact, "cpus") == 0) {
        snprintf(buf, VALUE_SIZE, "%zu", digest->cpu_count);
    } else if (digest->cpu_count > 0 && strcmp(fact, "length") == 0) {
        snprintf(buf, VALUE_SIZE, "%s s", iwi_short((double)digest->cpus[0].length_ns / 1e9, 2).text);
    } else if (digest->cpu_count > 0 && strcmp(fact, "threshold") == 0) {
        snprintf(buf, VALUE_SIZE, "about %.0f ns", pow(10.0, round(log10(fmax(digest->threshold_ns, 1.0)))));
    } else {
        value = iw_digest_get(digest, fact);
        snprintf(buf, VALUE_SIZE, "%s", value != NULL ? iwi_attribute_text(fact, value) : "");
    }
}

/* Number of that value, added if new. A fleet has few. */
static iw_status find_value(const iw_log *log, struct iwi_fleet_known_facts *f, const char *value,
                            uint32_t *number_p)
{
    size_t number = 0;

    while (number < f->value_count && strcmp(f->values[number], value) != 0) {
        number++;
    }
    *number_p = (uint32_t)number;
    if (number < f->value_count) {
        return IW_OK;
    }
    IW_TRY(iwi_grow(log, (void **)&f->values, &f->value_capacity, number + 1, sizeof *f->values));
    f->values[number] = strdup(value);
    if (f->values[number] == NULL) {
        return iwi_fail(log, IW_ERR_NOMEM, "out of memory for a fact about a node");
    }
    f->value_count++;
    return IW_OK;
}

iw_status iwi_fleet_add_facts(const iw_log *log, iw_fleet *fleet, const iw_digest *digest)
{
    struct iwi_fleet_known_facts *f = &fleet->cells->facts;
    const size_t first = (fleet->node_count - 1) * FACTS;

    IW_TRY(iwi_grow(log, (void **)&f->of_node, &f->capacity, first + FACTS, sizeof *f->of_node));
    for (size_t i = 0; i < FACTS; i++) {
        char value[VALUE_SIZE];

        describe(facts[i], digest, value);
        IW_TRY(find_value(log, f, value, &f->of_node[first + i]));
    }
    return IW_OK;
}

iw_status iwi_fleet_put_facts(const iw_log *log, const struct iwi_fleet_cells *cells, size_t node,
                              struct iwi_parcel *parcel)
{
    const struct iwi_fleet_known_facts *f = &cells->facts;

    for (size_t i = 0; i < FACTS; i++) {
        IW_TRY(iwi_parcel_put_text(log, parcel, f->values[f->of_node[node * FACTS + i]]));
    }
    return IW_OK;
}

iw_status iwi_fleet_take_facts(const iw_log *log, iw_fleet *fleet, struct iwi_parcel *parcel)
{
    struct iwi_fleet_known_facts *f = &fleet->cells->facts;
    const size_t first = (fleet->node_count - 1) * FACTS;

    IW_TRY(iwi_grow(log, (void **)&f->of_node, &f->capacity, first + FACTS, sizeof *f->of_node));
    for (size_t i = 0; i < FACTS; i++) {
        const char *value;

        IW_TRY(iwi_parcel_take_text(log, parcel, &value));
        IW_TRY(find_value(log, f, value, &f->of_node[first + i]));
    }
    return IW_OK;
}

void iwi_fleet_facts_release(struct iwi_fleet_known_facts *f)
{
    for (size_t i = 0; i < f->value_count; i++) {
        free(f->values[i]);
    }
    free(f->values);
    free(f->of_node);
}

/* ---- groups ---- */

static void add_member(iw_fleet_group *group, const iw_fleet_node *node)
{
    if (group->first_count < sizeof group->first / sizeof group->first[0]) {
        group->first[group->first_count++] = node->name;
    }
    group->node_count++;
}

IWI_COMPARE(larger_group_first, iw_fleet_group, IWI_FALLING(node_count))

static iw_status append_group(const iw_log *log, iw_fleet *fleet, const iw_fleet_group *group,
                              const char *value)
{
    IW_TRY(iwi_grow(log, (void **)&fleet->groups, &fleet->cells->group_capacity, fleet->group_count + 1,
                    sizeof *fleet->groups));
    fleet->groups[fleet->group_count] = *group;
    fleet->groups[fleet->group_count].value = strdup(value);
    if (fleet->groups[fleet->group_count].value == NULL) {
        return iwi_fail(log, IW_ERR_NOMEM, "out of memory for a fact about a node");
    }
    fleet->group_count++;
    return IW_OK;
}

static iw_status group_by(const iw_log *log, iw_fleet *fleet, size_t fact, iw_fleet_group *by_value)
{
    const struct iwi_fleet_known_facts *f = &fleet->cells->facts;
    const size_t first = fleet->group_count;
    size_t different = 0;

    memset(by_value, 0, f->value_count * sizeof *by_value);
    for (size_t node = 0; node < fleet->node_count; node++) {
        iw_fleet_group *group = &by_value[f->of_node[node * FACTS + fact]];

        group->fact = facts[fact];
        different += group->node_count == 0;
        add_member(group, &fleet->nodes[node]);
    }
    for (size_t i = 0; i < f->value_count && different > 1; i++) {
        if (by_value[i].node_count > 0) {
            IW_TRY(append_group(log, fleet, &by_value[i], f->values[i]));
        }
    }
    if (fleet->group_count > first) {
        iwi_sort(&fleet->groups[first], fleet->group_count - first, larger_group_first);
    }
    return IW_OK;
}

iw_status iwi_fleet_find_groups(const iw_log *log, iw_fleet *fleet)
{
    const struct iwi_fleet_known_facts *f = &fleet->cells->facts;
    iw_fleet_group *by_value = iwi_new_array(log, f->value_count, sizeof *by_value);
    iw_status status = by_value != NULL ? IW_OK : IW_ERR_NOMEM;

    for (size_t fact = 0; fact < FACTS && status == IW_OK && f->of_node != NULL; fact++) {
        status = group_by(log, fleet, fact, by_value);
    }
    free(by_value);
    return status;
}
