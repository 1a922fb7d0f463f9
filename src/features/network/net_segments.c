/* LogGOPS parameters of measured messages: segments of sizes, and what each end pays.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/order.h"
#include "features/network/net_points.h"
#include "features/tables.h"
#include "kit/files/io/convert_text.h"

/* From points to the segments of a network: lines for half round trips (or exchanges), shared out to L, o, g,
 * G and O.
 *
 * Within a segment that begins at f bytes the half round trip is A + B (k - f), as fitted, and
 *     A = o_s + L + o_r          B = G + 2 O
 * so a simulated ping-pong takes what the real one took; or, if exchanges were measured instead, a simulated
 * exchange. o_s, o_r and O come from their own measurements;
 * where they exceed what A and B leave, sending, transfer and receiving overlap, and they are cut. g makes
 * back-to-back messages as slow as trains were: max(o_s(k), o_r(k), g + (k - f) G); but no slower than A: a
 * message passes sender, wire and receiver in that time, and what follows it waits for one of them at a time.
 */

#define PS_PER_NS 1e3
#define FS_PER_NS 1e6
#define DEAREST 1e3  /* nanoseconds per byte; more is refused by iw_net_check() */
#define WIDE 0.1     /* of an interval, as a share */
#define NOTABLE 1.05 /* what exceeds its bound by less is not told */

/* All in nanoseconds and bytes. */
struct piece {
    double from, A, B;
    double o_send, o_recv, O, L, G, g;
};

struct fit {
    iw_net_level *level;
    uint64_t bytes[IWI_MOST_NET_POINTS];
    double whole[IWI_MOST_NET_POINTS], gap[IWI_MOST_NET_POINTS]; /* made to rise with the size */
    double o_send[IWI_MOST_NET_POINTS], o_recv[IWI_MOST_NET_POINTS];
};

/* ---- where segments begin ---- */

static bool is_between(double from, const struct fit *fit, size_t next)
{
    return from > (double)fit->bytes[next - 1] && from <= (double)fit->bytes[next];
}

static double value_at(const struct fit *fit, const struct iwi_net_line *line, double bytes)
{
    return line->value + line->slope * (bytes - (double)fit->bytes[line->first]);
}

/* Between the last size of one line and the first of the next: just above an eager limit, if one lies there;
 * where the lines meet, if they do; else in the middle, unless the new line is still below the old one there:
 * it would be raised, for all of its sizes. */
static double begin_of(const struct fit *fit, const struct iwi_net_line *before,
                       const struct iwi_net_line *line)
{
    const double eager = (double)fit->level->eager_computing.bytes + 1,
                 inside = (double)fit->level->eager_inside.bytes + 1;
    const double x = (double)fit->bytes[line->first];
    const double middle = ceil(0.5 * (x + (double)fit->bytes[line->first - 1]));
    const double meet = (value_at(fit, before, 0) - value_at(fit, line, 0)) / (line->slope - before->slope);

    if (is_between(eager, fit, line->first)) {
        return eager;
    }
    if (is_between(inside, fit, line->first)) {
        return inside;
    }
    if (isfinite(meet) && is_between(ceil(meet), fit, line->first)) {
        return ceil(meet);
    }
    return value_at(fit, line, middle) < value_at(fit, before, middle) ? x : middle;
}

/* ---- sharing out ---- */

/* Which share of a message the CPUs have, as measured. */
static double cpu_share(const struct fit *fit, size_t point)
{
    return fmin((fit->o_send[point] + fit->o_recv[point]) / fit->whole[point], 1);
}

/* Where in a line the share has moved away from that of its first point; its end, if nowhere. */
static size_t find_step(const struct fit *fit, const struct iwi_net_line *line, double step)
{
    size_t at = line->first + 1;

    while (at < line->first + line->count && fabs(cpu_share(fit, at) - cpu_share(fit, line->first)) <= step) {
        at++;
    }
    return at;
}

/* A protocol may leave the round trip as it is and change who is busy meanwhile: lines end there too. */
static size_t split_at_overheads(const struct fit *fit, const struct iwi_net_fineness *fineness,
                                 struct iwi_net_line *lines, size_t count)
{
    for (size_t i = 0; fineness->share_step > 0 && i < count && count < fineness->most; i++) {
        const size_t end = lines[i].first + lines[i].count,
                     at = find_step(fit, &lines[i], fineness->share_step);

        if (at < end) {
            memmove(&lines[i + 2], &lines[i + 1], (count - i - 1) * sizeof *lines);
            lines[i + 1] = iwi_net_fit_line(fit->bytes, fit->whole, fit->whole, at, end - at);
            lines[i] =
                iwi_net_fit_line(fit->bytes, fit->whole, fit->whole, lines[i].first, at - lines[i].first);
            count++;
        }
    }
    return count;
}

