/* Reads noise files; nothing in them is trusted.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/files.h>
#include <idlewave/recording.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/noise/recording_check.h"
#include "kit/files/recording/noise_hdf5.h"
#include "kit/files/recording/noise_hdf5_layout.h"
#include "kit/files/recording/noise_hdf5_read.h"

/* The start of HDF5's superblock. Version 3 (HDF5 1.10) and what it leads to are under checksums. */
enum { SIGNATURE_BYTES = 8, VERSION_BYTE = 8, FLAGS_BYTE = 11, HEAD_BYTES = 12, VERSION = 3 };
enum { FLAG_OPEN_FOR_WRITING = 1 };

/* A writer at work may be in the middle of what we read. HDF5 waits twice as long before each further
 * attempt, from 1 ns on; its own limit of 100 would be for ever. */
enum { READ_ATTEMPTS = 20 };

static const struct iwi_h5_words noise_words = {
    .format = IWI_H5_FORMAT,
    .kind = "noise",
    .not_hdf5 = "recording: convert it first, with 'idlewave noise convert IN OUT.h5'",
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
        return iwi_fail(log, IW_ERR_FORMAT, "'%s' is not an HDF5 file, so it holds no %s", path,
                        words->not_hdf5);
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
        status = iwi_h5_fail(h5, IW_ERR_FORMAT, "the file is damaged or cut short");
    }
    (void)H5Pclose(access);
    return status;
}

/* ---- the whole of it ---- */

static const char *probe_name(unsigned number)
{
    return iw_probe_name((iw_probe)number);
}

static const char *rung_name(unsigned number)
{
    return iw_rung_name((iw_rung)number);
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
                 : iwi_fail(h5->log, IW_ERR_FORMAT, "'%s': attribute '%s' of / is '%.80s', which is unknown",
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
        status = iwi_fail(h5->log, IW_ERR_FORMAT, "'%s' is of format '%.80s', but only '%s' can be read",
                          h5->path, text, words->format);
    }
    free(text);
    return status;
}

static iw_status read_root(struct iwi_h5 *h5, iw_recording *recording)
{
    unsigned probe, rung;

    IW_TRY(read_choice(h5, "probe", probe_name, IW_PROBES - 1, &probe));
    IW_TRY(read_choice(h5, "rung", rung_name, IW_RUNGS - 1, &rung));
    recording->probe = (iw_probe)probe;
    recording->rung = (iw_rung)rung;
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
    iw_recording *recording;
    iw_status status;

    IW_TRY(iwi_h5_read_cpus(h5, &recording));
    status = read_root(h5, recording);
    status = status == IW_OK ? read_origin(h5, recording) : status;
    status = status == IW_OK ? iwi_h5_read_sources(h5, recording) : status;
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
    h5.budget_bytes = head.file_bytes * IWI_H5_MAX_PACKING;
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
