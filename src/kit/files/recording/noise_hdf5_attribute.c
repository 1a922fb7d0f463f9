/* Attributes of noise files: numbers and texts, written and read with their types checked.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>
#include <string.h>

#include "kit/files/recording/noise_hdf5_layout.h"

static iw_status create(const struct iwi_h5 *h5, const char *where, const char *name, hid_t type, hid_t space,
                        hid_t memory_type, const void *values)
{
    const hid_t attribute =
        H5Acreate_by_name(h5->file, where, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    iw_status status = IW_OK;

    if (attribute < 0 || H5Awrite(attribute, memory_type, values) < 0) {
        status = iwi_h5_fail(h5, IW_ERR_IO, "cannot write attribute '%.80s' of %s", name, where);
    }
    (void)H5Aclose(attribute);
    return status;
}

static hid_t create_space(size_t count)
{
    const hsize_t size = count;

    return count == 1 ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &size, NULL);
}

iw_status iwi_h5_create_numbers(const struct iwi_h5 *h5, const char *where, const char *name,
                                enum iwi_h5_kind kind, size_t count, const void *values)
{
    const hid_t space = create_space(count);
    const iw_status status =
        create(h5, where, name, iwi_h5_file_type(kind), space, iwi_h5_memory_type(kind), values);

    (void)H5Sclose(space);
    return status;
}

iw_status iwi_h5_change_numbers(const struct iwi_h5 *h5, const char *where, const char *name,
                                enum iwi_h5_kind kind, const void *values)
{
    /* HDF5 1.10.8 cannot write to what H5Aopen_by_name() opens */
    const hid_t object = H5Oopen(h5->file, where, H5P_DEFAULT),
                attribute = H5Aopen(object, name, H5P_DEFAULT);
    iw_status status = IW_OK;

    if (attribute < 0 || H5Awrite(attribute, iwi_h5_memory_type(kind), values) < 0) {
        status = iwi_h5_fail(h5, IW_ERR_IO, "cannot change attribute '%s' of %s", name, where);
    }
    (void)H5Aclose(attribute);
    (void)H5Oclose(object);
    return status;
}

/* Of fixed length: others lie in a heap without a checksum. */
iw_status iwi_h5_create_text(const struct iwi_h5 *h5, const char *where, const char *name, const char *text)
{
    const hid_t type = H5Tcopy(H5T_C_S1), space = create_space(1);
    iw_status status;

    if (type < 0 || H5Tset_size(type, strlen(text) + 1) < 0 || H5Tset_cset(type, H5T_CSET_UTF8) < 0) {
        status = iwi_h5_fail(h5, IW_ERR_NOMEM, "cannot write attribute '%.80s' of %s", name, where);
    } else {
        status = create(h5, where, name, type, space, type, text);
    }
    (void)H5Tclose(type);
    (void)H5Sclose(space);
    return status;
}

/* ---- reading ---- */

static iw_status open_attribute(const struct iwi_h5 *h5, const char *where, const char *name,
                                hid_t *attribute_p)
{
    const htri_t exists = H5Aexists_by_name(h5->file, where, name, H5P_DEFAULT);

    if (exists == 0) {
        return iwi_h5_fail(h5, IW_ERR_FORMAT, "%s has no attribute '%.80s'", where, name);
    }
    *attribute_p =
        exists < 0 ? IWI_H5_NO_ID : H5Aopen_by_name(h5->file, where, name, H5P_DEFAULT, H5P_DEFAULT);
    if (*attribute_p < 0) {
        return iwi_h5_fail(h5, IW_ERR_FORMAT, "cannot read attribute '%.80s' of %s", name, where);
    }
    return IW_OK;
}

static hssize_t element_count(hid_t attribute)
{
    const hid_t space = H5Aget_space(attribute);
    const hssize_t count = H5Sget_simple_extent_npoints(space);

    (void)H5Sclose(space);
    return count;
}

static bool has_type(hid_t attribute, hid_t wanted)
{
    const hid_t type = H5Aget_type(attribute);
    const bool is_equal = type >= 0 && H5Tequal(type, wanted) > 0;

    (void)H5Tclose(type);
    return is_equal;
}

iw_status iwi_h5_read_numbers(const struct iwi_h5 *h5, const char *where, const char *name,
                              enum iwi_h5_kind kind, size_t count, void *values)
{
    iw_status status = IW_OK;
    hid_t attribute = H5I_INVALID_HID;

    IW_TRY(open_attribute(h5, where, name, &attribute));
    if (!has_type(attribute, iwi_h5_file_type(kind)) || element_count(attribute) != (hssize_t)count) {
        iwi_error(h5->log, "'%s': attribute '%s' of %s must hold %s, so many: %zu", h5->path, name, where,
                  iwi_h5_kinds[kind].name, count);
        status = IW_ERR_FORMAT;
    } else if (H5Aread(attribute, iwi_h5_memory_type(kind), values) < 0) {
        status = iwi_h5_fail(h5, IW_ERR_FORMAT, "cannot read attribute '%s' of %s", name, where);
    }
    (void)H5Aclose(attribute);
    return status;
}

/* Bytes of a scalar text of fixed length; 0 if it is something else. */
static size_t text_size(hid_t attribute, hid_t type)
{
    if (H5Tget_class(type) != H5T_STRING || H5Tis_variable_str(type) != 0 || element_count(attribute) != 1) {
        return 0;
    }
    return H5Tget_size(type);
}

static iw_status read_text(struct iwi_h5 *h5, const char *where, const char *name, hid_t attribute,
                           hid_t type, char **text_p)
{
    const size_t size = text_size(attribute, type);
    char *text;

    if (size == 0) {
        return iwi_fail(h5->log, IW_ERR_FORMAT,
                        "'%s': attribute '%.80s' of %s must be a text of fixed length", h5->path, name,
                        where);
    }
    IW_TRY(iwi_h5_spend(h5, size, where));
    text = iwi_new_array(h5->log, size + 1, 1);
    if (text == NULL) {
        return IW_ERR_NOMEM;
    }
    if (H5Aread(attribute, type, text) < 0) {
        free(text);
        return iwi_h5_fail(h5, IW_ERR_FORMAT, "cannot read attribute '%.80s' of %s", name, where);
    }
    *text_p = text;
    return IW_OK;
}

iw_status iwi_h5_read_text(struct iwi_h5 *h5, const char *where, const char *name, char **text_p)
{
    iw_status status;
    hid_t attribute = H5I_INVALID_HID;
    hid_t type;

    IW_TRY(open_attribute(h5, where, name, &attribute));
    type = H5Aget_type(attribute);
    status = read_text(h5, where, name, attribute, type, text_p);
    (void)H5Tclose(type);
    (void)H5Aclose(attribute);
    return status;
}
