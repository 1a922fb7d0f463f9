/* bursts - takes a CPU away for known times and writes down when: noise whose truth is known.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Usage: bursts CPU COUNT SHORTEST_US LONGEST_US LEAST_GAP_US MOST_GAP_US SEED NAME LOG
 *
 * COUNT bursts of SHORTEST..LONGEST us, a random LEAST..MOST us between the end of one and the start of the
 * next; where all four leave no choice, the starts are strictly periodic. NAME is what the kernel knows the
 * process by. A line "START_NS END_NS DUE_NS" of CLOCK_MONOTONIC_RAW for each burst goes to LOG at the end;
 * SIGTERM ends early. Runs at real-time priority 50, or says on stderr that it may not. The kernel stops
 * real-time processes that take above 95 % of a CPU: choose gaps far above the bursts' length.
 */
#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>

enum { PRIORITY = 50, NS_PER_US = 1000, NS_PER_S = 1000000000 };

struct plan {
    int cpu;
    size_t count;
    int64_t shortest_ns, longest_ns, least_gap_ns, most_gap_ns;
    uint64_t state; /* of the random numbers */
};

struct burst {
    int64_t start_ns, end_ns;
    int64_t due_ns; /* when the timer should have gone off */
};

static volatile sig_atomic_t is_stopped = 0;

static void stop(int signal_number)
{
    (void)signal_number;
    is_stopped = 1;
}

static int64_t now_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * NS_PER_S + now.tv_nsec;
}

static void sleep_until(int64_t deadline_ns)
{
    struct timespec deadline = {.tv_sec = deadline_ns / NS_PER_S, .tv_nsec = deadline_ns % NS_PER_S};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &deadline, NULL) == EINTR && !is_stopped) {
    }
}

/* xorshift64*: enough to avoid regularity. */
static int64_t between(struct plan *plan, int64_t least, int64_t most)
{
    plan->state ^= plan->state >> 12;
    plan->state ^= plan->state << 25;
    plan->state ^= plan->state >> 27;
    return least +
           (int64_t)((plan->state * UINT64_C(2685821657736338717) >> 1) % (uint64_t)(most - least + 1));
}

/* Functions of their own, for those who look at stacks. */
__attribute__((noinline)) static struct burst burn(int64_t length_ns, int64_t deadline_ns)
{
    struct burst burst;
    burst.start_ns = now_ns(CLOCK_MONOTONIC_RAW);
    burst.due_ns = burst.start_ns - (now_ns(CLOCK_MONOTONIC) - deadline_ns);
    do {
        burst.end_ns = now_ns(CLOCK_MONOTONIC_RAW);
    } while (burst.end_ns - burst.start_ns < length_ns);
    return burst;
}

__attribute__((noinline)) static size_t run_bursts(struct plan *plan, struct burst *bursts)
{
    size_t done = 0;
    int64_t deadline_ns = now_ns(CLOCK_MONOTONIC);
    while (done < plan->count && !is_stopped) {
        int64_t length_ns = between(plan, plan->shortest_ns, plan->longest_ns);
        int64_t gap_ns = between(plan, plan->least_gap_ns, plan->most_gap_ns);
        deadline_ns += gap_ns;
        /* A burst that was held up must not run into the next. */
        int64_t earliest_ns = now_ns(CLOCK_MONOTONIC) + plan->least_gap_ns / 2;
        while (deadline_ns < earliest_ns) {
            deadline_ns += gap_ns + length_ns;
        }
        sleep_until(deadline_ns);
        if (!is_stopped) {
            bursts[done++] = burn(length_ns, deadline_ns);
        }
        deadline_ns += length_ns;
    }
    return done;
}

static void settle(const struct plan *plan, const char *name)
{
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    CPU_SET((size_t)plan->cpu, &cpus);
    if (sched_setaffinity(0, sizeof(cpus), &cpus)) {
        fprintf(stderr, "bursts: CPU %d: %s\n", plan->cpu, strerror(errno));
        exit(EXIT_FAILURE);
    }
    struct sched_param priority = {.sched_priority = PRIORITY};
    if (sched_setscheduler(0, SCHED_FIFO, &priority)) {
        fprintf(stderr, "bursts: no real-time priority: %s\n", strerror(errno));
    }
    prctl(PR_SET_NAME, name);
    prctl(PR_SET_TIMERSLACK, 1UL); /* of processes without real-time priority */
    mlockall(MCL_CURRENT | MCL_FUTURE);
    const struct sigaction action = {.sa_handler = stop};
    sigaction(SIGTERM, &action, NULL);
}

static bool write_log(const struct burst *bursts, size_t count, const char *path)
{
    FILE *log = fopen(path, "w");
    if (!log) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        fprintf(log, "%" PRId64 " %" PRId64 " %" PRId64 "\n", bursts[i].start_ns, bursts[i].end_ns,
                bursts[i].due_ns);
    }
    return !fclose(log);
}

int main(int argc, char **argv)
{
    if (argc != 10) {
        fputs("usage: bursts CPU COUNT SHORTEST_US LONGEST_US LEAST_GAP_US MOST_GAP_US SEED NAME LOG\n",
              stderr);
        return EXIT_FAILURE;
    }
    struct plan plan = {.cpu = atoi(argv[1]),
                        .count = strtoul(argv[2], NULL, 10),
                        .shortest_ns = strtol(argv[3], NULL, 10) * NS_PER_US,
                        .longest_ns = strtol(argv[4], NULL, 10) * NS_PER_US,
                        .least_gap_ns = strtol(argv[5], NULL, 10) * NS_PER_US,
                        .most_gap_ns = strtol(argv[6], NULL, 10) * NS_PER_US,
                        .state = strtoul(argv[7], NULL, 10) + UINT64_C(0x9e3779b97f4a7c15)};
    settle(&plan, argv[8]);
    struct burst *bursts = calloc(plan.count, sizeof(*bursts));
    if (!bursts) {
        return EXIT_FAILURE;
    }
    size_t count = run_bursts(&plan, bursts);
    bool is_written = write_log(bursts, count, argv[9]);
    free(bursts);
    return is_written ? EXIT_SUCCESS : EXIT_FAILURE;
}
