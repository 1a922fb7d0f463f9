/* Reads results files from where it stopped the last time.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Files are opened anew each time: network file systems look for news only then.
 */
#include "features/study/peer_results.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/base.h"
#include "features/study/files/study_line.h"
#include "kit/files/io/paths.h"

enum { CHUNK_SIZE = 1 << 18 /* longer than any line */ };

static const char line_start[] = IWI_CELL_LINE_START;

/* NULL: no memory. */
static struct iwi_peer_results_file *find_file(const iw_log *log, struct iwi_peer_results *others,
                                               const char *name)
{
    struct iwi_peer_results_file *file;

    for (size_t i = 0; i < others->count; i++) { /* they mostly come in the same order again */
        const size_t place = (others->next + i) % others->count;

        if (strcmp(others->files[place].name, name) == 0) {
            others->next = place + 1;
            return &others->files[place];
        }
    }
    if (iwi_grow(log, (void **)&others->files, &others->capacity, others->count + 1, sizeof *others->files) !=
        IW_OK) {
        return NULL;
    }
    file = &others->files[others->count++];
    *file = (struct iwi_peer_results_file){.end = 0};
    snprintf(file->name, sizeof file->name, "%s", name);
    return file;
}

static void visit_line(const char *line, size_t length, iwi_visit_id visit, void *arg)
{
    const size_t start = strlen(line_start);
    char id[IW_CELL_ID_SIZE];

    if (length > start + IW_CELL_ID_SIZE && memcmp(line, line_start, start) == 0 &&
        line[start + IW_CELL_ID_SIZE - 1] == '"') {
        memcpy(id, line + start, IW_CELL_ID_SIZE - 1);
        id[IW_CELL_ID_SIZE - 1] = '\0';
        visit(arg, id);
    }
}

/* Bytes of the whole lines of a chunk. */
static size_t visit_lines(const char *chunk, size_t size, iwi_visit_id visit, void *arg)
{
    const char *line = chunk, *end;

    while ((end = memchr(line, '\n', size - (size_t)(line - chunk))) != NULL) {
        visit_line(line, (size_t)(end - line), visit, arg);
        line = end + 1;
    }
    return (size_t)(line - chunk);
}

static void read_lines(struct iwi_peer_results *others, struct iwi_peer_results_file *file, int fd,
                       iwi_visit_id visit, void *arg)
{
    ssize_t got;

    while ((got = pread(fd, others->chunk, CHUNK_SIZE, file->end)) > 0) {
        const size_t whole = visit_lines(others->chunk, (size_t)got, visit, arg);

        if (whole == 0 && got < CHUNK_SIZE) {
            return; /* the rest of the line is to come */
        }
        file->end += whole > 0 ? (off_t)whole : (off_t)got;
    }
}

struct reading {
    struct iwi_peer_results *others;
    iwi_visit_id visit; /* NULL: only see where files end */
    void *arg;
};

static iw_status read_file(const iw_log *log, const char *dir, const char *name, void *arg)
{
    const struct reading *reading = arg;
    char *path = iwi_path_join(log, dir, name);
    struct iwi_peer_results_file *file = path != NULL ? find_file(log, reading->others, name) : NULL;
    const bool is_own = path != NULL && strcmp(path, reading->others->own_path) == 0;
    const int fd = file != NULL && !is_own ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
    struct stat info;

    free(path);
    if (file == NULL) {
        return IW_ERR_NOMEM;
    }
    if (fd >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode)) {
        if (reading->visit == NULL) {
            file->end = iwi_end_of_lines(fd);
        } else if (info.st_ino != file->inode || info.st_size < file->end || file->end < 0) {
            file->end = 0; /* merged, or cut, since */
        }
        file->inode = info.st_ino;
        if (reading->visit != NULL) {
            read_lines(reading->others, file, fd, reading->visit, reading->arg);
        }
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    return IW_OK;
}

iw_status iwi_peer_results_init(const iw_log *log, const char *dir, const char *own_path,
                                struct iwi_peer_results *others)
{
    struct reading reading = {.others = others};
    iw_status status;

    *others = (struct iwi_peer_results){.dir = dir, .own_path = own_path};
    others->chunk = iwi_new_array(log, CHUNK_SIZE, 1);
    status = others->chunk != NULL ? iwi_folder_each_results(log, dir, read_file, &reading) : IW_ERR_NOMEM;
    if (status != IW_OK) {
        iwi_peer_results_release(others);
    }
    return status;
}

void iwi_peer_results_release(struct iwi_peer_results *others)
{
    free(others->chunk);
    free(others->files);
    *others = (struct iwi_peer_results){.dir = NULL};
}

iw_status iwi_peer_results_read(const iw_log *log, struct iwi_peer_results *others, iwi_visit_id visit,
                                void *arg)
{
    struct reading reading = {others, visit, arg};

    return iwi_folder_each_results(log, others->dir, read_file, &reading);
}
