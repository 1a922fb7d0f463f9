/* Recordings as CSV, with what has no column in comments before the rows.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/noise/source_table.h"
#include "features/recordings/convert/convert.h"
#include "features/recordings/convert/convert_rows.h"
#include "kit/schema/csv.h"

const char *const iwi_csv_heads[] = {
    [IW_PROBE_SELFISH] = "cpu,start_ns,duration_ns,class,source",
    [IW_PROBE_FWQ] = "cpu,start_ns,duration_ns",
    [IW_PROBE_FTQ] = "cpu,start_ns,work",
    [IW_PROBE_WATCH] = "cpu,wanted_ns,duration_ns,class,source",
};

/* ---- writing ---- */

/* The shorter of two forms that gives the same number when read; always with a point. */
static void write_real(struct iwi_out *out, double value)
{
    char digits[32];
    char *comma;

    snprintf(digits, sizeof digits, "%.15g", value);
    if (strtod(digits, NULL) != value) {
        snprintf(digits, sizeof digits, "%.17g", value);
    }
    comma = strchr(digits, ',');
    if (comma != NULL) {
        *comma = '.';
    }
    iwi_out_bytes(out, digits, strlen(digits));
}

static void put_to_out(void *out, const char *bytes, size_t count)
{
    iwi_out_bytes(out, bytes, count);
}

static void write_field(struct iwi_out *out, const char *text)
{
    iwi_csv_put(text, put_to_out, out);
}

/* On one line. */
static void write_attribute(struct iwi_out *out, const iw_attribute *attribute)
{
    if (strpbrk(attribute->name, ":\r\n") != NULL) {
        return;
    }
    iwi_out_print(out, "# origin %.200s: ", attribute->name);
    for (const char *c = attribute->value; *c != '\0'; c++) {
        const bool is_break = *c == '\n' || *c == '\r';

        iwi_out_bytes(out, is_break ? " " : iscntrl((unsigned char)*c) ? "?" : c, 1);
    }
    iwi_out_bytes(out, "\n", 1);
}

static void write_facts(struct iwi_out *out, const iw_detours *cpu)
{
    iwi_out_print(out, "# cpu %" PRIu32 ": length_ns %" PRId64 ", t_min_ns ", cpu->cpu, cpu->length_ns);
    write_real(out, cpu->t_min_ns);
    iwi_out_print(out, ", threshold_ns ");
    write_real(out, cpu->threshold_ns);
    iwi_out_print(out, ", dropped %" PRIu64 "\n", cpu->dropped);
}

static void write_head(const iw_recording *recording, struct iwi_out *out)
{
    const bool is_quanta = iw_probe_has_quanta(recording->probe);
    size_t rows = 0;

    for (size_t i = 0; i < recording->cpu_count; i++) {
        rows += iwi_csv_row_count(recording, &recording->cpus[i]);
    }
    iwi_out_print(out, "# rows: %zu\n# rung: %s\n", rows, iw_attribution_level_name(recording->attribution));
    if (is_quanta) {
        iwi_out_print(out, "# quantum_ns: %" PRId64 "\n", recording->quantum_ns);
    }
    for (size_t i = 0; i < recording->cpu_count; i++) {
        write_facts(out, &recording->cpus[i]);
    }
    for (size_t i = 0; i < recording->attribute_count; i++) {
        write_attribute(out, &recording->attributes[i]);
    }
    iwi_out_print(out, "%s\n", iwi_csv_heads[recording->probe]);
}

static void write_detour(const iw_recording *recording, const iw_detours *cpu, size_t i, struct iwi_out *out)
{
    const iw_source *source = &recording->sources[cpu->source[i]];

    iwi_out_print(out, "%" PRIu32 ",%" PRId64 ",%" PRId64 ",%s,", cpu->cpu, cpu->start_ns[i],
                  cpu->duration_ns[i], iw_class_name(source->kind));
    write_field(out, source->name);
    iwi_out_bytes(out, "\n", 1);
}

static void write_quantum(const iw_detours *cpu, size_t i, struct iwi_out *out)
{
    iwi_out_print(out, "%" PRIu32 ",%" PRId64 ",", cpu->cpu, cpu->sample_start_ns[i]);
    write_real(out, cpu->sample[i]);
    iwi_out_bytes(out, "\n", 1);
}

size_t iwi_csv_row_count(const iw_recording *recording, const iw_detours *cpu)
{
    return !iw_probe_has_quanta(recording->probe) ? cpu->count : cpu->sample_count;
}

