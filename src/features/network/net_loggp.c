/* Networks as netgauge measured them (`-x loggp`): a table over message sizes becomes segments.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Each size was measured once, among noise and other traffic, which only add time; and no larger message
 * takes less time than a smaller one. So what a size takes is at most the least of its own time and those of
 * all larger sizes: the floor, which rises with the size by construction.
 */
#include <math.h>
#include <stdlib.h>

#include "core/base/order.h"
#include "features/network/net_points.h"
#include "features/tables.h"
#include "kit/files/io/convert_text.h"

#define HEAD "# size n PRTT(1,0,s) PRTT(n,0,s)"
#define NS_PER_US 1e3
#define LONGEST_US 3.6e9 /* an hour, as in network files */
#define LARGEST_BYTES (UINT64_C(1) << 40)
#define DENSEST 1.05 /* sizes nearer to each other than this say nothing new */

enum {
    SIZES_MAX = 4096,
    COLUMNS =
        8, /* size, n, PRTT(1,0,s), PRTT(n,0,s), PRTT(n,PRTT(1,0,s),s), L, o_s, o_r; the rest is not used */
};

enum quantity {
    ROUND_TRIP, /* PRTT(1,0,s) */
    TRAIN,      /* PRTT(n,0,s) */
    O_SEND,
    O_RECV,
    QUANTITIES
};

struct row {
    uint64_t bytes;
    double ns[QUANTITIES];
};

struct table {
    const iw_log *log;
    const char *path;
    struct iwi_lines lines;
    struct row *rows;
    size_t count, capacity;
    uint64_t n; /* messages of a train */
};

/* One value a size, from clocks that step by up to 0.95 us. */
static const struct iwi_net_fineness fineness = {.tolerance = 0.05, .most = 8, .share_step = 0.25};

static bool matches(const char *data, size_t size)
{
    struct iwi_lines lines = iwi_lines_of(data, size);
    struct iwi_piece line;

    return iwi_next_line(&lines, &line) && iwi_take_prefix(&line, HEAD);
}

static iw_status fail(const struct table *table, const char *problem)
{
    return iwi_fail(table->log, table->lines.has_newline ? IW_ERR_FORMAT : IW_ERR_TRUNCATED, "'%s:%zu': %s",
                    table->path, table->lines.number, problem);
}

/* ---- lines of the table ---- */

static bool read_us(struct iwi_piece word, double *ns_p)
{
    double us;

    if (!iwi_read_real(word, &us) || us > LONGEST_US) {
        return false;
    }
    *ns_p = us * NS_PER_US;
    return true;
}

/* Overheads are differences of times: where too small to be seen they are negative, or no number. */
static double overhead_of(struct iwi_piece word)
{
    double ns;

    return read_us(word, &ns) ? ns : 0;
}

static iw_status read_row(struct table *table, struct iwi_piece line)
{
    struct iwi_piece words[COLUMNS];
    struct row row;
    uint64_t n;

    for (size_t i = 0; i < COLUMNS; i++) {
        words[i] = iwi_next_word(&line);
    }
    if (!iwi_read_u64(words[0], &row.bytes) || row.bytes == 0 || row.bytes > LARGEST_BYTES ||
        !iwi_read_u64(words[1], &n) || n < 2 || !read_us(words[2], &row.ns[ROUND_TRIP]) ||
        row.ns[ROUND_TRIP] <= 0 || !read_us(words[3], &row.ns[TRAIN])) {
        return fail(table, "expected a size of at most 1 TiB, n of at least 2, PRTT(1,0,s) and PRTT(n,0,s) "
                           "in us (at most 1 h)");
    }
    if (table->count > 0 && n != table->n) {
        return fail(table, "n is not that of the lines before");
    }
    if (words[COLUMNS - 1].at == words[COLUMNS - 1].end) {
        return fail(table, "the line ends before o_r");
    }
    table->n = n;
    row.ns[O_SEND] = overhead_of(words[6]);
    row.ns[O_RECV] = overhead_of(words[7]);
    IW_TRY(iwi_grow(table->log, (void **)&table->rows, &table->capacity, table->count + 1, sizeof row));
    table->rows[table->count++] = row;
    return IW_OK;
}

