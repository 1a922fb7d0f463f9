/* Sources of jitter in training: what they hit, and ready ones whose sizes somebody published.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/training.h>

#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "base/nearest.h"

static const char *const wheres[] = {"host", "device", "loader", "network"};
static const char *const scopes[] = {"rank", "node", "all"};

/* Per-phase sources act once a step: a collection is triggered by what the program allocates, so it never
 * happens while the host waits, as one in wall-clock time would. */
static const iw_training_ready_source ready[] = {
    {"python-gc", "bernoulli:0.00377,1.4s", IW_TRAINING_HOST, IW_TRAINING_EACH_RANK,
     "marin PR 9224: 1.25 to 1.46 s, about every 265 updates"},
    {"data-loading", "bernoulli:0.01,300ms", IW_TRAINING_LOADER, IW_TRAINING_EACH_RANK,
     "sizes as in diux-dev/cluster #46 (0.2 s twice an epoch); how often is assumed"},
    {"monitoring", "periodic:0.0333Hz,20ms", IW_TRAINING_HOST, IW_TRAINING_EACH_NODE,
     "assumed: an agent that samples every 30 s"},
    {"cpu-quota", "periodic:10Hz,30ms", IW_TRAINING_HOST, IW_TRAINING_EACH_RANK,
     "a container throttled for 30 of each 100 ms; size assumed within the 10 to 100 ms seen"},
    {"nccl-proxy", "poisson:0.1Hz,exp:4ms", IW_TRAINING_NETWORK, IW_TRAINING_EACH_NODE,
     "nccl PR 2017: a tail of 4 ms at full CPU; how often is assumed"},
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
    struct iwi_nearest nearest;
    char hint[IWI_HINT_SIZE];

    iwi_nearest_begin(&nearest, text);
    for (unsigned i = 0; name(i) != NULL; i++) {
        if (strcmp(name(i), text) == 0) {
            *index_p = i;
            return IW_OK;
        }
        iwi_nearest_offer(&nearest, name(i));
    }
    return iwi_fail(log, IW_ERR_FORMAT,
                    "there is no %s '%.60s' of jitter: host, device, loader or network; "
                    "rank, node or all%s",
                    what, text, iwi_nearest_hint(&nearest, hint));
}

static void take_ready(iw_training_source *source, const iw_training_source_text *text)
{
    snprintf(source->spec, sizeof source->spec, "%s", text->source);
    for (size_t i = 0; i < sizeof ready / sizeof ready[0]; i++) {
        if (strcmp(ready[i].name, text->source) == 0) {
            snprintf(source->spec, sizeof source->spec, "%s", ready[i].spec);
            source->where = ready[i].where;
            source->scope = ready[i].scope;
        }
    }
}

/* As it is said; else that of a ready source, or what a spec begins with and where it hits: "device poisson".
 */
static void name_source(iw_training_source *source, const iw_training_source_text *text)
{
    const int kind = (int)strcspn(text->source, ":");

    if (text->name != NULL || text->source[kind] == '\0') {
        snprintf(source->name, sizeof source->name, "%.31s", text->name != NULL ? text->name : text->source);
    } else {
        snprintf(source->name, sizeof source->name, "%s %.*s", wheres[source->where], kind < 20 ? kind : 20,
                 text->source);
    }
}

iw_status iw_training_add_source(const iw_log *log, iw_training *spec, const iw_training_source_text *text)
{
    iw_training_source source = {.where = IW_TRAINING_HOST};
    unsigned index;

    if (spec->source_count == IW_TRAINING_SOURCES_MAX) {
        return iwi_fail(log, IW_ERR_RANGE, "'%.60s' is one source too many: at most %d", text->source,
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
    if (text->skew != NULL) {
        IW_TRY(iw_parse_time(log, text->skew, &source.skew_ps));
    }
    name_source(&source, text);
    spec->sources[spec->source_count++] = source;
    return IW_OK;
}
