/* Collectives whose messages are stored: what each rank sends to whom, as a trace has it.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Neighbour collectives, and v-forms whose sizes differ. A list is for the traced ranks; replicas
 * each have their own copy of it.
 */
#ifndef IWI_MESSAGE_LIST_H
#define IWI_MESSAGE_LIST_H

#include <idlewave/log.h>

#include "core/program/program.h"

/* Rank r sends sends[first_send[r]] to sends[first_send[r + 1] - 1], and receives likewise. Around a ring,
 * the one send of a rank is its block of the data. */
struct iwi_message_list {
    uint32_t ranks, fan;
    uint64_t *first_send, *first_recv; /* ranks + 1 */
    struct iwi_msg *sends, *recvs;
    uint64_t largest_bytes;
};

/* All messages posted at once, in one round. */
extern const struct iwi_algorithm iwi_messages_linear;
/* Each rank's block goes around: P - 1 rounds. */
extern const struct iwi_algorithm iwi_messages_ring;

/* With room for so many sends of each rank: `counts` has one for each. */
IW_NODISCARD iw_status iwi_message_list_new(const iw_log *log, uint32_t ranks, const uint32_t *counts,
                                            struct iwi_message_list **list_p);
/* Once the sends are filled in: finds the receives. */
IW_NODISCARD iw_status iwi_message_list_finish(const iw_log *log, struct iwi_message_list *list);
void iwi_message_list_free(struct iwi_message_list *list);

#endif
