/* The settings of a training program: keys, and how their values are set.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <idlewave/training.h>

#include "core/base/base.h"
#include "core/base/nearest.h"
#include "core/base/prefix_log.h"
#include "core/noise/node_speed.h"
#include "features/training/step_plan.h"
#include "features/training/training.h"

/* ---- keys ---- */

static const char *const schedules[] = {"1f1b", "gpipe", NULL};
static const char *const shardings[] = {"zero1", "none", "fsdp", NULL};
static const char *const recomputes[] = {"none", "attention", "all", NULL};
static const char *const details[] = {"layer", "chunk", NULL};

#define AT(field) offsetof(iw_training, field)
#define COUNT(k, field, least, most)                                                          \
    {                                                                                         \
        .key = (k), .kind = IWI_SET_COUNT, .offset = AT(field), .min = (least), .max = (most) \
    }
#define SWITCH(k, field)                                        \
    {                                                           \
        .key = (k), .kind = IWI_SET_SWITCH, .offset = AT(field) \
    }
#define TIME(k, field)                                        \
    {                                                         \
        .key = (k), .kind = IWI_SET_TIME, .offset = AT(field) \
    }
#define CHOICE(k, field, names)                                                     \
    {                                                                               \
        .key = (k), .kind = IWI_SET_CHOICE, .offset = AT(field), .choices = (names) \
    }
#define REAL(k, of, field)                            \
    {                                                 \
        .key = (k), .kind = (of), .offset = AT(field) \
    }

static const struct iwi_setting settings[] = {
    {.key = "model", .kind = IWI_SET_MODEL},
    {.key = "name", .kind = IWI_SET_TEXT, .offset = AT(name), .max = sizeof((iw_training *)0)->name},
    COUNT("layers", layers, 1, 10000),
    COUNT("hidden", hidden, 1, 1u << 20),
    COUNT("ffn", ffn, 1, 1u << 22),
    COUNT("heads", heads, 1, 1u << 16),
    COUNT("kv-heads", kv_heads, 1, 1u << 16),
    COUNT("vocab", vocab, 1, 1u << 24),
    COUNT("sequence", sequence, 1, 1u << 24),
    COUNT("experts", experts, 0, 1u << 14),
    COUNT("top-k", top_k, 1, 1024),
    COUNT("expert-ffn", expert_ffn, 1, 1u << 22),
    SWITCH("tied-embeddings", is_tied),
    SWITCH("logits", has_logits),
    REAL("parameters", IWI_SET_REAL, parameters),
    COUNT("tp", tp, 1, 4096),
    COUNT("cp", cp, 1, 4096),
    COUNT("ep", ep, 1, 4096),
    COUNT("dp", dp, 1, 1u << 20),
    COUNT("pp", pp, 1, IW_TRAINING_STAGES_MAX),
    COUNT("chunks", chunks, 1, 64),
    COUNT("microbatches", microbatches, 1, 1u << 16),
    COUNT("microbatch-size", microbatch_size, 1, 1u << 16),
    COUNT("group", group, 0, 1u << 16),
    CHOICE("schedule", schedule, schedules),
    CHOICE("sharding", sharding, shardings),
    CHOICE("recompute", recompute, recomputes),
    CHOICE("detail", detail, details),
    SWITCH("sequence-parallel", is_sequence_parallel),
    SWITCH("overlap-gradients", overlaps_gradients),
    SWITCH("overlap-parameters", overlaps_parameters),
    {.key = "chunk-layers",
     .kind = IWI_SET_COUNTS,
     .offset = AT(chunk_layers),
     .count_offset = AT(chunk_layers_count)},
    REAL("rate", IWI_SET_FLOP_RATE, rate),
    REAL("step-rate", IWI_SET_FLOP_RATE, step_rate),
    {.key = "forward", .kind = IWI_SET_TIMES, .offset = AT(forward_ps), .count_offset = AT(forward_count)},
    {.key = "backward", .kind = IWI_SET_TIMES, .offset = AT(backward_ps), .count_offset = AT(backward_count)},
    TIME("optimizer", optimizer_ps),
    TIME("launch", launch_ps),
    COUNT("launches", launches, 1, 100000),
    COUNT("queue", queue, 1, 1u << 20),
    SWITCH("cuda-graphs", has_graphs),
    SWITCH("p2p-sync", syncs_p2p),
    TIME("load", load_ps),
    COUNT("prefetch", prefetch, 1, 1024),
    COUNT("node-gpus", node_gpus, 1, 1024),
    SWITCH("free-network", is_net_free),
    REAL("node-bandwidth", IWI_SET_BANDWIDTH, node_bandwidth),
    REAL("net-bandwidth", IWI_SET_BANDWIDTH, net_bandwidth),
    REAL("message-bytes", IWI_SET_REAL, message_bytes),
    TIME("hop", hop_ps),
    REAL("forward-sigma", IWI_SET_REAL, forward_sigma),
    REAL("backward-sigma", IWI_SET_REAL, backward_sigma),
    {.key = "slow", .kind = IWI_SET_TEXT, .offset = AT(slow), .max = sizeof((iw_training *)0)->slow},
};

