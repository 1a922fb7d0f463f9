/* What the writers of recordings make of one.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWT_NOISE_SAMPLE_H
#define IWT_NOISE_SAMPLE_H

#include <idlewave/analysis.h>

/* A recording of two CPUs (0 and 5) for 60 s: 2 us of local_timer, 10 ms of cron on CPU 0, 5 us of cron on
 * CPU 5. The host is node07. Freed by iw_recording_free(). */
iw_recording *noise_sample(void);

/* What is written of it, to be freed; success is asserted, without a message. The file is called "node.h5".
 */
char *noise_written(const iw_recording *recording, bool has_spectrum, iw_doc_format format);

/* Line breaks in the text become spaces, and runs of spaces one: what wrapping and tables add. */
void noise_assert_says(const iw_recording *recording, const char *part);
void noise_assert_silent(const iw_recording *recording, const char *part);

#endif
