/* What is tried: single sources, classes, sets, all of them, and two remedies for the whole node.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_CHANGES_H
#define IWI_CHANGES_H

#include <idlewave/whatif.h>

#include "features/simulate/simulate.h"
#include "kit/text/words.h"

/* IW_ERR_RANGE: options that contradict each other. */
IW_NODISCARD iw_status iwi_whatif_check(const iw_log *log, const iw_whatif_opts *opts);

/* That are asked for, at least one. */
static inline uint32_t iwi_spare_cores(const iw_whatif_opts *opts)
{
    return opts->spare_cores > 0 ? opts->spare_cores : 1;
}

/* What these options simulate. */
static inline struct iwi_paired_job iwi_whatif_job(const iw_whatif_opts *opts)
{
    return (struct iwi_paired_job){.sim = opts->sim,
                                   .net = opts->net,
                                   .program = opts->program,
                                   .redraws = opts->redraws,
                                   .cores_per_node = opts->cores_per_node,
                                   .spare_cores = iwi_spare_cores(opts)};
}

struct iwi_changes {
    iw_change *list;
    size_t count, room;
};

/* Everything that the options ask for, without numbers yet. Which sources are tried one by one: a source
 * costs much because it takes much time, or, on many ranks, because its detours are long, however rare. So
 * each part gets the better of its places by share and by longest detour, and the first opts->most_parts of
 * that order are tried (0: all; specs, whose detours are not recorded, always); the others are one change
 * together. `can_reserve`: a program with one core less can be made. */
IW_NODISCARD iw_status iwi_changes_list(const iw_log *log, const iw_noise_set *set,
                                        const iw_whatif_opts *opts, bool can_reserve,
                                        struct iwi_changes *changes_p);
void iwi_changes_release(struct iwi_changes *changes);

/* Appends a change that removes these parts; its name is empty. */
IW_NODISCARD iw_status iwi_changes_add(const iw_log *log, const iw_noise_set *set, iw_change_kind kind,
                                       const bool *is_removed, struct iwi_changes *changes);

/* Whether a saving of a source, or of all, is a bound: such do not add up to anything. */
static inline bool iwi_has_bounds(const iw_change *changes, size_t count)
{
    bool has = false;

    for (size_t i = 0; i < count; i++) {
        const iw_change_kind kind = changes[i].kind;

        has |= (kind == IW_CHANGE_SOURCE || kind == IW_CHANGE_REST || kind == IW_CHANGE_ALL) &&
               iwi_is_bound(changes[i].saving);
    }
    return has;
}

struct iwi_variant iwi_variant_of(const iw_change *change);

#endif
