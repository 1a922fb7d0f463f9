/* Collections of networks and noise: the index, what it refuses, copies, and names.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kit/files/collection/collection.h"
#include "support/support.h"

#define HEAD "format: idlewave.collection/1\nentries:\n"
#define WORDS "about: a, licence: CC0-1.0, origin: o, made: m"
/* "L: 1us, ..." as below */
#define NET_TEXT "L: 1us\no: 1us\ng: 1us\nG: 1ns\n"
#define SHA "sha256: 0000000000000000000000000000000000000000000000000000000000000000"
#define NET "- {name: mine, kind: net, file: net/m.yaml, bytes: 27, " SHA ", " WORDS "}\n"
#define NOISE "- {name: tick, kind: noise, spec: 'periodic:1kHz,2us', " WORDS "}\n"

static iw_status read_text(struct iwt_log *l, const char *text, size_t size, iw_collection **collection_p)
{
    iwt_log_init(l);
    return iwi_collection_read_memory(&l->log, "index.yaml", text, size, collection_p);
}

static void entries_have_what_the_index_says(void **state)
{
    struct iwt_log l;
    iw_collection *all;
    const char text[] = HEAD NET NOISE;

    (void)state;
    assert_ok(read_text(&l, text, strlen(text), &all));
    assert_int_equal(all->count, 2);
    assert_int_equal(iw_collection_get(all, "mine")->bytes, 27);
    assert_string_equal(iw_collection_get(all, "mine")->file, "net/m.yaml");
    assert_null(iw_collection_get(all, "mine")->spec);
    assert_int_equal(iw_collection_get(all, "tick")->kind, IW_COLLECTED_NOISE);
    assert_string_equal(iw_collection_get(all, "tick")->spec, "periodic:1kHz,2us");
    assert_string_equal(iw_collection_get(all, "tick")->licence, "CC0-1.0");
    assert_null(iw_collection_get(all, "tock"));
    iw_collection_free(all);
}

static void what_is_wrong_is_said_with_its_line(void **state)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"entries: []\n", "'index.yaml:1': key 'format' is missing"},
        {"format: idlewave.collection/2\nentries: []\n", "format 'idlewave.collection/2' is not"},
        {"format: idlewave.collection/1\n", "key 'entries' is missing"},
        {HEAD "- tick\n", "'index.yaml:3': expected a mapping such as '{name: ...}'"},
        {HEAD "- {kind: noise}\n", "key 'name' is missing"},
        {HEAD "- {name: Tick, kind: noise}\n", "name 'Tick': use at"},
        {HEAD "- {name: a/b, kind: noise}\n", "name 'a/b': use at most 60 lower-case letters"},
        {HEAD "- {name: chic, kind: net}\n", "name 'chic' belongs to a built-in network"},
        {HEAD "- {name: tick, kind: file}\n", "key 'kind': unknown value 'file': use net, noise"},
        {HEAD NOISE NOISE, "'index.yaml:4': name 'tick' is taken"},
        {HEAD "- {name: m, kind: net, spec: 'periodic:1Hz,1us', " WORDS "}\n", "key 'spec' is for noise"},
        {HEAD "- {name: m, kind: net, file: ../m, bytes: 1, " SHA ", " WORDS "}\n",
         "file '../m': use a path below"},
        {HEAD "- {name: m, kind: net, file: a/../m, bytes: 1, " SHA ", " WORDS "}\n", "a path below"},
        {HEAD "- {name: m, kind: net, file: /etc/m, bytes: 1, " SHA ", " WORDS "}\n", "a path below"},
        {HEAD "- {name: m, kind: net, file: 'a b', bytes: 1, " SHA ", " WORDS "}\n", "a path below"},
        {HEAD "- {name: m, kind: net, file: m, bytes: x, " SHA ", " WORDS "}\n",
         "'index.yaml:3': key 'bytes'"},
        {HEAD "- {name: m, kind: net, file: m, bytes: 1, sha256: beef, " WORDS "}\n",
         "64 hexadecimal digits"},
        {HEAD "- {name: m, kind: net, file: m, bytes: 1, " SHA ", about: a, licence: ''}\n",
         "key 'licence' has no value"},
        {HEAD "- {name: m, kind: noise, spec: s, about: a, licence: l, made: m}\n",
         "key 'origin' is missing"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct iwt_log l;
        iw_collection *all;

        assert_true(read_text(&l, cases[i].text, strlen(cases[i].text), &all) != IW_OK);
        assert_int_equal(l.errors, 1);
        iwt_assert_logged(&l, cases[i].message);
    }
}

/* Shorter texts are refused, or are indexes of fewer entries. */
static void every_beginning_of_an_index_is_read_safely(void **state)
{
    const char text[] = HEAD NET NOISE;

    (void)state;
    for (size_t size = 0; size < strlen(text); size++) {
        struct iwt_log l;
        iw_collection *all = NULL;

        if (read_text(&l, text, size, &all) == IW_OK) {
            assert_true(all->count <= 2);
            iw_collection_free(all);
        } else {
            assert_int_equal(l.errors, 1);
        }
    }
}

