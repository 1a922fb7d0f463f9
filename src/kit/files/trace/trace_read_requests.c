/* Open requests of a rank: found by their identifier, kept in the order in which they were made.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "kit/files/trace/trace_read.h"

#include <stdlib.h>

enum { NONE = UINT32_MAX, FIRST_BUCKETS = 64 };

static uint32_t bucket_of(const struct iwi_open_requests *requests, uint64_t id)
{
    return (uint32_t)((id * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & (requests->bucket_count - 1);
}

struct iwi_request *iwi_open_requests_find(const struct iwi_open_requests *requests, uint64_t id)
{
    uint32_t at;

    if (requests->open == 0) {
        return NULL;
    }
    at = requests->buckets[bucket_of(requests, id)];
    while (at != NONE && requests->nodes[at].id != id) {
        at = requests->nodes[at].chain;
    }
    return at != NONE ? &requests->nodes[at] : NULL;
}

static void link_bucket(struct iwi_open_requests *requests, uint32_t at)
{
    uint32_t *bucket = &requests->buckets[bucket_of(requests, requests->nodes[at].id)];

    requests->nodes[at].chain = *bucket;
    *bucket = at;
}

static iw_status rehash(const iw_log *log, struct iwi_open_requests *requests)
{
    const uint32_t bucket_count = requests->bucket_count == 0 ? FIRST_BUCKETS : requests->bucket_count * 2;
    uint32_t *buckets = iwi_new_array(log, bucket_count, sizeof *buckets);

    if (buckets == NULL) {
        return IW_ERR_NOMEM;
    }
    free(requests->buckets);
    requests->buckets = buckets;
    requests->bucket_count = bucket_count;
    for (uint32_t i = 0; i < bucket_count; i++) {
        buckets[i] = NONE;
    }
    if (requests->open > 0) {
        for (uint32_t at = requests->oldest; at != NONE; at = requests->nodes[at].newer) {
            link_bucket(requests, at);
        }
    }
    return IW_OK;
}

/* A node that is not in use. */
static iw_status take_node(const iw_log *log, struct iwi_open_requests *requests, uint32_t *at_p)
{
    if (requests->count > requests->open) {
        *at_p = requests->unused;
        requests->unused = requests->nodes[requests->unused].chain;
        return IW_OK;
    }
    IW_TRY(iwi_grow(log, (void **)&requests->nodes, &requests->capacity, (size_t)requests->count + 1,
                    sizeof *requests->nodes));
    *at_p = requests->count++;
    return IW_OK;
}

struct iwi_request *iwi_open_requests_add(const iw_log *log, struct iwi_open_requests *requests, uint64_t id)
{
    struct iwi_request *request;
    uint32_t at;

    if ((requests->open >= requests->bucket_count && rehash(log, requests) != IW_OK) ||
        take_node(log, requests, &at) != IW_OK) {
        return NULL;
    }
    request = &requests->nodes[at];
    *request = (struct iwi_request){.id = id,
                                    .number = IWI_REQUEST_NONE,
                                    .older = requests->open > 0 ? requests->newest : NONE,
                                    .newer = NONE};
    if (requests->open > 0) {
        requests->nodes[requests->newest].newer = at;
    } else {
        requests->oldest = at;
    }
    requests->newest = at;
    requests->open++;
    link_bucket(requests, at);
    return request;
}

void iwi_open_requests_remove(struct iwi_open_requests *requests, struct iwi_request *request)
{
    const uint32_t at = (uint32_t)(request - requests->nodes);
    uint32_t *link = &requests->buckets[bucket_of(requests, request->id)];

    while (*link != at) {
        link = &requests->nodes[*link].chain;
    }
    *link = request->chain;
    if (request->older != NONE) {
        requests->nodes[request->older].newer = request->newer;
    } else {
        requests->oldest = request->newer;
    }
    if (request->newer != NONE) {
        requests->nodes[request->newer].older = request->older;
    } else {
        requests->newest = request->older;
    }
    request->chain = requests->unused;
    requests->unused = at;
    requests->open--;
}

struct iwi_request *iwi_open_requests_oldest(const struct iwi_open_requests *requests)
{
    return requests->open > 0 ? &requests->nodes[requests->oldest] : NULL;
}

void iwi_open_requests_release(struct iwi_open_requests *requests)
{
    free(requests->nodes);
    free(requests->buckets);
    *requests = (struct iwi_open_requests){0};
}
