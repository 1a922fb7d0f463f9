/* What the Fortran wrappers need: the functions they stand for, and Fortran's special addresses.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_TRACE_FORTRAN_H
#define IWI_TRACE_FORTRAN_H

#include <stdbool.h>

typedef void iwi_any_function(void);

/* The MPI's own function behind the wrapper of that symbol. */
iwi_any_function *iwi_f_next(const char *symbol);

/* What the first request of an array is called by MPI_Waitany: 1; but 0 by the mpi_f08 of MPICH 4.0. */
int iwi_f_first_index(void);

bool iwi_f_is_in_place(const void *buffer);
bool iwi_f_is_ignored(const void *status);

#endif
