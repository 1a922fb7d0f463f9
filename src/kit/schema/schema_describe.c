/* Tables as JSON Schema (draft 2020-12).
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "kit/schema/schema.h"

static const char *json_type_of(enum iwi_type type)
{
    switch (type) {
    case IWI_T_BOOL:
    case IWI_T_BOOL_OF: return "boolean";
    case IWI_T_REAL:
    case IWI_T_PS:
    case IWI_T_FS:
    case IWI_T_REAL_OF: return "number";
    case IWI_T_STRING:
    case IWI_T_CHARS:
    case IWI_T_CPUS:
    case IWI_T_TEXT_OF: return "string";
    default: return "integer";
    }
}

static bool may_be_null(const struct iwi_field *field)
{
    return field->type == IWI_T_REAL || field->type == IWI_T_REAL_OF || field->type == IWI_T_TEXT_OF ||
           field->may_be_null;
}

static json_t *names_of(const struct iwi_field *field)
{
    json_t *names = json_array();
    const char *name;

    for (unsigned i = 0; (name = field->name(i)) != NULL; i++) {
        (void)json_array_append_new(names, json_string(name));
    }
    return json_pack("{s:o}", "enum", names);
}

static json_t *describe_value(const struct iwi_field *field)
{
    const char *type = json_type_of(field->type);

    if (field->type == IWI_T_OBJECT) {
        return iwi_schema_describe(field->of);
    }
    if (field->type == IWI_T_ENUM) {
        return names_of(field);
    }
    return may_be_null(field) ? json_pack("{s:[s, s]}", "type", type, "null")
                              : json_pack("{s:s}", "type", type);
}

static json_t *describe_keyed(const struct iwi_field *field)
{
    json_t *properties = json_object();

    for (size_t i = 0; i < field->count; i++) {
        (void)json_object_set_new(properties, field->name((unsigned)i), describe_value(field));
    }
    return json_pack("{s:s, s:o}", "type", "object", "properties", properties);
}

static json_t *describe_type(const struct iwi_field *field)
{
    json_t *value;

    switch (field->holder) {
    case IWI_ARRAY:
    case IWI_COUNTED:
    case IWI_LIST:
        if (field->type == IWI_T_PAIR) {
            return json_pack("{s:s, s:{s:s}}", "type", "object", "additionalProperties", "type", "string");
        }
        value = json_pack("{s:s, s:o}", "type", "array", "items", describe_value(field));
        break;
    case IWI_KEYED: value = describe_keyed(field); break;
    default: value = describe_value(field); break;
    }
    if (field->is_there != NULL || field->holder == IWI_BY_POINTER) {
        return json_pack("{s:[o, {s:s}]}", "anyOf", value, "type", "null");
    }
    return value;
}

static json_t *describe_field(const struct iwi_field *field)
{
    json_t *value = describe_type(field);

    if (field->about != NULL) {
        (void)json_object_set_new(value, "description", json_string(field->about));
    }
    return value;
}

static void describe_fields(const struct iwi_schema *schema, json_t *properties, json_t *required)
{
    for (size_t i = 0; i < schema->count; i++) {
        const struct iwi_field *field = &schema->fields[i];

        if (iwi_field_is_inlined(field)) {
            describe_fields(field->of, properties, required);
            continue;
        }
        (void)json_object_set_new(properties, field->key, describe_field(field));
        if (!field->is_optional) {
            (void)json_array_append_new(required, json_string(field->key));
        }
    }
}

json_t *iwi_schema_describe(const struct iwi_schema *schema)
{
    json_t *properties = json_object(), *required = json_array();

    describe_fields(schema, properties, required);
    return json_pack("{s:s, s:o, s:o}", "type", "object", "properties", properties, "required", required);
}
