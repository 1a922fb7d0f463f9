/* Messages of a verb that a launcher starts many times: one process of each node tells what all of them meet.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IW_CLI_SPEAKER_H
#define IW_CLI_SPEAKER_H

#include <stdbool.h>
#include <stdint.h>

#include <idlewave/idlewave.h>

#include "ui.h"

/* Stays where it was begun: its log points to it. */
struct speaker {
    iw_log below; /* of the ui, as it was */
    bool is_one_of_many, has_spoken;
    uint32_t rank; /* as the launcher says; 0 without one */
    iw_log log;    /* for calls of the library */
};

void speaker_init(struct speaker *speaker, const struct ui *ui);

/* From here on, and until it leaves, it says what the ui is told to say. */
void speaker_take_ui(struct speaker *speaker, struct ui *ui);
void speaker_leave_ui(struct speaker *speaker, struct ui *ui);

/* Says why; returns UI_ERROR. */
int speaker_fail(struct speaker *speaker, const char *format, ...) IW_PRINTF(2, 3);

#endif
