/* Measures what one core and all cores of a NUMA node move.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <idlewave/internal/memory_bench.h>

#include "core/base/available.h"
#include "core/base/base.h"
#include "core/base/monotonic.h"
#include "features/bench/memory_measure.h"
#include "kit/machine/sysinfo.h"

/* ======== the domain ======== */

/* The NUMA node of a CPU; NULL where hwloc knows none. */
static hwloc_obj_t node_of(const struct iwi_cpus *cpus, uint32_t cpu)
{
    hwloc_obj_t node = NULL;

    while ((node = hwloc_get_next_obj_by_type(cpus->topology, HWLOC_OBJ_NUMANODE, node)) != NULL) {
        if (hwloc_bitmap_isset(node->cpuset, cpu)) {
            return node;
        }
    }
    return NULL;
}

static hwloc_obj_t core_of(const struct iwi_cpus *cpus, uint32_t cpu)
{
    hwloc_obj_t unit = hwloc_get_pu_obj_by_os_index(cpus->topology, cpu);
    hwloc_obj_t core = hwloc_get_ancestor_obj_by_type(cpus->topology, HWLOC_OBJ_CORE, unit);

    return core != NULL ? core : unit;
}

/* Of the CPUs those of the first one's NUMA node, one of each core. */
static void keep_cores_of_one_node(struct iwi_cpus *cpus)
{
    hwloc_obj_t node = node_of(cpus, cpus->numbers[0]);
    size_t kept = 0;

    for (size_t i = 0; i < cpus->count; i++) {
        bool is_new = node_of(cpus, cpus->numbers[i]) == node;

        for (size_t k = 0; k < kept; k++) {
            is_new = is_new && core_of(cpus, cpus->numbers[k]) != core_of(cpus, cpus->numbers[i]);
        }
        if (is_new) {
            cpus->numbers[kept++] = cpus->numbers[i];
        }
    }
    cpus->count = kept;
}

static iw_status check_one_node(const iw_log *log, const struct iwi_cpus *cpus)
{
    hwloc_obj_t node = node_of(cpus, cpus->numbers[0]);

    for (size_t i = 1; i < cpus->count; i++) {
        if (node_of(cpus, cpus->numbers[i]) != node) {
            return iwi_fail(log, IW_ERR_RANGE,
                            "CPUs %" PRIu32 " and %" PRIu32 " are of different NUMA nodes: give CPUs of one",
                            cpus->numbers[0], cpus->numbers[i]);
        }
    }
    return IW_OK;
}

static uint64_t all_caches(const struct iwi_cpus *cpus)
{
    static const hwloc_obj_type_t types[] = {HWLOC_OBJ_L1CACHE, HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L3CACHE,
                                             HWLOC_OBJ_L4CACHE, HWLOC_OBJ_L5CACHE};
    uint64_t bytes = 0;

    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        hwloc_obj_t cache = NULL;

        while ((cache = hwloc_get_next_obj_by_type(cpus->topology, types[i], cache)) != NULL) {
            bool is_used = false;

            for (size_t k = 0; k < cpus->count; k++) {
                is_used = is_used || hwloc_bitmap_isset(cache->cpuset, cpus->numbers[k]);
            }
            bytes += is_used ? cache->attr->cache.size : 0;
        }
    }
    return bytes;
}

iw_status iwi_memory_domain_find(const iw_log *log, const uint32_t *wanted, size_t count,
                                 struct iwi_memory_domain *domain_p)
{
    struct iwi_memory_domain domain = {.numa_node = 0};
    iw_status status = IW_OK;

    IW_TRY(iwi_cpus_choose(log, wanted, count, &domain.cpus));
    if (wanted != NULL) {
        status = check_one_node(log, &domain.cpus);
    } else {
        keep_cores_of_one_node(&domain.cpus);
    }
    if (status != IW_OK) {
        iwi_cpus_release(&domain.cpus);
        return status;
    }

    hwloc_obj_t node = node_of(&domain.cpus, domain.cpus.numbers[0]);

