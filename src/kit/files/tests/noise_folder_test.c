/* Folders of noise files: what is taken, what is skipped, what is refused, and what a study takes note of.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "noise_hdf5_testing.h"

#include <sys/stat.h>

#include <idlewave/files.h>
#include <idlewave/fleet.h>

/* One CPU of 1 ms with a detour of so many ns. */
static void write_node(const struct iwt_folder *folder, const char *name, int64_t detour_ns)
{
    iw_recording *recording = iwt_recording(1, 1000000);
    char path[IWT_PATH_SIZE];

    iwt_detour(recording, 0, 5000, detour_ns, iwt_source(recording, IW_CLASS_IRQ, "eno1"));
    snprintf(path, sizeof path, "%s/%s", folder->path, name);
    assert_ok(iw_recording_save(NULL, recording, path));
    iw_recording_free(recording);
}

static void write_text(const struct iwt_folder *folder, const char *name, const char *text)
{
    char path[IWT_PATH_SIZE];
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", folder->path, name);
    file = fopen(path, "w");
    assert_non_null(file);
    (void)fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static void assert_name(const iw_folder *list, size_t number, const char *name)
{
    const char *slash = strrchr(list->paths[number], '/');

    assert_non_null(slash);
    assert_string_equal(slash + 1, name);
}

static void noise_files_are_told_by_content_and_sorted_by_name(void **state)
{
    const struct iwt_folder *folder = *state;
    iw_folder *list = NULL;
    struct iwt_log l;

    iwt_log_init(&l);
    write_node(folder, "n2.h5", 200);
    write_node(folder, "n10.noise", 100);
    write_node(folder, ".hidden.h5", 100);
    write_node(folder, "n3.h5.tmp-0123", 100);
    write_text(folder, "README", "text");
    write_text(folder, "slurm-1.out", "");
    assert_ok(iw_folder_list(&l.log, folder->path, &list));
    assert_int_equal(list->count, 2);
    assert_name(list, 0, "n10.noise");
    assert_name(list, 1, "n2.h5");
    assert_int_equal(list->skipped, 2);
    iwt_assert_logged(&l, "2 entries are no noise files and were skipped");
    iw_folder_free(list);
    assert_true(iw_is_folder(folder->path));
    assert_false(iw_is_folder("periodic:10Hz,1us"));
}

static void a_folder_is_noise_of_all_its_nodes(void **state)
{
    const struct iwt_folder *folder = *state;
    iw_noise *noise = NULL;

    write_node(folder, "a.h5", 1000);
    write_node(folder, "b.h5", 3000);
    assert_ok(iw_noise_new(NULL, &noise));
    assert_ok(iw_noise_open(NULL, noise, folder->path));
    assert_int_equal(iw_noise_source_count(noise), 1);
    assert_string_equal(iw_noise_source_name(noise, 0), "irq eno1");
    assert_true(iw_noise_source_share(noise, 0) > 0.00199 && iw_noise_source_share(noise, 0) < 0.00201);
    iw_noise_free(noise);
}

static void what_stands_for_noise_is_told_by_one_rule(void **state)
{
    const struct iwt_folder *folder = *state;
    char path[4096];

    write_node(folder, "a.h5", 1000);
    write_text(folder, "b.txt", "1 2\n");
    assert_int_equal(iw_noise_form_of("none"), IW_NOISE_SPEC);
    assert_int_equal(iw_noise_form_of("periodic:1kHz,1us"), IW_NOISE_SPEC);
    assert_int_equal(iw_noise_form_of("periodical:1kHz,1us"), IW_NOISE_SPEC);
    assert_int_equal(iw_noise_form_of(folder->path), IW_NOISE_FOLDER);
    (void)snprintf(path, sizeof path, "%s/a.h5", folder->path);
    assert_int_equal(iw_noise_form_of(path), IW_NOISE_RECORDING);
    (void)snprintf(path, sizeof path, "%s/b.txt", folder->path);
    assert_int_equal(iw_noise_form_of(path), IW_NOISE_TEXT);
    (void)snprintf(path, sizeof path, "%s/c.txt", folder->path);
    assert_int_equal(iw_noise_form_of(path), IW_NOISE_ABSENT);
}

static void assert_folder_refused(const char *path, iw_status status, const char *text)
{
    iw_noise *noise = NULL;
    struct iwt_log l;

    iwt_log_init(&l);
    assert_ok(iw_noise_new(NULL, &noise));
    assert_status(iw_noise_open(&l.log, noise, path), status);
    iwt_assert_logged(&l, text);
    assert_int_equal(iw_noise_source_count(noise), 0);
    iw_noise_free(noise);
}

static void a_folder_without_noise_files_says_what_to_do(void **state)
{
    const struct iwt_folder *folder = *state;

    write_text(folder, "README", "text");
    assert_folder_refused(folder->path, IW_ERR_FORMAT, "has no noise files: record one on each node");
}

/* A node that is left out would make the others look like all. */
static void a_damaged_file_is_refused_by_name(void **state)
{
    const struct iwt_folder *folder = *state;

    write_node(folder, "a.h5", 1000);
    write_text(folder, "b.h5", "");
    assert_folder_refused(folder->path, IW_ERR_FORMAT, "b.h5");
}

static void a_folder_that_cannot_be_read_is_an_error(void **state)
{
    iw_folder *list = NULL;
    struct iwt_log l;

    (void)state;
    iwt_log_init(&l);
    assert_status(iw_folder_list(&l.log, "/nonexistent/folder", &list), IW_ERR_IO);
    iwt_assert_logged(&l, "cannot read folder '/nonexistent/folder'");
    assert_null(list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(noise_files_are_told_by_content_and_sorted_by_name, open_folder,
                                        close_folder),
        cmocka_unit_test_setup_teardown(what_stands_for_noise_is_told_by_one_rule, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(a_folder_is_noise_of_all_its_nodes, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(a_folder_without_noise_files_says_what_to_do, open_folder,
                                        close_folder),
        cmocka_unit_test_setup_teardown(a_damaged_file_is_refused_by_name, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(a_folder_that_cannot_be_read_is_an_error, open_folder, close_folder),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
