/* Reads which part of a study to run.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/study/verb/shard.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SHARDS = 1000000 };

/* Digits only, up to the end or to `stop`. */
static bool read_number(const char *text, char stop, uint64_t *value_p, const char **rest_p)
{
    const size_t digits = strspn(text, "0123456789");

    if (digits == 0 || digits > 18 || (text[digits] != '\0' && text[digits] != stop)) {
        return false;
    }
    *value_p = strtoull(text, NULL, 10);
    *rest_p = text + digits;
    return true;
}

bool shard_parse(const char *text, struct shard *shard, char fault[SHARD_FAULT_SIZE])
{
    uint64_t index = 0, count = 0;
    const char *rest = text;

    if (!read_number(text, '/', &index, &rest) || *rest != '/' ||
        !read_number(rest + 1, '\0', &count, &rest) || *rest != '\0') {
        snprintf(fault, SHARD_FAULT_SIZE, "'%.60s' is not a shard: for the third of eight write 3/8", text);
        return false;
    }
    if (count < 1 || count > MOST_SHARDS) {
        snprintf(fault, SHARD_FAULT_SIZE, "'%.60s': the number of shards must be 1 to %d", text, MOST_SHARDS);
        return false;
    }
    if (index < 1 || index > count) {
        snprintf(fault, SHARD_FAULT_SIZE, "'%.60s': the shards are 1/%llu to %llu/%llu", text,
                 (unsigned long long)count, (unsigned long long)count, (unsigned long long)count);
        return false;
    }
    *shard = (struct shard){(uint32_t)(index - 1), (uint32_t)count};
    return true;
}

struct shard_slurm shard_slurm_variables(void)
{
    return (struct shard_slurm){
        .id = getenv("SLURM_ARRAY_TASK_ID"),
        .min = getenv("SLURM_ARRAY_TASK_MIN"),
        .max = getenv("SLURM_ARRAY_TASK_MAX"),
        .count = getenv("SLURM_ARRAY_TASK_COUNT"),
        .step = getenv("SLURM_ARRAY_TASK_STEP"),
    };
}

static bool read_variable(const char *text, uint64_t *value_p)
{
    const char *rest;

    return text != NULL && read_number(text, '\0', value_p, &rest);
}

bool shard_of_slurm(const struct shard_slurm *slurm, struct shard *shard, char fault[SHARD_FAULT_SIZE])
{
    uint64_t id = 0, min = 0, max = 0, count = 0, step = 1;

    if (!read_variable(slurm->id, &id) || !read_variable(slurm->min, &min) ||
        !read_variable(slurm->max, &max) || (slurm->step != NULL && !read_variable(slurm->step, &step)) ||
        step == 0 || max < min || id < min || id > max) {
        snprintf(
            fault, SHARD_FAULT_SIZE,
            "SLURM_ARRAY_TASK_ID is set, but the other variables of the array are not: give --shard I/N");
        return false;
    }
    count = (max - min) / step + 1;
    if (slurm->count != NULL && (!read_variable(slurm->count, &count) || count != (max - min) / step + 1)) {
        snprintf(fault, SHARD_FAULT_SIZE,
                 "the Slurm array has gaps, so its tasks have no numbers: give --shard I/N");
        return false;
    }
    if ((id - min) % step != 0 || count > MOST_SHARDS) {
        snprintf(fault, SHARD_FAULT_SIZE, "task %.30s is not in the Slurm array: give --shard I/N",
                 slurm->id);
        return false;
    }
    *shard = (struct shard){(uint32_t)((id - min) / step), (uint32_t)count};
    return true;
}
