/* The library for programs without MPI: noise from the program's beginning to its end.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Only the process that `idlewave replay` has become meets it, none that it starts. One that ends by _exit(),
 * as some shells do, ends its noise with it and says nothing.
 */
#include "mpi/replay/replay.h"

__attribute__((constructor)) static void begin(void)
{
    const struct iwi_replay_clock clock = {.is_known = false};

    if (iwi_replay_is_owner()) {
        iwi_replay_start(&clock);
    }
}

__attribute__((destructor)) static void end(void)
{
    struct iwi_replay_totals totals = {.ranks = 1, .noisy_ranks = 1};
    iw_inject_counts counts;

    const bool was_noisy = iwi_replay.state == IWI_REPLAY_NOISY;

    if (iwi_replay.page == NULL || !iwi_replay_is_here()) {
        return;
    }
    iwi_replay_stop(&counts);
    totals.made = (double)counts.made_count;
    totals.skipped = (double)counts.skipped_count;
    totals.made_ns = counts.made_ns;
    totals.skipped_ns = counts.skipped_ns;
    totals.late_max_ns = counts.late_max_ns;
    totals.ended_ranks = counts.has_ended;
    if (!iwi_replay.page->is_quiet && (was_noisy || counts.made_count > 0)) {
        iwi_replay_report(&totals);
    }
}
