/* The works of a study that are training programs: read, changed by `set`, varied, and put on other
 * numbers of GPUs.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * What a study varies, `microbatches: [8, 16]`, has the keys of the table of settings
 * (src/features/training/settings.c), in its order: a model comes before what changes it, and a study may
 * name them in any order without changing its cells.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <idlewave/files.h>
#include <idlewave/recording.h>

#include "core/noise/source.h"
#include "features/study/files/study_yaml.h"
#include "features/training/training.h"
#include "kit/files/io/input.h"
#include "kit/files/recording/noise_file.h"

enum { MOST_VALUES = 1000 };

/* ---- combinations of settings ---- */

static void setting_release(iw_study_setting *setting)
{
    for (size_t i = 0; i < setting->count; i++) {
        free(setting->values[i]);
        if (setting->sources != NULL) {
            free(setting->sources[i]);
        }
    }
    free(setting->values);
    free(setting->sources);
    free(setting->digests);
}

void iwi_study_settings_release(iw_study_work *work)
{
    for (size_t i = 0; i < work->setting_count; i++) {
        setting_release(&work->settings[i]);
    }
}

size_t iwi_study_combinations(const iw_study_work *work)
{
    size_t count = 1;

    for (size_t i = 0; i < work->setting_count; i++) {
        if (__builtin_mul_overflow(count, work->settings[i].count, &count)) {
            return SIZE_MAX;
        }
    }
    return count;
}

/* Of each setting the value that combination number `index` has. */
static void find_values(const iw_study_work *work, size_t index, size_t values[IW_STUDY_SETTINGS_MAX])
{
    for (size_t i = work->setting_count; i-- > 0;) {
        values[i] = index % work->settings[i].count;
        index /= work->settings[i].count;
    }
}

bool iwi_study_varies(const iw_study_work *work, const char *key)
{
    for (size_t i = 0; i < work->setting_count; i++) {
        if (strcmp(work->settings[i].key, key) == 0) {
            return true;
        }
    }
    return false;
}

static iw_status add_jitter(const iw_log *log, const char *sources, iw_training *spec)
{
    char source[sizeof spec->sources[0].spec + 32]; /* longer ones are refused */

    while (*sources != '\0') {
        const size_t length = strcspn(sources, "\n");

        if (length >= sizeof source) {
            return iwi_fail(log, IW_ERR_RANGE, "the source '%.60s...' is too long", sources);
        }
        memcpy(source, sources, length);
        source[length] = '\0';
        IW_TRY(iw_training_add_noise(log, spec, source));
        sources += length + (sources[length] == '\n');
    }
    return IW_OK;
}

/* Changes `spec`, a copy of the work's program that shares its lists. */
static iw_status apply_settings(const iw_log *log, const iw_study_work *work, size_t index, iw_training *spec)
{
    size_t values[IW_STUDY_SETTINGS_MAX];

    find_values(work, index, values);
    for (size_t i = 0; i < work->setting_count; i++) {
        const iw_study_setting *setting = &work->settings[i];

        IW_TRY(setting->sources != NULL
                   ? add_jitter(log, setting->sources[values[i]], spec)
                   : iw_training_set(log, spec, setting->key, setting->values[values[i]]));
    }
    return IW_OK;
}

uint64_t iwi_study_settings_digest(const iw_study_work *work, size_t index, uint64_t work_digest)
{
    size_t values[IW_STUDY_SETTINGS_MAX];

    find_values(work, index, values);
    for (size_t i = 0; i < work->setting_count; i++) {
        const iw_study_setting *setting = &work->settings[i];

        work_digest = iwi_digest_of_training(work_digest, setting->digests[values[i]], setting->key,
                                             strlen(setting->key));
    }
    return work_digest;
}

const char *iwi_study_settings_text(const iw_study_work *work, size_t index, char buf[IWI_SETTINGS_TEXT_SIZE])
{
    size_t values[IW_STUDY_SETTINGS_MAX], used = 0;

    find_values(work, index, values);
    buf[0] = '\0';
    for (size_t i = 0; i < work->setting_count; i++) {
        used += (size_t)snprintf(buf + used, IWI_SETTINGS_TEXT_SIZE - used, "%s%s=%s", i > 0 ? "; " : "",
                                 work->settings[i].key, work->settings[i].values[values[i]]);
    }
    return buf;
}

