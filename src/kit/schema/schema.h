/* What results are made of: one table for each struct gives its JSON, out and in, its CSV and its JSON
 * Schema.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 *     static const struct iwi_field arrival_fields[] = {
 *         IWI_VALUE(iw_arrivals, rate_hz),               the key is the member's name
 *         IWI_TIME(iw_arrivals, period_ps, "period_ns"), picoseconds, written as nanoseconds
 *         IWI_OBJECT(iw_arrivals, gap, iwi_estimate_schema),
 *     };
 *     static const struct iwi_schema arrivals_schema = IWI_SCHEMA(iw_arrivals, arrival_fields);
 *
 * A table lies straight over a public struct. One encoding each, everywhere: estimates are
 * {"value", "low", "high"}, times are nanoseconds in keys that end in _ns, shares are of 1, what is no number
 * or not known is null.
 */
#ifndef IWI_SCHEMA_H
#define IWI_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <jansson.h>

#include <idlewave/estimate.h>

#include "core/base/arena.h"

enum iwi_type {
    IWI_T_BOOL,
    IWI_T_I32,
    IWI_T_U32,
    IWI_T_I64,
    IWI_T_U64,
    IWI_T_ORDINAL, /* uint64_t from 0, which people count from 1 */
    IWI_T_REAL,
    IWI_T_STRING,  /* const char * */
    IWI_T_CHARS,   /* char[size] */
    IWI_T_PS,      /* iw_time, as nanoseconds */
    IWI_T_FS,      /* iw_fs_per_byte, as nanoseconds */
    IWI_T_ENUM,    /* by its name */
    IWI_T_CPUS,    /* iw_cpu_set: "2-7"; "" for none */
    IWI_T_OBJECT,  /* of another schema */
    IWI_T_PAIR,    /* struct of two char *: a list of them is an object of names and texts */
    IWI_T_REAL_OF, /* computed when it is written, not read */
    IWI_T_TEXT_OF,
    IWI_T_BOOL_OF
};

enum iwi_holder {
    IWI_IN_PLACE,
    IWI_BY_POINTER, /* to an object; NULL is null */
    IWI_INLINED,    /* the object's fields stand among those of this one */
    IWI_INLINED_BY_POINTER,
    IWI_ARRAY,   /* count items in place */
    IWI_COUNTED, /* the same, of which there are as many as another member says */
    IWI_KEYED,   /* items in place as an object: name(i) is the key of item i */
    IWI_LIST     /* a pointer to items, and how many there are in another member */
};

struct iwi_schema;

struct iwi_field {
    const char *key;
    enum iwi_type type;
    enum iwi_holder holder;
    size_t offset, size; /* of the member, or of one item */
    size_t count;        /* of IWI_ARRAY, IWI_KEYED; the most of IWI_COUNTED */
    size_t count_offset, count_size;
    const struct iwi_schema *of;
    const char *(*name)(unsigned value);   /* IWI_T_ENUM, IWI_KEYED; NULL behind the last */
    double (*real_of)(const void *object); /* of the struct that has the field */
    const char *(*text_of)(const void *object);
    bool (*bool_of)(const void *object);
    bool (*is_there)(const void *object); /* NULL: always; if not: null */
    const char *about;                    /* what it is, where key and type do not say so; or NULL */
    const char *old_key;                  /* by which files of an older schema have it; NULL: the same */
    bool may_be_null;                     /* IWI_T_STRING: NULL is null; a file may not have it in others */
    bool is_optional;                     /* left out if it is not there, and need not be there to be read */
    bool is_row;                          /* CSV: a line for each item; of an object: for those of its list */
    bool is_column;                       /* CSV: a column of objects above the rows */
};

struct iwi_schema {
    size_t size; /* of the struct */
    const struct iwi_field *fields;
    size_t count;
};

#define IWI_SCHEMA(type, table)                                                           \
    {                                                                                     \
        .size = sizeof(type), .fields = (table), .count = sizeof(table) / sizeof *(table) \
    }

/* ---- rows of tables; more members may follow: .is_there = has_tail ---- */

