/* Files of timelines: read as they were written, and never a crash if they are damaged.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kit/timeline/tests/timeline_testing.h"

#define MUST(call) assert_true((call) >= 0)

struct folder {
    char path[64], file[96];
};

static int open_folder(void **state)
{
    struct folder *folder = calloc(1, sizeof *folder);

    assert_non_null(folder);
    strcpy(folder->path, "/tmp/iw_timeline_XXXXXX");
    assert_non_null(mkdtemp(folder->path));
    snprintf(folder->file, sizeof folder->file, "%s/t.h5", folder->path);
    *state = folder;
    return 0;
}

static int close_folder(void **state)
{
    struct folder *folder = *state;

    (void)unlink(folder->file);
    (void)rmdir(folder->path);
    free(folder);
    return 0;
}

/* 20 ranks in two rows of ten, a window of 7 of them from rank 17 on. */
static iw_timeline *small_timeline(void)
{
    iw_timeline_opts opts = made_opts(20);

    opts.rows = 40;
    opts.columns = 50;
    opts.expected_ps = 15 * INT64_C(4000000);
    opts.first_rank = 17;
    opts.rank_count = 7;
    opts.from_ps = 9000000;
    opts.about.dims[0] = 2;
    opts.about.dims[1] = 10;
    opts.about.is_periodic = true;
    opts.about.distance = 2;
    opts.about.sigma = 1;
    opts.about.noiseless_ps = 8000000;
    strcpy(opts.about.title, "a \"title\"");
    return made(&opts, 15, 0);
}

static void put_good_file(const struct folder *folder)
{
    iw_timeline *timeline = small_timeline();

    assert_ok(iw_timeline_write(NULL, timeline, folder->file));
    iw_timeline_free(timeline);
}

static void assert_same(const iw_timeline *a, const iw_timeline *b)
{
    const iw_timeline_about *one = iw_timeline_describe(a), *other = iw_timeline_describe(b);

    assert_string_equal(one->origin, other->origin);
    assert_string_equal(one->title, other->title);
    assert_memory_equal(one->dims, other->dims, sizeof one->dims);
    assert_int_equal(one->ranks, other->ranks);
    assert_int_equal(one->is_periodic, other->is_periodic);
    assert_int_equal(one->distance, other->distance);
    assert_int_equal(one->sigma, other->sigma);
    assert_int_equal(one->noiseless_ps, other->noiseless_ps);
    assert_int_equal(iw_timeline_end(a), iw_timeline_end(b));
    assert_int_equal(iw_timeline_is_whole(a), iw_timeline_is_whole(b));
    assert_int_equal(iw_timeline_exact_ranks(a), iw_timeline_exact_ranks(b));
    for (uint32_t i = 0; i < iw_timeline_exact_ranks(a); i++) {
        uint64_t first, other_first;
        size_t count, other_count;
        const iw_step *steps = iw_timeline_steps(a, i, &count, &first),
                      *others = iw_timeline_steps(b, i, &other_count, &other_first);

        assert_int_equal(iw_timeline_exact_rank(a, i), iw_timeline_exact_rank(b, i));
        assert_int_equal(count, other_count);
        assert_int_equal(first, other_first);
        assert_memory_equal(steps, others, count * sizeof *steps);
    }
    assert_int_equal(iw_timeline_level_count(a), iw_timeline_level_count(b));
    for (size_t i = 0; i < iw_timeline_level_count(a); i++) {
        const iw_raster x = iw_timeline_level(a, i), y = iw_timeline_level(b, i);
        const size_t bytes = (size_t)x.rows * x.columns * sizeof *x.mean[0];

        assert_int_equal(x.rows, y.rows);
        assert_int_equal(x.columns, y.columns);
        assert_int_equal(x.ranks_per_row, y.ranks_per_row);
        assert_int_equal(x.bin_ps, y.bin_ps);
        for (int s = 0; s < IW_STATES; s++) {
            assert_memory_equal(x.mean[s], y.mean[s], bytes);
            assert_memory_equal(x.max[s], y.max[s], bytes);
        }
    }
}

static void what_is_written_is_read(void **state)
{
    const struct folder *folder = *state;
    iw_timeline *written = small_timeline(), *read;

    assert_false(iw_timeline_is_file(folder->file));
    assert_ok(iw_timeline_write(NULL, written, folder->file));
    assert_true(iw_timeline_is_file(folder->file));
    assert_ok(iw_timeline_read(NULL, folder->file, &read));
    assert_same(written, read);
    iw_timeline_free(read);
    iw_timeline_free(written);
}

