/* What the tests of noise files share: a folder of their own, and recordings that can be compared.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWT_NOISE_HDF5_TESTING_H
#define IWT_NOISE_HDF5_TESTING_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <hdf5.h>

#include <idlewave/files.h>
#include <idlewave/recording.h>

#include "support/made_recording.h"
#include "support/support.h"

enum { IWT_PATH_SIZE = 256 };

struct iwt_folder {
    char path[64];
    char file[IWT_PATH_SIZE]; /* "node.h5" in it */
};

static inline int open_folder(void **state)
{
    static struct iwt_folder folder;

    snprintf(folder.path, sizeof folder.path, "/tmp/iw_noise_XXXXXX");
    assert_non_null(mkdtemp(folder.path));
    snprintf(folder.file, sizeof folder.file, "%s/node.h5", folder.path);
    *state = &folder;
    return 0;
}

/* Calls `each` for the files of the folder; returns how many there are. */
static inline int each_file(const char *path, void (*each)(const char *file))
{
    DIR *directory = opendir(path);
    const struct dirent *entry;
    int count = 0;

    while (directory != NULL && (entry = readdir(directory)) != NULL) {
        char file[IWT_PATH_SIZE + sizeof entry->d_name];

        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            snprintf(file, sizeof file, "%s/%s", path, entry->d_name);
            if (each != NULL) {
                each(file);
            }
            count++;
        }
    }
    closedir(directory);
    return count;
}

static inline void remove_file(const char *file)
{
    (void)unlink(file);
}

static inline int close_folder(void **state)
{
    const struct iwt_folder *folder = *state;

    (void)each_file(folder->path, remove_file);
    return rmdir(folder->path);
}

/* Files, groups, datasets and attributes that are open in HDF5. */
static inline ssize_t count_open(void)
{
    return H5Fget_obj_count((hid_t)H5F_OBJ_ALL, H5F_OBJ_ALL);
}

static inline iw_recording *load(const char *path)
{
    const ssize_t open_before = count_open();
    struct iwt_log log;
    iw_recording *recording = NULL;

    iwt_log_init(&log);
    if (iw_recording_load(&log.log, path, &recording) != IW_OK) {
        fail_msg("%s", log.text);
    }
    assert_int_equal(count_open(), open_before);
    assert_string_equal(log.text, "");
    return recording;
}

static inline void save(const iw_recording *recording, const char *path)
{
    const ssize_t open_before = count_open();
    struct iwt_log log;

    iwt_log_init(&log);
    if (iw_recording_save(&log.log, recording, path) != IW_OK) {
        fail_msg("%s", log.text);
    }
    assert_int_equal(count_open(), open_before);
}

/* One sentence with the path and `advice`, and nothing else. */
static inline void expect_refused(const char *path, iw_status expected, const char *advice)
{
    const ssize_t open_before = count_open();
    struct iwt_log log;
    iw_recording *recording = NULL;

    iwt_log_init(&log);
    assert_status(iw_recording_load(&log.log, path, &recording), expected);
    assert_null(recording);
    assert_int_equal(count_open(), open_before);
    assert_int_equal(log.errors, 1);
    iwt_assert_logged(&log, path);
    iwt_assert_logged(&log, advice);
}

static inline void assert_same_arrays(const void *a, const void *b, size_t count, size_t element_size)
{
    if (count > 0) {
        assert_memory_equal(a, b, count * element_size);
    }
}

