/* What the page of a timeline draws: cells of all ranks, finer ones of the exact window, steps, waves.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <idlewave/wave.h>

#include "core/base/base.h"
#include "features/wave/timeline_report.h"
#include "features/wave/wave_report.h"
#include "kit/schema/json_util.h"

/* Bytes of text, so that a page stays below 4 MB whatever the run. */
enum { MOST_CELL_BYTES = 1600000, MOST_DETAIL_BYTES = 800000, MOST_STEP_BYTES = 1100000 };
enum { MOST_STEPS = 200000, MOST_FRONTS = 1000, DETAIL_CELLS = 1024, LEAST_DETAIL_CELLS = 64 };
static const double LEAST_UNITS = 1e5; /* that the run shall have at least, whatever the size */

struct text {
    FILE *out;
    char *bytes;
    size_t size;
};

static iw_status text_open(const iw_log *log, struct text *text)
{
    *text = (struct text){.bytes = NULL};
    text->out = open_memstream(&text->bytes, &text->size);
    return text->out != NULL ? IW_OK : iwi_fail(log, IW_ERR_NOMEM, "out of memory for the page");
}

static iw_status text_close(const iw_log *log, struct text *text)
{
    if (fclose(text->out) == 0) {
        return IW_OK;
    }
    free(text->bytes);
    return iwi_fail(log, IW_ERR_NOMEM, "out of memory for the page");
}

/* ---- cells ---- */

static bool is_empty(const uint16_t *shares, size_t cells)
{
    size_t i = 0;

    while (i < cells && shares[i] == 0) {
        i++;
    }
    return i == cells;
}

/* Adds one channel to `object`, and its bytes to *used_p. */
static iw_status add_channel(const iw_log *log, json_t *object, iw_state state, const uint16_t *shares,
                             const iw_raster *raster, size_t *used_p)
{
    struct text text;

    if (is_empty(shares, (size_t)raster->rows * raster->columns)) {
        return IW_OK;
    }
    IW_TRY(text_open(log, &text));
    iwi_code_cells(text.out, shares, raster->rows, raster->columns);
    IW_TRY(text_close(log, &text));
    *used_p += text.size;
    (void)json_object_set_new(object, iw_state_name(state), json_stringn(text.bytes, text.size));
    free(text.bytes);
    return IW_OK;
}

/* NULL in *raster_p: it would be longer than that. Means and maxima are the same where a row is one rank. */
static iw_status code_raster(const iw_log *log, const struct iwi_grid *grid, size_t most_bytes,
                             json_t **raster_p)
{
    static const iw_state means[] = {IW_STATE_WAIT, IW_STATE_NOISE, IW_STATE_COMM};
    static const iw_state maxima[] = {IW_STATE_DELAY, IW_STATE_WAIT, IW_STATE_NOISE};
    const iw_raster *raster = &grid->raster;
    json_t *mean = json_object(), *max = json_object();
    iw_status status = IW_OK;
    size_t used = 0;

    *raster_p = NULL;
    for (size_t i = 0; status == IW_OK && used <= most_bytes && i < sizeof means / sizeof means[0]; i++) {
        status = add_channel(log, mean, means[i], raster->mean[means[i]], raster, &used);
    }
    for (size_t i = 0; status == IW_OK && used <= most_bytes && i < sizeof maxima / sizeof maxima[0]; i++) {
        if (raster->ranks_per_row > 1 || maxima[i] == IW_STATE_DELAY) {
            status = add_channel(log, max, maxima[i], raster->max[maxima[i]], raster, &used);
        }
    }
    if (status == IW_OK && used <= most_bytes) {
        *raster_p = json_pack(
            "{s:I, s:I, s:I, s:I, s:o, s:o, s:O, s:O}", "rank", (json_int_t)grid->window.first_rank, "rows",
            (json_int_t)raster->rows, "columns", (json_int_t)raster->columns, "ranksPerRow",
            (json_int_t)raster->ranks_per_row, "from", iwi_json_number((double)grid->window.from_ps), "bin",
            iwi_json_number((double)raster->bin_ps), "mean", mean, "max", max);
    }
    json_decref(mean);
    json_decref(max);
    return status;
}

