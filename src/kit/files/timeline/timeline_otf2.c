/* Exports steps as an OTF2 archive: a location a rank, a region a state.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/timeline.h>

#include "kit/files/timeline/timeline_window.h"

#if IW_HAVE_OTF2
#include <stdio.h>

#include "core/base/output.h"
#include "kit/files/otf2/otf2_callbacks.h"

/* Numbers of strings. */
enum {
    STRING_EMPTY,
    STRING_MACHINE,
    STRING_TITLE,
    STRING_THREAD,
    STRING_STATES,
    STRING_RANKS = STRING_STATES + IW_STATES
};

struct archive_out {
    struct iwi_exact_window window;
    OTF2_Archive *archive;
    OTF2_GlobalDefWriter *definitions;
    bool is_fine;
};

static void check(struct archive_out *out, OTF2_ErrorCode code)
{
    out->is_fine = out->is_fine && code == OTF2_SUCCESS;
}

static const OTF2_FlushCallbacks flush_callbacks = {.otf2_pre_flush = iwi_otf2_flush,
                                                    .otf2_post_flush = NULL};

/* ---- events ---- */

static void put_step(struct archive_out *out, OTF2_EvtWriter *writer, const iw_step *step)
{
    uint64_t at_ps = (uint64_t)step->begin_ps;

    for (uint32_t state = 0; state < IW_STATES; state++) {
        const uint64_t end_ps = at_ps + (uint64_t)step->state_ps[state];

        if (end_ps > at_ps) {
            check(out, OTF2_EvtWriter_Enter(writer, NULL, at_ps, state));
            check(out, OTF2_EvtWriter_Leave(writer, NULL, end_ps, state));
        }
        at_ps = end_ps;
    }
}

/* Events of one rank, and its definitions. */
static void put_rank(struct archive_out *out, uint32_t number)
{
    const struct iwi_exact_window_steps part = iwi_exact_window_steps(&out->window, number);
    OTF2_EvtWriter *writer = OTF2_Archive_GetEvtWriter(out->archive, part.rank);
    OTF2_DefWriter *local = OTF2_Archive_GetDefWriter(out->archive, part.rank);
    uint64_t events = 0;
    char name[32];

    if (writer == NULL || local == NULL) {
        out->is_fine = false;
        return;
    }
    for (size_t i = 0; i < part.count; i++) {
        put_step(out, writer, &part.steps[i]);
    }
    check(out, OTF2_EvtWriter_GetNumberOfEvents(writer, &events));
    check(out, OTF2_Archive_CloseEvtWriter(out->archive, writer));
    check(out, OTF2_Archive_CloseDefWriter(out->archive, local));
    snprintf(name, sizeof name, "rank %u", part.rank);
    check(out, OTF2_GlobalDefWriter_WriteString(out->definitions, STRING_RANKS + number, name));
    check(out, OTF2_GlobalDefWriter_WriteLocationGroup(out->definitions, part.rank, STRING_RANKS + number,
                                                       OTF2_LOCATION_GROUP_TYPE_PROCESS, 0,
                                                       OTF2_UNDEFINED_LOCATION_GROUP));
    check(out, OTF2_GlobalDefWriter_WriteLocation(out->definitions, part.rank, STRING_THREAD,
                                                  OTF2_LOCATION_TYPE_CPU_THREAD, events, part.rank));
}

/* ---- definitions ---- */

static OTF2_RegionRole role_of(iw_state state)
{
    switch (state) {
    case IW_STATE_DELAY:
    case IW_STATE_NOISE: return OTF2_REGION_ROLE_ARTIFICIAL;
    case IW_STATE_COMM: return OTF2_REGION_ROLE_POINT2POINT;
    case IW_STATE_WAIT: return OTF2_REGION_ROLE_BARRIER;
    default: return OTF2_REGION_ROLE_CODE;
    }
}