    domain.numa_node = node != NULL ? node->os_index : 0;
    domain.cache_bytes = all_caches(&domain.cpus);
    for (size_t i = 0; i < domain.cpus.count; i++) {
        iw_cpu_set_add(&domain.set, domain.cpus.numbers[i]);
    }
    *domain_p = domain;
    return IW_OK;
}

void iwi_memory_domain_release(struct iwi_memory_domain *domain)
{
    iwi_cpus_release(&domain->cpus);
}

/* ======== threads ======== */

/* Numbers of each array between two looks at the clock: some 20 us. */
enum { CHUNK = 8192 };

/* From the wake-up until all begin: time for each to be there. */
static const int64_t LEAD_NS = 500000;

/* ---- a thread ---- */

/* Threads share the arrays out anew for each window. The first goes on where it stopped, so what a window
 * reads was last touched a whole round through the arrays ago, by whomever. */
static void move(struct iwi_mover *mover)
{
    const struct iwi_memory_crew *crew = mover->crew;
    const size_t all = crew->chunk_count, active = crew->active;
    const size_t first = crew->cursor + mover->index * all / active;
    const size_t own = (mover->index + 1) * all / active - mover->index * all / active;
    int64_t now_ns = iwi_now_ns();
    double cpu_s, took_s;
    size_t chunks = 0;

    while (now_ns < crew->begin_ns) {
        now_ns = iwi_now_ns();
    }
    cpu_s = iwi_thread_cpu_s();
    do { /* at least one, also of a thread that comes too late */
        const size_t at = (first + chunks % own) % all * CHUNK;

        iwi_triad(crew->a + at, crew->b + at, crew->c + at, CHUNK);
        chunks++;
        now_ns = iwi_now_ns();
    } while (now_ns < crew->end_ns);
    cpu_s = iwi_thread_cpu_s() - cpu_s;
    took_s = (double)(now_ns - crew->begin_ns) * 1e-9;
    mover->chunks = chunks;
    mover->bytes_per_s = (double)chunks * CHUNK * IWI_TRIAD_BYTES / took_s;
    mover->held_share = fmin(cpu_s / took_s, 1.0);
}

/* The first to write a page gets it from its own NUMA node. */
static void write_first(const struct iwi_mover *mover)
{
    const struct iwi_memory_crew *crew = mover->crew;
    const size_t first = mover->index * crew->chunk_count / crew->count * CHUNK;
    const size_t end = (mover->index + 1) * crew->chunk_count / crew->count * CHUNK;

    for (size_t i = first; i < end; i++) {
        crew->a[i] = 0.0;
        crew->b[i] = 1.0;
        crew->c[i] = 2.0;
    }
}

static void do_task(struct iwi_mover *mover)
{
    if (mover->crew->active == 0) {
        write_first(mover);
    } else if (mover->index < mover->crew->active) {
        move(mover);
    }
}

static void *serve(void *arg)
{
    struct iwi_mover *mover = arg;
    struct iwi_memory_crew *crew = mover->crew;
    uint64_t turn = 0;

    mover->error = iwi_cpus_pin(crew->cpus, crew->cpus->numbers[mover->index]);
    (void)pthread_mutex_lock(&crew->lock);
    for (;;) {
        while (crew->turn == turn && !crew->is_over) {
            (void)pthread_cond_wait(&crew->begins, &crew->lock);
        }
        if (crew->is_over) {
            break;
        }
        turn = crew->turn;
        (void)pthread_mutex_unlock(&crew->lock);
        do_task(mover);
        (void)pthread_mutex_lock(&crew->lock);
        if (--crew->working == 0) {
            (void)pthread_cond_signal(&crew->ends);
        }
    }
    (void)pthread_mutex_unlock(&crew->lock);
    return NULL;
}

/* ---- all of them ---- */

