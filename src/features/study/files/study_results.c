/* Reads the folder of a study: what was asked, and as much of the answers as there is.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Only the folder is read, so that it can be carried elsewhere: none of the files that the study names. Cells
 * whose ids depend on such files are found by their names and numbers instead.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "core/base/order.h"
#include "features/study/files/study_line.h"
#include "features/study/files/study_yaml.h"
#include "kit/files/io/input.h"
#include "kit/files/io/paths.h"

/* A finished cell and what it is looked up by. */
struct candidate {
    iw_cell_result *cell;
    size_t index; /* in the order of the files */
};

struct folder_reader {
    const iw_log *log;
    const char *dir;
    iw_study *study;
    iw_study_results *results;
    iw_cell_result *found;
    size_t found_count;
    struct candidate *by_id, *by_place;
};

void iw_study_results_free(iw_study_results *results)
{
    if (results == NULL) {
        return;
    }
    iwi_cell_results_free(results->cells, results->count);
    for (size_t i = 0; i < results->attribute_count; i++) {
        free(results->attributes[i].name);
        free(results->attributes[i].value);
    }
    free(results->attributes);
    free(results->name);
    free(results->title);
    free(results->text);
    free(results);
}

/* ---- origin.json ---- */

/* Texts as they are, anything else as JSON. */
static char *text_of_json(const json_t *value)
{
    return json_is_string(value) ? strdup(json_string_value(value))
                                 : json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
}

static iw_status take_attributes(struct folder_reader *r, json_t *origin)
{
    iw_study_results *results = r->results;
    const char *name;
    json_t *value;

    results->attributes = iwi_new_array(r->log, json_object_size(origin), sizeof *results->attributes);
    if (results->attributes == NULL) {
        return IW_ERR_NOMEM;
    }
    json_object_foreach(origin, name, value)
    {
        struct iw_study_attribute *attribute = &results->attributes[results->attribute_count++];

        attribute->name = strdup(name);
        attribute->value = text_of_json(value);
        if (attribute->name == NULL || attribute->value == NULL) {
            return iwi_fail(r->log, IW_ERR_NOMEM, "out of memory for the origin of a study");
        }
    }
    return IW_OK;
}

/* A study is worth reading without its origin. */
static iw_status read_origin(struct folder_reader *r)
{
    char *path = iwi_path_join(r->log, r->dir, "origin.json");
    json_error_t error;
    iw_status status;
    json_t *origin;

    if (path == NULL || access(path, F_OK) != 0) {
        status = path != NULL ? IW_OK : IW_ERR_NOMEM;
        free(path);
        return status;
    }
    origin = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
    if (!json_is_object(origin)) {
        iwi_warn(r->log, "'%s' is left out: %s", path, origin == NULL ? error.text : "it is not an object");
        status = IW_OK;
    } else {
        status = take_attributes(r, origin);
    }
    json_decref(origin);
    free(path);
    return status;
}

/* ---- study.yaml ---- */

static const char *attribute_of(const iw_study_results *results, const char *name)
{
    for (size_t i = 0; i < results->attribute_count; i++) {
        if (strcmp(results->attributes[i].name, name) == 0) {
            return results->attributes[i].value;
        }
    }
    return NULL;
}

/* A study that does not say its name has that of its file, which is not 'study.yaml' but the one that was
 * copied, or else that of the folder. */
static iw_status find_name(struct folder_reader *r, bool has_name)
{
    const char *file = attribute_of(r->results, "study");
    char name[IWI_STUDY_NAME_BYTES + 1], *dir;
    size_t length = strlen(r->dir);

    if (has_name) {
        return iwi_copy_text(r->log, r->study->name, &r->results->name);
    }
    if (file != NULL && file[0] != '\0') {
        iwi_name_of_path(file, name, sizeof name);
        return iwi_copy_text(r->log, name, &r->results->name);
    }
    IW_TRY(iwi_copy_text(r->log, r->dir, &dir));
    while (length > 1 && dir[length - 1] == '/') {
        dir[--length] = '\0';
    }
    iwi_name_of_path(dir, name, sizeof name);
    free(dir);
    return iwi_copy_text(r->log, name[0] != '\0' && strcmp(name, ".") != 0 ? name : r->study->name,
                         &r->results->name);
}

