/* Reads the settings of a training program that a study varies: `microbatches: [8, 16]`, `jitter: [none,
 * ...]`.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The keys are those of the table of settings (src/features/training/settings.c), in its order: a model comes
 * before what changes it, and a study may name them in any order without changing its cells.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <idlewave/files.h>

#include "core/noise/source.h"
#include "features/study/files/study_settings.h"
#include "features/training/training.h"
#include "kit/files/io/input.h"
#include "kit/files/recording/noise_file.h"

enum { MOST_VALUES = 1000 };

/* A setting that is being read. */
struct axis {
    struct iwi_study_reader *reader;
    const struct iwi_setting *row; /* of the table; NULL: jitter */
    iw_study_setting *setting;
    size_t line;
    size_t value_capacity, source_capacity, digest_capacity;
};

#define axis_fail(axis, node, status, ...) \
    iwi_yaml_fail(&(axis)->reader->yaml, iwi_yaml_line(node), status, __VA_ARGS__)

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

/* A name is that of the pattern in a study. */
size_t iwi_study_setting_keys(struct iwi_yaml_key keys[IWI_SETTING_KEYS])
{
    size_t count = 0;

    for (size_t i = 0; iw_training_key(i) != NULL && count < IWI_SETTING_KEYS - 1; i++) {
        if (strcmp(iw_training_key(i), "name") != 0) {
            keys[count++] = (struct iwi_yaml_key){iw_training_key(i), NULL};
        }
    }
    keys[count++] = (struct iwi_yaml_key){IW_STUDY_JITTER, NULL};
    return count;
}

/* ---- values ---- */

static iw_status check_value(const struct axis *a, const yaml_node_t *node, const char *text)
{
    const iw_study_setting *setting = a->setting;

    for (size_t i = 0; i < setting->count; i++) {
        if (strcmp(setting->values[i], text) == 0) {
            return axis_fail(a, node, IW_ERR_FORMAT,
                             "key '%s' has the value '%s' twice; each may be there once", setting->key, text);
        }
    }
    if (strlen(text) > IWI_SETTING_BYTES || strpbrk(text, ";\n") != NULL) {
        return axis_fail(a, node, IW_ERR_RANGE,
                         "key '%s': a value needs one line of up to %d bytes without ';'", setting->key,
                         IWI_SETTING_BYTES);
    }
    return setting->count < MOST_VALUES
               ? IW_OK
               : axis_fail(a, node, IW_ERR_RANGE, "key '%s' has more than %d values; take larger steps",
                           setting->key, MOST_VALUES);
}

