/* The works of a study that are training programs: read, changed by `set`, varied, and put on other
 * numbers of GPUs.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <idlewave/files.h>
#include <idlewave/recording.h>

#include "features/study/files/study_settings.h"
#include "features/training/training.h"
#include "kit/files/io/input.h"

enum {
    KEY_NAME = IWI_GRID_KEYS,
    KEY_TRAINING,
    KEY_SET,
    KEY_STEPS,
    KEYS,
    ALL_KEYS = KEYS + IWI_SETTING_KEYS /* those of settings follow */
};
static const struct iwi_yaml_key own_keys[KEYS] = {
    IWI_GRID_KEY_ROWS,         [KEY_NAME] = {"name", NULL},   [KEY_TRAINING] = {"training", NULL},
    [KEY_SET] = {"set", NULL}, [KEY_STEPS] = {"steps", NULL},
};

/* A work that is being read. */
struct subject {
    struct iwi_study_reader *reader;
    iw_study_work *work;
    struct iwi_study_entry *part;
    struct iwi_yaml_entry entries[ALL_KEYS];
};

static uint64_t replica_gpus(const iw_training *spec)
{
    return (uint64_t)spec->tp * spec->cp * spec->pp;
}

iw_status iwi_study_training_on(const iw_log *log, const iw_study_work *work, size_t settings, uint32_t gpus,
                                iw_training *spec)
{
    uint64_t each;

    *spec = *work->training;
    IW_TRY(iwi_study_settings_apply(log, work, settings, spec));
    each = replica_gpus(spec);
    if (!iwi_study_varies(work, "dp") && (gpus == 0 || gpus % each != 0)) {
        return iwi_fail(log, IW_ERR_RANGE,
                        "a replica takes %" PRIu64 " GPUs, and %" PRIu32
                        " are no multiple of it; give it 'ranks' of its own",
                        each, gpus);
    }
    if (!iwi_study_varies(work, "dp")) {
        spec->dp = (uint32_t)(gpus / each);
    }
    return iwi_training_check(log, spec);
}

static iw_status add_file(const struct subject *s, const char *path, uint64_t number)
{
    struct iwi_input input;

    IW_TRY(iwi_input_open(s->reader->yaml.log, path, &input));
    s->part->digest = iwi_digest_of_training(s->part->digest, number, input.data, input.size);
    iwi_input_close(&input);
    return IW_OK;
}

/* The text of the program, what changes it, and the noise files that it names. */
static iw_status identify(const struct subject *s, const char *path, const char *changes)
{
    const iw_training *spec = s->work->training;

    IW_TRY(add_file(s, path, s->work->training_steps));
    s->part->digest = iwi_digest_of_training(s->part->digest, 0, changes, strlen(changes));
    for (uint32_t i = 0; i < spec->source_count; i++) {
        const iw_noise_form form = iw_noise_form_of(spec->sources[i].spec);

        if (form != IW_NOISE_SPEC && form != IW_NOISE_ABSENT && form != IW_NOISE_FOLDER) {
            IW_TRY(add_file(s, spec->sources[i].spec, i));
        }
    }
    s->part->has_digest = true;
    return IW_OK;
}

static iw_status apply_changes(const struct subject *s, const char *changes)
{
    struct iwi_log_keeper keeper;
    iw_status status;

    iwi_log_keeper_init(&keeper, s->reader->yaml.log);
    status = iwi_training_apply(&keeper.log, changes, s->work->training);
    return status == IW_OK
               ? IW_OK
               : iwi_yaml_fail(&s->reader->yaml, s->entries[KEY_SET].line,
                               status == IW_ERR_USAGE ? IW_ERR_FORMAT : status, "key 'set': %s", keeper.text);
}

