/* Which recorded sources become sources of noise of their own: the largest over all recordings.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_RECORDING_LABELS_H
#define IWI_RECORDING_LABELS_H

#include <idlewave/noise.h>
#include <idlewave/recording.h>

/* Name of the source that stands for all without a label of their own. */
extern const char iwi_other_sources[];

/* Zeroed to begin with; release it also after a failure. */
struct iwi_labels {
    size_t recording_count;
    uint32_t **number; /* by recording and its source: number among all, told apart by class and name */
    iw_recording *all; /* only its list of sources */
    double *total_ns;  /* by number: time taken on all CPUs */
    uint8_t *label;    /* by number; those without one of their own share the last */
    size_t count;      /* of labels, with "other", if there is one */
    char *names[IW_NOISE_MAX_SOURCES];
};

/* Adds up what each source took within `length_ns`. */
IW_NODISCARD iw_status iwi_labels_init(const iw_log *log, struct iwi_labels *labels,
                                       const iw_recording *const *recordings, size_t recording_count,
                                       int64_t length_ns);

/* Whether any source took time. */
bool iwi_labels_have_time(const struct iwi_labels *labels);

/* Gives labels to at most `room` > 0 sources, the one that took most first. */
IW_NODISCARD iw_status iwi_labels_choose(const iw_log *log, struct iwi_labels *labels, size_t room);

/* Frees all, also the names that are still there. */
void iwi_labels_release(struct iwi_labels *labels);

#endif
