/* Ctrl-C, and a batch system's polite end, asked for instead of obeyed at once.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IW_CLI_INTERRUPT_H
#define IW_CLI_INTERRUPT_H

#include <signal.h>
#include <stdbool.h>

enum { INTERRUPT_SIGNALS = 3 };

struct interrupt {
    struct sigaction before[INTERRUPT_SIGNALS];
};

/* From now on the first SIGINT, SIGTERM or SIGHUP is only noted; one that comes half a second later or more
 * ends the process. Those that were ignored, as in background jobs and by nohup, stay so. */
void interrupt_catch(struct interrupt *interrupt);
void interrupt_release(const struct interrupt *interrupt);

bool interrupt_has_come(void);

#endif
