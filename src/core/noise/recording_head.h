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

#endif
