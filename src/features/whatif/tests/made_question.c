/* A small question to whatif.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "made_question.h"

#include <math.h>
#include <string.h>

#include "support/support.h"

static iw_status make(void *arg, uint32_t ranks, double work, iw_program **program_p)
{
    const struct iwt_question *question = arg;
    iw_pattern pattern = IW_PATTERN_INIT;

    if ((question->is_fixed && (ranks != 0 || work != 1.0)) || ranks > question->most_ranks) {
        return IW_ERR_UNSUPPORTED;
    }
    pattern.ranks = ranks != 0 ? ranks : question->ranks;
    pattern.repeat = question->steps;
    pattern.compute_ps = (iw_time)llround((double)question->compute_ps * work);
    return iw_program_from_pattern(NULL, "barrier:dissemination", &pattern, program_p);
}

static void release(void *arg, iw_program *program)
{
    (void)arg;
    iw_program_free(program);
}

iw_program_maker iwt_maker(struct iwt_question *question)
{
    return (iw_program_maker){make, release, question};
}

iw_whatif_opts iwt_options(struct iwt_question *question)
{
    const iw_sim_opts sim = IW_SIM_OPTS_INIT;
    iw_whatif_opts opts = {.size = sizeof opts,
                           .sim = sim,
                           .net = iw_net_builtin("chic"),
                           .program = iwt_maker(question),
                           .target = -1.0,
                           .redraws = 4};

    *question =
        (struct iwt_question){.ranks = 16, .steps = 10, .compute_ps = IW_PS_PER_MS, .most_ranks = 4096};
    opts.sim.trials = 6;
    return opts;
}

iw_whatif *iwt_ask(const iw_noise_set *set, const iw_whatif_opts *opts)
{
    iw_whatif *whatif = NULL;
    struct iwt_log l;

    iwt_log_init(&l);
    if (iw_whatif_run(&l.log, set, opts, &whatif) != IW_OK) {
        fail_msg("%s", l.text);
    }
    return whatif;
}

const iw_change *iwt_change(const iw_whatif *whatif, const char *name)
{
    for (size_t i = 0; i < whatif->change_count; i++) {
        if (strcmp(whatif->changes[i].name, name) == 0) {
            return &whatif->changes[i];
        }
    }
    return NULL;
}
