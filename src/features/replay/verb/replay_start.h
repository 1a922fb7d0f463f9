/* Handing a replay over to the program: shared memory, environment, the injector process.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IW_CLI_REPLAY_START_H
#define IW_CLI_REPLAY_START_H

#include "features/replay/verb/replay_plan.h"

/* fifo takes a CPU, so the rank must stay on one: pins this process, and with it the program, unless it is on
 * one already; *was_free_p: it was not. */
int replay_pin(struct node_log *node_log, bool *was_free_p);

/* Shares the plans with this process after exec, and sets its environment. With fifo the injector process
 * waits beside it from then on. */
int replay_hand_over(struct node_log *node_log, const struct replay *replay, const char *library);

/* replay_fifo.c: a process of its own that makes detours when the page asks for it, and ends with this one.
 */
int replay_start_injector(struct node_log *node_log, const struct replay *replay, iw_replay_page *page);

#endif
