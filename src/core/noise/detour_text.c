/* Two columns of nanoseconds to detours, line by line in bounded memory per line.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/noise/detour_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"

/* What is kept of a line: two numbers fit; only comments may be longer. */
enum { LINE_SIZE = 256, NUMBER_SIZE = 64, NODE_SIZE = 64 };

struct reader {
    const iw_log *log;
    FILE *in;
    const char *path;
    size_t line_number;
    char line[LINE_SIZE];
    size_t length;   /* of what is kept */
    bool is_cut;     /* the line was longer */
    bool is_at_end;  /* no newline behind the line */
    iw_time said_ps; /* '# length_ns', 0: none */
    iw_time netgauge_period_ps;
    struct iwi_detour_rows rows;
    struct {              /* the run of netgauge that is being read */
        size_t first;     /* its first row */
        iw_time begin_ps; /* where it stands behind those before it */
        char node[NODE_SIZE];
    } run;
    size_t start_capacity, duration_capacity;
};

/* netgauge writes its period with two decimals of a second. */
static const iw_time netgauge_rounding_ps = 5 * IW_PS_PER_MS;

/* False at the end of the input. */
static bool read_line(struct reader *r)
{
    int c = getc(r->in);

    if (c == EOF) {
        return false;
    }
    r->line_number++;
    r->length = 0;
    r->is_cut = false;
    for (; c != EOF && c != '\n'; c = getc(r->in)) {
        if (r->length < LINE_SIZE) {
            r->line[r->length++] = (char)c;
        } else {
            r->is_cut = true;
        }
    }
    r->is_at_end = c == EOF;
    return true;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static size_t skip_blanks(const struct reader *r, size_t at)
{
    while (at < r->length && is_blank(r->line[at])) {
        at++;
    }
    return at;
}

static size_t find_number_end(const struct reader *r, size_t at)
{
    while (at < r->length && !is_blank(r->line[at]) && r->line[at] != ',' && r->line[at] != '#') {
        at++;
    }
    return at;
}

/* Reads the number at [from, to) of the line, in units of `unit`. */
static iw_status read_number(const struct reader *r, size_t from, size_t to, const char *unit, iw_time *ps_p)
{
    char text[NUMBER_SIZE + 4];
    iw_status status = IW_ERR_FORMAT;

    if (to > from && to - from < NUMBER_SIZE && memchr(r->line + from, '\0', to - from) == NULL) {
        snprintf(text, sizeof text, "%.*s%s", (int)(to - from), r->line + from, unit);
        status = iw_parse_time(NULL, text, ps_p);
    }
    return status;
}

static iw_status fail_number(const struct reader *r, size_t from, size_t to, const char *what,
                             iw_status status)
{
    char shown[NUMBER_SIZE];
    size_t length = 0;

    for (; from < to && length < sizeof shown - 1; from++) {
        const char c = r->line[from];

        shown[length++] = (char)(c >= ' ' && c <= '~' ? c : '?');
    }
    shown[length] = '\0';
    if (status == IW_ERR_RANGE) {
        return iwi_fail(r->log, status, "'%s:%zu': %s '%s' is not between 0 and 240h in nanoseconds", r->path,
                        r->line_number, what, shown);
    }
    return iwi_fail(
        r->log, status,
        "'%s:%zu': %s '%s' is not a number: write start and duration in nanoseconds, or '#' before a comment",
        r->path, r->line_number, what, shown);
}

/* The text behind '# key:' as [from, to), or false. */
static bool find_header(const struct reader *r, size_t at, const char *key, size_t *from_p, size_t *to_p)
{
    const size_t length = strlen(key);

    at = skip_blanks(r, at);
    if (r->length - at < length || memcmp(r->line + at, key, length) != 0) {
        return false;
    }
    at = skip_blanks(r, at + length);
    if (at == r->length || r->line[at] != ':') {
        return false;
    }
    *from_p = skip_blanks(r, at + 1);
    *to_p = find_number_end(r, *from_p);
    return true;
}

static iw_status add_row(struct reader *r, iw_time start_ps, iw_time duration_ps)
{
    struct iwi_detour_rows *rows = &r->rows;
    void *starts = rows->start_ps, *durations = rows->duration_ps;
    iw_status status;

    status = iwi_grow(r->log, &starts, &r->start_capacity, rows->count + 1, sizeof(iw_time));
    rows->start_ps = starts;
    if (status == IW_OK) {
        status = iwi_grow(r->log, &durations, &r->duration_capacity, rows->count + 1, sizeof(iw_time));
        rows->duration_ps = durations;
    }
    IW_TRY(status);
    rows->start_ps[rows->count] = start_ps;
    rows->duration_ps[rows->count] = duration_ps;
    rows->count++;
    return IW_OK;
}

/* ---- runs ---- */

/* Where the last detour of the run ends, counted from the begin of the run. */
static iw_time run_end(const struct reader *r)
{
    iw_time end_ps = 0;

    for (size_t i = r->run.first; i < r->rows.count; i++) {
        end_ps = iwi_max(end_ps, r->rows.start_ps[i] + r->rows.duration_ps[i] - r->run.begin_ps);
    }
    return end_ps;
}

/* The length of the run that was read last, 0: it does not say. netgauge's period ends with its last detour;
 * it only says more than the data when detours were taken out. */
static iw_time choose_length(const struct reader *r)
{
    const iw_time end_ps = run_end(r);

    if (r->said_ps > 0) {
        return r->said_ps;
    }
    return r->netgauge_period_ps > end_ps + netgauge_rounding_ps ? r->netgauge_period_ps : 0;
}

/* A run begins with a detour and ends with one. Behind each other they would touch and be one that never was,
 * so the first of the next run takes the place of the last. */
static iw_time drop_last_detour(struct reader *r)
{
    struct iwi_detour_rows *rows = &r->rows;
    size_t last = r->run.first;
    iw_time start_ps;

    for (size_t i = r->run.first; i < rows->count; i++) {
        last = rows->start_ps[i] > rows->start_ps[last] ? i : last;
    }
    start_ps = rows->start_ps[last];
    rows->count--;
    rows->start_ps[last] = rows->start_ps[rows->count];
    rows->duration_ps[last] = rows->duration_ps[rows->count];
    return start_ps;
}

/* netgauge adds to files that are there: one run behind another, each from time 0. */
static iw_status begin_run(struct reader *r)
{
    const iw_time length_ps = choose_length(r);

    if (r->rows.count == r->run.first) {
        return IW_OK;
    }
    if (length_ps > 0 && length_ps < run_end(r)) {
        return iwi_fail(r->log, IW_ERR_RANGE,
                        "'%s:%zu': the run before this line is shorter than the end of its last detour",
                        r->path, r->line_number);
    }
    r->run.begin_ps = length_ps > 0 ? r->run.begin_ps + length_ps : drop_last_detour(r);
    if (r->run.begin_ps > IW_TIME_INPUT_MAX) {
        return iwi_fail(r->log, IW_ERR_RANGE, "'%s:%zu': the runs before this line exceed 240h", r->path,
                        r->line_number);
    }
    r->run.first = r->rows.count;
    r->said_ps = 0;
    r->netgauge_period_ps = 0;
    return IW_OK;
}

/* Runs of one node follow each other; those of two are two recordings. */
static iw_status check_node(struct reader *r, size_t at)
{
    const size_t end = find_number_end(r, at);
    char node[NODE_SIZE];

    snprintf(node, sizeof node, "%.*s", (int)(end - at), r->line + at);
    if (r->run.node[0] != '\0' && strcmp(node, r->run.node) != 0) {
        return iwi_fail(r->log, IW_ERR_FORMAT,
                        "'%s:%zu': a run of node '%s' follows one of '%s'; split the file, one file per node",
                        r->path, r->line_number, node, r->run.node);
    }
    memcpy(r->run.node, node, sizeof node);
    return IW_OK;
}

/* Two columns of numbers as well, but of other things. */
static iw_status fail_method(const struct reader *r, const char *what)
{
    return iwi_fail(r->log, IW_ERR_FORMAT, "'%s:%zu': this is output of %s, which does not list detours",
                    r->path, r->line_number, what);
}

/* `at` is behind the '#'. */
static iw_status read_comment(struct reader *r, size_t at)
{
    size_t from, to;
    iw_status status;

    if (find_header(r, at, "Benchmark Method", &from, &to)) {
        return to - from == strlen("selfish") && memcmp(r->line + from, "selfish", to - from) == 0
                   ? begin_run(r)
                   : fail_method(r, "a netgauge method other than selfish");
    }
    if (find_header(r, at, "Ticks per ns", &from, &to)) {
        return fail_method(r, "FTQ");
    }
    if (find_header(r, at, "Nodename", &from, &to)) {
        return check_node(r, from);
    }
    if (find_header(r, at, "length_ns", &from, &to)) {
        status = read_number(r, from, to, "ns", &r->said_ps);
        return status == IW_OK ? IW_OK : fail_number(r, from, to, "length", status);
    }
    /* another program's comment: what it says is taken only if it makes sense */
    if (find_header(r, at, "Measurement period", &from, &to)) {
        iw_time period_ps;

        if (read_number(r, from, to, "s", &period_ps) == IW_OK) {
            r->netgauge_period_ps = period_ps;
        }
    }
    return IW_OK;
}

/* ---- rows ---- */

static iw_status fail_columns(const struct reader *r, const char *problem, iw_status status)
{
    return iwi_fail(r->log, status, "'%s:%zu': %s; write two columns, start and duration in nanoseconds",
                    r->path, r->line_number, problem);
}

/* `at` is at the first number. */
static iw_status read_data(struct reader *r, size_t at)
{
    const size_t start_end = find_number_end(r, at);
    iw_time start_ps, duration_ps;
    iw_status status = read_number(r, at, start_end, "ns", &start_ps);
    size_t duration_at, duration_end, rest;

    if (status != IW_OK) {
        return fail_number(r, at, start_end, "start", status);
    }
    duration_at = skip_blanks(r, start_end);
    if (duration_at < r->length && r->line[duration_at] == ',') {
        duration_at = skip_blanks(r, duration_at + 1);
    }
    duration_end = find_number_end(r, duration_at);
    if (duration_end == duration_at) {
        return r->is_at_end ? fail_columns(r, "the file ends without a duration", IW_ERR_TRUNCATED)
                            : fail_columns(r, "the duration is missing", IW_ERR_FORMAT);
    }
    status = read_number(r, duration_at, duration_end, "ns", &duration_ps);
    if (status != IW_OK) {
        return fail_number(r, duration_at, duration_end, "duration", status);
    }
    rest = skip_blanks(r, duration_end);
    if (rest < r->length ? r->line[rest] != '#' : r->is_cut) {
        return fail_columns(r, "more than two numbers", IW_ERR_FORMAT);
    }
    return add_row(r, r->run.begin_ps + start_ps, duration_ps);
}

static iw_status read_lines(struct reader *r)
{
    while (read_line(r)) {
        const size_t at = skip_blanks(r, 0);

        if (at == r->length) {
            if (r->is_cut) {
                return fail_columns(r, "the line is too long", IW_ERR_FORMAT);
            }
        } else if (r->line[at] == '#') {
            IW_TRY(read_comment(r, at + 1));
        } else {
            IW_TRY(read_data(r, at));
        }
    }
    if (ferror(r->in)) {
        return iwi_fail(r->log, IW_ERR_IO, "cannot read '%s': %s", r->path, strerror(errno));
    }
    return IW_OK;
}

iw_status iwi_detour_text_read(const iw_log *log, FILE *in, const char *path, struct iwi_detour_rows *rows_p)
{
    struct reader r = {.log = log, .in = in, .path = path};
    const iw_status status = read_lines(&r);

    if (status != IW_OK) {
        iwi_detour_rows_release(&r.rows);
        return status;
    }
    r.rows.length_ps = choose_length(&r);
    r.rows.length_ps += r.rows.length_ps > 0 ? r.run.begin_ps : 0;
    *rows_p = r.rows;
    return IW_OK;
}

void iwi_detour_rows_release(struct iwi_detour_rows *rows)
{
    free(rows->start_ps);
    free(rows->duration_ps);
    *rows = (struct iwi_detour_rows){NULL, NULL, 0, 0};
}