enum { SETTING_COUNT = sizeof settings / sizeof settings[0] };

static iw_status setting_read(const iw_log *log, const struct iwi_setting *s, const char *text,
                              iw_training *spec);

const struct iwi_setting *iwi_training_setting(size_t index)
{
    return index < SETTING_COUNT ? &settings[index] : NULL;
}

const char *iw_training_key(size_t index)
{
    return index < SETTING_COUNT ? settings[index].key : NULL;
}

iw_status iw_training_set(const iw_log *log, iw_training *spec, const char *key, const char *text)
{
    struct iwi_nearest nearest;
    char hint[IWI_HINT_SIZE];

    iwi_nearest_begin(&nearest, key);
    for (size_t i = 0; i < SETTING_COUNT; i++) {
        if (strcmp(settings[i].key, key) == 0) {
            return settings[i].kind == IWI_SET_MODEL ? iwi_training_set_model(log, text, spec)
                                                     : setting_read(log, &settings[i], text, spec);
        }
        iwi_nearest_offer(&nearest, settings[i].key);
    }
    return iwi_fail(log, IW_ERR_USAGE, "unknown setting '%.60s' of a training program%s", key,
                    iwi_nearest_hint(&nearest, hint));
}

iw_status iwi_training_apply(const iw_log *log, const char *text, iw_training *spec)
{
    char pair[256];

    while (*text != '\0') {
        size_t length = strcspn(text, ",");
        char *equals;

        while (text[length] == ',' && strcspn(text + length + 1, "=") >= strcspn(text + length + 1, ",")) {
            length += 1 + strcspn(text + length + 1, ",");
        }
        snprintf(pair, sizeof pair, "%.*s", length < sizeof pair ? (int)length : 0, text);
        equals = strchr(pair, '=');
        if (equals == NULL) {
            return iwi_fail(log, IW_ERR_USAGE, "'%.60s' is not a setting: write KEY=VALUE[,KEY=VALUE...]",
                            text);
        }
        *equals = '\0';
        IW_TRY(iw_training_set(log, spec, pair, equals + 1));
        text += length + (text[length] == ',');
    }
    return IW_OK;
}

void iw_training_init(iw_training *spec)
{
    *spec = (iw_training){
        .name = "training",
        .has_logits = true,
        .tp = 1,
        .cp = 1,
        .ep = 1,
        .dp = 1,
        .pp = 1,
        .chunks = 1,
        .microbatches = 1,
        .microbatch_size = 1,
        .is_sequence_parallel = true,
        .overlaps_gradients = true,
        .launch_ps = 5 * IW_PS_PER_US,
        .launches = 20,
        .queue = 1000,
        .syncs_p2p = true,
        .prefetch = 2,
        .node_gpus = 8,
        .node_bandwidth = 370e9,
        .net_bandwidth = 48e9,
        .hop_ps = -1,
    };
}

