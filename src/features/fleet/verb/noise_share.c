/* The digests of one process of many: a share of the bytes of all files.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/fleet/verb/noise_share.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <idlewave/internal/link.h>

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

iw_status noise_share_deal(struct mpi_run *mpi_run, iw_status status, iw_folder **folder_p,
                           struct noise_share *share)
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
        *share = (struct noise_share){.mpi_run = mpi_run,
                                      .begin = place_of(&list, rank, size),
                                      .end = place_of(&list, rank + 1, size),
                                      .began_at = NOISE_NOWHERE,
                                      .ended = {NOISE_NOWHERE, false}};
    }
    free(list.sizes);
    free(list.paths);
    return sent != IW_OK ? sent : (iw_status)list.head.status;
}

/* ---- reading ---- */

size_t noise_share_file_end(const struct noise_share *share)
{
    return share->end.file + (share->end.at > 0);
}

bool noise_share_has_begin(const struct noise_share *share, size_t file)
{
    return share->begin.at == 0 || file != share->begin.file;
}

/* The first byte of a file that is another's. */
static uint64_t limit_of(const struct noise_share *share, uint64_t file)
{
    return share->mpi_run != NULL && file == share->end.file ? share->end.at : NOISE_NOWHERE;
}

void noise_share_begin_file(struct noise_share *share, size_t file, iw_digest_file *open)
{
    if (noise_share_has_begin(share, file)) {
        return;
    }
    if (open != NULL && share->is_settled) {
        iw_digest_file_seek(open, share->begins_at);
    } else if (open != NULL) {
        iw_digest_file_find(open, share->begin.at);
    }
    share->began_at = open != NULL ? iw_digest_file_at(open) : 0;
}

bool noise_share_is_over(const struct noise_share *share, size_t file, const iw_digest_file *open)
{
    return iw_digest_file_at(open) >= limit_of(share, file);
}

void noise_share_end_file(struct noise_share *share, size_t file, const iw_digest_file *open, bool is_whole)
{
    if (file == share->end.file) {
        share->ended = (struct file_end){iw_digest_file_at(open), !is_whole};
    }
}

/* ---- settling ---- */

/* None of the digests of its first file is this process's. */
static bool has_none(const struct noise_share *share)
{
    return share->before.has_failed || share->before.at >= limit_of(share, share->begin.file);
}

/* Whether it began elsewhere than where the one before has ended. */
static bool is_elsewhere(const struct noise_share *share)
{
    if (share->begin.at == 0) {
        return false;
    }
    return has_none(share) ? share->began_at < limit_of(share, share->begin.file)
                           : share->began_at != share->before.at;
}

static iw_status tell_next(const struct noise_share *share)
{
    const bool is_beyond = share->begin.at > 0 && share->begin.file == share->end.file && has_none(share);
    const struct file_end end = is_beyond ? share->before : share->ended;
    const iw_link *link = share->mpi_run->link;

    return link->rank + 1 < link->size ? mpi_run_send(share->mpi_run, link->rank + 1, &end, sizeof end)
                                       : IW_OK;
}

iw_status noise_share_settle(const iw_log *log, struct noise_share *share, bool *is_other_p)
{
    const iw_link *link = share->mpi_run->link;

    *is_other_p = false;
    if (!share->is_settled) {
        if (link->rank > 0) {
            IW_TRY(mpi_run_receive(share->mpi_run, link->rank - 1, &share->before, sizeof share->before));
        }
        share->is_settled = true;
        share->begins_at = has_none(share) ? NOISE_NOWHERE : share->before.at;
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
