/* Reads one-dimensional datasets of noise files; what the file says of them is checked before memory is
 * taken.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>
#include <string.h>

#include "kit/files/recording/noise_hdf5_layout.h"

/* HDF5 takes memory for a whole chunk at a time. */
enum { MAX_CHUNK_ELEMENTS = 1 << 20, MAX_PATH_BYTES = 256 };

iw_status iwi_h5_spend(struct iwi_h5 *h5, uint64_t bytes, const char *what)
{
    if (bytes > h5->budget_bytes) {
        return iwi_fail(h5->log, IW_ERR_FORMAT,
                        "'%s': %s claims %" PRIu64
                        " bytes of content, more than a file of this size can hold",
                        h5->path, what, bytes);
    }
    h5->budget_bytes -= bytes;
    return IW_OK;
}

/* Is each step of the path a hard link? Others may lead to other files. */
iw_status iwi_h5_require(const struct iwi_h5 *h5, const char *where)
{
    const size_t length = strlen(where);
    char step[MAX_PATH_BYTES];

    for (size_t i = 1; i <= length && i < sizeof step; i++) {
        H5L_info_t link;

        if (where[i] != '/' && where[i] != '\0') {
            continue;
        }
        memcpy(step, where, i);
        step[i] = '\0';
        if (H5Lexists(h5->file, step, H5P_DEFAULT) == 0) {
            return iwi_fail(h5->log, IW_ERR_FORMAT, "'%s': there is no %s", h5->path, step);
        }
        if (H5Lget_info(h5->file, step, &link, H5P_DEFAULT) < 0) {
            return iwi_h5_fail(h5, IW_ERR_FORMAT, "cannot read %s", step);
        }
        if (link.type != H5L_TYPE_HARD) {
            return iwi_fail(h5->log, IW_ERR_FORMAT,
                            "'%s': %s is a link to elsewhere, which is not followed: copy what it leads to",
                            h5->path, step);
        }
    }
    return IW_OK;
}

/* Only filters that are part of HDF5: for any other it would load code. */
static bool has_known_filters(hid_t properties)
{
    const int count = H5Pget_nfilters(properties);

    for (int i = 0; i < count; i++) {
        size_t values = 0;
        unsigned flags;
        const H5Z_filter_t filter =
            H5Pget_filter2(properties, (unsigned)i, &flags, &values, NULL, 0, NULL, NULL);

        if (filter != H5Z_FILTER_DEFLATE && filter != H5Z_FILTER_SHUFFLE && filter != H5Z_FILTER_FLETCHER32) {
            return false;
        }
    }
    return count >= 0;
}

static const char *layout_fault(hid_t properties)
{
    const H5D_layout_t layout = H5Pget_layout(properties);
    hsize_t chunk;

    if (layout == H5D_CHUNKED) {
        if (H5Pget_chunk(properties, 1, &chunk) != 1 || chunk > MAX_CHUNK_ELEMENTS) {
            return "has chunks of more than 1 Mi elements: write it with smaller ones";
        }
        return has_known_filters(properties) ? NULL
                                             : "is packed with a filter other than deflate and shuffle: "
                                               "unpack it with h5repack";
    }
    if (layout != H5D_CONTIGUOUS && layout != H5D_COMPACT) {
        return "has a layout that is not supported: store it in chunks";
    }
    return H5Pget_external_count(properties) == 0 ? NULL
                                                  : "keeps its data in another file: copy them into it";
}

struct shape {
    uint64_t count; /* elements */
    hsize_t stored_bytes;
};

static iw_status check_shape(const struct iwi_h5 *h5, const char *where, hid_t dataset, struct shape *shape_p)
{
    const hid_t space = H5Dget_space(dataset), properties = H5Dget_create_plist(dataset);
    const char *fault = layout_fault(properties);
    hsize_t size = 0;

    if (H5Sget_simple_extent_type(space) != H5S_SIMPLE || H5Sget_simple_extent_ndims(space) != 1 ||
        H5Sget_simple_extent_dims(space, &size, NULL) != 1) {
        fault = "must have one dimension";
    }
    (void)H5Sclose(space);
    (void)H5Pclose(properties);
    if (fault != NULL) {
        return iwi_fail(h5->log, IW_ERR_FORMAT, "'%s': %s %s", h5->path, where, fault);
    }
    *shape_p = (struct shape){size, H5Dget_storage_size(dataset)};
    return IW_OK;
}