/* One tick of the clock is a picosecond. */
static void define_run(struct archive_out *out)
{
    OTF2_GlobalDefWriter *to = out->definitions;

    check(out, OTF2_GlobalDefWriter_WriteClockProperties(to, (uint64_t)IW_PS_PER_S, 0,
                                                         (uint64_t)iw_timeline_end(out->window.timeline) + 1,
                                                         OTF2_UNDEFINED_TIMESTAMP));
    check(out, OTF2_GlobalDefWriter_WriteString(to, STRING_EMPTY, ""));
    check(out, OTF2_GlobalDefWriter_WriteString(to, STRING_MACHINE, "machine"));
    check(out, OTF2_GlobalDefWriter_WriteString(to, STRING_TITLE,
                                                iw_timeline_describe(out->window.timeline)->title));
    check(out, OTF2_GlobalDefWriter_WriteString(to, STRING_THREAD, "main thread"));
    for (uint32_t state = 0; state < IW_STATES; state++) {
        check(out,
              OTF2_GlobalDefWriter_WriteString(to, STRING_STATES + state, iw_state_name((iw_state)state)));
        check(out,
              OTF2_GlobalDefWriter_WriteRegion(to, state, STRING_STATES + state, STRING_STATES + state,
                                               STRING_EMPTY, role_of((iw_state)state), OTF2_PARADIGM_USER,
                                               OTF2_REGION_FLAG_NONE, STRING_EMPTY, 0, 0));
    }
    check(out, OTF2_GlobalDefWriter_WriteSystemTreeNode(to, 0, STRING_TITLE, STRING_MACHINE,
                                                        OTF2_UNDEFINED_SYSTEM_TREE_NODE));
}

/* ---- the archive ---- */

static void put_archive(struct archive_out *out)
{
    check(out, OTF2_Archive_SetFlushCallbacks(out->archive, &flush_callbacks, NULL));
    check(out, OTF2_Archive_SetSerialCollectiveCallbacks(out->archive));
    check(out, OTF2_Archive_SetCreator(out->archive, "idlewave " IW_VERSION));
    check(out, OTF2_Archive_OpenEvtFiles(out->archive));
    check(out, OTF2_Archive_OpenDefFiles(out->archive));
    out->definitions = out->is_fine ? OTF2_Archive_GetGlobalDefWriter(out->archive) : NULL;
    if (out->definitions == NULL) {
        out->is_fine = false;
        return;
    }
    define_run(out);
    for (uint32_t i = 0; i < out->window.count && out->is_fine; i++) {
        put_rank(out, i);
    }
    check(out, OTF2_Archive_CloseGlobalDefWriter(out->archive, out->definitions));
    check(out, OTF2_Archive_CloseEvtFiles(out->archive));
    check(out, OTF2_Archive_CloseDefFiles(out->archive));
}

iw_status iw_timeline_write_otf2(const iw_log *log, const iw_timeline *timeline,
                                 const iw_timeline_window *window, const char *path)
{
    struct archive_out out = {.is_fine = true};

    IW_TRY(iwi_exact_window_open(log, timeline, window, &out.window));
    IW_TRY(iwi_folder_ensure(log, path, IWI_FOLDER_NEW));
    (void)OTF2_Error_RegisterCallback(iwi_otf2_quiet, NULL);
    out.archive =
        OTF2_Archive_Open(path, "traces", OTF2_FILEMODE_WRITE, OTF2_CHUNK_SIZE_EVENTS_DEFAULT,
                          OTF2_CHUNK_SIZE_DEFINITIONS_DEFAULT, OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
    if (out.archive == NULL) {
        return iwi_fail(log, IW_ERR_IO, "cannot write an OTF2 archive into '%s'", path);
    }
    put_archive(&out);
    check(&out, OTF2_Archive_Close(out.archive));
    return out.is_fine ? IW_OK : iwi_fail(log, IW_ERR_IO, "cannot write the OTF2 archive '%s'", path);
}

#else

iw_status iw_timeline_write_otf2(const iw_log *log, const iw_timeline *timeline,
                                 const iw_timeline_window *window, const char *path)
{
    (void)timeline;
    (void)window;
    return iwi_fail(log, IW_ERR_UNSUPPORTED, "'%s': this idlewave was built without OTF2", path);
}
#endif
