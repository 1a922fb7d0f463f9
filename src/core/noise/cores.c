/* What detours took: by source, and the worst of them.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <string.h>

#include "core/base/base.h"
#include "core/noise/cores.h"
#include "core/noise/source.h"
#include "core/noise/stream.h"

/* Whether `a` comes before `b` in a list of what took most. */
static bool is_worse(const iw_hit *a, const iw_hit *b)
{
    if (a->lost_ps != b->lost_ps) {
        return a->lost_ps > b->lost_ps;
    }
    if (a->at_ps != b->at_ps) {
        return a->at_ps < b->at_ps;
    }
    return a->rank != b->rank ? a->rank < b->rank : a->source < b->source;
}

/* Looks whether it is among the worst; not in the sums. */
static void lost_keep(const struct iwi_lost *lost, iw_hit hit)
{
    size_t at = lost->worst_count;

    while (at > 0 && is_worse(&hit, &lost->worst[at - 1])) {
        at--;
        if (at + 1 < lost->worst_count) {
            lost->worst[at + 1] = lost->worst[at];
        }
    }
    if (at < lost->worst_count) {
        lost->worst[at] = hit;
    }
}

void iwi_lost_add(const struct iwi_lost *lost, iw_hit hit)
{
    lost->by_source[hit.source] += hit.lost_ps;
    lost_keep(lost, hit);
}

/* A compute phase on several cores: it ends with the last of them, or when all together have done the work.
 */

/* Time of several cores together: up to 2^10 times 2^62. */
__extension__ typedef __int128 wide;

static struct iwi_stream_id id_of(const struct iwi_cores *cores, uint32_t core)
{
    return (struct iwi_stream_id){cores->id.seed, cores->id.trial, cores->id.rank + core};
}

static iw_time *next_of(const struct iwi_cores *cores, uint32_t core)
{
    return core == 0 ? cores->next : &cores->other_next[core - 1];
}

static int64_t *words_of(const struct iwi_cores *cores, uint32_t core)
{
    return core == 0 ? cores->words : cores->other_words + (core - 1) * cores->noise->words;
}

void iwi_cores_begin(const struct iwi_cores *cores)
{
    for (uint32_t core = 0; core < cores->noise->cores_per_rank; core++) {
        *next_of(cores, core) = iwi_noise_begin(cores->noise, id_of(cores, core), words_of(cores, core));
    }
}

/* Starts the phase on one core; returns what per-phase noise adds to its work. */
static iw_time begin_phase(const struct iwi_cores *cores, uint32_t core, uint64_t phase, iw_time t,
                           iw_time work, const struct iwi_lost *lost)
{
    return iwi_noise_has_phases(cores->noise)
               ? iwi_noise_phase(cores->noise, id_of(cores, core), words_of(cores, core),
                                 next_of(cores, core), phase, t, work, lost)
               : 0;
}

/* ---- static: each core its part ---- */

static iw_time finish_core(const struct iwi_cores *cores, uint32_t core, iw_time t, iw_time d,
                           const struct iwi_lost *lost)
{
    return t + d > IWI_LATEST
               ? IWI_LATEST
               : iwi_min(IWI_LATEST, iwi_finish(cores->noise, id_of(cores, core), words_of(cores, core),
                                                next_of(cores, core), t, d, lost));
}

static iw_time finish_static(const struct iwi_cores *cores, uint64_t phase, iw_time t, iw_time work,
                             iw_time delay, const struct iwi_lost *lost)
{
    uint32_t last = 0;
    iw_time latest = t;

    for (uint32_t core = 0; core < cores->noise->cores_per_rank; core++) {
        const iw_time extra = begin_phase(cores, core, phase, t, work, NULL);
        const iw_time end = finish_core(cores, core, t, work + delay + extra, NULL);

        if (end > latest) {
            latest = end;
            last = core;
        }
    }
    if (lost != NULL) { /* the same once more: what the others lost does not count */
        const iw_time extra = begin_phase(cores, last, phase, t, work, lost);

        (void)finish_core(cores, last, t, work + delay + extra, lost);
    }
    return latest;
}

/* ---- dynamic: the work is shared ---- */

/* What a core does while the phase runs. */
struct share {
    iw_time from, until; /* the detour that is next or under way; until 0: only its start is known */
    iw_time since;       /* it has taken time from then on */
    uint32_t source;
};

/* What the phase lost so far, in time of cores. */
struct sum {
    wide by_source[IW_NOISE_MAX_SOURCES];
    const struct iwi_lost *lost; /* gets the worst of it; NULL: nobody asks */
    uint32_t cores, rank;
};

static void add_to_sum(struct sum *sum, iw_time at, iw_time taken, uint32_t source)
{
    sum->by_source[source] += taken;
    if (taken >= sum->cores) { /* a phase of K cores is longer by its K-th part */
        lost_keep(sum->lost, (iw_hit){at, taken / sum->cores, sum->rank, source});
    }
}

