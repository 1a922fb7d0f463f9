/* What the parts of a study's file have in common: names, texts and paths, and lists that span its grid.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/study/files/study_yaml.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/order.h"

enum { MOST_VALUES = 10000 };

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
    return values->count < MOST_VALUES
               ? iwi_axis_values_append(item->yaml->log, values, value)
               : iwi_yaml_refuse(item, IW_ERR_RANGE, "more than %d values; use larger steps", MOST_VALUES);
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
        return iwi_yaml_refuse(
            item, IW_ERR_RANGE,
            "'%.40s' is not a factor: write 10 for a network ten times faster, 0.1 for one ten times slower",
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
                                   "key '%s' has a value twice; remove one", value->row->key);
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

/* ---- names and lists of any work ---- */

iw_status iwi_study_name_work(struct iwi_study_reader *reader, const char *otherwise,
                              struct iwi_study_item *item)
{
    const iw_study *study = &reader->study;
    iw_study_work *work = &item->work;

    if (work->name == NULL && strlen(otherwise) > IWI_STUDY_NAME_BYTES) {
        return iwi_yaml_fail(&reader->yaml, item->entry.line, IW_ERR_RANGE,
                             "'%.40s...' is too long for a name: write {name: NAME, ...}", otherwise);
    }
    if (work->name == NULL) {
        IW_TRY(iwi_copy_text(reader->yaml.log, otherwise, &work->name));
    }
    for (size_t i = 0; i < study->work_count; i++) {
        if (strcmp(study->works[i].name, work->name) == 0) {
            return iwi_yaml_fail(&reader->yaml, item->entry.line, IW_ERR_FORMAT,
                                 "'%s' is already in line %zu; give it another name: {name: NAME, ...}",
                                 work->name, reader->works[i].line);
        }
    }
    return IW_OK;
}

iw_status iwi_study_refuse_list(const struct iwi_yaml_map *map, const char *key, const char *why)
{
    const struct iwi_yaml_value *list = iwi_yaml_get(map, key);

    return list == NULL ? IW_OK
                        : iwi_yaml_fail(map->yaml, list->key_line, IW_ERR_FORMAT,
                                        "%s of its own; remove '%s'", why, key);
}
