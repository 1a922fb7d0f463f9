/* Reads training programs from YAML: settings by their keys, and a list of sources of jitter.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/training/training_yaml.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "kit/files/io/input.h"
#include "kit/files/io/yaml_doc.h"

enum { FIELDS = 12, MOST_ROWS = 1 << 20, SHOWN = 40 };

static const uint64_t MOST_BYTES = UINT64_C(1) << 50;

/* ---- words of a line ---- */

struct word {
    const char *text;
    int length;
};

struct reader {
    const iw_log *log;
    const char *file, *p, *end;
    uint64_t line; /* of what is being read; 1 = first */
    iw_training *spec;
    size_t row_capacity, once_capacity;
    iw_time sum_ps, once_ps;
    uint64_t gpus;
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* The next word of the line; false: there is none. */
static bool next_word(const char **p, const char *end, struct word *word)
{
    while (*p < end && is_blank(**p)) {
        (*p)++;
    }
    word->text = *p;
    while (*p < end && !is_blank(**p) && **p != '\n') {
        (*p)++;
    }
    word->length = (int)(*p - word->text);
    return word->length > 0;
}

static bool word_is(const struct word *word, const char *text)
{
    return (size_t)word->length == strlen(text) && memcmp(word->text, text, (size_t)word->length) == 0;
}

static bool begins(const struct word *word, const char *text)
{
    return (size_t)word->length >= strlen(text) && memcmp(word->text, text, strlen(text)) == 0;
}

#define WORD_ARGS(word) ((word)->length < SHOWN ? (word)->length : SHOWN), (word)->text

static iw_status read_number(const struct reader *r, const struct word *word, const char *what, uint64_t max,
                             uint64_t *value_p)
{
    uint64_t value = 0;

    for (int i = 0; i < word->length; i++) {
        const unsigned digit = (unsigned)(unsigned char)word->text[i] - '0';

        if (digit > 9) {
            return iwi_fail(r->log, IW_ERR_FORMAT, "'%s:%" PRIu64 "': %s is '%.*s' instead of a whole number",
                            r->file, r->line, what, WORD_ARGS(word));
        }
        value = value * 10 + digit;
        if (value > max) {
            return iwi_fail(r->log, IW_ERR_RANGE, "'%s:%" PRIu64 "': %s is more than %" PRIu64, r->file,
                            r->line, what, max);
        }
    }
    *value_p = value;
    return IW_OK;
}

/* ---- the first line ---- */

static const char *const policies[] = {"HYBRID_TRANSFORMER_FWD_IN_BCKWD",
                                       "HYBRID_TRANSFORMER",
                                       "HYBRID_DLRM",
                                       "HYBRID_DLRM_ENHANCED",
                                       "HYBRID_DATA_MODEL",
                                       "HYBRID_MODEL_DATA",
                                       "HYBRID_CUSTOMIZED",
                                       "DATA",
                                       "MODEL",
                                       "MICRO",
                                       "DISTRIBUTED_INFERENCE"};
enum { TRAINED = 2 }; /* the first ones share the layers of transformers */

static size_t policy_of(const struct word *word)
{
    size_t i = 0;

    while (i < sizeof policies / sizeof policies[0] && !word_is(word, policies[i])) {
        i++;
    }
    return i;
}

bool iwi_is_simai(const char *data, size_t size)
{
    struct word word;

    return next_word(&data, data + size, &word) && policy_of(&word) < sizeof policies / sizeof policies[0];
}

/* Where in the settings a key that is a count of the layout goes; false: it is none. */
static bool find_layout(const struct word *key, size_t *offset_p)
{
    static const struct {
        const char *key;
        size_t offset;
    } layout[] = {{"model_parallel_NPU_group", offsetof(iw_training, tp)},
                  {"ep", offsetof(iw_training, ep)},
                  {"pp", offsetof(iw_training, pp)},
                  {"vpp", offsetof(iw_training, chunks)},
                  {"ga", offsetof(iw_training, microbatches)}};

    for (size_t i = 0; i < sizeof layout / sizeof layout[0]; i++) {
        if (word_is(key, layout[i].key)) {
            *offset_p = layout[i].offset;
            return true;
        }
    }
    return false;
}

/* A key without its colon; `what` is the key in quotes. */
static iw_status read_known(struct reader *r, const struct word *key, const char *what,
                            const struct word *value)
{
    size_t offset = 0;
    uint64_t number = 0;

    if (find_layout(key, &offset)) {
        IW_TRY(read_number(r, value, what, UINT32_MAX, &number));
        *(uint32_t *)(void *)((char *)r->spec + offset) = (uint32_t)number;
        return number > 0 ? IW_OK : iwi_fail(r->log, IW_ERR_RANGE, "'%s:1': %s is 0", r->file, what);
    }
    if (word_is(key, "all_gpus")) {
        return read_number(r, value, what, UINT32_MAX, &r->gpus);
    }
    if (word_is(key, "pp_comm")) {
        IW_TRY(read_number(r, value, what, MOST_BYTES, &number));
        r->spec->message_bytes = (double)number;
        return IW_OK;
    }
    if (word_is(key, "checkpoints") || word_is(key, "checkpoint_initiates")) {
        IW_TRY(read_number(r, value, what, UINT32_MAX, &number));
        return number == 0 ? IW_OK
                           : iwi_fail(r->log, IW_ERR_UNSUPPORTED,
                                      "'%s:1': recomputed layers (%s) cannot be simulated from a workload "
                                      "file: add their time to the backward pass of their rows",
                                      r->file, what);
    }
    return iwi_fail(r->log, IW_ERR_FORMAT,
                    "'%s:1': unknown key %s: use model_parallel_NPU_group, ep, pp, vpp, ga, all_gpus, "
                    "checkpoints, checkpoint_initiates or pp_comm",
                    r->file, what);
}

static iw_status read_simai_setting(struct reader *r, const struct word *key, const struct word *value)
{
    const int colon = key->text[key->length - 1] == ':';
    const struct word bare = {key->text, key->length - colon};
    char what[SHOWN + 8];

    if (!word_is(&bare, "pp_comm") && !colon) {
        return iwi_fail(r->log, IW_ERR_FORMAT, "'%s:1': expected 'key: value', found '%.*s'", r->file,
                        WORD_ARGS(key));
    }
    snprintf(what, sizeof what, "'%.*s'", WORD_ARGS(&bare));
    return read_known(r, &bare, what, value);
}

/* Data parallelism is what the GPUs leave. */
static iw_status settle_layout(struct reader *r)
{
    const uint64_t sharers = (uint64_t)r->spec->tp * r->spec->pp;

    if (r->gpus > 0 && r->gpus % sharers != 0) {
        return iwi_fail(r->log, IW_ERR_RANGE,
                        "'%s:1': %" PRIu64
                        " GPUs are not a multiple of model_parallel_NPU_group times pp, %" PRIu64,
                        r->file, r->gpus, sharers);
    }
    r->spec->dp = r->gpus > 0 ? (uint32_t)(r->gpus / sharers) : 1;
    r->spec->chunks = r->spec->pp > 1 ? r->spec->chunks : 1; /* nothing to interleave */
    return IW_OK;
}

static iw_status read_layout(struct reader *r)
{
    struct word word, value;

    (void)next_word(&r->p, r->end, &word);
    if (policy_of(&word) >= TRAINED) {
        return iwi_fail(r->log, IW_ERR_UNSUPPORTED,
                        "'%s:1': workload type '%.*s' is not a training program: use %s or %s", r->file,
                        WORD_ARGS(&word), policies[1], policies[0]);
    }
    while (next_word(&r->p, r->end, &word)) {
        if (!next_word(&r->p, r->end, &value)) {
            return iwi_fail(r->log, IW_ERR_FORMAT, "'%s:1': '%.*s' has no value", r->file, WORD_ARGS(&word));
        }
        IW_TRY(read_simai_setting(r, &word, &value));
    }
    return settle_layout(r);
}

/* ---- rows ---- */

static iw_status read_kind(const struct reader *r, const struct word *word, unsigned pass,
                           iw_training_call *call)
{
    static const struct {
        const char *name;
        iw_training_call_kind kind;
    } kinds[] = {{"ALLREDUCE", IW_TRAINING_ALL_REDUCE},
                 {"ALLGATHER", IW_TRAINING_ALL_GATHER},
                 {"REDUCESCATTER", IW_TRAINING_REDUCE_SCATTER},
                 {"ALLTOALL", IW_TRAINING_ALL_TO_ALL},
                 {"BROADCAST", IW_TRAINING_ALL_GATHER}}; /* moves about as much */

    call->span = pass == IW_TRAINING_WEIGHT_GRADIENT ? IW_TRAINING_OVER_DP : IW_TRAINING_OVER_TP;
    if (word_is(word, "NONE")) {
        return IW_OK;
    }
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        const int length = (int)strlen(kinds[i].name);
        const struct word suffix = {word->text + length, word->length - length};

        if (begins(word, kinds[i].name) &&
            (suffix.length == 0 || word_is(&suffix, "_EP") || word_is(&suffix, "_DP_EP"))) {
            call->kind = kinds[i].kind;
            if (suffix.length > 0) {
                call->span = suffix.length == 3 ? IW_TRAINING_OVER_EP : IW_TRAINING_OVER_DP_EP;
            }
            return IW_OK;
        }
    }
    return iwi_fail(r->log, IW_ERR_FORMAT,
                    "'%s:%" PRIu64
                    "': unknown collective '%.*s': use NONE, ALLREDUCE, ALLGATHER, REDUCESCATTER, ALLTOALL "
                    "or BROADCAST, followed by _EP or _DP_EP if needed",
                    r->file, r->line, WORD_ARGS(word));
}

