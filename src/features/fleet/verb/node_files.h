/* The nodes that paths hold, as digests, one after the other.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IW_CLI_NODE_FILES_H
#define IW_CLI_NODE_FILES_H

#include <idlewave/idlewave.h>

#include "process/mpi_run.h"
#include "process/progress.h"

/* A byte of a file. */
struct file_place {
    uint64_t file, at;
};

/* Where the digests of a file that goes on in the next share end. */
struct file_end {
    uint64_t at;         /* the next one's begin there; FILE_NOWHERE: there are no more */
    uint64_t has_failed; /* damaged: what follows is not read */
};
#define FILE_NOWHERE UINT64_MAX

/* All zero is all files. */
struct file_share {
    struct mpi_run *mpi_run;      /* NULL: this process is alone */
    struct file_place begin, end; /* at 0: with the first byte of the file, before it */
    uint64_t began_at;            /* where it began in begin.file, if not with its first byte */
    struct file_end ended;        /* its own, of end.file */
    bool is_settled;
    uint64_t begins_at;     /* then: where it has to begin */
    struct file_end before; /* of begin.file */
};

/* A file that could not be read, or not to its end. */
struct unread_file {
    char *path, *reason;
};

struct node_files {
    iw_folder *folder;
    struct progress *progress; /* or NULL */
    size_t file;               /* the next */
    iw_digest_file *open;      /* the one before it, or NULL */
    bool is_again;             /* all have been read once */
    bool is_by_host;           /* recordings go by the node that they name, not by their files */
    iw_digest_file *only;      /* the only one there is, between two readings */
    struct file_share share;   /* of them that are read */
    size_t unread_count;
    struct unread_file *unread;
};

/* `path`: a noise file, a file of digests, or a folder of such files. */
iw_status node_files_open(const iw_log *log, const char *path, struct progress *progress,
                          struct node_files *nodes);
/* The same for all processes of a run; each has a share of the digests. `mpi_run` may be NULL. */
iw_status node_files_open_share(const iw_log *log, const char *path, struct progress *progress,
                                struct mpi_run *mpi_run, struct node_files *nodes);
void node_files_close(struct node_files *nodes);

/* A stream of them. Files that cannot be read are noted, the first time, and passed over. */
iw_digest_stream node_files_stream(struct node_files *nodes);

#endif
