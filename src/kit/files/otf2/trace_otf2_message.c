/* Records of messages in an OTF2 archive.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "kit/files/otf2/trace_otf2_events.h"

static iw_status message(struct iwi_otf2_events *e, uint64_t ticks, const OTF2_AttributeList *attributes,
                         struct iwi_trace_event event, uint32_t peer, uint32_t comm, uint32_t tag)
{
    OTF2_AttributeValue mode;

    IW_TRY(iwi_otf2_translate(e, comm, peer, &event));
    if (tag > INT32_MAX && event.peer != IWI_PEER_NULL) {
        return iwi_otf2_refuse(e, "its tag is not a tag,", tag);
    }
    event.tag = (int32_t)(tag & INT32_MAX);
    if (iwi_otf2_get(e, attributes, IWI_ATTR_MODE, &mode)) {
        event.flags = mode.uint8 == 1 ? IWI_FN_BUFFERED : (mode.uint8 == 2 ? IWI_FN_SYNCHRONOUS : 0);
    }
    return iwi_otf2_emit(e, ticks, &event);
}

static OTF2_CallbackCode on_send(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t at, void *user,
                                 OTF2_AttributeList *attributes, uint32_t peer, OTF2_CommRef comm,
                                 uint32_t tag, uint64_t bytes)
{
    const struct iwi_trace_event event = {.type = IWI_EV_SEND, .bytes = bytes};

    (void)location;
    (void)at;
    return iwi_otf2_pass_on(user, message(user, time, attributes, event, peer, comm, tag));
}

static OTF2_CallbackCode on_recv(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t at, void *user,
                                 OTF2_AttributeList *attributes, uint32_t peer, OTF2_CommRef comm,
                                 uint32_t tag, uint64_t bytes)
{
    const struct iwi_trace_event event = {.type = IWI_EV_RECV, .bytes = bytes};

    (void)location;
    (void)at;
    return iwi_otf2_pass_on(user, message(user, time, attributes, event, peer, comm, tag));
}

static OTF2_CallbackCode on_isend(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t at, void *user,
                                  OTF2_AttributeList *attributes, uint32_t peer, OTF2_CommRef comm,
                                  uint32_t tag, uint64_t bytes, uint64_t request)
{
    const struct iwi_trace_event event = {.type = IWI_EV_ISEND, .bytes = bytes, .request = request};

    (void)location;
    (void)at;
    return iwi_otf2_pass_on(user, message(user, time, attributes, event, peer, comm, tag));
}

static OTF2_CallbackCode on_irecv(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t at, void *user,
                                  OTF2_AttributeList *attributes, uint32_t peer, OTF2_CommRef comm,
                                  uint32_t tag, uint64_t bytes, uint64_t request)
{
    const struct iwi_trace_event event = {.type = IWI_EV_IRECV, .bytes = bytes, .request = request};

    (void)location;
    (void)at;
    return iwi_otf2_pass_on(user, message(user, time, attributes, event, peer, comm, tag));
}

/* What was posted helps if the receive is never seen to complete. */
static OTF2_CallbackCode on_irecv_request(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t at,
                                          void *user, OTF2_AttributeList *attributes, uint64_t request)
{
    struct iwi_otf2_events *e = user;
    struct iwi_trace_event event = {.type = IWI_EV_IRECV_POSTED,
                                    .comm = IWI_NO_COMM,
                                    .peer = IWI_PEER_UNKNOWN,
                                    .tag = IWI_TAG_UNKNOWN,
                                    .request = request};
    OTF2_AttributeValue comm, source, tag;
    iw_status status = IW_OK;

    (void)location;
    (void)at;
    if (iwi_otf2_get(e, attributes, IWI_ATTR_COMM, &comm) &&
        iwi_otf2_get(e, attributes, IWI_ATTR_POSTED_SOURCE, &source)) {
        const bool is_any = source.int32 < 0;

        status = iwi_otf2_translate(e, comm.commRef, is_any ? 0 : (uint32_t)source.int32, &event);
        event.peer = is_any && !event.is_opaque ? IWI_PEER_UNKNOWN : event.peer;
        event.tag = iwi_otf2_get(e, attributes, IWI_ATTR_POSTED_TAG, &tag) && tag.int32 >= 0
                        ? tag.int32
                        : IWI_TAG_UNKNOWN;
    }
    return iwi_otf2_pass_on(e, status == IW_OK ? iwi_otf2_emit(e, time, &event) : status);
}

static OTF2_CallbackCode completed(struct iwi_otf2_events *e, uint64_t time, uint8_t type, uint64_t request)
{
    const struct iwi_trace_event event = {.type = type, .request = request};

    return iwi_otf2_pass_on(e, iwi_otf2_emit(e, time, &event));
}

static OTF2_CallbackCode on_isend_complete(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t at,
                                           void *user, OTF2_AttributeList *attributes, uint64_t request)
{
    (void)location;
    (void)at;
    (void)attributes;
    return completed(user, time, IWI_EV_COMPLETED, request);
}

static OTF2_CallbackCode on_cancelled(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t at, void *user,
                                      OTF2_AttributeList *attributes, uint64_t request)
{
    (void)location;
    (void)at;
    (void)attributes;
    return completed(user, time, IWI_EV_CANCELLED, request);
}

void iwi_otf2_set_messages(OTF2_EvtReaderCallbacks *callbacks)
{
    OTF2_EvtReaderCallbacks_SetMpiSendCallback(callbacks, on_send);
    OTF2_EvtReaderCallbacks_SetMpiRecvCallback(callbacks, on_recv);
    OTF2_EvtReaderCallbacks_SetMpiIsendCallback(callbacks, on_isend);
    OTF2_EvtReaderCallbacks_SetMpiIsendCompleteCallback(callbacks, on_isend_complete);
    OTF2_EvtReaderCallbacks_SetMpiIrecvRequestCallback(callbacks, on_irecv_request);
    OTF2_EvtReaderCallbacks_SetMpiIrecvCallback(callbacks, on_irecv);
    OTF2_EvtReaderCallbacks_SetMpiRequestCancelledCallback(callbacks, on_cancelled);
}
