/* The nodes that paths hold, as digests, one after the other.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/fleet/verb/noise_nodes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "process/ui.h"

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

iw_status noise_nodes_open(const iw_log *log, const char *path, struct progress *progress,
                           struct noise_nodes *nodes)
{
    *nodes = (struct noise_nodes){.progress = progress};
    if (iw_is_folder(path)) {
        return iw_folder_list_nodes(log, path, &nodes->folder);
    }
    nodes->folder = folder_of_one(path);
    return IW_OK;
}

iw_status noise_nodes_open_share(const iw_log *log, const char *path, struct progress *progress,
                                 struct mpi_run *mpi_run, struct noise_nodes *nodes)
{
    iw_status status = IW_OK;

    *nodes = (struct noise_nodes){.progress = progress};
    if (mpi_run == NULL || mpi_run_is_first(mpi_run)) {
        status = noise_nodes_open(log, path, progress, nodes);
    }
    return mpi_run != NULL && mpi_run->link != NULL
               ? noise_share_deal(mpi_run, status, &nodes->folder, &nodes->share)
               : status;
}

static void forget_unread(struct noise_nodes *nodes)
{
    for (size_t i = 0; i < nodes->unread_count; i++) {
        free(nodes->unread[i].path);
        free(nodes->unread[i].reason);
    }
    nodes->unread_count = 0;
}

void noise_nodes_close(struct noise_nodes *nodes)
{
    forget_unread(nodes);
    free(nodes->unread);
    iw_digest_file_close(nodes->open);
    iw_folder_free(nodes->folder);
}

static void note_unread(struct noise_nodes *nodes, const char *path, const char *reason)
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

static iw_status open_digests(const iw_log *log, struct noise_nodes *nodes, size_t file, const char *path)
{
    const iw_status status = iw_digest_file_open(log, path, &nodes->open);

    noise_share_begin_file(&nodes->share, file, status == IW_OK ? nodes->open : NULL);
    return status;
}

/* The next digest of the file that is open, or of the next file; none where one ends. */
static iw_status step(const iw_log *log, struct noise_nodes *nodes, iw_digest **digest_p)
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
        if (!noise_share_has_begin(&nodes->share, file)) {
            return IW_OK;
        }
        return iw_is_runq_file(path) ? iw_digest_import(log, path, digest_p)
                                     : digest_recording(log, path, nodes->is_by_host, digest_p);
    }
    if (!noise_share_is_over(&nodes->share, file, nodes->open)) {
        status = iw_digest_file_next(log, nodes->open, digest_p);
    }
    if (status != IW_OK || *digest_p == NULL) {
        noise_share_end_file(&nodes->share, file, nodes->open, status == IW_OK);
        iw_digest_file_close(nodes->open);
        nodes->open = NULL;
    }
    return status;
}

/* The first that is not read. */
static size_t end_file(const struct noise_nodes *nodes)
{
    return nodes->share.mpi_run != NULL ? noise_share_file_end(&nodes->share) : nodes->folder->count;
}

static iw_status next(const iw_log *log, void *arg, iw_digest **digest_p)
{
    struct noise_nodes *nodes = arg;

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
    struct noise_nodes *nodes = arg;

    (void)log;
    iw_digest_file_close(nodes->open);
    nodes->open = NULL;
    nodes->file = nodes->share.begin.file;
    return IW_OK;
}

/* Of a file that two processes read, the second knows where it begins once the first has read its part. */
static iw_status settle(const iw_log *log, void *arg, bool *is_other_p)
{
    struct noise_nodes *nodes = arg;

    IW_TRY(noise_share_settle(log, &nodes->share, is_other_p));
    if (*is_other_p) {
        forget_unread(nodes);
        nodes->is_again = false;
    }
    return IW_OK;
}

iw_digest_stream noise_nodes_stream(struct noise_nodes *nodes)
{
    const bool is_share = nodes->share.mpi_run != NULL;

    return (iw_digest_stream){.arg = nodes,
                              .rewind = go_back,
                              .next = next,
                              .link = is_share ? nodes->share.mpi_run->link : NULL,
                              .settle = is_share ? settle : NULL};
}
