/* Reads the HDF5 samples of jitterdebugger: wake-up latencies.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Its files are not under checksums, so HDF5 decodes them in a child process. Datasets of the root, one a
 * CPU, have rows of CPUID, Seconds, Nanoseconds (when it woke up) and Value (how late, in us).
 */
#include <hdf5.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/order.h"
#include "features/recordings/convert/convert.h"
#include "features/recordings/convert/convert_rows.h"
#include "kit/files/io/convert_child.h"

/* Deflate makes at most about 1000 bytes of one. */
enum { BATCH_ROWS = 1 << 14, ROW_BYTES = 28, BYTES_FROM_ONE = 1100 };

/* The largest uptime that is believed. */
#define MOST_SECONDS (UINT64_C(100) * 366 * 86400)

/* A row as HDF5 gives it. */
struct sample {
    uint32_t cpu;
    uint64_t seconds, nanoseconds, value_us;
};

/* The same when it has passed the child's checks. */
struct latency {
    uint32_t cpu;
    int64_t woken_ns, late_ns;
};

struct decoder {
    const struct iwi_import *in;
    FILE *out;
    hid_t row_type;
    struct sample *batch;
    iw_status status;
};

static bool has_text(const char *data, size_t size, const char *text)
{
    return memmem(data, size, text, strlen(text)) != NULL;
}

static bool matches(const char *data, size_t size)
{
    static const char signature[] = "\x89HDF\r\n\x1a\n";

    return size >= sizeof signature - 1 && memcmp(data, signature, sizeof signature - 1) == 0 &&
           has_text(data, size, "CPUID") && has_text(data, size, "Nanoseconds");
}

/* ---- in the child ---- */

static iw_status fail(const struct decoder *d, const char *where, const char *problem)
{
    return iwi_fail(d->in->log, IW_ERR_FORMAT, "'%s': dataset '%.40s': %s", d->in->path, where, problem);
}

static hid_t make_row_type(void)
{
    const hid_t type = H5Tcreate(H5T_COMPOUND, sizeof(struct sample));

    (void)H5Tinsert(type, "CPUID", HOFFSET(struct sample, cpu), H5T_NATIVE_UINT32);
    (void)H5Tinsert(type, "Seconds", HOFFSET(struct sample, seconds), H5T_NATIVE_UINT64);
    (void)H5Tinsert(type, "Nanoseconds", HOFFSET(struct sample, nanoseconds), H5T_NATIVE_UINT64);
    (void)H5Tinsert(type, "Value", HOFFSET(struct sample, value_us), H5T_NATIVE_UINT64);
    return type;
}

static iw_status put_row(struct decoder *d, const char *where, const struct sample *sample)
{
    const uint64_t most_us = IW_TIME_INPUT_MAX / IW_PS_PER_US;
    struct latency latency;

    if (sample->seconds > MOST_SECONDS || sample->nanoseconds >= 1000000000 || sample->value_us > most_us) {
        return fail(d, where, "a row has an invalid time");
    }
    memset(&latency, 0, sizeof latency);
    latency.cpu = sample->cpu;
    latency.woken_ns = (int64_t)(sample->seconds * 1000000000 + sample->nanoseconds);
    latency.late_ns = (int64_t)sample->value_us * 1000;
    return fwrite(&latency, sizeof latency, 1, d->out) == 1
               ? IW_OK
               : iwi_fail(d->in->log, IW_ERR_NOMEM, "out of memory for the rows of '%s'", d->in->path);
}

static iw_status read_batch(struct decoder *d, const char *where, hid_t dataset, hid_t space, hsize_t first,
                            hsize_t count)
{
    const hid_t memory = H5Screate_simple(1, &count, NULL);
    iw_status status = IW_OK;

    if (H5Sselect_hyperslab(space, H5S_SELECT_SET, &first, NULL, &count, NULL) < 0 ||
        H5Dread(dataset, d->row_type, memory, space, H5P_DEFAULT, d->batch) < 0) {
        status = fail(d, where, "cannot read its rows");
    }
    (void)H5Sclose(memory);
    for (hsize_t i = 0; i < count && status == IW_OK; i++) {
        status = put_row(d, where, &d->batch[i]);
    }
    return status;
}

