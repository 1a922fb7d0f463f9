/* What an MPI's part offers to the command: starting and ending MPI, what is measured with it, and the
 * link between processes.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/internal/mpi.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <mpi.h>

#include "core/base/base.h"
#include "kit/launch/launcher.h"
#include "mpi/plugin.h"

/* SINGLE, as most programs have it: with FUNNELED, Open MPI takes locks that add 100 ns to a message. */
static iw_status start(const iw_log *log, uint32_t *rank_p, uint32_t *size_p)
{
    int rank, size, provided, is_started;

    if (MPI_Initialized(&is_started) != MPI_SUCCESS ||
        (!is_started && MPI_Init_thread(NULL, NULL, MPI_THREAD_SINGLE, &provided) != MPI_SUCCESS) ||
        MPI_Comm_rank(MPI_COMM_WORLD, &rank) != MPI_SUCCESS ||
        MPI_Comm_size(MPI_COMM_WORLD, &size) != MPI_SUCCESS) {
        return iwi_fail(log, IW_ERR_IO, "MPI (%s) could not start", IW_MPI_NAME);
    }
    IW_TRY(iwi_launcher_check_size(log, IW_MPI_NAME, (uint32_t)size));
    *rank_p = (uint32_t)rank;
    *size_p = (uint32_t)size;
    return IW_OK;
}

static bool is_running(void)
{
    int is_started, is_ended;

    return MPI_Initialized(&is_started) == MPI_SUCCESS && is_started &&
           MPI_Finalized(&is_ended) == MPI_SUCCESS && !is_ended;
}

/* MPICH 4.0 over UCX with nothing but TCP never comes back from MPI_Finalize on more than a few ranks: those that
 * are through wait for the launcher and answer nobody any more. Where all that is so, ranks tell the launcher
 * themselves that they end (PMI-1), and leave MPI as it is. */
static bool leave_launcher(void)
{
    static const char bye[] = "cmd=finalize\n";
    const char *transports, *launcher;
    char answer[64];
    int file;

    if (strcmp(IW_MPI_NAME, "mpich") != 0) {
        return false;
    }
    transports = getenv("UCX_TLS");
    launcher = getenv("PMI_FD");
    if (launcher == NULL || transports == NULL || strcmp(transports, "tcp,self") != 0) {
        return false;
    }
    file = (int)strtol(launcher, NULL, 10);
    PMPI_Barrier(MPI_COMM_WORLD);
    return write(file, bye, sizeof bye - 1) == (ssize_t)(sizeof bye - 1) && read(file, answer, sizeof answer) > 0;
}

static void stop(void)
{
    if (is_running()) {
        iwi_mpi_link_close();
        if (!leave_launcher()) {
            (void)MPI_Finalize();
        }
    }
}

static void end_all(int code)
{
    if (is_running()) {
        (void)MPI_Abort(MPI_COMM_WORLD, code);
    }
    _Exit(code);
}

extern const iw_mpi_plugin iw_mpi_this_plugin;
IW_API const iw_mpi_plugin iw_mpi_this_plugin = {
    .version = IW_MPI_PLUGIN_VERSION,
    .mpi = IW_MPI_NAME,
    .start = start,
    .stop = stop,
    .net_measure = iwi_net_measure,
    .bench_measure = iwi_bench_measure,
    .link_open = iwi_mpi_link_open,
    .abort = end_all,
};
