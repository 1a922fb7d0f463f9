/* Notes signals that ask the process to end.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "process/interrupt.h"

#include <time.h>

static const int numbers[INTERRUPT_SIGNALS] = {SIGINT, SIGTERM, SIGHUP};
static volatile sig_atomic_t has_come;
static struct timespec first; /* written by the handler only, before has_come */

/* Batch systems and timeout(1) send a signal to the process and to its group: twice at once is once. */
static int is_meant_again(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec - first.tv_sec >= 2 ||
           (now.tv_sec - first.tv_sec) * 1000000000L + (now.tv_nsec - first.tv_nsec) > 500000000L;
}

static void note(int number)
{
    if (!has_come) {
        (void)clock_gettime(CLOCK_MONOTONIC, &first);
        has_come = 1;
    } else if (is_meant_again()) {
        (void)signal(number, SIG_DFL);
        (void)raise(number);
    }
}

void interrupt_catch(struct interrupt *interrupt)
{
    struct sigaction action = {.sa_handler = note, .sa_flags = SA_RESTART};

    (void)sigemptyset(&action.sa_mask);
    for (int i = 0; i < INTERRUPT_SIGNALS; i++) {
        (void)sigaddset(&action.sa_mask, numbers[i]);
    }
    has_come = 0;
    for (int i = 0; i < INTERRUPT_SIGNALS; i++) {
        (void)sigaction(numbers[i], NULL, &interrupt->before[i]);
        if (interrupt->before[i].sa_handler != SIG_IGN) {
            (void)sigaction(numbers[i], &action, NULL);
        }
    }
}

void interrupt_release(const struct interrupt *interrupt)
{
    for (int i = 0; i < INTERRUPT_SIGNALS; i++) {
        (void)sigaction(numbers[i], &interrupt->before[i], NULL);
    }
}

bool interrupt_has_come(void)
{
    return has_come != 0;
}
