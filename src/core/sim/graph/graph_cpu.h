/* The CPU of a rank and its NICs: when work that begins is done, noise included.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_GRAPH_CPU_H
#define IWI_GRAPH_CPU_H

#include "core/noise/cores.h"
#include "core/sim/engine.h"

/* Of one rank. */
struct graph_cpu {
    iw_time free;               /* from then on */
    iw_time next_detour;        /* as struct iwi_flow has it */
    iw_time send_gap, recv_gap; /* of its first NIC: free from then on */
};

/* What all ranks share, and what few need. */
struct graph_cpus {
    const struct iwi_job *job;
    size_t words; /* of noise state per stream */
    int64_t *noise_words;
    uint32_t cores; /* of a rank: K */
    iw_time *other_next;
    int64_t *other_words;
    uint32_t more_nics;
    iw_time *more_gaps; /* send and receive, of the other NICs of each rank */
    bool is_too_late;
};

/* What there is of it is released on failure too. */
IW_NODISCARD iw_status iwi_graph_cpus_init(const iw_log *log, const struct iwi_job *job,
                                           struct graph_cpus *cpus);
void iwi_graph_cpus_release(struct graph_cpus *cpus);

/* A rank as it is at time 0; it may have run before. */
void iwi_graph_cpu_begin(struct graph_cpus *cpus, uint32_t rank, struct graph_cpu *cpu);

/* The end of a compute phase (0 = first) of the rank that begins at t. */
iw_time iwi_graph_phase(struct graph_cpus *cpus, uint32_t rank, struct graph_cpu *cpu, uint32_t phase,
                        iw_time t, iw_time amount);

/* The end of d of work that begins at t and meets a detour, or is too late. */
iw_time iwi_graph_finish_hit(struct graph_cpus *cpus, uint32_t rank, struct graph_cpu *cpu, iw_time t,
                             iw_time d);

static inline __attribute__((always_inline)) iw_time graph_finish(struct graph_cpus *cpus, uint32_t rank,
                                                                  struct graph_cpu *cpu, iw_time t, iw_time d)
{
    const iw_time end = t + d;

    return end > cpu->next_detour || end >= IWI_LATEST ? iwi_graph_finish_hit(cpus, rank, cpu, t, d) : end;
}

/* The part of a message; `touch` as in struct iwi_cost. */
static inline __attribute__((always_inline)) iw_time graph_finish_message(struct graph_cpus *cpus,
                                                                          uint32_t rank,
                                                                          struct graph_cpu *cpu, iw_time t,
                                                                          iw_time d, iw_time touch)
{
    return graph_finish(cpus, rank, cpu, t, d + touch) - touch;
}

/* The gap for sends, or for receives, of a NIC. */
static inline __attribute__((always_inline)) iw_time *graph_gap(struct graph_cpus *cpus, uint32_t rank,
                                                                struct graph_cpu *cpu, uint8_t nic,
                                                                bool is_recv)
{
    if (nic == 0) {
        return is_recv ? &cpu->recv_gap : &cpu->send_gap;
    }
    return &cpus->more_gaps[2 * ((size_t)rank * cpus->more_nics + nic - 1) + is_recv];
}

#endif
