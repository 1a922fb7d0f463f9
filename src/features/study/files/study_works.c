/* The works of a study: patterns, schedules and traces.
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

/* ---- patterns ---- */

static iw_status unknown_word(const struct iwi_yaml_value *value, const char *what,
                              const struct iwi_nearest *nearest)
{
    char hint[IWI_HINT_SIZE];

    return iwi_yaml_fail(value->yaml, value->line, IW_ERR_FORMAT,
                         "unknown %s '%.60s'%s%s for all, type: idlewave schedule", what, nearest->word,
                         iwi_nearest_hint(nearest, hint), nearest->best != NULL ? "" : ";");
}

/* Checks "OP" or "OP:ALGORITHM"; `word` is cut at the colon. */
static iw_status check_operation(const struct iwi_yaml_value *value, char *word)
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
    return is_op ? unknown_word(value, "algorithm", &near_algorithm)
                 : unknown_word(value, "operation", &near_op);
}

static iw_status read_operations(const struct iwi_yaml_value *value, void *at)
{
    const char *whole, *text;

    IW_TRY(iwi_yaml_string(value, &whole));
    for (text = whole;;) {
        const size_t length = strcspn(text, "+");
        char word[64];

        if (length == 0 || length >= sizeof word) {
            return iwi_yaml_fail(value->yaml, value->line, IW_ERR_FORMAT,
                                 "'%.60s' is not a pattern: write OP[:ALGORITHM], several joined by '+', for "
                                 "example 'halo2d+allreduce:ring'",
                                 whole);
        }
        snprintf(word, sizeof word, "%.*s", (int)length, text);
        IW_TRY(check_operation(value, word));
        if (text[length] == '\0') {
            return iwi_copy_text(value->yaml->log, whole, at);
        }
        text += length + 1;
    }
}

static iw_status read_dims(const struct iwi_yaml_value *value, void *at)
{
    uint32_t *dims = at;
    const char *text, *from;

    IW_TRY(iwi_yaml_string(value, &text));
    from = text;
    for (size_t i = 0; i < IW_MAX_DIMS; i++) {
        char *end;
        const unsigned long long number = strtoull(from, &end, 10);

        if (*from < '0' || *from > '9' || number == 0 || number > UINT32_MAX ||
            (*end != 'x' && *end != '\0')) {
            break;
        }
        dims[i] = (uint32_t)number;
        if (*end == '\0') {
            return IW_OK;
        }
        from = end + 1;
    }
    return iwi_yaml_refuse(value, IW_ERR_FORMAT, "'%.60s' is not a list of dimensions: write 16x16 or 8x8x4",
                           text);
}

/* Of which patterns a key is. */
enum { ALL_PATTERNS, GRIDS };

static const char *const boundaries[] = {"open", "periodic", NULL};
static const char *const directions[] = {"bi", "uni", NULL};
static const char *const exchanges[] = {"joint", "split", NULL};

