/* What the files of this folder share: a noise source, what it can do, and the list of them.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A new kind of source is one file with one iwi_source_ops, one line in IWI_SOURCE_KINDS below, and its
 * parameters in the union.
 */
#ifndef IWI_SOURCE_H
#define IWI_SOURCE_H

#include "core/base/rng.h"
#include "core/noise/duration.h"
#include "core/noise/stream.h"

enum { IWI_SOURCE_MOST_WORDS = 5 };

struct iwi_periodic {
    iw_time period_ps, duration_ps; /* duration < period */
};

struct iwi_poisson {
    iw_time mean_gap_ps;
    struct iwi_duration duration;
    double mean_under_way; /* detours at any instant; 0 where durations have no mean */
};

enum { IWI_PIECES_PER_SUM = 16 };

/* Disjoint pieces within [0, length), sorted, not empty; those that touch have different labels. */
struct iwi_detour_trace {
    struct iwi_detour_piece *pieces;
    iw_time *free_before_ps; /* undisturbed time before the first of every IWI_PIECES_PER_SUM pieces */
    size_t count;
    iw_time length_ps; /* 0 only when count is */
    iw_time free_ps;   /* undisturbed time in [0, length), above 0 when count is */
    uint32_t *index;   /* the first piece that ends after index_ps, twice index_ps, ...; count if none */
    iw_time index_ps;
};

/* One CPU of a recording. */
struct iwi_recorded_cpu {
    struct iwi_detour_trace trace;
    uint8_t *label;  /* of each piece: its source among those told apart */
    uint32_t *order; /* numbers of the pieces: of sources that are not node-wide, then of those that are; NULL
                        unless the recording has both */
    size_t own_count;
};

/* Recordings of one or several nodes: traces of one length. */
struct iwi_recorded {
    struct iwi_recorded_cpu *cpus; /* of all nodes, one node after the other */
    size_t cpu_count, label_count;
    size_t node_count, *first_cpu; /* by node, and cpu_count after the last */
    iw_time *busy_ps;              /* by CPU and label: element cpu * IW_NOISE_MAX_SOURCES + label */
    iw_time length_ps;
    bool has_own, has_node_wide; /* sources that hit CPUs one by one; that hit all of a node together */
};

/* The source of label 0 owns the recording and is walked for all of them; those of the other labels follow
 * it in the list and only have a name and a share. */
struct iwi_recorded_source {
    struct iwi_recorded *recorded;
    size_t label;
};

struct iwi_bernoulli {
    double probability;
    iw_time extra_ps;
};

struct iwi_phase_pareto {
    double share, shape;
};

struct iwi_noise_source {
    const struct iwi_source_ops *ops;
    char *name;              /* the spec or the file */
    uint32_t input;          /* number of the call that added it, which its random numbers belong to */
    uint32_t nodes_together; /* recorded: so many nodes in a row share an offset; at least 1 */
    union {
        struct iwi_periodic periodic;
        struct iwi_poisson poisson;
        struct iwi_detour_trace trace;
        struct iwi_recorded_source recorded;
        struct iwi_bernoulli bernoulli;
        struct iwi_phase_pareto phase_pareto;
        double phase_share;
    } u;
};

/* Where a timeline of detours begins. */
struct iwi_stream_origin {
    struct iwi_draw_id draw; /* purpose: IWI_DRAW_OFFSET (from time 0), or IWI_DRAW_PHASE (a restart) */
    uint64_t index;          /* 0, or the number of the compute phase */
    uint32_t node, seat;     /* recorded sources: the rank's node, and its number there */
    bool has_copies;         /* recorded sources: further copies of the CPUs have offsets of their own */
    iw_time at_ps;           /* the timeline's time 0 in wall-clock time */
    iw_time shift_ps;        /* skew: everything happens so much later; >= 0 */
    iw_time skew_ps;         /* no shift is longer */
};

/* Sources in wall-clock time are walked detour by detour, in order of their starts. The place of a walk is
 * the start of one detour (IWI_NEVER: no more) and `words` further words. */
