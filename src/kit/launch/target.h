/* The program that is to run: where it is, and which MPI it needs.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_TARGET_H
#define IWI_TARGET_H

#include "core/base/base.h"

enum { IWI_LIBRARY_NAME_SIZE = 256 };

struct iwi_target_mpi {
    const char *name;                    /* "openmpi", "mpich"; NULL: none is seen, or one of another make */
    char library[IWI_LIBRARY_NAME_SIZE]; /* the MPI itself, "libmpi.so.40"; "": only a library beside it is
                                            seen */
    bool is_other;                       /* library is of an MPI that idlewave does not know */
};

/* The path that would be run for `program`, looked up in PATH. IW_ERR_IO. */
IW_NODISCARD iw_status iwi_target_path(const iw_log *log, const char *program, char *path, size_t size);

/* What the file at `path` needs. */
IW_NODISCARD iw_status iwi_target_mpi_of(const iw_log *log, const char *path, struct iwi_target_mpi *mpi_p);

#endif
