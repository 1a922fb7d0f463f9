/* Which numbers of cores, which arrays, how many windows: from a plan to samples.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <idlewave/internal/memory_bench.h>

#include "core/base/available.h"
#include "core/base/base.h"
#include "core/base/monotonic.h"
#include "features/bench/memory_crew.h"
#include "features/bench/memory_domain.h"
#include "kit/machine/sysinfo.h"

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
                              "arrays of %" PRIu64 " MiB are more than half of the free memory, %" PRIu64
                              " MiB",
                              plan->array_bytes >> 20, half_bytes >> 20);
    }
    bytes = bytes > LEAST_ARRAY_BYTES ? bytes : LEAST_ARRAY_BYTES;
    bytes = bytes < half_bytes ? bytes : half_bytes;
    if (bytes < LEAST_CACHES * cache_bytes) {
        return iwi_fail(log, IW_ERR_NOMEM,
                        "half of the free memory, %" PRIu64
                        " MiB, is less than three times the caches of %" PRIu64
                        " MiB: the arrays would partly stay in these; free memory, or choose fewer CPUs",
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
