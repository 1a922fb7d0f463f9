/* Noise files: what is written is read again, all of it or nothing stands under the file's name.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "noise_hdf5_testing.h"

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <idlewave/files.h>

#include "core/base/rng.h"

static uint64_t draw(uint64_t *index, uint64_t n)
{
    const struct iwi_draw_id id = {.seed = 1, .purpose = IWI_DRAW_TEST};

    return iwi_draw_below(id, (*index)++, n);
}

/* More rows than a chunk has, all columns in use. */
static iw_recording *large_recording(size_t rows)
{
    iw_recording *recording = iwt_recording(3, INT64_C(4000000000));
    uint64_t index = 0;

    recording->probe = IW_PROBE_FWQ;
    recording->attribution = IW_ATTRIBUTION_LEVEL_OSNOISE;
    recording->quantum_ns = 1000000;
    for (int i = 0; i < 700; i++) {
        char name[IW_SOURCE_NAME_SIZE];

        snprintf(name, sizeof name, "thread %d", i);
        (void)iwt_source(recording, IW_CLASS_THREAD, name);
    }
    for (size_t cpu = 0; cpu < 3; cpu++) {
        int64_t at_ns = 0;

        for (size_t i = 0; i < rows * cpu; i++) {
            const int64_t duration_ns = (int64_t)draw(&index, 5000);

            at_ns += (int64_t)draw(&index, 20000);
            iwt_detour(recording, cpu, at_ns, duration_ns, (uint32_t)draw(&index, 701));
            if (draw(&index, 3) == 0) {
                iwt_part(recording, cpu, (uint32_t)draw(&index, 701), duration_ns / 2);
            }
            iwt_sample(recording, cpu, (int64_t)i * 1000, (double)draw(&index, 1000) / 7);
            at_ns += duration_ns;
        }
    }
    return recording;
}

static void assert_comes_back(const iw_recording *recording, const char *path)
{
    iw_recording *again;

    save(recording, path);
    again = load(path);
    assert_same_recording(recording, again);
    iw_recording_free(again);
}

static void a_recording_comes_back_as_it_was(void **state)
{
    const struct iwt_folder *folder = *state;
    iw_recording *recording = small_recording();

    assert_comes_back(recording, folder->file);
    iw_recording_free(recording);
}

static void a_recording_of_several_chunks_comes_back(void **state)
{
    const struct iwt_folder *folder = *state;
    iw_recording *recording = large_recording(70000);

    assert_true(recording->cpus[2].part_count > 30000);
    assert_comes_back(recording, folder->file);
    iw_recording_free(recording);
}

static void a_recording_without_anything_comes_back(void **state)
{
    const struct iwt_folder *folder = *state;
    iw_recording *recording = iwt_recording(1, 0);

    assert_comes_back(recording, folder->file);
    iw_recording_free(recording);
}

static void cpus_and_attributes_keep_their_order(void **state)
{
    const struct iwt_folder *folder = *state;
    iw_recording *recording = iwt_recording(3, 100), *again;
    char *long_text = calloc(100001, 1);

    recording->cpus[0].cpu = 12;
    recording->cpus[1].cpu = 4294967295U;
    recording->cpus[2].cpu = 3;
    iwt_attribute(recording, "z", "first");
    iwt_attribute(recording, "a", "");
    iwt_attribute(recording, "m \xc3\xa4/.", "Z\xc3\xbcrich \xe2\x82\xac");
    memset(long_text, 'x', 100000);
    for (char name[] = "k0"; name[1] <= '9'; name[1]++) {
        iwt_attribute(recording, name, long_text);
    }
    assert_comes_back(recording, folder->file);
    again = load(folder->file);
    assert_string_equal(again->attributes[0].name, "z");
    assert_string_equal(iw_recording_get(again, "k9"), long_text);
    assert_int_equal(again->cpus[1].cpu, 4294967295U);
    iw_recording_free(again);
    iw_recording_free(recording);
    free(long_text);
}

