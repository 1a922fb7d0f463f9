/* Follows a watching from snapshot to snapshot.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Monitoring takes a counter that falls for one that began anew, and would show what it has as the growth of
 * an instant. So nothing falls here: a source that gets a place counts from then on, what it took before
 * stays with `other`, and one that loses its place takes what it counted with it.
 */
#include "features/watch/metrics.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/base/order.h"

/* A source gets a place when it has taken this much: most programs of a node come once and are never seen
 * again. */
static const uint64_t WORTH_NS = 1000000;

/* A place whose source has taken nothing for so long may go to another one. */
static const int64_t FORGOTTEN_NS = INT64_C(600) * 1000000000;

iw_status iw_watch_metrics_new(const iw_log *log, iw_watch_metrics **metrics_p)
{
    iw_watch_metrics *metrics = iwi_new_array(log, 1, sizeof *metrics);

    if (metrics == NULL) {
        return IW_ERR_NOMEM;
    }
    metrics->log = log;
    *metrics_p = metrics;
    return IW_OK;
}

void iw_watch_metrics_free(iw_watch_metrics *metrics)
{
    if (metrics != NULL) {
        free(metrics->watched);
        free(metrics->sources);
        free(metrics);
    }
}

/* ---- sources ---- */

void iwi_metric_name(const iw_source *source, iw_source *common)
{
    size_t length = strlen(source->name);

    *common = *source;
    if (source->kind == IW_CLASS_THREAD) {
        length = strcspn(source->name, "/");
    } else if (source->kind == IW_CLASS_IRQ) {
        length = strcspn(source->name, "@");
        while (length > 1 && strchr("0123456789-.:_ ", source->name[length - 1]) != NULL) {
            length--;
        }
    }
    if (length > 0) {
        common->name[length] = '\0';
    }
}

static int compare(const iw_source *a, const iw_source *b)
{
    const int by_class = (a->kind > b->kind) - (a->kind < b->kind);

    return by_class != 0 ? by_class : strcmp(a->name, b->name);
}

/* Where it is, or has to go. */
static size_t place_in_order(const iw_watch_metrics *metrics, const iw_source *source)
{
    size_t at;

    IWI_FIRST_NOT(at, 0, metrics->source_count, compare(&metrics->sources[at].source, source) < 0);
    return at;
}

static iw_status find_source(iw_watch_metrics *metrics, const iw_source *given,
                             struct iwi_metric_source **source_p)
{
    iw_source common;
    size_t at;

    iwi_metric_name(given, &common);
    at = place_in_order(metrics, &common);
    if (at == metrics->source_count || compare(&metrics->sources[at].source, &common) != 0) {
        IW_TRY(iwi_grow(metrics->log, (void **)&metrics->sources, &metrics->capacity,
                        metrics->source_count + 1, sizeof *metrics->sources));
        memmove(&metrics->sources[at + 1], &metrics->sources[at],
                (metrics->source_count - at) * sizeof *metrics->sources);
        metrics->sources[at] = (struct iwi_metric_source){.source = common};
        metrics->source_count++;
    }
    *source_p = &metrics->sources[at];
    return IW_OK;
}

/* Of the places whose sources have done nothing for long, the one that has for longest is free again. */
static void free_a_place(iw_watch_metrics *metrics, int64_t now_ns)
{
    struct iwi_metric_source *oldest = NULL;

    for (size_t i = 0; i < metrics->source_count; i++) {
        struct iwi_metric_source *source = &metrics->sources[i];

        if (source->has_place && (oldest == NULL || source->moved_ns < oldest->moved_ns)) {
            oldest = source;
        }
    }
    if (oldest != NULL && now_ns - oldest->moved_ns >= FORGOTTEN_NS) {
        oldest->has_place = false;
        oldest->ns = oldest->count = 0;
        metrics->placed--;
    }
}

static void count_source(iw_watch_metrics *metrics, struct iwi_metric_source *source, int64_t now_ns)
{
    const uint64_t ns = source->now_ns > source->seen_ns ? source->now_ns - source->seen_ns : 0;
    const uint64_t count =
        source->now_count > source->seen_count ? source->now_count - source->seen_count : 0;

    source->seen_ns += ns;
    source->seen_count += count;
    if (ns == 0 && count == 0) {
        return;
    }
    source->moved_ns = now_ns;
    if (!source->has_place && source->source.kind != IW_CLASS_UNKNOWN && source->seen_ns >= WORTH_NS) {
        if (metrics->placed == IWI_METRIC_PLACES) {
            free_a_place(metrics, now_ns);
        }
        source->has_place = metrics->placed < IWI_METRIC_PLACES;
        metrics->placed += source->has_place;
    }
    *(source->has_place ? &source->ns : &metrics->other_ns) += ns;
    *(source->has_place ? &source->count : &metrics->other_count) += count;
}

