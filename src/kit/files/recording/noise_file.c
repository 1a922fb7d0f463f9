/* Noise files as users see them: one, a folder of them, one that grows; added to a simulation by their path.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "kit/files/recording/noise_file.h"

#include <idlewave/files.h>
#include <idlewave/recording.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/base.h"
#include "core/noise/recording_check.h"
#include "core/noise/recording_noise.h"
#include "core/noise/source.h"
#include "kit/files/io/digest_magic.h"
#include "kit/files/recording/noise_hdf5.h"

/* ---- folders of noise files, one a node ---- */

bool iw_is_folder(const char *path)
{
    struct stat facts;

    return stat(path, &facts) == 0 && S_ISDIR(facts.st_mode);
}

/* How many bytes the file begins with, up to `size`; none if it cannot be read. */
static size_t read_begin(const char *path, char *begin, size_t size)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const ssize_t count = fd >= 0 ? read(fd, begin, size) : -1;

    if (fd >= 0) {
        (void)close(fd);
    }
    return count > 0 ? (size_t)count : 0;
}

bool iw_is_digest_file(const char *path)
{
    char magic[IWI_DIGEST_MAGIC_BYTES];

    return read_begin(path, magic, sizeof magic) == sizeof magic &&
           memcmp(magic, IWI_DIGEST_MAGIC, sizeof magic) == 0;
}

bool iw_is_runq_file(const char *path)
{
    char begin[IWI_RUNQ_WITHIN_BYTES];
    const size_t count = read_begin(path, begin, sizeof begin);

    return memmem(begin, count, IWI_RUNQ_KEY, sizeof IWI_RUNQ_KEY - 1) != NULL;
}

static bool is_visible(const char *name)
{
    return name[0] != '.' && strstr(name, ".tmp-") == NULL;
}

/* By its name too: a file that was cut off before its first byte is a damaged one, not another. */
static bool is_noise_file(const char *path)
{
    const size_t length = strlen(path);
    struct stat facts;

    if (stat(path, &facts) != 0 || !S_ISREG(facts.st_mode)) {
        return false;
    }
    return (length > 3 && strcmp(path + length - 3, ".h5") == 0) || iwi_noise_hdf5_matches(path);
}

static bool is_of_nodes(const char *path)
{
    return is_noise_file(path) || iw_is_digest_file(path) || iw_is_runq_file(path);
}

typedef bool (*accept_fn)(const char *path);

static iw_status add_entry(const iw_log *log, iw_folder *folder, accept_fn accept, const char *path,
                           const char *name)
{
    const size_t size = strlen(path) + strlen(name) + 2;
    const bool has_slash = path[strlen(path) - 1] == '/';
    char *whole;

    if (!is_visible(name)) {
        return IW_OK;
    }
    whole = iwi_new_array(log, size, 1);
    if (whole == NULL) {
        return IW_ERR_NOMEM;
    }
    snprintf(whole, size, "%s%s%s", path, has_slash ? "" : "/", name);
    if (accept(whole)) {
        folder->paths[folder->count++] = whole;
    } else {
        folder->skipped++;
        free(whole);
    }
    return IW_OK;
}

static iw_status add_entries(const iw_log *log, iw_folder *folder, accept_fn accept, const char *path)
{
    struct dirent **entries;
    const int entry_count = scandir(path, &entries, NULL, alphasort);
    iw_status status = IW_OK;

    if (entry_count < 0) {
        return iwi_fail(log, IW_ERR_IO, "cannot read folder '%s': %s", path, strerror(errno));
    }
    folder->paths = iwi_new_array(log, (size_t)entry_count, sizeof *folder->paths);
    status = folder->paths != NULL ? IW_OK : IW_ERR_NOMEM;
    for (int i = 0; i < entry_count; i++) {
        status = status == IW_OK ? add_entry(log, folder, accept, path, entries[i]->d_name) : status;
        free(entries[i]);
    }
    free(entries);
    return status;
}

static iw_status tell_others(const iw_log *log, const iw_folder *folder, const char *path)
{
    if (folder->count == 0) {
        return iwi_fail(log, IW_ERR_FORMAT,
                        "folder '%s' has no noise files: record one on each node, for example with srun "
                        "--ntasks-per-node 1 sh -c 'idlewave record -o %s/$(hostname).h5'",
                        path, path);
    }
    if (folder->skipped > 0) {
        iwi_warn(log, "folder '%s': %zu %s no noise %s and %s skipped", path, folder->skipped,
                 folder->skipped == 1 ? "entry is" : "entries are", folder->skipped == 1 ? "file" : "files",
                 folder->skipped == 1 ? "was" : "were");
    }
    return IW_OK;
}

static iw_status list(const iw_log *log, accept_fn accept, const char *path, iw_folder **folder_p)
{
    iw_folder *folder = iwi_new_array(log, 1, sizeof *folder);
    iw_status status;

    if (folder == NULL) {
        return IW_ERR_NOMEM;
    }
    status = add_entries(log, folder, accept, path);
    status = status == IW_OK ? tell_others(log, folder, path) : status;
    if (status != IW_OK) {
        iw_folder_free(folder);
        return status;
    }
    *folder_p = folder;
    return IW_OK;
}

iw_status iw_folder_list(const iw_log *log, const char *path, iw_folder **folder_p)
{
    return list(log, is_noise_file, path, folder_p);
}

iw_status iw_folder_list_nodes(const iw_log *log, const char *path, iw_folder **folder_p)
{
    return list(log, is_of_nodes, path, folder_p);
}

