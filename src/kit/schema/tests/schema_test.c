/* Tables over structs: what is written is read back, what is wrong is refused with its place.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "kit/schema/csv.h"
#include "kit/schema/schema.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <idlewave/time.h>

#include "kit/schema/json_util.h"
#include "support/support.h"

enum colour { RED, GREEN };

struct leaf {
    char label[8];
    uint64_t count;
    iw_estimate size;
};

struct tree {
    bool is_tall;
    int height;
    unsigned rings;
    int64_t shift;
    uint64_t birds;
    double weight;
    const char *name;
    iw_time age_ps;
    enum colour colour;
    double by_colour[2], corners[3];
    struct leaf *leaves, crown;
    size_t leaf_count;
    const struct leaf *fallen;
    double *years;
    uint32_t year_count;
};

static const char *colour_name(unsigned colour)
{
    static const char *const names[] = {"red", "green"};

    return colour < 2 ? names[colour] : NULL;
}

static bool is_tall(const void *object)
{
    return ((const struct tree *)object)->is_tall;
}

static double density(const void *object)
{
    return ((const struct tree *)object)->weight / 2.0;
}

static const struct iwi_field leaf_fields[] = {
    IWI_CHARS(struct leaf, label),
    IWI_VALUE(struct leaf, count),
    IWI_ESTIMATE(struct leaf, size),
};
static const struct iwi_schema leaf_schema = IWI_SCHEMA(struct leaf, leaf_fields);

static const struct iwi_field tree_fields[] = {
    IWI_VALUE(struct tree, is_tall),
    IWI_VALUE(struct tree, height),
    IWI_VALUE(struct tree, rings),
    IWI_VALUE(struct tree, shift),
    IWI_VALUE(struct tree, birds, .is_there = is_tall, .is_optional = true),
    IWI_VALUE(struct tree, weight),
    IWI_VALUE(struct tree, name, .is_column = true),
    IWI_TIME(struct tree, age_ps, "age_ns"),
    IWI_ENUM(struct tree, colour, "colour", colour_name, .about = "of its leaves"),
    IWI_VALUES_BY_NAME(struct tree, by_colour, colour_name),
    IWI_VALUE_ARRAY(struct tree, corners),
    IWI_OBJECT(struct tree, crown, leaf_schema),
    IWI_OBJECTS(struct tree, leaves, leaf_count, leaf_schema, .is_row = true),
    IWI_POINTER(struct tree, fallen, leaf_schema),
    IWI_VALUES(struct tree, years, year_count),
    IWI_REAL_OF("density", density),
};
static const struct iwi_schema tree_schema = IWI_SCHEMA(struct tree, tree_fields);

static struct leaf leaves[] = {{"a,b", 1, {1.5, 1.0, 2.0}}, {"c", 2, {NAN, NAN, NAN}}};
static double years[] = {1.0, 2.5, 3e300};

static struct tree sample(void)
{
    return (struct tree){.is_tall = true,
                         .height = -3,
                         .rings = 4000000000U,
                         .shift = INT64_MIN,
                         .birds = UINT64_C(9007199254740993),
                         .weight = 0.1,
                         .name = "oak \"1\"",
                         .age_ps = 1234567,
                         .colour = GREEN,
                         .by_colour = {1.0, NAN},
                         .corners = {1.0, 2.0, 3.0},
                         .leaves = leaves,
                         .crown = {"top", 7, {1.0, 1.0, 1.0}},
                         .leaf_count = 2,
                         .fallen = NULL,
                         .years = years,
                         .year_count = 3};
}

static json_t *sample_json(void)
{
    const struct tree tree = sample();
    json_t *json = iwi_schema_json(&tree_schema, &tree);

    assert_non_null(json);
    return json;
}

static void what_is_written_is_read_back(void **state)
{
    json_t *json = sample_json(), *again;
    struct iwi_arena arena = {.blocks = NULL};
    struct tree tree = {.is_tall = false};

    (void)state;
    assert_ok(iwi_schema_read(NULL, &tree_schema, "x", json, &arena, &tree));
    again = iwi_schema_json(&tree_schema, &tree);
    assert_true(json_equal(json, again));
    assert_true(tree.birds == UINT64_C(9007199254740993) && tree.shift == INT64_MIN);
    assert_int_equal(tree.age_ps, 1234567);
    assert_int_equal(tree.colour, GREEN);
    assert_true(isnan(tree.by_colour[1]) && isnan(tree.leaves[1].size.low));
    assert_null(tree.fallen);
    assert_float_equal(json_number_value(json_object_get(json, "density")), 0.05, 1e-15);
    json_decref(json);
    json_decref(again);
    iwi_arena_free(&arena);
}

/* A path like "leaves[1].count" of the sample gets another value. */
static void expect_refusal(json_t *value, const char *key, size_t leaf, const char *message)
{
    json_t *json = sample_json();
    json_t *object = leaf > 0 ? json_array_get(json_object_get(json, "leaves"), leaf) : json;
    struct iwi_arena arena = {.blocks = NULL};
    struct tree tree = {.is_tall = false};
    struct iwt_log log;

    iwt_log_init(&log);
    if (value != NULL) {
        assert_int_equal(json_object_set_new(object, key, value), 0);
    } else {
        assert_int_equal(json_object_del(object, key), 0);
    }
    assert_status(iwi_schema_read(&log.log, &tree_schema, "t.json", json, &arena, &tree), IW_ERR_FORMAT);
    iwt_assert_logged(&log, message);
    json_decref(json);
    iwi_arena_free(&arena);
}