static void take_turn(struct iwi_memory_crew *crew, size_t active, int64_t window_ns)
{
    (void)pthread_mutex_lock(&crew->lock);
    crew->active = active;
    crew->begin_ns = iwi_now_ns() + LEAD_NS;
    crew->end_ns = crew->begin_ns + window_ns;
    crew->working = crew->count;
    crew->turn++;
    (void)pthread_cond_broadcast(&crew->begins);
    while (crew->working > 0) {
        (void)pthread_cond_wait(&crew->ends, &crew->lock);
    }
    (void)pthread_mutex_unlock(&crew->lock);
}

iw_memory_window iwi_memory_crew_move(struct iwi_memory_crew *crew, size_t active, int64_t window_ns)
{
    iw_memory_window window = {.held_share = 1.0};

    take_turn(crew, active, window_ns);
    for (size_t i = 0; i < active; i++) {
        window.bytes_per_s += crew->movers[i].bytes_per_s;
        window.held_share = fmin(window.held_share, crew->movers[i].held_share);
    }
    crew->cursor = (crew->cursor + crew->movers[0].chunks) % crew->chunk_count;
    return window;
}

static double *new_pages(size_t bytes)
{
    void *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return pages != MAP_FAILED ? pages : NULL;
}

static iw_status make_arrays(const iw_log *log, uint64_t array_bytes, struct iwi_memory_crew *crew)
{
    const size_t bytes_of_chunk = CHUNK * sizeof(double);
    const size_t chunks = (size_t)(array_bytes / (3 * bytes_of_chunk));

    crew->chunk_count = chunks > crew->count ? chunks : crew->count;
    crew->a = new_pages(crew->chunk_count * bytes_of_chunk);
    crew->b = new_pages(crew->chunk_count * bytes_of_chunk);
    crew->c = new_pages(crew->chunk_count * bytes_of_chunk);
    return crew->a != NULL && crew->b != NULL && crew->c != NULL
               ? IW_OK
               : iwi_fail(log, IW_ERR_NOMEM, "out of memory for arrays of %" PRIu64 " bytes", array_bytes);
}

/* Signals stay with the caller. */
static iw_status start_threads(const iw_log *log, struct iwi_memory_crew *crew)
{
    sigset_t all, before;
    int error = 0;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    for (size_t i = 0; i < crew->count && error == 0; i++) {
        struct iwi_mover *mover = &crew->movers[i];

        *mover = (struct iwi_mover){.crew = crew, .index = i};
        error = pthread_create(&mover->thread, NULL, serve, mover);
        mover->is_started = error == 0;
    }
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error == 0 ? IW_OK : iwi_fail(log, IW_ERR_IO, "cannot start threads: %s", strerror(error));
}

iw_status iwi_memory_crew_start(const iw_log *log, const struct iwi_cpus *cpus, uint64_t array_bytes,
                                struct iwi_memory_crew *crew)
{
    *crew = (struct iwi_memory_crew){.cpus = cpus};
    (void)pthread_mutex_init(&crew->lock, NULL);
    (void)pthread_cond_init(&crew->begins, NULL);
    (void)pthread_cond_init(&crew->ends, NULL);
    crew->movers = iwi_new_array(log, cpus->count, sizeof *crew->movers);
    if (crew->movers == NULL) {
        return IW_ERR_NOMEM;
    }
    crew->count = cpus->count;
    IW_TRY(make_arrays(log, array_bytes, crew));
    IW_TRY(start_threads(log, crew));
    take_turn(crew, 0, 0);
    for (size_t i = 0; i < crew->count; i++) {
        if (crew->movers[i].error != 0) {
            return iwi_fail(log, IW_ERR_IO, "cannot pin a thread to CPU %" PRIu32 ": %s", cpus->numbers[i],
                            strerror(crew->movers[i].error));
        }
    }
    return IW_OK;
}