static bool has_type(hid_t dataset, hid_t wanted)
{
    const hid_t type = H5Dget_type(dataset);
    const bool is_equal = type >= 0 && H5Tequal(type, wanted) > 0;

    (void)H5Tclose(type);
    return is_equal;
}

static iw_status read_elements(const struct iwi_h5 *h5, const char *where, hid_t dataset, hid_t memory_type,
                               hsize_t count, void *array)
{
    const hid_t file_space = H5Dget_space(dataset), memory_space = H5Screate_simple(1, &count, NULL);
    const hsize_t zero = 0;
    iw_status status = IW_OK;

    if (H5Sselect_hyperslab(file_space, H5S_SELECT_SET, &zero, NULL, &count, NULL) < 0 ||
        H5Dread(dataset, memory_type, memory_space, file_space, H5P_DEFAULT, array) < 0) {
        status = iwi_h5_fail(h5, IW_ERR_FORMAT, "cannot read %s", where);
    }
    (void)H5Sclose(file_space);
    (void)H5Sclose(memory_space);
    return status;
}

/* Memory for `count` elements, if the file has stored so many. */
static iw_status allocate(struct iwi_h5 *h5, const char *where, const struct shape *shape, uint64_t count,
                          size_t element_bytes, void **array_p)
{
    uint64_t bytes;

    if (count > shape->count) {
        return iwi_fail(h5->log, IW_ERR_FORMAT, "'%s': %s has %" PRIu64 " elements, but should have %" PRIu64,
                        h5->path, where, shape->count, count);
    }
    if (__builtin_mul_overflow(count, element_bytes, &bytes)) {
        bytes = UINT64_MAX;
    }
    if (bytes / IWI_H5_MAX_PACKING > shape->stored_bytes) {
        return iwi_fail(h5->log, IW_ERR_FORMAT,
                        "'%s': %s claims %" PRIu64 " elements, but the file has stored only %" PRIu64
                        " bytes for it",
                        h5->path, where, count, (uint64_t)shape->stored_bytes);
    }
    IW_TRY(iwi_h5_spend(h5, bytes, where));
    *array_p = iwi_new_array(h5->log, (size_t)count, element_bytes);
    return *array_p != NULL ? IW_OK : IW_ERR_NOMEM;
}

static iw_status read_dataset(struct iwi_h5 *h5, const char *where, hid_t dataset, hid_t memory_type,
                              uint64_t count, void **array_p, uint64_t *count_p)
{
    struct shape shape;
    iw_status status;
    void *array;

    IW_TRY(check_shape(h5, where, dataset, &shape));
    count = count == UINT64_MAX ? shape.count : count;
    IW_TRY(allocate(h5, where, &shape, count, H5Tget_size(memory_type), &array));
    status = count > 0 ? read_elements(h5, where, dataset, memory_type, count, array) : IW_OK;
    if (status != IW_OK) {
        free(array);
        return status;
    }
    *array_p = array;
    *count_p = count;
    return IW_OK;
}

iw_status iwi_h5_read_dataset(struct iwi_h5 *h5, const char *where, hid_t type, hid_t memory_type,
                              const char *type_name, uint64_t count, void **array_p, uint64_t *count_p)
{
    iw_status status;
    hid_t dataset;

    IW_TRY(iwi_h5_require(h5, where));
    dataset = H5Dopen2(h5->file, where, H5P_DEFAULT);
    if (dataset < 0) {
        return iwi_h5_fail(h5, IW_ERR_FORMAT, "cannot read %s", where);
    }
    if (has_type(dataset, type)) {
        status = read_dataset(h5, where, dataset, memory_type, count, array_p, count_p);
    } else {
        status = iwi_fail(h5->log, IW_ERR_FORMAT, "'%s': %s does not hold %s", h5->path, where, type_name);
    }
    (void)H5Dclose(dataset);
    return status;
}