static void a_timeline_without_steps_is_read(void **state)
{
    const struct folder *folder = *state;
    iw_timeline_opts opts = made_opts(3);
    iw_timeline *written, *read;

    for (int has_window = 0; has_window < 2; has_window++) {
        opts.max_steps = has_window ? 10 : 0;
        written = made(&opts, 0, 0);
        assert_ok(iw_timeline_write(NULL, written, folder->file));
        assert_ok(iw_timeline_read(NULL, folder->file, &read));
        assert_same(written, read);
        iw_timeline_free(read);
        iw_timeline_free(written);
    }
}

static void the_same_timeline_is_the_same_file(void **state)
{
    const struct folder *folder = *state;
    char *texts[2];
    size_t sizes[2];

    for (int i = 0; i < 2; i++) {
        struct stat info;
        FILE *file;

        put_good_file(folder); /* the second time in place of the first */
        MUST(stat(folder->file, &info));
        sizes[i] = (size_t)info.st_size;
        texts[i] = malloc(sizes[i]);
        file = fopen(folder->file, "rb");
        assert_non_null(file);
        assert_int_equal(fread(texts[i], 1, sizes[i], file), sizes[i]);
        fclose(file);
    }
    assert_int_equal(sizes[0], sizes[1]);
    assert_memory_equal(texts[0], texts[1], sizes[0]);
    free(texts[0]);
    free(texts[1]);
}

static void where_nothing_can_be_written_one_sentence_says_so(void **state)
{
    iw_timeline *timeline = small_timeline();
    struct iwt_log log;

    (void)state;
    iwt_log_init(&log);
    assert_status(iw_timeline_write(&log.log, timeline, "/nowhere/t.h5"), IW_ERR_IO);
    assert_int_equal(log.errors, 1);
    iw_timeline_free(timeline);
}

/* As idlewave 0.1 wrote it. */
static void a_file_without_the_noiseless_time_is_read(void **state)
{
    const struct folder *folder = *state;
    iw_timeline *read;
    hid_t file;

    put_good_file(folder);
    file = H5Fopen(folder->file, H5F_ACC_RDWR, H5P_DEFAULT);
    MUST(file);
    MUST(H5Adelete(file, "noiseless_ps"));
    MUST(H5Fclose(file));
    assert_ok(iw_timeline_read(NULL, folder->file, &read));
    assert_int_equal(iw_timeline_describe(read)->noiseless_ps, 0);
    iw_timeline_free(read);
}

/* ---- damage ---- */

static void expect_refused(const char *path, iw_status status, const char *part)
{
    struct iwt_log log;
    iw_timeline *timeline;

    iwt_log_init(&log);
    assert_status(iw_timeline_read(&log.log, path, &timeline), status);
    assert_int_equal(log.errors, 1);
    iwt_assert_logged(&log, part);
}

static char *get_bytes(const char *path, size_t *size_p)
{
    FILE *file = fopen(path, "rb");
    struct stat info;
    char *bytes;

    assert_non_null(file);
    MUST(stat(path, &info));
    *size_p = (size_t)info.st_size;
    bytes = malloc(*size_p);
    assert_int_equal(fread(bytes, 1, *size_p, file), *size_p);
    fclose(file);
    return bytes;
}

static void put_bytes(const char *path, const char *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");

    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

static void a_file_cut_short_is_refused(void **state)
{
    const struct folder *folder = *state;
    size_t size;
    char *bytes;

    put_good_file(folder);
    bytes = get_bytes(folder->file, &size);
    for (size_t i = 0; i < 200; i++) {
        put_bytes(folder->file, bytes, size * i / 200);
        expect_refused(folder->file, IW_ERR_FORMAT, "");
    }
    put_bytes(folder->file, bytes, size - 1);
    expect_refused(folder->file, IW_ERR_FORMAT, "the file is damaged or truncated: truncated file");
    free(bytes);
}

static void a_damaged_byte_never_crashes(void **state)
{
    const struct folder *folder = *state;
    size_t size, refused = 0, tried = 0;
    char *bytes;

    put_good_file(folder);
    bytes = get_bytes(folder->file, &size);
    for (size_t i = 0; i < size; i += 97, tried++) {
        iw_timeline *timeline;
        struct iwt_log log;

        iwt_log_init(&log);
        bytes[i] = (char)(bytes[i] ^ (1 << i % 8));
        put_bytes(folder->file, bytes, size);
        bytes[i] = (char)(bytes[i] ^ (1 << i % 8));
        if (iw_timeline_read(&log.log, folder->file, &timeline) == IW_OK) {
            iw_timeline_free(timeline);
        } else {
            assert_int_equal(log.errors, 1);
            refused++;
        }
    }
    assert_true(refused > tried / 4);
    free(bytes);
}

static void other_files_are_refused(void **state)
{
    const struct folder *folder = *state;
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);

    expect_refused(folder->file, IW_ERR_IO, "No such file");
    put_bytes(folder->file, "hello", 5);
    expect_refused(folder->file, IW_ERR_FORMAT, "is not an HDF5 file, so not a timeline:");
    assert_false(iw_timeline_is_file(folder->file));
    MUST(H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_V110));
    MUST(H5Fclose(H5Fcreate(folder->file, H5F_ACC_TRUNC, H5P_DEFAULT, access)));
    expect_refused(folder->file, IW_ERR_FORMAT, "is an HDF5 file, but not a timeline file");
    assert_false(iw_timeline_is_file(folder->file));
    MUST(H5Pclose(access));
}

