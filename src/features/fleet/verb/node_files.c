/* The nodes that paths hold, as digests, one after the other; of several processes each has a share of them.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Shares are shares of the bytes of all files and follow each other in the order of files. A digest is read
 * by the process in whose share it begins, so a share that begins within a file begins with the first digest
 * found there; where the process before has ended tells whether that was one (share_settle).
 */
#include "features/fleet/verb/node_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <idlewave/internal/link.h>

#include "process/ui.h"

/* ---- the list of files ---- */

struct list_head {
    int64_t status;
    uint64_t count, bytes;
};

/* Sizes, then paths one after the other. */
struct file_list {
    struct list_head head;
    uint64_t *sizes;
    char *paths;
};

/* A byte more than it has: a share has the empty ones too. */
static uint64_t size_of(const char *path)
{
    struct stat facts;

    return stat(path, &facts) == 0 && facts.st_size > 0 ? (uint64_t)facts.st_size + 1 : 1;
}

static void list_folder(const iw_folder *folder, struct file_list *list)
{
    size_t used = 0;

    list->head.count = folder->count;
    list->sizes = ui_grow(NULL, folder->count, sizeof *list->sizes);
    for (size_t i = 0; i < folder->count; i++) {
        list->sizes[i] = size_of(folder->paths[i]);
        list->head.bytes += strlen(folder->paths[i]) + 1;
    }
    list->paths = ui_grow(NULL, list->head.bytes, 1);
    for (size_t i = 0; i < folder->count; i++) {
        const size_t size = strlen(folder->paths[i]) + 1;

        memcpy(list->paths + used, folder->paths[i], size);
        used += size;
    }
}

static iw_folder *folder_of(const struct file_list *list)
{
    iw_folder *folder = ui_grow(NULL, 1, sizeof *folder);
    const char *path = list->paths;

    *folder = (iw_folder){.count = list->head.count,
                          .paths = ui_grow(NULL, list->head.count, sizeof *folder->paths)};
    for (size_t i = 0; i < folder->count; i++) {
        const size_t size = strlen(path) + 1;

        folder->paths[i] = memcpy(ui_grow(NULL, size, 1), path, size);
        path += size;
    }
    return folder;
}

static iw_status send_list(const struct mpi_run *mpi_run, const struct file_list *list)
{
    for (uint32_t to = 1; to < mpi_run->link->size; to++) {
        IW_TRY(mpi_run_send(mpi_run, to, &list->head, sizeof list->head));
        if (list->head.count > 0) {
            IW_TRY(mpi_run_send(mpi_run, to, list->sizes, list->head.count * sizeof *list->sizes));
            IW_TRY(mpi_run_send(mpi_run, to, list->paths, list->head.bytes));
        }
    }
    return IW_OK;
}

static iw_status receive_list(const struct mpi_run *mpi_run, struct file_list *list)
{
    IW_TRY(mpi_run_receive(mpi_run, 0, &list->head, sizeof list->head));
    if (list->head.count == 0) {
        return IW_OK;
    }
    list->sizes = ui_grow(NULL, list->head.count, sizeof *list->sizes);
    list->paths = ui_grow(NULL, list->head.bytes, 1);
    IW_TRY(mpi_run_receive(mpi_run, 0, list->sizes, list->head.count * sizeof *list->sizes));
    return mpi_run_receive(mpi_run, 0, list->paths, list->head.bytes);
}

/* ---- shares ---- */

/* The byte at `part` / `parts` of all. */
static struct file_place place_of(const struct file_list *list, uint64_t part, uint64_t parts)
{
    struct file_place place = {0, 0};
    uint64_t all = 0;

    for (size_t i = 0; i < list->head.count; i++) {
        all += list->sizes[i];
    }
    place.at = all / parts * part + all % parts * part / parts;
    while (place.file < list->head.count && place.at >= list->sizes[place.file]) {
        place.at -= list->sizes[place.file++];
    }
    return place;
}

/* The first process has listed files, or failed to (`status`); all get the list, and each its share. */
static iw_status share_deal(struct mpi_run *mpi_run, iw_status status, iw_folder **folder_p,
                            struct file_share *share)
{
    const uint32_t rank = mpi_run->link->rank, size = mpi_run->link->size;
    struct file_list list = {.head = {.status = status}};
    iw_status sent;

