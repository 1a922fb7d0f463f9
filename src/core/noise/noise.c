/* Noise as a list of additive sources: making, reading and asking.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/noise.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/noise/recording_noise.h"
#include "core/noise/source.h"
#include "core/noise/spec.h"

#define NUMBER(kind) KIND_##kind,
enum { IWI_SOURCE_KINDS(NUMBER) KIND_COUNT };
#undef NUMBER

const struct iwi_source_ops *const iwi_source_kinds[] = {
#define ROW(kind) &iwi_source_##kind,
    IWI_SOURCE_KINDS(ROW)
#undef ROW
        NULL,
};

const char *iw_noise_spec_usage(size_t index)
{
    return index < KIND_COUNT && iwi_source_kinds[index]->name != NULL ? iwi_source_kinds[index]->usage
                                                                       : NULL;
}

const char *iw_noise_clocked_usage(size_t index)
{
    for (size_t i = 0, seen = 0; iwi_source_kinds[i]->name != NULL; i++) {
        if (iwi_source_kinds[i]->begin != NULL && seen++ == index) {
            return iwi_source_kinds[i]->usage;
        }
    }
    return NULL;
}

const char *iwi_noise_phased_name(size_t index)
{
    for (size_t i = 0, seen = 0; i < KIND_COUNT; i++) {
        if (iwi_source_kinds[i]->extra != NULL && seen++ == index) {
            return iwi_source_kinds[i]->name;
        }
    }
    return NULL;
}

iw_status iw_noise_new(const iw_log *log, iw_noise **noise_p)
{
    iw_noise *noise = iwi_new_array(log, 1, sizeof *noise);

    if (noise == NULL) {
        return IW_ERR_NOMEM;
    }
    noise->ranks_per_node = noise->cores_per_rank = noise->cores_per_node = 1;
    *noise_p = noise;
    return IW_OK;
}

void iw_noise_free(iw_noise *noise)
{
    if (noise == NULL) {
        return;
    }
    for (size_t i = 0; i < noise->count; i++) {
        struct iwi_noise_source *source = &noise->sources[i];

        if (source->ops->release != NULL) {
            source->ops->release(source);
        }
        free(source->name);
    }
    free(noise);
}

/* A source with a name and nothing else, if there is room for it. */
static iw_status prepare_source(const iw_log *log, iw_noise *noise, const char *name,
                                const struct iwi_source_ops *ops, struct iwi_noise_source *source)
{
    if (noise->count == IW_NOISE_MAX_SOURCES && !iwi_recorded_fold(noise)) {
        return iwi_fail(log, IW_ERR_RANGE, "'%s' is one noise source too many: at most %d can be added up",
                        name, IW_NOISE_MAX_SOURCES);
    }
    memset(source, 0, sizeof *source);
    source->ops = ops;
    source->name = strdup(name);
    if (source->name == NULL) {
        return iwi_fail(log, IW_ERR_NOMEM, "out of memory for the name of a noise source");
    }
    return IW_OK;
}

/* A source alone keeps its place in `next`; of several, each has a word more for it. */
static void settle_words(iw_noise *noise)
{
    size_t words = 0;

    for (size_t i = 0; i < noise->clocked_count; i++) {
        words += noise->sources[noise->clocked[i]].ops->words;
    }
    noise->words = words + (noise->clocked_count > 1 ? noise->clocked_count : 0);
    noise->closed_form = NULL;
    if (noise->clocked_count == 1 && noise->sources[noise->clocked[0]].ops->finish != NULL) {
        noise->closed_form = &noise->sources[noise->clocked[0]];
    }
}

void iwi_source_commit(iw_noise *noise, const struct iwi_noise_source *source)
{
    if (source->ops->begin != NULL) {
        noise->clocked[noise->clocked_count++] = (uint32_t)noise->count;
    } else if (source->ops->extra != NULL) {
        noise->phased_count++;
    }
    noise->sources[noise->count] = *source;
    if (source->nodes_together == 0) {
        noise->sources[noise->count].nodes_together = 1;
    }
    noise->sources[noise->count++].input = noise->input_count;
    settle_words(noise);
}

