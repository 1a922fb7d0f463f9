/* Documents, and the files that hold results: which renderer, which kind.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>
#include <string.h>

#include <idlewave/doc.h>
#include <idlewave/status.h>

#include "core/base/base.h"
#include "core/noise/spec.h"
#include "kit/doc/doc.h"
#include "kit/files/io/input.h"
#include "kit/schema/json_util.h"
#include "kit/text/words.h"

/* ---- JSON ---- */

/* Paragraphs of the verdict as one text, items of the section "certainty" as a list. */
static void add_words(const struct iwi_document *doc, json_t *json)
{
    struct iwi_arena arena = {.blocks = NULL};
    json_t *notes = json_array();
    const char *verdict = "", *section = "";

    for (const struct iwi_block *block = doc->blocks; block != NULL; block = block->next) {
        if (block->kind == IWI_BLOCK_VERDICT) {
            verdict = iwi_arena_text(&arena, "%s%s%s", verdict, verdict[0] != '\0' ? " " : "", block->text);
        } else if (block->kind == IWI_BLOCK_SECTION) {
            section = block->id;
        } else if (block->kind == IWI_BLOCK_ITEM && strcmp(section, "certainty") == 0) {
            (void)json_array_append_new(notes, iwi_json_text(block->text));
        }
    }
    (void)json_object_set_new(json, "verdict", iwi_json_text(verdict));
    (void)json_object_set_new(json, "notes", notes);
    iwi_arena_free(&arena);
}

static iw_status write_json(const iw_log *log, const struct iwi_document *doc, iw_doc what, FILE *out)
{
    json_t *json = json_pack("{s:s, s:s}", "schema", what.kind->schema_id, "version", iw_version());
    json_t *fields = iwi_schema_json(what.kind->schema, what.subject);

    add_words(doc, json);
    (void)json_object_update(json, fields);
    json_decref(fields);
    return iwi_json_write(log, json, out, "the JSON result");
}

/* ---- any medium ---- */

bool iw_doc_has_format(iw_doc doc, iw_doc_format format)
{
    switch (format) {
    case IW_DOC_JSON: return doc.kind->schema_id != NULL;
    case IW_DOC_CSV:
        return (doc.kind->has_csv != NULL && doc.kind->has_csv(doc.subject)) ||
               (doc.kind->schema != NULL && iwi_schema_has_csv(doc.kind->schema));
    default: return true;
    }
}

static iw_status write_made(const struct iwi_document *doc, iw_doc what, iw_doc_format format,
                            const iw_doc_style *look, FILE *out)
{
    const iw_doc_style usual = {.columns = 0};

    switch (format) {
    case IW_DOC_HTML: return iwi_doc_write_html(doc, what.kind, out);
    case IW_DOC_JSON: return write_json(doc->log, doc, what, out);
    default: return iwi_doc_write_text(doc, look != NULL ? look : &usual, out);
    }
}

iw_status iw_doc_write(const iw_log *log, iw_doc what, iw_doc_format format, const iw_doc_style *look,
                       FILE *out)
{
    struct iwi_document doc;
    iw_status status;

    if (!iw_doc_has_format(what, format)) {
        return iwi_fail(log, IW_ERR_USAGE, "no %s for this kind of result (%s)",
                        format == IW_DOC_JSON ? "JSON" : "CSV", what.kind->name);
    }
    if (format == IW_DOC_CSV && what.kind->write_csv != NULL) {
        return what.kind->write_csv(log, what.subject, out);
    }
    if (format == IW_DOC_CSV) {
        iwi_schema_csv(what.kind->schema, what.subject, out);
        return iwi_check_written(log, out, "the table");
    }
    status = iwi_doc_make(log, what, format == IW_DOC_HTML ? IWI_ON_PAGES : IWI_IN_TEXT, &doc);
    if (status == IW_OK) {
        status = write_made(&doc, what, format, look, out);
    }
    iwi_doc_release(&doc);
    return status;
}

iw_status iw_doc_plot(const iw_log *log, iw_doc what, const char *path)
{
    struct iwi_document doc;
    iw_status status = iw_doc_plot_check(log, path);

    IW_TRY(status);
    status = iwi_doc_make(log, what, IWI_IN_PLOTS, &doc);
    if (status == IW_OK) {
        status = iwi_doc_write_plot(&doc, what.kind, path);
    }
    iwi_doc_release(&doc);
    return status;
}

/* ---- files ---- */

struct iw_doc_file {
    struct iwi_arena arena;
    iw_doc doc;
};

/* Of whatever version: "idlewave.fit/" counts. NULL: none of ours. */
static const struct iwi_kind *kind_of(const json_t *json)
{
    const char *schema = json_string_value(json_object_get(json, "schema"));
    const char *slash = schema != NULL ? strchr(schema, '/') : NULL;

    for (size_t i = 0; slash != NULL && iwi_kinds[i] != NULL; i++) {
        if (strncmp(iwi_kinds[i]->schema_id, schema, (size_t)(slash - schema) + 1) == 0) {
            return iwi_kinds[i];
        }
    }
    return NULL;
}

