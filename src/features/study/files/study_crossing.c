/* Which lists hold where a system and a work meet.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A list in a system or in a work stands in for that of the study. Where both have one, what is in both
 * counts.
 */
#include "features/study/files/study_crossing.h"

#include <stdlib.h>

#include "features/study/files/study_settings.h"

/* ---- lists ---- */

bool iwi_axis_holds(const struct iwi_axis_values *values, double value)
{
    for (size_t i = 0; i < values->count; i++) {
        if (values->values[i] == value) {
            return true;
        }
    }
    return false;
}

static iw_status keep_common(const iw_log *log, const struct iwi_axis_values *a,
                             const struct iwi_axis_values *b, struct iwi_axis_values *common)
{
    for (size_t i = 0; i < a->count; i++) {
        if (iwi_axis_holds(b, a->values[i])) {
            IW_TRY(iwi_axis_values_append(log, common, a->values[i]));
        }
    }
    return IW_OK;
}

/* Where nobody says a number of ranks: those that were traced, the GPUs of a training program. */
static bool has_own_ranks(const iw_study_work *work)
{
    return work->is_trace || work->training != NULL;
}

static iw_status choose_axis(const struct iwi_study_reader *reader, size_t axis,
                             struct iwi_crossing *crossing)
{
    const struct iwi_axis_values *of_system = &reader->systems[crossing->system].grid.axes[axis];
    const struct iwi_axis_values *of_work = &reader->works[crossing->work].grid.axes[axis];

    if (of_system->line != 0 && of_work->line != 0) {
        crossing->axes[axis] = &crossing->own[axis];
        return keep_common(reader->yaml.log, of_work, of_system, &crossing->own[axis]);
    }
    crossing->axes[axis] = of_work->line != 0     ? of_work
                           : of_system->line != 0 ? of_system
                                                  : &reader->grid.axes[axis];
    if (axis == IWI_AXIS_RANKS && crossing->axes[axis]->count == 0 &&
        !has_own_ranks(&reader->study->works[crossing->work])) {
        return iwi_yaml_fail(&reader->yaml, reader->works[crossing->work].line, IW_ERR_FORMAT,
                             "'%s' has no numbers of ranks: add 'ranks: 2^1..2^10' to the study, or to it",
                             reader->study->works[crossing->work].name);
    }
    return IW_OK;
}

void iwi_crossing_release(struct iwi_crossing *crossing)
{
    for (size_t axis = 0; axis < IWI_AXES; axis++) {
        free(crossing->own[axis].values);
    }
}

static iw_status fix_axis(const struct iwi_study_reader *reader, size_t axis, double value,
                          struct iwi_crossing *crossing)
{
    crossing->axes[axis] = &crossing->own[axis];
    return iwi_axis_values_append(reader->yaml.log, &crossing->own[axis], value);
}

/* What is varied of a training program may say how many GPUs it has. */
static iw_status choose_gpus(const struct iwi_study_reader *reader, struct iwi_crossing *crossing)
{
    const struct iwi_study_entry *part = &reader->works[crossing->work];
    const struct iwi_axis_values *of_study = &reader->grid.axes[IWI_AXIS_RANKS];
    const bool is_told = iwi_study_varies(&reader->study->works[crossing->work], "dp");

    if (is_told && (part->grid.axes[IWI_AXIS_RANKS].line != 0 ||
                    reader->systems[crossing->system].grid.axes[IWI_AXIS_RANKS].line != 0)) {
        return iwi_yaml_fail(&reader->yaml, part->line, IW_ERR_FORMAT,
                             "'dp' and 'ranks' both say how many GPUs '%s' has; leave one of them out",
                             reader->study->works[crossing->work].name);
    }
    IW_TRY(choose_axis(reader, IWI_AXIS_RANKS, crossing));
    return is_told || (of_study->count == 0 && crossing->axes[IWI_AXIS_RANKS] == of_study)
               ? fix_axis(reader, IWI_AXIS_RANKS, 0, crossing)
               : IW_OK;
}

/* A schedule or a trace has sizes of messages of its own, a schedule also its number of ranks; a trace has
 * one if nobody says more. */
static iw_status choose_ranks_and_bytes(const struct iwi_study_reader *reader, struct iwi_crossing *crossing)
{
    const iw_study_work *work = &reader->study->works[crossing->work];
    const struct iwi_axis_values *of_study = &reader->grid.axes[IWI_AXIS_RANKS];
    bool is_known = work->goal_path != NULL;

    if (work->training != NULL) {
        IW_TRY(choose_gpus(reader, crossing));
    } else if (!is_known) {
        IW_TRY(choose_axis(reader, IWI_AXIS_RANKS, crossing));
        is_known = work->is_trace && of_study->count == 0 && crossing->axes[IWI_AXIS_RANKS] == of_study;
    }
    if (is_known) {
        IW_TRY(fix_axis(reader, IWI_AXIS_RANKS, (double)reader->works[crossing->work].ranks, crossing));
    }
    return work->operations != NULL ? choose_axis(reader, IWI_AXIS_BYTES, crossing)
                                    : fix_axis(reader, IWI_AXIS_BYTES, 0, crossing);
}

iw_status iwi_crossing_fill(const struct iwi_study_reader *reader, size_t system, size_t work,
                            struct iwi_crossing *crossing)
{
    const uint64_t of_system = reader->systems[system].grid.trials, of_work = reader->works[work].grid.trials;

    *crossing = (struct iwi_crossing){.system = system, .work = work};
    crossing->trials = of_work != 0 ? of_work : (of_system != 0 ? of_system : reader->grid.trials);
    IW_TRY(choose_axis(reader, IWI_AXIS_SYNC, crossing));
    IW_TRY(choose_axis(reader, IWI_AXIS_SCALE, crossing));
    return choose_ranks_and_bytes(reader, crossing);
}

uint32_t iwi_crossing_ranks(const struct iwi_study_reader *reader, const struct iwi_crossing *crossing,
                            double ranks, size_t settings)
{
    const uint32_t *gpus = reader->works[crossing->work].gpus;

    return ranks == 0 && gpus != NULL ? gpus[settings] : (uint32_t)ranks;
}
