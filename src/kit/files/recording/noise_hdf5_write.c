/* Writes noise files piece by piece.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A live file is in HDF5's single-writer-multiple-readers mode, in which metadata reach the file in an order
 * that always makes sense. That says nothing about data, so how many rows count (attribute `written`) is
 * changed only when the rows themselves have reached the file.
 */
#include "kit/files/recording/noise_hdf5.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kit/files/recording/noise_hdf5_layout.h"

enum { PATH_BYTES = 64 };

/* Room for the structure of a file of many CPUs, and for what is written when it is closed. */
enum { STRUCTURE_BYTES = 1 << 20, STRUCTURE_BYTES_PER_CPU = 1 << 14, MOST_ELEMENT_BYTES = 8 };

struct cpu_out {
    uint32_t cpu;
    hid_t columns[IWI_H5_COLUMNS]; /* IWI_H5_NO_ID: not open */
    uint64_t rows[IWI_H5_TABLES];
    int64_t length_ns;
    uint64_t dropped;
    bool is_changed; /* since the attributes were written */
};

struct iwi_noise_writer {
    struct iwi_h5 h5;
    struct iwi_output output;
    struct iwi_h5_image image; /* not live */
    bool is_live;
    iw_status status; /* the first failure */
    size_t source_count, cpu_count;
    struct cpu_out *cpus;
};

/* ---- room ---- */

/* HDF5 1.10 does not survive a full disk, so a live file asks for room first. */
static iw_status reserve(struct iwi_noise_writer *writer, uint64_t bytes)
{
    return writer->is_live
               ? iwi_output_reserve(&writer->output,
                                    bytes + STRUCTURE_BYTES + writer->cpu_count * STRUCTURE_BYTES_PER_CPU)
               : IW_OK;
}

/* What a flush writes at most: of each column a chunk that is not full. */
static uint64_t flush_bytes(const struct cpu_out *out)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < IWI_H5_COLUMNS; i++) {
        const uint64_t rows = out->rows[iwi_h5_columns[i].table];

        bytes += (rows < IWI_H5_MOST_OWN_CHUNK ? rows : IWI_H5_MOST_OWN_CHUNK) * MOST_ELEMENT_BYTES;
    }
    return bytes;
}

/* ---- rows ---- */

/* Appends `count` elements behind the `old_count` that the dataset `where` has. */
static iw_status append_elements(const struct iwi_h5 *h5, const char *where, hid_t dataset, hid_t memory_type,
                                 hsize_t old_count, hsize_t count, const void *elements)
{
    const hsize_t new_count = old_count + count;
    const hid_t memory_space = H5Screate_simple(1, &count, NULL);
    hid_t file_space = IWI_H5_NO_ID;
    iw_status status = IW_OK;

    if (H5Dset_extent(dataset, &new_count) < 0 || (file_space = H5Dget_space(dataset)) < 0 ||
        H5Sselect_hyperslab(file_space, H5S_SELECT_SET, &old_count, NULL, &count, NULL) < 0 ||
        H5Dwrite(dataset, memory_type, memory_space, file_space, H5P_DEFAULT, elements) < 0) {
        status = iwi_h5_fail(h5, IW_ERR_IO, "cannot write %s", where);
    }
    (void)H5Sclose(file_space);
    (void)H5Sclose(memory_space);
    return status;
}

static iw_status append_column(struct iwi_noise_writer *writer, struct cpu_out *out, size_t number,
                               size_t count, const void *elements)
{
    const struct iwi_h5_column *column = &iwi_h5_columns[number];
    hid_t *dataset = &out->columns[number];
    char where[PATH_BYTES];

    snprintf(where, sizeof where, "/cpu/%" PRIu32 "/%s", out->cpu, column->name);
    if (*dataset < 0) {
        *dataset = H5Dopen2(writer->h5.file, where, H5P_DEFAULT);
    }
    IW_TRY(append_elements(&writer->h5, where, *dataset, iwi_h5_memory_type(column->kind),
                           out->rows[column->table], count, elements));
    if (!writer->is_live) { /* else the chunk that is not full stays in memory for the next rows */
        const herr_t result = H5Dclose(*dataset);

        *dataset = IWI_H5_NO_ID;
        if (result < 0) {
            return iwi_h5_fail(&writer->h5, IW_ERR_IO, "cannot write %s", where);
        }
    }
    return IW_OK;
}

/* Detours are numbered through the whole recording in the file. */
static iw_status append_part_detours(struct iwi_noise_writer *writer, struct cpu_out *out,
                                     const iw_detours *batch)
{
    uint64_t *numbers = iwi_new_array(writer->h5.log, batch->part_count, sizeof *numbers);
    iw_status status;

    if (numbers == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < batch->part_count; i++) {
        numbers[i] = batch->part_detour[i] + out->rows[IWI_H5_DETOURS];
    }
    status = append_column(writer, out, IWI_H5_PART_DETOUR, batch->part_count, numbers);
    free(numbers);
    return status;
}

