/* The nodes that paths hold, as digests, one after the other.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IW_CLI_NOISE_NODES_H
#define IW_CLI_NOISE_NODES_H

#include <idlewave/idlewave.h>

#include "features/fleet/verb/noise_share.h"
#include "process/progress.h"

/* A file that could not be read, or not to its end. */
struct unread_file {
    char *path, *reason;
};

struct noise_nodes {
    iw_folder *folder;
    struct progress *progress; /* or NULL */
    size_t file;               /* the next */
    iw_digest_file *open;      /* the one before it, or NULL */
    bool is_again;             /* all have been read once */
    bool is_by_host;           /* recordings go by the node that they name, not by their files */
    struct noise_share share;  /* of them that are read */
    size_t unread_count;
    struct unread_file *unread;
};

/* `path`: a noise file, a file of digests, or a folder of such files. */
iw_status noise_nodes_open(const iw_log *log, const char *path, struct progress *progress,
                           struct noise_nodes *nodes);
/* The same for all processes of a run; each has a share of the digests. `mpi_run` may be NULL. */
iw_status noise_nodes_open_share(const iw_log *log, const char *path, struct progress *progress,
                                 struct mpi_run *mpi_run, struct noise_nodes *nodes);
void noise_nodes_close(struct noise_nodes *nodes);

/* A stream of them. Files that cannot be read are noted, the first time, and passed over. */
iw_digest_stream noise_nodes_stream(struct noise_nodes *nodes);

#endif