static iw_status load_study(struct folder_reader *r, const char *path, bool *has_name_p)
{
    struct iwi_input input;
    iw_status status;

    if (access(path, F_OK) != 0) {
        return iwi_fail(r->log, IW_ERR_IO,
                        "'%s' is not the folder of a study: there is no study.yaml in it; 'idlewave study "
                        "FILE.yaml -o DIR' fills such a folder",
                        r->dir);
    }
    IW_TRY(iwi_input_open(r->log, path, &input));
    status = iwi_study_read_memory(r->log, path, input.data, input.size, false, has_name_p, &r->study);
    iwi_input_close(&input);
    return status;
}

static iw_status read_study(struct folder_reader *r)
{
    iw_study_results *results = r->results;
    bool has_name = false;
    char *path = iwi_path_join(r->log, r->dir, "study.yaml");
    const iw_status status = path != NULL ? load_study(r, path, &has_name) : IW_ERR_NOMEM;

    free(path);
    IW_TRY(status);
    IW_TRY(read_origin(r));
    IW_TRY(find_name(r, has_name));
    results->title = r->study->title;
    results->text = r->study->text;
    r->study->title = r->study->text = NULL;
    results->threshold = r->study->threshold;
    results->expected = r->study->cell_count;
    return IW_OK;
}

/* ---- cells ---- */

IWI_COMPARE(compare_ids, struct candidate, IWI_TEXT(cell->id))

