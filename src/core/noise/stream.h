/* The noise that one rank, or one core of it, meets: finish(t, d) of docs/explanation/semantics.md.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * An engine keeps for each rank and trial one `next` (the start of the first detour that has not ended yet;
 * hot, compared at every operation) and iwi_noise_words() words of state (touched only when a detour is hit).
 * Detours of several sources may overlap: an instant counts as lost once, to the source that took it first.
 */
#ifndef IWI_STREAM_H
#define IWI_STREAM_H

#include <stdbool.h>

#include <idlewave/noise.h>

/* No simulated time passes this (53 days) exactly: who gets there stays there, so that sums cannot overflow,
 * and engines refuse the run. */
#define IWI_LATEST (INT64_MAX / 2)

/* The start of a detour that does not come. */
#define IWI_NEVER INT64_MAX

/* Which of all random sequences: the same numbers for any engine, thread or process count. */
struct iwi_stream_id {
    uint64_t seed, trial;
    uint32_t rank; /* its stream: with K cores a rank, core c of rank r has number r * K + c */
};

/* Where lost time is put down. */
struct iwi_lost {
    iw_time *by_source;
    iw_hit *worst; /* the worst_count that took most, the most first; ties: by time, rank, source */
    size_t worst_count;
};

/* Puts down one of them. */
void iwi_lost_add(const struct iwi_lost *lost, iw_hit hit);

/* Words of state per stream; 0 where `next` says it all (a periodic source alone). */
size_t iwi_noise_words(const iw_noise *noise);

/* Ranks on a node, of which so many are wanted (0: as recorded), with recorded_cpus CPUs (0: nothing is). */
uint32_t iwi_ranks_of_node(uint32_t wanted, uint32_t recorded_cpus, uint32_t cores_per_rank);

/* The most nodes in a row that share an offset into recordings, as iw_noise_align_nodes() has it; 1: none. */
uint32_t iwi_noise_nodes_together(const iw_noise *noise);

/* The kinds of sources that act on compute phases, "phase-exp"; NULL behind the last. */
const char *iwi_noise_phased_name(size_t index);

/* Has sources that act on compute phases, or restarts at phases
 * (IW_SYNC_PHASE). */
bool iwi_noise_has_phases(const iw_noise *noise);

/* Detours in wall-clock time restart at compute phases (IW_SYNC_PHASE). */
bool iwi_noise_restarts(const iw_noise *noise);

/* Sets a stream up at time 0; returns `next`. */
iw_time iwi_noise_begin(const iw_noise *noise, struct iwi_stream_id id, int64_t *state);

/* The same for ranks id.rank ... id.rank + rank_count - 1 and trials id.trial ... id.trial + lanes - 1:
 * element r * lanes + l of `next`, and as many times iwi_noise_words() of `state`. */
void iwi_noise_begin_all(const iw_noise *noise, struct iwi_stream_id id, uint32_t rank_count, uint32_t lanes,
                         int64_t *state, iw_time *next);

/* All ranks meet the same detours at the same times. */
bool iwi_noise_is_common(const iw_noise *noise);

/* IWI_DRAW_TRIALS neighbouring trials are begun at the price of one, and have no words of state. */
bool iwi_noise_begins_together(const iw_noise *noise);

/* The slow path of iwi_finish(): exact for any t >= all earlier t of this stream, d > 0.
 * Adds the time lost to `lost` unless NULL. */
iw_time iwi_noise_finish(const iw_noise *noise, struct iwi_stream_id id, int64_t *state, iw_time *next,
                         iw_time t, iw_time d, const struct iwi_lost *lost);

/* A detour and the source that it counts for. */
struct iwi_stream_detour {
    iw_time start, end; /* IWI_NEVER: there is none */
    uint32_t source;
};

/* Of the detours that end after t >= all earlier t of this stream, the one that begins first. The noise has
 * sources in wall-clock time. */
struct iwi_stream_detour iwi_noise_detour(const iw_noise *noise, struct iwi_stream_id id, int64_t *state,
                                          iw_time *next, iw_time t);

/* iwi_noise_finish() of noise that is one source with a closed form: needs no id. */
bool iwi_noise_has_closed_form(const iw_noise *noise);
iw_time iwi_noise_finish_closed(const iw_noise *noise, int64_t *state, iw_time *next, iw_time t, iw_time d);

enum { IWI_PICKED_MOST = 64 };

/* Which of up to IWI_PICKED_MOST elements have next < t + later: a bit of each. */
uint64_t iwi_pick_behind(const iw_time *nexts, const iw_time *ts, iw_time later, size_t count);

