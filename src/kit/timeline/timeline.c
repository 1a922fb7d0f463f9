/* Timelines: takes the steps of a run, gives them back exactly and as a raster.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "kit/timeline/timeline.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/opts.h"

struct iwi_raster_builder;

/* The raster of a run while it is being filled: ranks x time in cells of bounded number.
 *
 * Time is counted in units of 1/65536 of a column. What a state gets is a difference of two such positions:
 * what rounding takes from one state it gives to the next, so many short steps lose nothing. The largest
 * share of one rank needs to know how long it has been in each state in the column where it is now: its
 * cursor. As long as columns need not be widened, nothing depends on the order in which ranks come.
 */

enum { UNIT_BITS = 16, COLUMN_UNITS = 1 << UNIT_BITS };

/* Vectors of eight; IW_STATES of them are used, the others stay 0. */
enum { LANES = 8 };

typedef int64_t wide_lanes __attribute__((vector_size(LANES * sizeof(int64_t))));
typedef double real_lanes __attribute__((vector_size(LANES * sizeof(double))));
typedef int32_t lanes __attribute__((vector_size(LANES * sizeof(int32_t))));
typedef uint16_t narrow_lanes __attribute__((vector_size(LANES * sizeof(uint16_t))));

/* Each lane of v has the next one; the last stays. GCC before 12 has no __builtin_shufflevector(), clang no
 * other. */
#ifdef __clang__
#define NEXT_LANES(v) __builtin_shufflevector((v), (v), 1, 2, 3, 4, 5, 6, 7, 7)
#else
#define NEXT_LANES(v) __builtin_shuffle((v), (lanes){1, 2, 3, 4, 5, 6, 7, 7})
#endif

/* A run of which nobody knows how long it takes begins with columns for so long. */
#define FIRST_GUESS_PS (16 * IW_PS_PER_US)

struct cell {
    uint32_t sum[LANES]; /* units, over its ranks */
    uint16_t max[LANES]; /* units of one rank; the last is missing where it was in one state all the time */
};

/* Where a rank is: units in each state, in this column, so far. */
struct cursor {
    uint16_t units[LANES - 2];
    uint32_t column;
};

struct iwi_raster_builder {
    struct iwi_level shape; /* without number and width of columns */
    uint32_t ranks, columns;
    uint32_t row, row_begin; /* of the rank that came last */
    iw_time bin_ps;
    iw_time limit_ps;       /* times before it have a column */
    double scale;           /* units per picosecond */
    struct cell *cells;     /* row after row */
    struct cursor *cursors; /* one a rank */
};

/* ---- width of columns ---- */

static void set_bin(struct iwi_raster_builder *raster, iw_time bin_ps)
{
    raster->bin_ps = bin_ps;
    raster->scale = COLUMN_UNITS / (double)bin_ps;
    /* a time that is rounded to the end of the last column is beyond it */
    raster->limit_ps = bin_ps * raster->columns - bin_ps / COLUMN_UNITS - 1;
}

static void merge_cells(const struct cell *first, const struct cell *second, struct cell *to)
{
    const struct cell a = *first, b = *second;

    for (int lane = 0; lane < LANES; lane++) {
        to->sum[lane] = (uint32_t)(((uint64_t)a.sum[lane] + b.sum[lane]) / 2);
        to->max[lane] = (uint16_t)((a.max[lane] + b.max[lane] + 1U) / 2);
    }
}

/* A rank in the second column of a pair has left its share of the first one in the cell already, where it is
 * at most the largest. */
static void join_cursors(struct iwi_raster_builder *raster)
{
    for (uint32_t rank = 0; rank < raster->ranks; rank++) {
        struct cursor *cursor = &raster->cursors[rank];
        const struct cell *cells =
            raster->cells + (size_t)(rank / raster->shape.ranks_per_row) * raster->columns;
        const struct cell *first = cursor->column % 2 != 0 ? &cells[cursor->column - 1] : NULL;

        for (int state = 0; state < IW_STATES; state++) {
            const uint32_t before = first != NULL ? first->max[state] + 1U : 0;

            cursor->units[state] = (uint16_t)((cursor->units[state] + before) / 2);
        }
        cursor->column /= 2;
    }
}

/* Pairs of columns become one. Which ranks had the largest shares is not known any more: half of their sum is
 * exact if it was the same rank, and else too large. */
