/* JSON into structs: nothing in a file is trusted, and what is wrong is said with its place.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "kit/schema/schema.h"

#include <math.h>
#include <string.h>

#include <idlewave/noise.h>

#include "core/base/base.h"

#define PS_PER_NS 1e3
#define FS_PER_NS 1e6
#define MOST_TIME 9.2e18

enum { PATH_SIZE = 256 };

struct reader {
    const iw_log *log;
    const char *name; /* of the file */
    struct iwi_arena *arena;
    char path[PATH_SIZE]; /* "levels[2].points" */
};

static iw_status read_fields(struct reader *reader, const struct iwi_schema *schema, const json_t *json,
                             void *object);

static iw_status refuse(const struct reader *reader, const char *what)
{
    return iwi_fail(reader->log, IW_ERR_FORMAT, "'%s': %s: %s", reader->name,
                    reader->path[0] != '\0' ? reader->path : "the result", what);
}

/* ---- values ---- */

static iw_status read_bool(const struct reader *reader, const json_t *json, void *at)
{
    if (!json_is_boolean(json)) {
        return refuse(reader, "is neither true nor false");
    }
    *(bool *)at = json_is_true(json);
    return IW_OK;
}

static iw_status read_real(const struct reader *reader, const json_t *json, void *at)
{
    if (!json_is_number(json) && !json_is_null(json)) {
        return refuse(reader, "is not a number");
    }
    *(double *)at = json_is_null(json) ? NAN : json_number_value(json);
    return IW_OK;
}

/* Whole numbers that fit; null is 0. */
static iw_status read_whole(const struct reader *reader, const struct iwi_field *field, const json_t *json,
                            void *at)
{
    const bool is_signed = field->type == IWI_T_I32 || field->type == IWI_T_I64;
    const bool is_small = field->type == IWI_T_I32 || field->type == IWI_T_U32;
    const double value = json_is_null(json) ? 0.0 : json_number_value(json);
    const double most = is_small ? (is_signed ? INT32_MAX : UINT32_MAX) : (is_signed ? 0x1p63 : 0x1p64);

    if ((!json_is_number(json) && !json_is_null(json)) || value != floor(value)) {
        return refuse(reader, "is not a whole number");
    }
    if (value < (is_signed ? -most : 0.0) || (is_small ? value > most : value >= most)) {
        return refuse(reader, "is too large, or below zero");
    }
    if (field->type == IWI_T_ORDINAL && value < 1.0) {
        return refuse(reader, "is not a number from 1");
    }
    switch (field->type) {
    case IWI_T_ORDINAL: *(uint64_t *)at = (uint64_t)value - 1; break;
    case IWI_T_I32: *(int *)at = (int)value; break;
    case IWI_T_U32: *(unsigned *)at = (unsigned)value; break;
    case IWI_T_I64: *(int64_t *)at = json_is_integer(json) ? json_integer_value(json) : (int64_t)value; break;
    default:
        *(uint64_t *)at = json_is_integer(json) ? (uint64_t)json_integer_value(json) : (uint64_t)value;
        break;
    }
    return IW_OK;
}

static iw_status read_time(const struct reader *reader, double unit, const json_t *json, void *at)
{
    const double time = round(json_number_value(json) * unit);

    if ((!json_is_number(json) && !json_is_null(json)) || !(fabs(time) < MOST_TIME)) {
        return refuse(reader, "is not a time in nanoseconds");
    }
    *(int64_t *)at = (int64_t)time;
    return IW_OK;
}

static iw_status read_text(const struct reader *reader, const struct iwi_field *field, const json_t *json,
                           void *at)
{
    const bool may_lack = field->may_be_null || field->is_there != NULL;
    const char *text = json_string_value(json);

    if (text == NULL && !(json_is_null(json) && may_lack && field->holder == IWI_IN_PLACE)) {
        return refuse(reader, "is not a text");
    }
    if (field->type == IWI_T_CHARS) {
        snprintf(at, field->size, "%s", text != NULL ? text : "");
    } else {
        *(const char **)at = text != NULL ? iwi_arena_text(reader->arena, "%s", text) : NULL;
    }
    return IW_OK;
}

