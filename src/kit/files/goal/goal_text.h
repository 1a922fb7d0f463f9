/* State of the GOAL text reader, shared by its files: statements, whole files, parts side by side.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_GOAL_TEXT_H
#define IWI_GOAL_TEXT_H

#include <string.h>

#include "core/base/base.h"
#include "kit/files/goal/goal.h"
#include "kit/files/goal/goal_build.h"

/* ---- tokens of a GOAL text. The hot paths are inline: schedules have hundreds of millions of tokens ---- */

/* Blanks and comments between tokens are skipped; a newline is a token of its own, because it ends a
 * statement. Every reading function reports what it expected and what it found, as 'file:line'.
 */

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

/* Decimal digits; IW_ERR_RANGE above `max`. */
IW_NODISCARD iw_status iwi_goal_read_number(struct iwi_goal_scan *scan, const char *what, uint64_t max,
                                            uint64_t *value_p);

bool iwi_goal_word_is(const struct iwi_goal_word *word, const char *keyword);

/* ---- the labels of one rank block: a hash table that is reused from block to block ---- */

#define IWI_GOAL_UNDEFINED UINT32_MAX

struct iwi_goal_label {
    struct iwi_goal_word word;
    uint32_t node; /* index within the rank, or IWI_GOAL_UNDEFINED while only mentioned */
};

/* A slot belongs to the current block only if its generation is the table's. */
struct iwi_goal_slot {
    uint32_t generation, label;
};

struct iwi_goal_labels {
    struct iwi_goal_label *labels; /* in order of first mention */
    size_t count, capacity;
    struct iwi_goal_slot *slots;
    size_t slot_count; /* a power of 2, or 0 */
    uint32_t generation;
};

/* Forgets all labels but keeps the memory. */
void iwi_goal_labels_clear(struct iwi_goal_labels *labels);

/* The label of that node, or NULL. Slow: for messages. */
const struct iwi_goal_word *iwi_goal_labels_of_node(const struct iwi_goal_labels *labels, uint32_t node);

void iwi_goal_labels_release(struct iwi_goal_labels *labels);

/* ---- reading ---- */

/* A dependency that names a label not yet defined; both are indices of labels. */
struct iwi_goal_pending {
    uint32_t label, required;
    bool is_start;
    uint64_t line;
};

/* Where an operation is; a label of length 0 means that it has none. */
struct iwi_goal_place {
    uint64_t line; /* 0: nowhere */
    uint32_t rank;
    struct iwi_goal_word label;
};

struct iwi_goal_text {
    struct iwi_goal_scan scan;
    struct iwi_goal_builder builder;
    struct iwi_goal_labels labels;
    struct iwi_goal_pending *pending;
    size_t pending_count, pending_capacity;
    iw_time unit_ps;
    uint64_t calc_max;          /* longest calc, in units */
    uint64_t ranks;             /* 0: not known yet */
    uint32_t rank;              /* of the current block */
    struct iwi_goal_place here; /* the current operation */
    uint32_t max_peer;          /* checked at the end, when num_ranks is known for sure */
    struct iwi_goal_place max_peer_place;
    uint64_t repeated_labels;
    struct iwi_goal_place repeated; /* the first of them */
    const struct iwi_input *input;  /* pages of it that were read are given up; NULL: memory */
    const char *data;               /* its beginning */
    size_t file_bytes, forgotten;
    const char *stop; /* between blocks, reading ends here or behind it; NULL: at the end */
    bool is_over;     /* nothing follows */
};

/* Logs an error about an operation, named by line, rank and label; returns IW_ERR_FORMAT. */
iw_status iwi_goal_fail_operation(const struct iwi_goal_text *text, const struct iwi_goal_place *place,
                                  const char *format, ...) IW_PRINTF(3, 4);

/* One operation or dependency of the current block, up to the end of its line or a '}'. */
IW_NODISCARD iw_status iwi_goal_read_statement(struct iwi_goal_text *text);

/* Resolves forward references at the end of a block. */
IW_NODISCARD iw_status iwi_goal_resolve_pending(struct iwi_goal_text *text);

#endif