static iw_status count_sources(iw_watch_metrics *metrics, const iw_watch_result *so_far, int64_t now_ns)
{
    struct iwi_metric_source *source;

    for (size_t i = 0; i < metrics->source_count; i++) {
        metrics->sources[i].now_ns = metrics->sources[i].now_count = 0;
    }
    for (size_t i = 0; i < so_far->source_count; i++) {
        IW_TRY(find_source(metrics, &so_far->sources[i].source, &source));
        source->now_ns += so_far->sources[i].time_ns;
        source->now_count += so_far->sources[i].count;
    }
    for (size_t i = 0; i < so_far->source_count; i++) { /* the largest first: it gets its place first */
        IW_TRY(find_source(metrics, &so_far->sources[i].source, &source));
        count_source(metrics, source, now_ns);
    }
    return IW_OK;
}

/* ---- sums ---- */

static void rise(uint64_t *counter, uint64_t value)
{
    *counter = value > *counter ? value : *counter;
}

static void rise_source(iw_watch_source *to, const iw_watch_source *from)
{
    rise(&to->time_ns, from->time_ns);
    for (size_t i = 0; i < IW_WATCH_SLOTS; i++) {
        rise(&to->slots[i], from->slots[i]);
    }
}

static void count_classes(iw_watch_metrics *metrics, const iw_watch_result *so_far)
{
    iw_watch_source classes[IW_CLASSES] = {{.count = 0}};

    for (size_t i = 0; i < so_far->source_count; i++) {
        const iw_watch_source *source = &so_far->sources[i];
        iw_watch_source *sum =
            &classes[source->source.kind < IW_CLASSES ? source->source.kind : IW_CLASS_UNKNOWN];

        sum->time_ns += source->time_ns;
        for (size_t k = 0; k < IW_WATCH_SLOTS; k++) {
            sum->slots[k] += source->slots[k];
        }
    }
    for (size_t i = 0; i < IW_CLASSES; i++) {
        rise_source(&metrics->classes[i], &classes[i]);
    }
}

static void count_totals(iw_watch_metrics *metrics, const iw_watch_result *so_far)
{
    const iw_watch_totals *from = &so_far->totals;
    const uint64_t not_noise_ns = from->wait_own_ns + from->wait_waking_ns;
    iw_watch_totals *to = &metrics->totals;

    rise(&to->wanted_ns, from->wanted_ns);
    rise(&to->run_ns, from->run_ns);
    rise(&to->wait_own_ns, from->wait_own_ns);
    rise(&to->wait_waking_ns, from->wait_waking_ns);
    rise(&to->throttled_ns, from->throttled_ns);
    rise(&to->steal_unplaced_ns, from->steal_unplaced_ns);
    rise(&to->nmi_ns, from->nmi_ns);
    rise(&to->migrations, from->migrations);
    /* what is not noise of it is counted as it passes, all waiting at its end */
    rise(&metrics->wait_others_ns, from->wait_ns > not_noise_ns ? from->wait_ns - not_noise_ns : 0);
    rise(&metrics->losses.detours, so_far->losses.detours);
    rise(&metrics->losses.parts, so_far->losses.parts);
    rise(&metrics->losses.names, so_far->losses.names);
    rise(&metrics->losses.threads, so_far->losses.threads);
    rise(&metrics->losses.skipped, so_far->losses.skipped);
}

iw_status iw_watch_metrics_update(iw_watch_metrics *metrics, const iw_watch_result *so_far, int64_t now_ns)
{
    if (metrics->watched == NULL) {
        metrics->watched = strdup(so_far->job);
    }
    if (metrics->watched == NULL) {
        return iwi_fail(metrics->log, IW_ERR_NOMEM, "out of memory");
    }
    IW_TRY(count_sources(metrics, so_far, now_ns));
    count_classes(metrics, so_far);
    count_totals(metrics, so_far);
    rise_source(&metrics->all, &so_far->all);
    metrics->load_ns = so_far->load_ns;
    metrics->updated_ns = now_ns;
    return IW_OK;
}
