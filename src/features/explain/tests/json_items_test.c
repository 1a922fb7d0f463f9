/* Items of JSON: lists, members, lines; packed and damaged; the tree of one; numbers.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "features/explain/json/json_value.h"
#include "support/support.h"

enum { OUT_SIZE = 512 };

/* All items as "key:text;", or the error. */
static iw_status all(struct iwt_log *l, const void *data, size_t size, enum iwi_json_form form, char *out)
{
    struct iwi_json_items items;
    struct iwi_json_item item;
    iw_status status;

    iwt_log_init(l);
    out[0] = '\0';
    status = iwi_json_open_memory(&l->log, "f", data, size, form, &items);
    if (status != IW_OK) {
        return status;
    }
    while ((status = iwi_json_next(&items, &item)) == IW_OK && item.text != NULL) {
        assert_memory_equal(item.text, (const char *)data + item.byte, item.size);
        (void)snprintf(out + strlen(out), OUT_SIZE - strlen(out), "%s:%.*s;", item.key, (int)item.size,
                       item.text);
    }
    iwi_json_close(&items);
    return status;
}

static void lists_and_members_of_an_object_are_items(void **state)
{
    struct iwt_log l;
    char out[OUT_SIZE];
    const char text[] = " {\"a\": 1, \"list\" : [{\"x\":\"]}\\\"\"}, [2,3] ,4], \"b\":{\"c\":[]}, \"e\":[], "
                        "\"s\":\"t\"}\n";

    (void)state;
    assert_ok(all(&l, text, strlen(text), IWI_JSON_ONE_ROOT, out));
    assert_string_equal(out, "a:1;list:{\"x\":\"]}\\\"\"};list:[2,3];list:4;b:{\"c\":[]};s:\"t\";");
    assert_ok(all(&l, "[1,[2]]", 7, IWI_JSON_ONE_ROOT, out));
    assert_string_equal(out, ":1;:[2];");
    assert_ok(all(&l, "{\"a\":1}\n{\"b\":2}\n3", 17, IWI_JSON_MANY_ROOTS, out));
    assert_string_equal(out, ":{\"a\":1};:{\"b\":2};:3;");
    assert_ok(all(&l, "", 0, IWI_JSON_MANY_ROOTS, out));
}

static void what_ends_early_says_so_at_every_byte(void **state)
{
    struct iwt_log l;
    char out[OUT_SIZE];
    const char text[] = "{\"a\": 1, \"list\": [{\"x\": \"]}\\\"\"}, [2, 3]], \"b\": {\"c\": []}}";

    (void)state;
    for (size_t size = 0; size < strlen(text); size++) {
        assert_status(all(&l, text, size, IWI_JSON_ONE_ROOT, out), IW_ERR_TRUNCATED);
        assert_int_equal(l.errors, 1);
    }
    iwt_assert_logged(&l, "'f', byte ");
    assert_ok(all(&l, text, strlen(text), IWI_JSON_ONE_ROOT, out));
}

static void other_texts_are_refused_with_their_place(void **state)
{
    static const struct {
        const char *text, *message;
    } wrong[] = {
        {"xyz", "byte 0: not JSON: '{' or '[' expected"}, {"{1:2}", "byte 1: not JSON: a key in quotes"},
        {"{\"a\" 2}", "byte 5: not JSON: ':' expected"},  {"{\"a\":2 3}", "byte 7: not JSON: ',' or '}'"},
        {"[1 2]", "byte 3: not JSON: ',' or ']'"},        {"[1] 2", "byte 4: not JSON: the end of the file"},
        {"[,]", "byte 1: not JSON: a value expected"},
    };
    struct iwt_log l;
    char out[OUT_SIZE], deep[200];

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_status(all(&l, wrong[i].text, strlen(wrong[i].text), IWI_JSON_ONE_ROOT, out), IW_ERR_FORMAT);
        iwt_assert_logged(&l, wrong[i].message);
    }
    memset(deep, '[', sizeof deep);
    assert_status(all(&l, deep, sizeof deep, IWI_JSON_ONE_ROOT, out), IW_ERR_RANGE);
    iwt_assert_logged(&l, "nested more than 64 deep");
}