/* As h5py writes it: in one piece, texts padded with zeros and in ASCII. */
static void put_foreign_sources(hid_t file, const iw_recording *recording)
{
    const hid_t old = H5Dopen2(file, "/sources", H5P_DEFAULT), old_type = H5Dget_type(old);
    const hid_t kind = H5Tget_member_type(old_type, 0), name = H5Tcopy(H5T_C_S1);
    const hid_t type = H5Tcreate(H5T_COMPOUND, 1 + IW_SOURCE_NAME_SIZE);
    const hsize_t count = recording->source_count;
    const hid_t space = H5Screate_simple(1, &count, NULL);
    char rows[3][1 + IW_SOURCE_NAME_SIZE];
    hid_t dataset;

    assert_int_equal(count, 3);
    assert_true(H5Tset_size(name, IW_SOURCE_NAME_SIZE) >= 0 && H5Tset_strpad(name, H5T_STR_NULLPAD) >= 0);
    assert_true(H5Tinsert(type, "class", 0, kind) >= 0 && H5Tinsert(type, "name", 1, name) >= 0);
    for (size_t i = 0; i < 3; i++) {
        rows[i][0] = (char)recording->sources[i].kind;
        memcpy(&rows[i][1], recording->sources[i].name, IW_SOURCE_NAME_SIZE);
    }
    assert_true(H5Dclose(old) >= 0 && H5Ldelete(file, "/sources", H5P_DEFAULT) >= 0);
    dataset = H5Dcreate2(file, "/sources", type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, rows) >= 0);
    assert_true(H5Dclose(dataset) >= 0 && H5Sclose(space) >= 0 && H5Tclose(type) >= 0);
    assert_true(H5Tclose(name) >= 0 && H5Tclose(kind) >= 0 && H5Tclose(old_type) >= 0);
}

