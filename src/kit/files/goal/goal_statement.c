/* Reads one statement of a GOAL text: an operation, or a dependency between two labels.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kit/files/goal/goal_text.h"

/* ---- tokens: the parts that need not be inline ---- */

/* Skips the comment that begins here; a lone '/' stays. Only an unclosed comment is an error. */
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

/* The keyword, behind any blanks. */
static iw_status goal_read_keyword(struct iwi_goal_scan *scan, const char *keyword)
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

/* ---- labels of a rank block: open addressing, at most half full ---- */

enum { FIRST_SLOT_COUNT = 64 };

void iwi_goal_labels_clear(struct iwi_goal_labels *labels)
{
    labels->count = 0;
    labels->generation++;
    if (labels->generation == 0) { /* old slots would come back to life */
        memset(labels->slots, 0, labels->slot_count * sizeof *labels->slots);
        labels->generation = 1;
    }
}

static bool is_same_word(const struct iwi_goal_word *a, const struct iwi_goal_word *b)
{
    return a->hash == b->hash && a->length == b->length && memcmp(a->text, b->text, a->length) == 0;
}

/* The slot that holds `word`, or the free one where it belongs. */
static struct iwi_goal_slot *find_slot(const struct iwi_goal_labels *labels, const struct iwi_goal_word *word)
{
    const size_t mask = labels->slot_count - 1;
    size_t i = (word->hash ^ (word->hash >> 15)) & mask;

    while (labels->slots[i].generation == labels->generation &&
           !is_same_word(&labels->labels[labels->slots[i].label].word, word)) {
        i = (i + 1) & mask;
    }
    return &labels->slots[i];
}

static iw_status double_slots(const iw_log *log, struct iwi_goal_labels *labels)
{
    const size_t count = labels->slot_count > 0 ? 2 * labels->slot_count : FIRST_SLOT_COUNT;
    struct iwi_goal_slot *slots = iwi_new_array(log, count, sizeof *slots);

    if (slots == NULL) {
        return IW_ERR_NOMEM;
    }
    free(labels->slots);
    labels->slots = slots;
    labels->slot_count = count;
    labels->generation = 1;
    for (size_t i = 0; i < labels->count; i++) {
        *find_slot(labels, &labels->labels[i].word) = (struct iwi_goal_slot){1, (uint32_t)i};
    }
    return IW_OK;
}

/* The index in labels->labels of `word`, which is added as undefined when it is new. */
static iw_status goal_labels_intern(const iw_log *log, struct iwi_goal_labels *labels,
                                    const struct iwi_goal_word *word, uint32_t *index_p)
{
    struct iwi_goal_slot *slot;

    if (labels->count >= labels->slot_count / 2) {
        if (labels->count >= UINT32_MAX - 1) {
            return iwi_fail(log, IW_ERR_RANGE, "a rank with more than %" PRIu32 " labels", UINT32_MAX - 1);
        }
        IW_TRY(double_slots(log, labels));
    }
    slot = find_slot(labels, word);
    if (slot->generation != labels->generation) {
        IW_TRY(iwi_grow(log, (void **)&labels->labels, &labels->capacity, labels->count + 1,
                        sizeof *labels->labels));
        labels->labels[labels->count] = (struct iwi_goal_label){*word, IWI_GOAL_UNDEFINED};
        *slot = (struct iwi_goal_slot){labels->generation, (uint32_t)labels->count};
        labels->count++;
    }
    *index_p = slot->label;
    return IW_OK;
}

const struct iwi_goal_word *iwi_goal_labels_of_node(const struct iwi_goal_labels *labels, uint32_t node)
{
    for (size_t i = 0; i < labels->count; i++) {
        if (labels->labels[i].node == node) {
            return &labels->labels[i].word;
        }
    }
    return NULL;
}

void iwi_goal_labels_release(struct iwi_goal_labels *labels)
{
    free(labels->labels);
    free(labels->slots);
    *labels = (struct iwi_goal_labels){0};
}

/* ---- statements ---- */

iw_status iwi_goal_fail_operation(const struct iwi_goal_text *text, const struct iwi_goal_place *place,
                                  const char *format, ...)
{
    char cause[256];
    va_list args;

    va_start(args, format);
    vsnprintf(cause, sizeof cause, format, args);
    va_end(args);
    if (place->label.length == 0) {
        return iwi_fail(text->scan.log, IW_ERR_FORMAT, "'%s:%" PRIu64 "': rank %" PRIu32 ": %s",
                        text->scan.file, place->line, place->rank, cause);
    }
    return iwi_fail(text->scan.log, IW_ERR_FORMAT, "'%s:%" PRIu64 "': rank %" PRIu32 " operation '%.*s': %s",
                    text->scan.file, place->line, place->rank, IWI_GOAL_WORD_ARGS(place->label), cause);
}