#define IWI_TYPE_OF(value) \
    _Generic((value),                 \
        bool: IWI_T_BOOL,             \
        int: IWI_T_I32,               \
        unsigned: IWI_T_U32,          \
        long: IWI_T_I64,              \
        long long: IWI_T_I64,         \
        unsigned long: IWI_T_U64,     \
        unsigned long long: IWI_T_U64, \
        double: IWI_T_REAL,           \
        char *: IWI_T_STRING,         \
        const char *: IWI_T_STRING)
#define IWI_MEMBER(T, m) .offset = offsetof(T, m), .size = sizeof(((T *)0)->m)
#define IWI_COUNT_MEMBER(T, n) .count_offset = offsetof(T, n), .count_size = sizeof(((T *)0)->n)
#define IWI_ITEM_SIZE(T, m) sizeof(((T *)0)->m[0])

#define IWI_VALUE_AS(T, m, k, ...)                                                  \
    {                                                                               \
        .key = (k), .type = IWI_TYPE_OF(((T *)0)->m), IWI_MEMBER(T, m), __VA_ARGS__ \
    }
#define IWI_VALUE(T, m, ...) IWI_VALUE_AS(T, m, #m, __VA_ARGS__)
#define IWI_ORDINAL(T, m, ...)                                          \
    {                                                                   \
        .key = #m, .type = IWI_T_ORDINAL, IWI_MEMBER(T, m), __VA_ARGS__ \
    }
#define IWI_CHARS_AS(T, m, k, ...)                                     \
    {                                                                  \
        .key = (k), .type = IWI_T_CHARS, IWI_MEMBER(T, m), __VA_ARGS__ \
    }
#define IWI_CHARS(T, m, ...) IWI_CHARS_AS(T, m, #m, __VA_ARGS__)
#define IWI_TIME(T, m, k, ...)                                      \
    {                                                               \
        .key = (k), .type = IWI_T_PS, IWI_MEMBER(T, m), __VA_ARGS__ \
    }
#define IWI_PER_BYTE(T, m, k, ...)                                  \
    {                                                               \
        .key = (k), .type = IWI_T_FS, IWI_MEMBER(T, m), __VA_ARGS__ \
    }
#define IWI_ENUM(T, m, k, names, ...)                                                  \
    {                                                                                  \
        .key = (k), .type = IWI_T_ENUM, IWI_MEMBER(T, m), .name = (names), __VA_ARGS__ \
    }
#define IWI_CPUS(T, m, k, ...)                                        \
    {                                                                 \
        .key = (k), .type = IWI_T_CPUS, IWI_MEMBER(T, m), __VA_ARGS__ \
    }
#define IWI_OBJECT_AS(T, m, k, schema, ...)                                              \
    {                                                                                    \
        .key = (k), .type = IWI_T_OBJECT, IWI_MEMBER(T, m), .of = &(schema), __VA_ARGS__ \
    }
#define IWI_OBJECT(T, m, schema, ...) IWI_OBJECT_AS(T, m, #m, schema, __VA_ARGS__)
#define IWI_ESTIMATE(T, m, ...) IWI_OBJECT(T, m, iwi_estimate_schema, __VA_ARGS__)
#define IWI_POINTER(T, m, schema, ...)                                                       \
    {                                                                                        \
        .key = #m, .type = IWI_T_OBJECT, .holder = IWI_BY_POINTER, .offset = offsetof(T, m), \
        .size = sizeof(void *), .of = &(schema), __VA_ARGS__                                 \
    }
#define IWI_INLINE(T, m, schema)                                                                  \
    {                                                                                             \
        .key = #m, .type = IWI_T_OBJECT, .holder = IWI_INLINED, IWI_MEMBER(T, m), .of = &(schema) \
    }
/* The same of what a pointer, never NULL, points to. */
#define IWI_INLINE_POINTER(T, m, schema, ...)                                                        \
    {                                                                                                \
        .key = #m, .type = IWI_T_OBJECT, .holder = IWI_INLINED_BY_POINTER, .offset = offsetof(T, m), \
        .size = sizeof(void *), .of = &(schema), __VA_ARGS__                                         \
    }