    if (rank == 0 && status == IW_OK) {
        list_folder(*folder_p, &list);
    }
    sent = rank == 0 ? send_list(mpi_run, &list) : receive_list(mpi_run, &list);
    if (sent == IW_OK && list.head.status == IW_OK) {
        if (rank != 0) {
            *folder_p = folder_of(&list);
        }
        *share = (struct file_share){.mpi_run = mpi_run,
                                     .begin = place_of(&list, rank, size),
                                     .end = place_of(&list, rank + 1, size),
                                     .began_at = FILE_NOWHERE,
                                     .ended = {FILE_NOWHERE, false}};
    }
    free(list.sizes);
    free(list.paths);
    return sent != IW_OK ? sent : (iw_status)list.head.status;
}

/* ---- reading ---- */

/* Files before this one are to be read. */
static size_t share_file_end(const struct file_share *share)
{
    return share->end.file + (share->end.at > 0);
}

/* Whether the share has the first byte of a file from its first one on. */
static bool share_has_begin(const struct file_share *share, size_t file)
{
    return share->begin.at == 0 || file != share->begin.file;
}

/* The first byte of a file that is another's. */
static uint64_t limit_of(const struct file_share *share, uint64_t file)
{
    return share->mpi_run != NULL && file == share->end.file ? share->end.at : FILE_NOWHERE;
}

/* A file of digests is open; NULL: it cannot be opened. */
static void share_begin_file(struct file_share *share, size_t file, iw_digest_file *open)
{
    if (share_has_begin(share, file)) {
        return;
    }
    if (open != NULL && share->is_settled) {
        iw_digest_file_seek(open, share->begins_at);
    } else if (open != NULL) {
        iw_digest_file_find(open, share->begin.at);
    }
    share->began_at = open != NULL ? iw_digest_file_at(open) : 0;
}

/* Whether the share ends before the next digest. */
static bool share_is_over(const struct file_share *share, size_t file, const iw_digest_file *open)
{
    return iw_digest_file_at(open) >= limit_of(share, file);
}

/* The file is read so far, or damaged. */
static void share_end_file(struct file_share *share, size_t file, const iw_digest_file *open, bool is_whole)
{
    if (file == share->end.file) {
        share->ended = (struct file_end){iw_digest_file_at(open), !is_whole};
    }
}

/* ---- settling ---- */

/* None of the digests of its first file is this process's. */
static bool has_none(const struct file_share *share)
{
    return share->before.has_failed || share->before.at >= limit_of(share, share->begin.file);
}

/* Whether it began elsewhere than where the one before has ended. */
static bool is_elsewhere(const struct file_share *share)
{
    if (share->begin.at == 0) {
        return false;
    }
    return has_none(share) ? share->began_at < limit_of(share, share->begin.file)
                           : share->began_at != share->before.at;
}

static iw_status tell_next(const struct file_share *share)
{
    const bool is_beyond = share->begin.at > 0 && share->begin.file == share->end.file && has_none(share);
    const struct file_end end = is_beyond ? share->before : share->ended;
    const iw_link *link = share->mpi_run->link;

    return link->rank + 1 < link->size ? mpi_run_send(share->mpi_run, link->rank + 1, &end, sizeof end)
                                       : IW_OK;
}

/* When all has been read: whether it has to be read again, since the share begins elsewhere. Collective. */
static iw_status share_settle(const iw_log *log, struct file_share *share, bool *is_other_p)
{
    const iw_link *link = share->mpi_run->link;

    *is_other_p = false;
    if (!share->is_settled) {
        if (link->rank > 0) {
            IW_TRY(mpi_run_receive(share->mpi_run, link->rank - 1, &share->before, sizeof share->before));
        }
        share->is_settled = true;
        share->begins_at = has_none(share) ? FILE_NOWHERE : share->before.at;
        *is_other_p = is_elsewhere(share);
        if (*is_other_p) {
            return IW_OK;
        }
    } else if (!has_none(share) && is_elsewhere(share)) {
        log->write(log->arg, IW_LOG_ERROR, "a file of digests changed while it was read; try again");
        return IW_ERR_IO;
    }
    return tell_next(share);
}

