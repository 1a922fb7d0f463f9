/* Follows a watching from snapshot to snapshot, and tells Prometheus.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Monitoring takes a counter that falls for one that began anew, and would show what it has as the growth of
 * an instant. So nothing falls here: a source that gets a place counts from then on, what it took before
 * stays with `other`, and one that loses its place takes what it counted with it.
 */
#include "features/watch/metrics.h"

#include <idlewave/watch.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/base/base.h"
#include "core/base/order.h"
#include "core/base/utf8.h"

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

/* ---- as text for Prometheus ---- */

/* The two formats differ in what a counter is called before its samples, in units, and in the last line.
 */

/* Histograms have the borders 2^9 to 2^30 ns, 512 ns to 1.07 s, whatever was seen: a border that came later
 * would spoil all quantiles. */
enum { FIRST_SLOT = 8, LAST_SLOT = 29 };

struct exposition {
    FILE *out;
    iw_metrics_format format;
    const char *watched, *family;
    const char *class; /* a label of all samples while it is not NULL */
};

/* ---- lines ---- */

enum kind { COUNTER, GAUGE, HISTOGRAM, INFO };

/* `family` is the name without what kinds add to it; `unit` is its end or NULL. */
static void begin_family(struct exposition *x, enum kind kind, const char *family, const char *unit,
                         const char *help)
{
    static const char *const types[] = {"counter", "gauge", "histogram", "info"};
    const bool is_open = x->format == IW_METRICS_OPENMETRICS;
    const char *suffix = is_open ? "" : kind == COUNTER ? "_total" : kind == INFO ? "_info" : "";

    x->family = family;
    (void)fprintf(x->out, "# HELP idlewave_watch%s%s %s\n", family, suffix, help);
    (void)fprintf(x->out, "# TYPE idlewave_watch%s%s %s\n", family, suffix,
                  types[kind == INFO && !is_open ? GAUGE : kind]);
    if (is_open && unit != NULL) {
        (void)fprintf(x->out, "# UNIT idlewave_watch%s %s\n", family, unit);
    }
}

/* Threads choose their names, and the kernel cuts them anywhere. */
static void write_value(FILE *out, const char *text)
{
    while (*text != '\0') {
        uint32_t code = 0;
        const size_t size = iwi_utf8_size(text, &code);

        if (size == 0 || code < ' ' || code == 127) {
            (void)fputc('?', out);
        } else if (code == '"' || code == '\\') {
            (void)fprintf(out, "\\%c", *text);
        } else {
            (void)fwrite(text, 1, size, out);
        }
        text += size > 0 ? size : 1;
    }
}

static void add_label(struct exposition *x, const char *name, const char *value)
{
    (void)fprintf(x->out, ",%s=\"", name);
    write_value(x->out, value);
    (void)fputc('"', x->out);
}

static void begin_sample(struct exposition *x, const char *suffix)
{
    (void)fprintf(x->out, "idlewave_watch%s%s{watched=\"", x->family, suffix);
    write_value(x->out, x->watched);
    (void)fputc('"', x->out);
    if (x->class != NULL) {
        add_label(x, "class", x->class);
    }
}

static void end_count(struct exposition *x, uint64_t value)
{
    (void)fprintf(x->out, "} %" PRIu64 "\n", value);
}

static void end_seconds(struct exposition *x, uint64_t ns)
{
    (void)fprintf(x->out, "} %" PRIu64 ".%09" PRIu64 "\n", ns / 1000000000, ns % 1000000000);
}

/* ---- families ---- */

static void seconds_counter(struct exposition *x, const char *family, const char *help, uint64_t ns)
{
    begin_family(x, COUNTER, family, "seconds", help);
    begin_sample(x, "_total");
    end_seconds(x, ns);
}

static void bucket(struct exposition *x, const char *border, uint64_t count)
{
    begin_sample(x, "_bucket");
    add_label(x, "le", border);
    end_count(x, count);
}

static void histogram(struct exposition *x, const iw_watch_source *sum)
{
    uint64_t count = 0;

    for (size_t slot = 0; slot < IW_WATCH_SLOTS; slot++) {
        count += sum->slots[slot];
        if (slot >= FIRST_SLOT && slot <= LAST_SLOT) {
            char border[32];

            snprintf(border, sizeof border, "%.10g", (double)(UINT64_C(1) << (slot + 1)) * 1e-9);
            bucket(x, border, count);
        }
    }
    bucket(x, "+Inf", count);
    begin_sample(x, "_count");
    end_count(x, count);
    begin_sample(x, "_sum");
    end_seconds(x, sum->time_ns);
}

static const char *class_text(iw_class class)
{
    return class == IW_CLASS_UNKNOWN ? "other" : iw_class_name(class);
}

static void write_histograms(struct exposition *x, const iw_watch_metrics *metrics)
{
    begin_family(x, HISTOGRAM, "_detour_seconds", "seconds",
                 "Intervals in which the watched job lost a CPU.");
    histogram(x, &metrics->all);
    begin_family(x, HISTOGRAM, "_interruption_seconds", "seconds",
                 "Time that one source took of such an interval, by class.");
    for (int class = IW_CLASS_UNKNOWN; class < IW_CLASSES; class ++) {
        if (class != IW_CLASS_NMI) { /* not among the detours */
            x->class = class_text((iw_class) class);
            histogram(x, &metrics->classes[class]);
        }
    }
    x->class = NULL;
}

