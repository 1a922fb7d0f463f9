/* The noise of one rank: one source by its closed form, several by merging their detours.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The place of a source is the start of its first detour that ends after the latest t, and its words. State
 * of a source alone: its words; the start is `next`. Of several: start and words, one source after the other.
 */
#include "core/noise/cores.h"

#include <math.h>
#include <string.h>

#include "core/base/base.h"
#include "core/noise/source.h"
#include "core/noise/stream.h"

/* What detours took: by source, and the worst of them. */

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

/* A compute phase on several cores: it ends with the last of them, or when all have done the work. */

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

/* One source on its way through its detours. */
struct cursor {
    const struct iwi_noise_source *source;
    uint32_t number;
    struct iwi_draw_id draw;
    iw_time start;
    bool is_at_start; /* false: the words are still those of the detour before */
    int64_t words[IWI_SOURCE_MOST_WORDS];
};

iw_time iwi_round_ps(double ps)
{
    return ps < (double)IW_TIME_INPUT_MAX ? llround(ps) : IW_TIME_INPUT_MAX;
}

static uint32_t draw_rank(const iw_noise *noise, uint32_t number, uint32_t rank)
{
    if (noise->sync != IW_SYNC_NONE) {
        return 0;
    }
    if (noise->sources[number].ops->is_recorded) {
        return (uint32_t)(rank / ((uint64_t)noise->cores_per_node * noise->sources[number].nodes_together));
    }
    return rank;
}

struct iwi_draw_id iwi_source_draw(const iw_noise *noise, uint32_t number, struct iwi_stream_id id)
{
    return (struct iwi_draw_id){.seed = id.seed,
                                .trial = id.trial,
                                .source = noise->sources[number].input,
                                .rank = draw_rank(noise, number, id.rank)};
}

iw_time iwi_noise_shift(const iw_noise *noise, struct iwi_stream_id id)
{
    struct iwi_draw_id draw = {.seed = id.seed, .trial = id.trial, .purpose = IWI_DRAW_SKEW};

    if (noise->sync == IW_SYNC_NONE || noise->skew_ps <= 0) {
        return 0;
    }
    draw.rank = id.rank / noise->cores_per_node;
    return (iw_time)iwi_draw_below(draw, 0, (uint64_t)noise->skew_ps);
}

size_t iwi_noise_words(const iw_noise *noise)
{
    return noise->words;
}

bool iwi_noise_has_phases(const iw_noise *noise)
{
    return noise->phased_count > 0 || iwi_noise_restarts(noise);
}

bool iwi_noise_restarts(const iw_noise *noise)
{
    return noise->sync == IW_SYNC_PHASE && noise->clocked_count > 0;
}

static void fill_skew(const iw_noise *noise, const struct iwi_stream_id *id, struct iwi_stream_origin *origin)
{
    origin->skew_ps = noise->sync != IW_SYNC_NONE ? noise->skew_ps : 0;
    origin->shift_ps = origin->skew_ps > 0 ? iwi_noise_shift(noise, *id) : 0;
}

/* What one source needs. */
static void fill_source(const iw_noise *noise, uint32_t number, const struct iwi_stream_id *id,
                        struct iwi_stream_origin *origin)
{
    const struct iwi_noise_source *source = &noise->sources[number];

    /* field by field, and ids by pointer: what is written in parts and copied as a whole stalls the CPU */
    origin->draw.seed = id->seed;
    origin->draw.trial = id->trial;
    origin->draw.source = source->input;
    origin->draw.rank = draw_rank(noise, number, id->rank);
    if (source->ops->is_recorded) {
        origin->node = id->rank / noise->cores_per_node;
        origin->seat = id->rank % noise->cores_per_node;
        origin->has_copies = iwi_noise_has_copies(noise);
    }
}

static iw_time start_one(const iw_noise *noise, uint32_t number, const struct iwi_stream_id *id,
                         struct iwi_stream_origin *origin, int64_t *words)
{
    const struct iwi_noise_source *source = &noise->sources[number];

    fill_source(noise, number, id, origin);
    return source->ops->begin(source, origin, words);
}

/* Starts all timelines at origin->at_ps; returns `next`. Fills in the rest of origin. */
static iw_time start_all(const iw_noise *noise, const struct iwi_stream_id *id, int64_t *state,
                         struct iwi_stream_origin *origin)
{
    iw_time next = IWI_NEVER;

