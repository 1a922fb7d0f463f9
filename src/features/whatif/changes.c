/* Lists the changes that are tried.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/whatif/changes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/base/order.h"

static const iw_remedy together_remedy = {"run periodic work on all nodes at the same time",
                                          "synchronise the clocks and start periodic work on all nodes at "
                                          "the same instant: timers with OnCalendar= and AccuracySec=1us "
                                          "instead of daemons that sleep, skew_tick=0",
                                          false};

static const iw_remedy reserve_remedy = {
    "leave cores of each node to the operating system",
    "Slurm: set CoreSpecCount= or --core-spec= to their number; "
    "otherwise isolcpus= or a cpuset without these cores, and irqaffinity= with them",
    false};

static const iw_remedy replace_remedy = {
    "remove the slowest nodes",
    "drain them in the batch system and check cooling, power limits, memory errors and firmware; 'idlewave "
    "bench' on each node finds them",
    false};

void iwi_changes_release(struct iwi_changes *changes)
{
    for (size_t i = 0; i < changes->count; i++) {
        free(changes->list[i].is_removed);
    }
    free(changes->list);
    *changes = (struct iwi_changes){NULL, 0, 0};
}

iw_status iwi_changes_add(const iw_log *log, const iw_noise_set *set, iw_change_kind kind,
                          const bool *is_removed, struct iwi_changes *changes)
{
    iw_change change = {.kind = kind, .is_removed = iwi_new_array(log, set->part_count, sizeof(bool))};

    if (change.is_removed == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < set->part_count; i++) {
        change.is_removed[i] = is_removed[i];
        change.removed_count += is_removed[i];
        change.share += is_removed[i] ? set->parts[i].share : 0.0;
    }
    if (iwi_grow(log, (void **)&changes->list, &changes->room, changes->count + 1, sizeof(iw_change)) !=
        IW_OK) {
        free(change.is_removed);
        return IW_ERR_NOMEM;
    }
    changes->list[changes->count++] = change;
    return IW_OK;
}

static iw_change *last(struct iwi_changes *changes)
{
    return &changes->list[changes->count - 1];
}

/* ---- single sources ---- */

/* A part and its place in an order. */
struct place {
    int64_t longest_ns;
    size_t part, place;
};

IWI_COMPARE(compare_lengths, struct place, IWI_FALLING(longest_ns), IWI_RISING(part))

IWI_COMPARE(compare_places, struct place, IWI_RISING(place), IWI_RISING(part))

/* Marks those that are not tried alone. Parts are sorted by share: their number is their place by it. */
static iw_status choose_rest(const iw_log *log, const iw_noise_set *set, size_t most, bool *is_rest)
{
    struct place *places = iwi_new_array(log, set->part_count, sizeof *places);
    size_t count = 0;

    if (places == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < set->part_count; i++) {
        if (set->parts[i].is_recorded) {
            places[count++] = (struct place){set->parts[i].longest_ns, i, 0};
        }
    }
    iwi_sort(places, count, compare_lengths);
    for (size_t i = 0; i < count; i++) {
        places[i].place = i < places[i].part ? i : places[i].part;
    }
    iwi_sort(places, count, compare_places);
    for (size_t i = most; i < count && most > 0; i++) {
        is_rest[places[i].part] = count > most + 1; /* one alone is no rest */
    }
    free(places);
    return IW_OK;
}

static iw_status add_source(const iw_log *log, const iw_noise_set *set, size_t part, bool *is_removed,
                            struct iwi_changes *changes)
{
    is_removed[part] = true;
    IW_TRY(iwi_changes_add(log, set, IW_CHANGE_SOURCE, is_removed, changes));
    is_removed[part] = false;
    snprintf(last(changes)->name, sizeof last(changes)->name, "%s", set->parts[part].text);
    last(changes)->remedy = set->parts[part].is_recorded ? set->parts[part].remedy : NULL;
    return IW_OK;
}

static iw_status add_rest(const iw_log *log, const iw_noise_set *set, const bool *is_rest,
                          struct iwi_changes *changes)
{
    IW_TRY(iwi_changes_add(log, set, IW_CHANGE_REST, is_rest, changes));
    if (last(changes)->removed_count == 0) {
        free(changes->list[--changes->count].is_removed);
        return IW_OK;
    }
    snprintf(last(changes)->name, sizeof last(changes)->name, "%zu others", last(changes)->removed_count);
    return IW_OK;
}