/* The finest level of all ranks that is short enough. */
static iw_status add_overview(const iw_log *log, const iw_timeline *timeline, json_t *rasters)
{
    struct iwi_grid grid = {.cells = NULL};
    json_t *raster = NULL;

    for (size_t level = 0; raster == NULL && level < iw_timeline_level_count(timeline); level++) {
        grid.raster = iw_timeline_level(timeline, level);
        IW_TRY(code_raster(log, &grid, MOST_CELL_BYTES, &raster));
    }
    if (raster != NULL) {
        (void)json_array_append_new(rasters, raster);
    }
    return IW_OK;
}

/* Ranks of the exact window from `first` on, without going around, and the time of their steps. */
static iw_timeline_window exact_part(const iw_timeline *timeline, uint32_t first)
{
    const uint32_t known = iw_timeline_exact_ranks(timeline);
    iw_timeline_window part = {.first_rank = iw_timeline_exact_rank(timeline, first), .from_ps = INT64_MAX};

    for (uint32_t i = first; i < known; i++) {
        uint64_t number;
        size_t count;
        const iw_step *steps = iw_timeline_steps(timeline, i, &count, &number);

        if (iw_timeline_exact_rank(timeline, i) != part.first_rank + (i - first)) {
            break;
        }
        part.rank_count++;
        if (count > 0) {
            part.from_ps = iwi_min(part.from_ps, steps[0].begin_ps);
            part.to_ps = iwi_max(part.to_ps, iw_step_end(&steps[count - 1]));
        }
    }
    return part;
}

static iw_status add_detail(const iw_log *log, const iw_timeline *timeline, const iw_timeline_window *part,
                            json_t *rasters)
{
    json_t *raster = NULL;

    for (uint32_t size = DETAIL_CELLS; raster == NULL && size >= LEAST_DETAIL_CELLS; size /= 2) {
        struct iwi_grid grid;
        iw_status status;

        IW_TRY(iwi_grid_new(log, timeline, part, size, size, &grid));
        status = code_raster(log, &grid, MOST_DETAIL_BYTES, &raster);
        iwi_grid_free(&grid);
        IW_TRY(status);
    }
    if (raster != NULL) {
        (void)json_array_append_new(rasters, raster);
    }
    return IW_OK;
}

/* Only what is around the fronts; all of it where there are none in this part. */
static iw_timeline_window around_waves(const iw_waves *waves, iw_timeline_window part)
{
    const int64_t end_rank = (int64_t)part.first_rank + part.rank_count;
    int64_t low = INT64_MAX, high = 0, margin;
    iw_time from_ps = INT64_MAX, to_ps = 0;

    for (size_t w = 0; waves != NULL && w < waves->wave_count; w++) {
        for (size_t i = 0; i < waves->waves[w].front_count; i++) {
            const iw_front *front = &waves->waves[w].fronts[i];

            if (front->rank >= part.first_rank && front->rank < end_rank) {
                low = iwi_min(low, front->rank);
                high = iwi_max(high, (int64_t)front->rank + 1);
                from_ps = iwi_min(from_ps, front->lead_ps);
                to_ps = iwi_max(to_ps, front->trail_ps);
            }
        }
    }
    if (low >= high || from_ps >= to_ps) {
        return part;
    }
    margin = (high - low) / 8 + 4;
    low = iwi_max(low - margin, part.first_rank);
    part.rank_count = (uint32_t)(iwi_min(high + margin, end_rank) - low);
    part.first_rank = (uint32_t)low;
    margin = (to_ps - from_ps) / 8;
    part.from_ps = iwi_max(part.from_ps, from_ps - margin);
    part.to_ps = iwi_min(part.to_ps, to_ps + margin);
    return part;
}