static inline void assert_same_detours(const iw_detours *a, const iw_detours *b)
{
    assert_int_equal(a->cpu, b->cpu);
    assert_int_equal(a->length_ns, b->length_ns);
    assert_true(a->t_min_ns == b->t_min_ns && a->threshold_ns == b->threshold_ns);
    assert_int_equal(a->dropped, b->dropped);
    assert_int_equal(a->count, b->count);
    assert_same_arrays(a->start_ns, b->start_ns, a->count, sizeof *a->start_ns);
    assert_same_arrays(a->duration_ns, b->duration_ns, a->count, sizeof *a->duration_ns);
    assert_same_arrays(a->source, b->source, a->count, sizeof *a->source);
    assert_int_equal(a->part_count, b->part_count);
    assert_same_arrays(a->part_detour, b->part_detour, a->part_count, sizeof *a->part_detour);
    assert_same_arrays(a->part_source, b->part_source, a->part_count, sizeof *a->part_source);
    assert_same_arrays(a->part_ns, b->part_ns, a->part_count, sizeof *a->part_ns);
    assert_int_equal(a->sample_count, b->sample_count);
    assert_same_arrays(a->sample_start_ns, b->sample_start_ns, a->sample_count, sizeof *a->sample_start_ns);
    assert_same_arrays(a->sample, b->sample, a->sample_count, sizeof *a->sample);
}

static inline void assert_same_recording(const iw_recording *a, const iw_recording *b)
{
    assert_int_equal(a->probe, b->probe);
    assert_int_equal(a->attribution, b->attribution);
    assert_int_equal(a->quantum_ns, b->quantum_ns);
    assert_int_equal(a->source_count, b->source_count);
    for (size_t i = 0; i < a->source_count; i++) {
        assert_int_equal(a->sources[i].kind, b->sources[i].kind);
        assert_string_equal(a->sources[i].name, b->sources[i].name);
    }
    assert_int_equal(a->attribute_count, b->attribute_count);
    for (size_t i = 0; i < a->attribute_count; i++) {
        assert_string_equal(a->attributes[i].name, b->attributes[i].name);
        assert_string_equal(a->attributes[i].value, b->attributes[i].value);
    }
    assert_int_equal(a->cpu_count, b->cpu_count);
    for (size_t i = 0; i < a->cpu_count; i++) {
        assert_same_detours(&a->cpus[i], &b->cpus[i]);
    }
}

/* Two CPUs, three sources, parts, attributes. */
static inline iw_recording *small_recording(void)
{
    iw_recording *recording = iwt_recording(2, 1000000);
    const uint32_t timer = iwt_source(recording, IW_CLASS_IRQ, "local_timer"),
                   worker = iwt_source(recording, IW_CLASS_THREAD, "kworker/0:1");

    iwt_attribute(recording, "host", "node17");
    iwt_attribute(recording, "command", "idlewave record -o node.h5");
    for (int i = 0; i < 40; i++) {
        iwt_detour(recording, 0, 1000 + i * 20000, 2000 + i, timer);
        if (i % 4 == 0) {
            iwt_part(recording, 0, timer, 500 + i);
            iwt_part(recording, 0, worker, 700);
        }
        iwt_detour(recording, 1, 500 + i * 24000, 3000, i % 3 == 0 ? worker : 0);
    }
    recording->cpus[1].cpu = 9;
    recording->cpus[1].dropped = 5;
    recording->cpus[1].length_ns = 1200000;
    return recording;
}

/* ---- files as bytes ---- */

struct bytes {
    unsigned char data[65536];
    size_t size;
};

static inline void get_bytes(const char *path, struct bytes *bytes)
{
    FILE *file = fopen(path, "rb");

    assert_non_null(file);
    bytes->size = fread(bytes->data, 1, sizeof bytes->data, file);
    assert_true(bytes->size > 1000 && bytes->size < sizeof bytes->data);
    fclose(file);
}

static inline void put_bytes(const char *path, const struct bytes *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");

    assert_non_null(file);
    assert_int_equal(fwrite(bytes->data, 1, size, file), size);
    fclose(file);
}

/* small_recording(), saved once. */
static inline void put_good_file(const struct iwt_folder *folder)
{
    static struct bytes good;

    if (good.size == 0) {
        iw_recording *recording = small_recording();

        save(recording, folder->file);
        iw_recording_free(recording);
        get_bytes(folder->file, &good);
    }
    put_bytes(folder->file, &good, good.size);
}

#endif