static void double_bin(struct iwi_raster_builder *raster)
{
    const struct cell nothing = {.max = {0}};
    const uint32_t half = raster->columns / 2;

    join_cursors(raster);
    for (uint32_t row = 0; row < raster->shape.rows; row++) {
        struct cell *cells = raster->cells + (size_t)row * raster->columns;

        for (uint32_t column = 0; column < half; column++) {
            merge_cells(&cells[2 * (size_t)column], &cells[2 * (size_t)column + 1], &cells[column]);
        }
        if (raster->columns % 2 != 0) {
            merge_cells(&cells[raster->columns - 1], &nothing, &cells[half]);
        }
        memset(cells + (raster->columns - half), 0, half * sizeof *cells);
    }
    set_bin(raster, 2 * raster->bin_ps);
}

/* Until `end_ps` lies before the limit: then the column of every time up to it is there. */
static iw_status widen(struct iwi_raster_builder *raster, iw_time end_ps)
{
    while (end_ps >= raster->limit_ps) {
        if (raster->bin_ps > iwi_level_most_bin(raster->columns) / 2) {
            return IW_ERR_RANGE;
        }
        double_bin(raster);
    }
    return IW_OK;
}

static void iwi_raster_free(struct iwi_raster_builder *raster)
{
    if (raster == NULL) {
        return;
    }
    free(raster->cells);
    free(raster->cursors);
    free(raster);
}

/* ---- making one ---- */

static iw_status iwi_raster_new(const iw_log *log, const iw_timeline_opts *opts,
                                struct iwi_raster_builder **raster_p)
{
    struct iwi_raster_builder *raster = iwi_new_array(log, 1, sizeof *raster);
    const iw_time expected_ps = iwi_min(opts->expected_ps, IWI_TIMELINE_MOST_END_PS);
    /* an eighth more: a run that takes a little longer than expected needs no wider columns */
    const iw_time guess_ps = expected_ps > 0 ? expected_ps + expected_ps / 8 : FIRST_GUESS_PS;

    if (raster == NULL) {
        return IW_ERR_NOMEM;
    }
    raster->shape = iwi_level_finest(opts->about.ranks, opts->rows);
    raster->ranks = opts->about.ranks;
    raster->columns = opts->columns;
    raster->cells = iwi_new_array(log, (size_t)raster->shape.rows * raster->columns, sizeof *raster->cells);
    raster->cursors = iwi_new_array(log, raster->ranks, sizeof *raster->cursors);
    if (raster->cells == NULL || raster->cursors == NULL) {
        iwi_raster_free(raster);
        return IW_ERR_NOMEM;
    }
    set_bin(raster, iwi_min(guess_ps / raster->columns + 1, iwi_level_most_bin(raster->columns)));
    *raster_p = raster;
    return IW_OK;
}

/* ---- filling it ---- */

/* Vectors go by pointer: how they are passed depends on the machine. */
static inline void clamp(const lanes *at, int32_t low, int32_t high, lanes *clamped)
{
    const lanes below = *at<low, raised = (below & low) | (~below & *at), above = raised> high;

    *clamped = (above & high) | (~above & raised);
}

/* The rank leaves the cell. */
static inline void take_max(struct cell *cell, const lanes *units)
{
    const lanes above = *units > UINT16_MAX, capped = (above & UINT16_MAX) | (~above & *units);
    const narrow_lanes share = __builtin_convertvector(capped, narrow_lanes);
    narrow_lanes max, is_larger;

    memcpy(&max, cell->max, sizeof max);
    is_larger = (narrow_lanes)(share > max);
    max = (is_larger & share) | (~is_larger & max);
    memcpy(cell->max, &max, sizeof max);
}

static inline void load_units(const struct cursor *cursor, lanes *units)
{
    const narrow_lanes states = {UINT16_MAX, UINT16_MAX, UINT16_MAX, UINT16_MAX, UINT16_MAX};
    narrow_lanes all;

    memcpy(&all, cursor, sizeof all);
    all &= states;
    *units = __builtin_convertvector(all, lanes);
}

/* Where the states of a step begin and end, in units rounded to nearest; the last ones are its end. */
static inline void find_positions(const struct iwi_raster_builder *raster, const iw_step *step,
                                  lanes *positions)
{
    const iw_time t0 = step->begin_ps, t1 = t0 + step->state_ps[0], t2 = t1 + step->state_ps[1],
                  t3 = t2 + step->state_ps[2], t4 = t3 + step->state_ps[3], t5 = t4 + step->state_ps[4];
    const wide_lanes times = {t0, t1, t2, t3, t4, t5, t5, t5};
    const real_lanes units = __builtin_convertvector(times, real_lanes) * raster->scale + 0.5;

    *positions = __builtin_convertvector(units, lanes);
}

