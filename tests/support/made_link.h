/* A link between threads that stand for processes: what is sent is kept in memory until it is received.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWT_MADE_LINK_H
#define IWT_MADE_LINK_H

#include <idlewave/internal/link.h>

#include <pthread.h>

struct iwt_message;

/* All messages under way, in the order of sending. */
struct iwt_post_office {
    pthread_mutex_t lock;
    struct iwt_message *first, **last_p;
};

struct iwt_end {
    struct iwt_post_office *office;
    uint32_t rank;
};

/* Where it stands, it stays. */
void iwt_open_office(struct iwt_post_office *office);

/* What process `rank` of so many sends and receives with, by way of `end`. */
iw_link iwt_link(struct iwt_post_office *office, struct iwt_end *end, uint32_t rank, uint32_t processes);

#endif
