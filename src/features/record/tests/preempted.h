/* A thread that spins on one CPU, and a process that takes it away again and again: something to attribute.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWT_PREEMPTED_H
#define IWT_PREEMPTED_H

#include <grp.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "features/record/attribution/attribution.h"
#include "support/support.h"

enum { BURNS = 50, BURN_NS = 1000000, PAUSE_NS = 3000000, TRIES = 3 };

#define BURNER_NAME "iw-burner"

/* The first CPU that this process may use. */
static inline uint32_t some_cpu(void)
{
    cpu_set_t mine;
    uint32_t cpu = 0;

    assert_int_equal(sched_getaffinity(0, sizeof mine, &mine), 0);
    while (!CPU_ISSET(cpu, &mine)) {
        cpu++;
    }
    return cpu;
}

static inline void pin_to(uint32_t cpu)
{
    cpu_set_t one;

    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    (void)sched_setaffinity(0, sizeof one, &one);
}

static inline void pause_ns(long ns)
{
    const struct timespec pause = {.tv_nsec = ns};

    (void)clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
}

/* ---- the thread ---- */

enum { MOST_GAPS = 4096 };

/* Two readings of the clock that are far from each other. */
struct gap {
    uint64_t start, end;
};

struct spinner {
    pthread_t thread;
    bool is_started;
    uint32_t cpu;
    const struct iwi_clock *clock;
    _Atomic pid_t tid;
    _Atomic int phase; /* 0: spins; 1: counts its switches and gaps; 2: ends */
    int64_t forced_switches;
    size_t gap_count;
    struct gap gaps[MOST_GAPS];
};

static inline int64_t forced_switches_now(void)
{
    struct rusage usage;

    return getrusage(RUSAGE_THREAD, &usage) == 0 ? usage.ru_nivcsw : 0;
}

static inline void *spin(void *arg)
{
    struct spinner *spinner = arg;
    const uint64_t least = iwi_clock_ticks(spinner->clock, BURN_NS / 2);
    uint64_t last;
    int64_t before;

    pin_to(spinner->cpu);
    atomic_store(&spinner->tid, gettid());
    while (atomic_load(&spinner->phase) == 0) {
    }
    before = forced_switches_now();
    last = iwi_clock_now(spinner->clock);
    while (atomic_load(&spinner->phase) == 1) {
        const uint64_t now = iwi_clock_now(spinner->clock);

        if (now - last > least && spinner->gap_count < MOST_GAPS) {
            spinner->gaps[spinner->gap_count++] = (struct gap){last, now};
        }
        last = now;
    }
    spinner->forced_switches = forced_switches_now() - before;
    return NULL;
}

/* A test that fails leaves its stack frame: *spinner must outlive that, and be stopped by a teardown. */
static inline bool spinner_start(struct spinner *spinner, uint32_t cpu, const struct iwi_clock *clock)
{
    *spinner = (struct spinner){.cpu = cpu, .clock = clock};
    if (pthread_create(&spinner->thread, NULL, spin, spinner) != 0) {
        return false;
    }
    spinner->is_started = true;
    while (atomic_load(&spinner->tid) == 0) {
        pause_ns(PAUSE_NS);
    }
    return true;
}

static inline void spinner_stop(struct spinner *spinner)
{
    if (spinner->is_started) {
        atomic_store(&spinner->phase, 2);
        (void)pthread_join(spinner->thread, NULL);
        spinner->is_started = false;
    }
}

/* ---- the process ---- */

static inline int64_t burnt_ns(void)
{
    struct timespec used;

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return (int64_t)used.tv_sec * 1000000000 + used.tv_nsec;
}

/* Returns when it has burnt all. */
static inline bool run_burner(uint32_t cpu)
{
    const pid_t child = fork();

    if (child == 0) {
        (void)prctl(PR_SET_NAME, BURNER_NAME);
        pin_to(cpu);
        for (int i = 0; i < BURNS; i++) {
            const int64_t end_ns = burnt_ns() + BURN_NS;

            while (burnt_ns() < end_ns) {
            }
            pause_ns(PAUSE_NS);
        }
        _exit(0);
    }
    return child > 0 && waitpid(child, NULL, 0) == child;
}

/* ---- others ---- */

/* Switches a thread of this CPU out and in again so many times, and soon. */
static inline void *answer(void *arg)
{
    const int *pipes = arg;
    char byte;

    while (read(pipes[0], &byte, 1) == 1 && write(pipes[3], &byte, 1) == 1) {
    }
    return NULL;
}

static inline void switch_often(uint32_t cpu, int times)
{
    int pipes[4];
    pthread_t thread;
    cpu_set_t before;
    char byte = 'x';

    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    assert_int_equal(pipe(pipes), 0);
    assert_int_equal(pipe(pipes + 2), 0);
    pin_to(cpu); /* the thread inherits it */
    assert_int_equal(pthread_create(&thread, NULL, answer, pipes), 0);
    for (int i = 0; i < times; i++) {
        assert_int_equal(write(pipes[1], &byte, 1), 1);
        assert_int_equal(read(pipes[2], &byte, 1), 1);
    }
    (void)close(pipes[1]);
    (void)pthread_join(thread, NULL);
    (void)close(pipes[0]);
    (void)close(pipes[2]);
    (void)close(pipes[3]);
    assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
}

