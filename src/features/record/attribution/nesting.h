/* What runs on one CPU, from entries, exits and switches: a stack of interrupts above a thread.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_NESTING_H
#define IWI_NESTING_H

#include "features/record/attribution/rung.h"

enum { IWI_NESTING_DEPTH = 16 };

struct iwi_nesting {
    struct iwi_rung_state *rung;
    size_t place;
    uint64_t since; /* the top of the stack runs since this tick */
    size_t depth;
    uint32_t stack[IWI_NESTING_DEPTH + 1]; /* [0]: the thread */
};

/* The measuring thread runs, as far as known. */
void iwi_nesting_begin(struct iwi_nesting *nesting, struct iwi_rung_state *rung, size_t place);

/* An interrupt begins; what it interrupted goes on after it. */
IW_NODISCARD iw_status iwi_nesting_enter(struct iwi_nesting *nesting, uint64_t at, uint32_t source);

/* The interrupt that began last ends; an exit without an entry changes nothing. */
IW_NODISCARD iw_status iwi_nesting_leave(struct iwi_nesting *nesting, uint64_t at);

/* Another thread runs from now on; IWI_NO_SOURCE: the measuring one. Interrupts have ended. */
IW_NODISCARD iw_status iwi_nesting_switch(struct iwi_nesting *nesting, uint64_t at, uint32_t source);

/* Events before `at` were lost: nothing is known since the last one. */
IW_NODISCARD iw_status iwi_nesting_reset(struct iwi_nesting *nesting, uint64_t at);

#endif
