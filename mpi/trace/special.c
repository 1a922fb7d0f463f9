/* The calls that start and stop MPI, and with it the tracer.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "mpi/trace/special.h"

#include <idlewave/status.h>

#include <time.h>

#include "mpi/trace/comms.h"
#include "mpi/trace/guard.h"
#include "mpi/trace/tracer.h"
#include "mpi/trace/unify.h"

uint64_t iwi_before_init(void)
{
    iwi_guard_mpi();
    return iwi_wall_ns();
}

void iwi_after_init(int code, uint64_t enter_ns, unsigned call)
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

void iwi_before_finalize(unsigned call)
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
void iwi_before_abort(unsigned call)
{
    static const struct timespec a_while = {.tv_nsec = 100000000};
    struct iwi_thread *thread = iwi_enter(call);

    if (thread != NULL) {
        iwi_write_enter(thread);
        iwi_tell_how_to_finish("the program aborts");
        (void)nanosleep(&a_while, NULL);
    }
}

void iwi_pcontrol(int level)
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
