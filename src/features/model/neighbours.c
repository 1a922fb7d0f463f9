/* Phases without a barrier: ranks on a line that wait for their neighbours, under exponential noise.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/model.h>

#include "features/model/law.h"

static iw_model_chain chain_of(double growth, double noise_ns, const iw_model_question *question)
{
    return (iw_model_chain){.growth = growth,
                            .phase_ns = question->work_ns + question->latency_ns + growth * noise_ns,
                            .decay_ns_per_rank = (growth - 1.0) * noise_ns};
}

bool iw_model_chains(const iw_law *law, const iw_model_question *question, iw_model_chain chains[2])
{
    if (law->ops != &iwi_law_exp && law->ops != &iwi_law_phase_exp) {
        return false;
    }
    chains[0] = chain_of(IW_GROWTH_ONE_WAY, law->u.exp.mean_ns, question);
    chains[1] = chain_of(IW_GROWTH_BOTH_WAYS, law->u.exp.mean_ns, question);
    return true;
}
