/* Sources of jitter in training: what they hit, and ready ones whose sizes somebody published.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <idlewave/collection.h>
#include <idlewave/files.h>
#include <idlewave/recording.h>
#include <idlewave/training.h>

#include "core/base/base.h"
#include "core/base/nearest.h"
#include "core/noise/recording_noise.h"
#include "features/training/step_plan.h"
#include "features/training/step_run.h"

static const char *const wheres[] = {"host", "device", "loader", "network"};
static const char *const scopes[] = {"rank", "node", "all"};

/* Per-phase sources act once a step: a collection is triggered by what the program allocates, so it never
 * happens while the host waits, as one in wall-clock time would. */
static const iw_training_ready_source ready[] = {
    {.name = "python-gc",
     .spec = "bernoulli:0.00377,1.4s",
     .where = IW_TRAINING_HOST,
     .scope = IW_TRAINING_EACH_RANK,
     .origin = "marin PR 9224, 1.25 to 1.46 s about every 265 updates"},
    {.name = "data-loading",
     .spec = "bernoulli:0.01,300ms",
     .where = IW_TRAINING_LOADER,
     .scope = IW_TRAINING_EACH_RANK,
     .origin = "as in diux-dev/cluster #46 (0.2 s twice per epoch); frequency assumed"},
    {.name = "loader-stall",
     .spec = "bernoulli:0.001,13s",
     .where = IW_TRAINING_LOADER,
     .scope = IW_TRAINING_EACH_NODE,
     .origin = "finetrainers #174, 13 s of a step of 55 s; frequency assumed"},
    {.name = "loader-workers",
     .spec = "poisson:20Hz,exp:2ms",
     .where = IW_TRAINING_HOST,
     .scope = IW_TRAINING_EACH_RANK,
     .origin = "assumed: loader workers on the core of the launching thread; gone when they are pinned",
     .is_of_loader = true},
    {.name = "monitoring",
     .spec = "periodic:0.0333Hz,20ms",
     .where = IW_TRAINING_HOST,
     .scope = IW_TRAINING_EACH_NODE,
     .origin = "assumed: an agent that samples every 30 s"},
    {.name = "cpu-quota",
     .spec = "periodic:10Hz,30ms",
     .where = IW_TRAINING_HOST,
     .scope = IW_TRAINING_EACH_RANK,
     .origin = "a container throttled for 30 of every 100 ms; assumed within the observed 10 to 100 ms"},
    {.name = "nccl-proxy",
     .spec = "poisson:0.1Hz,exp:4ms",
     .where = IW_TRAINING_NETWORK,
     .scope = IW_TRAINING_EACH_NODE,
     .origin = "nccl PR 2017, a tail of 4 ms at full CPU; frequency assumed"},
    {.name = "fabric-slow",
     .spec = "periodic:0.000002Hz,600s",
     .where = IW_TRAINING_NETWORK,
     .scope = IW_TRAINING_EACH_NODE,
     .origin = "Falcon: fail-slows last 10 s to 10 h; assumed: every 6 days per node, half the speed",
     .factor = 2.0},
    {.name = "gpu-heat",
     .spec = "periodic:0.0000115741Hz,28800s",
     .where = IW_TRAINING_DEVICE,
     .scope = IW_TRAINING_ALL_RANKS,
     .origin = "Llama 3: 1 to 2 % by time of day; assumed: eight hours per day",
     .factor = 1.015},
    {.name = "slow-gpu",
     .where = IW_TRAINING_DEVICE,
     .origin = "assumed: one GPU always 2 % slower, the size that Llama 3 saw by time of day",
     .settings = "slow=slow:1,1.02"},
    {.name = "lengths",
     .where = IW_TRAINING_DEVICE,
     .origin = "fitted to trace SE of ByteDance's StragglerAnalysis: relative deviations 0.27 and 0.44 "
               "including other variation",
     .settings = "forward-sigma=0.22,backward-sigma=0.33"},
};

const iw_training_ready_source *iw_training_ready(size_t index)
{
    return index < sizeof ready / sizeof ready[0] ? &ready[index] : NULL;
}

const char *iw_training_where_name(unsigned where)
{
    return where < sizeof wheres / sizeof wheres[0] ? wheres[where] : NULL;
}

