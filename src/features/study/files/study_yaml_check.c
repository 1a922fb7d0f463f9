/* Whether a work can run on a system, with every value of the lists that hold there.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <string.h>

#include <idlewave/training.h>

#include "features/study/files/study_crossing.h"
#include "features/study/files/study_nodes.h"
#include "features/study/files/study_settings.h"

static iw_status check_scales(const struct iwi_study_reader *reader, const struct iwi_crossing *crossing)
{
    const struct iwi_axis_values *scales = crossing->axes[IWI_AXIS_SCALE];
    const struct iwi_study_entry *part = &reader->systems[crossing->system];

    for (size_t i = 0; i < scales->count && part->has_digest; i++) {
        iw_net net = reader->study->systems[crossing->system].net;
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

static iw_status check_program(const struct iwi_study_reader *reader, const struct iwi_crossing *crossing,
                               double bytes, double ranks)
{
    const size_t work_index = crossing->work;
    const iw_study_work *work = &reader->study->works[work_index];
    iw_pattern pattern = work->pattern;
    struct iwi_log_keeper keeper;
    iw_program *program = NULL;
    iw_status status;

    pattern.bytes = (uint64_t)bytes;
    pattern.ranks = (uint32_t)ranks;
    pattern.nodes = iwi_study_nodes(&reader->study->systems[crossing->system]);
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
static iw_status check_replicas(const struct iwi_study_reader *reader, const struct iwi_crossing *crossing)
{
    const struct iwi_axis_values *ranks = crossing->axes[IWI_AXIS_RANKS];
    const struct iwi_study_entry *part = &reader->works[crossing->work];

    for (size_t i = 0; i < ranks->count && part->ranks != 0; i++) {
        if (fmod(ranks->values[i], part->ranks) != 0) {
            return iwi_yaml_fail(&reader->yaml, ranks->line != 0 ? ranks->line : part->line, IW_ERR_RANGE,
                                 "'%s' was traced on %" PRIu32 " ranks, which can be replicated to a "
                                 "multiple of that, not to %.0f; give it 'ranks' of its own",
                                 reader->study->works[crossing->work].name, part->ranks, ranks->values[i]);
        }
    }
    return IW_OK;
}

/* One that cannot run is said with its settings. */
static iw_status check_gpus(const struct iwi_study_reader *reader, const struct iwi_crossing *crossing,
                            double ranks, size_t settings)
{
    const struct iwi_axis_values *list = crossing->axes[IWI_AXIS_RANKS];
    const iw_study_work *work = &reader->study->works[crossing->work];
    const uint32_t gpus = iwi_crossing_ranks(reader, crossing, ranks, settings);
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
static iw_status check_combinations(const struct iwi_study_reader *reader,
                                    const struct iwi_crossing *crossing)
{
    enum { MOST_SAID = 8 };
    const struct iwi_axis_values *ranks = crossing->axes[IWI_AXIS_RANKS];
    const iw_study_work *work = &reader->study->works[crossing->work];
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
    return wrong <= 1 ? status
                      : iwi_yaml_fail(&reader->yaml, reader->works[crossing->work].line, status,
                                      "'%s' has settings that do not fit together%s: give those that do "
                                      "patterns of their own",
                                      work->name, wrong == MOST_SAID ? ", those above or more" : "");
}

/* Its network is its own, and so is what its phases are. */
static iw_status check_training(const struct iwi_study_reader *reader, const struct iwi_crossing *crossing)
{
    const struct iwi_axis_values *scales = crossing->axes[IWI_AXIS_SCALE];

    if (scales->count != 1 || scales->values[0] != 1.0 ||
        iwi_axis_holds(crossing->axes[IWI_AXIS_SYNC], IW_SYNC_PHASE)) {
        return iwi_yaml_fail(&reader->yaml, reader->works[crossing->work].line, IW_ERR_FORMAT,
                             "'%s' is a training program, with a network of its own: it cannot have "
                             "'net-scale' or 'sync: phase'",
                             reader->study->works[crossing->work].name);
    }
    return reader->wants_files ? check_combinations(reader, crossing) : IW_OK;
}

/* Every number of ranks, since some shapes fit some only; of the sizes the ends are enough. */
static iw_status check_programs(const struct iwi_study_reader *reader, const struct iwi_crossing *crossing)
{
    const struct iwi_axis_values *bytes = crossing->axes[IWI_AXIS_BYTES];
    const struct iwi_axis_values *ranks = crossing->axes[IWI_AXIS_RANKS];
    double least, most;

    if (reader->study->works[crossing->work].is_trace) {
        return check_replicas(reader, crossing);
    }
    if (reader->study->works[crossing->work].training != NULL) {
        return check_training(reader, crossing);
    }
    if (reader->study->works[crossing->work].goal_path != NULL || bytes->count == 0) {
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
    const iw_study_system *system = &reader->study->systems[system_index];
    const iw_study_work *work = &reader->study->works[work_index];
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
                             "'%s' is a training program, and of system '%s' it takes 'noise' and 'skew' "
                             "only, as jitter of its hosts",
                             work->name, system->name);
    }
    if (system->spare_cores > 0 && work->goal_path != NULL) {
        return iwi_yaml_fail(&reader->yaml, line, IW_ERR_FORMAT,
                             "'spare-cores' of system '%s' makes computation take longer, and that of a "
                             "schedule cannot be changed; take a pattern or a trace",
                             system->name);
    }
    if (moves && system->net.memory.ranks == 0 && reader->systems[system_index].has_digest) {
        return iwi_yaml_fail(
            &reader->yaml, line, IW_ERR_FORMAT,
            "'compute-bytes': nothing says how fast the memory of system '%s' is; add 'memory: "
            "\"ranks=10,domain=40GB/s,core=6.5GB/s\"' there",
            system->name);
    }
    return IW_OK;
}

iw_status iwi_crossing_check(const struct iwi_study_reader *reader, const struct iwi_crossing *crossing)
{
    IW_TRY(check_pair(reader, crossing->system, crossing->work));
    IW_TRY(check_scales(reader, crossing));
    return check_programs(reader, crossing);
}
