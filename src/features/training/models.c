/* Models of known shape.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "core/base/base.h"
#include "core/base/nearest.h"
#include "features/training/training.h"

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
                    "the model '%.60s' is not known%s (known: %s); for any other set layers, hidden, ffn, "
                    "heads, kv-heads, vocab and sequence",
                    name, iwi_nearest_hint(&nearest, hint), known);
}
