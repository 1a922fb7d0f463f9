/* Reads the sources and the CPUs of a noise file.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "kit/files/recording/noise_hdf5_read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/order.h"

enum { PATH_BYTES = 64, NAME_BYTES = 12 };

/* More CPUs than any node has; a file may name one CPU's data many times. */
enum { MAX_CPUS = 1 << 16 };

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

iw_status iwi_h5_read_sources(struct iwi_h5 *h5, iw_recording *recording)
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
    void *array;

    snprintf(where, sizeof where, "/cpu/%" PRIu32 "/%s", detours->cpu, column->name);
    IW_TRY(iwi_h5_read_dataset(h5, where, iwi_h5_file_type(column->kind), iwi_h5_memory_type(column->kind),
                               iwi_h5_kinds[column->kind].name, written, &array, count_p));
    iwi_h5_column_set(detours, column, array);
    return IW_OK;
}

static iw_status read_columns(struct iwi_h5 *h5, const char *where, iw_detours *detours)
{
    uint64_t written[IWI_H5_TABLES], counts[IWI_H5_TABLES] = {0};

    IW_TRY(read_written(h5, where, IWI_H5_TABLES, written));
    for (size_t i = 0; i < IWI_H5_COLUMNS; i++) {
        const struct iwi_h5_column *column = &iwi_h5_columns[i];
        const bool is_first = i == 0 || iwi_h5_columns[i - 1].table != column->table;
        uint64_t count;

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
    if (!parse_cpu(name, &cpu) || list->count == MAX_CPUS) {
        list->status = iwi_fail(h5->log, IW_ERR_FORMAT,
                                "'%s': /cpu/%.80s is not the number of a CPU, or there are more than %d",
                                h5->path, name, MAX_CPUS);
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
        list->status = iwi_h5_fail(h5, IW_ERR_FORMAT, "cannot read what is in /cpu");
    }
    (void)H5Pclose(properties);
    (void)H5Gclose(group);
    if (tracked == 0 && list->count > 0) {
        iwi_sort(list->cpus, list->count, iwi_compare_u32);
    }
    if (list->status == IW_OK && list->count == 0) {
        list->status = iwi_fail(h5->log, IW_ERR_FORMAT, "'%s': /cpu holds no CPU", h5->path);
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

iw_status iwi_h5_read_cpus(struct iwi_h5 *h5, iw_recording **recording_p)
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
