/* Reads OTF2 archives: libotf2 works in a child process, since it does not survive every damaged file.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "kit/files/otf2/trace_otf2.h"

#if IW_HAVE_OTF2
#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "kit/files/io/convert_child.h"
#include "kit/files/otf2/otf2_callbacks.h"
#include "kit/files/otf2/trace_otf2_read.h"

/* Written by our own tracer. */
static bool is_ours(const struct iwi_otf2 *in)
{
    return strcmp(in->origin, "idlewave") == 0;
}

static iw_status put_rank(struct iwi_otf2 *in, uint32_t rank, FILE *out, struct iwi_otf2_head *head)
{
    const bool is_eztrace = strcmp(in->origin, "eztrace") == 0;
    struct iwi_builder builder;
    struct iwi_trace_rank calls = {0};
    iw_time end_ps;
    iw_status status;

    iwi_builder_init(&builder, in->log, &in->gaps, rank);
    builder.uses = &in->uses;
    builder.lacks_completions = is_eztrace;
    builder.lacks_null = is_ours(in);
    builder.lacks_unknown = in->format < 2;
    status = iwi_otf2_rank(in, rank, &builder, &end_ps);
    if (status == IW_OK) {
        status = iwi_build_end(&builder, end_ps, &calls);
    }
    if (status == IW_OK) {
        head->has_cpu_time = head->has_cpu_time || builder.has_cpu;
        if (rank < in->clock_count) {
            memcpy(calls.clock_added_ns, in->clocks[rank].added_ns, sizeof calls.clock_added_ns);
        }
        iwi_otf2_node(in, rank, calls.node);
        iwi_otf2_put_rank(out, &calls);
    }
    free(calls.calls);
    free(calls.completed);
    iwi_builder_release(&builder);
    return status;
}

static void put_comms(struct iwi_otf2 *in, FILE *out, struct iwi_otf2_head *head)
{
    for (uint32_t c = 0; c < in->comm_count; c++) {
        iwi_otf2_put_comm(out, &in->comms[c]);
    }
    for (uint32_t r = 0; in->uses_self && r < in->rank_count; r++) {
        iwi_otf2_put_comm(out, &(struct iwi_comm){.size = 1, .members = &r});
    }
    head->comm_count = in->comm_count + (in->uses_self ? in->rank_count : 0);
}

static void put_sizes(struct iwi_otf2 *in, FILE *out, struct iwi_otf2_head *head)
{
    const struct iwi_def_sizes *lists = in->size_lists.items;

    for (size_t i = 0; i < in->size_lists.count; i++) {
        iwi_otf2_put(out, &lists[i].list, sizeof lists[i].list);
    }
    iwi_otf2_put(out, in->parts, in->part_count * sizeof *in->parts);
    head->size_list_count = in->size_lists.count;
    head->part_count = in->part_count;
}

static iw_status put_ranks(struct iwi_otf2 *in, FILE *out, struct iwi_otf2_head *head)
{
    iw_status status = IW_OK;

    if (OTF2_Reader_OpenEvtFiles(in->reader) != OTF2_SUCCESS) {
        return iwi_fail(in->log, IW_ERR_IO,
                        "cannot read the events of '%s': check that all files beside it are there", in->path);
    }
    for (uint32_t r = 0; r < in->rank_count && status == IW_OK; r++) {
        status = put_rank(in, r, out, head);
    }
    (void)OTF2_Reader_CloseEvtFiles(in->reader);
    return status;
}

/* What our own tracer says about itself. */
static void read_note(struct iwi_otf2 *in)
{
    char *note = NULL;

    if (OTF2_Reader_GetProperty(in->reader, "IDLEWAVE::LOST", &note) == OTF2_SUCCESS && note != NULL) {
        (void)snprintf(in->gaps.note, sizeof in->gaps.note, "%s", note);
    }
    free(note);
}

