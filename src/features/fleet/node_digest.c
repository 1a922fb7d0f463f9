/* A node in a few kilobytes: digests, made from recordings and in memory.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/fleet/node_digest.h"

#include <idlewave/caveat.h>
#include <idlewave/digest.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/base/order.h"
#include "kit/facts/recording_stats.h"

/* ======== in memory ======== */

uint16_t iwi_digest_code(double value)
{
    return value >= 1.0 ? (uint16_t)(1 + lround(fmin(log2(value), 127.0) * IWI_DIGEST_STEPS)) : 0;
}

double iw_digest_value(uint16_t code)
{
    return code > 0 ? exp2((double)(code - 1) / IWI_DIGEST_STEPS) : 0.0;
}

void iwi_digest_octave_fill(struct iwi_digest_octave *octave)
{
    for (unsigned step = 0; step < IWI_DIGEST_STEPS; step++) {
        octave->value[step] = iw_digest_value((uint16_t)(step + 1));
    }
}

iw_status iwi_digest_new(const iw_log *log, const char *node, iw_digest **digest_p)
{
    iw_digest *digest = iwi_new_array(log, 1, sizeof *digest);

    if (digest == NULL) {
        return IW_ERR_NOMEM;
    }
    digest->node = strdup(node);
    digest->sources = iwi_new_array(log, 1, sizeof *digest->sources);
    if (digest->node == NULL || digest->sources == NULL) {
        iw_digest_free(digest);
        return iwi_fail(log, IW_ERR_NOMEM, "out of memory for a digest");
    }
    digest->source_count = digest->source_capacity = 1;
    *digest_p = digest;
    return IW_OK;
}

void iw_digest_free(iw_digest *digest)
{
    if (digest == NULL) {
        return;
    }
    for (size_t i = 0; digest->sources != NULL && i < digest->source_count; i++) {
        free(digest->sources[i].cells);
    }
    for (size_t i = 0; i < digest->attribute_count; i++) {
        free(digest->attributes[i].name);
        free(digest->attributes[i].value);
    }
    free(digest->node);
    free(digest->attributes);
    free(digest->cpus);
    free(digest->sources);
    free(digest);
}

iw_status iwi_digest_add_cpu(const iw_log *log, iw_digest *digest, uint32_t cpu, int64_t length_ns)
{
    IW_TRY(iwi_grow(log, (void **)&digest->cpus, &digest->cpu_capacity, digest->cpu_count + 1,
                    sizeof *digest->cpus));
    digest->cpus[digest->cpu_count++] = (iw_digest_cpu){cpu, length_ns};
    return IW_OK;
}

iw_status iwi_digest_add_source(const iw_log *log, iw_digest *digest, const iw_source *source)
{
    IW_TRY(iwi_grow(log, (void **)&digest->sources, &digest->source_capacity, digest->source_count + 1,
                    sizeof *digest->sources));
    digest->sources[digest->source_count++] = (iw_digest_source){.source = *source};
    return IW_OK;
}

iw_status iwi_digest_add_cell(const iw_log *log, iw_digest_source *source, const iw_digest_cell *cell)
{
    IW_TRY(iwi_grow(log, (void **)&source->cells, &source->cell_capacity, source->cell_count + 1,
                    sizeof *source->cells));
    source->cells[source->cell_count++] = *cell;
    return IW_OK;
}

iw_status iwi_digest_reserve_cells(const iw_log *log, iw_digest_source *source, size_t count)
{
    return iwi_grow(log, (void **)&source->cells, &source->cell_capacity, count, sizeof *source->cells);
}

iw_status iwi_digest_set(const iw_log *log, iw_digest *digest, const char *name, const char *value)
{
    iw_attribute *grown =
        realloc(digest->attributes, (digest->attribute_count + 1) * sizeof *digest->attributes);
    iw_attribute attribute = {strdup(name), strdup(value)};

    digest->attributes = grown != NULL ? grown : digest->attributes;
    if (grown == NULL || attribute.name == NULL || attribute.value == NULL) {
        free(attribute.name);
        free(attribute.value);
        return iwi_fail(log, IW_ERR_NOMEM, "out of memory for a setting of a node");
    }
    digest->attributes[digest->attribute_count++] = attribute;
    return IW_OK;
}

const char *iw_digest_get(const iw_digest *digest, const char *name)
{
    for (size_t i = 0; i < digest->attribute_count; i++) {
        if (strcmp(digest->attributes[i].name, name) == 0) {
            return digest->attributes[i].value;
        }
    }
    return NULL;
}

