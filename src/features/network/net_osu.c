/* Networks as osu_latency of the OSU micro-benchmarks measured them: half round trips by size, and their
 * percentiles (`-z`) as the noise of the network.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A half round trip is its floor and half of two delays, one of each message. Delays are mostly short and now
 * and then long, so the longer of two is nearly their sum: the share q of round trips that exceed the floor
 * by at most x tells that sqrt(q) of the messages are delayed by at most x. The mean delay is how far the
 * mean of half round trips lies above the floor, whatever the law is: it tells how long the tail is behind
 * the last percentile.
 */
#include <math.h>
#include <stdlib.h>

#include "core/base/order.h"
#include "features/network/net_points.h"
#include "features/tables.h"
#include "kit/files/io/convert_text.h"

#define NS_PER_US 1e3
#define PS_PER_NS 1e3
#define LONGEST_US 3.6e9 /* an hour, as in network files */
#define LARGEST_BYTES (UINT64_C(1) << 40)
#define TAIL 7.0         /* means of an exponential law, behind which is one in a thousand */
#define SMALL_BYTES 1024 /* delays are those of messages up to this size: larger ones take longer anyway */

enum { MOST_COLUMNS = 32, MOST_QUANTILES = 16 };

struct quantile {
    double share;
    size_t column;
};

struct row {
    uint64_t bytes;
    double us[MOST_COLUMNS]; /* of the column behind the size, and so on; those that are not used stay 0 */
};

struct table {
    const iw_log *log;
    const char *path;
    struct iwi_lines lines;
    size_t column_count;        /* behind the size */
    bool is_text[MOST_COLUMNS]; /* "Pass", or a number that is no time */
    size_t mean;
    struct quantile quantiles[MOST_QUANTILES]; /* ascending; of a share of 0: the least, of 1: the largest */
    size_t quantile_count;
    size_t count;
    struct row rows[IWI_MOST_NET_POINTS];
};

/* One value a size, of many messages. */
static const struct iwi_net_fineness fineness = {.tolerance = 0.05, .most = 8, .share_step = 0};

static iw_status fail(const struct table *table, const char *problem)
{
    return iwi_fail(table->log, table->lines.has_newline ? IW_ERR_FORMAT : IW_ERR_TRUNCATED, "'%s:%zu': %s",
                    table->path, table->lines.number, problem);
}

/* ---- the head ---- */

static bool is_head(struct iwi_piece line)
{
    return iwi_take_prefix(&line, "# OSU ");
}

static bool is_columns(struct iwi_piece line)
{
    return iwi_take_prefix(&line, "# Size");
}

/* A network file may have a comment about OSU: here the columns follow, with comments alone between. */
static bool matches(const char *data, size_t size)
{
    struct iwi_lines lines = iwi_lines_of(data, size);
    struct iwi_piece line;
    bool is_inside = false;

    while (iwi_next_line(&lines, &line)) {
        if (is_inside && is_columns(line)) {
            return true;
        }
        is_inside = is_head(line) || (is_inside && line.at < line.end && *line.at == '#');
    }
    return false;
}

/* "MPI Latency Test v7.3", "MPI-CUDA Latency Test"; not of collectives, one-sided communication or several
 * pairs at once. */
static bool is_of_one_pair(struct iwi_piece line)
{
    struct iwi_piece first;

    if (!iwi_take_prefix(&line, "# OSU ")) {
        return false;
    }
    first = iwi_next_word(&line);
    if (!iwi_take_prefix(&first, "MPI") || (first.at != first.end && *first.at != '-')) {
        return false;
    }
    return iwi_piece_is(iwi_next_word(&line), "Latency") && iwi_piece_is(iwi_next_word(&line), "Test");
}

static iw_status add_quantile(struct table *table, double percent)
{
    const struct quantile quantile = {percent / 100, table->column_count};
    size_t at = table->quantile_count;

    if (percent > 100) {
        return fail(table, "percentiles above 100 do not exist");
    }
    if (table->quantile_count == MOST_QUANTILES) {
        return fail(table, "more than 16 percentiles");
    }
    while (at > 0 && table->quantiles[at - 1].share > quantile.share) {
        table->quantiles[at] = table->quantiles[at - 1];
        at--;
    }
    if (at > 0 && table->quantiles[at - 1].share == quantile.share) {
        return fail(table, "a percentile occurs twice");
    }
    table->quantiles[at] = quantile;
    table->quantile_count++;
    return IW_OK;
}

/* "P99 Tail Lat(us)" */
static bool take_percent(struct iwi_piece *rest, double *percent_p)
{
    struct iwi_piece all = *rest, word = iwi_next_word(&all);

    if (!iwi_take_prefix(&word, "P") || !iwi_read_real(word, percent_p)) {
        return false;
    }
    all = iwi_trim_blanks(all);
    if (!iwi_take_prefix(&all, "Tail Lat(us)")) {
        return false;
    }
    *rest = all;
    return true;
}