/* Finer cells for the exact window, or for its waves, where the overview is coarser than that. */
static iw_status add_details(const iw_log *log, const struct iwi_timeline_page *page, json_t *rasters)
{
    const json_t *overview = json_array_get(rasters, 0);
    const json_int_t ranks_per_row = json_integer_value(json_object_get(overview, "ranksPerRow"));
    const double bin_ps = json_number_value(json_object_get(overview, "bin"));
    uint32_t first = 0;

    while (first < iw_timeline_exact_ranks(page->timeline)) {
        const iw_timeline_window known = exact_part(page->timeline, first);
        const iw_timeline_window part = around_waves(page->run.waves, known);
        const bool is_finer = (part.rank_count - 1) / DETAIL_CELLS + 1 < ranks_per_row ||
                              (double)(part.to_ps - part.from_ps) / DETAIL_CELLS < bin_ps / 2.0;

        if (part.to_ps > part.from_ps && (overview == NULL || is_finer)) {
            IW_TRY(add_detail(log, page->timeline, &part, rasters));
        }
        first += known.rank_count;
    }
    return IW_OK;
}

/* ---- steps ---- */

static uint64_t all_steps(const iw_timeline *timeline)
{
    uint64_t total = 0, number;
    size_t count;

    for (uint32_t i = 0; i < iw_timeline_exact_ranks(timeline); i++) {
        (void)iw_timeline_steps(timeline, i, &count, &number);
        total += count;
    }
    return total;
}

/* Which of the window's ranks go into the page: all, or those around the first wave's origin. */
static void choose_ranks(const struct iwi_timeline_page *page, uint32_t *first_p, uint32_t *count_p)
{
    const uint64_t total = all_steps(page->timeline);
    const uint32_t known = iw_timeline_exact_ranks(page->timeline);
    uint32_t middle = known / 2;

    *first_p = 0;
    *count_p = known;
    if (total <= MOST_STEPS) {
        return;
    }
    if (page->run.waves != NULL && page->run.waves->wave_count > 0 &&
        !iw_timeline_exact_index(page->timeline, page->run.waves->waves[0].origin_rank, &middle)) {
        middle = known / 2;
    }
    *count_p = (uint32_t)(MOST_STEPS * (uint64_t)known / total);
    *first_p = middle > *count_p / 2 ? middle - *count_p / 2 : 0;
    *first_p = (uint32_t)iwi_min(*first_p, known - *count_p);
}

/* NULL in *exact_p: too long with this unit. */
static iw_status code_steps(const iw_log *log, const iw_timeline *timeline, uint32_t first, uint32_t count,
                            iw_time unit_ps, json_t **exact_p)
{
    json_t *rows = json_array();
    size_t used = 0;

    for (uint32_t i = first; i < first + count && used <= MOST_STEP_BYTES; i++) {
        uint64_t number;
        size_t step_count;
        const iw_step *steps = iw_timeline_steps(timeline, i, &step_count, &number);
        struct text text;
        iw_status status = text_open(log, &text);

        if (status == IW_OK) {
            iwi_code_steps(text.out, steps, step_count, unit_ps);
            status = text_close(log, &text);
        }
        if (status != IW_OK) {
            json_decref(rows);
            return status;
        }
        used += text.size;
        (void)json_array_append_new(
            rows, json_pack("[I, I, I, I, o]", (json_int_t)iw_timeline_exact_rank(timeline, i),
                            (json_int_t)iwi_step_number(number), (json_int_t)step_count,
                            (json_int_t)(step_count > 0 ? (steps[0].begin_ps + unit_ps / 2) / unit_ps : 0),
                            json_stringn(text.bytes, text.size)));
        free(text.bytes);
    }
    *exact_p =
        used <= MOST_STEP_BYTES ? json_pack("{s:I, s:O}", "unit", (json_int_t)unit_ps, "ranks", rows) : NULL;
    json_decref(rows);
    return IW_OK;
}

