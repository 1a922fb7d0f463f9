/* Lays the shares of sources upon detours: who took how much of each.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <string.h>

#include "core/base/base.h"
#include "features/record/attribution/attribution.h"

/* Entering and leaving the kernel around each thing that it reports takes up to so long, caches included, and
 * belongs to that thing. What a detour lasts beyond that, nobody reported. docs/decisions/0009 has figures.
 */
static const double ENTRY_NS = 2000.0;

/* The sources of one detour. */
struct tally {
    struct iwi_attributor *attribution;
    size_t count, shares;
    double sum_ns;
};

static iw_status count_share(struct tally *tally, uint32_t source, double ns)
{
    struct iwi_attributor *attribution = tally->attribution;
    void *array = attribution->takers;
    size_t i = 0;

    tally->sum_ns += ns;
    while (i < tally->count && attribution->takers[i].source != source) {
        i++;
    }
    if (i == tally->count) {
        IW_TRY(iwi_grow(attribution->method.log, &array, &attribution->taker_capacity, i + 1,
                        sizeof *attribution->takers));
        attribution->takers = array;
        attribution->takers[tally->count++] = (struct iwi_taker){.source = source};
    }
    attribution->takers[i].ns += ns;
    return IW_OK;
}

static size_t largest_taker(const struct tally *tally)
{
    const struct iwi_taker *takers = tally->attribution->takers;
    size_t largest = 0;

    for (size_t i = 1; i < tally->count; i++) {
        largest = takers[i].ns > takers[largest].ns ? i : largest;
    }
    return largest;
}

/* Makes the takers' times add up to the detour: what is missing belongs to the entries or was not seen; too
 * much comes from clocks that do not quite agree. */
static iw_status balance(struct tally *tally, double duration_ns, uint32_t unseen)
{
    struct iwi_taker *takers = tally->attribution->takers;
    const double missing_ns = duration_ns - tally->sum_ns;
    const double entry_ns = fmin(missing_ns, ENTRY_NS * (double)tally->shares);

    if (missing_ns < 0.0) {
        for (size_t i = 0; i < tally->count; i++) {
            takers[i].ns *= duration_ns / tally->sum_ns;
        }
        return IW_OK;
    }
    if (tally->count > 0) {
        takers[largest_taker(tally)].ns += entry_ns;
    }
    return missing_ns > entry_ns || tally->count == 0 ? count_share(tally, unseen, missing_ns - entry_ns)
                                                      : IW_OK;
}

static iw_status add_part(struct iwi_attributor *attribution, size_t place, size_t detour, uint32_t source,
                          int64_t ns)
{
    iw_detours *cpu = &attribution->method.recording->cpus[place];
    size_t *capacity = &attribution->part_capacity[place];
    const size_t need = cpu->part_count + 1;
    void *arrays[] = {cpu->part_detour, cpu->part_source, cpu->part_ns};
    size_t capacities[] = {*capacity, *capacity, *capacity};
    const iw_log *log = attribution->method.log;

    if (need > *capacity) {
        iw_status status = iwi_grow(log, &arrays[0], &capacities[0], need, sizeof *cpu->part_detour);

        status = status == IW_OK ? iwi_grow(log, &arrays[1], &capacities[1], need, sizeof *cpu->part_source)
                                 : status;
        status =
            status == IW_OK ? iwi_grow(log, &arrays[2], &capacities[2], need, sizeof *cpu->part_ns) : status;
        cpu->part_detour = arrays[0];
        cpu->part_source = arrays[1];
        cpu->part_ns = arrays[2];
        IW_TRY(status);
        *capacity =
            (size_t)iwi_min((int64_t)capacities[0], iwi_min((int64_t)capacities[1], (int64_t)capacities[2]));
    }
    cpu->part_detour[cpu->part_count] = detour;
    cpu->part_source[cpu->part_count] = source;
    cpu->part_ns[cpu->part_count++] = ns;
    return IW_OK;
}

/* Takes the recorder's own time out of the detour. */
static void leave_recorder_out(struct tally *tally, int64_t *duration_ns)
{
    struct iwi_taker *takers = tally->attribution->takers;
    size_t i = 0;

    while (i < tally->count && takers[i].source != IWI_RECORDER_SOURCE) {
        i++;
    }
    if (i < tally->count) {
        tally->attribution->recorder_ns += takers[i].ns;
        *duration_ns -= (int64_t)takers[i].ns;
        takers[i] = takers[--tally->count];
    }
}