/* ---- folders ---- */

struct folders {
    char scratch[64], from[80], to[80];
};

static void write_file(const char *folder, const char *name, const char *text)
{
    char path[PATH_MAX];
    FILE *out;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    out = fopen(path, "w");
    assert_non_null(out);
    assert_true(fputs(text, out) >= 0);
    assert_int_equal(fclose(out), 0);
}

static int make_folders(void **state)
{
    struct folders *f = calloc(1, sizeof *f);

    snprintf(f->scratch, sizeof f->scratch, "/tmp/iw_collection_XXXXXX");
    assert_non_null(mkdtemp(f->scratch));
    snprintf(f->from, sizeof f->from, "%s/from", f->scratch);
    snprintf(f->to, sizeof f->to, "%s/to/idlewave", f->scratch);
    *state = f;
    return 0;
}

static int remove_folders(void **state)
{
    struct folders *f = *state;
    char command[128];

    snprintf(command, sizeof command, "rm -r '%s'", f->scratch);
    assert_int_equal(system(command), 0);
    free(f);
    return 0;
}

/* A collection with a network, told by its checksum, and a spec. */
static iw_collection *fill(const struct folders *f)
{
    char command[128], text[2048], *sha256;
    struct iwt_log l;
    iw_collection *all;
    uint64_t bytes;

    snprintf(command, sizeof command, "mkdir '%s'", f->from);
    assert_int_equal(system(command), 0);
    write_file(f->from, "m.yaml", NET_TEXT);
    snprintf(command, sizeof command, "%s/m.yaml", f->from);
    iwt_log_init(&l);
    assert_ok(iwi_sha256_of_file(&l.log, command, &sha256, &bytes));
    snprintf(text, sizeof text,
             HEAD "- {name: mine, kind: net, file: m.yaml, bytes: %u, sha256: %s, " WORDS "}\n" NOISE,
             (unsigned)bytes, sha256);
    free(sha256);
    write_file(f->from, "index.yaml", text);
    assert_ok(iw_collection_load(&l.log, f->from, &all));
    return all;
}

static void copies_are_found_by_their_names(void **state)
{
    const struct folders *f = *state;
    iw_collection *all = fill(f);
    char data[80], expected[120], *found;
    struct iwt_log l;

    iwt_log_init(&l);
    snprintf(data, sizeof data, "%s/to", f->scratch);
    assert_int_equal(setenv("XDG_DATA_HOME", data, 1), 0);
    assert_ok(iw_collection_find(&l.log, IW_COLLECTED_NET, "mine", &found));
    assert_null(found);
    for (size_t i = 0; i < all->count; i++) {
        assert_ok(iw_collection_copy(&l.log, f->from, &all->entries[i], f->to));
        assert_ok(iw_collection_copy(&l.log, f->from, &all->entries[i], f->to)); /* replaces it */
    }
    iw_collection_free(all);
    assert_ok(iw_collection_load(&l.log, f->to, &all));
    assert_int_equal(all->count, 2);
    iw_collection_free(all);
    assert_ok(iw_collection_find(&l.log, IW_COLLECTED_NET, "mine", &found));
    snprintf(expected, sizeof expected, "%s/net/mine.yaml", f->to);
    assert_string_equal(found, expected);
    free(found);
    assert_ok(iw_collection_find(&l.log, IW_COLLECTED_NOISE, "tick", &found));
    assert_string_equal(found, "periodic:1kHz,2us");
    free(found);
    assert_ok(iw_collection_find(&l.log, IW_COLLECTED_NOISE, "mine", &found)); /* of another kind */
    assert_null(found);
    assert_ok(iw_collection_find(&l.log, IW_COLLECTED_NET, "../mine", &found));
    assert_null(found);
    assert_int_equal(l.errors, 0);
}

static void damaged_files_are_not_copied(void **state)
{
    const struct folders *f = *state;
    iw_collection *all = fill(f);
    struct iwt_log l;

    iwt_log_init(&l);
    write_file(f->from, "m.yaml", "L: 2us\no: 1us\ng: 1us\nG: 1ns\n"); /* of the same size */
    assert_status(iw_collection_copy(&l.log, f->from, &all->entries[0], f->to), IW_ERR_FORMAT);
    iwt_assert_logged(&l, "has the checksum");
    write_file(f->from, "m.yaml", NET_TEXT "\n");
    assert_status(iw_collection_copy(&l.log, f->from, &all->entries[0], f->to), IW_ERR_FORMAT);
    iwt_assert_logged(&l, "has 29 bytes, but the index says 28:");
    assert_int_not_equal(access(f->to, F_OK), 0);
    iw_collection_free(all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entries_have_what_the_index_says),
        cmocka_unit_test(what_is_wrong_is_said_with_its_line),
        cmocka_unit_test(every_beginning_of_an_index_is_read_safely),
        cmocka_unit_test_setup_teardown(copies_are_found_by_their_names, make_folders, remove_folders),
        cmocka_unit_test_setup_teardown(damaged_files_are_not_copied, make_folders, remove_folders),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