static iw_status put_archive(struct iwi_otf2 *in, FILE *out)
{
    struct iwi_otf2_head head = {0};
    const struct iwi_def_location *locations;
    long comms_at;

    IW_TRY(iwi_otf2_definitions(in));
    IW_TRY(iwi_otf2_resolve(in));
    read_note(in);
    locations = in->locations.items;
    for (size_t i = 0; i < in->locations.count; i++) {
        (void)OTF2_Reader_SelectLocation(in->reader, locations[i].id);
    }
    IW_TRY(iwi_otf2_local_definitions(in));
    iwi_otf2_put_head(out, &head);
    IW_TRY(put_ranks(in, out, &head));
    comms_at = ftell(out);
    put_comms(in, out, &head);
    put_sizes(in, out, &head);
    memcpy(head.origin, in->origin, sizeof head.origin);
    head.rank_count = in->rank_count;
    head.comms_at = comms_at > 0 ? (uint64_t)comms_at : 0;
    head.distrusts_sources = strcmp(in->origin, "eztrace") == 0;
    if (is_ours(in) && in->resolution_hz == 1000000000 && in->offset_ticks <= INT64_MAX) {
        head.zero_ns = (int64_t)in->offset_ticks;
    }
    head.gaps = in->gaps;
    head.uses = in->uses;
    iwi_otf2_put_head(out, &head);
    return IW_OK;
}

static iw_status work(const struct iwi_import *import, FILE *out)
{
    struct iwi_otf2 in = {.log = import->log, .path = import->path};
    iw_status status;

    (void)OTF2_Error_RegisterCallback(iwi_otf2_quiet, NULL);
    in.reader = OTF2_Reader_Open(import->path);
    if (in.reader == NULL) {
        return iwi_fail(in.log, IW_ERR_FORMAT, "'%s' is damaged: not an anchor file of an OTF2 archive",
                        in.path);
    }
    (void)OTF2_Reader_SetSerialCollectiveCallbacks(in.reader);
    status = put_archive(&in, out);
    (void)OTF2_Reader_Close(in.reader);
    iwi_otf2_release(&in);
    return status;
}

/* Some damage makes libotf2 search for ever: a generous limit, by the size of the files of events. */
static unsigned seconds_for(const char *path)
{
    const double bytes_per_s = 5e6, files_per_s = 500, least_s = 5, most_s = 36000;
    const size_t stem = strlen(path) > 5 ? strlen(path) - 5 : 0; /* without ".otf2" */
    double seconds = least_s;
    char folder[PATH_MAX];
    struct dirent *entry;
    struct stat info;
    DIR *dir;

    (void)snprintf(folder, sizeof folder, "%.*s", (int)stem, path);
    dir = opendir(folder);
    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        if (fstatat(dirfd(dir), entry->d_name, &info, 0) == 0) {
            seconds += 1 / files_per_s + (double)info.st_size / bytes_per_s;
        }
    }
    if (dir != NULL) {
        (void)closedir(dir);
    }
    return (unsigned)(seconds < most_s ? seconds : most_s);
}

iw_status iwi_trace_otf2(const iw_log *log, const char *path, struct iw_trace **trace_p)
{
    const struct iwi_import import = {.log = log, .path = path};
    struct iwi_child_result result = {NULL, 0};
    iw_status status;

    IW_TRY(iwi_child_run_for(&import, "libotf2", work, seconds_for(path), &result));
    status = iwi_otf2_take(log, path, result.bytes, result.size, trace_p);
    if (status != IW_OK) {
        iwi_child_release(&result);
    }
    return status;
}
#else
iw_status iwi_trace_otf2(const iw_log *log, const char *path, struct iw_trace **trace_p)
{
    (void)trace_p;
    return iwi_fail(
        log, IW_ERR_UNSUPPORTED,
        "'%s' is an OTF2 archive, which this idlewave cannot read: it was built without OTF2 (on Debian: "
        "apt-get install libopen-trace-format2-dev, and build again)",
        path);
}
#endif
