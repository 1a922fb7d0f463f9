/* Nonblocking operations of a rank that have not been waited for.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_FLOW_REQUESTS_H
#define IWI_FLOW_REQUESTS_H

#include <stdlib.h>

#include "core/base/base.h"
#include "core/base/order.h"

struct iwi_flow_request {
    uint32_t node;   /* of the rank */
    uint32_t number; /* of its message in its channel */
};

/* In program order; those that have been waited for stay until all have. */
struct iwi_flow_requests {
    struct iwi_flow_request *list;
    size_t count, capacity, open;
};

static inline iw_status iwi_flow_requests_add(const iw_log *log, struct iwi_flow_requests *requests,
                                              uint32_t node, uint32_t number)
{
    IW_TRY(iwi_grow(log, (void **)&requests->list, &requests->capacity, requests->count + 1,
                    sizeof *requests->list));
    requests->list[requests->count++] = (struct iwi_flow_request){node, number};
    requests->open++;
    return IW_OK;
}

/* The number of the message of an operation, which is among them. */
static inline uint32_t iwi_flow_request_number(const struct iwi_flow_requests *requests, uint32_t node)
{
    size_t at;

    IWI_FIRST_NOT(at, 0, requests->count - 1, requests->list[at].node < node);
    return requests->list[at].number;
}

static inline void iwi_flow_requests_close(struct iwi_flow_requests *requests)
{
    if (--requests->open == 0) {
        requests->count = 0;
    }
}

#endif
