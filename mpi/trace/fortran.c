/* Fortran symbols are looked up when first needed: programs in C have no Fortran library of their MPI.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "mpi/trace/fortran.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mpi.h>

/* dlsym() gives a void pointer; ISO C has no conversion to a function. */
static iwi_any_function *as_function(void *address)
{
    iwi_any_function *function;

    memcpy(&function, &address, sizeof function);
    return function;
}

iwi_any_function *iwi_f_next(const char *symbol)
{
    char profiled[128];

    (void)snprintf(profiled, sizeof profiled, "p%s", symbol);
    void *address = dlsym(RTLD_DEFAULT, profiled);
    if (address == NULL) {
        address = dlsym(RTLD_NEXT, symbol);
    }
    if (address == NULL) {
        /* The program called what its MPI does not have: without us it could not have been linked. */
        fprintf(stderr, "idlewave: '%s' is not in this MPI's Fortran library\n", symbol);
        abort();
    }
    return as_function(address);
}

#ifdef OPEN_MPI
int iwi_f_first_index(void)
{
    return 1;
}
#else
typedef void waitany_function(MPI_Fint *count, MPI_Fint *requests, MPI_Fint *index, void *status,
                              MPI_Fint *ierr);

/* Asks it for a request that is complete. */
int iwi_f_first_index(void)
{
    static _Atomic int known = -1;

    if (known < 0) {
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Status status;
        MPI_Fint count = 1;
        MPI_Fint index = 1;
        MPI_Fint ierr = 0;
        (void)PMPI_Irecv(NULL, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_SELF, &request);
        MPI_Fint handle = MPI_Request_c2f(request);
        ((waitany_function *)iwi_f_next("mpi_waitany_f08_"))(&count, &handle, &index, &status, &ierr);
        known = index == 0 ? 0 : 1;
    }
    return known;
}
#endif

/* Fortran's constants are variables; MPIs spell them as their Fortran compiler does. */
struct special_addresses {
    const void *in_place[4];
    const void *ignored[10];
    bool is_known;
};

static void find(const char *const *names, size_t count, const void **addresses)
{
    for (size_t i = 0; i < count; i++) {
        addresses[i] = dlsym(RTLD_DEFAULT, names[i]);
    }
}

static const struct special_addresses *special(void)
{
    static const char *const IN_PLACE[] = {"mpi_fortran_in_place", "mpi_fortran_in_place_",
                                           "mpi_fortran_in_place__", "MPI_FORTRAN_IN_PLACE"};
    static const char *const IGNORED[] = {
        "mpi_fortran_status_ignore",       "mpi_fortran_status_ignore_",  "mpi_fortran_status_ignore__",
        "MPI_FORTRAN_STATUS_IGNORE",       "mpi_fortran_statuses_ignore", "mpi_fortran_statuses_ignore_",
        "mpi_fortran_statuses_ignore__",   "MPI_FORTRAN_STATUSES_IGNORE", "MPIR_F08_MPI_STATUS_IGNORE_OBJ",
        "MPIR_F08_MPI_STATUSES_IGNORE_OBJ"};
    static struct special_addresses known;

    if (!__atomic_load_n(&known.is_known, __ATOMIC_ACQUIRE)) {
        find(IN_PLACE, sizeof IN_PLACE / sizeof *IN_PLACE, known.in_place);
        find(IGNORED, sizeof IGNORED / sizeof *IGNORED, known.ignored);
        __atomic_store_n(&known.is_known, true, __ATOMIC_RELEASE);
    }
    return &known;
}

bool iwi_f_is_in_place(const void *buffer)
{
    const struct special_addresses *addresses = special();

    for (size_t i = 0; i < sizeof addresses->in_place / sizeof *addresses->in_place; i++) {
        if (buffer != NULL && buffer == addresses->in_place[i]) {
            return true;
        }
    }
    return false;
}

bool iwi_f_is_ignored(const void *status)
{
    const struct special_addresses *addresses = special();

    if (status == NULL || status == MPI_F_STATUS_IGNORE || status == MPI_F_STATUSES_IGNORE) {
        return true;
    }
    for (size_t i = 0; i < sizeof addresses->ignored / sizeof *addresses->ignored; i++) {
        if (status == addresses->ignored[i]) {
            return true;
        }
    }
    return false;
}
