/* Lines, words and numbers of text in memory.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "kit/files/io/convert_text.h"

#include <idlewave/time.h>

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER_SIZE = 64 };

struct iwi_lines iwi_lines_of(const char *data, size_t size)
{
    return (struct iwi_lines){.rest = {data, data + size}};
}

bool iwi_next_line(struct iwi_lines *lines, struct iwi_piece *line_p)
{
    struct iwi_piece line = lines->rest;
    const char *newline;

    if (line.at == line.end) {
        return false;
    }
    newline = memchr(line.at, '\n', iwi_piece_size(line));
    lines->number++;
    lines->has_newline = newline != NULL;
    line.end = newline != NULL ? newline : line.end;
    lines->rest.at = newline != NULL ? newline + 1 : line.end;
    if (line.end > line.at && line.end[-1] == '\r') {
        line.end--;
    }
    *line_p = line;
    return true;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static const char *skip_blanks(struct iwi_piece piece)
{
    while (piece.at < piece.end && is_blank(*piece.at)) {
        piece.at++;
    }
    return piece.at;
}

struct iwi_piece iwi_next_word(struct iwi_piece *rest)
{
    struct iwi_piece word = {skip_blanks(*rest), rest->end};

    rest->at = word.at;
    while (rest->at < rest->end && !is_blank(*rest->at)) {
        rest->at++;
    }
    word.end = rest->at;
    return word;
}

struct iwi_piece iwi_trim_blanks(struct iwi_piece piece)
{
    piece.at = skip_blanks(piece);
    while (piece.end > piece.at && is_blank(piece.end[-1])) {
        piece.end--;
    }
    return piece;
}

bool iwi_piece_is(struct iwi_piece piece, const char *text)
{
    return iwi_piece_size(piece) == strlen(text) && memcmp(piece.at, text, strlen(text)) == 0;
}

bool iwi_take_prefix(struct iwi_piece *piece, const char *prefix)
{
    const size_t length = strlen(prefix);

    if (iwi_piece_size(*piece) < length || memcmp(piece->at, prefix, length) != 0) {
        return false;
    }
    piece->at += length;
    return true;
}

bool iwi_take_key(struct iwi_piece *piece, const char *key)
{
    struct iwi_piece rest = iwi_trim_blanks(*piece);

    if (!iwi_take_prefix(&rest, key) || !iwi_take_prefix(&rest, ":")) {
        return false;
    }
    *piece = iwi_trim_blanks(rest);
    return true;
}

bool iwi_read_u64(struct iwi_piece piece, uint64_t *value_p)
{
    uint64_t value = 0;

    if (piece.at == piece.end) {
        return false;
    }
    for (; piece.at < piece.end; piece.at++) {
        const char c = *piece.at;

        if (c < '0' || c > '9' || __builtin_mul_overflow(value, (uint64_t)10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(c - '0'), &value)) {
            return false;
        }
    }
    *value_p = value;
    return true;
}

bool iwi_read_u32(struct iwi_piece piece, uint32_t *value_p)
{
    uint64_t value;

    if (!iwi_read_u64(piece, &value) || value > UINT32_MAX) {
        return false;
    }
    *value_p = (uint32_t)value;
    return true;
}

bool iwi_read_ns(struct iwi_piece piece, int64_t *ns_p)
{
    uint64_t value;

    if (!iwi_read_u64(piece, &value) || value > IW_TIME_INPUT_MAX / IW_PS_PER_NS) {
        return false;
    }
    *ns_p = (int64_t)value;
    return true;
}

bool iwi_read_seconds(struct iwi_piece piece, int64_t *ns_p)
{
    const int64_t most_seconds = INT64_MAX / 1000000000 - 1;
    const char *point = memchr(piece.at, '.', iwi_piece_size(piece));
    const struct iwi_piece whole = {piece.at, point != NULL ? point : piece.end};
    struct iwi_piece decimals = {point != NULL ? point + 1 : piece.end, piece.end};
    uint64_t seconds, fraction = 0;

    if (!iwi_read_u64(whole, &seconds) || seconds > (uint64_t)most_seconds || iwi_piece_size(decimals) > 9 ||
        (point != NULL && !iwi_read_u64(decimals, &fraction))) {
        return false;
    }
    for (size_t i = iwi_piece_size(decimals); i < 9; i++) {
        fraction *= 10;
    }
    *ns_p = (int64_t)(seconds * 1000000000 + fraction);
    return true;
}

/* strtod() in the C locale, whatever the program's is. */
static double parse_real(const char *text, char **end_p)
{
    const locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    const locale_t before = c_locale != (locale_t)0 ? uselocale(c_locale) : (locale_t)0;
    const double value = strtod(text, end_p);

    if (c_locale != (locale_t)0) {
        (void)uselocale(before);
        freelocale(c_locale);
    }
    return value;
}

bool iwi_read_real(struct iwi_piece piece, double *value_p)
{
    const size_t size = iwi_piece_size(piece);
    char text[NUMBER_SIZE], *end = text;
    double value;

    if (size == 0 || size >= sizeof text || (*piece.at != '.' && (*piece.at < '0' || *piece.at > '9'))) {
        return false;
    }
    memcpy(text, piece.at, size);
    text[size] = '\0';
    value = parse_real(text, &end);
    if (end != text + size || !isfinite(value)) {
        return false;
    }
    *value_p = value;
    return true;
}
