/* Posted receives and unexpected messages of a rank under LogGOPSim's rules: the oldest match wins.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/sim/loggopsim/loggopsim_state.h"

void iwi_lgs_append(struct lgs_run *run, struct lgs_list *list, uint64_t node)
{
    run->elements[node].next = IWI_LGS_NONE;
    if (list->first == IWI_LGS_NONE) {
        list->first = node;
    } else {
        run->elements[list->last].next = node;
    }
    list->last = node;
}

static bool is_match(const struct lgs_run *run, uint64_t send, uint64_t recv)
{
    const struct iwi_node *s = &run->schedule->nodes[send], *r = &run->schedule->nodes[recv];

    return (r->peer == IWI_ANY || r->peer == run->rank_of[send]) &&
           (r->tag == IWI_ANY || s->tag == IWI_ANY || r->tag == s->tag);
}

uint64_t iwi_lgs_take_match(struct lgs_run *run, struct lgs_list *list, uint64_t node)
{
    const bool is_message = run->schedule->nodes[node].kind == IWI_SEND;
    uint64_t previous = IWI_LGS_NONE, found = list->first;

    while (found != IWI_LGS_NONE && !(is_message ? is_match(run, node, found) : is_match(run, found, node))) {
        previous = found;
        found = run->elements[found].next;
    }
    if (found == IWI_LGS_NONE) {
        return IWI_LGS_NONE;
    }
    if (previous == IWI_LGS_NONE) {
        list->first = run->elements[found].next;
    } else {
        run->elements[previous].next = run->elements[found].next;
    }
    if (list->last == found) {
        list->last = previous;
    }
    return found;
}
