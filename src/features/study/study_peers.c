/* What other processes of the same study do: which cells they run (locks of bytes), which they have done.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/base.h"
#include "core/base/output.h"
#include "features/study/files/study_line.h"
#include "features/study/folder.h"
#include "kit/files/io/paths.h"

/* ======== claims ======== */

/* Cells have the bytes below, nodes those from here on; offsets of files have 63 bits. */
static const uint64_t FIRST_NODE_BYTE = UINT64_C(1) << 61;

/* Gives errno. */
static int set_lock(int fd, short type, uint64_t byte)
{
    struct flock lock = {
        .l_type = type, .l_whence = SEEK_SET, .l_start = (off_t)byte, .l_len = 1}; /* its l_pid must be 0 */
    int result;

    do {
        result = fcntl(fd, F_OFD_SETLK, &lock);
    } while (result != 0 && errno == EINTR);
    return result == 0 ? 0 : errno;
}

static bool is_held(int error)
{
    return error == EAGAIN || error == EACCES;
}

iw_status iwi_claims_open(const iw_log *log, const char *dir, struct iwi_claims *claims)
{
    iw_status status;

    *claims = (struct iwi_claims){.path = iwi_path_join(log, dir, "claims"), .fd = -1};
    status = claims->path != NULL ? iwi_open_growing(log, claims->path, O_RDWR, &claims->fd) : IW_ERR_NOMEM;
    if (status != IW_OK) {
        iwi_claims_close(claims);
        return status;
    }
    claims->fault = set_lock(claims->fd, F_WRLCK, FIRST_NODE_BYTE - 1); /* belongs to nothing: just a try */
    claims->fault = is_held(claims->fault) ? 0 : claims->fault;
    (void)set_lock(claims->fd, F_UNLCK, FIRST_NODE_BYTE - 1);
    return IW_OK;
}

void iwi_claims_close(struct iwi_claims *claims)
{
    if (claims->fd >= 0) {
        (void)close(claims->fd);
    }
    free(claims->path);
    *claims = (struct iwi_claims){.fd = -1};
}

/* Two cells whose ids differ in the last digits only do not run at the same time, once in 10^18 pairs. */
uint64_t iwi_claim_of_cell(const iw_cell *cell)
{
    return strtoull(cell->id, NULL, 16) >> 3;
}

uint64_t iwi_claim_of_node(void)
{
    uint64_t number = UINT64_C(14695981039346656037); /* FNV-1a */
    char name[256] = "";

    (void)gethostname(name, sizeof name - 1);
    for (const char *c = name; *c != '\0'; c++) {
        number = (number ^ (unsigned char)*c) * UINT64_C(1099511628211);
    }
    return FIRST_NODE_BYTE + (number >> 3);
}

iw_status iwi_claims_take(const iw_log *log, const struct iwi_claims *claims, uint64_t byte, bool *is_taken_p)
{
    const int error = claims->fault == 0 ? set_lock(claims->fd, F_WRLCK, byte) : 0;

    *is_taken_p = error == 0;
    if (error != 0 && !is_held(error)) {
        return iwi_fail(log, IW_ERR_IO, "cannot lock '%s': %s; finished cells are kept; rerun to resume",
                        claims->path, strerror(error));
    }
    return IW_OK;
}

void iwi_claims_give_back(const struct iwi_claims *claims, uint64_t byte)
{
    if (claims->fault == 0) {
        (void)set_lock(claims->fd, F_UNLCK, byte);
    }
}

/* ======== results of others ======== */

/* Files are opened anew each time: network file systems look for news only then. */

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