/* ---- programs ---- */

static uint64_t replica_gpus(const iw_training *spec)
{
    return (uint64_t)spec->tp * spec->cp * spec->pp;
}

iw_status iwi_study_training_on(const iw_log *log, const iw_study_work *work, size_t settings, uint32_t gpus,
                                iw_training *spec)
{
    uint64_t each;

    *spec = *work->training;
    IW_TRY(apply_settings(log, work, settings, spec));
    each = replica_gpus(spec);
    if (!iwi_study_varies(work, "dp") && (gpus == 0 || gpus % each != 0)) {
        return iwi_fail(log, IW_ERR_RANGE,
                        "a replica has %" PRIu64 " GPUs, and %" PRIu32
                        " is not a multiple; give the program its own 'ranks'",
                        each, gpus);
    }
    if (!iwi_study_varies(work, "dp")) {
        spec->dp = (uint32_t)(gpus / each);
    }
    return iwi_training_check(log, spec);
}

/* ---- settings ---- */

/* A setting that is being read. */
struct axis {
    const struct iwi_setting *row; /* of the table; NULL: jitter */
    iw_study_setting *setting;
    size_t value_capacity, source_capacity, digest_capacity;
};

static const struct iwi_setting *row_of(const char *key)
{
    const struct iwi_setting *row;

    for (size_t i = 0; (row = iwi_training_setting(i)) != NULL; i++) {
        if (strcmp(row->key, key) == 0) {
            return row;
        }
    }
    return NULL;
}

static iw_status check_value(const struct iwi_yaml_value *item, const iw_study_setting *setting,
                             const char *text)
{
    for (size_t i = 0; i < setting->count; i++) {
        if (strcmp(setting->values[i], text) == 0) {
            return iwi_yaml_fail(item->yaml, item->line, IW_ERR_FORMAT,
                                 "key '%s' has the value '%s' twice; remove one", setting->key, text);
        }
    }
    if (strlen(text) > IWI_SETTING_BYTES || strpbrk(text, ";\n") != NULL) {
        return iwi_yaml_refuse(item, IW_ERR_RANGE, "a value needs one line of up to %d bytes without ';'",
                               IWI_SETTING_BYTES);
    }
    return setting->count < MOST_VALUES
               ? IW_OK
               : iwi_yaml_refuse(item, IW_ERR_RANGE, "more than %d values; use larger steps", MOST_VALUES);
}

/* `sources` of jitter, else NULL. */
static iw_status append(const struct iwi_yaml_value *item, const char *text, const char *sources,
                        uint64_t digest, struct axis *a)
{
    const iw_log *log = item->yaml->log;
    iw_study_setting *setting = a->setting;
    const size_t count = setting->count;

    IW_TRY(check_value(item, setting, text));
    IW_TRY(iwi_grow(log, (void **)&setting->values, &a->value_capacity, count + 1, sizeof(char *)));
    IW_TRY(iwi_grow(log, (void **)&setting->digests, &a->digest_capacity, count + 1, sizeof(uint64_t)));
    if (sources != NULL) {
        IW_TRY(iwi_grow(log, (void **)&setting->sources, &a->source_capacity, count + 1, sizeof(char *)));
        setting->sources[count] = NULL;
    }
    IW_TRY(iwi_copy_text(log, text, &setting->values[count]));
    setting->digests[count] = digest;
    setting->count++; /* from here on the texts are released with the study */
    return sources != NULL ? iwi_copy_text(log, sources, &setting->sources[count]) : IW_OK;
}

/* Whether it may be written so is known to the table of settings. */
static iw_status append_text(const struct iwi_yaml_value *item, const char *text, struct axis *a)
{
    iw_training scratch;
    iw_status status;

    iw_training_init(&scratch);
    status = iw_training_set(iwi_yaml_value_log(item), &scratch, a->row->key, text);
    iw_training_release(&scratch);
    return status == IW_OK ? append(item, text, NULL, iwi_digest_of_training(0, 0, text, strlen(text)), a)
           : status == IW_ERR_USAGE ? IW_ERR_FORMAT
                                    : status;
}

