/* A small question to whatif: a barrier program of any size.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWT_MADE_QUESTION_H
#define IWT_MADE_QUESTION_H

#include <idlewave/whatif.h>

#include "support/made_set.h"

struct iwt_question {
    uint32_t ranks;
    uint64_t steps;
    iw_time compute_ps;
    bool is_fixed;       /* the maker cannot change ranks or work */
    uint32_t most_ranks; /* nor make more than these */
};

iw_program_maker iwt_maker(struct iwt_question *question);

/* 16 ranks (at most 4096), 10 steps of 1 ms; 6 trials, 4 redraws; nothing wanted. `question` is used while
 * the options are.
 */
iw_whatif_opts iwt_options(struct iwt_question *question);

iw_whatif *iwt_ask(const iw_noise_set *set, const iw_whatif_opts *opts);

/* NULL if there is none of that name. */
const iw_change *iwt_change(const iw_whatif *whatif, const char *name);

#endif
