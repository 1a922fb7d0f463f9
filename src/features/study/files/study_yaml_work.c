/* The works of a study: patterns and schedules.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <idlewave/files.h>

#include "core/base/nearest.h"
#include "features/study/files/study_yaml.h"
#include "kit/files/goal/goal.h"
#include "kit/files/io/input.h"

enum {
    KEY_NAME = IWI_GRID_KEYS,
    KEY_PATTERN,
    KEY_ROOT,
    KEY_COMPUTE,
    KEY_COMPUTE_BYTES,
    KEY_REPEAT,
    KEY_SEGMENT,
    KEY_REDUCE_COST,
    KEY_DIMS,
    KEY_BOUNDARY,
    KEY_DIRECTION,
    KEY_DISTANCE,
    KEY_EXCHANGE,
    PATTERN_KEYS
};
static const struct iwi_yaml_key pattern_keys[PATTERN_KEYS] = {
    IWI_GRID_KEY_ROWS,
    [KEY_NAME] = {"name", NULL},
    [KEY_PATTERN] = {"pattern", NULL},
    [KEY_ROOT] = {"root", NULL},
    [KEY_COMPUTE] = {"compute", NULL},
    [KEY_COMPUTE_BYTES] = {"compute-bytes", NULL},
    [KEY_REPEAT] = {"repeat", NULL},
    [KEY_SEGMENT] = {"segment", NULL},
    [KEY_REDUCE_COST] = {"reduce-cost", NULL},
    [KEY_DIMS] = {"dims", NULL},
    [KEY_BOUNDARY] = {"boundary", NULL},
    [KEY_DIRECTION] = {"direction", NULL},
    [KEY_DISTANCE] = {"distance", NULL},
    [KEY_EXCHANGE] = {"exchange", NULL},
};

enum { KEY_FILE = KEY_NAME + 1, KEY_UNIT, SCHEDULE_KEYS };
static const struct iwi_yaml_key schedule_keys[SCHEDULE_KEYS] = {
    IWI_GRID_KEY_ROWS,
    [KEY_NAME] = {"name", NULL},
    [KEY_FILE] = {"file", NULL},
    [KEY_UNIT] = {"unit", NULL},
};

static const char *const boundaries[] = {"periodic", "open", NULL};
static const char *const directions[] = {"bi", "uni", NULL};
static const char *const exchanges[] = {"joint", "split", NULL};

/* A work that is being read. */
struct subject {
    struct iwi_study_reader *reader;
    iw_study_work *work;
    struct iwi_study_entry *part;
    struct iwi_yaml_entry entries[PATTERN_KEYS];
};
_Static_assert((int)SCHEDULE_KEYS <= (int)PATTERN_KEYS, "entries have room for both");

size_t iwi_study_begin_work(struct iwi_study_reader *reader, const yaml_node_t *node)
{
    const size_t index = reader->study->work_count;

    reader->works[index].line = iwi_yaml_line(node);
    reader->study->works[index].pattern = (iw_pattern)IW_PATTERN_INIT;
    reader->study->work_count++; /* from here on it is released with the study */
    return index;
}

static void begin_work(struct iwi_study_reader *reader, const yaml_node_t *node, struct subject *s)
{
    const size_t index = iwi_study_begin_work(reader, node);

    *s = (struct subject){
        .reader = reader, .work = &reader->study->works[index], .part = &reader->works[index]};
}

iw_status iwi_study_name_work(struct iwi_study_reader *reader, const yaml_node_t *node, const char *otherwise)
{
    const iw_study *study = reader->study;
    const size_t last = study->work_count - 1, line = reader->works[last].line;
    iw_study_work *work = &study->works[last];

    if (node != NULL) {
        IW_TRY(iwi_study_line(reader, node, "name", IWI_STUDY_NAME_BYTES, &work->name));
    } else if (strlen(otherwise) > IWI_STUDY_NAME_BYTES) {
        return iwi_yaml_fail(&reader->yaml, line, IW_ERR_RANGE,
                             "'%.40s...' is too long for a name: write {name: NAME, ...}", otherwise);
    } else {
        IW_TRY(iwi_copy_text(reader->yaml.log, otherwise, &work->name));
    }
    for (size_t i = 0; i < last; i++) {
        if (strcmp(study->works[i].name, work->name) == 0) {
            return iwi_yaml_fail(&reader->yaml, line, IW_ERR_FORMAT,
                                 "'%s' is there already, in line %zu; give it another name: {name: NAME, "
                                 "...}",
                                 work->name, reader->works[i].line);
        }
    }
    return IW_OK;
}

