/* Digests of nodes in memory.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/fleet/node_digest.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"

/* Steps of the logarithm in an octave: values are right to 2^(1/1024), 0.07 %. */
enum { STEPS = 512 };

uint16_t iwi_digest_code(double value)
{
    return value >= 1.0 ? (uint16_t)(1 + lround(fmin(log2(value), 127.0) * STEPS)) : 0;
}

double iw_digest_value(uint16_t code)
{
    return code > 0 ? exp2((double)(code - 1) / STEPS) : 0.0;
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