/* The unit is a power of ten: the finest that numbers of 31 bits and the bytes allow. */
static iw_status add_exact(const iw_log *log, const struct iwi_timeline_page *page, json_t *data)
{
    const double end_ps = (double)iw_timeline_end(page->timeline);
    json_t *exact = NULL;
    uint32_t first, count;
    iw_time unit_ps = 1;

    choose_ranks(page, &first, &count);
    while (end_ps / (double)unit_ps >= 0x1p31) {
        unit_ps *= 10;
    }
    while (count > 0 && exact == NULL) {
        IW_TRY(code_steps(log, page->timeline, first, count, unit_ps, &exact));
        if (exact == NULL && end_ps / (double)unit_ps / 10.0 < LEAST_UNITS) {
            first += count / 4; /* only fewer ranks help */
            count /= 2;
        } else {
            unit_ps *= 10;
        }
    }
    if (exact != NULL) {
        (void)json_object_set_new(data, "exact", exact);
    }
    return IW_OK;
}

/* ---- waves ---- */

struct fits {
    struct iwi_fit lead, trail;
};

static json_t *front_data(const struct fits *fits, const iw_front *front)
{
    return json_pack("[I, I, o, o, o, o]", (json_int_t)front->rank, (json_int_t)iwi_step_number(front->step),
                     iwi_json_number((double)front->lead_ps), iwi_json_number((double)front->trail_ps),
                     iwi_json_number(round(iwi_fit_ps(&fits->lead, front->distance))),
                     iwi_json_number(round(iwi_fit_ps(&fits->trail, front->distance))));
}

/* Every n-th front, and the last. */
static json_t *wave_data(const iw_wave *wave)
{
    const struct fits fits = {iwi_wave_fit(wave, IWI_EDGE_LEAD), iwi_wave_fit(wave, IWI_EDGE_TRAIL)};
    const size_t stride = wave->front_count / MOST_FRONTS + 1;
    json_t *fronts = json_array();

    for (size_t i = 0; i < wave->front_count; i += stride) {
        (void)json_array_append_new(fronts, front_data(&fits, &wave->fronts[i]));
    }
    if (wave->front_count > 0 && (wave->front_count - 1) % stride != 0) {
        (void)json_array_append_new(fronts, front_data(&fits, &wave->fronts[wave->front_count - 1]));
    }
    return json_pack("{s:I, s:o}", "origin", (json_int_t)wave->origin_rank, "fronts", fronts);
}

static void add_waves(const iw_waves *waves, json_t *data)
{
    json_t *array = json_array();

    for (size_t i = 0; waves != NULL && i < waves->wave_count; i++) {
        (void)json_array_append_new(array, wave_data(&waves->waves[i]));
    }
    (void)json_object_set_new(data, "waves", array);
}

/* ---- all ---- */

static bool prefers_max(const iw_timeline *timeline)
{
    iw_raster raster;

    if (iw_timeline_level_count(timeline) == 0) {
        return true;
    }
    raster = iw_timeline_level(timeline, 0);
    return iwi_raster_prefers_max(&raster);
}

iw_status iwi_timeline_data(const iw_log *log, const struct iwi_timeline_page *page, json_t **data_p)
{
    json_t *rasters = json_array();
    json_t *data =
        json_pack("{s:I, s:o, s:b, s:O}", "ranks", (json_int_t)iw_timeline_describe(page->timeline)->ranks,
                  "end", iwi_json_number((double)iw_timeline_end(page->timeline)), "isMax",
                  prefers_max(page->timeline), "rasters", rasters);
    iw_status status = data != NULL ? IW_OK : iwi_fail(log, IW_ERR_NOMEM, "out of memory for the page");

    if (status == IW_OK) {
        add_waves(page->run.waves, data);
        status = add_overview(log, page->timeline, rasters);
    }
    if (status == IW_OK) {
        status = add_details(log, page, rasters);
    }
    if (status == IW_OK) {
        status = add_exact(log, page, data);
    }
    json_decref(rasters);
    if (status != IW_OK) {
        json_decref(data);
        return status;
    }
    *data_p = data;
    return IW_OK;
}

/* Cells and steps of timelines as short text, for pages. */