/* Mean of values - O (k - from), weighted as the fit of `whole` is. */
static double level_at_begin(const struct fit *fit, const struct iwi_net_line *line, const double *values,
                             const struct piece *piece)
{
    double weights = 0, sum = 0;

    for (size_t i = line->first; i < line->first + line->count; i++) {
        const double weight = 1.0 / (fit->whole[i] * fit->whole[i]);

        weights += weight;
        sum += weight * (values[i] - piece->O * ((double)fit->bytes[i] - piece->from));
    }
    return fmax(sum / weights, 0);
}

static void share_out(const struct fit *fit, const struct iwi_net_line *line, struct piece *piece)
{
    const struct iwi_net_line send =
        iwi_net_fit_line(fit->bytes, fit->o_send, fit->whole, line->first, line->count);
    const struct iwi_net_line recv =
        iwi_net_fit_line(fit->bytes, fit->o_recv, fit->whole, line->first, line->count);
    double both;

    piece->O = fmin(0.5 * (send.slope + recv.slope), 0.5 * piece->B);
    piece->o_send = level_at_begin(fit, line, fit->o_send, piece);
    piece->o_recv = level_at_begin(fit, line, fit->o_recv, piece);
    both = piece->o_send + piece->o_recv;
    if (both > piece->A) {
        piece->o_send *= piece->A / both;
        piece->o_recv *= piece->A / both;
        both = piece->A;
    }
    piece->L = fmax(piece->A - both, 0);
    piece->G = piece->B - 2 * piece->O;
}

/* ---- gaps ---- */

/* How far trains would be off with this g. */
static double gap_misfit(const struct fit *fit, const struct iwi_net_line *line, const struct piece *piece,
                         double g)
{
    double sum = 0;

    for (size_t i = line->first; i < line->first + line->count; i++) {
        const double further = (double)fit->bytes[i] - piece->from, measured = fit->gap[i];
        const double cpu = fmax(piece->o_send, piece->o_recv) + piece->O * further;

        sum += measured > 0 ? fabs(log(fmax(fmax(cpu, g + piece->G * further), 1e-3) / measured)) : 0;
    }
    return sum;
}

/* The best g makes one of the points exact, or is 0. */
static void choose_gap(const struct fit *fit, const struct iwi_net_line *line, struct piece *piece)
{
    double least = gap_misfit(fit, line, piece, 0);

    piece->g = 0;
    for (size_t i = line->first; i < line->first + line->count; i++) {
        const double g = fit->gap[i] - piece->G * ((double)fit->bytes[i] - piece->from);
        const double misfit = g > 0 ? gap_misfit(fit, line, piece, g) : INFINITY;

        if (misfit < least) {
            least = misfit;
            piece->g = g;
        }
    }
}

/* ---- as integers ---- */

static iw_net_segment rounded(const struct piece *piece)
{
    iw_net_segment segment = {.from_bytes = (uint64_t)piece->from,
                              .L_ps = llround(piece->L * PS_PER_NS),
                              .o_send_ps = llround(piece->o_send * PS_PER_NS),
                              .o_recv_ps = llround(piece->o_recv * PS_PER_NS),
                              .g_ps = llround(piece->g * PS_PER_NS),
                              .G = llround(piece->G * FS_PER_NS),
                              .O = llround(piece->O * FS_PER_NS)};

    segment.g_ps = iwi_min(segment.g_ps, segment.L_ps + segment.o_send_ps + segment.o_recv_ps);
    return segment;
}

/* A cost per byte over so many bytes, rounded up. */
static iw_time grown(iw_fs_per_byte per_byte, uint64_t bytes)
{
    return (iw_time)ceil((double)per_byte * (double)bytes / 1e3);
}

/* Where a new protocol is faster, its first messages are made as slow as the last of the old one: larger
 * messages never take less time. A few picoseconds more cover the rounding of costs. */
