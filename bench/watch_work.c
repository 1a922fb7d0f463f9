/* watch_work - does the same work again and again, and says what each block of it took.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Usage: watch_work CPU; reads lines "KERNEL CHUNKS", and answers each with "CPU_NS PLAIN_NS BEYOND_NS
 * LEFT_OUT SUM".
 *
 * KERNEL is a loop, or one of the kernels that HPC Challenge is made of: triad (STREAM), random
 * (RandomAccess), dgemm (HPL). A block is CHUNKS equal pieces of some 30 us. CPU_NS is the CPU time of this
 * thread: the kernel leaves out what the hypervisor took (CONFIG_PARAVIRT_TIME_ACCOUNTING), and keeps what
 * interrupts took. PLAIN_NS is what chunks take that nothing interrupts, each the median of its window of
 * some 2 ms, so that the clock rate is that of the moment. BEYOND_NS is how much longer they took by the wall
 * clock, interrupts and what caches lost by them; LEFT_OUT chunks took so much longer that no interrupt can
 * be the reason. SUM keeps the compiler honest.
 */
#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/chunk_times.h"

enum {
    MOST_CHUNKS = 1 << 20,
    SIDE = 48,
    TRIAD_SIZE = 1 << 20,
    TRIAD_STEP = 1 << 15,
    TABLE_SIZE = 1 << 22,
    UPDATES = 1 << 12
};

static struct {
    double a[TRIAD_SIZE], b[TRIAD_SIZE], c[TRIAD_SIZE];
    uint64_t table[TABLE_SIZE];
    double x[SIDE][SIDE], y[SIDE][SIDE], z[SIDE][SIDE];
    uint64_t state;
    size_t at;
} memory;
static int64_t times[MOST_CHUNKS];

static void do_loop(void)
{
    for (int i = 0; i < 40000; i++) {
        memory.state = memory.state * UINT64_C(6364136223846793005) + 1;
    }
}

static void do_triad(void)
{
    const size_t end = memory.at + TRIAD_STEP;

    for (size_t i = memory.at; i < end; i++) {
        memory.a[i] = memory.b[i] + 3.0 * memory.c[i];
    }
    memory.at = end % TRIAD_SIZE;
}

static void do_random(void)
{
    for (int i = 0; i < UPDATES; i++) {
        memory.state = memory.state * UINT64_C(6364136223846793005) + 1442695040888963407u;
        memory.table[(memory.state >> 33) % TABLE_SIZE] ^= memory.state;
    }
}

static void do_dgemm(void)
{
    for (int i = 0; i < SIDE; i++) {
        for (int k = 0; k < SIDE; k++) {
            for (int j = 0; j < SIDE; j++) {
                memory.z[i][j] += memory.x[i][k] * memory.y[k][j];
            }
        }
    }
}

static const struct kernel {
    const char *name;
    void (*run)(void);
} kernels[] = {{"loop", do_loop}, {"triad", do_triad}, {"random", do_random}, {"dgemm", do_dgemm}};

static void do_block(void (*run)(void), size_t chunks)
{
    const int64_t cpu_ns = chunk_now_ns(CLOCK_THREAD_CPUTIME_ID);
    int64_t last_ns = chunk_now_ns(CLOCK_MONOTONIC_RAW), used_ns;
    struct chunk_sums sums;

    for (size_t i = 0; i < chunks; i++) {
        int64_t done_ns;

        run();
        done_ns = chunk_now_ns(CLOCK_MONOTONIC_RAW);
        times[i] = done_ns - last_ns;
        last_ns = done_ns;
    }
    used_ns = chunk_now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns;
    sums = chunk_sums_of(times, chunks);
    printf("%" PRId64 " %" PRId64 " %" PRId64 " %zu %g\n", used_ns, sums.plain_ns, sums.beyond_ns,
           sums.left_out, (double)memory.state + memory.a[7] + memory.z[3][3] + (double)memory.table[5]);
    fflush(stdout);
}

/* Before ordinary processes, where that is allowed: whoever computes meets interrupts, not the load of
 * others. */
static void settle(int cpu)
{
    const struct sched_param priority = {.sched_priority = 1};
    cpu_set_t cpus;

    CPU_ZERO(&cpus);
    CPU_SET((size_t)cpu, &cpus);
    if (sched_setaffinity(0, sizeof cpus, &cpus) != 0 || sched_setscheduler(0, SCHED_FIFO, &priority) != 0) {
        fprintf(stderr, "watch_work: CPU %d: %s\n", cpu, strerror(errno));
    }
    memset(&memory, 1, sizeof memory);
    memory.at = 0;
}

int main(int argc, char **argv)
{
    char line[64];

    if (argc != 2) {
        fputs("usage: watch_work CPU\n", stderr);
        return EXIT_FAILURE;
    }
    settle((int)strtol(argv[1], NULL, 10));
    while (fgets(line, sizeof line, stdin) != NULL) {
        const size_t length = strcspn(line, " \n"), chunks = strtoul(line + length, NULL, 10);

        for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++) {
            if (strlen(kernels[i].name) == length && strncmp(kernels[i].name, line, length) == 0 &&
                chunks <= MOST_CHUNKS) {
                do_block(kernels[i].run, chunks);
            }
        }
    }
    return EXIT_SUCCESS;
}
