/* Tokens of a GOAL text: the parts that need not be inline.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "kit/files/goal/goal_scan.h"

#include <stdio.h>
#include <string.h>

iw_status iwi_goal_skip_comment(struct iwi_goal_scan *scan)
{
    const uint64_t first_line = scan->line;

    if (scan->p[1] == '/') {
        const char *newline = memchr(scan->p, '\n', (size_t)(scan->end - scan->p));

        scan->p = newline != NULL ? newline : scan->end;
        return IW_OK;
    }
    for (scan->p += 2; scan->end - scan->p >= 2; scan->p++) {
        if (scan->p[0] == '*' && scan->p[1] == '/') {
            scan->p += 2;
            return IW_OK;
        }
        scan->line += *scan->p == '\n';
    }
    return iwi_fail(scan->log, IW_ERR_TRUNCATED,
                    "'%s:%" PRIu64 "': the comment that begins here is not closed", scan->file, first_line);
}

iw_status iwi_goal_skip_lines(struct iwi_goal_scan *scan)
{
    IW_TRY(iwi_goal_skip_blanks(scan));
    while (iwi_goal_peek(scan) == '\n') {
        scan->p++;
        scan->line++;
        IW_TRY(iwi_goal_skip_blanks(scan));
    }
    return IW_OK;
}

static void describe_next(const struct iwi_goal_scan *scan, char *text, size_t size)
{
    const int c = iwi_goal_peek(scan);
    int length = 0;

    while (scan->end - scan->p > length && length < IWI_GOAL_LABEL_SHOWN &&
           (iwi_goal_is_letter(scan->p[length]) || iwi_goal_is_digit(scan->p[length]))) {
        length++;
    }
    if (c == IWI_GOAL_EOF) {
        snprintf(text, size, "the end of the file");
    } else if (c == '\n') {
        snprintf(text, size, "the end of the line");
    } else if (length > 0) {
        snprintf(text, size, "'%.*s'", length, scan->p);
    } else if (c > ' ' && c < 0x7f) {
        snprintf(text, size, "'%c'", c);
    } else {
        snprintf(text, size, "byte 0x%02x", (unsigned)c);
    }
}

iw_status iwi_goal_unexpected(const struct iwi_goal_scan *scan, const char *expected)
{
    const iw_status status = iwi_goal_peek(scan) == IWI_GOAL_EOF ? IW_ERR_TRUNCATED : IW_ERR_FORMAT;
    char found[IWI_GOAL_LABEL_SHOWN + 32];

    describe_next(scan, found, sizeof found);
    return iwi_fail(scan->log, status, "'%s:%" PRIu64 "': expected %s, found %s", scan->file, scan->line,
                    expected, found);
}

iw_status iwi_goal_read_word(struct iwi_goal_scan *scan, const char *expected, struct iwi_goal_word *word)
{
    const char *p;
    uint32_t hash = UINT32_C(2166136261);

    IW_TRY(iwi_goal_skip_blanks(scan));
    if (!iwi_goal_is_letter(iwi_goal_peek(scan))) {
        return iwi_goal_unexpected(scan, expected);
    }
    for (p = scan->p; p < scan->end && (iwi_goal_is_letter(*p) || iwi_goal_is_digit(*p)); p++) {
        hash = (hash ^ (unsigned char)*p) * UINT32_C(16777619);
    }
    if (p - scan->p > INT32_MAX) {
        return iwi_fail(scan->log, IW_ERR_RANGE, "'%s:%" PRIu64 "': a word of more than 2 GiB", scan->file,
                        scan->line);
    }
    *word = (struct iwi_goal_word){scan->p, (uint32_t)(p - scan->p), hash};
    scan->p = p;
    return IW_OK;
}

bool iwi_goal_word_is(const struct iwi_goal_word *word, const char *keyword)
{
    const size_t length = strlen(keyword);

    return word->length == length && memcmp(word->text, keyword, length) == 0;
}

iw_status iwi_goal_read_keyword(struct iwi_goal_scan *scan, const char *keyword)
{
    char expected[32];

    IW_TRY(iwi_goal_skip_blanks(scan));
    if (iwi_goal_take(scan, keyword)) {
        return IW_OK;
    }
    snprintf(expected, sizeof expected, "'%s'", keyword);
    return iwi_goal_unexpected(scan, expected);
}

iw_status iwi_goal_read_number(struct iwi_goal_scan *scan, const char *what, uint64_t max, uint64_t *value_p)
{
    uint64_t value = 0;
    bool is_over = false;

    IW_TRY(iwi_goal_skip_blanks(scan));
    if (!iwi_goal_is_digit(iwi_goal_peek(scan))) {
        return iwi_goal_unexpected(scan, what);
    }
    for (; iwi_goal_is_digit(iwi_goal_peek(scan)); scan->p++) {
        const uint64_t digit = (uint64_t)(*scan->p - '0');

        is_over |= __builtin_mul_overflow(value, UINT64_C(10), &value);
        is_over |= __builtin_add_overflow(value, digit, &value);
    }
    if (is_over || value > max) {
        return iwi_fail(scan->log, IW_ERR_RANGE, "'%s:%" PRIu64 "': %s is larger than %" PRIu64, scan->file,
                        scan->line, what, max);
    }
    *value_p = value;
    return IW_OK;
}