static void keep_rising(const iw_net_segment *before, iw_net_segment *segment)
{
    const uint64_t further = segment->from_bytes - 1 - before->from_bytes;
    const iw_time whole = before->L_ps + before->o_send_ps + before->o_recv_ps + grown(before->G, further) +
                          2 * grown(before->O, further) + 2;
    const iw_time gap = before->g_ps + grown(before->G, further) + 2;

    segment->L_ps = iwi_max(segment->L_ps, whole - segment->o_send_ps - segment->o_recv_ps);
    segment->g_ps = iwi_max(segment->g_ps, gap);
}

static void add_segment(iw_net *net, bool is_first, const iw_net_segment *segment)
{
    if (!is_first) {
        net->segments[net->segment_count++] = *segment;
        return;
    }
    net->L_ps = segment->L_ps;
    net->o_send_ps = segment->o_send_ps;
    net->o_recv_ps = segment->o_recv_ps;
    net->g_ps = segment->g_ps;
    net->G = segment->G;
    net->O = segment->O;
}

/* ---- how good it is ---- */

static double predicted_ns(const iw_net_segment *segments, size_t count, uint64_t bytes)
{
    const iw_net_segment *segment = &segments[count - 1];
    double further;

    while (segment > segments && bytes < segment->from_bytes) {
        segment--;
    }
    further = (double)bytes - (double)segment->from_bytes;
    return (double)(segment->L_ps + segment->o_send_ps + segment->o_recv_ps) / PS_PER_NS +
           (double)(segment->G + 2 * segment->O) / FS_PER_NS * further;
}

/* Trains that were slower than g, cut to half a round trip, makes them. */
static void judge_gap(const iw_net_point *point, iw_net_level *level)
{
    const double factor = point->gap.value / iwi_net_whole(point)->value;

    if (factor > NOTABLE) {
        level->capped_from_bytes = level->capped_from_bytes == 0 ? point->bytes : level->capped_from_bytes;
        level->most_capped = fmax(level->most_capped, factor);
    }
}

static void judge(const struct fit *fit, const iw_net_segment *segments, size_t count)
{
    iw_net_level *level = fit->level;

    level->least_overlap = 1;
    for (size_t i = 0; i < level->point_count; i++) {
        const double both = fit->o_send[i] + fit->o_recv[i];
        const iw_estimate *whole = iwi_net_whole(&level->points[i]);
        const double measured = whole->value;
        const double error = fabs(predicted_ns(segments, count, fit->bytes[i]) / measured - 1);

        level->fit_error = fmax(level->fit_error, error);
        level->wide_points += iwi_net_is_narrow(whole, WIDE) ? 0 : 1;
        judge_gap(&level->points[i], level);
        if (both > NOTABLE * measured) {
            level->overlapped_from_bytes =
                level->overlapped_from_bytes == 0 ? fit->bytes[i] : level->overlapped_from_bytes;
            level->least_overlap = fmin(level->least_overlap, measured / both);
        }
    }
}

/* A gap of 0 says that trains cost nothing beyond the round trip: it is below what can be seen. */
static void collect(iw_net_level *level, struct fit *fit, iw_estimate *whole)
{
    iw_estimate gap[IWI_MOST_NET_POINTS];

    for (size_t i = 0; i < level->point_count; i++) {
        fit->bytes[i] = level->points[i].bytes;
        fit->o_send[i] = level->points[i].o_send.value;
        fit->o_recv[i] = level->points[i].o_recv.value;
        whole[i] = *iwi_net_whole(&level->points[i]);
        gap[i] = level->points[i].gap;
        gap[i].value = fmax(gap[i].value, 1);
    }
    iwi_net_rising(whole, level->point_count);
    iwi_net_rising(gap, level->point_count);
    for (size_t i = 0; i < level->point_count; i++) {
        fit->whole[i] = whole[i].value;
        fit->gap[i] = gap[i].value;
    }
}

const struct iwi_net_fineness iwi_net_own_fineness = {IWI_NET_TOLERANCE, IW_NET_SEGMENTS_MAX + 1, 0};

