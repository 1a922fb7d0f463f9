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

/* Whether another user was there first, in a folder such as /tmp, to own or to read what we write. */
bool iwi_output_is_planted(const struct stat *folder, const struct stat *there);

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

/* ---- folders, and files that grow in them (output_folder.c) ---- */

enum iwi_folder_use {
    IWI_FOLDER_THERE, /* not made */
    IWI_FOLDER_MADE,  /* if it is not there */
    IWI_FOLDER_MADE_WITH_PARENTS,
    IWI_FOLDER_NEW /* must not be there */
};

/* Opens a folder to write into, for openat() and the like, by the rules for a file's place; also refused is
 * a folder of another user in one where everyone may write. IW_ERR_IO; errno is then its cause. */
IW_NODISCARD iw_status iwi_folder_open(const iw_log *log, const char *path, enum iwi_folder_use use,
                                       int *folder_p);

/* The same for who goes by its path. */
IW_NODISCARD iw_status iwi_folder_ensure(const iw_log *log, const char *path, enum iwi_folder_use use);

/* Removes the regular files for which `is_own` is true. Gives errno. */
typedef bool (*iwi_is_own_fn)(const char *name, const void *arg);
int iwi_folder_clean(int folder, iwi_is_own_fn is_own, const void *arg);

/* Opens a file that is written in place, or makes it: a regular one, and no link. `flags`: O_RDWR and the
 * like, no O_TRUNC. IW_ERR_IO. */
IW_NODISCARD iw_status iwi_open_growing(const iw_log *log, const char *path, int flags, int *fd_p);

/* The same of a folder that is open; `path` is for messages. */
IW_NODISCARD iw_status iwi_open_growing_at(const iw_log *log, int folder, const char *name, const char *path,
                                           int flags, int *fd_p);

#endif