enum { NOBODY = 65534 };

static inline void skip_unless_root(void)
{
    if (geteuid() != 0) {
        print_message("only root can do this\n");
        skip();
    }
}

/* Runs `body` in a child of its own, as nobody if wanted; what it writes into *found is seen here. It must
 * not assert. */
static inline void in_child(void (*body)(void *found), bool is_nobody, void *found, size_t size)
{
    void *shared = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t child;
    int end;

    assert_true(shared != MAP_FAILED);
    child = fork();
    if (child == 0) {
        if (is_nobody && (setgroups(0, NULL) != 0 || setgid(NOBODY) != 0 || setuid(NOBODY) != 0)) {
            _exit(1);
        }
        body(shared);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &end, 0), child);
    assert_int_equal(end, 0);
    memcpy(found, shared, size);
    (void)munmap(shared, size);
}

/* ---- a method on one thread ---- */

struct method_bench {
    struct iwi_clock clock;
    struct iwi_watched watched;
    struct iwi_shares shares;
    struct iwi_method method;
};

static inline bool method_bench_init(struct method_bench *bench, uint32_t cpu, pid_t tid)
{
    *bench = (struct method_bench){.watched = {.cpu = cpu, .tid = tid}};
    iwi_clock_open("", &bench->clock);
    bench->method = (struct iwi_method){
        .root = "", .clock = &bench->clock, .watched = &bench->watched, .count = 1, .shares = &bench->shares};
    return iw_recording_new(NULL, 1, &bench->method.recording) == IW_OK;
}

static inline void method_bench_release(struct method_bench *bench)
{
    iw_recording_free(bench->method.recording);
    free(bench->shares.array);
    *bench = (struct method_bench){.shares = {.array = NULL}};
}

/* Of a share; that of a time of which nothing is known is class unknown. */
static inline const iw_source *source_of(const struct method_bench *bench, const struct iwi_share *share)
{
    static const iw_source unknown = {.kind = IW_CLASS_UNKNOWN};

    return share->source != IWI_NO_SOURCE ? &bench->method.recording->sources[share->source] : &unknown;
}

/* How many shares, and how long all together; of the source of that name. */
static inline size_t shares_of(const struct method_bench *bench, const char *name, double *ms_p)
{
    size_t count = 0;

    *ms_p = 0.0;
    for (size_t i = 0; i < bench->shares.count; i++) {
        const struct iwi_share *share = &bench->shares.array[i];
        const iw_source *source = source_of(bench, share);

        if (source->kind == IW_CLASS_THREAD && strcmp(source->name, name) == 0) {
            count++;
            *ms_p += iwi_clock_ns(&bench->clock, (double)share->ticks) / 1e6;
        }
    }
    return count;
}

/* The thread's gaps. Those without a share of some length are the host's, which no kernel here can explain.
 */
struct gap_sums {
    size_t with_share;
    size_t explained; /* of those: shares cover most of it and nothing beyond */
    double ms;        /* of all */
};

static inline struct gap_sums sum_of_gaps(const struct method_bench *bench, const struct spinner *spinner)
{
    const uint64_t least = iwi_clock_ticks(&bench->clock, BURN_NS / 4);
    struct gap_sums sums = {0};

    for (size_t i = 0; i < spinner->gap_count; i++) {
        const struct gap *gap = &spinner->gaps[i];
        uint64_t ticks = 0;
        bool has_share = false;

        for (size_t k = 0; k < bench->shares.count; k++) {
            const struct iwi_share *share = &bench->shares.array[k];

            if (share->at >= gap->start && share->at <= gap->end) {
                ticks += share->ticks;
                has_share = has_share || share->ticks >= least;
            }
        }
        sums.ms += iwi_clock_ns(&bench->clock, (double)(gap->end - gap->start)) / 1e6;
        sums.with_share += has_share;
        sums.explained +=
            has_share && ticks <= gap->end - gap->start && 10 * ticks >= 8 * (gap->end - gap->start);
    }
    return sums;
}

/* Whether what was found of the burner fits what it did; where the host takes the CPU, too, a burn is longer.
 */
static inline bool is_burner(size_t shares, double ms, const struct gap_sums *gaps)
{
    const double burnt_ms = BURNS * BURN_NS / 1e6;

    print_message("%zu shares of %s, %.1f ms of %.1f in gaps, %.1f burnt; %zu of %zu gaps explained\n",
                  shares, BURNER_NAME, ms, gaps->ms, burnt_ms, gaps->explained, gaps->with_share);
    return shares >= BURNS * 95 / 100 && ms > 0.5 * burnt_ms &&
           ms < 2.0 * (gaps->ms > burnt_ms ? gaps->ms : burnt_ms) && 2 * gaps->explained >= gaps->with_share;
}

#endif