void iwi_csv_write_rows(const iw_recording *recording, const iw_detours *cpu, size_t begin, size_t end,
                        struct iwi_out *out)
{
    for (size_t i = begin; i < end; i++) {
        if (!iw_probe_has_quanta(recording->probe)) {
            write_detour(recording, cpu, i, out);
        } else {
            write_quantum(cpu, i, out);
        }
    }
}

static void write_csv(const iw_recording *recording, struct iwi_out *out)
{
    write_head(recording, out);
    for (size_t i = 0; i < recording->cpu_count; i++) {
        const iw_detours *cpu = &recording->cpus[i];

        iwi_csv_write_rows(recording, cpu, 0, iwi_csv_row_count(recording, cpu), out);
    }
}

/* ---- reading ---- */

struct reader {
    const struct iwi_import *in;
    iw_recording *recording;
    struct iwi_lines lines;
    struct iwi_rows rows;
    struct iwi_sources sources;
    uint64_t said_rows; /* UINT64_MAX: not said */
    bool has_head;
};

static iw_status fail(const struct reader *r, const char *problem)
{
    return iwi_fail(r->in->log, r->lines.has_newline ? IW_ERR_FORMAT : IW_ERR_TRUNCATED, "'%s:%zu': %s",
                    r->in->path, r->lines.number, problem);
}

/* The probe whose rows have this head. */
static bool find_head(struct iwi_piece line, iw_probe *probe_p)
{
    for (unsigned probe = 0; probe < IW_PROBES; probe++) {
        if (iwi_piece_is(line, iwi_csv_heads[probe])) {
            *probe_p = (iw_probe)probe;
            return true;
        }
    }
    return false;
}

static bool matches(const char *data, size_t size)
{
    struct iwi_lines lines = iwi_lines_of(data, size);
    struct iwi_piece line;
    iw_probe probe;

    while (iwi_next_line(&lines, &line)) {
        if (line.at != line.end && *line.at != '#') {
            return find_head(line, &probe);
        }
    }
    return false;
}

/* ---- comments ---- */

static bool find_attribution(struct iwi_piece text, iw_attribution_level *level_p)
{
    for (unsigned level = 0; level < IW_ATTRIBUTION_LEVELS; level++) {
        if (iwi_piece_is(text, iw_attribution_level_name((iw_attribution_level)level))) {
            *level_p = (iw_attribution_level)level;
            return true;
        }
    }
    return false;
}

/* Takes off everything up to `end` and that too; false if it is not there. */
static bool take_until(struct iwi_piece *rest, char end, struct iwi_piece *taken_p)
{
    const char *found = memchr(rest->at, end, iwi_piece_size(*rest));

    if (found == NULL) {
        return false;
    }
    *taken_p = (struct iwi_piece){rest->at, found};
    rest->at = found + 1;
    return true;
}

/* "3: length_ns 1000000, t_min_ns 20, threshold_ns 180, dropped 0" */
static bool read_facts(struct iwi_piece text, struct iwi_cpu_facts *facts)
{
    struct iwi_piece number, pair;

    if (!take_until(&text, ':', &number) || !iwi_read_u32(iwi_trim_blanks(number), &facts->cpu)) {
        return false;
    }
    while (text.at != text.end) {
        struct iwi_piece name, value;

        if (!take_until(&text, ',', &pair)) {
            pair = text;
            text.at = text.end;
        }
        name = iwi_next_word(&pair);
        value = iwi_trim_blanks(pair);
        if (!(iwi_piece_is(name, "length_ns")      ? iwi_read_ns(value, &facts->length_ns)
              : iwi_piece_is(name, "t_min_ns")     ? iwi_read_real(value, &facts->t_min_ns)
              : iwi_piece_is(name, "threshold_ns") ? iwi_read_real(value, &facts->threshold_ns)
              : iwi_piece_is(name, "dropped")      ? iwi_read_u64(value, &facts->dropped)
                                                   : false)) {
            return false;
        }
    }
    return true;
}

