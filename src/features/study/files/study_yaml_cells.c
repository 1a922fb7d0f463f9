/* The cells of a study: lists of the study, of systems and of works to one grid, each cell once.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>
#include <string.h>

#include "features/study/files/study_crossing.h"
#include "features/study/files/study_settings.h"

/* Walks all settings and all values of all axes, the last axis fastest; `size` cells from `at` on. */
static void write_cells(const struct iwi_study_reader *reader, const struct iwi_crossing *crossing,
                        iw_cell *at, size_t size)
{
    const struct iwi_study_entry *system = &reader->systems[crossing->system];
    const struct iwi_study_entry *work = &reader->works[crossing->work];

    for (size_t i = 0; i < size; i++) {
        double value[IWI_AXES];
        size_t rest = i;

        for (size_t axis = IWI_AXES; axis-- > 0;) {
            value[axis] = crossing->axes[axis]->values[rest % crossing->axes[axis]->count];
            rest /= crossing->axes[axis]->count;
        }
        at[i] = (iw_cell){.system = crossing->system,
                          .work = crossing->work,
                          .settings = rest,
                          .ranks = iwi_crossing_ranks(reader, crossing, value[IWI_AXIS_RANKS], rest),
                          .bytes = (uint64_t)value[IWI_AXIS_BYTES],
                          .sync = (iw_sync)value[IWI_AXIS_SYNC],
                          .net_scale = value[IWI_AXIS_SCALE],
                          .trials = crossing->trials,
                          .seed = reader->seed};
        if (system->has_digest && work->has_digest) {
            iwi_cell_identify(
                &at[i], system->digest,
                iwi_study_settings_digest(&reader->study->works[crossing->work], rest, work->digest),
                reader->study->systems[crossing->system].skew_ps);
        }
    }
}

static iw_status append_cells(const struct iwi_study_reader *reader, const struct iwi_crossing *crossing,
                              size_t *capacity)
{
    iw_study *study = reader->study;
    size_t size = iwi_study_combinations(&study->works[crossing->work]);

    for (size_t axis = 0; axis < IWI_AXES; axis++) {
        if (__builtin_mul_overflow(size, crossing->axes[axis]->count, &size)) {
            size = SIZE_MAX;
        }
    }
    if (size == 0) {
        return IW_OK; /* no values in common */
    }
    if (size > IWI_MOST_CELLS - study->cell_count) {
        return iwi_yaml_fail(&reader->yaml, reader->works[crossing->work].line, IW_ERR_RANGE,
                             "with '%s' on '%s' the study has more than %d cells; take fewer values or split "
                             "it",
                             study->works[crossing->work].name, study->systems[crossing->system].name,
                             IWI_MOST_CELLS);
    }
    IW_TRY(iwi_grow(reader->yaml.log, (void **)&study->cells, capacity, study->cell_count + size,
                    sizeof *study->cells));
    write_cells(reader, crossing, study->cells + study->cell_count, size);
    study->cell_count += size;
    return IW_OK;
}

static iw_status cross(const struct iwi_study_reader *reader, size_t system, size_t work, size_t *capacity)
{
    struct iwi_crossing crossing;
    iw_status status = iwi_crossing_fill(reader, system, work, &crossing);

    if (status == IW_OK) {
        status = iwi_crossing_check(reader, &crossing);
    }
    if (status == IW_OK) {
        status = append_cells(reader, &crossing, capacity);
    }
    iwi_crossing_release(&crossing);
    return status;
}

/* ---- the whole ---- */

static iw_status check_skew(const struct iwi_study_reader *reader, size_t system, const iw_cell *first,
                            const iw_cell *end)
{
    if (reader->study->systems[system].skew_ps == 0) {
        return IW_OK;
    }
    for (const iw_cell *cell = first; cell < end; cell++) {
        if (cell->sync != IW_SYNC_NONE) {
            return IW_OK;
        }
    }
    return iwi_yaml_fail(&reader->yaml, reader->systems[system].line, IW_ERR_FORMAT,
                         "skew shifts synchronised noise, but system '%s' has no cells with 'sync: start' or "
                         "'sync: phase'",
                         reader->study->systems[system].name);
}

/* What was written down must run somewhere. */
static iw_status check_used(const struct iwi_study_reader *reader)
{
    const iw_study *study = reader->study;
    bool *is_used = iwi_new_array(reader->yaml.log, study->work_count, sizeof *is_used);
    iw_status status = IW_OK;

    if (is_used == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < study->cell_count; i++) {
        is_used[study->cells[i].work] = true;
    }
    for (size_t i = 0; i < study->work_count && status == IW_OK; i++) {
        if (!is_used[i]) {
            status = iwi_yaml_fail(&reader->yaml, reader->works[i].line, IW_ERR_FORMAT,
                                   "'%s' has no cells: its lists and those of the systems have no value in "
                                   "common",
                                   study->works[i].name);
        }
    }
    free(is_used);
    return status;
}

static int compare_ids(const void *a, const void *b)
{
    const iw_cell *x = *(const iw_cell *const *)a, *y = *(const iw_cell *const *)b;
    const int order = strcmp(x->id, y->id);

    return order != 0 ? order : (x > y) - (x < y);
}

static iw_status fail_twins(const struct iwi_study_reader *reader, const iw_cell *first,
                            const iw_cell *second)
{
    const iw_study *study = reader->study;
    const size_t line = first->system != second->system ? reader->systems[second->system].line
                                                        : reader->works[second->work].line;

    return iwi_yaml_fail(&reader->yaml, line, IW_ERR_FORMAT,
                         "'%s' on '%s' is the same as '%s' on '%s' but for the names: the same network, "
                         "noise and work; leave one out",
                         study->works[second->work].name, study->systems[second->system].name,
                         study->works[first->work].name, study->systems[first->system].name);
}

/* Results are found by their ids, so no two cells may have one. */
static iw_status check_twins(const struct iwi_study_reader *reader)
{
    const iw_study *study = reader->study;
    const iw_cell **sorted = iwi_new_array(reader->yaml.log, study->cell_count, sizeof(iw_cell *));
    iw_status status = IW_OK;

    if (sorted == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < study->cell_count; i++) {
        sorted[i] = &study->cells[i];
    }
    qsort(sorted, study->cell_count, sizeof(iw_cell *), compare_ids);
    for (size_t i = 1; i < study->cell_count && status == IW_OK; i++) {
        if (sorted[i]->id[0] != '\0' && strcmp(sorted[i]->id, sorted[i - 1]->id) == 0) {
            status = fail_twins(reader, sorted[i - 1], sorted[i]);
        }
    }
    free(sorted);
    return status;
}

iw_status iwi_study_make_cells(struct iwi_study_reader *reader)
{
    iw_study *study = reader->study;
    size_t capacity = 0;

    for (size_t system = 0; system < study->system_count; system++) {
        const size_t first = study->cell_count;

        for (size_t work = 0; work < study->work_count; work++) {
            IW_TRY(cross(reader, system, work, &capacity));
        }
        if (study->cell_count == first) {
            return iwi_yaml_fail(&reader->yaml, reader->systems[system].line, IW_ERR_FORMAT,
                                 "system '%s' has no cells: its lists and those of the patterns have no "
                                 "value in common",
                                 study->systems[system].name);
        }
        IW_TRY(check_skew(reader, system, study->cells + first, study->cells + study->cell_count));
    }
    IW_TRY(check_used(reader));
    return check_twins(reader);
}