/* Digits, or -1 for any. */
static iw_status read_number_or_any(struct iwi_goal_scan *scan, const char *what, uint32_t *value_p)
{
    uint64_t value = 0;
    bool is_any;

    IW_TRY(iwi_goal_skip_blanks(scan));
    is_any = iwi_goal_take(scan, "-");
    if (is_any && !iwi_goal_is_digit(iwi_goal_peek(scan))) {
        return iwi_goal_unexpected(scan, "1 after '-'");
    }
    IW_TRY(iwi_goal_read_number(scan, what, UINT32_MAX, &value));
    if (is_any && value != 1) {
        return iwi_fail(scan->log, IW_ERR_RANGE, "'%s:%" PRIu64 "': %s is negative (only -1 has a meaning)",
                        scan->file, scan->line, what);
    }
    *value_p = is_any ? IWI_ANY : (uint32_t)value;
    return IW_OK;
}

static iw_status read_id(struct iwi_goal_text *text, const char *what, uint8_t *id_p)
{
    uint64_t value = 0;

    IW_TRY(iwi_goal_read_number(&text->scan, what, UINT64_MAX, &value));
    if (value > IWI_GOAL_MOST_ID) {
        return iwi_goal_fail_operation(text, &text->here, "%s %" PRIu64 " is above %d", what, value,
                                       IWI_GOAL_MOST_ID);
    }
    *id_p = (uint8_t)value;
    return IW_OK;
}

enum { HAS_TAG = 1, HAS_CPU = 2, HAS_NIC = 4 };

/* One of "tag N", "cpu N", "nic N"; `seen` are those read before. */
static iw_status read_option(struct iwi_goal_text *text, struct iwi_node *node, unsigned *seen)
{
    const bool is_calc = node->kind == IWI_CALC;
    struct iwi_goal_scan *scan = &text->scan;
    const char *name = scan->p;
    unsigned option;

    if (iwi_goal_take(scan, "cpu")) {
        option = HAS_CPU;
    } else if (!is_calc && iwi_goal_take(scan, "tag")) {
        option = HAS_TAG;
    } else if (!is_calc && iwi_goal_take(scan, "nic")) {
        option = HAS_NIC;
    } else {
        return iwi_goal_unexpected(scan, is_calc ? "'cpu' or the end of the line"
                                                 : "'tag', 'cpu', 'nic' or the end of the line");
    }
    if ((*seen & option) != 0) {
        return iwi_goal_fail_operation(text, &text->here, "'%.3s' is given twice", name);
    }
    *seen |= option;
    if (option == HAS_TAG) {
        return read_number_or_any(scan, "the tag", &node->tag);
    }
    return option == HAS_CPU ? read_id(text, "cpu", &node->cpu) : read_id(text, "nic", &node->nic);
}

static iw_status read_options(struct iwi_goal_text *text, struct iwi_node *node)
{
    unsigned seen = 0;

    for (;;) {
        IW_TRY(iwi_goal_skip_blanks(&text->scan));
        if (!iwi_goal_is_letter(iwi_goal_peek(&text->scan))) {
            return IW_OK;
        }
        IW_TRY(read_option(text, node, &seen));
    }
}

static iw_status read_peer(struct iwi_goal_text *text, struct iwi_node *node)
{
    const bool is_recv = node->kind == IWI_RECV;

    IW_TRY(
        read_number_or_any(&text->scan, is_recv ? "the source rank" : "the destination rank", &node->peer));
    if (node->peer == IWI_ANY) {
        return is_recv
                   ? IW_OK
                   : iwi_goal_fail_operation(text, &text->here, "a send needs a destination rank, not -1");
    }
    if (text->ranks > 0 && node->peer >= text->ranks) {
        return iwi_goal_fail_operation(text, &text->here,
                                       "peer %" PRIu32 " is not a rank below num_ranks %" PRIu64, node->peer,
                                       text->ranks);
    }
    if (text->max_peer_place.line == 0 || node->peer > text->max_peer) {
        text->max_peer = node->peer;
        text->max_peer_place = text->here;
    }
    return IW_OK;
}

static iw_status read_message(struct iwi_goal_text *text, struct iwi_node *node)
{
    IW_TRY(iwi_goal_read_number(&text->scan, "the message size", IWI_GOAL_MOST_BYTES, &node->amount));
    IW_TRY(goal_read_keyword(&text->scan, "b"));
    IW_TRY(goal_read_keyword(&text->scan, node->kind == IWI_SEND ? "to" : "from"));
    return read_peer(text, node);
}

/* Consumes the name of an operation; 0 if there is none. */
static uint8_t take_kind(struct iwi_goal_scan *scan)
{
    if (iwi_goal_take(scan, "send")) {
        return IWI_SEND;
    }
    if (iwi_goal_take(scan, "recv")) {
        return IWI_RECV;
    }
    return iwi_goal_take(scan, "calc") ? IWI_CALC : 0;
}

/* 0: the word is not exactly the name of an operation. */
static uint8_t kind_of_word(const struct iwi_goal_word *word)
{
    struct iwi_goal_scan scan = {.p = word->text, .end = word->text + word->length};
    const uint8_t kind = take_kind(&scan);

    return scan.p == scan.end ? kind : 0;
}

