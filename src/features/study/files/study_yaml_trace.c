/* The works of a study that are traces: opened once, checked, and how programs are made of them.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <idlewave/files.h>

#include "features/study/files/study_yaml.h"
#include "kit/files/io/input.h"

enum {
    KEY_NAME = IWI_GRID_KEYS,
    KEY_TRACE,
    KEY_RULES,
    KEY_ALGORITHMS,
    KEY_NO_P2P,
    KEY_NO_COLLECTIVES,
    KEY_COMPUTE_SCALE,
    KEY_COMPUTE_CLOCK,
    KEY_REPLICA_COMPUTE,
    KEY_ASYNC,
    KEY_REDUCE_COST,
    KEYS
};
static const struct iwi_yaml_key keys[KEYS] = {
    IWI_GRID_KEY_ROWS,
    [KEY_NAME] = {"name", NULL},
    [KEY_TRACE] = {"trace", NULL},
    [KEY_RULES] = {"collectives", NULL},
    [KEY_ALGORITHMS] = {"algorithms", NULL},
    [KEY_NO_P2P] = {"no-p2p", NULL},
    [KEY_NO_COLLECTIVES] = {"no-collectives", NULL},
    [KEY_COMPUTE_SCALE] = {"compute-scale", NULL},
    [KEY_COMPUTE_CLOCK] = {"compute-clock", NULL},
    [KEY_REPLICA_COMPUTE] = {"replica-compute", NULL},
    [KEY_ASYNC] = {"async", NULL},
    [KEY_REDUCE_COST] = {"reduce-cost", NULL},
};

static const char *const clocks[] = {"auto", "wall", "cpu", NULL}; /* in the order of iw_compute_clock */
static const char *const computes[] = {"resample", "copy", NULL};  /* and of iw_replica_compute */

static const char *const asyncs[] = {"wait", "calls", "thread", NULL}; /* and of iw_async */

/* A work that is being read. */
struct subject {
    struct iwi_study_reader *reader;
    iw_study_work *work;
    struct iwi_study_entry *part;
    struct iwi_yaml_entry entries[KEYS];
};

bool iwi_study_has_key(struct iwi_study_reader *reader, const yaml_node_t *node, const char *name)
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

/* ---- options ---- */

static bool is_known_rules(const char *text)
{
    for (size_t i = 0; iw_rules_name(i) != NULL; i++) {
        if (strcmp(iw_rules_name(i), text) == 0) {
            return true;
        }
    }
    return false;
}

static iw_status read_rules(struct subject *s, const yaml_node_t *node)
{
    const char *text;

    IW_TRY(iwi_yaml_text(&s->reader->yaml, node, "collectives", &text));
    IW_TRY(is_known_rules(text) ? iwi_copy_text(s->reader->yaml.log, text, &s->work->rules)
                                : iwi_study_path(s->reader, text, &s->work->rules));
    s->work->trace_opts.rules = s->work->rules;
    return IW_OK;
}

static iw_status read_algorithms(struct subject *s, const yaml_node_t *node)
{
    const size_t count = iwi_yaml_item_count(node);

    s->work->algorithms = iwi_new_array(s->reader->yaml.log, count + 1, sizeof *s->work->algorithms);
    if (s->work->algorithms == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        const char *text;

        IW_TRY(
            iwi_yaml_text(&s->reader->yaml, iwi_yaml_item(&s->reader->yaml, node, i), "algorithms", &text));
        IW_TRY(iwi_copy_text(s->reader->yaml.log, text, &s->work->algorithms[i]));
    }
    s->work->trace_opts.algorithms = (const char *const *)s->work->algorithms;
    return IW_OK;
}

static iw_status read_clock(struct subject *s, const yaml_node_t *node)
{
    size_t index = 0;

    IW_TRY(iwi_study_choice(s->reader, node, "compute-clock", clocks, &index));
    s->work->trace_opts.clock = (iw_compute_clock)index;
    return IW_OK;
}