/* Other files, and code that is loaded for them, are kept out. */
static bool is_stored_inside(hid_t dataset)
{
    const hid_t properties = H5Dget_create_plist(dataset);
    const bool is_inside = H5Pget_external_count(properties) == 0 && H5Pget_layout(properties) != H5D_VIRTUAL;

    (void)H5Pclose(properties);
    return is_inside;
}

static iw_status read_dataset(struct decoder *d, const char *where, hid_t dataset)
{
    const hid_t space = H5Dget_space(dataset), type = H5Dget_type(dataset);
    const bool is_table = H5Tget_class(type) == H5T_COMPOUND && H5Tget_member_index(type, "CPUID") >= 0 &&
                          H5Tget_member_index(type, "Seconds") >= 0 &&
                          H5Tget_member_index(type, "Nanoseconds") >= 0 &&
                          H5Tget_member_index(type, "Value") >= 0;
    iw_status status = IW_OK;
    hsize_t count = 0;

    if (!is_table || H5Sget_simple_extent_ndims(space) != 1 ||
        H5Sget_simple_extent_dims(space, &count, NULL) != 1 || !is_stored_inside(dataset) ||
        count / BYTES_FROM_ONE > d->in->size / ROW_BYTES + 1) {
        status = fail(d, where, "it is not a table of CPUID, Seconds, Nanoseconds, Value");
    }
    for (hsize_t first = 0; first < count && status == IW_OK; first += BATCH_ROWS) {
        status = read_batch(d, where, dataset, space, first,
                            count - first < BATCH_ROWS ? count - first : BATCH_ROWS);
    }
    (void)H5Tclose(type);
    (void)H5Sclose(space);
    return status;
}

static herr_t visit(hid_t group, const char *name, const H5L_info_t *info, void *arg)
{
    struct decoder *d = arg;
    hid_t dataset;

    if (info->type != H5L_TYPE_HARD) {
        return 0;
    }
    dataset = H5Dopen2(group, name, H5P_DEFAULT);
    d->status = dataset >= 0 ? read_dataset(d, name, dataset) : fail(d, name, "it is none");
    return d->status == IW_OK ? 0 : 1;
}

/* From memory, not from a path. */
static hid_t open_image(const struct iwi_import *in)
{
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);

    if (H5Pset_fapl_core(access, 1 << 16, false) < 0 ||
        H5Pset_file_image(access, (void *)(uintptr_t)in->data, in->size) < 0) { /* copied */
        return H5I_INVALID_HID;
    }
    return H5Fopen("samples", H5F_ACC_RDONLY, access);
}

/* What is open is left to the end of the process. */
static iw_status decode(const struct iwi_import *in, FILE *out)
{
    struct decoder d = {.in = in, .out = out, .status = IW_OK};
    hid_t file;

    (void)H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    (void)H5PLset_loading_state(0);
    d.row_type = make_row_type();
    d.batch = iwi_new_array(in->log, BATCH_ROWS, sizeof *d.batch);
    file = open_image(in);
    if (d.batch == NULL || file < 0) {
        return d.batch == NULL ? IW_ERR_NOMEM
                               : iwi_fail(in->log, IW_ERR_FORMAT,
                                          "'%s': HDF5 cannot open it: damaged or truncated", in->path);
    }
    if (H5Literate(file, H5_INDEX_NAME, H5_ITER_INC, NULL, visit, &d) < 0) {
        return iwi_fail(in->log, IW_ERR_FORMAT, "'%s': HDF5 cannot list its contents", in->path);
    }
    return d.status;
}

/* ---- in the parent ---- */

IWI_COMPARE(by_cpu, struct latency, IWI_RISING(cpu))