/* `sources` of jitter, else NULL. */
static iw_status append(struct axis *a, const yaml_node_t *node, const char *text, const char *sources,
                        uint64_t digest)
{
    const iw_log *log = a->reader->yaml.log;
    iw_study_setting *setting = a->setting;
    const size_t count = setting->count;

    IW_TRY(check_value(a, node, text));
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
static iw_status append_text(struct axis *a, const yaml_node_t *node, const char *text)
{
    struct iwi_log_keeper keeper;
    iw_training scratch;
    iw_status status;

    iw_training_init(&scratch);
    iwi_log_keeper_init(&keeper, a->reader->yaml.log);
    status = iw_training_set(&keeper.log, &scratch, a->row->key, text);
    iw_training_release(&scratch);
    return status == IW_OK ? append(a, node, text, NULL, iwi_digest_of_training(0, 0, text, strlen(text)))
                           : axis_fail(a, node, status == IW_ERR_USAGE ? IW_ERR_FORMAT : status,
                                       "key '%s': %s", a->row->key, keeper.text);
}

/* "8", "4..64 step x2" */
static iw_status append_counts(struct axis *a, const yaml_node_t *node, const char *text)
{
    struct iwi_log_keeper keeper;
    uint64_t *counts;
    size_t count;
    iw_status status;

    iwi_log_keeper_init(&keeper, a->reader->yaml.log);
    status = iw_parse_counts(&keeper.log, text, a->row->min, a->row->max, &counts, &count);
    if (status != IW_OK) {
        return axis_fail(a, node, status, "key '%s': %s", a->row->key, keeper.text);
    }
    for (size_t i = 0; i < count && status == IW_OK; i++) {
        char number[24];

        snprintf(number, sizeof number, "%" PRIu64, counts[i]);
        status = append_text(a, node, number);
    }
    free(counts);
    return status;
}

static iw_status read_setting(struct axis *a, const yaml_node_t *node)
{
    const char *text;

    if (a->row->kind == IWI_SET_TIMES || a->row->kind == IWI_SET_COUNTS) {
        return axis_fail(
            a, node, IW_ERR_FORMAT,
            "key '%s' is a list by itself, and cannot be varied: put it into 'set', in a pattern "
            "of its own",
            a->row->key);
    }
    IW_TRY(iwi_yaml_text(&a->reader->yaml, node, a->row->key, &text));
    return a->row->kind == IWI_SET_COUNT ? append_counts(a, node, text) : append_text(a, node, text);
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

static iw_status add_content(const struct axis *a, const char *path, struct jitter *jitter)
{
    struct iwi_input input;

    if (iw_noise_form_of(path) == IW_NOISE_FOLDER) {
        return IW_OK;
    }
    IW_TRY(iwi_input_open(a->reader->yaml.log, path, &input));
    jitter->digest = iwi_digest_of_training(jitter->digest, 1, input.data, input.size);
    iwi_input_close(&input);
    return IW_OK;
}

/* `source` without its place and scope; *path_p is to be freed. */
static iw_status find_source(const struct axis *a, const char *source, struct jitter *jitter, char **path_p)
{
    struct iwi_log_keeper keeper;
    iw_status status;

    if (is_ready(source)) {
        return iwi_copy_text(a->reader->yaml.log, source, path_p);
    }
    if (iwi_noise_is_spec(source)) {
        IW_TRY(iwi_copy_text(a->reader->yaml.log, source, path_p));
    } else {
        IW_TRY(iwi_study_collected_path(a->reader, IW_COLLECTED_NOISE, source, path_p));
        if (!a->reader->wants_files) {
            return IW_OK;
        }
    }
    iwi_log_keeper_init(&keeper, a->reader->yaml.log);
    status = iwi_noise_try(&keeper.log, *path_p);
    if (status == IW_OK && !iwi_noise_is_spec(*path_p)) {
        status = add_content(a, *path_p, jitter);
    }
    if (status != IW_OK) {
        status = iwi_yaml_fail(&a->reader->yaml, a->line, status,
                               "jitter '%.100s': %s; write a ready source such as python-gc, a SPEC "
                               "(in quotes within []), or a file beside the study",
                               source, keeper.text);
        free(*path_p);
    }
    return status;
}

/* "python-gc", "periodic:10Hz,30ms@device@node" */
static iw_status add_source(struct axis *a, const yaml_node_t *node, struct jitter *jitter)
{
    const size_t used = strlen(jitter->text), resolved = strlen(jitter->sources);
    char source[IWI_SETTING_BYTES + 1], *path;
    const char *text, *place;
    size_t length;

    IW_TRY(iwi_yaml_text(&a->reader->yaml, node, IW_STUDY_JITTER, &text));
    place = text + strcspn(text, "@");
    length = (size_t)(place - text);
    if (used + strlen(text) + 3 > IWI_SETTING_BYTES) {
        return axis_fail(a, node, IW_ERR_RANGE, "jitter is too long: at most %d bytes", IWI_SETTING_BYTES);
    }
    snprintf(source, sizeof source, "%.*s", (int)length, text);
    IW_TRY(find_source(a, source, jitter, &path));
    snprintf(jitter->text + used, sizeof jitter->text - used, "%s%s", used > 0 ? " + " : "", text);
    snprintf(jitter->sources + resolved, sizeof jitter->sources - resolved, "%s%s%s",
             resolved > 0 ? "\n" : "", path, place);
    length = resolved + (resolved > 0) + strlen(path) + strlen(place);
    free(path);
    return length < sizeof jitter->sources
               ? IW_OK
               : axis_fail(a, node, IW_ERR_RANGE, "the path of the jitter '%s' is too long", text);
}

/* A place or scope that there is not. */
static iw_status check_sources(struct axis *a, const yaml_node_t *node, const struct jitter *jitter)
{
    const iw_study_setting one = {.key = IW_STUDY_JITTER,
                                  .count = 1,
                                  .values = (char *[]){(char *)jitter->text},
                                  .sources = (char *[]){(char *)jitter->sources}};
    const iw_study_work work = {.settings = {one}, .setting_count = 1};
    struct iwi_log_keeper keeper;
    iw_training scratch;
    iw_status status;

    iw_training_init(&scratch);
    iwi_log_keeper_init(&keeper, a->reader->yaml.log);
    status = iwi_study_settings_apply(&keeper.log, &work, 0, &scratch);
    iw_training_release(&scratch);
    return status == IW_OK ? IW_OK : axis_fail(a, node, status, "key 'jitter': %s", keeper.text);
}

/* One value: a source, a list of them that add up, or none. */
static iw_status read_jitter(struct axis *a, const yaml_node_t *node)
{
    struct jitter jitter = {.digest = 0};
    const size_t count = iwi_yaml_item_count(node);
    const char *only = node->type == YAML_SCALAR_NODE ? (const char *)node->data.scalar.value : "";

    a->line = iwi_yaml_line(node);
    for (size_t i = 0; i < count && strcmp(only, "none") != 0; i++) {
        IW_TRY(add_source(a, iwi_yaml_item(&a->reader->yaml, node, i), &jitter));
    }
    IW_TRY(check_sources(a, node, &jitter));
    if (jitter.text[0] == '\0') {
        snprintf(jitter.text, sizeof jitter.text, "none");
    }
    return append(a, node, jitter.text, jitter.sources,
                  iwi_digest_of_training(jitter.digest, 2, jitter.text, strlen(jitter.text)));
}

/* ---- all of them ---- */

static iw_status read_axis(struct iwi_study_reader *reader, const char *key,
                           const struct iwi_yaml_entry *entry, iw_study_work *work)
{
    const size_t count = iwi_yaml_item_count(entry->value);
    struct axis a = {.reader = reader, .row = row_of(key)};

    if (work->setting_count == IW_STUDY_SETTINGS_MAX) {
        return iwi_yaml_fail(
            &reader->yaml, entry->line, IW_ERR_RANGE,
            "'%s' is one setting too many to be varied: at most %d; put those with one value "
            "into 'set'",
            key, IW_STUDY_SETTINGS_MAX);
    }
    if (count == 0) {
        return iwi_yaml_fail(&reader->yaml, entry->line, IW_ERR_FORMAT, "key '%s': the list is empty", key);
    }
    a.setting = &work->settings[work->setting_count++];
    a.setting->key = key;
    for (size_t i = 0; i < count; i++) {
        const yaml_node_t *node = iwi_yaml_item(&reader->yaml, entry->value, i);

        IW_TRY(a.row != NULL ? read_setting(&a, node) : read_jitter(&a, node));
    }
    return IW_OK;
}

iw_status iwi_study_settings_read(struct iwi_study_reader *reader, const struct iwi_yaml_key *keys,
                                  const struct iwi_yaml_entry *entries, size_t count, iw_study_work *work)
{
    for (size_t i = 0; i < count; i++) {
        if (entries[i].value != NULL) {
            IW_TRY(read_axis(reader, keys[i].name, &entries[i], work));
        }
    }
    return IW_OK;
}
