/* MPI_Finalize: all processes write the archive together.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OTF2_MPI_USE_PMPI
#include <mpi.h>
#include <otf2/OTF2_MPI_Collectives.h>

#include "mpi/clock_sync.h"
#include "mpi/trace/archive.h"
#include "mpi/trace/comms.h"
#include "mpi/trace/folder.h"
#include "mpi/trace/tracer.h"
#include "mpi/trace/unify.h"

/* What a process tells about itself. */
struct report {
    struct iwi_archive_rank rank;
    int32_t failure;
    uint64_t abandoned_calls, spawns;
    char failure_text[200];
};

struct ending {
    MPI_Comm over;
    struct iwi_clock_model clock;
    struct iwi_comm_map map;
    struct iwi_archive_place *places; /* of this process, by thread */
    uint32_t place_count;
    bool is_fine;
    bool has_failed; /* to write a file */
    bool has_begun; /* files of the archive may be there, and are ours */
    /* process 0: what to tell at the end */
    uint64_t calls, opaque_calls;
    bool has_lost, has_spawned;
    char lost[512];
};

static int64_t wall_clock(void *arg)
{
    (void)arg;
    return (int64_t)iwi_wall_ns();
}

static void synchronise(struct ending *ending)
{
    const struct iwi_local_clock clock = {wall_clock, NULL, true};
    struct iwi_clock_model end;

    if (iwi_clock_sync(ending->over, &clock, 0, &end) != IW_OK) {
        ending->clock = iwi_tracer.clock_begin;
    } else {
        ending->clock = iwi_tracer.has_own_comm ? iwi_clock_join(&iwi_tracer.clock_begin, &end) : end;
    }
}

/* Threads are listed newest first; the archive wants the main thread first. */
static struct iwi_thread *thread_of(uint32_t index)
{
    struct iwi_thread *thread = iwi_tracer.threads;

    while (thread != NULL && thread->index != index) {
        thread = thread->next;
    }
    return thread;
}

static void write_events(struct ending *ending, OTF2_Archive *archive)
{
    bool is_fine = OTF2_Archive_OpenEvtFiles(archive) == OTF2_SUCCESS;

    is_fine = OTF2_Archive_OpenDefFiles(archive) == OTF2_SUCCESS && is_fine;
    for (uint32_t i = 0; i < ending->place_count; i++) {
        const struct iwi_thread *thread = thread_of(i);
        struct iwi_archive_place *place = &ending->places[i];
        *place = (struct iwi_archive_place){.rank = (uint32_t)iwi_tracer.rank, .thread = i};
        is_fine = thread != NULL &&
                  iwi_archive_write_thread(archive, thread->path, ending->map, &ending->clock, place,
                                           &ending->has_failed) &&
                  is_fine;
    }
    is_fine = OTF2_Archive_CloseEvtFiles(archive) == OTF2_SUCCESS && is_fine;
    is_fine = OTF2_Archive_CloseDefFiles(archive) == OTF2_SUCCESS && is_fine;
    ending->is_fine = ending->is_fine && is_fine;
}

static struct report report_of(const struct ending *ending)
{
    struct report report;
    const struct iwi_archive_place *main_place = &ending->places[0];
    const struct iwi_clock_model *clock = &ending->clock;
    int64_t now_ns = (int64_t)iwi_wall_ns();

    memset(&report, 0, sizeof report);
    (void)gethostname(report.rank.host, sizeof report.rank.host - 1);
    report.rank.offset_first_ns = iwi_tracer.clock_begin.offset_ns;
    report.rank.offset_last_ns = iwi_clock_to_reference(clock, now_ns) - now_ns;
    report.failure = iwi_tracer.failure;
    report.abandoned_calls = iwi_tracer.abandoned_calls;
    report.spawns = iwi_tracer.spawns;
    if (report.failure != 0) {
        (void)snprintf(report.failure_text, sizeof report.failure_text, "%.150s, after %llu calls",
                       iwi_tracer.failure_text, (unsigned long long)main_place->calls);
    }
    return report;
}

/* "3 of 64 ranks stopped early; rank 17: writing the trace: No space left on device, after 12345 calls";
 * false: none. */
static bool describe_lost(const struct report *reports, int count, char *text, size_t size)
{
    int lost = 0;
    int first = -1;
    unsigned long long abandoned = 0;

    for (int i = 0; i < count; i++) {
        abandoned += reports[i].abandoned_calls;
        lost += reports[i].failure != 0;
        first = reports[i].failure != 0 && first < 0 ? i : first;
    }
    if (lost > 0) {
        (void)snprintf(text, size, "%d of %d ranks stopped early; rank %d: %s", lost, count, first,
                       reports[first].failure_text);
    } else if (abandoned > 0) {
        (void)snprintf(text, size,
                       "%llu calls were left by an exception or longjmp(), so their end is unknown",
                       abandoned);
    }
    return lost > 0 || abandoned > 0;
}

