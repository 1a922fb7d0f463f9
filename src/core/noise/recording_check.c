/* Checks recordings: those of files before others see them, those of callers before they are used or written.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/noise/recording_check.h"

#include <math.h>
#include <string.h>

#include <idlewave/time.h>

#include "core/base/base.h"

#define MAX_NS (IW_TIME_INPUT_MAX / IW_PS_PER_NS)

struct checker {
    const iw_log *log;
    const char *name;
    const iw_recording *recording;
    iw_status fault;
};

static bool is_time(int64_t ns)
{
    return ns >= 0 && ns <= MAX_NS;
}

static bool is_positive(double value)
{
    return isfinite(value) && value >= 0;
}

static iw_status check_detours(const struct checker *c, const iw_detours *detours)
{
    int64_t end_ns = 0;

    for (size_t i = 0; i < detours->count; i++) {
        const int64_t start_ns = detours->start_ns[i], duration_ns = detours->duration_ns[i];

        if (!is_time(start_ns) || !is_time(duration_ns) || !is_time(start_ns + duration_ns)) {
            return iwi_fail(c->log, c->fault,
                            "'%s': CPU %" PRIu32 ", detour %zu (start %" PRId64 " ns, duration %" PRId64
                            " ns) is not between 0 and 240h",
                            c->name, detours->cpu, i, start_ns, duration_ns);
        }
        if (start_ns < end_ns) {
            return iwi_fail(c->log, c->fault,
                            "'%s': CPU %" PRIu32 ", detour %zu starts at %" PRId64
                            " ns, before the end of the one before it at %" PRId64 " ns",
                            c->name, detours->cpu, i, start_ns, end_ns);
        }
        if (detours->source[i] >= c->recording->source_count) {
            return iwi_fail(c->log, c->fault,
                            "'%s': CPU %" PRIu32 ", detour %zu is of source %" PRIu32
                            ", but there are only %zu sources",
                            c->name, detours->cpu, i, detours->source[i], c->recording->source_count);
        }
        end_ns = start_ns + duration_ns;
    }
    return IW_OK;
}

static iw_status check_parts(const struct checker *c, const iw_detours *detours)
{
    uint64_t least = 0;

    for (size_t i = 0; i < detours->part_count; i++) {
        const uint64_t detour = detours->part_detour[i];

        if (detour >= detours->count || detour < least) {
            return iwi_fail(c->log, c->fault,
                            "'%s': CPU %" PRIu32 ", part %zu is of detour %" PRIu64
                            ", but must be of one from %" PRIu64 " on, below %zu",
                            c->name, detours->cpu, i, detour, least, detours->count);
        }
        if (detours->part_source[i] >= c->recording->source_count || !is_time(detours->part_ns[i])) {
            return iwi_fail(c->log, c->fault,
                            "'%s': CPU %" PRIu32 ", part %zu (source %" PRIu32 " of %zu, %" PRId64
                            " ns) is out of range",
                            c->name, detours->cpu, i, detours->part_source[i], c->recording->source_count,
                            detours->part_ns[i]);
        }
        least = detour;
    }
    return IW_OK;
}

static iw_status check_samples(const struct checker *c, const iw_detours *detours)
{
    int64_t least_ns = 0;

    for (size_t i = 0; i < detours->sample_count; i++) {
        const int64_t start_ns = detours->sample_start_ns[i];

        if (!is_time(start_ns) || start_ns < least_ns || !is_positive(detours->sample[i])) {
            return iwi_fail(c->log, c->fault,
                            "'%s': CPU %" PRIu32 ", sample %zu (start %" PRId64
                            " ns, value %g) is negative, too large or out of order",
                            c->name, detours->cpu, i, start_ns, detours->sample[i]);
        }
        least_ns = start_ns;
    }
    return IW_OK;
}

static iw_status check_cpu(const struct checker *c, const iw_detours *detours)
{
    if (!is_time(detours->length_ns) || !is_positive(detours->t_min_ns) ||
        !is_positive(detours->threshold_ns)) {
        return iwi_fail(c->log, c->fault,
                        "'%s': CPU %" PRIu32 ": length %" PRId64
                        " ns, t_min %g ns or threshold %g ns is not between 0 and 240h",
                        c->name, detours->cpu, detours->length_ns, detours->t_min_ns, detours->threshold_ns);
    }
    IW_TRY(check_detours(c, detours));
    IW_TRY(check_parts(c, detours));
    return check_samples(c, detours);
}

static iw_status check_sources(const struct checker *c)
{
    const iw_recording *recording = c->recording;

    if (recording->source_count == 0 || recording->sources[0].kind != IW_CLASS_UNKNOWN) {
        return iwi_fail(c->log, c->fault, "'%s': source 0 must be the unknown one", c->name);
    }
    for (size_t i = 0; i < recording->source_count; i++) {
        const iw_source *source = &recording->sources[i];

        if ((unsigned)source->kind >= IW_CLASSES || memchr(source->name, '\0', sizeof source->name) == NULL) {
            return iwi_fail(c->log, c->fault,
                            "'%s': source %zu is of class %d (there are %d), or its name has no end", c->name,
                            i, (int)source->kind, IW_CLASSES);
        }
    }
    return IW_OK;
}

iw_status iwi_recording_check(const iw_log *log, const char *name, const iw_recording *recording,
                              iw_status fault)
{
    const struct checker c = {log, name, recording, fault};

    if ((unsigned)recording->probe >= IW_PROBES || (unsigned)recording->rung >= IW_RUNGS ||
        !is_time(recording->quantum_ns)) {
        return iwi_fail(log, fault, "'%s': probe %d, rung %d or a quantum of %" PRId64 " ns is unknown", name,
                        (int)recording->probe, (int)recording->rung, recording->quantum_ns);
    }
    IW_TRY(check_sources(&c));
    for (size_t i = 0; i < recording->cpu_count; i++) {
        IW_TRY(check_cpu(&c, &recording->cpus[i]));
    }
    return IW_OK;
}