/* ---- files that say what cannot be, with valid checksums ---- */

static void change_attribute(const struct folder *folder, const char *where, const char *name, hid_t type,
                             const void *value)
{
    hid_t file, object, attribute;

    put_good_file(folder);
    file = H5Fopen(folder->file, H5F_ACC_RDWR, H5P_DEFAULT);
    object = H5Oopen(file, where, H5P_DEFAULT);
    attribute = H5Aopen(object, name, H5P_DEFAULT);
    MUST(H5Awrite(attribute, type, value));
    MUST(H5Aclose(attribute));
    MUST(H5Oclose(object));
    MUST(H5Fclose(file));
}

static void attributes_that_cannot_be_are_refused(void **state)
{
    static const struct {
        const char *where, *name;
        uint32_t value;
        const char *part;
    } cases[] = {
        {"/", "ranks", 0, "it has no ranks"},
        {"/", "ranks", 6, "the window in /exact has more ranks than the run"},
        {"/", "ranks", UINT32_MAX, "the shape of /raster/0 does not fit the run"},
        {"/exact", "first_rank", 20, "the window in /exact has more ranks"},
        {"/raster/0", "rows", 19, "the shape of /raster/0 does not fit the run"},
        {"/raster/0", "columns", 0, "the shape of /raster/0 does not fit the run"},
        {"/raster/0", "columns", UINT32_MAX, "the shape of /raster/0 does not fit the run"},
        {"/raster/0", "columns", 30000, "elements instead of"},
        {"/raster/0", "ranks_per_row", 0, "the shape of /raster/0 does not fit the run"},
    };
    const struct folder *folder = *state;
    int64_t number = -1;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        change_attribute(folder, cases[i].where, cases[i].name, H5T_NATIVE_UINT32, &cases[i].value);
        expect_refused(folder->file, IW_ERR_FORMAT, cases[i].part);
    }
    change_attribute(folder, "/", "end_ps", H5T_NATIVE_INT64, &number);
    expect_refused(folder->file, IW_ERR_FORMAT, "ends before it begins");
    change_attribute(folder, "/", "noiseless_ps", H5T_NATIVE_INT64, &number);
    expect_refused(folder->file, IW_ERR_FORMAT, "without noise");
    change_attribute(folder, "/raster/0", "bin_ps", H5T_NATIVE_INT64, &number);
    expect_refused(folder->file, IW_ERR_FORMAT, "the shape of /raster/0");
    number = INT64_MAX / 2 / 1024; /* a coarser level would end after the last time that there is */
    change_attribute(folder, "/raster/0", "bin_ps", H5T_NATIVE_INT64, &number);
    expect_refused(folder->file, IW_ERR_FORMAT, "the shape of /raster/0");
    number = -1;
    number = 1000;
    change_attribute(folder, "/", "end_ps", H5T_NATIVE_INT64, &number);
    expect_refused(folder->file, IW_ERR_FORMAT, "after the run");
    number = INT64_MAX / 64 + 1;
    change_attribute(folder, "/", "end_ps", H5T_NATIVE_INT64, &number);
    expect_refused(folder->file, IW_ERR_FORMAT, "longer than 40 hours");
    number = INT64_MAX;
    change_attribute(folder, "/", "steps", H5T_NATIVE_INT64, &number);
    expect_refused(folder->file, IW_ERR_FORMAT, "more steps than can be counted");
    number = 5;
    change_attribute(folder, "/", "steps", H5T_NATIVE_INT64, &number);
    expect_refused(folder->file, IW_ERR_FORMAT, "/exact claims more steps");
}