/* "8", "4..64 step x2" */
static iw_status append_counts(const struct iwi_yaml_value *item, const char *text, struct axis *a)
{
    uint64_t *counts;
    size_t count;
    iw_status status = IW_OK;

    IW_TRY(iw_parse_counts(iwi_yaml_value_log(item), text, a->row->min, a->row->max, &counts, &count));
    for (size_t i = 0; i < count && status == IW_OK; i++) {
        char number[24];

        snprintf(number, sizeof number, "%" PRIu64, counts[i]);
        status = append_text(item, number, a);
    }
    free(counts);
    return status;
}

static iw_status read_value(const struct iwi_yaml_value *item, struct axis *a)
{
    const char *text;

    if (a->row->kind == IWI_SET_TIMES || a->row->kind == IWI_SET_COUNTS) {
        return iwi_yaml_refuse(item, IW_ERR_FORMAT,
                               "it is a list and cannot be varied: put it into 'set', in a separate pattern");
    }
    IW_TRY(iwi_yaml_string(item, &text));
    return a->row->kind == IWI_SET_COUNT ? append_counts(item, text, a) : append_text(item, text, a);
}

/* ---- jitter ---- */

/* Sources that add up: as they are written, and with the paths of their files. */
struct jitter {
    char text[IWI_SETTING_BYTES + 2]; /* one byte more than may be */
    char sources[IW_TRAINING_SOURCES_MAX * 128];
    uint64_t digest;
};

static bool is_ready(const char *source)
{
    for (size_t i = 0; iw_training_ready(i) != NULL; i++) {
        if (strcmp(iw_training_ready(i)->name, source) == 0) {
            return true;
        }
    }
    return false;
}

/* The digest so far, with the content of a file. */
static iw_status add_file(const iw_log *log, const char *path, uint64_t number, uint64_t *digest)
{
    struct iwi_input input;

    IW_TRY(iwi_input_open(log, path, &input));
    *digest = iwi_digest_of_training(*digest, number, input.data, input.size);
    iwi_input_close(&input);
    return IW_OK;
}

/* `source` without its place and scope; *path_p is to be freed. */
static iw_status find_source(const struct iwi_yaml_value *item, const char *source, struct jitter *jitter,
                             char **path_p)
{
    const struct iwi_study_reader *reader = item->yaml->reader;
    struct iwi_log_keeper keeper;
    iw_status status;

    if (is_ready(source)) {
        return iwi_copy_text(reader->yaml.log, source, path_p);
    }
    if (iwi_noise_is_spec(source)) {
        IW_TRY(iwi_copy_text(reader->yaml.log, source, path_p));
    } else {
        IW_TRY(iwi_study_collected_path(reader, IW_COLLECTED_NOISE, source, path_p));
        if (!reader->wants_files) {
            return IW_OK;
        }
    }
    iwi_log_keeper_init(&keeper, reader->yaml.log);
    status = iwi_noise_try(&keeper.log, *path_p);
    if (status == IW_OK && !iwi_noise_is_spec(*path_p) && iw_noise_form_of(*path_p) != IW_NOISE_FOLDER) {
        status = add_file(reader->yaml.log, *path_p, 1, &jitter->digest);
    }
    if (status != IW_OK) {
        status = iwi_yaml_fail(item->yaml, item->line, status,
                               "jitter '%.100s': %s; use a predefined source such as python-gc, a SPEC (in "
                               "quotes within []), or a file in the folder of the study",
                               source, keeper.text);
        free(*path_p);
    }
    return status;
}

/* "python-gc", "periodic:10Hz,30ms@device@node" */
static iw_status add_source(const struct iwi_yaml_value *item, struct jitter *jitter)
{
    const size_t used = strlen(jitter->text), resolved = strlen(jitter->sources);
    char source[IWI_SETTING_BYTES + 1], *path;
    const char *text, *place;
    size_t length;

    IW_TRY(iwi_yaml_string(item, &text));
    place = text + strcspn(text, "@");
    length = (size_t)(place - text);
    if (used + strlen(text) + 3 > IWI_SETTING_BYTES) {
        return iwi_yaml_fail(item->yaml, item->line, IW_ERR_RANGE, "jitter is too long: at most %d bytes",
                             IWI_SETTING_BYTES);
    }
    snprintf(source, sizeof source, "%.*s", (int)length, text);
    IW_TRY(find_source(item, source, jitter, &path));
    snprintf(jitter->text + used, sizeof jitter->text - used, "%s%s", used > 0 ? " + " : "", text);
    snprintf(jitter->sources + resolved, sizeof jitter->sources - resolved, "%s%s%s",
             resolved > 0 ? "\n" : "", path, place);
    length = resolved + (resolved > 0) + strlen(path) + strlen(place);
    free(path);
    return length < sizeof jitter->sources ? IW_OK
                                           : iwi_yaml_fail(item->yaml, item->line, IW_ERR_RANGE,
                                                           "the path of the jitter '%s' is too long", text);
}

