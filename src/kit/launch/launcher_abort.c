/* Tells the launcher to end all processes, before MPI is started.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Open MPI's launcher does so by itself when a process ends with an error. MPICH's, and srun --mpi=pmi2,
 * would let the others wait in MPI_Init; they are told by PMI-1, as MPI_Abort does: lines of "cmd=..."
 * through a socket whose number is in PMI_FD.
 */
#include <idlewave/internal/mpi.h>

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum { MOST_WAIT_MS = 2000 };

static bool tell(int file, const char *line)
{
    const size_t size = strlen(line);

    return send(file, line, size, MSG_NOSIGNAL) == (ssize_t)size;
}

/* Slurm hears nothing before it has been greeted. */
static bool is_greeted(int file)
{
    struct pollfd answer = {file, POLLIN, 0};
    char text[128];

    return tell(file, "cmd=init pmi_version=1 pmi_subversion=1\n") && poll(&answer, 1, MOST_WAIT_MS) == 1 &&
           recv(file, text, sizeof text, 0) > 0;
}

/* Until the launcher is gone. It would take the end of a process whose socket closes before for a failure of
 * its own, beside the one that it is told: MPICH's proxy kills the others at once, and its mpirun prints "BAD
 * TERMINATION" or ends by SIGPIPE if it hears of that before it has ended with our code. */
static void await_end(int file)
{
    struct pollfd end = {file, 0, 0}; /* POLLHUP needs not be asked for */

    (void)poll(&end, 1, MOST_WAIT_MS);
}

void iw_launcher_abort(int code)
{
    const char *number = getenv("PMI_FD"); // NOLINT(concurrency-mt-unsafe): read only
    char line[64], *end = NULL;
    long file;

    if (number == NULL) {
        return;
    }
    file = strtol(number, &end, 10);
    if (end == number || *end != '\0' || file < 0 || file > 1 << 20 || !is_greeted((int)file)) {
        return;
    }
    (void)snprintf(line, sizeof line, "cmd=abort exitcode=%d\n", code);
    if (tell((int)file, line)) {
        await_end((int)file);
    }
}