void iw_folder_free(iw_folder *folder)
{
    if (folder == NULL) {
        return;
    }
    for (size_t i = 0; i < folder->count; i++) {
        free(folder->paths[i]);
    }
    free(folder->paths);
    free(folder);
}

iw_status iw_folder_load(const iw_log *log, const iw_folder *folder, iw_recording ***recordings_p)
{
    iw_recording **recordings = iwi_new_array(log, folder->count, sizeof(iw_recording *));
    iw_status status = recordings != NULL ? IW_OK : IW_ERR_NOMEM;

    for (size_t i = 0; i < folder->count && status == IW_OK; i++) {
        status = iw_recording_load(log, folder->paths[i], &recordings[i]);
    }
    if (status != IW_OK) {
        iw_recordings_free(recordings, folder->count);
        return status;
    }
    *recordings_p = recordings;
    return IW_OK;
}

void iw_recordings_free(iw_recording **recordings, size_t count)
{
    for (size_t i = 0; recordings != NULL && i < count; i++) {
        iw_recording_free(recordings[i]);
    }
    free(recordings);
}

/* ---- a noise file that grows while its recording is measured ---- */

struct iw_live_file {
    struct iwi_noise_writer *writer;
};

iw_status iw_live_file_open(const iw_log *log, const char *path, const iw_recording *head,
                            iw_live_file **file_p)
{
    iw_live_file *file = iwi_new_array(log, 1, sizeof *file);
    iw_status status =
        file != NULL ? iwi_noise_writer_open(log, path, head, true, &file->writer) : IW_ERR_NOMEM;

    if (status != IW_OK) {
        free(file);
        return status;
    }
    *file_p = file;
    return IW_OK;
}

iw_status iw_live_file_append(iw_live_file *file, const iw_recording *recording, size_t index,
                              const iw_detours *batch)
{
    IW_TRY(iwi_noise_writer_sources(file->writer, recording->sources, recording->source_count));
    return iwi_noise_writer_append(file->writer, index, batch);
}

iw_status iw_live_file_flush(iw_live_file *file)
{
    return iwi_noise_writer_flush(file->writer);
}

iw_status iw_live_file_close(iw_live_file *file)
{
    iw_status status = IW_OK;

    if (file != NULL) {
        status = iwi_noise_writer_close(file->writer);
        free(file);
    }
    return status;
}

/* ---- files ---- */

iw_status iw_recording_save(const iw_log *log, const iw_recording *recording, const char *path)
{
    struct iwi_noise_writer *writer;
    iw_status status = IW_OK;

    IW_TRY(iwi_recording_check(log, path, recording, IW_ERR_RANGE));
    IW_TRY(iwi_noise_writer_open(log, path, recording, false, &writer));
    for (size_t i = 0; i < recording->cpu_count && status == IW_OK; i++) {
        status = iwi_noise_writer_append(writer, i, &recording->cpus[i]);
    }
    return iwi_noise_writer_close(writer); /* the same status, if there was a failure */
}

static iw_status add_folder(const iw_log *log, iw_noise *noise, const char *path)
{
    iw_recording **recordings = NULL;
    iw_folder *folder;
    iw_status status;

    IW_TRY(iw_folder_list(log, path, &folder));
    status = iw_folder_load(log, folder, &recordings);
    for (size_t i = 0; i < folder->count && status == IW_OK; i++) {
        status = iw_recording_keep_cpus(log, folder->paths[i], iw_noise_cpus(noise), &recordings[i]);
    }
    if (status == IW_OK) {
        status = iwi_noise_take_recordings(log, noise, path, (const char *const *)folder->paths, recordings,
                                           folder->count);
    }
    iw_recordings_free(recordings, folder->count);
    iw_folder_free(folder);
    return status;
}

iw_noise_form iw_noise_form_of(const char *spec_or_path)
{
    if (strcmp(spec_or_path, "none") == 0 || iwi_noise_is_spec(spec_or_path)) {
        return IW_NOISE_SPEC;
    }
    if (iw_is_folder(spec_or_path)) {
        return IW_NOISE_FOLDER;
    }
    if (iwi_noise_hdf5_matches(spec_or_path)) {
        return IW_NOISE_RECORDING;
    }
    if (access(spec_or_path, F_OK) == 0) {
        return IW_NOISE_TEXT;
    }
    return strchr(spec_or_path, ':') != NULL ? IW_NOISE_SPEC : IW_NOISE_ABSENT;
}

static iw_status add_recording(const iw_log *log, iw_noise *noise, const char *path)
{
    iw_recording *recording;
    iw_status status;

    IW_TRY(iw_recording_load(log, path, &recording));
    status = iw_recording_keep_cpus(log, path, iw_noise_cpus(noise), &recording);
    if (status == IW_OK) {
        status = iwi_noise_add_named_recording(log, noise, path, recording);
    }
    iw_recording_free(recording);
    return status;
}

iw_status iw_noise_open(const iw_log *log, iw_noise *noise, const char *spec_or_path)
{
    switch (iw_noise_form_of(spec_or_path)) {
    case IW_NOISE_FOLDER: return add_folder(log, noise, spec_or_path);
    case IW_NOISE_RECORDING: return add_recording(log, noise, spec_or_path);
    default: return iw_noise_add(log, noise, spec_or_path);
    }
}

iw_status iwi_noise_try(const iw_log *log, const char *spec_or_path)
{
    iw_noise *noise;
    iw_status status;

    IW_TRY(iw_noise_new(log, &noise));
    status = iw_noise_open(log, noise, spec_or_path);
    iw_noise_free(noise);
    return status;
}
