/* Places for the times that steps hand on: few, reused, one set for all replicas where that is possible.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A value is made by a SEND or POST step and named by its node. One that is last used in the segment it was
 * made in takes a local slot, which the next replica uses again; others take a kept slot.
 */
#include <stdlib.h>

#include "core/base/base.h"
#include "core/sim/flow/flow_trace.h"

#define NO_STEP UINT64_MAX

struct free_list {
    uint32_t *slots;
    size_t count, capacity;
    uint32_t made;
};

struct assignment {
    const iw_log *log;
    struct iwi_trace_code *code;
    uint64_t *last_use; /* nodes: step */
    uint32_t *slot;     /* nodes; kept ones have IS_KEPT set until all local ones are counted */
    struct free_list local, kept;
};

#define IS_KEPT (UINT32_C(1) << 31)

static bool uses_sent(const struct iwi_trace_step *step)
{
    return step->kind == IWI_STEP_SEND || step->kind == IWI_STEP_RECV || step->kind == IWI_STEP_SEND_DONE;
}

static bool uses_posted(const struct iwi_trace_step *step)
{
    return step->kind == IWI_STEP_POST ||
           (step->is_rendezvous && (step->kind == IWI_STEP_RECV || step->kind == IWI_STEP_SEND_DONE));
}

static void find_last_uses(struct assignment *a)
{
    for (uint64_t i = 0; i < a->code->step_count; i++) {
        const struct iwi_trace_step *step = &a->code->steps[i];

        if (uses_sent(step)) {
            a->last_use[step->sent] = i;
        }
        if (uses_posted(step)) {
            a->last_use[step->posted] = i;
        }
    }
}

static iw_status take(struct assignment *a, struct free_list *list, uint32_t *slot_p)
{
    if (list->count > 0) {
        *slot_p = list->slots[--list->count];
        return IW_OK;
    }
    if (list->made == IS_KEPT - 1) {
        return iwi_fail(a->log, IW_ERR_RANGE, "more than 2^31 messages are under way at once in the trace");
    }
    *slot_p = list->made++;
    return IW_OK;
}

static iw_status give_back(struct assignment *a, struct free_list *list, uint32_t slot)
{
    void *slots = list->slots;

    IW_TRY(iwi_grow(a->log, &slots, &list->capacity, list->count + 1, sizeof *list->slots));
    list->slots = slots;
    list->slots[list->count++] = slot;
    return IW_OK;
}

/* A value that step `at` makes or uses: its slot, and the end of it behind its last use. */
static iw_status place(struct assignment *a, uint64_t at, uint64_t segment_end, bool is_made, uint32_t *value)
{
    const uint32_t node = *value;

    if (is_made) {
        const bool is_kept = a->last_use[node] >= segment_end;

        IW_TRY(take(a, is_kept ? &a->kept : &a->local, &a->slot[node]));
        a->slot[node] |= is_kept ? IS_KEPT : 0;
    }
    *value = a->slot[node];
    if (a->last_use[node] == at) {
        struct free_list *list = (a->slot[node] & IS_KEPT) != 0 ? &a->kept : &a->local;

        return give_back(a, list, a->slot[node] & ~IS_KEPT);
    }
    return IW_OK;
}

static iw_status place_all(struct assignment *a)
{
    uint64_t at = 0;

    for (size_t s = 0; s < a->code->segment_count; s++) {
        for (; at < a->code->segments[s].end; at++) {
            struct iwi_trace_step *step = &a->code->steps[at];
            const bool has_sent = uses_sent(step), has_posted = uses_posted(step);

            if (has_sent) {
                IW_TRY(place(a, at, a->code->segments[s].end, step->kind == IWI_STEP_SEND, &step->sent));
            }
            if (has_posted) {
                IW_TRY(place(a, at, a->code->segments[s].end, step->kind == IWI_STEP_POST, &step->posted));
            }
        }
    }
    return IW_OK;
}

/* Kept slots are numbered behind the local ones. */
static void number_kept(struct assignment *a)
{
    a->code->local_slots = a->local.made;
    a->code->kept_slots = a->kept.made;
    for (uint64_t i = 0; i < a->code->step_count; i++) {
        struct iwi_trace_step *step = &a->code->steps[i];

        if (uses_sent(step) && (step->sent & IS_KEPT) != 0) {
            step->sent = (step->sent & ~IS_KEPT) + a->local.made;
        }
        if (uses_posted(step) && (step->posted & IS_KEPT) != 0) {
            step->posted = (step->posted & ~IS_KEPT) + a->local.made;
        }
    }
}

iw_status iwi_trace_assign_slots(const iw_log *log, uint64_t node_count, struct iwi_trace_code *code)
{
    struct assignment a = {.log = log, .code = code};
    iw_status status = IW_ERR_NOMEM;

    a.last_use = iwi_new_array(log, (size_t)node_count, sizeof *a.last_use);
    a.slot = iwi_new_array(log, (size_t)node_count, sizeof *a.slot);
    if (a.last_use != NULL && a.slot != NULL) {
        find_last_uses(&a);
        status = place_all(&a);
    }
    if (status == IW_OK) {
        number_kept(&a);
    }
    free(a.last_use);
    free(a.slot);
    free(a.local.slots);
    free(a.kept.slots);
    return status;
}
