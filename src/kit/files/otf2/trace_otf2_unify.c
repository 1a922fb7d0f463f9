/* One number for a communicator that has several.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>
#include <string.h>

#include "kit/files/otf2/trace_otf2.h"

struct unify {
    struct iw_trace *trace;
    uint32_t *first;  /* of each communicator: the first one with the same members */
    uint32_t *next;   /* the next one with the same members */
    uint32_t *users;  /* ranks that use it */
    uint32_t *rename; /* of one rank */
    uint32_t *free_;  /* of each first: the next to be given in one rank */
};

static bool has_comm(const struct iwi_call *call)
{
    return call->kind != IWI_CALL_NOTHING && call->kind != IWI_CALL_WAIT && call->kind != IWI_CALL_OPAQUE &&
           call->comm != IWI_NO_COMM;
}

static bool is_same(const struct iwi_comm *a, const struct iwi_comm *b)
{
    return a->size == b->size && (a->members == NULL) == (b->members == NULL) &&
           (a->members == NULL || memcmp(a->members, b->members, a->size * sizeof *a->members) == 0);
}

static void find_classes(struct unify *u)
{
    for (uint32_t c = 0; c < u->trace->comm_count; c++) {
        uint32_t f = 0;

        while (!is_same(&u->trace->comms[f], &u->trace->comms[c])) {
            f++;
        }
        u->first[c] = f;
        u->next[c] = IWI_NO_COMM;
        for (uint32_t last = f; last != c;) {
            if (u->next[last] == IWI_NO_COMM) {
                u->next[last] = c;
                break;
            }
            last = u->next[last];
        }
    }
}

static void count_users(struct unify *u)
{
    for (uint32_t r = 0; r < u->trace->rank_count; r++) {
        const struct iwi_trace_rank *rank = &u->trace->ranks[r];

        memset(u->rename, 0, u->trace->comm_count * sizeof *u->rename);
        for (uint64_t i = 0; i < rank->call_count; i++) {
            const struct iwi_call *call = &rank->calls[i];

            if (has_comm(call) && u->rename[call->comm] == 0) {
                u->rename[call->comm] = 1;
                u->users[call->comm]++;
            }
        }
    }
}

/* True if some communicator with these members is used by a part of them only. */
static bool is_split(const struct unify *u, uint32_t first)
{
    for (uint32_t c = first; c != IWI_NO_COMM; c = u->next[c]) {
        if (u->users[c] > 0 && u->users[c] < u->trace->comms[c].size) {
            return true;
        }
    }
    return false;
}

static void rename_rank(struct unify *u, const bool *splits, struct iwi_trace_rank *rank)
{
    for (uint32_t c = 0; c < u->trace->comm_count; c++) {
        u->rename[c] = IWI_NO_COMM;
        u->free_[c] = c;
    }
    for (uint64_t i = 0; i < rank->call_count; i++) {
        struct iwi_call *call = &rank->calls[i];

        if (!has_comm(call) || !splits[u->first[call->comm]]) {
            continue;
        }
        if (u->rename[call->comm] == IWI_NO_COMM) {
            uint32_t *given = &u->free_[u->first[call->comm]];

            u->rename[call->comm] = *given;
            *given = u->next[*given];
        }
        call->comm = u->rename[call->comm];
    }
}

static iw_status unify(const iw_log *log, struct unify *u)
{
    const uint32_t count = u->trace->comm_count;
    bool *splits = iwi_new_array(log, count, sizeof *splits);

    if (splits == NULL) {
        return IW_ERR_NOMEM;
    }
    find_classes(u);
    count_users(u);
    for (uint32_t c = 0; c < count; c++) {
        splits[c] = u->first[c] == c && u->next[c] != IWI_NO_COMM && is_split(u, c);
    }
    for (uint32_t r = 0; r < u->trace->rank_count; r++) {
        rename_rank(u, splits, &u->trace->ranks[r]);
    }
    free(splits);
    return IW_OK;
}

iw_status iwi_trace_unify_comms(const iw_log *log, struct iw_trace *trace)
{
    const size_t count = trace->comm_count;
    uint32_t *words = iwi_new_array(log, count * 5, sizeof *words);
    struct unify u = {.trace = trace};
    iw_status status;

    if (words == NULL) {
        return IW_ERR_NOMEM;
    }
    u.first = words;
    u.next = words + count;
    u.users = words + 2 * count;
    u.rename = words + 3 * count;
    u.free_ = words + 4 * count;
    status = unify(log, &u);
    free(words);
    return status;
}
