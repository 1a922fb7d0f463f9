/* What all records of an OTF2 archive need: time, attributes, ranks of communicators.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "kit/files/otf2/trace_otf2_events.h"

/* Values near the end of the range are MPI_PROC_NULL, which EZTrace writes as it is. */
#define FIRST_NULL UINT32_C(0xfffffff0)

OTF2_CallbackCode iwi_otf2_pass_on(struct iwi_otf2_events *e, iw_status status)
{
    e->status = status;
    return status == IW_OK ? OTF2_CALLBACK_SUCCESS : OTF2_CALLBACK_INTERRUPT;
}

iw_status iwi_otf2_refuse(const struct iwi_otf2_events *e, const char *why, uint64_t value)
{
    return iwi_fail(e->in->log, IW_ERR_FORMAT, "'%s': rank %" PRIu32 ", event %" PRIu64 ": %s %" PRIu64,
                    e->in->path, e->builder->rank, e->event_number + 1, why, value);
}

bool iwi_otf2_get(const struct iwi_otf2_events *e, const OTF2_AttributeList *list,
                  enum iwi_otf2_attribute which, OTF2_AttributeValue *value_p)
{
    OTF2_Type type;
    const uint32_t id = e->in->attributes[which];

    return list != NULL && id != OTF2_UNDEFINED_ATTRIBUTE && OTF2_AttributeList_TestAttributeByID(list, id) &&
           OTF2_AttributeList_GetAttributeByID(list, id, &type, value_p) == OTF2_SUCCESS;
}

iw_time iwi_otf2_get_ns(const struct iwi_otf2_events *e, const OTF2_AttributeList *list,
                        enum iwi_otf2_attribute which)
{
    OTF2_AttributeValue value;

    if (!iwi_otf2_get(e, list, which, &value) || value.uint64 > IW_TIME_INPUT_MAX / IW_PS_PER_NS) {
        return -1;
    }
    return (iw_time)value.uint64 * IW_PS_PER_NS;
}

static iw_status to_ps(struct iwi_otf2_events *e, uint64_t ticks, iw_time *ps_p)
{
    __extension__ typedef __int128 wide;
    wide ps;

    if (!e->in->has_offset) { /* some tracers leave it 0 */
        e->in->offset_ticks = ticks;
        e->in->has_offset = true;
    }
    ps = ((wide)ticks - (wide)e->in->offset_ticks) * IW_PS_PER_S / (wide)e->in->resolution_hz;
    if (ps < -(wide)IW_TIME_INPUT_MAX || ps > IW_TIME_INPUT_MAX) {
        return iwi_otf2_refuse(e, "its time is more than 10 days from the beginning, in ticks:", ticks);
    }
    if (ps < e->last_ps) {
        iwi_build_note(e->builder, IWI_GAP_CLOCK, NULL);
        ps = e->last_ps;
    }
    e->last_ps = (iw_time)ps;
    *ps_p = e->last_ps;
    return IW_OK;
}

iw_status iwi_otf2_raw_begin(struct iwi_otf2_events *e, uint64_t ticks, uint32_t type,
                             struct iwi_otf2_raw *raw)
{
    *raw = (struct iwi_otf2_raw){.type = type, .thread = e->thread, .cpu_ps = -1};
    IW_TRY(to_ps(e, ticks, &raw->time_ps));
    e->event_number++;
    return IW_OK;
}

iw_status iwi_otf2_emit(struct iwi_otf2_events *e, uint64_t ticks, const struct iwi_trace_event *event)
{
    struct iwi_otf2_raw raw;

    IW_TRY(iwi_otf2_raw_begin(e, ticks, IWI_RAW_EVENT, &raw));
    raw.event = *event;
    return iwi_otf2_handle(e, &raw);
}

/* ---- communicators ---- */

uint32_t iwi_otf2_position(const struct iwi_comm *comm, uint32_t count, uint32_t rank)
{
    for (uint32_t i = 0; comm->members != NULL && i < count; i++) {
        if (comm->members[i] == rank) {
            return i;
        }
    }
    return comm->members == NULL ? rank : UINT32_MAX;
}

iw_status iwi_otf2_translate(struct iwi_otf2_events *e, uint32_t ref, uint32_t peer,
                             struct iwi_trace_event *event)
{
    const struct iwi_def_comm *def = iwi_defs_find(&e->in->comm_defs, ref);
    const uint32_t rank = e->builder->rank;
    uint32_t first = 0, count = 1;

    event->peer = IWI_PEER_NULL;
    if (peer >= FIRST_NULL) {
        return IW_OK;
    }
    if (def == NULL || def->form == IWI_COMM_UNKNOWN) {
        iwi_build_note(e->builder, IWI_GAP_MEMBERS, NULL);
        event->is_opaque = true;
        event->peer = 0;
        return IW_OK;
    }
    if (def->form == IWI_COMM_SELF) {
        e->in->uses_self = true;
        event->comm = e->in->self_base + rank;
        event->peer = rank;
        return IW_OK;
    }
    event->comm = def->index;
    count = e->in->comms[def->index].size;
    if (def->form == IWI_COMM_INTER) {
        const bool is_in_first =
            iwi_otf2_position(&e->in->comms[def->index], def->first_size, rank) != UINT32_MAX;

        first = is_in_first ? def->first_size : 0;
        count = is_in_first ? count - def->first_size : def->first_size;
    }
    if (peer >= count) {
        return iwi_otf2_refuse(e, "its communicator has no rank", peer);
    }
    event->peer =
        e->in->comms[def->index].members != NULL ? e->in->comms[def->index].members[first + peer] : peer;
    return IW_OK;
}