static iw_status read_name(struct subject *s, const char *otherwise)
{
    return iwi_study_name_work(s->reader, s->entries[KEY_NAME].value, otherwise);
}

/* ---- patterns ---- */

static iw_status unknown_word(const struct subject *s, size_t line, const char *what,
                              const struct iwi_nearest *nearest)
{
    char hint[IWI_HINT_SIZE];

    return iwi_yaml_fail(&s->reader->yaml, line, IW_ERR_FORMAT,
                         "unknown %s '%.60s'%s%s 'idlewave schedule' can list all", what, nearest->word,
                         iwi_nearest_hint(nearest, hint), nearest->best != NULL ? "" : ";");
}

/* Checks "OP" or "OP:ALGORITHM"; `word` is cut at the colon. */
static iw_status check_operation(const struct subject *s, size_t line, char *word)
{
    char *colon = strchr(word, ':');
    const char *wanted = colon != NULL ? colon + 1 : NULL;
    const char *op, *algorithm, *summary;
    struct iwi_nearest near_op, near_algorithm;
    bool is_op = false;

    if (colon != NULL) {
        *colon = '\0';
    }
    iwi_nearest_begin(&near_op, word);
    iwi_nearest_begin(&near_algorithm, wanted != NULL ? wanted : "");
    for (size_t i = 0; iw_algorithm_info(i, &op, &algorithm, &summary); i++) {
        iwi_nearest_offer(&near_op, op);
        if (strcmp(op, word) != 0) {
            continue;
        }
        is_op = true;
        if (wanted == NULL || strcmp(algorithm, wanted) == 0) {
            return IW_OK;
        }
        iwi_nearest_offer(&near_algorithm, algorithm);
    }
    return is_op ? unknown_word(s, line, "algorithm", &near_algorithm)
                 : unknown_word(s, line, "operation", &near_op);
}

static iw_status check_operations(const struct subject *s, size_t line)
{
    const char *text = s->work->operations;

    for (;;) {
        const size_t length = strcspn(text, "+");
        char word[64];

        if (length == 0 || length >= sizeof word) {
            return iwi_yaml_fail(&s->reader->yaml, line, IW_ERR_FORMAT,
                                 "'%.60s' is no pattern: write OP[:ALGORITHM], several joined by '+', for "
                                 "example 'halo2d+allreduce:ring'",
                                 s->work->operations);
        }
        snprintf(word, sizeof word, "%.*s", (int)length, text);
        IW_TRY(check_operation(s, line, word));
        if (text[length] == '\0') {
            return IW_OK;
        }
        text += length + 1;
    }
}

static iw_status read_dims(const struct subject *s, const yaml_node_t *node)
{
    uint32_t *dims = s->work->pattern.dims;
    const char *text, *at;

    IW_TRY(iwi_yaml_text(&s->reader->yaml, node, "dims", &text));
    at = text;
    for (size_t i = 0; i < IW_MAX_DIMS; i++) {
        char *end;
        const unsigned long long value = strtoull(at, &end, 10);

        if (*at < '0' || *at > '9' || value == 0 || value > UINT32_MAX || (*end != 'x' && *end != '\0')) {
            break;
        }
        dims[i] = (uint32_t)value;
        if (*end == '\0') {
            return IW_OK;
        }
        at = end + 1;
    }
    return iwi_yaml_fail(&s->reader->yaml, iwi_yaml_line(node), IW_ERR_FORMAT,
                         "key 'dims': '%.60s' is not a list of dimensions: write 16x16 or 8x8x4", text);
}

