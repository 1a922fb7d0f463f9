/* Lists of structs as CSV.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <string.h>

#include "kit/schema/csv.h"
#include "kit/schema/schema.h"

enum { PREFIX_SIZE = 128, LINE_PARTS = 4 /* lists in lists */ };

#define PS_PER_NS 1e3
#define FS_PER_NS 1e6

struct line {
    FILE *out;
    bool is_begun;
};

static void next_cell(struct line *line)
{
    if (line->is_begun) {
        (void)fputc(',', line->out);
    }
    line->is_begun = true;
}

static const struct iwi_field *row_field(const struct iwi_schema *schema)
{
    for (size_t i = 0; i < schema->count; i++) {
        if (schema->fields[i].is_row) {
            return &schema->fields[i];
        }
    }
    return NULL;
}

/* Lists have no cell. */
static bool has_cell(const struct iwi_field *field, bool is_all)
{
    return (is_all || field->is_column) && field->holder != IWI_LIST && field->holder != IWI_ARRAY &&
           field->holder != IWI_COUNTED;
}

/* "scale_ns" and "value" are "scale_ns", "scale_ns" and "low" "scale_ns_low". */
static void write_heads(struct line *line, const struct iwi_schema *schema, const char *prefix, bool is_all)
{
    for (size_t i = 0; i < schema->count; i++) {
        const struct iwi_field *field = &schema->fields[i];
        char head[PREFIX_SIZE];

        snprintf(head, sizeof head, "%s%s%s", prefix, prefix[0] != '\0' ? "_" : "", field->key);
        if (!has_cell(field, is_all)) {
            continue;
        }
        if (field->holder == IWI_KEYED) {
            for (size_t k = 0; k < field->count; k++) {
                next_cell(line);
                (void)fprintf(line->out, "%s_%s", head, field->name((unsigned)k));
            }
        } else if (field->type == IWI_T_OBJECT) {
            write_heads(line, field->of, iwi_field_is_inlined(field) ? prefix : head, true);
        } else {
            next_cell(line);
            (void)fputs(prefix[0] != '\0' && strcmp(field->key, "value") == 0 ? prefix : head, line->out);
        }
    }
}

static void write_real(FILE *out, double value)
{
    if (isfinite(value)) {
        iwi_write_real(out, value);
    }
}

static void write_item(FILE *out, const struct iwi_field *field, const void *at)
{
    char list[IWI_CPUS_LIST_SIZE];
    const char *text = NULL;

    switch (field->type) {
    case IWI_T_BOOL: (void)fprintf(out, "%d", *(const bool *)at); return;
    case IWI_T_I32: (void)fprintf(out, "%d", *(const int *)at); return;
    case IWI_T_U32: (void)fprintf(out, "%u", *(const unsigned *)at); return;
    case IWI_T_I64: (void)fprintf(out, "%lld", (long long)*(const int64_t *)at); return;
    case IWI_T_U64: (void)fprintf(out, "%llu", (unsigned long long)*(const uint64_t *)at); return;
    case IWI_T_ORDINAL: (void)fprintf(out, "%llu", (unsigned long long)*(const uint64_t *)at + 1); return;
    case IWI_T_REAL: write_real(out, *(const double *)at); return;
    case IWI_T_PS: write_real(out, (double)*(const int64_t *)at / PS_PER_NS); return;
    case IWI_T_FS: write_real(out, (double)*(const int64_t *)at / FS_PER_NS); return;
    case IWI_T_ENUM: text = field->name(*(const unsigned *)at); break;
    case IWI_T_CHARS: text = at; break;
    case IWI_T_CPUS: text = iwi_cpus_list(at, list); break;
    default: text = *(const char *const *)at; break;
    }
    iwi_write_csv_field(out, text != NULL ? text : "");
}

static void write_cells(struct line *line, const struct iwi_schema *schema, const void *object, bool is_all);

static void write_cell(struct line *line, const struct iwi_field *field, const void *object)
{
    const bool is_there = object != NULL && (field->is_there == NULL || field->is_there(object));
    const unsigned char *at = is_there ? iwi_field_items(field, object) : NULL;
    const char *text;

    if (field->type == IWI_T_OBJECT) {
        write_cells(line, field->of, at, true);
        return;
    }
    for (size_t i = 0; i < (field->holder == IWI_KEYED ? field->count : 1); i++) {
        next_cell(line);
        if (!is_there) {
            continue;
        }
        switch (field->type) {
        case IWI_T_BOOL_OF: (void)fprintf(line->out, "%d", field->bool_of(object)); break;
        case IWI_T_REAL_OF: write_real(line->out, field->real_of(object)); break;
        case IWI_T_TEXT_OF:
            text = field->text_of(object);
            iwi_write_csv_field(line->out, text != NULL ? text : "");
            break;
        default: write_item(line->out, field, at + i * field->size); break;
        }
    }
}

/* `object` is NULL for one that is not there: its cells are empty. */
static void write_cells(struct line *line, const struct iwi_schema *schema, const void *object, bool is_all)
{
    for (size_t i = 0; i < schema->count; i++) {
        if (has_cell(&schema->fields[i], is_all)) {
            write_cell(line, &schema->fields[i], object);
        }
    }
}

/* Objects from the outermost to the one that is a line. */
struct chain {
    const struct iwi_schema *schemas[LINE_PARTS];
    const void *objects[LINE_PARTS];
    size_t count;
};

static void write_lines(FILE *out, struct chain chain)
{
    const struct iwi_schema *last = chain.schemas[chain.count - 1];
    const struct iwi_field *rows = chain.count < LINE_PARTS ? row_field(last) : NULL;
    struct line line = {.out = out};

    if (rows != NULL) {
        const unsigned char *items = iwi_field_items(rows, chain.objects[chain.count - 1]);
        const bool is_list =
            rows->holder == IWI_LIST || rows->holder == IWI_ARRAY || rows->holder == IWI_COUNTED;
        const size_t count = is_list ? iwi_field_count(rows, chain.objects[chain.count - 1]) : 1;

        chain.schemas[chain.count++] = rows->of;
        for (size_t i = 0; items != NULL && i < count; i++) {
            chain.objects[chain.count - 1] = items + i * rows->size;
            write_lines(out, chain);
        }
        return;
    }
    for (size_t i = 0; i < chain.count; i++) {
        write_cells(&line, chain.schemas[i], chain.objects[i], i + 1 == chain.count);
    }
    (void)fputc('\n', out);
}

bool iwi_schema_has_csv(const struct iwi_schema *schema)
{
    return row_field(schema) != NULL;
}

void iwi_schema_csv(const struct iwi_schema *schema, const void *object, FILE *out)
{
    const struct iwi_schema *at = schema;
    const struct iwi_field *rows;
    struct line heads = {.out = out};

    do {
        rows = row_field(at);
        write_heads(&heads, at, "", rows == NULL);
        at = rows != NULL ? rows->of : at;
    } while (rows != NULL);
    (void)fputc('\n', out);
    write_lines(out, (struct chain){.schemas = {schema}, .objects = {object}, .count = 1});
}
