/* Which part of a study this process runs: from --shard, or from the variables of a Slurm job array.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IW_CLI_SHARD_H
#define IW_CLI_SHARD_H

#include <stdbool.h>
#include <stdint.h>

struct shard {
    uint32_t index, count; /* index from 0 */
};

enum { SHARD_FAULT_SIZE = 200 };

/* "3/8": the third of eight. False: `fault` says why not. */
bool shard_parse(const char *text, struct shard *shard, char fault[SHARD_FAULT_SIZE]);

/* SLURM_ARRAY_TASK_ID and its neighbours; each may be NULL. */
struct shard_slurm {
    const char *id, *min, *max, *count, *step;
};
struct shard_slurm shard_slurm_variables(void);

/* The place of this task in its array, which may begin at any number and have steps. False: `fault` says why
 * not, for instance since it is a list with holes. `slurm->id` is set. */
bool shard_of_slurm(const struct shard_slurm *slurm, struct shard *shard, char fault[SHARD_FAULT_SIZE]);

#endif