void iw_training_release(iw_training *spec)
{
    free(spec->chunk_layers);
    free(spec->forward_ps);
    free(spec->backward_ps);
    free(spec->rows);
    free(spec->once_rows);
    spec->rows = spec->once_rows = NULL;
    spec->chunk_layers = NULL;
    spec->forward_ps = spec->backward_ps = NULL;
}

/* Reads the values of settings. */

static iw_status read_number(const iw_log *log, const struct iwi_setting *s, const char *text,
                             uint64_t *value)
{
    struct iwi_prefix_log prefix;

    iwi_prefix_log_init(&prefix, log, s->key);
    return iw_parse_count(&prefix.log, text, value);
}

static iw_status read_time(const iw_log *log, const struct iwi_setting *s, const char *text, iw_time *value)
{
    struct iwi_prefix_log prefix;

    iwi_prefix_log_init(&prefix, log, s->key);
    return iw_parse_time(&prefix.log, text, value);
}

static iw_status read_count(const iw_log *log, const struct iwi_setting *s, const char *text, uint32_t *value)
{
    uint64_t count;

    IW_TRY(read_number(log, s, text, &count));
    if (count < s->min || count > s->max) {
        return iwi_fail(log, IW_ERR_RANGE, "'%s' is %" PRIu64 ": use %" PRIu64 " to %" PRIu64, s->key, count,
                        s->min, s->max);
    }
    *value = (uint32_t)count;
    return IW_OK;
}

static iw_status read_switch(const iw_log *log, const struct iwi_setting *s, const char *text, bool *value)
{
    const bool is_on = strcmp(text, "yes") == 0 || strcmp(text, "true") == 0;

    if (!is_on && strcmp(text, "no") != 0 && strcmp(text, "false") != 0) {
        return iwi_fail(log, IW_ERR_FORMAT, "'%s' is '%.60s': write yes or no", s->key, text);
    }
    *value = is_on;
    return IW_OK;
}

static iw_status read_choice(const iw_log *log, const struct iwi_setting *s, const char *text, int *value)
{
    char known[128] = "";

    for (int i = 0; s->choices[i] != NULL; i++) {
        const size_t used = strlen(known);

        if (strcmp(s->choices[i], text) == 0) {
            *value = i;
            return IW_OK;
        }
        snprintf(known + used, sizeof known - used, "%s%s", i > 0 ? ", " : "", s->choices[i]);
    }
    return iwi_fail(log, IW_ERR_FORMAT, "'%s' is '%.60s': use one of %s", s->key, text, known);
}

static iw_status read_real(const iw_log *log, const struct iwi_setting *s, const char *text, double *value)
{
    char *end;
    const double number = strtod(text, &end);

    if (end == text || *end != '\0' || !isfinite(number) || number < 0 || number > 1e15) {
        return iwi_fail(log, IW_ERR_FORMAT, "'%s' is '%.60s': write a number that is not negative", s->key,
                        text);
    }
    *value = number;
    return IW_OK;
}

static iw_status read_flop_rate(const iw_log *log, const struct iwi_setting *s, const char *text,
                                double *value)
{
    static const struct {
        const char *unit;
        double factor;
    } units[] = {{"GFLOP/s", 1e9}, {"TFLOP/s", 1e12}, {"PFLOP/s", 1e15},
                 {"GFLOPS", 1e9},  {"TFLOPS", 1e12},  {"PFLOPS", 1e15}};
    char *end;
    const double number = strtod(text, &end);

    end += strspn(end, " ");
    for (size_t i = 0; end != text && i < sizeof units / sizeof units[0]; i++) {
        if (strcasecmp(end, units[i].unit) == 0 && isfinite(number) && number > 0 && number < 1e6) {
            *value = number * units[i].factor;
            return IW_OK;
        }
    }
    return iwi_fail(log, IW_ERR_FORMAT, "'%s' is '%.60s': write it like 400TFLOP/s", s->key, text);
}

static iw_status read_bandwidth(const iw_log *log, const struct iwi_setting *s, const char *text,
                                double *value)
{
    struct iwi_prefix_log prefix;
    uint64_t bytes_per_s;

    iwi_prefix_log_init(&prefix, log, s->key);
    IW_TRY(iw_parse_throughput(&prefix.log, text, &bytes_per_s));
    *value = (double)bytes_per_s;
    return IW_OK;
}

