/* Makes the groups, datasets and attributes of a noise file.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "kit/files/recording/noise_hdf5_create.h"

#include <stdio.h>
#include <stdlib.h>

enum { PATH_BYTES = 64, CORE_STEP_BYTES = 1 << 20 };

/* Where the superblock (version 3) says at which address the file ends, little-endian. */
enum { END_ADDRESS_BYTE = 28 };

/* Elements of a chunk of which it is not known how many there will be. */
enum { LIVE_CHUNK = 16 * 1024, SMALL_CHUNK = 256 };

enum { DEFLATE_LEVEL = 1 }; /* higher ones save little of shuffled numbers and take several times as long */

static hsize_t chunk_for(size_t expected, bool is_live)
{
    if (expected == 0) {
        return is_live ? LIVE_CHUNK : SMALL_CHUNK;
    }
    return expected < IWI_H5_MAX_OWN_CHUNK ? expected : IWI_H5_MAX_OWN_CHUNK;
}

iw_status iwi_h5_create_dataset(const struct iwi_h5 *h5, const char *where, hid_t type, hsize_t chunk)
{
    const hsize_t none = 0, unlimited = H5S_UNLIMITED;
    const hid_t space = H5Screate_simple(1, &none, &unlimited), properties = H5Pcreate(H5P_DATASET_CREATE);
    hid_t dataset = IWI_H5_NO_ID;
    iw_status status = IW_OK;

    if (H5Pset_obj_track_times(properties, false) < 0 || H5Pset_chunk(properties, 1, &chunk) < 0 ||
        H5Pset_shuffle(properties) < 0 || H5Pset_deflate(properties, DEFLATE_LEVEL) < 0 ||
        (dataset = H5Dcreate2(h5->file, where, type, space, H5P_DEFAULT, properties, H5P_DEFAULT)) < 0) {
        status = iwi_h5_fail(h5, IW_ERR_IO, "cannot create %s", where);
    }
    (void)H5Dclose(dataset);
    (void)H5Pclose(properties);
    (void)H5Sclose(space);
    return status;
}

iw_status iwi_h5_create_group(const struct iwi_h5 *h5, const char *where)
{
    const unsigned tracked = H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED;
    const hid_t properties = H5Pcreate(H5P_GROUP_CREATE);
    hid_t group = IWI_H5_NO_ID;
    iw_status status = IW_OK;

    if (H5Pset_obj_track_times(properties, false) < 0 ||
        H5Pset_link_creation_order(properties, tracked) < 0 ||
        H5Pset_attr_creation_order(properties, tracked) < 0 ||
        (group = H5Gcreate2(h5->file, where, H5P_DEFAULT, properties, H5P_DEFAULT)) < 0) {
        status = iwi_h5_fail(h5, IW_ERR_IO, "cannot create %s", where);
    }
    (void)H5Gclose(group);
    (void)H5Pclose(properties);
    return status;
}

static iw_status create_cpu(const struct iwi_h5 *h5, const iw_detours *detours, bool is_live)
{
    const size_t expected[IWI_H5_TABLES] = {detours->count, detours->part_count, detours->sample_count};
    const uint64_t written[IWI_H5_TABLES] = {0};
    char where[PATH_BYTES];

    snprintf(where, sizeof where, "/cpu/%" PRIu32, detours->cpu);
    IW_TRY(iwi_h5_create_group(h5, where));
    IW_TRY(iwi_h5_create_numbers(h5, where, "length_ns", IWI_H5_I64, 1, &detours->length_ns));
    IW_TRY(iwi_h5_create_numbers(h5, where, "t_min_ns", IWI_H5_F64, 1, &detours->t_min_ns));
    IW_TRY(iwi_h5_create_numbers(h5, where, "threshold_ns", IWI_H5_F64, 1, &detours->threshold_ns));
    IW_TRY(iwi_h5_create_numbers(h5, where, "dropped", IWI_H5_U64, 1, &detours->dropped));
    IW_TRY(iwi_h5_create_numbers(h5, where, "written", IWI_H5_U64, IWI_H5_TABLES, written));
    for (size_t i = 0; i < IWI_H5_COLUMNS; i++) {
        const struct iwi_h5_column *column = &iwi_h5_columns[i];

        snprintf(where, sizeof where, "/cpu/%" PRIu32 "/%s", detours->cpu, column->name);
        IW_TRY(iwi_h5_create_dataset(h5, where, iwi_h5_file_type(column->kind),
                                     chunk_for(expected[column->table], is_live)));
    }
    return IW_OK;
}