static iw_status add_sources(const iw_log *log, const iw_noise_set *set, size_t most, bool *is_removed,
                             struct iwi_changes *changes)
{
    bool *is_rest = iwi_new_array(log, set->part_count, sizeof *is_rest);
    iw_status status = is_rest != NULL ? choose_rest(log, set, most, is_rest) : IW_ERR_NOMEM;

    for (size_t i = 0; i < set->part_count && status == IW_OK; i++) {
        status = is_rest[i] ? IW_OK : add_source(log, set, i, is_removed, changes);
    }
    if (status == IW_OK) {
        status = add_rest(log, set, is_rest, changes);
    }
    free(is_rest);
    return status;
}

/* ---- sets of them ---- */

static void clear(const iw_noise_set *set, bool *is_removed)
{
    memset(is_removed, 0, set->part_count * sizeof *is_removed);
}

/* Classes of one part, and of all, would say nothing new. */
static iw_status add_classes(const iw_log *log, const iw_noise_set *set, bool *is_removed,
                             struct iwi_changes *changes)
{
    for (int kind = 0; kind < IW_CLASSES; kind++) {
        size_t count = 0;

        for (size_t i = 0; i < set->part_count; i++) {
            is_removed[i] = set->parts[i].is_recorded && (int)set->parts[i].kind == kind;
            count += is_removed[i];
        }
        if (count >= 2 && count < set->part_count) {
            IW_TRY(iwi_changes_add(log, set, IW_CHANGE_CLASS, is_removed, changes));
            snprintf(last(changes)->name, sizeof last(changes)->name, "%s", iw_class_name((iw_class)kind));
        }
    }
    return IW_OK;
}

static iw_status add_named(const iw_log *log, const iw_noise_set *set, const iw_named_set *named,
                           bool *is_removed, struct iwi_changes *changes)
{
    if (named->pattern_count == 0) {
        return iwi_fail(log, IW_ERR_RANGE, "the set '%s' matches no source", named->name);
    }
    clear(set, is_removed);
    for (size_t i = 0; i < named->pattern_count; i++) {
        IW_TRY(iw_noise_set_mark(log, set, named->patterns[i], is_removed));
    }
    IW_TRY(iwi_changes_add(log, set, IW_CHANGE_SET, is_removed, changes));
    snprintf(last(changes)->name, sizeof last(changes)->name, "%s", named->name);
    return IW_OK;
}

/* ---- remedies for the node ---- */

static iw_status add_whole(const iw_log *log, const iw_noise_set *set, const iw_net *net, bool *is_removed,
                           struct iwi_changes *changes)
{
    memset(is_removed, true, set->part_count * sizeof *is_removed);
    IW_TRY(iwi_changes_add(log, set, IW_CHANGE_ALL, is_removed, changes));
    snprintf(last(changes)->name, sizeof last(changes)->name, "%s",
             iw_net_is_noisy(net) ? "all of the system" : "all");
    return IW_OK;
}

static iw_status add_network(const iw_log *log, const iw_noise_set *set, bool *is_removed,
                             struct iwi_changes *changes)
{
    clear(set, is_removed);
    IW_TRY(iwi_changes_add(log, set, IW_CHANGE_NETWORK, is_removed, changes));
    snprintf(last(changes)->name, sizeof last(changes)->name, "network noise");
    return IW_OK;
}

static iw_status add_together(const iw_log *log, const iw_noise_set *set, bool *is_removed,
                              struct iwi_changes *changes)
{
    clear(set, is_removed);
    IW_TRY(iwi_changes_add(log, set, IW_CHANGE_TOGETHER, is_removed, changes));
    snprintf(last(changes)->name, sizeof last(changes)->name, "co-scheduling");
    last(changes)->remedy = &together_remedy;
    return IW_OK;
}

static iw_status add_apart(const iw_log *log, const iw_noise_set *set, bool *is_removed,
                           struct iwi_changes *changes)
{
    clear(set, is_removed);
    IW_TRY(iwi_changes_add(log, set, IW_CHANGE_APART, is_removed, changes));
    snprintf(last(changes)->name, sizeof last(changes)->name, "independent nodes");
    return IW_OK;
}