struct iwi_source_ops {
    const char *name; /* of the spec, before ':'; NULL: takes what no other name fits, a file */
    const char *usage, *example;
    /* Fills source->u; `arguments` is the text behind "name:"; without a name a list of all
     * specs, for messages. On failure nothing is held. */
    iw_status (*parse)(const iw_log *log, const char *spec, const char *arguments,
                       struct iwi_noise_source *source);
    void (*release)(struct iwi_noise_source *source); /* NULL: nothing to free */
    double (*share)(const struct iwi_noise_source *source, uint32_t cores_per_node);
    bool is_recorded; /* ranks of a node see it at one offset */
    bool is_even;     /* all its detours take equally long; it has finish() */

    size_t words;
    /* The first detour that ends after origin->at_ps. NULL in per-phase sources and where another source
     * walks. */
    iw_time (*begin)(const struct iwi_noise_source *source, const struct iwi_stream_origin *origin,
                     int64_t *words);
    /* NULL, or begin() from time 0 without skew for `rank_count` ranks and `lanes` trials from those of
     * `draw` on: element r * lanes + l of `next`. Only for sources without words that are drawn for each
     * rank. */
    void (*begin_all)(const struct iwi_noise_source *source, struct iwi_draw_id draw, uint32_t rank_count,
                      uint32_t lanes, iw_time *next);
    /* NULL, or begin() of up to IWI_PICKED_MOST streams side by side, of `lanes` trials for each rank. */
    void (*begin_row)(const struct iwi_noise_source *source, const struct iwi_stream_origin *origins,
                      size_t count, uint32_t lanes, int64_t *words, iw_time *next);
    /* The detour after this one. */
    iw_time (*step)(const struct iwi_noise_source *source, struct iwi_draw_id draw, int64_t *words,
                    iw_time start);
    /* The first detour from this one on that ends after t. */
    iw_time (*seek)(const struct iwi_noise_source *source, struct iwi_draw_id draw, int64_t *words,
                    iw_time start, iw_time t);
    /* NULL, or seek() of `count` streams side by side, each to its own t, and no start after IWI_LATEST. Only
     * for sources that draw nothing on their way. */
    void (*seek_all)(const struct iwi_noise_source *source, int64_t *words, iw_time *starts,
                     const iw_time *ts, size_t count);
    /* NULL, or where step() leads: known without it, which waits for memory. */
    iw_time (*following)(const int64_t *words);
    /* NULL, or seek() waits for memory, which this call asks for. */
    void (*fetch)(const struct iwi_noise_source *source, const int64_t *words);
    iw_time (*end)(const struct iwi_noise_source *source, const int64_t *words, iw_time start);
    /* NULL, or whose the detour is: added to the number of the source. */
    size_t (*label)(const struct iwi_noise_source *source, const int64_t *words);
    /* NULL, or iwi_noise_finish() of this source alone, better than detour by detour. */
    iw_time (*finish)(const struct iwi_noise_source *source, int64_t *words, iw_time *next, iw_time t,
                      iw_time d);

    /* Extra work on a compute phase. NULL in all but per-phase sources. */
    iw_time (*extra)(const struct iwi_noise_source *source, struct iwi_draw_id draw, uint64_t phase,
                     iw_time work_ps);
};

/* All kinds that have a spec, one line each, and files last: these take any text. */
#define IWI_SOURCE_KINDS(X) \
    X(periodic)             \
    X(poisson)              \
    X(phase_exp)            \
    X(phase_pareto)         \
    X(bernoulli)            \
    X(trace)

#define IWI_DECLARE_SOURCE(kind) extern const struct iwi_source_ops iwi_source_##kind;
IWI_SOURCE_KINDS(IWI_DECLARE_SOURCE)
#undef IWI_DECLARE_SOURCE
extern const struct iwi_source_ops iwi_source_recording;      /* of label 0; made by recording_noise.c */
extern const struct iwi_source_ops iwi_source_recording_both; /* the same, with two offsets */
extern const struct iwi_source_ops iwi_source_recording_part; /* of the other labels */

