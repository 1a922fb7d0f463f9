/* Messages that nobody receives: counted, and the first of them named.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_UNRECEIVED_H
#define IWI_UNRECEIVED_H

#include "core/program/program.h"

enum { IWI_UNRECEIVED_NAMED = 3 };

/* Sends that no receive takes. */
struct iwi_unreceived {
    uint64_t count; /* may be multiplied: replicas of ranks send the same */
    uint32_t named;
    uint64_t first[IWI_UNRECEIVED_NAMED]; /* global node numbers, ascending */
};

/* In any order: the lowest are kept, so that all engines name the same. */
void iwi_unreceived_add(struct iwi_unreceived *unreceived, uint64_t node);

/* "2 messages are sent but never received: rank 0 op 2 (8 B to rank 1, tag 7), ..."; says nothing of none.
 * The schedule is the one whose nodes were added. */
void iwi_warn_unreceived(const iw_log *log, const struct iwi_schedule *schedule,
                         const struct iwi_unreceived *unreceived);

#endif
