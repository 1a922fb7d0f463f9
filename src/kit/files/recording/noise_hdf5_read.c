/* Reads noise files; nothing in them is trusted.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "kit/files/recording/noise_hdf5.h"

#include <idlewave/files.h>
#include <idlewave/recording.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/order.h"
#include "core/noise/recording_check.h"
#include "kit/files/recording/noise_hdf5_layout.h"

/* ---- datasets; what the file says of them is checked before memory is taken ---- */

/* HDF5 takes memory for a whole chunk at a time. */
enum { MOST_CHUNK_ELEMENTS = 1 << 20, MOST_PATH_BYTES = 256 };

/* Is each step of the path a hard link? Others may lead to other files. */
iw_status iwi_h5_require(const struct iwi_h5 *h5, const char *where)
{
    const size_t length = strlen(where);
    char step[MOST_PATH_BYTES];

    for (size_t i = 1; i <= length && i < sizeof step; i++) {
        H5L_info_t link;

        if (where[i] != '/' && where[i] != '\0') {
            continue;
        }
        memcpy(step, where, i);
        step[i] = '\0';
        if (H5Lexists(h5->file, step, H5P_DEFAULT) == 0) {
            return iwi_fail(h5->log, IW_ERR_FORMAT, "'%s': missing %s", h5->path, step);
        }
        if (H5Lget_info(h5->file, step, &link, H5P_DEFAULT) < 0) {
            return iwi_h5_fail(h5, IW_ERR_FORMAT, "cannot read %s", step);
        }
        if (link.type != H5L_TYPE_HARD) {
            return iwi_fail(h5->log, IW_ERR_FORMAT,
                            "'%s': %s is a link to another file, which is not supported: copy its target",
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
        if (H5Pget_chunk(properties, 1, &chunk) != 1 || chunk > MOST_CHUNK_ELEMENTS) {
            return "has chunks of more than 1 Mi elements: write it with smaller ones";
        }
        return has_known_filters(properties)
                   ? NULL
                   : "uses a filter other than deflate and shuffle: remove it with h5repack";
    }
    if (layout != H5D_CONTIGUOUS && layout != H5D_COMPACT) {
        return "has a layout that is not supported: store it in chunks";
    }
    return H5Pget_external_count(properties) == 0
               ? NULL
               : "stores its data in another file: copy them into this one";
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
        return iwi_fail(h5->log, IW_ERR_FORMAT, "'%s': %s has %" PRIu64 " elements instead of %" PRIu64,
                        h5->path, where, shape->count, count);
    }
    if (__builtin_mul_overflow(count, element_bytes, &bytes)) {
        bytes = UINT64_MAX;
    }
    if (bytes / IWI_H5_MOST_PACKING > shape->stored_bytes) {
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

/* ---- sources and CPUs ---- */

enum { PATH_BYTES = 64, NAME_BYTES = 12 };

/* More CPUs than any node has; a file may name one CPU's data many times. */
enum { MOST_CPUS = 1 << 16 };

/* ---- sources ---- */

/* Rows that count: the attribute `written`, or else all. */
static iw_status read_written(const struct iwi_h5 *h5, const char *where, size_t tables, uint64_t *rows)
{
    for (size_t i = 0; i < tables; i++) {
        rows[i] = UINT64_MAX;
    }
    if (H5Aexists_by_name(h5->file, where, "written", H5P_DEFAULT) == 0) {
        return IW_OK;
    }
    return iwi_h5_read_numbers(h5, where, "written", IWI_H5_U64, tables, rows);
}

static iw_status take_sources(const struct iwi_h5 *h5, const struct iwi_h5_source *rows, size_t count,
                              iw_recording *recording)
{
    iw_source *sources = iwi_new_array(h5->log, count, sizeof *sources);

    if (sources == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        sources[i].kind = (iw_class)rows[i].kind;
        memcpy(sources[i].name, rows[i].name, sizeof sources[i].name);
    }
    free(recording->sources);
    recording->sources = sources;
    recording->source_count = count;
    return IW_OK;
}

/* How the names in the file are written; ours, if they are no texts, to be refused later. */
static struct iwi_h5_text_style source_style(const struct iwi_h5 *h5)
{
    const hid_t dataset = H5Dopen2(h5->file, "/sources", H5P_DEFAULT), type = H5Dget_type(dataset);
    const int number = H5Tget_member_index(type, "name");
    const hid_t name = number >= 0 ? H5Tget_member_type(type, (unsigned)number) : IWI_H5_NO_ID;
    struct iwi_h5_text_style style = IWI_H5_OUR_STYLE;

    if (H5Tget_class(name) == H5T_STRING && H5Tget_strpad(name) == H5T_STR_NULLPAD) {
        style.padding = H5T_STR_NULLPAD;
    }
    if (H5Tget_class(name) == H5T_STRING && H5Tget_cset(name) == H5T_CSET_ASCII) {
        style.charset = H5T_CSET_ASCII;
    }
    (void)H5Tclose(name);
    (void)H5Tclose(type);
    (void)H5Dclose(dataset);
    return style;
}

/* Sets the sources. */
static iw_status h5_read_sources(struct iwi_h5 *h5, iw_recording *recording)
{
    uint64_t written = 0;
    uint64_t count = 0;
    iw_status status;
    void *rows = NULL;
    hid_t type;

    IW_TRY(iwi_h5_require(h5, "/sources"));
    type = iwi_h5_source_type(source_style(h5));
    status = read_written(h5, "/sources", 1, &written);
    if (status == IW_OK) {
        status =
            iwi_h5_read_dataset(h5, "/sources", type, type, "sources (class, name)", written, &rows, &count);
    }
    (void)H5Tclose(type);
    IW_TRY(status);
    status = take_sources(h5, rows, (size_t)count, recording);
    free(rows);
    return status;
}

/* ---- columns ---- */

static iw_status read_column(struct iwi_h5 *h5, iw_detours *detours, const struct iwi_h5_column *column,
                             uint64_t written, uint64_t *count_p)
{
    char where[PATH_BYTES];
    void *array = NULL;

    snprintf(where, sizeof where, "/cpu/%" PRIu32 "/%s", detours->cpu, column->name);
    IW_TRY(iwi_h5_read_dataset(h5, where, iwi_h5_file_type(column->kind), iwi_h5_memory_type(column->kind),
                               iwi_h5_kinds[column->kind].name, written, &array, count_p));
    iwi_h5_column_set(detours, column, array);
    return IW_OK;
}

static iw_status read_columns(struct iwi_h5 *h5, const char *where, iw_detours *detours)
{
    uint64_t written[IWI_H5_TABLES] = {0}, counts[IWI_H5_TABLES] = {0};

    IW_TRY(read_written(h5, where, IWI_H5_TABLES, written));
    for (size_t i = 0; i < IWI_H5_COLUMNS; i++) {
        const struct iwi_h5_column *column = &iwi_h5_columns[i];
        const bool is_first = i == 0 || iwi_h5_columns[i - 1].table != column->table;
        uint64_t count = 0;

        IW_TRY(read_column(h5, detours, column, written[column->table], &count));
        if (!is_first && count != counts[column->table]) {
            return iwi_fail(h5->log, IW_ERR_FORMAT,
                            "'%s': %s/%s has %" PRIu64 " elements, but %s beside it has %" PRIu64, h5->path,
                            where, column->name, count, iwi_h5_columns[i - 1].name, counts[column->table]);
        }
        counts[column->table] = count;
    }
    detours->count = (size_t)counts[IWI_H5_DETOURS];
    detours->part_count = (size_t)counts[IWI_H5_PARTS];
    detours->sample_count = (size_t)counts[IWI_H5_SAMPLES];
    return IW_OK;
}

static iw_status read_cpu(struct iwi_h5 *h5, iw_detours *detours)
{
    char where[PATH_BYTES];

    snprintf(where, sizeof where, "/cpu/%" PRIu32, detours->cpu);
    IW_TRY(iwi_h5_require(h5, where));
    IW_TRY(iwi_h5_read_numbers(h5, where, "length_ns", IWI_H5_I64, 1, &detours->length_ns));
    IW_TRY(iwi_h5_read_numbers(h5, where, "t_min_ns", IWI_H5_F64, 1, &detours->t_min_ns));
    IW_TRY(iwi_h5_read_numbers(h5, where, "threshold_ns", IWI_H5_F64, 1, &detours->threshold_ns));
    IW_TRY(iwi_h5_read_numbers(h5, where, "dropped", IWI_H5_U64, 1, &detours->dropped));
    return read_columns(h5, where, detours);
}

/* ---- which CPUs there are ---- */

struct cpu_list {
    const struct iwi_h5 *h5;
    iw_status status;
    uint32_t *cpus;
    size_t count, capacity;
};

/* "0", "17": decimal, without anything else. */
static bool parse_cpu(const char *name, uint32_t *cpu_p)
{
    uint64_t cpu = 0;
    char again[NAME_BYTES];

    for (size_t i = 0; name[i] >= '0' && name[i] <= '9' && cpu <= UINT32_MAX; i++) {
        cpu = cpu * 10 + (uint64_t)(name[i] - '0');
    }
    snprintf(again, sizeof again, "%" PRIu64, cpu);
    *cpu_p = (uint32_t)cpu;
    return cpu <= UINT32_MAX && strcmp(again, name) == 0;
}

static herr_t list_cpu(hid_t group, const char *name, const H5L_info_t *info, void *arg)
{
    struct cpu_list *list = arg;
    const struct iwi_h5 *h5 = list->h5;
    uint32_t cpu;

    (void)group;
    (void)info;
    if (!parse_cpu(name, &cpu) || list->count == MOST_CPUS) {
        list->status = iwi_fail(h5->log, IW_ERR_FORMAT,
                                "'%s': /cpu/%.80s is not the number of a CPU, or there are more than %d",
                                h5->path, name, MOST_CPUS);
    } else {
        list->status =
            iwi_grow(h5->log, (void **)&list->cpus, &list->capacity, list->count + 1, sizeof *list->cpus);
    }
    if (list->status != IW_OK) {
        return 1;
    }
    list->cpus[list->count++] = cpu;
    return 0;
}

/* In the order in which they were written, where the file knows it; else by number. */
static iw_status list_cpus(struct cpu_list *list)
{
    const struct iwi_h5 *h5 = list->h5;
    const hid_t group = H5Gopen2(h5->file, "/cpu", H5P_DEFAULT);
    unsigned tracked = 0;
    hid_t properties;

    if (group < 0) {
        return iwi_h5_fail(h5, IW_ERR_FORMAT, "cannot read /cpu");
    }
    properties = H5Gget_create_plist(group);
    (void)H5Pget_link_creation_order(properties, &tracked);
    if (H5Literate(group, tracked != 0 ? H5_INDEX_CRT_ORDER : H5_INDEX_NAME, H5_ITER_INC, NULL, list_cpu,
                   list) < 0) {
        list->status = iwi_h5_fail(h5, IW_ERR_FORMAT, "cannot read the contents of /cpu");
    }
    (void)H5Pclose(properties);
    (void)H5Gclose(group);
    if (tracked == 0 && list->count > 0) {
        iwi_sort(list->cpus, list->count, iwi_compare_u32);
    }
    if (list->status == IW_OK && list->count == 0) {
        list->status = iwi_fail(h5->log, IW_ERR_FORMAT, "'%s': /cpu has no CPUs", h5->path);
    }
    return list->status;
}

static iw_status read_listed(struct iwi_h5 *h5, const struct cpu_list *list, iw_recording **recording_p)
{
    iw_recording *recording;
    iw_status status;

    IW_TRY(iw_recording_new(h5->log, list->count, &recording));
    status = IW_OK;
    for (size_t i = 0; i < list->count && status == IW_OK; i++) {
        recording->cpus[i].cpu = list->cpus[i];
        status = read_cpu(h5, &recording->cpus[i]);
    }
    if (status != IW_OK) {
        iw_recording_free(recording);
        return status;
    }
    *recording_p = recording;
    return IW_OK;
}

/* A new recording with the CPUs of the file, and nothing else yet. */
static iw_status h5_read_cpus(struct iwi_h5 *h5, iw_recording **recording_p)
{
    struct cpu_list list = {.h5 = h5, .status = IW_OK};
    iw_status status;

    IW_TRY(iwi_h5_require(h5, "/cpu"));
    status = list_cpus(&list);
    if (status == IW_OK) {
        status = read_listed(h5, &list, recording_p);
    }
    free(list.cpus);
    return status;
}

/* ---- files ---- */

/* The start of HDF5's superblock. Version 3 (HDF5 1.10) and what it leads to are under checksums. */
enum { SIGNATURE_BYTES = 8, VERSION_BYTE = 8, FLAGS_BYTE = 11, HEAD_BYTES = 12, VERSION = 3 };
enum { FLAG_OPEN_FOR_WRITING = 1 };

/* A writer at work may be in the middle of what we read. HDF5 waits twice as long before each further
 * attempt, from 1 ns on; its own limit of 100 would be for ever. */
enum { READ_ATTEMPTS = 20 };

static const struct iwi_h5_words noise_words = {
    .format = IWI_H5_FORMAT,
    .kind = "noise",
    .not_hdf5 = "recording: convert it first with 'idlewave noise convert IN OUT.h5'",
};

static const unsigned char signature[SIGNATURE_BYTES] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};

/* ---- the file ---- */

struct head {
    unsigned char bytes[HEAD_BYTES];
    size_t size; /* of these */
    uint64_t file_bytes;
};

/* Gives NULL, or what is wrong. Looks before it opens: opening a pipe would take it from others. */
static const char *read_head(const char *path, struct head *head)
{
    const char *fault = NULL;
    struct stat info;
    ssize_t got;
    int fd;

    *head = (struct head){.size = 0};
    if (stat(path, &info) != 0) {
        return strerror(errno);
    }
    if (!S_ISREG(info.st_mode)) {
        return "it is not a regular file";
    }
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return strerror(errno);
    }
    got = pread(fd, head->bytes, sizeof head->bytes, 0);
    fault = got < 0 ? strerror(errno) : NULL;
    (void)close(fd);
    head->size = got > 0 ? (size_t)got : 0;
    head->file_bytes = (uint64_t)info.st_size;
    return fault;
}

static bool is_hdf5(const struct head *head)
{
    return head->size >= SIGNATURE_BYTES && memcmp(head->bytes, signature, sizeof signature) == 0;
}

bool iwi_noise_hdf5_matches(const char *path)
{
    struct head head = {.size = 0};

    return read_head(path, &head) == NULL && is_hdf5(&head);
}

static iw_status check_head(const iw_log *log, const char *path, const struct iwi_h5_words *words,
                            struct head *head)
{
    const char *fault = read_head(path, head);

    if (fault != NULL) {
        return iwi_fail(log, IW_ERR_IO, "cannot read '%s': %s", path, fault);
    }
    if (!is_hdf5(head)) {
        return iwi_fail(log, IW_ERR_FORMAT, "'%s' is not an HDF5 file, so not a %s", path, words->not_hdf5);
    }
    if (head->size < HEAD_BYTES) {
        return iwi_fail(log, IW_ERR_FORMAT, "'%s' ends within its first %d bytes", path, HEAD_BYTES);
    }
    if (head->bytes[VERSION_BYTE] != VERSION) {
        return iwi_fail(log, IW_ERR_FORMAT,
                        "'%s' is in HDF5's file format version %d, but %s files are in version %d, which has "
                        "checksums: convert it with 'h5repack --low=2 OLD NEW', or write it with "
                        "libver='v110' in h5py",
                        path, head->bytes[VERSION_BYTE], words->kind, VERSION);
    }
    return IW_OK;
}

/* A file whose writer still works on it, or was killed, opens only as one that may change. */
static iw_status open_file(struct iwi_h5 *h5, const struct head *head)
{
    const bool is_unfinished = (head->bytes[FLAGS_BYTE] & FLAG_OPEN_FOR_WRITING) != 0;
    const unsigned flags = H5F_ACC_RDONLY | (is_unfinished ? H5F_ACC_SWMR_READ : 0U);
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    iw_status status = IW_OK;

    if (iwi_h5_forgo_locks(access) < 0 ||
        H5Pset_metadata_read_attempts(access, is_unfinished ? READ_ATTEMPTS : 1) < 0 ||
        (h5->file = H5Fopen(h5->path, flags, access)) < 0) {
        status = iwi_h5_fail(h5, IW_ERR_FORMAT, "the file is damaged or truncated");
    }
    (void)H5Pclose(access);
    return status;
}

/* ---- the whole of it ---- */

static const char *probe_name(unsigned number)
{
    return iw_probe_name((iw_probe)number);
}

static const char *attribution_name(unsigned number)
{
    return iw_attribution_level_name((iw_attribution_level)number);
}

/* The number of an attribute of the root among the names 0 ... last. */
static iw_status read_choice(struct iwi_h5 *h5, const char *attribute, const char *(*name_of)(unsigned),
                             unsigned last, unsigned *number_p)
{
    iw_status status;
    char *text;

    IW_TRY(iwi_h5_read_text(h5, "/", attribute, &text));
    for (*number_p = 0; *number_p <= last && strcmp(text, name_of(*number_p)) != 0; (*number_p)++) {
    }
    status = *number_p <= last
                 ? IW_OK
                 : iwi_fail(h5->log, IW_ERR_FORMAT, "'%s': attribute '%s' of / has the unknown value '%.80s'",
                            h5->path, attribute, text);
    free(text);
    return status;
}

static iw_status check_format(struct iwi_h5 *h5, const struct iwi_h5_words *words)
{
    const htri_t exists = H5Aexists(h5->file, "format");
    iw_status status = IW_OK;
    char *text;

    if (exists < 0) {
        return iwi_h5_fail(h5, IW_ERR_FORMAT, "cannot read its attributes");
    }
    if (exists == 0) {
        return iwi_fail(h5->log, IW_ERR_FORMAT,
                        "'%s' is an HDF5 file, but not a %s file: its root has no attribute 'format'",
                        h5->path, words->kind);
    }
    IW_TRY(iwi_h5_read_text(h5, "/", "format", &text));
    if (strcmp(text, words->format) != 0) {
        status = iwi_fail(h5->log, IW_ERR_FORMAT, "'%s' has format '%.80s': only '%s' is supported", h5->path,
                          text, words->format);
    }
    free(text);
    return status;
}

static iw_status read_root(struct iwi_h5 *h5, iw_recording *recording)
{
    unsigned probe, attribution;

    IW_TRY(read_choice(h5, "probe", probe_name, IW_PROBES - 1, &probe));
    IW_TRY(read_choice(h5, "rung", attribution_name, IW_ATTRIBUTION_LEVELS - 1, &attribution));
    recording->probe = (iw_probe)probe;
    recording->attribution = (iw_attribution_level)attribution;
    return iwi_h5_read_numbers(h5, "/", "quantum_ns", IWI_H5_I64, 1, &recording->quantum_ns);
}

/* ---- where it comes from ---- */

struct origin_reader {
    struct iwi_h5 *h5;
    iw_recording *recording;
    iw_status status;
};

static herr_t read_origin_attribute(hid_t group, const char *name, const H5A_info_t *info, void *arg)
{
    struct origin_reader *reader = arg;
    char *text;

    (void)group;
    (void)info;
    reader->status = iwi_h5_spend(reader->h5, strlen(name) + 1, "/origin");
    if (reader->status == IW_OK) {
        reader->status = iwi_h5_read_text(reader->h5, "/origin", name, &text);
    }
    if (reader->status == IW_OK) {
        reader->status = iw_recording_set(reader->h5->log, reader->recording, name, text);
        free(text);
    }
    return reader->status == IW_OK ? 0 : 1;
}

/* In the order in which they were written, where the file knows it; else by name. */
static iw_status read_origin(struct iwi_h5 *h5, iw_recording *recording)
{
    struct origin_reader reader = {h5, recording, IW_OK};
    hid_t group, properties;
    unsigned tracked = 0;

    IW_TRY(iwi_h5_require(h5, "/origin"));
    group = H5Gopen2(h5->file, "/origin", H5P_DEFAULT);
    if (group < 0) {
        return iwi_h5_fail(h5, IW_ERR_FORMAT, "cannot read /origin");
    }
    properties = H5Gget_create_plist(group);
    (void)H5Pget_attr_creation_order(properties, &tracked);
    if (H5Aiterate2(group, tracked != 0 ? H5_INDEX_CRT_ORDER : H5_INDEX_NAME, H5_ITER_INC, NULL,
                    read_origin_attribute, &reader) < 0) {
        reader.status = iwi_h5_fail(h5, IW_ERR_FORMAT, "cannot read the attributes of /origin");
    }
    (void)H5Pclose(properties);
    (void)H5Gclose(group);
    return reader.status;
}

/* ---- load ---- */

static iw_status read_content(struct iwi_h5 *h5, void *arg)
{
    iw_recording **recording_p = arg;
    iw_recording *recording = NULL;
    iw_status status;

    IW_TRY(h5_read_cpus(h5, &recording));
    status = read_root(h5, recording);
    status = status == IW_OK ? read_origin(h5, recording) : status;
    status = status == IW_OK ? h5_read_sources(h5, recording) : status;
    status = status == IW_OK ? iwi_recording_check(h5->log, h5->path, recording, IW_ERR_FORMAT) : status;
    if (status != IW_OK) {
        iw_recording_free(recording);
        return status;
    }
    *recording_p = recording;
    return IW_OK;
}

static void silence_hdf5(void)
{
    (void)H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

/* HDF5 1.10 loses the header of an object whose checksum is wrong, and when the process ends complains on
 * stderr that it cannot free it. Its own handler runs after those that are registered later. */
static void expect_complaint_at_exit(void)
{
    (void)atexit(silence_hdf5);
}

iw_status iwi_h5_read_file(const iw_log *log, const char *path, const struct iwi_h5_words *words,
                           iw_status (*read)(struct iwi_h5 *h5, void *arg), void *arg)
{
    struct iwi_h5 h5 = {.log = log, .path = path, .file = IWI_H5_NO_ID};
    struct head head = {.size = 0};
    iw_status status;

    IW_TRY(check_head(log, path, words, &head));
    h5.budget_bytes = head.file_bytes * IWI_H5_MOST_PACKING;
    status = open_file(&h5, &head);
    if (status == IW_OK) {
        status = check_format(&h5, words);
        status = status == IW_OK ? read(&h5, arg) : status;
        (void)H5Fclose(h5.file);
    }
    if (status != IW_OK) {
        expect_complaint_at_exit();
    }
    return status;
}

iw_status iw_recording_load(const iw_log *log, const char *path, iw_recording **recording_p)
{
    iw_status status;

    H5E_BEGIN_TRY
    {
        status = iwi_h5_read_file(log, path, &noise_words, read_content, recording_p);
    }
    H5E_END_TRY;
    return status;
}