static iw_status read_text(const iw_log *log, const struct iwi_setting *s, const char *text, char *value)
{
    if (strlen(text) >= s->max) {
        return iwi_fail(log, IW_ERR_RANGE, "'%s' is too long: at most %" PRIu64 " bytes", s->key, s->max - 1);
    }
    snprintf(value, s->max, "%s", text);
    return IW_OK;
}

/* ---- lists, separated by commas ---- */

struct list {
    uint32_t count;
    iw_time *times; /* or */
    uint32_t *counts;
};

static iw_status read_item(const iw_log *log, const struct iwi_setting *s, const char *item,
                           struct list *list)
{
    uint64_t count;

    if (s->kind == IWI_SET_TIMES) {
        return read_time(log, s, item, &list->times[list->count++]);
    }
    IW_TRY(read_number(log, s, item, &count));
    if (count > 10000) {
        return iwi_fail(log, IW_ERR_RANGE, "'%s': %" PRIu64 " is more than 10000", s->key, count);
    }
    list->counts[list->count++] = (uint32_t)count;
    return IW_OK;
}

static iw_status read_items(const iw_log *log, const struct iwi_setting *s, const char *text,
                            struct list *list)
{
    char item[32];

    for (;;) {
        const size_t blanks = strspn(text, " "), length = strcspn(text + blanks, ",");

        if (list->count == IW_TRAINING_CHUNKS_MAX || length >= sizeof item) {
            return iwi_fail(log, IW_ERR_RANGE, "'%s' has too many values, or one is too long", s->key);
        }
        memcpy(item, text + blanks, length);
        item[length] = '\0';
        for (size_t i = length; i > 0 && item[i - 1] == ' '; i--) {
            item[i - 1] = '\0';
        }
        IW_TRY(read_item(log, s, item, list));
        text += blanks + length;
        if (*text == '\0') {
            return IW_OK;
        }
        text++;
    }
}

static iw_status read_list(const iw_log *log, const struct iwi_setting *s, const char *text, char *base)
{
    const size_t size = s->kind == IWI_SET_TIMES ? sizeof(iw_time) : sizeof(uint32_t);
    void *values = iwi_new_array(log, IW_TRAINING_CHUNKS_MAX, size);
    struct list list = {.times = values, .counts = values};
    void **target = (void **)(void *)(base + s->offset);
    iw_status status = values != NULL ? IW_OK : IW_ERR_NOMEM;

    if (status == IW_OK) {
        status = read_items(log, s, text, &list);
    }
    if (status != IW_OK) {
        free(values);
        return status;
    }
    free(*target);
    *target = values;
    *(uint32_t *)(void *)(base + s->count_offset) = list.count;
    return IW_OK;
}

/* Messages name the key. On failure nothing changes. */
static iw_status setting_read(const iw_log *log, const struct iwi_setting *s, const char *text,
                              iw_training *spec)
{
    char *base = (char *)spec;
    void *target = base + s->offset;

    switch (s->kind) {
    case IWI_SET_COUNT: return read_count(log, s, text, target);
    case IWI_SET_SWITCH: return read_switch(log, s, text, target);
    case IWI_SET_TIME: return read_time(log, s, text, target);
    case IWI_SET_CHOICE: return read_choice(log, s, text, target);
    case IWI_SET_REAL: return read_real(log, s, text, target);
    case IWI_SET_FLOP_RATE: return read_flop_rate(log, s, text, target);
    case IWI_SET_BANDWIDTH: return read_bandwidth(log, s, text, target);
    case IWI_SET_TEXT: return read_text(log, s, text, target);
    default: return read_list(log, s, text, base);
    }
}

/* Settings of a training program that do not fit together, and what would. */