const char *iw_training_scope_name(unsigned scope)
{
    return scope < sizeof scopes / sizeof scopes[0] ? scopes[scope] : NULL;
}

static iw_status find_word(const iw_log *log, const char *what, const char *text,
                           const char *(*name)(unsigned), unsigned *index_p)
{
    char known[64] = "";

    for (unsigned i = 0; name(i) != NULL; i++) {
        const size_t used = strlen(known);

        if (strcmp(name(i), text) == 0) {
            *index_p = i;
            return IW_OK;
        }
        snprintf(known + used, sizeof known - used, "%s%s", i > 0 ? ", " : "", name(i));
    }
    return iwi_fail(log, IW_ERR_FORMAT, "'%.60s' is not a %s of jitter: use one of %s", text, what, known);
}

static const iw_training_ready_source *find_ready(const char *name)
{
    for (size_t i = 0; i < sizeof ready / sizeof ready[0]; i++) {
        if (strcmp(ready[i].name, name) == 0) {
            return &ready[i];
        }
    }
    return NULL;
}

static void take_ready(iw_training_source *source, const iw_training_source_text *text)
{
    const iw_training_ready_source *found = find_ready(text->source);

    snprintf(source->spec, sizeof source->spec, "%s", found != NULL ? found->spec : text->source);
    if (found != NULL) {
        source->where = found->where;
        source->scope = found->scope;
        source->factor = found->factor;
        source->is_of_loader = found->is_of_loader;
    }
}

static iw_status read_factor(const iw_log *log, const char *text, double *factor_p)
{
    char *end;
    const double factor = strtod(text, &end);

    if (end == text || *end != '\0' || !(factor > 1.0) || factor > 1000.0) {
        return iwi_fail(log, IW_ERR_FORMAT,
                        "factor '%.60s' of jitter: write the factor on all times, for example 1.34", text);
    }
    *factor_p = factor;
    return IW_OK;
}

/* What says more than source, place and scope. */
static iw_status read_rest(const iw_log *log, const iw_training_source_text *text, iw_training_source *source)
{
    if (text->skew != NULL) {
        IW_TRY(iw_parse_time(log, text->skew, &source->skew_ps));
    }
    if (text->factor != NULL) {
        IW_TRY(read_factor(log, text->factor, &source->factor));
    }
    if (text->from != NULL && strcmp(text->from, "loader") != 0) {
        return iwi_fail(log, IW_ERR_FORMAT, "unknown origin of jitter '%.60s': only 'loader' is known",
                        text->from);
    }
    source->is_of_loader |= text->from != NULL;
    return IW_OK;
}

/* As it is said; else that of a ready source, what a spec begins with and where it hits: "device poisson", or
 * a file without its folder. */
static void name_source(iw_training_source *source, const iw_training_source_text *text)
{
    const int kind = (int)strcspn(text->source, ":");
    const char *slash = strrchr(text->source, '/');

    if (text->name == NULL && slash != NULL && slash[1] != '\0') {
        snprintf(source->name, sizeof source->name, "%.31s", slash + 1);
    } else if (text->name != NULL || text->source[kind] == '\0') {
        snprintf(source->name, sizeof source->name, "%.31s", text->name != NULL ? text->name : text->source);
    } else {
        snprintf(source->name, sizeof source->name, "%s %.*s", wheres[source->where], kind < 20 ? kind : 20,
                 text->source);
    }
}

iw_status iw_training_add_source(const iw_log *log, iw_training *spec, const iw_training_source_text *text)
{
    iw_training_source source = {.where = IW_TRAINING_HOST};
    const iw_training_ready_source *found = find_ready(text->source);
    unsigned index;

    if (found != NULL && found->settings != NULL) {
        return iwi_training_apply(log, found->settings, spec);
    }
    if (spec->source_count == IW_TRAINING_SOURCES_MAX) {
        return iwi_fail(log, IW_ERR_RANGE, "source '%.60s' is one too many: at most %d", text->source,
                        IW_TRAINING_SOURCES_MAX);
    }
    if (strlen(text->source) >= sizeof source.spec ||
        (text->name != NULL && strlen(text->name) >= sizeof source.name)) {
        return iwi_fail(log, IW_ERR_RANGE, "the source '%.60s...' or its name is too long", text->source);
    }
    take_ready(&source, text);
    if (text->where != NULL) {
        IW_TRY(find_word(log, "place", text->where, iw_training_where_name, &index));
        source.where = (iw_training_where)index;
    }
    if (text->scope != NULL) {
        IW_TRY(find_word(log, "scope", text->scope, iw_training_scope_name, &index));
        source.scope = (iw_training_scope)index;
    }
    IW_TRY(read_rest(log, text, &source));
    name_source(&source, text);
    spec->sources[spec->source_count++] = source;
    return IW_OK;
}

