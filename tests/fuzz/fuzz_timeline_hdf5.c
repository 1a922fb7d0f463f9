/* Fuzzes the reader of timeline files, through files in /dev/shm.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * An input that begins as HDF5 files do is read as it is. Checksums find nearly all damage in such; to get
 * behind them, any other input says which numbers to change in a file that is good.
 */
#include <hdf5.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <idlewave/timeline.h>

#include "fuzz.h"

enum { RANKS = 5, STEPS = 3 };

static void write_good(const char *path)
{
    iw_timeline_opts opts = IW_TIMELINE_OPTS_INIT;
    iw_timeline *timeline;
    iw_step_sink sink;

    opts.about.ranks = RANKS;
    opts.rows = opts.columns = 16;
    opts.expected_ps = 4000;
    iwt_fuzz_require(iw_timeline_new(NULL, &opts, &timeline) == IW_OK);
    sink = iw_timeline_sink(timeline);
    for (uint32_t i = 0; i < RANKS * STEPS; i++) {
        const iw_step step = {i / RANKS * INT64_C(1000), {0, 700, 0, 100, 200}};

        sink.step(sink.arg, i % RANKS, &step);
    }
    iwt_fuzz_require(iw_timeline_finish(NULL, timeline) == IW_OK);
    iwt_fuzz_require(iw_timeline_write(NULL, timeline, path) == IW_OK);
    iw_timeline_free(timeline);
}

/* What cannot be changed stays as it is: the reader must cope with that too. */
static void change_attribute(hid_t file, const char *where, const char *name, int64_t number)
{
    const uint64_t values[4] = {(uint64_t)number, (uint64_t)number, (uint64_t)number, 0};
    const hid_t object = H5Oopen(file, where, H5P_DEFAULT), attribute = H5Aopen(object, name, H5P_DEFAULT);

    (void)H5Awrite(attribute, H5T_NATIVE_UINT64, values);
    (void)H5Aclose(attribute);
    (void)H5Oclose(object);
}

static void change_element(hid_t file, const char *where, hsize_t at, int64_t number)
{
    const hsize_t one = 1;
    const hid_t dataset = H5Dopen2(file, where, H5P_DEFAULT), space = H5Dget_space(dataset),
                memory = H5Screate_simple(1, &one, NULL);

    (void)H5Sselect_hyperslab(space, H5S_SELECT_SET, &at, NULL, &one, NULL);
    (void)H5Dwrite(dataset, H5T_NATIVE_INT64, memory, space, H5P_DEFAULT, &number);
    (void)H5Sclose(memory);
    (void)H5Sclose(space);
    (void)H5Dclose(dataset);
}

/* Each change is 3 bytes: what, where in it, and the number: small ones, or powers of 2 and their neighbours.
 */
static void change(hid_t file, const uint8_t *bytes)
{
    static const struct {
        const char *where, *name;
    } attributes[] = {{"/", "ranks"},           {"/", "dims"},
                      {"/", "end_ps"},          {"/", "steps"},
                      {"/exact", "first_rank"}, {"/raster/0", "rows"},
                      {"/raster/0", "columns"}, {"/raster/0", "ranks_per_row"},
                      {"/raster/0", "bin_ps"}};
    static const char *const columns[] = {"/exact/start",      "/exact/first_step", "/exact/begin_ps",
                                          "/exact/compute_ps", "/exact/wait_ps",    "/raster/0/mean_wait"};
    const int64_t number =
        bytes[2] < 64 ? bytes[2] : (int64_t)((UINT64_C(1) << bytes[2] % 64) + bytes[2] / 64 - 2);

    if (bytes[0] % 2 == 0) {
        const size_t which = bytes[0] / 2 % (sizeof attributes / sizeof *attributes);

        change_attribute(file, attributes[which].where, attributes[which].name, number);
    } else if (bytes[0] < 250) {
        change_element(file, columns[bytes[0] / 2 % (sizeof columns / sizeof *columns)], bytes[1] % 16,
                       number);
    } else {
        (void)H5Ldelete(file, columns[bytes[1] % (sizeof columns / sizeof *columns)], H5P_DEFAULT);
    }
}

static void read_file(const char *path)
{
    unsigned errors = 0;
    const iw_log log = {iwt_fuzz_count_error, &errors};
    iw_timeline *timeline;
    const iw_status status = iw_timeline_read(&log, path, &timeline);

    iwt_fuzz_check_log(status, errors);
    if (status == IW_OK) { /* what was accepted can be looked at */
        for (uint32_t i = 0; i < iw_timeline_exact_ranks(timeline); i++) {
            uint64_t first;
            size_t count;
            const iw_step *steps = iw_timeline_steps(timeline, i, &count, &first);

            for (size_t j = 0; j < count; j++) {
                iwt_fuzz_require(iw_step_end(&steps[j]) <= iw_timeline_end(timeline));
            }
        }
        iw_timeline_free(timeline);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t signature[] = {0x89, 'H', 'D', 'F'};
    char path[] = "/dev/shm/iw_fuzz_XXXXXX";
    const int fd = mkstemp(path);

    iwt_fuzz_require(fd >= 0);
    if (size >= sizeof signature && memcmp(data, signature, sizeof signature) == 0) {
        iwt_fuzz_require(write(fd, data, size) == (ssize_t)size);
    } else {
        write_good(path);
        H5E_BEGIN_TRY
        {
            const hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);

            for (size_t i = 0; i + 3 <= size && i < 30; i += 3) {
                change(file, data + i);
            }
            (void)H5Fclose(file);
        }
        H5E_END_TRY;
    }
    read_file(path);
    (void)unlink(path);
    (void)close(fd);
    return 0;
}