static iw_status create_sources(const struct iwi_h5 *h5)
{
    const hid_t type = iwi_h5_source_type(IWI_H5_OUR_STYLE);
    const iw_status status = iwi_h5_create_dataset(h5, "/sources", type, SMALL_CHUNK);
    const uint64_t none = 0;

    (void)H5Tclose(type);
    IW_TRY(status);
    return iwi_h5_create_numbers(h5, "/sources", "written", IWI_H5_U64, 1, &none);
}

static iw_status create_content(const struct iwi_h5 *h5, const iw_recording *head, bool is_live)
{
    IW_TRY(iwi_h5_create_text(h5, "/", "format", IWI_H5_FORMAT));
    IW_TRY(iwi_h5_create_text(h5, "/", "probe", iw_probe_name(head->probe)));
    IW_TRY(iwi_h5_create_text(h5, "/", "rung", iw_rung_name(head->rung)));
    IW_TRY(iwi_h5_create_numbers(h5, "/", "quantum_ns", IWI_H5_I64, 1, &head->quantum_ns));
    IW_TRY(iwi_h5_create_group(h5, "/origin"));
    for (size_t i = 0; i < head->attribute_count; i++) {
        IW_TRY(iwi_h5_create_text(h5, "/origin", head->attributes[i].name, head->attributes[i].value));
    }
    IW_TRY(create_sources(h5));
    IW_TRY(iwi_h5_create_group(h5, "/cpu"));
    for (size_t i = 0; i < head->cpu_count; i++) {
        IW_TRY(create_cpu(h5, &head->cpus[i], is_live));
    }
    return IW_OK;
}

/* ---- the file ---- */

static void *resize_image(void *bytes, size_t size, H5FD_file_image_op_t operation, void *image)
{
    (void)operation;
    (void)image;
    return realloc(bytes, size);
}

/* What HDF5 has finished is not freed but kept. */
static herr_t free_image(void *bytes, H5FD_file_image_op_t operation, void *arg)
{
    struct iwi_h5_image *image = arg;

    if (operation == H5FD_FILE_IMAGE_OP_FILE_CLOSE) {
        image->bytes = bytes;
    } else {
        free(bytes);
    }
    return 0;
}

static void *share_image(void *image)
{
    return image;
}

static herr_t unshare_image(void *image)
{
    (void)image;
    return 0;
}

static herr_t keep_in_memory(hid_t access, struct iwi_h5_image *image)
{
    H5FD_file_image_callbacks_t callbacks = {.image_realloc = resize_image,
                                             .image_free = free_image,
                                             .udata_copy = share_image,
                                             .udata_free = unshare_image,
                                             .udata = image};

    if (H5Pset_fapl_core(access, CORE_STEP_BYTES, false) < 0) {
        return -1;
    }
    return H5Pset_file_image_callbacks(access, &callbacks);
}

iw_status iwi_h5_new_file(struct iwi_h5 *h5, const char *name, struct iwi_h5_image *image)
{
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS), creation = H5Pcreate(H5P_FILE_CREATE);
    iw_status status = IW_OK;

    h5->file = IWI_H5_NO_ID;
    /* no times of creation, here and below: the same recording is the same bytes */
    if (H5Pset_obj_track_times(creation, false) < 0 ||
        H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_V110) < 0 ||
        (image != NULL ? keep_in_memory(access, image) : iwi_h5_forgo_locks(access)) < 0 ||
        (h5->file = H5Fcreate(name, H5F_ACC_TRUNC, creation, access)) < 0) {
        status = iwi_h5_fail(h5, IW_ERR_IO, "cannot be created");
    }
    (void)H5Pclose(creation);
    (void)H5Pclose(access);
    return status;
}

iw_status iwi_h5_create_file(struct iwi_h5 *h5, const char *name, const iw_recording *head,
                             struct iwi_h5_image *image)
{
    IW_TRY(iwi_h5_new_file(h5, name, image));
    return create_content(h5, head, image == NULL);
}

static size_t image_size(const struct iwi_h5_image *image)
{
    const unsigned char *bytes = image->bytes;
    size_t size = 0;

    for (size_t i = sizeof(uint64_t); i > 0; i--) {
        size = size << 8 | bytes[END_ADDRESS_BYTE + i - 1];
    }
    return size;
}

iw_status iwi_h5_write_image(const struct iwi_h5 *h5, const struct iwi_h5_image *image,
                             struct iwi_output *output)
{
    if (image->bytes == NULL) {
        return iwi_fail(h5->log, IW_ERR_NOMEM, "'%s': HDF5 gave no content to write", h5->path);
    }
    IW_TRY(iwi_output_write(output, image->bytes, image_size(image)));
    return iwi_output_commit(output);
}