static void an_item_may_cross_buffers_but_not_be_endless(void **state)
{
    const size_t size = 3 << 20;
    char *text = malloc(size), *endless = malloc(40 << 20);
    struct iwi_json_items items;
    struct iwi_json_item item = {0};
    struct iwt_log l;

    (void)state;
    iwt_log_init(&l);
    memset(text, 'x', size);
    memcpy(text, "[1, \"", 5);
    memcpy(text + size - 6, "\", 2 ]", 6);
    assert_ok(iwi_json_open_memory(&l.log, "f", text, size, IWI_JSON_ONE_ROOT, &items));
    assert_ok(iwi_json_next(&items, &item));
    assert_ok(iwi_json_next(&items, &item));
    assert_int_equal(item.size, size - 9);
    assert_ok(iwi_json_next(&items, &item));
    assert_int_equal(item.byte, size - 3);
    iwi_json_close(&items);
    memset(endless, ' ', 40 << 20);
    memcpy(endless, "[\"", 2);
    assert_ok(iwi_json_open_memory(&l.log, "f", endless, 40 << 20, IWI_JSON_ONE_ROOT, &items));
    assert_status(iwi_json_next(&items, &item), IW_ERR_RANGE);
    iwt_assert_logged(&l, "a value exceeds 16 MiB");
    iwi_json_close(&items);
    free(text);
    free(endless);
}

