/* Recordings as noise.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_RECORDING_NOISE_H
#define IWI_RECORDING_NOISE_H

#include <stdbool.h>

#include <idlewave/recording.h>

struct iwi_recorded;

/* As iw_noise_add_recording(), with a name for messages. */
IW_NODISCARD iw_status iwi_noise_add_named_recording(const iw_log *log, iw_noise *noise, const char *name,
                                                     const iw_recording *recording);

struct iwi_recorded_input {
    const char *name;         /* for messages */
    const char *const *names; /* the same of each recording */
    const iw_recording *const *recordings;
    size_t count;
    int64_t most_ns; /* no more of them is used; 0: as much as the shortest has */
};

/* As iw_noise_add_recordings(). */
IW_NODISCARD iw_status iwi_noise_add_input(const iw_log *log, iw_noise *noise,
                                           const struct iwi_recorded_input *input);

/* What each source took on each CPU. */
struct iwi_source_tally;

/* The same of what iwi_recording_drop() would leave, by recording and source, of recordings that have been
 * checked. What is left of nothing holds its place. *tallies is NULL at first, kept for further calls with
 * this input, and to be freed with free(). */
IW_NODISCARD iw_status iwi_noise_add_rest(const iw_log *log, iw_noise *noise,
                                          const struct iwi_recorded_input *input,
                                          const bool *const *is_dropped, struct iwi_source_tally **tallies);

/* The same; recordings are freed and become NULL as soon as they are not needed any more, so that there is
 * room for many. The caller frees those that are left. */
IW_NODISCARD iw_status iwi_noise_take_recordings(const iw_log *log, iw_noise *noise, const char *name,
                                                 const char *const *names, iw_recording **recordings,
                                                 size_t count);

/* Makes room for one more source: the two smallest of a recording become one, "other". False if no recording
 * has two. */
bool iwi_recorded_fold(iw_noise *noise);

/* Of a node. More cores than this meet further copies of them. */
size_t iwi_recorded_fewest_cpus(const struct iwi_recorded *recorded);

void iwi_recorded_free(struct iwi_recorded *recorded);

#endif
