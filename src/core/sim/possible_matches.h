/* Which sends and receives of a schedule can meet: sorted by destination, then looked up by (source, tag) in
 * a table as small as what one rank receives.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_POSSIBLE_MATCHES_H
#define IWI_POSSIBLE_MATCHES_H

#include "core/program/program.h"

#define IWI_NO_MEETING UINT64_MAX

struct iwi_inbound {
    uint64_t send; /* global node */
    uint32_t source, tag;
};

/* All messages of one source and tag to the rank at hand. The fields from `send` on are the caller's: they
 * begin with IWI_NO_MEETING, 0 and false. */
struct iwi_meeting {
    uint32_t source, tag, stamp;
    uint64_t send, recv, last_recv;
    uint32_t number;
    bool has_several;
};

struct iwi_meetings {
    const iw_log *log;
    const struct iwi_schedule *schedule;
    struct iwi_inbound *inbound; /* by destination, then by source and program order */
    uint64_t *first_inbound;     /* ranks + 1 */
    struct iwi_meeting *table;   /* open addressing; those of the rank at hand have its stamp */
    size_t capacity, mask;
    uint32_t stamp;
};

/* Of a schedule without wildcards. */
IW_NODISCARD iw_status iwi_meetings_init(const iw_log *log, const struct iwi_schedule *schedule,
                                         struct iwi_meetings *meetings);
void iwi_meetings_release(struct iwi_meetings *meetings);

/* The rank comes to hand. */
IW_NODISCARD iw_status iwi_meetings_at(struct iwi_meetings *meetings, uint32_t rank);

struct iwi_meeting *iwi_meeting_of(struct iwi_meetings *meetings, uint32_t source, uint32_t tag);

#endif
