/* Tells an MPI by the names of its libraries. Also compiled into the tracer.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "kit/launch/libraries.h"

#include <stddef.h>
#include <string.h>

/* Of rows that begin alike the longer one comes first. */
static const struct {
    const char *beginning, *mpi;
    enum iwi_library_role role;
} libraries[] = {
    {"libmpi.so.12", "mpich", IWI_LIBRARY_MPI}, /* as MPICH and what shares its binary interface name it */
    {"libmpi.so.", "openmpi", IWI_LIBRARY_MPI},        {"libmpich.so.", "mpich", IWI_LIBRARY_MPI},
    {"libmpichfort.so.", "mpich", IWI_LIBRARY_BESIDE}, {"libmpichcxx.so.", "mpich", IWI_LIBRARY_BESIDE},
    {"libmpifort.so.", "mpich", IWI_LIBRARY_BESIDE},   {"libmpicxx.so.", "mpich", IWI_LIBRARY_BESIDE},
    {"libmpi_cxx.so.", "openmpi", IWI_LIBRARY_BESIDE}, {"libmpi_java.so.", "openmpi", IWI_LIBRARY_BESIDE},
    {"libmpi_mpifh", "openmpi", IWI_LIBRARY_BESIDE},   {"libmpi_usempi", "openmpi", IWI_LIBRARY_BESIDE},
    {"libmpi_abi.so", NULL, IWI_LIBRARY_MPI}, /* MPI 5's common interface */
    {"libmpi_cray.so", NULL, IWI_LIBRARY_MPI},         {"libmpi_gnu", NULL, IWI_LIBRARY_MPI},
    {"libmpi_intel", NULL, IWI_LIBRARY_MPI},
};

enum iwi_library_role iwi_library_role_of(const char *path, const char **mpi_p)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;

    for (size_t i = 0; i < sizeof libraries / sizeof libraries[0]; i++) {
        if (strncmp(name, libraries[i].beginning, strlen(libraries[i].beginning)) == 0) {
            *mpi_p = libraries[i].mpi;
            return libraries[i].role;
        }
    }
    *mpi_p = NULL;
    return IWI_LIBRARY_NONE;
}