    fill_skew(noise, id, origin);
    if (noise->clocked_count == 1) {
        return start_one(noise, noise->clocked[0], id, origin, state);
    }
    for (size_t i = 0; i < noise->clocked_count; i++) {
        const uint32_t number = noise->clocked[i];

        state[0] = start_one(noise, number, id, origin, state + 1);
        next = iwi_min(next, state[0]);
        state += 1 + noise->sources[number].ops->words;
    }
    return next;
}

iw_time iwi_noise_begin(const iw_noise *noise, struct iwi_stream_id id, int64_t *state)
{
    struct iwi_stream_origin origin = {.draw = {.purpose = IWI_DRAW_OFFSET}};

    return start_all(noise, &id, state, &origin);
}

bool iwi_noise_is_common(const iw_noise *noise)
{
    bool is_by_seat = false; /* the CPUs of a recorded node differ */

    for (size_t i = 0; i < noise->clocked_count; i++) {
        is_by_seat |= noise->sources[noise->clocked[i]].ops->is_recorded;
    }
    return noise->sync != IW_SYNC_NONE && noise->skew_ps <= 0 && !is_by_seat;
}

bool iwi_noise_begins_together(const iw_noise *noise)
{
    return noise->clocked_count == 1 && noise->sync == IW_SYNC_NONE && noise->words == 0 &&
           noise->cores_per_rank == 1 && noise->sources[noise->clocked[0]].ops->begin_all != NULL;
}

/* The same as iwi_noise_begin_all(), of noise that is one source. */
static void begin_rows(const iw_noise *noise, struct iwi_stream_id id, uint32_t rank_count, uint32_t lanes,
                       int64_t *state, iw_time *next)
{
    const uint32_t number = noise->clocked[0];
    const struct iwi_noise_source *source = &noise->sources[number];
    const size_t count = (size_t)rank_count * lanes;
    struct iwi_stream_origin origins[IWI_PICKED_MOST];

    for (size_t k = 0; k < count; k += IWI_PICKED_MOST) {
        const size_t now = count - k < IWI_PICKED_MOST ? count - k : IWI_PICKED_MOST;

        for (size_t n = 0; n < now; n++) {
            const struct iwi_stream_id one = {id.seed, id.trial + (k + n) % lanes,
                                              id.rank + (uint32_t)((k + n) / lanes)};

            origins[n].draw.purpose = IWI_DRAW_OFFSET;
            origins[n].index = 0;
            origins[n].at_ps = 0;
            fill_skew(noise, &one, &origins[n]);
            fill_source(noise, number, &one, &origins[n]);
        }
        source->ops->begin_row(source, origins, now, lanes, state + k * noise->words, next + k);
    }
}

void iwi_noise_begin_all(const iw_noise *noise, struct iwi_stream_id id, uint32_t rank_count, uint32_t lanes,
                         int64_t *state, iw_time *next)
{
    const struct iwi_noise_source *alone =
        noise->clocked_count == 1 ? &noise->sources[noise->clocked[0]] : NULL;

    if (alone != NULL && alone->ops->begin_all != NULL && noise->sync == IW_SYNC_NONE) {
        struct iwi_draw_id draw = iwi_source_draw(noise, noise->clocked[0], id);

        draw.purpose = IWI_DRAW_OFFSET;
        alone->ops->begin_all(alone, draw, rank_count, lanes, next);
        return;
    }
    if (alone != NULL && alone->ops->begin_row != NULL) {
        begin_rows(noise, id, rank_count, lanes, state, next);
        return;
    }
    for (uint32_t rank = 0; rank < rank_count; rank++) {
        for (uint32_t lane = 0; lane < lanes; lane++) {
            const struct iwi_stream_id one = {id.seed, id.trial + lane, id.rank + rank};

            *next++ = iwi_noise_begin(noise, one, state);
            state += noise->words;
        }
    }
}

/* What the next detours of a source are drawn with; recorded ones are not, and divisions take long. */
static struct iwi_draw_id walk_draw(const iw_noise *noise, uint32_t number, struct iwi_stream_id id)
{
    const struct iwi_draw_id none = {0};

    return noise->sources[number].ops->is_recorded ? none : iwi_source_draw(noise, number, id);
}

