/* Noise as a list of additive sources: making, reading and asking.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/noise.h>

#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "noise/source.h"
#include "noise/spec.h"

const struct iwi_source_ops *const iwi_source_kinds[] = {
    &iwi_source_periodic,
    &iwi_source_poisson,
    &iwi_source_phase_exp,
    &iwi_source_bernoulli,
    &iwi_source_trace, /* last: it takes any text */
    NULL,
};

iw_status iw_noise_new(const iw_log *log, iw_noise **noise_p)
{
    iw_noise *noise = iwi_new_array(log, 1, sizeof *noise);

    if (noise == NULL) {
        return IW_ERR_NOMEM;
    }
    noise->ranks_per_node = 1;
    *noise_p = noise;
    return IW_OK;
}

void iw_noise_free(iw_noise *noise)
{
    if (noise == NULL) {
        return;
    }
    for (size_t i = 0; i < noise->count; i++) {
        struct iwi_source *source = &noise->sources[i];

        if (source->ops->release != NULL) {
            source->ops->release(source);
        }
        free(source->name);
    }
    free(noise);
}

/* Prepares the next free place, which stays free until commit_source(). */
static iw_status prepare_source(const iw_log *log, iw_noise *noise, const char *name,
                                struct iwi_source **source_p)
{
    struct iwi_source *source = &noise->sources[noise->count];
    const size_t size = strlen(name) + 1;

    if (noise->count == IW_NOISE_MAX_SOURCES) {
        return iwi_fail(log, IW_ERR_RANGE, "'%s' is one noise source too many: at most %d can be added up",
                        name, IW_NOISE_MAX_SOURCES);
    }
    memset(source, 0, sizeof *source);
    source->name = iwi_new_array(log, size, 1);
    if (source->name == NULL) {
        return IW_ERR_NOMEM;
    }
    memcpy(source->name, name, size);
    *source_p = source;
    return IW_OK;
}

/* A source alone keeps its place in `next`; of several, each has a word more for it. */
static void commit_source(iw_noise *noise)
{
    const struct iwi_source *source = &noise->sources[noise->count];
    size_t words = 0;

    if (source->ops->begin != NULL) {
        noise->clocked[noise->clocked_count++] = (uint32_t)noise->count;
    }
    noise->count++;
    for (size_t i = 0; i < noise->clocked_count; i++) {
        words += noise->sources[noise->clocked[i]].ops->words;
    }
    noise->words = words + (noise->clocked_count > 1 ? noise->clocked_count : 0);
    noise->closed_form = NULL;
    if (noise->clocked_count == 1 && noise->sources[noise->clocked[0]].ops->finish != NULL) {
        noise->closed_form = &noise->sources[noise->clocked[0]];
    }
}

iw_status iw_noise_add(const iw_log *log, iw_noise *noise, const char *spec_or_path)
{
    const char *arguments = spec_or_path;
    const struct iwi_source_ops *ops;
    struct iwi_source *source;
    iw_status status;
    size_t i = 0;

    if (strcmp(spec_or_path, "none") == 0) {
        return IW_OK;
    }
    for (; (ops = iwi_source_kinds[i])->name != NULL; i++) {
        arguments = iwi_spec_arguments(spec_or_path, ops->name);
        if (arguments != NULL) {
            break;
        }
    }
    IW_TRY(prepare_source(log, noise, spec_or_path, &source));
    source->ops = ops;
    status = ops->parse(log, spec_or_path, arguments, source);
    if (status != IW_OK) {
        free(source->name);
        return status;
    }
    commit_source(noise);
    return IW_OK;
}

iw_status iw_noise_add_trace(const iw_log *log, iw_noise *noise, const char *name, const iw_time *start_ps,
                             const iw_time *duration_ps, size_t count, iw_time length_ps)
{
    struct iwi_source *source;
    iw_status status;

    IW_TRY(prepare_source(log, noise, name, &source));
    source->ops = &iwi_source_trace;
    status = iwi_trace_build(log, name, start_ps, duration_ps, count, length_ps, &source->u.trace);
    if (status != IW_OK) {
        free(source->name);
        return status;
    }
    commit_source(noise);
    return IW_OK;
}

void iw_noise_align(iw_noise *noise, iw_sync sync, iw_time skew_ps, uint32_t ranks_per_node)
{
    noise->sync = sync;
    noise->skew_ps = skew_ps;
    noise->ranks_per_node = ranks_per_node > 0 ? ranks_per_node : 1;
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
    return source < noise->count ? noise->sources[source].ops->share(&noise->sources[source]) : 0;
}

iw_sync iw_noise_sync(const iw_noise *noise)
{
    return noise->sync;
}
