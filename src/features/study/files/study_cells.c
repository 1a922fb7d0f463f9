/* The cells of a study: which lists hold where a system and a work meet, whether the work can run there, and
 * all of it as one grid, each cell once.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A list in a system or in a work stands in for that of the study. Where both have one, what is in both
 * counts.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <idlewave/training.h>

#include "core/base/order.h"
#include "features/study/files/study_yaml.h"

/* One system with one work. Lists are borrowed, or in `own`. */
struct crossing {
    size_t system, work;
    const struct iwi_axis_values *axes[IWI_AXES]; /* ranks 0: as many as the settings say */
    struct iwi_axis_values own[IWI_AXES];
    uint64_t trials;
};

/* ---- lists ---- */

static bool holds(const struct iwi_axis_values *values, double value)
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
        if (holds(b, a->values[i])) {
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

static iw_status choose_axis(const struct iwi_study_reader *reader, size_t axis, struct crossing *crossing)
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
        !has_own_ranks(&reader->study.works[crossing->work])) {
        return iwi_yaml_fail(&reader->yaml, reader->works[crossing->work].line, IW_ERR_FORMAT,
                             "'%s' has no numbers of ranks: add 'ranks: 2^1..2^10' to it or to the study",
                             reader->study.works[crossing->work].name);
    }
    return IW_OK;
}

static void release_crossing(struct crossing *crossing)
{
    for (size_t axis = 0; axis < IWI_AXES; axis++) {
        free(crossing->own[axis].values);
    }
}

static iw_status fix_axis(const struct iwi_study_reader *reader, size_t axis, double value,
                          struct crossing *crossing)
{
    crossing->axes[axis] = &crossing->own[axis];
    return iwi_axis_values_append(reader->yaml.log, &crossing->own[axis], value);
}

/* What is varied of a training program may say how many GPUs it has. */
static iw_status choose_gpus(const struct iwi_study_reader *reader, struct crossing *crossing)
{
    const struct iwi_study_entry *part = &reader->works[crossing->work];
    const struct iwi_axis_values *of_study = &reader->grid.axes[IWI_AXIS_RANKS];
    const bool is_told = iwi_study_varies(&reader->study.works[crossing->work], "dp");

    if (is_told && (part->grid.axes[IWI_AXIS_RANKS].line != 0 ||
                    reader->systems[crossing->system].grid.axes[IWI_AXIS_RANKS].line != 0)) {
        return iwi_yaml_fail(&reader->yaml, part->line, IW_ERR_FORMAT,
                             "'dp' and 'ranks' both set the number of GPUs of '%s'; remove one of the two",
                             reader->study.works[crossing->work].name);
    }
    IW_TRY(choose_axis(reader, IWI_AXIS_RANKS, crossing));
    return is_told || (of_study->count == 0 && crossing->axes[IWI_AXIS_RANKS] == of_study)
               ? fix_axis(reader, IWI_AXIS_RANKS, 0, crossing)
               : IW_OK;
}

/* A schedule or a trace has sizes of messages of its own, a schedule also its number of ranks; a trace has
 * one if nobody says more. */
