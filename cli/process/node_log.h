/* Messages of a verb that a launcher starts many times: one process of each node tells what all of them meet.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IW_CLI_NODE_LOG_H
#define IW_CLI_NODE_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include <idlewave/idlewave.h>

#include "process/ui.h"

/* Stays where it was begun: its log points to it. */
struct node_log {
    iw_log below; /* of the ui, as it was */
    bool is_one_of_many, has_spoken;
    uint32_t rank; /* as the launcher says; 0 without one */
    iw_log log;    /* for calls of the library */
};

void node_log_init(struct node_log *node_log, const struct ui *ui);

/* From here on, and until it leaves, it says what the ui is told to say. */
void node_log_take_ui(struct node_log *node_log, struct ui *ui);
void node_log_leave_ui(struct node_log *node_log, struct ui *ui);

/* Says why; returns UI_ERROR. */
int node_log_fail(struct node_log *node_log, const char *format, ...) IW_PRINTF(2, 3);

#endif