iw_status iw_training_add_noise(const iw_log *log, iw_training *spec, const char *text)
{
    enum { MOST_BYTES = 4096 }; /* of a path */
    char source[MOST_BYTES], *where, *scope = NULL;

    if (strlen(text) >= sizeof source) {
        return iwi_fail(log, IW_ERR_RANGE, "the source '%.60s...' is too long", text);
    }
    snprintf(source, sizeof source, "%s", text);
    where = strchr(source, '@');
    if (where != NULL) {
        *where++ = '\0';
        scope = strchr(where, '@');
    }
    if (scope != NULL) {
        *scope++ = '\0';
    }
    return iw_training_add_source(
        log, spec, &(iw_training_source_text){.source = source, .where = where, .scope = scope});
}

/* What a source of jitter names, opened: a spec, a file, a folder, a name of a collection. */

static iw_status open_recording(const iw_log *log, iw_noise *noise, const char *path, const char *name,
                                iw_caveats *caveats)
{
    iw_recording *recording;
    iw_status status;

    IW_TRY(iw_recording_load(log, path, &recording));
    iw_caveats_of_recording(recording, name, caveats);
    status = iwi_noise_add_named_recording(log, noise, path, recording);
    iw_recording_free(recording);
    return status;
}

iw_status iwi_train_noise_open(const iw_log *log, iw_noise *noise, const char *name, iw_caveats *caveats)
{
    char *found = NULL;
    const char *path;
    iw_status status;

    if (iw_noise_form_of(name) == IW_NOISE_ABSENT) {
        IW_TRY(iw_collection_find(log, IW_COLLECTED_NOISE, name, &found));
    }
    path = found != NULL ? found : name;
    status = iw_noise_form_of(path) == IW_NOISE_RECORDING ? open_recording(log, noise, path, name, caveats)
                                                          : iw_noise_open(log, noise, path);
    free(found);
    return status;
}

/* Which micro-batch and chunk a pipeline stage computes when.
 *
 * As Megatron's schedules.py: a number of forwards to warm up, then pairs of a forward and a backward, then
 * the backwards that are left. GPipe warms up with all of them.
 */

/* Forward (backward) number k of a stage. Interleaved: all (micro-batch, chunk) in groups of G micro-batches,
 * in a group by chunk, in a chunk by micro-batch; backwards go through chunks the other way. */
static struct iwi_slot numbered(const iw_training *spec, uint32_t k, bool is_backward)
{
    const uint32_t v = spec->chunks, m = spec->microbatches;
    const uint32_t wanted = spec->group > 0 ? spec->group : spec->pp, size = wanted * v;
    const uint32_t first = k / size * wanted, left = m - first, here = left < wanted ? left : wanted;
    const uint32_t chunk = k % size / here;

    return (struct iwi_slot){is_backward, first + k % size % here, is_backward ? v - 1 - chunk : chunk};
}

static uint32_t warm_up(const iw_training *spec, uint32_t stage)
{
    const uint32_t v = spec->chunks, all = spec->microbatches * v, behind = spec->pp - 1 - stage;
    uint32_t count = behind;

    if (spec->schedule == IW_TRAINING_GPIPE) {
        return all;
    }
    if (v > 1) {
        count = 2 * behind + (v - 1) * (spec->group > 0 ? spec->group : spec->pp);
    }
    return count < all ? count : all;
}

void iwi_stage_order(const iw_training *spec, uint32_t stage, struct iwi_slot *slots)
{
    const uint32_t all = spec->microbatches * spec->chunks, warm = warm_up(spec, stage);

    for (uint32_t k = 0; k < all + warm; k++) {
        if (k < all) {
            *slots++ = numbered(spec, k, false);
        }
        if (k >= warm) {
            *slots++ = numbered(spec, k - warm, true);
        }
    }
}