static iw_status choose_ranks_and_bytes(const struct iwi_study_reader *reader, struct crossing *crossing)
{
    const iw_study_work *work = &reader->study.works[crossing->work];
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

static iw_status fill_crossing(const struct iwi_study_reader *reader, size_t system, size_t work,
                               struct crossing *crossing)
{
    const uint64_t of_system = reader->systems[system].grid.trials, of_work = reader->works[work].grid.trials;

    *crossing = (struct crossing){.system = system, .work = work};
    crossing->trials = of_work != 0 ? of_work : (of_system != 0 ? of_system : reader->grid.trials);
    IW_TRY(choose_axis(reader, IWI_AXIS_SYNC, crossing));
    IW_TRY(choose_axis(reader, IWI_AXIS_SCALE, crossing));
    return choose_ranks_and_bytes(reader, crossing);
}

static uint32_t ranks_of(const struct iwi_study_reader *reader, const struct crossing *crossing, double ranks,
                         size_t settings)
{
    const uint32_t *gpus = reader->works[crossing->work].gpus;

    return ranks == 0 && gpus != NULL ? gpus[settings] : (uint32_t)ranks;
}

/* ---- what can run ---- */

iw_nodes iwi_study_nodes(const iw_study_system *system)
{
    const iw_nodes nodes = iw_net_nodes(&system->net);

    return nodes.ranks > 0 ? nodes : (iw_nodes){.ranks = system->ranks_per_node};
}

static iw_status check_scales(const struct iwi_study_reader *reader, const struct crossing *crossing)
{
    const struct iwi_axis_values *scales = crossing->axes[IWI_AXIS_SCALE];
    const struct iwi_study_entry *part = &reader->systems[crossing->system];

    for (size_t i = 0; i < scales->count && part->has_digest; i++) {
        iw_net net = reader->study.systems[crossing->system].net;
        struct iwi_log_keeper keeper;
        iw_status status;

        iwi_log_keeper_init(&keeper, reader->yaml.log);
        status = iw_net_scale(&keeper.log, &net, scales->values[i]);
        if (status != IW_OK) {
            return iwi_yaml_fail(&reader->yaml, part->line, status, "with net-scale %g: %s",
                                 scales->values[i], keeper.text);
        }
    }
    return IW_OK;
}

static iw_status check_program(const struct iwi_study_reader *reader, const struct crossing *crossing,
                               double bytes, double ranks)
{
    const size_t work_index = crossing->work;
    const iw_study_work *work = &reader->study.works[work_index];
    iw_pattern pattern = work->pattern;
    struct iwi_log_keeper keeper;
    iw_program *program = NULL;
    iw_status status;

    pattern.bytes = (uint64_t)bytes;
    pattern.ranks = (uint32_t)ranks;
    pattern.nodes = iwi_study_nodes(&reader->study.systems[crossing->system]);
    iwi_log_keeper_init(&keeper, reader->yaml.log);
    status = iw_program_from_pattern(&keeper.log, work->operations, &pattern, &program);
    if (status != IW_OK) {
        return iwi_yaml_fail(&reader->yaml, reader->works[work_index].line,
                             status == IW_ERR_USAGE ? IW_ERR_FORMAT : status,
                             "'%s' on %.0f ranks with %.0f bytes: %s", work->name, ranks, bytes, keeper.text);
    }
    iw_program_free(program);
    return IW_OK;
}

/* Of a trace the program was tried when it was read. */
static iw_status check_replicas(const struct iwi_study_reader *reader, const struct crossing *crossing)
{
    const struct iwi_axis_values *ranks = crossing->axes[IWI_AXIS_RANKS];
    const struct iwi_study_entry *part = &reader->works[crossing->work];

    for (size_t i = 0; i < ranks->count && part->ranks != 0; i++) {
        if (fmod(ranks->values[i], part->ranks) != 0) {
            return iwi_yaml_fail(
                &reader->yaml, ranks->line != 0 ? ranks->line : part->line, IW_ERR_RANGE,
                "'%s' was traced on %" PRIu32
                " ranks, which can be replicated to multiples only, not to %.0f; give it its own 'ranks'",
                reader->study.works[crossing->work].name, part->ranks, ranks->values[i]);
        }
    }
    return IW_OK;
}

/* One that cannot run is said with its settings. */
static iw_status check_gpus(const struct iwi_study_reader *reader, const struct crossing *crossing,
                            double ranks, size_t settings)
{
    const struct iwi_axis_values *list = crossing->axes[IWI_AXIS_RANKS];
    const iw_study_work *work = &reader->study.works[crossing->work];
    const uint32_t gpus = ranks_of(reader, crossing, ranks, settings);
    const bool is_varied = work->setting_count > 0;
    char text[IWI_SETTINGS_TEXT_SIZE];
    struct iwi_log_keeper keeper;
    iw_training spec;
    iw_status status;

    iwi_log_keeper_init(&keeper, reader->yaml.log);
    status = iwi_study_training_on(&keeper.log, work, settings, gpus, &spec);
    if (status == IW_OK) {
        return IW_OK;
    }
    iwi_study_settings_text(work, settings, text);
    return iwi_yaml_fail(&reader->yaml,
                         list->line != 0 && !is_varied ? list->line : reader->works[crossing->work].line,
                         status, "'%s'%s%s: %s", work->name, is_varied ? " with " : "", text, keeper.text);
}

/* All that cannot run are said, up to a number that people read. */
static iw_status check_combinations(const struct iwi_study_reader *reader, const struct crossing *crossing)
{
    enum { MOST_SAID = 8 };
    const struct iwi_axis_values *ranks = crossing->axes[IWI_AXIS_RANKS];
    const iw_study_work *work = &reader->study.works[crossing->work];
    const size_t count = iwi_study_combinations(work);
    iw_status status = IW_OK;
    size_t wrong = 0;

    for (size_t settings = 0; settings < count && wrong < MOST_SAID; settings++) {
        for (size_t i = 0; i < ranks->count && wrong < MOST_SAID; i++) {
            const iw_status here = check_gpus(reader, crossing, ranks->values[i], settings);

            status = here != IW_OK ? here : status;
            wrong += here != IW_OK;
            if (here != IW_OK && work->setting_count == 0) {
                return here;
            }
        }
    }
    return wrong <= 1
               ? status
               : iwi_yaml_fail(&reader->yaml, reader->works[crossing->work].line, status,
                               "'%s' has incompatible settings%s: put compatible ones into separate patterns",
                               work->name, wrong == MOST_SAID ? ", those above or more" : "");
}

/* Its network is its own, and so is what its phases are. */
static iw_status check_training(const struct iwi_study_reader *reader, const struct crossing *crossing)
{
    const struct iwi_axis_values *scales = crossing->axes[IWI_AXIS_SCALE];

    if (scales->count != 1 || scales->values[0] != 1.0 ||
        holds(crossing->axes[IWI_AXIS_SYNC], IW_SYNC_PHASE)) {
        return iwi_yaml_fail(
            &reader->yaml, reader->works[crossing->work].line, IW_ERR_FORMAT,
            "'%s' is a training program with its own network: it cannot have 'net-scale' or 'sync: phase'",
            reader->study.works[crossing->work].name);
    }
    return reader->wants_files ? check_combinations(reader, crossing) : IW_OK;
}

/* Every number of ranks, since some shapes fit some only; of the sizes the ends are enough. */
static iw_status check_programs(const struct iwi_study_reader *reader, const struct crossing *crossing)
{
    const struct iwi_axis_values *bytes = crossing->axes[IWI_AXIS_BYTES];
    const struct iwi_axis_values *ranks = crossing->axes[IWI_AXIS_RANKS];
    double least, most;

    if (reader->study.works[crossing->work].is_trace) {
        return check_replicas(reader, crossing);
    }
    if (reader->study.works[crossing->work].training != NULL) {
        return check_training(reader, crossing);
    }
    if (reader->study.works[crossing->work].goal_path != NULL || bytes->count == 0) {
        return IW_OK;
    }
    least = most = bytes->values[0];
    for (size_t i = 1; i < bytes->count; i++) {
        least = bytes->values[i] < least ? bytes->values[i] : least;
        most = bytes->values[i] > most ? bytes->values[i] : most;
    }
    for (size_t i = 0; i < ranks->count; i++) {
        IW_TRY(check_program(reader, crossing, least, ranks->values[i]));
        if (most > least) {
            IW_TRY(check_program(reader, crossing, most, ranks->values[i]));
        }
    }
    return IW_OK;
}

/* What a work needs of the system that it runs on. */
static iw_status check_pair(const struct iwi_study_reader *reader, size_t system_index, size_t work_index)
{
    const iw_study_system *system = &reader->study.systems[system_index];
    const iw_study_work *work = &reader->study.works[work_index];
    const size_t line = reader->works[work_index].line;
    const bool moves = work->operations != NULL && work->pattern.compute_bytes > 0;

    if (reader->systems[system_index].has_no_net && work->training == NULL) {
        return iwi_yaml_fail(&reader->yaml, reader->systems[system_index].line, IW_ERR_FORMAT,
                             "the system has no network: add 'net: hdr-fat-tree', or a file");
    }
    if (work->training != NULL &&
        (system->spare_cores > 0 || system->cores_per_rank > 1 || system->node_speed != NULL ||
         system->is_extrapolated || system->align != IW_ALIGN_NONE ||
         !iw_cpu_set_is_empty(&system->noise_cpus))) {
        return iwi_yaml_fail(&reader->yaml, line, IW_ERR_FORMAT,
                             "'%s' is a training program: it uses only 'noise' and 'skew' of system '%s', as "
                             "jitter of its hosts",
                             work->name, system->name);
    }
    if (system->spare_cores > 0 && work->goal_path != NULL) {
        return iwi_yaml_fail(&reader->yaml, line, IW_ERR_FORMAT,
                             "'spare-cores' of system '%s' lengthens computation, which a schedule fixes; "
                             "use a pattern or a trace",
                             system->name);
    }
    if (moves && system->net.memory.ranks == 0 && reader->systems[system_index].has_digest) {
        return iwi_yaml_fail(&reader->yaml, line, IW_ERR_FORMAT,
                             "'compute-bytes': system '%s' has no memory bandwidth; add 'memory: "
                             "\"ranks=10,domain=40GB/s,core=6.5GB/s\"' there",
                             system->name);
    }
    return IW_OK;
}

static iw_status check_crossing(const struct iwi_study_reader *reader, const struct crossing *crossing)
{
    IW_TRY(check_pair(reader, crossing->system, crossing->work));
    IW_TRY(check_scales(reader, crossing));
    return check_programs(reader, crossing);
}

/* ---- the grid ---- */

/* Walks all settings and all values of all axes, the last axis fastest; `size` cells from `at` on. */
static void write_cells(const struct iwi_study_reader *reader, const struct crossing *crossing, iw_cell *at,
                        size_t size)
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
                          .ranks = ranks_of(reader, crossing, value[IWI_AXIS_RANKS], rest),
                          .bytes = (uint64_t)value[IWI_AXIS_BYTES],
                          .sync = (iw_sync)value[IWI_AXIS_SYNC],
                          .net_scale = value[IWI_AXIS_SCALE],
                          .trials = crossing->trials,
                          .seed = reader->seed};
        if (system->has_digest && work->has_digest) {
            iwi_cell_identify(
                &at[i], system->digest,
                iwi_study_settings_digest(&reader->study.works[crossing->work], rest, work->digest),
                reader->study.systems[crossing->system].skew_ps);
        }
    }
}