/* Micro-batches come in groups, of pp unless it is said: the multiples next to them. */
static iw_status refuse_microbatches(const iw_log *log, const iw_training *spec, uint32_t group)
{
    const uint32_t left = spec->microbatches % group, below = spec->microbatches - left;
    char smaller[32] = "";

    if (below > 0) {
        (void)snprintf(smaller, sizeof smaller, "%" PRIu32 " or ", below);
    }
    return iwi_fail(log, IW_ERR_RANGE,
                    "%" PRIu32 " microbatches in groups of %" PRIu32 " leave %" PRIu32
                    ": an interleaved schedule needs a multiple, or a remainder of at least pp, %" PRIu32
                    "; use %s%" PRIu32 " microbatches, or 'chunks' 1",
                    spec->microbatches, group, left, spec->pp, smaller, below + group);
}

static iw_status check_layout(const iw_log *log, const iw_training *spec)
{
    const uint64_t gpus = (uint64_t)spec->tp * spec->cp * spec->dp * spec->pp;
    const uint32_t group = spec->group > 0 ? spec->group : spec->pp;

    if (gpus > 1u << 22) {
        return iwi_fail(log, IW_ERR_RANGE, "%" PRIu64 " GPUs are too many: at most 4194304", gpus);
    }
    if ((uint64_t)spec->cp * spec->dp % spec->ep != 0) {
        return iwi_fail(log, IW_ERR_RANGE,
                        "expert parallelism %" PRIu32 " does not divide cp times dp, %" PRIu64, spec->ep,
                        (uint64_t)spec->cp * spec->dp);
    }
    if (spec->chunks > 1 && (spec->pp == 1 || spec->schedule == IW_TRAINING_GPIPE)) {
        return iwi_fail(log, IW_ERR_RANGE, "chunks %" PRIu32 " need pipeline stages (pp) and schedule 1f1b",
                        spec->chunks);
    }
    if (spec->chunks > 1 && spec->microbatches % group != 0 && spec->microbatches % group < spec->pp) {
        return refuse_microbatches(log, spec, group);
    }
    if ((uint64_t)spec->pp * spec->chunks * spec->microbatches > 1u << 22) {
        return iwi_fail(log, IW_ERR_RANGE, "stages times chunks times micro-batches exceed 4194304");
    }
    if ((uint64_t)spec->pp * spec->rows_each * spec->microbatches > 1u << 24) {
        return iwi_fail(log, IW_ERR_RANGE,
                        "stages times rows of a micro-batch times micro-batches exceed 16777216");
    }
    if (spec->sharding == IW_TRAINING_FSDP && (spec->pp > 1 || spec->ep > 1)) {
        return iwi_fail(log, IW_ERR_RANGE, "fsdp cannot be simulated with pipeline or expert parallelism");
    }
    return IW_OK;
}

/* The first thing that a model lacks; NULL: nothing. */
static const char *missing_of_model(const iw_training *spec)
{
    const struct {
        const char *key;
        bool is_missing;
    } needed[] = {
        {"layers", spec->layers == 0},
        {"heads", spec->heads == 0},
        {"sequence", spec->sequence == 0},
        {"top-k", spec->experts > 0 && spec->top_k == 0},
        {"expert-ffn", spec->experts > 0 && spec->expert_ffn == 0},
        {"ffn", spec->experts == 0 && spec->ffn == 0},
    };

    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++) {
        if (needed[i].is_missing) {
            return needed[i].key;
        }
    }
    return NULL;
}

/* Each GPU of a tensor group has heads of its own, and shares none of keys and values or all of one. */
static bool divides_heads(const iw_training *spec, uint32_t kv_heads, uint32_t tp)
{
    return spec->heads % tp == 0 && (kv_heads % tp == 0 || tp % kv_heads == 0);
}