static iw_status read_enum(const struct reader *reader, const struct iwi_field *field, const json_t *json,
                           void *at)
{
    const char *text = json_string_value(json), *name;

    for (unsigned i = 0; text != NULL && (name = field->name(i)) != NULL; i++) {
        if (strcmp(name, text) == 0) {
            *(unsigned *)at = i;
            return IW_OK;
        }
    }
    return refuse(reader, "is not a known name");
}

static iw_status read_cpus(const struct reader *reader, const json_t *json, void *at)
{
    const char *text = json_string_value(json);
    char fault[IW_CPU_FAULT_SIZE];

    if (text == NULL || (text[0] != '\0' && !iw_cpu_set_parse(text, at, fault))) {
        return refuse(reader, "is not a list of CPUs");
    }
    return IW_OK;
}

static iw_status read_value(struct reader *reader, const struct iwi_field *field, const json_t *json,
                            void *at)
{
    switch (field->type) {
    case IWI_T_BOOL: return read_bool(reader, json, at);
    case IWI_T_REAL: return read_real(reader, json, at);
    case IWI_T_PS: return read_time(reader, PS_PER_NS, json, at);
    case IWI_T_FS: return read_time(reader, FS_PER_NS, json, at);
    case IWI_T_STRING:
    case IWI_T_CHARS: return read_text(reader, field, json, at);
    case IWI_T_ENUM: return read_enum(reader, field, json, at);
    case IWI_T_CPUS: return read_cpus(reader, json, at);
    case IWI_T_OBJECT: return read_fields(reader, field->of, json, at);
    default: return read_whole(reader, field, json, at);
    }
}

/* ---- fields ---- */

static const json_t *item_of(const struct iwi_field *field, const json_t *json, size_t i)
{
    return field->holder == IWI_KEYED ? json_object_get(json, field->name((unsigned)i))
                                      : json_array_get(json, i);
}

static iw_status read_items(struct reader *reader, const struct iwi_field *field, const json_t *json,
                            size_t count, unsigned char *items)
{
    const size_t length = strlen(reader->path);

    for (size_t i = 0; i < count; i++) {
        const json_t *item = item_of(field, json, i);

        snprintf(reader->path + length, PATH_SIZE - length, "[%zu]", i);
        if (item == NULL) {
            return refuse(reader, "is missing");
        }
        IW_TRY(read_value(reader, field, item, items + i * field->size));
        reader->path[length] = '\0';
    }
    return IW_OK;
}

static void set_count(const struct iwi_field *field, void *object, size_t count)
{
    unsigned char *at = (unsigned char *)object + field->count_offset;

    if (field->count_size == sizeof(uint32_t)) {
        memcpy(at, &(uint32_t){(uint32_t)count}, sizeof(uint32_t));
    } else {
        memcpy(at, &(uint64_t){count}, sizeof(uint64_t));
    }
}

static iw_status read_pairs(struct reader *reader, const struct iwi_field *field, const json_t *json,
                            void *object)
{
    const char **texts = iwi_arena_take(reader->arena, json_object_size(json), field->size);
    size_t count = 0;
    const char *key;
    json_t *value;

    if (texts == NULL) {
        return iwi_fail(reader->log, IW_ERR_NOMEM, "out of memory for '%s'", reader->name);
    }
    if (!json_is_object(json)) {
        return refuse(reader, "is not an object");
    }
    json_object_foreach((json_t *)json, key, value)
    {
        if (!json_is_string(value)) {
            return refuse(reader, "has a value that is not a text");
        }
        texts[count++] = iwi_arena_text(reader->arena, "%s", key);
        texts[count++] = iwi_arena_text(reader->arena, "%s", json_string_value(value));
    }
    memcpy((unsigned char *)object + field->offset, &texts, sizeof texts);
    set_count(field, object, count / 2);
    return IW_OK;
}