#define IWI_OBJECTS_AS(T, m, n, k, schema, ...)                                           \
    {                                                                                     \
        .key = (k), .type = IWI_T_OBJECT, .holder = IWI_LIST, .offset = offsetof(T, m),   \
        .size = IWI_ITEM_SIZE(T, m), IWI_COUNT_MEMBER(T, n), .of = &(schema), __VA_ARGS__ \
    }
/* An array in the struct, of which `n` items are used. */
#define IWI_OBJECTS_IN_PLACE(T, m, n, schema, ...)                                        \
    {                                                                                     \
        .key = #m, .type = IWI_T_OBJECT, .holder = IWI_COUNTED, .offset = offsetof(T, m), \
        .size = IWI_ITEM_SIZE(T, m), .count = sizeof(((T *)0)->m) / IWI_ITEM_SIZE(T, m),  \
        IWI_COUNT_MEMBER(T, n), .of = &(schema), __VA_ARGS__                              \
    }
/* Values in place, of which `n` are used. */
#define IWI_VALUES_IN_PLACE(T, m, n, ...)                                                                \
    {                                                                                                    \
        .key = #m, .type = IWI_TYPE_OF(((T *)0)->m[0]), .holder = IWI_COUNTED, .offset = offsetof(T, m), \
        .size = IWI_ITEM_SIZE(T, m), .count = sizeof(((T *)0)->m) / IWI_ITEM_SIZE(T, m),                 \
        IWI_COUNT_MEMBER(T, n), __VA_ARGS__                                                              \
    }
#define IWI_OBJECTS(T, m, n, schema, ...) IWI_OBJECTS_AS(T, m, n, #m, schema, __VA_ARGS__)
#define IWI_VALUES(T, m, n, ...)                                                                      \
    {                                                                                                 \
        .key = #m, .type = IWI_TYPE_OF(((T *)0)->m[0]), .holder = IWI_LIST, .offset = offsetof(T, m), \
        .size = IWI_ITEM_SIZE(T, m), IWI_COUNT_MEMBER(T, n), __VA_ARGS__                              \
    }
/* A list of structs of two char *, as an object. */
#define IWI_PAIRS(T, m, n, ...)                                                      \
    {                                                                                \
        .key = #m, .type = IWI_T_PAIR, .holder = IWI_LIST, .offset = offsetof(T, m), \
        .size = IWI_ITEM_SIZE(T, m), IWI_COUNT_MEMBER(T, n), __VA_ARGS__             \
    }
/* A list of char[n]. */
#define IWI_CHARS_LIST(T, m, n, ...)                                                  \
    {                                                                                 \
        .key = #m, .type = IWI_T_CHARS, .holder = IWI_LIST, .offset = offsetof(T, m), \
        .size = IWI_ITEM_SIZE(T, m), IWI_COUNT_MEMBER(T, n), __VA_ARGS__              \
    }
#define IWI_VALUE_ARRAY(T, m, ...)                                                                     \
    {                                                                                                  \
        .key = #m, .type = IWI_TYPE_OF(((T *)0)->m[0]), .holder = IWI_ARRAY, .offset = offsetof(T, m), \
        .size = IWI_ITEM_SIZE(T, m), .count = sizeof(((T *)0)->m) / IWI_ITEM_SIZE(T, m), __VA_ARGS__   \
    }
#define IWI_OBJECT_ARRAY(T, m, schema, ...)                                                               \
    {                                                                                                     \
        .key = #m, .type = IWI_T_OBJECT, .holder = IWI_ARRAY, .offset = offsetof(T, m),                   \
        .size = IWI_ITEM_SIZE(T, m), .count = sizeof(((T *)0)->m) / IWI_ITEM_SIZE(T, m), .of = &(schema), \
        __VA_ARGS__                                                                                       \
    }