/* ---- nodes ---- */

/* Keeps the last error, for the list of files that could not be read; warnings about single files are of no
 * use among a thousand. */
struct keeper {
    char text[1024];
};

static void keep(void *arg, iw_log_level level, const char *text)
{
    struct keeper *keeper = arg;

    if (level == IW_LOG_ERROR) {
        snprintf(keeper->text, sizeof keeper->text, "%s", text);
    }
}

static char *copy_of(const char *text)
{
    const size_t size = strlen(text) + 1;

    return memcpy(ui_grow(NULL, size, 1), text, size);
}

/* A single file is a folder of one. */
static iw_folder *folder_of_one(const char *path)
{
    iw_folder *folder = ui_grow(NULL, 1, sizeof *folder);

    *folder = (iw_folder){.count = 1, .paths = ui_grow(NULL, 1, sizeof *folder->paths)};
    folder->paths[0] = copy_of(path);
    return folder;
}

iw_status node_files_open(const iw_log *log, const char *path, struct progress *progress,
                          struct node_files *nodes)
{
    *nodes = (struct node_files){.progress = progress};
    if (iw_is_folder(path)) {
        return iw_folder_list_nodes(log, path, &nodes->folder);
    }
    nodes->folder = folder_of_one(path);
    return IW_OK;
}

iw_status node_files_open_share(const iw_log *log, const char *path, struct progress *progress,
                                struct mpi_run *mpi_run, struct node_files *nodes)
{
    iw_status status = IW_OK;

    *nodes = (struct node_files){.progress = progress};
    if (mpi_run == NULL || mpi_run_is_first(mpi_run)) {
        status = node_files_open(log, path, progress, nodes);
    }
    return mpi_run != NULL && mpi_run->link != NULL
               ? share_deal(mpi_run, status, &nodes->folder, &nodes->share)
               : status;
}

static void forget_unread(struct node_files *nodes)
{
    for (size_t i = 0; i < nodes->unread_count; i++) {
        free(nodes->unread[i].path);
        free(nodes->unread[i].reason);
    }
    nodes->unread_count = 0;
}

void node_files_close(struct node_files *nodes)
{
    forget_unread(nodes);
    free(nodes->unread);
    iw_digest_file_close(nodes->open);
    iw_digest_file_close(nodes->only);
    iw_folder_free(nodes->folder);
}

static void note_unread(struct node_files *nodes, const char *path, const char *reason)
{
    if (!nodes->is_again) {
        nodes->unread = ui_grow(nodes->unread, nodes->unread_count + 1, sizeof *nodes->unread);
        nodes->unread[nodes->unread_count++] = (struct unread_file){copy_of(path), copy_of(reason)};
    }
}

/* NULL: it names none, or was made from specs. */
static const char *host_of(const iw_recording *recording)
{
    const char *host = iw_recording_get(recording, "host");

    return host != NULL && host[0] != '\0' && iw_recording_get(recording, "specs") == NULL ? host : NULL;
}

static iw_status digest_recording(const iw_log *log, const char *path, bool is_by_host, iw_digest **digest_p)
{
    iw_recording *recording = NULL;
    const char *host;
    char *node;
    iw_status status;

    IW_TRY(iw_recording_load(log, path, &recording));
    host = is_by_host ? host_of(recording) : NULL;
    node = host != NULL ? copy_of(host) : iw_node_name(log, path);
    status = node != NULL ? iw_digest_make(log, node, recording, digest_p) : IW_ERR_NOMEM;
    free(node);
    iw_recording_free(recording);
    return status;
}

static iw_status open_digests(const iw_log *log, struct node_files *nodes, size_t file, const char *path)
{
    iw_status status = IW_OK;

    nodes->open = nodes->only;
    nodes->only = NULL;
    if (nodes->open != NULL && share_has_begin(&nodes->share, file)) {
        iw_digest_file_seek(nodes->open, 0);
    } else if (nodes->open == NULL) {
        status = iw_digest_file_open(log, path, &nodes->open);
    }
    share_begin_file(&nodes->share, file, status == IW_OK ? nodes->open : NULL);
    return status;
}

