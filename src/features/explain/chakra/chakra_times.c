/* Times of visits whose trace has none: replayed, or by durations alone.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>

#include "core/base/order.h"
#include "features/explain/chakra/chakra.h"

/* ---- by durations alone ---- */

/* Encounters by the first of their nodes. */
struct turn {
    uint64_t encounter;
    iw_time first;
};

IWI_COMPARE(compare_turns, struct turn, IWI_RISING(first), IWI_RISING(encounter))

/* All who meet leave together, as soon as the last of them can: enter = leave - duration. False: that is more
 * than 10 days. */
static bool place(struct iwi_visits *visits, const struct iwi_encounter *encounter, iw_time *at)
{
    iw_time leave_ps = 0;

    for (uint32_t k = 0; k < encounter->count; k++) {
        const struct iwi_visit *visit = &visits->visits[encounter->first + k];

        leave_ps = iwi_max(leave_ps, at[visit->rank] + visit->leave_ps); /* leave_ps: its duration so far */
    }
    for (uint32_t k = 0; k < encounter->count; k++) {
        struct iwi_visit *visit = &visits->visits[encounter->first + k];

        visit->enter_ps = leave_ps - visit->leave_ps;
        visit->leave_ps = at[visit->rank] = leave_ps;
    }
    return leave_ps <= IW_TIME_INPUT_MAX;
}

static iw_status place_all(const struct iwi_chakra *all, struct iwi_visits *visits)
{
    struct turn *turns = iwi_new_array(all->log, visits->encounter_count, sizeof *turns);
    iw_time *at = iwi_new_array(all->log, visits->rank_count, sizeof *at);
    iw_status status = turns != NULL && at != NULL ? IW_OK : IW_ERR_NOMEM;

    for (size_t i = 0; status == IW_OK && i < visits->encounter_count; i++) {
        const struct iwi_encounter *encounter = &visits->encounters[i];

        turns[i] = (struct turn){i, INT64_MAX};
        for (uint32_t k = 0; k < encounter->count; k++) {
            const struct iwi_chakra_comm *comm = &all->comms[visits->visits[encounter->first + k].enter_ps];

            turns[i].first = iwi_min(turns[i].first, (iw_time)comm->number);
        }
    }
    if (status == IW_OK) {
        iwi_sort(turns, visits->encounter_count, compare_turns);
        for (size_t i = 0; status == IW_OK && i < visits->encounter_count; i++) {
            if (!place(visits, &visits->encounters[turns[i].encounter], at)) {
                status = iwi_fail(all->log, IW_ERR_RANGE, "the collectives of a rank take more than 10 days");
            }
        }
    }
    free(turns);
    free(at);
    return status;
}

/* ---- replayed ---- */

/* What was replayed: visits, and what the device computes. */
static iw_status take_replay(struct iwi_chakra *all, struct iwi_visits *visits, const int64_t *end_us)
{
    for (size_t i = 0; i < all->act_count; i++) {
        if (end_us[i] > IW_TIME_INPUT_MAX / IW_PS_PER_US) {
            return iwi_fail(all->log, IW_ERR_RANGE, "the nodes of a rank take more than 10 days");
        }
    }
    for (size_t v = 0; v < visits->visit_count; v++) {
        struct iwi_visit *visit = &visits->visits[v];
        const iw_time took_ps = visit->leave_ps;

        visit->leave_ps = end_us[all->comms[visit->enter_ps].act] * IW_PS_PER_US;
        visit->enter_ps = visit->leave_ps - took_ps;
    }
    for (size_t i = 0; i < all->act_count; i++) {
        const struct iwi_chakra_act *act = &all->acts[i];

        if (i == 0 || act->file != all->acts[i - 1].file) {
            iwi_chakra_merge(all);
            all->first_kernel = all->kernel_count;
        }
        if (act->is_kernel && act->took_us > 0) {
            IW_TRY(iwi_grow(all->log, (void **)&all->kernels, &all->kernel_capacity, all->kernel_count + 1,
                            sizeof all->kernels[0]));
            all->kernels[all->kernel_count++] = (struct iwi_chakra_kernel){
                act->file, (uint16_t)act->lane, end_us[i] - act->took_us, end_us[i]};
        }
    }
    iwi_chakra_merge(all);
    return IW_OK;
}

/* By replay; where that does not go on, by durations alone. */
iw_status iwi_chakra_make_times(struct iwi_chakra *all, struct iwi_visits *visits)
{
    int64_t *end_us = iwi_new_array(all->log, all->act_count, sizeof *end_us);
    bool is_replayed = false;
    iw_status status = end_us != NULL ? iwi_chakra_replay(all, visits, end_us, &is_replayed) : IW_ERR_NOMEM;

    if (status == IW_OK) {
        status = is_replayed ? take_replay(all, visits, end_us) : place_all(all, visits);
    }
    free(end_us);
    IW_TRY(status);
    iwi_visits_note(
        visits, is_replayed ? "They have no start times, which were computed from durations and "
                              "dependences: ranks are taken to have left each collective together; time "
                              "of which there is no node is missing."
                            : "They have no start times, only durations, and dependences that do not go "
                              "together: ranks are taken to have left each collective together; what lies "
                              "between collectives is not known.");
    return IW_OK;
}
