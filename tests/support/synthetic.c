/* SPDX-License-Identifier: BSD-3-Clause */
#include "support/synthetic.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/base.h"
#include "core/base/rng.h"
#include "support/made_recording.h"

/* Streams of random numbers. */
enum { GAPS, DURATIONS, JITTERS, MISSING, PHASES };

static double unit(const struct synthetic *s, uint32_t stream, uint32_t source, uint64_t index)
{
    return iwi_draw_unit((struct iwi_draw_id){s->seed, 0, IWI_DRAW_TEST, stream, source}, index);
}

static void add(struct synthetic *s, double start_ns, double duration_ns, uint32_t source)
{
    if ((s->count & (s->count - 1)) == 0) {
        s->detours = realloc(s->detours, (s->count > 0 ? 2 * s->count : 1) * sizeof *s->detours);
        if (s->detours == NULL) {
            abort();
        }
    }
    s->detours[s->count++] =
        (struct synthetic_detour){llround(start_ns), llround(fmax(duration_ns, 1.0)), source};
}

void synthetic_poisson(struct synthetic *s, double rate_hz, double mean_ns, uint32_t source)
{
    double now_ns = 0.0;

    for (uint64_t i = 0;; i++) {
        now_ns -= 1e9 / rate_hz * log(unit(s, GAPS, source, i));
        if (now_ns >= s->length_ns) {
            return;
        }
        add(s, now_ns, -mean_ns * log(unit(s, DURATIONS, source, i)), source);
    }
}

void synthetic_beats(struct synthetic *s, double period_ns, double duration_ns, double jitter, double missing,
                     uint32_t source)
{
    const double phase = 0.1 + 0.8 * unit(s, PHASES, source, 0);

    for (uint64_t i = 0; ((double)i + 1.0) * period_ns < s->length_ns; i++) {
        const double normal = sqrt(-2.0 * log(unit(s, JITTERS, source, 2 * i))) *
                              cos(2.0 * M_PI * unit(s, JITTERS, source, 2 * i + 1));

        if (unit(s, MISSING, source, i) >= missing) {
            add(s, fmax(((double)i + phase + jitter * normal) * period_ns, 0.0), duration_ns, source);
        }
    }
}

static int compare_detours(const void *a, const void *b)
{
    const struct synthetic_detour *x = a, *y = b;

    return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

void synthetic_put(struct synthetic *s, iw_recording *recording, size_t cpu)
{
    int64_t free_ns = 0;

    if (s->count == 0) {
        return;
    }
    qsort(s->detours, s->count, sizeof *s->detours, compare_detours);
    for (size_t i = 0; i < s->count; i++) {
        const struct synthetic_detour *d = &s->detours[i];

        if (d->start_ns >= free_ns) {
            iwt_detour(recording, cpu, d->start_ns, d->duration_ns, d->source);
            free_ns = d->start_ns + d->duration_ns;
        }
    }
    free(s->detours);
    s->detours = NULL;
    s->count = 0;
}

/* Time that the detours take of [from, to); moves *next_p to the first that may reach beyond. */
static int64_t lost_between(const iw_detours *cpu, int64_t from_ns, int64_t to_ns, size_t *next_p)
{
    int64_t lost_ns = 0;

    for (size_t i = *next_p; i < cpu->count && cpu->start_ns[i] < to_ns; i++) {
        const int64_t end_ns = cpu->start_ns[i] + cpu->duration_ns[i];

        lost_ns += iwi_max(iwi_min(end_ns, to_ns) - iwi_max(cpu->start_ns[i], from_ns), 0);
        *next_p += end_ns <= to_ns;
    }
    return lost_ns;
}

/* Work of a quantum ends when the time that is left of it is as long as the quantum. */
static int64_t end_of_work(const iw_detours *cpu, int64_t from_ns, int64_t quantum_ns, size_t *next_p)
{
    int64_t end_ns = from_ns + quantum_ns;

    for (; *next_p < cpu->count && cpu->start_ns[*next_p] < end_ns; (*next_p)++) {
        end_ns += cpu->duration_ns[*next_p];
    }
    return end_ns;
}

iw_recording *synthetic_quanta(const iw_recording *detours, iw_probe probe, int64_t quantum_ns)
{
    iw_recording *quanta = iwt_recording(detours->cpu_count, detours->cpus[0].length_ns);

    quanta->probe = probe;
    quanta->attribution = IW_ATTRIBUTION_LEVEL_NONE;
    quanta->quantum_ns = quantum_ns;
    for (size_t c = 0; c < detours->cpu_count; c++) {
        const iw_detours *cpu = &detours->cpus[c];
        size_t next = 0;

        for (int64_t now_ns = 0; now_ns + quantum_ns < cpu->length_ns;) {
            const int64_t end_ns =
                probe == IW_PROBE_FWQ ? end_of_work(cpu, now_ns, quantum_ns, &next) : now_ns + quantum_ns;
            const double lost_ns =
                probe == IW_PROBE_FTQ ? (double)lost_between(cpu, now_ns, end_ns, &next) : 0.0;

            iwt_sample(quanta, c, now_ns,
                       probe == IW_PROBE_FWQ ? (double)(end_ns - now_ns)
                                             : floor(1000.0 * (1.0 - lost_ns / (double)quantum_ns)));
            now_ns = end_ns;
        }
    }
    return quanta;
}