void iwi_memory_crew_release(struct iwi_memory_crew *crew)
{
    const size_t bytes = crew->chunk_count * CHUNK * sizeof(double);
    double *const arrays[] = {crew->a, crew->b, crew->c};

    (void)pthread_mutex_lock(&crew->lock);
    crew->is_over = true;
    (void)pthread_cond_broadcast(&crew->begins);
    (void)pthread_mutex_unlock(&crew->lock);
    for (size_t i = 0; i < crew->count; i++) {
        if (crew->movers[i].is_started) {
            (void)pthread_join(crew->movers[i].thread, NULL);
        }
    }
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) {
        if (arrays[i] != NULL) {
            (void)munmap(arrays[i], bytes);
        }
    }
    (void)pthread_cond_destroy(&crew->begins);
    (void)pthread_cond_destroy(&crew->ends);
    (void)pthread_mutex_destroy(&crew->lock);
    free(crew->movers);
}

/* ======== measuring ======== */

static const char root[] = ""; /* this machine's own /proc and /sys */

/* Long against a wake-up, short against the time that another process keeps a CPU once it has it: of a busy
 * machine some windows are left. */
static const int64_t WINDOW_NS = 5000000;

enum { LEAST_ROUNDS = 12, MOST_ROUNDS = 4000, EACH_UP_TO = 8, MOST_KINDS = 40 };

/* STREAM asks for arrays of four times the cache, each. */
static const uint64_t CACHES_OF_ARRAYS = 12, LEAST_CACHES = 3;

static const uint64_t LEAST_ARRAY_BYTES = UINT64_C(192) << 20; /* where no cache is told */

/* ---- choices ---- */

static iw_status choose_array_bytes(const iw_log *log, const iw_memory_plan *plan, uint64_t cache_bytes,
                                    uint64_t *array_bytes_p)
{
    const uint64_t half_bytes = iwi_available_bytes(root) / 2;
    uint64_t bytes = CACHES_OF_ARRAYS * cache_bytes;

    if (plan->array_bytes > 0) {
        *array_bytes_p = plan->array_bytes;
        return plan->array_bytes <= half_bytes
                   ? IW_OK
                   : iwi_fail(log, IW_ERR_NOMEM,
                              "arrays of %" PRIu64 " MiB exceed half of the free memory, %" PRIu64 " MiB",
                              plan->array_bytes >> 20, half_bytes >> 20);
    }
    bytes = bytes > LEAST_ARRAY_BYTES ? bytes : LEAST_ARRAY_BYTES;
    bytes = bytes < half_bytes ? bytes : half_bytes;
    if (bytes < LEAST_CACHES * cache_bytes) {
        return iwi_fail(log, IW_ERR_NOMEM,
                        "half of the free memory, %" PRIu64
                        " MiB, is less than three times the caches of %" PRIu64
                        " MiB, which would hold part of the arrays: free memory, or use fewer CPUs",
                        half_bytes >> 20, cache_bytes >> 20);
    }
    *array_bytes_p = bytes;
    return IW_OK;
}

/* 1 to 8, then 10, 12, 14, 16, 20, 24, ...: four steps an octave; and all. Returns how many. */
static size_t choose_kinds(uint32_t cores, uint32_t cores_of[MOST_KINDS])
{
    size_t count = 0;
    uint32_t step = 1;

    for (uint32_t n = 1; n < cores && count < MOST_KINDS - 1; n += step) {
        cores_of[count++] = n;
        step = n >= EACH_UP_TO && (n & (n - 1)) == 0 ? n / 4 : step;
    }
    cores_of[count++] = cores;
    return count;
}

static size_t choose_rounds(double seconds, size_t kinds)
{
    const double rounds = seconds / ((double)kinds * (double)WINDOW_NS * 1e-9);

    return (size_t)fmax(LEAST_ROUNDS, fmin(MOST_ROUNDS, rounds));
}

/* ---- samples ---- */

static void read_facts(iw_memory_samples *samples)
{
    struct iwi_sysinfo info;

    iwi_sysinfo_read(root, &info);
    snprintf(samples->host, sizeof samples->host, "%.*s", IW_MEMORY_FACT_SIZE - 1, info.host);
    snprintf(samples->cpu_model, sizeof samples->cpu_model, "%.*s", IW_MEMORY_FACT_SIZE - 1, info.cpu_model);
    snprintf(samples->hypervisor, sizeof samples->hypervisor, "%.*s", IW_MEMORY_FACT_SIZE - 1,
             info.hypervisor);
}