#define IWI_VALUES_BY_NAME(T, m, names, ...)                                                              \
    {                                                                                                     \
        .key = #m, .type = IWI_TYPE_OF(((T *)0)->m[0]), .holder = IWI_KEYED, .offset = offsetof(T, m),    \
        .size = IWI_ITEM_SIZE(T, m), .count = sizeof(((T *)0)->m) / IWI_ITEM_SIZE(T, m), .name = (names), \
        __VA_ARGS__                                                                                       \
    }
#define IWI_REAL_OF(k, function, ...)                                         \
    {                                                                         \
        .key = (k), .type = IWI_T_REAL_OF, .real_of = (function), __VA_ARGS__ \
    }
#define IWI_TEXT_OF(k, function, ...)                                         \
    {                                                                         \
        .key = (k), .type = IWI_T_TEXT_OF, .text_of = (function), __VA_ARGS__ \
    }
#define IWI_BOOL_OF(k, function, ...)                                         \
    {                                                                         \
        .key = (k), .type = IWI_T_BOOL_OF, .bool_of = (function), __VA_ARGS__ \
    }
/* Some members of T as an object of their own: `schema` is of T too. */
#define IWI_GROUP(T, k, schema, ...)                                                      \
    {                                                                                     \
        .key = (k), .type = IWI_T_OBJECT, .size = sizeof(T), .of = &(schema), __VA_ARGS__ \
    }

/* ---- functions that rows name ---- */

/* What `is_there`, `real_of`, `text_of` and `bool_of` call: `it` is the struct that has the field.
 *
 *     IWI_OF(bool, has_cpu, iw_fleet_finding, it->has_cpu)
 */
#define IWI_OF(result, function, T, value)     \
    static result function(const void *object) \
    {                                          \
        const T *it = object;                  \
                                               \
        return value;                          \
    }

/* Names of the values of an enum: those of a list, or what an expression says of `value`. */
#define IWI_NAMES(function, ...)                                             \
    static const char *function(unsigned value)                              \
    {                                                                        \
        static const char *const names[] = {__VA_ARGS__};                    \
                                                                             \
        return value < sizeof names / sizeof names[0] ? names[value] : NULL; \
    }
#define IWI_NAMED(function, name)               \
    static const char *function(unsigned value) \
    {                                           \
        return name;                            \
    }

extern const struct iwi_schema iwi_estimate_schema; /* iw_estimate */
extern const struct iwi_schema iwi_summary_schema;  /* iw_summary */

/* ---- media ---- */

/* NULL without memory. */
json_t *iwi_schema_json(const struct iwi_schema *schema, const void *object);

/* Fills the zeroed struct `object`; what it points to lives in the arena. Numbers that are null become NaN,
 * counts 0. `name` is the file's. IW_ERR_FORMAT says where: "'x.json': levels[2].bytes: 'many' is no number".
 */
IW_NODISCARD iw_status iwi_schema_read(const iw_log *log, const struct iwi_schema *schema, const char *name,
                                       const json_t *json, struct iwi_arena *arena, void *object);

/* A line of heads, and one for each item of the list that is_row (which may be a list of an item of one, or
 * of an object that is_row); columns are fields above with is_column, and all values of an item. Estimates
 * take three: x, x_low, x_high.
 */
void iwi_schema_csv(const struct iwi_schema *schema, const void *object, FILE *out);
bool iwi_schema_has_csv(const struct iwi_schema *schema);

/* The "properties" and "required" of a JSON Schema. */
json_t *iwi_schema_describe(const struct iwi_schema *schema);

/* ---- for the files of this room ---- */

static inline bool iwi_field_is_inlined(const struct iwi_field *field)
{
    return field->holder == IWI_INLINED || field->holder == IWI_INLINED_BY_POINTER;
}

size_t iwi_field_count(const struct iwi_field *field, const void *object);
const void *iwi_field_items(const struct iwi_field *field,
                            const void *object); /* the member, or the first item */

/* Returns `buf`. */
enum { IWI_CPUS_LIST_SIZE = 4096 };
const char *iwi_cpus_list(const void *cpu_set, char buf[IWI_CPUS_LIST_SIZE]);

#endif
