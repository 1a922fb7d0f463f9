/* Importing and exporting by path: formats told by content and suffix, CPUs, lengths, names of files, losses.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "convert_testing.h"

#include <sys/stat.h>
#include <unistd.h>

#include <idlewave/convert.h>

enum { PATH_SIZE = 128 };

struct folder {
    char path[64];
};

static int open_folder(void **state)
{
    static struct folder folder;

    snprintf(folder.path, sizeof folder.path, "/tmp/iw_convert_XXXXXX");
    assert_non_null(mkdtemp(folder.path));
    *state = &folder;
    return 0;
}

static const char *const file_names[] = {"a.txt", "a.cpu0.txt", "a.cpu7.txt", "a.csv",
                                         "a.h5",  "sj.12",      "a.xyz"};

static void path_of(void **state, const char *name, char path[PATH_SIZE])
{
    const struct folder *folder = *state;

    snprintf(path, PATH_SIZE, "%s/%s", folder->path, name);
}

static int close_folder(void **state)
{
    const struct folder *folder = *state;

    for (size_t i = 0; i < sizeof file_names / sizeof file_names[0]; i++) {
        char path[PATH_SIZE];

        path_of(state, file_names[i], path);
        (void)unlink(path);
    }
    return rmdir(folder->path);
}

static void put(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static iw_recording *two_cpus(void)
{
    iw_recording *recording = iwt_recording(2, 1000000);
    const uint32_t timer = iwt_source(recording, IW_CLASS_IRQ, "local_timer");

    iwt_attribute(recording, "host", "node17");
    recording->cpus[1].cpu = 7;
    iwt_detour(recording, 0, 100, 50, timer);
    iwt_part(recording, 0, timer, 40);
    iwt_part(recording, 0, 0, 10);
    iwt_detour(recording, 1, 300, 60, timer);
    return recording;
}

static iw_recording *import(const char *path, const iw_import_opts *opts)
{
    iw_recording *recording = NULL;

    assert_ok(iw_recording_import(NULL, path, opts, &recording));
    return recording;
}

static void every_format_has_a_name_and_can_be_read(void **state)
{
    size_t count = 0;

    (void)state;
    for (; iw_convert_format_at(count) != NULL; count++) {
        assert_non_null(iw_convert_format_at(count)->name);
        assert_non_null(iw_convert_format_at(count)->summary);
        assert_true(iw_convert_format_at(count)->can_read);
        assert_int_equal(iw_convert_format_at(count)->can_write,
                         iwi_convert_formats[count]->write != NULL ||
                             iwi_convert_formats[count]->write_file != NULL);
    }
    assert_int_equal(count, 9);
}

static void the_suffix_tells_the_format_and_hdf5_keeps_all(void **state)
{
    const iw_import_opts opts = IW_IMPORT_OPTS_INIT;
    iw_recording *recording = two_cpus(), *again;
    struct iwt_log log;
    char path[PATH_SIZE];

    path_of(state, "a.h5", path);
    iwt_log_init(&log);
    assert_ok(iw_recording_export(&log.log, recording, path, NULL));
    assert_string_equal(log.text, "");
    again = import(path, &opts);
    expect_same_detours(recording, again, true);
    assert_int_equal(again->cpus[0].part_count, 2);
    assert_null(iw_recording_get(again, "imported_from"));
    iw_recording_free(again);
    iw_recording_free(recording);
}

static void several_cpus_become_several_files(void **state)
{
    const iw_import_opts opts = IW_IMPORT_OPTS_INIT;
    iw_recording *recording = two_cpus(), *again;
    struct iwt_log log;
    char path[PATH_SIZE];

    path_of(state, "a.txt", path);
    iwt_log_init(&log);
    assert_ok(iw_recording_export(&log.log, recording, path, NULL));
    iwt_assert_logged(&log, "dropped 1 source, 2 parts of detours, 1 attribute");
    iwt_assert_logged(&log, "a.cpu7.txt'");
    assert_int_equal(log.warnings, 1);
    path_of(state, "a.cpu7.txt", path);
    again = import(path, &opts);
    assert_int_equal(again->cpus[0].cpu, 7);
    assert_int_equal(again->cpus[0].start_ns[0], 300);
    iw_recording_free(again);
    iw_recording_free(recording);
}

static void one_cpu_is_chosen_or_named(void **state)
{
    iw_import_opts opts = IW_IMPORT_OPTS_INIT;
    iw_recording *recording = two_cpus(), *again;
    struct iwt_log log;
    char path[PATH_SIZE];

    path_of(state, "a.csv", path);
    assert_ok(iw_recording_export(NULL, recording, path, NULL));
    opts.cpu = 7;
    again = import(path, &opts);
    assert_int_equal(again->cpu_count, 1);
    assert_int_equal(again->cpus[0].cpu, 7);
    assert_int_equal(again->cpus[0].start_ns[0], 300);
    iw_recording_free(again);
    opts.cpu = 3;
    iwt_log_init(&log);
    again = NULL;
    assert_status(iw_recording_import(&log.log, path, &opts, &again), IW_ERR_RANGE);
    iwt_assert_logged(&log, "has no CPU 3");
    path_of(state, "a.txt", path);
    put(path, "1 2\n");
    again = import(path, &opts);
    assert_int_equal(again->cpus[0].cpu, 3);
    iw_recording_free(again);
    iw_recording_free(recording);
}

static void sysjitter_names_end_with_the_cpu(void **state)
{
    const iw_import_opts opts = IW_IMPORT_OPTS_INIT;
    iw_recording *recording;
    char path[PATH_SIZE];

    path_of(state, "sj.12", path);
    put(path, "# cpu_mhz: 1000\n# n_interruptions: 0\n");
    recording = import(path, &opts);
    assert_int_equal(recording->cpus[0].cpu, 12);
    iw_recording_free(recording);
}

static void a_length_can_be_given(void **state)
{
    iw_import_opts opts = IW_IMPORT_OPTS_INIT;
    iw_recording *recording;
    struct iwt_log log;
    char path[PATH_SIZE];

    path_of(state, "a.txt", path);
    put(path, "100 50\n");
    opts.length_ns = 5000;
    recording = import(path, &opts);
    assert_int_equal(recording->cpus[0].length_ns, 5000);
    iw_recording_free(recording);
    opts.length_ns = 120;
    iwt_log_init(&log);
    assert_status(iw_recording_import(&log.log, path, &opts, &recording), IW_ERR_RANGE);
    iwt_assert_logged(&log, "the last detour ends at 150 ns");
    opts.length_ns = -1;
    assert_status(iw_recording_import(NULL, path, &opts, &recording), IW_ERR_RANGE);
}

static void unknown_formats_are_named(void **state)
{
    iw_import_opts opts = IW_IMPORT_OPTS_INIT;
    iw_recording *recording = two_cpus(), *none;
    struct iwt_log log;
    char path[PATH_SIZE];

    path_of(state, "a.xyz", path);
    iwt_log_init(&log);
    assert_status(iw_recording_export(&log.log, recording, path, NULL), IW_ERR_USAGE);
    iwt_assert_logged(&log, "suffix");
    assert_status(iw_recording_export(&log.log, recording, path, "osnoise"), IW_ERR_USAGE);
    iwt_assert_logged(&log,
                      "not a format that can be written: use one of idlewave, netgauge, csv, sysjitter");
    assert_status(iw_recording_export(&log.log, recording, "-", "netgauge"), IW_ERR_USAGE);
    iwt_assert_logged(&log, "choose one (`cpu`)");
    put(path, "hello\n");
    assert_status(iw_recording_import(&log.log, path, &opts, &none), IW_ERR_FORMAT);
    iwt_assert_logged(&log, "unknown suffix");
    put(path, "");
    assert_status(iw_recording_import(&log.log, path, &opts, &none), IW_ERR_TRUNCATED);
    opts.format = "nothing";
    assert_status(iw_recording_import(&log.log, path, &opts, &none), IW_ERR_USAGE);
    assert_int_equal(log.errors, 6);
    iw_recording_free(recording);
}

static void ftq_has_no_detours_to_list(void **state)
{
    iw_recording *recording = iwt_recording(1, 1000);
    struct iwt_log log;
    char path[PATH_SIZE];

    recording->probe = IW_PROBE_FTQ;
    path_of(state, "a.txt", path);
    iwt_log_init(&log);
    assert_status(iw_recording_export(&log.log, recording, path, NULL), IW_ERR_UNSUPPORTED);
    iwt_assert_logged(&log, "ftq does not record when detours were");
    assert_int_not_equal(access(path, F_OK), 0);
    iw_recording_free(recording);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, open_folder, close_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(every_format_has_a_name_and_can_be_read),
        TEST(the_suffix_tells_the_format_and_hdf5_keeps_all),
        TEST(several_cpus_become_several_files),
        TEST(one_cpu_is_chosen_or_named),
        TEST(sysjitter_names_end_with_the_cpu),
        TEST(a_length_can_be_given),
        TEST(unknown_formats_are_named),
        TEST(ftq_has_no_detours_to_list),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
