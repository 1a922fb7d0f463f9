/* Reads a study: the keys of the whole, then its parts, then its cells.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/study/files/study_yaml.h"

#include <stdlib.h>
#include <string.h>

#include <idlewave/training.h>

#include "core/net/net.h"
#include "kit/files/io/input.h"

enum { MOST_PARTS = 1000, DEFAULT_TRIALS = 100, DEFAULT_BYTES = 1 };

/* ---- release ---- */

static void free_system(iw_study_system *system)
{
    for (size_t i = 0; i < system->noise_count; i++) {
        free(system->noise[i]);
    }
    free(system->noise);
    free(system->name);
    iwi_net_release(&system->net);
    free(system->node_speed);
}

static void free_work(iw_study_work *work)
{
    free(work->name);
    free(work->operations);
    free(work->goal_path);
    free(work->rules);
    for (size_t i = 0; work->algorithms != NULL && work->algorithms[i] != NULL; i++) {
        free(work->algorithms[i]);
    }
    free(work->algorithms);
    if (work->training != NULL) {
        iw_training_release(work->training);
        free(work->training);
    }
    iwi_study_settings_release(work);
}

static void release(iw_study *study)
{
    for (size_t i = 0; i < study->system_count; i++) {
        free_system(&study->systems[i]);
    }
    for (size_t i = 0; i < study->work_count; i++) {
        free_work(&study->works[i]);
    }
    for (size_t i = 0; i < study->trace_count; i++) {
        iw_trace_free(study->traces[i].trace);
        free(study->traces[i].path);
    }
    free(study->traces);
    free(study->systems);
    free(study->works);
    free(study->cells);
    free(study->path);
    free(study->name);
    free(study->title);
    free(study->text);
}

void iw_study_free(iw_study *study)
{
    if (study != NULL) {
        release(study);
        free(study);
    }
}

/* ---- the keys of the whole ---- */

static iw_status read_threshold(const struct iwi_yaml_value *value, void *at)
{
    IW_TRY(iwi_yaml_share(value, at));
    return *(double *)at > 0 ? IW_OK
                             : iwi_yaml_fail(value->yaml, value->line, IW_ERR_RANGE,
                                             "key 'threshold' must be above zero: 100%% means twice as long");
}

static const char *const formats[] = {"idlewave.study/1", NULL};

static const struct iwi_yaml_row rows[] = {
    {.key = "format", .read = iwi_yaml_format, .names = formats},
    IWI_STUDY_GRID_ROWS(offsetof(struct iwi_study_reader, grid)),
    {.key = "systems"},
    {.key = "patterns"},
    {.key = "schedules"},
    IWI_YAML_ROW(struct iwi_study_reader, "seed", seed, iwi_yaml_count),
    IWI_YAML_ROW(struct iwi_study_reader, "threshold", study.threshold, read_threshold),
    IWI_STUDY_NAME_ROW(struct iwi_study_reader, study.name),
    IWI_YAML_ROW(struct iwi_study_reader, "title", study.title, iwi_yaml_line_copy,
                 .most = IWI_STUDY_TITLE_BYTES),
};

static iw_status set_default(struct iwi_study_reader *reader, enum iwi_study_axis axis, double value)
{
    struct iwi_axis_values *values = &reader->grid.axes[axis];

    return values->line != 0 ? IW_OK : iwi_axis_values_append(reader->yaml.log, values, value);
}

static iw_status set_defaults(struct iwi_study_reader *reader)
{
    iw_study *study = &reader->study;
    char name[IWI_STUDY_NAME_BYTES + 1];

    iwi_name_of_path(reader->yaml.file, name, sizeof name);
    if (study->name == NULL) {
        IW_TRY(iwi_copy_text(reader->yaml.log, name, &study->name));
    }
    if (study->title == NULL) {
        IW_TRY(iwi_copy_text(reader->yaml.log, "", &study->title));
    }
    IW_TRY(set_default(reader, IWI_AXIS_BYTES, DEFAULT_BYTES));
    IW_TRY(set_default(reader, IWI_AXIS_SYNC, IW_SYNC_NONE));
    return set_default(reader, IWI_AXIS_SCALE, 1);
}

/* ---- systems and works ---- */

/* Of a list that may be missing. */
static iw_status count_parts(const struct iwi_yaml_value *list, size_t *count_p)
{
    *count_p = list != NULL ? iwi_yaml_items(list) : 0;
    return list == NULL || (list->node->type == YAML_SEQUENCE_NODE && *count_p > 0 && *count_p <= MOST_PARTS)
               ? IW_OK
               : iwi_yaml_fail(list->yaml, list->line, IW_ERR_FORMAT,
                               "key '%s' needs a list of 1 to %d items, each after a '-'", list->row->key,
                               MOST_PARTS);
}

