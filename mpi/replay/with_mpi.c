/* The library for programs of an MPI: noise from MPI_Init to MPI_Finalize.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The process that starts MPI is the one that is to meet noise, be it started directly or by a script. All
 * ranks of MPI_COMM_WORLD take part, also those where something failed: at the end their counts are added up.
 */
#include "mpi/replay/with_mpi.h"

#include <link.h>
#include <string.h>

#include <idlewave/status.h>

#include "features/replay/injector.h"
#include "kit/launch/libraries.h"
#include "mpi/clock_sync.h"
#include "mpi/replay/replay.h"

static bool is_wanted; /* at MPI_Init; the variable is gone afterwards */
static int world_size;

/* ---- programs of another MPI ---- */

static int look_at_library(struct dl_phdr_info *info, size_t size, void *arg)
{
    const char *mpi;

    (void)size;
    if (info->dlpi_name != NULL && iwi_library_role_of(info->dlpi_name, &mpi) == IWI_LIBRARY_MPI &&
        (mpi == NULL || strcmp(mpi, IW_MPI_NAME) != 0)) {
        *(bool *)arg = true;
    }
    return 0;
}

static bool is_foreign(void)
{
    bool is_there = false;

    (void)dl_iterate_phdr(look_at_library, &is_there);
    return is_there;
}

/* ---- starting ---- */

static int64_t read_clock(void *arg)
{
    (void)arg;
    return iwi_now_ns();
}

/* Ranks of one host read the same clock; others agree on that of rank 0. */
static struct iwi_replay_clock agree_on_clock(void)
{
    const struct iwi_local_clock host_clock = {read_clock, NULL, true};
    struct iwi_clock_model model;

    if (iwi_clock_sync(MPI_COMM_WORLD, &host_clock, 0, &model) != IW_OK) {
        return (struct iwi_replay_clock){.is_known = false};
    }
    const int64_t now_ns = iwi_now_ns();
    return (struct iwi_replay_clock){
        .is_known = true, .offset_ns = iwi_clock_to_reference(&model, now_ns) - now_ns, .at_ns = now_ns};
}

void iwi_replay_after_init(int code)
{
    struct iwi_replay_clock clock = {.is_known = false};

    if (code != MPI_SUCCESS || is_wanted || !iwi_replay_is_wanted()) {
        return;
    }
    if (is_foreign()) {
        iwi_replay_step_aside("no noise: the program's MPI is not " IW_MPI_NAME);
        return;
    }
    is_wanted = true;
    (void)PMPI_Comm_size(MPI_COMM_WORLD, &world_size);
    if (world_size > 1) {
        clock = agree_on_clock();
    }
    iwi_replay_start(&clock);
}

/* ---- phases ---- */

void iwi_replay_after_collective(MPI_Comm comm)
{
    int size = 0, is_between_groups = 0;

    if (iwi_replay.state != IWI_REPLAY_NOISY || iwi_replay.page->sync != IW_SYNC_PHASE) {
        return;
    }
    if (comm != MPI_COMM_WORLD) {
        (void)PMPI_Comm_size(comm, &size);
        (void)PMPI_Comm_test_inter(comm, &is_between_groups);
        if (size != world_size || is_between_groups) {
            return;
        }
    }
    iwi_replay_phase();
}

/* ---- the end ---- */

static void add_up(const iw_inject_counts *counts, bool was_noisy, struct iwi_replay_totals *totals)
{
    double own[] = {1.0,
                    was_noisy,
                    (double)counts->made_count,
                    (double)counts->skipped_count,
                    counts->made_ns,
                    counts->skipped_ns,
                    counts->has_ended};
    double sums[sizeof own / sizeof own[0]] = {0};
    double late_max_ns = counts->late_max_ns;

    (void)PMPI_Reduce(own, sums, sizeof own / sizeof own[0], MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    (void)PMPI_Reduce(&late_max_ns, &totals->late_max_ns, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    totals->ranks = sums[0];
    totals->noisy_ranks = sums[1];
    totals->made = sums[2];
    totals->skipped = sums[3];
    totals->made_ns = sums[4];
    totals->skipped_ns = sums[5];
    totals->ended_ranks = sums[6];
}

void iwi_replay_before_finalize(void)
{
    const bool was_noisy = iwi_replay.state == IWI_REPLAY_NOISY;
    struct iwi_replay_totals totals = {0};
    iw_inject_counts counts;
    int rank = 0;

    if (!is_wanted) {
        return;
    }
    is_wanted = false;
    iwi_replay_stop(&counts);
    add_up(&counts, was_noisy, &totals);
    (void)PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0 && (iwi_replay.page == NULL || !iwi_replay.page->is_quiet)) {
        iwi_replay_report(&totals);
    }
}

/* At MPI_Abort, and where a program ends without MPI_Finalize. */
void iwi_replay_before_abort(void)
{
    iw_inject_counts counts;

    if (iwi_replay.state != IWI_REPLAY_STOPPED) {
        iwi_replay_stop(&counts);
    }
}

__attribute__((destructor)) static void end(void)
{
    iwi_replay_before_abort();
}

/* ---- MPI_Pcontrol, which has no fixed parameters ---- */

IW_API int MPI_Pcontrol(const int level, ...)
{
    (void)level;
    iwi_replay_phase();
    return MPI_SUCCESS;
}

IW_API void mpi_pcontrol_f08_(const MPI_Fint *level);
IW_API void mpi_pcontrol_f08_(const MPI_Fint *level)
{
    (void)level;
    iwi_replay_phase();
}

#ifdef OPEN_MPI
IW_API void mpi_pcontrol_(const MPI_Fint *level);
IW_API void mpi_pcontrol_(const MPI_Fint *level)
{
    (void)level;
    iwi_replay_phase();
}
IW_API void mpi_pcontrol(const MPI_Fint *level) __attribute__((alias("mpi_pcontrol_")));
IW_API void mpi_pcontrol__(const MPI_Fint *level) __attribute__((alias("mpi_pcontrol_")));
IW_API void MPI_PCONTROL(const MPI_Fint *level) __attribute__((alias("mpi_pcontrol_")));
#endif