/* The last cell that the step touches is not left yet: the cursor keeps what the rank has been there for. */
IWI_VECTOR_VERSIONS
static void put_step(const struct iwi_raster_builder *raster, const iw_step *step, struct cell *cells,
                     struct cursor *cursor)
{
    lanes positions, units;
    narrow_lanes left;
    int32_t column, last;

    find_positions(raster, step, &positions);
    column = positions[0] >> UNIT_BITS;
    last = positions[LANES - 1] >> UNIT_BITS;
    load_units(cursor, &units);
    if ((uint32_t)column != cursor->column) {
        take_max(&cells[cursor->column], &units);
        units = units & 0;
    }
    for (;; column++) {
        const int32_t low = column << UNIT_BITS;
        struct cell *cell = &cells[column];
        lanes begin, inside, sum;

        clamp(&positions, low, low + COLUMN_UNITS, &begin);
        inside = NEXT_LANES(begin) - begin;
        memcpy(&sum, cell->sum, sizeof sum);
        sum += inside;
        memcpy(cell->sum, &sum, sizeof sum);
        units += inside;
        if (column >= last) {
            break;
        }
        take_max(cell, &units);
        units = units & 0;
    }
    left = __builtin_convertvector(units, narrow_lanes);
    memcpy(cursor, &left, sizeof left);
    cursor->column = (uint32_t)last;
}

static inline struct cell *row_cells(struct iwi_raster_builder *raster, uint32_t rank)
{
    if (rank - raster->row_begin >= raster->shape.ranks_per_row) { /* also if it is before that */
        raster->row = rank / raster->shape.ranks_per_row;
        raster->row_begin = raster->row * raster->shape.ranks_per_row;
    }
    return raster->cells + (size_t)raster->row * raster->columns;
}

/* A step that begins at 0 or later and ends within the range of times. IW_ERR_RANGE: cells would have to be
 * too wide. */
static iw_status iwi_raster_add(struct iwi_raster_builder *raster, uint32_t rank, const iw_step *step,
                                iw_time end_ps)
{
    if (end_ps >= raster->limit_ps) {
        IW_TRY(widen(raster, end_ps));
    }
    put_step(raster, step, row_cells(raster, rank), &raster->cursors[rank]);
    return IW_OK;
}

/* ---- the finest level ---- */

static void take_cursors(struct iwi_raster_builder *raster)
{
    for (uint32_t rank = 0; rank < raster->ranks; rank++) {
        const struct cursor *cursor = &raster->cursors[rank];
        lanes units;

        load_units(cursor, &units);
        take_max(&row_cells(raster, rank)[cursor->column], &units);
    }
}

/* 65535 is all of the time. */
static uint16_t share_of(uint64_t sum, uint64_t whole)
{
    const uint64_t share = whole > 0 ? (sum * UINT16_MAX + whole / 2) / whole : 0;

    return (uint16_t)(share < UINT16_MAX ? share : UINT16_MAX);
}

static void fill_level(const struct iwi_raster_builder *raster, struct iwi_level *level)
{
    for (uint32_t row = 0; row < level->rows; row++) {
        const struct cell *cells = raster->cells + (size_t)row * raster->columns;
        const uint64_t whole = (uint64_t)iwi_level_ranks(level, raster->ranks, row) << UNIT_BITS;

        for (uint32_t column = 0; column < level->columns; column++) {
            const size_t to = (size_t)row * level->columns + column;

            for (int state = 0; state < IW_STATES; state++) {
                level->mean[state][to] = share_of(cells[column].sum[state], whole);
                level->max[state][to] = cells[column].max[state];
            }
        }
    }
}

/* The finest level, of a run that ended then. */
static iw_status iwi_raster_finish(const iw_log *log, struct iwi_raster_builder *raster, iw_time end_ps,
                                   struct iwi_level *level)
{
    struct iwi_level finest = raster->shape;

    take_cursors(raster);
    free(raster->cursors);
    raster->cursors = NULL;
    finest.bin_ps = raster->bin_ps;
    finest.columns = (uint32_t)iwi_max(1, end_ps / raster->bin_ps + (end_ps % raster->bin_ps != 0));
    IW_TRY(iwi_level_open(log, &finest));
    fill_level(raster, &finest);
    *level = finest;
    return IW_OK;
}

/* ---- making one ---- */

