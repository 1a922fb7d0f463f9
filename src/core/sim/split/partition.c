/* Deals the ranks of a program to the members of a team.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/sim/split/partition.h"

#include <stdlib.h>

#include "core/base/base.h"
#include "core/base/order.h"
#include "core/program/trace_program.h"

/* Blocks may differ by one granule: so many of them to a member keep that below 2 %. */
enum { GRANULES = 64 };

/* Of a pattern: a power of two, so that the partners of a block under a flip are a few whole stretches.
 * Replicas of a trace stay whole where there are enough of them. */
static uint32_t granule_of(const iw_program *program, uint32_t members)
{
    const uint64_t parts = (uint64_t)members * GRANULES;
    uint32_t granule = 1;

    if (program->trace != NULL) {
        return program->trace->replicas >= members ? program->trace->base : 1;
    }
    while (members > 1 && (uint64_t)granule * 2 * parts <= program->ranks) {
        granule *= 2;
    }
    return granule;
}

iw_status iwi_partition_new(const iw_log *log, const iw_program *program, uint32_t members,
                            struct iwi_partition **partition_p)
{
    struct iwi_partition *partition = iwi_new_array(log, 1, sizeof *partition);
    const uint32_t granule = granule_of(program, members);
    const uint64_t granules = ((uint64_t)program->ranks + granule - 1) / granule;

    if (partition == NULL ||
        (partition->first = iwi_new_array(log, (size_t)members + 1, sizeof *partition->first)) == NULL) {
        free(partition);
        return IW_ERR_NOMEM;
    }
    partition->ranks = partition->smallest = program->ranks;
    partition->members = members;
    partition->granule = granule;
    for (uint32_t m = 1; m <= members; m++) {
        const uint64_t first = granules * m / members * granule;
        const uint32_t *before = &partition->first[m - 1];

        partition->first[m] = first < program->ranks ? (uint32_t)first : program->ranks;
        if (partition->first[m] - *before < partition->smallest) {
            partition->smallest = partition->first[m] - *before;
        }
    }
    *partition_p = partition;
    return IW_OK;
}

void iwi_partition_free(struct iwi_partition *partition)
{
    if (partition != NULL) {
        free(partition->first);
        free(partition);
    }
}

uint32_t iwi_partition_owner(const struct iwi_partition *partition, uint32_t rank)
{
    size_t at;

    IWI_FIRST_NOT(at, 1, partition->members, partition->first[at] <= rank);
    return (uint32_t)at - 1;
}