/* The kind that the text begins with, and what is behind that; else the last, which takes any text. */
static const struct iwi_source_ops *kind_of(const char *text, const char **arguments_p)
{
    size_t i = 0;

    for (; iwi_source_kinds[i]->name != NULL; i++) {
        *arguments_p = iwi_spec_arguments(text, iwi_source_kinds[i]->name);
        if (*arguments_p != NULL) {
            return iwi_source_kinds[i];
        }
    }
    *arguments_p = text;
    return iwi_source_kinds[i];
}

bool iwi_noise_is_spec(const char *text)
{
    const char *arguments;

    return kind_of(text, &arguments)->name != NULL;
}

iw_status iw_noise_add(const iw_log *log, iw_noise *noise, const char *spec_or_path)
{
    const char *arguments;
    const struct iwi_source_ops *ops = kind_of(spec_or_path, &arguments);
    struct iwi_noise_source source;
    char specs[256];
    iw_status status;

    if (strcmp(spec_or_path, "none") == 0) {
        noise->input_count++; /* so "none" in place of a source leaves the others as they were */
        return IW_OK;
    }
    IW_TRY(prepare_source(log, noise, spec_or_path, ops, &source));
    if (ops->name == NULL) {
        arguments = iwi_list_usages(iw_noise_spec_usage, specs, sizeof specs);
    }
    status = ops->parse(log, spec_or_path, arguments, &source);
    if (status != IW_OK) {
        free(source.name);
        return status;
    }
    iwi_source_commit(noise, &source);
    noise->input_count++;
    return IW_OK;
}

iw_status iw_noise_add_trace(const iw_log *log, iw_noise *noise, const char *name, const iw_time *start_ps,
                             const iw_time *duration_ps, size_t count, iw_time length_ps)
{
    struct iwi_noise_source source;
    iw_status status;

    IW_TRY(prepare_source(log, noise, name, &iwi_source_trace, &source));
    status = iwi_detour_trace_build(log, name, start_ps, duration_ps, count, length_ps, &source.u.trace);
    if (status != IW_OK) {
        free(source.name);
        return status;
    }
    iwi_source_commit(noise, &source);
    noise->input_count++;
    return IW_OK;
}

/* Only where there are copies do node-wide and other sources of a recording have different offsets. */
static void settle_walks(iw_noise *noise)
{
    for (size_t i = 0; i < noise->count; i++) {
        struct iwi_noise_source *source = &noise->sources[i];

        if (iwi_source_is_recording(source)) {
            const struct iwi_recorded *recorded = source->u.recorded.recorded;
            const bool has_two = iwi_noise_has_copies(noise) && recorded->has_own &&
                                 recorded->has_node_wide &&
                                 iwi_recorded_fewest_cpus(recorded) < noise->cores_per_node;

            source->ops = has_two ? &iwi_source_recording_both : &iwi_source_recording;
        }
    }
    settle_words(noise);
}

static void settle_nodes(iw_noise *noise)
{
    noise->ranks_per_node =
        iwi_ranks_of_node(noise->wanted_per_node, noise->recorded_cpus, noise->cores_per_rank);
    noise->cores_per_node = noise->ranks_per_node * noise->cores_per_rank;
    settle_walks(noise);
}

uint32_t iwi_ranks_of_node(uint32_t wanted, uint32_t recorded_cpus, uint32_t cores_per_rank)
{
    const uint32_t recorded = recorded_cpus / cores_per_rank;

    return wanted > 0 ? wanted : recorded > 0 ? recorded : 1;
}

void iw_noise_share_phases(iw_noise *noise, uint32_t cores_per_rank, iw_loop_schedule loop)
{
    noise->cores_per_rank = (uint32_t)iwi_min(iwi_max(cores_per_rank, 1), IW_CORES_PER_RANK_MOST);
    noise->loop = loop;
    settle_nodes(noise);
}

uint32_t iw_noise_cores_per_rank(const iw_noise *noise)
{
    return noise->cores_per_rank;
}

const char *iw_loop_schedule_name(iw_loop_schedule loop)
{
    static const char *const names[] = {[IW_LOOP_STATIC] = "static", [IW_LOOP_DYNAMIC] = "dynamic"};

    return (unsigned)loop < sizeof names / sizeof names[0] ? names[loop] : NULL;
}

iw_loop_schedule iw_noise_loop(const iw_noise *noise)
{
    return noise->loop;
}

void iw_noise_align(iw_noise *noise, iw_sync sync, iw_time skew_ps, uint32_t ranks_per_node)
{
    noise->sync = sync;
    noise->skew_ps = skew_ps;
    noise->wanted_per_node = ranks_per_node;
    settle_nodes(noise);
}