/* The beginning of the recording: when the first one was due. */
static int64_t find_origin(const struct latency *rows, size_t count)
{
    int64_t origin_ns = INT64_MAX;

    for (size_t i = 0; i < count; i++) {
        origin_ns = iwi_min(origin_ns, rows[i].woken_ns - rows[i].late_ns);
    }
    return origin_ns;
}

/* One CPU: what is above its smallest latency. */
static iw_status add_cpu(const struct iwi_import *in, const struct latency *latencies, size_t count,
                         int64_t origin_ns, struct iwi_rows *rows)
{
    struct iwi_cpu_facts facts = {.cpu = latencies[0].cpu};
    int64_t least_ns = INT64_MAX;

    for (size_t i = 0; i < count; i++) {
        least_ns = iwi_min(least_ns, latencies[i].late_ns);
        facts.length_ns = iwi_max(facts.length_ns, latencies[i].woken_ns - origin_ns);
    }
    for (size_t i = 0; i < count; i++) {
        const int64_t duration_ns = latencies[i].late_ns - least_ns;
        const struct iwi_row row = {.cpu = facts.cpu,
                                    .start_ns = latencies[i].woken_ns - duration_ns - origin_ns,
                                    .duration_ns = duration_ns};

        if (duration_ns > 0) {
            IW_TRY(iwi_rows_add(in->log, rows, &row));
        }
    }
    facts.t_min_ns = (double)least_ns;
    return iwi_rows_add_facts(in->log, rows, &facts);
}

static iw_status build(const struct iwi_import *in, struct latency *latencies, size_t count,
                       iw_recording *recording)
{
    const int64_t origin_ns = find_origin(latencies, count);
    struct iwi_rows rows = {.want_union = true};
    iw_status status = IW_OK;

    iwi_sort(latencies, count, by_cpu);
    for (size_t begin = 0, end = 0; begin < count && status == IW_OK; begin = end) {
        while (end < count && latencies[end].cpu == latencies[begin].cpu) {
            end++;
        }
        status = add_cpu(in, &latencies[begin], end - begin, origin_ns, &rows);
    }
    status = status == IW_OK ? iwi_rows_fill(in->log, &rows, recording) : status;
    iwi_rows_release(&rows);
    return status;
}

static iw_status make_recording(const struct iwi_import *in, const struct iwi_child_result *result,
                                iw_recording **recording_p)
{
    const size_t count = result->size / sizeof(struct latency);
    struct latency *latencies;
    iw_status status;

    if (count == 0) {
        return iwi_fail(in->log, IW_ERR_FORMAT, "'%s' has no samples", in->path);
    }
    latencies = iwi_new_array(in->log, count, sizeof *latencies);
    if (latencies == NULL) {
        return IW_ERR_NOMEM;
    }
    memcpy(latencies, result->bytes, count * sizeof *latencies);
    status = iw_recording_new(in->log, 0, recording_p);
    if (status == IW_OK) {
        status = build(in, latencies, count, *recording_p);
        if (status != IW_OK) {
            iw_recording_free(*recording_p);
        }
    }
    free(latencies);
    return status;
}

static iw_status read_jitterdebugger(const struct iwi_import *in, iw_recording **recording_p)
{
    struct iwi_child_result result;
    iw_status status;

    IW_TRY(iwi_child_run(in, "HDF5", decode, &result));
    status = make_recording(in, &result, recording_p);
    iwi_child_release(&result);
    if (status == IW_OK) {
        iwi_warn(in->log,
                 "'%s' has wake-up latencies, not CPU time lost: each latency above the smallest of its CPU "
                 "becomes a detour",
                 in->path);
    }
    return status;
}

const struct iwi_convert_ops iwi_import_jitterdebugger = {
    .about = {.name = "jitterdebugger", .summary = "HDF5", .can_read = true},
    .in_words = "wake-up latencies of jitterdebugger",
    .is_foreign = true,
    .matches = matches,
    .read = read_jitterdebugger,
};