/* Moves every source on to its first detour that ends after t, in the state and in `cursors`. */
static void seek_all(const iw_noise *noise, struct iwi_stream_id id, int64_t *state, iw_time *next, iw_time t,
                     struct cursor *cursors)
{
    const bool is_alone = noise->clocked_count == 1;
    iw_time earliest = IWI_NEVER;

    for (size_t i = 0; i < noise->clocked_count; i++) {
        const uint32_t number = noise->clocked[i];
        const struct iwi_noise_source *source = &noise->sources[number];
        int64_t *start = is_alone ? next : state++;

        cursors[i].source = source;
        cursors[i].number = number;
        cursors[i].draw = walk_draw(noise, number, id);
        *start = source->ops->seek(source, cursors[i].draw, state, *start, t);
        cursors[i].start = *start;
        cursors[i].is_at_start = true;
        if (source->ops->words > 0) { /* else there may be no state */
            memcpy(cursors[i].words, state, source->ops->words * sizeof *state);
        }
        state += source->ops->words;
        earliest = iwi_min(earliest, cursors[i].start);
    }
    *next = earliest;
}

/* Ties go to the source that was added first. */
static struct cursor *earliest_of(struct cursor *cursors, size_t count)
{
    struct cursor *earliest = &cursors[0];

    for (size_t i = 1; i < count; i++) {
        if (cursors[i].start < earliest->start) {
            earliest = &cursors[i];
        }
    }
    return earliest;
}

/* Number of the source that the detour counts for. */
static size_t owner_of(const struct cursor *c)
{
    const struct iwi_source_ops *ops = c->source->ops;

    return c->number + (ops->label != NULL ? ops->label(c->source, c->words) : 0);
}

/* The rest of the way through a source alone whose detours are all alike, without telling them apart: as many
 * as may be kept have been told of, and later ones are not worse. */
static iw_time finish_evenly(struct cursor *c, iw_time now, iw_time left, const struct iwi_lost *lost)
{
    const iw_time end = c->source->ops->finish(c->source, c->words, &c->start, now, left);

    lost->by_source[c->number] += end - now - left;
    return end;
}

/* Leaves a detour behind; the words follow when they are needed. */
static void leave(struct cursor *c)
{
    const struct iwi_source_ops *ops = c->source->ops;

    c->is_at_start = ops->following == NULL;
    c->start = c->is_at_start ? ops->step(c->source, c->draw, c->words, c->start) : ops->following(c->words);
}

static void arrive(struct cursor *c)
{
    if (!c->is_at_start) {
        c->start = c->source->ops->step(c->source, c->draw, c->words, c->start);
        c->is_at_start = true;
    }
}

/* Works from t on until d is done, through the detours in the order of their starts: so an instant is lost to
 * the one that took it first. */
static iw_time walk(struct cursor *cursors, size_t count, uint32_t rank, iw_time t, iw_time d,
                    const struct iwi_lost *lost)
{
    const bool is_even = lost != NULL && count == 1 && cursors[0].source->ops->is_even;
    iw_time now = t, left = d;
    size_t told = 0;

    while (now < IWI_LATEST) {
        struct cursor *c = earliest_of(cursors, count);
        const struct iwi_source_ops *ops = c->source->ops;
        iw_time end;

        if (c->start >= now + left) {
            break;
        }
        arrive(c);
        if (is_even && told > lost->worst_count) { /* one more: the first may have been under way */
            return finish_evenly(c, now, left, lost);
        }
        if (c->start > now) {
            left -= c->start - now;
            now = c->start;
        }
        end = ops->end(c->source, c->words, c->start);
        if (end > now) {
            if (lost != NULL) {
                told++;
                iwi_lost_add(lost, (iw_hit){now, end - now, rank, (uint32_t)owner_of(c)});
            }
            now = end;
        }
        leave(c);
    }
    return now + left;
}

bool iwi_noise_has_closed_form(const iw_noise *noise)
{
    return noise->closed_form != NULL;
}

iw_time iwi_noise_finish_closed(const iw_noise *noise, int64_t *state, iw_time *next, iw_time t, iw_time d)
{
    return noise->closed_form->ops->finish(noise->closed_form, state, next, t, d);
}