void iwi_net_segments(iw_net_level *level, const struct iwi_net_fineness *fineness)
{
    struct iwi_net_line lines[IW_NET_SEGMENTS_MAX + 1];
    iw_net_segment segments[IW_NET_SEGMENTS_MAX + 1] = {{.from_bytes = 1}};
    iw_estimate whole[IWI_MOST_NET_POINTS];
    struct fit fit = {.level = level};
    size_t count;

    collect(level, &fit, whole);
    count = iwi_net_split(fit.bytes, whole, level->point_count, fineness->tolerance, fineness->most, lines);
    count = split_at_overheads(&fit, fineness, lines, count);
    level->net = (iw_net){.S_bytes = level->eager_computing.bytes};
    for (size_t i = 0; i < count; i++) {
        struct piece piece = {.from = i == 0 ? 1 : begin_of(&fit, &lines[i - 1], &lines[i]),
                              .B = fmin(lines[i].slope, DEAREST)};

        piece.A = fmax(lines[i].value + piece.B * (piece.from - (double)fit.bytes[lines[i].first]), 0);
        share_out(&fit, &lines[i], &piece);
        choose_gap(&fit, &lines[i], &piece);
        segments[i] = rounded(&piece);
        if (i > 0) {
            keep_rising(&segments[i - 1], &segments[i]);
        }
        add_segment(&level->net, i == 0, &segments[i]);
    }
    judge(&fit, segments, count);
}

/* Networks as netgauge measured them (`-x loggp`): a table over message sizes becomes segments.
 *
 * Each size was measured once, among noise and other traffic, which only add time; and no larger message
 * takes less time than a smaller one. So what a size takes is at most the least of its own time and those of
 * all larger sizes: the floor, which rises with the size by construction.
 */

#define HEAD "# size n PRTT(1,0,s) PRTT(n,0,s)"
#define NS_PER_US 1e3
#define LONGEST_US 3.6e9 /* an hour, as in network files */
#define LARGEST_BYTES (UINT64_C(1) << 40)
#define DENSEST 1.05 /* sizes nearer to each other than this say nothing new */

enum {
    MOST_SIZES = 4096,
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
        return fail(table, "n differs from earlier lines");
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
        if (table->count == MOST_SIZES) {
            return fail(table, "more than 4096 sizes");
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

IWI_COMPARE(by_bytes, struct row, IWI_RISING(bytes))

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
            if (found == IWI_MOST_NET_POINTS) {
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
    const struct row *kept[IWI_MOST_NET_POINTS];
    double apart = DENSEST;

    iwi_sort(table->rows, table->count, by_bytes);
    IW_TRY(lower_to_floor(table));
    do {
        level->point_count = thin_out(table->rows, table->count, apart, kept);
        apart *= DENSEST;
    } while (level->point_count > IWI_MOST_NET_POINTS);
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

/* A point weighs no more than one that is known to this share, and no less than one known to that. */
#define SHARPEST 0.005
#define BLUNTEST 1.0

static double weight_of(const iw_estimate *value)
{
    const double reach = fmax(value->high - value->value, value->value - value->low);
    const double share = fmin(fmax(reach / value->value, SHARPEST), BLUNTEST);

    return 1.0 / (share * share);
}

/* A stretch of points that have one value, in logarithms. */
struct block {
    double sum, weight;
    size_t count;
};
/* Pool adjacent violators: a point below the one before joins it in their mean, as often as needed. */
void iwi_net_rising(iw_estimate *values, size_t count)
{
    struct block blocks[IWI_MOST_NET_POINTS];
    size_t block_count = 0, at = 0;

    for (size_t i = 0; i < count; i++) {
        const double weight = weight_of(&values[i]);

        blocks[block_count++] = (struct block){weight * log(values[i].value), weight, 1};
        while (block_count > 1 && blocks[block_count - 1].sum / blocks[block_count - 1].weight <
                                      blocks[block_count - 2].sum / blocks[block_count - 2].weight) {
            blocks[block_count - 2].sum += blocks[block_count - 1].sum;
            blocks[block_count - 2].weight += blocks[block_count - 1].weight;
            blocks[block_count - 2].count += blocks[block_count - 1].count;
            block_count--;
        }
    }
    for (size_t b = 0; b < block_count; b++) {
        for (size_t i = 0; i < blocks[b].count; i++) {
            const double factor = exp(blocks[b].sum / blocks[b].weight) / values[at].value;

            values[at].value *= factor;
            values[at].low *= factor;
            values[at++].high *= factor;
        }
    }
}

const iw_estimate *iwi_net_whole(const iw_net_point *point)
{
    return point->exchange.value > 0 ? &point->exchange : &point->half_round_trip;
}
