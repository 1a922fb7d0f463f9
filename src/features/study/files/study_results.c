/* The folder of a study as results: its lines, its study, what is known of the run.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jansson.h>

#include "core/base/base.h"
#include "core/base/lookup.h"
#include "core/base/order.h"
#include "features/study/files/study_line.h"
#include "features/study/files/study_yaml.h"
#include "kit/files/io/input.h"
#include "kit/files/io/paths.h"

/* ======== lines ======== */

/* Cells so far, and a table that finds them by their id. */
struct collection {
    const iw_log *log;
    iw_cell_result *cells;
    size_t count, capacity;
    struct iwi_lookup by_id;
};

void iwi_results_file_name(uint32_t shard, uint32_t shards, uint32_t writer, char buf[64])
{
    char of_shard[32] = "", of_writer[16] = "";

    if (shards > 1) {
        snprintf(of_shard, sizeof of_shard, "-%" PRIu32 "-of-%" PRIu32, shard + 1, shards);
    }
    if (writer > 0) {
        snprintf(of_writer, sizeof of_writer, "-p%" PRIu32, writer + 1);
    }
    snprintf(buf, 64, "results%s%s.jsonl", of_shard, of_writer);
}

void iwi_cell_results_free(iw_cell_result *cells, size_t count)
{
    for (size_t i = 0; cells != NULL && i < count; i++) {
        iwi_cell_result_release(&cells[i]);
    }
    free(cells);
}

/* What is no number is equal to itself here. */
static bool is_same_number(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

static bool is_same_summary(const iw_summary *a, const iw_summary *b)
{
    return a->count == b->count && is_same_number(a->min, b->min) && is_same_number(a->q1, b->q1) &&
           is_same_number(a->median, b->median) && is_same_number(a->q3, b->q3) &&
           is_same_number(a->max, b->max) && is_same_number(a->mean, b->mean) &&
           is_same_number(a->median_low, b->median_low) && is_same_number(a->median_high, b->median_high) &&
           is_same_number(a->mean_low, b->mean_low) && is_same_number(a->mean_high, b->mean_high);
}

/* Names are for people and do not count. */
static bool is_same_result(const iw_cell_result *a, const iw_cell_result *b)
{
    return a->ranks == b->ranks && a->bytes == b->bytes && a->trials == b->trials && a->seed == b->seed &&
           a->messages == b->messages && a->sync == b->sync && is_same_number(a->net_scale, b->net_scale) &&
           is_same_number(a->noiseless_ns, b->noiseless_ns) && is_same_number(a->p5_ns, b->p5_ns) &&
           is_same_number(a->p95_ns, b->p95_ns) && is_same_summary(&a->makespan_ns, &b->makespan_ns) &&
           is_same_number(a->recording.slowdown_low, b->recording.slowdown_low) &&
           is_same_number(a->recording.slowdown_high, b->recording.slowdown_high);
}

/* Takes the cell over, whatever comes of it. */
static iw_status add_cell(struct collection *c, const char *path, size_t number, iw_cell_result *cell)
{
    const uint64_t hash = strtoull(cell->id, NULL, 16);
    iw_status status;
    uint32_t known;

    for (size_t at = 0; (known = iwi_lookup_next(&c->by_id, hash, &at)) != IWI_LOOKUP_NONE;) {
        if (strcmp(c->cells[known].id, cell->id) == 0) {
            break;
        }
    }
    if (known == IWI_LOOKUP_NONE) {
        status = iwi_grow(c->log, (void **)&c->cells, &c->capacity, c->count + 1, sizeof *c->cells);
        status = status == IW_OK ? iwi_lookup_add(c->log, &c->by_id, hash, (uint32_t)c->count) : status;
        if (status == IW_OK) {
            c->cells[c->count++] = *cell;
            return IW_OK;
        }
    } else {
        status = is_same_result(cell, &c->cells[known])
                     ? IW_OK
                     : iwi_fail(c->log, IW_ERR_FORMAT,
                                "'%s:%zu': cell %s has two different results; delete the line that another "
                                "version wrote, and run the study again",
                                path, number, cell->id);
    }
    iwi_cell_result_release(cell);
    return status;
}

/* ---- files ---- */

/* A line without its newline was cut off: whoever resumes the study writes it again. */
static iw_status read_lines(struct collection *c, const char *path, FILE *in)
{
    iw_status status = IW_OK;
    char *line = NULL;
    size_t size = 0, number = 0;
    ssize_t length;

    while (status == IW_OK && (length = getline(&line, &size, in)) > 0 && line[length - 1] == '\n') {
        iw_cell_result cell;

        number++;
        status = iwi_cell_line_read(c->log, path, number, line, (size_t)length - 1, &cell);
        if (status == IW_OK) {
            status = add_cell(c, path, number, &cell);
        }
    }
    if (status == IW_OK && ferror(in)) {
        status = iwi_fail(c->log, IW_ERR_IO, "cannot read '%s': %s", path, strerror(errno));
    }
    free(line);
    return status;
}

/* Not a pipe, which would stop us for ever. NULL: errno tells. */
static FILE *open_regular(const char *path)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat info;

    if (fd >= 0 && fstat(fd, &info) == 0 && !S_ISREG(info.st_mode)) {
        (void)close(fd);
        errno = EINVAL;
        return NULL;
    }
    return fd >= 0 ? fdopen(fd, "r") : NULL;
}