#define OPTION(key, member, how, ...) \
    IWI_YAML_ROW(struct iwi_study_item, key, work.pattern.member, how, ##__VA_ARGS__)
static const struct iwi_yaml_row pattern_rows[] = {
    IWI_STUDY_GRID_ROWS(offsetof(struct iwi_study_item, entry.grid)),
    IWI_STUDY_NAME_ROW(struct iwi_study_item, work.name),
    IWI_YAML_ROW(struct iwi_study_item, "pattern", work.operations, read_operations, .is_short = true),
    OPTION("root", root, iwi_yaml_count, .most = UINT64_C(1) << 30),
    OPTION("compute", compute_ps, iwi_yaml_time),
    OPTION("compute-bytes", compute_bytes, iwi_yaml_count, .most = UINT64_C(1) << 40),
    OPTION("repeat", repeat, iwi_yaml_count, .least = 1),
    OPTION("segment", segment_bytes, iwi_yaml_count, .least = 1, .most = UINT64_C(1) << 40),
    OPTION("reduce-cost", reduce, iwi_yaml_per_byte),
    OPTION("dims", dims, read_dims, .where = GRIDS),
    OPTION("boundary", is_periodic, iwi_yaml_choice, .names = boundaries, .where = GRIDS),
    OPTION("direction", is_one_way, iwi_yaml_choice, .names = directions, .where = GRIDS),
    OPTION("distance", distance, iwi_yaml_count, .least = 1, .where = GRIDS),
    OPTION("exchange", is_split, iwi_yaml_choice, .names = exchanges, .where = GRIDS),
};
#undef OPTION

static iw_status check_grid_keys(const struct iwi_yaml_map *map, const char *operations)
{
    if (strstr(operations, "halo") != NULL || strstr(operations, "sweep") != NULL) {
        return IW_OK;
    }
    for (size_t i = 0; i < map->count; i++) {
        if (map->found[i].node != NULL && map->rows[i].where == GRIDS) {
            return iwi_yaml_fail(map->yaml, map->found[i].key_line, IW_ERR_FORMAT,
                                 "key '%s' is for halo and sweep patterns, not for '%s'", map->rows[i].key,
                                 operations);
        }
    }
    return IW_OK;
}

static iw_status read_pattern(struct iwi_study_reader *reader, const yaml_node_t *node,
                              struct iwi_study_item *item)
{
    struct iwi_yaml_map map;

    IW_TRY(iwi_yaml_find(&reader->yaml, node, IWI_YAML_ROWS(pattern_rows), &map));
    if (iwi_yaml_get(&map, "pattern") == NULL) {
        return iwi_yaml_fail(
            &reader->yaml, map.line, IW_ERR_FORMAT,
            "the pattern has no operations: add 'pattern: allreduce:dissemination', 'trace: run', or "
            "'training: job.yaml'");
    }
    IW_TRY(iwi_yaml_read(&map, item));
    IW_TRY(iwi_study_name_work(reader, item->work.operations, item));
    IW_TRY(check_grid_keys(&map, item->work.operations));
    item->entry.has_digest = true;
    item->entry.digest = iwi_digest_of_pattern(&item->work);
    return IW_OK;
}

/* ---- schedules ---- */

static iw_status load_schedule(const struct iwi_study_reader *reader, struct iwi_study_item *item)
{
    const iw_log *log = reader->yaml.log;
    struct iwi_input input;
    iw_program *program;

    IW_TRY(iw_program_from_goal(log, item->work.goal_path, item->work.goal_unit_ps, &program));
    item->entry.ranks = iw_program_ranks(program);
    iw_program_free(program);
    IW_TRY(iwi_input_open(log, item->work.goal_path, &input));
    item->entry.has_digest = true;
    item->entry.digest = iwi_digest_of_schedule(&item->work, input.data, input.size);
    iwi_input_close(&input);
    return IW_OK;
}

static iw_status read_file(const struct iwi_yaml_value *value, void *at)
{
    const struct iwi_study_reader *reader = value->yaml->reader;
    char **path = at;
    const char *text;

    IW_TRY(iwi_yaml_string(value, &text));
    IW_TRY(iwi_study_path(reader, text, path));
    return !reader->wants_files || (text[0] != '\0' && access(*path, R_OK) == 0)
               ? IW_OK
               : iwi_yaml_fail(value->yaml, value->line, IW_ERR_IO,
                               "schedule '%.200s': no such file in the folder of the study", text);
}

static iw_status read_unit(const struct iwi_yaml_value *value, void *at)
{
    IW_TRY(iwi_yaml_time(value, at));
    return *(iw_time *)at > 0
               ? IW_OK
               : iwi_yaml_fail(value->yaml, value->line, IW_ERR_RANGE, "key 'unit' must be above zero");
}

static const struct iwi_yaml_row schedule_rows[] = {
    IWI_STUDY_GRID_ROWS(offsetof(struct iwi_study_item, entry.grid)),
    IWI_STUDY_NAME_ROW(struct iwi_study_item, work.name),
    IWI_YAML_ROW(struct iwi_study_item, "file", work.goal_path, read_file, .is_short = true),
    IWI_YAML_ROW(struct iwi_study_item, "unit", work.goal_unit_ps, read_unit),
};

static iw_status read_schedule(struct iwi_study_reader *reader, const yaml_node_t *node,
                               struct iwi_study_item *item)
{
    struct iwi_yaml_map map;
    char name[256];

    IW_TRY(iwi_yaml_find(&reader->yaml, node, IWI_YAML_ROWS(schedule_rows), &map));
    if (iwi_yaml_get(&map, "file") == NULL) {
        return iwi_yaml_fail(&reader->yaml, map.line, IW_ERR_FORMAT,
                             "the schedule has no file: add 'file: app.goal'");
    }
    IW_TRY(iwi_study_refuse_list(&map, "ranks", "a schedule has ranks and bytes"));
    IW_TRY(iwi_study_refuse_list(&map, "bytes", "a schedule has ranks and bytes"));
    item->work.goal_unit_ps = IW_PS_PER_NS;
    IW_TRY(iwi_yaml_read(&map, item));
    iwi_name_of_path(item->work.goal_path, name, sizeof name);
    IW_TRY(iwi_study_name_work(reader, name, item));
    return reader->wants_files ? load_schedule(reader, item) : IW_OK;
}

/* ---- traces: options ---- */

static bool is_known_rules(const char *text)
{
    for (size_t i = 0; iw_rules_name(i) != NULL; i++) {
        if (strcmp(iw_rules_name(i), text) == 0) {
            return true;
        }
    }
    return false;
}

static iw_status read_rules(const struct iwi_yaml_value *value, void *at)
{
    iw_study_work *work = at;
    const char *text;

    IW_TRY(iwi_yaml_string(value, &text));
    IW_TRY(is_known_rules(text) ? iwi_copy_text(value->yaml->log, text, &work->rules)
                                : iwi_study_path(value->yaml->reader, text, &work->rules));
    work->trace_opts.rules = work->rules;
    return IW_OK;
}

static iw_status read_algorithms(const struct iwi_yaml_value *value, void *at)
{
    const size_t count = iwi_yaml_items(value);
    iw_study_work *work = at;

    work->algorithms = iwi_new_array(value->yaml->log, count + 1, sizeof *work->algorithms);
    if (work->algorithms == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        const struct iwi_yaml_value item = iwi_yaml_nth(value, i);
        const char *text;

        IW_TRY(iwi_yaml_string(&item, &text));
        IW_TRY(iwi_copy_text(value->yaml->log, text, &work->algorithms[i]));
    }
    work->trace_opts.algorithms = (const char *const *)work->algorithms;
    return IW_OK;
}

static iw_status read_compute_scale(const struct iwi_yaml_value *value, void *at)
{
    double *factor = at;
    const char *text;

    IW_TRY(iwi_yaml_string(value, &text));
    return strchr(text, '%') == NULL && iw_parse_share(NULL, text, factor) == IW_OK && *factor > 0
               ? IW_OK
               : iwi_yaml_refuse(value, IW_ERR_RANGE,
                                 "'%.40s' is not a factor: write 2 for computation that takes twice as long, "
                                 "0.5 for half",
                                 text);
}

static const char *const clocks[] = {"auto", "wall", "cpu", NULL};     /* in the order of iw_compute_clock */
static const char *const computes[] = {"resample", "copy", NULL};      /* of iw_replica_compute */
static const char *const asyncs[] = {"wait", "calls", "thread", NULL}; /* of iw_async */

#define OPTION(key, member, how, ...) \
    IWI_YAML_ROW(struct iwi_study_item, key, work.trace_opts.member, how, ##__VA_ARGS__)
static const struct iwi_yaml_row trace_rows[] = {
    IWI_STUDY_GRID_ROWS(offsetof(struct iwi_study_item, entry.grid)),
    IWI_STUDY_NAME_ROW(struct iwi_study_item, work.name),
    {.key = "trace"},
    IWI_YAML_ROW(struct iwi_study_item, "collectives", work, read_rules),
    IWI_YAML_ROW(struct iwi_study_item, "algorithms", work, read_algorithms),
    OPTION("no-p2p", drops_p2p, iwi_yaml_switch),
    OPTION("no-collectives", drops_collectives, iwi_yaml_switch),
    OPTION("compute-scale", compute_scale, read_compute_scale),
    OPTION("compute-clock", clock, iwi_yaml_choice, .names = clocks),
    OPTION("replica-compute", replica_compute, iwi_yaml_choice, .names = computes),
    OPTION("async", async, iwi_yaml_choice, .names = asyncs),
    OPTION("reduce-cost", reduce, iwi_yaml_per_byte),
};
#undef OPTION

/* ---- traces: files ---- */

static iw_status open_trace(const struct iwi_yaml_value *value, const char *text, iw_study_trace *trace)
{
    struct iwi_yaml *yaml = value->yaml;

    if (text[0] == '\0' || access(trace->path, F_OK) != 0) {
        return iwi_yaml_fail(
            yaml, value->line, IW_ERR_IO,
            "trace '%.200s': no such file or folder in the folder of the study; make one with 'mpirun -n 64 "
            "idlewave trace -o DIR -- PROGRAM'",
            text);
    }
    IW_TRY(iw_trace_open(iwi_yaml_log(yaml, value->line, "trace: "), trace->path, &trace->trace));
    trace->digest = iwi_digest_of_calls(trace->trace);
    return IW_OK;
}

/* The trace of that path, opened if no work has it yet. */
static iw_status find_trace(const struct iwi_yaml_value *value, const iw_study_trace **trace_p)
{
    struct iwi_study_reader *reader = value->yaml->reader;
    iw_study *study = &reader->study;
    size_t capacity = study->trace_count;
    const char *text;
    char *path;

    IW_TRY(iwi_yaml_string(value, &text));
    IW_TRY(iwi_study_path(reader, text, &path));
    for (size_t i = 0; i < study->trace_count; i++) {
        if (strcmp(study->traces[i].path, path) == 0) {
            free(path);
            *trace_p = &study->traces[i];
            return IW_OK;
        }
    }
    if (iwi_grow(reader->yaml.log, (void **)&study->traces, &capacity, study->trace_count + 1,
                 sizeof *study->traces) != IW_OK) {
        free(path);
        return IW_ERR_NOMEM;
    }
    study->traces[study->trace_count++] = (iw_study_trace){.path = path};
    *trace_p = &study->traces[study->trace_count - 1];
    return reader->wants_files ? open_trace(value, text, &study->traces[study->trace_count - 1]) : IW_OK;
}

/* "runs/pop", "runs/pop/" and "runs/pop/traces.otf2" give "pop". */
static iw_status name_after_trace(struct iwi_study_reader *reader, const char *path,
                                  struct iwi_study_item *item)
{
    static const char anchor[] = "/traces.otf2";
    const size_t length = strlen(path);
    char name[256], *folder = NULL;
    size_t end = length > strlen(anchor) && strcmp(path + length - strlen(anchor), anchor) == 0
                     ? length - strlen(anchor)
                     : length;

    while (end > 1 && path[end - 1] == '/') {
        end--;
    }
    IW_TRY(iwi_copy_text(reader->yaml.log, path, &folder));
    folder[end] = '\0';
    iwi_name_of_path(folder, name, sizeof name);
    free(folder);
    return iwi_study_name_work(reader, name, item);
}

/* On the ranks that were traced: what is wrong with the trace or its options is wrong on more of them too. */
static iw_status try_program(const struct iwi_study_reader *reader, struct iwi_study_item *item)
{
    char subject[IWI_STUDY_NAME_BYTES + 8];
    iw_program *program = NULL;
    iw_status status;

    snprintf(subject, sizeof subject, "'%s': ", item->work.name);
    status = iw_program_from_trace(iwi_yaml_log(&reader->yaml, item->entry.line, subject), item->work.trace,
                                   &item->work.trace_opts, &program);
    if (status != IW_OK) {
        return status == IW_ERR_USAGE ? IW_ERR_FORMAT : status;
    }
    item->entry.ranks = iw_program_ranks(program);
    iw_program_free(program);
    return IW_OK;
}

static iw_status identify_trace(const struct iwi_study_reader *reader, const iw_study_trace *trace,
                                struct iwi_study_item *item)
{
    struct iwi_input rules = {.data = NULL};

    if (item->work.rules != NULL && !is_known_rules(item->work.rules)) {
        IW_TRY(iwi_input_open(reader->yaml.log, item->work.rules, &rules));
    }
    item->entry.digest = iwi_digest_of_traced(&item->work, trace->digest, rules.data, rules.size);
    item->entry.has_digest = true;
    if (rules.data != NULL) {
        iwi_input_close(&rules);
    }
    return IW_OK;
}

static iw_status read_trace(struct iwi_study_reader *reader, const yaml_node_t *node,
                            struct iwi_study_item *item)
{
    const iw_study_trace *trace = NULL;
    struct iwi_yaml_map map;

    item->work.is_trace = true;
    item->work.trace_opts = (iw_trace_opts)IW_TRACE_OPTS_INIT;
    IW_TRY(iwi_yaml_find(&reader->yaml, node, IWI_YAML_ROWS(trace_rows), &map));
    IW_TRY(iwi_study_refuse_list(&map, "bytes", "a trace has sizes"));
    IW_TRY(find_trace(iwi_yaml_get(&map, "trace"), &trace));
    IW_TRY(iwi_yaml_read(&map, item));
    IW_TRY(name_after_trace(reader, trace->path, item));
    item->work.trace = trace->trace;
    if (!reader->wants_files) {
        return IW_OK;
    }
    IW_TRY(try_program(reader, item));
    return identify_trace(reader, trace, item);
}

/* ---- any of them ---- */

/* Whether an item is a mapping with that key. */
static bool has_key(struct iwi_study_reader *reader, const yaml_node_t *node, const char *name)
{
    if (node->type != YAML_MAPPING_NODE) {
        return false;
    }
    for (const yaml_node_pair_t *pair = node->data.mapping.pairs.start; pair < node->data.mapping.pairs.top;
         pair++) {
        const yaml_node_t *key = yaml_document_get_node(&reader->yaml.document, pair->key);

        if (key != NULL && key->type == YAML_SCALAR_NODE &&
            strcmp((const char *)key->data.scalar.value, name) == 0) {
            return true;
        }
    }
    return false;
}

/* The study has it, and releases it, whatever comes of it. */
static iw_status add_work(struct iwi_study_reader *reader, const yaml_node_t *node,
                          iw_status (*read)(struct iwi_study_reader *reader, const yaml_node_t *node,
                                            struct iwi_study_item *item))
{
    struct iwi_study_item item = {.work.pattern = IW_PATTERN_INIT, .entry.line = iwi_yaml_line(node)};
    const iw_status status = read(reader, node, &item);

    reader->works[reader->study.work_count] = item.entry;
    reader->study.works[reader->study.work_count++] = item.work;
    return status;
}

iw_status iwi_study_read_pattern(struct iwi_study_reader *reader, const yaml_node_t *node)
{
    return add_work(reader, node,
                    has_key(reader, node, "trace")      ? read_trace
                    : has_key(reader, node, "training") ? iwi_study_read_training
                                                        : read_pattern);
}

iw_status iwi_study_read_schedule(struct iwi_study_reader *reader, const yaml_node_t *node)
{
    return add_work(reader, node, read_schedule);
}
