/* Tokens of a GOAL text. The hot paths are inline: schedules have hundreds of millions of tokens.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Blanks and comments between tokens are skipped; a newline is a token of its own, because it ends a
 * statement. Every reading function reports what it expected and what it found, as 'file:line'.
 */
#ifndef IWI_GOAL_SCAN_H
#define IWI_GOAL_SCAN_H

#include <string.h>

#include "core/base/base.h"

struct iwi_goal_scan {
    const iw_log *log;
    const char *file;
    const char *p, *end;
    uint64_t line; /* 1 = first */
};

/* A keyword or label, in place in the text. */
struct iwi_goal_word {
    const char *text;
    uint32_t length, hash;
};

/* Most characters of a label that messages show. */
#define IWI_GOAL_LABEL_SHOWN 60

/* Arguments for "%.*s". */
#define IWI_GOAL_WORD_ARGS(word) \
    (int)((word).length < IWI_GOAL_LABEL_SHOWN ? (word).length : IWI_GOAL_LABEL_SHOWN), (word).text

enum { IWI_GOAL_EOF = -1 };

/* The next character, or IWI_GOAL_EOF. */
static inline int iwi_goal_peek(const struct iwi_goal_scan *scan)
{
    return scan->p < scan->end ? (unsigned char)*scan->p : IWI_GOAL_EOF;
}

/* Skips the comment that begins here; a lone '/' stays. Only an unclosed comment is an error. */
IW_NODISCARD iw_status iwi_goal_skip_comment(struct iwi_goal_scan *scan);

/* Skips blanks and comments up to a newline. */
static inline iw_status iwi_goal_skip_blanks(struct iwi_goal_scan *scan)
{
    for (;;) {
        while (scan->p < scan->end && (*scan->p == ' ' || *scan->p == '\t' || *scan->p == '\r')) {
            scan->p++;
        }
        if (scan->end - scan->p < 2 || scan->p[0] != '/' || (scan->p[1] != '/' && scan->p[1] != '*')) {
            return IW_OK;
        }
        IW_TRY(iwi_goal_skip_comment(scan));
    }
}

/* Skips blanks, comments and newlines. */
IW_NODISCARD iw_status iwi_goal_skip_lines(struct iwi_goal_scan *scan);

/* Logs "expected ..., found ..."; IW_ERR_TRUNCATED at the end of the text, else IW_ERR_FORMAT. */
iw_status iwi_goal_unexpected(const struct iwi_goal_scan *scan, const char *expected);

static inline bool iwi_goal_is_letter(int c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static inline bool iwi_goal_is_digit(int c)
{
    return c >= '0' && c <= '9';
}

/* A letter or '_', then letters, digits, '_'. `expected` is for the message. */
IW_NODISCARD iw_status iwi_goal_read_word(struct iwi_goal_scan *scan, const char *expected,
                                          struct iwi_goal_word *word);

/* Consumes `keyword` if it stands here. Nothing need follow it: txt2bin takes "5bto1tag7", so we do. */
static inline bool iwi_goal_take(struct iwi_goal_scan *scan, const char *keyword)
{
    const size_t length = strlen(keyword);

    if ((size_t)(scan->end - scan->p) < length || memcmp(scan->p, keyword, length) != 0) {
        return false;
    }
    scan->p += length;
    return true;
}

/* The keyword, behind any blanks. */
IW_NODISCARD iw_status iwi_goal_read_keyword(struct iwi_goal_scan *scan, const char *keyword);

/* Decimal digits; IW_ERR_RANGE above `max`. */
IW_NODISCARD iw_status iwi_goal_read_number(struct iwi_goal_scan *scan, const char *what, uint64_t max,
                                            uint64_t *value_p);

bool iwi_goal_word_is(const struct iwi_goal_word *word, const char *keyword);

#endif