/* Only process 0, with what all told. */
static bool write_definitions(struct ending *ending, OTF2_Archive *archive, const struct report *reports,
                              const struct iwi_archive_place *places, size_t place_count,
                              const struct iwi_archive_comm *comms, uint32_t comm_count)
{
    struct timespec now;
    int size = iwi_tracer.size;
    struct iwi_archive_rank *ranks = calloc((size_t)size, sizeof *ranks);

    if (ranks == NULL) {
        return false;
    }
    for (int i = 0; i < size; i++) {
        ranks[i] = reports[i].rank;
        ending->has_spawned = ending->has_spawned || reports[i].spawns > 0;
    }
    for (size_t i = 0; i < place_count; i++) {
        ending->calls += places[i].calls;
        ending->opaque_calls += places[i].opaque_calls;
    }
    ending->has_lost = describe_lost(reports, size, ending->lost, sizeof ending->lost);
    (void)clock_gettime(CLOCK_REALTIME, &now);
    const struct iwi_archive_definitions defs = {
        .mpi = IW_MPI_NAME,
        .cpu_clock = iwi_self != NULL ? iwi_cpu_clock_name(&iwi_self->clock) : "syscall",
        .lost = ending->has_lost ? ending->lost : NULL,
        .rank_count = (uint32_t)size,
        .ranks = ranks,
        .place_count = place_count,
        .places = places,
        .comm_count = comm_count,
        .comms = comms,
        .realtime_ns = now.tv_sec * INT64_C(1000000000) + now.tv_nsec,
        .reference_ns = (int64_t)iwi_wall_ns()};
    bool is_fine =
        iwi_archive_set_properties(archive, &defs) && iwi_archive_write_definitions(archive, &defs);
    free(ranks);
    return is_fine;
}

static uint64_t largest_spool(MPI_Comm over)
{
    uint64_t mine = 0;
    uint64_t largest = 0;

    for (const struct iwi_thread *thread = iwi_tracer.threads; thread != NULL; thread = thread->next) {
        uint64_t used = iwi_spool_used(&thread->writer.spool);
        mine = used > mine ? used : mine;
    }
    (void)PMPI_Allreduce(&mine, &largest, 1, MPI_UINT64_T, MPI_MAX, over);
    return largest;
}

static void write_archive(struct ending *ending, struct iwi_archive_comm *comms, uint32_t comm_count)
{
    char text[sizeof iwi_tracer.folder + 256];
    size_t bytes = 0;
    size_t place_bytes = 0;

    ending->has_begun = iwi_all_true(
        ending->over, iwi_tracer.rank != 0 || iwi_trace_folder_is_free(iwi_tracer.folder, text, sizeof text));
    if (!ending->has_begun) {
        ending->is_fine = false;
        return;
    }
    OTF2_Archive *archive = iwi_archive_open(iwi_tracer.folder, largest_spool(ending->over), &ending->has_failed);
    if (!iwi_all_true(ending->over, archive != NULL)) {
        ending->is_fine = false;
        return;
    }
    if (OTF2_MPI_Archive_SetCollectiveCallbacks(archive, ending->over, MPI_COMM_NULL) != OTF2_SUCCESS) {
        ending->is_fine = false;
    }
    write_events(ending, archive);
    struct report mine = report_of(ending);
    struct report *reports = iwi_gather_bytes(ending->over, &mine, sizeof mine, &bytes);
    struct iwi_archive_place *places = iwi_gather_bytes(
        ending->over, ending->places, ending->place_count * sizeof *ending->places, &place_bytes);
    if (iwi_tracer.rank == 0) {
        ending->is_fine = reports != NULL && places != NULL &&
                          write_definitions(ending, archive, reports, places, place_bytes / sizeof *places,
                                            comms, comm_count) &&
                          ending->is_fine;
    }
    ending->is_fine = OTF2_Archive_Close(archive) == OTF2_SUCCESS && ending->is_fine;
    free(reports);
    free(places);
}

/* What could not be written completely would be in the way of idlewave-trace-finish. */
static void remove_archive(void)
{
    static const char *const ENDINGS[] = {"evt", "def"};
    char path[PATH_MAX];

    for (uint32_t i = 0; i < 2 * iwi_tracer.thread_count; i++) {
        uint64_t location = (uint64_t)(i / 2) << 32 | (uint32_t)iwi_tracer.rank;
        (void)snprintf(path, sizeof path, "%s/traces/%llu.%s", iwi_tracer.folder,
                       (unsigned long long)location, ENDINGS[i % 2]);
        (void)unlink(path);
    }
    (void)PMPI_Barrier(iwi_tracer.comm);
    if (iwi_tracer.rank == 0) {
        (void)snprintf(path, sizeof path, "%s/traces", iwi_tracer.folder);
        (void)rmdir(path);
        (void)snprintf(path, sizeof path, "%s/traces.def", iwi_tracer.folder);
        (void)unlink(path);
        (void)snprintf(path, sizeof path, "%s/traces.otf2", iwi_tracer.folder);
        (void)unlink(path);
    }
}