static iw_status read_operation(struct iwi_goal_text *text, uint8_t kind)
{
    struct iwi_node node = {.kind = kind};

    if (kind == IWI_CALC) {
        uint64_t length;

        IW_TRY(iwi_goal_read_number(&text->scan, "the length of the calc", text->calc_max, &length));
        node.amount = length * (uint64_t)text->unit_ps;
        node.flags = length > 0 ? IWI_NODE_PHASE : 0; /* calc 0 stands for a wait */
    } else {
        IW_TRY(read_message(text, &node));
    }
    IW_TRY(read_options(text, &node));
    return iwi_goal_add_node(text->scan.log, &text->builder, &node);
}

/* The label's first meaning stays. */
static iw_status define_label(struct iwi_goal_text *text)
{
    struct iwi_goal_label *label;
    uint32_t index;

    IW_TRY(goal_labels_intern(text->scan.log, &text->labels, &text->here.label, &index));
    label = &text->labels.labels[index];
    if (label->node == IWI_GOAL_UNDEFINED) {
        label->node = iwi_goal_block_nodes(&text->builder);
        return IW_OK;
    }
    if (text->repeated_labels++ == 0) {
        text->repeated = text->here;
    }
    return IW_OK;
}

static iw_status read_dependency(struct iwi_goal_text *text, const struct iwi_goal_word *dependent)
{
    static const char expected[] = "':', 'requires' or 'irequires' after a label";
    const iw_log *log = text->scan.log;
    const bool is_start = iwi_goal_take(&text->scan, "irequires");
    const struct iwi_goal_label *labels;
    struct iwi_goal_word required;
    uint32_t a, b;

    if (!is_start && !iwi_goal_take(&text->scan, "requires")) {
        return iwi_goal_unexpected(&text->scan, expected);
    }
    IW_TRY(iwi_goal_read_word(&text->scan, "a label", &required));
    IW_TRY(goal_labels_intern(log, &text->labels, dependent, &a));
    IW_TRY(goal_labels_intern(log, &text->labels, &required, &b));
    if (a == b) {
        text->here.label = *dependent;
        return iwi_goal_fail_operation(text, &text->here, "it depends on itself");
    }
    labels = text->labels.labels;
    if (labels[a].node != IWI_GOAL_UNDEFINED && labels[b].node != IWI_GOAL_UNDEFINED) {
        return iwi_goal_add_edge(log, &text->builder,
                                 (struct iwi_goal_edge){labels[a].node, labels[b].node, is_start});
    }
    IW_TRY(iwi_grow(log, (void **)&text->pending, &text->pending_capacity, text->pending_count + 1,
                    sizeof *text->pending));
    text->pending[text->pending_count++] = (struct iwi_goal_pending){a, b, is_start, text->scan.line};
    return IW_OK;
}

iw_status iwi_goal_read_statement(struct iwi_goal_text *text)
{
    struct iwi_goal_scan *scan = &text->scan;
    struct iwi_goal_word word;
    uint8_t kind;

    text->here = (struct iwi_goal_place){scan->line, text->rank, {NULL, 0, 0}};
    IW_TRY(iwi_goal_read_word(scan, "an operation, a label or '}'", &word));
    IW_TRY(iwi_goal_skip_blanks(scan));
    if (iwi_goal_peek(scan) == ':') {
        scan->p++;
        text->here.label = word;
        IW_TRY(define_label(text));
        IW_TRY(iwi_goal_skip_blanks(scan));
        kind = take_kind(scan);
        return kind != 0 ? read_operation(text, kind) : iwi_goal_unexpected(scan, "'calc', 'send' or 'recv'");
    }
    kind = kind_of_word(&word);
    if (kind != 0 && !iwi_goal_is_letter(iwi_goal_peek(scan))) { /* a letter: a label that is called so */
        return read_operation(text, kind);
    }
    return read_dependency(text, &word);
}

iw_status iwi_goal_resolve_pending(struct iwi_goal_text *text)
{
    const struct iwi_goal_label *labels = text->labels.labels;

    for (size_t i = 0; i < text->pending_count; i++) {
        const struct iwi_goal_pending *pending = &text->pending[i];
        const struct iwi_goal_label *a = &labels[pending->label], *b = &labels[pending->required];
        const struct iwi_goal_label *missing = a->node == IWI_GOAL_UNDEFINED ? a : b;

        if (missing->node == IWI_GOAL_UNDEFINED) {
            return iwi_fail(text->scan.log, IW_ERR_FORMAT,
                            "'%s:%" PRIu64 "': rank %" PRIu32 ": label '%.*s' is not defined in this rank",
                            text->scan.file, pending->line, text->rank, IWI_GOAL_WORD_ARGS(missing->word));
        }
        IW_TRY(iwi_goal_add_edge(text->scan.log, &text->builder,
                                 (struct iwi_goal_edge){a->node, b->node, pending->is_start}));
    }
    text->pending_count = 0;
    return IW_OK;
}