static iw_status read_list(struct reader *reader, const struct iwi_field *field, const json_t *json,
                           void *object)
{
    const size_t count = json_array_size(json);
    unsigned char *at = object, *items;

    if (!json_is_array(json) && !json_is_null(json)) {
        return refuse(reader, "is not a list");
    }
    if (field->holder == IWI_COUNTED && count > field->count) {
        return refuse(reader, "has too many items");
    }
    items =
        field->holder == IWI_COUNTED ? at + field->offset : iwi_arena_take(reader->arena, count, field->size);
    if (items == NULL) {
        return iwi_fail(reader->log, IW_ERR_NOMEM, "out of memory for '%s'", reader->name);
    }
    if (field->holder == IWI_LIST) {
        memcpy(at + field->offset, &items, sizeof items);
    }
    set_count(field, object, count);
    return read_items(reader, field, json, count, items);
}

static iw_status read_pointed(struct reader *reader, const struct iwi_field *field, const json_t *json,
                              void *at)
{
    void *pointed = iwi_arena_take(reader->arena, 1, field->of->size);

    if (pointed == NULL) {
        return iwi_fail(reader->log, IW_ERR_NOMEM, "out of memory for '%s'", reader->name);
    }
    memcpy(at, &pointed, sizeof pointed);
    return read_fields(reader, field->of, json, pointed);
}

/* null for something that need not be there leaves zeros, in an estimate NaN. */
static iw_status read_field(struct reader *reader, const struct iwi_field *field, const json_t *json,
                            void *object)
{
    unsigned char *at = (unsigned char *)object + field->offset;
    const bool may_lack = field->holder == IWI_BY_POINTER || field->is_there != NULL;

    if (json_is_null(json) && may_lack && (field->type == IWI_T_OBJECT || field->type == IWI_T_ENUM)) {
        if (field->holder == IWI_IN_PLACE && field->of == &iwi_estimate_schema) {
            memcpy(at, &(iw_estimate){NAN, NAN, NAN}, sizeof(iw_estimate));
        }
        return IW_OK;
    }
    switch (field->holder) {
    case IWI_COUNTED:
    case IWI_LIST:
        return field->type == IWI_T_PAIR ? read_pairs(reader, field, json, object)
                                         : read_list(reader, field, json, object);
    case IWI_ARRAY:
    case IWI_KEYED: return read_items(reader, field, json, field->count, at);
    case IWI_BY_POINTER: return read_pointed(reader, field, json, at);
    default: return read_value(reader, field, json, at);
    }
}

static iw_status read_inlined(struct reader *reader, const struct iwi_field *field, const json_t *json,
                              void *at)
{
    return field->holder == IWI_INLINED ? read_fields(reader, field->of, json, at)
                                        : read_pointed(reader, field, json, at);
}

static iw_status read_fields(struct reader *reader, const struct iwi_schema *schema, const json_t *json,
                             void *object)
{
    const size_t length = strlen(reader->path);

    if (!json_is_object(json)) {
        return refuse(reader, "is not an object");
    }
    for (size_t i = 0; i < schema->count; i++) {
        const struct iwi_field *field = &schema->fields[i];
        const json_t *value = json_object_get(json, field->key);

        if (value == NULL && field->old_key != NULL) {
            value = json_object_get(json, field->old_key);
        }
        if (field->type >= IWI_T_REAL_OF) {
            continue;
        }
        if (iwi_field_is_inlined(field)) {
            IW_TRY(read_inlined(reader, field, json, (unsigned char *)object + field->offset));
            continue;
        }
        snprintf(reader->path + length, PATH_SIZE - length, "%s%s", length > 0 ? "." : "", field->key);
        if (value == NULL && !field->is_optional) {
            return refuse(reader, "is missing");
        }
        if (value != NULL) {
            IW_TRY(read_field(reader, field, value, object));
        }
        reader->path[length] = '\0';
    }
    return IW_OK;
}

iw_status iwi_schema_read(const iw_log *log, const struct iwi_schema *schema, const char *name,
                          const json_t *json, struct iwi_arena *arena, void *object)
{
    struct reader reader = {.log = log, .name = name, .arena = arena};

    IW_TRY(read_fields(&reader, schema, json, object));
    return arena->is_broken ? iwi_fail(log, IW_ERR_NOMEM, "out of memory for '%s'", name) : IW_OK;
}