static iw_status check_shape(const iw_log *log, const iw_training *spec)
{
    const uint32_t kv_heads = spec->kv_heads > 0 ? spec->kv_heads : spec->heads;

    if (spec->hidden == 0) {
        return IW_OK;
    }
    if (missing_of_model(spec) != NULL) {
        return iwi_fail(log, IW_ERR_RANGE, "a model%s needs '%s' too, or a known name",
                        spec->experts > 0 ? " with experts" : "", missing_of_model(spec));
    }
    if (!divides_heads(spec, kv_heads, spec->tp)) {
        uint32_t tp = spec->tp;

        while (!divides_heads(spec, kv_heads, tp)) { /* 1 does */
            tp--;
        }
        return iwi_fail(log, IW_ERR_RANGE,
                        "tensor parallelism %" PRIu32 " does not divide %" PRIu32 " heads with %" PRIu32
                        " of keys and values; 'tp' %" PRIu32 " does",
                        spec->tp, spec->heads, kv_heads, tp);
    }
    if (spec->experts > 0 && spec->experts % spec->ep != 0) {
        return iwi_fail(log, IW_ERR_RANGE,
                        "expert parallelism %" PRIu32 " does not divide %" PRIu32 " experts", spec->ep,
                        spec->experts);
    }
    if (spec->experts == 0 && spec->ep > 1 && spec->rows == NULL) {
        return iwi_fail(log, IW_ERR_RANGE,
                        "expert parallelism %" PRIu32
                        " needs a model with experts: set experts, top-k and expert-ffn",
                        spec->ep);
    }
    return IW_OK;
}

static iw_status check_model(const iw_log *log, const iw_training *spec)
{
    IW_TRY(check_shape(log, spec));
    if ((spec->forward_ps == NULL) != (spec->backward_ps == NULL)) {
        return iwi_fail(log, IW_ERR_RANGE, "'%s' needs '%s' too: give both measured times",
                        spec->forward_ps != NULL ? "forward" : "backward",
                        spec->forward_ps != NULL ? "backward" : "forward");
    }
    if (spec->rows != NULL && (spec->forward_ps != NULL || spec->sharding == IW_TRAINING_FSDP)) {
        return iwi_fail(log, IW_ERR_RANGE,
                        "the rows of a workload file define times and collectives; leave out %s",
                        spec->forward_ps != NULL ? "'forward' and 'backward'" : "'sharding' fsdp");
    }
    if (iwi_training_is_measured(spec)) {
        return IW_OK;
    }
    if (spec->hidden == 0) {
        return iwi_fail(log, IW_ERR_RANGE,
                        "no computing time given: give a model, or measured 'forward' and 'backward' times");
    }
    if (spec->rate <= 0 && spec->step_rate <= 0) {
        return iwi_fail(log, IW_ERR_RANGE,
                        "no GPU speed given: give 'rate' (while it computes), 'step-rate' (over the whole "
                        "step, as published), or measured times");
    }
    return IW_OK;
}

static iw_status check_lists(const iw_log *log, const iw_training *spec)
{
    if (spec->forward_ps != NULL && ((spec->forward_count != 1 && spec->forward_count != spec->pp) ||
                                     (spec->backward_count != 1 && spec->backward_count != spec->pp))) {
        return iwi_fail(log, IW_ERR_RANGE,
                        "'forward' has %" PRIu32 " and 'backward' %" PRIu32 " times, but there %s %" PRIu32
                        " stage%s: give one time, or one per stage ('pp' sets the number of stages)",
                        spec->forward_count, spec->backward_count, spec->pp == 1 ? "is" : "are", spec->pp,
                        spec->pp == 1 ? "" : "s");
    }
    if (spec->chunk_layers != NULL && spec->chunk_layers_count != spec->pp * spec->chunks) {
        return iwi_fail(log, IW_ERR_RANGE,
                        "'chunk-layers' needs one number for each of %" PRIu32 " chunks (pp times chunks)",
                        spec->pp * spec->chunks);
    }
    return IW_OK;
}

static iw_status check_split(const iw_log *log, const iw_training *spec)
{
    const uint32_t parts = spec->pp * spec->chunks;
    uint64_t sum = 0;

    for (uint32_t i = 0; i < parts; i++) {
        sum += iwi_chunk_layers(spec, i);
    }
    if (spec->layers == 0 || sum == spec->layers) {
        return IW_OK;
    }
    if (spec->chunk_layers != NULL) {
        return iwi_fail(log, IW_ERR_RANGE,
                        "'chunk-layers' add up to %" PRIu64 ", but the model has %" PRIu32 " layers", sum,
                        spec->layers);
    }
    if (spec->layers < parts) {
        return iwi_fail(log, IW_ERR_RANGE,
                        "%" PRIu32 " layers are too few for %" PRIu32
                        " chunks (pp times chunks): use a smaller 'pp' or fewer 'chunks'",
                        spec->layers, parts);
    }
    return iwi_fail(log, IW_ERR_RANGE,
                    "%" PRIu32 " layers cannot be split evenly into %" PRIu32
                    " chunks (first and last may have one fewer): give 'chunk-layers', one number per chunk",
                    spec->layers, parts);
}

