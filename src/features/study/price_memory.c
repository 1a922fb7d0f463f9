/* What the engines keep of a cell.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/study/price_memory.h"

#include <idlewave/sim.h>

#include "core/noise/stream.h"
#include "core/program/program.h"
#include "core/program/trace_program.h"
#include "core/sim/choose.h"
#include "core/sim/flow/flow_state.h"

enum {
    SCHEDULE_BYTES = 200, /* of a stored operation: both engines keep less */
    TRACED_BYTES = 100    /* of an operation of a trace: as stored, and as steps while these are made */
};

uint32_t iwi_price_lanes(const iw_program *program, uint64_t trials)
{
    iw_sim_opts opts = IW_SIM_OPTS_INIT;

    opts.trials = trials;
    return iwi_choose_lanes(program, IW_ENGINE_FLOW, &opts);
}

uint64_t iwi_price_bytes(const iw_program *program, const iw_noise *noise, uint64_t trials)
{
    const uint64_t state = iwi_rank_bytes(program, noise, IWI_KEPT_FOR_ENDS) * program->ranks;
    uint64_t stored = 0;

    if (program->schedule != NULL) {
        stored = SCHEDULE_BYTES * program->schedule->first_node[program->ranks];
    } else if (program->trace != NULL) {
        stored = TRACED_BYTES * program->trace->schedule->first_node[program->trace->base];
    }
    return state * iwi_price_lanes(program, trials) + stored + trials * 4 * sizeof(double);
}