/* Replaces number `at` of a column of /exact. */
static void change_number(const struct folder *folder, const char *where, hsize_t at, int64_t value)
{
    const hsize_t one = 1;
    hid_t file, dataset, space, memory = H5Screate_simple(1, &one, NULL);

    put_good_file(folder);
    file = H5Fopen(folder->file, H5F_ACC_RDWR, H5P_DEFAULT);
    dataset = H5Dopen2(file, where, H5P_DEFAULT);
    space = H5Dget_space(dataset);
    MUST(H5Sselect_hyperslab(space, H5S_SELECT_SET, &at, NULL, &one, NULL));
    MUST(H5Dwrite(dataset, H5T_NATIVE_INT64, memory, space, H5P_DEFAULT, &value));
    MUST(H5Sclose(memory));
    MUST(H5Sclose(space));
    MUST(H5Dclose(dataset));
    MUST(H5Fclose(file));
}

static void columns_that_cannot_be_are_refused(void **state)
{
    const struct folder *folder = *state;
    hid_t file;

    change_number(folder, "/exact/start", 0, 1);
    expect_refused(folder->file, IW_ERR_FORMAT, "does not begin with 0");
    change_number(folder, "/exact/start", 3, 1);
    expect_refused(folder->file, IW_ERR_FORMAT, "does not ascend");
    change_number(folder, "/exact/start", 7, INT64_MAX);
    expect_refused(folder->file, IW_ERR_FORMAT, "/exact claims more steps");
    change_number(folder, "/exact/first_step", 3, INT64_MAX);
    expect_refused(folder->file, IW_ERR_FORMAT, "/exact/first_step has a number beyond the steps");
    change_number(folder, "/exact/first_step", 3, 300); /* 20 ranks, 15 steps */
    expect_refused(folder->file, IW_ERR_FORMAT, "/exact/first_step has a number beyond the steps");
    change_number(folder, "/exact/begin_ps", 4, 17);
    expect_refused(folder->file, IW_ERR_FORMAT, "begins before the one before it ends");
    change_number(folder, "/exact/wait_ps", 4, -1);
    expect_refused(folder->file, IW_ERR_FORMAT, "a time in /exact is negative");
    change_number(folder, "/exact/noise_ps", 4, INT64_MAX);
    expect_refused(folder->file, IW_ERR_FORMAT, "beyond the end of the run");
    put_good_file(folder);
    file = H5Fopen(folder->file, H5F_ACC_RDWR, H5P_DEFAULT);
    MUST(H5Ldelete(file, "/raster/0/max_wait", H5P_DEFAULT));
    MUST(H5Fclose(file));
    expect_refused(folder->file, IW_ERR_FORMAT, "missing /raster/0/max_wait");
}

static void a_grid_of_another_size_is_read_as_a_line(void **state)
{
    const uint32_t dims[IW_TIMELINE_DIMS] = {UINT32_MAX, UINT32_MAX, UINT32_MAX};
    const struct folder *folder = *state;
    iw_timeline *timeline;

    change_attribute(folder, "/", "dims", H5T_NATIVE_UINT32, dims);
    assert_ok(iw_timeline_read(NULL, folder->file, &timeline));
    assert_int_equal(iw_timeline_describe(timeline)->dims[0], 20);
    assert_int_equal(iw_timeline_describe(timeline)->dims[1], 0);
    iw_timeline_free(timeline);
}

int main(void)
{
#define FILE_TEST(name) cmocka_unit_test_setup_teardown(name, open_folder, close_folder)
    const struct CMUnitTest tests[] = {
        FILE_TEST(what_is_written_is_read),
        FILE_TEST(a_timeline_without_steps_is_read),
        FILE_TEST(the_same_timeline_is_the_same_file),
        FILE_TEST(a_file_without_the_noiseless_time_is_read),
        FILE_TEST(where_nothing_can_be_written_one_sentence_says_so),
        FILE_TEST(a_file_cut_short_is_refused),
        FILE_TEST(a_damaged_byte_never_crashes),
        FILE_TEST(other_files_are_refused),
        FILE_TEST(attributes_that_cannot_be_are_refused),
        FILE_TEST(columns_that_cannot_be_are_refused),
        FILE_TEST(a_grid_of_another_size_is_read_as_a_line),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
