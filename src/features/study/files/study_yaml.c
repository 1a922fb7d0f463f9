/* Reads a study: the keys of the whole, lists that span its grid, then its parts, then its cells.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/study/files/study_yaml.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <idlewave/training.h>

#include "core/base/order.h"
#include "core/net/net.h"
#include "kit/files/io/input.h"

enum { VALUES_MAX = 10000, PARTS_MAX = 1000, DEFAULT_TRIALS = 100, DEFAULT_BYTES = 1 };

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

/* ---- texts and paths ---- */

iw_status iwi_copy_text(const iw_log *log, const char *text, char **copy_p)
{
    char *copy = strdup(text);

    if (copy == NULL) {
        return iwi_fail(log, IW_ERR_NOMEM, "out of memory for a text of %zu bytes", strlen(text));
    }
    *copy_p = copy;
    return IW_OK;
}

iw_status iwi_study_path(const struct iwi_study_reader *reader, const char *path, char **path_p)
{
    const char *folder = path[0] == '/' ? "" : reader->folder;
    const size_t size = strlen(folder) + strlen(path) + 1;
    char *whole = iwi_new_array(reader->yaml.log, size, 1);

    if (whole == NULL) {
        return IW_ERR_NOMEM;
    }
    snprintf(whole, size, "%s%s", folder, path);
    *path_p = whole;
    return IW_OK;
}

iw_status iwi_study_collected_path(const struct iwi_study_reader *reader, iw_collected_kind kind,
                                   const char *text, char **path_p)
{
    char *found = NULL;

    IW_TRY(iwi_study_path(reader, text, path_p));
    if (!reader->wants_files || access(*path_p, F_OK) == 0) {
        return IW_OK;
    }
    IW_TRY(iw_collection_find(reader->yaml.log, kind, text, &found));
    if (found != NULL) {
        free(*path_p);
        *path_p = found;
    }
    return IW_OK;
}

/* ---- lists ---- */

static const char *const sync_names[] = {
    [IW_SYNC_NONE] = "none", [IW_SYNC_START] = "start", [IW_SYNC_PHASE] = "phase", NULL};

const char *iwi_study_sync_name(size_t sync)
{
    return sync < sizeof sync_names / sizeof sync_names[0] ? sync_names[sync] : NULL;
}

void iwi_study_grid_release(struct iwi_study_grid *grid)
{
    for (size_t axis = 0; axis < IWI_AXES; axis++) {
        free(grid->axes[axis].values);
    }
}

iw_status iwi_axis_values_append(const iw_log *log, struct iwi_axis_values *values, double value)
{
    IW_TRY(iwi_grow(log, (void **)&values->values, &values->capacity, values->count + 1, sizeof value));
    values->values[values->count++] = value;
    return IW_OK;
}

static iw_status append(const struct iwi_yaml_value *item, struct iwi_axis_values *values, double value)
{
    return values->count < VALUES_MAX
               ? iwi_axis_values_append(item->yaml->log, values, value)
               : iwi_yaml_refuse(item, IW_ERR_RANGE, "there are more than %d values; take larger steps",
                                 VALUES_MAX);
}

/* "64KiB", "2^1..2^20", "16..256 step x2" */
static iw_status append_counts(const struct iwi_yaml_value *item, struct iwi_axis_values *values)
{
    const char *text;
    uint64_t *counts;
    size_t count;
    iw_status status = IW_OK;

    IW_TRY(iwi_yaml_string(item, &text));
    IW_TRY(
        iw_parse_counts(iwi_yaml_value_log(item), text, item->row->least, item->row->most, &counts, &count));
    for (size_t i = 0; i < count && status == IW_OK; i++) {
        status = append(item, values, (double)counts[i]);
    }
    free(counts);
    return status;
}

static iw_status append_sync(const struct iwi_yaml_value *item, struct iwi_axis_values *values)
{
    size_t sync;

    IW_TRY(iwi_yaml_index(item, sync_names, &sync));
    return append(item, values, (double)sync);
}

static iw_status append_scale(const struct iwi_yaml_value *item, struct iwi_axis_values *values)
{
    double factor = 0;
    const char *text;

    IW_TRY(iwi_yaml_string(item, &text));
    if (strchr(text, '%') != NULL || iw_parse_share(NULL, text, &factor) != IW_OK || factor < 1e-6) {
        return iwi_yaml_refuse(item, IW_ERR_RANGE,
                               "'%.40s' is no factor: write 10 for a network ten times faster, 0.1 for one "
                               "ten times slower",
                               text);
    }
    return append(item, values, factor);
}

static iw_status check_distinct(const struct iwi_yaml_value *value, const struct iwi_axis_values *values)
{
    double *sorted = iwi_new_array(value->yaml->log, values->count, sizeof *sorted);
    iw_status status = IW_OK;

    if (sorted == NULL) {
        return IW_ERR_NOMEM;
    }
    memcpy(sorted, values->values, values->count * sizeof *sorted);
    iwi_sort_doubles(sorted, values->count);
    for (size_t i = 1; i < values->count && status == IW_OK; i++) {
        if (sorted[i] == sorted[i - 1]) {
            status = iwi_yaml_fail(value->yaml, value->line, IW_ERR_FORMAT,
                                   "key '%s' has a value twice; each may be there once", value->row->key);
        }
    }
    free(sorted);
    return status;
}

static iw_status read_list(const struct iwi_yaml_value *value, struct iwi_axis_values *values,
                           iw_status (*append_item)(const struct iwi_yaml_value *, struct iwi_axis_values *))
{
    const size_t count = iwi_yaml_items(value);

    values->line = value->line;
    if (count == 0) {
        return iwi_yaml_refuse(value, IW_ERR_FORMAT, "the list is empty");
    }
    for (size_t i = 0; i < count; i++) {
        const struct iwi_yaml_value item = iwi_yaml_nth(value, i);

        IW_TRY(append_item(&item, values));
    }
    return check_distinct(value, values);
}

iw_status iwi_study_counts(const struct iwi_yaml_value *value, void *at)
{
    return read_list(value, at, append_counts);
}

iw_status iwi_study_syncs(const struct iwi_yaml_value *value, void *at)
{
    return read_list(value, at, append_sync);
}

iw_status iwi_study_scales(const struct iwi_yaml_value *value, void *at)
{
    return read_list(value, at, append_scale);
}

/* ---- the keys of the whole ---- */

static iw_status read_threshold(const struct iwi_yaml_value *value, void *at)
{
    IW_TRY(iwi_yaml_share(value, at));
    return *(double *)at > 0
               ? IW_OK
               : iwi_yaml_fail(value->yaml, value->line, IW_ERR_RANGE,
                               "key 'threshold' must be above zero: 100%% is a run twice as long");
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
    return list == NULL || (list->node->type == YAML_SEQUENCE_NODE && *count_p > 0 && *count_p <= PARTS_MAX)
               ? IW_OK
               : iwi_yaml_fail(list->yaml, list->line, IW_ERR_FORMAT,
                               "key '%s' needs a list of 1 to %d items, each behind a '-'", list->row->key,
                               PARTS_MAX);
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
                             "key '%s' is missing; needed are systems, and patterns or schedules",
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
