/* What recordings that are made from others share: their head, and lists of what there is, for messages.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_RECORDING_HEAD_H
#define IWI_RECORDING_HEAD_H

#include <stdbool.h>

#include <idlewave/recording.h>

/* Whether an attribute is about a recording as a whole, such as a count of events or the instant of its
 * start, and so wrong for a part of it or for several. That kernel events were lost stays: it tells that
 * sources may be missing, also in a part. */
bool iwi_is_of_the_whole(const char *attribute);

/* The time that all CPUs were recorded for; 0 of none. */
int64_t iwi_common_length_ns(const iw_recording *recording);

/* Adds what a recording amounts to. */
void iwi_edit_count(iw_edit *edit, const iw_recording *recording);

/* "0-3,8" in `buf`; "..." ends what does not fit. */
char *iwi_list_cpus(const iw_recording *recording, char *buf, size_t size);

/* "irq/local_timer, hardware" in `buf`; "..." ends what does not fit. Only sources with detours. */
char *iwi_list_sources(const iw_recording *recording, char *buf, size_t size);

/* "irq/local_timer"; the class alone where there is no name. */
enum { IWI_SOURCE_TEXT_SIZE = IW_SOURCE_NAME_SIZE + 16 };
char *iwi_source_text(const iw_source *source, char buf[IWI_SOURCE_TEXT_SIZE]);

/* Time t of a recording is start_ns + t + drift * t on the wall clock. */
struct iwi_wall {
    int64_t start_ns; /* ns since 1970, UTC */
    double drift;     /* how much faster the wall clock went than the recording's own: 2e-5 is 20 ppm */
    double error_ns;  /* by the estimate of the kernel; NaN: not said */
    bool is_synchronised;
};

/* False: it does not say. */
bool iwi_recording_wall(const iw_recording *recording, struct iwi_wall *wall_p);

/* ---- merging and appending ---- */

/* As readers of noise files have it. */
enum { IWI_MOST_CPUS = 1 << 16 };

struct iwi_join {
    const iw_log *log;
    const iw_merge_input *inputs;
    size_t count;
    uint32_t **maps; /* by input and source: its number in the joined recording */
    size_t map_count;
    iw_recording *joined;
    iw_edit edit;
};

/* A recording without detours that has the sources and attributes of all inputs. */
IW_NODISCARD iw_status iwi_join_begin(struct iwi_join *j, size_t cpu_count);

/* Releases all; hands the recording over if all went well. Returns `status`. */
IW_NODISCARD iw_status iwi_join_end(struct iwi_join *j, iw_status status, iw_recording **recording_p,
                                    iw_edit *edit_p);

#endif