static int compare_counts(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* Everything but the ranks, which are not known of a schedule that is not read. */
static int compare_series(const iw_cell_result *a, const iw_cell_result *b)
{
    const uint64_t x[] = {a->bytes, (uint64_t)a->sync, a->trials, a->seed};
    const uint64_t y[] = {b->bytes, (uint64_t)b->sync, b->trials, b->seed};
    int order = strcmp(a->system, b->system);

    order = order != 0 ? order : strcmp(a->work, b->work);
    order = order != 0 ? order : iwi_order_texts(a->settings, b->settings);
    order = order != 0 ? order : (a->net_scale > b->net_scale) - (a->net_scale < b->net_scale);
    for (size_t i = 0; i < sizeof x / sizeof x[0] && order == 0; i++) {
        order = compare_counts(x[i], y[i]);
    }
    return order;
}

IWI_COMPARE(compare_places, struct candidate, compare_series(left->cell, right->cell),
            IWI_RISING(cell->ranks), IWI_RISING(index))

static iw_status sort_found(struct folder_reader *r)
{
    r->by_id = iwi_new_array(r->log, r->found_count, sizeof *r->by_id);
    r->by_place = iwi_new_array(r->log, r->found_count, sizeof *r->by_place);
    if (r->by_id == NULL || r->by_place == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < r->found_count; i++) {
        r->by_id[i] = r->by_place[i] = (struct candidate){.cell = &r->found[i], .index = i};
    }
    iwi_sort(r->by_id, r->found_count, compare_ids);
    iwi_sort(r->by_place, r->found_count, compare_places);
    return IW_OK;
}

static const struct candidate *find_id(const struct folder_reader *r, const iw_cell *cell)
{
    iw_cell_result wanted = {.system = NULL};
    const struct candidate key = {.cell = &wanted};

    memcpy(wanted.id, cell->id, sizeof wanted.id);
    return iwi_find(&key, r->by_id, r->found_count, compare_ids);
}

/* The last line of that place: the files that the study names may have changed, and it was run again. Whether
 * laws stand in for recordings is no matter of files. */
static const struct candidate *find_place(const struct folder_reader *r, const iw_cell *cell)
{
    const iw_study_work *work = &r->study->works[cell->work];
    char settings[IWI_SETTINGS_TEXT_SIZE];
    iw_cell_result wanted = {.system = r->study->systems[cell->system].name,
                             .work = work->name,
                             .settings = work->setting_count > 0 ? settings : NULL,
                             .bytes = cell->bytes,
                             .sync = cell->sync,
                             .net_scale = cell->net_scale,
                             .trials = cell->trials,
                             .seed = cell->seed,
                             .ranks = cell->ranks};
    const bool is_extrapolated = r->study->systems[cell->system].is_extrapolated;
    const struct candidate key = {.cell = &wanted}, *best = NULL;
    size_t at;

    iwi_study_settings_text(work, cell->settings, settings);
    IWI_FIRST_NOT(at, 0, r->found_count, compare_places(&r->by_place[at], &key) < 0);
    for (; at < r->found_count && compare_series(r->by_place[at].cell, &wanted) == 0; at++) {
        const struct candidate *candidate = &r->by_place[at];

        if (cell->ranks != 0 && candidate->cell->ranks != cell->ranks) {
            break;
        }
        if ((candidate->cell->recording.laws != NULL) == is_extrapolated) {
            best = best == NULL || candidate->index > best->index ? candidate : best;
        }
    }
    return best;
}

/* Moves a finished cell into the results. Names may have changed since it was run; the study's count. */
static iw_status take_cell(struct folder_reader *r, const iw_cell *cell, iw_cell_result *found)
{
    iw_cell_result *result = &r->results->cells[r->results->count];
    char *system = NULL, *work = NULL;
    iw_status status;

    IW_TRY(iwi_copy_text(r->log, r->study->systems[cell->system].name, &system));
    status = iwi_copy_text(r->log, r->study->works[cell->work].name, &work);
    if (status != IW_OK) {
        free(system);
        return status;
    }
    *result = *found;
    result->system = system;
    result->work = work;
    r->results->count++;
    found->net = found->noise = found->settings = found->caveats = found->recording.laws = NULL;
    iwi_cell_result_release(found);
    return IW_OK;
}

static iw_status pick_cells(struct folder_reader *r, const struct candidate **picked)
{
    iw_study_results *results = r->results;
    size_t count = 0;

    for (size_t i = 0; i < r->study->cell_count; i++) {
        const iw_cell *cell = &r->study->cells[i];

        picked[i] = cell->id[0] != '\0' ? find_id(r, cell) : find_place(r, cell);
        count += picked[i] != NULL;
    }
    results->cells = iwi_new_array(r->log, count, sizeof *results->cells);
    if (results->cells == NULL) {
        return IW_ERR_NOMEM;
    }
    /* Moved only now, since places are compared by names. One that was renamed since may have been found by
     * its id and by another's place; the first has it. */
    for (size_t i = 0; i < r->study->cell_count; i++) {
        if (picked[i] != NULL && picked[i]->cell->system != NULL) {
            IW_TRY(take_cell(r, &r->study->cells[i], picked[i]->cell));
        }
    }
    return IW_OK;
}

static iw_status read_cells(struct folder_reader *r)
{
    const struct candidate **picked;
    iw_status status;

    IW_TRY(iwi_cell_results_load(r->log, r->dir, &r->found, &r->found_count));
    IW_TRY(sort_found(r));
    picked = iwi_new_array(r->log, r->study->cell_count, sizeof(struct candidate *));
    if (picked == NULL) {
        return IW_ERR_NOMEM;
    }
    status = pick_cells(r, picked);
    free(picked);
    if (status == IW_OK && r->results->count < r->found_count) {
        iwi_warn(r->log, "'%s': %zu results are left out, since its study.yaml does not list them (any more)",
                 r->dir, r->found_count - r->results->count);
    }
    return status;
}

/* ---- the whole ---- */

iw_status iw_study_results_load(const iw_log *log, const char *dir, iw_study_results **results_p)
{
    struct folder_reader reader = {.log = log, .dir = dir};
    iw_status status;

    reader.results = iwi_new_array(log, 1, sizeof *reader.results);
    status = reader.results != NULL ? read_study(&reader) : IW_ERR_NOMEM;
    if (status == IW_OK) {
        status = read_cells(&reader);
    }
    iwi_cell_results_free(reader.found, reader.found_count);
    free(reader.by_id);
    free(reader.by_place);
    iw_study_free(reader.study);
    if (status != IW_OK) {
        iw_study_results_free(reader.results);
        return status;
    }
    *results_p = reader.results;
    return IW_OK;
}