/* Programs that were spawned with the tracer have their folders in this one. */
static bool has_spawned_traces(void)
{
    char pattern[sizeof iwi_tracer.folder + 16];
    glob_t found = {0};

    (void)snprintf(pattern, sizeof pattern, "%s/spawned-*", iwi_tracer.folder);
    bool has_some = glob(pattern, GLOB_NOSORT, NULL, &found) == 0;
    globfree(&found);
    return has_some;
}

/* Process 0, once: the verdict, then what is amiss. */
static void tell_end(const struct ending *ending, bool is_fine)
{
    if (iwi_tracer.rank != 0) {
        return;
    }
    if (!is_fine) {
        iwi_tell_how_to_finish(ending->has_begun ? "warning: the trace could not be written (disk full?)"
                                                 : "warning: the trace could not be written (another one is "
                                                   "in the folder now, or memory is exhausted)");
        return;
    }
    iwi_doc_printf("%d rank%s and %llu call%s traced in '%s'", iwi_tracer.size,
                   iwi_tracer.size == 1 ? "" : "s", (unsigned long long)ending->calls,
                   ending->calls == 1 ? "" : "s", iwi_tracer.folder);
    if (ending->has_lost) {
        iwi_tracer_message("warning: the trace is incomplete: %s", ending->lost);
    }
    if (ending->has_spawned && !has_spawned_traces()) {
        iwi_tracer_message("warning: programs started by MPI_Comm_spawn are not in the trace; to trace them, "
                           "let the launcher set what 'idlewave trace --show' prints, and leave out that "
                           "command before the program");
    }
    if (ending->opaque_calls > 0) {
        iwi_doc_printf(
            "warning: %llu of the calls (one-sided, files, ...) are opaque: only their time is known",
            (unsigned long long)ending->opaque_calls);
    }
}

static void remove_spool(void)
{
    for (const struct iwi_thread *thread = iwi_tracer.threads; thread != NULL; thread = thread->next) {
        (void)unlink(thread->path);
    }
    (void)PMPI_Barrier(iwi_tracer.comm);
    iwi_folder_leave(iwi_tracer.folder);
}

/* A write past the limit on file sizes would end the program by SIGXFSZ. */
static void block_xfsz(sigset_t *before)
{
    sigset_t set;

    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGXFSZ);
    (void)pthread_sigmask(SIG_BLOCK, &set, before);
}

static void unblock_xfsz(const sigset_t *before)
{
    const struct timespec no_time = {0, 0};
    sigset_t set;

    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGXFSZ);
    if (!sigismember(before, SIGXFSZ)) {
        (void)sigtimedwait(&set, NULL, &no_time);
        (void)pthread_sigmask(SIG_SETMASK, before, NULL);
    }
}

static void close_threads(void)
{
    (void)pthread_mutex_lock(&iwi_tracer.mutex); /* threads may be ending */
    for (struct iwi_thread *thread = iwi_tracer.threads; thread != NULL; thread = thread->next) {
        thread->is_inside = true; /* nothing is traced any more, from wherever it is called */
        thread->below = UINTPTR_MAX;
        iwi_writer_close(&thread->writer);
    }
    (void)pthread_mutex_unlock(&iwi_tracer.mutex);
}

static void convert_all(struct ending *ending)
{
    struct iwi_archive_comm *comms = NULL;
    uint32_t comm_count = 0;
    uint64_t *words = NULL;

    ending->places = calloc((size_t)ending->place_count + 1, sizeof *ending->places);
    ending->is_fine = iwi_all_true(ending->over, ending->places != NULL);
    if (ending->is_fine && iwi_unify_comms(ending->over, &ending->map, &comms, &comm_count, &words)) {
        write_archive(ending, comms, comm_count);
    } else {
        ending->is_fine = false;
    }
    free((void *)ending->map.ids);
    free(ending->places);
    free(comms);
    free(words);
}

void iwi_tracer_finish(void)
{
    struct ending ending = {.over = iwi_tracer.comm, .place_count = iwi_tracer.thread_count};
    sigset_t before;

    iwi_tracer.state = IWI_TRACER_DONE;
    synchronise(&ending);
    if (iwi_self != NULL) {
        iwi_leave(iwi_self);
    }
    close_threads();
    iwi_comms_ask_names();
    block_xfsz(&before);
    convert_all(&ending);
    bool is_fine = iwi_all_true(ending.over, ending.is_fine);
    if (is_fine) {
        remove_spool();
    } else if (ending.has_begun) {
        remove_archive();
    }
    tell_end(&ending, is_fine);
    unblock_xfsz(&before);
    iwi_comms_release();
    iwi_size_table_release(&iwi_tracer.sizes);
    iwi_requests_release(&iwi_tracer.requests);
    iwi_requests_release(&iwi_tracer.messages);
}