static iw_status read_replica_compute(struct subject *s, const yaml_node_t *node)
{
    size_t index = 0;

    IW_TRY(iwi_study_choice(s->reader, node, "replica-compute", computes, &index));
    s->work->trace_opts.replica_compute = (iw_replica_compute)index;
    return IW_OK;
}

static iw_status read_async(struct subject *s, const yaml_node_t *node)
{
    size_t index = 0;

    IW_TRY(iwi_study_choice(s->reader, node, "async", asyncs, &index));
    s->work->trace_opts.async = (iw_async)index;
    return IW_OK;
}

static iw_status read_scale(struct subject *s, const yaml_node_t *node)
{
    double factor = 0;
    const char *text;

    IW_TRY(iwi_yaml_text(&s->reader->yaml, node, "compute-scale", &text));
    if (strchr(text, '%') != NULL || iw_parse_share(NULL, text, &factor) != IW_OK || !(factor > 0)) {
        return iwi_yaml_fail(&s->reader->yaml, iwi_yaml_line(node), IW_ERR_RANGE,
                             "key 'compute-scale': '%.40s' is no factor: write 2 for computation that takes "
                             "twice as long, 0.5 for half",
                             text);
    }
    s->work->trace_opts.compute_scale = factor;
    return IW_OK;
}

static iw_status read_option(struct subject *s, size_t key, const yaml_node_t *node)
{
    iw_trace_opts *opts = &s->work->trace_opts;

    switch (key) {
    case KEY_RULES: return read_rules(s, node);
    case KEY_ALGORITHMS: return read_algorithms(s, node);
    case KEY_NO_P2P: return iwi_study_switch(s->reader, node, keys[key].name, &opts->drops_p2p);
    case KEY_NO_COLLECTIVES:
        return iwi_study_switch(s->reader, node, keys[key].name, &opts->drops_collectives);
    case KEY_COMPUTE_SCALE: return read_scale(s, node);
    case KEY_COMPUTE_CLOCK: return read_clock(s, node);
    case KEY_REPLICA_COMPUTE: return read_replica_compute(s, node);
    case KEY_ASYNC: return read_async(s, node);
    default: return iwi_study_per_byte(s->reader, node, keys[key].name, &opts->reduce);
    }
}

static iw_status read_options(struct subject *s)
{
    if (s->entries[IWI_KEY_BYTES].value != NULL) {
        return iwi_yaml_fail(&s->reader->yaml, s->entries[IWI_KEY_BYTES].line, IW_ERR_FORMAT,
                             "a trace has sizes of its own; leave 'bytes' out");
    }
    for (size_t key = KEY_RULES; key < KEYS; key++) {
        if (s->entries[key].value != NULL) {
            IW_TRY(read_option(s, key, s->entries[key].value));
        }
    }
    return iwi_study_grid_read(s->reader, s->entries, &s->part->grid);
}

/* ---- the trace ---- */

static iw_status open_trace(const struct subject *s, const yaml_node_t *node, const char *text,
                            iw_study_trace *trace)
{
    const struct iwi_yaml *yaml = &s->reader->yaml;
    struct iwi_log_keeper keeper;
    iw_status status;

    if (text[0] == '\0' || access(trace->path, F_OK) != 0) {
        return iwi_yaml_fail(
            yaml, iwi_yaml_line(node), IW_ERR_IO,
            "trace '%.200s': there is no such file or folder beside the study; 'mpirun -n 64 "
            "idlewave trace -o DIR -- PROGRAM' makes one",
            text);
    }
    iwi_log_keeper_init(&keeper, yaml->log);
    status = iw_trace_open(&keeper.log, trace->path, &trace->trace);
    if (status != IW_OK) {
        return iwi_yaml_fail(yaml, iwi_yaml_line(node), status, "trace: %s", keeper.text);
    }
    trace->digest = iwi_digest_of_calls(trace->trace);
    return IW_OK;
}