/* IWI_SOURCE_KINDS in their order; NULL after the last. */
extern const struct iwi_source_ops *const iwi_source_kinds[];

/* It begins with the name of a kind, so it is no path. */
bool iwi_noise_is_spec(const char *text);

struct iw_noise {
    struct iwi_noise_source sources[IW_NOISE_MAX_SOURCES];
    size_t count;
    uint32_t input_count; /* specs and files added, those that add nothing among them */
    iw_sync sync;
    iw_time skew_ps;
    uint32_t wanted_per_node; /* ranks of a node; 0: as recorded */
    uint32_t cores_per_rank;  /* at least 1 */
    iw_loop_schedule loop;
    iw_cpu_set only_cpus; /* of recordings; empty: all */
    iw_align align;       /* of several recordings */
    bool has_one_offset;  /* all copies of a node's CPUs have that of the node */
    /* derived: */
    uint32_t recorded_cpus;                 /* of a node, the most; 0: nothing is recorded */
    uint32_t ranks_per_node;                /* at least 1 */
    uint32_t cores_per_node;                /* streams of a node: of all cores of its ranks */
    uint32_t clocked[IW_NOISE_MAX_SOURCES]; /* numbers of the sources in wall-clock time */
    size_t clocked_count;
    size_t phased_count; /* sources that act on compute phases */
    size_t words;
    const struct iwi_noise_source *closed_form; /* the only clocked source, if it has finish(); else NULL */
};

/* Nodes that were aligned meet offsets of their own again. */
void iwi_noise_take_apart(iw_noise *noise);

/* Further copies of a node's recorded CPUs have offsets of their own. */
static inline bool iwi_noise_has_copies(const iw_noise *noise)
{
    return noise->sync == IW_SYNC_NONE && !noise->has_one_offset;
}

/* All copies of a node's recorded CPUs meet the node's offset, as if all sources were node-wide. */
void iwi_noise_join_copies(iw_noise *noise);

/* A recorded node has so many CPUs. */
void iwi_noise_met_cpus(iw_noise *noise, size_t cpu_count);

/* Takes over a source, its name and all, as one of the next input; there must be room. */
void iwi_source_commit(iw_noise *noise, const struct iwi_noise_source *source);

/* The source of a recording that is walked, and owns it. */
static inline bool iwi_source_is_recording(const struct iwi_noise_source *source)
{
    return source->ops == &iwi_source_recording || source->ops == &iwi_source_recording_both;
}

/* Which random numbers source `number` uses on a rank; the caller sets the purpose. */
struct iwi_draw_id iwi_source_draw(const iw_noise *noise, uint32_t number, struct iwi_stream_id id);

/* How much later than others a rank's synchronised node sees everything. */
iw_time iwi_noise_shift(const iw_noise *noise, struct iwi_stream_id id);

/* A nonnegative real number of picoseconds as a time: rounded, at most IW_TIME_INPUT_MAX. */
iw_time iwi_round_ps(double ps);

/* Sorts and merges (detour_trace.c): see iw_noise_add_trace(). `name` is for messages. */
IW_NODISCARD iw_status iwi_detour_trace_build(const iw_log *log, const char *name, const iw_time *start_ps,
                                              const iw_time *duration_ps, size_t count, iw_time length_ps,
                                              struct iwi_detour_trace *trace_p);

/* The parse() of recorded traces: reads a file (detour_trace.c). */
IW_NODISCARD iw_status iwi_detour_trace_load(const iw_log *log, const char *path, const char *specs,
                                             struct iwi_noise_source *source);

/* Name of the source that stands for all recorded ones without a label of their own. */
#define IWI_OTHER_SOURCES "other"

/* Makes the index of a trace that is complete. */
IW_NODISCARD iw_status iwi_detour_trace_index(const iw_log *log, struct iwi_detour_trace *trace);

void iwi_detour_trace_release(struct iwi_detour_trace *trace);

#endif
