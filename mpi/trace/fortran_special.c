/* Fortran's names of the calls that start and stop MPI, as far as they do not come through the C functions.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/status.h>

#include <stddef.h>

#include <mpi.h>

#include "mpi/trace/fortran.h"
#include "mpi/trace/special.h"

typedef void init_function(MPI_Fint *ierr);
typedef void init_thread_function(MPI_Fint *required, MPI_Fint *provided, MPI_Fint *ierr);
typedef void abort_function(MPI_Fint *comm, MPI_Fint *code, MPI_Fint *ierr);

static void init(const char *symbol, MPI_Fint *ierr)
{
    MPI_Fint own = 0;
    uint64_t enter_ns = iwi_before_init();

    ierr = ierr != NULL ? ierr : &own;
    ((init_function *)iwi_f_next(symbol))(ierr);
    iwi_after_init(*ierr, enter_ns, IWI_CALL_MPI_Init);
}

static void init_thread(const char *symbol, MPI_Fint *required, MPI_Fint *provided, MPI_Fint *ierr)
{
    MPI_Fint own = 0;
    uint64_t enter_ns = iwi_before_init();

    ierr = ierr != NULL ? ierr : &own;
    ((init_thread_function *)iwi_f_next(symbol))(required, provided, ierr);
    iwi_after_init(*ierr, enter_ns, IWI_CALL_MPI_Init_thread);
}

static void finalize(const char *symbol, MPI_Fint *ierr)
{
    MPI_Fint own = 0;

    iwi_before_finalize(IWI_CALL_MPI_Finalize);
    ((init_function *)iwi_f_next(symbol))(ierr != NULL ? ierr : &own);
}

static void abort_all(const char *symbol, MPI_Fint *comm, MPI_Fint *code, MPI_Fint *ierr)
{
    MPI_Fint own = 0;

    iwi_before_abort(IWI_CALL_MPI_Abort);
    ((abort_function *)iwi_f_next(symbol))(comm, code, ierr != NULL ? ierr : &own);
}

#define SPELLINGS(name, NAME, parameters)                              \
    IW_API void name parameters __attribute__((alias(#name "_")));     \
    IW_API void name##__ parameters __attribute__((alias(#name "_"))); \
    IW_API void NAME parameters __attribute__((alias(#name "_")))

#define DEFINE(symbol, parameters, call) \
    IW_API void symbol parameters;       \
    IW_API void symbol parameters        \
    {                                    \
        call;                            \
    }

DEFINE(mpi_init_f08_, (MPI_Fint * ierr), init("mpi_init_f08_", ierr))
DEFINE(mpi_init_thread_f08_, (MPI_Fint * required, MPI_Fint *provided, MPI_Fint *ierr),
       init_thread("mpi_init_thread_f08_", required, provided, ierr))
DEFINE(mpi_finalize_f08_, (MPI_Fint * ierr), finalize("mpi_finalize_f08_", ierr))
DEFINE(mpi_abort_f08_, (MPI_Fint * comm, MPI_Fint *code, MPI_Fint *ierr),
       abort_all("mpi_abort_f08_", comm, code, ierr))
DEFINE(mpi_pcontrol_f08_, (const MPI_Fint *level), iwi_pcontrol(*level))

#ifdef OPEN_MPI
DEFINE(mpi_init_, (MPI_Fint * ierr), init("mpi_init_", ierr))
SPELLINGS(mpi_init, MPI_INIT, (MPI_Fint * ierr));
DEFINE(mpi_init_thread_, (MPI_Fint * required, MPI_Fint *provided, MPI_Fint *ierr),
       init_thread("mpi_init_thread_", required, provided, ierr))
SPELLINGS(mpi_init_thread, MPI_INIT_THREAD, (MPI_Fint * required, MPI_Fint *provided, MPI_Fint *ierr));
DEFINE(mpi_finalize_, (MPI_Fint * ierr), finalize("mpi_finalize_", ierr))
SPELLINGS(mpi_finalize, MPI_FINALIZE, (MPI_Fint * ierr));
DEFINE(mpi_abort_, (MPI_Fint * comm, MPI_Fint *code, MPI_Fint *ierr),
       abort_all("mpi_abort_", comm, code, ierr))
SPELLINGS(mpi_abort, MPI_ABORT, (MPI_Fint * comm, MPI_Fint *code, MPI_Fint *ierr));
DEFINE(mpi_pcontrol_, (const MPI_Fint *level), iwi_pcontrol(*level))
SPELLINGS(mpi_pcontrol, MPI_PCONTROL, (const MPI_Fint *level));
#endif
