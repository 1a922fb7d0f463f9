/* Chooses the clock and finds out how fast it ticks.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/record/clock/clock.h"

#include <math.h>
#include <time.h>

#include "core/base/base.h"

/* Ties closer than this make no rate: what they are wrong by would be too large a part of it. */
static const int64_t LEAST_SPAN_NS = 10000000;

static bool is_same_clock(const struct iwi_clock_bridge *bridge)
{
    return bridge->clock->ops == &iwi_clock_monotonic_raw;
}

void iwi_clock_bridge_begin(struct iwi_clock_bridge *bridge, const struct iwi_clock *clock)
{
    *bridge = (struct iwi_clock_bridge){.clock = clock};
    if (!is_same_clock(bridge)) {
        bridge->earlier = bridge->later = iwi_clock_tie(clock);
    }
}

void iwi_clock_bridge_renew(struct iwi_clock_bridge *bridge)
{
    struct iwi_tie now;

    if (is_same_clock(bridge)) {
        return;
    }
    now = iwi_clock_tie(bridge->clock);
    if (now.raw_ns - bridge->later.raw_ns >= LEAST_SPAN_NS) {
        bridge->earlier = bridge->later;
    }
    bridge->later = now;
}

/* Ticks per ns: between the ties, or what the clock was calibrated to while there is only one. */
static double rate(const struct iwi_clock_bridge *bridge)
{
    const int64_t span_ns = bridge->later.raw_ns - bridge->earlier.raw_ns;

    return span_ns >= LEAST_SPAN_NS ? (double)(bridge->later.ticks - bridge->earlier.ticks) / (double)span_ns
                                    : bridge->clock->hz / 1e9;
}

uint64_t iwi_clock_bridge_ticks(const struct iwi_clock_bridge *bridge, int64_t raw_ns)
{
    const bool is_late = raw_ns > bridge->later.raw_ns;
    const struct iwi_tie *from = is_late ? &bridge->later : &bridge->earlier;
    int64_t ticks;

    if (is_same_clock(bridge)) {
        return (uint64_t)iwi_max(raw_ns, 0);
    }
    /* differences of some seconds are far below 2^53: exact to the tick */
    ticks = llround((double)(raw_ns - from->raw_ns) * rate(bridge));
    return ticks >= 0 || from->ticks >= (uint64_t)-ticks ? from->ticks + (uint64_t)ticks : 0;
}

/* The best first; CLOCK_MONOTONIC_RAW where none is usable. */
static const struct iwi_clock_ops *const counters[] = {
#if defined(__x86_64__)
    &iwi_clock_tsc,
#elif defined(__aarch64__)
    &iwi_clock_cntvct,
#else
    NULL,
#endif
};

static const int64_t FIRST_CALIBRATION_NS = 20000000;
static const double NS_PER_S = 1e9;

enum { TIE_ATTEMPTS = 64 };

static int64_t raw_now_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Interruptions between the readings only widen an attempt, so the tightest is the best. */
struct iwi_tie iwi_clock_tie(const struct iwi_clock *clock)
{
    struct iwi_tie best = {.width_ticks = UINT64_MAX};

    for (int i = 0; i < TIE_ATTEMPTS; i++) {
        const uint64_t before = iwi_clock_now(clock);
        const int64_t raw_ns = raw_now_ns();
        const uint64_t width = iwi_clock_now(clock) - before;

        if (width < best.width_ticks) {
            best = (struct iwi_tie){before + width / 2, width, raw_ns};
        }
    }
    return best;
}

static void calibrate(struct iwi_clock *clock, const struct iwi_tie *last)
{
    const double ticks = (double)(last->ticks - clock->first.ticks);
    const double wrong_by = 0.5 * (double)(last->width_ticks + clock->first.width_ticks);

    clock->hz = NS_PER_S * ticks / (double)(last->raw_ns - clock->first.raw_ns);
    clock->error_ppm = 1e6 * wrong_by / ticks;
}

static const struct iwi_clock_ops *choose(const char *root)
{
    for (size_t i = 0; i < sizeof counters / sizeof counters[0]; i++) {
        if (counters[i] != NULL && counters[i]->is_usable(root)) {
            return counters[i];
        }
    }
    return &iwi_clock_monotonic_raw;
}

void iwi_clock_open(const char *root, struct iwi_clock *clock)
{
    const struct timespec pause = {.tv_nsec = FIRST_CALIBRATION_NS};
    struct iwi_tie last;

    *clock = (struct iwi_clock){.ops = choose(root)};
    if (clock->ops->hz != NULL) {
        clock->hz = clock->ops->hz();
        return;
    }
    clock->first = iwi_clock_tie(clock);
    do { /* a signal may cut the pause short */
        (void)clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
        last = iwi_clock_tie(clock);
    } while (last.raw_ns - clock->first.raw_ns < FIRST_CALIBRATION_NS);
    calibrate(clock, &last);
}

void iwi_clock_refine(struct iwi_clock *clock)
{
    if (clock->ops->hz == NULL) {
        const struct iwi_tie last = iwi_clock_tie(clock);

        calibrate(clock, &last);
    }
}

uint64_t iwi_clock_now(const struct iwi_clock *clock)
{
    return clock->ops->read(clock->state);
}

double iwi_clock_ns(const struct iwi_clock *clock, double ticks)
{
    return ticks * NS_PER_S / clock->hz;
}

int64_t iwi_clock_whole_ns(const struct iwi_clock *clock, uint64_t ticks)
{
    return llround(iwi_clock_ns(clock, (double)ticks)); /* exact up to 2^53 ticks: 26 days at 4 GHz */
}

uint64_t iwi_clock_ticks(const struct iwi_clock *clock, int64_t ns)
{
    return (uint64_t)llround((double)ns * clock->hz / NS_PER_S);
}