static iw_status make_samples(const iw_log *log, const iw_memory_plan *plan,
                              const struct iwi_memory_domain *domain, iw_memory_samples **samples_p)
{
    iw_memory_samples *samples = iwi_new_array(log, 1, sizeof *samples);
    uint32_t cores_of[MOST_KINDS];

    *samples_p = samples;
    if (samples == NULL) {
        return IW_ERR_NOMEM;
    }
    samples->cores = (uint32_t)domain->cpus.count;
    samples->cpus = domain->set;
    samples->numa_node = domain->numa_node;
    samples->cache_bytes = domain->cache_bytes;
    samples->window_s = (double)WINDOW_NS * 1e-9;
    samples->kinds = choose_kinds(samples->cores, cores_of);
    samples->rounds = choose_rounds(plan->seconds, samples->kinds);
    samples->cores_of = iwi_new_array(log, samples->kinds, sizeof *samples->cores_of);
    samples->windows = iwi_new_array(log, samples->rounds * samples->kinds, sizeof *samples->windows);
    if (samples->cores_of == NULL || samples->windows == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < samples->kinds; i++) {
        samples->cores_of[i] = cores_of[i];
    }
    read_facts(samples);
    return choose_array_bytes(log, plan, domain->cache_bytes, &samples->array_bytes);
}

void iw_memory_samples_free(iw_memory_samples *samples)
{
    if (samples != NULL) {
        free(samples->cores_of);
        free(samples->windows);
        free(samples);
    }
}

/* All kinds in turn, round after round: what drifts meets them alike. */
static iw_status measure_rounds(const iw_memory_plan *plan, struct iwi_memory_crew *crew,
                                iw_memory_samples *samples)
{
    (void)iwi_memory_crew_move(crew, samples->cores, WINDOW_NS); /* clocks and pages warm up */
    for (size_t round = 0; round < samples->rounds; round++) {
        const iw_progress_now now = {
            .share = (double)round / (double)samples->rounds, .done = round, .total = samples->rounds};

        if (plan->progress.step != NULL && !plan->progress.step(plan->progress.arg, &now)) {
            return IW_ERR_CANCELLED;
        }
        for (size_t i = 0; i < samples->kinds; i++) {
            samples->windows[round * samples->kinds + i] =
                iwi_memory_crew_move(crew, samples->cores_of[i], WINDOW_NS);
        }
    }
    return IW_OK;
}

static iw_status measure_with_crew(const iw_log *log, const iw_memory_plan *plan,
                                   const struct iwi_memory_domain *domain, iw_memory_samples *samples)
{
    const double begin_s = iwi_now_s();
    struct iwi_memory_crew crew;
    iw_status status = iwi_memory_crew_start(log, &domain->cpus, samples->array_bytes, &crew);

    if (status == IW_OK) {
        status = measure_rounds(plan, &crew, samples);
    }
    iwi_memory_crew_release(&crew);
    samples->seconds = iwi_now_s() - begin_s;
    return status;
}

iw_status iw_memory_measure(const iw_log *log, const iw_memory_plan *plan, iw_memory_samples **samples_p)
{
    struct iwi_memory_domain domain;
    iw_memory_samples *samples = NULL;
    iw_status status;

    IW_TRY(iwi_memory_domain_find(log, plan->cpus, plan->cpu_count, &domain));
    status = make_samples(log, plan, &domain, &samples);
    if (status == IW_OK) {
        status = measure_with_crew(log, plan, &domain, samples);
    }
    iwi_memory_domain_release(&domain);
    if (status != IW_OK) {
        iw_memory_samples_free(samples);
        return status;
    }
    *samples_p = samples;
    return IW_OK;
}
