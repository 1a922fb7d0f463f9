/* What a branch more costs the loop that sees detours (item H2 of docs/validation/papers.md): that of
 * `record`, and the same loop that also keeps the smallest gap, as the benchmark did which the paper made
 * faster. Prints how long a turn takes at its best, and in the best of many short runs, which others on the
 * machine disturb less.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdint.h>
#include <stdio.h>

#include "features/record/probe/loops.h"

#if defined(__x86_64__)

enum { TURNS = 20000, RUNS = 20000, ROOM = 4096 };

static int64_t starts[ROOM], gaps[ROOM];

IWI_LOOP uint64_t read_tsc(void *unused)
{
    (void)unused;
    return __builtin_ia32_rdtsc();
}

struct run {
    uint64_t least, elapsed;
};

/* As iwi_selfish_loop(), with turns counted where that compares with the end of the window. */
IWI_LOOP struct run turns(bool keeps_least, uint64_t threshold, struct iwi_marks *marks)
{
    const uint64_t first = read_tsc(NULL);
    uint64_t last = first, least = UINT64_MAX;

    for (uint64_t turn = 0;; turn++) {
        const uint64_t now = read_tsc(NULL);

        if (IWI_RARE(now - last > threshold)) {
            iwi_keep_gap(marks, last, now - last);
        }
        if (keeps_least && IWI_RARE(now - last < least)) {
            least = now - last;
        }
        last = now;
        if (IWI_RARE(turn >= TURNS)) {
            break;
        }
    }
    return (struct run){least, last - first};
}

IWI_UNTOUCHED static struct run with_two(uint64_t threshold, struct iwi_marks *marks)
{
    return turns(false, threshold, marks);
}

IWI_UNTOUCHED static struct run with_three(uint64_t threshold, struct iwi_marks *marks)
{
    return turns(true, threshold, marks);
}

int main(void)
{
    struct iwi_marks marks = {.start = starts, .value = gaps, .room = ROOM};
    uint64_t least = UINT64_MAX, two = UINT64_MAX, three = UINT64_MAX;

    for (int i = 0; i < RUNS; i++) {
        const struct run a = with_two(100000, &marks), b = with_three(100000, &marks);

        two = a.elapsed < two ? a.elapsed : two;
        three = b.elapsed < three ? b.elapsed : three;
        least = b.least < least ? b.least : least;
    }
    printf("smallest gap with three branches %llu ticks\n", (unsigned long long)least);
    printf("a turn with two branches %.2f ticks, with three %.2f: %.1f %% more\n", (double)two / TURNS,
           (double)three / TURNS, 100 * ((double)three / (double)two - 1));
    return 0;
}

#else

int main(void)
{
    puts("needs the time-stamp counter of x86-64");
    return 0;
}

#endif