static iw_status take_column(struct table *table, struct iwi_piece *rest)
{
    double percent;

    if (table->column_count == MOST_COLUMNS) {
        return fail(table, "more than 32 columns");
    }
    if (iwi_take_prefix(rest, "Avg Latency(us)") || iwi_take_prefix(rest, "Latency (us)") ||
        iwi_take_prefix(rest, "Latency(us)")) {
        table->mean = table->column_count;
    } else if (iwi_take_prefix(rest, "Min Latency(us)")) {
        IW_TRY(add_quantile(table, 0));
    } else if (iwi_take_prefix(rest, "Max Latency(us)")) {
        IW_TRY(add_quantile(table, 100));
    } else if (take_percent(rest, &percent)) {
        IW_TRY(add_quantile(table, percent));
    } else if (iwi_take_prefix(rest, "Iterations") || iwi_take_prefix(rest, "Validation")) {
        table->is_text[table->column_count] = true;
    } else {
        return fail(table, "unknown column; osu_latency does not write it");
    }
    table->column_count++;
    return IW_OK;
}

static iw_status read_columns(struct table *table, struct iwi_piece line)
{
    table->mean = MOST_COLUMNS;
    (void)iwi_take_prefix(&line, "# Size");
    for (line = iwi_trim_blanks(line); line.at < line.end; line = iwi_trim_blanks(line)) {
        IW_TRY(take_column(table, &line));
    }
    return table->mean < MOST_COLUMNS ? IW_OK : fail(table, "no column of latencies");
}

/* ---- lines of the table ---- */

/* A message of 0 bytes costs what one of a byte does. */
static iw_status add_row(struct table *table, const struct row *row)
{
    if (table->count > 0 && row->bytes <= table->rows[table->count - 1].bytes) {
        if (row->bytes == 1 && table->count == 1) {
            return IW_OK;
        }
        return fail(table, "sizes must rise; give the output of one run");
    }
    if (table->count == IWI_MOST_NET_POINTS) {
        return fail(table, "more than 56 sizes");
    }
    table->rows[table->count++] = *row;
    return IW_OK;
}

static iw_status read_row(struct table *table, struct iwi_piece line)
{
    struct row row = {.bytes = 0};

    if (!iwi_read_u64(iwi_next_word(&line), &row.bytes) || row.bytes > LARGEST_BYTES) {
        return fail(table, "expected a size of at most 1 TiB");
    }
    row.bytes = row.bytes > 0 ? row.bytes : 1;
    for (size_t i = 0; i < table->column_count; i++) {
        const struct iwi_piece word = iwi_next_word(&line);
        double us;

        if (table->is_text[i] ? word.at == word.end
                              : !iwi_read_real(word, &us) || us <= 0 || us > LONGEST_US) {
            return fail(table, "expected a time above 0 us and of at most 1 h for each column of the header");
        }
        row.us[i] = table->is_text[i] ? 0 : us;
    }
    line = iwi_trim_blanks(line);
    return line.at == line.end ? add_row(table, &row)
                               : fail(table, "the line has more columns than the header");
}

static bool is_row(struct iwi_piece line)
{
    return line.at < line.end && *line.at >= '0' && *line.at <= '9';
}

/* Up to the head of the table; launchers and shells write before it. */
static iw_status find_table(struct table *table)
{
    struct iwi_piece line;
    bool is_inside = false, is_fit = false;

    while (iwi_next_line(&table->lines, &line)) {
        if (is_inside && is_columns(line)) {
            return is_fit ? read_columns(table, line)
                          : fail(table, "not the output of osu_latency, the test that measures one pair of "
                                        "ranks at a time");
        }
        is_fit = is_head(line) ? is_of_one_pair(line) : is_fit;
        is_inside = is_head(line) || (is_inside && line.at < line.end && *line.at == '#');
    }
    return fail(table, "no OSU table");
}

static iw_status read_rows(struct table *table)
{
    struct iwi_piece line;

    while (iwi_next_line(&table->lines, &line)) {
        const struct iwi_piece text = iwi_trim_blanks(line);

        if (is_head(text)) {
            return fail(table, "a second table begins: give the output of one run");
        }
        if (!is_row(text)) {
            continue;
        }
        if (!table->lines.has_newline) {
            return fail(table, "the last line is cut off");
        }
        IW_TRY(read_row(table, text));
    }
    return table->count >= 2 ? IW_OK : fail(table, "a network needs messages of two sizes");
}

/* ---- the network ---- */

static iw_estimate exactly(double value)
{
    return (iw_estimate){value, value, value};
}

/* What a half round trip takes without delays. */
static double floor_us(const struct table *table, const struct row *row)
{
    return row->us[table->quantile_count > 0 ? table->quantiles[0].column : table->mean];
}

static iw_status fill_points(const struct table *table, iw_net_level *level)
{
    level->points = iwi_new_array(table->log, table->count, sizeof *level->points);
    if (level->points == NULL) {
        return IW_ERR_NOMEM;
    }
    level->point_count = table->count;
    for (size_t i = 0; i < table->count; i++) {
        level->points[i] =
            (iw_net_point){.bytes = table->rows[i].bytes,
                           .samples = 1,
                           .half_round_trip = exactly(NS_PER_US * floor_us(table, &table->rows[i]))};
    }
    return IW_OK;
}