/* Of each combination of settings; too many are refused later, cell by cell. */
static iw_status count_gpus(const struct subject *s)
{
    const size_t count = iwi_study_combinations(s->work);
    const iw_log *log = s->reader->yaml.log;

    if (count > IWI_MOST_CELLS) {
        return iwi_yaml_fail(&s->reader->yaml, s->part->line, IW_ERR_RANGE,
                             "the settings of '%s' have more than %d combinations; take fewer values",
                             s->work->name, IWI_MOST_CELLS);
    }
    s->part->gpus = iwi_new_array(log, count, sizeof *s->part->gpus);
    if (s->part->gpus == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        iw_training spec = *s->work->training;
        uint64_t gpus;

        IW_TRY(iwi_study_settings_apply(log, s->work, i, &spec));
        gpus = replica_gpus(&spec) * spec.dp;
        s->part->gpus[i] = gpus < UINT32_MAX ? (uint32_t)gpus : UINT32_MAX;
    }
    return IW_OK;
}

static iw_status load(const struct subject *s, const char *text)
{
    const struct iwi_yaml *yaml = &s->reader->yaml;
    const char *changes = "";
    char *path;
    iw_status status;

    if (s->entries[KEY_SET].value != NULL) {
        IW_TRY(iwi_yaml_text(yaml, s->entries[KEY_SET].value, "set", &changes));
    }
    IW_TRY(iwi_study_path(s->reader, text, &path));
    if (text[0] == '\0' || access(path, R_OK) != 0) {
        free(path);
        return iwi_yaml_fail(yaml, s->entries[KEY_TRAINING].line, IW_ERR_IO,
                             "training program '%.200s': there is no such file beside the study", text);
    }
    status = iw_training_load(yaml->log, path, s->work->training);
    if (status == IW_OK) {
        status = apply_changes(s, changes);
    }
    if (status == IW_OK) {
        status = identify(s, path, changes);
    }
    if (status == IW_OK) {
        status = count_gpus(s);
    }
    free(path);
    return status;
}

static iw_status read_options(const struct subject *s)
{
    if (s->entries[IWI_KEY_BYTES].value != NULL) {
        return iwi_yaml_fail(&s->reader->yaml, s->entries[IWI_KEY_BYTES].line, IW_ERR_FORMAT,
                             "a training program has sizes of its own; leave 'bytes' out");
    }
    s->work->training_steps = 20;
    if (s->entries[KEY_STEPS].value != NULL) {
        IW_TRY(iwi_study_count(s->reader, s->entries[KEY_STEPS].value, "steps", 1, 1000000,
                               &s->work->training_steps));
    }
    return iwi_study_grid_read(s->reader, s->entries, &s->part->grid);
}

iw_status iwi_study_read_training(struct iwi_study_reader *reader, const yaml_node_t *node)
{
    const size_t index = iwi_study_begin_work(reader, node);
    struct subject s = {
        .reader = reader, .work = &reader->study->works[index], .part = &reader->works[index]};
    struct iwi_yaml_key keys[ALL_KEYS];
    const size_t settings = iwi_study_setting_keys(keys + KEYS);
    char name[256];
    const char *text;

    memcpy(keys, own_keys, sizeof own_keys);
    s.work->training = iwi_new_array(reader->yaml.log, 1, sizeof *s.work->training);
    if (s.work->training == NULL) {
        return IW_ERR_NOMEM;
    }
    iw_training_init(s.work->training);
    IW_TRY(iwi_yaml_mapping(&reader->yaml, node, keys, KEYS + settings, s.entries));
    IW_TRY(iwi_yaml_text(&reader->yaml, s.entries[KEY_TRAINING].value, "training", &text));
    iwi_name_of_path(text, name, sizeof name);
    IW_TRY(iwi_study_name_work(reader, s.entries[KEY_NAME].value, name));
    IW_TRY(read_options(&s));
    IW_TRY(iwi_study_settings_read(reader, keys + KEYS, s.entries + KEYS, settings, s.work));
    return reader->wants_files ? load(&s, text) : IW_OK;
}
