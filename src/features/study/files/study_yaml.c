/* Reads a study: the keys of the whole, then its parts, then its cells.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/study/files/study_yaml.h"

#include <stdlib.h>
#include <string.h>

#include <idlewave/training.h>

#include "core/net/net.h"
#include "features/study/files/study_settings.h"
#include "kit/files/io/input.h"

#define FORMAT "idlewave.study/1"

enum { MAX_PARTS = 1000, DEFAULT_TRIALS = 100, DEFAULT_BYTES = 1 };

enum {
    KEY_SYSTEMS = IWI_GRID_KEYS,
    KEY_PATTERNS,
    KEY_SCHEDULES,
    KEY_SEED,
    KEY_THRESHOLD,
    KEY_NAME,
    KEY_TITLE,
    KEY_FORMAT,
    KEYS
};

static const struct iwi_yaml_key keys[KEYS] = {
    IWI_GRID_KEY_ROWS,
    [KEY_SYSTEMS] = {"systems", NULL},
    [KEY_PATTERNS] = {"patterns", NULL},
    [KEY_SCHEDULES] = {"schedules", NULL},
    [KEY_SEED] = {"seed", NULL},
    [KEY_THRESHOLD] = {"threshold", NULL},
    [KEY_NAME] = {"name", NULL},
    [KEY_TITLE] = {"title", NULL},
    [KEY_FORMAT] = {"format", NULL},
};

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

void iw_study_free(iw_study *study)
{
    if (study == NULL) {
        return;
    }
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
    free(study);
}

/* ---- single keys ---- */

static iw_status check_format(const struct iwi_study_reader *reader, const yaml_node_t *node)
{
    const char *text;

    IW_TRY(iwi_yaml_text(&reader->yaml, node, "format", &text));
    if (strcmp(text, FORMAT) != 0) {
        return iwi_yaml_fail(&reader->yaml, iwi_yaml_line(node), IW_ERR_FORMAT,
                             "format '%.60s' is not '" FORMAT "'", text);
    }
    return IW_OK;
}

static iw_status read_threshold(struct iwi_study_reader *reader, const yaml_node_t *node)
{
    IW_TRY(iwi_study_share(reader, node, "threshold", &reader->study->threshold));
    if (reader->study->threshold <= 0) {
        return iwi_yaml_fail(&reader->yaml, iwi_yaml_line(node), IW_ERR_RANGE,
                             "key 'threshold' must be above zero: 100%% is a run twice as long");
    }
    return IW_OK;
}

static iw_status read_names(struct iwi_study_reader *reader, const struct iwi_yaml_entry *entries)
{
    iw_study *study = reader->study;
    char name[IWI_STUDY_NAME_BYTES + 1];

    iwi_name_of_path(reader->yaml.file, name, sizeof name);
    IW_TRY(iwi_copy_text(reader->yaml.log, name, &study->name));
    IW_TRY(iwi_copy_text(reader->yaml.log, "", &study->title));
    reader->has_name = entries[KEY_NAME].value != NULL;
    if (reader->has_name) {
        IW_TRY(iwi_study_line(reader, entries[KEY_NAME].value, "name", IWI_STUDY_NAME_BYTES, &study->name));
    }
    if (entries[KEY_TITLE].value != NULL) {
        IW_TRY(
            iwi_study_line(reader, entries[KEY_TITLE].value, "title", IWI_STUDY_TITLE_BYTES, &study->title));
    }
    return IW_OK;
}

static iw_status read_numbers(struct iwi_study_reader *reader, const struct iwi_yaml_entry *entries)
{
    reader->seed = 1;
    reader->study->threshold = 1;
    if (entries[KEY_SEED].value != NULL) {
        IW_TRY(iwi_study_count(reader, entries[KEY_SEED].value, "seed", 0, INT64_MAX, &reader->seed));
    }
    if (entries[KEY_THRESHOLD].value != NULL) {
        IW_TRY(read_threshold(reader, entries[KEY_THRESHOLD].value));
    }
    return IW_OK;
}

static iw_status set_default(struct iwi_study_reader *reader, enum iwi_study_axis axis, double value)
{
    struct iwi_axis_values *values = &reader->grid.axes[axis];

    return values->line != 0 ? IW_OK : iwi_axis_values_append(reader->yaml.log, values, value);
}

static iw_status read_lists(struct iwi_study_reader *reader, const struct iwi_yaml_entry *entries)
{
    reader->grid.trials = DEFAULT_TRIALS;
    IW_TRY(iwi_study_grid_read(reader, entries, &reader->grid));
    IW_TRY(set_default(reader, IWI_AXIS_BYTES, DEFAULT_BYTES));
    IW_TRY(set_default(reader, IWI_AXIS_SYNC, IW_SYNC_NONE));
    return set_default(reader, IWI_AXIS_SCALE, 1);
}