static iw_status check_version(const iw_log *log, const char *path, const struct iwi_kind *kind,
                               const char *schema)
{
    if (kind == NULL) {
        return iwi_fail(log, IW_ERR_FORMAT, "'%s' is not a result of idlewave: its schema is %s", path,
                        schema != NULL ? schema : "not given");
    }
    if (strcmp(kind->schema_id, schema) != 0 &&
        (kind->older_id == NULL || strcmp(kind->older_id, schema) != 0)) {
        return iwi_fail(log, IW_ERR_FORMAT,
                        "'%s' was written by another version of idlewave: its schema is %s, this version "
                        "reads %s; create the result again, or use the version that wrote it",
                        path, schema, kind->schema_id);
    }
    return IW_OK;
}

static iw_status read_file(const iw_log *log, const char *path, const json_t *json, iw_doc_file *file)
{
    const struct iwi_kind *kind = kind_of(json);
    void *subject;

    IW_TRY(check_version(log, path, kind, json_string_value(json_object_get(json, "schema"))));
    subject = iwi_arena_take(&file->arena, 1, kind->schema->size);
    if (subject == NULL) {
        return iwi_fail(log, IW_ERR_NOMEM, "out of memory for '%s'", path);
    }
    IW_TRY(iwi_schema_read(log, kind->schema, path, json, &file->arena, subject));
    file->doc = (iw_doc){kind, subject};
    return kind->check != NULL ? kind->check(log, path, subject) : IW_OK;
}

iw_status iw_doc_read(const iw_log *log, const char *name, const char *text, size_t size,
                      iw_doc_file **file_p)
{
    json_error_t error;
    json_t *json = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);
    iw_doc_file *file;
    iw_status status;

    if (json == NULL) {
        return iwi_fail(log, IW_ERR_FORMAT, "'%s:%d': %s", name, error.line, error.text);
    }
    file = iwi_new_array(log, 1, sizeof *file);
    status = file != NULL ? read_file(log, name, json, file) : IW_ERR_NOMEM;
    json_decref(json);
    if (status != IW_OK) {
        iw_doc_close(file);
        return status;
    }
    *file_p = file;
    return IW_OK;
}

iw_status iw_doc_open(const iw_log *log, const char *path, iw_doc_file **file_p)
{
    struct iwi_input input;
    iw_status status;

    IW_TRY(iwi_input_open(log, path, &input));
    status = iw_doc_read(log, path, (const char *)input.data, input.size, file_p);
    iwi_input_close(&input);
    return status;
}

iw_doc iw_doc_of(const iw_doc_file *file)
{
    return file->doc;
}

void iw_doc_close(iw_doc_file *file)
{
    if (file != NULL) {
        iwi_arena_free(&file->arena);
        free(file);
    }
}

/* ---- schemas ---- */

const char *iw_doc_kind_name(size_t index)
{
    return iwi_kinds[index] != NULL ? iwi_kinds[index]->name : NULL;
}

static json_t *describe(const struct iwi_kind *kind)
{
    json_t *json = iwi_schema_describe(kind->schema);
    json_t *properties = json_object_get(json, "properties"), *required = json_object_get(json, "required");

    (void)json_object_set_new(json, "$schema", json_string("https://json-schema.org/draft/2020-12/schema"));
    (void)json_object_set_new(json, "title", json_string(kind->schema_id));
    (void)json_object_set_new(json, "description", json_string(kind->about));
    (void)json_object_set_new(properties, "schema", json_pack("{s:s}", "const", kind->schema_id));
    (void)json_object_set_new(properties, "version", json_pack("{s:s}", "type", "string"));
    (void)json_object_set_new(properties, "verdict", json_pack("{s:s}", "type", "string"));
    (void)json_object_set_new(properties, "notes",
                              json_pack("{s:s, s:{s:s}}", "type", "array", "items", "type", "string"));
    for (size_t i = 0; i < 4; i++) {
        static const char *const keys[] = {"schema", "version", "verdict", "notes"};

        (void)json_array_append_new(required, json_string(keys[i]));
    }
    return json;
}

iw_status iw_doc_write_schema(const iw_log *log, const char *kind, FILE *out)
{
    char names[512];

    for (size_t i = 0; iwi_kinds[i] != NULL; i++) {
        if (strcmp(iwi_kinds[i]->name, kind) == 0) {
            return iwi_json_write(log, describe(iwi_kinds[i]), out, "the schema");
        }
    }
    return iwi_fail(log, IW_ERR_USAGE, "unknown kind of result '%s': use one of %s", kind,
                    iwi_list_usages(iw_doc_kind_name, names, sizeof names));
}