/* Goes through the numbers of bits, the lowest first. */
/* NOLINTBEGIN(bugprone-macro-parentheses): no declared name can have them */
#define IWI_FOR_PICKED(n, picked)                                                                           \
    for (uint64_t n##_left = (picked), n; n##_left != 0 && (n = (uint64_t)__builtin_ctzll(n##_left), true); \
         n##_left &= n##_left - 1)
/* NOLINTEND(bugprone-macro-parentheses) */

/* Streams side by side: of 2^lane_shift trials from id.trial on for each rank, of which the first has `lane`.
 */
struct iwi_stream_row {
    struct iwi_stream_id id;
    uint32_t lane_shift, lane, cores; /* of a rank: only the first has a stream here */
    int64_t *state;                   /* NULL where there are no words */
};

/* Moves each of `count` nexts of a row on to the first detour that ends after its t, as finish(t, d) would.
 */
void iwi_noise_seek_all(const iw_noise *noise, const struct iwi_stream_row *row, iw_time *nexts,
                        const iw_time *ts, size_t count);

/* Asks for the memory that the row needs to go on behind all nexts before t + later. */
void iwi_noise_fetch_all(const iw_noise *noise, const struct iwi_stream_row *row, const iw_time *nexts,
                         const iw_time *ts, iw_time later, size_t count);

/* The first undisturbed stretch of CPU time from t on: returns its start; *until_p: where the detour after it
 * begins, or IWI_NEVER. `noise` NULL: none. Adds what was lost before it to `lost` unless NULL. For any t >=
 * all earlier t of this stream. */
iw_time iwi_noise_quiet(const iw_noise *noise, struct iwi_stream_id id, int64_t *state, iw_time *next,
                        iw_time t, const struct iwi_lost *lost, iw_time *until_p);

/* Takes the busy time [start, end) of a source; start = end where others had all of a detour before. False
 * ends the walk. */
typedef bool (*iwi_busy_fn)(void *arg, uint32_t source, iw_time start, iw_time end);

/* All detours of a stream in [0, until), in the order of their starts: what each takes of the time that none
 * before it has taken, as iwi_noise_finish() counts it. */
void iwi_noise_walk(const iw_noise *noise, struct iwi_stream_id id, iw_time until, iwi_busy_fn take,
                    void *arg);

/* A compute phase (0 = first) of `work_ps` starts at t: with IW_SYNC_PHASE the detours restart at a common
 * random offset, as if the phase had begun there. Returns the extra work that per-phase sources put on it
 * (added to `lost` unless NULL). Call before iwi_finish() of the phase's work. */
iw_time iwi_noise_phase(const iw_noise *noise, struct iwi_stream_id id, int64_t *state, iw_time *next,
                        uint64_t phase, iw_time t, iw_time work_ps, const struct iwi_lost *lost);

/* First instant by which d >= 0 of undisturbed CPU time has passed since t. */
static inline iw_time iwi_finish(const iw_noise *noise, struct iwi_stream_id id, int64_t *state,
                                 iw_time *next, iw_time t, iw_time d, const struct iwi_lost *lost)
{
    if (t + d <= *next || d == 0) {
        return t + d;
    }
    return iwi_noise_finish(noise, id, state, next, t, d, lost);
}

/* ---- posting receives (rule 4), which goes on while the CPU works, and may be behind it ---- */

/* Where it is in a stream that has words of its own. */
struct iwi_posting {
    iw_time next; /* as that of the stream */
    iw_time at;   /* the latest t */
};

/* What is reached at t is posted there: no detour holds the CPU. False: iwi_posting_time() tells, in the
 * order of time. */
static inline bool iwi_posts_at_once(const struct iwi_posting *posting, iw_time t)
{
    return t >= posting->at && t < posting->next;
}

static inline iw_time iwi_posting_time(const iw_noise *noise, struct iwi_stream_id id, int64_t *words,
                                       struct iwi_posting *posting, iw_time t)
{
    posting->at = t;
    return iwi_finish(noise, id, words, &posting->next, t, 1, NULL) - 1;
}

/* ---- a recorded trace as arrays, for engines with rules of their own ---- */

/* Side by side, since who needs one needs the other. */
struct iwi_detour_piece {
    iw_time start_ps, duration_ps;
};

/* Disjoint pieces within [0, length), sorted, neither empty nor touching; owned by the noise. */
struct iwi_detour_trace_view {
    const struct iwi_detour_piece *pieces;
    size_t count;
    iw_time length_ps; /* 0 only when count is */
};

/* True if the noise is exactly one recorded trace, or the recording of one CPU; else *view_p stays as it is.
 */
bool iwi_noise_trace_view(const iw_noise *noise, struct iwi_detour_trace_view *view_p);

/* The position in [0, length) at which that trace stands at time 0 on a rank; 0 if there is no such trace. */
iw_time iwi_noise_trace_offset(const iw_noise *noise, struct iwi_stream_id id);

#endif
