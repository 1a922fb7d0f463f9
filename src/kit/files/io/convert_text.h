/* Text in memory, line by line and word by word, without copies.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_CONVERT_TEXT_H
#define IWI_CONVERT_TEXT_H

#include "core/base/base.h"

/* A piece of text, not ended by NUL. */
struct iwi_piece {
    const char *at, *end;
};

struct iwi_lines {
    struct iwi_piece rest;
    size_t number;    /* of the line given last, from 1 */
    bool has_newline; /* behind it */
};

struct iwi_lines iwi_lines_of(const char *data, size_t size);

/* The next line without its newline and a carriage return before it; false behind the last. */
bool iwi_next_line(struct iwi_lines *lines, struct iwi_piece *line_p);

/* Takes the next word, up to a blank or tab; empty if there is none. */
struct iwi_piece iwi_next_word(struct iwi_piece *rest);

/* Without blanks at both ends. */
struct iwi_piece iwi_trim_blanks(struct iwi_piece piece);

static inline size_t iwi_piece_size(struct iwi_piece piece)
{
    return (size_t)(piece.end - piece.at);
}

bool iwi_piece_is(struct iwi_piece piece, const char *text);

/* If the piece begins with `prefix`, takes that off. */
bool iwi_take_prefix(struct iwi_piece *piece, const char *prefix);

/* Takes "KEY:" and blanks around it off; for "# key: value" lines, behind the '#'. */
bool iwi_take_key(struct iwi_piece *piece, const char *key);

/* All of the piece is a decimal number that fits. */
bool iwi_read_u64(struct iwi_piece piece, uint64_t *value_p);
bool iwi_read_u32(struct iwi_piece piece, uint32_t *value_p);

/* The same, at most 240 h of ns. */
bool iwi_read_ns(struct iwi_piece piece, int64_t *ns_p);

/* "6.537902433" seconds, up to 292 years, with up to nine decimals. */
bool iwi_read_seconds(struct iwi_piece piece, int64_t *ns_p);

/* All of the piece is a finite number of at least 0. */
bool iwi_read_real(struct iwi_piece piece, double *value_p);

#endif