/* Moves every source of a stream on, in its state alone. */
static void seek_state(const iw_noise *noise, struct iwi_stream_id id, int64_t *state, iw_time *next,
                       iw_time t)
{
    const bool is_alone = noise->clocked_count == 1;
    iw_time earliest = IWI_NEVER;

    for (size_t i = 0; i < noise->clocked_count; i++) {
        const uint32_t number = noise->clocked[i];
        const struct iwi_noise_source *source = &noise->sources[number];
        iw_time *start = is_alone ? next : state++;

        if (*start <= t) {
            *start = source->ops->seek(source, walk_draw(noise, number, id), state, *start, t);
        }
        state += source->ops->words;
        earliest = iwi_min(earliest, *start);
    }
    *next = earliest;
}

/* Asks for the memory that seek_state() waits for. */
static void fetch_state(const iw_noise *noise, const int64_t *state)
{
    const size_t starts = noise->clocked_count == 1 ? 0 : 1; /* before the words of each source */

    for (size_t i = 0; i < noise->clocked_count; i++) {
        const struct iwi_noise_source *source = &noise->sources[noise->clocked[i]];

        state += starts;
        if (source->ops->fetch != NULL) {
            source->ops->fetch(source, state);
        }
        state += source->ops->words;
    }
}

/* Without branches, which vectors have no use for. No difference overflows: times are no later than
 * IWI_LATEST, and detours under way began after -IWI_LATEST. */
IWI_VECTOR_VERSIONS uint64_t iwi_pick_behind(const iw_time *nexts, const iw_time *ts, iw_time later,
                                             size_t count)
{
    uint64_t picked = 0;

    if (count == IWI_PICKED_MOST) {
        for (size_t n = 0; n < IWI_PICKED_MOST; n++) {
            picked |= (uint64_t)(nexts[n] - ts[n] - later) >> 63 << n;
        }
        return picked;
    }
    for (size_t n = 0; n < count; n++) {
        picked |= (uint64_t)(nexts[n] < ts[n] + later) << n;
    }
    return picked;
}

/* Asks for all memory that picked streams wait for when they are sought. */
static void fetch_picked(const iw_noise *noise, const int64_t *state, uint64_t picked)
{
    IWI_FOR_PICKED (n, picked) {
        __builtin_prefetch(state + n * noise->words);
    }
    IWI_FOR_PICKED (n, picked) {
        fetch_state(noise, state + n * noise->words);
    }
}

/* Of up to IWI_PICKED_MOST streams those whose next detour may be over. */
static void seek_stretch(const iw_noise *noise, const struct iwi_stream_row *row, size_t first,
                         iw_time *nexts, const iw_time *ts, size_t count)
{
    int64_t *state = row->state + first * noise->words;
    const uint64_t behind = iwi_pick_behind(nexts, ts, 0, count);

    fetch_picked(noise, state, behind);
    IWI_FOR_PICKED (n, behind) {
        const size_t place = row->lane + first + n;
        const struct iwi_stream_id id = {row->id.seed,
                                         row->id.trial + (place & (((size_t)1 << row->lane_shift) - 1)),
                                         row->id.rank + (uint32_t)(place >> row->lane_shift) * row->cores};

        seek_state(noise, id, state + n * noise->words, &nexts[n], ts[n]);
        nexts[n] = iwi_min(nexts[n], IWI_LATEST);
    }
}

void iwi_noise_fetch_all(const iw_noise *noise, const struct iwi_stream_row *row, const iw_time *nexts,
                         const iw_time *ts, iw_time later, size_t count)
{
    for (size_t n = 0; n < count; n += IWI_PICKED_MOST) {
        const size_t now = count - n < IWI_PICKED_MOST ? count - n : IWI_PICKED_MOST;

        fetch_picked(noise, row->state + n * noise->words, iwi_pick_behind(nexts + n, ts + n, later, now));
    }
}

void iwi_noise_seek_all(const iw_noise *noise, const struct iwi_stream_row *row, iw_time *nexts,
                        const iw_time *ts, size_t count)
{
    const struct iwi_noise_source *source = noise->closed_form;

    if (source != NULL && source->ops->seek_all != NULL) {
        source->ops->seek_all(source, row->state, nexts, ts, count);
        return;
    }
    for (size_t n = 0; n < count; n += IWI_PICKED_MOST) {
        seek_stretch(noise, row, n, nexts + n, ts + n,
                     count - n < IWI_PICKED_MOST ? count - n : IWI_PICKED_MOST);
    }
}

