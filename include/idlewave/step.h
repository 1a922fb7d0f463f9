/* idlewave/step.h - what a rank does with its time, step after step.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A step is a compute phase and everything after it until the next one begins. What comes before a rank's
 * first compute phase, if it takes any time, is a step without computation.
 */
#ifndef IW_STEP_H
#define IW_STEP_H

#include <idlewave/time.h>

#ifdef __cplusplus
extern "C" {
#endif

/** In the order in which a step is drawn: only the sums are exact, the order within a step is a convention.
 */
typedef enum iw_state {
    IW_STATE_DELAY,   /* injected */
    IW_STATE_COMPUTE, /* the compute phase without the two others */
    IW_STATE_NOISE,   /* detours and per-phase noise, in the phase and in the CPU time of messages */
    IW_STATE_COMM,    /* CPU time of messages and reductions; of a trace: calls that only start something */
    IW_STATE_WAIT,    /* the rest: blocked until a message, a partner or the NIC is there */
    IW_STATES
} iw_state;

/** "delay", "compute", "noise", "comm", "wait". */
IW_API const char *iw_state_name(iw_state state);

typedef struct iw_step {
    iw_time begin_ps;
    iw_time state_ps[IW_STATES]; /* none is negative; the next step of the rank begins at begin + their sum */
} iw_step;

static inline iw_time iw_step_end(const iw_step *step)
{
    iw_time end_ps = step->begin_ps;

    for (int state = 0; state < IW_STATES; state++) {
        end_ps += step->state_ps[state];
    }
    return end_ps;
}

/** Gets every step: those of one rank in their order, ranks in any order; from one thread at a time. */
typedef struct iw_step_sink {
    void (*step)(void *arg, uint32_t rank, const iw_step *step); /* NULL: nobody wants them */
    void *arg;
} iw_step_sink;

#ifdef __cplusplus
}
#endif
#endif