static iw_status read_passes(struct reader *r, const struct word words[FIELDS], iw_training_row *row)
{
    for (unsigned pass = 0; pass < IW_TRAINING_PASSES; pass++) {
        const struct word *fields = &words[2 + 3 * pass];
        uint64_t ns, bytes;

        IW_TRY(read_number(r, &fields[0], "a time", IW_TIME_INPUT_MAX / IW_PS_PER_NS, &ns));
        IW_TRY(read_kind(r, &fields[1], pass, &row->calls[pass]));
        IW_TRY(read_number(r, &fields[2], "a number of bytes", MOST_BYTES, &bytes));
        row->work_ps[pass] = (iw_time)ns * IW_PS_PER_NS;
        row->calls[pass].bytes = (double)bytes;
        r->sum_ps += row->work_ps[pass];
        if (r->sum_ps > IW_TIME_INPUT_MAX) {
            return iwi_fail(r->log, IW_ERR_RANGE, "'%s:%" PRIu64 "': the rows compute for more than 10 days",
                            r->file, r->line);
        }
    }
    return IW_OK;
}

/* What AICB writes before and behind the layers. */
static bool is_once(const struct word *name)
{
    static const char *const beginnings[] = {"grad_", "embedding_grads", "moe_grad_norm", "cross_entropy",
                                             "optimizer"};

    for (size_t i = 0; i < sizeof beginnings / sizeof beginnings[0]; i++) {
        if (begins(name, beginnings[i])) {
            return true;
        }
    }
    return word_is(name, "norm") || word_is(name, "layernorm");
}