static iw_status add_reserve(const iw_log *log, const iw_noise_set *set, uint32_t cores, bool *is_removed,
                             struct iwi_changes *changes)
{
    clear(set, is_removed);
    iw_noise_set_mark_moved(set, is_removed);
    IW_TRY(iwi_changes_add(log, set, IW_CHANGE_RESERVE, is_removed, changes));
    if (cores == 1) {
        snprintf(last(changes)->name, sizeof last(changes)->name, "reserved core");
    } else {
        snprintf(last(changes)->name, sizeof last(changes)->name, "%u reserved cores", cores);
    }
    last(changes)->remedy = &reserve_remedy;
    return IW_OK;
}

static iw_status add_replace(const iw_log *log, const iw_noise_set *set, uint32_t nodes, bool *is_removed,
                             struct iwi_changes *changes)
{
    clear(set, is_removed);
    IW_TRY(iwi_changes_add(log, set, IW_CHANGE_REPLACE, is_removed, changes));
    if (nodes == 1) {
        snprintf(last(changes)->name, sizeof last(changes)->name, "slowest node replaced");
    } else {
        snprintf(last(changes)->name, sizeof last(changes)->name, "%u slowest nodes replaced", nodes);
    }
    last(changes)->replaced_nodes = nodes;
    last(changes)->remedy = &replace_remedy;
    return IW_OK;
}

/* ---- all of them ---- */

static iw_status add_all(const iw_log *log, const iw_noise_set *set, const iw_whatif_opts *opts,
                         bool can_reserve, bool *is_removed, struct iwi_changes *changes)
{
    IW_TRY(add_sources(log, set, opts->most_parts, is_removed, changes));
    if (opts->wants_classes) {
        IW_TRY(add_classes(log, set, is_removed, changes));
    }
    for (size_t i = 0; i < opts->set_count; i++) {
        IW_TRY(add_named(log, set, &opts->sets[i], is_removed, changes));
    }
    if (set->part_count > 0) {
        IW_TRY(add_whole(log, set, opts->net, is_removed, changes));
    }
    if (iw_net_is_noisy(opts->net)) {
        IW_TRY(add_network(log, set, is_removed, changes));
    }
    if (opts->wants_together && set->sync == IW_SYNC_NONE && set->part_count > 0) {
        IW_TRY(add_together(log, set, is_removed, changes));
    }
    if (iw_independence_is_asked(set) && set->part_count > 0) {
        IW_TRY(add_apart(log, set, is_removed, changes));
    }
    if (opts->replaced_nodes > 0 && opts->sim.node_speeds != NULL) {
        IW_TRY(add_replace(log, set, opts->replaced_nodes, is_removed, changes));
    }
    return can_reserve && set->part_count > 0
               ? add_reserve(log, set, iwi_spare_cores(opts), is_removed, changes)
               : IW_OK;
}

iw_status iwi_changes_list(const iw_log *log, const iw_noise_set *set, const iw_whatif_opts *opts,
                           bool can_reserve, struct iwi_changes *changes_p)
{
    bool *is_removed = iwi_new_array(log, set->part_count, sizeof *is_removed);
    struct iwi_changes changes = {NULL, 0, 0};
    iw_status status;

    if (is_removed == NULL) {
        return IW_ERR_NOMEM;
    }
    status = add_all(log, set, opts, can_reserve, is_removed, &changes);
    free(is_removed);
    if (status != IW_OK) {
        iwi_changes_release(&changes);
        return status;
    }
    *changes_p = changes;
    return IW_OK;
}

struct iwi_variant iwi_variant_of(const iw_change *change)
{
    return (struct iwi_variant){.is_removed = change->is_removed,
                                .is_together = change->kind == IW_CHANGE_TOGETHER,
                                .is_apart = change->kind == IW_CHANGE_APART,
                                .is_reserved = change->kind == IW_CHANGE_RESERVE,
                                .has_quiet_net = change->kind == IW_CHANGE_NETWORK,
                                .replaced = change->replaced_nodes};
}