static iw_status append(struct iwi_noise_writer *writer, struct cpu_out *out, const iw_detours *batch)
{
    const size_t counts[IWI_H5_TABLES] = {batch->count, batch->part_count, batch->sample_count};

    IW_TRY(reserve(writer, flush_bytes(out) + (counts[0] + counts[1] + counts[2]) * 3 * MOST_ELEMENT_BYTES));
    for (size_t i = 0; i < IWI_H5_COLUMNS; i++) {
        const size_t count = counts[iwi_h5_columns[i].table];

        if (count == 0) {
            continue;
        }
        if (i == IWI_H5_PART_DETOUR) {
            IW_TRY(append_part_detours(writer, out, batch));
        } else {
            IW_TRY(append_column(writer, out, i, count, iwi_h5_column_get(batch, &iwi_h5_columns[i])));
        }
    }
    for (size_t i = 0; i < IWI_H5_TABLES; i++) {
        out->rows[i] += counts[i];
    }
    out->length_ns = batch->length_ns;
    out->dropped = batch->dropped;
    out->is_changed = true;
    return IW_OK;
}

/* ---- what counts ---- */

static iw_status flush_file(const struct iwi_noise_writer *writer)
{
    if (writer->is_live && H5Fflush(writer->h5.file, H5F_SCOPE_LOCAL) < 0) {
        return iwi_h5_fail(&writer->h5, IW_ERR_IO, "cannot write");
    }
    return IW_OK;
}

static iw_status commit_cpu(struct iwi_noise_writer *writer, struct cpu_out *out)
{
    const struct iwi_h5 *h5 = &writer->h5;
    char where[PATH_BYTES];

    snprintf(where, sizeof where, "/cpu/%" PRIu32, out->cpu);
    IW_TRY(iwi_h5_change_numbers(h5, where, "length_ns", IWI_H5_I64, &out->length_ns));
    IW_TRY(iwi_h5_change_numbers(h5, where, "dropped", IWI_H5_U64, &out->dropped));
    IW_TRY(iwi_h5_change_numbers(h5, where, "written", IWI_H5_U64, out->rows));
    out->is_changed = false;
    return IW_OK;
}

static iw_status commit(struct iwi_noise_writer *writer)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < writer->cpu_count; i++) {
        bytes += writer->cpus[i].is_changed ? flush_bytes(&writer->cpus[i]) : 0;
    }
    IW_TRY(reserve(writer, bytes));
    IW_TRY(flush_file(writer));
    for (size_t i = 0; i < writer->cpu_count; i++) {
        if (writer->cpus[i].is_changed) {
            IW_TRY(commit_cpu(writer, &writer->cpus[i]));
        }
    }
    return flush_file(writer);
}

/* ---- sources ---- */

static iw_status append_sources(struct iwi_noise_writer *writer, const iw_source *sources, size_t count)
{
    struct iwi_h5_source *rows = iwi_new_array(writer->h5.log, count, sizeof *rows);
    const hid_t type = iwi_h5_source_type(IWI_H5_OUR_STYLE);
    const hid_t dataset = H5Dopen2(writer->h5.file, "/sources", H5P_DEFAULT);
    iw_status status = rows == NULL ? IW_ERR_NOMEM : IW_OK;

    for (size_t i = 0; status == IW_OK && i < count; i++) {
        rows[i].kind = (uint8_t)sources[i].kind;
        memcpy(rows[i].name, sources[i].name, strnlen(sources[i].name, sizeof rows[i].name - 1));
    }
    if (status == IW_OK) {
        status = append_elements(&writer->h5, "/sources", dataset, type, writer->source_count, count, rows);
    }
    (void)H5Dclose(dataset);
    (void)H5Tclose(type);
    free(rows);
    return status;
}

/* Before any detour of theirs counts, the sources themselves must. */
static iw_status add_sources(struct iwi_noise_writer *writer, const iw_source *sources, size_t count)
{
    const uint64_t new_count = count;

    if (count <= writer->source_count) {
        return IW_OK;
    }
    IW_TRY(reserve(writer, count * sizeof(struct iwi_h5_source)));
    IW_TRY(append_sources(writer, sources + writer->source_count, count - writer->source_count));
    IW_TRY(flush_file(writer));
    IW_TRY(iwi_h5_change_numbers(&writer->h5, "/sources", "written", IWI_H5_U64, &new_count));
    writer->source_count = count;
    return flush_file(writer);
}

/* ---- the writer ---- */

static iw_status go_live(struct iwi_noise_writer *writer)
{
    if (H5Fflush(writer->h5.file, H5F_SCOPE_GLOBAL) < 0 || H5Fstart_swmr_write(writer->h5.file) < 0) {
        return iwi_h5_fail(&writer->h5, IW_ERR_IO, "cannot be written while others read it");
    }
    /* who is killed has not replaced a whole recording by the beginning of another */
    return writer->output.place.is_there ? IW_OK : iwi_output_commit(&writer->output);
}

