/* Makes recordings of noise specs: the detours that ranks of a simulation would meet.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/recording.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/base/opts.h"
#include "core/noise/detour_builder.h"
#include "core/noise/source.h"
#include "core/noise/spec.h"

/* Detours in one file: 2 GB in memory. */
enum { MOST_DETOURS = 100000000, MOST_CPUS = 1 << 16 };

struct synth {
    const iw_log *log;
    const iw_synth_opts *opts;
    iw_noise *noise;
    iw_recording *recording;
    uint32_t number[IW_NOISE_MAX_SOURCES]; /* in the recording, of each source of the noise */
    struct iwi_detour_builder builder;
    uint64_t left; /* further detours that may come */
    iw_status status;
};

/* ---- specs ---- */

/* "none" adds nothing here as elsewhere. */
static iw_status check_kind(const iw_log *log, const char *spec)
{
    char specs[256];

    if (strcmp(spec, "none") == 0) {
        return IW_OK;
    }
    iwi_list_usages(iw_noise_clocked_usage, specs, sizeof specs);
    for (size_t i = 0; iwi_source_kinds[i]->name != NULL; i++) {
        if (iwi_spec_arguments(spec, iwi_source_kinds[i]->name) == NULL) {
            continue;
        }
        if (iwi_source_kinds[i]->begin == NULL) {
            return iwi_fail(log, IW_ERR_USAGE,
                            "'%s' adds work to the compute phases of a program, so it cannot be recorded: "
                            "write one of %s, or pass it to simulate",
                            spec, specs);
        }
        return IW_OK;
    }
    return iwi_fail(log, IW_ERR_FORMAT, "'%s' is not a noise spec: write one of %s", spec, specs);
}

static bool find_class(const char *text, size_t length, iw_class *kind_p)
{
    for (int kind = 0; kind < IW_CLASSES; kind++) {
        const char *name = iw_class_name((iw_class)kind);

        if (strlen(name) == length && memcmp(name, text, length) == 0) {
            *kind_p = (iw_class)kind;
            return true;
        }
    }
    return false;
}

/* Reads "CLASS/NAME" or "NAME", `length` characters. */
static iw_status read_name(const iw_log *log, const char *text, size_t length, iw_source *source)
{
    const char *slash = memchr(text, '/', length);
    const char *name = slash != NULL ? slash + 1 : text;
    const size_t name_length = length - (size_t)(name - text);

    if (slash != NULL && !find_class(text, (size_t)(slash - text), &source->kind)) {
        return iwi_fail(log, IW_ERR_FORMAT,
                        "'%.*s': '%.*s' is not a class: write thread/, irq/, softirq/, nmi/, hardware/ or "
                        "unknown/ before the name",
                        (int)length, text, (int)(slash - text), text);
    }
    if ((name_length == 0 && slash == NULL) || name_length >= sizeof source->name) {
        return iwi_fail(log, IW_ERR_FORMAT,
                        "'%.*s=': a name has 1 to %zu characters; write tick= or irq/tick=", (int)length,
                        text, sizeof source->name - 1);
    }
    memcpy(source->name, name, name_length);
    return IW_OK;
}

static iw_status add_spec(struct synth *s, const char *text)
{
    const char *equals = strchr(text, '='), *spec = equals != NULL ? equals + 1 : text;
    const size_t before = s->noise->count;
    iw_source source = {.kind = IW_CLASS_UNKNOWN};

    if (equals != NULL) {
        IW_TRY(read_name(s->log, text, (size_t)(equals - text), &source));
    } else {
        snprintf(source.name, sizeof source.name, "%s", spec);
    }
    IW_TRY(check_kind(s->log, spec));
    IW_TRY(iw_noise_add(s->log, s->noise, spec));
    if (s->noise->count == before) {
        return IW_OK;
    }
    return iw_recording_source(s->log, s->recording, source.kind, source.name, &s->number[before]);
}

/* ---- detours ---- */

static int64_t rounded_ns(iw_time ps)
{
    return (ps + IW_PS_PER_NS / 2) / IW_PS_PER_NS;
}

/* Detours that overlap or touch become one; the builder's open one ends where the last piece did. */
static iw_status put_piece(struct synth *s, uint32_t source, int64_t start_ns, int64_t end_ns)
{
    struct iwi_detour_builder *b = &s->builder;

    if (end_ns <= start_ns) {
        return IW_OK;
    }
    if (!b->is_open || start_ns > b->end_ns) {
        IW_TRY(iwi_detour_close(b));
        iwi_detour_open(b, start_ns);
    }
    return iwi_detour_add(b, s->number[source], end_ns - b->end_ns);
}

static bool take_piece(void *arg, uint32_t source, iw_time start, iw_time end)
{
    struct synth *s = arg;

    if (s->left-- == 0) {
        s->status = iwi_fail(
            s->log, IW_ERR_RANGE,
            "these are more than %d million detours; use a shorter duration, fewer CPUs or lower rates",
            MOST_DETOURS / 1000000);
        return false;
    }
    s->status = put_piece(s, source, rounded_ns(start), rounded_ns(end));
    return s->status == IW_OK;
}