static iw_status make_room(struct iwi_study_reader *reader, size_t system_count, size_t work_count)
{
    iw_study *study = &reader->study;

    study->systems = iwi_new_array(reader->yaml.log, system_count, sizeof *study->systems);
    study->works = iwi_new_array(reader->yaml.log, work_count, sizeof *study->works);
    reader->systems = iwi_new_array(reader->yaml.log, system_count, sizeof *reader->systems);
    reader->works = iwi_new_array(reader->yaml.log, work_count, sizeof *reader->works);
    return study->systems != NULL && study->works != NULL && reader->systems != NULL && reader->works != NULL
               ? IW_OK
               : IW_ERR_NOMEM;
}

static iw_status read_parts(const struct iwi_yaml_map *map, struct iwi_study_reader *reader)
{
    static const struct {
        const char *key;
        iw_status (*read)(struct iwi_study_reader *reader, const yaml_node_t *node);
    } parts[] = {{"systems", iwi_study_read_system},
                 {"patterns", iwi_study_read_pattern},
                 {"schedules", iwi_study_read_schedule}};
    const struct iwi_yaml_value *lists[3];
    size_t counts[3];

    for (size_t i = 0; i < 3; i++) {
        lists[i] = iwi_yaml_get(map, parts[i].key);
        IW_TRY(count_parts(lists[i], &counts[i]));
    }
    if (lists[0] == NULL || (lists[1] == NULL && lists[2] == NULL)) {
        return iwi_yaml_fail(map->yaml, map->line, IW_ERR_FORMAT,
                             "key '%s' is missing; a study needs systems, and patterns or schedules",
                             lists[0] == NULL ? "systems" : "patterns");
    }
    IW_TRY(make_room(reader, counts[0], counts[1] + counts[2]));
    for (size_t i = 0; i < 3; i++) {
        for (size_t k = 0; k < counts[i]; k++) {
            IW_TRY(parts[i].read(reader, iwi_yaml_nth(lists[i], k).node));
        }
    }
    return IW_OK;
}

/* ---- the whole ---- */

static iw_status read_document(struct iwi_study_reader *reader, bool *has_name_p)
{
    struct iwi_yaml_map map;

    IW_TRY(iwi_yaml_find(&reader->yaml, iwi_yaml_root(&reader->yaml), IWI_YAML_ROWS(rows), &map));
    *has_name_p = iwi_yaml_get(&map, "name") != NULL;
    IW_TRY(iwi_yaml_read(&map, reader));
    IW_TRY(set_defaults(reader));
    IW_TRY(read_parts(&map, reader));
    return iwi_study_make_cells(reader);
}

/* "dir/my.yaml" gives "dir/", "my.yaml" gives "". */
static iw_status find_folder(struct iwi_study_reader *reader, const char *path)
{
    const char *slash = strrchr(path, '/');

    IW_TRY(iwi_copy_text(reader->yaml.log, path, &reader->folder));
    reader->folder[slash != NULL ? slash - path + 1 : 0] = '\0';
    return IW_OK;
}

static iw_status keep_text(struct iwi_study_reader *reader, const char *path, const char *data, size_t size)
{
    iw_study *study = &reader->study;

    IW_TRY(iwi_copy_text(reader->yaml.log, path, &study->path));
    study->text = iwi_new_array(reader->yaml.log, size + 1, 1);
    if (study->text == NULL) {
        return IW_ERR_NOMEM;
    }
    memcpy(study->text, data, size);
    return find_folder(reader, path);
}

static void reader_release(struct iwi_study_reader *reader)
{
    iwi_study_grid_release(&reader->grid);
    for (size_t i = 0; i < reader->study.system_count; i++) {
        iwi_study_grid_release(&reader->systems[i].grid);
    }
    for (size_t i = 0; i < reader->study.work_count; i++) {
        iwi_study_grid_release(&reader->works[i].grid);
        free(reader->works[i].gpus);
    }
    free(reader->systems);
    free(reader->works);
    free(reader->folder);
}

iw_status iwi_study_read_memory(const iw_log *log, const char *path, const char *data, size_t size,
                                bool wants_files, bool *has_name_p, iw_study **study_p)
{
    struct iwi_study_reader reader = {
        .wants_files = wants_files, .seed = 1, .grid.trials = DEFAULT_TRIALS, .study.threshold = 1};
    iw_study *study = NULL;
    iw_status status;

    IW_TRY(iwi_yaml_open(log, path, data, size, "systems: ...", &reader.yaml));
    reader.yaml.reader = &reader;
    status = keep_text(&reader, path, data, size);
    if (status == IW_OK) {
        status = read_document(&reader, has_name_p);
    }
    if (status == IW_OK) {
        study = iwi_new_array(log, 1, sizeof *study);
        status = study != NULL ? IW_OK : IW_ERR_NOMEM;
    }
    iwi_yaml_close(&reader.yaml);
    reader_release(&reader);
    if (status != IW_OK) {
        release(&reader.study);
        return status;
    }
    *study = reader.study;
    *study_p = study;
    return IW_OK;
}

iw_status iw_study_load(const iw_log *log, const char *path, iw_study **study_p)
{
    struct iwi_input input;
    bool has_name;
    iw_status status;

    IW_TRY(iwi_input_open(log, path, &input));
    status = iwi_study_read_memory(log, path, input.data, input.size, true, &has_name, study_p);
    iwi_input_close(&input);
    return status;
}