/* The trace of that path, opened if no work has it yet. */
static iw_status find_trace(const struct subject *s, const yaml_node_t *node, const iw_study_trace **trace_p)
{
    iw_study *study = s->reader->study;
    size_t capacity = study->trace_count;
    const char *text;
    char *path;

    IW_TRY(iwi_yaml_text(&s->reader->yaml, node, "trace", &text));
    IW_TRY(iwi_study_path(s->reader, text, &path));
    for (size_t i = 0; i < study->trace_count; i++) {
        if (strcmp(study->traces[i].path, path) == 0) {
            free(path);
            *trace_p = &study->traces[i];
            return IW_OK;
        }
    }
    if (iwi_grow(s->reader->yaml.log, (void **)&study->traces, &capacity, study->trace_count + 1,
                 sizeof *study->traces) != IW_OK) {
        free(path);
        return IW_ERR_NOMEM;
    }
    study->traces[study->trace_count++] = (iw_study_trace){.path = path};
    *trace_p = &study->traces[study->trace_count - 1];
    return s->reader->wants_files ? open_trace(s, node, text, &study->traces[study->trace_count - 1]) : IW_OK;
}

/* "runs/pop", "runs/pop/" and "runs/pop/traces.otf2" give "pop". */
static iw_status name_work(const struct subject *s, const char *path)
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
    IW_TRY(iwi_copy_text(s->reader->yaml.log, path, &folder));
    folder[end] = '\0';
    iwi_name_of_path(folder, name, sizeof name);
    free(folder);
    return iwi_study_name_work(s->reader, s->entries[KEY_NAME].value, name);
}

/* On the ranks that were traced: what is wrong with the trace or its options is wrong on more of them too. */
static iw_status try_program(const struct subject *s)
{
    struct iwi_log_keeper keeper;
    iw_program *program = NULL;
    iw_status status;

    iwi_log_keeper_init(&keeper, s->reader->yaml.log);
    status = iw_program_from_trace(&keeper.log, s->work->trace, &s->work->trace_opts, &program);
    if (status != IW_OK) {
        return iwi_yaml_fail(&s->reader->yaml, s->part->line, status == IW_ERR_USAGE ? IW_ERR_FORMAT : status,
                             "'%s': %s", s->work->name, keeper.text);
    }
    s->part->ranks = iw_program_ranks(program);
    iw_program_free(program);
    return IW_OK;
}

static iw_status identify(struct subject *s, const iw_study_trace *trace)
{
    struct iwi_input rules = {.data = NULL};

    if (s->work->rules != NULL && !is_known_rules(s->work->rules)) {
        IW_TRY(iwi_input_open(s->reader->yaml.log, s->work->rules, &rules));
    }
    s->part->digest = iwi_digest_of_traced(s->work, trace->digest, rules.data, rules.size);
    s->part->has_digest = true;
    if (rules.data != NULL) {
        iwi_input_close(&rules);
    }
    return IW_OK;
}

iw_status iwi_study_read_trace(struct iwi_study_reader *reader, const yaml_node_t *node)
{
    const size_t index = iwi_study_begin_work(reader, node);
    struct subject s = {
        .reader = reader, .work = &reader->study->works[index], .part = &reader->works[index]};
    const iw_study_trace *trace = NULL;

    s.work->is_trace = true;
    s.work->trace_opts = (iw_trace_opts)IW_TRACE_OPTS_INIT;
    IW_TRY(iwi_yaml_mapping(&reader->yaml, node, keys, KEYS, s.entries));
    IW_TRY(find_trace(&s, s.entries[KEY_TRACE].value, &trace));
    IW_TRY(name_work(&s, trace->path));
    IW_TRY(read_options(&s));
    s.work->trace = trace->trace;
    if (!reader->wants_files) {
        return IW_OK;
    }
    IW_TRY(try_program(&s));
    return identify(&s, trace);
}
