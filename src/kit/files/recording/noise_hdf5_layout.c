/* Names, types, attributes of everything in a noise file; making it; reasons of HDF5 in words.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "kit/files/recording/noise_hdf5_layout.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct iwi_h5_kind_info iwi_h5_kinds[] = {
    [IWI_H5_I64] = {"64-bit integers", sizeof(int64_t)},
    [IWI_H5_U32] = {"unsigned 32-bit integers", sizeof(uint32_t)},
    [IWI_H5_U64] = {"unsigned 64-bit integers", sizeof(uint64_t)},
    [IWI_H5_F64] = {"64-bit floating-point numbers", sizeof(double)},
    [IWI_H5_U16] = {"unsigned 16-bit integers", sizeof(uint16_t)},
};

#define COLUMN(field, kind, table)                       \
    {                                                    \
#field, kind, table, offsetof(iw_detours, field) \
    }

const struct iwi_h5_column iwi_h5_columns[IWI_H5_COLUMNS] = {
    COLUMN(start_ns, IWI_H5_I64, IWI_H5_DETOURS),
    COLUMN(duration_ns, IWI_H5_I64, IWI_H5_DETOURS),
    COLUMN(source, IWI_H5_U32, IWI_H5_DETOURS),
    [IWI_H5_PART_DETOUR] = COLUMN(part_detour, IWI_H5_U64, IWI_H5_PARTS),
    COLUMN(part_source, IWI_H5_U32, IWI_H5_PARTS),
    COLUMN(part_ns, IWI_H5_I64, IWI_H5_PARTS),
    COLUMN(sample_start_ns, IWI_H5_I64, IWI_H5_SAMPLES),
    COLUMN(sample, IWI_H5_F64, IWI_H5_SAMPLES),
};

void *iwi_h5_column_get(const iw_detours *detours, const struct iwi_h5_column *column)
{
    void *array;

    memcpy(&array, (const char *)detours + column->offset, sizeof array);
    return array;
}

void iwi_h5_column_set(iw_detours *detours, const struct iwi_h5_column *column, void *array)
{
    memcpy((char *)detours + column->offset, &array, sizeof array);
}

hid_t iwi_h5_file_type(enum iwi_h5_kind kind)
{
    switch (kind) {
    case IWI_H5_I64: return H5T_STD_I64LE;
    case IWI_H5_U32: return H5T_STD_U32LE;
    case IWI_H5_U64: return H5T_STD_U64LE;
    case IWI_H5_U16: return H5T_STD_U16LE;
    default: return H5T_IEEE_F64LE;
    }
}

hid_t iwi_h5_memory_type(enum iwi_h5_kind kind)
{
    switch (kind) {
    case IWI_H5_I64: return H5T_NATIVE_INT64;
    case IWI_H5_U32: return H5T_NATIVE_UINT32;
    case IWI_H5_U64: return H5T_NATIVE_UINT64;
    case IWI_H5_U16: return H5T_NATIVE_UINT16;
    default: return H5T_NATIVE_DOUBLE;
    }
}

static hid_t class_type(void)
{
    const hid_t type = H5Tenum_create(H5T_STD_U8LE);

    for (uint8_t kind = 0; type >= 0 && kind < IW_CLASSES; kind++) {
        if (H5Tenum_insert(type, iw_class_name((iw_class)kind), &kind) < 0) {
            (void)H5Tclose(type);
            return IWI_H5_NO_ID;
        }
    }
    return type;
}

static hid_t name_type(struct iwi_h5_text_style style)
{
    const hid_t type = H5Tcopy(H5T_C_S1);

    if (type >= 0 && (H5Tset_size(type, IW_SOURCE_NAME_SIZE) < 0 || H5Tset_cset(type, style.charset) < 0 ||
                      H5Tset_strpad(type, style.padding) < 0)) {
        (void)H5Tclose(type);
        return IWI_H5_NO_ID;
    }
    return type;
}

hid_t iwi_h5_source_type(struct iwi_h5_text_style style)
{
    const hid_t kind = class_type(), name = name_type(style);
    hid_t type = H5Tcreate(H5T_COMPOUND, sizeof(struct iwi_h5_source));

    if (H5Tinsert(type, "class", offsetof(struct iwi_h5_source, kind), kind) < 0 ||
        H5Tinsert(type, "name", offsetof(struct iwi_h5_source, name), name) < 0) {
        (void)H5Tclose(type);
        type = IWI_H5_NO_ID;
    }
    (void)H5Tclose(kind);
    (void)H5Tclose(name);
    return type;
}

herr_t iwi_h5_forgo_locks(hid_t access)
{
#if H5_VERSION_GE(1, 12, 1) || (H5_VERS_MINOR == 10 && H5_VERSION_GE(1, 10, 7))
    return H5Pset_file_locking(access, false, true);
#else
    (void)access;
    return 0;
#endif
}

struct reason {
    char text[256];
};

/* The innermost record is the most exact one. What the system said comes wrapped in much else. */
static herr_t take_reason(unsigned number, const H5E_error2_t *record, void *arg)
{
    static const char system_mark[] = "error message = '";
    struct reason *reason = arg;
    const char *text = record->desc;
    const char *said;

    if (number != 0 || text == NULL) {
        return 0;
    }
    said = strstr(text, system_mark);
    text = said != NULL ? said + strlen(system_mark) : text;
    snprintf(reason->text, sizeof reason->text, ": %.*s", (int)strcspn(text, said != NULL ? "'\n" : "\n"),
             text);
    return 0;
}

iw_status iwi_h5_fail(const struct iwi_h5 *h5, iw_status status, const char *format, ...)
{
    struct reason reason = {""};
    char text[512];
    va_list args;

    (void)H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_reason, &reason);
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    iwi_error(h5->log, "'%s': %s%s", h5->path, text, reason.text);
    return status;
}

/* ---- attributes: numbers and texts, with their types checked ---- */

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
        iwi_error(h5->log, "'%s': attribute '%s' of %s must hold %s, %zu in number", h5->path, name, where,
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

/* ---- making groups, datasets and attributes ---- */

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
    return expected < IWI_H5_MOST_OWN_CHUNK ? expected : IWI_H5_MOST_OWN_CHUNK;
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
    IW_TRY(iwi_h5_create_text(h5, "/", "rung", iw_attribution_level_name(head->attribution)));
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