static iw_status read_origin(struct reader *r, struct iwi_piece text)
{
    struct iwi_piece name;
    char *own_name, *own_value;
    iw_status status = IW_ERR_NOMEM;

    if (!take_until(&text, ':', &name)) {
        return fail(r, "expected '# origin NAME: VALUE'");
    }
    name = iwi_trim_blanks(name);
    text = iwi_trim_blanks(text);
    own_name = strndup(name.at, iwi_piece_size(name));
    own_value = strndup(text.at, iwi_piece_size(text));
    if (own_name != NULL && own_value != NULL) {
        status = iw_recording_set(r->in->log, r->recording, own_name, own_value);
    } else {
        (void)iwi_fail(r->in->log, IW_ERR_NOMEM, "out of memory for an attribute");
    }
    free(own_name);
    free(own_value);
    return status;
}

/* Comments that are not ours are left alone. */
static iw_status read_comment(struct reader *r, struct iwi_piece text)
{
    struct iwi_cpu_facts facts = {.cpu = 0};
    struct iwi_piece rest = iwi_trim_blanks(text);

    if (iwi_take_key(&rest, "rung")) {
        return find_attribution(rest, &r->recording->attribution) ? IW_OK
                                                                  : fail(r, "unknown level of attribution");
    }
    if (iwi_take_key(&rest, "quantum_ns")) {
        return iwi_read_ns(rest, &r->recording->quantum_ns) ? IW_OK : fail(r, "the quantum is not a time");
    }
    if (iwi_take_key(&rest, "rows")) {
        return iwi_read_u64(rest, &r->said_rows) ? IW_OK : fail(r, "the number of rows is not a number");
    }
    if (iwi_take_prefix(&rest, "cpu ")) {
        return read_facts(rest, &facts) ? iwi_rows_add_facts(r->in->log, &r->rows, &facts)
                                        : fail(r, "expected '# cpu N: length_ns N, t_min_ns X, ...'");
    }
    return iwi_take_prefix(&rest, "origin ") ? read_origin(r, rest) : IW_OK;
}

/* ---- rows ---- */

/* The last field of a row: to the end of the line, or in quotes, where it may go on over lines. `buffer`
 * takes a name of which quotes were taken out. */
static bool take_name(struct reader *r, struct iwi_piece field, char buffer[IW_SOURCE_NAME_SIZE],
                      struct iwi_piece *name_p)
{
    const char *at = field.at + 1;
    size_t length = 0, breaks = 0;

    if (field.at == field.end || *field.at != '"') {
        *name_p = field;
        return true;
    }
    for (;; at++) {
        if (at == r->lines.rest.end) {
            return false;
        }
        if (*at == '"' && (at + 1 == r->lines.rest.end || at[1] != '"')) {
            break;
        }
        at += *at == '"';
        breaks += *at == '\n';
        if (length < IW_SOURCE_NAME_SIZE - 1) {
            buffer[length++] = *at;
        }
    }
    *name_p = (struct iwi_piece){buffer, buffer + length};
    if (at >= field.end) { /* on a later line */
        struct iwi_piece rest = {at, r->lines.rest.end};

        r->lines.rest = rest;
        r->lines.number += breaks - 1; /* the next line is the last of them */
        return iwi_next_line(&r->lines, &rest) && iwi_piece_size(rest) == 1;
    }
    return at + 1 == field.end;
}

/* Control characters are part of a name only in quotes, and a zero byte would end it. */
static bool is_clean(struct iwi_piece name, bool is_quoted)
{
    for (const char *c = name.at; c < name.end; c++) {
        if (is_quoted ? *c == '\0' : iscntrl((unsigned char)*c)) {
            return false;
        }
    }
    return true;
}

static bool find_class(struct iwi_piece text, iw_class *kind_p)
{
    for (unsigned kind = 0; kind < IW_CLASSES; kind++) {
        if (iwi_piece_is(text, iw_class_name((iw_class)kind))) {
            *kind_p = (iw_class)kind;
            return true;
        }
    }
    return false;
}

