/* The settings of a training program: keys, and how their values are set.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/training.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/base/nearest.h"
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
                                                     : iwi_setting_read(log, &settings[i], text, spec);
        }
        iwi_nearest_offer(&nearest, settings[i].key);
    }
    return iwi_fail(log, IW_ERR_USAGE, "a training program has no setting '%.60s'%s", key,
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
            return iwi_fail(log, IW_ERR_USAGE, "'%.60s' changes nothing: write KEY=VALUE[,KEY=VALUE...]",
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