static iw_status add_row(struct reader *r, const struct word *name, const iw_training_row *row)
{
    iw_training *spec = r->spec;
    const bool once = is_once(name);
    iw_training_row **rows = once ? &spec->once_rows : &spec->rows;
    uint32_t *count = once ? &spec->once_count : &spec->row_count;

    IW_TRY(iwi_grow(r->log, (void **)rows, once ? &r->once_capacity : &r->row_capacity, (size_t)*count + 1,
                    sizeof **rows));
    (*rows)[(*count)++] = *row;
    for (unsigned pass = 0; once && pass < IW_TRAINING_PASSES; pass++) {
        r->once_ps += row->work_ps[pass];
    }
    return IW_OK;
}

/* To the beginning of the next line that has something; false: there is none. */
static bool next_line(struct reader *r)
{
    while (r->p < r->end && (is_blank(*r->p) || *r->p == '\n')) {
        r->line += *r->p++ == '\n';
    }
    return r->p < r->end;
}

static iw_status read_row(struct reader *r)
{
    struct word words[FIELDS + 1];
    iw_training_row row = {0};
    int count = 0;

    while (count <= FIELDS && next_word(&r->p, r->end, &words[count])) {
        count++;
    }
    if (count != FIELDS) {
        return iwi_fail(r->log, IW_ERR_FORMAT,
                        "'%s:%" PRIu64 "': a row has %d fields (name, -1, three times computation, "
                        "collective, bytes, and an update), not %s%d",
                        r->file, r->line, FIELDS, count > FIELDS ? "more than " : "",
                        count > FIELDS ? FIELDS : count);
    }
    IW_TRY(read_passes(r, words, &row));
    return add_row(r, &words[0], &row);
}

