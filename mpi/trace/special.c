/* The calls that start and stop MPI, and with it the tracer.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/status.h>
#include <mpi.h>

#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "calls.h" /* generated: IWI_CALL_MPI_Init, ... */
#include "mpi/trace/comms.h"
#include "mpi/trace/fortran.h"
#include "mpi/trace/guard.h"
#include "mpi/trace/tracer.h"
#include "mpi/trace/unify.h"

static uint64_t iwi_before_init(void)
{
    iwi_guard_mpi();
    return iwi_wall_ns();
}

static void iwi_after_init(int code, uint64_t enter_ns, unsigned call)
{
    int provided = MPI_THREAD_SINGLE;

    if (code == MPI_SUCCESS && !iwi_tracer.is_foreign) {
        (void)PMPI_Query_thread(&provided);
        iwi_tracer_start(true, provided == MPI_THREAD_MULTIPLE, enter_ns, call);
    }
}

/* Where MPI_Init was not seen, some processes may have stepped aside alone. */
static bool is_traced_everywhere(void)
{
    if (iwi_tracer.has_own_comm) {
        return iwi_tracer.state == IWI_TRACER_RUNNING;
    }
    return iwi_all_true(MPI_COMM_WORLD, iwi_tracer.state == IWI_TRACER_RUNNING);
}

static void iwi_before_finalize(unsigned call)
{
    if (iwi_tracer.state == IWI_TRACER_DONE || iwi_tracer.is_foreign) {
        return;
    }
    struct iwi_thread *thread = iwi_enter(call);
    if (!is_traced_everywhere()) {
        return;
    }
    if (thread != NULL) {
        iwi_write_enter(thread);
    }
    (void)PMPI_Barrier(iwi_tracer.comm);
    iwi_tracer_finish();
    if (iwi_tracer.has_own_comm) {
        (void)PMPI_Comm_free(&iwi_tracer.comm);
    }
    (void)PMPI_Group_free(&iwi_tracer.world);
}

/* MPICH's launcher ends as soon as it hears of the abort: what was said just before is lost if its proxy has not
 * passed it on yet. */
static void iwi_before_abort(unsigned call)
{
    static const struct timespec a_while = {.tv_nsec = 100000000};
    struct iwi_thread *thread = iwi_enter(call);

    if (thread != NULL) {
        iwi_write_enter(thread);
        iwi_tell_how_to_finish("the program aborts");
        (void)nanosleep(&a_while, NULL);
    }
}

static void iwi_pcontrol(int level)
{
    if (level == 0 || level == 1) {
        iwi_tracer_switch(level == 1);
    }
}

IW_API int MPI_Init(int *argc, char ***argv)
{
    uint64_t enter_ns = iwi_before_init();
    int code = PMPI_Init(argc, argv);

    iwi_after_init(code, enter_ns, IWI_CALL_MPI_Init);
    return code;
}

IW_API int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    uint64_t enter_ns = iwi_before_init();
    int code = PMPI_Init_thread(argc, argv, required, provided);

    iwi_after_init(code, enter_ns, IWI_CALL_MPI_Init_thread);
    return code;
}

IW_API int MPI_Finalize(void)
{
    iwi_before_finalize(IWI_CALL_MPI_Finalize);
    return PMPI_Finalize();
}

IW_API int MPI_Abort(MPI_Comm comm, int code)
{
    iwi_before_abort(IWI_CALL_MPI_Abort);
    return PMPI_Abort(comm, code);
}

IW_API int MPI_Pcontrol(const int level, ...)
{
    iwi_pcontrol(level);
    return MPI_SUCCESS;
}

/* Fortran's names of the calls that start and stop MPI, as far as they do not come through the C functions. */

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
