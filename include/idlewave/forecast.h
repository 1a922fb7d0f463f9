/* idlewave/forecast.h - what a simulation will take, and how it is best split. Read idlewave/sim.h first.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The model (docs/explanation/scale.md has its numbers): of each trial, every worker pays for its messages
 * and, where the ranks are split, for the values that cross the borders of its block: seconds = batches of
 * the busiest worker x (messages x lanes x seconds a message + exchanges x latency + bytes sent / bandwidth)
 */
#ifndef IW_FORECAST_H
#define IW_FORECAST_H

#include <stdio.h>

#include <idlewave/sim.h>

#ifdef __cplusplus
extern "C" {
#endif

/** One way of splitting the work. */
typedef struct iw_way {
    char refusal[160]; /* why it is not possible; "" if it is */
    uint32_t workers;  /* threads of all processes that have work */
    uint32_t lanes;
    uint64_t batches;             /* of the busiest worker */
    double messages;              /* of one of its batches, each lane */
    double bytes_sent;            /* by it in a batch */
    uint64_t exchanges;           /* with other members in a batch */
    double compute_s, exchange_s; /* of all its batches */
    uint64_t process_bytes;       /* memory of one process, for the state of ranks */
} iw_way;

typedef struct iw_forecast {
    iw_engine engine;
    char engine_note[160];
    uint32_t ranks, processes, nodes, threads; /* threads of one process */
    uint64_t trials, messages;                 /* messages of one trial */
    uint64_t redrawn;  /* of the trials: for the interval of an extrapolation; whoever asks sets it */
    double message_s;  /* of one lane, on one core of this machine */
    double room_bytes; /* memory that one process can have on this machine */
    iw_way trials_split, ranks_split;
    iw_parallel chosen; /* never AUTO */
    char reason[160];   /* of the choice, in words */
} iw_forecast;

/** Nothing is simulated but a sample of some milliseconds, to see how fast this machine is. The other
 * processes of opts->link need not call. As iw_simulate() otherwise. */
IW_API IW_NODISCARD iw_status iw_forecast_make(const iw_log *log, const iw_program *program,
                                               const iw_net *net, const iw_noise *noise,
                                               const iw_sim_opts *opts, iw_forecast *forecast_p);

IW_API IW_NODISCARD iw_status iw_forecast_write_text(const iw_log *log, const iw_forecast *forecast,
                                                     FILE *out);
IW_API IW_NODISCARD iw_status iw_forecast_write_json(const iw_log *log, const iw_forecast *forecast,
                                                     FILE *out);

#ifdef __cplusplus
}
#endif
#endif
