/* Metrics as Prometheus reads them.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The two formats differ in what a counter is called before its samples, in units, and in the last line.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <idlewave/watch.h>

#include "core/base/base.h"
#include "core/base/utf8.h"
#include "features/watch/metrics.h"

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
                 "Intervals in which a CPU was taken from the watched job.");
    histogram(x, &metrics->all);
    begin_family(x, HISTOGRAM, "_interruption_seconds", "seconds",
                 "What one source took of such an interval, by class.");
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
                 "Time for which the watched job wanted a CPU that did something else, by what that was.");
    for (size_t i = 0; i < metrics->source_count; i++) {
        if (metrics->sources[i].has_place) {
            source_sample(x, &metrics->sources[i].source);
            end_seconds(x, metrics->sources[i].ns);
        }
    }
    source_sample(x, NULL);
    end_seconds(x, metrics->other_ns);
    begin_family(x, COUNTER, "_interruptions", NULL, "How often it did so.");
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

    begin_family(x, COUNTER, "_not_seen", NULL, "What was not seen, or not in full, by what lacked room.");
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
    begin_family(x, GAUGE, "_load_seconds", "seconds",
                 "How long it took until the programs ran in the kernel.");
    begin_sample(x, "");
    end_seconds(x, (uint64_t)metrics->load_ns);
    begin_family(x, GAUGE, "_updated_timestamp_seconds", "seconds", "When these values were read.");
    begin_sample(x, "");
    end_seconds(x, (uint64_t)metrics->updated_ns);
    begin_family(x, INFO, "", NULL, "What watches.");
    begin_sample(x, "_info");
    add_label(x, "rung", iw_rung_name(IW_RUNG_BPF));
    add_label(x, "version", iw_version());
    end_count(x, 1);
}

static void write_all(struct exposition *x, const iw_watch_metrics *metrics)
{
    const iw_watch_totals *totals = &metrics->totals;

    seconds_counter(x, "_wanted_seconds",
                    "Time for which a thread of the watched job ran or was ready to, summed over CPUs.",
                    totals->wanted_ns);
    seconds_counter(x, "_run_seconds",
                    "Time for which threads of the watched job ran, interruptions included.", totals->run_ns);
    write_sources(x, metrics);
    write_histograms(x, metrics);
    write_waits(x, metrics);
    seconds_counter(x, "_steal_unplaced_seconds",
                    "Time that the hypervisor took while the watched job ran, not known when.",
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
