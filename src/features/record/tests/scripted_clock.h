/* A clock that follows a script: it advances by a step with each reading, and jumps at some.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWT_SCRIPTED_CLOCK_H
#define IWT_SCRIPTED_CLOCK_H

#include <stdlib.h>

#include "core/base/base.h"
#include "features/record/probe/probe.h"
#include "support/support.h"

struct jump {
    uint64_t reading; /* the first one is 1 */
    uint64_t ticks;   /* in addition to the step */
};

struct script {
    uint64_t step, readings_per_step; /* readings_per_step: 0 or 1, or more for a coarse clock */
    const struct jump *jumps;         /* ascending */
    size_t jump_count;
    struct iwi_probe_window *window; /* ended early by reading stop_at */
    uint64_t stop_at;
    uint64_t now, readings; /* begin at 0 */
};

IWI_LOOP uint64_t read_script(void *state)
{
    struct script *script = state;

    script->readings++;
    if (script->readings_per_step <= 1 || script->readings % script->readings_per_step == 0) {
        script->now += script->step;
    }
    if (script->jump_count > 0 && script->jumps->reading == script->readings) {
        script->now += script->jumps->ticks;
        script->jumps++;
        script->jump_count--;
    }
    if (script->readings == script->stop_at) {
        atomic_store(&script->window->end, 0);
    }
    return script->now;
}

IWI_DEFINE_LOOPS(read_script)

static const struct iwi_clock_ops scripted_ops = {.name = "scripted", IWI_LOOPS};

/* A probe on a scripted clock of one tick a nanosecond; marks have room for `room`. */
struct bench {
    struct script script;
    struct iwi_clock clock;
    struct iwi_probe_window window;
    struct iwi_probe_run probe;
    iw_detours detours;
};

static inline void bench_init(struct bench *bench, const struct iwi_probe_ops *ops, uint64_t zero,
                              uint64_t end, size_t room)
{
    *bench = (struct bench){.clock = {.ops = &scripted_ops, .hz = 1e9}};
    atomic_init(&bench->window.zero, zero);
    atomic_init(&bench->window.end, end);
    bench->script.window = &bench->window;
    bench->clock.state = &bench->script;
    bench->probe = (struct iwi_probe_run){.ops = ops, .clock = &bench->clock, .window = &bench->window};
    bench->probe.marks = (struct iwi_marks){
        .start = calloc(room + 1, sizeof(int64_t)), .value = calloc(room + 1, sizeof(int64_t)), .room = room};
}

static inline void bench_run(struct bench *bench)
{
    const struct iwi_probe_ops *ops = bench->probe.ops;

    assert_ok(ops->begin(NULL, &bench->probe, &bench->detours));
    ops->run(&bench->probe);
    ops->take(&bench->probe, 0, bench->probe.marks.count, &bench->detours);
    assert_ok(ops->finish(NULL, &bench->probe, &bench->detours));
}

static inline void bench_release(struct bench *bench)
{
    iwi_probe_release(&bench->probe);
    free(bench->detours.start_ns);
    free(bench->detours.duration_ns);
    free(bench->detours.source);
    free(bench->detours.sample_start_ns);
    free(bench->detours.sample);
}

#endif