static iw_status read_rows(struct reader *r)
{
    struct word word, more;
    uint64_t wanted, count = 0;

    if (!next_line(r) || !next_word(&r->p, r->end, &word)) {
        return iwi_fail(r->log, IW_ERR_TRUNCATED, "'%s:%" PRIu64 "': ends before the number of its rows",
                        r->file, r->line);
    }
    IW_TRY(read_number(r, &word, "the number of rows", MOST_ROWS, &wanted));
    if (next_word(&r->p, r->end, &more)) {
        return iwi_fail(r->log, IW_ERR_FORMAT, "'%s:%" PRIu64 "': expected only the number of rows", r->file,
                        r->line);
    }
    while (next_line(r)) {
        if (++count > wanted) {
            return iwi_fail(r->log, IW_ERR_FORMAT, "'%s:%" PRIu64 "': more rows than the announced %" PRIu64,
                            r->file, r->line, wanted);
        }
        IW_TRY(read_row(r));
    }
    return count == wanted ? IW_OK
                           : iwi_fail(r->log, IW_ERR_TRUNCATED,
                                      "'%s:%" PRIu64 "': ends after %" PRIu64 " of %" PRIu64 " rows", r->file,
                                      r->line, count, wanted);
}

/* ---- all of it ---- */

static iw_status finish(struct reader *r)
{
    iw_training *spec = r->spec;
    const char *slash = strrchr(r->file, '/');

    if (spec->row_count == 0) {
        return iwi_fail(r->log, IW_ERR_FORMAT, "'%s' has no rows of layers", r->file);
    }
    if (spec->row_count % spec->microbatches != 0) {
        return iwi_fail(r->log, IW_ERR_FORMAT,
                        "'%s': %" PRIu32 " rows of layers are not a multiple of %" PRIu32
                        " micro-batches (ga)",
                        r->file, spec->row_count, spec->microbatches);
    }
    spec->rows_each = spec->row_count / spec->microbatches;
    spec->optimizer_ps = r->once_ps;
    snprintf(spec->name, sizeof spec->name, "%.*s", (int)sizeof spec->name - 1,
             slash != NULL ? slash + 1 : r->file);
    return IW_OK;
}

iw_status iwi_simai_read_memory(const iw_log *log, const char *file, const char *data, size_t size,
                                iw_training *spec)
{
    struct reader r = {.log = log, .file = file, .p = data, .end = data + size, .line = 1, .spec = spec};

    IW_TRY(read_layout(&r));
    IW_TRY(read_rows(&r));
    return finish(&r);
}

/* ---- noise ---- */

