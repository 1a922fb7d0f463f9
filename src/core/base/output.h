/* The one way to write a file: beside its name first, so that the name never stands for half of it.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_OUTPUT_H
#define IWI_OUTPUT_H

#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>

#include <idlewave/output.h>

#include "core/base/base.h"

enum { IWI_OUTPUT_NAME_SIZE = 32 };

/* Where a path leads: a name in an open folder, all links followed that may be. */
struct iwi_output_place {
    int folder; /* for openat() and the like */
    char name[NAME_MAX + 1];
    bool is_there;
    bool is_open_file; /* the name stands for an open file of a process: /dev/stdout */
    struct stat there, in;
};

/* Finds it and checks that it may be written. IW_ERR_IO; *error_p is then its errno. */
IW_NODISCARD iw_status iwi_output_place_find(const iw_log *log, const char *path,
                                             struct iwi_output_place *place, int *error_p);
void iwi_output_place_release(struct iwi_output_place *place);

struct iwi_output {
    const iw_log *log;
    char *path; /* as it was given, for messages */
    struct iwi_output_place place;
    char temporary[NAME_MAX + 1]; /* in the place's folder; "": it has its name, or is written straight */
    int fd;
    uint64_t written; /* bytes */
    int error;        /* errno of the first failure */
};

enum iwi_output_kind {
    IWI_OUTPUT_ANY,    /* also devices, pipes and open files */
    IWI_OUTPUT_REGULAR /* for libraries that go back and forth in it */
};

/* Makes an empty file under a temporary name, or opens what is written straight. IW_ERR_IO, IW_ERR_NOMEM;
 * after that only output->error means something. */
IW_NODISCARD iw_status iwi_output_open(const iw_log *log, const char *path, enum iwi_output_kind kind,
                                       struct iwi_output *output);

/* Standard output, where it stands. */
IW_NODISCARD iw_status iwi_output_open_stdout(const iw_log *log, struct iwi_output *output);

/* Appends. IW_ERR_IO; the first failure is logged, and later calls do nothing. */
IW_NODISCARD iw_status iwi_output_write(struct iwi_output *output, const void *bytes, size_t count);

/* Brings the file to its place, with the old one's mode, after its data have reached the disk. It stays open,
 * for writers that go on. IW_ERR_IO. */
IW_NODISCARD iw_status iwi_output_commit(struct iwi_output *output);

/* Closes it; removes what was not committed. */
void iwi_output_release(struct iwi_output *output);

/* A whole file at once. */
IW_NODISCARD iw_status iwi_write_bytes(const iw_log *log, const char *path, const void *bytes, size_t count);

/* An error if something could not be written to `out` ("cannot write the result: No space left on device").
 */
IW_NODISCARD iw_status iwi_check_written(const iw_log *log, FILE *out, const char *what);

/* ---- for libraries that write themselves ---- */

/* A name under which the open file, and no other, can be opened again; false: there is no /proc. */
bool iwi_output_reopen_name(const struct iwi_output *output, char name[IWI_OUTPUT_NAME_SIZE]);

/* Makes sure that the file can grow by so many bytes, for writers that do not survive a full disk; where the
 * file system cannot tell, nothing is done. IW_ERR_IO. */
IW_NODISCARD iw_status iwi_output_reserve(struct iwi_output *output, uint64_t bytes);

/* Gives back what was reserved and not used. */
void iwi_output_unreserve(const struct iwi_output *output);

/* ---- files that grow ---- */

/* Opens a file that is written in place, or makes it: a regular one, and no link. `flags`: O_RDWR and the
 * like. IW_ERR_IO. */
IW_NODISCARD iw_status iwi_open_growing(const iw_log *log, const char *path, int flags, int *fd_p);

#endif