/* Parts in whole ns that add up: the largest takes what rounding leaves. */
static iw_status write_parts(const struct tally *tally, size_t place, size_t detour)
{
    struct iwi_attributor *attribution = tally->attribution;
    iw_detours *cpu = &attribution->method.recording->cpus[place];
    const size_t largest = largest_taker(tally);
    int64_t rest_ns = cpu->duration_ns[detour];

    cpu->source[detour] = attribution->takers[largest].source;
    if (tally->count == 1) {
        return IW_OK;
    }
    for (size_t i = 0; i < tally->count; i++) {
        rest_ns -= i != largest ? (int64_t)attribution->takers[i].ns : 0;
    }
    for (size_t i = 0; i < tally->count; i++) {
        const int64_t ns = i != largest ? (int64_t)attribution->takers[i].ns : rest_ns;

        IW_TRY(add_part(attribution, place, detour, attribution->takers[i].source, ns));
    }
    return IW_OK;
}

/* Counts the shares of one detour, from number *next_p on. Where events were lost, what nobody explains may
 * have been among them, so its source is unknown. */
static iw_status lay_one(struct iwi_attributor *attribution, size_t place, uint64_t zero, size_t detour,
                         size_t *next_p, bool *is_kept_p)
{
    const iw_detours *cpu = &attribution->method.recording->cpus[place];
    const struct iwi_shares *shares = &attribution->method.shares[place];
    const struct iwi_clock *clock = attribution->method.clock;
    const double start_ns = (double)cpu->start_ns[detour], duration_ns = (double)cpu->duration_ns[detour];
    const double end_ns = start_ns + duration_ns + ceil(cpu->t_min_ns); /* the next reading */
    const double least_ns = fmin(duration_ns, cpu->threshold_ns);
    double *blind_ns = &attribution->blind_until_ns[place];
    struct tally tally = {.attribution = attribution};

    for (; *next_p < shares->count; ++*next_p) {
        const struct iwi_share *share = &shares->array[*next_p];
        const double at_ns = share->at >= zero ? iwi_clock_ns(clock, (double)(share->at - zero)) : -1.0;

        if (at_ns > end_ns) {
            break;
        }
        if (share->source == IWI_NO_SOURCE) {
            *blind_ns = fmax(*blind_ns, at_ns + iwi_clock_ns(clock, (double)share->ticks));
            continue;
        }
        attribution->shares += at_ns >= 0.0;
        if (at_ns >= start_ns) {
            attribution->matched++;
            tally.shares++;
            IW_TRY(count_share(&tally, share->source, iwi_clock_ns(clock, (double)share->ticks)));
        }
    }
    IW_TRY(balance(&tally, duration_ns, start_ns <= *blind_ns ? 0 : attribution->unseen));
    leave_recorder_out(&tally, &cpu->duration_ns[detour]);
    *is_kept_p = tally.count > 0 && (double)cpu->duration_ns[detour] >= least_ns;
    return *is_kept_p ? write_parts(&tally, place, detour) : IW_OK;
}

/* Detours from `end` on move up to `kept`. */
static void close_gap(iw_detours *cpu, size_t kept, size_t end)
{
    const size_t rest = cpu->count - end;

    if (kept < end) {
        memmove(cpu->start_ns + kept, cpu->start_ns + end, rest * sizeof *cpu->start_ns);
        memmove(cpu->duration_ns + kept, cpu->duration_ns + end, rest * sizeof *cpu->duration_ns);
        memmove(cpu->source + kept, cpu->source + end, rest * sizeof *cpu->source);
        cpu->count -= end - kept;
    }
}

iw_status iwi_attribute_detours(struct iwi_attributor *attribution, size_t place, uint64_t zero, size_t first,
                                size_t end)
{
    struct iwi_shares *shares = &attribution->method.shares[place];
    iw_detours *cpu = &attribution->method.recording->cpus[place];
    size_t next = 0, kept = first;

    if (attribution->method.ops == NULL) {
        return IW_OK;
    }
    for (size_t detour = first; detour < end; detour++) {
        bool is_kept = false;

        cpu->start_ns[kept] = cpu->start_ns[detour];
        cpu->duration_ns[kept] = cpu->duration_ns[detour];
        IW_TRY(lay_one(attribution, place, zero, kept, &next, &is_kept));
        kept += is_kept;
    }
    close_gap(cpu, kept, end);
    if (next > 0) {
        memmove(shares->array, shares->array + next, (shares->count - next) * sizeof *shares->array);
        shares->count -= next;
    }
    return IW_OK;
}
