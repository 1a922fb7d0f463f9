/* What the reader and the writer of noise files share: names and types of everything in them. Timelines use
 * the same attributes and datasets.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_NOISE_HDF5_LAYOUT_H
#define IWI_NOISE_HDF5_LAYOUT_H

#include <idlewave/recording.h>

#include <hdf5.h>

#include "core/base/base.h"
#include "core/base/output.h"

#define IWI_H5_FORMAT "idlewave.noise/1"
#define IWI_H5_NO_ID ((hid_t)-1)

/* Bytes that one byte of deflate's output can stand for: 258 in two bits. */
#define IWI_H5_MOST_PACKING 1032

/* A file and where to complain about it. */
struct iwi_h5 {
    const iw_log *log;
    const char *path; /* as people know it */
    hid_t file;
    uint64_t budget_bytes; /* reading: so much memory may its content still take */
};

/* Elements of the largest chunks that we write. Large ones pack better; each column that is open keeps one in
 * memory. */
enum { IWI_H5_MOST_OWN_CHUNK = 64 * 1024 };

/* Element types, in the file always little-endian. */
enum iwi_h5_kind { IWI_H5_I64, IWI_H5_U32, IWI_H5_U64, IWI_H5_F64, IWI_H5_U16 };

struct iwi_h5_kind_info {
    const char *name;
    size_t bytes;
};

extern const struct iwi_h5_kind_info iwi_h5_kinds[];

hid_t iwi_h5_file_type(enum iwi_h5_kind kind);
hid_t iwi_h5_memory_type(enum iwi_h5_kind kind);

/* Columns of one CPU come in three tables. */
enum iwi_h5_table { IWI_H5_DETOURS, IWI_H5_PARTS, IWI_H5_SAMPLES, IWI_H5_TABLES };

struct iwi_h5_column {
    const char *name;
    enum iwi_h5_kind kind;
    enum iwi_h5_table table;
    size_t offset; /* of the array in iw_detours */
};

enum { IWI_H5_COLUMNS = 8, IWI_H5_PART_DETOUR = 3 };

extern const struct iwi_h5_column iwi_h5_columns[IWI_H5_COLUMNS];

void *iwi_h5_column_get(const iw_detours *detours, const struct iwi_h5_column *column);
void iwi_h5_column_set(iw_detours *detours, const struct iwi_h5_column *column, void *array);

/* A row of /sources, the same in memory and in the file. */
struct iwi_h5_source {
    uint8_t kind;
    char name[IW_SOURCE_NAME_SIZE];
};

_Static_assert(sizeof(struct iwi_h5_source) == 1 + IW_SOURCE_NAME_SIZE, "no padding in the file");

/* HDF5 tells apart how the end of a text of fixed length is marked; to us it is the same. */
struct iwi_h5_text_style {
    H5T_str_t padding;
    H5T_cset_t charset;
};

#define IWI_H5_OUR_STYLE ((struct iwi_h5_text_style){H5T_STR_NULLTERM, H5T_CSET_UTF8})

/* The type of such a row, to be closed; negative: failed. */
hid_t iwi_h5_source_type(struct iwi_h5_text_style style);

/* The files that are opened with `access` are not locked: nobody else writes them, and some parallel file
 * systems have no locks. HDF5 before 1.10.7, and 1.12.0, can be told so by HDF5_USE_FILE_LOCKING=FALSE in the
 * environment only. */
herr_t iwi_h5_forgo_locks(hid_t access);

/* Logs "'path': TEXT: HDF5's own reason" and gives `status`. Call before anything else of HDF5 is called. */
iw_status iwi_h5_fail(const struct iwi_h5 *h5, iw_status status, const char *format, ...) IW_PRINTF(3, 4);

/* ---- attributes of the object `where` (a path); `values` are `count` of them, 1 is a scalar ---- */

IW_NODISCARD iw_status iwi_h5_create_numbers(const struct iwi_h5 *h5, const char *where, const char *name,
                                             enum iwi_h5_kind kind, size_t count, const void *values);
IW_NODISCARD iw_status iwi_h5_change_numbers(const struct iwi_h5 *h5, const char *where, const char *name,
                                             enum iwi_h5_kind kind, const void *values);
IW_NODISCARD iw_status iwi_h5_create_text(const struct iwi_h5 *h5, const char *where, const char *name,
                                          const char *text);

/* IW_ERR_FORMAT unless there is exactly such an attribute. */
IW_NODISCARD iw_status iwi_h5_read_numbers(const struct iwi_h5 *h5, const char *where, const char *name,
                                           enum iwi_h5_kind kind, size_t count, void *values);
/* The text is freed by the caller. */
IW_NODISCARD iw_status iwi_h5_read_text(struct iwi_h5 *h5, const char *where, const char *name,
                                        char **text_p);

/* ---- reading datasets ---- */

/* Takes so much from the budget, or says that the file cannot hold `what`. */
IW_NODISCARD iw_status iwi_h5_spend(struct iwi_h5 *h5, uint64_t bytes, const char *what);

/* The first `count` elements of the one-dimensional dataset `where`, which must have at least so many;
 * UINT64_MAX: all, told in *count_p. `type` is what the file must hold, `memory_type` what is wanted. */
IW_NODISCARD iw_status iwi_h5_read_dataset(struct iwi_h5 *h5, const char *where, hid_t type,
                                           hid_t memory_type, const char *type_name, uint64_t count,
                                           void **array_p, uint64_t *count_p);

/* IW_ERR_FORMAT unless `where` is in this file itself, not behind a link to elsewhere. */
IW_NODISCARD iw_status iwi_h5_require(const struct iwi_h5 *h5, const char *where);

/* ---- makes the file that a noise writer then fills ---- */

/* A file in memory. So no disk can be full under HDF5, which does not always recover from that. */
struct iwi_h5_image {
    void *bytes; /* NULL until the file is closed; then to be freed */
};

/* Creates the file `name` and all that is in it but rows; sets h5->file, also on failure. `image`: in memory
 * only; NULL: a live one, on disk. */
IW_NODISCARD iw_status iwi_h5_create_file(struct iwi_h5 *h5, const char *name, const iw_recording *head,
                                          struct iwi_h5_image *image);

/* The same without anything in it. */
IW_NODISCARD iw_status iwi_h5_new_file(struct iwi_h5 *h5, const char *name, struct iwi_h5_image *image);

/* The order in which members and attributes are made can be asked for. */
IW_NODISCARD iw_status iwi_h5_create_group(const struct iwi_h5 *h5, const char *where);

/* Empty; grows in packed chunks of so many elements. */
IW_NODISCARD iw_status iwi_h5_create_dataset(const struct iwi_h5 *h5, const char *where, hid_t type,
                                             hsize_t chunk);

/* A file that has been closed goes to disk. */
IW_NODISCARD iw_status iwi_h5_write_image(const struct iwi_h5 *h5, const struct iwi_h5_image *image,
                                          struct iwi_output *output);

#endif
