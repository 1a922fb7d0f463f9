/* Sends and receives that can meet, rank by rank.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/sim/meetings.h"

#include <stdlib.h>

#include "core/base/base.h"

/* How many sends have destinations up to each rank. */
static uint64_t count_inbound(struct iwi_meetings *m)
{
    const struct iwi_schedule *schedule = m->schedule;
    const uint64_t nodes = schedule->first_node[schedule->ranks];
    uint64_t sends = 0;

    for (uint64_t node = 0; node < nodes; node++) {
        if (schedule->nodes[node].kind == IWI_SEND) {
            m->first_inbound[schedule->nodes[node].peer]++;
        }
    }
    for (uint32_t rank = 0; rank < schedule->ranks; rank++) {
        sends += m->first_inbound[rank];
        m->first_inbound[rank] = sends;
    }
    m->first_inbound[schedule->ranks] = sends;
    return sends;
}

/* From the last to the first, so that ends move down to starts. */
static void list_inbound(struct iwi_meetings *m)
{
    const struct iwi_schedule *schedule = m->schedule;

    for (uint32_t rank = schedule->ranks; rank-- > 0;) {
        for (uint64_t node = schedule->first_node[rank + 1]; node-- > schedule->first_node[rank];) {
            if (schedule->nodes[node].kind == IWI_SEND) {
                m->inbound[--m->first_inbound[schedule->nodes[node].peer]] =
                    (struct iwi_inbound){node, rank, schedule->nodes[node].tag};
            }
        }
    }
}

iw_status iwi_meetings_init(const iw_log *log, const struct iwi_schedule *schedule,
                            struct iwi_meetings *meetings)
{
    *meetings = (struct iwi_meetings){.log = log, .schedule = schedule};
    meetings->first_inbound = iwi_new_array(log, (size_t)schedule->ranks + 1, sizeof(uint64_t));
    if (meetings->first_inbound == NULL) {
        return IW_ERR_NOMEM;
    }
    meetings->inbound = iwi_new_array(log, (size_t)count_inbound(meetings), sizeof *meetings->inbound);
    if (meetings->inbound == NULL) {
        iwi_meetings_release(meetings);
        return IW_ERR_NOMEM;
    }
    list_inbound(meetings);
    return IW_OK;
}

void iwi_meetings_release(struct iwi_meetings *meetings)
{
    free(meetings->inbound);
    free(meetings->first_inbound);
    free(meetings->table);
    *meetings = (struct iwi_meetings){.log = NULL};
}

iw_status iwi_meetings_at(struct iwi_meetings *m, uint32_t rank)
{
    const uint64_t most = m->first_inbound[rank + 1] - m->first_inbound[rank] +
                          m->schedule->first_node[rank + 1] - m->schedule->first_node[rank];
    size_t size = 8;

    while (size < 2 * most) {
        size *= 2;
    }
    if (size > m->capacity) {
        free(m->table);
        m->table = iwi_new_array(m->log, size, sizeof *m->table);
        m->capacity = m->table == NULL ? 0 : size;
        if (m->table == NULL) {
            return IW_ERR_NOMEM;
        }
    }
    m->mask = size - 1;
    m->stamp = rank + 1; /* a new table has 0 */
    return IW_OK;
}

struct iwi_meeting *iwi_meeting_of(struct iwi_meetings *m, uint32_t source, uint32_t tag)
{
    const uint64_t key = (uint64_t)source << 32 | tag;
    size_t at = (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 32) & m->mask;

    while (m->table[at].stamp == m->stamp && (m->table[at].source != source || m->table[at].tag != tag)) {
        at = (at + 1) & m->mask;
    }
    if (m->table[at].stamp != m->stamp) {
        m->table[at] = (struct iwi_meeting){.source = source,
                                            .tag = tag,
                                            .stamp = m->stamp,
                                            .send = IWI_NO_MEETING,
                                            .recv = IWI_NO_MEETING,
                                            .last_recv = IWI_NO_MEETING};
    }
    return &m->table[at];
}