/* ======== lengths of detours ======== */

/* Within a bin detours are taken to be spread evenly on a logarithmic scale. */
static double quantile(const uint64_t by_length[IW_DIGEST_LENGTHS], double count, double q)
{
    double before = 0.0;

    for (int bin = 0; bin < IW_DIGEST_LENGTHS; bin++) {
        const double here = (double)by_length[bin];

        if (here > 0.0 && before + here >= q * count) {
            return exp2(bin + (q * count - before) / here);
        }
        before += here;
    }
    return 0.0;
}

iw_detour_lengths iw_digest_lengths(const uint64_t by_length[IW_DIGEST_LENGTHS], double longest_ns)
{
    double count = 0.0;

    for (size_t bin = 0; bin < IW_DIGEST_LENGTHS; bin++) {
        count += (double)by_length[bin];
    }
    return (iw_detour_lengths){fmin(quantile(by_length, count, 0.5), longest_ns),
                               fmin(quantile(by_length, count, 0.99), longest_ns), longest_ns};
}

/* ======== counting ======== */

void iwi_digest_sums_add(struct iwi_digest_sums *to, const struct iwi_digest_sums *from)
{
    for (size_t i = 0; i < IW_DIGEST_LONGEST; i++) {
        to->of[i] += from->of[i];
    }
    to->of[IW_DIGEST_LONGEST] = fmax(to->of[IW_DIGEST_LONGEST], from->of[IW_DIGEST_LONGEST]);
}

static size_t length_bin(double time_ns)
{
    const int bin = time_ns >= 1.0 ? ilogb(time_ns) : 0;

    return bin < IW_DIGEST_LENGTHS ? (size_t)bin : IW_DIGEST_LENGTHS - 1;
}

void iwi_digest_count(struct iwi_digest_counter *counter, double at, double time_ns)
{
    const int stretch = (int)(at * IW_DIGEST_STRETCHES), last = IW_DIGEST_STRETCHES - 1;
    const struct iwi_digest_sums one = {{1.0, time_ns, time_ns * time_ns, time_ns}};

    iwi_digest_sums_add(&counter->by_stretch[stretch < last ? stretch : last], &one);
    counter->by_length[length_bin(time_ns)]++;
}

IWI_COMPARE(descending, double, IWI_ORDER(*right, *left))

/* What is left of one sum without the stretches that have most of it. */
static double steady_of(const struct iwi_digest_counter *counter, iw_digest_sum sum)
{
    double values[IW_DIGEST_STRETCHES], left = 0.0;

    for (size_t i = 0; i < IW_DIGEST_STRETCHES; i++) {
        values[i] = counter->by_stretch[i].of[sum];
    }
    iwi_sort(values, IW_DIGEST_STRETCHES, descending);
    if (sum == IW_DIGEST_LONGEST) {
        return values[IWI_DIGEST_BURST];
    }
    for (size_t i = IWI_DIGEST_BURST; i < IW_DIGEST_STRETCHES; i++) {
        left += values[i];
    }
    return left;
}

static void add_exactly(iw_digest_source *source, const struct iwi_digest_sums *all,
                        const struct iwi_digest_counter *counter)
{
    source->count += (uint64_t)all->of[IW_DIGEST_COUNT];
    source->busy_ns += (int64_t)llround(all->of[IW_DIGEST_BUSY]);
    source->longest_ns = iwi_max(source->longest_ns, (int64_t)llround(all->of[IW_DIGEST_LONGEST]));
    for (size_t i = 0; i < IW_DIGEST_LENGTHS; i++) {
        source->by_length[i] += counter->by_length[i];
    }
}

iw_status iwi_digest_put(const iw_log *log, iw_digest *digest, size_t source,
                         const struct iwi_digest_counter *counter)
{
    iw_digest_cell cell = {.cpu = (uint32_t)(digest->cpu_count - 1)};
    struct iwi_digest_sums all = {{0.0}};

    for (size_t i = 0; i < IW_DIGEST_STRETCHES; i++) {
        cell.stretches |= counter->by_stretch[i].of[IW_DIGEST_COUNT] > 0.0 ? 1U << i : 0;
        iwi_digest_sums_add(&all, &counter->by_stretch[i]);
    }
    if (cell.stretches == 0) {
        return IW_OK;
    }
    for (iw_digest_sum sum = IW_DIGEST_COUNT; sum < IW_DIGEST_SUMS; sum++) {
        cell.all[sum] = iwi_digest_code(all.of[sum]);
        cell.steady[sum] = iwi_digest_code(steady_of(counter, sum));
    }
    add_exactly(&digest->sources[source], &all, counter);
    return iwi_digest_add_cell(log, &digest->sources[source], &cell);
}