/* A law; of a file this is known when it is read, where jitter is drawn. */
static iw_status check_speeds(const iw_log *log, const iw_training *spec)
{
    iw_node_speeds *speeds;
    iw_status status;

    if (!iwi_node_speed_is_spec(spec->slow)) {
        return IW_OK;
    }
    IW_TRY(iw_node_speeds_new(log, spec->slow, 1, &speeds));
    status = iwi_node_speeds_check(log, speeds, spec->tp * spec->cp * spec->pp * spec->dp);
    iw_node_speeds_free(speeds);
    return status;
}

/* Times that were measured are of a job that ran. */
static iw_status check_memory(const iw_log *log, const iw_training *spec)
{
    const double most_bytes = 288e9; /* of the GPUs of 2025: GB300, MI355X */

    if (!iwi_training_has_model(spec) || iwi_training_is_measured(spec) ||
        iwi_state_bytes(spec) <= most_bytes) {
        return IW_OK;
    }
    return iwi_fail(log, IW_ERR_RANGE,
                    "weights, gradients and optimizer states need %.0f GB per GPU, but no GPU has more than "
                    "%.0f GB: use a larger 'tp' or 'pp', or shard more",
                    iwi_state_bytes(spec) / 1e9, most_bytes / 1e9);
}

iw_status iwi_training_check(const iw_log *log, const iw_training *spec)
{
    IW_TRY(check_layout(log, spec));
    IW_TRY(check_model(log, spec));
    IW_TRY(check_lists(log, spec));
    IW_TRY(check_split(log, spec));
    IW_TRY(check_speeds(log, spec));
    IW_TRY(check_memory(log, spec));
    if (spec->launch_ps > IW_PS_PER_S) {
        return iwi_fail(log, IW_ERR_RANGE, "a launch takes at most one second");
    }
    if (spec->launch_ps == 0) {
        for (uint32_t i = 0; i < spec->source_count; i++) {
            if (spec->sources[i].where == IW_TRAINING_HOST) {
                return iwi_fail(log, IW_ERR_RANGE,
                                "'%s' delays the host, which does nothing here: give 'launch' a time",
                                spec->sources[i].name);
            }
        }
    }
    return IW_OK;
}

struct model {
    const char *name;
    uint32_t layers, hidden, ffn, heads, kv_heads, vocab, sequence;
    uint32_t experts, top_k, expert_ffn;
};

static const struct model models[] = {
    {"llama3-8b", 32, 4096, 14336, 32, 8, 128256, 8192, 0, 0, 0},
    {"llama3-70b", 80, 8192, 28672, 64, 8, 128256, 8192, 0, 0, 0},
    {"llama3-405b", 126, 16384, 53248, 128, 8, 128256, 8192, 0, 0, 0},
    {"mixtral-8x7b", 32, 4096, 0, 32, 8, 32000, 32768, 8, 2, 14336},
};

iw_status iwi_training_set_model(const iw_log *log, const char *name, iw_training *spec)
{
    char known[128] = "", hint[IWI_HINT_SIZE];
    struct iwi_nearest nearest;

    iwi_nearest_begin(&nearest, name);
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
        const struct model *model = &models[i];
        const size_t used = strlen(known);

        if (strcasecmp(model->name, name) == 0) {
            spec->layers = model->layers;
            spec->hidden = model->hidden;
            spec->ffn = model->ffn;
            spec->heads = model->heads;
            spec->kv_heads = model->kv_heads;
            spec->vocab = model->vocab;
            spec->sequence = model->sequence;
            spec->experts = model->experts;
            spec->top_k = model->top_k;
            spec->expert_ffn = model->expert_ffn;
            snprintf(spec->name, sizeof spec->name, "%s", model->name);
            return IW_OK;
        }
        snprintf(known + used, sizeof known - used, "%s%s", i > 0 ? ", " : "", model->name);
        iwi_nearest_offer(&nearest, model->name);
    }
    return iwi_fail(log, IW_ERR_USAGE,
                    "unknown model '%.60s'%s (known: %s); for another one set layers, hidden, ffn, heads, "
                    "kv-heads, vocab and sequence",
                    name, iwi_nearest_hint(&nearest, hint), known);
}

