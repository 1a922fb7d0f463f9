/* Names and types of everything in a noise file, and HDF5's reasons in words.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "kit/files/recording/noise_hdf5_layout.h"

#include <stdarg.h>
#include <stdio.h>
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