/* ---- lists of systems and works ---- */

typedef iw_status (*read_part_fn)(struct iwi_study_reader *reader, const yaml_node_t *node);

static iw_status check_parts(const struct iwi_study_reader *reader, const yaml_node_t *node, const char *key)
{
    const size_t count = iwi_yaml_item_count(node);

    if (node->type != YAML_SEQUENCE_NODE || count == 0 || count > MAX_PARTS) {
        return iwi_yaml_fail(&reader->yaml, iwi_yaml_line(node), IW_ERR_FORMAT,
                             "key '%s' needs a list of 1 to %d items, each behind a '-'", key, MAX_PARTS);
    }
    return IW_OK;
}

static iw_status read_parts(struct iwi_study_reader *reader, const yaml_node_t *node, read_part_fn read)
{
    for (size_t i = 0; node != NULL && i < iwi_yaml_item_count(node); i++) {
        IW_TRY(read(reader, iwi_yaml_item(&reader->yaml, node, i)));
    }
    return IW_OK;
}

static iw_status make_room(struct iwi_study_reader *reader, size_t system_count, size_t work_count)
{
    iw_study *study = reader->study;

    study->systems = iwi_new_array(reader->yaml.log, system_count, sizeof *study->systems);
    study->works = iwi_new_array(reader->yaml.log, work_count, sizeof *study->works);
    reader->systems = iwi_new_array(reader->yaml.log, system_count, sizeof *reader->systems);
    reader->works = iwi_new_array(reader->yaml.log, work_count, sizeof *reader->works);
    return study->systems != NULL && study->works != NULL && reader->systems != NULL && reader->works != NULL
               ? IW_OK
               : IW_ERR_NOMEM;
}

static iw_status read_all_parts(struct iwi_study_reader *reader, const struct iwi_yaml_entry *entries)
{
    const yaml_node_t *systems = entries[KEY_SYSTEMS].value;
    const yaml_node_t *patterns = entries[KEY_PATTERNS].value, *schedules = entries[KEY_SCHEDULES].value;
    const size_t line = iwi_yaml_line(iwi_yaml_root(&reader->yaml));

    if (systems == NULL || (patterns == NULL && schedules == NULL)) {
        return iwi_yaml_fail(&reader->yaml, line, IW_ERR_FORMAT,
                             "key '%s' is missing; needed are systems, and patterns or schedules",
                             systems == NULL ? "systems" : "patterns");
    }
    for (size_t key = KEY_SYSTEMS; key <= KEY_SCHEDULES; key++) {
        if (entries[key].value != NULL) {
            IW_TRY(check_parts(reader, entries[key].value, keys[key].name));
        }
    }
    IW_TRY(make_room(reader, iwi_yaml_item_count(systems),
                     (patterns != NULL ? iwi_yaml_item_count(patterns) : 0) +
                         (schedules != NULL ? iwi_yaml_item_count(schedules) : 0)));
    IW_TRY(read_parts(reader, systems, iwi_study_read_system));
    IW_TRY(read_parts(reader, patterns, iwi_study_read_pattern));
    return read_parts(reader, schedules, iwi_study_read_schedule);
}

/* ---- the whole ---- */

static iw_status read_document(struct iwi_study_reader *reader)
{
    struct iwi_yaml_entry entries[KEYS];

    IW_TRY(iwi_yaml_mapping(&reader->yaml, iwi_yaml_root(&reader->yaml), keys, KEYS, entries));
    if (entries[KEY_FORMAT].value != NULL) {
        IW_TRY(check_format(reader, entries[KEY_FORMAT].value));
    }
    IW_TRY(read_names(reader, entries));
    IW_TRY(read_numbers(reader, entries));
    IW_TRY(read_lists(reader, entries));
    IW_TRY(read_all_parts(reader, entries));
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
    iw_study *study = reader->study;

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
    for (size_t i = 0; reader->systems != NULL && i < reader->study->system_count; i++) {
        iwi_study_grid_release(&reader->systems[i].grid);
    }
    for (size_t i = 0; reader->works != NULL && i < reader->study->work_count; i++) {
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
    struct iwi_study_reader reader = {.wants_files = wants_files};
    iw_status status;

    IW_TRY(iwi_yaml_open(log, path, data, size, "systems: ...", &reader.yaml));
    reader.study = iwi_new_array(log, 1, sizeof *reader.study);
    status = reader.study != NULL ? keep_text(&reader, path, data, size) : IW_ERR_NOMEM;
    if (status == IW_OK) {
        status = read_document(&reader);
    }
    iwi_yaml_close(&reader.yaml);
    reader_release(&reader);
    if (status != IW_OK) {
        iw_study_free(reader.study);
        return status;
    }
    *has_name_p = reader.has_name;
    *study_p = reader.study;
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