static void what_is_wrong_is_said_with_its_place(void **state)
{
    (void)state;
    expect_refusal(json_string("3"), "height", 0, "'t.json': height: is not a whole number");
    expect_refusal(json_integer(-1), "rings", 0, "'t.json': rings: is too large, or below zero");
    expect_refusal(json_real(1.5), "count", 1, "'t.json': leaves[1].count: is not a whole number");
    expect_refusal(json_real(1e300), "count", 1, "leaves[1].count: is too large");
    expect_refusal(json_string("blue"), "colour", 0, "colour: is not a known name");
    expect_refusal(json_real(1e300), "age_ns", 0, "age_ns: is not a time in nanoseconds");
    expect_refusal(json_integer(1), "is_tall", 0, "is_tall: is neither true nor false");
    expect_refusal(json_integer(1), "leaves", 0, "leaves: is not a list");
    expect_refusal(json_integer(1), "crown", 0, "crown: is not an object");
    expect_refusal(json_array(), "corners", 0, "corners[0]: is missing");
    expect_refusal(NULL, "size", 1, "leaves[1].size: is missing");
    expect_refusal(json_integer(1), "name", 0, "name: is not a text");
}

static void what_need_not_be_there_may_be_missing(void **state)
{
    json_t *json = sample_json();
    struct iwi_arena arena = {.blocks = NULL};
    struct tree tree = {.is_tall = false};

    (void)state;
    assert_int_equal(json_object_del(json, "birds"), 0);
    assert_int_equal(json_object_del(json, "density"), 0);
    assert_int_equal(json_object_set(json, "fallen", json_object_get(json, "crown")), 0);
    assert_ok(iwi_schema_read(NULL, &tree_schema, "x", json, &arena, &tree));
    assert_int_equal(tree.birds, 0);
    assert_string_equal(tree.fallen->label, "top");
    json_decref(json);
    iwi_arena_free(&arena);
}

static void lists_become_lines(void **state)
{
    const struct tree tree = sample();
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    (void)state;
    assert_non_null(out);
    iwi_schema_csv(&tree_schema, &tree, out);
    assert_int_equal(fclose(out), 0);
    assert_string_equal(text, "name,label,count,size,size_low,size_high\n"
                              "\"oak \"\"1\"\"\",\"a,b\",1,1.5,1,2\n"
                              "\"oak \"\"1\"\"\",c,2,,,\n");
    free(text);
    assert_true(iwi_schema_has_csv(&tree_schema));
    assert_false(iwi_schema_has_csv(&leaf_schema));
}

static void cells_are_not_computed_or_obeyed(void **state)
{
    static const char *const texts[][2] = {{"=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0"},
                                           {"@SUM(1,2)", "\"'@SUM(1,2)\""},
                                           {"-", "-"},
                                           {"-2", "'-2"},
                                           {"\033]0;x\a\xff", "?]0;x??"},
                                           {"\t=1", "?=1"}};

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        char *text = NULL;
        size_t size;
        FILE *out = open_memstream(&text, &size);

        assert_non_null(out);
        iwi_write_csv_field(out, texts[i][0]);
        assert_int_equal(fclose(out), 0);
        assert_string_equal(text, texts[i][1]);
        free(text);
    }
}

static void schemas_say_types_and_names(void **state)
{
    json_t *json = iwi_schema_describe(&tree_schema);
    json_t *properties = json_object_get(json, "properties");
    char *text = json_dumps(json_object_get(properties, "colour"), JSON_COMPACT);

    (void)state;
    assert_string_equal(text, "{\"enum\":[\"red\",\"green\"],\"description\":\"of its leaves\"}");
    free(text);
    text = json_dumps(json_object_get(properties, "corners"), JSON_COMPACT);
    assert_string_equal(text, "{\"type\":\"array\",\"items\":{\"type\":[\"number\",\"null\"]}}");
    free(text);
    text = json_dumps(json_object_get(properties, "birds"), JSON_COMPACT);
    assert_string_equal(text, "{\"anyOf\":[{\"type\":\"integer\"},{\"type\":\"null\"}]}");
    free(text);
    assert_int_equal(json_array_size(json_object_get(json, "required")),
                     sizeof tree_fields / sizeof tree_fields[0] - 1); /* without birds */
    json_decref(json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read_back),
        cmocka_unit_test(what_is_wrong_is_said_with_its_place),
        cmocka_unit_test(what_need_not_be_there_may_be_missing),
        cmocka_unit_test(lists_become_lines),
        cmocka_unit_test(cells_are_not_computed_or_obeyed),
        cmocka_unit_test(schemas_say_types_and_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