static void files_of_other_writers_are_read_with_their_cpus_by_number(void **state)
{
    const struct iwt_folder *folder = *state;
    iw_recording *recording = small_recording(), *seen;
    hid_t file, group;

    save(recording, folder->file);
    file = H5Fopen(folder->file, H5F_ACC_RDWR, H5P_DEFAULT);
    put_foreign_sources(file, recording);
    group = H5Gcreate2(file, "/new", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(H5Lmove(file, "/cpu/9", file, "/new/10", H5P_DEFAULT, H5P_DEFAULT) >= 0);
    assert_true(H5Lmove(file, "/cpu/0", file, "/new/9", H5P_DEFAULT, H5P_DEFAULT) >= 0);
    assert_true(H5Ldelete(file, "/cpu", H5P_DEFAULT) >= 0);
    assert_true(H5Lmove(file, "/new", file, "/cpu", H5P_DEFAULT, H5P_DEFAULT) >= 0);
    assert_true(H5Gclose(group) >= 0 && H5Fclose(file) >= 0);
    seen = load(folder->file);
    recording->cpus[0].cpu = 9;
    recording->cpus[1].cpu = 10;
    assert_same_recording(recording, seen);
    iw_recording_free(seen);
    iw_recording_free(recording);
}

static void an_older_file_is_replaced(void **state)
{
    const struct iwt_folder *folder = *state;
    iw_recording *large = large_recording(100), *small = small_recording();

    save(large, folder->file);
    assert_comes_back(small, folder->file);
    assert_int_equal(each_file(folder->path, NULL), 1);
    iw_recording_free(large);
    iw_recording_free(small);
}

static void a_link_stays_a_link(void **state)
{
    const struct iwt_folder *folder = *state;
    iw_recording *recording = small_recording();
    char link[IWT_PATH_SIZE];
    struct stat info;

    snprintf(link, sizeof link, "%s/link.h5", folder->path);
    save(recording, folder->file);
    assert_int_equal(symlink("node.h5", link), 0);
    assert_comes_back(recording, link);
    assert_int_equal(lstat(link, &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    iw_recording_free(recording);
}

static void a_link_to_nothing_yet_is_followed(void **state)
{
    const struct iwt_folder *folder = *state;
    iw_recording *recording = small_recording();
    char link[IWT_PATH_SIZE], other[IWT_PATH_SIZE];
    struct stat info;

    snprintf(link, sizeof link, "%s/link.h5", folder->path);
    snprintf(other, sizeof other, "%s/other.h5", folder->path);
    assert_int_equal(symlink(other, link), 0);
    assert_int_equal(symlink("node.h5", other), 0);
    assert_comes_back(recording, link);
    assert_int_equal(lstat(link, &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    assert_int_equal(lstat(folder->file, &info), 0);
    assert_true(S_ISREG(info.st_mode));
    iw_recording_free(recording);
}

static void expect_not_saved(const iw_recording *recording, const char *path, iw_status expected,
                             const char *advice)
{
    struct iwt_log log;

    iwt_log_init(&log);
    assert_status(iw_recording_save(&log.log, recording, path), expected);
    assert_int_equal(log.errors, 1);
    iwt_assert_logged(&log, advice);
}

static void what_is_no_regular_file_is_not_replaced(void **state)
{
    const struct iwt_folder *folder = *state;
    iw_recording *recording = small_recording();
    struct stat info;

    expect_not_saved(recording, "/dev/null", IW_ERR_IO, "'/dev/null': it is not a regular file");
    expect_not_saved(recording, folder->path, IW_ERR_IO, "it is not a regular file");
    expect_not_saved(recording, "/nowhere/node.h5", IW_ERR_IO, "'/nowhere/node.h5': No such file");
    assert_int_equal(stat("/dev/null", &info), 0);
    assert_true(S_ISCHR(info.st_mode));
    iw_recording_free(recording);
}

static void open_files_and_circles_of_links_are_refused(void **state)
{
    const struct iwt_folder *folder = *state;
    iw_recording *recording = small_recording();
    char path[IWT_PATH_SIZE];
    const int fd = open(folder->file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

    assert_true(fd >= 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    expect_not_saved(recording, path, IW_ERR_IO, "name a file");
    snprintf(path, sizeof path, "/dev/fd/%d", fd);
    expect_not_saved(recording, path, IW_ERR_IO, "cannot go to standard output");
    (void)close(fd);
    snprintf(path, sizeof path, "%s/circle", folder->path);
    assert_int_equal(symlink("circle", path), 0);
    expect_not_saved(recording, path, IW_ERR_IO, "Too many levels of symbolic links");
    iw_recording_free(recording);
}

static void a_recording_that_breaks_its_promises_is_not_written(void **state)
{
    const struct iwt_folder *folder = *state;
    iw_recording *recording = small_recording();

    recording->cpus[0].start_ns[3] = recording->cpus[0].start_ns[2];
    expect_not_saved(recording, folder->file, IW_ERR_RANGE, "CPU 0, detour 3 starts at");
    assert_int_equal(each_file(folder->path, NULL), 0);
    iw_recording_free(recording);
}

/* In a process of its own: the limit cannot be lifted again, and HDF5 must come to its end as well. */
static void save_on_full_disk(const struct iwt_folder *folder, const iw_recording *recording, rlim_t bytes)
{
    const struct rlimit limit = {bytes, bytes};
    struct iwt_log log;

    signal(SIGXFSZ, SIG_IGN);
    iwt_log_init(&log);
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0 ||
        iw_recording_save(&log.log, recording, folder->file) != IW_ERR_IO || log.errors != 1 ||
        strstr(log.text, "node.h5") == NULL) {
        _exit(1);
    }
    exit(freopen("/dev/null", "w", stdout) != NULL ? 0 : 2);
}

static void a_full_disk_leaves_the_older_file_as_it_was(void **state)
{
    const struct iwt_folder *folder = *state;
    iw_recording *small = small_recording(), *large = large_recording(3000), *again;

    save(small, folder->file);
    for (rlim_t bytes = 0; bytes < 80000; bytes += 7000) {
        const pid_t child = fork();
        int result;

        assert_true(child >= 0);
        if (child == 0) {
            save_on_full_disk(folder, large, bytes);
        }
        assert_int_equal(waitpid(child, &result, 0), child);
        assert_int_equal(result, 0);
        assert_int_equal(each_file(folder->path, NULL), 1);
    }
    again = load(folder->file);
    assert_same_recording(small, again);
    iw_recording_free(again);
    iw_recording_free(small);
    iw_recording_free(large);
}

static void what_others_set_in_hdf5_stays(void **state)
{
    const struct iwt_folder *folder = *state;
    H5E_auto2_t before, after;
    void *before_arg, *after_arg;
    iw_recording *recording = small_recording();

    assert_true(H5Eget_auto2(H5E_DEFAULT, &before, &before_arg) >= 0);
    assert_non_null(before);
    assert_comes_back(recording, folder->file);
    expect_refused("/dev/null", IW_ERR_IO, "it is not a regular file");
    assert_true(H5Eget_auto2(H5E_DEFAULT, &after, &after_arg) >= 0);
    assert_true(before == after && before_arg == after_arg);
    assert_int_equal(H5Fget_obj_count((hid_t)H5F_OBJ_ALL, H5F_OBJ_ALL), 0);
    iw_recording_free(recording);
}

int main(void)
{
#define FILE_TEST(name) cmocka_unit_test_setup_teardown(name, open_folder, close_folder)
    const struct CMUnitTest tests[] = {
        FILE_TEST(a_recording_comes_back_as_it_was),
        FILE_TEST(a_recording_of_several_chunks_comes_back),
        FILE_TEST(a_recording_without_anything_comes_back),
        FILE_TEST(cpus_and_attributes_keep_their_order),
        FILE_TEST(files_of_other_writers_are_read_with_their_cpus_by_number),
        FILE_TEST(an_older_file_is_replaced),
        FILE_TEST(a_link_stays_a_link),
        FILE_TEST(what_is_no_regular_file_is_not_replaced),
        FILE_TEST(a_link_to_nothing_yet_is_followed),
        FILE_TEST(open_files_and_circles_of_links_are_refused),
        FILE_TEST(a_recording_that_breaks_its_promises_is_not_written),
        FILE_TEST(a_full_disk_leaves_the_older_file_as_it_was),
        FILE_TEST(what_others_set_in_hdf5_stays),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