static iw_status read_noise(const struct iwi_yaml_value *value, void *at)
{
#define TEXT(m) IWI_YAML_ROW(iw_training_source_text, #m, m, iwi_yaml_string)
    static const struct iwi_yaml_row rows[] = {
        IWI_YAML_ROW(iw_training_source_text, "source", source, iwi_yaml_string, .is_short = true),
        TEXT(name),
        TEXT(where),
        TEXT(scope),
        TEXT(skew),
        TEXT(factor),
        TEXT(from),
    };
#undef TEXT

    for (size_t i = 0; i < iwi_yaml_items(value); i++) {
        iw_training_source_text text = {.source = NULL};
        struct iwi_yaml_map map;

        IW_TRY(iwi_yaml_find(value->yaml, iwi_yaml_nth(value, i).node, IWI_YAML_ROWS(rows), &map));
        IW_TRY(iwi_yaml_read(&map, &text));
        if (text.source == NULL) {
            return iwi_yaml_fail(value->yaml, map.line, IW_ERR_FORMAT,
                                 "an item of 'noise' needs the key 'source': python-gc, or "
                                 "periodic:10Hz,30ms");
        }
        IW_TRY(iw_training_add_source(iwi_yaml_log(value->yaml, map.line, ""), at, &text));
    }
    return IW_OK;
}

/* ---- settings ---- */

/* A list is told with commas between its items. */
static iw_status read_setting(const struct iwi_yaml_value *value, void *at)
{
    const iw_log *log = value->yaml->log;
    size_t used = 0, capacity = 0;
    char *text = NULL;
    iw_status status = iwi_grow(log, (void **)&text, &capacity, 1, 1);

    for (size_t i = 0; i < iwi_yaml_items(value) && status == IW_OK; i++) {
        const struct iwi_yaml_value value_of = iwi_yaml_nth(value, i);
        const char *item = "";

        status = iwi_yaml_string(&value_of, &item);
        if (status == IW_OK) {
            status = iwi_grow(log, (void **)&text, &capacity, used + strlen(item) + 2, 1);
        }
        if (status == IW_OK) {
            used += (size_t)snprintf(text + used, capacity - used, "%s%s", i > 0 ? "," : "", item);
        }
    }
    if (status == IW_OK) {
        text[used] = '\0';
        status = iw_training_set(iwi_yaml_log(value->yaml, value->line, ""), at, value->row->key, text);
    }
    free(text);
    return status;
}

static iw_status read_document(struct iwi_yaml *yaml, iw_training *spec)
{
    static const char *const formats[] = {"idlewave.training/1", NULL};
    struct iwi_yaml_row rows[IWI_MOST_YAML_KEYS] = {
        {.key = "format", .read = iwi_yaml_format, .names = formats}};
    struct iwi_yaml_map map;
    size_t count = 1;

    /* the model comes first, so that others change it */
    for (size_t i = 0; iw_training_key(i) != NULL && count < IWI_MOST_YAML_KEYS - 1; i++) {
        rows[count++] = (struct iwi_yaml_row){.key = iw_training_key(i), .read = read_setting};
    }
    rows[count++] = (struct iwi_yaml_row){.key = "noise", .read = read_noise};
    IW_TRY(iwi_yaml_find(yaml, iwi_yaml_root(yaml), rows, count, &map));
    return iwi_yaml_read(&map, spec);
}

iw_status iwi_training_read_memory(const iw_log *log, const char *file, const char *data, size_t size,
                                   iw_training *spec)
{
    struct iwi_yaml yaml;
    iw_status status;

    if (iwi_is_simai(data, size)) {
        return iwi_simai_read_memory(log, file, data, size, spec);
    }
    IW_TRY(iwi_yaml_open(log, file, data, size, "model: llama3-8b", &yaml));
    status = read_document(&yaml, spec);
    iwi_yaml_close(&yaml);
    return status;
}

enum { HEAD_BYTES = 256 /* with the first word of a workload */ };

bool iw_training_is_file(const char *path)
{
    const char *dot = strrchr(path, '.');
    char head[HEAD_BYTES];
    FILE *file;
    size_t size;

    if (dot != NULL && (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0)) {
        return true;
    }
    file = fopen(path, "re");
    if (file == NULL) {
        return false;
    }
    size = fread(head, 1, sizeof head, file);
    (void)fclose(file);
    return iwi_is_simai(head, size);
}

iw_status iw_training_load(const iw_log *log, const char *path, iw_training *spec)
{
    struct iwi_input input;
    iw_status status;

    IW_TRY(iwi_input_open(log, path, &input));
    status = iwi_training_read_memory(log, path, input.data, input.size, spec);
    iwi_input_close(&input);
    return status;
}