iw_time iwi_noise_finish(const iw_noise *noise, struct iwi_stream_id id, int64_t *state, iw_time *next,
                         iw_time t, iw_time d, const struct iwi_lost *lost)
{
    struct cursor cursors[IW_NOISE_MAX_SOURCES];

    if (noise->closed_form != NULL && lost == NULL) { /* it does not tell detours apart */
        return iwi_noise_finish_closed(noise, state, next, t, d);
    }
    if (noise->clocked_count == 0) {
        return t + d;
    }
    seek_all(noise, id, state, next, t, cursors);
    /* NOLINTNEXTLINE(clang-analyzer-core.DivideZero): a rank has a core, which it does not see */
    return walk(cursors, noise->clocked_count, lost == NULL ? 0 : id.rank / noise->cores_per_rank, t, d,
                lost);
}

struct iwi_stream_detour iwi_noise_detour(const iw_noise *noise, struct iwi_stream_id id, int64_t *state,
                                          iw_time *next, iw_time t)
{
    struct cursor cursors[IW_NOISE_MAX_SOURCES];
    const struct cursor *first;

    seek_all(noise, id, state, next, t, cursors);
    first = earliest_of(cursors, noise->clocked_count);
    if (first->start == IWI_NEVER) {
        return (struct iwi_stream_detour){IWI_NEVER, IWI_NEVER, 0};
    }
    return (struct iwi_stream_detour){first->start,
                                      first->source->ops->end(first->source, first->words, first->start),
                                      (uint32_t)owner_of(first)};
}

iw_time iwi_noise_quiet(const iw_noise *noise, struct iwi_stream_id id, int64_t *state, iw_time *next,
                        iw_time t, const struct iwi_lost *lost, iw_time *until_p)
{
    const iw_time begin =
        iwi_finish(noise, id, state, next, t, 1, lost) - 1; /* before its first picosecond */

    if (*next <= begin) {
        struct cursor cursors[IW_NOISE_MAX_SOURCES];

        seek_all(noise, id, state, next, begin, cursors);
    }
    *until_p = *next;
    return begin;
}

void iwi_noise_walk(const iw_noise *noise, struct iwi_stream_id id, iw_time until, iwi_busy_fn take,
                    void *arg)
{
    struct cursor cursors[IW_NOISE_MAX_SOURCES];
    int64_t state[IW_NOISE_MAX_SOURCES * (1 + IWI_SOURCE_MOST_WORDS)];
    iw_time next = iwi_noise_begin(noise, id, state), now = 0;

    if (noise->clocked_count == 0) {
        return;
    }
    seek_all(noise, id, state, &next, 0, cursors);
    for (;;) {
        struct cursor *c = earliest_of(cursors, noise->clocked_count);
        const struct iwi_source_ops *ops = c->source->ops;
        const iw_time start = iwi_max(c->start, now);

        if (c->start >= until) {
            return;
        }
        now = iwi_max(now, iwi_min(ops->end(c->source, c->words, c->start), until));
        if (!take(arg, (uint32_t)owner_of(c), start, now)) {
            return;
        }
        c->start = ops->step(c->source, c->draw, c->words, c->start);
    }
}

iw_time iwi_noise_phase(const iw_noise *noise, struct iwi_stream_id id, int64_t *state, iw_time *next,
                        uint64_t phase, iw_time t, iw_time work_ps, const struct iwi_lost *lost)
{
    iw_time sum = 0;

    if (noise->sync == IW_SYNC_PHASE) {
        struct iwi_stream_origin origin = {.draw = {.purpose = IWI_DRAW_PHASE}, .index = phase, .at_ps = t};

        *next = start_all(noise, &id, state, &origin);
    }
    for (uint32_t i = 0; i < noise->count && noise->phased_count > 0; i++) {
        const struct iwi_noise_source *source = &noise->sources[i];
        struct iwi_draw_id draw;
        iw_time extra;

        if (source->ops->extra == NULL) {
            continue;
        }
        draw = iwi_source_draw(noise, i, id);
        draw.purpose = IWI_DRAW_PHASE;
        extra = source->ops->extra(source, draw, phase, work_ps);
        sum += extra;
        if (lost != NULL) {
            iwi_lost_add(lost, (iw_hit){t, extra, id.rank / noise->cores_per_rank, i});
        }
    }
    return sum;
}
