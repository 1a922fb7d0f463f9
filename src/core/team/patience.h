/* How long who waits looks by itself, before it lets others have the CPU.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Who sleeps is woken late, so a wait that ends soon is better spent looking. But where other programs want
 * the CPUs, the one waited for may have been put off its own, for milliseconds, and who looks all that time
 * uses up the share of CPU time that it needs afterwards. Hence the limit, in time, that follows how long
 * the waits of a member last.
 */
#ifndef IWI_PATIENCE_H
#define IWI_PATIENCE_H

#include <stdbool.h>
#include <stdint.h>

/* Of one member. */
struct iwi_patience {
    int64_t usual_ns; /* what its waits last of late; longer ones than looking may last count as none */
    bool is_crowded;  /* more members on this node than CPUs: looking keeps others from their work */
};
void iwi_patience_init(struct iwi_patience *patience, bool is_crowded);

/* Looking may last so long in one wait. */
int64_t iwi_patience_limit_ns(const struct iwi_patience *patience);

/* A wait that lasted so long is over. */
void iwi_patience_learn(struct iwi_patience *patience, int64_t waited_ns);

/* One wait; all zero before the first look. */
struct iwi_vigil {
    uint32_t looks, naps;
    int64_t begin_ns; /* 0: it has only just begun */
};

/* After a look in vain. True: an instant has passed, look again. False: that has been tried for long enough.
 */
bool iwi_vigil_goes_on(struct iwi_vigil *vigil, const struct iwi_patience *patience);

/* The same where nobody rings: an instant, then yields, then naps of up to 0.1 ms. */
void iwi_vigil_pause(struct iwi_vigil *vigil, const struct iwi_patience *patience);

/* What was waited for has come. */
void iwi_vigil_end(const struct iwi_vigil *vigil, struct iwi_patience *patience);

#endif