static iw_status check_opts(const iw_log *log, const iw_timeline_opts *opts)
{
    const uint32_t ranks = opts->about.ranks;

    if (ranks == 0) {
        return iwi_fail(log, IW_ERR_RANGE, "a timeline needs at least one rank");
    }
    if (opts->rows < IWI_TIMELINE_LEAST_SIDE || opts->columns < IWI_TIMELINE_LEAST_SIDE ||
        opts->rows > IWI_TIMELINE_MOST_SIDE || opts->columns > IWI_TIMELINE_MOST_SIDE) {
        return iwi_fail(log, IW_ERR_RANGE, "a raster has %d to %d rows and columns, not %u x %u",
                        IWI_TIMELINE_LEAST_SIDE, IWI_TIMELINE_MOST_SIDE, opts->rows, opts->columns);
    }
    if (ranks / opts->rows >= IWI_TIMELINE_MOST_RANKS_PER_ROW) {
        return iwi_fail(log, IW_ERR_RANGE, "%u rows are too few for a raster of %u ranks", opts->rows, ranks);
    }
    if (opts->first_rank >= ranks || opts->rank_count > ranks) {
        return iwi_fail(log, IW_ERR_RANGE, "%u ranks from rank %u exceed the %u ranks of the run",
                        opts->rank_count, opts->first_rank, ranks);
    }
    if (opts->from_ps < 0 || opts->to_ps < 0 || (opts->to_ps != 0 && opts->to_ps <= opts->from_ps) ||
        opts->expected_ps < 0) {
        return iwi_fail(log, IW_ERR_RANGE, "the time window ends before it begins, or has negative times");
    }
    return IW_OK;
}

void iwi_about_set_grid(iw_timeline_about *about)
{
    const bool has_gap = about->dims[0] == 0 || (about->dims[1] == 0 && about->dims[2] != 0);
    uint64_t ranks = 1;

    for (int i = 0; i < IW_TIMELINE_DIMS && ranks <= about->ranks; i++) {
        ranks *= about->dims[i] != 0 ? about->dims[i] : 1;
    }
    if (has_gap || ranks != about->ranks) {
        memset(about->dims, 0, sizeof about->dims);
        about->dims[0] = about->ranks;
    }
}

iw_status iw_timeline_new(const iw_log *log, const iw_timeline_opts *given, iw_timeline **timeline_p)
{
    iw_timeline_opts known = IW_TIMELINE_OPTS_INIT;
    const iw_timeline_opts *opts = &known;
    iw_timeline *timeline;
    iw_status status;

    IW_TRY(IWI_READ_OPTS(log, "IW_TIMELINE_OPTS_INIT", given, &known));
    IW_TRY(check_opts(log, opts));
    timeline = iwi_new_array(log, 1, sizeof *timeline);
    if (timeline == NULL) {
        return IW_ERR_NOMEM;
    }
    timeline->about = opts->about;
    iwi_about_set_grid(&timeline->about);
    timeline->status = IW_OK;
    status = iwi_exact_open(log, opts, &timeline->exact);
    status = status == IW_OK ? iwi_raster_new(log, opts, &timeline->raster) : status;
    if (status != IW_OK) {
        iw_timeline_free(timeline);
        return status;
    }
    *timeline_p = timeline;
    return IW_OK;
}

void iw_timeline_free(iw_timeline *timeline)
{
    if (timeline == NULL) {
        return;
    }
    for (size_t i = 0; i < timeline->level_count; i++) {
        iwi_level_release(&timeline->levels[i]);
    }
    iwi_exact_release(&timeline->exact);
    iwi_raster_free(timeline->raster);
    free(timeline);
}

/* ---- steps come ---- */

/* The end of the step; negative if it is none that can be. */
static inline iw_time checked_end(const iw_step *step)
{
    const iw_time *states = step->state_ps;
    const iw_time any = step->begin_ps | states[0] | states[1] | states[2] | states[3] | states[4];
    iw_time end_ps = step->begin_ps;

    if (((uint64_t)any >> 60) == 0) { /* six of them cannot overflow */
        return iw_step_end(step);
    }
    for (int state = 0; state < IW_STATES; state++) {
        if (any < 0 || __builtin_add_overflow(end_ps, states[state], &end_ps)) {
            return -1;
        }
    }
    return end_ps;
}