static iw_status read_row(struct reader *r, struct iwi_piece line)
{
    struct iwi_row row = {.line = r->lines.number};
    struct iwi_piece cpu, start, duration, kind, name;
    char buffer[IW_SOURCE_NAME_SIZE];
    iw_class class_of_it = IW_CLASS_UNKNOWN;

    if (!take_until(&line, ',', &cpu) || !take_until(&line, ',', &start) || !iwi_read_u32(cpu, &row.cpu) ||
        !iwi_read_ns(start, &row.start_ns)) {
        return fail(r, "expected CPU, start in ns (at most 240h), ...");
    }
    if (r->rows.is_quanta) {
        return iwi_read_real(line, &row.sample) ? iwi_rows_add(r->in->log, &r->rows, &row)
                                                : fail(r, "the third field is not a number of at least 0");
    }
    if (!take_until(&line, ',', &duration) || !take_until(&line, ',', &kind) ||
        !iwi_read_ns(duration, &row.duration_ns) || !find_class(kind, &class_of_it) ||
        !take_name(r, line, buffer, &name)) {
        return fail(r, "expected CPU, start and duration in ns (at most 240h), class, source");
    }
    if (!is_clean(name, name.at == buffer)) {
        return fail(r, "the name of the source has a zero byte, or a control character and no quotes");
    }
    if (iwi_piece_size(name) > 2 && name.at[0] == '\'' && strchr("=+-@", name.at[1]) != NULL) {
        name.at++; /* as it is exported, lest spreadsheets compute it */
    }
    IW_TRY(
        iwi_sources_find(r->in->log, &r->sources, class_of_it, name.at, iwi_piece_size(name), &row.source));
    return iwi_rows_add(r->in->log, &r->rows, &row);
}

static iw_status read_lines(struct reader *r)
{
    struct iwi_piece line;

    while (iwi_next_line(&r->lines, &line)) {
        if (line.at == line.end) {
            continue;
        }
        if (memchr(line.at, '\0', iwi_piece_size(line)) != NULL) {
            return fail(r, "zero byte: not a text file");
        }
        if (*line.at == '#') {
            IW_TRY(read_comment(r, (struct iwi_piece){line.at + 1, line.end}));
        } else if (r->has_head) {
            IW_TRY(read_row(r, line));
        } else if (find_head(line, &r->recording->probe)) {
            r->has_head = true;
            r->rows.is_quanta = iw_probe_has_quanta(r->recording->probe);
        } else {
            return fail(r, "expected the head 'cpu,start_ns,duration_ns,class,source'");
        }
    }
    return r->has_head ? IW_OK : fail(r, "missing head 'cpu,start_ns,duration_ns,class,source'");
}

static iw_status check_end(const struct reader *r)
{
    if (r->said_rows != UINT64_MAX && (r->said_rows != r->rows.count || !r->lines.has_newline)) {
        return iwi_fail(r->in->log, IW_ERR_TRUNCATED,
                        "'%s' states %" PRIu64 " rows, but has %zu or ends within a line", r->in->path,
                        r->said_rows, r->rows.count);
    }
    if (r->rows.count == 0 && r->rows.fact_count == 0) {
        return iwi_fail(r->in->log, IW_ERR_FORMAT, "'%s' has no rows, and names no CPU", r->in->path);
    }
    return IW_OK;
}

/* Of rows in order. */
static iw_status check_overlaps(const struct reader *r)
{
    for (size_t i = 1; !r->rows.is_quanta && i < r->rows.count; i++) {
        const struct iwi_row *before = &r->rows.rows[i - 1], *row = &r->rows.rows[i];

        if (row->cpu == before->cpu && row->start_ns < before->start_ns + before->duration_ns) {
            return iwi_fail(r->in->log, IW_ERR_FORMAT,
                            "'%s:%zu': this detour of CPU %" PRIu32
                            " starts before the end of that of line %zu",
                            r->in->path, row->line, row->cpu, before->line);
        }
    }
    return IW_OK;
}

static iw_status read_csv(const struct iwi_import *in, iw_recording **recording_p)
{
    struct reader r = {.in = in, .lines = iwi_lines_of(in->data, in->size), .said_rows = UINT64_MAX};
    iw_status status;

    IW_TRY(iw_recording_new(in->log, 0, &r.recording));
    r.sources.recording = r.recording;
    status = read_lines(&r);
    status = status == IW_OK ? check_end(&r) : status;
    status = status == IW_OK ? iwi_rows_fill(in->log, &r.rows, r.recording) : status;
    status = status == IW_OK ? check_overlaps(&r) : status;
    iwi_rows_release(&r.rows);
    iwi_sources_release(&r.sources);
    if (status != IW_OK) {
        iw_recording_free(r.recording);
        return status;
    }
    *recording_p = r.recording;
    return IW_OK;
}

const struct iwi_convert_ops iwi_convert_csv = {
    .about = {.name = "csv",
              .summary = "CSV of 'noise show'",
              .suffix = ".csv",
              .can_read = true,
              .can_write = true},
    .in_words = "csv",
    .losses = IWI_LOSES_PARTS | IWI_LOSES_DETOURS_OF_QUANTA,
    .matches = matches,
    .read = read_csv,
    .write = write_csv,
};