/* A place or scope that there is not. */
static iw_status check_sources(const struct iwi_yaml_value *item, const struct jitter *jitter)
{
    iw_training scratch;
    iw_status status;

    iw_training_init(&scratch);
    status = add_jitter(iwi_yaml_value_log(item), jitter->sources, &scratch);
    iw_training_release(&scratch);
    return status;
}

/* One value: a source, a list of them that add up, or none. */
static iw_status read_jitter(const struct iwi_yaml_value *value, struct axis *a)
{
    const size_t count = iwi_yaml_is(value, "none") ? 0 : iwi_yaml_items(value);
    struct jitter jitter = {.digest = 0};

    for (size_t i = 0; i < count; i++) {
        const struct iwi_yaml_value item = iwi_yaml_nth(value, i);

        IW_TRY(add_source(&item, &jitter));
    }
    IW_TRY(check_sources(value, &jitter));
    if (jitter.text[0] == '\0') {
        snprintf(jitter.text, sizeof jitter.text, "none");
    }
    return append(value, jitter.text, jitter.sources,
                  iwi_digest_of_training(jitter.digest, 2, jitter.text, strlen(jitter.text)), a);
}

/* What a key varies. */
static iw_status read_axis(const struct iwi_yaml_value *value, void *at)
{
    const size_t count = iwi_yaml_items(value);
    struct axis a = {.row = row_of(value->row->key)};
    iw_study_work *work = at;

    if (work->setting_count == IW_STUDY_SETTINGS_MAX) {
        return iwi_yaml_fail(
            value->yaml, value->key_line, IW_ERR_RANGE,
            "'%s': too many settings are varied: at most %d; put those with one value into 'set'",
            value->row->key, IW_STUDY_SETTINGS_MAX);
    }
    if (count == 0) {
        return iwi_yaml_refuse(value, IW_ERR_FORMAT, "the list is empty");
    }
    a.setting = &work->settings[work->setting_count++];
    a.setting->key = value->row->key;
    for (size_t i = 0; i < count; i++) {
        const struct iwi_yaml_value item = iwi_yaml_nth(value, i);

        IW_TRY(a.row != NULL ? read_value(&item, &a) : read_jitter(&item, &a));
    }
    return IW_OK;
}

/* ---- the work ---- */

/* The text of the program, what changes it, and the noise files that it names. */
static iw_status identify(const iw_log *log, const char *path, const char *changes,
                          struct iwi_study_item *item)
{
    const iw_training *spec = item->work.training;
    uint64_t *digest = &item->entry.digest;

    IW_TRY(add_file(log, path, item->work.training_steps, digest));
    *digest = iwi_digest_of_training(*digest, 0, changes, strlen(changes));
    for (uint32_t i = 0; i < spec->source_count; i++) {
        const iw_noise_form form = iw_noise_form_of(spec->sources[i].spec);

        if (form != IW_NOISE_SPEC && form != IW_NOISE_ABSENT && form != IW_NOISE_FOLDER) {
            IW_TRY(add_file(log, spec->sources[i].spec, i, digest));
        }
    }
    item->entry.has_digest = true;
    return IW_OK;
}

