/* Parts of a run that ranks are judged by, and how long each rank was busy in them.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Whole iterations, so that no border cuts through a pipeline in which ranks are busy at different times.
 * What lasts for some encounters should lie in one block: ten visits of a rank in each, unless there are few.
 */
#include <stdlib.h>

#include "core/base/order.h"
#include "features/explain/waits/waited_run.h"

enum { MOST_BLOCKS = 40, FEW_BLOCKS = 20, LEAST_ITERATIONS = 10, VISITS_OF_BLOCK = 10 };

static uint32_t choose_blocks(const struct iwi_waited_run *run, size_t most)
{
    const size_t visits = run->visits->visit_count / run->rank_count / VISITS_OF_BLOCK;
    const size_t wanted = visits > MOST_BLOCKS ? MOST_BLOCKS : visits < FEW_BLOCKS ? FEW_BLOCKS : visits;

    return (uint32_t)(wanted < most ? wanted : most);
}

static iw_status block_by_encounters(struct iwi_waited_run *run)
{
    const struct iwi_visits *visits = run->visits;
    iw_time *starts = iwi_new_array(run->log, visits->encounter_count, sizeof *starts);
    size_t count = 0;

    run->block_end_ps = iwi_new_array(run->log, MOST_BLOCKS, sizeof *run->block_end_ps);
    if (starts == NULL || run->block_end_ps == NULL) {
        free(starts);
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < visits->encounter_count; i++) {
        if (visits->encounters[i].count > 1) {
            starts[count++] = iwi_encounter_start_ps(visits, &visits->encounters[i]);
        }
    }
    iwi_sort(starts, count, iwi_compare_i64);
    run->block_count = choose_blocks(run, count);
    for (uint32_t b = 0; b < run->block_count; b++) {
        run->block_end_ps[b] = starts[(b + 1) * count / run->block_count - 1];
    }
    free(starts);
    return IW_OK;
}

iw_time iwi_block_end_ps(const struct iwi_waited_run *run, uint32_t rank, uint32_t block)
{
    if (block + 1 >= run->block_count) {
        return INT64_MAX;
    }
    return run->block_end_ps != NULL
               ? run->block_end_ps[block]
               : iwi_iteration_borders(run, rank)[(block + 1) * run->iterations.count / run->block_count];
}

/* What a rank does before its first iteration and after its last one is in no block. */
static void add_busy(struct iwi_waited_run *run, uint32_t rank)
{
    double *busy = &run->busy_in_block[(size_t)rank * run->block_count];
    const iw_time *borders = run->block_end_ps == NULL ? iwi_iteration_borders(run, rank) : NULL;
    const iw_time first_ps = borders != NULL ? borders[0] : INT64_MIN,
                  last_ps = borders != NULL ? borders[run->iterations.count] : INT64_MAX;
    uint32_t block = 0;

    for (size_t i = run->first_segment[rank]; i < run->first_segment[rank + 1]; i++) {
        const struct iwi_segment *segment = &run->segments[i];
        const bool is_busy = segment->doing == IWI_DOES_COMPUTE || segment->doing == IWI_DOES_OTHER;

        const iw_time end_ps = iwi_min(segment->end_ps, last_ps);

        for (iw_time from_ps = iwi_max(segment->begin_ps, first_ps), to_ps; from_ps < end_ps;
             from_ps = to_ps) {
            while (iwi_block_end_ps(run, rank, block) <= from_ps) {
                block++;
            }
            to_ps = iwi_min(end_ps, iwi_block_end_ps(run, rank, block));
            busy[block] += is_busy ? (double)(to_ps - from_ps) : 0.0;
        }
    }
}

iw_status iwi_waited_block(struct iwi_waited_run *run)
{
    if (run->iterations.count >= LEAST_ITERATIONS) {
        run->block_count = choose_blocks(run, run->iterations.count);
    } else {
        IW_TRY(block_by_encounters(run));
    }
    run->busy_in_block =
        iwi_new_array(run->log, (size_t)run->rank_count * run->block_count, sizeof *run->busy_in_block);
    if (run->busy_in_block == NULL) {
        return IW_ERR_NOMEM;
    }
    for (uint32_t r = 0; r < run->rank_count && run->block_count > 0; r++) {
        add_busy(run, r);
    }
    return IW_OK;
}