static iw_status read_rows(struct table *table)
{
    struct iwi_piece line;

    while (iwi_next_line(&table->lines, &line)) {
        const struct iwi_piece text = iwi_trim_blanks(line);

        if (text.at == text.end || *text.at == '#') {
            continue;
        }
        if (table->count == SIZES_MAX) {
            return fail(table, "there are more than 4096 sizes");
        }
        IW_TRY(read_row(table, text));
    }
    if (table->count < 2 || !table->lines.has_newline) {
        return fail(table,
                    table->count < 2 ? "a network needs messages of two sizes" : "the last line is cut off");
    }
    return IW_OK;
}

/* ---- the floor ---- */

static int by_bytes(const void *a, const void *b)
{
    const struct row *x = a, *y = b;

    return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

/* Medians of up to two rows on both sides of each: a single difference may be too small as well. */
static void smooth(struct row *rows, size_t count, enum quantity quantity, double *scratch)
{
    for (size_t i = 0; i < count; i++) {
        const size_t to_edge = i < count - 1 - i ? i : count - 1 - i, reach = to_edge < 2 ? to_edge : 2;
        double values[5];

        for (size_t k = 0; k <= 2 * reach; k++) {
            values[k] = rows[i - reach + k].ns[quantity];
        }
        iwi_sort_doubles(values, 2 * reach + 1);
        scratch[i] = values[reach];
    }
    for (size_t i = 0; i < count; i++) {
        rows[i].ns[quantity] = scratch[i];
    }
}

static iw_status lower_to_floor(const struct table *table)
{
    struct row *rows = table->rows;
    double *scratch = iwi_new_array(table->log, table->count, sizeof *scratch);

    if (scratch == NULL) {
        return IW_ERR_NOMEM;
    }
    smooth(rows, table->count, O_SEND, scratch);
    smooth(rows, table->count, O_RECV, scratch);
    free(scratch);
    for (size_t i = table->count - 1; i-- > 0;) {
        for (size_t q = 0; q < QUANTITIES; q++) {
            rows[i].ns[q] = fmin(rows[i].ns[q], rows[i + 1].ns[q]);
        }
    }
    return IW_OK;
}

/* Rows that are `apart` by a factor, and the last; lines that repeat a size count once. Returns how many. */
static size_t thin_out(const struct row *rows, size_t count, double apart, const struct row **kept)
{
    size_t found = 0;

    for (size_t i = 0; i < count; i++) {
        const bool is_far = found == 0 || (double)rows[i].bytes >= apart * (double)kept[found - 1]->bytes;

        if (is_far || (i == count - 1 && rows[i].bytes > kept[found - 1]->bytes)) {
            if (found == IWI_NET_POINTS_MAX) {
                return found + 1;
            }
            kept[found++] = &rows[i];
        }
    }
    return found;
}

static iw_estimate exactly(double value)
{
    return (iw_estimate){value, value, value};
}

static iw_status fill_points(struct table *table, iw_net_level *level)
{
    const struct row *kept[IWI_NET_POINTS_MAX];
    double apart = DENSEST;

    qsort(table->rows, table->count, sizeof *table->rows, by_bytes);
    IW_TRY(lower_to_floor(table));
    do {
        level->point_count = thin_out(table->rows, table->count, apart, kept);
        apart *= DENSEST;
    } while (level->point_count > IWI_NET_POINTS_MAX);
    if (level->point_count < 2) {
        return fail(table, "a network needs messages of two sizes");
    }
    level->points = iwi_new_array(table->log, level->point_count, sizeof *level->points);
    if (level->points == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < level->point_count; i++) {
        const double *ns = kept[i]->ns;

        level->points[i] =
            (iw_net_point){.bytes = kept[i]->bytes,
                           .samples = 1,
                           .half_round_trip = exactly(0.5 * ns[ROUND_TRIP]),
                           .gap = exactly(fmax(ns[TRAIN] - ns[ROUND_TRIP], 0) / (double)(table->n - 1)),
                           .o_send = exactly(ns[O_SEND]),
                           .o_recv = exactly(ns[O_RECV])};
    }
    return IW_OK;
}

static iw_status read_loggp(const iw_log *log, const char *path, const char *data, size_t size, iw_net *net_p)
{
    struct table table = {.log = log, .path = path, .lines = iwi_lines_of(data, size)};
    iw_net_level level = {.name = "network"};
    iw_status status = read_rows(&table);

    status = status == IW_OK ? fill_points(&table, &level) : status;
    if (status == IW_OK) {
        iwi_net_segments(&level, &fineness);
        *net_p = level.net;
    }
    free(level.points);
    free(table.rows);
    return status;
}

const struct iwi_net_reader iwi_loggp_net_reader = {
    .what = "output of netgauge's loggp",
    .matches = matches,
    .read = read_loggp,
};
