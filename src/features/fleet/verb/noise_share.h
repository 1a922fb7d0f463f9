/* The digests of one process of many: a share of the bytes of all files.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Shares follow each other in the order of files. A digest is read by the process in whose share it begins,
 * so a share that begins within a file begins with the first digest found there; where the process before
 * has ended tells whether that was one (noise_share_settle).
 */
#ifndef IW_CLI_NOISE_SHARE_H
#define IW_CLI_NOISE_SHARE_H

#include <idlewave/idlewave.h>

#include "process/mpi_run.h"

/* A byte of a file. */
struct file_place {
    uint64_t file, at;
};

/* Where the digests of a file that goes on in the next share end. */
struct file_end {
    uint64_t at;         /* the next one's begin there; NOISE_NOWHERE: there are no more */
    uint64_t has_failed; /* damaged: what follows is not read */
};
#define NOISE_NOWHERE UINT64_MAX

/* All zero is all files. */
struct noise_share {
    struct mpi_run *mpi_run;      /* NULL: this process is alone */
    struct file_place begin, end; /* at 0: with the first byte of the file, before it */
    uint64_t began_at;            /* where it began in begin.file, if not with its first byte */
    struct file_end ended;        /* its own, of end.file */
    bool is_settled;
    uint64_t begins_at;     /* then: where it has to begin */
    struct file_end before; /* of begin.file */
};

/* The first process has listed files, or failed to (`status`); all get the list, and each its share. */
iw_status noise_share_deal(struct mpi_run *mpi_run, iw_status status, iw_folder **folder_p,
                           struct noise_share *share);

/* Files before this one are to be read. */
size_t noise_share_file_end(const struct noise_share *share);

/* Whether the share has the first byte of a file from its first one on. */
bool noise_share_has_begin(const struct noise_share *share, size_t file);

/* A file of digests is open (NULL: it cannot be opened); whether the share ends before its next one; it is
 * read so far, or damaged. */
void noise_share_begin_file(struct noise_share *share, size_t file, iw_digest_file *open);
bool noise_share_is_over(const struct noise_share *share, size_t file, const iw_digest_file *open);
void noise_share_end_file(struct noise_share *share, size_t file, const iw_digest_file *open, bool is_whole);

/* When all has been read: whether it has to be read again, since the share begins elsewhere. Collective. */
iw_status noise_share_settle(const iw_log *log, struct noise_share *share, bool *is_other_p);

#endif