/* Starts the phase on all cores; returns what per-phase noise adds to the work of all of them. */
static wide begin_together(const struct iwi_cores *cores, uint64_t phase, iw_time t, iw_time work,
                           struct sum *sum)
{
    wide all = 0;

    for (uint32_t core = 0; core < sum->cores; core++) {
        iw_time by_source[IW_NOISE_MAX_SOURCES] = {0};
        const struct iwi_lost of_core = {by_source, NULL, 0};

        all += begin_phase(cores, core, phase, t, work, sum->lost == NULL ? NULL : &of_core);
        for (uint32_t i = 0; i < cores->noise->count && sum->lost != NULL; i++) {
            add_to_sum(sum, t, by_source[i], i);
        }
    }
    return all;
}

/* A core looks for its next detour: what the one before it took is over at `now`. */
static void look_ahead(const struct iwi_cores *cores, uint32_t core, iw_time now, struct share *share,
                       struct sum *sum)
{
    struct iwi_stream_detour detour;

    if (share->until != 0 && sum->lost != NULL) {
        add_to_sum(sum, share->since, now - share->since, share->source);
    }
    detour =
        iwi_noise_detour(cores->noise, id_of(cores, core), words_of(cores, core), next_of(cores, core), now);
    *share = (struct share){detour.start, detour.end, iwi_max(now, detour.start), detour.source};
}

/* Cores that work at `now`, and how long exactly these do: until *until_p. */
static uint32_t count_free(const struct iwi_cores *cores, iw_time now, struct share *shares, struct sum *sum,
                           iw_time *until_p)
{
    uint32_t free = 0;
    iw_time until = IWI_NEVER;

    for (uint32_t core = 0; core < sum->cores; core++) {
        struct share *share = &shares[core];

        if (share->from <= now && share->until <= now) {
            look_ahead(cores, core, now, share, sum);
        }
        free += share->from > now;
        until = iwi_min(until, share->from > now ? share->from : share->until);
    }
    *until_p = until;
    return free;
}

/* The first instant by which all cores together had `left` of undisturbed time since t. */
static iw_time work_together(const struct iwi_cores *cores, iw_time t, wide left, struct sum *sum)
{
    struct share shares[IW_CORES_PER_RANK_MOST];
    iw_time now = t;

    for (uint32_t core = 0; core < sum->cores; core++) {
        shares[core] = (struct share){.from = *next_of(cores, core)};
    }
    while (left > 0 && now < IWI_LATEST) {
        iw_time until;
        const uint32_t free = count_free(cores, now, shares, sum, &until);

        if (free > 0 && left <= (wide)free * (until - now)) {
            now += (iw_time)((left + free - 1) / free);
            break;
        }
        left -= (wide)free * (until - now);
        now = until;
    }
    for (uint32_t core = 0; core < sum->cores && sum->lost != NULL; core++) {
        if (shares[core].until != 0 && shares[core].from < now) {
            add_to_sum(sum, shares[core].since, now - shares[core].since, shares[core].source);
        }
    }
    return iwi_min(now, IWI_LATEST);
}

/* A source takes the K-th part of what it took of all cores, rounded so that the parts of all sources are
 * what the phase lost, which is rounded up. */
static void share_out(const struct sum *sum)
{
    wide all = 0, told = 0;

    for (size_t i = 0; i < IW_NOISE_MAX_SOURCES; i++) {
        wide rounded;

        all += sum->by_source[i];
        rounded = (all + sum->cores - 1) / sum->cores;
        sum->lost->by_source[i] += (iw_time)(rounded - told);
        told = rounded;
    }
}

static iw_time finish_dynamic(const struct iwi_cores *cores, uint64_t phase, iw_time t, iw_time work,
                              iw_time delay, const struct iwi_lost *lost)
{
    struct sum sum = {.lost = lost,
                      .cores = cores->noise->cores_per_rank,
                      .rank = cores->id.rank / cores->noise->cores_per_rank};
    const wide all = begin_together(cores, phase, t, work, &sum) + (wide)sum.cores * ((wide)work + delay);
    const iw_time end =
        all > (wide)sum.cores * (IWI_LATEST - t) ? IWI_LATEST : work_together(cores, t, all, &sum);

    if (lost != NULL) {
        share_out(&sum);
    }
    return end;
}

iw_time iwi_cores_phase(const struct iwi_cores *cores, uint64_t phase, iw_time t, iw_time work, iw_time delay,
                        const struct iwi_lost *lost)
{
    return cores->noise->loop == IW_LOOP_STATIC ? finish_static(cores, phase, t, work, delay, lost)
                                                : finish_dynamic(cores, phase, t, work, delay, lost);
}
