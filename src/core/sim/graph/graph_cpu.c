/* CPUs of the ranks of a graph, and the noise that they meet.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/sim/graph/graph_cpu.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"

iw_status iwi_graph_cpus_init(const iw_log *log, const struct iwi_job *job, struct graph_cpus *cpus)
{
    const size_t ranks = job->schedule->ranks;

    *cpus = (struct graph_cpus){.job = job,
                                .words = job->noise == NULL ? 0 : iwi_noise_words(job->noise),
                                .cores = job->noise == NULL ? 1 : iw_noise_cores_per_rank(job->noise),
                                .more_nics = job->schedule->nic_count - UINT32_C(1)};
    cpus->more_gaps = iwi_new_array(log, ranks * 2 * cpus->more_nics, sizeof *cpus->more_gaps);
    cpus->noise_words = iwi_new_array(log, ranks * cpus->words, sizeof *cpus->noise_words);
    cpus->other_next = iwi_new_array(log, ranks * (cpus->cores - 1), sizeof *cpus->other_next);
    cpus->other_words =
        iwi_new_array(log, ranks * (cpus->cores - 1) * cpus->words, sizeof *cpus->other_words);
    return cpus->more_gaps != NULL && cpus->noise_words != NULL && cpus->other_next != NULL &&
                   cpus->other_words != NULL
               ? IW_OK
               : IW_ERR_NOMEM;
}

void iwi_graph_cpus_release(struct graph_cpus *cpus)
{
    free(cpus->more_gaps);
    free(cpus->noise_words);
    free(cpus->other_next);
    free(cpus->other_words);
}

static struct iwi_cores cores_of(struct graph_cpus *cpus, uint32_t rank, struct graph_cpu *cpu)
{
    const size_t others = (size_t)rank * (cpus->cores - 1);

    return (struct iwi_cores){.noise = cpus->job->noise,
                              .id = {cpus->job->seed, cpus->job->first_trial, rank * cpus->cores},
                              .words = cpus->noise_words + rank * cpus->words,
                              .next = &cpu->next_detour,
                              .other_words = cpus->other_words + others * cpus->words,
                              .other_next = cpus->other_next + others};
}

void iwi_graph_cpu_begin(struct graph_cpus *cpus, uint32_t rank, struct graph_cpu *cpu)
{
    *cpu = (struct graph_cpu){.next_detour = IWI_NEVER};
    if (cpus->more_nics > 0) {
        memset(cpus->more_gaps + (size_t)2 * rank * cpus->more_nics, 0,
               (size_t)2 * cpus->more_nics * sizeof *cpus->more_gaps);
    }
    if (cpus->job->noise != NULL) {
        const struct iwi_cores cores = cores_of(cpus, rank, cpu);

        iwi_cores_begin(&cores);
    }
}

iw_time iwi_graph_finish_hit(struct graph_cpus *cpus, uint32_t rank, struct graph_cpu *cpu, iw_time t,
                             iw_time d)
{
    const struct iwi_cores cores = cores_of(cpus, rank, cpu);
    const iw_time end = t + d > IWI_LATEST
                            ? IWI_LATEST
                            : iwi_finish(cpus->job->noise, cores.id, cores.words, cores.next, t, d, NULL);

    cpus->is_too_late |= end >= IWI_LATEST;
    return end;
}

iw_time iwi_graph_phase(struct graph_cpus *cpus, uint32_t rank, struct graph_cpu *cpu, uint32_t phase,
                        iw_time t, iw_time amount)
{
    const struct iwi_job *job = cpus->job;
    const iw_time delay = job->has_delays ? iwi_program_delay(job->program, rank, phase + UINT64_C(1)) : 0;
    const iw_time work = iwi_job_work(job, rank, amount);
    const struct iwi_cores cores = cores_of(cpus, rank, cpu);
    iw_time extra = 0;

    if (cpus->cores > 1) {
        const iw_time end = iwi_cores_phase(&cores, phase, t, work, delay, NULL);

        cpus->is_too_late |= end >= IWI_LATEST;
        return end;
    }
    if (job->noise != NULL) {
        extra = iwi_noise_phase(job->noise, cores.id, cores.words, cores.next, phase, t, work, NULL);
    }
    return graph_finish(cpus, rank, cpu, t, delay + extra + work);
}