static iw_status read_choice(const struct subject *s, size_t key, const yaml_node_t *node,
                             const char *const *words, size_t wanted, bool *is_wanted_p)
{
    size_t index = 0;

    IW_TRY(iwi_study_choice(s->reader, node, pattern_keys[key].name, words, &index));
    *is_wanted_p = index == wanted;
    return IW_OK;
}

static iw_status read_option(struct subject *s, size_t key, const yaml_node_t *node)
{
    const struct iwi_study_reader *reader = s->reader;
    const char *name = pattern_keys[key].name;
    iw_pattern *pattern = &s->work->pattern;

    switch (key) {
    case KEY_ROOT: return iwi_study_count32(reader, node, name, 0, UINT32_C(1) << 30, &pattern->root);
    case KEY_COMPUTE: return iwi_study_time(reader, node, name, &pattern->compute_ps);
    case KEY_COMPUTE_BYTES:
        return iwi_study_count(reader, node, name, 0, UINT64_C(1) << 40, &pattern->compute_bytes);
    case KEY_REPEAT: return iwi_study_count(reader, node, name, 1, INT64_MAX, &pattern->repeat);
    case KEY_SEGMENT:
        return iwi_study_count(reader, node, name, 1, UINT64_C(1) << 40, &pattern->segment_bytes);
    case KEY_REDUCE_COST: return iwi_study_per_byte(reader, node, name, &pattern->reduce);
    case KEY_DIMS: return read_dims(s, node);
    case KEY_BOUNDARY: return read_choice(s, key, node, boundaries, 0, &pattern->is_periodic);
    case KEY_DIRECTION: return read_choice(s, key, node, directions, 1, &pattern->is_one_way);
    case KEY_EXCHANGE: return read_choice(s, key, node, exchanges, 1, &pattern->is_split);
    case KEY_DISTANCE: return iwi_study_count32(reader, node, name, 1, UINT32_MAX, &pattern->distance);
    default: return IW_OK;
    }
}

static iw_status read_options(struct subject *s)
{
    const bool is_grid =
        strstr(s->work->operations, "halo") != NULL || strstr(s->work->operations, "sweep") != NULL;

    for (size_t key = KEY_ROOT; key < PATTERN_KEYS; key++) {
        if (s->entries[key].value == NULL) {
            continue;
        }
        if (key >= KEY_DIMS && !is_grid) {
            return iwi_yaml_fail(&s->reader->yaml, s->entries[key].line, IW_ERR_FORMAT,
                                 "key '%s' is for halo and sweep patterns, not for '%s'",
                                 pattern_keys[key].name, s->work->operations);
        }
        IW_TRY(read_option(s, key, s->entries[key].value));
    }
    return IW_OK;
}

static iw_status read_pattern_mapping(struct subject *s, const yaml_node_t *node, const yaml_node_t **text_p)
{
    IW_TRY(iwi_yaml_mapping(&s->reader->yaml, node, pattern_keys, PATTERN_KEYS, s->entries));
    if (s->entries[KEY_PATTERN].value == NULL) {
        return iwi_yaml_fail(
            &s->reader->yaml, s->part->line, IW_ERR_FORMAT,
            "the pattern has no operations: add 'pattern: allreduce:dissemination', 'trace: run', or "
            "'training: job.yaml'");
    }
    *text_p = s->entries[KEY_PATTERN].value;
    return IW_OK;
}

iw_status iwi_study_read_pattern(struct iwi_study_reader *reader, const yaml_node_t *node)
{
    const yaml_node_t *text_node = node;
    const char *text;
    struct subject s;

    if (iwi_study_has_key(reader, node, "trace")) {
        return iwi_study_read_trace(reader, node);
    }
    if (iwi_study_has_key(reader, node, "training")) {
        return iwi_study_read_training(reader, node);
    }
    begin_work(reader, node, &s);
    if (node->type == YAML_MAPPING_NODE) {
        IW_TRY(read_pattern_mapping(&s, node, &text_node));
    }
    IW_TRY(iwi_yaml_text(&reader->yaml, text_node, "pattern", &text));
    IW_TRY(iwi_copy_text(reader->yaml.log, text, &s.work->operations));
    IW_TRY(check_operations(&s, iwi_yaml_line(text_node)));
    IW_TRY(read_name(&s, text));
    IW_TRY(read_options(&s));
    IW_TRY(iwi_study_grid_read(reader, s.entries, &s.part->grid));
    s.part->has_digest = true;
    s.part->digest = iwi_digest_of_pattern(s.work);
    return IW_OK;
}

