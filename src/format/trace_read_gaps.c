/* What a trace lacks: counted while it is read, told once for each kind.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdio.h>
#include <string.h>

#include "format/trace_read.h"

/* How many, of what, where first; then what is done about it. */
struct text {
    const char *what, *consequence;
};

static const struct text texts[IWI_GAPS] = {
    [IWI_GAP_OPAQUE] =
        {"calls of one-sided communication, files, processes or other things that are not followed",
         "their time counts as work, their communication is not simulated"},
    [IWI_GAP_NO_EVENT] =
        {"point-to-point calls without a message in the trace",
         "if their partner was not MPI_PROC_NULL, these messages are lost; their time counts as "
         "work"},
    [IWI_GAP_COLLECTIVE] = {"collective calls without their communicator in the trace",
                            "their time counts as work, their communication is not simulated"},
    [IWI_GAP_INTERCOMM] = {"collective calls on intercommunicators",
                           "their time counts as work, their communication is not simulated"},
    [IWI_GAP_MEMBERS] = {"calls on communicators whose members the trace does not tell",
                         "their time counts as work, their communication is not simulated"},
    [IWI_GAP_SOURCE] = {"receives without their source in the trace",
                        "each was given a message to its rank, in an order in which they can have been sent"},
    [IWI_GAP_UNSENT] = {"receives without a send that fits", "their time counts as work"},
    [IWI_GAP_UNRECEIVED] = {"sends without a receive that fits", "their time counts as work"},
    [IWI_GAP_COMPLETION] = {"waits and tests without the requests that they completed",
                            "requests were taken as completed in the order in which they were made"},
    [IWI_GAP_NEVER_COMPLETED] = {"requests that are never completed in the trace", "nothing waits for them"},
    [IWI_GAP_UNKNOWN_REQUEST] = {"completions of requests that were never made in the trace",
                                 "they are left out"},
    [IWI_GAP_SIZES] = {"collective calls without their sizes in the trace", "they are taken as empty"},
    [IWI_GAP_THREADS] =
        {"ranks that called MPI from several threads",
         "their calls were put into one sequence by time: what ran at the same time now runs in turn"},
    [IWI_GAP_CLOCK] = {"events earlier than the one before them", "they are taken as simultaneous"},
    [IWI_GAP_OFF] = {"places where recording was switched off",
                     "what happened then is missing, its time is left out"},
};

void iwi_gap_note(struct iwi_gaps *gaps, enum iwi_gap gap, uint32_t rank, uint64_t call, const char *name)
{
    if (gaps->of[gap].count++ == 0) {
        gaps->of[gap].rank = rank;
        gaps->of[gap].call = call;
        (void)snprintf(gaps->of[gap].name, sizeof gaps->of[gap].name, "%s", name != NULL ? name : "");
    }
}

void iwi_gaps_log(const iw_log *log, const char *path, const struct iwi_gaps *gaps)
{
    if (gaps->note[0] != '\0') {
        iwi_warn(log, "'%s' is not complete: %s", path, gaps->note);
    }
    for (size_t i = 0; i < IWI_GAPS; i++) {
        const char *name = gaps->of[i].name;

        if (gaps->of[i].count > 0) {
            iwi_warn(log, "'%s': %s: %" PRIu64 " (first: rank %" PRIu32 ", MPI call %" PRIu64 "%s%s); %s",
                     path, texts[i].what, gaps->of[i].count, gaps->of[i].rank, gaps->of[i].call,
                     name[0] != '\0' ? ", " : "", name, texts[i].consequence);
        }
    }
}