static void take_step(void *arg, uint32_t rank, const iw_step *step)
{
    iw_timeline *timeline = arg;
    const uint32_t ranks = timeline->about.ranks;
    const iw_time end_ps = checked_end(step);
    uint32_t index;

    if (timeline->status != IW_OK) {
        return;
    }
    if (end_ps < 0 || end_ps > IWI_TIMELINE_MOST_END_PS || rank >= ranks) {
        timeline->status = IW_ERR_RANGE;
        return;
    }
    timeline->step_count++;
    timeline->end_ps = end_ps > timeline->end_ps ? end_ps : timeline->end_ps;
    index = iwi_exact_index(&timeline->exact, ranks, rank);
    if (index < timeline->exact.rank_count) {
        timeline->status = iwi_exact_add(&timeline->exact, index, step);
    }
    if (timeline->status == IW_OK) {
        timeline->status = iwi_raster_add(timeline->raster, rank, step, end_ps);
    }
}

iw_step_sink iw_timeline_sink(iw_timeline *timeline)
{
    return (iw_step_sink){take_step, timeline};
}

static iw_status tell_status(const iw_log *log, const iw_timeline *timeline)
{
    switch (timeline->status) {
    case IW_OK: return IW_OK;
    case IW_ERR_NOMEM: return iwi_fail(log, IW_ERR_NOMEM, "out of memory for the steps of the timeline");
    default:
        return iwi_fail(log, timeline->status,
                        "step %" PRIu64
                        " of the timeline has a negative time, a time beyond 40 hours, or an unknown rank",
                        timeline->step_count);
    }
}

iw_status iw_timeline_finish(const iw_log *log, iw_timeline *timeline)
{
    IW_TRY(tell_status(log, timeline));
    if (timeline->raster == NULL) {
        return iwi_fail(log, IW_ERR_USAGE, "the timeline is already finished");
    }
    IW_TRY(iwi_raster_finish(log, timeline->raster, timeline->end_ps, &timeline->levels[0]));
    timeline->level_count = 1;
    iwi_raster_free(timeline->raster);
    timeline->raster = NULL;
    IW_TRY(iwi_levels_make(log, timeline));
    IW_TRY(iwi_exact_finish(log, &timeline->exact));
    if (timeline->exact.left_out > 0) {
        iwi_warn(log,
                 "the timeline stores at most %" PRIu64
                 " exact steps: the last %u of %u ranks are only in its raster",
                 timeline->exact.max_steps, timeline->exact.left_out,
                 timeline->exact.left_out + timeline->exact.rank_count);
    }
    return IW_OK;
}

void iw_timeline_set_noiseless(iw_timeline *timeline, iw_time noiseless_ps)
{
    timeline->about.noiseless_ps = noiseless_ps;
}

/* ---- looking at it ---- */

const iw_timeline_about *iw_timeline_describe(const iw_timeline *timeline)
{
    return &timeline->about;
}

iw_time iw_timeline_end(const iw_timeline *timeline)
{
    return timeline->end_ps;
}

uint32_t iw_timeline_exact_ranks(const iw_timeline *timeline)
{
    return timeline->exact.rank_count;
}

uint32_t iw_timeline_exact_rank(const iw_timeline *timeline, uint32_t index)
{
    return (uint32_t)(((uint64_t)timeline->exact.first_rank + index) % timeline->about.ranks);
}

bool iw_timeline_exact_index(const iw_timeline *timeline, uint32_t rank, uint32_t *index_p)
{
    *index_p = iwi_exact_index(&timeline->exact, timeline->about.ranks, rank);
    return rank < timeline->about.ranks && *index_p < timeline->exact.rank_count;
}

const iw_step *iw_timeline_steps(const iw_timeline *timeline, uint32_t index, size_t *count_p,
                                 uint64_t *first_step_p)
{
    const struct iwi_exact *exact = &timeline->exact;

    *count_p = exact->starts[index + 1] - exact->starts[index];
    *first_step_p = exact->first_steps[index];
    return exact->steps + exact->starts[index];
}

bool iw_timeline_is_whole(const iw_timeline *timeline)
{
    return timeline->exact.rank_count == timeline->about.ranks &&
           timeline->exact.step_count == timeline->step_count;
}

size_t iw_timeline_level_count(const iw_timeline *timeline)
{
    return timeline->level_count;
}

iw_raster iw_timeline_level(const iw_timeline *timeline, size_t level)
{
    const struct iwi_level *from = &timeline->levels[level];
    iw_raster raster = {.rows = from->rows,
                        .columns = from->columns,
                        .ranks_per_row = from->ranks_per_row,
                        .bin_ps = from->bin_ps};

    for (int state = 0; state < IW_STATES; state++) {
        raster.mean[state] = from->mean[state];
        raster.max[state] = from->max[state];
    }
    return raster;
}