/* ---- schedules ---- */

static iw_status load_schedule(struct subject *s)
{
    struct iwi_input input;
    iw_program *program;

    IW_TRY(iw_program_from_goal(s->reader->yaml.log, s->work->goal_path, s->work->goal_unit_ps, &program));
    s->part->ranks = iw_program_ranks(program);
    iw_program_free(program);
    IW_TRY(iwi_input_open(s->reader->yaml.log, s->work->goal_path, &input));
    s->part->has_digest = true;
    s->part->digest = iwi_digest_of_schedule(s->work, input.data, input.size);
    iwi_input_close(&input);
    return IW_OK;
}

static iw_status check_schedule_keys(const struct subject *s)
{
    static const size_t own[] = {IWI_KEY_RANKS, IWI_KEY_BYTES};

    if (s->entries[KEY_FILE].value == NULL) {
        return iwi_yaml_fail(&s->reader->yaml, s->part->line, IW_ERR_FORMAT,
                             "the schedule has no file: add 'file: app.goal'");
    }
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
        if (s->entries[own[i]].value != NULL) {
            return iwi_yaml_fail(&s->reader->yaml, s->entries[own[i]].line, IW_ERR_FORMAT,
                                 "a schedule has ranks and bytes of its own; leave '%s' out",
                                 schedule_keys[own[i]].name);
        }
    }
    return IW_OK;
}

static iw_status read_unit(struct subject *s)
{
    const yaml_node_t *node = s->entries[KEY_UNIT].value;

    s->work->goal_unit_ps = IW_PS_PER_NS;
    if (node == NULL) {
        return IW_OK;
    }
    IW_TRY(iwi_study_time(s->reader, node, "unit", &s->work->goal_unit_ps));
    if (s->work->goal_unit_ps == 0) {
        return iwi_yaml_fail(&s->reader->yaml, iwi_yaml_line(node), IW_ERR_RANGE,
                             "key 'unit' must be above zero");
    }
    return IW_OK;
}

static iw_status read_file(struct subject *s, const yaml_node_t *node)
{
    char name[256];
    const char *text;

    IW_TRY(iwi_yaml_text(&s->reader->yaml, node, "file", &text));
    IW_TRY(iwi_study_path(s->reader, text, &s->work->goal_path));
    iwi_name_of_path(text, name, sizeof name);
    IW_TRY(read_name(s, name));
    if (s->reader->wants_files && (text[0] == '\0' || access(s->work->goal_path, R_OK) != 0)) {
        return iwi_yaml_fail(&s->reader->yaml, iwi_yaml_line(node), IW_ERR_IO,
                             "schedule '%.200s': there is no such file beside the study", text);
    }
    return IW_OK;
}

iw_status iwi_study_read_schedule(struct iwi_study_reader *reader, const yaml_node_t *node)
{
    const yaml_node_t *file_node = node;
    struct subject s;

    begin_work(reader, node, &s);
    if (node->type == YAML_MAPPING_NODE) {
        IW_TRY(iwi_yaml_mapping(&reader->yaml, node, schedule_keys, SCHEDULE_KEYS, s.entries));
        IW_TRY(check_schedule_keys(&s));
        file_node = s.entries[KEY_FILE].value;
    }
    IW_TRY(read_file(&s, file_node));
    IW_TRY(read_unit(&s));
    IW_TRY(iwi_study_grid_read(reader, s.entries, &s.part->grid));
    return reader->wants_files ? load_schedule(&s) : IW_OK;
}
