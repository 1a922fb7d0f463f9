/* Files of results: a sample of each kind is shown in every medium; what is cut off or replaced in it is
 * refused or shown, and never more than that.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include <idlewave/doc.h>

#include "kit/doc/doc.h"
#include "support/support.h"

enum { PATH_SIZE = 512, ITEMS = 2 /* of each list: the others are like them */ };

struct sample {
    const char *kind;
    char path[PATH_SIZE]; /* of the changed file, in memory */
};

static void sample_path(const char *kind, char path[PATH_SIZE])
{
    (void)snprintf(path, PATH_SIZE, "%s/results/%s.json", IW_TEST_DATA, kind);
}

static void sample_init(struct sample *sample, const char *kind)
{
    int fd;

    sample->kind = kind;
    (void)snprintf(sample->path, PATH_SIZE, "/dev/shm/iw_doc_XXXXXX");
    fd = mkstemp(sample->path);
    assert_true(fd >= 0);
    assert_int_equal(close(fd), 0);
}

static void write_file(const char *path, const char *text, size_t size)
{
    FILE *file = fopen(path, "wbe");

    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

/* In every medium that is a text; figures are made for pages. */
static void show(iw_doc doc)
{
    static const iw_doc_format formats[] = {IW_DOC_TEXT, IW_DOC_HTML, IW_DOC_JSON, IW_DOC_CSV};
    FILE *out = fopen("/dev/null", "we");

    assert_non_null(out);
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        if (iw_doc_has_format(doc, formats[i])) {
            struct iwt_log l;

            iwt_log_init(&l);
            if (iw_doc_write(&l.log, doc, formats[i], NULL, out) != IW_OK) {
                fail_msg("format %u: %s", (unsigned)formats[i], l.text);
            }
        }
    }
    assert_int_equal(fclose(out), 0);
}

/* Opened and shown, or refused with one message that names the file. */
static bool survives(const char *path)
{
    struct iwt_log l;
    iw_doc_file *file;
    iw_status status;

    iwt_log_init(&l);
    status = iw_doc_open(&l.log, path, &file);
    if (status != IW_OK) {
        assert_status(status, IW_ERR_FORMAT);
        assert_int_equal(l.errors, 1);
        iwt_assert_logged(&l, path);
        return false;
    }
    show(iw_doc_of(file));
    iw_doc_close(file);
    return true;
}

static void every_kind_has_a_sample_that_is_shown(void **state)
{
    (void)state;
    for (size_t i = 0; iwi_kinds[i] != NULL; i++) {
        char path[PATH_SIZE];

        sample_path(iwi_kinds[i]->name, path);
        if (!survives(path)) {
            fail_msg("'%s' is refused", path);
        }
    }
}

/* At every byte in the release build, at every 23rd with sanitizers. */
static void a_file_cut_at_any_byte_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; iwi_kinds[i] != NULL; i++) {
        struct sample sample;
        char path[PATH_SIZE];
        json_t *json;
        char *text;

        sample_init(&sample, iwi_kinds[i]->name);
        sample_path(sample.kind, path);
        json = json_load_file(path, 0, NULL);
        assert_non_null(json);
        text = json_dumps(json, JSON_COMPACT);
        for (size_t size = 0; size < strlen(text); size += (IWT_IS_SLOW ? 23 : 1)) {
            write_file(sample.path, text, size);
            assert_false(survives(sample.path));
        }
        free(text);
        json_decref(json);
        (void)unlink(sample.path);
    }
}

/* ---- values ---- */

enum { STRIDE = IWT_IS_SLOW ? 7 : 1 }; /* of other values: with sanitizers one of them for each */

static json_t *other_value(size_t which)
{
    switch (which) {
    case 0: return json_null();
    case 1: return json_string("other");
    case 2: return json_integer(-1);
    case 3: return json_real(1e300);
    case 4: return json_integer(0);
    case 5: return json_array();
    case 6: return json_object();
    default: return NULL;
    }
}

static void try_file(const struct sample *sample, const json_t *root)
{
    char *text = json_dumps(root, JSON_COMPACT);

    assert_non_null(text);
    write_file(sample->path, text, strlen(text));
    (void)survives(sample->path);
    free(text);
}

static void replace_values(const struct sample *sample, const json_t *root, json_t *at);

static void replace_member(const struct sample *sample, const json_t *root, json_t *object, const char *key)
{
    json_t *value = json_incref(json_object_get(object, key)), *other;

    for (size_t i = strlen(key) % STRIDE; (other = other_value(i)) != NULL; i += STRIDE) {
        assert_int_equal(json_object_set_new(object, key, other), 0);
        try_file(sample, root);
    }
    assert_int_equal(json_object_del(object, key), 0);
    try_file(sample, root);
    assert_int_equal(json_object_set_new(object, key, value), 0);
    replace_values(sample, root, value);
}

static void replace_item(const struct sample *sample, const json_t *root, json_t *array, size_t index)
{
    json_t *value = json_incref(json_array_get(array, index)), *other;

    for (size_t i = index % STRIDE; (other = other_value(i)) != NULL; i += STRIDE) {
        assert_int_equal(json_array_set_new(array, index, other), 0);
        try_file(sample, root);
    }
    assert_int_equal(json_array_remove(array, index), 0);
    try_file(sample, root);
    assert_int_equal(json_array_insert_new(array, index, value), 0);
    replace_values(sample, root, value);
}

/* Every value below `at`, one after the other. */
static void replace_values(const struct sample *sample, const json_t *root, json_t *at)
{
    json_t *keys = json_object();
    const char *key;
    json_t *value;

    if (json_is_object(at)) {
        assert_int_equal(json_object_update(keys, at), 0); /* deleting changes the order */
        json_object_foreach(keys, key, value)
        {
            replace_member(sample, root, at, key);
        }
    }
    for (size_t i = 0; i < json_array_size(at) && i < ITEMS; i++) {
        replace_item(sample, root, at, i);
    }
    json_decref(keys);
}

static void a_file_with_another_value_is_survived(void **state)
{
    (void)state;
    for (size_t i = 0; iwi_kinds[i] != NULL; i++) {
        struct sample sample;
        char path[PATH_SIZE];
        json_t *root;

        sample_init(&sample, iwi_kinds[i]->name);
        sample_path(sample.kind, path);
        root = json_load_file(path, 0, NULL);
        assert_non_null(root);
        replace_values(&sample, root, root);
        json_decref(root);
        (void)unlink(sample.path);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_has_a_sample_that_is_shown),
        cmocka_unit_test(a_file_cut_at_any_byte_is_refused),
        cmocka_unit_test(a_file_with_another_value_is_survived),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