static void measure_model(const iw_training *spec, iw_training_sizes *sizes)
{
    const double embedding = (double)spec->vocab * spec->hidden;
    const double logits = 2.0 * spec->hidden * spec->vocab;
    const double others =
        iwi_own_experts(spec) * (spec->ep - 1.0) * spec->layers; /* experts of other ranks */

    sizes->parameters = (uint64_t)llround(iwi_layer_parameters(spec) * spec->layers +
                                          (spec->is_tied ? 1.0 : 2.0) * embedding + spec->hidden);
    sizes->tokens = (uint64_t)spec->sequence * spec->microbatch_size * spec->microbatches * spec->dp;
    sizes->layer_flop = iwi_layer_flop(spec);
    sizes->token_flop = sizes->layer_flop * spec->layers + logits;
    sizes->step_flop = 3.0 * sizes->token_flop * (double)sizes->tokens;
    sizes->tp_bytes = spec->tp > 1 ? iwi_activation_bytes(spec) : 0;
    sizes->pp_bytes = spec->pp > 1 ? iwi_message_bytes(spec) : 0;
    sizes->gpu_parameters = ((double)sizes->parameters - others) / spec->tp / spec->pp;
}

/* All parameters of a mean GPU: common ones over all replicas, experts over those that have the same. */
static iw_time exchange_ps(const iw_training *spec, enum iwi_nccl_op op, double bytes, double each_bytes)
{
    const uint32_t sharers = spec->dp * spec->cp;
    const double experts = each_bytes * iwi_expert_parameters(spec) * spec->layers / spec->pp;

    return iwi_nccl_ps(spec, &(struct iwi_nccl_call){op, bytes - experts, sharers, spec->tp}) +
           iwi_nccl_ps(spec, &(struct iwi_nccl_call){op, experts, sharers / spec->ep, spec->tp * spec->ep});
}

iw_status iw_training_measure(const iw_log *log, const iw_training *spec, iw_training_sizes *sizes_p)
{
    iw_training_sizes sizes = {.gpus = (uint64_t)spec->tp * spec->cp * spec->dp * spec->pp};

    IW_TRY(iwi_training_check(log, spec));
    if (iwi_training_has_model(spec)) {
        measure_model(spec, &sizes);
        sizes.gpu_bytes = iwi_state_bytes(spec);
    }
    if (spec->parameters > 0) {
        sizes.gpu_parameters = spec->parameters;
    }
    sizes.gradient_bytes = IWI_GRADIENT_BYTES * sizes.gpu_parameters;
    sizes.parameter_bytes = IWI_PARAMETER_BYTES * sizes.gpu_parameters;
    sizes.tp_ps = iwi_nccl_ps(
        spec, &(struct iwi_nccl_call){spec->is_sequence_parallel ? IWI_NCCL_GATHER : IWI_NCCL_ALL_REDUCE,
                                      (double)sizes.tp_bytes, spec->tp, 1});
    sizes.pp_ps = spec->pp > 1 ? iwi_hop_ps(spec) : 0;
    sizes.gradient_ps = exchange_ps(spec, IWI_NCCL_REDUCE_SCATTER, sizes.gradient_bytes, IWI_GRADIENT_BYTES);
    sizes.gather_ps = exchange_ps(spec, IWI_NCCL_GATHER, sizes.parameter_bytes, IWI_PARAMETER_BYTES);
    *sizes_p = sizes;
    return IW_OK;
}
