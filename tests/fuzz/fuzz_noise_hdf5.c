/* Fuzzes the reader of HDF5 noise files, through files in /dev/shm, and what is done with what it reads.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * An input that begins as HDF5 files do is read as it is. Checksums find nearly all damage in such; to get
 * behind them, any other input says what to write into the columns of a file, and what to take out of it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <idlewave/files.h>
#include <idlewave/recording.h>

#include "core/base/base.h"
#include "core/noise/stream.h"
#include "fuzz.h"
#include "kit/files/recording/noise_hdf5_layout.h"

enum { MAX_CPUS = 3, MAX_ROWS = 40, PATH_BYTES = 64 };

struct input {
    const uint8_t *data;
    size_t size;
};

static uint8_t take(struct input *in)
{
    const uint8_t byte = in->size > 0 ? *in->data : 0;

    in->data += in->size > 0;
    in->size -= in->size > 0;
    return byte;
}

/* Small steps mostly, so that columns that pass every check are found; now and then anything. */
static int64_t take_number(struct input *in, int64_t last)
{
    const uint8_t step = take(in);
    uint64_t number = 0;

    if (step < 250) {
        return (int64_t)((uint64_t)last + step);
    }
    for (int i = 0; i < 8; i++) {
        number = number << 8 | take(in);
    }
    return (int64_t)number;
}

static void write_elements(hid_t file, const char *where, hid_t type, hsize_t count, const void *elements)
{
    const hid_t dataset = H5Dopen2(file, where, H5P_DEFAULT);

    (void)H5Dset_extent(dataset, &count);
    (void)H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, elements);
    (void)H5Dclose(dataset);
}

static void fill_column(hid_t file, uint32_t cpu, const struct iwi_h5_column *column, hsize_t count,
                        struct input *in)
{
    union {
        int64_t i64[MAX_ROWS];
        uint32_t u32[MAX_ROWS];
        uint64_t u64[MAX_ROWS];
        double f64[MAX_ROWS];
    } elements;
    const bool is_ascending = strstr(column->name, "start") != NULL || strstr(column->name, "detour") != NULL;
    char where[PATH_BYTES];
    int64_t last = 0;

    for (hsize_t i = 0; i < count; i++) {
        const int64_t number = take_number(in, last);

        last = is_ascending ? number : 0;
        switch (column->kind) {
        case IWI_H5_I64: elements.i64[i] = number; break;
        case IWI_H5_U32: elements.u32[i] = (uint32_t)number; break;
        case IWI_H5_U64: elements.u64[i] = (uint64_t)number; break;
        default: memcpy(&elements.f64[i], &number, sizeof number);
        }
    }
    snprintf(where, sizeof where, "/cpu/%" PRIu32 "/%s", cpu, column->name);
    write_elements(file, where, iwi_h5_memory_type(column->kind), count, &elements);
}

/* What cannot be written stays as it is: the reader must cope with that too. */
static void change_numbers(const struct iwi_h5 *h5, const char *where, const uint64_t *written)
{
    const iw_status status = iwi_h5_change_numbers(h5, where, "written", IWI_H5_U64, written);

    (void)status;
}

static void fill_cpu(const struct iwi_h5 *h5, uint32_t cpu, struct input *in)
{
    uint64_t rows[IWI_H5_TABLES];
    char where[PATH_BYTES];

    for (size_t i = 0; i < IWI_H5_TABLES; i++) {
        rows[i] = take(in) % MAX_ROWS;
    }
    for (size_t i = 0; i < IWI_H5_COLUMNS; i++) {
        const uint8_t more = take(in);

        fill_column(h5->file, cpu, &iwi_h5_columns[i],
                    rows[iwi_h5_columns[i].table] + (more > 250 ? (hsize_t)1 : 0), in);
    }
    snprintf(where, sizeof where, "/cpu/%" PRIu32, cpu);
    if (take(in) > 10) {
        change_numbers(h5, where, rows);
    } else {
        (void)H5Adelete_by_name(h5->file, where, "written", H5P_DEFAULT);
    }
}