/* ======== from a recording ======== */

/* Attributes of recordings that describe the node; fleets are compared by them. */
static const char *const settings[] = {"kernel",   "cpu_model",   "hypervisor", "smt",
                                       "governor", "clocksource", "clock",      "tick_hz",
                                       "isolated", "nohz_full",   "version"};

/* The detours of one CPU on their way into cells. */
struct counting {
    const iw_log *log;
    iw_digest *digest;
    double length_ns;
    struct iwi_digest_counter *counters; /* all sources together, then each of the recording's */
};

static void count_one(void *arg, uint32_t source, int64_t start_ns, int64_t time_ns)
{
    const struct counting *c = arg;

    iwi_digest_count(&c->counters[source + 1], (double)start_ns / c->length_ns, (double)time_ns);
}

static iw_status add_cpu(struct counting *c, const iw_detours *cpu)
{
    c->length_ns = (double)cpu->length_ns;
    memset(c->counters, 0, c->digest->source_count * sizeof *c->counters);
    iwi_each_occurrence(cpu, count_one, c);
    for (size_t i = 0; i < cpu->count; i++) {
        iwi_digest_count(&c->counters[0], (double)cpu->start_ns[i] / c->length_ns,
                         (double)cpu->duration_ns[i]);
    }
    IW_TRY(iwi_digest_add_cpu(c->log, c->digest, cpu->cpu, cpu->length_ns));
    for (size_t s = 0; s < c->digest->source_count; s++) {
        IW_TRY(iwi_digest_put(c->log, c->digest, s, &c->counters[s]));
    }
    return IW_OK;
}

static iw_status add_cpus(const iw_log *log, iw_digest *digest, const iw_recording *recording)
{
    struct counting c = {.log = log, .digest = digest};
    iw_status status = IW_OK;

    for (size_t s = 0; s < recording->source_count; s++) {
        IW_TRY(iwi_digest_add_source(log, digest, &recording->sources[s]));
    }
    c.counters = iwi_new_array(log, digest->source_count, sizeof *c.counters);
    if (c.counters == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < recording->cpu_count && status == IW_OK; i++) {
        if (recording->cpus[i].length_ns > 0) {
            status = add_cpu(&c, &recording->cpus[i]);
        }
    }
    free(c.counters);
    return status;
}

/* That its noise is load rather. */
static iw_status add_busy(const iw_log *log, iw_digest *digest, const iw_recording *recording)
{
    iw_caveats caveats = {.count = 0};

    iw_caveats_of_recording(recording, digest->node, &caveats);
    return iw_caveats_have(&caveats, IW_CAVEAT_BUSY) ? iwi_digest_set(log, digest, IWI_DIGEST_BUSY_KEY, "yes")
                                                     : IW_OK;
}

static iw_status add_settings(const iw_log *log, iw_digest *digest, const iw_recording *recording)
{
    const char *start = iw_recording_get(recording, "start_wall_ns");

    digest->start_ns = start != NULL ? strtoll(start, NULL, 10) : 0;
    digest->probe = recording->probe;
    digest->attribution = recording->attribution;
    digest->threshold_ns = recording->cpu_count > 0 ? recording->cpus[0].threshold_ns : 0.0;
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        const char *value = iw_recording_get(recording, settings[i]);

        if (value != NULL) {
            IW_TRY(iwi_digest_set(log, digest, settings[i], value));
        }
    }
    return add_busy(log, digest, recording);
}

iw_status iw_digest_make(const iw_log *log, const char *node, const iw_recording *recording,
                         iw_digest **digest_p)
{
    iw_recording *losses = NULL;
    iw_digest *digest;
    iw_status status = IW_OK;

    IW_TRY(iwi_digest_new(log, node, &digest));
    if (iw_probe_has_quanta(recording->probe)) {
        status = iwi_losses_new(log, recording, &losses);
    }
    if (status == IW_OK) {
        status = add_cpus(log, digest, losses != NULL ? losses : recording);
    }
    iwi_losses_free(losses);
    if (status == IW_OK) {
        status = add_settings(log, digest, recording);
    }
    if (status != IW_OK) {
        iw_digest_free(digest);
        return status;
    }
    *digest_p = digest;
    return IW_OK;
}