static iw_status start(struct iwi_noise_writer *writer, const iw_recording *head)
{
    char reopen_name[IWI_OUTPUT_NAME_SIZE];

    if (writer->is_live && !iwi_output_reopen_name(&writer->output, reopen_name)) {
        iwi_warn(writer->h5.log, "no /proc: '%s' is written only when the recording ends", writer->h5.path);
        writer->is_live = false;
    }
    IW_TRY(reserve(writer, 0));
    IW_TRY(iwi_h5_create_file(&writer->h5, writer->is_live ? reopen_name : writer->output.temporary, head,
                              writer->is_live ? NULL : &writer->image));
    IW_TRY(add_sources(writer, head->sources, head->source_count));
    return writer->is_live ? go_live(writer) : IW_OK;
}

static void close_columns(struct iwi_noise_writer *writer)
{
    for (size_t i = 0; i < writer->cpu_count; i++) {
        for (size_t j = 0; j < IWI_H5_COLUMNS; j++) {
            if (writer->cpus[i].columns[j] >= 0) {
                (void)H5Dclose(writer->cpus[i].columns[j]);
            }
        }
    }
}

static iw_status finish(struct iwi_noise_writer *writer)
{
    iw_status status = writer->status;

    if (status == IW_OK) {
        status = commit(writer);
    }
    close_columns(writer);
    if (writer->h5.file >= 0 && H5Fclose(writer->h5.file) < 0 && status == IW_OK) {
        status = iwi_h5_fail(&writer->h5, IW_ERR_IO, "cannot write");
    }
    if (writer->is_live && writer->output.fd >= 0) {
        iwi_output_unreserve(&writer->output);
        status = status == IW_OK ? iwi_output_commit(&writer->output) : status;
    } else if (status == IW_OK) {
        status = iwi_h5_write_image(&writer->h5, &writer->image, &writer->output);
    }
    iwi_output_release(&writer->output);
    free(writer->image.bytes);
    free(writer->cpus);
    free(writer);
    return status;
}

static iw_status make(const iw_log *log, const char *path, const iw_recording *head, bool is_live,
                      struct iwi_noise_writer **writer_p)
{
    struct iwi_noise_writer *writer = iwi_new_array(log, 1, sizeof *writer);

    if (writer == NULL) {
        return IW_ERR_NOMEM;
    }
    *writer = (struct iwi_noise_writer){.h5 = {log, path, IWI_H5_NO_ID, 0}, .is_live = is_live};
    writer->cpus = iwi_new_array(log, head->cpu_count, sizeof *writer->cpus);
    if (writer->cpus == NULL) {
        free(writer);
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < head->cpu_count; i++) {
        writer->cpus[i].cpu = head->cpus[i].cpu;
        for (size_t j = 0; j < IWI_H5_COLUMNS; j++) {
            writer->cpus[i].columns[j] = IWI_H5_NO_ID;
        }
    }
    writer->cpu_count = head->cpu_count;
    writer->status = iwi_output_open(log, path, IWI_OUTPUT_REGULAR, &writer->output);
    if (writer->status == IW_OK) {
        writer->h5.path = writer->output.path;
        writer->status = start(writer, head);
    }
    if (writer->status != IW_OK) {
        return finish(writer);
    }
    *writer_p = writer;
    return IW_OK;
}

iw_status iwi_noise_writer_open(const iw_log *log, const char *path, const iw_recording *head, bool is_live,
                                struct iwi_noise_writer **writer_p)
{
    iw_status status;

    H5E_BEGIN_TRY
    {
        status = make(log, path, head, is_live, writer_p);
    }
    H5E_END_TRY;
    return status;
}

iw_status iwi_noise_writer_sources(struct iwi_noise_writer *writer, const iw_source *sources, size_t count)
{
    H5E_BEGIN_TRY
    {
        writer->status = writer->status == IW_OK ? add_sources(writer, sources, count) : writer->status;
    }
    H5E_END_TRY;
    return writer->status;
}

iw_status iwi_noise_writer_append(struct iwi_noise_writer *writer, size_t index, const iw_detours *batch)
{
    H5E_BEGIN_TRY
    {
        writer->status =
            writer->status == IW_OK ? append(writer, &writer->cpus[index], batch) : writer->status;
    }
    H5E_END_TRY;
    return writer->status;
}

iw_status iwi_noise_writer_flush(struct iwi_noise_writer *writer)
{
    H5E_BEGIN_TRY
    {
        writer->status = writer->status == IW_OK ? commit(writer) : writer->status;
    }
    H5E_END_TRY;
    return writer->status;
}

iw_status iwi_noise_writer_close(struct iwi_noise_writer *writer)
{
    iw_status status;

    H5E_BEGIN_TRY
    {
        status = finish(writer);
    }
    H5E_END_TRY;
    return status;
}