void iwi_noise_met_cpus(iw_noise *noise, size_t cpu_count)
{
    noise->recorded_cpus = cpu_count > noise->recorded_cpus ? (uint32_t)cpu_count : noise->recorded_cpus;
    settle_nodes(noise);
}

void iw_noise_only_cpus(iw_noise *noise, const iw_cpu_set *cpus)
{
    noise->only_cpus = cpus != NULL ? *cpus : (iw_cpu_set){.words = {0}};
}

const iw_cpu_set *iw_noise_cpus(const iw_noise *noise)
{
    return iw_cpu_set_is_empty(&noise->only_cpus) ? NULL : &noise->only_cpus;
}

void iw_noise_align_nodes(iw_noise *noise, iw_align align)
{
    noise->align = align;
}

iw_align iw_noise_nodes_aligned(const iw_noise *noise)
{
    return noise->align;
}

uint32_t iwi_noise_nodes_together(const iw_noise *noise)
{
    uint32_t most = 1;

    for (size_t i = 0; i < noise->count; i++) {
        most = noise->sources[i].nodes_together > most ? noise->sources[i].nodes_together : most;
    }
    return most;
}

void iwi_noise_take_apart(iw_noise *noise)
{
    noise->align = IW_ALIGN_NONE;
    for (size_t i = 0; i < noise->count; i++) {
        noise->sources[i].nodes_together = 1;
    }
}

void iwi_noise_join_copies(iw_noise *noise)
{
    noise->has_one_offset = true;
    settle_nodes(noise);
}

uint32_t iw_noise_recorded_cpus(const iw_noise *noise)
{
    return noise->recorded_cpus;
}

size_t iw_noise_source_count(const iw_noise *noise)
{
    return noise->count;
}

const char *iw_noise_source_name(const iw_noise *noise, size_t source)
{
    return source < noise->count ? noise->sources[source].name : NULL;
}

double iw_noise_source_share(const iw_noise *noise, size_t source)
{
    return source < noise->count
               ? noise->sources[source].ops->share(&noise->sources[source], noise->cores_per_node)
               : 0;
}

uint32_t iw_noise_ranks_per_node(const iw_noise *noise)
{
    return noise->ranks_per_node;
}

/* What of the CPUs so many cores are: "as recorded", "on the first 2 of 4 recorded CPUs". */
static void tell_cpus_met(uint64_t cores, uint64_t recorded, char *buf, size_t size)
{
    if (cores == recorded) {
        snprintf(buf, size, "as recorded");
    } else if (cores == 1) {
        snprintf(buf, size, "on the first of %" PRIu64 " recorded CPUs", recorded);
    } else if (cores < recorded) {
        snprintf(buf, size, "on the first %" PRIu64 " of %" PRIu64 " recorded CPUs", cores, recorded);
    } else if (recorded == 1) {
        snprintf(buf, size, "on independent copies of one recorded CPU");
    } else {
        snprintf(buf, size, "on copies of %" PRIu64 " recorded CPUs", recorded);
    }
}

const char *iw_nodes_text(uint64_t ranks_per_node, uint64_t cores_per_rank, uint64_t recorded_cpus,
                          const char *cpus, char buf[IW_NODES_TEXT_SIZE])
{
    const bool are_several = cpus != NULL && strpbrk(cpus, ",-.") != NULL;
    char met[80], cores[40] = "";

    if (recorded_cpus == 0) {
        buf[0] = '\0';
        return buf;
    }
    if (cores_per_rank > 1) {
        snprintf(cores, sizeof cores, " of %" PRIu64 " cores", cores_per_rank);
    }
    tell_cpus_met(ranks_per_node * (cores_per_rank > 1 ? cores_per_rank : 1), recorded_cpus, met, sizeof met);
    snprintf(buf, IW_NODES_TEXT_SIZE, "%" PRIu64 " rank%s%s per node, %s%s%.40s", ranks_per_node,
             ranks_per_node == 1 ? "" : "s", cores, met,
             cpus == NULL ? "" : (are_several ? ": CPUs " : ": CPU "), cpus != NULL ? cpus : "");
    return buf;
}

iw_sync iw_noise_sync(const iw_noise *noise)
{
    return noise->sync;
}