static iw_status read_file(struct collection *c, const char *dir, const char *name)
{
    char *path = iwi_path_join(c->log, dir, name);
    iw_status status;
    FILE *in;

    if (path == NULL) {
        return IW_ERR_NOMEM;
    }
    in = open_regular(path);
    if (in == NULL) {
        status = iwi_fail(c->log, IW_ERR_IO, "cannot read '%s': %s", path, strerror(errno));
    } else {
        status = read_lines(c, path, in);
        (void)fclose(in);
    }
    free(path);
    return status;
}

/* The number from `text` on, and where it ends; 0: none, or too large. */
static uint32_t read_number(const char *text, const char **end_p)
{
    uint32_t number = 0;

    for (; *text >= '0' && *text <= '9' && number < UINT32_MAX / 100; text++) {
        number = number * 10 + (uint32_t)(*text - '0');
    }
    *end_p = text;
    return number;
}

/* Steps over `text` if it is there. */
static bool skip(const char **at, const char *text)
{
    const size_t length = strlen(text);
    const bool is_there = strncmp(*at, text, length) == 0;

    *at += is_there ? length : 0;
    return is_there;
}

int iwi_is_results_file(const struct dirent *entry)
{
    const char *at = entry->d_name;
    uint32_t shard = 1, shards = 1, writer = 1;
    char name[64];

    if (!skip(&at, "results")) {
        return 0;
    }
    if (at[0] == '-' && at[1] != 'p') {
        shard = read_number(at + 1, &at);
        if (!skip(&at, "-of-")) {
            return 0;
        }
        shards = read_number(at, &at);
    }
    if (skip(&at, "-p")) {
        writer = read_number(at, &at);
    }
    if (shard < 1 || shards < 1 || writer < 1) {
        return 0;
    }
    iwi_results_file_name(shard - 1, shards, writer - 1, name); /* nothing else before or behind it */
    return strcmp(entry->d_name, name) == 0;
}

iw_status iwi_cell_results_load(const iw_log *log, const char *dir, iw_cell_result **cells_p, size_t *count_p)
{
    struct collection c = {.log = log};
    struct dirent **entries = NULL;
    const int entry_count = scandir(dir, &entries, iwi_is_results_file, alphasort);
    iw_status status = IW_OK;

    if (entry_count < 0 && errno != ENOENT) {
        return iwi_fail(log, IW_ERR_IO, "cannot read '%s': %s", dir, strerror(errno));
    }
    for (int i = 0; i < entry_count; i++) {
        if (status == IW_OK) {
            status = read_file(&c, dir, entries[i]->d_name);
        }
        free(entries[i]);
    }
    free(entries);
    iwi_lookup_release(&c.by_id);
    if (status != IW_OK) {
        iwi_cell_results_free(c.cells, c.count);
        return status;
    }
    *cells_p = c.cells;
    *count_p = c.count;
    return IW_OK;
}

/* ======== results ======== */

/* Only the folder is read, so that it can be carried elsewhere: none of the files that the study names. Cells
 * whose ids depend on such files are found by their names and numbers instead. */

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
        iwi_warn(r->log, "ignoring '%s': %s", path, origin == NULL ? error.text : "not an object");
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
        return iwi_fail(
            r->log, IW_ERR_IO,
            "'%s' is not the folder of a study: it has no study.yaml; make one with 'idlewave study "
            "FILE.yaml -o DIR'",
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
        iwi_warn(r->log, "'%s': ignoring %zu results that its study.yaml does not list (any more)", r->dir,
                 r->found_count - r->results->count);
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
