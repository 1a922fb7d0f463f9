/* One system with one work: the lists that hold, and whether what they span can be run.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_STUDY_CROSSING_H
#define IWI_STUDY_CROSSING_H

#include "features/study/files/study_yaml.h"

/* Lists are borrowed, or in `own`. */
struct iwi_crossing {
    size_t system, work;
    const struct iwi_axis_values *axes[IWI_AXES]; /* ranks 0: as many as the settings say */
    struct iwi_axis_values own[IWI_AXES];
    uint64_t trials;
};

bool iwi_axis_holds(const struct iwi_axis_values *values, double value);

/* To be released, whatever comes of it. */
IW_NODISCARD iw_status iwi_crossing_fill(const struct iwi_study_reader *reader, size_t system, size_t work,
                                         struct iwi_crossing *crossing);
void iwi_crossing_release(struct iwi_crossing *crossing);

/* GPUs or ranks of a combination of settings where the list says `ranks`. */
uint32_t iwi_crossing_ranks(const struct iwi_study_reader *reader, const struct iwi_crossing *crossing,
                            double ranks, size_t settings);

/* Whether the work can run on the system, and all programs that the lists make of it. */
IW_NODISCARD iw_status iwi_crossing_check(const struct iwi_study_reader *reader,
                                          const struct iwi_crossing *crossing);

#endif
