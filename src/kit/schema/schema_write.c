/* Structs as JSON.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "kit/schema/json_util.h"
#include "kit/schema/schema.h"

#define PS_PER_NS 1e3
#define FS_PER_NS 1e6

static void add_fields(const struct iwi_schema *schema, const void *object, json_t *json);

/* The value at `at`, which is an item of the field or its member. */
static json_t *value_json(const struct iwi_field *field, const void *at)
{
    switch (field->type) {
    case IWI_T_BOOL: return json_boolean(*(const bool *)at);
    case IWI_T_I32: return json_integer(*(const int *)at);
    case IWI_T_U32: return json_integer(*(const unsigned *)at);
    case IWI_T_I64: return json_integer(*(const int64_t *)at);
    case IWI_T_U64: return iwi_json_count(*(const uint64_t *)at);
    case IWI_T_ORDINAL: return iwi_json_count(*(const uint64_t *)at + 1);
    case IWI_T_REAL: return iwi_json_number(*(const double *)at);
    case IWI_T_PS: return iwi_json_number((double)*(const int64_t *)at / PS_PER_NS);
    case IWI_T_FS: return iwi_json_number((double)*(const int64_t *)at / FS_PER_NS);
    case IWI_T_CHARS: return iwi_json_text(at);
    case IWI_T_STRING: {
        const char *text = *(const char *const *)at;
        return text != NULL ? iwi_json_text(text) : json_null();
    }
    case IWI_T_ENUM: {
        const char *name = field->name(*(const unsigned *)at);
        return name != NULL ? json_string(name) : json_null();
    }
    case IWI_T_CPUS: {
        char list[IWI_CPUS_LIST_SIZE];
        return json_string(iwi_cpus_list(at, list));
    }
    case IWI_T_OBJECT: return iwi_schema_json(field->of, at);
    default: return json_null();
    }
}

static json_t *pairs_json(const struct iwi_field *field, const void *object)
{
    const char *const *texts = iwi_field_items(field, object);
    json_t *json = json_object();

    for (size_t i = 0; texts != NULL && i < iwi_field_count(field, object); i++) {
        (void)json_object_set_new(json, texts[2 * i], iwi_json_text(texts[2 * i + 1]));
    }
    return json;
}

static json_t *items_json(const struct iwi_field *field, const void *object)
{
    const unsigned char *items = iwi_field_items(field, object);
    const size_t count = items != NULL ? iwi_field_count(field, object) : 0;
    json_t *json = field->holder == IWI_KEYED ? json_object() : json_array();

    for (size_t i = 0; i < count; i++) {
        json_t *item = value_json(field, items + i * field->size);

        if (field->holder == IWI_KEYED) {
            (void)json_object_set_new(json, field->name((unsigned)i), item);
        } else {
            (void)json_array_append_new(json, item);
        }
    }
    return json;
}

static json_t *field_json(const struct iwi_field *field, const void *object)
{
    const void *at = iwi_field_items(field, object);
    const char *text;

    switch (field->holder) {
    case IWI_ARRAY:
    case IWI_COUNTED:
    case IWI_KEYED:
    case IWI_LIST: return field->type == IWI_T_PAIR ? pairs_json(field, object) : items_json(field, object);
    default: break;
    }
    switch (field->type) {
    case IWI_T_BOOL_OF: return json_boolean(field->bool_of(object));
    case IWI_T_REAL_OF: return iwi_json_number(field->real_of(object));
    case IWI_T_TEXT_OF:
        text = field->text_of(object);
        return text != NULL ? iwi_json_text(text) : json_null();
    default: return at != NULL ? value_json(field, at) : json_null();
    }
}

static void add_fields(const struct iwi_schema *schema, const void *object, json_t *json)
{
    for (size_t i = 0; i < schema->count; i++) {
        const struct iwi_field *field = &schema->fields[i];
        const bool is_there = field->is_there == NULL || field->is_there(object);

        if (iwi_field_is_inlined(field)) {
            add_fields(field->of, iwi_field_items(field, object), json);
        } else if (is_there) {
            (void)json_object_set_new(json, field->key, field_json(field, object));
        } else if (!field->is_optional) {
            (void)json_object_set_new(json, field->key, json_null());
        }
    }
}

json_t *iwi_schema_json(const struct iwi_schema *schema, const void *object)
{
    json_t *json = json_object();

    add_fields(schema, object, json);
    return json;
}
