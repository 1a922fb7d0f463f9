/* Starting the tracer.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "mpi/trace/tracer.h"

#include <idlewave/time.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mpi/clock_sync.h"
#include "mpi/trace/comms.h"
#include "mpi/trace/folder.h"
#include "mpi/trace/guard.h"

#define DEFAULT_FOLDER "idlewave-trace"
#define DEFAULT_WINDOW_BYTES ((size_t)1 << 20)
#define LEAST_WINDOW_BYTES ((size_t)1 << 16)

static void read_environment(void)
{
    const char *folder = getenv("IDLEWAVE_TRACE_DIR");
    const char *bytes = getenv("IDLEWAVE_TRACE_BUFFER");
    const char *start = getenv("IDLEWAVE_TRACE_START");
    const char *quiet = getenv("IDLEWAVE_TRACE_QUIET");
    uint64_t window = DEFAULT_WINDOW_BYTES;

    iwi_tracer.is_quiet = quiet != NULL && quiet[0] != '\0' && strcmp(quiet, "0") != 0;
    iwi_tracer.is_on = start == NULL || strcmp(start, "off") != 0;
    if (bytes != NULL && iw_parse_count(NULL, bytes, &window) != IW_OK && iwi_tracer.rank == 0) {
        iwi_tracer_message("IDLEWAVE_TRACE_BUFFER: '%s' is not a number of bytes; using 1 MiB", bytes);
        window = DEFAULT_WINDOW_BYTES;
    }
    window = window < LEAST_WINDOW_BYTES ? LEAST_WINDOW_BYTES : window;
    iwi_tracer.window_bytes = window < SIZE_MAX / 4 ? (size_t)window : SIZE_MAX / 4;
    iwi_folder_choose(folder != NULL && folder[0] != '\0' ? folder : DEFAULT_FOLDER, iwi_tracer.folder,
                      sizeof iwi_tracer.folder);
}

/* A program started by MPI_Comm_spawn has a world of its own, and a trace of its own below the other. */
static void name_spawned(void)
{
    MPI_Comm parent = MPI_COMM_NULL;
    size_t length = strlen(iwi_tracer.folder);

    if (PMPI_Comm_get_parent(&parent) == MPI_SUCCESS && parent != MPI_COMM_NULL) {
        (void)snprintf(iwi_tracer.folder + length, sizeof iwi_tracer.folder - length, "/spawned-%ld",
                       (long)getpid());
    }
}

/* Rank 0 makes the folder and tells the others its name and whether it did. */
static bool agree_on_folder(char *text, size_t size)
{
    int is_made = 1;

    if (iwi_tracer.rank == 0) {
        name_spawned();
        is_made = iwi_trace_folder_make(iwi_tracer.folder, text, size);
    }
    (void)PMPI_Bcast(&is_made, 1, MPI_INT, 0, iwi_tracer.comm);
    (void)PMPI_Bcast(iwi_tracer.folder, (int)sizeof iwi_tracer.folder, MPI_CHAR, 0, iwi_tracer.comm);
    if (iwi_tracer.rank != 0 && is_made) {
        is_made = iwi_trace_folder_join(iwi_tracer.folder, text, size);
    }
    return is_made;
}

/* The first rank that failed tells; `is_fine` of all. */
static bool agree(bool is_fine, const char *text)
{
    int failed = is_fine ? iwi_tracer.size : iwi_tracer.rank;
    int first = iwi_tracer.size;

    (void)PMPI_Allreduce(&failed, &first, 1, MPI_INT, MPI_MIN, iwi_tracer.comm);
    if (first == iwi_tracer.rank) {
        iwi_tracer_message("not traced: rank %d: %s", iwi_tracer.rank, text);
    }
    return first == iwi_tracer.size;
}

static bool prepare(bool has_threads)
{
    (void)PMPI_Comm_group(MPI_COMM_WORLD, &iwi_tracer.world);
    if (!iwi_requests_init(&iwi_tracer.requests, has_threads) ||
        !iwi_requests_init(&iwi_tracer.messages, has_threads) || !iwi_comms_init()) {
        iwi_tracer_fail(ENOMEM, "starting");
        return false;
    }
    iwi_try_statuses();
    iwi_threads_init();
    iwi_self = iwi_thread_new();
    return iwi_self != NULL && iwi_tracer.failure == 0;
}

static int64_t wall_clock(void *arg)
{
    (void)arg;
    return (int64_t)iwi_wall_ns();
}

static bool start_together(bool has_threads)
{
    char text[sizeof iwi_tracer.folder + 256] = "";
    bool is_fine = PMPI_Comm_dup(MPI_COMM_WORLD, &iwi_tracer.comm) == MPI_SUCCESS;

    if (!is_fine) {
        return false;
    }
    iwi_tracer.has_own_comm = true;
    (void)PMPI_Comm_set_errhandler(iwi_tracer.comm, MPI_ERRORS_RETURN);
    is_fine = agree_on_folder(text, sizeof text);
    if (is_fine && !prepare(has_threads)) {
        (void)snprintf(text, sizeof text, "%s", iwi_tracer.failure_text);
        is_fine = false;
    }
    if (!agree(is_fine, text)) {
        return false;
    }
    const struct iwi_local_clock clock = {wall_clock, NULL, true};
    if (iwi_clock_sync(iwi_tracer.comm, &clock, 0, &iwi_tracer.clock_begin) != IW_OK) {
        iwi_tracer.clock_begin = iwi_clock_identity((int64_t)iwi_wall_ns());
    }
    return true;
}