/* What gzip makes of `size` bytes. */
static size_t pack(const char *text, size_t size, unsigned char *out, size_t room)
{
    z_stream zlib = {
        .next_in = (z_const Bytef *)text, .avail_in = (uInt)size, .next_out = out, .avail_out = (uInt)room};

    assert_int_equal(deflateInit2(&zlib, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(deflate(&zlib, Z_FINISH), Z_STREAM_END);
    (void)deflateEnd(&zlib);
    return room - zlib.avail_out;
}

static iw_status count(struct iwt_log *l, const void *data, size_t size, unsigned *count_p)
{
    struct iwi_json_items items;
    struct iwi_json_item item;
    iw_status status;

    iwt_log_init(l);
    *count_p = 0;
    assert_ok(iwi_json_open_memory(&l->log, "f.gz", data, size, IWI_JSON_ONE_ROOT, &items));
    while ((status = iwi_json_next(&items, &item)) == IW_OK && item.text != NULL) {
        ++*count_p;
    }
    iwi_json_close(&items);
    return status;
}

static void packed_files_are_unpacked_and_damage_is_named(void **state)
{
    unsigned char packed[512];
    const size_t first = pack("[1, 2,", 6, packed, sizeof packed);
    const size_t size = first + pack("3]", 2, packed + first, sizeof packed - first); /* two members */
    struct iwt_log l;
    unsigned items;

    (void)state;
    assert_ok(count(&l, packed, size, &items));
    assert_int_equal(items, 3);
    for (size_t cut = 2; cut < size; cut++) {
        assert_status(count(&l, packed, cut, &items), IW_ERR_TRUNCATED);
        assert_int_equal(l.errors, 1);
    }
    packed[12] ^= 0x55;
    assert_status(count(&l, packed, size, &items), IW_ERR_FORMAT);
    iwt_assert_logged(&l, "gzip cannot unpack it");
}

static void a_file_is_read_like_memory(void **state)
{
    char path[] = "/tmp/iw_json_XXXXXX";
    const int fd = mkstemp(path);
    unsigned char packed[64];
    const size_t size = pack("[1]", 3, packed, sizeof packed);
    struct iwi_json_items items;
    struct iwi_json_item item;
    struct iwt_log l;

    (void)state;
    iwt_log_init(&l);
    assert_int_equal(write(fd, packed, size), size);
    (void)close(fd);
    assert_ok(iwi_json_open(&l.log, path, IWI_JSON_ONE_ROOT, &items));
    assert_ok(iwi_json_next(&items, &item));
    assert_memory_equal(item.text, "1", 1);
    iwi_json_close(&items);
    (void)unlink(path);
    assert_status(iwi_json_open(&l.log, path, IWI_JSON_ONE_ROOT, &items), IW_ERR_IO);
    assert_status(iwi_json_open(&l.log, "/", IWI_JSON_ONE_ROOT, &items), IW_ERR_IO);
    iwt_assert_logged(&l, "cannot read '/': Is a directory");
}

static void members_are_found_without_parsing(void **state)
{
    const char text[] = "[{\"cat\" : \"kernel\" , \"a:b\": [1, {\"cat\": 2}], \"ts\":12.5}, [\"cat\", 3]]";
    struct iwi_json_items items;
    struct iwi_json_item item;
    struct iwt_log l;

    (void)state;
    iwt_log_init(&l);
    assert_ok(iwi_json_open_memory(&l.log, "f", text, strlen(text), IWI_JSON_ONE_ROOT, &items));
    assert_ok(iwi_json_next(&items, &item));
    assert_int_equal(item.member_count, 3);
    assert_true(iwi_json_is(iwi_json_member(&item, "cat"), "kernel"));
    assert_false(iwi_json_is(iwi_json_member(&item, "cat"), "kernels"));
    assert_true(iwi_json_begins(iwi_json_member(&item, "cat"), "kern"));
    assert_int_equal(iwi_json_member(&item, "a:b").size, strlen("[1, {\"cat\": 2}]"));
    assert_memory_equal(iwi_json_member(&item, "ts").text, "12.5", 4);
    assert_int_equal(iwi_json_member(&item, "ts").size, 4);
    assert_int_equal(iwi_json_member(&item, "dur").size, 0);
    assert_ok(iwi_json_next(&items, &item));
    assert_int_equal(item.member_count, 0);
    iwi_json_close(&items);
}

static void a_tree_has_all_values_of_an_item(void **state)
{
    const char text[] =
        "[{\"name\": \"a\\u0062\\n\", \"args\": {\"n\": 18446744073709551615, \"list\": [1, [2], "
        "true, null], \"n2\": \"7\"}, \"x\": -1}, 5, {\"a\": tru}]";
    struct iwi_json_items items;
    struct iwi_json_item item;
    struct iwi_json_tree tree;
    const struct iwi_json_value *args, *list, *v;
    struct iwt_log l;
    uint64_t number;
    unsigned values = 0;

    (void)state;
    iwt_log_init(&l);
    iwi_json_tree_init(&tree, &l.log);
    assert_ok(iwi_json_open_memory(&l.log, "f", text, strlen(text), IWI_JSON_ONE_ROOT, &items));
    assert_ok(iwi_json_next(&items, &item));
    assert_ok(iwi_json_parse(&tree, &items, &item));
    assert_string_equal(iwi_json_string(iwi_json_find(&tree, tree.values, "name"), ""), "ab\n");
    args = iwi_json_find(&tree, tree.values, "args");
    assert_true(iwi_json_u64(iwi_json_find(&tree, args, "n"), &number) && number == UINT64_MAX);
    assert_true(iwi_json_u64(iwi_json_find(&tree, args, "n2"), &number) && number == 7);
    assert_false(iwi_json_u64(iwi_json_find(&tree, tree.values, "x"), &number));
    assert_null(iwi_json_find(&tree, iwi_json_find(&tree, args, "nothing"), "n"));
    list = iwi_json_find(&tree, args, "list");
    for (v = iwi_json_first(&tree, list); v != NULL; v = iwi_json_after(&tree, list, v)) {
        values++;
    }
    assert_int_equal(values, 4);
    assert_ok(iwi_json_next(&items, &item));
    assert_ok(iwi_json_parse(&tree, &items, &item));
    assert_true(iwi_json_u64(tree.values, &number) && number == 5);
    assert_ok(iwi_json_next(&items, &item));
    assert_status(iwi_json_parse(&tree, &items, &item), IW_ERR_FORMAT);
    iwt_assert_logged(&l, "invalid JSON within the value that begins at byte ");
    iwi_json_close(&items);
    iwi_json_tree_release(&tree);
}

static void decimals_are_exact(void **state)
{
    static const struct {
        const char *text;
        unsigned decimals;
        int64_t number;
    } right[] = {
        {"12.345", 3, 12345}, {"12.3456", 3, 12346},
        {"12", 3, 12000},     {"-0.5", 3, -500},
        {"1e3", 3, 1000000},  {"1.5E+2", 0, 150},
        {"0", 0, 0},          {"1.4999", 0, 1},
        {"-1.5", 0, -2},      {"1700000000000000.123", 3, INT64_C(1700000000000000123)},
    };
    static const char *const wrong[] = {
        "", "-", "x", "1x", "1e30", "99999999999999999999", ".5", "1e", "4611686018427387904"};
    int64_t number;

    (void)state;
    for (size_t i = 0; i < sizeof right / sizeof right[0]; i++) {
        assert_true(iwi_json_decimal(right[i].text, strlen(right[i].text), right[i].decimals, &number));
        assert_int_equal(number, right[i].number);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_false(iwi_json_decimal(wrong[i], strlen(wrong[i]), 3, &number));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_and_members_of_an_object_are_items),
        cmocka_unit_test(what_ends_early_says_so_at_every_byte),
        cmocka_unit_test(other_texts_are_refused_with_their_place),
        cmocka_unit_test(an_item_may_cross_buffers_but_not_be_endless),
        cmocka_unit_test(packed_files_are_unpacked_and_damage_is_named),
        cmocka_unit_test(a_file_is_read_like_memory),
        cmocka_unit_test(members_are_found_without_parsing),
        cmocka_unit_test(a_tree_has_all_values_of_an_item),
        cmocka_unit_test(decimals_are_exact),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
