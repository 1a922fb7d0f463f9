/* Ranks that meet, noted by the plugin for NCCL, read back: who came last, and how long the others waited.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <idlewave/waits.h>

#include "features/explain/arrivals/visits.h"
#include "nccl/interface.h"
#include "support/support.h"

enum { RANKS = 4, ROUNDS = 40, LATE_US = 3000 };
#define LATE_PS ((iw_time)LATE_US * IW_PS_PER_US)

static const struct iwi_nccl_profiler_v5 *plugin;
static pthread_barrier_t meeting;
static _Atomic uint32_t arrivals; /* in all rounds */

static uint64_t now_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now); /* the GPU's timer: no wall clock */
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static uint32_t late_rank(uint32_t round)
{
    return round % 4 == 3 ? 0 : 2; /* rank 2 as a rule, rank 0 sometimes */
}

/* One rank: comes to each collective, waits there for the others, goes. */
static void *run_rank(void *arg)
{
    const uint32_t rank = *(const uint32_t *)arg;
    void *context = NULL, *coll, *kernel;
    union iwi_nccl_state_args args;
    int mask;

    (void)plugin->init(&context, 0x77, &mask, "world", 1, RANKS, (int)rank, NULL);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        struct iwi_nccl_event_v5 event = {.type = IWI_NCCL_COLL};

        (void)pthread_barrier_wait(&meeting);
        if (rank == late_rank(i)) {
            while (arrivals < i * RANKS + RANKS - 1) {
                (void)sched_yield();
            }
            (void)nanosleep(&(struct timespec){.tv_nsec = LATE_US * 1000L}, NULL);
        }
        event.coll.func = i % 2 == 0 ? "AllReduce" : "ReduceScatter";
        event.coll.datatype = "ncclFloat32";
        event.coll.count = 1024;
        event.coll.channels = 1;
        (void)plugin->start_event(context, &coll, &event);
        (void)plugin->stop_event(coll);
        event = (struct iwi_nccl_event_v5){.type = IWI_NCCL_KERNEL_CH, .parent = coll};
        event.kernel.gpu_ns = now_ns();
        (void)plugin->start_event(context, &kernel, &event);
        arrivals++;
        (void)pthread_barrier_wait(&meeting);
        args.gpu_ns = now_ns();
        (void)plugin->record_state(kernel, IWI_NCCL_KERNEL_CH_STOP, &args);
        (void)plugin->stop_event(kernel);
    }
    (void)pthread_barrier_wait(&meeting);
    (void)plugin->finalize(context);
    return NULL;
}

static void run_job(void)
{
    pthread_t threads[RANKS];
    uint32_t ranks[RANKS];

    assert_int_equal(pthread_barrier_init(&meeting, NULL, RANKS), 0);
    for (uint32_t i = 0; i < RANKS; i++) {
        ranks[i] = i;
        assert_int_equal(pthread_create(&threads[i], NULL, run_rank, &ranks[i]), 0);
    }
    for (uint32_t i = 0; i < RANKS; i++) {
        (void)pthread_join(threads[i], NULL);
    }
    (void)pthread_barrier_destroy(&meeting);
}

/* Rank 2, the only one that is late as a rule. */
static void assert_named(struct iwt_log *l, const iw_visits *visits)
{
    const iw_waits_opts opts = IW_WAITS_OPTS_INIT;
    iw_waits *waits = NULL;

    assert_ok(iw_waits_run(&l->log, "job", visits, &opts, &waits));
    assert_int_equal(waits->named, 1);
    assert_int_equal(waits->ranks[0].rank, 2);
    iw_waits_free(waits);
}

/* Of a busy machine some rounds may be otherwise. */
static void the_late_rank_is_last(void **state)
{
    char folder[] = "/tmp/iw_nccl_XXXXXX", command[64];
    const char *const paths[] = {folder};
    iw_visits *visits = NULL;
    unsigned lasts[RANKS] = {0}, waited = 0;
    struct iwt_log l;

    (void)state;
    iwt_log_init(&l);
    assert_non_null(mkdtemp(folder));
    (void)setenv("IDLEWAVE_NCCL_DIR", folder, 1);
    run_job();
    assert_ok(iw_visits_open(&l.log, paths, 1, &visits));
    assert_int_equal(visits->rank_count, RANKS);
    assert_int_equal(visits->encounter_count, ROUNDS);
    for (size_t i = 0; i < visits->encounter_count; i++) {
        const struct iwi_encounter *encounter = &visits->encounters[i];
        const struct iwi_visit *last = &visits->visits[encounter->last];
        const struct iwi_visit *other = &visits->visits[encounter->first + 1]; /* rank 1 is never late */

        assert_int_equal(encounter->count, RANKS);
        lasts[visits->ranks[last->rank].number]++;
        waited += last->enter_ps - other->enter_ps >= LATE_PS / 2;
    }
    assert_in_range(lasts[2], ROUNDS * 3 / 4 - ROUNDS / 10, ROUNDS);
    assert_in_range(lasts[0], ROUNDS / 4 - ROUNDS / 10, ROUNDS);
    assert_in_range(waited, ROUNDS * 9 / 10, ROUNDS);
    assert_named(&l, visits);
    iw_visits_free(visits);
    (void)snprintf(command, sizeof command, "rm -rf %s", folder);
    assert_int_equal(system(command), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_late_rank_is_last)};
    void *library = dlopen(IWT_NCCL_PLUGIN, RTLD_NOW | RTLD_LOCAL);

    plugin = library != NULL ? dlsym(library, "ncclProfiler_v5") : NULL;
    return plugin != NULL ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
}
