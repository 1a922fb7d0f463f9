/* Takes every real-time signal for itself: no signal of others may come, and its own must.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include <mpi.h>

static volatile sig_atomic_t own_count, foreign_count;

static void on_signal(int signal, siginfo_t *info, void *context)
{
    (void)signal;
    (void)context;
    if (info->si_code == SI_QUEUE && info->si_value.sival_int == 77) {
        own_count++;
    } else {
        foreign_count++;
    }
}

int main(int argc, char **argv)
{
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};

    MPI_Init(&argc, &argv);
    for (int signal = SIGRTMIN; signal <= SIGRTMAX; signal++) {
        (void)sigaction(signal, &action, NULL);
    }
    (void)sigqueue(getpid(), SIGRTMAX, (union sigval){77});
    for (const double end = MPI_Wtime() + 0.1; MPI_Wtime() < end;) {
    }
    (void)printf("signals: %d foreign, %d own\n", (int)foreign_count, (int)own_count);
    MPI_Finalize();
    return 0;
}