static iw_status fill_cpu(struct synth *s, size_t index)
{
    const iw_synth_opts *opts = s->opts;
    const struct iwi_stream_id id = {.seed = opts->seed, .trial = 0, .rank = (uint32_t)index};
    iw_detours *cpu = &s->recording->cpus[index];
    int64_t *total_ns = s->builder.total_ns;
    const uint64_t too_short = s->builder.too_short;

    cpu->cpu = (uint32_t)index;
    cpu->length_ns = opts->duration_ns;
    cpu->t_min_ns = opts->t_min_ns;
    cpu->threshold_ns = opts->threshold_ns;
    s->builder = (struct iwi_detour_builder){.log = s->log,
                                             .cpu = cpu,
                                             .total_ns = total_ns,
                                             .at_least_ns = (int64_t)ceil(opts->threshold_ns),
                                             .too_short = too_short};
    iwi_noise_walk(s->noise, id, opts->duration_ns * IW_PS_PER_NS, take_piece, s);
    IW_TRY(s->status);
    return iwi_detour_close(&s->builder);
}

/* ---- all of it ---- */

static iw_status check_opts(const iw_log *log, const iw_synth_opts *opts)
{
    const int64_t most_ns = IW_TIME_INPUT_MAX / IW_PS_PER_NS;

    if (opts->spec_count == 0 || opts->spec_count > IW_NOISE_MAX_SOURCES) {
        return iwi_fail(log, IW_ERR_RANGE, "%zu noise specs given: write 1 to %d", opts->spec_count,
                        IW_NOISE_MAX_SOURCES);
    }
    if (opts->duration_ns < 1 || opts->duration_ns > most_ns || opts->cpu_count < 1 ||
        opts->cpu_count > MOST_CPUS) {
        return iwi_fail(log, IW_ERR_RANGE,
                        "%zu CPUs for %" PRId64 " ns: write 1 to %d CPUs, and 1 ns to 240 h", opts->cpu_count,
                        opts->duration_ns, MOST_CPUS);
    }
    if (!(opts->t_min_ns >= 0.0 && opts->threshold_ns >= 0.0 && opts->threshold_ns <= (double)most_ns &&
          (opts->threshold_ns >= opts->t_min_ns || opts->threshold_ns == 0.0) &&
          opts->t_min_ns <= (double)most_ns)) {
        return iwi_fail(log, IW_ERR_RANGE,
                        "a threshold of %g ns with a t_min of %g ns: no probe sees detours shorter than its "
                        "own loop; write a threshold of at least t_min",
                        opts->threshold_ns, opts->t_min_ns);
    }
    if (opts->sync != IW_SYNC_NONE && opts->sync != IW_SYNC_START) {
        return iwi_fail(log, IW_ERR_USAGE, "recordings have no compute phases to synchronise with");
    }
    return IW_OK;
}

static iw_status set_attributes(struct synth *s)
{
    const iw_synth_opts *opts = s->opts;
    char seed[24], *specs = NULL;
    size_t size;
    FILE *out = open_memstream(&specs, &size);
    iw_status status = IW_ERR_NOMEM;

    for (size_t i = 0; out != NULL && i < opts->spec_count; i++) {
        (void)fprintf(out, "%s%s", i > 0 ? " " : "", opts->specs[i]);
    }
    snprintf(seed, sizeof seed, "%" PRIu64, opts->seed);
    if (out == NULL || fclose(out) != 0) {
        (void)iwi_fail(s->log, IW_ERR_NOMEM, "out of memory for the list of specs");
    } else {
        status = iw_recording_set(s->log, s->recording, "host", "synthetic");
    }
    if (status == IW_OK) {
        status = iw_recording_set(s->log, s->recording, "specs", specs);
    }
    free(specs);
    IW_TRY(status);
    IW_TRY(iw_recording_set(s->log, s->recording, "seed", seed));
    return iw_recording_set(s->log, s->recording, "sync", opts->sync == IW_SYNC_NONE ? "none" : "start");
}

static iw_status make(struct synth *s)
{
    IW_TRY(iw_noise_new(s->log, &s->noise));
    IW_TRY(iw_recording_new(s->log, s->opts->cpu_count, &s->recording));
    for (size_t i = 0; i < s->opts->spec_count; i++) {
        IW_TRY(add_spec(s, s->opts->specs[i]));
    }
    iw_noise_align(s->noise, s->opts->sync, 0, 1);
    IW_TRY(set_attributes(s));
    s->builder.total_ns = iwi_new_array(s->log, s->recording->source_count, sizeof(int64_t));
    if (s->builder.total_ns == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < s->opts->cpu_count; i++) {
        IW_TRY(fill_cpu(s, i));
    }
    return IW_OK;
}

iw_status iw_recording_synth(const iw_log *log, const iw_synth_opts *given, iw_recording **recording_p,
                             iw_edit *edit_p)
{
    iw_synth_opts known = IW_SYNTH_OPTS_INIT;
    const iw_synth_opts *opts = &known;
    struct synth s = {.log = log, .opts = opts, .left = MOST_DETOURS};
    iw_status status;

    IW_TRY(IWI_READ_OPTS(log, "IW_SYNTH_OPTS_INIT", given, &known));
    IW_TRY(check_opts(log, opts));
    status = make(&s);
    free(s.builder.total_ns);
    iw_noise_free(s.noise);
    if (status != IW_OK) {
        iw_recording_free(s.recording);
        return status;
    }
    *recording_p = s.recording;
    *edit_p = (iw_edit){.kind = IW_EDIT_SYNTH, .too_short = s.builder.too_short};
    return IW_OK;
}
