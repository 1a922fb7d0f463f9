/* One location of an OTF2 archive, record by record.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "kit/files/otf2/trace_otf2_events.h"

/* ---- regions ---- */

static OTF2_CallbackCode on_enter(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t at, void *user,
                                  OTF2_AttributeList *attributes, OTF2_RegionRef region)
{
    struct iwi_otf2_events *e = user;
    struct iwi_otf2_raw raw;
    iw_status status = iwi_otf2_raw_begin(e, time, IWI_RAW_ENTER, &raw);

    (void)location;
    (void)at;
    raw.region = region;
    raw.cpu_ps = iwi_otf2_get_ns(e, attributes, IWI_ATTR_CPU_NS);
    raw.poll_ps = iwi_max(0, iwi_otf2_get_ns(e, attributes, IWI_ATTR_POLL_NS));
    if (status == IW_OK) {
        status = iwi_otf2_handle(e, &raw);
    }
    return iwi_otf2_pass_on(e, status);
}

static OTF2_CallbackCode on_leave(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t at, void *user,
                                  OTF2_AttributeList *attributes, OTF2_RegionRef region)
{
    struct iwi_otf2_events *e = user;
    struct iwi_otf2_raw raw;
    OTF2_AttributeValue unknown;
    iw_status status = iwi_otf2_raw_begin(e, time, IWI_RAW_LEAVE, &raw);

    (void)location;
    (void)at;
    (void)region;
    raw.unknown = iwi_otf2_get(e, attributes, IWI_ATTR_UNKNOWN, &unknown) ? unknown.uint64 : 0;
    if (status == IW_OK) {
        status = iwi_otf2_handle(e, &raw);
    }
    return iwi_otf2_pass_on(e, status);
}

static OTF2_CallbackCode on_switch(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t at, void *user,
                                   OTF2_AttributeList *attributes, OTF2_MeasurementMode mode)
{
    struct iwi_otf2_events *e = user;
    struct iwi_otf2_raw raw;
    iw_status status =
        iwi_otf2_raw_begin(e, time, mode == OTF2_MEASUREMENT_ON ? IWI_RAW_ON : IWI_RAW_OFF, &raw);

    (void)location;
    (void)at;
    (void)attributes;
    if (status == IW_OK) {
        status = iwi_otf2_handle(e, &raw);
    }
    return iwi_otf2_pass_on(e, status);
}

/* ---- reading ---- */

static OTF2_EvtReaderCallbacks *callbacks(void)
{
    OTF2_EvtReaderCallbacks *cb = OTF2_EvtReaderCallbacks_New();

    if (cb != NULL) {
        OTF2_EvtReaderCallbacks_SetEnterCallback(cb, on_enter);
        OTF2_EvtReaderCallbacks_SetLeaveCallback(cb, on_leave);
        OTF2_EvtReaderCallbacks_SetMeasurementOnOffCallback(cb, on_switch);
        iwi_otf2_set_messages(cb);
        iwi_otf2_set_collectives(cb);
    }
    return cb;
}

static iw_status read_events(struct iwi_otf2_events *e, const struct iwi_def_location *location,
                             OTF2_EvtReader *evt_reader)
{
    uint64_t count = 0;
    OTF2_ErrorCode code = OTF2_Reader_ReadAllLocalEvents(e->in->reader, evt_reader, &count);

    IW_TRY(e->status);
    if (code != OTF2_SUCCESS) {
        return iwi_fail(e->in->log, IW_ERR_TRUNCATED,
                        "'%s': the events of rank %" PRIu32 " (location %" PRIu64 ") break off after %" PRIu64
                        " records: %s",
                        e->in->path, e->builder->rank, location->id, count, OTF2_Error_GetDescription(code));
    }
    if (count < location->event_count) {
        return iwi_fail(e->in->log, IW_ERR_TRUNCATED,
                        "'%s': rank %" PRIu32 " (location %" PRIu64 ") has %" PRIu64
                        " records instead of %" PRIu64,
                        e->in->path, e->builder->rank, location->id, count, location->event_count);
    }
    return IW_OK;
}

iw_status iwi_otf2_read_location(struct iwi_otf2_events *e, const struct iwi_def_location *location)
{
    OTF2_EvtReader *evt_reader = OTF2_Reader_GetEvtReader(e->in->reader, location->id);
    OTF2_EvtReaderCallbacks *cb;
    iw_status status;

    if (evt_reader == NULL) {
        return iwi_fail(e->in->log, IW_ERR_IO,
                        "'%s': cannot read the events of rank %" PRIu32 " (location %" PRIu64 ")",
                        e->in->path, e->builder->rank, location->id);
    }
    e->last_ps = -IW_TIME_INPUT_MAX;
    e->event_number = 0;
    cb = callbacks();
    (void)OTF2_Reader_RegisterEvtCallbacks(e->in->reader, evt_reader, cb, e);
    OTF2_EvtReaderCallbacks_Delete(cb);
    status = read_events(e, location, evt_reader);
    (void)OTF2_Reader_CloseEvtReader(e->in->reader, evt_reader);
    return status;
}