static void source_sample(struct exposition *x, const iw_source *source)
{
    begin_sample(x, "_total");
    add_label(x, "class", source != NULL ? class_text(source->kind) : "other");
    add_label(x, "source", source != NULL ? source->name : "other");
}

static void write_sources(struct exposition *x, const iw_watch_metrics *metrics)
{
    begin_family(x, COUNTER, "_lost_seconds", "seconds",
                 "Time for which the watched job wanted a CPU that did something else, by source.");
    for (size_t i = 0; i < metrics->source_count; i++) {
        if (metrics->sources[i].has_place) {
            source_sample(x, &metrics->sources[i].source);
            end_seconds(x, metrics->sources[i].ns);
        }
    }
    source_sample(x, NULL);
    end_seconds(x, metrics->other_ns);
    begin_family(x, COUNTER, "_interruptions", NULL, "Number of these interruptions, by source.");
    for (size_t i = 0; i < metrics->source_count; i++) {
        if (metrics->sources[i].has_place) {
            source_sample(x, &metrics->sources[i].source);
            end_count(x, metrics->sources[i].count);
        }
    }
    source_sample(x, NULL);
    end_count(x, metrics->other_count);
}

static void write_waits(struct exposition *x, const iw_watch_metrics *metrics)
{
    const struct {
        const char *cause;
        uint64_t ns;
    } rows[] = {{"others", metrics->wait_others_ns},
                {"own_threads", metrics->totals.wait_own_ns},
                {"waking", metrics->totals.wait_waking_ns},
                {"quota", metrics->totals.throttled_ns}};

    begin_family(x, COUNTER, "_wait_seconds", "seconds",
                 "Time for which threads of the watched job were ready and did not run. Only waiting behind "
                 "others is noise.");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        begin_sample(x, "_total");
        add_label(x, "cause", rows[i].cause);
        end_seconds(x, rows[i].ns);
    }
}

static void write_losses(struct exposition *x, const iw_watch_losses *losses)
{
    const struct {
        const char *where;
        uint64_t count;
    } rows[] = {{"ring", losses->detours},
                {"parts", losses->parts},
                {"names", losses->names},
                {"threads", losses->threads},
                {"events", losses->skipped}};

    begin_family(x, COUNTER, "_not_seen", NULL, "What was not seen, or not completely, for lack of room.");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        begin_sample(x, "_total");
        add_label(x, "where", rows[i].where);
        end_count(x, rows[i].count);
    }
}

static void write_self(struct exposition *x, const iw_watch_metrics *metrics)
{
    struct timespec own = {0};

    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &own);
    seconds_counter(x, "_own_cpu_seconds",
                    "CPU time of the watching process, without its programs in the kernel.",
                    (uint64_t)own.tv_sec * 1000000000 + (uint64_t)own.tv_nsec);
    begin_family(x, GAUGE, "_load_seconds", "seconds", "Time until the programs ran in the kernel.");
    begin_sample(x, "");
    end_seconds(x, (uint64_t)metrics->load_ns);
    begin_family(x, GAUGE, "_updated_timestamp_seconds", "seconds", "Time at which these values were read.");
    begin_sample(x, "");
    end_seconds(x, (uint64_t)metrics->updated_ns);
    begin_family(x, INFO, "", NULL, "The watching program.");
    begin_sample(x, "_info");
    add_label(x, "rung", iw_attribution_level_name(IW_ATTRIBUTION_LEVEL_BPF));
    add_label(x, "version", iw_version());
    end_count(x, 1);
}

static void write_all(struct exposition *x, const iw_watch_metrics *metrics)
{
    const iw_watch_totals *totals = &metrics->totals;

    seconds_counter(x, "_wanted_seconds",
                    "Time for which a thread of the watched job ran or was ready to run, summed over CPUs.",
                    totals->wanted_ns);
    seconds_counter(x, "_run_seconds",
                    "Time for which threads of the watched job ran, interruptions included.", totals->run_ns);
    write_sources(x, metrics);
    write_histograms(x, metrics);
    write_waits(x, metrics);
    seconds_counter(x, "_steal_unplaced_seconds",
                    "Time that the hypervisor took while the watched job ran; at unknown moments.",
                    totals->steal_unplaced_ns);
    seconds_counter(x, "_nmi_seconds", "Non-maskable interrupts while the watched job ran.", totals->nmi_ns);
    begin_family(x, COUNTER, "_migrations", NULL, "Moves of threads of the watched job to another CPU.");
    begin_sample(x, "_total");
    end_count(x, totals->migrations);
    write_losses(x, &metrics->losses);
    write_self(x, metrics);
    if (x->format == IW_METRICS_OPENMETRICS) {
        (void)fputs("# EOF\n", x->out);
    }
}

iw_status iw_watch_metrics_text(const iw_watch_metrics *metrics, iw_metrics_format format, char **text_p)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    struct exposition x = {.out = out, .format = format};
    bool is_whole;

    if (out == NULL) {
        return iwi_fail(metrics->log, IW_ERR_NOMEM, "out of memory");
    }
    x.watched = metrics->watched != NULL ? metrics->watched : "";
    write_all(&x, metrics);
    is_whole = ferror(out) == 0;
    if (fclose(out) != 0 || !is_whole) {
        free(text);
        return iwi_fail(metrics->log, IW_ERR_NOMEM, "out of memory");
    }
    *text_p = text;
    return IW_OK;
}