/* No character of these has a meaning in JSON or HTML, nor do two together look like an address. */
static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
static const char again_digits[] = "!#$%()*+,./~"; /* the cell before, so many times */
static const char below_digits[] = ";=>?@[]^`{|}"; /* the row below */

enum { HIGHEST = 63, RUN_BASE = 12, LEAST_RUN = 2, STEP_BITS = 5, STEP_MORE = 32, MOST_REPEATS = 32 };

/* What is there at all does not vanish. */
static unsigned digit_of(uint16_t share)
{
    const unsigned digit = ((unsigned)share * HIGHEST + IWI_SHARE_ONE / 2) / IWI_SHARE_ONE;

    return digit == 0 && share > 0 ? 1 : digit;
}

static void write_run(FILE *out, const char *run_digits, size_t run)
{
    char text[32];
    size_t length = 0;

    for (; run > 0; run /= RUN_BASE) {
        text[length++] = run_digits[run % RUN_BASE];
    }
    while (length > 0) {
        (void)fputc(text[--length], out);
    }
}

/* Cells from `at` on that equal those `back` before them. */
static size_t run_length(const uint16_t *shares, size_t at, size_t cells, size_t back)
{
    size_t run = 0;

    while (back <= at && at + run < cells &&
           digit_of(shares[at + run]) == digit_of(shares[at + run - back])) {
        run++;
    }
    return run;
}

void iwi_code_cells(FILE *out, const uint16_t *shares, uint32_t rows, uint32_t columns)
{
    const size_t cells = (size_t)rows * columns;
    size_t at = 0;

    while (at < cells) {
        const size_t again = run_length(shares, at, cells, 1), below = run_length(shares, at, cells, columns);

        if (again < LEAST_RUN && below < LEAST_RUN) {
            (void)fputc(digits[digit_of(shares[at])], out);
            at++;
        } else if (again >= below) {
            write_run(out, again_digits, again);
            at += again;
        } else {
            write_run(out, below_digits, below);
            at += below;
        }
    }
}

/* ---- steps ---- */

static void write_length(FILE *out, uint64_t length)
{
    while (length >= 1U << STEP_BITS) {
        (void)fputc(digits[STEP_MORE + (length & ((1U << STEP_BITS) - 1))], out);
        length >>= STEP_BITS;
    }
    (void)fputc(digits[length], out);
}

/* Rounded are points in time, not lengths: they do not drift. */
static void round_step(const iw_step *step, iw_time unit_ps, uint64_t lengths[IW_STATES])
{
    iw_time at_ps = step->begin_ps;

    for (int state = 0; state < IW_STATES; state++) {
        const iw_time next_ps = at_ps + step->state_ps[state];

        lengths[state] = (uint64_t)((next_ps + unit_ps / 2) / unit_ps - (at_ps + unit_ps / 2) / unit_ps);
        at_ps = next_ps;
    }
}

static void write_repeats(FILE *out, size_t repeats)
{
    while (repeats > 0) {
        const size_t now = repeats < MOST_REPEATS ? repeats : MOST_REPEATS;

        (void)fputc(digits[STEP_MORE - 1 + now], out);
        repeats -= now;
    }
}

void iwi_code_steps(FILE *out, const iw_step *steps, size_t count, iw_time unit_ps)
{
    uint64_t before[IW_STATES] = {0}, lengths[IW_STATES];
    size_t repeats = 0;

    for (size_t i = 0; i < count; i++) {
        unsigned changed = 0;

        round_step(&steps[i], unit_ps, lengths);
        for (unsigned state = 0; state < IW_STATES; state++) {
            changed |= (unsigned)(lengths[state] != before[state]) << state;
        }
        if (changed == 0) {
            repeats++;
            continue;
        }
        write_repeats(out, repeats);
        repeats = 0;
        (void)fputc(digits[changed], out);
        for (unsigned state = 0; state < IW_STATES; state++) {
            if (lengths[state] != before[state]) {
                write_length(out, lengths[state]);
            }
        }
        memcpy(before, lengths, sizeof before);
    }
    write_repeats(out, repeats);
}