/* ---- its noise ---- */

/* How far a column lies above the floor: the median over small sizes, in ns. */
static double excess_ns(const struct table *table, size_t column)
{
    double excess[IWI_MOST_NET_POINTS];
    size_t count = 0;

    for (size_t i = 0; i < table->count && (i == 0 || table->rows[i].bytes <= SMALL_BYTES); i++) {
        excess[count++] = fmax(table->rows[i].us[column] - floor_us(table, &table->rows[i]), 0);
    }
    iwi_sort_doubles(excess, count);
    return NS_PER_US * 0.5 * (excess[(count - 1) / 2] + excess[count / 2]);
}

static void add_point(iw_net_noise *noise, double share, double delay_ns)
{
    const iw_net_noise_point *last = noise->point_count > 0 ? &noise->points[noise->point_count - 1] : NULL;
    const iw_time delay_ps = llround(fmin(delay_ns, LONGEST_US * NS_PER_US) * PS_PER_NS);

    if (last == NULL || share > last->share) {
        noise->points[noise->point_count++] =
            (iw_net_noise_point){share, last != NULL ? iwi_max(delay_ps, last->delay_ps) : delay_ps};
    }
}

/* From the last point to this one by an exponential law: as much further delay is always as much rarer. Of
 * the messages behind the last point `beyond` are behind this one. */
static void add_exponential(iw_net_noise *noise, unsigned steps, double beyond, double delay_ns)
{
    const iw_net_noise_point from = noise->points[noise->point_count - 1];
    const double from_ns = (double)from.delay_ps / PS_PER_NS;

    for (unsigned i = 1; i <= steps; i++) {
        const double way = (double)i / steps;

        add_point(noise, 1 - (1 - from.share) * pow(beyond, way), from_ns + way * (delay_ns - from_ns));
    }
}

/* Behind the last percentile up to the largest; where this is not known, such that the mean is as measured.
 */
static void add_tail(iw_net_noise *noise, unsigned steps, double largest_ns, double mean_ns)
{
    const iw_net_noise_point last = noise->points[noise->point_count - 1];
    const double known_ps = iw_net_noise_mean_ps(noise);
    const double further_ps = (mean_ns * PS_PER_NS - known_ps) / (1 - last.share) - (double)last.delay_ps;
    const double end_ns =
        largest_ns > 0 ? largest_ns : ((double)last.delay_ps + TAIL * fmax(further_ps, 0)) / PS_PER_NS;

    add_exponential(noise, steps, exp(-TAIL), end_ns);
    add_point(noise, 1, end_ns);
}

static void fill_noise(const struct table *table, iw_net_noise *noise)
{
    const size_t count = table->quantile_count;
    const struct quantile *quantiles = table->quantiles;
    const unsigned steps = count < 7 ? 8 : 3; /* all points fit into a network */
    const bool has_largest = count > 0 && quantiles[count - 1].share == 1;

    if (count < 2) {
        return;
    }
    add_point(noise, 0, 0);
    add_point(noise, sqrt(quantiles[0].share), 0);
    for (size_t i = 1; i < count - has_largest; i++) {
        const double before = noise->points[noise->point_count - 1].share;

        add_exponential(noise, steps, (1 - sqrt(quantiles[i].share)) / (1 - before),
                        2 * excess_ns(table, quantiles[i].column));
    }
    add_tail(noise, steps, has_largest ? 2 * excess_ns(table, quantiles[count - 1].column) : 0,
             excess_ns(table, table->mean));
    if (noise->points[noise->point_count - 1].delay_ps == 0) {
        *noise = (iw_net_noise){.point_count = 0};
    }
}

/* ---- all of it ---- */

static iw_status read_table(struct table *table, iw_net *net_p)
{
    iw_net_level level = {.name = "network"};
    iw_status status;

    IW_TRY(find_table(table));
    IW_TRY(read_rows(table));
    status = fill_points(table, &level);
    if (status == IW_OK) {
        iwi_net_segments(&level, &fineness);
        fill_noise(table, &level.net.noise);
        level.net.origin.is_measured = true; /* where: it does not say */
        iwi_warn(table->log,
                 "'%s': o and g are unknown and count as 0; if o is larger, noise costs more than predicted",
                 table->path);
        *net_p = level.net;
    }
    free(level.points);
    return status;
}

static iw_status read_osu(const iw_log *log, const char *path, const char *data, size_t size, iw_net *net_p)
{
    struct table *table = iwi_new_array(log, 1, sizeof *table);
    iw_status status;

    if (table == NULL) {
        return IW_ERR_NOMEM;
    }
    *table = (struct table){.log = log, .path = path, .lines = iwi_lines_of(data, size)};
    status = read_table(table, net_p);
    free(table);
    return status;
}

const struct iwi_net_reader iwi_osu_net_reader = {
    .what = "output of osu_latency",
    .matches = matches,
    .read = read_osu,
};