/* Of each combination of settings; too many are refused later, cell by cell. */
static iw_status count_gpus(const struct iwi_yaml *yaml, struct iwi_study_item *item)
{
    const size_t count = iwi_study_combinations(&item->work);

    if (count > IWI_MOST_CELLS) {
        return iwi_yaml_fail(yaml, item->entry.line, IW_ERR_RANGE,
                             "the settings of '%s' have more than %d combinations; use fewer values",
                             item->work.name, IWI_MOST_CELLS);
    }
    item->entry.gpus = iwi_new_array(yaml->log, count, sizeof *item->entry.gpus);
    if (item->entry.gpus == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        iw_training spec = *item->work.training;
        uint64_t gpus;

        IW_TRY(apply_settings(yaml->log, &item->work, i, &spec));
        gpus = replica_gpus(&spec) * spec.dp;
        item->entry.gpus[i] = gpus < UINT32_MAX ? (uint32_t)gpus : UINT32_MAX;
    }
    return IW_OK;
}

static iw_status load_program(const struct iwi_yaml_map *map, const char *path, struct iwi_study_item *item)
{
    const struct iwi_yaml_value *set = iwi_yaml_get(map, "set");
    const iw_log *log = map->yaml->log;
    const char *changes = "";
    iw_status status;

    IW_TRY(iw_training_load(log, path, item->work.training));
    if (set != NULL) {
        IW_TRY(iwi_yaml_string(set, &changes));
        status = iwi_training_apply(iwi_yaml_value_log(set), changes, item->work.training);
        IW_TRY(status == IW_ERR_USAGE ? IW_ERR_FORMAT : status);
    }
    IW_TRY(identify(log, path, changes, item));
    return count_gpus(map->yaml, item);
}

static iw_status load(const struct iwi_yaml_map *map, const char *text, struct iwi_study_item *item)
{
    char *path;
    iw_status status;

    IW_TRY(iwi_study_path(map->yaml->reader, text, &path));
    status = text[0] != '\0' && access(path, R_OK) == 0
                 ? load_program(map, path, item)
                 : iwi_yaml_fail(map->yaml, iwi_yaml_get(map, "training")->key_line, IW_ERR_IO,
                                 "training program '%.200s': no such file in the folder of the study", text);
    free(path);
    return status;
}

static const struct iwi_yaml_row own_rows[] = {
    IWI_STUDY_GRID_ROWS(offsetof(struct iwi_study_item, entry.grid)),
    IWI_STUDY_NAME_ROW(struct iwi_study_item, work.name),
    {.key = "training"},
    {.key = "set"},
    IWI_YAML_ROW(struct iwi_study_item, "steps", work.training_steps, iwi_yaml_count, .least = 1,
                 .most = 1000000),
};

/* A name is that of the pattern in a study. */
static size_t make_rows(struct iwi_yaml_row rows[IWI_MOST_YAML_KEYS])
{
    size_t count = sizeof own_rows / sizeof own_rows[0];
    const char *key;

    memcpy(rows, own_rows, sizeof own_rows);
    for (size_t i = 0; (key = iw_training_key(i)) != NULL && count < IWI_MOST_YAML_KEYS - 1; i++) {
        if (strcmp(key, "name") != 0) {
            rows[count++] = (struct iwi_yaml_row)IWI_YAML_ROW(struct iwi_study_item, key, work, read_axis);
        }
    }
    rows[count++] =
        (struct iwi_yaml_row)IWI_YAML_ROW(struct iwi_study_item, IW_STUDY_JITTER, work, read_axis);
    return count;
}

iw_status iwi_study_read_training(struct iwi_study_reader *reader, const yaml_node_t *node,
                                  struct iwi_study_item *item)
{
    struct iwi_yaml_row rows[IWI_MOST_YAML_KEYS];
    struct iwi_yaml_map map;
    char name[256];
    const char *text;

    item->work.training = iwi_new_array(reader->yaml.log, 1, sizeof *item->work.training);
    if (item->work.training == NULL) {
        return IW_ERR_NOMEM;
    }
    iw_training_init(item->work.training);
    item->work.training_steps = 20;
    IW_TRY(iwi_yaml_find(&reader->yaml, node, rows, make_rows(rows), &map));
    IW_TRY(iwi_study_refuse_list(&map, "bytes", "a training program has sizes"));
    IW_TRY(iwi_yaml_string(iwi_yaml_get(&map, "training"), &text));
    IW_TRY(iwi_yaml_read(&map, item));
    iwi_name_of_path(text, name, sizeof name);
    IW_TRY(iwi_study_name_work(reader, name, item));
    return reader->wants_files ? load(&map, text, item) : IW_OK;
}
