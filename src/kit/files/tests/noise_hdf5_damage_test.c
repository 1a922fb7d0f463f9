/* Noise files that are damaged, or no noise files at all: never a crash, always one sentence.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "noise_hdf5_testing.h"

#include <sys/stat.h>

#include <idlewave/files.h>

/* Says what must not happen while a file is prepared. */
#define MUST(call) assert_true((call) >= 0)

static void many_names_for_one_cpu_do_not_exhaust_memory(void **state)
{
    const struct iwt_folder *folder = *state;
    iw_recording *recording = iwt_recording(1, INT64_C(1000000000));
    hid_t file;

    for (int i = 0; i < 100000; i++) { /* packs very well */
        iwt_detour(recording, 0, i * 1000, 100, 0);
    }
    save(recording, folder->file);
    iw_recording_free(recording);
    file = H5Fopen(folder->file, H5F_ACC_RDWR, H5P_DEFAULT);
    for (int i = 1; i < 2000; i++) {
        char name[32];

        snprintf(name, sizeof name, "/cpu/%d", i);
        MUST(H5Lcreate_hard(file, "/cpu/0", file, name, H5P_DEFAULT, H5P_DEFAULT));
    }
    MUST(H5Fclose(file));
    expect_refused(folder->file, IW_ERR_FORMAT, "more than a file of this size can hold");
}

static void other_files_are_refused(void **state)
{
    const struct iwt_folder *folder = *state;
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    FILE *file;

    MUST(H5Fclose(H5Fcreate(folder->file, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT)));
    expect_refused(folder->file, IW_ERR_FORMAT, "file format version 0, but noise files are in version 3");
    MUST(H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_V110));
    MUST(H5Fclose(H5Fcreate(folder->file, H5F_ACC_TRUNC, H5P_DEFAULT, access)));
    expect_refused(folder->file, IW_ERR_FORMAT, "is an HDF5 file, but not a noise file");
    MUST(H5Pclose(access));
    file = fopen(folder->file, "w");
    assert_non_null(file);
    fputs("0 100\n", file);
    fclose(file);
    expect_refused(folder->file, IW_ERR_FORMAT, "is not an HDF5 file");
    assert_int_equal(unlink(folder->file), 0);
    expect_refused(folder->file, IW_ERR_IO, "No such file");
    assert_int_equal(mkfifo(folder->file, 0600), 0);
    expect_refused(folder->file, IW_ERR_IO, "it is not a regular file");
    expect_refused(folder->path, IW_ERR_IO, "it is not a regular file");
}

static void a_file_cut_short_is_refused(void **state)
{
    static struct bytes bytes;
    const struct iwt_folder *folder = *state;

    put_good_file(folder);
    get_bytes(folder->file, &bytes);
    for (size_t i = 0; i < 200; i++) {
        put_bytes(folder->file, &bytes, bytes.size * i / 200);
        expect_refused(folder->file, IW_ERR_FORMAT, "");
    }
    put_bytes(folder->file, &bytes, bytes.size - 1);
    expect_refused(folder->file, IW_ERR_FORMAT, "the file is damaged or truncated: truncated file");
}

static void a_damaged_byte_is_noticed_or_does_not_matter(void **state)
{
    static struct bytes bytes;
    const struct iwt_folder *folder = *state;
    iw_recording *expected = small_recording();
    size_t noticed = 0, tried = 0;

    put_good_file(folder);
    get_bytes(folder->file, &bytes);
    for (size_t i = 0; i < bytes.size; i += 17, tried++) {
        iw_recording *recording;
        struct iwt_log log;

        iwt_log_init(&log);
        bytes.data[i] ^= (unsigned char)(1U << i % 8);
        put_bytes(folder->file, &bytes, bytes.size);
        bytes.data[i] ^= (unsigned char)(1U << i % 8);
        if (iw_recording_load(&log.log, folder->file, &recording) == IW_OK) {
            assert_same_recording(expected, recording);
            iw_recording_free(recording);
        } else {
            assert_int_equal(log.errors, 1);
            noticed++;
        }
    }
    assert_true(noticed > tried / 2);
    iw_recording_free(expected);
}

int main(void)
{
#define FILE_TEST(name) cmocka_unit_test_setup_teardown(name, open_folder, close_folder)
    const struct CMUnitTest tests[] = {
        FILE_TEST(other_files_are_refused),
        FILE_TEST(many_names_for_one_cpu_do_not_exhaust_memory),
        FILE_TEST(a_file_cut_short_is_refused),
        FILE_TEST(a_damaged_byte_is_noticed_or_does_not_matter),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
