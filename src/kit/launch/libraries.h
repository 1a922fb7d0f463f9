/* Names of the libraries of MPIs.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_LAUNCH_LIBRARIES_H
#define IWI_LAUNCH_LIBRARIES_H

#include <stdbool.h>

enum iwi_library_role {
    IWI_LIBRARY_NONE,  /* of no MPI */
    IWI_LIBRARY_MPI,   /* the MPI itself */
    IWI_LIBRARY_BESIDE /* comes with it: Fortran, C++ */
};

/* What the library of that name or path is. *mpi_p: "openmpi", "mpich"; NULL: an MPI that is not known, or
 * none. */
enum iwi_library_role iwi_library_role_of(const char *path, const char **mpi_p);

#endif