/* MPI_Init was not seen: processes cannot be brought together before MPI_Finalize. */
static bool start_alone(bool has_threads)
{
    char text[sizeof iwi_tracer.folder + 256] = "";

    iwi_tracer.comm = MPI_COMM_WORLD;
    iwi_tracer.clock_begin = iwi_clock_identity((int64_t)iwi_wall_ns());
    if (!iwi_trace_folder_is_free(iwi_tracer.folder, text, sizeof text) ||
        !iwi_trace_folder_join(iwi_tracer.folder, text, sizeof text) || !prepare(has_threads)) {
        iwi_tracer_message("not traced: rank %d: %s", iwi_tracer.rank,
                           text[0] != '\0' ? text : iwi_tracer.failure_text);
        return false;
    }
    return true;
}

static void step_aside(void)
{
    if (iwi_tracer.has_own_comm) {
        (void)PMPI_Comm_free(&iwi_tracer.comm);
    }
    for (struct iwi_thread *thread = iwi_tracer.threads; thread != NULL;) {
        struct iwi_thread *next = thread->next;
        (void)unlink(thread->path);
        iwi_thread_free(thread);
        thread = next;
    }
    iwi_tracer.threads = NULL;
    iwi_self = NULL;
    iwi_folder_leave(iwi_tracer.folder);
    iwi_tracer.state = IWI_TRACER_ASIDE;
}

void iwi_tracer_start(bool is_collective, bool has_threads, uint64_t init_enter_ns, unsigned init_call)
{
    int expected = IWI_TRACER_NEW;

    if (!atomic_compare_exchange_strong(&iwi_tracer.state, &expected, IWI_TRACER_ASIDE)) {
        return;
    }
    iwi_tracer.pid = getpid();
    (void)PMPI_Comm_rank(MPI_COMM_WORLD, &iwi_tracer.rank);
    (void)PMPI_Comm_size(MPI_COMM_WORLD, &iwi_tracer.size);
    if (!iwi_guard_size(iwi_tracer.size)) {
        return;
    }
    read_environment();
    if (!(is_collective ? start_together(has_threads) : start_alone(has_threads))) {
        step_aside();
        return;
    }
    iwi_tracer.state = IWI_TRACER_RUNNING;
    if (is_collective) {
        iwi_self->call = (uint16_t)init_call;
        iwi_self->enter_ns = init_enter_ns;
        iwi_self->gap_cpu_ns = 0;
        iwi_self->is_inside = true;
        iwi_write_enter(iwi_self);
        iwi_leave(iwi_self);
    }
}

struct iwi_thread *iwi_thread_begin(void)
{
    int is_initialized = 0;
    int is_finalized = 0;

    if (iwi_tracer.state == IWI_TRACER_NEW) {
        (void)PMPI_Initialized(&is_initialized);
        (void)PMPI_Finalized(&is_finalized);
        if (!is_initialized || is_finalized) {
            iwi_tracer.was_called_before_init = true;
            return NULL;
        }
        iwi_tracer_start(false, true, 0, 0);
        return iwi_self;
    }
    return iwi_tracer.state == IWI_TRACER_RUNNING && iwi_tracer.failure == 0 ? iwi_thread_take() : NULL;
}

void iwi_tracer_switch(bool is_on)
{
    if (iwi_tracer.failure != 0) {
        return;
    }
    iwi_tracer.is_on = is_on;
    struct iwi_thread *thread = iwi_self != NULL ? iwi_self : iwi_thread_begin();
    if (thread != NULL && !thread->is_inside && thread->is_writing != is_on) {
        uint64_t now_ns = iwi_thread_ns(&thread->clock);
        iwi_thread_switch(thread, now_ns);
        thread->leave_cpu_ns = iwi_cpu_ns(&thread->clock, now_ns);
    }
}

__attribute__((destructor)) static void tell_if_unfinished(void)
{
    if (iwi_tracer.state == IWI_TRACER_RUNNING && iwi_tracer.pid == getpid() && iwi_tracer.rank == 0) {
        iwi_tell_how_to_finish("the program ended without MPI_Finalize");
    } else if (iwi_tracer.state == IWI_TRACER_NEW && iwi_tracer.was_called_before_init &&
               iwi_guard_is_first()) {
        iwi_tracer_message("not traced: MPI_Init was not called; MPI sessions are not supported");
    } else if (iwi_tracer.state == IWI_TRACER_NEW && iwi_guard_is_whole_program()) {
        const char *folder = getenv("IDLEWAVE_TRACE_DIR"); // NOLINT(concurrency-mt-unsafe): at the end

        /* of a script, the programs that it starts may have left their trace there */
        if (folder != NULL && (rmdir(folder) == 0 || errno == ENOENT) && iwi_guard_is_first()) {
            iwi_tracer_message("not traced: the program did not start MPI");
        }
    }
}
