/* Looks for a while that follows how long waits last, then yields or naps.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/team/patience.h"

#include <sched.h>

#include "core/base/base.h"
#include "core/base/monotonic.h"

/* The least is about what it costs to be woken. The most is what the rounds of members that have CPUs of
 * their own differ by; whoever is away for longer has lost its CPU to somebody. */
enum { LEAST_NS = 20000, MOST_NS = 1000000, CROWDED_NS = 1000, FIRST_USUAL_NS = 50000 };

/* Looks before the first one at the clock: most waits are over then. */
enum { LOOKS_AT_ONCE = 32 };

void iwi_patience_init(struct iwi_patience *patience, bool is_crowded)
{
    *patience = (struct iwi_patience){FIRST_USUAL_NS, is_crowded};
}

int64_t iwi_patience_limit_ns(const struct iwi_patience *patience)
{
    return patience->is_crowded ? CROWDED_NS : iwi_min(MOST_NS, iwi_max(LEAST_NS, 2 * patience->usual_ns));
}

void iwi_patience_learn(struct iwi_patience *patience, int64_t waited_ns)
{
    const int64_t useful_ns = waited_ns <= MOST_NS ? waited_ns : 0;

    patience->usual_ns += (useful_ns - patience->usual_ns) / 8;
}

static void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

bool iwi_vigil_goes_on(struct iwi_vigil *vigil, const struct iwi_patience *patience)
{
    if (vigil->looks < LOOKS_AT_ONCE) {
        vigil->looks++;
    } else if (vigil->begin_ns == 0) {
        vigil->begin_ns = iwi_now_ns();
    } else if (iwi_now_ns() - vigil->begin_ns >= iwi_patience_limit_ns(patience)) {
        return false;
    }
    relax();
    return true;
}

/* Yielding may be in vain: kernels that group tasks by session let a task yield to others of its group only,
 * and MPICH's launcher makes a session for each process. */
void iwi_vigil_pause(struct iwi_vigil *vigil, const struct iwi_patience *patience)
{
    enum { YIELDS = 30, SHORTEST_NS = 5000, LONGEST_NS = 100000 };

    if (iwi_vigil_goes_on(vigil, patience)) {
        return;
    }
    vigil->naps++;
    if (vigil->naps <= YIELDS) {
        (void)sched_yield();
    } else {
        const int64_t nap_ns = iwi_min(LONGEST_NS, SHORTEST_NS * (int64_t)(vigil->naps - YIELDS));
        const struct timespec nap = {.tv_nsec = nap_ns};

        (void)nanosleep(&nap, NULL);
    }
}

void iwi_vigil_end(const struct iwi_vigil *vigil, struct iwi_patience *patience)
{
    if (vigil->looks > 0) {
        iwi_patience_learn(patience, vigil->begin_ns == 0 ? 0 : iwi_now_ns() - vigil->begin_ns);
    }
}
