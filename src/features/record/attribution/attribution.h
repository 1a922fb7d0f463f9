/* Who took the time: what the kernel tells about the measured CPUs, laid upon the detours.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Methods, best first; the first that works is used. A method is one file with one ops struct and one line in
 * attribution.c. It turns what the kernel reports into shares: at this instant, that source held a measured
 * CPU for so long. A share belongs to the detour in which its instant lies.
 */
#ifndef IWI_ATTRIBUTION_H
#define IWI_ATTRIBUTION_H

#include <idlewave/measure.h>

#include "features/record/attribution/method.h"
#include "features/record/record.h"

extern const struct iwi_method_ops iwi_method_osnoise, iwi_method_switches;

enum { IWI_ATTRIBUTION_NOTE_SIZE = 1024 };

/* What one source took of a detour. */
struct iwi_taker {
    uint32_t source;
    double ns;
};

struct iwi_attributor {
    struct iwi_method method; /* ops NULL: none */
    struct iwi_watched *watched;
    char note[IWI_ATTRIBUTION_NOTE_SIZE]; /* which better methods did not work and why; "" if none */
    uint32_t unseen;          /* source of what no event explains; 0, unknown, where not all is reported */
    double *blind_until_ns;   /* of each place: events were lost up to here */
    uint64_t lost_before;     /* events lost before the recording began */
    size_t *part_capacity;    /* of each place, for the arrays of its detours */
    struct iwi_taker *takers; /* of the detour at hand */
    size_t taker_capacity;
    uint64_t shares, matched; /* laid, and those of them that met a detour */
    double recorder_ns;       /* the recorder's own time, left out of detours */
};

/* Takes `watched` over, also if it fails: close in any case. Opens the best method, or exactly the one that
 * `opts` want (then IW_ERR_IO with the reason logged, if it does not work). */
IW_NODISCARD iw_status iwi_attribution_open(const iw_log *log, const char *root, const iw_measure_opts *opts,
                                            const struct iwi_clock *clock, struct iwi_watched *watched,
                                            size_t count, iw_recording *recording,
                                            struct iwi_attributor *attribution);

/* The recording begins: forgets what the kernel has reported until now. */
IW_NODISCARD iw_status iwi_attribution_begin(struct iwi_attributor *attribution);

/* Forgets what has been reported for a place and is not laid yet: it will see no further detours. */
void iwi_attribution_forget(struct iwi_attributor *attribution, size_t place);

/* Fetches what the kernel has reported until now. */
IW_NODISCARD iw_status iwi_attribution_drain(struct iwi_attributor *attribution);

/* Names the sources of detours first..end-1 of a place, whose times count from tick `zero`. Detours are given
 * in their order, after all shares up to the end of the last have been drained. Shares that lie between
 * detours, as those of interruptions below the threshold, are counted and forgotten. The recorder's own time
 * is taken out: such detours become shorter, and are removed where less than the threshold is left. */
IW_NODISCARD iw_status iwi_attribute_detours(struct iwi_attributor *attribution, size_t place, uint64_t zero,
                                             size_t first, size_t end);

void iwi_attribution_close(struct iwi_attributor *attribution);

#endif