static void fill_sources(const struct iwi_h5 *h5, struct input *in)
{
    const hid_t type = iwi_h5_source_type(IWI_H5_OUR_STYLE);
    const uint64_t count = take(in) % 16;
    struct iwi_h5_source sources[16];

    memset(sources, 0, sizeof sources);
    for (uint64_t i = 1; i < count; i++) {
        sources[i].kind = take(in) % 7;
        memset(sources[i].name, take(in), take(in) % (IW_SOURCE_NAME_SIZE + 1));
    }
    write_elements(h5->file, "/sources", type, count, sources);
    change_numbers(h5, "/sources", &count);
    (void)H5Tclose(type);
}

static void take_out(hid_t file, struct input *in)
{
    static const char *const paths[] = {"/sources", "/origin", "/cpu", "/cpu/0", "/cpu/0/start_ns", "/"};
    static const char *const attributes[] = {"format", "probe", "rung", "length_ns", "dropped", "written"};
    const char *path = paths[take(in) % 6];

    if (take(in) % 2 == 0) {
        (void)H5Ldelete(file, path, H5P_DEFAULT);
    } else {
        (void)H5Adelete_by_name(file, path, attributes[take(in) % 6], H5P_DEFAULT);
    }
}

static void write_file(const char *path, struct input *in)
{
    struct iwi_h5 h5 = {.path = path};
    iw_detours cpus[MAX_CPUS];
    iw_recording head = {.cpus = cpus};

    memset(cpus, 0, sizeof cpus);
    head.cpu_count = take(in) % (MAX_CPUS + 1);
    head.probe = (iw_probe)(take(in) % 4);
    head.attribution = (iw_attribution_level)(take(in) % 6);
    head.quantum_ns = take_number(in, 0);
    for (size_t i = 0; i < head.cpu_count; i++) {
        cpus[i].cpu = (uint32_t)i;
        cpus[i].length_ns = take_number(in, 1000);
        cpus[i].t_min_ns = take(in);
    }
    if (iwi_h5_create_file(&h5, path, &head, NULL) == IW_OK) {
        fill_sources(&h5, in);
        for (size_t i = 0; i < head.cpu_count; i++) {
            fill_cpu(&h5, (uint32_t)i, in);
        }
        while (in->size > 0 && take(in) == 0xff) {
            take_out(h5.file, in);
        }
    }
    (void)H5Fclose(h5.file);
}

/* What was accepted can be replayed, unless it says why not, and no time is lost twice. */
static void replay(const iw_recording *recording)
{
    const struct iwi_stream_id id = {1, 2, 3};
    iw_time by_source[IW_NOISE_MAX_SOURCES] = {0}, lost = 0, next, end;
    int64_t state[3 * IW_NOISE_MAX_SOURCES];
    unsigned errors = 0;
    const iw_log log = {iwt_fuzz_count_error, &errors};
    iw_noise *noise;
    iw_status status;

    iwt_fuzz_require(iw_noise_new(NULL, &noise) == IW_OK);
    status = iw_noise_add_recording(&log, noise, recording);
    iwt_fuzz_check_log(status, errors);
    next = iwi_noise_begin(noise, id, state);
    end = iwi_finish(noise, id, state, &next, 0, 50000, &(struct iwi_lost){.by_source = by_source});
    for (size_t i = 0; i < IW_NOISE_MAX_SOURCES; i++) {
        lost += by_source[i];
    }
    iwt_fuzz_require(end == 50000 + lost);
    iw_noise_free(noise);
}

static void read_file(const char *path)
{
    unsigned errors = 0;
    const iw_log log = {iwt_fuzz_count_error, &errors};
    iw_recording *recording;
    const iw_status status = iw_recording_load(&log, path, &recording);

    iwt_fuzz_check_log(status, errors);
    if (status == IW_OK) {
        replay(recording);
        iw_recording_free(recording);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t signature[] = {0x89, 'H', 'D', 'F'};
    struct input in = {data, size};
    char path[] =
        "/dev/shm/iw_fuzz_XXXXXX"; /* HDF5 does not open what has no path, as memfd_create() makes */
    const int fd = mkstemp(path);

    iwt_fuzz_require(fd >= 0);
    if (size >= sizeof signature && memcmp(data, signature, sizeof signature) == 0) {
        iwt_fuzz_require(write(fd, data, size) == (ssize_t)size);
    } else {
        H5E_BEGIN_TRY
        {
            write_file(path, &in);
        }
        H5E_END_TRY;
    }
    read_file(path);
    (void)unlink(path);
    (void)close(fd);
    return 0;
}