/* The only file of a stream is read again. */
static void close_file(struct node_files *nodes)
{
    if (nodes->open != NULL && nodes->folder->count == 1) {
        nodes->only = nodes->open;
    } else {
        iw_digest_file_close(nodes->open);
    }
    nodes->open = NULL;
}

/* The next digest of the file that is open, or of the next file; none where one ends. */
static iw_status step(const iw_log *log, struct node_files *nodes, iw_digest **digest_p)
{
    const size_t file = nodes->open != NULL ? nodes->file - 1 : nodes->file;
    const char *path = nodes->folder->paths[file];
    iw_status status = IW_OK;

    *digest_p = NULL;
    if (nodes->open == NULL) {
        nodes->file++;
        if (iw_is_digest_file(path)) {
            return open_digests(log, nodes, file, path);
        }
        if (!share_has_begin(&nodes->share, file)) {
            return IW_OK;
        }
        return iw_is_runq_file(path) ? iw_digest_import(log, path, digest_p)
                                     : digest_recording(log, path, nodes->is_by_host, digest_p);
    }
    if (!share_is_over(&nodes->share, file, nodes->open)) {
        status = iw_digest_file_next(log, nodes->open, digest_p);
    }
    if (status != IW_OK || *digest_p == NULL) {
        share_end_file(&nodes->share, file, nodes->open, status == IW_OK);
        close_file(nodes);
    }
    return status;
}

/* The first that is not read. */
static size_t end_file(const struct node_files *nodes)
{
    return nodes->share.mpi_run != NULL ? share_file_end(&nodes->share) : nodes->folder->count;
}

static iw_status next(const iw_log *log, void *arg, iw_digest **digest_p)
{
    struct node_files *nodes = arg;

    (void)log;
    *digest_p = NULL;
    while (nodes->open != NULL || nodes->file < end_file(nodes)) {
        struct keeper keeper = {.text = ""};
        const iw_log kept = {keep, &keeper};
        const iw_status status = step(&kept, nodes, digest_p);

        if (status == IW_ERR_NOMEM) {
            return status;
        }
        if (status != IW_OK) {
            note_unread(nodes, nodes->folder->paths[nodes->file - 1], keeper.text);
        }
        if (nodes->progress != NULL && nodes->open == NULL && !nodes->is_again) {
            progress_update(nodes->progress, (double)nodes->file / (double)nodes->folder->count);
        }
        if (*digest_p != NULL) {
            return IW_OK;
        }
    }
    nodes->is_again = true;
    return IW_OK;
}

static iw_status go_back(const iw_log *log, void *arg)
{
    struct node_files *nodes = arg;

    (void)log;
    close_file(nodes);
    nodes->file = nodes->share.begin.file;
    return IW_OK;
}

static void want(void *arg, uint32_t first_cpu, uint32_t end_cpu)
{
    const struct node_files *nodes = arg;
    iw_digest_file *file = nodes->open != NULL ? nodes->open : nodes->only;

    if (file != NULL) {
        iw_digest_file_want(file, first_cpu, end_cpu);
    }
}

/* Of a file that two processes read, the second knows where it begins once the first has read its part. */
static iw_status settle(const iw_log *log, void *arg, bool *is_other_p)
{
    struct node_files *nodes = arg;

    IW_TRY(share_settle(log, &nodes->share, is_other_p));
    if (*is_other_p) {
        forget_unread(nodes);
        nodes->is_again = false;
    }
    return IW_OK;
}

iw_digest_stream node_files_stream(struct node_files *nodes)
{
    const bool is_share = nodes->share.mpi_run != NULL,
               is_one_file = nodes->folder->count == 1 && iw_is_digest_file(nodes->folder->paths[0]);

    return (iw_digest_stream){.arg = nodes,
                              .rewind = go_back,
                              .next = next,
                              .link = is_share ? nodes->share.mpi_run->link : NULL,
                              .settle = is_share ? settle : NULL,
                              .want = is_one_file ? want : NULL};
}