static iw_status append_cells(struct iwi_study_reader *reader, const struct crossing *crossing,
                              size_t *capacity)
{
    iw_study *study = &reader->study;
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
                             "with '%s' on '%s' the study has more than %d cells; use fewer values or split "
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

static iw_status cross(struct iwi_study_reader *reader, size_t system, size_t work, size_t *capacity)
{
    struct crossing crossing;
    iw_status status = fill_crossing(reader, system, work, &crossing);

    if (status == IW_OK) {
        status = check_crossing(reader, &crossing);
    }
    if (status == IW_OK) {
        status = append_cells(reader, &crossing, capacity);
    }
    release_crossing(&crossing);
    return status;
}

/* ---- the whole ---- */

static iw_status check_skew(const struct iwi_study_reader *reader, size_t system, const iw_cell *first,
                            const iw_cell *end)
{
    if (reader->study.systems[system].skew_ps == 0) {
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
                         reader->study.systems[system].name);
}

/* What was written down must run somewhere. */
static iw_status check_used(const struct iwi_study_reader *reader)
{
    const iw_study *study = &reader->study;
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

IWI_COMPARE(compare_ids, iw_cell *const, strcmp((*left)->id, (*right)->id), IWI_ORDER(*left, *right))

static iw_status fail_twins(const struct iwi_study_reader *reader, const iw_cell *first,
                            const iw_cell *second)
{
    const iw_study *study = &reader->study;
    const size_t line = first->system != second->system ? reader->systems[second->system].line
                                                        : reader->works[second->work].line;

    return iwi_yaml_fail(&reader->yaml, line, IW_ERR_FORMAT,
                         "'%s' on '%s' equals '%s' on '%s' except for the names (same network, noise and "
                         "work); remove one of the two",
                         study->works[second->work].name, study->systems[second->system].name,
                         study->works[first->work].name, study->systems[first->system].name);
}

/* Results are found by their ids, so no two cells may have one. */
static iw_status check_twins(const struct iwi_study_reader *reader)
{
    const iw_study *study = &reader->study;
    const iw_cell **sorted = iwi_new_array(reader->yaml.log, study->cell_count, sizeof(iw_cell *));
    iw_status status = IW_OK;

    if (sorted == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < study->cell_count; i++) {
        sorted[i] = &study->cells[i];
    }
    iwi_sort(sorted, study->cell_count, compare_ids);
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
    iw_study *study = &reader->study;
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
